/* Finds calls of the driver's allocators and sums them by name: calls and ops come in, a table goes out. */
#include "measure/memory_use/allocator_calls.h"

#include <stdlib.h>

#include "base/intervals.h"
#include "base/mem.h"
#include "base/ns.h"
#include "base/spans.h"
#include "measure/results/calls.h"
#include "measure/results/grouping.h"

/* What follows cuda, cu or hip. */
bool gt_allocator_calls_has(struct gt_str name) {
    static const struct gt_str makers[] = {GT_STR("cuda"), GT_STR("cu"), GT_STR("hip")};
    static const struct gt_str verbs[] = {GT_STR("Malloc"),   GT_STR("Free"),        GT_STR("MemAlloc"),
                                          GT_STR("MemFree"),  GT_STR("MemCreate"),   GT_STR("MemRelease"),
                                          GT_STR("MemMap"),   GT_STR("MemUnmap"),    GT_STR("HostAlloc"),
                                          GT_STR("HostFree"), GT_STR("MemHostAlloc")};
    for (size_t m = 0; m < GT_ARRAY_COUNT(makers); m++)
        for (size_t v = 0; gt_str_starts(name, makers[m]) && v < GT_ARRAY_COUNT(verbs); v++) {
            struct gt_str rest = {name.ptr + makers[m].len, name.len - makers[m].len};
            if (gt_str_starts(rest, verbs[v]))
                return true;
        }
    return false;
}

/* ---- idle time ---- */

/* Moments at which some GPU of the view ran something: merged, by time. */
static bool find_busy(const struct gt_view *view, struct gt_intervals *busy) {
    uint32_t *order = gt_mem_uninitialised(view->op_count, sizeof *order);
    if (!order)
        return false;
    for (size_t i = 0; i < view->op_count; i++)
        order[i] = (uint32_t)i;
    bool is_done = view->device_count < 2 || gt_spans_sort(order, view->op_count, view->start_ns, view->end_ns);
    for (size_t i = 0; i < view->op_count && is_done; i++)
        gt_intervals_add(busy, view->start_ns[order[i]], view->end_ns[order[i]]);
    gt_mem_free(order);
    return is_done && !busy->failed;
}

struct finding {
    const struct gt_view *view;
    struct gt_intervals busy;
    int64_t start_ns, end_ns; /* of all spans */
    struct gt_grouping rows;
};

