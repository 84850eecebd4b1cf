/* Names of runtime and driver calls (CUDA and HIP), and the calls of a view that launch and that block. */
#include "measure/results/calls.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/threads.h"
#include "measure/results/measure.h"

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
    uint8_t *is_launch_name;
    size_t parts;       /* of the calls by id, a power of two */
    uint8_t *maybe;     /* by the low bits of an id: whether a launch call without an op has it; most ids are of none */
    size_t maybe_count; /* a power of two, so that ids of different parts have different ones */
    atomic_bool failed;
};

static void mark_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct marking *marking = context;
    const struct gt_view *view = marking->view;
    (void)slice;
    for (size_t i = begin; i < end; i++) {
        uint32_t call = view->labels->op_call[gt_view_any_op_row(view, i)];
        if (call != GT_NO_ROW) /* ops of other slices may have the same */
            __atomic_store_n(&marking->marks[call], 1, __ATOMIC_RELAXED);
    }
}

static uint8_t *maybe_of(const struct marking *marking, uint64_t id) {
    return &marking->maybe[id & (marking->maybe_count - 1)];
}

/* Ids that share all but the low bits, of any process, are in one part: CUPTI counts up. */
static bool is_in_part(const struct marking *marking, size_t part, uint32_t call) {
    return ((marking->view->store->calls.correlation[call] >> 6) & (marking->parts - 1)) == part;
}

/* Launch calls by name that launched nothing in the trace, by id. Some exports write a call as two nested rows with one
   correlation id: such a pair is one call. Few calls are asked about, so the others are only looked up. */
static void find_calls_without_ops(const struct marking *marking, size_t part, struct gt_map *by_id) {
    const struct gt_store *store = marking->view->store;
    const struct gt_calls *calls = &store->calls;
    for (uint32_t i = 0; i < calls->count; i++)
        if (is_in_part(marking, part, i) && !marking->marks[i] && marking->is_launch_name[calls->name[i]] &&
            calls->correlation[i] != GT_NO_CORRELATION) {
            gt_map_put_if_new(by_id, gt_labels_call_process(store, i), calls->correlation[i], i);
            *maybe_of(marking, calls->correlation[i]) = 1;
        }
    for (uint32_t i = 0; i < calls->count && by_id->count && !by_id->failed; i++)
        if (is_in_part(marking, part, i) && marking->marks[i] && *maybe_of(marking, calls->correlation[i]) &&
            calls->correlation[i] != GT_NO_CORRELATION &&
            gt_map_get(by_id, gt_labels_call_process(store, i), calls->correlation[i]) != GT_MAP_NONE)
            gt_map_put(by_id, gt_labels_call_process(store, i), calls->correlation[i], i);
}

static void mark_part(void *context, size_t part) {
    struct marking *marking = context;
    const struct gt_store *store = marking->view->store;
    const struct gt_calls *calls = &store->calls;
    struct gt_map by_id = {0};
    find_calls_without_ops(marking, part, &by_id);
    for (uint32_t i = 0; i < calls->count && !by_id.failed; i++)
        if (is_in_part(marking, part, i) && !marking->marks[i] && marking->is_launch_name[calls->name[i]])
            marking->marks[i] = calls->correlation[i] == GT_NO_CORRELATION ||
                                gt_map_get(&by_id, gt_labels_call_process(store, i), calls->correlation[i]) == i;
    if (by_id.failed)
        marking->failed = true;
    gt_map_release(&by_id);
}

/* false: memory was short. */
static bool mark_calls_without_ops(struct marking *marking, size_t threads) {
    const struct gt_store *store = marking->view->store;
    bool has_any = false;
    for (size_t i = 0; i < store->strings.count; i++)
        if (gt_call_is_launch(gt_store_string(store, (gt_strid)i)))
            marking->is_launch_name[i] = 1;
    for (size_t i = 0; i < store->calls.count && !has_any; i++)
        has_any = !marking->marks[i] && marking->is_launch_name[store->calls.name[i]];
    if (!has_any)
        return true;
    for (marking->maybe_count = 4096; marking->maybe_count < store->calls.count;)
        marking->maybe_count *= 2;
    marking->maybe = gt_mem_array(marking->maybe_count, 1);
    if (!marking->maybe)
        return false;
    size_t most = gt_threads_slices(threads, store->calls.count, 0);
    for (marking->parts = 1; marking->parts * 2 <= most;)
        marking->parts *= 2;
    gt_threads_run(marking->parts, mark_part, marking);
    gt_mem_free(marking->maybe);
    return !marking->failed;
}

enum gt_status gt_calls_launch_marks_init(struct gt_launch_marks *out, const struct gt_view *view,
                                          struct gt_error *err) {
    const struct gt_store *store = view->store;
    size_t threads = gt_threads_count(view->request->threads);
    struct marking marking = {.view = view,
                              .marks = gt_mem_array(store->calls.count, 1),
                              .is_launch_name = gt_mem_array(store->strings.count, 1)};
    bool ok = marking.marks && marking.is_launch_name;
    if (ok)
        gt_threads_rows(gt_threads_slices(threads, view->op_count, 0), view->op_count, mark_slice, &marking);
    ok = ok && (!view->is_whole || mark_calls_without_ops(&marking, threads));
    gt_mem_free(marking.is_launch_name);
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

uint8_t *gt_calls_blocking_names_new(const struct gt_store *store) {
    enum { UNKNOWN, RETURNS, BLOCKS };
    uint8_t *answers = gt_mem_array(store->strings.count, 1);
    for (size_t i = 0; i < store->calls.count && answers; i++) {
        uint8_t *answer = &answers[store->calls.name[i]];
        if (*answer == UNKNOWN)
            *answer = gt_call_is_blocking(gt_store_string(store, store->calls.name[i])) ? BLOCKS : RETURNS;
    }
    for (size_t name = 0; name < store->strings.count && answers; name++)
        answers[name] = answers[name] == BLOCKS;
    return answers;
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
    size_t count = 0;
    for (size_t i = 0; i < store->calls.count; i++) {
        marks[i] = is_blocking_name[store->calls.name[i]];
        count += marks[i] && store->calls.correlation[i] != GT_NO_CORRELATION && store->calls.thread[i] != GT_NO_TRACK;
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
    uint8_t *marks = gt_mem_array(store->calls.count, 1);
    uint8_t *is_blocking_name = gt_calls_blocking_names_new(store);
    bool ok = marks && is_blocking_name && unmark_inner(store, marks, mark_blocking(store, marks, is_blocking_name));
    gt_mem_free(is_blocking_name);
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
