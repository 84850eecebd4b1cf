/* Numbers from and to text, against 128-bit arithmetic and the C library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "random.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void decimals_are_exact(void **state) {
    static const struct {
        const char *text;
        int scale;
        int64_t value;
    } good[] = {
        {"3847745009978.503", 3, 3847745009978503},
        {"1700000000123456.789", 3, 1700000000123456789},
        {"0", 3, 0},
        {"-0", 3, 0},
        {"-0.25", 3, -250},
        {"12", 3, 12000},
        {"12.", 3, 12000},
        {".5", 3, 500},
        {"1.5e3", 0, 1500},
        {"1.5E+3", 0, 1500},
        {"1E-3", 3, 1},
        {"15e-1", 0, 2},
        {"0.0004", 3, 0},
        {"0.0005", 3, 1},
        {"-0.0005", 3, -1},
        {"0.00049999999999999999999999999999", 3, 0},
        {"2.4999", 0, 2},
        {"2.5", 0, 3},
        {"-2.5", 0, -3},
        {"0.05", 0, 0},
        {"5e-1", 0, 1},
        {"4e-1", 0, 0},
        {"99e-3", 0, 0},
        {"1e18", 0, 1000000000000000000},
        {"0e999999999999999999999", 3, 0},
        {"0.000e99", 3, 0},
        {"1e-999999999999999999999", 3, 0},
        {"0000000000000000000000000000000007.25", 1, 73},
        {"9223372036854775807", 0, INT64_MAX},
        {"9223372036854775807.4", 0, INT64_MAX},
        {"-9223372036854775808", 0, INT64_MIN},
        {"-9223372036854775808.4999", 0, INT64_MIN},
        {"9223372036854775.807", 3, INT64_MAX},
        {"922337203685477580.7", 1, INT64_MAX},
        {"92233720368547758070", -1, INT64_MAX},
        {"125", -2, 1},
        {"150", -2, 2},
        {"0.000000000000000000000000000000000000000001e42", 0, 1},
    };
    static const char *const bad[] = {"",      "-",    ".",   "-.",  "+1",  " 1",  "1 ",    "1e", "1e+", "e5",
                                      "1.2.3", "0x10", "inf", "nan", "1,5", "--1", "1e5.5", "1-", "12a", "\xff"};
    static const char *const too_large[] = {"9223372036854775808",
                                            "9223372036854775807.5",
                                            "-9223372036854775809",
                                            "-9223372036854775808.5",
                                            "18446744073709551615.9",
                                            "18446744073709551616",
                                            "99999999999999999999",
                                            "36893488147419103232",
                                            "1e19",
                                            "1e999999999999999999999999",
                                            "-1e300"};
    int64_t value;
    (void)state;

    for (size_t i = 0; i < COUNT_OF(good); i++) {
        assert_true(gt_num_parse_decimal(gt_str_of(good[i].text), good[i].scale, &value));
        assert_int_equal(value, good[i].value);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_false(gt_num_parse_decimal(gt_str_of(bad[i]), 3, &value));
    for (size_t i = 0; i < COUNT_OF(too_large); i++)
        assert_false(gt_num_parse_decimal(gt_str_of(too_large[i]), 0, &value));
    assert_false(gt_num_parse_decimal(GT_STR("9223372036854775.808"), 3, &value));
    assert_false(gt_num_parse_decimal((struct gt_str){"1\0", 2}, 3, &value));
    assert_false(gt_num_parse_decimal((struct gt_str){NULL, 0}, 3, &value));
}

/* digits / 10^decimals * 10^(scale + exponent), half away from zero, in 128 bits. */
static bool naive_decimal(uint64_t digits, int power, bool negative, int64_t *value) {
    __int128 scaled = digits;

    for (; power > 0; power--)
        if ((scaled *= 10) > (__int128)1 << 100)
            return false;
    if (power < 0) {
        for (; power < -1; power++)
            scaled /= 10;
        scaled = (scaled + 5) / 10;
    }
    scaled = negative ? -scaled : scaled;
    *value = (int64_t)scaled;
    return scaled >= INT64_MIN && scaled <= INT64_MAX;
}

