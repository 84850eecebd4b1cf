/* Which facts a sealed store has, and the time of its first op. */
#include "events/seal_facts.h"

#include "base/threads.h"

/* Whether the file has states of something else than memory in use. */
static bool has_other_states(const struct gt_store *store) {
    const struct gt_counter_tracks *tracks = &store->counter_tracks;
    for (size_t i = 0; i < tracks->count && store->counters.count; i++)
        if (tracks->kind[i] == GT_COUNTER_STATE && !gt_str_eq(gt_store_string(store, tracks->unit[i]), GT_STR("bytes")))
            return true;
    return false;
}

/* ---- what takes a look at all ops ---- */

struct look {
    const struct gt_ops *ops;
    struct {
        int64_t first_ns;
        bool has_ids;
    } slices[GT_THREADS_MOST];
};

static bool has_ids(const uint64_t *ids, size_t begin, size_t end) {
    enum { AT_ONCE = 4096 };
    bool found = false;
    for (; begin < end && !found; begin += AT_ONCE) {
        size_t until = end - begin < AT_ONCE ? end : begin + AT_ONCE;
        for (size_t i = begin; i < until; i++)
            found |= ids[i] != GT_NO_CORRELATION;
    }
    return found;
}

static void look_at_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct look *look = context;
    const int64_t *starts_ns = look->ops->start_ns;
    int64_t first_ns = INT64_MAX;
    for (size_t i = begin; i < end; i++)
        first_ns = starts_ns[i] < first_ns ? starts_ns[i] : first_ns;
    look->slices[slice].first_ns = first_ns;
    look->slices[slice].has_ids = has_ids(look->ops->correlation, begin, end);
}

static void look_at_ops(struct gt_store *store, size_t threads) {
    struct look look = {.ops = &store->ops};
    size_t slices = gt_threads_slices(threads, store->ops.count, 0);
    if (store->ops.count == 0)
        return;
    gt_threads_rows(slices, store->ops.count, look_at_slice, &look);
    store->facts |= GT_FACT_OPS;
    store->origin_ns = INT64_MAX;
    for (size_t i = 0; i < slices; i++) {
        store->origin_ns = look.slices[i].first_ns < store->origin_ns ? look.slices[i].first_ns : store->origin_ns;
        store->facts |= look.slices[i].has_ids ? GT_FACT_CORRELATION : 0;
    }
}

void gt_seal_facts_find(struct gt_store *store, size_t threads) {
    look_at_ops(store, threads);
    if (store->calls.count)
        store->facts |= GT_FACT_CALLS;
    /* Without ops, the first of a projected range is the first that is known. */
    for (size_t i = 0; i < store->projections.count && store->ops.count == 0; i++)
        if (i == 0 || store->projections.start_ns[i] < store->origin_ns)
            store->origin_ns = store->projections.start_ns[i];
    for (size_t i = 0; i < store->comm_logs.count && store->ops.count == 0; i++)
        if (store->comm_logs.time_ns[i] != GT_NO_TIME &&
            (store->origin_ns == 0 || store->comm_logs.time_ns[i] < store->origin_ns))
            store->origin_ns = store->comm_logs.time_ns[i];
    for (size_t i = 0; i < store->ranges.count && !(store->facts & GT_FACT_RANGES); i++)
        if (store->ranges.kind[i] != GT_RANGE_GPU)
            store->facts |= GT_FACT_RANGES;
    if (store->cpu_ops.count)
        store->facts |= GT_FACT_CPU_OPS;
    if (store->groups.count)
        store->facts |= GT_FACT_GROUPS;
    if (store->copies.count)
        store->facts |= GT_FACT_BYTES;
    if (store->projections.count || store->projection_groups.count)
        store->facts |= GT_FACT_PROJECTIONS;
    const struct {
        size_t rows;
        enum gt_fact fact;
    } tables[] = {
        {store->overheads.count + store->driver_work.count, GT_FACT_OVERHEADS},
        {store->graph_ops.count, GT_FACT_GRAPHS},
        {store->range_texts.count + store->range_categories.count, GT_FACT_RANGE_TEXTS},
        {store->source_columns.count, GT_FACT_SOURCE},
        {store->counters.count + store->sample_values.count, GT_FACT_COUNTERS},
        {store->sample_values.count + has_other_states(store), GT_FACT_METRICS},
        {store->comms.count, GT_FACT_COMMS},
        {store->syncs.count + store->event_records.count, GT_FACT_SYNCS},
        {store->flows.count, GT_FACT_FLOWS},
        {store->operator_args.count, GT_FACT_ARGUMENTS},
        {store->operator_details.count, GT_FACT_DETAILS},
        {store->kernel_configs.count + store->launch_details.count, GT_FACT_CONFIGS},
        {store->memory_events.count, GT_FACT_MEMORY},
        {store->python_calls.count, GT_FACT_STACKS},
        {store->comm_logs.count, GT_FACT_COMM_LOGS},
        {store->host_calls.count, GT_FACT_HOST_CALLS},
        {store->call_args.count, GT_FACT_CALL_ARGS},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (tables[i].rows)
            store->facts |= tables[i].fact;
}
