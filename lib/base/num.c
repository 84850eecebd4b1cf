/* Numbers from text: bytes come in, exact integers and nearest doubles go out. */
#include "base/num.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

#define MAX_EXPONENT 100000 /* beyond any that can matter: larger ones count as this */

static const uint64_t powers_of_ten[] = {
    1u,
    10u,
    100u,
    1000u,
    10000u,
    100000u,
    1000000u,
    10000000u,
    100000000u,
    1000000000u,
    10000000000u,
    100000000000u,
    1000000000000u,
    10000000000000u,
    100000000000000u,
    1000000000000000u,
    10000000000000000u,
    100000000000000000u,
    1000000000000000000u,
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* The parts of a number as written: [-]whole[.fraction][e[+-]exponent], at least one digit before the exponent. */
struct decimal {
    bool negative;
    struct gt_str whole, fraction;
    long exponent;
};

static struct gt_str take_digits(const char **at, const char *end) {
    const char *start = *at;

    while (*at < end && is_digit(**at))
        (*at)++;
    return (struct gt_str){start, (size_t)(*at - start)};
}

static bool take_exponent(const char **at, const char *end, long *exponent) {
    struct gt_str digits;
    bool negative = *at < end && **at == '-';

    if (*at < end && (**at == '-' || **at == '+'))
        (*at)++;
    digits = take_digits(at, end);
    *exponent = 0;
    for (size_t i = 0; i < digits.len && *exponent < MAX_EXPONENT; i++)
        *exponent = *exponent * 10 + (digits.ptr[i] - '0');
    if (*exponent > MAX_EXPONENT)
        *exponent = MAX_EXPONENT;
    if (negative)
        *exponent = -*exponent;
    return digits.len > 0;
}

static bool split_decimal(struct gt_str text, struct decimal *number) {
    const char *at = text.ptr, *end;

    *number = (struct decimal){0};
    if (text.len == 0)
        return false;
    end = text.ptr + text.len;
    number->negative = *at == '-';
    if (number->negative)
        at++;
    number->whole = take_digits(&at, end);
    if (at < end && *at == '.') {
        at++;
        number->fraction = take_digits(&at, end);
    }
    if (number->whole.len + number->fraction.len == 0)
        return false;
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (!take_exponent(&at, end, &number->exponent))
            return false;
    }
    return at == end;
}

static bool apply_sign(uint64_t magnitude, bool negative, int64_t *value) {
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    *value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

/* Digit number i of whole and fraction written one after the other, 0 after them. */
static unsigned digit_at(const struct decimal *number, size_t i) {
    if (i < number->whole.len)
        return (unsigned)(number->whole.ptr[i] - '0');
    i -= number->whole.len;
    return i < number->fraction.len ? (unsigned)(number->fraction.ptr[i] - '0') : 0;
}

/* The first `kept` digits are the integer; the next one alone decides rounding half away from zero. */
static bool round_decimal(const struct decimal *number, long scale, int64_t *value) {
    size_t digit_count = number->whole.len + number->fraction.len;
    __int128 kept = (__int128)number->whole.len + number->exponent + scale;
    uint64_t magnitude = 0;

    for (size_t i = 0; (__int128)i < kept; i++) {
        if (i >= digit_count && magnitude == 0)
            break;
        if (__builtin_mul_overflow(magnitude, 10u, &magnitude) ||
            __builtin_add_overflow(magnitude, digit_at(number, i), &magnitude))
            return false;
    }
    if (kept >= 0 && kept < (__int128)digit_count && digit_at(number, (size_t)kept) >= 5 && ++magnitude == 0)
        return false;
    return apply_sign(magnitude, number->negative, value);
}

/* Plain digits with a point, too few to overflow: nearly every number of a trace. */
static bool parse_plain(struct gt_str text, int scale, int64_t *value) {
    size_t i = 0, point;
    uint64_t magnitude = 0;
    unsigned digit;
    int missing;

    if (text.len > 20 || scale > 18)
        return false;
    for (; i < text.len && (digit = (unsigned)(unsigned char)text.ptr[i] - '0') <= 9; i++)
        magnitude = magnitude * 10 + digit;
    point = i;
    if (i < text.len && text.ptr[i] == '.')
        for (i++; i < text.len && (digit = (unsigned)(unsigned char)text.ptr[i] - '0') <= 9; i++)
            magnitude = magnitude * 10 + digit;
    if (i != text.len || point == 0 || (point == i && i > 19))
        return false;
    missing = point < i ? scale - (int)(i - point - 1) : scale;
    if (missing < 0 || __builtin_mul_overflow(magnitude, powers_of_ten[missing], &magnitude))
        return false;
    return apply_sign(magnitude, false, value);
}

/* Up to eight digits at once, each step joining neighbours: digits to pairs, to fours, to eight. Eight bytes are read
   and the first `count` of them used. */
static bool join_digits(const char *at, unsigned count, uint64_t *value) {
    uint64_t bytes;

    memcpy(&bytes, at, sizeof(bytes));
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        bytes = __builtin_bswap64(bytes);
    /* Zeros before the digits, which come first in the lowest byte. */
    bytes = (bytes ^ 0x3030303030303030u) << (64 - 8 * count);
    if (((bytes + 0x7676767676767676u) | bytes) & 0x8080808080808080u)
        return false;
    bytes = bytes * 10 + (bytes >> 8);
    *value = ((bytes & 0x000000ff000000ffu) * 0x000f424000000064u +
              (bytes >> 16 & 0x000000ff000000ffu) * 0x0000271000000001u) >>
             32;
    return true;
}

/* Nine to sixteen digits, a point and three more: the timestamps of traces in microseconds. */
static bool parse_timestamp(struct gt_str text, int scale, int64_t *value) {
    size_t whole = text.len - 4;
    uint64_t high, low;
    unsigned a, b, c;

    if (scale != 3 || text.len < 13 || whole > 16 || text.ptr[whole] != '.')
        return false;
    a = (unsigned)(unsigned char)text.ptr[whole + 1] - '0';
    b = (unsigned)(unsigned char)text.ptr[whole + 2] - '0';
    c = (unsigned)(unsigned char)text.ptr[whole + 3] - '0';
    if (a > 9 || b > 9 || c > 9 || !join_digits(text.ptr, (unsigned)whole - 8, &high) ||
        !join_digits(text.ptr + whole - 8, 8, &low))
        return false;
    high = (high * 100000000 + low) * 1000 + (a * 100 + b * 10 + c);
    return apply_sign(high, false, value);
}

bool gt_num_parse_decimal(struct gt_str text, int scale, int64_t *value) {
    struct decimal number;

    if (parse_timestamp(text, scale, value) || parse_plain(text, scale, value))
        return true;
    return split_decimal(text, &number) && round_decimal(&number, scale, value);
}

bool gt_num_parse_uint(struct gt_str text, uint64_t *value) {
    uint64_t result = 0;

    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!is_digit(text.ptr[i]) || __builtin_mul_overflow(result, 10u, &result) ||
            __builtin_add_overflow(result, (uint64_t)(text.ptr[i] - '0'), &result))
            return false;
    *value = result;
    return true;
}

