/* Work that goes from one thread to another and back: in come the boundaries of threads, out go marks and the edges
   between them. A thread falls silent, another one of its process works meanwhile and is done when the first goes on:
   backward() on the autograd thread, pools of threads. */
#include <stdlib.h>

#include "base/mem.h"
#include "graph/dag_build.h"

struct handover {
    uint32_t from, to;        /* threads */
    int64_t silent_ns, on_ns; /* the silence of the first */
    int64_t begin_ns, end_ns; /* the work of the other */
};

struct search {
    struct gt_dag_build *build;
    struct handover *found;
    size_t count, capacity;
    uint32_t *by_process; /* threads (index) by process */
    size_t *process_first;
};

static bool group_threads(struct search *search) {
    struct gt_dag_build *build = search->build;
    size_t slots = build->store->processes.count + 1;
    uint32_t *slot = gt_dag_build_array(build, build->thread_count, sizeof *slot);
    search->by_process = gt_dag_build_array(build, build->thread_count, sizeof *search->by_process);
    search->process_first = gt_dag_build_array(build, slots + 1, sizeof *search->process_first);
    if (build->failed)
        return false;
    for (uint32_t i = 0; i < build->thread_count; i++) {
        slot[i] = (uint32_t)gt_dag_build_process_slot(build, build->threads[i].process);
        search->by_process[i] = i;
        search->process_first[slot[i] + 1]++;
    }
    for (size_t i = 0; i < slots; i++)
        search->process_first[i + 1] += search->process_first[i];
    return gt_dag_build_group(build, search->by_process, build->thread_count, slot, slots);
}

/* Where two threads are as good as each other, the one with the smaller number: threads are known in the order of the
   file, which says nothing. */
static bool comes_first(const struct gt_dag_build *build, uint32_t one, uint32_t other) {
    const struct gt_threads *threads = &build->store->threads;
    int64_t a = threads->tid[build->threads[one].thread], b = threads->tid[build->threads[other].thread];
    return a != b ? a < b : one < other;
}

/* ---- silences ---- */

static size_t launches_between(const struct gt_dag_build *build, const struct gt_dag_thread *thread, int64_t from_ns,
                               int64_t to_ns) {
    return build->launches_before[gt_dag_build_calls_before(build, thread, to_ns)] -
           build->launches_before[gt_dag_build_calls_before(build, thread, from_ns)];
}

static bool is_inside_event(const struct gt_dag_build *build, const struct gt_dag_thread *thread, int64_t time_ns) {
    size_t before = gt_dag_build_boundaries_before(build, thread, gt_ns_add(time_ns, 1));
    return before && build->boundary_depth[thread->first_boundary + before - 1];
}

/* Whether the thread worked for the silent one; fills in its work. */
static bool worked(const struct search *search, uint32_t other, struct handover *silence) {
    const struct gt_dag_build *build = search->build;
    const struct gt_dag_thread *thread = &build->threads[other];
    const int64_t *times = build->boundary_ns + thread->first_boundary;
    int64_t from_ns = silence->silent_ns, to_ns = silence->on_ns;
    if (is_inside_event(build, thread, gt_ns_add(from_ns, -1)) || is_inside_event(build, thread, to_ns))
        return false;
    size_t first = gt_dag_build_boundaries_before(build, thread, from_ns);
    size_t after = gt_dag_build_boundaries_before(build, thread, gt_ns_add(to_ns, 1));
    if (first >= after)
        return false;
    silence->to = other;
    silence->begin_ns = times[first];
    silence->end_ns = times[after - 1];
    return gt_ns_between(silence->begin_ns, silence->end_ns) >=
           gt_ns_between(from_ns, to_ns) / 2 + gt_ns_between(from_ns, to_ns) % 2;
}

static void answer(struct search *search, uint32_t silent, int64_t from_ns, int64_t to_ns) {
    struct gt_dag_build *build = search->build;
    size_t slot = gt_dag_build_process_slot(build, build->threads[silent].process);
    size_t first = search->process_first[slot], last = search->process_first[slot + 1], best_launches = 0;
    struct handover best = {.to = GT_DAG_NONE};
    if (!gt_dag_build_work(build, last - first))
        return;
    for (size_t i = first; i < last; i++) {
        uint32_t other = search->by_process[i];
        size_t launches = other == silent ? 0 : launches_between(build, &build->threads[other], from_ns, to_ns);
        struct handover candidate = {.from = silent, .silent_ns = from_ns, .on_ns = to_ns};
        bool is_as_good = launches && launches == best_launches && comes_first(build, other, best.to);
        if ((launches <= best_launches && !is_as_good) || !worked(search, other, &candidate))
            continue;
        best = candidate;
        best_launches = launches;
    }
    if (best.to == GT_DAG_NONE)
        return;
    struct handover *room = gt_mem_room(search->found, search->count, &search->capacity, sizeof *room);
    build->failed |= !room;
    if (!room)
        return;
    search->found = room;
    search->found[search->count++] = best;
}

