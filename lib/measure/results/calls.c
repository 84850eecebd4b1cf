/* Names of runtime and driver calls (CUDA and HIP), and the calls of a view that launch and that block. */
#include "measure/results/calls.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/threads.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"

static bool strip_suffix(struct gt_str *name, struct gt_str suffix) {
    if (name->len <= suffix.len || memcmp(name->ptr + name->len - suffix.len, suffix.ptr, suffix.len) != 0)
        return false;
    name->len -= suffix.len;
    return true;
}

/* "_v" and at least so many digits. */
static bool strip_version(struct gt_str *name, size_t least_digits) {
    size_t digits = 0;
    while (digits < name->len && name->ptr[name->len - digits - 1] >= '0' && name->ptr[name->len - digits - 1] <= '9')
        digits++;
    struct gt_str rest = {name->ptr, name->len - digits};
    if (digits < least_digits || !strip_suffix(&rest, GT_STR("_v")))
        return false;
    *name = rest;
    return true;
}

static struct gt_str strip(struct gt_str name, size_t least_digits) {
    while (strip_suffix(&name, GT_STR("_ptsz")) || strip_suffix(&name, GT_STR("_ptds")) ||
           strip_version(&name, least_digits))
        ;
    return name;
}

struct gt_str gt_call_plain_name(struct gt_str name) {
    return strip(name, 4);
}

bool gt_call_is_blocking(struct gt_str name) {
    name = strip(name, 1);
    if (!gt_str_take_start(&name, GT_STR("cuda")) && !gt_str_take_start(&name, GT_STR("cu")) &&
        !gt_str_take_start(&name, GT_STR("hip")))
        return false;
    if (gt_str_eq(name, GT_STR("DeviceSynchronize")) || gt_str_eq(name, GT_STR("StreamSynchronize")) ||
        gt_str_eq(name, GT_STR("EventSynchronize")) || gt_str_eq(name, GT_STR("CtxSynchronize")))
        return true;
    return (gt_str_starts(name, GT_STR("Memcpy")) || gt_str_starts(name, GT_STR("Memset"))) &&
           !gt_str_contains(name, GT_STR("Async"));
}

bool gt_call_is_launch(struct gt_str name) {
    /* cudaLaunchHostFunc puts CPU work into a stream. */
    return gt_str_contains(name, GT_STR("Launch")) && !gt_str_contains(name, GT_STR("HostFunc"));
}

/* ---- calls that launch ---- */

struct marking {
    const struct gt_view *view;
    uint8_t *marks;
    atomic_size_t op_count; /* that have a call */
    uint32_t *alone;        /* launch calls by name that no op has */
    size_t alone_count, alone_capacity;
    uint32_t *slots;    /* place in the list of the first that has a process and an id, + 1; 0: free */
    size_t slot_count;  /* a power of two */
    uint8_t *is_taken;  /* by place in the list: a call that launched something has the same process and id */
    uint8_t *maybe;     /* by the low bits of an id: whether one of the list has it; most ids are of none */
    size_t maybe_count; /* a power of two */
};

static void mark_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct marking *marking = context;
    const struct gt_view *view = marking->view;
    size_t op_count = 0;
    (void)slice;
    for (size_t i = begin; i < end; i++) {
        uint32_t call = view->labels->op_call[gt_view_any_op_row(view, i)];
        if (call == GT_NO_ROW)
            continue;
        __atomic_store_n(&marking->marks[call], 1, __ATOMIC_RELAXED); /* ops of other slices may have the same */
        op_count++;
    }
    atomic_fetch_add(&marking->op_count, op_count);
}

static size_t count_marks(const uint8_t *marks, size_t count) {
    size_t set = 0;
    for (size_t i = 0; i < count; i++)
        set += marks[i];
    return set;
}

/* false: memory was short. */
static bool add_alone(struct marking *marking, uint32_t call) {
    uint32_t *grown =
        gt_mem_room(marking->alone, marking->alone_count, &marking->alone_capacity, sizeof *marking->alone);
    if (!grown)
        return false;
    marking->alone = grown;
    marking->alone[marking->alone_count++] = call;
    return true;
}

