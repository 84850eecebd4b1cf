/* Products and sums of sizes. Shapes of damaged or hostile traces have any numbers, so results that do not fit stay
   "too large" instead of wrapping around. All numbers are 0 or more. */
#ifndef GT_MEASURE_EFFICIENCY_WORK_MATH_H
#define GT_MEASURE_EFFICIENCY_WORK_MATH_H

#include <stdbool.h>
#include <stdint.h>

typedef __int128 gt_big;

#define GT_TOO_LARGE ((gt_big)(((unsigned __int128)1 << 127) - 1))

static inline gt_big gt_work_math_mul(gt_big a, gt_big b) {
    gt_big product;
    return __builtin_mul_overflow(a, b, &product) ? GT_TOO_LARGE : product;
}

static inline gt_big gt_work_math_add(gt_big a, gt_big b) {
    gt_big sum;
    return __builtin_add_overflow(a, b, &sum) ? GT_TOO_LARGE : sum;
}

/* Whether a report can show it: cells have 64 bits. */
static inline bool gt_work_math_fits(gt_big value) {
    return value <= INT64_MAX;
}

/* amount / rate per second in ns, to the nearest; amount fits 64 bits, rate > 0 */
static inline int64_t gt_work_math_ns(int64_t amount, int64_t rate) {
    gt_big ns = ((gt_big)amount * 2000000000 + rate) / ((gt_big)rate * 2);
    return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

/* What the part from `before` to `after` of a whole has of a total, all rounded down: parts sum to the total. */
static inline int64_t gt_work_math_share(int64_t total, int64_t before, int64_t after, int64_t whole) {
    return (int64_t)((gt_big)total * after / whole - (gt_big)total * before / whole);
}

#endif
