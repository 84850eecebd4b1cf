/* Order statistics by counting buckets: samples come in, exact quantiles go out. */
#include "base/quantile.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
    BUCKET_BITS = 11,
    MANTISSA_BITS = 5, /* of those below the highest bit of a sample, how many choose its first bucket */
    MANTISSAS = 1 << MANTISSA_BITS,
    SMALL_COUNT = 64,
    BLOCK = 512, /* samples that are made at a time */
    MOST_WANTED = 2 * GT_QUANTILES_MOST,
};

/* The samples of one bucket: 2^bits values from lowest on. */
struct range {
    int64_t lowest;
    unsigned bits;
};

/* A rank, and the range in which its sample is: a single value at the end. */
struct wanted {
    size_t rank;
    struct range range;
    size_t below; /* samples below the range */
};

/* Buckets of a first look. Negative samples have one, small ones have one each, and larger ones share it with those of
   the same highest bits: samples of any scale are distinguished alike. */
static size_t first_bucket(int64_t sample) {
    if (sample < MANTISSAS)
        return sample < 0 ? 0 : (size_t)sample + 1;
    unsigned shift = 63 - MANTISSA_BITS - (unsigned)__builtin_clzll((uint64_t)sample);
    return 1 + shift * MANTISSAS + (size_t)(sample >> shift);
}

static struct range first_range(size_t bucket) {
    if (bucket == 0)
        return (struct range){INT64_MIN, 63};
    if (bucket <= MANTISSAS)
        return (struct range){(int64_t)bucket - 1, 0};
    unsigned shift = (unsigned)((bucket - 1) / MANTISSAS) - 1;
    return (struct range){(int64_t)(bucket - 1 - shift * MANTISSAS) << shift, shift};
}

/* The bucket that a search for a rank came to, and the samples below it. */
struct walk {
    size_t bucket, below;
};

/* Finds the bucket of the rank; its number. Most ranks are after the one before. */
static size_t enter_bucket(struct wanted *wanted, const uint32_t *counts, struct walk *walk) {
    if (wanted->rank < walk->below)
        *walk = (struct walk){.below = wanted->below};
    while (wanted->rank >= walk->below + counts[walk->bucket])
        walk->below += counts[walk->bucket++];
    wanted->below = walk->below;
    return walk->bucket;
}

/* The samples of some buckets of the first look. */
struct chosen {
    uint8_t is_chosen[(size_t)1 << BUCKET_BITS];
    size_t bucket_count, count; /* of buckets, of samples in them */
};

/* Loops over samples are made twice, for what they are stored as: asking for each sample would take as long as the
   rest. The compiler sees that a constant is passed. */
#define BOTH_WAYS(function, slice, ...)                                                                                \
    ((slice)->narrow ? function((slice), true, __VA_ARGS__) : function((slice), false, __VA_ARGS__))

static inline int64_t sample_at(const struct gt_slice *slice, bool is_narrow, size_t index) {
    return is_narrow ? (int64_t)slice->narrow[index] : slice->samples[index];
}

/* Walks over samples by blocks of stored ones: one block for all, unless they are made for the walk. */
struct blocks {
    const struct gt_slice *slices, *end;
    size_t position;
    int64_t room[BLOCK];
};

static bool next_block(struct blocks *it, struct gt_slice *block) {
    const struct gt_slice *slice = it->slices;
    size_t first = it->position, end;
    if (slice == it->end)
        return false;
    if (slice->make) {
        end = slice->position_count - first > BLOCK ? first + BLOCK : slice->position_count;
        *block = (struct gt_slice){.samples = it->room, .count = slice->make(slice->context, first, end, it->room)};
        it->position = end;
    } else {
        *block = *slice;
    }
    if (!slice->make || it->position == slice->position_count) {
        it->slices++;
        it->position = 0;
    }
    return true;
}

static void begin_blocks(struct blocks *it, const struct gt_slice *slices, size_t slice_count) {
    it->slices = slices;
    it->end = slices + slice_count;
    it->position = 0;
}

/* Neighbours often have the same bucket: they are counted apart, so that none waits for the other. */
static inline __attribute__((always_inline)) void count_first(const struct gt_slice *slice, bool is_narrow,
                                                              uint32_t *counts, uint32_t *others) {
    size_t i = 0;
    for (; i + 1 < slice->count; i += 2) {
        counts[first_bucket(sample_at(slice, is_narrow, i))]++;
        others[first_bucket(sample_at(slice, is_narrow, i + 1))]++;
    }
    if (i < slice->count)
        counts[first_bucket(sample_at(slice, is_narrow, i))]++;
}

