/* Times and lengths in ns. Damaged traces hold any 64-bit number, so differences and sums saturate at the ends of the
   range instead of overflowing. */
#ifndef GT_BASE_NS_H
#define GT_BASE_NS_H

#include <stdint.h>

static inline int64_t gt_ns_between(int64_t start_ns, int64_t end_ns) {
    int64_t length;
    if (__builtin_sub_overflow(end_ns, start_ns, &length))
        return end_ns > start_ns ? INT64_MAX : INT64_MIN;
    return length;
}

static inline int64_t gt_ns_add(int64_t a, int64_t b) {
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return a > 0 ? INT64_MAX : INT64_MIN;
    return sum;
}

static inline int64_t gt_ns_of_sum(__int128 sum) {
    return sum > INT64_MAX ? INT64_MAX : sum < INT64_MIN ? INT64_MIN : (int64_t)sum;
}

#endif
