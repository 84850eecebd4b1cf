/* Which steps of a trace are warm-up: in come its steps, out go their usual length and how many come before it. */
#include "base/mem.h"
#include "base/num.h"
#include "base/quantile.h"
#include "events/labels.h"

bool gt_step_is_long(const struct gt_step *step, double median_ns) {
    return (double)gt_ns_between(step->start_ns, step->end_ns) > 1.5 * median_ns;
}

bool gt_labels_usual_step(const struct gt_labels *labels, double *median_ns, size_t *warm_up_count) {
    int64_t *lengths = gt_alloc_array(labels->step_count, sizeof *lengths);
    size_t count = 0;
    if (!lengths)
        return false;
    for (size_t i = 0; i < labels->step_count; i++)
        lengths[i] = gt_ns_between(labels->steps[i].start_ns, labels->steps[i].end_ns);
    *median_ns = gt_quantile(lengths, labels->step_count, 0.5);
    gt_free(lengths);
    while (count < labels->step_count && gt_step_is_long(&labels->steps[count], *median_ns))
        count++;
    *warm_up_count = count;
    return true;
}
