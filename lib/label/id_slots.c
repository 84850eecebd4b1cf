/* A slot for each id: in come correlation ids, out goes the launch call of every op. Slices of the rows are worked on
   at the same time; which call stays in a slot does not depend on who comes first. */
#include "label/id_slots.h"

#include <string.h>

#include "base/mem.h"
#include "base/threads.h"

/* The ids that ops of a process ask for, from the first on, and their slots. */
struct id_run {
    uint64_t first, count;
    size_t first_slot;
};

struct id_slots {
    struct id_run *runs;             /* by process, the last for GT_NO_TRACK */
    const struct id_run **of_lane;   /* by lane: the run of its ops */
    const struct id_run **of_thread; /* by thread, the last for GT_NO_TRACK: that of its calls */
    _Atomic uint32_t *slots;         /* row of a call + 1, 0 = free */
    size_t slot_count;
    bool is_shared;          /* all processes have one run: no id may be of two of them */
    atomic_bool has_same_id; /* two of them have one nevertheless */
};

static struct id_run *run_of_process(struct id_run *runs, const struct gt_store *store, uint32_t process) {
    return &runs[gt_matcher_process_place(store, process)];
}

static void widen(struct id_run *run, uint64_t first, uint64_t end) {
    uint64_t run_end = run->first + run->count;
    if (run->count == 0 || first < run->first)
        run->first = first;
    else
        first = run->first;
    run->count = (run->count == 0 || end > run_end ? end : run_end) - first;
}

/* The ids of all processes as one run, which each of them has. */
static struct id_run join_runs(struct id_run *runs, size_t run_count) {
    struct id_run all = {0};
    for (size_t i = 0; i < run_count; i++)
        if (runs[i].count)
            widen(&all, runs[i].first, runs[i].first + runs[i].count);
    for (size_t i = 0; i < run_count; i++)
        runs[i] = all;
    return all;
}

/* Lays the runs of processes one after the other; where that takes too many slots, as ids are counted for all processes
   together, over each other. SIZE_MAX: they would still have more slots than open addressing takes. */
static size_t lay_runs(struct id_slots *out, size_t run_count, size_t most) {
    size_t used = 0;
    for (size_t i = 0; i < run_count; i++) {
        out->runs[i].first_slot = used;
        if (out->runs[i].count > most - used) {
            struct id_run all = join_runs(out->runs, run_count);
            out->is_shared = true;
            return all.count <= most ? (size_t)all.count : SIZE_MAX;
        }
        used += (size_t)out->runs[i].count;
    }
    return used;
}

/* Whose runs ops and calls use. false: memory was short. */
static bool assign_runs(const struct gt_matcher *matcher, struct id_slots *ids) {
    const struct gt_store *store = matcher->store;
    size_t lane_count = store->lanes.count, thread_count = store->threads.count;
    ids->of_lane = gt_mem_array(lane_count, sizeof *ids->of_lane);
    ids->of_thread = gt_mem_array(thread_count + 1, sizeof *ids->of_thread);
    if (!ids->runs || !ids->of_lane || !ids->of_thread)
        return false;
    for (size_t i = 0; i < lane_count; i++) {
        uint32_t process = store->lanes.process[i];
        process = process == GT_NO_TRACK ? matcher->only_process : process;
        ids->of_lane[i] = run_of_process(ids->runs, store, process);
    }
    for (size_t i = 0; i <= thread_count; i++)
        ids->of_thread[i] =
            run_of_process(ids->runs, store, i < thread_count ? store->threads.process[i] : GT_NO_TRACK);
    return true;
}

/* What the slices of a pass share. */
struct slot_pass {
    struct gt_matcher *matcher;
    struct id_slots *ids;
    bool is_alone; /* there is one slice */
};

static void find_runs_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct slot_pass *pass = context;
    const struct gt_store *store = pass->matcher->store;
    const struct id_slots *ids = pass->ids;
    struct id_run *runs = ids->runs + slice * (store->processes.count + 1), *run = runs;
    const uint64_t *ids_of_ops = store->ops.correlation;
    const uint32_t *lanes = store->ops.lane;
    uint32_t last_lane = GT_NO_TRACK;
    for (uint32_t op = (uint32_t)begin; op < end; op++) {
        if (lanes[op] != last_lane) { /* ops of a stream mostly come in runs */
            last_lane = lanes[op];
            run = &runs[ids->of_lane[last_lane] - ids->runs];
        }
        uint64_t id = ids_of_ops[op];
        if (id - run->first >= run->count && id != GT_NO_CORRELATION)
            widen(run, id, id + 1);
    }
}

/* Runs by process, the last for GT_NO_TRACK. false: memory was short. */
static bool find_runs(struct gt_matcher *matcher, struct id_slots *out) {
    const struct gt_store *store = matcher->store;
    size_t run_count = store->processes.count + 1;
    size_t slices = gt_threads_slices(matcher->threads, store->ops.count, run_count);
    struct id_run *runs = out->runs = gt_mem_array(slices * run_count, sizeof *runs);
    struct slot_pass pass = {.matcher = matcher, .ids = out};
    if (!assign_runs(matcher, out))
        return false;
    gt_threads_rows(slices, store->ops.count, find_runs_slice, &pass);
    for (size_t i = run_count; i < slices * run_count; i++)
        if (runs[i].count)
            widen(&runs[i % run_count], runs[i].first, runs[i].first + runs[i].count);
    out->slot_count = lay_runs(out, run_count, gt_matcher_slot_count(store));
    return true;
}

