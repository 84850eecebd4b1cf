/* Sorts what threads did into lanes: rows of a table come in, numbers of rows by thread and level go out. */
#include "measure/results/host_lanes.h"

#include <string.h>

#include "base/mem.h"
#include "base/spans.h"
#include "base/threads.h"
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

/* What becomes of the spans of one thread. */
struct lanes_of_thread {
    uint32_t *level_spans; /* by level: how many it has; NULL: all are on the first */
    size_t levels;         /* how many there are, those without a lane among them; SIZE_MAX: memory was short */
};

struct making {
    const struct gt_view *view;
    enum gt_timeline_kind kind;
    struct table table;
    size_t threads; /* to work on */
    bool *processes;
    struct gt_lane_set *set;
    struct gt_lane_list *list;
    size_t *first; /* by thread of the trace: place of its first span; one more than there are threads */
    size_t slices;
    size_t *next; /* by slice of the rows and thread: how many it has, then the place of the next one */
    struct lanes_of_thread *lanes; /* by thread of the trace */
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

static void count_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct making *making = context;
    size_t *counts = making->next + slice * making->view->store->threads.count;
    for (size_t row = begin; row < end; row++)
        if (is_drawn(making, row))
            counts[making->table.thread[row]]++;
}

static void place_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct making *making = context;
    size_t *next = making->next + slice * making->view->store->threads.count;
    for (size_t row = begin; row < end; row++)
        if (is_drawn(making, row))
            making->set->ids[next[making->table.thread[row]]++] = (uint32_t)row;
}

/* Those of a thread slice by slice. */
static size_t find_places(struct making *making) {
    size_t threads = making->view->store->threads.count, place = 0;
    for (size_t t = 0; t < threads; t++) {
        making->first[t] = place;
        for (size_t slice = 0; slice < making->slices; slice++) {
            size_t *next = &making->next[slice * threads + t], count = *next;
            *next = place;
            place += count;
        }
    }
    return making->first[threads] = place;
}

static bool sort_by_thread(struct making *making) {
    size_t threads = making->view->store->threads.count, rows = making->table.count;
    struct gt_lane_set *set = making->set;
    making->slices = gt_threads_slices(making->threads, rows, threads);
    making->first = gt_mem_array(threads + 1, sizeof *making->first);
    making->next = gt_mem_array(threads * making->slices, sizeof *making->next);
    if (!making->first || !making->next)
        return false;
    gt_threads_rows(making->slices, rows, count_slice, making);
    set->count = find_places(making);
    set->ids = gt_mem_uninitialised(set->count, sizeof *set->ids);
    if (set->ids)
        gt_threads_rows(making->slices, rows, place_slice, making);
    return set->ids != NULL;
}

/* ---- by level ---- */

/* Ends of the spans around, the innermost last. */
struct open_spans {
    int64_t *end_ns;
    size_t count, capacity;
};

/* The level of each span of a thread: how many of those before it have not ended; deeper ones than there are levels
   share the last number, which is no level. Gives how many levels there are. */
static size_t find_levels(const struct table *table, const uint32_t *ids, size_t count, uint16_t *levels) {
    struct open_spans open = {0};
    size_t deepest = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t start_ns = table->start_ns[ids[i]];
        while (open.count && open.end_ns[open.count - 1] <= start_ns)
            open.count--;
        size_t level = open.count;
        deepest = level + 1 > deepest ? level + 1 : deepest;
        levels[i] = (uint16_t)(level < GT_HOST_LANES_LEVELS ? level : GT_HOST_LANES_LEVELS);
        int64_t *grown = open.count < open.capacity
                             ? open.end_ns
                             : gt_mem_room(open.end_ns, open.count, &open.capacity, sizeof *grown);
        if (!grown) {
            deepest = SIZE_MAX;
            break;
        }
        open.end_ns = grown;
        open.end_ns[open.count++] = table->end_ns[ids[i]];
    }
    gt_mem_free(open.end_ns);
    return deepest;
}

