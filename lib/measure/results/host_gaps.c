/* Gaps that the host made: finds the copies that the CPU waits for, then gives every gap to what is said of it. */
#include "measure/results/host_gaps.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"
#include "measure/results/calls.h"
#include "measure/results/copies.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"

static bool is_of_host(enum gt_idle_cause cause) {
    return cause == GT_IDLE_SYNC || cause == GT_IDLE_HOST || cause == GT_IDLE_LAUNCH;
}

/* ---- copies that make the CPU wait ---- */

/* A copy from the GPU that a call asked for. */
struct copy {
    uint32_t position; /* in the view */
    uint32_t kind;     /* GT_NO_ROW: the CPU does not wait for it */
};

struct kind {
    struct gt_readback of;
    __int128 gaps_ns; /* of the gaps after them */
};

/* Such copies, and their kinds: pairs of the name of the copy and of the call. */
struct copies {
    const struct gt_view *view;
    struct copy *items; /* by position */
    size_t count;
    struct gt_map waits; /* from a call to the call after it in which its thread at once waits for the GPU */
    struct kind *kinds;
    size_t kind_count, kind_capacity;
    struct gt_map kind_of_names;
    int64_t steady_ns;
    bool has_failed;
};

static void copies_release(struct copies *copies) {
    gt_mem_free(copies->items);
    gt_map_release(&copies->waits);
    gt_mem_free(copies->kinds);
    gt_map_release(&copies->kind_of_names);
}

static uint32_t call_of(const struct gt_view *view, uint32_t position) {
    return view->labels->op_call[view->row[position]];
}

/* UINT64_MAX: the trace does not say. */
static uint64_t bytes_of(const struct gt_store *store, uint32_t op) {
    uint32_t row = gt_copy_of_op(store, op);
    return row == GT_NO_ROW ? UINT64_MAX : store->copies.bytes[row];
}

/* A copy whose size is not known counts as small. */
static bool is_bulk(const struct gt_store *store, uint32_t op, double most_bytes) {
    uint64_t bytes = bytes_of(store, op);
    return bytes != UINT64_MAX && (double)bytes >= most_bytes;
}

/* The small copies from the GPU with a call. false: memory was short. */
static bool find_copies(struct copies *copies, double most_bytes) {
    const struct gt_view *view = copies->view;
    size_t capacity = 0;
    for (size_t i = gt_view_next_of_kind(view, GT_OP_MEMCPY, 0, view->op_count); i < view->op_count;
         i = gt_view_next_of_kind(view, GT_OP_MEMCPY, i + 1, view->op_count)) {
        if (call_of(view, (uint32_t)i) == GT_NO_ROW || !gt_copy_is_to_host(view->store, view->row[i]) ||
            is_bulk(view->store, view->row[i], most_bytes))
            continue;
        struct copy *items = gt_mem_room(copies->items, copies->count, &capacity, sizeof *items);
        if (!items)
            return false;
        copies->items = items;
        items[copies->count++] = (struct copy){(uint32_t)i, GT_NO_ROW};
    }
    return true;
}

/* The calls of a thread are in order of time in every known trace. */
static bool find_waits(struct copies *copies) {
    const struct gt_store *store = copies->view->store;
    uint8_t *is_copy = gt_mem_array(store->calls.count, 1);
    uint32_t *last = gt_mem_array(store->threads.count, sizeof *last); /* by thread: its call before, + 1 */
    struct gt_error err = {0};
    const struct gt_blocking_names *blocks = gt_results_blocking_names(copies->view, &err);
    bool ok = is_copy && last && blocks;
    for (size_t i = 0; i < copies->count && ok; i++)
        is_copy[call_of(copies->view, copies->items[i].position)] = 1;
    for (uint32_t i = 0; i < store->calls.count && ok; i++) {
        uint32_t thread = store->calls.thread[i], before = thread == GT_NO_TRACK ? 0 : last[thread];
        if (thread == GT_NO_TRACK)
            continue;
        last[thread] = i + 1;
        if (!before || !is_copy[before - 1])
            continue;
        if (blocks->of_name[store->calls.name[i]] && store->calls.start_ns[i] >= store->calls.end_ns[before - 1])
            gt_map_put(&copies->waits, 0, before - 1, i);
    }
    gt_mem_free(is_copy);
    gt_mem_free(last);
    return ok && !copies->waits.failed;
}

