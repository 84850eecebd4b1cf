/* Counts overlaps in streams: in come the ops of a view by row, out go three numbers. Ops of a stream mostly lie in the
   order of their starts. Those that do not are "late": they are put aside in the first pass, sorted, and merged with
   the others in the second. Several threads look at slices of the ops first. Streams that are in order from slice to
   slice are done then; of the others each thread sees all ops and counts those of its own streams. */
#include "measure/results/lane_overlaps.h"

#include "base/mem.h"
#include "base/spans.h"
#include "base/threads.h"

/* Where a pass is in a stream. */
struct lane {
    int64_t reached_ns;      /* how far all ops before reach */
    int64_t late_ns;         /* start of the next late op; INT64_MAX: there is none, or it is not known yet */
    uint32_t last;           /* row of its last op that is not late; GT_NO_ROW: there is none yet */
    uint32_t late, late_end; /* its late ops: how many in late_end, later the run of those that are still to come */
};

/* What one thread counts. */
struct counting {
    const struct gt_view *view;
    const uint8_t *part_of; /* by track: who counts it; NULL: one thread counts all */
    uint8_t part;
    struct lane *lanes; /* by track; only its own are used */
    uint32_t *late;     /* rows, in the order of the file, then by stream and start */
    size_t late_count, late_capacity;
    struct gt_lane_overlaps counts;
    bool failed; /* memory was short */
};

static void reset_lane(struct lane *lane) {
    lane->reached_ns = INT64_MIN;
    lane->late_ns = INT64_MAX;
    lane->last = GT_NO_ROW;
}

static bool new_lanes(struct counting *it) {
    size_t count = it->view->store->lanes.count;
    it->lanes = gt_mem_array(count, sizeof *it->lanes);
    for (size_t i = 0; i < count && it->lanes; i++)
        reset_lane(&it->lanes[i]);
    return it->lanes;
}

/* By start, longer first: the order of a view. */
static bool comes_before(const struct gt_view *view, uint32_t row, uint32_t other) {
    return view->start_ns[row] < view->start_ns[other] ||
           (view->start_ns[row] == view->start_ns[other] && view->end_ns[row] > view->end_ns[other]);
}

static bool is_late(const struct gt_view *view, const struct lane *lane, uint32_t row) {
    return lane->last != GT_NO_ROW && comes_before(view, row, lane->last);
}

/* Goes on to the next op in the order of the stream; whether it overlaps. */
static uint64_t reach(const struct gt_view *view, struct lane *lane, uint32_t row) {
    uint64_t overlaps = view->start_ns[row] < lane->reached_ns;
    lane->reached_ns = view->end_ns[row] > lane->reached_ns ? view->end_ns[row] : lane->reached_ns;
    return overlaps;
}

static bool put_aside(struct counting *it, uint32_t row) {
    if (it->late_count == it->late_capacity) {
        size_t capacity = it->late_capacity ? 2 * it->late_capacity : 4096;
        uint32_t *grown = gt_mem_pages_resize(it->late, it->late_capacity * sizeof *grown, capacity * sizeof *grown);
        if (!grown)
            return false;
        it->late = grown;
        it->late_capacity = capacity;
    }
    it->late[it->late_count++] = row;
    it->lanes[it->view->lane[row]].late_end++;
    return true;
}

/* What is neither late nor odd is most: it starts after all that came before. */
static bool look_closer(struct counting *it, uint32_t row) {
    const struct gt_view *view = it->view;
    struct lane *lane = &it->lanes[view->lane[row]];
    it->counts.empty += view->start_ns[row] == view->end_ns[row];
    it->counts.unnamed += view->name[row] == GT_STRID_EMPTY;
    if (is_late(view, lane, row))
        return put_aside(it, row);
    it->counts.overlaps += reach(view, lane, row);
    lane->last = row;
    return true;
}

/* Overlaps are right for streams without late ops alone. */
static bool look_at_all(struct counting *it) {
    const struct gt_view *view = it->view;
    const int64_t *starts_ns = view->start_ns, *ends_ns = view->end_ns;
    const gt_strid *names = view->name;
    const uint32_t *lane_of = view->lane;
    struct lane *lanes = it->lanes;
    const uint8_t *part_of = it->part_of;
    uint8_t part = it->part;
    size_t count = view->op_count;
    for (uint32_t row = 0; row < count; row++) {
        struct lane *lane = &lanes[lane_of[row]];
        int64_t start_ns = starts_ns[row], end_ns = ends_ns[row];
        if (part_of && part_of[lane_of[row]] != part)
            continue;
        if (start_ns > lane->reached_ns && end_ns > start_ns && names[row] != GT_STRID_EMPTY) {
            lane->reached_ns = end_ns;
            lane->last = row;
        } else if (!look_closer(it, row)) {
            return false;
        }
    }
    return true;
}

