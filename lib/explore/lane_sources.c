/* Takes the spans of lanes from a view of all ops: what is kept are numbers of rows, for the columns stay in the store.
 */
#include "explore/lane_sources.h"

#include "base/mem.h"
#include "base/threads.h"
#include "measure/results/gpu_lanes.h"
#include "measure/results/host_lanes.h"
#include "measure/results/results.h"
#include "measure/results/timeline_ranges.h"

struct making {
    struct gt_explore *explore;
    const struct gt_view *view;
    struct gt_lane_list *list;
};

static void set_spans(struct making *making, enum gt_timeline_kind kind) {
    making->explore->spans[kind] =
        (struct gt_spans){&making->explore->sets[kind], gt_lane_set_read, making->view->store->origin_ns};
}

/* Room for the ids of a set. */
static bool set_alloc(struct gt_lane_set *set, size_t count) {
    set->ids = gt_mem_uninitialised(count, sizeof *set->ids);
    set->count = count;
    set->bytes += count * sizeof *set->ids;
    return set->ids != NULL;
}

/* ---- ops ---- */

static enum gt_status make_ops(struct making *making, struct gt_error *err) {
    const struct gt_view *view = making->view;
    const struct gt_store *store = view->store;
    struct gt_lane_set *set = &making->explore->sets[GT_TIMELINE_OPS];
    set->start_ns = store->ops.start_ns;
    set->end_ns = store->ops.end_ns;
    set->name = store->ops.name;
    set->category = view->labels->op_category;
    if (!set_alloc(set, view->op_count))
        return gt_fail_memory(err);
    for (size_t i = 0; i < view->op_count; i++)
        set->ids[i] = view->row[view->lane_order[i]];
    for (size_t i = 0; i < view->lane_count; i++) {
        const struct gt_view_lane *lane = &view->lanes[i];
        struct gt_timeline_row row = gt_lane_list_row(GT_TIMELINE_OPS);
        row.device = store->devices.id[store->lanes.device[lane->lane]];
        row.pid = gt_lane_list_pid(store, store->lanes.process[lane->lane]);
        row.stream = store->lanes.stream[lane->lane];
        gt_lane_list_add(making->list, &row, (struct gt_span_row){lane->first, lane->count}, lane->lane);
    }
    set_spans(making, GT_TIMELINE_OPS);
    return GT_OK;
}

/* ---- gaps ---- */

static enum gt_status make_gaps(struct making *making, struct gt_error *err) {
    struct gt_explore *explore = making->explore;
    const struct gt_idle *idle = gt_results_idle(making->view, err);
    const struct gt_idle_code *code = idle ? gt_results_idle_code(making->view, err) : NULL;
    if (!code)
        return err->code;
    if (!gt_idle_lanes_init(&explore->idle, making->view, idle, code))
        return gt_fail_memory(err);
    for (size_t d = 0; d < idle->device_count; d++) {
        if (idle->devices[d].count == 0)
            continue;
        struct gt_timeline_row row = gt_lane_list_row(GT_TIMELINE_GAPS);
        row.device = making->view->devices[d].id;
        gt_lane_list_add(making->list, &row, (struct gt_span_row){idle->devices[d].first, idle->devices[d].count},
                         making->view->devices[d].device);
    }
    explore->spans[GT_TIMELINE_GAPS] =
        (struct gt_spans){&explore->idle, gt_idle_lanes_read, making->view->store->origin_ns};
    return GT_OK;
}

/* ---- ranges where their work ran ---- */

