/* Statistics of op durations by name: what the kernel and memory tables have in common. */
#ifndef GT_MEASURE_RESULTS_NAMED_H
#define GT_MEASURE_RESULTS_NAMED_H

#include "base/radix.h"
#include "events/view.h"
#include "measure/results/kernel_sums.h"
#include "measure/results/op_lengths.h"
#include "measure/results/samples.h"

extern const char gt_category_mixed[]; /* "mixed" */

struct gt_named {
    struct gt_str name;   /* full or simplified, as the options want */
    const char *category; /* "mixed" where a simplified name represents several */
    int64_t total_ns;
    size_t count;
    double mean_ns;
    gt_strid full_name;              /* string of the store: that of the first op */
    uint32_t first;                  /* position of the first op in view order, or the first row of groups */
    uint32_t first_group, end_group; /* its run of the set's groups; of an input that is summed, the first is its place
                                        in `summed` */
};

struct gt_named_set {
    struct gt_named *items; /* longest total first, then by name */
    size_t count;
    int64_t total_count, total_ns;     /* over all of them */
    const struct gt_op_groups *groups; /* the view's; NULL where sums or summed rows are all there is */
    struct gt_sample_stats *summed;    /* of an input that is summed already, else NULL */
    struct gt_kernel_sums sums;        /* of a view by row, else zeroed */
};

/* Kernels of the view, or its other ops; for an input without ops, its summed rows. */
enum gt_status gt_named_set_init(struct gt_named_set *set, const struct gt_view *view, bool of_kernels,
                                 struct gt_error *err);
enum gt_status gt_named_set_init_kernels(struct gt_named_set *set, const struct gt_view *view, struct gt_error *err);
void gt_named_set_release(struct gt_named_set *set);

/* Negative quantiles and deviations: the input does not say, or there are no lengths (NULL). A pass over the lengths of
   its ops: for those that are shown. Not of a view by row, which lists lengths for all that are shown at once. */
struct gt_sample_stats gt_named_stats(const struct gt_named_set *set, const struct gt_named *named,
                                      const struct gt_op_lengths *lengths);
/* Those of the first ones in an order (NULL: as they are), made on several threads; to be freed. Without quantiles
   these may be negative, which for a view by row saves a pass over its ops; without lengths (NULL), which only groups
   of ops need, deviations as well. NULL: memory was short. */
struct gt_sample_stats *gt_named_stats_new(const struct gt_named_set *set, const struct gt_radix_item *order,
                                           size_t count, bool with_quantiles, const struct gt_op_lengths *lengths,
                                           size_t thread_count);

#endif
