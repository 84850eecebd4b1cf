/* Makes the summaries of a trace: its processes with GPU work, of each one device, and of its ops what a job needs. */
#include "ranks/rank_reduce.h"

#include "base/mem.h"
#include "events/trace_rank.h"
#include "events/view.h"
#include "measure/results/idle.h"
#include "ranks/logged_reduce.h"
#include "ranks/rank_carried.h"
#include "ranks/rank_points.h"
#include "ranks/rank_windows.h"
#include "ranks/rank_work.h"

/* ---- which ops ---- */

static struct gt_request request_of(const struct gt_rank_reduce_input *input, const uint32_t *process) {
    struct gt_request request = {.threads = input->threads,
                                 .selection = GPUTIME_SELECTION_INIT,
                                 .process = process,
                                 .facts = GT_RANK_REDUCE_FACTS};
    return request;
}

static size_t count_comm(const struct gt_view *view, const struct gt_view_device *device) {
    size_t count = 0;
    for (size_t i = device->first; i < device->first + device->count; i++)
        count += gt_view_op_class(view, i) == GT_CLASS_COMM;
    return count;
}

/* The device with most communication kernels; without any, with most ops; of equal ones the lowest. */
static size_t choose_device(const struct gt_view *view) {
    size_t best = 0, best_comm = 0;
    for (size_t d = 0; d < view->device_count; d++) {
        size_t comm = count_comm(view, &view->devices[d]);
        bool is_better = comm > best_comm || (best_comm == 0 && view->devices[d].count > view->devices[best].count);
        best = is_better ? d : best;
        best_comm = comm > best_comm ? comm : best_comm;
    }
    return best;
}

/* Sums of times must fit: what spans more than two weeks, or lies beyond the year 2100, is damaged. */
static bool is_plausible(const struct gt_view_device *device) {
    const int64_t latest_ns = INT64_MAX / 2, longest_ns = (int64_t)1 << 50;
    return device->span_start_ns >= -latest_ns && device->span_end_ns <= latest_ns &&
           device->span_end_ns - device->span_start_ns <= longest_ns;
}

/* ---- one rank ---- */

/* A process of a trace of several machines has its own. Hidden ones become numbers in gt_job_redact. */
static gt_strid host_of(const struct gt_store *store, uint32_t process) {
    gt_strid own = process == GT_NO_TRACK ? GT_STRID_EMPTY : store->processes.host[process];
    if (own != GT_STRID_EMPTY)
        return own;
    return store->meta.host == GT_STRID_EMPTY ? store->meta.hidden_host : store->meta.host;
}

static void fill_head(const struct gt_rank_reduce_input *input, const struct gt_view *view, uint32_t process,
                      const struct gt_trace_rank *found, struct gt_rank_summary *summary) {
    const struct gt_store *store = input->store;
    const struct gt_view_device *device = &view->devices[0];
    struct gt_rank_head *head = &summary->head;
    head->rank = found->rank;
    head->world_size = found->world_size;
    head->source = found->source;
    head->device = device->id;
    head->first_ns = device->span_start_ns;
    head->last_ns = device->span_end_ns;
    head->base_ns = store->meta.base_ns;
    head->ops = device->count;
    head->input_number = input->number;
    head->made_from = gt_store_made_from(store);
    head->host = gt_rank_summary_put_text(summary, gt_store_string(store, host_of(store, process)));
    head->uuid = gt_rank_summary_put_text(summary, gt_store_string(store, store->devices.uuid[device->device]));
    head->input = gt_rank_summary_put_text(summary, input->name);
}

static enum gt_status fill(const struct gt_rank_reduce_input *input, const struct gt_view *view, uint32_t process,
                           struct gt_rank_summary *summary, struct gt_error *err) {
    struct gt_idle idle;
    struct gt_rank_windows windows = {0};
    enum gt_status status = gt_idle_init(&idle, view, err);
    if (status != GT_OK)
        return status;
    status = gt_rank_windows_init(&windows, view, process, input->step_tag, summary, err);
    if (status == GT_OK) {
        gt_rank_carried_take(view, &windows, summary);
        status = gt_rank_points_make(view, &idle, summary, err);
    }
    if (status == GT_OK)
        status = gt_rank_work_sum(view, windows.step_of, summary, err);
    gt_rank_windows_release(&windows);
    gt_idle_release(&idle);
    gt_rank_summary_trim(summary);
    return status == GT_OK && summary->failed ? gt_fail_memory(err) : status;
}

