/* Makes the lanes of a trace: a view of all ops gives their order, the gaps and the ranges, and is let go. */
#include "explore/model.h"

#include "base/intervals.h"
#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"
#include "explore/lane_sources.h"
#include "measure/results/lane_list.h"
#include "measure/results/results.h"

/* More lanes of a kind than anyone looks through. */
enum { LANES_MAX = 2048 };

/* ---- pyramids ---- */

struct piling {
    struct gt_explore *explore;
    atomic_bool has_failed;
};

static void pile_up(void *context, size_t index) {
    struct piling *piling = context;
    struct gt_model_lane *lane = &piling->explore->lanes[index];
    struct gt_span_row row = lane->pyramid.row;
    if (!lane->spans)
        return;
    if (!gt_pyramid_init(&lane->pyramid, lane->spans, row))
        piling->has_failed = true;
    lane->row.busy_ns = lane->pyramid.busy_ns;
}

static bool make_pyramids(struct gt_explore *explore) {
    struct piling piling = {.explore = explore};
    gt_threads_deal(gt_threads_count(explore->trace.threads), explore->lane_count, pile_up, &piling);
    return !piling.has_failed;
}

/* ---- lanes ---- */

static bool take_lanes(struct gt_explore *explore, struct gt_lane_list *list) {
    for (enum gt_timeline_kind k = 0; k < GT_TIMELINE_KIND_COUNT; k++) {
        if (!gt_lane_list_limit(list, k, LANES_MAX))
            return false;
        explore->lanes_left_out[k] = list->left_out[k];
    }
    if (!gt_lane_list_sort(list))
        return false;
    explore->lanes = gt_mem_array(list->count, sizeof *explore->lanes);
    if (!explore->lanes)
        return false;
    explore->lane_count = list->count;
    for (size_t i = 0; i < list->count; i++) {
        explore->lanes[i].row = list->lanes[i].row;
        explore->lanes[i].track = list->lanes[i].track;
        if (list->lanes[i].row.kind == GT_TIMELINE_COUNTERS) {
            explore->lanes[i].curve = &explore->curves.items[list->lanes[i].spans.first];
            continue;
        }
        explore->lanes[i].spans = &explore->spans[list->lanes[i].row.kind];
        explore->lanes[i].pyramid.row = list->lanes[i].spans;
    }
    return true;
}

static void set_extent(struct gt_explore *explore) {
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, start_ns = INT64_MAX, end_ns = INT64_MIN;
    for (size_t i = 0; i < explore->lane_count; i++) {
        const struct gt_pyramid *pyramid = &explore->lanes[i].pyramid;
        if (pyramid->row.count == 0)
            continue;
        first_ns = pyramid->start_ns < first_ns ? pyramid->start_ns : first_ns;
        last_ns = pyramid->end_ns > last_ns ? pyramid->end_ns : last_ns;
        if (explore->lanes[i].row.kind != GT_TIMELINE_OPS)
            continue;
        start_ns = pyramid->start_ns < start_ns ? pyramid->start_ns : start_ns;
        end_ns = pyramid->end_ns > end_ns ? pyramid->end_ns : end_ns;
    }
    explore->first_ns = first_ns <= last_ns ? first_ns : 0;
    explore->last_ns = first_ns <= last_ns ? last_ns : 0;
    explore->start_ns = start_ns <= end_ns ? start_ns : explore->first_ns;
    explore->end_ns = start_ns <= end_ns ? end_ns : explore->last_ns;
}

static enum gt_status build(struct gt_explore *explore, const struct gt_view *view, struct gt_lane_list *list,
                            struct gt_error *err) {
    enum gt_status status = gt_lane_sources_make(explore, view, list, err);
    if (status != GT_OK)
        return status;
    if (!take_lanes(explore, list))
        return gt_fail_memory(err);
    return GT_OK;
}

enum gt_status gt_model_build(struct gt_explore *explore, struct gt_error *err) {
    struct gt_request request = {
        .threads = explore->trace.threads, .names = explore->trace.names, .facts = explore->trace.store->facts};
    struct gt_lane_list list = {0};
    struct gt_view *view = NULL;
    enum gt_status status = gt_view_new(explore->trace.store, explore->trace.labels, &request, &view, err);
    if (status == GT_OK)
        status = build(explore, view, &list, err);
    gt_lane_list_release(&list);
    gt_view_free(view);
    if (status != GT_OK)
        return status;
    if (!make_pyramids(explore))
        return gt_fail_memory(err);
    set_extent(explore);
    return GT_OK;
}

