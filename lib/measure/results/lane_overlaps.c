/* Counts overlaps in streams: in come the ops of a view by row, out go three numbers. Ops of a stream mostly lie in the
   order of their starts. Those that do not are "late": they are put aside in a first pass, sorted, and merged with the
   others in a second. Threads look at slices of the ops; where a stream is not in order from slice to slice, they look
   once more, from where the slices before have got to. */
#include "measure/results/lane_overlaps.h"

#include <stdatomic.h>

#include "base/mem.h"
#include "base/spans.h"
#include "base/threads.h"

/* A stream in one slice. */
struct lane {
    int64_t reached_ns;      /* how far all ops before reach; INT64_MAX in the first pass: there is none yet */
    int64_t late_ns;         /* second pass: start of the next late op; INT64_MAX: there is none */
    uint32_t first, last;    /* rows of ops that are not late; the last may be of a slice before; GT_NO_ROW: none */
    uint32_t late, late_end; /* its late ops: how many in late_end, later the run of those that are still to come */
};

struct slice {
    struct lane *lanes; /* by track */
    uint32_t *late;     /* rows, in the order of the file */
    size_t late_count, late_capacity;
    struct gt_lane_overlaps counts;
    bool failed; /* memory was short */
};

struct counting {
    const struct gt_view *view;
    size_t lane_count, slice_count;
    struct slice *slices;
    struct lane *lanes; /* of all slices */
    uint32_t *late;     /* rows of all slices by stream, then start */
    size_t *late_first; /* by track, and where the last one's end */
    atomic_bool failed;
};

/* By start, longer first: the order of a view. */
static bool comes_before(const struct gt_view *view, uint32_t row, uint32_t other) {
    return view->start_ns[row] < view->start_ns[other] ||
           (view->start_ns[row] == view->start_ns[other] && view->end_ns[row] > view->end_ns[other]);
}

static bool is_late(const struct gt_view *view, const struct lane *lane, uint32_t row) {
    return lane->last != GT_NO_ROW && comes_before(view, row, lane->last);
}

/* ---- the first pass ---- */

static void put_aside(struct slice *slice, struct lane *lane, uint32_t row) {
    if (slice->late_count == slice->late_capacity) {
        size_t capacity = slice->late_capacity ? 2 * slice->late_capacity : 4096;
        uint32_t *grown =
            gt_mem_pages_resize(slice->late, slice->late_capacity * sizeof *grown, capacity * sizeof *grown);
        slice->failed |= !grown;
        if (!grown)
            return;
        slice->late = grown;
        slice->late_capacity = capacity;
    }
    slice->late[slice->late_count++] = row;
    lane->late_end++;
}

/* What is neither late nor odd is most: it starts after all that came before. */
static void look_closer(const struct gt_view *view, struct slice *slice, struct lane *lane, uint32_t row) {
    int64_t start_ns = view->start_ns[row], end_ns = view->end_ns[row];
    bool is_first = lane->first == GT_NO_ROW;
    slice->counts.empty += start_ns == end_ns;
    slice->counts.unnamed += view->name[row] == GT_STRID_EMPTY;
    if (is_late(view, lane, row)) {
        put_aside(slice, lane, row);
        return;
    }
    if (is_first)
        lane->first = row;
    slice->counts.overlaps += !is_first && start_ns < lane->reached_ns;
    if (is_first || end_ns > lane->reached_ns)
        lane->reached_ns = end_ns;
    lane->last = row;
}

/* Overlaps are right where no op of a stream is late or reaches into the next slice. */
static void look_at_slice(void *context, size_t index, size_t begin, size_t end) {
    const struct counting *it = context;
    const struct gt_view *view = it->view;
    const int64_t *starts_ns = view->start_ns, *ends_ns = view->end_ns;
    const gt_strid *names = view->name;
    const uint32_t *lane_of = view->lane;
    struct slice *slice = &it->slices[index];
    struct lane *lanes = slice->lanes;
    for (uint32_t row = (uint32_t)begin; row < end; row++) {
        struct lane *lane = &lanes[lane_of[row]];
        int64_t start_ns = starts_ns[row], end_ns = ends_ns[row];
        if (start_ns > lane->reached_ns && end_ns > start_ns && names[row] != GT_STRID_EMPTY) {
            lane->reached_ns = end_ns;
            lane->last = row;
        } else {
            look_closer(view, slice, lane, row);
        }
    }
}

static void begin_lane(struct lane *lane, uint32_t last) {
    *lane = (struct lane){.reached_ns = INT64_MAX, .first = GT_NO_ROW, .last = last};
}

