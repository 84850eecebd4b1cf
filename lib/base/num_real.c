/* Doubles as JSON numbers: a double comes in, the shortest text that reads back as it goes out. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/num_digits.h"

/* ---- few decimals ---- */

/* A value with few decimals is an integer over a power of ten; dividing two exact doubles shows it, since a quotient
   that rounds to the value is also what its text reads back as. Below 2^50 no shorter text can be missed. */
static bool format_short_decimal(char *buf, double value, size_t *length) {
    double power = 1;

    for (int decimals = 0; decimals <= 6; decimals++, power *= 10) {
        double scaled = nearbyint(value * power);
        if (!(fabs(scaled) < 0x1p50))
            return false;
        if (scaled / power == value) {
            *length = gt_num_format_scaled(buf, (int64_t)scaled, decimals, decimals);
            return true;
        }
    }
    return false;
}

/* ---- 15 to 17 digits, exactly ---- */

/* A double is m * 2^e, and times 10^k it is m * 5^k * 2^(e + k). With k up to 32 the first product fits in 128 bits, so
   that it is known without rounding, and what is below the point is the last -(e + k) bits of it. */
typedef unsigned __int128 wide;

enum { FIVES_MAX = 32, FIVES_NARROW = 27, DIGITS_MOST = 17, DIGITS_LEAST = 15 };
#define LEAST 1e-15
#define MOST  1e15

static wide power_of_five(int exponent) {
    /* clang-format off */
    static const uint64_t powers[FIVES_NARROW + 1] = {
        1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625, 48828125, 244140625, 1220703125, 6103515625,
        30517578125, 152587890625, 762939453125, 3814697265625, 19073486328125, 95367431640625, 476837158203125,
        2384185791015625, 11920928955078125, 59604644775390625, 298023223876953125, 1490116119384765625,
        7450580596923828125};
    /* clang-format on */
    return exponent <= FIVES_NARROW ? (wide)powers[exponent]
                                    : (wide)powers[FIVES_NARROW] * powers[exponent - FIVES_NARROW];
}

/* value * 10^scale as `whole` with 17 digits and what is below the point, in `fraction_bits` bits. */
struct scaled {
    uint64_t mantissa, whole;
    wide fives, product;
    int scale, fraction_bits;
};

/* false: a neighbour is nearer on one side (powers of two), or it does not fit. */
static bool scale_up(double magnitude, struct scaled *scaled) {
    const uint64_t fraction_mask = (UINT64_C(1) << 52) - 1, too_large = UINT64_C(100000000000000000);
    uint64_t bits;

    memcpy(&bits, &magnitude, sizeof bits);
    if ((bits & fraction_mask) == 0 || !(magnitude >= LEAST && magnitude < MOST))
        return false;
    int exponent = (int)(bits >> 52) - 1075, log2 = exponent + 52;
    int log10 = (int)floor(log2 * 0.30102999566398120); /* or one more */
    scaled->mantissa = (bits & fraction_mask) | (fraction_mask + 1);
    scaled->scale = DIGITS_MOST - log10;
    do {
        scaled->scale--;
        scaled->fraction_bits = -(exponent + scaled->scale);
        if (scaled->scale > FIVES_MAX || scaled->fraction_bits <= 0)
            return false;
        scaled->fives = power_of_five(scaled->scale);
        scaled->product = scaled->mantissa * scaled->fives;
        scaled->whole = (uint64_t)(scaled->product >> scaled->fraction_bits);
    } while (scaled->whole >= too_large);
    return true;
}

/* Without its last digits, as many as step has zeros, rounded as printf does. true: it reads back as the same double,
   since it is less than half of what the last bit of the mantissa stands for away, or just half of that and the
   mantissa even. */
static bool round_off(const struct scaled *scaled, uint64_t step, uint64_t *digits) {
    uint64_t kept = scaled->whole / step;
    wide one = (wide)step << scaled->fraction_bits;
    wide rest = scaled->product - ((wide)(kept * step) << scaled->fraction_bits);
    bool is_up = 2 * rest > one || (2 * rest == one && kept % 2 == 1);
    wide away = is_up ? one - rest : rest;

    *digits = kept + is_up;
    return 2 * away < scaled->fives || (2 * away == scaled->fives && scaled->mantissa % 2 == 0);
}

/* digits * 10^exponent with a point or, below 0.0001, with an exponent. */
static size_t put_decimal(char *buf, uint64_t digits, int exponent) {
    for (; digits % 10000 == 0; digits /= 10000)
        exponent += 4;
    for (; digits % 10 == 0; digits /= 10)
        exponent++;
    char text[20];
    size_t count = gt_num_digits_put(text, digits, 1), length = 0;
    int first = (int)count - 1 + exponent; /* power of ten of the first digit */
    if (first < -4) {
        buf[length++] = text[0];
        if (count > 1)
            buf[length++] = '.';
        memcpy(buf + length, text + 1, count - 1);
        length += count - 1;
        buf[length++] = 'e';
        buf[length++] = '-';
        return length + gt_num_digits_put(buf + length, (uint64_t)-first, 2);
    }
    size_t before = first >= 0 ? (size_t)first + 1 : 0;
    if (!before) {
        memcpy(buf, "0.0000", 6);
        length = (size_t)(1 - first);
    }
    for (size_t i = 0; i < count || i < before; i++) {
        if (i && i == before)
            buf[length++] = '.';
        buf[length++] = i < count ? text[i] : '0';
    }
    return length;
}

static bool format_exact(char *buf, double value, size_t *length) {
    struct scaled scaled;
    uint64_t digits, step = 100;

    if (!scale_up(fabs(value), &scaled))
        return false;
    int dropped = DIGITS_MOST - DIGITS_LEAST;
    for (; dropped > 0 && !round_off(&scaled, step, &digits); dropped--)
        step /= 10;
    if (dropped == 0)
        (void)round_off(&scaled, 1, &digits);
    buf[0] = '-';
    *length = value < 0;
    *length += put_decimal(buf + *length, digits, dropped - scaled.scale);
    buf[*length] = '\0';
    return true;
}

/* ---- any of them ---- */

static size_t format_printed(char *buf, double value) {
    /* Fifteen digits always survive a normal double; subnormal ones hold fewer. */
    int precision = fabs(value) < DBL_MIN ? 1 : 15;
    size_t length;
    double back;

    do
        length = gt_num_digits_print(buf, "%.*g", precision, value);
    while (++precision <= 17 && !(gt_num_parse_real((struct gt_str){buf, length}, &back) && back == value));
    return length;
}

size_t gt_num_format_real(char *buf, double value) {
    /* Here a short decimal has 15 digits at most and no exponent, so that both ways find the same. */
    bool is_usual = fabs(value) >= 1e-4 && fabs(value) < 1e9;
    size_t length;

    if (!isfinite(value)) {
        memcpy(buf, "null", sizeof "null");
        return sizeof "null" - 1;
    }
    if (is_usual && (double)(int32_t)value == value)
        return gt_num_format_int(buf, (int32_t)value);
    if (!is_usual && format_short_decimal(buf, value, &length))
        return length;
    if (format_exact(buf, value, &length) || (is_usual && format_short_decimal(buf, value, &length)))
        return length;
    return format_printed(buf, value);
}