static void random_decimals_agree_with_wide_integers(void **state) {
    uint64_t seed = 13;
    int accepted = 0;
    (void)state;

    for (int round = 0; round < 200000; round++) {
        uint64_t digits = random_u64(&seed) >> random_below(&seed, 64);
        int decimals = (int)random_below(&seed, 8), exponent = (int)random_below(&seed, 12) - 6;
        int scale = (int)random_below(&seed, 5);
        bool negative = random_below(&seed, 4) == 0, plain = random_below(&seed, 2) == 0;
        char text[80], written[24];
        int64_t expected = 0, got = 0;
        int length = snprintf(written, sizeof(written), "%0*llu", decimals + 1, (unsigned long long)digits);
        int whole = length - decimals;
        length = snprintf(text, sizeof(text), "%s%.*s%s%s", negative ? "-" : "", whole, written, decimals ? "." : "",
                          written + whole);
        if (plain)
            exponent = 0;
        else
            length += snprintf(text + length, sizeof(text) - (size_t)length, "e%d", exponent);
        bool fits = naive_decimal(digits, scale + exponent - decimals, negative, &expected);
        assert_int_equal(gt_num_parse_decimal((struct gt_str){text, (size_t)length}, scale, &got), fits);
        if (fits)
            assert_int_equal(got, expected);
        accepted += fits;
    }
    assert_in_range(accepted, 100000, 199999);
}

/* Zeros in front make a text too long for the short cuts, so both ways must agree, on every byte at every place. */
static void short_cuts_agree_with_the_general_way(void **state) {
    static const char *const texts[] = {"3847745009978.503",
                                        "1700000000123456.789",
                                        "123456789.012",
                                        "9999999999999999.999",
                                        "9223372036854775.807",
                                        "12345678.901",
                                        "12.345",
                                        "7",
                                        "99999999999999999999",
                                        "9223372036854775807",
                                        "1234567890123456.7"};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(texts); i++)
        for (size_t at = 0; at < strlen(texts[i]); at++)
            for (int byte = 0; byte < 256; byte++) {
                char padded[64];
                int64_t quick = 0, general = 0;
                size_t length = (size_t)snprintf(padded, sizeof(padded), "%020d%s", 0, texts[i]);
                padded[20 + at] = (char)byte;
                if (at == 0 && byte == '-')
                    continue;
                struct gt_str text = {padded + 20, length - 20}, whole = {padded, length};
                bool starts = text.len > 1 || at > 0 || (byte >= '0' && byte <= '9');
                bool is_number = gt_num_parse_decimal(whole, 3, &general) && starts && byte != 'e' && byte != 'E';
                assert_int_equal(gt_num_parse_decimal(text, 3, &quick) && byte != 'e' && byte != 'E', is_number);
                if (is_number)
                    assert_int_equal(quick, general);
            }
}

static void integers_have_limits(void **state) {
    int64_t value;
    uint64_t positive;
    (void)state;

    assert_true(gt_num_parse_int(GT_STR("-9223372036854775808"), &value));
    assert_int_equal(value, INT64_MIN);
    assert_true(gt_num_parse_int(GT_STR("+9223372036854775807"), &value));
    assert_int_equal(value, INT64_MAX);
    assert_false(gt_num_parse_int(GT_STR("9223372036854775808"), &value));
    assert_false(gt_num_parse_int(GT_STR("-9223372036854775809"), &value));
    assert_false(gt_num_parse_int(GT_STR("-"), &value));
    assert_false(gt_num_parse_int(GT_STR("+-1"), &value));
    assert_false(gt_num_parse_int(GT_STR("1.0"), &value));
    assert_false(gt_num_parse_int(GT_STR(""), &value));
    assert_true(gt_num_parse_uint(GT_STR("18446744073709551615"), &positive));
    assert_true(positive == UINT64_MAX);
    assert_false(gt_num_parse_uint(GT_STR("18446744073709551616"), &positive));
    assert_false(gt_num_parse_uint(GT_STR("99999999999999999999999"), &positive));
    assert_false(gt_num_parse_uint(GT_STR("-1"), &positive));
    assert_true(gt_num_parse_uint(GT_STR("00000000000000000000000042"), &positive));
    assert_int_equal(positive, 42);
}

static void reals_are_numbers_only(void **state) {
    static const char *const bad[] = {"",      "inf",    "nan", "0x1p3", " 1", "1 ",
                                      "1e999", "-1e999", "1f",  "+1",    "1e", "INFINITY"};
    char digits[400];
    double value;
    (void)state;

    assert_true(gt_num_parse_real(GT_STR("-12.5e-1"), &value));
    assert_true(value == -1.25);
    assert_true(gt_num_parse_real(GT_STR("1e-999"), &value));
    assert_true(value == 0);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_false(gt_num_parse_real(gt_str_of(bad[i]), &value));
    assert_true(gt_num_parse_real((struct gt_str){"12345", 2}, &value));
    assert_true(value == 12);
    memset(digits, '3', sizeof(digits));
    digits[1] = '.';
    assert_true(gt_num_parse_real((struct gt_str){digits, sizeof(digits)}, &value));
    assert_true(value == 10.0 / 3);
}