/* A stream in each slice, with the last op of the slices before that is not late. */
static void begin_again(const struct counting *it, size_t index) {
    uint32_t last = GT_NO_ROW;
    for (size_t s = 0; s < it->slice_count; s++) {
        struct lane *lane = &it->slices[s].lanes[index];
        uint32_t own_last = lane->last;
        begin_lane(lane, last);
        if (own_last != GT_NO_ROW && (last == GT_NO_ROW || comes_before(it->view, last, own_last)))
            last = own_last;
    }
}

static void look_at_slices(struct counting *it) {
    for (size_t s = 0; s < it->slice_count; s++) {
        it->slices[s].late_count = 0;
        it->slices[s].counts = (struct gt_lane_overlaps){0};
    }
    gt_threads_rows(it->slice_count, it->view->op_count, look_at_slice, it);
}

/* How slices of the ops fit together. */
struct seams {
    bool has_late, has_overlaps; /* an op comes before one of an earlier slice, or starts before such a one ends */
};

static void look_at_seams(const struct counting *it, size_t index, struct seams *seams) {
    const struct gt_view *view = it->view;
    const struct lane *before = NULL;
    for (size_t s = 0; s < it->slice_count; s++) {
        const struct lane *lane = &it->slices[s].lanes[index];
        if (lane->first == GT_NO_ROW)
            continue;
        seams->has_late |= before && comes_before(view, lane->first, before->last);
        seams->has_overlaps |= before && view->start_ns[lane->first] < before->reached_ns;
        before = lane;
    }
}

/* false: memory was short. */
static bool make_first_pass(struct counting *it, bool *needs_second) {
    struct seams seams = {0};
    bool ok = true;
    for (size_t i = 0; i < it->slice_count * it->lane_count; i++)
        begin_lane(&it->lanes[i], GT_NO_ROW);
    look_at_slices(it);
    for (size_t i = 0; i < it->lane_count; i++)
        look_at_seams(it, i, &seams);
    for (size_t i = 0; i < it->lane_count && seams.has_late; i++)
        begin_again(it, i);
    if (seams.has_late)
        look_at_slices(it);
    *needs_second = seams.has_overlaps;
    for (size_t s = 0; s < it->slice_count; s++) {
        *needs_second |= it->slices[s].late_count > 0;
        ok = ok && !it->slices[s].failed;
    }
    return ok;
}

/* ---- late ops ---- */

static void sort_lane(void *context, size_t lane) {
    struct counting *it = context;
    size_t first = it->late_first[lane], count = it->late_first[lane + 1] - first;
    if (!gt_spans_sort(it->late + first, count, it->view->start_ns, it->view->end_ns))
        atomic_store(&it->failed, true);
}

/* Where the late ops of each stream begin, and in those of each slice. */
static void place_late(struct counting *it) {
    size_t place = 0;
    for (size_t i = 0; i < it->lane_count; i++) {
        it->late_first[i] = place;
        for (size_t s = 0; s < it->slice_count; s++) {
            struct lane *lane = &it->slices[s].lanes[i];
            lane->late = (uint32_t)place;
            place += lane->late_end;
        }
    }
    it->late_first[it->lane_count] = place;
}

/* Groups the late ops by stream, each in order. */
static bool sort_late(struct counting *it) {
    size_t count = 0;
    for (size_t s = 0; s < it->slice_count; s++)
        count += it->slices[s].late_count;
    it->late = gt_mem_uninitialised(count, sizeof *it->late);
    it->late_first = gt_mem_uninitialised(it->lane_count + 1, sizeof *it->late_first);
    if (!it->late || !it->late_first)
        return false;
    place_late(it);
    for (size_t s = 0; s < it->slice_count; s++) {
        const struct slice *slice = &it->slices[s];
        for (size_t i = 0; i < slice->late_count; i++)
            it->late[slice->lanes[it->view->lane[slice->late[i]]].late++] = slice->late[i];
    }
    gt_threads_parts(it->slice_count, it->lane_count, sort_lane, it);
    return !atomic_load(&it->failed);
}

/* ---- the second pass ---- */

/* Goes on to the next op in the order of the stream; whether it overlaps. */
static uint64_t reach(const struct gt_view *view, struct lane *lane, uint32_t row) {
    uint64_t overlaps = view->start_ns[row] < lane->reached_ns;
    lane->reached_ns = view->end_ns[row] > lane->reached_ns ? view->end_ns[row] : lane->reached_ns;
    return overlaps;
}

