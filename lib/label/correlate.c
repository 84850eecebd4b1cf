/* Launch calls of ops: in come correlation ids, out goes labels->op_call. An id is unique only inside a process, so ops
   and calls meet on (process, id); graph nodes carry the id of their graph launch. Where the ids that ops ask for lie
   close together, as CUPTI counts them, each has its own slot; elsewhere a hash table finds them. */
#include <string.h>

#include "base/mem.h"
#include "label/label.h"

/* Ids that share all but these low bits lie side by side in the index: CUPTI counts up, so neighbours are asked for one
   after the other. */
#define RUN_BITS 6

/* So many rows ahead the index is fetched into the cache: it is larger than the cache for a million calls. */
#define AHEAD 16

/* The ids that ops of a process ask for, from the first on, and their slots. */
struct id_run {
    uint64_t first, count;
    size_t first_slot;
};

struct id_slots {
    struct id_run *runs; /* by process, the last for GT_NO_TRACK */
    uint32_t *slots;     /* row of a call + 1, 0 = free */
    size_t slot_count;
    bool is_shared; /* all processes have one run: no id may be of two of them */
};

/* Open addressing over rows of calls. The keys stay in the store's columns, so a slot takes four bytes. */
struct call_index {
    const struct gt_store *store;
    bool any_process; /* the key is the id alone, and `several` says which ids more than one process has */
    uint32_t *slots;  /* row + 1, 0 = free */
    uint8_t *several; /* by slot; only with any_process */
    size_t slot_count;
};

/* What the ops of a device say about whose device it is: the majority candidate and how many agree. */
struct device_vote {
    uint32_t process;
    uint64_t lead, support, total;
};

struct matcher {
    const struct gt_store *store;
    struct gt_labels *labels;
    uint32_t only_process; /* all calls are of this one, unless has_several */
    bool has_several;
    struct call_index by_process, by_id;
    uint8_t *zero_calls;       /* by process, the last for GT_NO_TRACK: calls with id 0, counted up to 2 */
    struct device_vote *votes; /* by device */
};

static uint64_t hash_pair(uint64_t a, uint64_t b) {
    uint64_t hash = (a + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u ^ b;
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ hash >> 27) * 0x94d049bb133111ebu;
    return hash ^ hash >> 31;
}

/* Half full at most. */
static size_t index_slot_count(const struct gt_store *store) {
    size_t slot_count = (size_t)1 << RUN_BITS;
    while (slot_count / 2 < store->calls.count)
        slot_count *= 2;
    return slot_count;
}

static bool index_init(struct call_index *index, const struct gt_store *store, bool any_process) {
    size_t slot_count = index_slot_count(store);
    *index = (struct call_index){.store = store, .any_process = any_process, .slot_count = slot_count};
    index->slots = gt_mem_pages_alloc(slot_count * sizeof *index->slots);
    if (any_process)
        index->several = gt_mem_pages_alloc(slot_count * sizeof *index->several);
    return index->slots && (!any_process || index->several);
}

static void index_release(struct call_index *index) {
    gt_mem_pages_free(index->slots, index->slot_count * sizeof *index->slots);
    gt_mem_pages_free(index->several, index->slot_count * sizeof *index->several);
}

static size_t by_process_or_none(const struct gt_store *store, uint32_t process) {
    return process == GT_NO_TRACK ? store->processes.count : process;
}

/* Where to look first. */
static size_t index_home(const struct call_index *index, uint32_t process, uint64_t id) {
    uint64_t run = hash_pair(index->any_process ? 0 : process, id >> RUN_BITS) << RUN_BITS;
    return (size_t)(run | (id & ((1u << RUN_BITS) - 1))) & (index->slot_count - 1);
}

/* The slot where the key is, or belongs. */
static size_t index_slot(const struct call_index *index, uint32_t process, uint64_t id) {
    size_t slot = index_home(index, process, id);
    for (; index->slots[slot]; slot = (slot + 1) & (index->slot_count - 1)) {
        uint32_t call = index->slots[slot] - 1;
        if (index->store->calls.correlation[call] == id &&
            (index->any_process || gt_labels_call_process(index->store, call) == process))
            break;
    }
    return slot;
}

/* Of calls that share the key the earliest stays, then the longest, then the first row. */
static bool replaces(const struct gt_calls *calls, uint32_t call, uint32_t other) {
    if (calls->start_ns[call] != calls->start_ns[other])
        return calls->start_ns[call] < calls->start_ns[other];
    return calls->end_ns[call] > calls->end_ns[other];
}