static void look(const struct gt_slice *slices, size_t slice_count, struct wanted *wanted, size_t wanted_count,
                 struct chosen *chosen) {
    uint32_t counts[(size_t)1 << BUCKET_BITS] = {0}, others[(size_t)1 << BUCKET_BITS]; /* of rows, which have 32 bits */
    size_t count = 0;
    struct walk walk = {0};
    struct blocks blocks;
    struct gt_slice block;

    for (size_t s = 0; s < slice_count; s++)
        count += slices[s].count;
    bool are_many = count > GT_ARRAY_COUNT(counts) * 8; /* else clearing the others would take longer */
    if (are_many)
        memset(others, 0, sizeof others);
    begin_blocks(&blocks, slices, slice_count);
    while (next_block(&blocks, &block))
        BOTH_WAYS(count_first, &block, counts, are_many ? others : counts);
    for (size_t i = 0; i < GT_ARRAY_COUNT(counts) && are_many; i++)
        counts[i] += others[i];
    *chosen = (struct chosen){0};
    for (size_t i = 0; i < wanted_count; i++) {
        size_t bucket = enter_bucket(&wanted[i], counts, &walk);
        wanted[i].range = first_range(bucket);
        chosen->bucket_count += !chosen->is_chosen[bucket];
        chosen->count += chosen->is_chosen[bucket] ? 0 : counts[bucket];
        chosen->is_chosen[bucket] = 1;
    }
}

static inline __attribute__((always_inline)) size_t gather_slice(const struct gt_slice *slice, bool is_narrow,
                                                                 const uint8_t *is_chosen, int64_t *room) {
    size_t count = 0;
    for (size_t i = 0; i < slice->count; i++) {
        int64_t sample = sample_at(slice, is_narrow, i);
        room[count] = sample;
        count += is_chosen[first_bucket(sample)];
    }
    return count;
}

/* Copies the samples of chosen buckets, `room` has space for one more than these. Without branches: they are all over
   the place. */
static struct gt_slice gather(const struct gt_slice *slices, size_t slice_count, const struct chosen *chosen,
                              int64_t *room) {
    size_t count = 0;
    struct blocks blocks;
    struct gt_slice block;

    begin_blocks(&blocks, slices, slice_count);
    while (next_block(&blocks, &block))
        count += BOTH_WAYS(gather_slice, &block, chosen->is_chosen, room + count);
    return (struct gt_slice){.samples = room, .count = count};
}

static inline __attribute__((always_inline)) void count_closer(const struct gt_slice *slice, bool is_narrow,
                                                               const struct range *range, unsigned shift,
                                                               uint32_t *counts) {
    uint64_t lowest = (uint64_t)range->lowest, width = (uint64_t)1 << range->bits;
    for (size_t i = 0; i < slice->count; i++) {
        uint64_t above = (uint64_t)sample_at(slice, is_narrow, i) - lowest;
        if (above < width)
            counts[above >> shift]++;
    }
}

/* Divides the range of the first one wanted, for all that are wanted of it. */
static void look_closer(const struct gt_slice *slices, size_t slice_count, struct wanted *wanted, size_t wanted_count) {
    uint32_t counts[(size_t)1 << BUCKET_BITS];
    struct range range = wanted->range;
    struct walk walk = {.below = wanted->below};
    unsigned shift = range.bits > BUCKET_BITS ? range.bits - BUCKET_BITS : 0;
    struct blocks blocks;
    struct gt_slice block;

    memset(counts, 0, sizeof *counts << (range.bits - shift)); /* mostly few: most sets are small */
    begin_blocks(&blocks, slices, slice_count);
    while (next_block(&blocks, &block))
        BOTH_WAYS(count_closer, &block, &range, shift, counts);
    for (size_t i = 0; i < wanted_count; i++)
        if (wanted[i].range.lowest == range.lowest && wanted[i].range.bits == range.bits) {
            uint64_t bucket = enter_bucket(&wanted[i], counts, &walk);
            wanted[i].range = (struct range){(int64_t)((uint64_t)range.lowest + (bucket << shift)), shift};
        }
}

static void sort_few(const struct gt_slice *slices, size_t slice_count, struct wanted *wanted, size_t wanted_count) {
    int64_t sorted[SMALL_COUNT];
    size_t count = 0;
    struct blocks blocks;
    struct gt_slice block;

    begin_blocks(&blocks, slices, slice_count);
    while (next_block(&blocks, &block))
        for (size_t i = 0; i < block.count; i++, count++) {
            size_t at = count;
            int64_t sample = gt_quantile_sample(&block, i);
            for (; at > 0 && sorted[at - 1] > sample; at--)
                sorted[at] = sorted[at - 1];
            sorted[at] = sample;
        }
    for (size_t i = 0; i < wanted_count; i++)
        wanted[i].range = (struct range){sorted[wanted[i].rank], 0};
}

