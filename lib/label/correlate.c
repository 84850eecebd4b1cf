/* Launch calls of ops: in come correlation ids, out goes labels->op_call. An id is unique only inside a process, so ops
   and calls meet on (process, id); graph nodes carry the id of their graph launch. Where ids grow from call to call,
   the calls themselves are searched; where the ids that ops ask for lie close together, as CUPTI counts them, each has
   its own slot; elsewhere a hash table finds them. */
#include "base/ahead.h"
#include "base/mem.h"
#include "base/threads.h"
#include "label/id_order.h"
#include "label/id_slots.h"
#include "label/label.h"

/* Ids that share all but these low bits lie side by side in the index: CUPTI counts up, so neighbours are asked for one
   after the other. */
#define RUN_BITS 6

/* So many rows ahead the index is fetched into the cache: it is larger than the cache for a million calls. */
#define AHEAD 16

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

/* The tables, where ids do not have slots of their own. */
struct indices {
    const struct gt_matcher *matcher;
    struct call_index by_process, by_id;
    struct device_vote *votes; /* by device */
};

static uint64_t hash_pair(uint64_t a, uint64_t b) {
    uint64_t hash = (a + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u ^ b;
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ hash >> 27) * 0x94d049bb133111ebu;
    return hash ^ hash >> 31;
}

static bool index_init(struct call_index *index, const struct gt_store *store, bool any_process) {
    size_t slot_count = gt_matcher_slot_count(store);
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
    if (gt_matcher_replaces(calls, call, other))
        index->slots[slot] = call + 1;
}

static uint32_t index_find(const struct call_index *index, uint32_t process, uint32_t op) {
    const struct gt_store *store = index->store;
    return gt_matcher_call_in_slot(store, index->slots[index_slot(index, process, store->ops.correlation[op])], op);
}

static bool needs_process(const struct gt_matcher *matcher, uint32_t op) {
    return matcher->has_several && matcher->store->lanes.process[matcher->store->ops.lane[op]] == GT_NO_TRACK;
}

/* Calls with id 0 are few: they are gone through only where there are some. */
static void count_zero_calls(struct gt_matcher *matcher, uint32_t begin, uint32_t end) {
    const struct gt_store *store = matcher->store;
    for (uint32_t call = begin; call < end; call++)
        if (store->calls.correlation[call] == 0) {
            _Atomic uint8_t *zero_calls = gt_matcher_zero_calls(matcher, gt_labels_call_process(store, call));
            if (*zero_calls < 2)
                ++*zero_calls;
        }
}

static bool has_others(const struct gt_matcher *matcher, uint32_t begin, uint32_t end) {
    const struct gt_store *store = matcher->store;
    for (uint32_t call = begin; call < end; call++) {
        if (call % GT_AHEAD_EACH == 0)
            gt_ahead_fetch(&store->calls.thread[gt_ahead_row(call, end)]);
        if (gt_labels_call_process(store, call) != matcher->only_process &&
            store->calls.correlation[call] != GT_NO_CORRELATION)
            return true;
    }
    return false;
}

static void survey_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct gt_matcher *matcher = context;
    const uint64_t *ids = matcher->store->calls.correlation;
    bool has_zero = false, is_unordered = false;
    (void)slice;
    for (size_t call = begin, next; call < end; call = next) {
        next = end - call > GT_AHEAD_EACH ? call + GT_AHEAD_EACH : end;
        gt_ahead_fetch(&ids[gt_ahead_row(call, end)]);
        for (; call < next; call++) {
            is_unordered |= call && ids[call] <= ids[call - 1];
            has_zero |= ids[call] == 0;
        }
    }
    if (has_zero)
        count_zero_calls(matcher, (uint32_t)begin, (uint32_t)end);
    if (has_others(matcher, (uint32_t)begin, (uint32_t)end))
        matcher->has_several = true;
    if (is_unordered)
        matcher->is_unordered = true;
}