/* Most calls launch something: the others are looked for. */
static bool list_alone(struct marking *marking) {
    enum { UNKNOWN, OTHER, LAUNCH };
    const struct gt_store *store = marking->view->store;
    uint8_t *answers = gt_mem_array(store->strings.count, 1);
    const uint8_t *end = marking->marks + store->calls.count, *at = marking->marks;
    bool ok = answers;
    for (; ok && at < end && (at = memchr(at, 0, (size_t)(end - at))); at++) {
        uint32_t call = (uint32_t)(at - marking->marks);
        uint8_t *answer = &answers[store->calls.name[call]];
        if (*answer == UNKNOWN)
            *answer = gt_call_is_launch(gt_store_string(store, store->calls.name[call])) ? LAUNCH : OTHER;
        ok = *answer == OTHER || add_alone(marking, call);
    }
    gt_mem_free(answers);
    return ok;
}

/* The ids that the calls of a slice have, by process, the last for GT_NO_TRACK. */
struct id_order {
    uint64_t first, last;
    bool has_ids;
};

struct ordering {
    const struct gt_store *store;
    struct id_order *orders; /* by slice, then process */
    atomic_bool is_broken;   /* an id is not above the one before it of its process */
};

static void order_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct ordering *ordering = context;
    const struct gt_store *store = ordering->store;
    const uint64_t *ids = store->calls.correlation;
    size_t process_count = store->processes.count;
    struct id_order *orders = ordering->orders + slice * (process_count + 1);
    for (size_t i = begin; i < end; i++) {
        uint32_t process = gt_labels_call_process(store, (uint32_t)i);
        struct id_order *order = &orders[process == GT_NO_TRACK ? process_count : process];
        if (ids[i] == GT_NO_CORRELATION)
            continue;
        if (order->has_ids && ids[i] <= order->last) {
            ordering->is_broken = true;
            return;
        }
        order->first = order->has_ids ? order->first : ids[i];
        order->last = ids[i];
        order->has_ids = true;
    }
}

/* Whether the ids of each process grow from row to row, as most programs write them: then no two calls share one. Also
   false where memory is short, which costs time only. */
static bool ids_grow(const struct gt_store *store, size_t threads) {
    size_t places = store->processes.count + 1;
    size_t slices = gt_threads_slices(threads, store->calls.count, places);
    struct ordering ordering = {.store = store, .orders = gt_mem_array(slices * places, sizeof *ordering.orders)};
    if (!ordering.orders)
        return false;
    gt_threads_rows(slices, store->calls.count, order_slice, &ordering);
    struct id_order *whole = ordering.orders;
    bool grow = !ordering.is_broken;
    for (size_t i = places; i < slices * places && grow; i++) {
        const struct id_order *next = &ordering.orders[i];
        struct id_order *before = &whole[i % places];
        grow = !next->has_ids || !before->has_ids || next->first > before->last;
        if (next->has_ids)
            *before = *next;
    }
    gt_mem_free(ordering.orders);
    return grow;
}

/* Nobody else has their ids. */
static void mark_alone(const struct marking *marking) {
    for (size_t i = 0; i < marking->alone_count; i++)
        marking->marks[marking->alone[i]] = 1;
}

static uint8_t *maybe_of(const struct marking *marking, uint64_t id) {
    return &marking->maybe[id & (marking->maybe_count - 1)];
}

/* Where the first of the list with the process and id is, or belongs. Ids that share all but the low bits lie side by
   side, for neighbours are asked for one after the other. */
