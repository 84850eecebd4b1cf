/* Which recording of an event is waited for: sync records and event records come in, look-ups go out. */
#include <stdlib.h>

#include "base/mem.h"
#include "graph/dag_build.h"

/* A recording as it is looked for: by process, event or its number, then time. */
struct recording {
    uint64_t id;
    int64_t time_ns;
    uint32_t process, row, call;
    bool is_number; /* the id is `record`, which only this recording of the event has */
};

struct gt_dag_recordings {
    struct recording *items;
    size_t count;
};

static int by_id(const struct recording *a, const struct recording *b) {
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->is_number != b->is_number)
        return a->is_number ? 1 : -1;
    return (a->id > b->id) - (a->id < b->id);
}

static int by_id_and_time(const void *a, const void *b) {
    const struct recording *x = a, *y = b;
    int order = by_id(x, y);
    if (order)
        return order;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static bool map_syncs(struct gt_dag_build *build) {
    const struct gt_syncs *syncs = &build->store->syncs;
    for (uint32_t i = 0; i < syncs->count; i++)
        if (syncs->correlation[i] != GT_NO_CORRELATION)
            gt_map_put_if_new(&build->sync_map, syncs->process[i], syncs->correlation[i], i);
    return !build->sync_map.failed;
}

uint32_t gt_dag_build_sync_row(const struct gt_dag_build *build, uint32_t process, uint64_t correlation) {
    if (correlation == GT_NO_CORRELATION)
        return GT_NO_ROW;
    uint32_t row = gt_map_get(&build->sync_map, process, correlation);
    if (row == GT_MAP_NONE)
        row = gt_map_get(&build->sync_map, GT_NO_TRACK, correlation);
    return row == GT_MAP_NONE ? GT_NO_ROW : row;
}

/* Calls that record events, by process and correlation. */
static bool map_record_calls(struct gt_dag_build *build) {
    const struct gt_calls *calls = &build->store->calls;
    for (uint32_t i = 0; i < calls->count; i++)
        if (build->call_names[calls->name[i]].detail == GT_DAG_RECORD_EVENT &&
            calls->correlation[i] != GT_NO_CORRELATION)
            gt_map_put_if_new(&build->record_map, gt_labels_call_process(build->store, i), calls->correlation[i], i);
    return !build->record_map.failed;
}

static void add_recording(struct gt_dag_recordings *all, const struct gt_dag_build *build, uint32_t row) {
    const struct gt_event_records *records = &build->store->event_records;
    uint32_t process = records->process[row], call;
    call = gt_map_get(&build->record_map, process, records->correlation[row]);
    if (call == GT_MAP_NONE)
        return; /* without a time */
    struct recording item = {
        .process = process, .row = row, .call = call, .time_ns = build->store->calls.start_ns[call]};
    if (records->event[row] != UINT64_MAX) {
        item.id = records->event[row];
        all->items[all->count++] = item;
    }
    if (records->record[row] != UINT64_MAX) {
        item.id = records->record[row];
        item.is_number = true;
        all->items[all->count++] = item;
    }
}

bool gt_dag_build_recordings(struct gt_dag_build *build) {
    size_t rows = build->store->event_records.count;
    struct gt_dag_recordings *all = build->recordings = gt_dag_build_array(build, 1, sizeof *all);
    if (!all || !map_syncs(build) || !map_record_calls(build))
        return !(build->failed = true);
    all->items = gt_dag_build_array(build, 2 * rows, sizeof *all->items);
    for (uint32_t i = 0; i < rows && !build->failed; i++)
        add_recording(all, build, i);
    if (!build->failed)
        qsort(all->items, all->count, sizeof *all->items, by_id_and_time);
    return !build->failed;
}

/* The last recording with this id before the time; NULL. */
static const struct recording *find(const struct gt_dag_recordings *all, const struct recording *wanted) {
    size_t low = 0, high = all->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct recording *item = &all->items[middle];
        int order = by_id(item, wanted);
        if (order < 0 || (order == 0 && item->time_ns < wanted->time_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low && by_id(&all->items[low - 1], wanted) == 0 ? &all->items[low - 1] : NULL;
}

/* As Nsight has it: a row of its own for the recording. */
static struct gt_dag_recording of_records(const struct gt_dag_build *build, uint32_t process, uint32_t sync,
                                          int64_t wait_ns) {
    const struct gt_store *store = build->store;
    const struct gt_dag_recordings *all = build->recordings;
    struct recording wanted = {.process = process, .time_ns = wait_ns, .is_number = true};
    const struct recording *found = NULL;
    wanted.id = store->syncs.record[sync];
    if (wanted.id != UINT64_MAX)
        found = find(all, &wanted);
    wanted.id = store->syncs.event[sync];
    wanted.is_number = false;
    if (!found && wanted.id != UINT64_MAX)
        found = find(all, &wanted);
    if (!found)
        return (struct gt_dag_recording){false, GT_DAG_NONE, GT_NO_ROW, wait_ns};
    uint32_t stream = gt_dag_build_stream(build, process, store->event_records.device[found->row],
                                          store->event_records.stream[found->row]);
    return (struct gt_dag_recording){true, stream, found->call, found->time_ns};
}

struct gt_dag_recording gt_dag_build_recording(const struct gt_dag_build *build, uint32_t process, uint32_t sync,
                                               int64_t wait_ns) {
    const struct gt_store *store = build->store;
    if (store->syncs.wait_stream[sync] < 0)
        return of_records(build, process, sync, wait_ns);
    /* As Kineto has it: the stream with the wait, and the correlation of the call. */
    struct gt_dag_recording recording = {.is_known = true, .call = GT_NO_ROW, .time_ns = wait_ns};
    uint64_t correlation = store->syncs.wait_correlation[sync];
    uint32_t call =
        correlation == GT_NO_CORRELATION ? GT_MAP_NONE : gt_map_get(&build->record_map, process, correlation);
    recording.stream = gt_dag_build_stream(build, process, store->syncs.device[sync], store->syncs.wait_stream[sync]);
    if (call != GT_MAP_NONE) {
        recording.call = call;
        recording.time_ns = store->calls.start_ns[call];
    }
    return recording;
}