/* The kind of a copy; GT_NO_ROW: the CPU does not wait for it. */
static uint32_t kind_of(struct copies *copies, uint32_t position) {
    const struct gt_store *store = copies->view->store;
    uint32_t op = copies->view->row[position], call = call_of(copies->view, position);
    gt_strid name = store->calls.name[call];
    bool waits_itself = gt_call_is_blocking(gt_store_string(store, name));
    uint32_t wait = gt_map_get(&copies->waits, 0, call);
    if (wait == GT_MAP_NONE && !waits_itself)
        return GT_NO_ROW;
    struct kind *kinds = gt_mem_room(copies->kinds, copies->kind_count, &copies->kind_capacity, sizeof *kinds);
    copies->has_failed |= !kinds;
    if (!kinds)
        return GT_NO_ROW;
    copies->kinds = kinds;
    uint32_t next = (uint32_t)copies->kind_count;
    uint32_t kind = gt_map_put_if_new(&copies->kind_of_names, store->ops.name[op], name, next);
    if (copies->kind_of_names.failed)
        return GT_NO_ROW;
    if (kind == next)
        kinds[copies->kind_count++] =
            (struct kind){.of = {.copy = store->ops.name[op],
                                 .call = name,
                                 .wait = waits_itself ? GT_STRID_EMPTY : store->calls.name[wait],
                                 .longest = position}};
    kinds[kind].of.count += copies->view->start_ns[position] >= copies->steady_ns;
    uint64_t bytes = bytes_of(store, op);
    kinds[kind].of.most_bytes = bytes > kinds[kind].of.most_bytes ? bytes : kinds[kind].of.most_bytes;
    return kind;
}

static bool copies_init(struct copies *copies, const struct gt_view *view, int64_t steady_ns, double most_bytes) {
    *copies = (struct copies){.view = view, .steady_ns = steady_ns};
    bool ok = find_copies(copies, most_bytes);
    if (copies->count == 0)
        return ok;
    ok = ok && find_waits(copies);
    for (size_t i = 0; i < copies->count && ok; i++)
        copies->items[i].kind = kind_of(copies, copies->items[i].position);
    return ok && !copies->kind_of_names.failed && !copies->has_failed;
}

