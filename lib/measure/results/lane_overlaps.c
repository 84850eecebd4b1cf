/* Counts overlaps in streams: in come the ops of a view by row, out go three numbers. Ops of a stream mostly lie in the
   order of their starts. Those that do not are "late": they are sorted, and merged with the others. Of files with a
   table of copies after that of kernels these are known before: one pass over the others is enough. Elsewhere late ops
   are put aside in a first pass and merged in a second. Threads look at slices of the ops; where a stream is not in
   order from slice to slice, they look once more, from where the slices before have got to. */
#include "measure/results/lane_overlaps.h"

#include <stdatomic.h>

#include "base/mem.h"
#include "base/spans.h"
#include "base/threads.h"

/* A stream in one slice. */
struct lane {
    int64_t reached_ns;      /* how far all ops before reach; INT64_MAX in the first pass: there is none yet */
    int64_t late_ns;         /* start of the next late op that is known; INT64_MAX: there is none */
    uint32_t first, last;    /* rows of ops that are not late; the last may be of a slice before; GT_NO_ROW: none */
    uint32_t late, late_end; /* its known late ops that are still to come */
    uint32_t aside;          /* how many the first pass has put aside */
};

struct slice {
    struct lane *lanes; /* by track */
    uint32_t *late;     /* rows that are put aside, in the order of the file */
    size_t late_count, late_capacity;
    struct gt_lane_overlaps counts;
    bool failed; /* memory was short */
};

