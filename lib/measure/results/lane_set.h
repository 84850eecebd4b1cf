/* The spans of all lanes of one kind: columns by id, and the ids lane by lane in order of start. */
#ifndef GT_MEASURE_RESULTS_LANE_SET_H
#define GT_MEASURE_RESULTS_LANE_SET_H

#include "base/strtab.h"
#include "measure/results/tiles.h"

enum { GT_LANE_SET_ROWS = 3 };

/* Zero-initialise. */
struct gt_lane_set {
    const int64_t *start_ns, *end_ns; /* by id */
    const uint8_t *category;          /* the same; NULL: all are alike */
    const gt_strid *name;             /* the same, strings of the store */
    uint32_t *ids;                    /* by number of the span */
    size_t count;
    void *owned[4]; /* columns that were made for it; the last one has rows of the store, where ids are none */
    size_t bytes;   /* of ids and owned columns */
};

void gt_lane_set_release(struct gt_lane_set *set);

/* The row of the store that a span is, by its number. */
static inline uint32_t gt_lane_set_row(const struct gt_lane_set *set, size_t span) {
    const uint32_t *rows = set->owned[GT_LANE_SET_ROWS];
    return rows ? rows[set->ids[span]] : set->ids[span];
}

/* As struct gt_spans wants it; data is a set. */
void gt_lane_set_read(const void *data, size_t first, size_t count, struct gt_span *out);

#endif