static void look_ahead(const struct counting *it, struct lane *lane) {
    lane->late_ns = lane->late < lane->late_end ? it->view->start_ns[it->late[lane->late]] : INT64_MAX;
}

/* Says of a stream in each slice how far those before have got, and which late ops are its own: those after its first
   op that is not late, and in the first such slice those before, too. */
static void begin_second_pass(void *context, size_t index) {
    const struct counting *it = context;
    const struct gt_view *view = it->view;
    struct lane begin = {.reached_ns = INT64_MIN, .late_ns = INT64_MAX, .last = GT_NO_ROW};
    struct lane *before = NULL;
    uint32_t late = (uint32_t)it->late_first[index], late_end = (uint32_t)it->late_first[index + 1];
    for (size_t s = 0; s < it->slice_count; s++) {
        struct lane *lane = &it->slices[s].lanes[index], own = *lane;
        *lane = begin;
        if (own.first == GT_NO_ROW)
            continue;
        for (; before && late < late_end && comes_before(view, it->late[late], own.first); late++)
            reach(view, lane, it->late[late]);
        if (before)
            before->late_end = late;
        lane->late = late;
        lane->late_end = late_end;
        look_ahead(it, lane);
        begin.reached_ns = own.reached_ns > lane->reached_ns ? own.reached_ns : lane->reached_ns;
        begin.last = own.last;
        before = lane;
    }
}

/* An op after the late ones that come before it, or a late one, whose turn is at another time. */
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

static void look_again_at_slice(void *context, size_t index, size_t begin, size_t end) {
    const struct counting *it = context;
    const struct gt_view *view = it->view;
    const int64_t *starts_ns = view->start_ns, *ends_ns = view->end_ns;
    const uint32_t *lane_of = view->lane;
    struct lane *lanes = it->slices[index].lanes;
    uint64_t overlaps = 0;
    for (uint32_t row = (uint32_t)begin; row < end; row++) {
        struct lane *lane = &lanes[lane_of[row]];
        int64_t start_ns = starts_ns[row];
        if (start_ns > lane->reached_ns && start_ns < lane->late_ns) {
            lane->reached_ns = ends_ns[row];
            lane->last = row;
        } else {
            overlaps += merge_late(it, lane, row);
        }
    }
    for (size_t i = 0; i < it->lane_count; i++)
        for (; lanes[i].late < lanes[i].late_end; lanes[i].late++)
            overlaps += reach(view, &lanes[i], it->late[lanes[i].late]);
    it->slices[index].counts.overlaps = overlaps;
}

static bool make_second_pass(struct counting *it) {
    if (!sort_late(it))
        return false;
    gt_threads_parts(it->slice_count, it->lane_count, begin_second_pass, it);
    gt_threads_rows(it->slice_count, it->view->op_count, look_again_at_slice, it);
    return true;
}

/* ---- all ---- */

static bool new_slices(struct counting *it) {
    it->slices = gt_mem_array(it->slice_count, sizeof *it->slices);
    it->lanes = gt_mem_uninitialised(it->slice_count * it->lane_count, sizeof *it->lanes);
    for (size_t s = 0; s < it->slice_count && it->slices && it->lanes; s++)
        it->slices[s].lanes = it->lanes + s * it->lane_count;
    return it->slices && it->lanes;
}

static void release(struct counting *it) {
    for (size_t s = 0; s < it->slice_count && it->slices; s++)
        gt_mem_pages_free(it->slices[s].late, it->slices[s].late_capacity * sizeof *it->slices[s].late);
    gt_mem_free(it->slices);
    gt_mem_free(it->lanes);
    gt_mem_free(it->late);
    gt_mem_free(it->late_first);
}

bool gt_lane_overlaps_count(const struct gt_view *view, struct gt_lane_overlaps *out) {
    struct counting it = {.view = view, .lane_count = view->store->lanes.count};
    bool needs_second = false;
    it.slice_count = gt_threads_slices(gt_threads_count(view->request->threads), view->op_count, it.lane_count);
    *out = (struct gt_lane_overlaps){0};
    bool ok = new_slices(&it) && make_first_pass(&it, &needs_second) && (!needs_second || make_second_pass(&it));
    for (size_t s = 0; s < it.slice_count && ok; s++) {
        out->empty += it.slices[s].counts.empty;
        out->unnamed += it.slices[s].counts.unnamed;
        out->overlaps += it.slices[s].counts.overlaps;
    }
    release(&it);
    return ok;
}
