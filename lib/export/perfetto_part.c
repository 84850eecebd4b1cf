/* Prepares one input of a Perfetto trace: a view comes in, numbers of tracks and rows by op go out. */
#include "export/perfetto_part.h"

#include "base/mem.h"
#include "events/trace_rank.h"
#include "export/perfetto_fields.h"
#include "measure/results/results.h"

/* ---- numbers ---- */

enum { MADE_UP = 0x40000000 }; /* above the process and thread numbers of Linux */

int32_t gt_perfetto_part_pid(const struct gt_perfetto_part *part, uint32_t process) {
    int64_t pid = part->store->processes.pid[process];
    return pid >= 0 && pid < MADE_UP ? (int32_t)pid : (int32_t)(MADE_UP + process % MADE_UP);
}

int64_t gt_perfetto_part_tid(const struct gt_perfetto_part *part, uint32_t thread) {
    int64_t tid = part->store->threads.tid[thread];
    return tid >= 0 ? tid : (int64_t)MADE_UP + thread;
}

int32_t gt_perfetto_part_gpu(const struct gt_perfetto_part *part, uint32_t device) {
    int64_t id = part->store->devices.id[device];
    return id >= 0 && id < MADE_UP ? (int32_t)id : (int32_t)(MADE_UP + device % MADE_UP);
}

/* ---- rows by op ---- */

static uint32_t *new_rows_by_op(const struct gt_store *store, const uint32_t *op, size_t count) {
    uint32_t *rows = gt_mem_uninitialised(store->ops.count, sizeof *rows);
    for (size_t i = 0; rows && i < store->ops.count; i++)
        rows[i] = GT_NO_ROW;
    for (size_t i = 0; rows && i < count; i++)
        rows[op[i]] = (uint32_t)i;
    return rows;
}

static bool find_rows(struct gt_perfetto_part *part) {
    const struct gt_store *store = part->store;
    if (store->kernel_configs.count)
        part->config = new_rows_by_op(store, store->kernel_configs.op, store->kernel_configs.count);
    if (store->launch_details.count)
        part->launch = new_rows_by_op(store, store->launch_details.op, store->launch_details.count);
    if (store->copies.count)
        part->copy = new_rows_by_op(store, store->copies.op, store->copies.count);
    if (store->graph_ops.count)
        part->graph = new_rows_by_op(store, store->graph_ops.op, store->graph_ops.count);
    return (part->config || !store->kernel_configs.count) && (part->launch || !store->launch_details.count) &&
           (part->copy || !store->copies.count) && (part->graph || !store->graph_ops.count);
}

/* Ops of the view by launch call: a graph launch has many. */
static bool find_ops_of_calls(struct gt_perfetto_part *part) {
    const struct gt_view *view = part->view;
    const uint32_t *op_call = part->labels->op_call;
    size_t calls = part->store->calls.count, sum = 0;
    if (!calls)
        return true;
    part->call_first = gt_mem_array(calls + 1, sizeof *part->call_first);
    part->call_ops = gt_mem_uninitialised(view->op_count, sizeof *part->call_ops);
    if (!part->call_first || !part->call_ops)
        return false;
    for (size_t i = 0; i < view->op_count; i++)
        if (op_call[view->row[i]] != GT_NO_ROW)
            part->call_first[op_call[view->row[i]]]++;
    for (size_t i = 0; i <= calls; i++) {
        sum += part->call_first[i];
        part->call_first[i] = (uint32_t)sum;
    }
    for (size_t i = view->op_count; i-- > 0;)
        if (op_call[view->row[i]] != GT_NO_ROW)
            part->call_ops[--part->call_first[op_call[view->row[i]]]] = (uint32_t)i;
    return true;
}

/* ---- the rest ---- */

static uint32_t api_of(const struct gt_store *store) {
    size_t looked_at = store->calls.count < 1000 ? store->calls.count : 1000;
    for (size_t i = 0; i < looked_at; i++)
        if (gt_str_starts(gt_store_string(store, store->calls.name[i]), GT_STR("hip")))
            return API_HIP;
    for (size_t i = 0; i < store->devices.count; i++)
        if (gt_str_find_nocase(gt_store_string(store, store->devices.name[i]), GT_STR("amd")))
            return API_HIP;
    return API_CUDA;
}

static int64_t earlier(const int64_t *times_ns, size_t count, int64_t first_ns) {
    for (size_t i = 0; i < count; i++)
        first_ns = times_ns[i] < first_ns ? times_ns[i] : first_ns;
    return first_ns;
}

