/* Health: what is odd about the trace. What decoding and labelling counted, and what only the selected ops in their
   order show, become issues of the section. */
#include <stdatomic.h>

#include "base/threads.h"
#include "measure/results/calls.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"

/* What is counted of streams, on several threads. */
struct counting {
    const struct gt_view *view;
    atomic_uint_fast64_t empty, unnamed, overlaps;
};

static void count_lane(void *context, size_t lane) {
    struct counting *counting = context;
    const struct gt_view *view = counting->view;
    const struct gt_ops *ops = &view->store->ops;
    const int64_t *start_ns = view->start_ns, *end_ns = view->end_ns;
    const uint32_t *at = view->lane_order + view->lanes[lane].first, *end = at + view->lanes[lane].count;
    uint64_t empty = 0, unnamed = 0, overlaps = 0;
    int64_t reached_ns = INT64_MIN;
    for (; at < end; at++) {
        uint32_t position = *at;
        if (start_ns[position] == end_ns[position]) /* clipping may have made it so */
            empty += ops->start_ns[view->row[position]] == ops->end_ns[view->row[position]];
        unnamed += view->name[position] == GT_STRID_EMPTY;
        overlaps += start_ns[position] < reached_ns;
        reached_ns = end_ns[position] > reached_ns ? end_ns[position] : reached_ns;
    }
    atomic_fetch_add(&counting->empty, empty);
    atomic_fetch_add(&counting->unnamed, unnamed);
    atomic_fetch_add(&counting->overlaps, overlaps);
}

/* The same of a view that has no order: found while its kernels were summed. */
static enum gt_status count_rows(const struct gt_view *view, uint64_t *counts, struct gt_error *err) {
    const struct gt_named_set *kernels = gt_results_kernels(view, err);
    if (!kernels)
        return err->code;
    counts[GT_ISSUE_OP_ZERO_LENGTH] = kernels->sums.overlaps.empty;
    counts[GT_ISSUE_OP_WITHOUT_NAME] = kernels->sums.overlaps.unnamed;
    counts[GT_ISSUE_OP_OVERLAP] = kernels->sums.overlaps.overlaps;
    return GT_OK;
}

static enum gt_status count_ops(const struct gt_view *view, uint64_t *counts, struct gt_error *err) {
    struct counting counting = {.view = view};
    if (view->is_by_row && !view->is_summed)
        return count_rows(view, counts, err);
    size_t threads = gt_threads_slices(gt_threads_count(view->request->threads), view->op_count, 0);
    gt_threads_parts(threads, view->lane_count, count_lane, &counting);
    counts[GT_ISSUE_OP_ZERO_LENGTH] = counting.empty;
    counts[GT_ISSUE_OP_WITHOUT_NAME] = counting.unnamed;
    counts[GT_ISSUE_OP_OVERLAP] = counting.overlaps;
    return GT_OK;
}

static void count_overheads(const struct gt_view *view, uint64_t *counts) {
    const struct gt_overheads *overheads = &view->store->overheads;
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (size_t d = 0; d < view->device_count; d++) {
        first_ns = view->devices[d].span_start_ns < first_ns ? view->devices[d].span_start_ns : first_ns;
        last_ns = view->devices[d].span_end_ns > last_ns ? view->devices[d].span_end_ns : last_ns;
    }
    for (size_t i = 0; i < overheads->count; i++)
        counts[GT_ISSUE_PROFILER_OVERHEAD] += overheads->start_ns[i] < last_ns && overheads->end_ns[i] > first_ns;
}

/* Do several processes use the number of a device? Where the trace gives the owner of a stream, the decoder knows the
   physical GPU, or has counted that it does not: streams whose ops have an owner only by their launch calls count. */
static bool is_shared(const struct gt_view *view, const struct gt_view_device *device) {
    const uint32_t *process_of = view->store->lanes.process;
    uint32_t process = GT_NO_TRACK;
    for (size_t l = device->first_lane; l < device->first_lane + device->lane_count; l++) {
        const struct gt_view_lane *lane = &view->lanes[l];
        for (size_t k = lane->first; process_of[lane->lane] == GT_NO_TRACK && k < lane->first + lane->count; k++) {
            uint32_t other = gt_view_op_process(view, view->lane_order[k]);
            if (other != GT_NO_TRACK && process != GT_NO_TRACK && other != process)
                return true;
            process = other != GT_NO_TRACK ? other : process;
        }
    }
    return false;
}