static void look_ahead(const struct counting *it, struct lane *lane) {
    lane->late_ns = lane->late < lane->late_end ? it->view->start_ns[it->late[lane->late]] : INT64_MAX;
}

/* Groups the late ops by stream, each in order. */
static bool sort_late(struct counting *it) {
    const struct gt_view *view = it->view;
    uint32_t *grouped = gt_mem_uninitialised(it->late_count, sizeof *grouped), place = 0;
    size_t lane_count = view->store->lanes.count;
    bool ok = grouped;
    for (size_t i = 0; i < lane_count; i++) {
        struct lane *lane = &it->lanes[i];
        uint32_t count = lane->late_end;
        lane->late = lane->late_end = place;
        place += count;
    }
    for (size_t i = 0; i < it->late_count && ok; i++)
        grouped[it->lanes[view->lane[it->late[i]]].late_end++] = it->late[i];
    gt_mem_pages_free(it->late, it->late_capacity * sizeof *it->late);
    it->late = grouped;
    it->late_capacity = 0;
    for (size_t i = 0; i < lane_count && ok; i++) {
        struct lane *lane = &it->lanes[i];
        ok = gt_spans_sort(grouped + lane->late, lane->late_end - lane->late, view->start_ns, view->end_ns);
        reset_lane(lane);
        look_ahead(it, lane);
    }
    return ok;
}

/* An op that is not late, after the late ones that come before it. */
static uint64_t merge_late(const struct counting *it, struct lane *lane, uint32_t row) {
    const struct gt_view *view = it->view;
    uint64_t overlaps = 0;
    if (is_late(view, lane, row))
        return 0;
    for (; lane->late < lane->late_end && comes_before(view, it->late[lane->late], row); lane->late++)
        overlaps += reach(view, lane, it->late[lane->late]);
    look_ahead(it, lane);
    lane->last = row;
    return overlaps + reach(view, lane, row);
}

static void look_again(struct counting *it) {
    const struct gt_view *view = it->view;
    const int64_t *starts_ns = view->start_ns, *ends_ns = view->end_ns;
    const uint32_t *lane_of = view->lane;
    struct lane *lanes = it->lanes;
    const uint8_t *part_of = it->part_of;
    uint8_t part = it->part;
    size_t count = view->op_count;
    uint64_t overlaps = 0;
    for (uint32_t row = 0; row < count; row++) {
        struct lane *lane = &lanes[lane_of[row]];
        int64_t start_ns = starts_ns[row];
        if (part_of && part_of[lane_of[row]] != part)
            continue;
        if (start_ns > lane->reached_ns && start_ns < lane->late_ns) {
            lane->reached_ns = ends_ns[row];
            lane->last = row;
        } else {
            overlaps += merge_late(it, lane, row);
        }
    }
    for (size_t i = 0; i < view->store->lanes.count; i++)
        for (; lanes[i].late < lanes[i].late_end; lanes[i].late++)
            overlaps += reach(view, &lanes[i], it->late[lanes[i].late]);
    it->counts.overlaps = overlaps;
}

static void count_part(void *context, size_t part) {
    struct counting *it = (struct counting *)context + part;
    it->failed = !new_lanes(it) || !look_at_all(it);
    if (!it->failed && it->late_count) {
        it->failed = !sort_late(it);
        if (!it->failed)
            look_again(it);
    }
    if (it->late_capacity)
        gt_mem_pages_free(it->late, it->late_capacity * sizeof *it->late);
    else
        gt_mem_free(it->late);
    gt_mem_free(it->lanes);
}

/* ---- slices ---- */

/* What a slice of the ops says of a stream. */
struct stretch {
    int64_t reached_ns; /* INT64_MAX: it has no op yet */
    uint32_t first, last;
    uint64_t overlaps;
    bool has_late;
};

struct slicing {
    const struct gt_view *view;
    size_t lane_count;
    struct stretch *stretches; /* by slice, then track */
    struct gt_lane_overlaps counts[GT_THREADS_MOST];
};

static void look_closer_at(struct slicing *it, size_t slice, struct stretch *stretch, uint32_t row) {
    const struct gt_view *view = it->view;
    bool is_first = stretch->first == GT_NO_ROW;
    it->counts[slice].empty += view->start_ns[row] == view->end_ns[row];
    it->counts[slice].unnamed += view->name[row] == GT_STRID_EMPTY;
    if (!is_first && comes_before(view, row, stretch->last)) {
        stretch->has_late = true;
        return;
    }
    if (is_first)
        stretch->first = row;
    stretch->overlaps += !is_first && view->start_ns[row] < stretch->reached_ns;
    if (is_first || view->end_ns[row] > stretch->reached_ns)
        stretch->reached_ns = view->end_ns[row];
    stretch->last = row;
}