int64_t gt_perfetto_part_first_ns(const struct gt_view *view) {
    const struct gt_store *store = view->store;
    if (view->has_window)
        return view->window_start_ns;
    int64_t first_ns = earlier(store->ops.start_ns, store->ops.count, INT64_MAX);
    first_ns = earlier(store->calls.start_ns, store->calls.count, first_ns);
    first_ns = earlier(store->ranges.start_ns, store->ranges.count, first_ns);
    first_ns = earlier(store->cpu_ops.start_ns, store->cpu_ops.count, first_ns);
    first_ns = earlier(store->python_calls.start_ns, store->python_calls.count, first_ns);
    first_ns = earlier(store->overheads.start_ns, store->overheads.count, first_ns);
    first_ns = earlier(store->driver_work.start_ns, store->driver_work.count, first_ns);
    first_ns = earlier(store->counters.time_ns, store->counters.count, first_ns);
    return earlier(store->sample_times.time_ns, store->sample_times.count, first_ns);
}

static bool is_selected(const struct gputime_selection *selection, int64_t step) {
    for (size_t i = 0; i < selection->step_count; i++)
        if (step >= selection->steps[i].first && step <= selection->steps[i].last)
            return true;
    return false;
}

static bool find_times(struct gt_perfetto_part *part) {
    const struct gputime_selection *selection = &part->view->request->selection;
    const struct gt_labels *labels = part->labels;
    if (part->view->has_window)
        gt_intervals_add(&part->times, part->view->window_start_ns, part->view->window_end_ns);
    else if (!selection->step_count)
        gt_intervals_add(&part->times, INT64_MIN, INT64_MAX);
    for (size_t i = 0; i < labels->step_count && !part->view->has_window; i++)
        if (is_selected(selection, labels->steps[i].number))
            gt_intervals_add(&part->times, labels->steps[i].start_ns, labels->steps[i].end_ns);
    return !part->times.failed;
}

/* Of several traces in a file each has its GPUs to itself: a stream is of the only process that launched anything. */
static bool find_owner(struct gt_perfetto_part *part) {
    size_t count = 0;
    part->owner = GT_NO_TRACK;
    if (!part->machine)
        return true;
    bool *works = gt_trace_rank_workers(part->store, part->labels, &count);
    for (uint32_t i = 0; works && count == 1 && i < part->store->processes.count; i++)
        part->owner = works[i] ? i : part->owner;
    gt_mem_free(works);
    return works != NULL;
}

enum gt_status gt_perfetto_part_init(struct gt_perfetto_part *part, const struct gt_perfetto_input *input,
                                     uint32_t machine, struct gt_perfetto_file *file, struct gt_error *err) {
    const struct gputime_selection *selection = &input->view->request->selection;
    *part = (struct gt_perfetto_part){
        .view = input->view,
        .store = input->view->store,
        .labels = input->view->labels,
        .file = file,
        .rank = input->rank,
        .world_size = input->world_size,
        .machine = machine,
        .api = api_of(input->view->store),
        .uuid = file->last_uuid + 1,
    };
    file->last_uuid += gt_perfetto_part_track_count(part);
    part->idle = gt_results_idle(part->view, err);
    if (!part->idle)
        return GT_ERR;
    bool is_done = find_owner(part) && find_rows(part) && find_ops_of_calls(part) && find_times(part);
    if (is_done && (selection->device_count || selection->stream_count || selection->process_count)) {
        part->processes = gt_view_processes(part->view);
        is_done = part->processes != NULL;
    }
    return is_done ? GT_OK : gt_fail_memory(err);
}

void gt_perfetto_part_release(struct gt_perfetto_part *part) {
    size_t slices = part->tracks ? gt_perfetto_part_process(part, 0) : 0;
    for (size_t i = 0; i < slices; i++)
        gt_nest_release(&part->tracks[i].nest);
    gt_mem_free(part->lanes);
    gt_mem_free(part->tracks);
    gt_mem_free(part->items);
    gt_mem_free(part->config);
    gt_mem_free(part->launch);
    gt_mem_free(part->copy);
    gt_mem_free(part->graph);
    gt_mem_free(part->call_first);
    gt_mem_free(part->call_ops);
    gt_mem_free(part->processes);
    gt_intervals_release(&part->times);
    gt_arena_release(&part->arena);
}