/* Are there calls of more than one process? */
static bool has_several_callers(const struct gt_store *store) {
    uint32_t process = GT_NO_TRACK;
    for (size_t i = 0; i < store->threads.count; i++) {
        uint32_t other = store->threads.process[i];
        if (other != GT_NO_TRACK && process != GT_NO_TRACK && other != process)
            return true;
        process = other != GT_NO_TRACK ? other : process;
    }
    return false;
}

static void count_shared_devices(const struct gt_view *view, uint64_t *counts) {
    if (!has_several_callers(view->store))
        return;
    for (size_t d = 0; d < view->device_count; d++)
        counts[GT_ISSUE_DEVICE_SHARED] += is_shared(view, &view->devices[d]);
}

/* Work that is in the file and was not read: it is named by issues of its own. */
static bool has_unread_work(const struct gt_view *view) {
    static const enum gt_issue_id unread[] = {GT_ISSUE_XLA_TRACE, GT_ISSUE_TPU_NOT_READ,
                                              GT_ISSUE_DEVICE_EVENTS_NOT_READ};
    for (size_t i = 0; i < GT_ARRAY_COUNT(unread); i++)
        if (gt_store_issue(view->store, unread[i], view->request->facts).count)
            return true;
    return false;
}

static enum gt_status count_missing_work(const struct gt_view *view, uint64_t *counts, struct gt_error *err) {
    const struct gt_store *store = view->store;
    bool has_kernels = false;
    if (store->groups.count)
        return GT_OK;
    counts[GT_ISSUE_NO_GPU_WORK] = store->ops.count == 0 && gt_store_can_have(store, GT_FACT_OPS) &&
                                   !(store->facts & GT_FACT_PROJECTIONS) && !has_unread_work(view);
    counts[GT_ISSUE_LOG_WITHOUT_OPS] = !gt_store_can_have(store, GT_FACT_OPS);
    counts[GT_ISSUE_NOTHING_SELECTED] = store->ops.count && view->op_count == 0;
    counts[GT_ISSUE_GRAPH_WHOLE] = gt_store_count_kind(view->kind, view->op_count, GT_OP_GRAPH);
    for (size_t i = 0; i < store->ops.count && !has_kernels; i++)
        has_kernels = gt_store_kind_is_kernel(store->ops.kind[i]);
    if (has_kernels)
        return GT_OK;
    const struct gt_launch_marks *launches = gt_results_launch_marks(view, err);
    for (size_t i = 0; i < store->calls.count && launches; i++)
        counts[GT_ISSUE_NO_KERNELS] +=
            launches->of_call[i] && gt_call_is_launch(gt_store_string(store, store->calls.name[i]));
    return launches ? GT_OK : err->code;
}

enum gt_status gt_health_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    uint64_t counts[GT_ISSUE_COUNT] = {0};
    enum gt_status status = count_missing_work(view, counts, err);
    if (status != GT_OK)
        return status;
    status = count_ops(view, counts, err);
    if (status != GT_OK)
        return status;
    count_overheads(view, counts);
    if (view->request->facts & GT_FACT_CALLS)
        count_shared_devices(view, counts);
    for (size_t i = 0; i < GT_ISSUE_COUNT; i++) {
        const struct gt_issue read = gt_store_issue(view->store, (enum gt_issue_id)i, view->request->facts);
        uint32_t facts = gt_issue_infos[i].facts;
        if (facts && !(facts & view->request->facts))
            continue;
        /* What a decoder has counted already, with its place in the file, is seen in the ops once more. */
        uint64_t count = read.count + view->labels->issues[i];
        count = counts[i] > count ? counts[i] : count;
        if (count == 0)
            continue;
        gt_section_issue(section, &(struct gt_report_issue){
                                      .id = gt_issue_infos[i].id,
                                      .help = gt_issue_infos[i].help,
                                      .count = count,
                                      .first_offset = read.count ? read.first_offset : GT_NO_OFFSET,
                                      .is_loss = gt_issue_infos[i].issue_class == GT_ISSUE_CLASS_LOSS,
                                  });
    }
    return GT_OK;
}