bool gt_num_parse_int(struct gt_str text, int64_t *value) {
    bool negative = text.len > 0 && text.ptr[0] == '-';
    uint64_t magnitude;

    if (text.len > 0 && (negative || text.ptr[0] == '+')) {
        text.ptr++;
        text.len--;
    }
    return gt_num_parse_uint(text, &magnitude) && apply_sign(magnitude, negative, value);
}

/* text is NUL-terminated and has the form of a number. */
static double to_double(const char *text) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = plain ? strtod_l(text, NULL, plain) : strtod(text, NULL);

    if (plain)
        freelocale(plain);
    return value;
}

/* Up to 15 digits with a point among them: both they and the power of ten are exact, so that one division rounds as
   strtod() does. */
static bool parse_short_real(struct gt_str text, double *value) {
    size_t point = text.len;
    uint64_t magnitude = 0;

    if (FLT_EVAL_METHOD != 0 || text.len == 0 || text.len > 16 || text.ptr[0] == '.' || text.ptr[text.len - 1] == '.')
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '.' && point == text.len)
            point = i;
        else if (is_digit(text.ptr[i]))
            magnitude = magnitude * 10 + (uint64_t)(text.ptr[i] - '0');
        else
            return false;
    }
    if (point == text.len)
        return false;
    *value = (double)magnitude / (double)powers_of_ten[text.len - point - 1];
    return true;
}

bool gt_num_parse_real(struct gt_str text, double *value) {
    struct decimal number;
    char small[128], *copy = small;
    double result;

    if (parse_short_real(text, value))
        return true;
    if (!split_decimal(text, &number))
        return false;
    if (text.len >= sizeof(small) && !(copy = gt_mem_alloc(text.len + 1)))
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    result = to_double(copy);
    if (copy != small)
        gt_mem_free(copy);
    if (!isfinite(result))
        return false;
    *value = result;
    return true;
}

static bool ends_with(struct gt_str text, struct gt_str suffix) {
    return text.len >= suffix.len && memcmp(text.ptr + text.len - suffix.len, suffix.ptr, suffix.len) == 0;
}

bool gt_num_parse_duration(struct gt_str text, int64_t *ns) {
    /* "s" ends all the others, so it comes last. The two forms of micro are U+00B5 and U+03BC. */
    static const struct {
        struct gt_str suffix;
        int scale;
    } units[] = {{{"ns", 2}, 0},        {{"us", 2}, 3}, {{"\xc2\xb5s", 3}, 3},
                 {{"\xce\xbcs", 3}, 3}, {{"ms", 2}, 6}, {{"s", 1}, 9}};
    int scale = 9;

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (ends_with(text, units[i].suffix)) {
            text.len -= units[i].suffix.len;
            scale = units[i].scale;
            break;
        }
    return gt_num_parse_decimal(text, scale, ns);
}

bool gt_num_parse_hex(struct gt_str text, uint64_t *value) {
    *value = 0;
    if (text.len == 0 || text.len > 16)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return false;
        *value = *value << 4 | (uint64_t)digit;
    }
    return true;
}
