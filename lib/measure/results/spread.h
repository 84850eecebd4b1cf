/* How much amounts vary from step to step: what a comparison takes for noise. */
#ifndef GT_MEASURE_RESULTS_SPREAD_H
#define GT_MEASURE_RESULTS_SPREAD_H

#include "base/ns.h"
#include "measure/results/measure.h"

enum { GT_SPREAD_FEWEST_STEPS = 3 }; /* two say nothing about the next */

/* Items one after the other that belong to one step. */
struct gt_spread_run {
    uint32_t first, end;
    uint32_t before; /* the run of the same step before it; GT_NO_ROW */
};

/* Of one set in the current step. */
struct gt_spread_sum {
    int64_t ns;
    bool has_item;
};

/* Items with lengths are placed in their steps first, all in their order:
       for (size_t i = 0; i < count && spread.step_count; i++)
           gt_spread_place(&spread, i, step);
   Then they are taken step by step, each to add to the sum of a set:
       while (gt_spread_next(&spread, &first, &end))
           for (size_t i = first; i < end; i++)
               gt_spread_take(&spread, set, ns);
   Most steps are few runs, and the sums of one step stay close. */
struct gt_spread {
    size_t step_count, set_count; /* no steps: too few to measure a spread, nothing need be placed */

    struct gt_spread_run *runs;
    size_t run_count, run_capacity;
    uint32_t *last_run; /* by step; GT_NO_ROW */
    uint32_t step;      /* that was placed last */

    size_t next_step;
    uint32_t next_run;
    struct gt_spread_sum *sums; /* by set */
    uint32_t *touched;          /* sets that have an item */
    size_t touched_count;
    struct gt_spread_moments *moments; /* by set */
};

/* false: memory was short. Release in any case. */
bool gt_spread_init(struct gt_spread *spread, const struct gt_view *view, size_t set_count);
void gt_spread_release(struct gt_spread *spread);

bool gt_spread_begin_run(struct gt_spread *spread, uint32_t index, uint32_t step);

/* step: index into labels->steps; GT_NO_ROW: none. false: memory was short. */
static inline bool gt_spread_place(struct gt_spread *spread, size_t index, uint32_t step) {
    if (step != spread->step && !gt_spread_begin_run(spread, (uint32_t)index, step))
        return false;
    if (step != GT_NO_ROW)
        spread->runs[spread->run_count - 1].end = (uint32_t)index + 1;
    return true;
}

/* false: that was all */
bool gt_spread_next(struct gt_spread *spread, size_t *first, size_t *end);

static inline void gt_spread_take(struct gt_spread *spread, size_t set, int64_t ns) {
    struct gt_spread_sum *sum = &spread->sums[set];
    spread->touched[spread->touched_count] = (uint32_t)set;
    spread->touched_count += !sum->has_item;
    sum->has_item = true;
    sum->ns = gt_ns_add(sum->ns, ns);
}

/* Once all are taken: stddev_ns[set] = sample standard deviation of the set's sums over the steps that have ops (a step
   without an item of the set counts as 0; NAN if none has one); *step_count of them. Too few steps: *step_count
   is 0, nothing is written. Linear. */
bool gt_spread_measure(const struct gt_spread *spread, const struct gt_view *view, double *stddev_ns,
                       size_t *step_count); /* false: memory was short */

#endif
