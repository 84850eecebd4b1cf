/* Joins small neighbours of rows of intervals: a first walk counts what every grain of time gives, a second one makes
   the items of the chosen one. */
#include "measure/results/tiles.h"

#include <stdatomic.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"
#include "measure/results/span_mix.h"

enum { BLOCK = 256 }; /* spans that are read at a time */

/* ---- how many items a grain gives ---- */

enum { GRAINS = 63 }; /* powers of two; the range of all times has four of the largest */

/* A count for all grains in one walk: bit g of a mask represents the grain 2^g. Two starts lie in different grains up
   to the highest bit in which they differ. */
struct census {
    size_t most;
    int finest;            /* those below it have more than `most` items already and are not counted any more */
    size_t widths[64 + 1]; /* spans by how many grains, from the smallest, they begin a new one of */
    size_t longer[GRAINS]; /* spans that begin an item since they are long and those before them are not */
    uint64_t is_long;      /* of the open item */
    uint64_t before;       /* start of the span before */
};

/* How many bits a number has: it is not below the grains with smaller exponents. */
static int width_of(uint64_t number) {
    return number ? 64 - __builtin_clzll(number) : 0;
}

static uint64_t grains_below(int width) {
    return width ? UINT64_MAX >> (64 - width) : 0;
}

static void count_spans(struct census *census, const struct gt_span *spans, size_t count, int64_t zero_ns) {
    for (size_t i = 0; i < count; i++) {
        uint64_t start = (uint64_t)spans[i].start_ns - (uint64_t)zero_ns, differs = start ^ census->before;
        int64_t length_ns = gt_ns_between(spans[i].start_ns, spans[i].end_ns);
        uint64_t fits = grains_below(width_of(length_ns > 0 ? (uint64_t)length_ns : 0));
        census->before = start;
        if (((differs | (fits & ~census->is_long)) >> census->finest) == 0)
            continue;
        int width = width_of(differs);
        uint64_t is_new = grains_below(width), is_longer = fits & ~census->is_long & ~is_new;
        census->widths[width]++;
        census->is_long = (fits & is_new) | ((census->is_long | fits) & ~is_new);
        for (is_longer &= UINT64_MAX << census->finest; is_longer; is_longer &= is_longer - 1)
            census->longer[__builtin_ctzll(is_longer)]++;
    }
}

static size_t items_of(const struct census *census, int grain) {
    size_t count = census->longer[grain];
    for (int width = grain + 1; width <= 64; width++)
        count += census->widths[width];
    return count;
}

/* The rows that are counted, each for itself. */
struct counting {
    const struct gt_spans *spans;
    const struct gt_span_row *rows;
    struct census *censuses; /* by row */
    atomic_int finest;       /* all rows together have too many items below it */
};

static void count_row(void *context, size_t index) {
    struct counting *counting = context;
    const struct gt_spans *spans = counting->spans;
    struct gt_span_row row = counting->rows[index];
    struct census *census = &counting->censuses[index];
    struct gt_span block[BLOCK];
    census->finest = atomic_load(&counting->finest);
    for (size_t done = 0, count; done < row.count; done += count) {
        count = row.count - done < BLOCK ? row.count - done : BLOCK;
        spans->read(spans->data, row.first + done, count, block);
        if (done == 0) /* the first span of a row begins an item at any grain */
            census->before = ~((uint64_t)block[0].start_ns - (uint64_t)spans->zero_ns);
        count_spans(census, block, count, spans->zero_ns);
        while (census->finest < GRAINS - 1 && items_of(census, census->finest) > census->most)
            census->finest++;
    }
    for (int finest = atomic_load(&counting->finest);
         finest < census->finest && !atomic_compare_exchange_weak(&counting->finest, &finest, census->finest);)
        ;
}

/* The smallest grain that is left. */
static int choose(const struct census *censuses, size_t row_count, size_t most) {
    int grain = 0;
    for (size_t r = 0; r < row_count; r++)
        grain = censuses[r].finest > grain ? censuses[r].finest : grain;
    for (; grain < GRAINS - 1; grain++) {
        size_t count = 0;
        for (size_t r = 0; r < row_count; r++)
            count += items_of(&censuses[r], grain);
        if (count <= most)
            break;
    }
    return grain;
}