/* Which processes launch, and the calls that say nothing. True if there is an op whose process must be found out. */
static bool survey_calls(struct gt_matcher *matcher) {
    const struct gt_store *store = matcher->store;
    uint32_t first = 0;
    while (first < store->calls.count && store->calls.correlation[first] == GT_NO_CORRELATION)
        first++;
    matcher->only_process = first < store->calls.count ? gt_labels_call_process(store, first) : GT_NO_TRACK;
    gt_threads_rows(gt_threads_slices(matcher->threads, store->calls.count, 0), store->calls.count, survey_slice,
                    matcher);
    for (uint32_t lane = 0; lane < store->lanes.count; lane++)
        if (matcher->has_several && store->lanes.process[lane] == GT_NO_TRACK)
            return true;
    return false;
}

/* ---- hash tables ---- */

static bool build_indices(struct indices *indices, bool needs_ids) {
    const struct gt_store *store = indices->matcher->store;
    if (!index_init(&indices->by_process, store, false) || (needs_ids && !index_init(&indices->by_id, store, true)))
        return false;
    for (uint32_t call = 0; call < store->calls.count; call++) {
        uint32_t ahead = call + AHEAD < store->calls.count ? call + AHEAD : call;
        __builtin_prefetch(&indices->by_process.slots[index_home(
            &indices->by_process, gt_labels_call_process(store, ahead), store->calls.correlation[ahead])]);
        if (!gt_matcher_is_usable(indices->matcher, call))
            continue;
        index_add(&indices->by_process, call);
        if (needs_ids)
            index_add(&indices->by_id, call);
    }
    return true;
}

static bool is_ambiguous(const struct indices *indices, uint32_t op) {
    return needs_process(indices->matcher, op) &&
           indices->by_id
               .several[index_slot(&indices->by_id, GT_NO_TRACK, indices->matcher->store->ops.correlation[op])];
}

/* Everything that does not depend on what other ops say. Returns how many ops are left for later. */
static size_t match_plain(struct indices *indices) {
    const struct gt_store *store = indices->matcher->store;
    size_t ambiguous = 0;
    for (uint32_t op = 0; op < store->ops.count; op++) {
        uint32_t ahead = op + AHEAD < store->ops.count ? op + AHEAD : op;
        __builtin_prefetch(&indices->by_process.slots[index_home(
            &indices->by_process, gt_matcher_likely_process(indices->matcher, ahead), store->ops.correlation[ahead])]);
        uint32_t call = GT_NO_ROW;
        if (store->ops.correlation[op] == GT_NO_CORRELATION)
            call = GT_NO_ROW;
        else if (is_ambiguous(indices, op))
            ambiguous++;
        else if (needs_process(indices->matcher, op))
            call = index_find(&indices->by_id, GT_NO_TRACK, op);
        else
            call = index_find(&indices->by_process, gt_matcher_likely_process(indices->matcher, op), op);
        indices->matcher->op_call[op] = call;
    }
    return ambiguous;
}

/* The process that launched more than half of a device's ops, by those whose launch is certain: a candidate that
   outlasts all others in the first pass, then a count. */