static void durations_have_units(void **state) {
    static const struct {
        const char *text;
        int64_t ns;
    } good[] = {{"1.2s", 1200000000},  {"350ms", 350000000},  {"20us", 20000},    {"7ns", 7},      {"2", 2000000000},
                {"0.5\xc2\xb5s", 500}, {"0.5\xce\xbcs", 500}, {"1e-3s", 1000000}, {"-3us", -3000}, {"1.6ns", 2}};
    static const char *const bad[] = {"", "s", "ms", "1 s", "1h", "1sec", "40%", "1e99s", "us1", "1mss"};
    int64_t ns;
    (void)state;

    for (size_t i = 0; i < COUNT_OF(good); i++) {
        assert_true(gt_num_parse_duration(gt_str_of(good[i].text), &ns));
        assert_int_equal(ns, good[i].ns);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_false(gt_num_parse_duration(gt_str_of(bad[i]), &ns));
}

static void check_text(const char *got, size_t length, const char *expected) {
    assert_string_equal(got, expected);
    assert_int_equal(length, strlen(expected));
}

static void integers_are_written(void **state) {
    char buf[GT_NUM_MAX];
    (void)state;

    check_text(buf, gt_num_format_int(buf, 0), "0");
    check_text(buf, gt_num_format_int(buf, INT64_MIN), "-9223372036854775808");
    check_text(buf, gt_num_format_int(buf, INT64_MAX), "9223372036854775807");
    check_text(buf, gt_num_format_grouped(buf, 0), "0");
    check_text(buf, gt_num_format_grouped(buf, 999), "999");
    check_text(buf, gt_num_format_grouped(buf, -1000), "-1,000");
    check_text(buf, gt_num_format_grouped(buf, 1234567), "1,234,567");
    check_text(buf, gt_num_format_grouped(buf, INT64_MIN), "-9,223,372,036,854,775,808");
}

static void scaled_integers_are_exact(void **state) {
    char buf[GT_NUM_MAX];
    (void)state;

    check_text(buf, gt_num_format_scaled(buf, 3847745009978503, 3, 3), "3847745009978.503");
    check_text(buf, gt_num_format_scaled(buf, 3847745009978505, 3, 2), "3847745009978.51");
    check_text(buf, gt_num_format_scaled(buf, 3847745009978504, 3, 2), "3847745009978.50");
    check_text(buf, gt_num_format_scaled(buf, -1235, 3, 2), "-1.24");
    check_text(buf, gt_num_format_scaled(buf, -4, 3, 2), "0.00");
    check_text(buf, gt_num_format_scaled(buf, 5, 3, 0), "0");
    check_text(buf, gt_num_format_scaled(buf, 500, 3, 0), "1");
    check_text(buf, gt_num_format_scaled(buf, 42, 0, 0), "42");
    check_text(buf, gt_num_format_scaled(buf, 42, 0, 3), "42.000");
    check_text(buf, gt_num_format_scaled(buf, 42, 1, 3), "4.200");
    check_text(buf, gt_num_format_scaled(buf, INT64_MIN, 18, 18), "-9.223372036854775808");
    check_text(buf, gt_num_format_scaled(buf, INT64_MIN, 18, 30), "-9.223372036854775808000000000000");
    check_text(buf, gt_num_format_scaled(buf, INT64_MAX, 18, 0), "9");
    check_text(buf, gt_num_format_scaled(buf, INT64_MIN, 0, 30), "-9223372036854775808.000000000000000000000000000000");
}

static void known_reals_are_short(void **state) {
    static const struct {
        double value;
        const char *text;
    } known[] = {{0, "0"},
                 {-0.0, "0"},
                 {12, "12"},
                 {-1.5, "-1.5"},
                 {0.1, "0.1"},
                 {0.3, "0.3"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {1.0 / 3, "0.3333333333333333"},
                 {2.0 / 3, "0.6666666666666666"},
                 {1e15, "1000000000000000"},
                 {1e22, "1e+22"},
                 {1e-7, "1e-07"},
                 {123456.789, "123456.789"},
                 {5e-324, "5e-324"},
                 {1.7976931348623157e308, "1.7976931348623157e+308"},
                 {2.2250738585072014e-308, "2.2250738585072014e-308"},
                 {NAN, "null"},
                 {INFINITY, "null"},
                 {-INFINITY, "null"}};
    char buf[GT_NUM_MAX];
    (void)state;

    for (size_t i = 0; i < COUNT_OF(known); i++)
        check_text(buf, gt_num_format_real(buf, known[i].value), known[i].text);
}

static size_t significant_digits(const char *text) {
    size_t count = 0, zeros = 0;

    for (; *text && *text != 'e'; text++) {
        if (*text >= '1' && *text <= '9') {
            count += zeros + 1;
            zeros = 0;
        } else if (*text == '0' && count > 0)
            zeros++;
    }
    return count;
}

/* Any bits, and numbers with few decimals: each reads back the same, and no text with fewer digits would. */
static void reals_read_back_the_same(void **state) {
    uint64_t seed = 14;
    (void)state;

    for (int round = 0; round < 100000; round++) {
        uint64_t bits = random_u64(&seed);
        double value, back;
        char buf[GT_NUM_MAX], other[64];
        size_t length, digits;
        if (round % 2)
            memcpy(&value, &bits, sizeof(value));
        else
            value = (double)(bits >> (11 + bits % 50)) / pow(10, (double)(bits % 10));
        if (!isfinite(value))
            continue;
        length = gt_num_format_real(buf, value);
        assert_true(length < GT_NUM_MAX && length == strlen(buf));
        assert_true(strtod(buf, NULL) == value);
        assert_true(gt_num_parse_real((struct gt_str){buf, length}, &back) && back == value);
        digits = significant_digits(buf);
        if (digits > 1) {
            snprintf(other, sizeof(other), "%.*e", (int)digits - 2, value);
            assert_true(strtod(other, NULL) != value);
        }
    }
}

static void short_numbers_are_those_of_strtod(void **state) {
    char text[40];
    uint64_t seed = 16;
    double value;
    (void)state;

    for (int round = 0; round < 20000; round++) {
        unsigned long long whole = random_u64(&seed) >> random_below(&seed, 64);
        unsigned long long rest = random_u64(&seed) >> random_below(&seed, 64);
        int length = snprintf(text, sizeof(text), "%llu.%llu", whole, rest);
        size_t used = (size_t)length < 18 ? (size_t)length : random_below(&seed, 18) + 1;
        text[used] = '\0';
        bool is_number = text[used - 1] != '.';
        assert_true(!is_number ||
                    (gt_num_parse_real((struct gt_str){text, used}, &value) && value == strtod(text, NULL)));
    }
}

static void fixed_decimals_are_those_of_printf(void **state) {
    char buf[GT_NUM_MAX], expected[400];
    uint64_t seed = 15;
    (void)state;

    for (int round = 0; round < 20000; round++) {
        double value = ((double)(int64_t)random_u64(&seed)) / pow(10, (double)random_below(&seed, 20)) + 1e-3;
        int decimals = (int)random_below(&seed, 7);
        snprintf(expected, sizeof(expected), "%.*f", decimals, value);
        if (strtod(expected, NULL) == 0)
            continue;
        check_text(buf, gt_num_format_fixed(buf, value, decimals), expected);
    }
    check_text(buf, gt_num_format_fixed(buf, -0.001, 2), "0.00");
    check_text(buf, gt_num_format_fixed(buf, -0.0, 0), "0");
    check_text(buf, gt_num_format_fixed(buf, -0.006, 2), "-0.01");
    check_text(buf, gt_num_format_fixed(buf, NAN, 2), "nan");
    check_text(buf, gt_num_format_fixed(buf, -INFINITY, 2), "-inf");
    check_text(buf, gt_num_format_fixed(buf, -1.7976931348623157e308, 30), "-1.7976931348623157e+308");
    check_text(buf, gt_num_format_fixed(buf, 2.5, -4), "2");
}

static void durations_fit_their_unit(void **state) {
    static const struct {
        double ns;
        const char *text;
    } known[] = {{0, "0 ns"},
                 {-0.0, "0 ns"},
                 {0.25, "0.25 ns"},
                 {-0.0001, "0 ns"},
                 {1, "1 ns"},
                 {982, "982 ns"},
                 {982.44, "982.4 ns"},
                 {999.94, "999.9 ns"},
                 {999.96, "1 us"},
                 {1000, "1 us"},
                 {9999.6, "10 us"},
                 {12340, "12.34 us"},
                 {-12340, "-12.34 us"},
                 {20000, "20 us"},
                 {100000, "100 us"},
                 {999940, "999.9 us"},
                 {999960, "1 ms"},
                 {-999960, "-1 ms"},
                 {999999999, "1 s"},
                 {1203000000, "1.203 s"},
                 {59.994e9, "59.99 s"},
                 {59.996e9, "1 min 00 s"},
                 {60e9, "1 min 00 s"},
                 {125e9, "2 min 05 s"},
                 {-125e9, "-2 min 05 s"},
                 {119.6e9, "2 min 00 s"},
                 {3599.4e9, "59 min 59 s"},
                 {3599.6e9, "1 h 00 min"},
                 {7384e9, "2 h 03 min"},
                 {(double)INT64_MAX, "2562047 h 47 min"},
                 {1e300, "2.778e+287 h"},
                 {NAN, "-"},
                 {INFINITY, "-"}};
    char buf[GT_NUM_MAX];
    (void)state;

    for (size_t i = 0; i < COUNT_OF(known); i++)
        check_text(buf, gt_num_format_duration(buf, known[i].ns), known[i].text);
}

static void bytes_fit_their_unit(void **state) {
    static const struct {
        double bytes;
        const char *text;
    } known[] = {{0, "0 B"},
                 {999, "999 B"},
                 {1000, "1 kB"},
                 {1500000, "1.5 MB"},
                 {999960, "1 MB"},
                 {12345678901, "12.35 GB"},
                 {-2e12, "-2 TB"},
                 {18446744073709551615.0, "18.45 EB"},
                 {5e24, "5000000 EB"},
                 {1.7976931348623157e308, "1.798e+290 EB"},
                 {NAN, "-"}};
    char buf[GT_NUM_MAX];
    (void)state;

    for (size_t i = 0; i < COUNT_OF(known); i++)
        check_text(buf, gt_num_format_bytes(buf, known[i].bytes), known[i].text);
}

/* No duration may show four digits before the point, nor lose more than the last of its four digits. */
static void random_durations_stay_in_range(void **state) {
    char buf[GT_NUM_MAX];
    uint64_t seed = 16;
    (void)state;

    for (int round = 0; round < 200000; round++) {
        double ns = (double)random_below(&seed, 59990000) * pow(10, (double)random_below(&seed, 4)), number, factor;
        char *rest;
        gt_num_format_duration(buf, ns);
        number = strtod(buf, &rest);
        factor = rest[1] == 'n' ? 1 : rest[1] == 'u' ? 1e3 : rest[1] == 'm' ? 1e6 : 1e9;
        assert_true(number < 1000);
        assert_true(fabs(number * factor - ns) <= ns * 0.0005000001);
    }
}

/* Decimal commas in the user's locale must not reach files, nor be asked of them. */
static void locales_change_nothing(void **state) {
    static const char *const with_comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8", "de_DE"};
    char buf[GT_NUM_MAX];
    bool set = false;
    double value;
    (void)state;

    for (size_t i = 0; i < COUNT_OF(with_comma) && !set; i++)
        set = setlocale(LC_ALL, with_comma[i]) != NULL;
    if (!set)
        skip();
    snprintf(buf, sizeof(buf), "%.1f", 1.5);
    assert_string_equal(buf, "1,5");
    check_text(buf, gt_num_format_fixed(buf, 1.5, 1), "1.5");
    check_text(buf, gt_num_format_real(buf, 1.0 / 3), "0.3333333333333333");
    check_text(buf, gt_num_format_duration(buf, 1500), "1.5 us");
    assert_true(gt_num_parse_real(GT_STR("1.5"), &value) && value == 1.5);
    snprintf(buf, sizeof(buf), "%.1f", 1.5);
    assert_string_equal(buf, "1,5");
    setlocale(LC_ALL, "C");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimals_are_exact),
        cmocka_unit_test(random_decimals_agree_with_wide_integers),
        cmocka_unit_test(short_cuts_agree_with_the_general_way),
        cmocka_unit_test(integers_have_limits),
        cmocka_unit_test(reals_are_numbers_only),
        cmocka_unit_test(durations_have_units),
        cmocka_unit_test(integers_are_written),
        cmocka_unit_test(scaled_integers_are_exact),
        cmocka_unit_test(known_reals_are_short),
        cmocka_unit_test(reals_read_back_the_same),
        cmocka_unit_test(short_numbers_are_those_of_strtod),
        cmocka_unit_test(fixed_decimals_are_those_of_printf),
        cmocka_unit_test(durations_fit_their_unit),
        cmocka_unit_test(bytes_fit_their_unit),
        cmocka_unit_test(random_durations_stay_in_range),
        cmocka_unit_test(locales_change_nothing),
    };
    return cmocka_run_group_tests_name("num", tests, NULL, NULL);
}
