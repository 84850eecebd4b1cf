/* Gathers series of copies and looks up the gaps next to them. Linear in ops, with a logarithm for each copy to find
   its gaps. */
#include "measure/findings/bulk_copies.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/threads.h"
#include "measure/findings/findings.h"
#include "measure/results/copies.h"

/* ---- gathering ---- */

/* GT_COPY_WAY_COUNT: inside the GPU, between GPUs, or not known. */
static enum gt_copy_way way_of(const struct gt_store *store, uint32_t op, uint8_t src, uint8_t dst) {
    bool from_host = gt_copy_memory_is_host(src), to_host = gt_copy_memory_is_host(dst);
    if (from_host != to_host)
        return to_host ? GT_COPY_TO_HOST : GT_COPY_TO_GPU;
    if (src != GT_MEMORY_UNKNOWN || dst != GT_MEMORY_UNKNOWN)
        return GT_COPY_WAY_COUNT;
    struct gt_str name = gt_store_string(store, store->ops.name[op]);
    if (gt_str_find_nocase(name, GT_STR("HtoD")) || gt_str_find_nocase(name, GT_STR("Host-to-Device")))
        return GT_COPY_TO_GPU;
    return gt_copy_is_to_host(store, op) ? GT_COPY_TO_HOST : GT_COPY_WAY_COUNT;
}

/* Few names of calls copy: the last one is the next one, mostly. */
struct last_call {
    gt_strid name;
    bool is_known, is_asynchronous;
};

static bool is_asynchronous(const struct gt_store *store, uint32_t call, struct last_call *last) {
    if (call == GT_NO_ROW)
        return true;
    gt_strid name = store->calls.name[call];
    if (!last->is_known || last->name != name)
        *last =
            (struct last_call){name, true, gt_str_find_nocase(gt_store_string(store, name), GT_STR("Async")) != NULL};
    return last->is_asynchronous;
}

struct gathering {
    struct gt_bulk_copies *copies;
    const struct gt_view *view;
    const uint8_t *computes; /* by lane */
    uint32_t next_row;       /* of copies */
    struct last_call last_call;
    size_t series_first; /* index of the first copy of the series that is open */
    uint64_t series_bytes;
};

/* What tells whether it is one of a series. false: it is no copy between host and GPU. */
static bool read_copy(struct gathering *it, uint32_t position, struct gt_bulk_copy *copy) {
    const struct gt_store *store = it->view->store;
    uint32_t op = it->view->row[position], row = gt_copy_next_of_op(store, op, &it->next_row);
    if (row == GT_NO_ROW)
        return false;
    uint8_t src = store->copies.src[row], dst = store->copies.dst[row];
    enum gt_copy_way way = way_of(store, op, src, dst);
    *copy = (struct gt_bulk_copy){.position = position,
                                  .bytes = store->copies.bytes[row],
                                  .way = (uint8_t)way,
                                  .memory = way == GT_COPY_TO_GPU ? src : dst};
    return way != GT_COPY_WAY_COUNT;
}

/* The rest, of those that are bulk copies. */
static void read_calls(struct gathering *it, size_t first) {
    const struct gt_view *view = it->view;
    for (size_t i = first; i < it->copies->count; i++) {
        struct gt_bulk_copy *copy = &it->copies->items[i];
        copy->call = view->labels->op_call[view->row[copy->position]];
        copy->blocks = copy->memory == GT_MEMORY_PAGEABLE || !is_asynchronous(view->store, copy->call, &it->last_call);
        copy->is_on_compute_stream = it->computes[view->lane[copy->position]];
    }
}

static void close_series(struct gathering *it) {
    if ((double)it->series_bytes < gt_thresholds.bulk_copy_bytes)
        it->copies->count = it->series_first;
    it->series_first = it->copies->count;
    it->series_bytes = 0;
}

static void add_copy(struct gathering *it, struct gt_bulk_copy *copy) {
    struct gt_bulk_copies *copies = it->copies;
    struct gt_bulk_copy *last = copies->count > it->series_first ? &copies->items[copies->count - 1] : NULL;
    if (last && last->way != copy->way)
        close_series(it);
    struct gt_bulk_copy *items = gt_mem_room(copies->items, copies->count, &copies->capacity, sizeof *items);
    copies->has_failed |= !items;
    if (!items)
        return;
    copies->items = items;
    copy->series = copies->count > it->series_first ? items[it->series_first].position : copy->position;
    it->series_bytes = it->series_bytes + copy->bytes < it->series_bytes ? UINT64_MAX : it->series_bytes + copy->bytes;
    items[copies->count++] = *copy;
}

