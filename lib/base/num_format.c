/* Numbers for files and people: integers and doubles come in, text that no locale changes goes out. */
#include <assert.h>
#include <math.h>

#include "base/num.h"
#include "base/num_digits.h"

#define MAX_DECIMALS 30

static uint64_t power_of_ten(int exponent) {
    uint64_t power = 1;

    while (exponent-- > 0)
        power *= 10;
    return power;
}

static uint64_t magnitude_of(int64_t value) {
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static size_t end_text(char *buf, size_t length) {
    buf[length] = '\0';
    return length;
}

static size_t put_text(char *buf, const char *text) {
    size_t length = strlen(text);

    memcpy(buf, text, length + 1);
    return length;
}

size_t gt_num_format_int(char *buf, int64_t value) {
    size_t length = 0;

    if (value < 0)
        buf[length++] = '-';
    return end_text(buf, length + gt_num_digits_put(buf + length, magnitude_of(value), 1));
}

size_t gt_num_format_grouped(char *buf, int64_t value) {
    char digits[20];
    size_t count = gt_num_digits_put(digits, magnitude_of(value), 1), length = 0;

    if (value < 0)
        buf[length++] = '-';
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            buf[length++] = ',';
        buf[length++] = digits[i];
    }
    return end_text(buf, length);
}

size_t gt_num_format_scaled(char *buf, int64_t value, int digits, int decimals) {
    uint64_t magnitude = magnitude_of(value);
    size_t length = 0;

    assert(digits >= 0 && digits <= 18 && decimals >= 0 && decimals <= MAX_DECIMALS);
    if (decimals < digits) {
        uint64_t step = power_of_ten(digits - decimals), rest = magnitude % step;
        magnitude = magnitude / step + (rest >= step - rest);
        digits = decimals;
    }
    if (value < 0 && magnitude > 0)
        buf[length++] = '-';
    length += gt_num_digits_put(buf + length, magnitude / power_of_ten(digits), 1);
    if (decimals > 0)
        buf[length++] = '.';
    if (digits > 0)
        length += gt_num_digits_put(buf + length, magnitude % power_of_ten(digits), (size_t)digits);
    for (; digits < decimals; digits++)
        buf[length++] = '0';
    return end_text(buf, length);
}

size_t gt_num_format_fixed(char *buf, double value, int decimals) {
    size_t length;

    if (!isfinite(value))
        return put_text(buf, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    if (decimals < 0)
        decimals = 0;
    if (decimals > MAX_DECIMALS)
        decimals = MAX_DECIMALS;
    length = gt_num_digits_print(buf, "%.*f", decimals, value);
    if (length >= GT_NUM_MAX)
        return gt_num_digits_print(buf, "%.17g", value);
    if (buf[0] == '-' && !strpbrk(buf, "123456789"))
        memmove(buf, buf + 1, length--);
    return length;
}

/* ---- for people ---- */

struct unit {
    const char *name;
    double size;
    double limit; /* so many of them are written in the next unit */
};

/* Four significant digits at most; below 1000, as a count of the last decimal. */
static int decimals_for(double magnitude) {
    return magnitude < 10 ? 3 : magnitude < 100 ? 2 : magnitude < 1000 ? 1 : 0;
}

static double round_to(double magnitude, int decimals) {
    double power = (double)power_of_ten(decimals);
    return round(magnitude * power) / power;
}

static size_t put_significant(char *buf, double magnitude, bool negative) {
    int decimals = decimals_for(magnitude);
    int64_t count;
    size_t length;

    if (magnitude >= 1e15)
        return gt_num_digits_print(buf, "%s%.4g", negative ? "-" : "", magnitude);
    count = (int64_t)round(magnitude * (double)power_of_ten(decimals));
    length = gt_num_format_scaled(buf, negative ? -count : count, decimals, decimals);
    if (decimals > 0) {
        while (buf[length - 1] == '0')
            length--;
        if (buf[length - 1] == '.')
            length--;
    }
    return end_text(buf, length);
}

/* The first unit in which the rounded number stays below its limit; 0 if there is none. */
static size_t put_in_unit(char *buf, double value, const struct unit *units, size_t unit_count) {
    for (size_t i = 0; i < unit_count; i++) {
        double scaled = fabs(value) / units[i].size;
        size_t length;
        if (round_to(scaled, decimals_for(scaled)) >= units[i].limit)
            continue;
        length = put_significant(buf, scaled, value < 0);
        buf[length++] = ' ';
        return length + put_text(buf + length, units[i].name);
    }
    return 0;
}

static size_t put_minutes(char *buf, double seconds, bool negative) {
    const char *sign = negative ? "-" : "";
    double whole_seconds = round(seconds), whole_minutes = round(seconds / 60);

    if (whole_seconds < 3600)
        return gt_num_digits_print(buf, "%s%d min %02d s", sign, (int)whole_seconds / 60, (int)whole_seconds % 60);
    if (whole_minutes < 1e9)
        return gt_num_digits_print(buf, "%s%d h %02d min", sign, (int)whole_minutes / 60, (int)whole_minutes % 60);
    return gt_num_digits_print(buf, "%s%.4g h", sign, seconds / 3600);
}

size_t gt_num_format_duration(char *buf, double ns) {
    static const struct unit units[] = {{"ns", 1, 1000}, {"us", 1e3, 1000}, {"ms", 1e6, 1000}, {"s", 1e9, 60}};
    size_t length;

    if (!isfinite(ns))
        return put_text(buf, "-");
    length = put_in_unit(buf, ns, units, sizeof(units) / sizeof(units[0]));
    return length ? length : put_minutes(buf, fabs(ns) / 1e9, ns < 0);
}

size_t gt_num_format_bytes(char *buf, double bytes) {
    static const struct unit units[] = {{"B", 1, 1000},        {"kB", 1e3, 1000},  {"MB", 1e6, 1000},
                                        {"GB", 1e9, 1000},     {"TB", 1e12, 1000}, {"PB", 1e15, 1000},
                                        {"EB", 1e18, INFINITY}};

    if (!isfinite(bytes))
        return put_text(buf, "-");
    return put_in_unit(buf, bytes, units, sizeof(units) / sizeof(units[0]));
}