/* Number of the first busy interval that ends after a moment. */
static size_t first_after(const struct gt_intervals *busy, int64_t at_ns) {
    size_t low = 0, high = busy->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (busy->items[middle].end_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Busy time before a moment, from the number of the interval there and a sum of all before it. */
static int64_t busy_until(const struct gt_intervals *busy, const int64_t *sums_ns, int64_t at_ns) {
    size_t next = first_after(busy, at_ns);
    int64_t part_ns = next < busy->count ? gt_ns_between(busy->items[next].start_ns, at_ns) : 0;
    return gt_ns_add(sums_ns[next], part_ns > 0 ? part_ns : 0);
}

static int64_t *sum_busy(const struct gt_intervals *busy) {
    int64_t *sums_ns = gt_mem_uninitialised(busy->count + 1, sizeof *sums_ns);
    if (!sums_ns)
        return NULL;
    sums_ns[0] = 0;
    for (size_t i = 0; i < busy->count; i++)
        sums_ns[i + 1] = gt_ns_add(sums_ns[i], gt_ns_between(busy->items[i].start_ns, busy->items[i].end_ns));
    return sums_ns;
}

/* ---- calls ---- */

enum mark { UNKNOWN, YES, NO }; /* whether calls of a name are an allocator's */

/* By id of names. NULL: memory was short. */
static uint8_t *mark_names(const struct gt_store *store) {
    uint8_t *marks = gt_mem_array(store->strings.count, sizeof *marks);
    for (size_t i = 0; marks && i < store->calls.count; i++) {
        gt_strid name = store->calls.name[i];
        if (marks[name] == UNKNOWN)
            marks[name] = gt_allocator_calls_has(gt_call_plain_name(gt_store_string(store, name))) ? YES : NO;
    }
    return marks;
}

static bool add_call(struct finding *finding, const int64_t *sums_ns, size_t call) {
    const struct gt_calls *calls = &finding->view->store->calls;
    int64_t start_ns = calls->start_ns[call], end_ns = calls->end_ns[call];
    int64_t length_ns = gt_ns_between(start_ns, end_ns);
    bool is_new;
    struct gt_allocator_call *row = gt_grouping_find(&finding->rows, calls->name[call], 0, &is_new);
    if (!row)
        return false;
    int64_t from_ns = start_ns > finding->start_ns ? start_ns : finding->start_ns;
    int64_t to_ns = end_ns < finding->end_ns ? end_ns : finding->end_ns;
    int64_t busy_ns =
        gt_ns_between(busy_until(&finding->busy, sums_ns, from_ns), busy_until(&finding->busy, sums_ns, to_ns));
    row->name = gt_call_plain_name(gt_store_string(finding->view->store, calls->name[call]));
    row->count++;
    row->total_ns = gt_ns_add(row->total_ns, length_ns);
    row->max_ns = length_ns > row->max_ns ? length_ns : row->max_ns;
    row->idle_ns = gt_ns_add(row->idle_ns, gt_ns_between(busy_ns, gt_ns_between(from_ns, to_ns)));
    return true;
}

static bool add_calls(struct finding *finding) {
    const struct gt_view *view = finding->view;
    const struct gt_calls *calls = &view->store->calls;
    bool *processes = gt_view_processes(view);
    uint8_t *marks = mark_names(view->store);
    int64_t *sums_ns = NULL;
    bool is_done = processes && marks;
    for (size_t i = 0; i < calls->count && is_done; i++) {
        uint32_t process = gt_labels_call_process(view->store, (uint32_t)i);
        if (marks[calls->name[i]] != YES || calls->start_ns[i] >= finding->end_ns ||
            calls->end_ns[i] <= finding->start_ns || (process != GT_NO_TRACK && !processes[process]))
            continue;
        if (!sums_ns) /* most traces have no such calls */
            is_done = find_busy(view, &finding->busy) && (sums_ns = sum_busy(&finding->busy));
        is_done = is_done && add_call(finding, sums_ns, i);
    }
    gt_mem_free(processes);
    gt_mem_free(marks);
    gt_mem_free(sums_ns);
    return is_done;
}

static int by_name(const void *a, const void *b) {
    const struct gt_allocator_call *x = a, *y = b;
    return gt_str_cmp(x->name, y->name);
}

static int by_time(const void *a, const void *b) {
    const struct gt_allocator_call *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    return by_name(a, b);
}

/* Names with several versions are one. */
static size_t join_names(struct gt_allocator_call *rows, size_t count) {
    size_t kept = 0;
    if (count)
        qsort(rows, count, sizeof *rows, by_name);
    for (size_t i = 0; i < count; i++) {
        struct gt_allocator_call *into = kept ? &rows[kept - 1] : NULL;
        if (!into || !gt_str_eq(into->name, rows[i].name)) {
            rows[kept++] = rows[i];
            continue;
        }
        into->count += rows[i].count;
        into->total_ns = gt_ns_add(into->total_ns, rows[i].total_ns);
        into->max_ns = rows[i].max_ns > into->max_ns ? rows[i].max_ns : into->max_ns;
        into->idle_ns = gt_ns_add(into->idle_ns, rows[i].idle_ns);
    }
    if (kept)
        qsort(rows, kept, sizeof *rows, by_time);
    return kept;
}

enum gt_status gt_allocator_calls_init(struct gt_allocator_calls *calls, const struct gt_view *view,
                                       struct gt_error *err) {
    struct finding finding = {.view = view,
                              .start_ns = INT64_MAX,
                              .end_ns = INT64_MIN,
                              .rows = {.elem_bytes = sizeof(struct gt_allocator_call)}};
    *calls = (struct gt_allocator_calls){0};
    for (size_t d = 0; d < view->device_count; d++) {
        const struct gt_view_device *device = &view->devices[d];
        finding.start_ns = device->span_start_ns < finding.start_ns ? device->span_start_ns : finding.start_ns;
        finding.end_ns = device->span_end_ns > finding.end_ns ? device->span_end_ns : finding.end_ns;
    }
    bool is_done = add_calls(&finding);
    if (is_done) {
        calls->items = (void *)finding.rows.list;
        calls->count = join_names(calls->items, finding.rows.count);
        finding.rows.list = NULL;
    }
    gt_grouping_release(&finding.rows);
    gt_intervals_release(&finding.busy);
    return is_done ? GT_OK : gt_fail_memory(err);
}

void gt_allocator_calls_release(struct gt_allocator_calls *calls) {
    gt_mem_free(calls->items);
    *calls = (struct gt_allocator_calls){0};
}