/* The times of these are made for the view: they are copied. */
static bool copy_ranges(struct gt_lane_set *set, const struct gt_timeline_ranges *ranges, size_t count) {
    const struct gt_store *store = ranges->view->store;
    int64_t *start_ns = set->owned[0] = gt_mem_uninitialised(count, sizeof *start_ns);
    int64_t *end_ns = set->owned[1] = gt_mem_uninitialised(count, sizeof *end_ns);
    gt_strid *name = set->owned[2] = gt_mem_uninitialised(count, sizeof *name);
    uint32_t *row = set->owned[GT_LANE_SET_ROWS] = gt_mem_uninitialised(count, sizeof *row);
    if (!start_ns || !end_ns || !name || !row || !set_alloc(set, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct gt_span span;
        gt_timeline_ranges_read(ranges, i, 1, &span);
        start_ns[i] = span.start_ns;
        end_ns[i] = span.end_ns;
        row[i] = ranges->spans[i];
        name[i] = ranges->is_projected ? store->projections.name[row[i]] : store->ranges.name[row[i]];
        set->ids[i] = (uint32_t)i;
    }
    set->start_ns = start_ns;
    set->end_ns = end_ns;
    set->name = name;
    set->bytes += count * (sizeof *start_ns + sizeof *end_ns + sizeof *name + sizeof *row);
    return true;
}

static enum gt_status make_ranges(struct making *making, struct gt_error *err) {
    struct gt_timeline_ranges ranges;
    enum gt_status status = gt_timeline_ranges_init(&ranges, making->view, SIZE_MAX, err);
    if (status != GT_OK)
        return status;
    size_t count = 0;
    for (size_t i = 0; i < ranges.row_count; i++) {
        const struct gt_timeline_range_row *from = &ranges.rows[i];
        struct gt_timeline_row row = gt_timeline_ranges_row(&ranges, from);
        gt_lane_list_add(making->list, &row, from->spans, from->track);
        count += from->spans.count;
    }
    bool ok = copy_ranges(&making->explore->sets[GT_TIMELINE_RANGES], &ranges, count);
    gt_timeline_ranges_release(&ranges);
    set_spans(making, GT_TIMELINE_RANGES);
    return ok ? GT_OK : gt_fail_memory(err);
}

/* ---- steps, collectives and counters ---- */

static enum gt_status make_steps(struct making *making, struct gt_error *err) {
    set_spans(making, GT_TIMELINE_STEPS);
    struct gt_lane_set *set = &making->explore->sets[GT_TIMELINE_STEPS];
    return gt_gpu_lanes_steps(making->view, set, making->list) ? GT_OK : gt_fail_memory(err);
}

static enum gt_status make_collectives(struct making *making, struct gt_error *err) {
    set_spans(making, GT_TIMELINE_COLLECTIVES);
    struct gt_lane_set *set = &making->explore->sets[GT_TIMELINE_COLLECTIVES];
    return gt_gpu_lanes_collectives(making->view, &making->explore->arena, set, making->list) ? GT_OK
                                                                                              : gt_fail_memory(err);
}

static enum gt_status make_counters(struct making *making, struct gt_error *err) {
    return gt_curves_make(&making->explore->curves, making->view, &making->explore->arena, making->list, err);
}

/* ---- what CPU threads did ---- */

enum { HOST_KINDS = GT_TIMELINE_CALLS - GT_TIMELINE_HOST_RANGES + 1 };

struct host_making {
    struct making *making;
    struct gt_lane_list lists[HOST_KINDS];
    bool has_failed[HOST_KINDS];
};

static void make_host_kind(void *context, size_t index) {
    struct host_making *host = context;
    enum gt_timeline_kind kind = (enum gt_timeline_kind)(GT_TIMELINE_HOST_RANGES + index);
    struct gt_lane_set *set = &host->making->explore->sets[kind];
    size_t threads = gt_threads_count(host->making->explore->trace.threads);
    host->has_failed[index] = !gt_host_lanes_make(host->making->view, kind, threads, set, &host->lists[index]);
    set_spans(host->making, kind);
}

static enum gt_status make_host(struct making *making, struct gt_error *err) {
    struct host_making host = {.making = making};
    bool ok = true;
    gt_threads_deal(gt_threads_count(making->explore->trace.threads), HOST_KINDS, make_host_kind, &host);
    for (size_t k = 0; k < HOST_KINDS; k++) {
        ok = ok && !host.has_failed[k];
        gt_lane_list_join(making->list, &host.lists[k]);
    }
    return ok ? GT_OK : gt_fail_memory(err);
}

/* ---- all ---- */

enum gt_status gt_lane_sources_make(struct gt_explore *explore, const struct gt_view *view, struct gt_lane_list *list,
                                    struct gt_error *err) {
    static enum gt_status (*const makers[])(struct making *, struct gt_error *) = {
        make_ops, make_gaps, make_ranges, make_steps, make_collectives, make_counters, make_host};
    struct making making = {explore, view, list};
    enum gt_status status = GT_OK;
    for (size_t i = 0; i < GT_ARRAY_COUNT(makers) && status == GT_OK; i++)
        status = makers[i](&making, err);
    return status == GT_OK && list->failed ? gt_fail_memory(err) : status;
}