/* Each look at the samples leaves 1/2048 of a range, so there are at most seven for each that is wanted, and two or
   three for durations: O(count) for any input. Where several buckets must be looked at, all looks but the first are at
   their samples alone, if there is memory for these. */
static void find_wanted(const struct gt_slice *slices, size_t slice_count, struct wanted *wanted, size_t wanted_count) {
    enum { SEVERAL = 3 }; /* a look at one bucket is cheaper than the copy, and often two are enough */
    struct chosen chosen;
    struct gt_slice few;
    look(slices, slice_count, wanted, wanted_count, &chosen);
    int64_t *room = chosen.bucket_count >= SEVERAL ? gt_mem_uninitialised(chosen.count + 1, sizeof *room) : NULL;
    if (room) {
        few = gather(slices, slice_count, &chosen, room);
        slices = &few;
        slice_count = 1;
    }
    for (size_t i = 0; i < wanted_count; i++)
        while (wanted[i].range.bits)
            look_closer(slices, slice_count, wanted + i, wanted_count - i);
    gt_mem_free(room);
}

static double between(int64_t value, int64_t next, double part) {
    if (part == 0.5)
        return (double)((__int128)value + next) / 2;
    return (double)value + (double)((uint64_t)next - (uint64_t)value) * part;
}

/* Where the value at a level of the sorted samples is: its part of the way from one rank to the next. */
struct place {
    size_t rank, next;
    double part;
};

static struct place place_of(double level, size_t count) {
    double position = (level > 0 ? fmin(level, 1) : 0) * (double)(count ? count - 1 : 0);
    size_t rank = (size_t)position;
    if (rank >= count)
        rank = count ? count - 1 : 0;
    double part = position - (double)rank;
    return (struct place){rank, part > 0 && rank + 1 < count ? rank + 1 : rank, part};
}

void gt_quantile_all(const struct gt_slice *slices, size_t slice_count, const double *levels, size_t level_count,
                     double *values) {
    struct wanted wanted[MOST_WANTED];
    double parts[GT_QUANTILES_MOST];
    size_t count = 0;

    assert(level_count <= GT_QUANTILES_MOST);
    for (size_t s = 0; s < slice_count; s++)
        count += slices[s].count;
    for (size_t i = 0; i < level_count; i++) {
        struct place place = place_of(levels[i], count);
        parts[i] = place.part;
        wanted[2 * i] = (struct wanted){.rank = place.rank};
        wanted[2 * i + 1] = (struct wanted){.rank = place.next};
    }
    if (count > SMALL_COUNT)
        find_wanted(slices, slice_count, wanted, 2 * level_count);
    else if (count)
        sort_few(slices, slice_count, wanted, 2 * level_count);
    for (size_t i = 0; i < level_count; i++)
        values[i] = count ? between(wanted[2 * i].range.lowest, wanted[2 * i + 1].range.lowest, parts[i]) : 0;
}

/* The sample of a rank; SIZE_MAX: it is not counted. */
static size_t sample_of_rank(const uint32_t *counts, size_t counted, size_t rank) {
    size_t below = 0;
    for (size_t sample = 0; sample < counted; sample++) {
        below += counts[sample];
        if (rank < below)
            return sample;
    }
    return SIZE_MAX;
}

bool gt_quantile_of_counts(const uint32_t *counts, size_t counted, size_t count, double level, double *value) {
    struct place place = place_of(level, count);
    size_t low = sample_of_rank(counts, counted, place.rank), high = sample_of_rank(counts, counted, place.next);

    *value = 0;
    if (count && high == SIZE_MAX)
        return false;
    if (count)
        *value = between((int64_t)low, (int64_t)high, place.part);
    return true;
}

double gt_quantile(const int64_t *samples, size_t count, double level) {
    struct gt_slice slice = {.samples = samples, .count = count};
    double value;

    gt_quantile_all(&slice, 1, &level, 1, &value);
    return value;
}

static int by_value(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

double gt_quantile_real(double *samples, size_t count, double level) {
    struct place place = place_of(level, count);

    if (!count)
        return 0;
    qsort(samples, count, sizeof *samples, by_value);
    double value = samples[place.rank], next = samples[place.next];
    return value == next ? value : value + (next - value) * place.part; /* the same: both may be infinite */
}