static void index_add(struct call_index *index, uint32_t call) {
    const struct gt_calls *calls = &index->store->calls;
    uint32_t process = gt_labels_call_process(index->store, call);
    size_t slot = index_slot(index, process, calls->correlation[call]);
    if (index->slots[slot] == 0) {
        index->slots[slot] = call + 1;
        return;
    }
    uint32_t other = index->slots[slot] - 1;
    if (index->any_process && gt_labels_call_process(index->store, other) != process)
        index->several[slot] = 1;
    if (replaces(calls, call, other))
        index->slots[slot] = call + 1;
}

/* The call in a slot, unless it began after the op had ended and so cannot have launched it. */
static uint32_t call_in_slot(const struct gt_store *store, uint32_t slot, uint32_t op) {
    return slot && store->calls.start_ns[slot - 1] <= store->ops.end_ns[op] ? slot - 1 : GT_NO_ROW;
}

static uint32_t index_find(const struct call_index *index, uint32_t process, uint32_t op) {
    const struct gt_store *store = index->store;
    return call_in_slot(store, index->slots[index_slot(index, process, store->ops.correlation[op])], op);
}

static uint8_t *zero_calls_of(const struct matcher *matcher, uint32_t process) {
    return &matcher->zero_calls[by_process_or_none(matcher->store, process)];
}

/* 0 is an ordinary id where one call of the process has it; where several have, it means that there is none. */
static bool is_usable(const struct matcher *matcher, uint32_t call) {
    uint64_t id = matcher->store->calls.correlation[call];
    return id != GT_NO_CORRELATION &&
           (id != 0 || *zero_calls_of(matcher, gt_labels_call_process(matcher->store, call)) < 2);
}

static bool needs_process(const struct matcher *matcher, uint32_t op) {
    return matcher->has_several && matcher->store->lanes.process[matcher->store->ops.lane[op]] == GT_NO_TRACK;
}

/* The process of an op, where that takes no finding out. */
static uint32_t likely_process(const struct matcher *matcher, uint32_t op) {
    uint32_t process = matcher->store->lanes.process[matcher->store->ops.lane[op]];
    return process == GT_NO_TRACK ? matcher->only_process : process;
}

/* Which processes launch, and the calls that say nothing. True if there is an op whose process must be found out. */
static bool survey_calls(struct matcher *matcher) {
    const struct gt_store *store = matcher->store;
    bool is_first = true;
    for (uint32_t call = 0; call < store->calls.count; call++) {
        uint32_t process = gt_labels_call_process(store, call);
        uint64_t id = store->calls.correlation[call];
        if (id == 0 && *zero_calls_of(matcher, process) < 2)
            ++*zero_calls_of(matcher, process);
        if (id == GT_NO_CORRELATION)
            continue;
        matcher->has_several |= !is_first && process != matcher->only_process;
        matcher->only_process = process;
        is_first = false;
    }
    for (uint32_t lane = 0; lane < store->lanes.count; lane++)
        if (matcher->has_several && store->lanes.process[lane] == GT_NO_TRACK)
            return true;
    return false;
}

/* ---- a slot for each id ---- */

static struct id_run *run_of_process(struct id_run *runs, const struct gt_store *store, uint32_t process) {
    return &runs[by_process_or_none(store, process)];
}