bool gt_tiles_choose_grain(const struct gt_spans *spans, const struct gt_span_row *rows, size_t row_count, size_t most,
                           size_t threads, int64_t *grain_ns, size_t *item_counts) {
    size_t span_count = 0;
    for (size_t r = 0; r < row_count; r++)
        span_count += item_counts[r] = rows[r].count;
    *grain_ns = 0;
    if (span_count <= most)
        return true;
    struct counting counting = {.spans = spans, .rows = rows};
    struct census *censuses = counting.censuses = gt_mem_array(row_count, sizeof *censuses);
    if (!censuses)
        return false;
    for (size_t r = 0; r < row_count; r++)
        censuses[r].most = most;
    gt_threads_parts(threads, row_count, count_row, &counting);
    int grain = choose(censuses, row_count, most);
    for (size_t r = 0; r < row_count; r++)
        item_counts[r] = items_of(&censuses[r], grain);
    *grain_ns = (int64_t)1 << grain;
    gt_mem_free(censuses);
    return true;
}

/* ---- items ---- */

/* Along one row at one grain. */
struct walk {
    const struct gt_spans *spans;
    int64_t grain_ns;
    int shift;              /* its exponent */
    uint64_t grain;         /* the one in which the open item begins, counted from zero_ns */
    bool is_long;           /* the open item is */
    int64_t end_ns;         /* last end in it */
    size_t first;           /* its first span */
    struct gt_span_mix mix; /* what it is made of */
    int64_t reached_ns;
    struct gt_timeline_item *items;
    size_t count;
};

static bool begins_item(struct walk *walk, const struct gt_span *span) {
    if (walk->grain_ns == 0)
        return true;
    uint64_t grain = ((uint64_t)span->start_ns - (uint64_t)walk->spans->zero_ns) >> walk->shift;
    bool is_long = gt_ns_between(span->start_ns, span->end_ns) >= walk->grain_ns;
    if (walk->count && walk->grain == grain && (walk->is_long || !is_long))
        return false;
    walk->is_long = is_long;
    walk->grain = grain;
    return true;
}

static void close_item(struct walk *walk, size_t next_span) {
    if (walk->count == 0)
        return;
    struct gt_timeline_item *item = &walk->items[walk->count - 1];
    item->end_ns = walk->end_ns;
    item->count = (uint32_t)(next_span - walk->first);
    item->name = gt_span_mix_take(&walk->mix, &item->busy_ns);
}

static void take_span(struct walk *walk, const struct gt_span *span, size_t index) {
    int64_t start_ns = gt_ns_between(walk->spans->zero_ns, span->start_ns);
    int64_t end_ns = gt_ns_between(walk->spans->zero_ns, span->end_ns);
    int64_t from_ns = start_ns > walk->reached_ns ? start_ns : walk->reached_ns;
    int64_t busy_ns = end_ns > from_ns ? gt_ns_between(from_ns, end_ns) : 0;
    walk->reached_ns = end_ns > walk->reached_ns ? end_ns : walk->reached_ns;
    if (begins_item(walk, span)) {
        close_item(walk, index);
        walk->items[walk->count++] = (struct gt_timeline_item){.start_ns = start_ns};
        walk->first = index;
        walk->end_ns = end_ns;
    }
    walk->end_ns = end_ns > walk->end_ns ? end_ns : walk->end_ns;
    gt_span_mix_add(&walk->mix, &(struct gt_span_mix_part){busy_ns, gt_ns_between(start_ns, end_ns), (uint32_t)index,
                                                           span->category});
}

size_t gt_tiles_make(const struct gt_spans *spans, struct gt_span_row row, int64_t grain_ns,
                     struct gt_timeline_item *items) {
    struct walk walk = {.spans = spans,
                        .grain_ns = grain_ns,
                        .shift = grain_ns ? __builtin_ctzll((unsigned long long)grain_ns) : 0,
                        .reached_ns = INT64_MIN,
                        .items = items};
    struct gt_span block[BLOCK];
    for (size_t done = 0, count; done < row.count; done += count) {
        count = row.count - done < BLOCK ? row.count - done : BLOCK;
        spans->read(spans->data, row.first + done, count, block);
        for (size_t i = 0; i < count; i++)
            take_span(&walk, &block[i], row.first + done + i);
    }
    close_item(&walk, row.first + row.count);
    return walk.count;
}
