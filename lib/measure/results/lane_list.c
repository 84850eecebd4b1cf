/* Gathers lanes, leaves out what is too much, and puts the rest in order. */
#include "measure/results/lane_list.h"

#include <stdlib.h>

#include "base/mem.h"

struct gt_timeline_row gt_lane_list_row(enum gt_timeline_kind kind) {
    return (struct gt_timeline_row){.kind = kind,
                                    .device = GT_TIMELINE_UNKNOWN,
                                    .pid = GT_TIMELINE_UNKNOWN,
                                    .stream = GT_TIMELINE_UNKNOWN,
                                    .tid = GT_TIMELINE_UNKNOWN,
                                    .level = GT_TIMELINE_UNKNOWN};
}

int64_t gt_lane_list_pid(const struct gt_store *store, uint32_t process) {
    return process == GT_NO_TRACK || store->processes.pid[process] == -1 ? GT_TIMELINE_UNKNOWN
                                                                         : store->processes.pid[process];
}

struct gt_timeline_row gt_lane_list_thread_row(const struct gt_store *store, enum gt_timeline_kind kind,
                                               uint32_t thread, uint32_t level) {
    struct gt_timeline_row row = gt_lane_list_row(kind);
    row.level = level;
    row.pid = gt_lane_list_pid(store, store->threads.process[thread]);
    if (store->threads.tid[thread] != -1)
        row.tid = store->threads.tid[thread];
    row.thread = gt_store_string(store, store->threads.name[thread]);
    if (row.thread.len == 0 && row.tid == GT_TIMELINE_UNKNOWN)
        row.thread = gt_store_string(store, store->threads.label[thread]);
    return row;
}

void gt_lane_list_add(struct gt_lane_list *list, const struct gt_timeline_row *row, struct gt_span_row spans,
                      uint32_t track) {
    struct gt_lane *grown = gt_mem_room(list->lanes, list->count, &list->capacity, sizeof *grown);
    if (!grown) {
        list->failed = true;
        return;
    }
    list->lanes = grown;
    list->lanes[list->count] = (struct gt_lane){*row, spans, track};
    list->lanes[list->count].row.lane = (uint32_t)list->count;
    list->lanes[list->count++].row.count = spans.count;
}

void gt_lane_list_join(struct gt_lane_list *list, struct gt_lane_list *from) {
    for (size_t i = 0; i < from->count; i++)
        gt_lane_list_add(list, &from->lanes[i].row, from->lanes[i].spans, from->lanes[i].track);
    for (size_t kind = 0; kind < GT_TIMELINE_KIND_COUNT; kind++)
        list->left_out[kind] += from->left_out[kind];
    list->failed |= from->failed;
    gt_lane_list_release(from);
}

void gt_lane_list_release(struct gt_lane_list *list) {
    gt_mem_free(list->lanes);
    *list = (struct gt_lane_list){0};
}

/* ---- leaving out ---- */

/* The number of a lane says where it stood. */
static int by_importance(const void *a, const void *b) {
    const struct gt_lane *x = a, *y = b;
    if (x->row.level != y->row.level)
        return x->row.level < y->row.level ? -1 : 1;
    if (x->spans.count != y->spans.count)
        return x->spans.count > y->spans.count ? -1 : 1;
    return (x->row.lane > y->row.lane) - (x->row.lane < y->row.lane);
}

static int by_number(const void *a, const void *b) {
    const struct gt_lane *x = a, *y = b;
    return (x->row.lane > y->row.lane) - (x->row.lane < y->row.lane);
}

static void forget_others(struct gt_lane_list *list, const struct gt_lane *kept, size_t kept_count,
                          enum gt_timeline_kind kind) {
    size_t count = 0, next = 0;
    for (size_t i = 0; i < list->count; i++) {
        bool is_kept = next < kept_count && kept[next].row.lane == list->lanes[i].row.lane;
        next += is_kept;
        if (is_kept || list->lanes[i].row.kind != kind)
            list->lanes[count++] = list->lanes[i];
    }
    list->count = count;
}

bool gt_lane_list_limit(struct gt_lane_list *list, enum gt_timeline_kind kind, size_t most) {
    size_t count = 0, found = 0;
    for (size_t i = 0; i < list->count; i++)
        count += list->lanes[i].row.kind == kind;
    if (count <= most)
        return true;
    struct gt_lane *chosen = gt_mem_uninitialised(count, sizeof *chosen);
    if (!chosen)
        return false;
    for (size_t i = 0; i < list->count; i++)
        if (list->lanes[i].row.kind == kind)
            chosen[found++] = list->lanes[i];
    qsort(chosen, count, sizeof *chosen, by_importance);
    qsort(chosen, most, sizeof *chosen, by_number);
    forget_others(list, chosen, most, kind);
    list->left_out[kind] += count - most;
    gt_mem_free(chosen);
    return true;
}

/* ---- order ---- */

static bool is_of_thread(const struct gt_lane *lane) {
    return lane->row.kind >= GT_TIMELINE_HOST_RANGES;
}

static int by_place(const void *a, const void *b) {
    const struct gt_lane *x = a, *y = b;
    if (is_of_thread(x) != is_of_thread(y))
        return is_of_thread(x) ? 1 : -1;
    if (is_of_thread(x)) {
        if (x->row.pid != y->row.pid)
            return x->row.pid < y->row.pid ? -1 : 1;
        if (x->row.tid != y->row.tid)
            return x->row.tid < y->row.tid ? -1 : 1;
        if (x->track != y->track)
            return x->track < y->track ? -1 : 1;
    }
    if (x->row.kind != y->row.kind)
        return x->row.kind < y->row.kind ? -1 : 1;
    return by_number(a, b);
}

bool gt_lane_list_sort(struct gt_lane_list *list) {
    if (list->failed)
        return false;
    if (list->count)
        qsort(list->lanes, list->count, sizeof *list->lanes, by_place);
    for (size_t i = 0; i < list->count; i++)
        list->lanes[i].row.lane = (uint32_t)i;
    return true;
}
