/* Which steps of a trace are warm-up, and whether steps are most of it: in come its steps, out go their usual length
   and how many come before it. */
#include "base/ns.h"
#include "base/num.h"
#include "base/quantile.h"
#include "events/labels.h"

bool gt_labels_step_is_long(const struct gt_step *step, double median_ns) {
    return (double)gt_ns_between(step->start_ns, step->end_ns) > 1.5 * median_ns;
}

static size_t make_lengths(const void *context, size_t first, size_t end, int64_t *lengths) {
    const struct gt_step *steps = context;
    for (size_t i = first; i < end; i++)
        lengths[i - first] = gt_ns_between(steps[i].start_ns, steps[i].end_ns);
    return end - first;
}

size_t gt_labels_warm_up(const struct gt_labels *labels, double median_ns) {
    size_t count = 0;
    while (count < labels->step_count && gt_labels_step_is_long(&labels->steps[count], median_ns))
        count++;
    return count;
}

void gt_labels_typical_step(const struct gt_labels *labels, double *median_ns, size_t *warm_up_count) {
    const struct gt_slice lengths = {.count = labels->step_count,
                                     .make = make_lengths,
                                     .context = labels->steps,
                                     .position_count = labels->step_count};
    gt_quantile_all(&lengths, 1, (const double[]){0.5}, 1, median_ns);
    *warm_up_count = gt_labels_warm_up(labels, *median_ns);
}

bool gt_labels_steps_are_most(const struct gt_labels *labels, const struct gt_store *store) {
    const struct gt_ops *ops = &store->ops;
    double steps_ns = 0, median_ns;
    int64_t first_ns = store->origin_ns;
    int64_t last_ns = first_ns;
    size_t warm_up;
    gt_labels_typical_step(labels, &median_ns, &warm_up);
    if (warm_up == labels->step_count)
        return false;
    if (warm_up)
        first_ns = labels->steps[warm_up].start_ns;
    for (size_t i = 0; i < ops->count; i++)
        last_ns = ops->end_ns[i] > last_ns ? ops->end_ns[i] : last_ns;
    int64_t reached_ns = first_ns; /* steps of several processes lie next to each other */
    for (size_t i = warm_up; i < labels->step_count; i++) {
        int64_t start_ns = labels->steps[i].start_ns > reached_ns ? labels->steps[i].start_ns : reached_ns;
        int64_t end_ns = labels->steps[i].end_ns < last_ns ? labels->steps[i].end_ns : last_ns;
        steps_ns += end_ns > start_ns ? (double)gt_ns_between(start_ns, end_ns) : 0;
        reached_ns = end_ns > reached_ns ? end_ns : reached_ns;
    }
    return 2 * steps_ns >= (double)gt_ns_between(first_ns, last_ns);
}