static uint32_t *slot_of(const struct marking *marking, uint32_t process, uint64_t id) {
    const struct gt_store *store = marking->view->store;
    uint64_t hash = ((id >> 6) + process * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    size_t mask = marking->slot_count - 1, at = (size_t)((hash ^ hash >> 29) << 6 | (id & 63)) & mask;
    for (; marking->slots[at]; at = (at + 1) & mask) {
        uint32_t call = marking->alone[marking->slots[at] - 1];
        if (store->calls.correlation[call] == id && gt_labels_call_process(store, call) == process)
            break;
    }
    return &marking->slots[at];
}

/* Some exports write a call as two nested rows with one correlation id: such a pair is one call. */
static bool index_alone(struct marking *marking) {
    const struct gt_store *store = marking->view->store;
    for (marking->maybe_count = 4096; marking->maybe_count < store->calls.count;)
        marking->maybe_count *= 2;
    marking->maybe = gt_mem_array(marking->maybe_count, 1);
    for (marking->slot_count = 64; marking->slot_count / 2 < marking->alone_count;)
        marking->slot_count *= 2;
    marking->slots = gt_mem_array(marking->slot_count, sizeof *marking->slots);
    marking->is_taken = gt_mem_array(marking->alone_count, 1);
    if (!marking->maybe || !marking->slots || !marking->is_taken)
        return false;
    for (uint32_t i = 0; i < marking->alone_count; i++) {
        uint32_t call = marking->alone[i];
        uint64_t id = store->calls.correlation[call];
        if (id == GT_NO_CORRELATION)
            continue;
        uint32_t *slot = slot_of(marking, gt_labels_call_process(store, call), id);
        *slot = *slot ? *slot : i + 1;
        *maybe_of(marking, id) = 1;
    }
    return true;
}

/* Few calls are asked about, so the others are only looked up. */
static void find_taken(void *context, size_t slice, size_t begin, size_t end) {
    const struct marking *marking = context;
    const struct gt_store *store = marking->view->store;
    const uint64_t *ids = store->calls.correlation;
    (void)slice;
    for (size_t i = begin; i < end; i++) {
        if (!*maybe_of(marking, ids[i]) || !marking->marks[i] || ids[i] == GT_NO_CORRELATION)
            continue;
        uint32_t slot = *slot_of(marking, gt_labels_call_process(store, (uint32_t)i), ids[i]);
        if (slot) /* calls of other slices may have the same */
            __atomic_store_n(&marking->is_taken[slot - 1], 1, __ATOMIC_RELAXED);
    }
}

/* false: memory was short. */
static bool mark_calls_without_ops(struct marking *marking, size_t threads) {
    const struct gt_store *store = marking->view->store;
    if (!list_alone(marking))
        return false;
    if (marking->alone_count == 0)
        return true;
    if (marking->view->labels->are_call_ids_growing || ids_grow(store, threads)) {
        mark_alone(marking);
        return true;
    }
    if (!index_alone(marking))
        return false;
    gt_threads_rows(gt_threads_slices(threads, store->calls.count, 0), store->calls.count, find_taken, marking);
    for (uint32_t i = 0; i < marking->alone_count; i++) {
        uint32_t call = marking->alone[i];
        uint64_t id = store->calls.correlation[call];
        marking->marks[call] =
            id == GT_NO_CORRELATION ||
            (!marking->is_taken[i] && *slot_of(marking, gt_labels_call_process(store, call), id) == i + 1);
    }
    return true;
}

enum gt_status gt_calls_launch_marks_init(struct gt_launch_marks *out, const struct gt_view *view,
                                          struct gt_error *err) {
    const struct gt_store *store = view->store;
    size_t threads = gt_threads_count(view->request->threads);
    struct marking marking = {.view = view, .marks = gt_mem_array(store->calls.count, 1)};
    bool ok = marking.marks;
    if (ok)
        gt_threads_rows(gt_threads_slices(threads, view->op_count, 0), view->op_count, mark_slice, &marking);
    out->shared_count = ok ? marking.op_count - count_marks(marking.marks, store->calls.count) : 0;
    ok = ok && (!view->is_whole || mark_calls_without_ops(&marking, threads));
    gt_mem_free(marking.alone);
    gt_mem_free(marking.is_taken);
    gt_mem_free(marking.maybe);
    gt_mem_free(marking.slots);
    if (!ok) {
        gt_mem_free(marking.marks);
        return gt_fail_memory(err);
    }
    out->of_call = marking.marks;
    return GT_OK;
}

void gt_calls_launch_marks_release(struct gt_launch_marks *marks) {
    gt_mem_free(marks->of_call);
    *marks = (struct gt_launch_marks){0};
}

/* ---- calls that block ---- */

/* Of each string that is the name of a call. */
static void ask_names_of_calls(const struct gt_store *store, uint8_t *answers) {
    enum { UNKNOWN, RETURNS, BLOCKS };
    const gt_strid *names = store->calls.name;
    for (size_t i = 0; i < store->calls.count; i++)
        if (answers[names[i]] == UNKNOWN)
            answers[names[i]] = gt_call_is_blocking(gt_store_string(store, names[i])) ? BLOCKS : RETURNS;
    for (size_t name = 0; name < store->strings.count; name++)
        answers[name] = answers[name] == BLOCKS;
}

/* Nobody asks for a string that is the name of no call: where there are few strings, all of them are quicker to look at
   than the calls. */
enum gt_status gt_calls_blocking_names_init(struct gt_blocking_names *out, const struct gt_view *view,
                                            struct gt_error *err) {
    enum { CALLS_FOR_STRING = 32 };
    const struct gt_store *store = view->store;
    size_t string_count = store->strings.count;
    uint8_t *answers = gt_mem_array(string_count, 1);
    if (answers && string_count > store->calls.count / CALLS_FOR_STRING)
        ask_names_of_calls(store, answers);
    else
        for (gt_strid name = 0; name < string_count && answers; name++)
            answers[name] = gt_call_is_blocking(gt_store_string(store, name));
    out->of_name = answers;
    return answers ? GT_OK : gt_fail_memory(err);
}

void gt_calls_blocking_names_release(struct gt_blocking_names *names) {
    gt_mem_free(names->of_name);
    *names = (struct gt_blocking_names){0};
}

struct blocking {
    uint64_t correlation;
    int64_t start_ns, end_ns;
    uint32_t thread, row;
};

/* By thread and correlation; what lies inside another comes after it. */
static int outer_first(const void *a, const void *b) {
    const struct blocking *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->correlation != y->correlation)
        return x->correlation < y->correlation ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Marks those that block by their names. Gives how many of them may lie inside another. */
static size_t mark_blocking(const struct gt_store *store, uint8_t *marks, const uint8_t *is_blocking_name) {
    const struct gt_calls *calls = &store->calls;
    const gt_strid *names = calls->name;
    size_t count = 0;
    for (size_t i = 0, end = calls->count; i < end; i++) {
        marks[i] = is_blocking_name[names[i]];
        if (marks[i])
            count += calls->correlation[i] != GT_NO_CORRELATION && calls->thread[i] != GT_NO_TRACK;
    }
    return count;
}

static bool unmark_inner(const struct gt_store *store, uint8_t *marks, size_t count) {
    struct blocking *calls = gt_mem_array(count, sizeof *calls);
    size_t filled = 0;
    for (uint32_t i = 0; i < store->calls.count && calls && filled < count; i++)
        if (marks[i] && store->calls.correlation[i] != GT_NO_CORRELATION && store->calls.thread[i] != GT_NO_TRACK)
            calls[filled++] = (struct blocking){store->calls.correlation[i], store->calls.start_ns[i],
                                                store->calls.end_ns[i], store->calls.thread[i], i};
    if (!calls)
        return false;
    qsort(calls, count, sizeof *calls, outer_first);
    const struct blocking *outer = calls; /* of those of its key so far the one that ends last */
    for (size_t i = 1; i < count; i++) {
        bool is_same = calls[i].thread == outer->thread && calls[i].correlation == outer->correlation;
        if (is_same && calls[i].end_ns <= outer->end_ns)
            marks[calls[i].row] = 0;
        else
            outer = &calls[i];
    }
    gt_mem_free(calls);
    return true;
}

enum gt_status gt_calls_blocking_marks_init(struct gt_blocking_marks *out, const struct gt_view *view,
                                            struct gt_error *err) {
    const struct gt_store *store = view->store;
    const struct gt_blocking_names *names = gt_results_blocking_names(view, err);
    if (!names)
        return err->code;
    uint8_t *marks = gt_mem_array(store->calls.count, 1);
    bool ok = marks && unmark_inner(store, marks, mark_blocking(store, marks, names->of_name));
    if (!ok) {
        gt_mem_free(marks);
        return gt_fail_memory(err);
    }
    out->of_call = marks;
    return GT_OK;
}

void gt_calls_blocking_marks_release(struct gt_blocking_marks *marks) {
    gt_mem_free(marks->of_call);
    *marks = (struct gt_blocking_marks){0};
}
