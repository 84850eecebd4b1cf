/* What threads did: in come the events of threads with node calls, out go their boundaries and marks. A boundary is the
   start or the end of any event of the thread. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/radix.h"
#include "graph/dag_build.h"

/* ---- events of all kinds alike ---- */

struct events {
    size_t count;
    const int64_t *start_ns, *end_ns;
    const uint32_t *thread;
    const uint8_t *range_kind; /* of ranges; else NULL */
    const uint32_t *end_thread;
};
enum { EVENT_TABLES = 4 };

static void list_events(const struct gt_store *store, struct events events[EVENT_TABLES]) {
    events[0] = (struct events){
        store->calls.count, store->calls.start_ns, store->calls.end_ns, store->calls.thread, NULL, NULL};
    events[1] = (struct events){
        store->cpu_ops.count, store->cpu_ops.start_ns, store->cpu_ops.end_ns, store->cpu_ops.thread, NULL, NULL};
    events[2] = (struct events){store->ranges.count,  store->ranges.start_ns, store->ranges.end_ns,
                                store->ranges.thread, store->ranges.kind,     store->ranges.end_thread};
    events[3] = (struct events){store->python_calls.count,
                                store->python_calls.start_ns,
                                store->python_calls.end_ns,
                                store->python_calls.thread,
                                NULL,
                                NULL};
}

/* The thread (index into threads) whose boundaries an event makes; GT_DAG_NONE. */
static uint32_t thread_of(const struct gt_dag_build *build, const struct events *events, size_t i) {
    uint32_t thread = events->thread[i];
    if (thread >= build->store->threads.count)
        return GT_DAG_NONE;
    if (events->range_kind && (events->range_kind[i] != GT_RANGE_NESTED || events->end_thread[i] != GT_NO_TRACK))
        return GT_DAG_NONE;
    return build->thread_index[thread];
}

/* ---- boundaries ---- */

/* Only threads that share their process with another one can hand work over. */
static bool *find_companions(struct gt_dag_build *build) {
    size_t slots = build->store->processes.count + 1;
    size_t *threads = gt_dag_build_array(build, slots, sizeof *threads);
    bool *has_others = gt_dag_build_array(build, build->thread_count, sizeof *has_others);
    if (build->failed)
        return NULL;
    for (size_t i = 0; i < build->thread_count; i++)
        threads[gt_dag_build_process_slot(build, build->threads[i].process)]++;
    for (size_t i = 0; i < build->thread_count; i++)
        has_others[i] = threads[gt_dag_build_process_slot(build, build->threads[i].process)] > 1;
    return has_others;
}

static void note_event(struct gt_dag_thread *thread, int64_t start_ns) {
    if (start_ns < thread->began_ns)
        thread->began_ns = start_ns;
}

/* Items of a thread, sorted by time: even values open an event, odd ones close it. Returns how many distinct times. */
static size_t merge(struct gt_dag_build *build, const struct gt_radix_item *items, size_t count, size_t first) {
    size_t kept = 0;
    int64_t depth = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t time_ns = (int64_t)(items[i].key ^ (uint64_t)1 << 63);
        if (!kept || build->boundary_ns[first + kept - 1] != time_ns)
            build->boundary_ns[first + kept++] = time_ns;
        depth += items[i].value ? -1 : 1;
        build->boundary_depth[first + kept - 1] = depth > 0 ? (uint32_t)depth : 0;
    }
    return kept;
}

static bool sort_boundaries(struct gt_dag_build *build, struct gt_radix_item *items) {
    bool ok = true;
    for (size_t i = 0; i < build->thread_count && ok; i++) {
        struct gt_dag_thread *thread = &build->threads[i];
        struct gt_radix_item *own = items + thread->first_boundary;
        ok = gt_radix_sort(own, thread->boundary_count);
        thread->boundary_count = merge(build, own, thread->boundary_count, thread->first_boundary);
    }
    return ok;
}

static void count_boundaries(struct gt_dag_build *build, const struct events events[EVENT_TABLES],
                             const bool *has_others) {
    for (size_t t = 0; t < EVENT_TABLES; t++)
        for (size_t i = 0; i < events[t].count; i++) {
            uint32_t thread = thread_of(build, &events[t], i);
            if (thread == GT_DAG_NONE)
                continue;
            note_event(&build->threads[thread], events[t].start_ns[i]);
            build->threads[thread].boundary_count += has_others[thread] ? 2 : 0;
        }
}

