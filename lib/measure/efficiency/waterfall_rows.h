/* Rows of the waterfall, which every basis ends with: what of the span is not compute. */
#ifndef GT_MEASURE_EFFICIENCY_WATERFALL_ROWS_H
#define GT_MEASURE_EFFICIENCY_WATERFALL_ROWS_H

#include "measure/results/idle.h"
#include "report/row.h"

/* Key of the unmodelled part whose work is known, but not the peak of the GPU for it. */
#define GT_WATERFALL_NO_PEAK "peak_unknown"

/* A part of the span of a device. */
struct gt_waterfall_part {
    const char *part, *key; /* "inefficiency", "gemm"; key may be empty */
    int64_t ns;
};

/* What a device did not compute in: by every basis the same. */
struct gt_waterfall_rest {
    int64_t span_ns, exposed_comm_ns, exposed_memory_ns;
    int64_t idle_ns[GT_IDLE_CAUSE_COUNT];
};

/* Where the parts of a device and basis are put. */
struct gt_waterfall_rows {
    struct gt_table *table;
    int64_t device;
    const char *basis; /* "model" or "counter" */
    int64_t span_ns;
};

/* "lost (gemm)", "idle (host)" */
struct gt_str gt_waterfall_rows_words(struct gt_arena *arena, const char *part, const char *key);

void gt_waterfall_rows_add(const struct gt_waterfall_rows *rows, const char *part, const char *key, int64_t ns);
/* By time, longest first; equal ones by key. Sorts the parts. */
void gt_waterfall_rows_add_sorted(const struct gt_waterfall_rows *rows, struct gt_waterfall_part *parts, size_t count);
/* Exposed communication and memory, and idle time by cause. */
void gt_waterfall_rows_add_rest(const struct gt_waterfall_rows *rows, const struct gt_waterfall_rest *rest);

#endif