/* Nothing on the GPU can hide what comes before its first or after its last compute. */
static void mark_compute_around(struct gathering *it, const struct gt_view_device *device, size_t first_copy) {
    size_t first = device->first, last = device->first + device->count;
    while (first < last && gt_view_op_class(it->view, first) != GT_CLASS_COMPUTE)
        first++;
    while (last > first && gt_view_op_class(it->view, last - 1) != GT_CLASS_COMPUTE)
        last--;
    for (size_t i = first_copy; i < it->copies->count; i++) {
        struct gt_bulk_copy *copy = &it->copies->items[i];
        copy->has_compute_around = copy->position > first && copy->position < last;
    }
}

static void gather_device(struct gathering *it, uint32_t index) {
    const struct gt_view_device *device = &it->view->devices[index];
    size_t first_copy = it->series_first = it->copies->count;
    size_t last = SIZE_MAX; /* position of the copy before */
    const size_t end = device->first + device->count;
    for (size_t i = gt_view_next_of_kind(it->view, GT_OP_MEMCPY, device->first, end); i < end;
         i = gt_view_next_of_kind(it->view, GT_OP_MEMCPY, i + 1, end)) {
        struct gt_bulk_copy copy;
        if (!read_copy(it, (uint32_t)i, &copy))
            continue;
        if (last + 1 != i) /* another op ends a series */
            close_series(it);
        last = i;
        copy.device = index;
        add_copy(it, &copy);
        if (it->copies->has_failed)
            return;
    }
    close_series(it);
    read_calls(it, first_copy);
    mark_compute_around(it, device, first_copy);
}

/* By lane: whether anything computes there. */
static void mark_computing_lanes(const struct gt_view *view, uint8_t *computes) {
    for (size_t i = 0; i < view->lane_count; i++) {
        const struct gt_view_lane *lane = &view->lanes[i];
        for (size_t k = lane->first; k < lane->first + lane->count && !computes[lane->lane]; k++)
            computes[lane->lane] = gt_view_op_class(view, view->lane_order[k]) == GT_CLASS_COMPUTE;
    }
}

static bool is_copy(const struct gt_view *view, uint32_t position) {
    return position != GT_NO_ROW && gt_view_op_kind(view, position) == GT_OP_MEMCPY;
}

