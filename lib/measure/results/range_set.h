/* The ranges of a view: what every single range and every name of ranges launched. Shared by the analyses on ranges. */
#ifndef GT_MEASURE_RESULTS_RANGE_SET_H
#define GT_MEASURE_RESULTS_RANGE_SET_H

#include "measure/results/range_run.h"
#include "report/report.h"

/* What one range launched. */
struct gt_range_use {
    int64_t start_ns, end_ns; /* first start and last end of its ops; 0 if it has none */
    uint32_t ops, launches;   /* launches: different launch calls */
};

/* Of the ops inside ranges of one name. */
struct gt_range_sums {
    size_t ops;
    int64_t sum_ns;
    struct gt_range_union busy;
    int64_t exclusive_ns; /* of the ops whose innermost range has this name */
    uint32_t last_op;     /* while ops are added: the first of those added last */
};

/* What all ranges of one name in one domain launched. An op inside several of them counts once. */
struct gt_range_name {
    struct gt_str name, domain;
    size_t instances, used; /* all listed, and those with ops */
    bool is_step;           /* one of them is a step, whose name has its number */
    struct gt_range_sums sums;
    size_t launches;      /* of each instance, summed */
    int64_t projected_ns; /* last end - first start of each instance, summed */
    int64_t range_ns;     /* length of each instance, summed */
    uint64_t levels;      /* of the instances with ops, summed */
};

struct gt_range_set {
    const struct gt_view *view;
    struct gt_range_use *uses;   /* by range row */
    uint32_t *name_of;           /* by range row: index into names; GT_NO_ROW for a mark */
    struct gt_range_name *names; /* in order of appearance; those without an instance are not listed */
    size_t name_count;
    int64_t total_ns, covered_ns; /* of all selected ops, and of those with a range */
};

enum gt_status gt_range_set_init(struct gt_range_set *set, const struct gt_view *view, struct gt_error *err);
void gt_range_set_release(struct gt_range_set *set);

/* Whether a range has a length on a CPU thread: a mark has none, and Kineto's copies of the ranges on the GPU's side
   are used where the launch is not in the trace, but are not listed. */
static inline bool gt_range_set_is_on_cpu(const struct gt_store *store, size_t range) {
    return store->ranges.kind[range] == GT_RANGE_NESTED || store->ranges.kind[range] == GT_RANGE_START_END;
}

/* Whether tables list a range: with a selection, only those that launched some of it. */
static inline bool gt_range_set_lists(const struct gt_range_set *set, size_t range) {
    return set->uses[range].ops || (set->view->is_whole && gt_range_set_is_on_cpu(set->view->store, range));
}

/* Whose thread or stream it is on; GT_NO_TRACK if the trace does not say. */
uint32_t gt_range_set_process(const struct gt_store *store, uint32_t range);

/* ---- the tables, without rows, and cells of theirs ---- */

struct gt_table *gt_range_set_table_new(const struct gt_view *view, struct gt_section *section);
struct gt_table *gt_range_set_instances_table_new(struct gt_section *section);
struct gt_str gt_range_set_style(uint8_t kind); /* as Nsight calls it */
struct gt_cell gt_range_set_tid_cell(const struct gt_store *store,
                                     uint32_t thread); /* null if the trace does not say */

#endif
