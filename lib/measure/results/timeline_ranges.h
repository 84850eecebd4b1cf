/* The ranges of a view as rows for a timeline: where their work fell on the GPUs, by thread and level of nesting. */
#ifndef GT_MEASURE_RESULTS_TIMELINE_RANGES_H
#define GT_MEASURE_RESULTS_TIMELINE_RANGES_H

#include "base/intervals.h"
#include "events/view.h"
#include "measure/results/range_set.h"
#include "measure/results/tiles.h"

struct gt_timeline_range_row {
    uint32_t track; /* a thread, or for GPU-side annotations a stream */
    bool is_stream;
    int64_t pid, tid; /* GT_TIMELINE_UNKNOWN: the trace does not say */
    uint32_t level;
    struct gt_span_row spans;

    int64_t busy_ns;             /* where there are more rows than wanted */
    struct gt_interval previous; /* while spans are counted */
    bool is_unsorted;            /* those in the order of the file are */
};

struct gt_timeline_ranges {
    const struct gt_view *view;
    const struct gt_range_set *set; /* NULL: they are projected */
    bool is_projected;              /* spans are rows of store->projections, not of store->ranges */
    uint32_t *spans; /* rows of the store: by row of the timeline, start, longer first, place in the file */
    struct gt_timeline_range_row *rows; /* by process, thread and level */
    size_t row_count;
    uint64_t rows_left_out;
};

/* At most `most` rows. */
enum gt_status gt_timeline_ranges_init(struct gt_timeline_ranges *ranges, const struct gt_view *view, size_t most,
                                       struct gt_error *err);
void gt_timeline_ranges_release(struct gt_timeline_ranges *ranges);

/* Whose a row is. */
struct gt_timeline_row gt_timeline_ranges_row(const struct gt_timeline_ranges *ranges,
                                              const struct gt_timeline_range_row *row);
void gt_timeline_ranges_read(const struct gt_timeline_ranges *ranges, size_t first, size_t count, struct gt_span *out);
gt_strid gt_timeline_ranges_name(const struct gt_timeline_ranges *ranges, size_t span);

#endif