/* process: GT_NO_TRACK where all ops are of one rank. */
static enum gt_status reduce_one(const struct gt_rank_reduce_input *input, uint32_t process, bool is_only,
                                 struct gt_rank_summary *summary, struct gt_error *err) {
    const struct gt_store *store = input->store;
    struct gputime_range device = {0};
    struct gt_view *view = NULL;
    struct gt_request request = request_of(input, process == GT_NO_TRACK || is_only ? NULL : &process);
    enum gt_status status = gt_view_new(store, input->labels, &request, &view, err);
    size_t all_ops = view ? view->op_count : 0;
    if (status == GT_OK && view->device_count > 1) {
        device.first = device.last = view->devices[choose_device(view)].id;
        gt_view_free(view);
        view = NULL;
        request.selection.devices = &device;
        request.selection.device_count = 1;
        status = gt_view_new(store, input->labels, &request, &view, err);
    }
    if (status == GT_OK && view->op_count && is_plausible(&view->devices[0])) {
        struct gt_trace_rank found = gt_trace_rank_of_process(store, process, is_only, input->path);
        fill_head(input, view, process, &found, summary);
        summary->head.other_devices = all_ops - view->op_count;
        status = fill(input, view, process, summary, err);
    }
    gt_view_free(view);
    return status;
}

/* ---- a log of collectives, which has no ops ---- */

static enum gt_status reduce_log(const struct gt_rank_reduce_input *input, struct gt_rank_summary *summary,
                                 struct gt_error *err) {
    gt_strid host = host_of(input->store, GT_NO_TRACK);
    summary->head.rank = summary->head.world_size = summary->head.device = -1;
    summary->head.input_number = input->number;
    summary->head.host = gt_rank_summary_put_text(summary, gt_store_string(input->store, host));
    summary->head.input = gt_rank_summary_put_text(summary, input->name);
    gt_logged_reduce(input->store, summary);
    gt_rank_summary_trim(summary);
    return summary->failed ? gt_fail_memory(err) : GT_OK;
}

/* ---- the ranks of a trace ---- */

enum gt_status gt_rank_reduce(const struct gt_rank_reduce_input *input, struct gt_rank_summary **out, size_t *count,
                              struct gt_error *err) {
    const struct gt_store *store = input->store;
    size_t workers;
    bool *works = gt_trace_rank_workers(store, input->labels, &workers);
    *count = 0;
    *out = gt_mem_array(workers + 1, sizeof **out);
    enum gt_status status = works && *out ? GT_OK : gt_fail_memory(err);
    bool is_only = workers <= 1;
    for (uint32_t process = 0; status == GT_OK && process < store->processes.count; process++) {
        if (!works[process])
            continue;
        status = reduce_one(input, process, is_only, &(*out)[*count], err);
        *count += (*out)[*count].head.ops > 0;
    }
    if (status == GT_OK && workers == 0 && store->ops.count) {
        status = reduce_one(input, GT_NO_TRACK, true, &(*out)[0], err);
        *count = (*out)[0].head.ops > 0;
    }
    if (status == GT_OK && workers == 0 && store->ops.count == 0 && store->comm_logs.count) {
        status = reduce_log(input, &(*out)[0], err);
        *count = status == GT_OK;
    }
    gt_mem_free(works);
    if (status != GT_OK) {
        gt_rank_reduce_free(*out, workers + 1);
        *out = NULL;
        *count = 0;
    }
    return status;
}

void gt_rank_reduce_free(struct gt_rank_summary *summaries, size_t count) {
    for (size_t i = 0; summaries && i < count; i++)
        gt_rank_summary_release(&summaries[i]);
    gt_mem_free(summaries);
}