static void look_at_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct slicing *it = context;
    const struct gt_view *view = it->view;
    const int64_t *starts_ns = view->start_ns, *ends_ns = view->end_ns;
    const gt_strid *names = view->name;
    struct stretch *stretches = it->stretches + slice * it->lane_count;
    for (size_t i = 0; i < it->lane_count; i++)
        stretches[i] = (struct stretch){.reached_ns = INT64_MAX, .first = GT_NO_ROW};
    for (uint32_t row = (uint32_t)begin; row < end; row++) {
        struct stretch *stretch = &stretches[view->lane[row]];
        if (starts_ns[row] > stretch->reached_ns && ends_ns[row] > starts_ns[row] && names[row] != GT_STRID_EMPTY) {
            stretch->reached_ns = ends_ns[row];
            stretch->last = row;
        } else {
            look_closer_at(it, slice, stretch, row);
        }
    }
}

/* Adds the overlaps of a stream. false: it is not in order, or an op reaches into the next slice. */
static bool join_stretches(const struct slicing *it, size_t slices, size_t lane, uint64_t *overlaps) {
    const struct gt_view *view = it->view;
    const struct stretch *before = NULL;
    uint64_t sum = 0;
    for (size_t i = 0; i < slices; i++) {
        const struct stretch *stretch = &it->stretches[i * it->lane_count + lane];
        if (stretch->first == GT_NO_ROW)
            continue;
        if (stretch->has_late || (before && (view->start_ns[stretch->first] < before->reached_ns ||
                                             comes_before(view, stretch->first, before->last))))
            return false;
        sum += stretch->overlaps;
        before = stretch;
    }
    *overlaps += sum;
    return true;
}

enum { NOBODY = UINT8_MAX };

/* Counts what slices can tell, and deals the streams that are left to so many threads; how many streams that are. */
static size_t count_in_slices(struct slicing *it, size_t slices, uint8_t *part_of, struct gt_lane_overlaps *out) {
    size_t left = 0;
    gt_threads_rows(slices, it->view->op_count, look_at_slice, it);
    for (size_t i = 0; i < it->lane_count; i++)
        part_of[i] = (uint8_t)(join_stretches(it, slices, i, &out->overlaps) ? NOBODY : left++ % slices);
    for (size_t i = 0; i < slices; i++) {
        out->empty += it->counts[i].empty;
        out->unnamed += it->counts[i].unnamed;
    }
    return left;
}

/* Streams by themselves. */
static bool count_lanes(const struct gt_view *view, const uint8_t *part_of, size_t parts,
                        struct gt_lane_overlaps *out) {
    struct counting *all = gt_mem_array(parts, sizeof *all);
    bool ok = all;
    for (size_t i = 0; i < parts && ok; i++)
        all[i] = (struct counting){.view = view, .part_of = part_of, .part = (uint8_t)i};
    if (ok)
        gt_threads_deal(parts, parts, count_part, all);
    for (size_t i = 0; i < parts && all; i++) {
        ok = ok && !all[i].failed;
        out->overlaps += all[i].counts.overlaps;
        out->empty += part_of ? 0 : all[i].counts.empty; /* slices know the others */
        out->unnamed += part_of ? 0 : all[i].counts.unnamed;
    }
    gt_mem_free(all);
    return ok;
}

bool gt_lane_overlaps_count(const struct gt_view *view, struct gt_lane_overlaps *out) {
    struct slicing slicing = {.view = view, .lane_count = view->store->lanes.count};
    size_t slices = gt_threads_slices(gt_threads_count(view->request->threads), view->op_count, slicing.lane_count);
    *out = (struct gt_lane_overlaps){0};
    if (slices == 1)
        return count_lanes(view, NULL, 1, out);
    uint8_t *part_of = gt_mem_uninitialised(slicing.lane_count, sizeof *part_of);
    slicing.stretches = gt_mem_uninitialised(slices * slicing.lane_count, sizeof *slicing.stretches);
    bool ok = part_of && slicing.stretches;
    size_t left = ok ? count_in_slices(&slicing, slices, part_of, out) : 0;
    if (left)
        ok = count_lanes(view, part_of, left < slices ? left : slices, out);
    gt_mem_free(part_of);
    gt_mem_free(slicing.stretches);
    return ok;
}