static void fill_boundaries(struct gt_dag_build *build, const struct events events[EVENT_TABLES],
                            const bool *has_others, struct gt_radix_item *items) {
    for (size_t t = 0; t < EVENT_TABLES; t++)
        for (size_t i = 0; i < events[t].count; i++) {
            uint32_t thread = thread_of(build, &events[t], i);
            if (thread == GT_DAG_NONE || !has_others[thread])
                continue;
            struct gt_dag_thread *own = &build->threads[thread];
            int64_t start_ns = events[t].start_ns[i], end_ns = events[t].end_ns[i];
            end_ns = end_ns > start_ns ? end_ns : start_ns;
            struct gt_radix_item *at = items + own->first_boundary + own->boundary_count;
            at[0] = (struct gt_radix_item){gt_radix_key(start_ns), 0};
            at[1] = (struct gt_radix_item){gt_radix_key(end_ns), 1};
            own->boundary_count += 2;
        }
}

static bool find_boundaries(struct gt_dag_build *build, const bool *has_others) {
    struct events events[EVENT_TABLES];
    size_t total = 0;
    list_events(build->store, events);
    for (size_t i = 0; i < build->thread_count; i++)
        build->threads[i].began_ns = INT64_MAX;
    count_boundaries(build, events, has_others);
    for (size_t i = 0; i < build->thread_count; i++) {
        build->threads[i].first_boundary = total;
        total += build->threads[i].boundary_count;
        build->threads[i].boundary_count = 0;
    }
    struct gt_radix_item *items = gt_mem_uninitialised(total ? total : 1, sizeof *items);
    build->boundary_ns = gt_dag_build_array(build, total, sizeof *build->boundary_ns);
    build->boundary_depth = gt_dag_build_array(build, total, sizeof *build->boundary_depth);
    build->failed |= !items;
    if (!build->failed) {
        fill_boundaries(build, events, has_others, items);
        build->failed |= !sort_boundaries(build, items);
    }
    gt_mem_free(items);
    return !build->failed;
}

size_t gt_dag_build_boundaries_before(const struct gt_dag_build *build, const struct gt_dag_thread *thread,
                                      int64_t time_ns) {
    const int64_t *times = build->boundary_ns + thread->first_boundary;
    size_t low = 0, high = thread->boundary_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (times[middle] < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- marks ---- */

size_t gt_dag_build_calls_before(const struct gt_dag_build *build, const struct gt_dag_thread *thread,
                                 int64_t time_ns) {
    size_t low = thread->first_call, high = thread->first_call + thread->call_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (build->calls[middle].start_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t gt_dag_build_mark(struct gt_dag_build *build, uint32_t index, int64_t time_ns) {
    const struct gt_dag_thread *thread = &build->threads[index];
    size_t next = gt_dag_build_calls_before(build, thread, time_ns);
    if (next > thread->first_call && build->calls[next - 1].end_ns > time_ns)
        time_ns = build->calls[next - 1].end_ns;
    uint32_t known = gt_map_put_if_new(&build->mark_map, index, (uint64_t)time_ns, (uint32_t)build->mark_count);
    struct gt_dag_mark *room =
        gt_mem_room(build->marks, build->mark_count, &build->mark_capacity, sizeof *build->marks);
    build->failed |= !room || build->mark_map.failed;
    build->marks = room ? room : build->marks;
    if (!build->failed && known == build->mark_count)
        build->marks[build->mark_count++] = (struct gt_dag_mark){.thread = index, .time_ns = time_ns};
    return known;
}

static bool count_launches(struct gt_dag_build *build) {
    if (build->thread_count < 2) /* nobody to hand work over to */
        return true;
    build->launches_before = gt_dag_build_array(build, build->call_count + 1, sizeof *build->launches_before);
    for (size_t i = 0; i < build->call_count && !build->failed; i++)
        build->launches_before[i + 1] = build->launches_before[i] + (build->calls[i].op_count != 0);
    return !build->failed;
}

bool gt_dag_build_threads(struct gt_dag_build *build) {
    const bool *has_others = find_companions(build);
    if (!has_others || !find_boundaries(build, has_others) || !count_launches(build))
        return false;
    for (uint32_t i = 0; i < build->thread_count && !build->failed; i++)
        build->threads[i].first_mark = gt_dag_build_mark(build, i, build->threads[i].began_ns);
    return !build->failed;
}