static void find_silences(struct search *search) {
    const struct gt_dag_build *build = search->build;
    for (uint32_t t = 0; t < build->thread_count && !build->failed; t++) {
        const struct gt_dag_thread *thread = &build->threads[t];
        const int64_t *times = build->boundary_ns + thread->first_boundary;
        for (size_t i = 1; i < thread->boundary_count && !build->failed; i++)
            if (gt_ns_between(times[i - 1], times[i]) >= GT_DAG_SILENT_NS)
                answer(search, t, times[i - 1], times[i]);
    }
}

/* ---- edges ---- */

/* By work, the shortest silence first. */
static int by_work(const void *a, const void *b) {
    const struct handover *x = a, *y = b;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    int64_t x_ns = gt_ns_between(x->silent_ns, x->on_ns), y_ns = gt_ns_between(y->silent_ns, y->on_ns);
    if (x_ns != y_ns)
        return x_ns < y_ns ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

static void add_handover(struct gt_dag_build *build, uint32_t from_thread, int64_t from_ns, uint32_t to_thread,
                         int64_t to_ns) {
    uint32_t from = gt_dag_build_mark(build, from_thread, from_ns), to = gt_dag_build_mark(build, to_thread, to_ns);
    if (build->failed)
        return;
    int64_t cpu_ns = gt_ns_between(build->marks[from].time_ns, build->marks[to].time_ns);
    if (cpu_ns < 0) {
        build->dag->contradicting_count++;
        return;
    }
    build->marks[to].is_awaited = true;
    gt_dag_build_edge(build, &(struct gt_dag_raw_edge){.from = gt_dag_build_mark_id(build, from),
                                                       .to = gt_dag_build_mark_id(build, to),
                                                       .cpu_ns = cpu_ns,
                                                       .kind = GT_DAG_HANDOVER,
                                                       .flags = GT_DAG_INFERRED});
}

static void add_handovers(struct search *search) {
    struct gt_dag_build *build = search->build;
    if (search->count)
        qsort(search->found, search->count, sizeof *search->found, by_work);
    for (size_t i = 0; i < search->count; i++) {
        const struct handover *found = &search->found[i];
        if (i && found[-1].to == found->to && found[-1].begin_ns == found->begin_ns)
            continue;
        add_handover(build, found->from, found->silent_ns, found->to, found->begin_ns);
        add_handover(build, found->to, found->end_ns, found->from, found->on_ns);
    }
}

/* A thread that nobody handed anything to, began with what another one did last. */
static void add_spawn(struct search *search, uint32_t index) {
    struct gt_dag_build *build = search->build;
    const struct gt_dag_thread *thread = &build->threads[index];
    size_t slot = gt_dag_build_process_slot(build, thread->process);
    size_t first = search->process_first[slot], last = search->process_first[slot + 1];
    uint32_t parent = GT_DAG_NONE;
    int64_t latest_ns = INT64_MIN;
    if (last - first < 2 || build->marks[thread->first_mark].is_awaited || !gt_dag_build_work(build, last - first))
        return;
    for (size_t i = first; i < last; i++) {
        const struct gt_dag_thread *other = &build->threads[search->by_process[i]];
        if (other->began_ns >= thread->began_ns)
            continue;
        size_t before = gt_dag_build_boundaries_before(build, other, thread->began_ns);
        int64_t time_ns = build->boundary_ns[other->first_boundary + before - 1];
        if (parent == GT_DAG_NONE || time_ns > latest_ns ||
            (time_ns == latest_ns && comes_first(build, search->by_process[i], parent))) {
            parent = search->by_process[i];
            latest_ns = time_ns;
        }
    }
    if (parent != GT_DAG_NONE)
        add_handover(build, parent, latest_ns, index, thread->began_ns);
}

bool gt_dag_build_handovers(struct gt_dag_build *build) {
    struct search search = {.build = build};
    if (build->thread_count < 2)
        return true;
    build->failed |= !group_threads(&search);
    if (!build->failed)
        find_silences(&search);
    if (!build->failed)
        add_handovers(&search);
    for (uint32_t i = 0; i < build->thread_count && !build->failed; i++)
        add_spawn(&search, i);
    gt_mem_free(search.found);
    return !build->failed;
}
