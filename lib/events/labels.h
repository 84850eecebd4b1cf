/* What labelling adds to a store: a separate const set of columns, made once by the passes in label/. */
#ifndef GT_EVENTS_LABELS_H
#define GT_EVENTS_LABELS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/strtab.h"
#include "events/store.h"

/* The three kinds of GPU time of the accounting. */
enum gt_class { GT_CLASS_COMPUTE, GT_CLASS_COMM, GT_CLASS_MEMORY };

/* A category of the kernel rules. */
struct gt_category {
    const char *key; /* "gemm" */
    enum gt_class time_class;
};

/* A step: ProfilerStep#N or an iteration range on a CPU thread. Sorted by start, then number. */
struct gt_step {
    int64_t number;
    int64_t start_ns, end_ns;
    uint32_t process; /* track */
    uint32_t range;   /* row of ranges */
};

struct gt_labels {
    struct gt_arena arena; /* owns all below but short_names */

    uint32_t *op_call; /* by op row: row of its launch call, GT_NO_ROW if the trace has none */
    uint32_t *op_step; /* by op row: index into steps, GT_NO_ROW if none */

    gt_strid *short_name;         /* by string id: id in short_names; only names of ops and groups have one */
    struct gt_strtab short_names; /* the simplified names, borrowed from the store */
    uint8_t *op_category;         /* by op row: index into categories */

    const struct gt_category *categories;
    size_t category_count;

    struct gt_step *steps;
    size_t step_count;

    uint64_t issues[GT_ISSUE_COUNT]; /* counted while labelling */
};

static inline struct gt_str gt_labels_short_name(const struct gt_labels *labels, gt_strid name) {
    return gt_strtab_get(&labels->short_names, labels->short_name[name]);
}

/* The process that made a call; GT_NO_TRACK where the trace does not tell. */
static inline uint32_t gt_store_call_process(const struct gt_store *store, uint32_t call) {
    uint32_t thread = store->calls.thread[call];
    return thread == GT_NO_TRACK ? GT_NO_TRACK : store->threads.process[thread];
}

/* The process whose work an op is: its stream's, else its launch call's; GT_NO_TRACK where neither is known. */
static inline uint32_t gt_labels_op_process(const struct gt_labels *labels, const struct gt_store *store, uint32_t op) {
    uint32_t process = store->lanes.process[store->ops.lane[op]];
    if (process == GT_NO_TRACK && labels->op_call[op] != GT_NO_ROW)
        process = gt_store_call_process(store, labels->op_call[op]);
    return process;
}

static inline enum gt_class gt_labels_class(const struct gt_labels *labels, uint32_t op) {
    return labels->categories[labels->op_category[op]].time_class;
}

#endif
