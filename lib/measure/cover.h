/* How much of given stretches of time CPU threads spent inside calls, ranges or operators. */
#ifndef GT_MEASURE_COVER_H
#define GT_MEASURE_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strtab.h"

/* A stretch of one thread's time, start < end. */
struct gt_stretch {
    int64_t start_ns, end_ns;
    uint32_t thread;
};

/* Columns of a table of intervals on threads, in any order. */
struct gt_cover_table {
    size_t count;
    const int64_t *start_ns, *end_ns;
    const uint32_t *thread; /* GT_NO_TRACK: on none */
    const gt_strid *name;
    const uint8_t *is_wanted; /* by name; NULL: all are, and they need no names */
};

struct gt_cover {
    const struct gt_stretch *stretches; /* borrowed */
    size_t stretch_count, thread_count;
    uint32_t *probes;    /* both ends of every stretch by thread, then time */
    size_t *first_probe; /* by thread, one more than threads */
};

/* false: memory was short. Release in any case. */
bool gt_cover_init(struct gt_cover *cover, const struct gt_stretch *stretches, size_t count, size_t thread_count);
void gt_cover_release(struct gt_cover *cover);

/* covered_ns[i] = length of the part of stretch i inside the union of the table's intervals on its thread. One pass
   over them and the stretches, behind a radix sort where intervals of a thread are out of order. */
bool gt_cover_measure(const struct gt_cover *cover, const struct gt_cover_table *table, int64_t *covered_ns);

#endif