static uint32_t kind_at(const struct copies *copies, uint32_t position) {
    size_t low = 0, high = copies->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (copies->items[middle].position < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low < copies->count && copies->items[low].position == position ? copies->items[low].kind : GT_NO_ROW;
}

static uint32_t kind_before(const struct copies *copies, const struct gt_idle *idle, size_t gap) {
    uint32_t previous = gt_idle_gap_previous(idle, gap);
    bool counts = is_of_host(gt_idle_gap_cause(idle, gap)) && previous != GT_NO_ROW &&
                  gt_view_op_kind(copies->view, previous) == GT_OP_MEMCPY &&
                  gt_idle_gap_start_ns(idle, gap) >= copies->steady_ns;
    return counts ? kind_at(copies, previous) : GT_NO_ROW;
}

/* The call in which a thread waits for a copy. */
static uint32_t wait_of(const struct copies *copies, uint32_t position) {
    uint32_t call = call_of(copies->view, position), wait = gt_map_get(&copies->waits, 0, call);
    bool waits_itself =
        gt_call_is_blocking(gt_store_string(copies->view->store, copies->view->store->calls.name[call]));
    return waits_itself || wait == GT_MAP_NONE ? call : wait;
}

/* The CPU had the data and did something else for long before it launched: that is not the copy's fault. */
static bool is_pause_after(const struct copies *copies, const struct gt_idle *idle, size_t gap) {
    const struct gt_calls *calls = &copies->view->store->calls;
    int64_t had_ns = calls->end_ns[wait_of(copies, gt_idle_gap_previous(idle, gap))],
            start_ns = gt_idle_gap_start_ns(idle, gap);
    int64_t launched_ns = calls->start_ns[gt_idle_gap_call(idle, gap)];
    had_ns = had_ns > start_ns ? had_ns : start_ns;
    return launched_ns > had_ns && gt_ns_between(had_ns, launched_ns) >= GT_PAUSE_NS;
}

/* What is looked at in slices of the gaps. */
struct sorting {
    struct gt_host_gaps *gaps;
    struct copies *copies;
    const struct gt_idle *idle;
    uint32_t chosen; /* kind of copies; GT_NO_ROW: none */
    struct slice *slices;
    size_t slice_count;
};

struct slice {
    __int128 *kinds_ns; /* by kind of copies: of the gaps after them */
    size_t counts[GT_HOST_GAP_COUNT];
    __int128 late_ns;
    int64_t longest_ns; /* of the gaps after the chosen copies */
    uint32_t longest;   /* the copy before it */
};

static void sum_slice(void *context, size_t index, size_t begin, size_t end) {
    const struct sorting *it = context;
    for (size_t i = begin; (i = gt_idle_next_blamed(it->idle, i, end)) < end; i++) {
        uint32_t kind = kind_before(it->copies, it->idle, i);
        if (kind != GT_NO_ROW && !is_pause_after(it->copies, it->idle, i))
            it->slices[index].kinds_ns[kind] += gt_idle_gap_ns(it->idle, i);
    }
}

/* false: memory was short. */
static bool sum_kinds(struct sorting *it) {
    size_t kinds = it->copies->kind_count, slices = gt_threads_slices(it->slice_count, it->idle->count, kinds);
    __int128 *sums_ns = gt_mem_array(kinds * slices, sizeof *sums_ns);
    for (size_t i = 0; i < slices && sums_ns; i++)
        it->slices[i].kinds_ns = sums_ns + i * kinds;
    if (sums_ns)
        gt_threads_rows(slices, it->idle->count, sum_slice, it);
    for (size_t i = 0; i < kinds * slices && sums_ns; i++)
        it->copies->kinds[i % kinds].gaps_ns += sums_ns[i];
    gt_mem_free(sums_ns);
    return sums_ns;
}

/* The kind with the longest gaps after it, of those that occur too often to be an accident; GT_NO_ROW: there is none.
 */
static uint32_t choose_kind(const struct copies *copies, size_t fewest) {
    uint32_t chosen = GT_NO_ROW;
    for (uint32_t i = 0; i < copies->kind_count; i++)
        if (copies->kinds[i].of.count >= fewest &&
            (chosen == GT_NO_ROW || copies->kinds[i].gaps_ns > copies->kinds[chosen].gaps_ns))
            chosen = i;
    return chosen;
}

/* The copies of the chosen kind. false: memory was short. */
static bool list_readbacks(const struct copies *copies, uint32_t chosen, struct gt_readback *readback) {
    size_t count = 0;
    *readback = copies->kinds[chosen].of;
    readback->waits = gt_mem_uninitialised(readback->count, sizeof *readback->waits);
    for (size_t i = 0; i < copies->count && readback->waits; i++) {
        uint32_t position = copies->items[i].position;
        if (copies->items[i].kind == chosen && copies->view->start_ns[position] >= copies->steady_ns)
            readback->waits[count++] = wait_of(copies, position);
    }
    return readback->waits;
}

/* ---- every gap ---- */

/* Of a gap of the host after the warm-up. */
static enum gt_host_gap classify(const struct gt_idle *idle, size_t gap, bool is_after_readback) {
    enum gt_idle_cause cause = gt_idle_gap_cause(idle, gap);
    if (is_after_readback)
        return GT_HOST_GAP_READBACK;
    if (cause == GT_IDLE_SYNC)
        return GT_HOST_GAP_SYNC;
    if (gt_idle_gap_ns(idle, gap) < GT_PAUSE_NS)
        return GT_HOST_GAP_LATE;
    return cause == GT_IDLE_HOST ? GT_HOST_GAP_STALL : GT_HOST_GAP_NONE;
}

/* Of one of the host after the warm-up. */
static enum gt_host_gap sort_gap(const struct sorting *it, size_t gap, struct slice *slice) {
    const struct gt_idle *idle = it->idle;
    bool is_after = it->chosen != GT_NO_ROW && kind_before(it->copies, idle, gap) == it->chosen &&
                    !is_pause_after(it->copies, idle, gap);
    enum gt_host_gap class = classify(idle, gap, is_after);
    if (class == GT_HOST_GAP_LATE)
        slice->late_ns += gt_idle_gap_ns(idle, gap);
    if (is_after && gt_idle_gap_ns(idle, gap) > slice->longest_ns) {
        slice->longest_ns = gt_idle_gap_ns(idle, gap);
        slice->longest = gt_idle_gap_previous(idle, gap);
    }
    return class;
}

/* Gaps of one device. Most are nobody's fault: their causes are all that is looked at. */
static void sort_some(const struct sorting *it, size_t begin, size_t end, size_t steady, struct slice *slice) {
    size_t warm = steady < begin ? begin : steady < end ? steady : end;
    memset(it->gaps->of + begin, GT_HOST_GAP_WARM_UP, warm - begin);
    memset(it->gaps->of + warm, GT_HOST_GAP_NONE, end - warm);
    slice->counts[GT_HOST_GAP_WARM_UP] += warm - begin;
    for (size_t i = warm; (i = gt_idle_next_blamed(it->idle, i, end)) < end; i++) {
        enum gt_host_gap class = GT_HOST_GAP_NONE;
        if (is_of_host(gt_idle_gap_cause(it->idle, i)))
            class = sort_gap(it, i, slice);
        it->gaps->of[i] = (uint8_t) class;
        if (class != GT_HOST_GAP_NONE) /* nobody asks for those */
            slice->counts[class]++;
    }
}

static void sort_slice(void *context, size_t index, size_t begin, size_t end) {
    const struct sorting *it = context;
    struct slice slice = {0};
    for (size_t d = 0; d < it->idle->device_count; d++) {
        size_t from = begin, to = end;
        if (gt_idle_clip(it->idle, d, &from, &to))
            sort_some(it, from, to, gt_idle_first_from(it->idle, d, it->copies->steady_ns), &slice);
    }
    it->slices[index] = slice;
}

/* Of equal gaps the first is the longest. */
static void join_slices(const struct sorting *it) {
    int64_t longest_ns = 0;
    for (const struct slice *slice = it->slices; slice < it->slices + it->slice_count; slice++) {
        for (size_t class = 0; class < GT_HOST_GAP_COUNT; class ++)
            it->gaps->counts[class] += slice->counts[class];
        it->gaps->late_ns += slice->late_ns;
        if (slice->longest_ns > longest_ns) {
            longest_ns = slice->longest_ns;
            it->gaps->readback.longest = slice->longest;
        }
    }
}

/* false: memory was short. */
static bool sort_gaps(struct sorting *it, size_t fewest) {
    if (it->copies->kind_count && !sum_kinds(it))
        return false;
    it->chosen = choose_kind(it->copies, fewest);
    if (it->chosen != GT_NO_ROW && !list_readbacks(it->copies, it->chosen, &it->gaps->readback))
        return false;
    gt_threads_rows(it->slice_count, it->idle->count, sort_slice, it);
    join_slices(it);
    return true;
}

enum gt_status gt_host_gaps_init(struct gt_host_gaps *gaps, const struct gt_view *view, const struct gt_idle *idle,
                                 int64_t steady_ns, struct gt_readback_limits limits, struct gt_error *err) {
    struct copies copies;
    *gaps = (struct gt_host_gaps){.of = gt_mem_uninitialised(idle->count, 1)};
    struct sorting it = {.gaps = gaps, .copies = &copies, .idle = idle};
    it.slice_count = gt_threads_slices(gt_threads_count(view->request->threads), idle->count, 0);
    it.slices = gt_mem_array(it.slice_count, sizeof *it.slices);
    bool ok = copies_init(&copies, view, steady_ns, limits.most_bytes) && gaps->of && it.slices &&
              sort_gaps(&it, limits.fewest_copies);
    copies_release(&copies);
    gt_mem_free(it.slices);
    if (ok)
        return GT_OK;
    gt_host_gaps_release(gaps); /* a rule that is at work sees none instead of some */
    return gt_fail_memory(err);
}

void gt_host_gaps_release(struct gt_host_gaps *gaps) {
    gt_mem_free(gaps->of);
    gt_mem_free(gaps->readback.waits);
    *gaps = (struct gt_host_gaps){0};
}
