/* Sums ops by process and range: in come the ops of a view, out go groups with their lengths, in order of appearance.
 */
#include "measure/results/range_groups.h"

#include "measure/results/measure.h"
#include "measure/results/range_run.h"

/* How many ops from the position on, before the end, are of one stream and all kernels or none. */
static size_t count_like(const struct gt_view *view, size_t position, size_t end) {
    uint32_t lane = view->lane[position];
    bool is_kernel = gt_store_kind_is_kernel(gt_view_op_kind(view, position));
    size_t i = position + 1;
    if (view->store->lanes.process[lane] == GT_NO_TRACK)
        return 1; /* each op has the process of its own launch call */
    while (i < end && view->lane[i] == lane && gt_store_kind_is_kernel(gt_view_op_kind(view, i)) == is_kernel)
        i++;
    return i - position;
}

enum gt_status gt_range_groups_init(struct gt_range_groups *groups, const struct gt_view *view, struct gt_error *err) {
    struct gt_range_run run = {0};
    *groups = (struct gt_range_groups){0};
    while (gt_range_run_next(&run, view, SIZE_MAX)) {
        uint64_t range = gt_range_groups_key(view->store, run.range);
        for (size_t i = run.first, end = run.first + run.count; i < end;) {
            uint64_t process = gt_view_op_process(view, i);
            bool is_kernel = gt_store_kind_is_kernel(gt_view_op_kind(view, i));
            struct gt_tally lengths = {0};
            for (size_t end_of_like = i + count_like(view, i, end); i < end_of_like; i++)
                gt_keyed_tally_add(&lengths, gt_view_op_ns(view, i));
            gt_keyed_merge(&groups->keyed, process << 1 | is_kernel, range, &lengths);
        }
    }
    if (!groups->keyed.failed)
        return GT_OK;
    gt_range_groups_release(groups);
    return gt_fail_memory(err);
}

void gt_range_groups_release(struct gt_range_groups *groups) {
    gt_keyed_release(&groups->keyed);
}
