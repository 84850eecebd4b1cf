/* Health: what is odd about the trace. What decoding and labelling counted, and what only the selected ops in their
   order show, become issues of the section. */
#include "base/mem.h"
#include "measure/calls.h"
#include "measure/measure.h"

static void count_ops(const struct gt_view *view, uint64_t *counts) {
    const struct gt_ops *ops = &view->store->ops;
    for (size_t i = 0; i < view->op_count; i++) {
        uint32_t row = view->row[i];
        counts[GT_ISSUE_OP_ZERO_LENGTH] += ops->start_ns[row] == ops->end_ns[row];
        counts[GT_ISSUE_OP_WITHOUT_NAME] += ops->name[row] == GT_STRID_EMPTY;
    }
}

static void count_overlaps(const struct gt_view *view, uint64_t *counts) {
    for (size_t i = 0; i < view->lane_count; i++) {
        int64_t reached_ns = INT64_MIN;
        for (size_t k = view->lanes[i].first; k < view->lanes[i].first + view->lanes[i].count; k++) {
            uint32_t position = view->lane_order[k];
            counts[GT_ISSUE_OP_OVERLAP] += view->start_ns[position] < reached_ns;
            reached_ns = view->end_ns[position] > reached_ns ? view->end_ns[position] : reached_ns;
        }
    }
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

/* Devices whose number several processes use, in traces that know the owner of an op only by its launch call. Where
   the trace tells the owner of a stream, the decoder knows the physical GPU, or has counted that it does not. */
static void count_shared_devices(const struct gt_view *view, uint64_t *counts) {
    const struct gt_store *store = view->store;
    for (size_t d = 0; d < view->device_count; d++) {
        uint32_t process = GT_NO_TRACK;
        bool is_shared = false;
        for (size_t i = view->devices[d].first; i < view->devices[d].first + view->devices[d].count; i++) {
            uint32_t other = store->lanes.process[view->lane[i]] == GT_NO_TRACK ? gt_op_process(view, i) : GT_NO_TRACK;
            if (other == GT_NO_TRACK)
                continue;
            is_shared |= process != GT_NO_TRACK && other != process;
            process = other;
        }
        counts[GT_ISSUE_DEVICE_SHARED] += is_shared;
    }
}

static enum gt_status count_missing_work(const struct gt_view *view, uint64_t *counts, struct gt_error *err) {
    const struct gt_store *store = view->store;
    bool has_kernels = false;
    if (store->groups.count)
        return GT_OK;
    counts[GT_ISSUE_NO_GPU_WORK] = store->ops.count == 0 && !(store->facts & GT_FACT_PROJECTIONS);
    counts[GT_ISSUE_NOTHING_SELECTED] = store->ops.count && view->op_count == 0;
    for (size_t i = 0; i < view->op_count; i++)
        counts[GT_ISSUE_GRAPH_WHOLE] += gt_op_kind(view, i) == GT_OP_GRAPH;
    for (size_t i = 0; i < store->ops.count && !has_kernels; i++)
        has_kernels = gt_kind_is_kernel(store->ops.kind[i]);
    if (has_kernels)
        return GT_OK;
    uint8_t *is_launch;
    enum gt_status status = gt_launch_marks_new(view, &is_launch, err);
    for (size_t i = 0; i < store->calls.count && status == GT_OK; i++)
        counts[GT_ISSUE_NO_KERNELS] += is_launch[i] && gt_call_is_launch(gt_store_string(store, store->calls.name[i]));
    gt_free(is_launch);
    return status;
}

enum gt_status gt_health_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    uint64_t counts[GT_ISSUE_COUNT] = {0};
    enum gt_status status = count_missing_work(view, counts, err);
    if (status != GT_OK)
        return status;
    count_ops(view, counts);
    count_overlaps(view, counts);
    count_overheads(view, counts);
    count_shared_devices(view, counts);
    for (size_t i = 0; i < GT_ISSUE_COUNT; i++) {
        const struct gt_issue *read = &view->store->issues[i];
        /* What a decoder has counted already, with its place in the file, is seen in the ops once more. */
        uint64_t count = read->count + view->labels->issues[i];
        count = counts[i] > count ? counts[i] : count;
        if (count == 0)
            continue;
        gt_section_issue(section, &(struct gt_report_issue){
                                      .id = gt_issue_infos[i].id,
                                      .help = gt_issue_infos[i].help,
                                      .count = count,
                                      .first_offset = read->count ? read->first_offset : GT_NO_OFFSET,
                                      .is_loss = gt_issue_infos[i].issue_class == GT_ISSUE_CLASS_LOSS,
                                  });
    }
    return GT_OK;
}
