/* Order statistics by bucket selection and moments by wide integers: samples come in, exact summaries go out. */
#include "base/quantile.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define BUCKET_BITS 8
#define SMALL_COUNT 32

static void insertion_sort(int64_t *samples, size_t count) {
    for (size_t i = 1; i < count; i++) {
        int64_t sample = samples[i];
        size_t at = i;
        for (; at > 0 && samples[at - 1] > sample; at--)
            samples[at] = samples[at - 1];
        samples[at] = sample;
    }
}

static void find_range(const int64_t *samples, size_t count, int64_t *lowest, int64_t *highest) {
    int64_t low = INT64_MAX, high = INT64_MIN;

    for (size_t i = 0; i < count; i++) {
        low = samples[i] < low ? samples[i] : low;
        high = samples[i] > high ? samples[i] : high;
    }
    *lowest = low;
    *highest = high;
}

/* Which of 256 equal parts of the range above lowest. */
static size_t bucket_of(int64_t sample, int64_t lowest, unsigned shift) {
    return (size_t)(((uint64_t)sample - (uint64_t)lowest) >> shift);
}

/* Moves the samples of buckets below limit to the front; how many they are. No branch depends on the data. */
static size_t move_front(int64_t *samples, size_t count, int64_t lowest, unsigned shift, size_t limit) {
    size_t front = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t sample = samples[i];
        samples[i] = samples[front];
        samples[front] = sample;
        front += bucket_of(sample, lowest, shift) < limit;
    }
    return front;
}

/* Puts the sample of that rank in its place, none larger before it and none smaller behind it. Every round leaves one
   bucket, of 1/256 of the range, so there are at most nine rounds: O(count) for any input. */
static void select_rank(int64_t *samples, size_t count, size_t rank) {
    size_t counts[(size_t)1 << BUCKET_BITS];

    while (count > SMALL_COUNT) {
        int64_t lowest, highest;
        unsigned bits, shift;
        size_t below = 0, bucket = 0;

        find_range(samples, count, &lowest, &highest);
        if (lowest == highest)
            return;
        bits = 64 - (unsigned)__builtin_clzll((uint64_t)highest - (uint64_t)lowest);
        shift = bits > BUCKET_BITS ? bits - BUCKET_BITS : 0;
        memset(counts, 0, sizeof(counts));
        for (size_t i = 0; i < count; i++)
            counts[bucket_of(samples[i], lowest, shift)]++;
        while (rank >= below + counts[bucket])
            below += counts[bucket++];
        move_front(samples, count, lowest, shift, bucket);
        samples += below;
        rank -= below;
        count = move_front(samples, count - below, lowest, shift, bucket + 1);
    }
    insertion_sort(samples, count);
}

double gt_quantile(int64_t *samples, size_t count, double q) {
    double position, part;
    size_t rank;
    int64_t value, next, highest;

    if (count == 0)
        return 0;
    position = (q > 0 ? fmin(q, 1) : 0) * (double)(count - 1);
    rank = (size_t)position;
    if (rank > count - 1)
        rank = count - 1;
    part = position - (double)rank;
    select_rank(samples, count, rank);
    value = samples[rank];
    if (rank == count - 1 || !(part > 0))
        return (double)value;
    find_range(samples + rank + 1, count - rank - 1, &next, &highest);
    if (part == 0.5)
        return (double)((__int128)value + next) / 2;
    return (double)value + (double)((uint64_t)next - (uint64_t)value) * part;
}

/* ---- moments ---- */

static void add_squares(struct gt_moments *moments, unsigned __int128 squares) {
    moments->squares_carry += __builtin_add_overflow(moments->squares, squares, &moments->squares);
}

void gt_moments_add(struct gt_moments *moments, int64_t value) {
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    if (moments->count == 0 || value < moments->min)
        moments->min = value;
    if (moments->count == 0 || value > moments->max)
        moments->max = value;
    moments->count++;
    moments->sum += value;
    add_squares(moments, (unsigned __int128)magnitude * magnitude);
}

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
    add_squares(into, from->squares);
}

static int bit_width(unsigned __int128 value) {
    uint64_t high = (uint64_t)(value >> 64), low = (uint64_t)value;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

/* a / b rounded once: 62 or more bits of the quotient, the lowest telling whether anything follows. a / b < 2^64. */
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