static void vote(struct indices *indices) {
    const struct gt_store *store = indices->matcher->store;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t op = 0; op < store->ops.count; op++) {
            uint32_t call = indices->matcher->op_call[op];
            if (call == GT_NO_ROW || !needs_process(indices->matcher, op))
                continue;
            struct device_vote *device = &indices->votes[store->lanes.device[store->ops.lane[op]]];
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

/* Returns how many are still without a call. */
static uint64_t match_by_device(const struct indices *indices) {
    uint64_t ambiguous = 0;
    const struct gt_store *store = indices->matcher->store;
    for (uint32_t op = 0; op < store->ops.count; op++) {
        if (store->ops.correlation[op] == GT_NO_CORRELATION || !is_ambiguous(indices, op))
            continue;
        const struct device_vote *device = &indices->votes[store->lanes.device[store->ops.lane[op]]];
        uint32_t call = GT_NO_ROW;
        if (device->support > device->total / 2)
            call = index_find(&indices->by_process, device->process, op);
        indices->matcher->op_call[op] = call;
        ambiguous += call == GT_NO_ROW;
    }
    return ambiguous;
}

/* false: memory was short. *ambiguous: ops that several calls may have launched. */
static bool match_by_index(struct gt_matcher *matcher, bool needs_ids, uint64_t *ambiguous) {
    struct indices indices = {.matcher = matcher,
                              .votes = gt_mem_array(matcher->store->devices.count, sizeof(struct device_vote))};
    bool ok = indices.votes && build_indices(&indices, needs_ids);
    if (ok && match_plain(&indices)) {
        vote(&indices);
        *ambiguous = match_by_device(&indices);
    }
    uint64_t without_call = 0;
    for (size_t op = 0; op < matcher->store->ops.count && ok; op++)
        without_call += matcher->op_call[op] == GT_NO_ROW;
    matcher->without_call = without_call;
    index_release(&indices.by_process);
    index_release(&indices.by_id);
    gt_mem_free(indices.votes);
    return ok;
}

/* A column of ops that has a call for none. Without correlation ids that column is such a one already: all of its bits
   are set, too, and fresh memory costs more than all else that is done for an op here. Of a file that says what it has
   (the cache) it is not sure. Those who write the column are in other files, so that no compiler mixes the two types.
 */
static enum gt_status have_no_calls(const struct gt_store *store, struct gt_labels *labels, struct gt_error *err) {
    _Static_assert(GT_NO_CORRELATION == UINT64_MAX && GT_NO_ROW == UINT32_MAX, "all bits of both are set");
    if (store->ops.correlation && !store->mapping && !(store->facts & GT_FACT_CORRELATION)) {
        labels->op_call = (uint32_t *)(void *)store->ops.correlation;
        return GT_OK;
    }
    struct gt_arena *arena = &labels->arenas[GT_PASS_CORRELATE];
    labels->op_call = gt_arena_uninitialised(arena, store->ops.count, sizeof *labels->op_call);
    if (!labels->op_call)
        return gt_fail_memory(err);
    memset(labels->op_call, 0xff, store->ops.count * sizeof *labels->op_call);
    return GT_OK;
}

static enum gt_status match_launches(const struct gt_store *store, struct gt_labels *labels,
                                     struct gt_label_scratch *scratch, struct gt_error *err) {
    struct gt_matcher matcher = {.store = store, .threads = scratch->threads};
    bool is_matched = false;
    uint64_t ambiguous = 0;
    if (store->calls.count == 0)
        return have_no_calls(store, labels, err);
    labels->op_call =
        gt_arena_uninitialised(&labels->arenas[GT_PASS_CORRELATE], store->ops.count, sizeof *labels->op_call);
    matcher.op_call = labels->op_call;
    matcher.zero_calls = gt_mem_array(store->processes.count + 1, sizeof *matcher.zero_calls);
    bool ok = labels->op_call && matcher.zero_calls;
    bool needs_ids = ok && survey_calls(&matcher);
    labels->are_call_ids_growing = ok && !matcher.is_unordered;
    if (ok && !needs_ids && !matcher.is_unordered) {
        gt_id_order_match(&matcher);
        is_matched = true;
    } else if (ok && !needs_ids) {
        ok = gt_id_slots_match(&matcher, &is_matched);
    }
    if (ok && !is_matched)
        ok = match_by_index(&matcher, needs_ids, &ambiguous);
    if (ok) {
        labels->issues[GT_ISSUE_LAUNCH_AMBIGUOUS] = ambiguous;
        /* A trace without any call lacks the fact; that is reported elsewhere. */
        labels->issues[GT_ISSUE_OP_WITHOUT_CALL] = matcher.without_call - ambiguous;
    }
    gt_mem_free(matcher.zero_calls);
    return ok ? GT_OK : gt_fail_memory(err);
}

const struct gt_label_pass gt_label_pass_correlate = {"correlate", "launch calls of ops", GT_LABEL_FIRST,
                                                      match_launches};
