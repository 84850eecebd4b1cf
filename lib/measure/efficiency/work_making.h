/* Making of a work set: kinds of work and instances, from operators, names, records and twins. Only for the files that
   make it. */
#ifndef GT_MEASURE_EFFICIENCY_WORK_MAKING_H
#define GT_MEASURE_EFFICIENCY_WORK_MAKING_H

#include "base/map.h"
#include "measure/efficiency/kernel_work.h"
#include "measure/efficiency/work_set.h"

/* The roofline of a kind on the device where it was met last. */
struct gt_work_roof {
    uint32_t device; /* GT_NO_TRACK: on none so far */
    uint8_t bound;
    int64_t ns;
};

/* The kind that an entry had with what else decided then. */
struct gt_work_latest {
    uint64_t what;
    uint32_t kind_plus_1; /* 0: none so far */
};

struct gt_work_making {
    const struct gt_view *view;
    const struct gt_store *store;
    struct gt_work_set *set;
    struct gt_work_links links;
    struct gt_kernel_work *names;  /* by string: read when first needed */
    struct gt_map kind_of;         /* entry and what else decides -> kind */
    struct gt_work_latest *latest; /* by entry: what its last instance was, and mostly is again */
    struct gt_work_roof *roofs;    /* by kind, as many as there are */
    size_t roof_capacity;
    bool failed; /* memory was short */
};

/* What the name of a kernel says. */
const struct gt_kernel_work *gt_work_making_name(struct gt_work_making *it, uint32_t op);

static inline int64_t gt_work_making_ns(const struct gt_work_making *it, uint32_t op) {
    return gt_ns_between(it->store->ops.start_ns[op], it->store->ops.end_ns[op]);
}

/* Number of a new kind of work; GT_NO_ROW: memory was short. */
uint32_t gt_work_making_add_kind(struct gt_work_making *it, const struct gt_work_kind *kind);

/* Least time of the work at the peaks, and what bounds it; -1: not known. */
int64_t gt_work_making_roofline(const struct gt_gpu_peaks *peaks, const struct gt_work_kind *kind, uint8_t *bound);

/* Number of a new instance; GT_NO_ROW: memory was short. */
uint32_t gt_work_making_add_instance(struct gt_work_making *it, uint32_t kind, uint32_t first_op, uint32_t op_count,
                                     int64_t total_ns);
/* One that is a single op. */
void gt_work_making_add_single(struct gt_work_making *it, uint32_t kind, uint32_t op);

/* work_operators.c: instances of all operators that kernels belong to. false: memory was short. */
bool gt_work_making_add_operators(struct gt_work_making *it);

/* work_others.c: kernels whose name says their work, copies and fills, and kernels of CUDA graphs like others. */
void gt_work_making_add_named(struct gt_work_making *it);
void gt_work_making_add_recorded(struct gt_work_making *it);
bool gt_work_making_add_twins(struct gt_work_making *it); /* false: memory was short */

#endif
