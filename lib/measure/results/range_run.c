/* Runs of ops with one innermost range: ops in view order come in, runs with their sums and unions of runs go out. */
#include "measure/results/range_run.h"

#include "base/ns.h"

enum { AHEAD = 64 };

/* How much the union of ops of a device, in view order, has after the latest end so far. */
static int64_t ops_after(const struct gt_view *view, size_t first, size_t count, int64_t reached_ns) {
    int64_t added_ns = 0;
    for (size_t i = first; i < first + count; i++) {
        int64_t start_ns = view->start_ns[i], end_ns = view->end_ns[i];
        int64_t from_ns = start_ns > reached_ns ? start_ns : reached_ns;
        if (end_ns > from_ns) {
            added_ns = gt_ns_add(added_ns, gt_ns_between(from_ns, end_ns));
            reached_ns = end_ns;
        }
    }
    return added_ns;
}

bool gt_range_run_next(struct gt_range_run *run, const struct gt_view *view, size_t most) {
    const uint32_t *op_range = view->labels->op_range;
    size_t first = run->first + run->count, i = first;
    uint32_t device = run->device;
    if (first == view->op_count)
        return false;
    while (first >= view->devices[device].first + view->devices[device].count)
        device++;
    size_t left = view->devices[device].first + view->devices[device].count - first;
    size_t last = first + (most < left ? most : left);
    const uint32_t *row = view->row;
    const int64_t *op_start_ns = view->start_ns, *op_end_ns = view->end_ns;
    size_t with_ahead = view->op_count > AHEAD ? view->op_count - AHEAD : 0;
    uint32_t range = op_range[row[first]];
    int64_t end_ns = INT64_MIN, sum_ns = 0, busy_ns = 0;
    for (; i < last && op_range[row[i]] == range; i++) {
        if (i < with_ahead) /* ops of a device are far apart in the store */
            __builtin_prefetch(&op_range[row[i + AHEAD]]);
        int64_t from_ns = op_start_ns[i] > end_ns ? op_start_ns[i] : end_ns;
        sum_ns = gt_ns_add(sum_ns, gt_ns_between(op_start_ns[i], op_end_ns[i]));
        if (op_end_ns[i] > from_ns)
            busy_ns = gt_ns_add(busy_ns, gt_ns_between(from_ns, op_end_ns[i]));
        end_ns = op_end_ns[i] > end_ns ? op_end_ns[i] : end_ns;
    }
    *run = (struct gt_range_run){device, range, first, i - first, op_start_ns[first], end_ns, sum_ns, busy_ns};
    return true;
}

void gt_range_run_union_add(struct gt_range_union *all, const struct gt_view *view, const struct gt_range_run *run) {
    int64_t reached_ns = all->device == (size_t)run->device + 1 ? all->reached_ns : INT64_MIN;
    all->busy_ns = gt_ns_add(
        all->busy_ns, reached_ns <= run->start_ns ? run->busy_ns : ops_after(view, run->first, run->count, reached_ns));
    all->reached_ns = reached_ns > run->end_ns ? reached_ns : run->end_ns;
    all->device = (size_t)run->device + 1;
}