/* Puts the spans of a thread in order of level, those without one last. false: memory was short. */
static bool sort_by_level(struct lanes_of_thread *lanes, const uint16_t *levels, uint32_t *ids, size_t count) {
    size_t next[GT_HOST_LANES_LEVELS + 2] = {0};
    uint32_t *sorted = gt_mem_uninitialised(count, sizeof *sorted);
    lanes->level_spans = gt_mem_array(GT_HOST_LANES_LEVELS, sizeof *lanes->level_spans);
    bool ok = sorted && lanes->level_spans;
    for (size_t i = 0; i < count && ok; i++)
        next[levels[i] + 1]++;
    for (size_t level = 0; level <= GT_HOST_LANES_LEVELS && ok; level++) {
        if (level < GT_HOST_LANES_LEVELS)
            lanes->level_spans[level] = (uint32_t)next[level + 1];
        next[level + 1] += next[level];
    }
    for (size_t i = 0; i < count && ok; i++)
        sorted[next[levels[i]]++] = ids[i];
    if (ok)
        memcpy(ids, sorted, count * sizeof *ids);
    gt_mem_free(sorted);
    return ok;
}

static void make_thread(void *context, size_t thread) {
    struct making *making = context;
    struct lanes_of_thread *lanes = &making->lanes[thread];
    uint32_t *ids = making->set->ids + making->first[thread];
    size_t count = making->first[thread + 1] - making->first[thread];
    if (!count)
        return;
    uint16_t *levels = gt_mem_uninitialised(count, sizeof *levels);
    bool ok = levels && gt_spans_sort(ids, count, making->table.start_ns, making->table.end_ns);
    lanes->levels = ok ? find_levels(&making->table, ids, count, levels) : SIZE_MAX;
    if (lanes->levels > 1 && lanes->levels != SIZE_MAX && !sort_by_level(lanes, levels, ids, count))
        lanes->levels = SIZE_MAX;
    gt_mem_free(levels);
}

/* Adds the lanes of a thread, whose spans go to `to`. Gives how many stay. */
static size_t add_lanes(struct making *making, uint32_t thread, size_t to) {
    const struct lanes_of_thread *lanes = &making->lanes[thread];
    uint32_t *ids = making->set->ids;
    size_t kept = 0, count = making->first[thread + 1] - making->first[thread];
    for (size_t level = 0; level < lanes->levels && level < GT_HOST_LANES_LEVELS; level++) {
        size_t spans = lanes->level_spans ? lanes->level_spans[level] : count;
        struct gt_timeline_row row =
            gt_lane_list_thread_row(making->view->store, making->kind, thread, (uint32_t)level);
        if (spans)
            gt_lane_list_add(making->list, &row, (struct gt_span_row){to + kept, spans}, thread);
        kept += spans;
    }
    if (lanes->levels > GT_HOST_LANES_LEVELS)
        making->list->left_out[making->kind] += lanes->levels - GT_HOST_LANES_LEVELS;
    if (to < making->first[thread])
        memmove(ids + to, ids + making->first[thread], kept * sizeof *ids);
    return kept;
}

static bool make_threads(struct making *making) {
    size_t kept = 0, threads = making->view->store->threads.count;
    making->lanes = gt_mem_array(threads, sizeof *making->lanes);
    if (!making->lanes)
        return false;
    gt_threads_parts(making->threads, threads, make_thread, making);
    for (uint32_t t = 0; t < threads; t++) {
        if (making->lanes[t].levels == SIZE_MAX)
            return false;
        kept += add_lanes(making, t, kept);
    }
    making->set->count = kept;
    return !making->list->failed;
}

static void making_release(struct making *making) {
    for (size_t t = 0; t < making->view->store->threads.count && making->lanes; t++)
        gt_mem_free(making->lanes[t].level_spans);
    gt_mem_free(making->lanes);
    gt_mem_free(making->processes);
    gt_mem_free(making->first);
    gt_mem_free(making->next);
}

bool gt_host_lanes_make(const struct gt_view *view, enum gt_timeline_kind kind, size_t threads, struct gt_lane_set *set,
                        struct gt_lane_list *list) {
    struct making making = {
        .view = view, .kind = kind, .table = table_of(view, kind), .threads = threads, .set = set, .list = list};
    *set = (struct gt_lane_set){
        .start_ns = making.table.start_ns, .end_ns = making.table.end_ns, .name = making.table.name};
    making.processes = gt_view_processes(view);
    bool ok = making.processes && sort_by_thread(&making) && make_threads(&making);
    set->bytes = set->count * sizeof *set->ids;
    making_release(&making);
    return ok;
}
