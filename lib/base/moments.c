/* Moments by wide integers: samples come in one by one or as sums of others, exact summaries go out. */
#include "base/moments.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

void gt_moments_merge(struct gt_moments *into, const struct gt_moments *from) {
    if (from->count == 0)
        return;
    if (into->count == 0 || from->min < into->min)
        into->min = from->min;
    if (into->count == 0 || from->max > into->max)
        into->max = from->max;
    into->count += from->count;
    into->sum += from->sum;
    into->squares_carry += from->squares_carry;
    gt_moments_add_squares(into, from->squares);
}

void gt_moments_take(struct gt_moments *moments, struct gt_moments_batch *batch) {
    struct gt_moments of = {.sum = batch->sum,
                            .squares = batch->squares,
                            .count = batch->count,
                            .min = (int64_t)batch->min,
                            .max = (int64_t)batch->max};
    gt_moments_merge(moments, &of);
    *batch = (struct gt_moments_batch){0};
}

static int bit_width(unsigned __int128 value) {
    uint64_t high = (uint64_t)(value >> 64), low = (uint64_t)value;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

/* a / b rounded once: 62 or more bits of the quotient, the lowest says whether anything follows. a / b < 2^64. */
static double divide(unsigned __int128 a, uint64_t b) {
    int shift = 63 - (bit_width(a) - bit_width(b));
    unsigned __int128 shifted;
    uint64_t quotient;

    if (a == 0)
        return 0;
    if (shift < 0)
        shift = 0;
    shifted = a << shift;
    quotient = (uint64_t)(shifted / b) | (shifted % b != 0);
    return ldexp((double)quotient, -shift);
}

double gt_moments_mean(const struct gt_moments *moments) {
    bool negative = moments->sum < 0;
    unsigned __int128 magnitude = negative ? -(unsigned __int128)moments->sum : (unsigned __int128)moments->sum;
    double mean;

    if (moments->count == 0)
        return 0;
    mean = divide(magnitude, moments->count);
    return negative ? -mean : mean;
}

/* 256 bits, lowest first: room for count * squares and sum * sum of any samples. */
struct wide {
    uint64_t limbs[4];
};

/* The factors have four limbs together, or fewer. */
static struct wide wide_multiply(const uint64_t *a, size_t a_limbs, const uint64_t *b, size_t b_limbs) {
    struct wide product = {{0}};

    for (size_t i = 0; i < a_limbs; i++) {
        uint64_t carry = 0;
        for (size_t j = 0; j < b_limbs; j++) {
            unsigned __int128 step = (unsigned __int128)a[i] * b[j] + product.limbs[i + j] + carry;
            product.limbs[i + j] = (uint64_t)step;
            carry = (uint64_t)(step >> 64);
        }
        product.limbs[i + b_limbs] = carry;
    }
    return product;
}

static struct wide wide_subtract(struct wide a, struct wide b) {
    uint64_t borrow = 0;

    for (size_t i = 0; i < 4; i++) {
        unsigned __int128 step = (unsigned __int128)a.limbs[i] - b.limbs[i] - borrow;
        a.limbs[i] = (uint64_t)step;
        borrow = (uint64_t)(step >> 64) & 1;
    }
    return a;
}

/* From the 64 highest bits: within 0.501 units of the last place. */
static double wide_to_double(struct wide value) {
    int top = 3, shift;
    uint64_t bits;

    while (top > 0 && value.limbs[top] == 0)
        top--;
    if (top == 0)
        return (double)value.limbs[0];
    shift = __builtin_clzll(value.limbs[top]);
    bits = value.limbs[top] << shift;
    if (shift)
        bits |= value.limbs[top - 1] >> (64 - shift);
    return ldexp((double)bits, 64 * top - shift);
}

/* sqrt((n * squares - sum^2) / (n * (n - 1))): integers up to the division. */
double gt_moments_stddev(const struct gt_moments *moments) {
    unsigned __int128 sum = moments->sum < 0 ? -(unsigned __int128)moments->sum : (unsigned __int128)moments->sum;
    uint64_t sum_limbs[2] = {(uint64_t)sum, (uint64_t)(sum >> 64)};
    uint64_t squares_limbs[3] = {(uint64_t)moments->squares, (uint64_t)(moments->squares >> 64),
                                 moments->squares_carry};
    struct wide scaled_squares, square_of_sum;
    unsigned __int128 pairs;

    if (moments->count < 2)
        return 0;
    pairs = (unsigned __int128)moments->count * (moments->count - 1);
    scaled_squares = wide_multiply(squares_limbs, 3, &moments->count, 1);
    square_of_sum = wide_multiply(sum_limbs, 2, sum_limbs, 2);
    return sqrt(wide_to_double(wide_subtract(scaled_squares, square_of_sum)) / (double)pairs);
}
