/* The work of all ops of a trace: instances (one execution of an operator with the kernels that belong to it), what of
   their work each op has, and how long it would take at the GPU's peaks. Shared by the analyses of efficiency. */
#ifndef GT_MEASURE_EFFICIENCY_WORK_SET_H
#define GT_MEASURE_EFFICIENCY_WORK_SET_H

#include "measure/efficiency/gpu_peaks.h"
#include "measure/efficiency/launch_ids.h"
#include "measure/efficiency/work_links.h"
#include "measure/results/measure.h"

/* How the work is known. */
enum gt_provenance {
    GT_PROVENANCE_SHAPE,    /* from the operator's arguments */
    GT_PROVENANCE_SEQUENCE, /* from those of the forward operator */
    GT_PROVENANCE_TWIN,     /* from a kernel of the same name and configuration outside of graphs */
    GT_PROVENANCE_BOUND,    /* a lower bound: lengths are data */
    GT_PROVENANCE_NAME,     /* from the kernel's name and grid */
    GT_PROVENANCE_RECORD,   /* of copies and fills: as recorded */
    GT_PROVENANCE_COUNTER,  /* from hardware counters */
    GT_PROVENANCE_UNKNOWN,
    GT_PROVENANCE_COUNT,
};
extern const char *const gt_provenance_names[GT_PROVENANCE_COUNT];

enum gt_work_bound { GT_BOUND_LATENCY, GT_BOUND_COMPUTE, GT_BOUND_MEMORY, GT_BOUND_UNKNOWN, GT_BOUND_COUNT };
extern const char *const gt_work_bound_names[GT_BOUND_COUNT];

/* A kind of work: what instances of one operator with one shape share. */
struct gt_work_kind {
    struct gt_str op, shape; /* op is empty where no operator is known */
    int64_t flops;           /* as executed; -1: no count is sensible */
    int64_t model_flops, dense_flops, bytes;
    uint8_t family, unit, provenance; /* unit: enum gt_peak_unit; fp32 for work that is no product */
    bool is_recomputed;
};

struct gt_work_instance {
    uint32_t kind;
    uint32_t device;   /* track */
    uint32_t first_op; /* row of its first op */
    uint32_t op_count;
    int64_t total_ns;    /* of its ops */
    int64_t roofline_ns; /* -1: not known */
    uint8_t bound;
};

/* What an op has of its instance. */
struct gt_work_part {
    uint32_t instance; /* GT_NO_ROW: its work is not known */
    uint8_t reason;    /* enum gt_no_work: why not */
    bool is_helper;
    bool is_first_of_product;          /* the instance is matrix work, and counts where this op, its first one, does */
    int64_t flops, bytes, roofline_ns; /* -1: not known */
};

struct gt_work_set {
    struct gt_work_part *parts; /* by row of ops */
    struct gt_work_instance *instances;
    size_t instance_count, instance_capacity;
    struct gt_work_kind *kinds;
    size_t kind_count, kind_capacity;
    struct gt_gpu_peaks *peaks; /* by device track */
    struct gt_launch_ids launches;
    struct gt_work_entries entries;
    bool has_operators, has_shapes;
};

enum gt_status gt_work_set_init(struct gt_work_set *set, const struct gt_view *view, struct gt_error *err);
void gt_work_set_release(struct gt_work_set *set);

static inline const struct gt_work_kind *gt_work_set_kind(const struct gt_work_set *set,
                                                          const struct gt_work_instance *instance) {
    return &set->kinds[instance->kind];
}

/* Compute kernels whose work is asked for, and copies and fills whose work is recorded. */
static inline bool gt_work_set_counts(const struct gt_view *view, const struct gt_work_set *set, size_t position) {
    return gt_view_op_class(view, position) == GT_CLASS_COMPUTE ||
           set->parts[view->row[position]].instance != GT_NO_ROW;
}

/* A row of kernel_configs like that of an op; GT_NO_ROW: it is not known. */
static inline uint32_t gt_work_set_config(const struct gt_work_set *set, uint32_t op) {
    uint32_t id = set->launches.of_op[op];
    return id == GT_NO_ROW ? GT_NO_ROW : set->launches.config[id];
}

/* As much of a part as a window keeps of the op's duration. */
struct gt_work_part gt_work_set_cut(const struct gt_work_part *part, int64_t ns, int64_t whole_ns);

/* The part of an op that the view selects. */
static inline struct gt_work_part gt_work_set_part(const struct gt_view *view, const struct gt_work_set *set,
                                                   size_t position) {
    const struct gt_work_part *part = &set->parts[view->row[position]];
    int64_t ns = gt_view_op_ns(view, position), whole_ns = gt_view_op_whole_ns(view, position);
    return ns == whole_ns || whole_ns <= 0 ? *part : gt_work_set_cut(part, ns, whole_ns);
}

/* Products run on matrix units; their unit has a peak. */
static inline bool gt_work_set_is_matrix(const struct gt_work_kind *kind) {
    return gt_family_infos[kind->family].is_matrix;
}

extern const char *const gt_no_work_names[GT_NO_WORK_COUNT], *const gt_no_work_words[GT_NO_WORK_COUNT];

#endif
