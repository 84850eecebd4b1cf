/* Level of detail for rows of intervals: in come spans in order of start, out go fewer items, in which small neighbours
   are one. */
#ifndef GT_MEASURE_RESULTS_TILES_H
#define GT_MEASURE_RESULTS_TILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/timeline.h"

struct gt_span {
    int64_t start_ns, end_ns;
    uint8_t category;
};

/* Spans by number, below 2^32. Those of a row have numbers in a run, in order of start. */
struct gt_spans {
    void *data;
    void (*read)(const void *data, size_t first, size_t count, struct gt_span *out); /* a run of them */
    int64_t zero_ns;                                                                 /* items count from it */
};

struct gt_span_row {
    size_t first, count;
};

/* A row never has more items than this, whatever its spans, at the coarsest grain. */
enum { GT_TILES_ROW_LEAST = 8 };

/* The smallest grain, a power of two, at which all rows together have at most `most` items (at least
   GT_TILES_ROW_LEAST for each row); 0: so few spans that each is an item. Also gives how many items each row has then.
   One pass over the spans, rows on so many threads. false: memory was short. */
bool gt_tiles_choose_grain(const struct gt_spans *spans, const struct gt_span_row *rows, size_t row_count, size_t most,
                           size_t threads, int64_t *grain_ns, size_t *item_counts);

/* Writes the items of a row and returns how many they are: at most two for each grain of time, counted from zero_ns.
   The name of an item is the number of the span that represents it. Spans that start in the same grain and are all
   shorter than it are one item; so are a longer one and those that start in the same grain after it. */
size_t gt_tiles_make(const struct gt_spans *spans, struct gt_span_row row, int64_t grain_ns,
                     struct gt_timeline_item *items);

#endif
