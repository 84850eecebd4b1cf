/* Parses times and lists of numbers of options. */
#include <string.h>

#include "base/num.h"
#include "internal.h"

API enum gputime_status gputime_time_parse(const char *text, struct gputime_time *out, struct gputime_error *err) {
    enum { PERCENT_DECIMALS = 9 };
    struct gt_error error = {0};
    struct gt_str time = gt_str_of(text);
    int64_t number;
    *out = (struct gputime_time){.kind = GPUTIME_TIME_NONE};
    if (time.len && time.ptr[time.len - 1] == '%') {
        time.len--;
        if (gt_num_parse_decimal(time, PERCENT_DECIMALS, &number))
            *out = (struct gputime_time){.kind = GPUTIME_TIME_SHARE, .share = (double)number / 1e11, .text = text};
    } else if (gt_num_parse_duration(time, &number)) {
        *out = (struct gputime_time){.kind = GPUTIME_TIME_NS, .ns = number, .text = text};
    }
    if (out->kind != GPUTIME_TIME_NONE)
        return GPUTIME_OK;
    gt_fail_usage(&error, "invalid time '%.80s'; use for example 1.2s, 350ms, 20us or 40%%", text);
    return gt_internal_fail(GT_ERR_USAGE, &error, err);
}

/* "3" or "2-4"; either number may be negative. */
static bool parse_range(struct gt_str item, struct gputime_range *range) {
    const char *dash = item.len > 1 ? memchr(item.ptr + 1, '-', item.len - 1) : NULL;
    struct gt_str left = {item.ptr, dash ? (size_t)(dash - item.ptr) : item.len};
    struct gt_str right = dash ? (struct gt_str){dash + 1, item.len - left.len - 1} : left;
    return gt_num_parse_int(left, &range->first) && gt_num_parse_int(right, &range->last) &&
           range->first <= range->last;
}

API enum gputime_status gputime_ranges_parse(const char *text, struct gputime_range *out, size_t capacity,
                                             size_t *count, struct gputime_error *err) {
    struct gt_error error = {0};
    struct gt_str rest = gt_str_of(text), item;
    *count = 0;
    while (gt_str_next_item(&rest, &item)) {
        struct gputime_range range;
        if (!parse_range(item, &range)) {
            gt_fail_usage(&error, "invalid numbers '%.80s'; use for example 2 or 0,2 or 1-3", text);
            *count = 0;
            return gt_internal_fail(GT_ERR_USAGE, &error, err);
        }
        if (*count < capacity)
            out[*count] = range;
        ++*count;
    }
    return GPUTIME_OK;
}
