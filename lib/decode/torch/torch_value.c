/* Reads numbers, times and memory kinds out of the text of trace events. */
#include "decode/torch/torch_value.h"

#include <string.h>

#include "base/num.h"
#include "events/store.h"

/* 15 digits of microseconds and three of their decimals stay below 2^63 ns; anything else takes the general way. */
enum { MAX_FAST_DIGITS = 15 };

static inline const char *read_digits(const char *p, const char *end, uint64_t *value) {
    for (; p < end && (unsigned char)(*p - '0') < 10; p++)
        *value = *value * 10 + (uint64_t)(*p - '0');
    return p;
}

static bool parse_micros(struct gt_str text, int64_t *ns) {
    const char *p = text.ptr, *end = p + text.len;
    uint64_t value = 0, fraction = 0;
    const char *point = read_digits(p, end - p > MAX_FAST_DIGITS ? p + MAX_FAST_DIGITS : end, &value);
    if (point > p && point == end) {
        *ns = (int64_t)(value * 1000);
        return true;
    }
    if (point > p && *point == '.' && end - point == 4 && read_digits(point + 1, end, &fraction) == end) {
        *ns = (int64_t)(value * 1000 + fraction);
        return true;
    }
    return gt_num_parse_decimal(text, 3, ns);
}

enum gt_json_number gt_torch_value_int(const struct gt_torch_event *event, enum gt_torch_field field, int64_t *value) {
    return gt_torch_event_has(event, field) ? gt_json_number_to_int(&event->values[field], value) : GT_JSON_ABSENT;
}

enum gt_json_number gt_torch_value_micros(const struct gt_torch_event *event, enum gt_torch_field field, int64_t *ns) {
    struct gt_str text;
    enum gt_json_number found =
        gt_torch_event_has(event, field) ? gt_json_number_text(&event->values[field], &text) : GT_JSON_ABSENT;
    if (found != GT_JSON_NUMBER)
        return found;
    return parse_micros(text, ns) && *ns != GT_NO_TIME ? GT_JSON_NUMBER : GT_JSON_UNREADABLE;
}

static uint8_t memory_kind(struct gt_str word) {
    static const struct {
        struct gt_str word;
        enum gt_memory_kind kind;
    } kinds[] = {
        {GT_STR("Device"), GT_MEMORY_DEVICE}, {GT_STR("Pageable"), GT_MEMORY_PAGEABLE},
        {GT_STR("Pinned"), GT_MEMORY_PINNED}, {GT_STR("Managed"), GT_MEMORY_MANAGED},
        {GT_STR("Array"), GT_MEMORY_ARRAY},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (gt_str_starts(word, kinds[i].word)) /* "Device Static" is device memory too */
            return (uint8_t)kinds[i].kind;
    return GT_MEMORY_UNKNOWN;
}

void gt_torch_value_memory_kinds(struct gt_str name, uint8_t *src, uint8_t *dst) {
    static const struct gt_str arrow = GT_STR(" -> ");
    *src = *dst = GT_MEMORY_UNKNOWN;
    const char *open = name.len ? memchr(name.ptr, '(', name.len) : NULL;
    if (!open)
        return;
    struct gt_str inside = {open + 1, name.len - (size_t)(open + 1 - name.ptr)};
    const char *between = memmem(inside.ptr, inside.len, arrow.ptr, arrow.len);
    if (!between) {
        *dst = memory_kind(inside);
        return;
    }
    *src = memory_kind(inside);
    const char *second = between + arrow.len;
    *dst = memory_kind((struct gt_str){second, inside.len - (size_t)(second - inside.ptr)});
}
