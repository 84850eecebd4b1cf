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
    const uint8_t *is_special; /* by name */
};

/* How much of a stretch is inside the union of the intervals on its thread, and inside that of the special ones. */
struct gt_covered {
    uint64_t all_ns, special_ns;
};

/* One for each stretch. One pass over the intervals and the stretches, behind radix sorts where those of a thread are
   out of order. false: memory was short. */
bool gt_cover_measure(const struct gt_stretch *stretches, size_t count, size_t thread_count,
                      const struct gt_cover_table *table, struct gt_covered *covered);

#endif