/* The ids of all processes as one run, which each of them has. */
static struct id_run join_runs(struct id_run *runs, size_t run_count) {
    struct id_run all = {0};
    for (size_t i = 0; i < run_count; i++) {
        if (runs[i].count == 0)
            continue;
        uint64_t end = runs[i].first + runs[i].count, all_end = all.first + all.count;
        uint64_t first = all.count == 0 || runs[i].first < all.first ? runs[i].first : all.first;
        all.count = (all.count == 0 || end > all_end ? end : all_end) - first;
        all.first = first;
    }
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

/* Runs by process, the last for GT_NO_TRACK. false: memory was short. */
static bool find_runs(const struct matcher *matcher, struct id_slots *out) {
    const struct gt_store *store = matcher->store;
    size_t run_count = store->processes.count + 1;
    struct id_run *runs = out->runs = gt_mem_array(run_count, sizeof *runs);
    for (uint32_t op = 0; op < store->ops.count && runs; op++) {
        uint64_t id = store->ops.correlation[op];
        struct id_run *run = run_of_process(runs, store, likely_process(matcher, op));
        if (id - run->first < run->count || id == GT_NO_CORRELATION)
            continue;
        uint64_t end = run->first + run->count;
        uint64_t first = run->count == 0 || id < run->first ? id : run->first;
        run->count = (run->count == 0 || id >= end ? id + 1 : end) - first;
        run->first = first;
    }
    out->slot_count = runs ? lay_runs(out, run_count, index_slot_count(store)) : SIZE_MAX;
    return runs;
}

/* false: two processes have the same id, and their slots are shared. */
static bool fill_slots(const struct matcher *matcher, struct id_slots *ids) {
    const struct gt_store *store = matcher->store;
    const struct gt_calls *calls = &store->calls;
    for (uint32_t call = 0; call < calls->count; call++) {
        uint32_t process = gt_labels_call_process(store, call);
        const struct id_run *run = run_of_process(ids->runs, store, process);
        uint64_t place = calls->correlation[call] - run->first;
        if (place >= run->count || !is_usable(matcher, call)) /* no op asks for it */
            continue;
        uint32_t *slot = &ids->slots[run->first_slot + place];
        if (*slot && ids->is_shared && gt_labels_call_process(store, *slot - 1) != process)
            return false;
        if (*slot == 0 || replaces(calls, call, *slot - 1))
            *slot = call + 1;
    }
    return true;
}

static void match_by_slots(struct matcher *matcher, const struct id_slots *ids) {
    const struct gt_store *store = matcher->store;
    for (uint32_t op = 0; op < store->ops.count; op++) {
        uint32_t process = likely_process(matcher, op);
        const struct id_run *run = run_of_process(ids->runs, store, process);
        uint64_t place = store->ops.correlation[op] - run->first;
        uint32_t slot = place < run->count ? ids->slots[run->first_slot + place] : 0;
        if (slot && ids->is_shared && gt_labels_call_process(store, slot - 1) != process)
            slot = 0;
        matcher->labels->op_call[op] = call_in_slot(store, slot, op);
    }
}

/* false: memory was short. *is_matched: whether the ids lie close enough together. */
static bool try_slots(struct matcher *matcher, bool *is_matched) {
    struct id_slots ids = {0};
    bool ok = find_runs(matcher, &ids);
    *is_matched = false;
    if (ok && ids.slot_count < SIZE_MAX) {
        ids.slots = gt_mem_uninitialised(ids.slot_count, sizeof *ids.slots);
        ok = ids.slots;
    }
    if (ids.slots) {
        memset(ids.slots, 0, ids.slot_count * sizeof *ids.slots); /* fresh pages read first would each fault twice */
        *is_matched = fill_slots(matcher, &ids);
        if (*is_matched)
            match_by_slots(matcher, &ids);
    }
    gt_mem_free(ids.slots);
    gt_mem_free(ids.runs);
    return ok;
}

/* ---- hash tables ---- */

static bool build_indices(struct matcher *matcher, bool needs_ids) {
    const struct gt_store *store = matcher->store;
    if (!index_init(&matcher->by_process, store, false) || (needs_ids && !index_init(&matcher->by_id, store, true)))
        return false;
    for (uint32_t call = 0; call < store->calls.count; call++) {
        uint32_t ahead = call + AHEAD < store->calls.count ? call + AHEAD : call;
        __builtin_prefetch(&matcher->by_process.slots[index_home(
            &matcher->by_process, gt_labels_call_process(store, ahead), store->calls.correlation[ahead])]);
        if (!is_usable(matcher, call))
            continue;
        index_add(&matcher->by_process, call);
        if (needs_ids)
            index_add(&matcher->by_id, call);
    }
    return true;
}

static bool is_ambiguous(const struct matcher *matcher, uint32_t op) {
    return needs_process(matcher, op) &&
           matcher->by_id.several[index_slot(&matcher->by_id, GT_NO_TRACK, matcher->store->ops.correlation[op])];
}

/* Everything that does not depend on what other ops say. Returns how many ops are left for later. */
static size_t match_plain(struct matcher *matcher) {
    const struct gt_store *store = matcher->store;
    size_t ambiguous = 0;
    for (uint32_t op = 0; op < store->ops.count; op++) {
        uint32_t ahead = op + AHEAD < store->ops.count ? op + AHEAD : op;
        __builtin_prefetch(&matcher->by_process.slots[index_home(&matcher->by_process, likely_process(matcher, ahead),
                                                                 store->ops.correlation[ahead])]);
        uint32_t call = GT_NO_ROW;
        if (store->ops.correlation[op] == GT_NO_CORRELATION)
            call = GT_NO_ROW;
        else if (is_ambiguous(matcher, op))
            ambiguous++;
        else if (needs_process(matcher, op))
            call = index_find(&matcher->by_id, GT_NO_TRACK, op);
        else
            call = index_find(&matcher->by_process, likely_process(matcher, op), op);
        matcher->labels->op_call[op] = call;
    }
    return ambiguous;
}

/* The process that launched more than half of a device's ops, by those whose launch is certain: a candidate that
   outlasts all others in the first pass, then a count. */
static void vote(struct matcher *matcher) {
    const struct gt_store *store = matcher->store;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t op = 0; op < store->ops.count; op++) {
            uint32_t call = matcher->labels->op_call[op];
            if (call == GT_NO_ROW || !needs_process(matcher, op))
                continue;
            struct device_vote *device = &matcher->votes[store->lanes.device[store->ops.lane[op]]];
            uint32_t process = gt_labels_call_process(store, call);
            if (pass == 1) {
                device->total++;
                device->support += process == device->process;
            } else if (device->lead == 0) {
                device->process = process;
                device->lead = 1;
            } else {
                device->lead = process == device->process ? device->lead + 1 : device->lead - 1;
            }
        }
}

