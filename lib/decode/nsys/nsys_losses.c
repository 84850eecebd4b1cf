/* What the profiler says it may have lost: diagnostic texts come in, the issue events_dropped goes out. */
#include "base/mem.h"
#include "base/num.h"
#include "decode/nsys/nsys.h"
#include "events/builder.h"

/* The first number in a text, the largest there is where it is larger; 1 where there is none. */
static uint64_t number_in(struct gt_str text) {
    size_t from = 0, digits = 0;
    while (from < text.len && (text.ptr[from] < '0' || text.ptr[from] > '9'))
        from++;
    while (from + digits < text.len && text.ptr[from + digits] >= '0' && text.ptr[from + digits] <= '9')
        digits++;
    uint64_t number;
    if (digits == 0)
        return 1;
    return gt_num_parse_uint((struct gt_str){text.ptr + from, digits}, &number) ? number : UINT64_MAX;
}

/* The profiler writes the suspicions for every process that it follows, compilers and data loaders included. */
static const struct {
    struct gt_str text;
    bool is_suspicion;
} losses[] = {
    {GT_STR("Not all CUDA events might have been collected"), true},
    {GT_STR("Not all NVTX events might have been collected"), true},
    {GT_STR("Could not parse "), false},
    {GT_STR("Number of incomplete CUPTI events dropped"), false},
    {GT_STR("No CUDA events collected"), true},
    {GT_STR("CUDA profiling might have not been started correctly"), true},
};
enum { LOSS_COUNT = sizeof losses / sizeof *losses };

static size_t find_loss(struct gt_str text) {
    size_t i = 0;
    while (i < LOSS_COUNT && !gt_str_starts(text, losses[i].text))
        i++;
    return i;
}

struct gt_str gt_nsys_loss(struct gt_str text, uint64_t *count) {
    size_t loss = find_loss(text);
    *count = number_in(text);
    return loss < LOSS_COUNT ? losses[loss].text : (struct gt_str){"", 0};
}

void gt_nsys_add_diagnostic(struct gt_nsys_sink *sink, struct gt_str text, uint64_t global_id) {
    size_t loss = find_loss(text);
    if (loss == LOSS_COUNT)
        return;
    if (global_id == GT_NSYS_NO_ID || global_id == 0 || !losses[loss].is_suspicion) {
        gt_builder_issue(sink->builder, GT_ISSUE_EVENTS_DROPPED, number_in(text), GT_NO_OFFSET);
        return;
    }
    uint64_t *grown = gt_mem_room(sink->suspected, sink->suspected_count, &sink->suspected_capacity, sizeof *grown);
    if (!grown) {
        sink->builder->failed = true;
        return;
    }
    sink->suspected = grown;
    sink->suspected[sink->suspected_count++] = gt_nsys_global_pid(global_id);
}

/* ---- when all is read ---- */

/* The processes that have GPU ops, by gt_nsys_process_key and by their bare number: some tables have only that. Launch
   calls do not matter, for they are not always read. */
static bool find_workers(struct gt_map *workers, const struct gt_nsys_sink *sink) {
    const struct gt_store *store = &sink->builder->store;
    bool *is_used = gt_mem_array(store->lanes.count + 1, sizeof *is_used);
    if (!is_used)
        return false;
    for (size_t i = 0; i < store->ops.count; i++)
        if (store->ops.lane[i] < store->lanes.count)
            is_used[store->ops.lane[i]] = true;
    for (size_t i = 0; i < store->lanes.count; i++) {
        uint32_t process = store->lanes.process[i];
        if (is_used[i] && process < store->processes.count)
            gt_map_put_if_new(workers, 0, (uint64_t)store->processes.pid[process], 1);
    }
    gt_mem_free(is_used);
    return !workers->failed;
}

static bool is_worker(const struct gt_map *workers, uint64_t global_pid) {
    return gt_map_get(workers, 0, (uint64_t)gt_nsys_process_key(global_pid)) != GT_MAP_NONE ||
           gt_map_get(workers, 0, (uint64_t)gt_nsys_pid(global_pid)) != GT_MAP_NONE;
}

bool gt_nsys_finish_losses(struct gt_nsys_sink *sinks, size_t count) {
    struct gt_map workers = {0};
    size_t suspected_count = 0;
    bool is_done = true;
    for (size_t s = 0; s < count; s++)
        suspected_count += sinks[s].suspected_count;
    for (size_t s = 0; s < count && suspected_count && is_done; s++)
        is_done = find_workers(&workers, &sinks[s]);
    for (size_t s = 0; s < count && is_done; s++)
        for (size_t i = 0; i < sinks[s].suspected_count; i++)
            if (workers.count == 0 || is_worker(&workers, sinks[s].suspected[i]))
                gt_builder_issue(sinks[0].builder, GT_ISSUE_EVENTS_DROPPED, 1, GT_NO_OFFSET);
    gt_map_release(&workers);
    return is_done;
}