struct gt_lane_walk {
    const struct gt_view *view;
    size_t lane_count, slice_count;
    struct slice *slices;
    struct lane *lanes;           /* of all slices */
    uint32_t tail;                /* rows from here on are known to be late */
    struct gt_lane_overlaps ends; /* what is counted between slices, and of the tail */
    uint32_t *late;               /* rows of all slices by stream, then start; NULL: not known yet */
    size_t *late_first;           /* by track, and where the last one's end */
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

/* Goes on to the next op in the order of the stream; whether it overlaps. */
static uint64_t reach(const struct gt_view *view, struct lane *lane, uint32_t row) {
    uint64_t overlaps = view->start_ns[row] < lane->reached_ns;
    lane->reached_ns = view->end_ns[row] > lane->reached_ns ? view->end_ns[row] : lane->reached_ns;
    return overlaps;
}

/* ---- late ops ---- */

static void look_ahead(const struct gt_lane_walk *it, struct lane *lane) {
    lane->late_ns = lane->late < lane->late_end ? it->view->start_ns[it->late[lane->late]] : INT64_MAX;
}

/* An op that is not late, after the late ones that come before it. */
static uint64_t merge_late(const struct gt_lane_walk *it, struct lane *lane, uint32_t row) {
    const struct gt_view *view = it->view;
    uint64_t overlaps = 0;
    for (; lane->late < lane->late_end && comes_before(view, it->late[lane->late], row); lane->late++)
        overlaps += reach(view, lane, it->late[lane->late]);
    look_ahead(it, lane);
    lane->last = row;
    return overlaps + reach(view, lane, row);
}

static void sort_lane(void *context, size_t lane) {
    struct gt_lane_walk *it = context;
    size_t first = it->late_first[lane], count = it->late_first[lane + 1] - first;
    if (!gt_spans_sort(it->late + first, count, it->view->start_ns, it->view->end_ns))
        atomic_store(&it->failed, true);
}

static bool sort_lanes(struct gt_lane_walk *it) {
    gt_threads_parts(it->slice_count, it->lane_count, sort_lane, it);
    return !atomic_load(&it->failed);
}

static size_t count_aside(const struct gt_lane_walk *it) {
    size_t count = 0;
    for (size_t s = 0; s < it->slice_count; s++)
        count += it->slices[s].late_count;
    return count;
}

/* false: memory is short. */
static bool new_late(struct gt_lane_walk *it, size_t count) {
    it->late = gt_mem_uninitialised(count, sizeof *it->late);
    it->late_first = gt_mem_array(it->lane_count + 2, sizeof *it->late_first);
    return it->late && it->late_first;
}

static void forget_late(struct gt_lane_walk *it) {
    gt_mem_free(it->late);
    gt_mem_free(it->late_first);
    it->late = NULL;
    it->late_first = NULL;
}

/* Where the late ops of each stream begin, and in those of each slice. */
static void place_late(struct gt_lane_walk *it) {
    size_t place = 0;
    for (size_t i = 0; i < it->lane_count; i++) {
        it->late_first[i] = place;
        for (size_t s = 0; s < it->slice_count; s++) {
            struct lane *lane = &it->slices[s].lanes[i];
            lane->late = (uint32_t)place;
            place += lane->aside;
        }
    }
    it->late_first[it->lane_count] = place;
}

/* Groups those that were put aside by stream, each in order. */
static bool sort_late(struct gt_lane_walk *it) {
    if (!new_late(it, count_aside(it)))
        return false;
    place_late(it);
    for (size_t s = 0; s < it->slice_count; s++) {
        const struct slice *slice = &it->slices[s];
        for (size_t i = 0; i < slice->late_count; i++)
            it->late[slice->lanes[it->view->lane[slice->late[i]]].late++] = slice->late[i];
    }
    return sort_lanes(it);
}

/* ---- the tail ---- */

/* Ops after the last kernel, if they are so many that they must be another table. */
static uint32_t find_tail(const struct gt_view *view) {
    size_t tail = view->op_count;
    while (tail > 0 && !gt_store_kind_is_kernel(view->kind[tail - 1]))
        tail--;
    size_t count = view->op_count - tail;
    return (uint32_t)(count >= view->op_count / 64 && count <= view->op_count / 2 ? tail : view->op_count);
}

/* The same as sort_late, of the tail. Counts are two places up, so that they are where a stream begins and then where
   it ends, which is where the next begins. */
static bool list_tail(struct gt_lane_walk *it) {
    const struct gt_view *view = it->view;
    size_t count = view->op_count - it->tail;
    if (count == 0)
        return true;
    if (!new_late(it, count))
        return false;
    for (uint32_t row = it->tail; row < view->op_count; row++)
        it->late_first[view->lane[row] + 2]++;
    for (size_t i = 2; i < it->lane_count + 2; i++)
        it->late_first[i] += it->late_first[i - 1];
    for (uint32_t row = it->tail; row < view->op_count; row++) {
        it->late[it->late_first[view->lane[row] + 1]++] = row;
        it->ends.empty += view->start_ns[row] == view->end_ns[row];
        it->ends.unnamed += view->name[row] == GT_STRID_EMPTY;
    }
    return sort_lanes(it);
}

/* The first known late op of the stream that does not come before the row. */
static uint32_t find_late(const struct gt_lane_walk *it, uint32_t row) {
    size_t low = it->late_first[it->view->lane[row]], high = it->late_first[it->view->lane[row] + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (comes_before(it->view, it->late[middle], row))
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
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
    lane->aside++;
}

static void begin_at(const struct gt_lane_walk *it, struct lane *lane, uint32_t row) {
    lane->first = row;
    lane->reached_ns = INT64_MIN;
    if (it->late) {
        lane->late = find_late(it, row);
        lane->late_end = (uint32_t)it->late_first[it->view->lane[row] + 1];
    }
}

/* What is neither late nor odd is most: it starts after all that came before, and before the next late op. */
static void look_closer(const struct gt_lane_walk *it, struct slice *slice, struct lane *lane, uint32_t row) {
    const struct gt_view *view = it->view;
    slice->counts.empty += view->start_ns[row] == view->end_ns[row];
    slice->counts.unnamed += view->name[row] == GT_STRID_EMPTY;
    if (is_late(view, lane, row)) {
        put_aside(slice, lane, row);
        return;
    }
    if (lane->first == GT_NO_ROW)
        begin_at(it, lane, row);
    slice->counts.overlaps += merge_late(it, lane, row);
}

/* Overlaps are right where no op of a stream is late or reaches into the next slice. */
void gt_lane_overlaps_look(struct gt_lane_walk *it, size_t index, size_t begin, size_t end) {
    const struct gt_view *view = it->view;
    const int64_t *starts_ns = view->start_ns, *ends_ns = view->end_ns;
    const gt_strid *names = view->name;
    const uint32_t *lane_of = view->lane;
    struct slice *slice = &it->slices[index];
    struct lane *lanes = slice->lanes;
    end = end < it->tail ? end : it->tail;
    for (uint32_t row = (uint32_t)begin; row < end; row++) {
        struct lane *lane = &lanes[lane_of[row]];
        int64_t start_ns = starts_ns[row], end_ns = ends_ns[row];
        if (start_ns > lane->reached_ns && start_ns < lane->late_ns && end_ns > start_ns &&
            names[row] != GT_STRID_EMPTY) {
            lane->reached_ns = end_ns;
            lane->last = row;
        } else {
            look_closer(it, slice, lane, row);
        }
    }
}

static void look_at_slice(void *context, size_t index, size_t begin, size_t end) {
    gt_lane_overlaps_look(context, index, begin, end);
}

static void begin_lane(struct lane *lane, uint32_t last) {
    *lane = (struct lane){.reached_ns = INT64_MAX, .late_ns = INT64_MAX, .first = GT_NO_ROW, .last = last};
}

static void begin_lanes(struct gt_lane_walk *it) {
    for (size_t i = 0; i < it->slice_count * it->lane_count; i++)
        begin_lane(&it->lanes[i], GT_NO_ROW);
}

/* A stream in each slice, with the last op of the slices before that is not late. */
static void begin_again(const struct gt_lane_walk *it, size_t index) {
    uint32_t last = GT_NO_ROW;
    for (size_t s = 0; s < it->slice_count; s++) {
        struct lane *lane = &it->slices[s].lanes[index];
        uint32_t own_last = lane->last;
        begin_lane(lane, last);
        if (own_last != GT_NO_ROW && (last == GT_NO_ROW || comes_before(it->view, last, own_last)))
            last = own_last;
    }
}

static void look_at_slices(struct gt_lane_walk *it) {
    for (size_t s = 0; s < it->slice_count; s++) {
        it->slices[s].late_count = 0;
        it->slices[s].counts = (struct gt_lane_overlaps){0};
    }
    gt_threads_rows(it->slice_count, it->view->op_count, look_at_slice, it);
}

/* How slices of the ops fit together. */
struct seams {
    const struct gt_lane_walk *walk;
    atomic_bool has_late,
        has_overlaps;              /* an op comes before one of an earlier slice, or starts before such a one ends */
    atomic_uint_fast64_t overlaps; /* of known late ops between slices */
};

static void look_at_seams(void *context, size_t index) {
    struct seams *seams = context;
    const struct gt_lane_walk *it = seams->walk;
    const struct gt_view *view = it->view;
    struct lane at = {.reached_ns = INT64_MIN, .last = GT_NO_ROW};
    size_t late = it->late ? it->late_first[index] : 0, late_end = it->late ? it->late_first[index + 1] : 0;
    uint64_t overlaps = 0;
    bool has_late = false, has_overlaps = false;
    for (size_t s = 0; s < it->slice_count; s++) {
        const struct lane *lane = &it->slices[s].lanes[index];
        if (lane->first == GT_NO_ROW)
            continue;
        has_late |= is_late(view, &at, lane->first);
        for (; late < late_end && comes_before(view, it->late[late], lane->first); late++)
            overlaps += reach(view, &at, it->late[late]);
        has_overlaps |= view->start_ns[lane->first] < at.reached_ns;
        at.reached_ns = lane->reached_ns;
        at.last = lane->last;
        late = lane->late;
    }
    for (; late < late_end; late++)
        overlaps += reach(view, &at, it->late[late]);
    if (has_late)
        atomic_store(&seams->has_late, true);
    if (has_overlaps)
        atomic_store(&seams->has_overlaps, true);
    if (overlaps)
        atomic_fetch_add(&seams->overlaps, overlaps);
}

/* Without late ops this takes less than threads to wake. */
static void find_seams(const struct gt_lane_walk *it, struct seams *seams) {
    *seams = (struct seams){.walk = it};
    gt_threads_parts(it->late ? it->slice_count : 1, it->lane_count, look_at_seams, seams);
}

/* Other ops than those of the tail are late, too: begins anew, without it. */
static void forget_tail(struct gt_lane_walk *it) {
    forget_late(it);
    it->tail = (uint32_t)it->view->op_count;
    it->ends = (struct gt_lane_overlaps){0};
    begin_lanes(it);
    look_at_slices(it);
}

/* false: memory was short. */
static bool end_first_pass(struct gt_lane_walk *it, bool *needs_second) {
    struct seams seams;
    bool ok = true;
    find_seams(it, &seams);
    if (it->late && (seams.has_late || count_aside(it))) {
        forget_tail(it);
        find_seams(it, &seams);
    }
    for (size_t i = 0; i < it->lane_count && seams.has_late; i++)
        begin_again(it, i);
    if (seams.has_late)
        look_at_slices(it);
    *needs_second = seams.has_overlaps || count_aside(it);
    it->ends.overlaps = seams.overlaps;
    for (size_t s = 0; s < it->slice_count; s++)
        ok = ok && !it->slices[s].failed;
    return ok;
}

/* ---- the second pass ---- */

/* Says of a stream in each slice how far those before have got, and which late ops are its own: those after its first
   op that is not late, and in the first such slice those before, too. */
static void begin_second_pass(void *context, size_t index) {
    const struct gt_lane_walk *it = context;
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
    if (!before) { /* a stream of the tail alone */
        it->slices[0].lanes[index].late = late;
        it->slices[0].lanes[index].late_end = late_end;
    }
}

static void look_again_at_slice(void *context, size_t index, size_t begin, size_t end) {
    const struct gt_lane_walk *it = context;
    const struct gt_view *view = it->view;
    const int64_t *starts_ns = view->start_ns, *ends_ns = view->end_ns;
    const uint32_t *lane_of = view->lane;
    struct lane *lanes = it->slices[index].lanes;
    uint64_t overlaps = 0;
    end = end < it->tail ? end : it->tail;
    for (uint32_t row = (uint32_t)begin; row < end; row++) {
        struct lane *lane = &lanes[lane_of[row]];
        int64_t start_ns = starts_ns[row];
        if (start_ns > lane->reached_ns && start_ns < lane->late_ns) {
            lane->reached_ns = ends_ns[row];
            lane->last = row;
        } else if (!is_late(view, lane, row)) {
            overlaps += merge_late(it, lane, row);
        }
    }
    for (size_t i = 0; i < it->lane_count; i++)
        for (; lanes[i].late < lanes[i].late_end; lanes[i].late++)
            overlaps += reach(view, &lanes[i], it->late[lanes[i].late]);
    it->slices[index].counts.overlaps = overlaps;
}

static bool make_second_pass(struct gt_lane_walk *it) {
    if (!it->late && !sort_late(it))
        return false;
    it->ends.overlaps = 0;
    gt_threads_parts(it->slice_count, it->lane_count, begin_second_pass, it);
    gt_threads_rows(it->slice_count, it->view->op_count, look_again_at_slice, it);
    return true;
}

/* ---- all ---- */

static bool new_slices(struct gt_lane_walk *it) {
    it->slices = gt_mem_array(it->slice_count, sizeof *it->slices);
    it->lanes = gt_mem_uninitialised(it->slice_count * it->lane_count, sizeof *it->lanes);
    for (size_t s = 0; s < it->slice_count && it->slices && it->lanes; s++)
        it->slices[s].lanes = it->lanes + s * it->lane_count;
    return it->slices && it->lanes;
}

static void free_walk(struct gt_lane_walk *it) {
    for (size_t s = 0; s < it->slice_count && it->slices; s++)
        gt_mem_pages_free(it->slices[s].late, it->slices[s].late_capacity * sizeof *it->slices[s].late);
    gt_mem_free(it->slices);
    gt_mem_free(it->lanes);
    forget_late(it);
    gt_mem_free(it);
}

struct gt_lane_walk *gt_lane_overlaps_begin(const struct gt_view *view, size_t slice_count) {
    struct gt_lane_walk *it = gt_mem_array(1, sizeof *it);
    if (!it)
        return NULL;
    *it = (struct gt_lane_walk){
        .view = view, .lane_count = view->store->lanes.count, .slice_count = slice_count, .tail = find_tail(view)};
    if (!new_slices(it) || !list_tail(it)) {
        free_walk(it);
        return NULL;
    }
    begin_lanes(it);
    return it;
}

bool gt_lane_overlaps_end(struct gt_lane_walk *it, struct gt_lane_overlaps *out) {
    bool needs_second = false;
    bool ok = end_first_pass(it, &needs_second) && (!needs_second || make_second_pass(it));
    *out = it->ends;
    for (size_t s = 0; s < it->slice_count; s++) {
        out->empty += it->slices[s].counts.empty;
        out->unnamed += it->slices[s].counts.unnamed;
        out->overlaps += it->slices[s].counts.overlaps;
    }
    free_walk(it);
    return ok;
}