static void match_by_device(struct matcher *matcher) {
    const struct gt_store *store = matcher->store;
    for (uint32_t op = 0; op < store->ops.count; op++) {
        if (store->ops.correlation[op] == GT_NO_CORRELATION || !is_ambiguous(matcher, op))
            continue;
        const struct device_vote *device = &matcher->votes[store->lanes.device[store->ops.lane[op]]];
        uint32_t call = GT_NO_ROW;
        if (device->support > device->total / 2)
            call = index_find(&matcher->by_process, device->process, op);
        matcher->labels->op_call[op] = call;
        matcher->labels->issues[GT_ISSUE_LAUNCH_AMBIGUOUS] += call == GT_NO_ROW;
    }
}

/* false: memory was short. */
static bool match_by_index(struct matcher *matcher, bool needs_ids) {
    matcher->votes = gt_mem_array(matcher->store->devices.count, sizeof *matcher->votes);
    if (!matcher->votes || !build_indices(matcher, needs_ids))
        return false;
    if (match_plain(matcher)) {
        vote(matcher);
        match_by_device(matcher);
    }
    return true;
}

static enum gt_status match_launches(const struct gt_store *store, struct gt_labels *labels,
                                     struct gt_label_scratch *scratch, struct gt_error *err) {
    (void)scratch;
    struct matcher matcher = {.store = store, .labels = labels, .only_process = GT_NO_TRACK};
    bool is_matched = false;
    labels->op_call = gt_arena_array(&labels->arenas[GT_PASS_CORRELATE], store->ops.count, sizeof *labels->op_call);
    matcher.zero_calls = gt_mem_array(store->processes.count + 1, sizeof *matcher.zero_calls);
    bool ok = labels->op_call && matcher.zero_calls;
    bool needs_ids = ok && survey_calls(&matcher);
    if (ok && store->calls.count == 0) {
        gt_label_no_rows(labels->op_call, store->ops.count);
        is_matched = true;
    } else if (ok && !needs_ids)
        ok = try_slots(&matcher, &is_matched);
    if (ok && !is_matched)
        ok = match_by_index(&matcher, needs_ids);
    /* A trace without any call lacks the fact; that is reported elsewhere. */
    for (size_t op = 0; ok && op < store->ops.count && store->calls.count; op++)
        labels->issues[GT_ISSUE_OP_WITHOUT_CALL] += labels->op_call[op] == GT_NO_ROW;
    labels->issues[GT_ISSUE_OP_WITHOUT_CALL] -= labels->issues[GT_ISSUE_LAUNCH_AMBIGUOUS];
    index_release(&matcher.by_process);
    index_release(&matcher.by_id);
    gt_mem_free(matcher.zero_calls);
    gt_mem_free(matcher.votes);
    return ok ? GT_OK : gt_fail_memory(err);
}

const struct gt_label_pass gt_label_pass_correlate = {"correlate", "launch calls of ops", GT_LABEL_FIRST,
                                                      match_launches};
