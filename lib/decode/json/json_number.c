/* Reads numbers out of the text of values. */
#include "decode/json/json_number.h"

#include "base/num.h"

/* 15 digits stay below 2^63; anything else takes the general way. */
enum { MAX_FAST_DIGITS = 15 };

static inline const char *read_digits(const char *p, const char *end, uint64_t *value) {
    for (; p < end && (unsigned char)(*p - '0') < 10; p++)
        *value = *value * 10 + (uint64_t)(*p - '0');
    return p;
}

static bool parse_int(struct gt_str text, int64_t *value) {
    const char *p = text.ptr, *end = p + text.len;
    uint64_t fast = 0;
    if (text.len - 1 < MAX_FAST_DIGITS && read_digits(p, end, &fast) == end) {
        *value = (int64_t)fast;
        return true;
    }
    return gt_num_parse_int(text, value) || gt_num_parse_decimal(text, 0, value);
}

enum gt_json_number gt_json_number_text(const struct gt_json_value *value, struct gt_str *text) {
    *text = value->text.raw;
    if (!value->is_string)
        return gt_str_eq(*text, GT_STR("null")) ? GT_JSON_ABSENT : GT_JSON_NUMBER;
    while (text->len && gt_json_scan_is_space(*text->ptr)) {
        text->ptr++;
        text->len--;
    }
    while (text->len && gt_json_scan_is_space(text->ptr[text->len - 1]))
        text->len--;
    return GT_JSON_NUMBER;
}

enum gt_json_number gt_json_number_to_int(const struct gt_json_value *value, int64_t *number) {
    struct gt_str text;
    enum gt_json_number found = gt_json_number_text(value, &text);
    return found != GT_JSON_NUMBER || parse_int(text, number) ? found : GT_JSON_UNREADABLE;
}

enum gt_json_number gt_json_number_to_uint(const struct gt_json_value *value, uint64_t *number) {
    struct gt_str text;
    int64_t number_signed;
    enum gt_json_number found = gt_json_number_text(value, &text);
    if (found != GT_JSON_NUMBER || gt_num_parse_uint(text, number))
        return found;
    if (!parse_int(text, &number_signed))
        return GT_JSON_UNREADABLE;
    *number = (uint64_t)number_signed;
    return number_signed < 0 ? GT_JSON_ABSENT : GT_JSON_NUMBER;
}

enum gt_json_number gt_json_number_to_real(const struct gt_json_value *value, double *number) {
    struct gt_str text;
    enum gt_json_number found = gt_json_number_text(value, &text);
    return found != GT_JSON_NUMBER || gt_num_parse_real(text, number) ? found : GT_JSON_UNREADABLE;
}