void gt_model_release(struct gt_explore *explore) {
    for (size_t i = 0; i < explore->lane_count; i++)
        gt_pyramid_release(&explore->lanes[i].pyramid);
    gt_mem_free(explore->lanes);
    for (size_t k = 0; k < GT_TIMELINE_KIND_COUNT; k++)
        gt_lane_set_release(&explore->sets[k]);
    gt_idle_lanes_release(&explore->idle);
    gt_curves_release(&explore->curves);
}

/* ---- finding ---- */

struct gt_interval gt_model_times(const struct gt_explore *explore, enum gt_timeline_kind kind, size_t span) {
    const struct gt_spans *spans = &explore->spans[kind];
    struct gt_span found;
    spans->read(spans->data, span, 1, &found);
    return (struct gt_interval){gt_ns_between(spans->zero_ns, found.start_ns),
                                gt_ns_between(spans->zero_ns, found.end_ns)};
}

uint32_t gt_model_row(const struct gt_explore *explore, enum gt_timeline_kind kind, size_t span) {
    if (kind == GT_TIMELINE_GAPS)
        return (uint32_t)span;
    return gt_lane_set_row(&explore->sets[kind], span);
}

/* The first span of the lane that comes after all with these times, or (from_start) not before them: spans of a lane
   are sorted by start, longer first. */
static size_t bound(const struct gt_explore *explore, const struct gt_model_lane *lane, int64_t start_ns,
                    int64_t end_ns, bool from_start) {
    size_t low = lane->pyramid.row.first, high = low + lane->pyramid.row.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct gt_interval times = gt_model_times(explore, lane->row.kind, middle);
        bool is_before = times.start_ns != start_ns ? times.start_ns < start_ns
                         : times.end_ns != end_ns   ? times.end_ns > end_ns
                                                    : !from_start;
        if (is_before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t gt_model_find_times(const struct gt_explore *explore, uint32_t lane, int64_t start_ns, int64_t end_ns,
                           size_t *first) {
    *first = bound(explore, &explore->lanes[lane], start_ns, end_ns, true);
    return bound(explore, &explore->lanes[lane], start_ns, end_ns, false) - *first;
}

size_t gt_model_first_lane(const struct gt_explore *explore, enum gt_timeline_kind kind, uint32_t track) {
    size_t lane = 0;
    while (lane < explore->lane_count && (explore->lanes[lane].row.kind != kind || explore->lanes[lane].track != track))
        lane++;
    return lane;
}

/* Equal times of a lane are looked through one by one, but not without end. */
enum { EQUALS_MAX = 4096 };

bool gt_model_find(const struct gt_explore *explore, enum gt_timeline_kind kind, uint32_t track, uint32_t row,
                   struct gt_model_place *place) {
    const struct gt_lane_set *set = &explore->sets[kind];
    int64_t zero_ns = explore->trace.store->origin_ns;
    int64_t start_ns = gt_ns_between(zero_ns, set->start_ns[row]), end_ns = gt_ns_between(zero_ns, set->end_ns[row]);
    for (size_t i = gt_model_first_lane(explore, kind, track);
         i < explore->lane_count && explore->lanes[i].row.kind == kind && explore->lanes[i].track == track; i++) {
        size_t first, count = gt_model_find_times(explore, (uint32_t)i, start_ns, end_ns, &first);
        for (size_t span = first; span < first + (count < EQUALS_MAX ? count : EQUALS_MAX); span++)
            if (set->ids[span] == row) {
                *place = (struct gt_model_place){(uint32_t)i, span};
                return true;
            }
    }
    return false;
}

/* ---- names ---- */

struct gt_str gt_model_name(const struct gt_explore *explore, enum gt_timeline_kind kind, size_t span, gt_strid *id) {
    const struct gt_store *store = explore->trace.store;
    if (kind == GT_TIMELINE_GAPS) {
        *id = gt_idle_lanes_cause(&explore->idle, span);
        return gt_str_of(gt_idle_cause_names[*id]);
    }
    const struct gt_lane_set *set = &explore->sets[kind];
    gt_strid name = set->name[set->ids[span]];
    *id = name;
    if (kind != GT_TIMELINE_OPS || explore->trace.names != GPUTIME_NAMES_SHORT)
        return gt_store_string(store, name);
    *id = explore->trace.labels->short_name[name];
    return gt_strtab_get(&explore->trace.labels->short_names, *id);
}

const char *gt_model_category(const struct gt_explore *explore, enum gt_timeline_kind kind, size_t span) {
    if (kind != GT_TIMELINE_OPS && kind != GT_TIMELINE_COLLECTIVES)
        return NULL;
    const struct gt_labels *labels = explore->trace.labels;
    return labels->categories[labels->op_category[gt_model_row(explore, kind, span)]].key;
}
