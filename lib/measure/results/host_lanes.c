/* Sorts what threads did into lanes: rows of a table come in, numbers of rows by thread and level go out. */
#include "measure/results/host_lanes.h"

#include <string.h>

#include "base/mem.h"
#include "base/spans.h"
#include "measure/results/measure.h"

/* A table of spans of threads. */
struct table {
    const int64_t *start_ns, *end_ns;
    const gt_strid *name;
    const uint32_t *thread;
    const uint8_t *range_kind; /* NULL: all rows are spans of a thread */
    size_t count;
};

static struct table table_of(const struct gt_view *view, enum gt_timeline_kind kind) {
    const struct gt_store *store = view->store;
    const struct gt_python_calls *python = gt_measure_python_calls(view);
    switch (kind) {
    case GT_TIMELINE_HOST_RANGES:
        return (struct table){store->ranges.start_ns, store->ranges.end_ns, store->ranges.name,
                              store->ranges.thread,   store->ranges.kind,   store->ranges.count};
    case GT_TIMELINE_OPERATORS:
        return (struct table){
            store->cpu_ops.start_ns, store->cpu_ops.end_ns, store->cpu_ops.name, store->cpu_ops.thread, NULL,
            store->cpu_ops.count};
    case GT_TIMELINE_PYTHON:
        return (struct table){python->start_ns, python->end_ns, python->name, python->thread, NULL, python->count};
    default:
        return (struct table){store->calls.start_ns, store->calls.end_ns, store->calls.name, store->calls.thread, NULL,
                              store->calls.count};
    }
}

struct making {
    const struct gt_view *view;
    enum gt_timeline_kind kind;
    struct table table;
    bool *processes;
    struct gt_lane_set *set;
    struct gt_lane_list *list;
    size_t *first;    /* by thread: place of its first span; one more than there are threads */
    uint16_t *levels; /* of the spans of one thread */
    uint32_t *sorted; /* room for as many */
    int64_t *open_ns; /* ends of the spans around, the innermost last */
    size_t open_count, open_capacity;
};

static bool is_drawn(const struct making *making, size_t row) {
    const struct table *table = &making->table;
    const struct gt_view *view = making->view;
    uint32_t thread = table->thread[row];
    if (thread == GT_NO_TRACK || (table->range_kind && table->range_kind[row] == GT_RANGE_GPU))
        return false;
    if (view->is_whole)
        return true;
    uint32_t process = view->store->threads.process[thread];
    return (process == GT_NO_TRACK || making->processes[process]) &&
           (!view->has_window ||
            (table->start_ns[row] < view->window_end_ns && table->end_ns[row] > view->window_start_ns));
}

/* ---- by thread ---- */

static bool sort_by_thread(struct making *making) {
    size_t threads = making->view->store->threads.count;
    struct gt_lane_set *set = making->set;
    making->first = gt_mem_array(threads + 2, sizeof *making->first);
    if (!making->first)
        return false;
    size_t *next = making->first + 1; /* counts of a thread are one further on, so that they become first places */
    for (size_t row = 0; row < making->table.count; row++)
        if (is_drawn(making, row))
            next[making->table.thread[row] + 1]++;
    for (size_t t = 0; t < threads; t++)
        next[t + 1] += next[t];
    set->count = next[threads];
    set->ids = gt_mem_uninitialised(set->count, sizeof *set->ids);
    for (uint32_t row = 0; row < making->table.count && set->ids; row++)
        if (is_drawn(making, row))
            set->ids[next[making->table.thread[row]]++] = row;
    return set->ids != NULL;
}

static size_t most_of_a_thread(const struct making *making) {
    size_t most = 0;
    for (size_t t = 0; t < making->view->store->threads.count; t++) {
        size_t count = making->first[t + 1] - making->first[t];
        most = count > most ? count : most;
    }
    return most;
}

/* ---- by level ---- */