/* Fresh pages that are read first would each fault twice. */
static void clear_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct id_slots *ids = context;
    (void)slice;
    memset(&ids->slots[begin], 0, (end - begin) * sizeof *ids->slots);
}

/* Puts a call into a slot, unless a better one is there. false: one of another process is. */
static bool fill_slot(const struct slot_pass *pass, _Atomic uint32_t *slot, uint32_t call) {
    const struct gt_store *store = pass->matcher->store;
    uint32_t seen = atomic_load_explicit(slot, memory_order_relaxed);
    do {
        if (seen && pass->ids->is_shared &&
            gt_labels_call_process(store, seen - 1) != gt_labels_call_process(store, call))
            return false;
        if (seen && !gt_matcher_replaces(&store->calls, call, seen - 1))
            return true;
        if (pass->is_alone) {
            atomic_store_explicit(slot, call + 1, memory_order_relaxed);
            return true;
        }
    } while (!atomic_compare_exchange_weak_explicit(slot, &seen, call + 1, memory_order_relaxed, memory_order_relaxed));
    return true;
}

static void fill_slots_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct slot_pass *pass = context;
    const struct gt_store *store = pass->matcher->store;
    (void)slice;
    const struct id_run *const *of_thread = pass->ids->of_thread;
    const uint32_t *threads = store->calls.thread;
    const uint64_t *ids_of_calls = store->calls.correlation;
    _Atomic uint32_t *slots = pass->ids->slots;
    size_t thread_count = store->threads.count;
    bool is_alone = pass->is_alone;
    for (uint32_t call = (uint32_t)begin; call < end; call++) {
        uint32_t thread = threads[call];
        const struct id_run *run = of_thread[thread < thread_count ? thread : thread_count];
        uint64_t id = ids_of_calls[call], place = id - run->first;
        if (place >= run->count || (id == 0 && !gt_matcher_is_usable(pass->matcher, call))) /* no op asks for it */
            continue;
        _Atomic uint32_t *slot = &slots[run->first_slot + place];
        if (is_alone && !atomic_load_explicit(slot, memory_order_relaxed)) {
            atomic_store_explicit(slot, call + 1, memory_order_relaxed);
            continue;
        }
        if (!fill_slot(pass, slot, call)) {
            pass->ids->has_same_id = true;
            return;
        }
    }
}

static void match_slots_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct slot_pass *pass = context;
    const struct id_slots *ids = pass->ids;
    const struct gt_store *store = pass->matcher->store;
    const struct id_run *const *of_lane = ids->of_lane;
    const uint32_t *lanes = store->ops.lane;
    const uint64_t *correlation = store->ops.correlation;
    const _Atomic uint32_t *slots = ids->slots;
    const int64_t *call_start_ns = store->calls.start_ns, *op_end_ns = store->ops.end_ns;
    uint32_t *op_call = pass->matcher->op_call;
    bool is_shared = ids->is_shared;
    uint64_t without_call = 0;
    (void)slice;
    for (uint32_t op = (uint32_t)begin; op < end; op++) {
        const struct id_run *run = of_lane[lanes[op]];
        uint64_t place = correlation[op] - run->first;
        uint32_t slot =
            place < run->count ? atomic_load_explicit(&slots[run->first_slot + place], memory_order_relaxed) : 0;
        if (slot && is_shared &&
            gt_labels_call_process(store, slot - 1) != gt_matcher_likely_process(pass->matcher, op))
            slot = 0;
        /* As gt_matcher_call_in_slot has it: no row is one before slot 0. */
        op_call[op] = slot && call_start_ns[slot - 1] <= op_end_ns[op] ? slot - 1 : GT_NO_ROW;
        without_call += op_call[op] == GT_NO_ROW;
    }
    atomic_fetch_add(&pass->matcher->without_call, without_call);
}

static void match_by_slots(struct gt_matcher *matcher, struct id_slots *ids) {
    const struct gt_store *store = matcher->store;
    struct slot_pass pass = {.matcher = matcher, .ids = ids};
    gt_threads_rows(gt_threads_slices(matcher->threads, ids->slot_count, 0), ids->slot_count, clear_slice, ids);
    size_t slices = gt_threads_slices(matcher->threads, store->calls.count, 0);
    pass.is_alone = slices == 1;
    gt_threads_rows(slices, store->calls.count, fill_slots_slice, &pass);
    if (!ids->has_same_id)
        gt_threads_rows(gt_threads_slices(matcher->threads, store->ops.count, 0), store->ops.count, match_slots_slice,
                        &pass);
}

bool gt_id_slots_match(struct gt_matcher *matcher, bool *is_matched) {
    struct id_slots ids = {0};
    bool ok = find_runs(matcher, &ids);
    *is_matched = false;
    if (ok && ids.slot_count < SIZE_MAX) {
        ids.slots = gt_mem_uninitialised(ids.slot_count, sizeof *ids.slots);
        ok = ids.slots;
    }
    if (ids.slots) {
        match_by_slots(matcher, &ids);
        *is_matched = !ids.has_same_id;
    }
    gt_mem_free(ids.slots);
    gt_mem_free(ids.runs);
    gt_mem_free(ids.of_lane);
    gt_mem_free(ids.of_thread);
    return ok;
}