/* NULL: the op is none of the copies. Those next to a gap are mostly neighbours: *near is where to begin. */
static const struct gt_bulk_copy *find_copy(const struct gt_bulk_copies *copies, uint32_t position, size_t near) {
    enum { STEPS = 4 };
    size_t low = near, high = copies->count;
    if (low > 0 && copies->items[low - 1].position >= position)
        low = 0;
    for (size_t i = 0; i < STEPS && low < high && copies->items[low].position < position; i++)
        low++;
    high = low < high && copies->items[low].position >= position ? low : high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (copies->items[middle].position < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low < copies->count && copies->items[low].position == position ? &copies->items[low] : NULL;
}

/* Those of a slice of all copies. */
struct gap_list {
    struct gt_bulk_copies_gap *items;
    size_t count, capacity;
    size_t place; /* of the first one among those of all slices */
    bool has_failed;
};

struct gap_search {
    struct gt_bulk_copies *copies;
    const struct gt_view *view;
    const struct gt_idle *idle;
    struct gap_list *lists; /* by slice */
};

static void add_gap(struct gap_list *list, struct gt_bulk_copies_gap gap) {
    struct gt_bulk_copies_gap *items = gt_mem_room(list->items, list->count, &list->capacity, sizeof *items);
    list->has_failed |= !items;
    if (!items)
        return;
    list->items = items;
    items[list->count++] = gap;
}

/* The first gap of a device, from one on, that an op at this position or after it ends: their order is that of these
   ops, and mostly it is near. */
static size_t first_gap_to(const uint32_t *next, size_t from, size_t end, uint32_t position) {
    size_t low = from, high = end;
    for (size_t stride = 1; stride < end - from && high == end; stride *= 2) {
        if (next[from + stride] < position)
            low = from + stride;
        else
            high = from + stride;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (next[middle] < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The gap that a copy ends, and the one that begins with its end unless a listed copy ends it; of late starts both
   parts. The latter comes after the former, and after the one that another op ended when the copy started. Gives the
   first gap that may be next to the copy after it. */
static size_t add_gaps_of(const struct gap_search *it, size_t index, size_t from, struct gap_list *list) {
    const struct gt_idle *idle = it->idle;
    const struct gt_bulk_copy *copy = &it->copies->items[index];
    size_t end = idle->devices[copy->device].first + idle->devices[copy->device].count;
    size_t gap = first_gap_to(idle->next, from, end, copy->position);
    for (; gap < end && idle->next[gap] == copy->position; gap++) {
        uint32_t previous = gt_idle_gap_previous(idle, gap);
        bool is_after = index > 0 && is_copy(it->view, previous);
        add_gap(list,
                (struct gt_bulk_copies_gap){gap, is_after ? find_copy(it->copies, previous, index - 1) : NULL, copy});
    }
    size_t after = gap;
    while (after < end && gt_idle_gap_whole_end_ns(idle, after) <= it->view->end_ns[copy->position])
        after++;
    for (; after < end && gt_idle_gap_previous(idle, after) == copy->position; after++)
        if (!is_copy(it->view, idle->next[after]) || !find_copy(it->copies, idle->next[after], index + 1))
            add_gap(list, (struct gt_bulk_copies_gap){after, copy, NULL});
    return gap;
}

static void gather_gaps_of_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct gap_search *it = context;
    const struct gt_bulk_copy *copies = it->copies->items;
    struct gap_list list = {0};
    size_t gap = 0;
    for (size_t i = begin; i < end && !list.has_failed; i++) {
        if (i == begin || copies[i].device != copies[i - 1].device)
            gap = it->idle->devices[copies[i].device].first;
        gap = add_gaps_of(it, i, gap, &list);
    }
    it->lists[slice] = list;
}

static void copy_gaps(void *context, size_t slice) {
    const struct gap_search *it = context;
    const struct gap_list *list = &it->lists[slice];
    if (list->count)
        memcpy(it->copies->gaps + list->place, list->items, list->count * sizeof *list->items);
}

/* What a single slice found stays where it is. */
static void join_gaps(struct gap_search *it, size_t slices) {
    struct gt_bulk_copies *copies = it->copies;
    for (size_t i = 0; i < slices; i++) {
        it->lists[i].place = copies->gap_count;
        copies->gap_count += it->lists[i].count;
        copies->has_failed |= it->lists[i].has_failed;
    }
    if (slices == 1) {
        copies->gaps = it->lists[0].items;
        it->lists[0].items = NULL;
        return;
    }
    copies->gaps = gt_mem_uninitialised(copies->gap_count, sizeof *copies->gaps);
    copies->has_failed |= !copies->gaps;
    if (copies->gaps)
        gt_threads_parts(slices, slices, copy_gaps, it);
}

static int by_gap(const void *a, const void *b) {
    const struct gt_bulk_copies_gap *x = a, *y = b;
    return (x->gap > y->gap) - (x->gap < y->gap);
}

/* Of copies that start at one time the one that ends the gap before them may come after one that begins another gap. */
static void put_in_order(struct gt_bulk_copies *copies) {
    for (size_t i = 1; i < copies->gap_count; i++)
        if (copies->gaps[i].gap < copies->gaps[i - 1].gap) {
            qsort(copies->gaps, copies->gap_count, sizeof *copies->gaps, by_gap);
            return;
        }
}

static void gather_gaps(struct gt_bulk_copies *copies, const struct gt_view *view, const struct gt_idle *idle) {
    enum { ROWS = 8 }; /* of a pass over columns that take as long as one search among gaps */
    size_t slices = gt_threads_slices(gt_threads_count(view->request->threads), ROWS * copies->count, 0);
    struct gap_search it = {copies, view, idle, gt_mem_array(slices, sizeof *it.lists)};
    copies->has_failed |= !it.lists;
    if (it.lists) {
        gt_threads_rows(slices, copies->count, gather_gaps_of_slice, &it);
        join_gaps(&it, slices);
    }
    if (!copies->has_failed)
        put_in_order(copies);
    for (size_t i = 0; i < slices && it.lists; i++)
        gt_mem_free(it.lists[i].items);
    gt_mem_free(it.lists);
}

/* The best of pinned memory; else a usual one, or what pageable memory reached where that is more. */
static void measure_rates(struct gt_bulk_copies *copies, const struct gt_view *view) {
    double any[GT_COPY_WAY_COUNT] = {0};
    for (size_t i = 0; i < copies->count; i++) {
        const struct gt_bulk_copy *copy = &copies->items[i];
        int64_t ns = gt_view_op_whole_ns(view, copy->position);
        double rate = ns > 0 ? (double)copy->bytes / (double)ns : 0;
        bool is_pinned = copy->memory == GT_MEMORY_PINNED && (double)copy->bytes >= gt_thresholds.bulk_copy_bytes;
        any[copy->way] = fmax(any[copy->way], rate);
        if (is_pinned)
            copies->pinned_rate[copy->way] = fmax(copies->pinned_rate[copy->way], rate);
    }
    for (int way = 0; way < GT_COPY_WAY_COUNT; way++) {
        copies->is_rate_observed[way] = copies->pinned_rate[way] > 0;
        if (!copies->is_rate_observed[way])
            copies->pinned_rate[way] = fmax(any[way], gt_thresholds.pinned_bytes_per_s / 1e9);
    }
}

/* Copies of some devices that follow each other. */
struct group {
    struct gt_bulk_copies copies;
    size_t place; /* of the first one among those of all groups */
};

struct gathering_all {
    struct gt_bulk_copies *copies;
    const struct gt_view *view;
    const uint8_t *computes; /* by lane */
    struct group *groups;
    size_t group_count;
};

static void gather_group(void *context, size_t index) {
    const struct gathering_all *all = context;
    const size_t devices = all->view->device_count;
    struct gathering it = {.copies = &all->groups[index].copies, .view = all->view, .computes = all->computes};
    for (size_t d = gt_threads_slice_begin(devices, all->group_count, index),
                end = gt_threads_slice_begin(devices, all->group_count, index + 1);
         d < end && !it.copies->has_failed; d++)
        gather_device(&it, (uint32_t)d);
}

static void copy_group(void *context, size_t index) {
    const struct gathering_all *all = context;
    const struct group *group = &all->groups[index];
    if (group->copies.count)
        memcpy(all->copies->items + group->place, group->copies.items,
               group->copies.count * sizeof *group->copies.items);
}

/* What a single group found stays where it is. */
static void join_groups(struct gathering_all *all) {
    struct gt_bulk_copies *copies = all->copies;
    for (size_t i = 0; i < all->group_count; i++) {
        all->groups[i].place = copies->count;
        copies->count += all->groups[i].copies.count;
        copies->has_failed |= all->groups[i].copies.has_failed;
    }
    if (all->group_count == 1) {
        copies->items = all->groups[0].copies.items;
        all->groups[0].copies.items = NULL;
        return;
    }
    copies->items = gt_mem_uninitialised(copies->count, sizeof *copies->items);
    copies->has_failed |= !copies->items;
    if (copies->items)
        gt_threads_parts(all->group_count, all->group_count, copy_group, all);
}

static void gather_copies(struct gt_bulk_copies *copies, const struct gt_view *view) {
    size_t most = gt_threads_slices(gt_threads_count(view->request->threads), view->op_count, 0);
    uint8_t *computes = gt_mem_array(view->store->lanes.count, 1);
    struct gathering_all all = {.copies = copies,
                                .view = view,
                                .computes = computes,
                                .group_count = most < view->device_count ? most : view->device_count};
    all.groups = gt_mem_array(all.group_count, sizeof *all.groups);
    copies->has_failed = !computes || !all.groups;
    if (!copies->has_failed) {
        mark_computing_lanes(view, computes);
        gt_threads_parts(all.group_count, all.group_count, gather_group, &all);
        join_groups(&all);
    }
    for (size_t i = 0; i < all.group_count && all.groups; i++)
        gt_bulk_copies_release(&all.groups[i].copies);
    gt_mem_free(all.groups);
    gt_mem_free(computes);
}

enum gt_status gt_bulk_copies_init(struct gt_bulk_copies *copies, const struct gt_view *view,
                                   const struct gt_idle *idle, struct gt_error *err) {
    *copies = (struct gt_bulk_copies){0};
    if (view->store->copies.count == 0)
        return GT_OK;
    gather_copies(copies, view);
    if (!copies->has_failed && copies->count && idle->count)
        gather_gaps(copies, view, idle);
    bool ok = !copies->has_failed;
    if (ok)
        measure_rates(copies, view);
    else
        gt_bulk_copies_release(copies);
    return ok ? GT_OK : gt_fail_memory(err);
}

void gt_bulk_copies_release(struct gt_bulk_copies *copies) {
    gt_mem_free(copies->items);
    gt_mem_free(copies->gaps);
    *copies = (struct gt_bulk_copies){0};
}