/* The level of each span of a thread: how many of those before it have not ended; deeper ones than there are levels
   share the last number, which is no level. Gives how many levels there are. */
static size_t find_levels(struct making *making, const uint32_t *ids, size_t count) {
    size_t deepest = 0;
    making->open_count = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t start_ns = making->table.start_ns[ids[i]];
        while (making->open_count && making->open_ns[making->open_count - 1] <= start_ns)
            making->open_count--;
        size_t level = making->open_count;
        deepest = level + 1 > deepest ? level + 1 : deepest;
        making->levels[i] = (uint16_t)(level < GT_HOST_LANES_LEVELS ? level : GT_HOST_LANES_LEVELS);
        int64_t *grown = gt_mem_room(making->open_ns, making->open_count, &making->open_capacity, sizeof *grown);
        if (!grown)
            return SIZE_MAX;
        making->open_ns = grown;
        making->open_ns[making->open_count++] = making->table.end_ns[ids[i]];
    }
    return deepest;
}

/* Puts the spans of a thread in order of level and adds their lanes; `to` is where they go. Gives how many stay. */
static size_t lay_out(struct making *making, uint32_t thread, uint32_t *ids, size_t count, size_t to) {
    size_t next[GT_HOST_LANES_LEVELS + 2] = {0}, kept;
    for (size_t i = 0; i < count; i++)
        next[making->levels[i] + 1]++;
    for (size_t level = 0; level < GT_HOST_LANES_LEVELS; level++) {
        size_t spans = next[level + 1];
        next[level + 1] += next[level];
        struct gt_timeline_row row =
            gt_lane_list_thread_row(making->view->store, making->kind, thread, (uint32_t)level);
        if (spans)
            gt_lane_list_add(making->list, &row, (struct gt_span_row){to + next[level], spans}, thread);
    }
    kept = next[GT_HOST_LANES_LEVELS];
    for (size_t i = 0; i < count; i++)
        if (making->levels[i] < GT_HOST_LANES_LEVELS)
            making->sorted[next[making->levels[i]]++] = ids[i];
    memcpy(making->set->ids + to, making->sorted, kept * sizeof *ids);
    return kept;
}

static bool make_threads(struct making *making) {
    size_t kept = 0, most = most_of_a_thread(making);
    making->levels = gt_mem_uninitialised(most, sizeof *making->levels);
    making->sorted = gt_mem_uninitialised(most, sizeof *making->sorted);
    if (!making->levels || !making->sorted)
        return false;
    for (uint32_t t = 0; t < making->view->store->threads.count; t++) {
        uint32_t *ids = making->set->ids + making->first[t];
        size_t count = making->first[t + 1] - making->first[t];
        if (count == 0)
            continue;
        if (!gt_spans_sort(ids, count, making->table.start_ns, making->table.end_ns))
            return false;
        size_t levels = find_levels(making, ids, count);
        if (levels == SIZE_MAX)
            return false;
        if (levels > GT_HOST_LANES_LEVELS)
            making->list->left_out[making->kind] += levels - GT_HOST_LANES_LEVELS;
        kept += lay_out(making, t, ids, count, kept);
    }
    making->set->count = kept;
    return !making->list->failed;
}

bool gt_host_lanes_make(const struct gt_view *view, enum gt_timeline_kind kind, struct gt_lane_set *set,
                        struct gt_lane_list *list) {
    struct making making = {.view = view, .kind = kind, .table = table_of(view, kind), .set = set, .list = list};
    *set = (struct gt_lane_set){
        .start_ns = making.table.start_ns, .end_ns = making.table.end_ns, .name = making.table.name};
    making.processes = gt_view_processes(view);
    bool ok = making.processes && sort_by_thread(&making) && make_threads(&making);
    set->bytes = set->count * sizeof *set->ids;
    gt_mem_free(making.processes);
    gt_mem_free(making.first);
    gt_mem_free(making.levels);
    gt_mem_free(making.sorted);
    gt_mem_free(making.open_ns);
    return ok;
}
