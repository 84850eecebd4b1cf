/* Makes curves from counters, allocations and launches, and draws windows of them. */
#include "measure/results/curves.h"

#include <stdatomic.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"
#include "events/counter_track.h"
#include "measure/memory_use/memory_events.h"
#include "measure/results/measure.h"

/* Moments at which queues are looked at: four for each op, but not more than this. */
enum { QUEUE_MOMENTS_MAX = 65536, QUEUE_MOMENTS_OP = 4 };

/* ---- values ---- */

static void read_values(const struct gt_curve *curve, size_t first, size_t count, int64_t *times_ns, double *values) {
    if (curve->track != GT_NO_TRACK) {
        gt_counter_track_read(curve->store, curve->track, first, count, times_ns, values);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        times_ns[i] = curve->times_ns[first + i];
        values[i] = curve->values[first + i];
    }
}

static struct gt_curve_block block_of_values(const struct gt_curve *curve, size_t first, size_t end) {
    int64_t times_ns[GT_CURVE_BLOCK];
    double values[GT_CURVE_BLOCK];
    read_values(curve, first, end - first, times_ns, values);
    struct gt_curve_block block = {times_ns[0], values[0], values[0]};
    for (size_t i = 1; i < end - first; i++) {
        block.low = values[i] < block.low ? values[i] : block.low;
        block.high = values[i] > block.high ? values[i] : block.high;
    }
    return block;
}

static void join(struct gt_curve_block *block, const struct gt_curve_block *other) {
    block->low = other->low < block->low ? other->low : block->low;
    block->high = other->high > block->high ? other->high : block->high;
}

/* ---- levels ---- */

static size_t values_of_level(size_t level) {
    return (size_t)GT_CURVE_BLOCK << (4 * level);
}

static bool make_level(struct gt_curve *curve, size_t level) {
    size_t below = level ? curve->block_counts[level - 1] : curve->count, fan = level ? GT_CURVE_FAN : GT_CURVE_BLOCK;
    size_t count = (below + fan - 1) / fan;
    struct gt_curve_block *blocks = curve->levels[level] = gt_mem_uninitialised(count, sizeof *blocks);
    if (!blocks)
        return false;
    curve->block_counts[level] = count;
    curve->level_count = level + 1;
    for (size_t b = 0; b < count; b++) {
        size_t first = b * fan, end = first + fan < below ? first + fan : below;
        blocks[b] = level ? curve->levels[level - 1][first] : block_of_values(curve, first, end);
        for (size_t i = first + 1; level && i < end; i++)
            join(&blocks[b], &curve->levels[level - 1][i]);
    }
    return true;
}

static bool make_levels(struct gt_curve *curve) {
    bool ok = make_level(curve, 0);
    while (ok && curve->level_count < GT_CURVE_LEVELS && curve->block_counts[curve->level_count - 1] > GT_CURVE_FAN)
        ok = make_level(curve, curve->level_count);
    return ok;
}

/* ---- a list of them ---- */

static void curve_release(struct gt_curve *curve) {
    gt_mem_free(curve->times_ns);
    gt_mem_free(curve->values);
    for (size_t i = 0; i < GT_CURVE_LEVELS; i++)
        gt_mem_free(curve->levels[i]);
    *curve = (struct gt_curve){.track = GT_NO_TRACK};
}

void gt_curves_release(struct gt_curves *curves) {
    for (size_t i = 0; i < curves->count; i++)
        curve_release(&curves->items[i]);
    gt_mem_free(curves->items);
    *curves = (struct gt_curves){0};
}

size_t gt_curves_bytes(const struct gt_curves *curves) {
    size_t bytes = curves->count * sizeof *curves->items;
    for (size_t i = 0; i < curves->count; i++) {
        const struct gt_curve *curve = &curves->items[i];
        if (curve->track == GT_NO_TRACK)
            bytes += curve->count * (sizeof *curve->times_ns + sizeof *curve->values);
        for (size_t k = 0; k < curve->level_count; k++)
            bytes += curve->block_counts[k] * sizeof **curve->levels;
    }
    return bytes;
}

struct making {
    struct gt_curves *curves;
    const struct gt_view *view;
    struct gt_arena *arena;
    struct gt_lane_list *list;
};

/* Takes a curve and what it owns, and adds its lane; false: memory was short. */
static bool add_curve(struct making *making, struct gt_curve *curve, struct gt_timeline_row *row) {
    struct gt_curves *curves = making->curves;
    curve->origin_ns = making->view->store->origin_ns;
    struct gt_curve *grown = curve->count && make_levels(curve)
                                 ? gt_mem_room(curves->items, curves->count, &curves->capacity, sizeof *grown)
                                 : NULL;
    if (!grown) {
        bool is_empty = curve->count == 0;
        curve_release(curve);
        return is_empty;
    }
    const struct gt_curve_block *top = curve->levels[curve->level_count - 1];
    struct gt_curve_block all = top[0];
    for (size_t i = 1; i < curve->block_counts[curve->level_count - 1]; i++)
        join(&all, &top[i]);
    row->low = all.low;
    row->high = all.high;
    curves->items = grown;
    curves->items[curves->count] = *curve;
    gt_lane_list_add(making->list, row, (struct gt_span_row){curves->count++, curve->count}, curve->track);
    return !making->list->failed;
}

/* A curve with room for its own values; false: memory was short, and nothing is owned. */
static bool own_values(struct gt_curve *curve, size_t count) {
    *curve = (struct gt_curve){.track = GT_NO_TRACK, .count = count};
    curve->times_ns = gt_mem_uninitialised(count, sizeof *curve->times_ns);
    curve->values = gt_mem_uninitialised(count, sizeof *curve->values);
    if (curve->times_ns && curve->values)
        return true;
    curve_release(curve);
    return false;
}

/* ---- counters ---- */

static bool is_asked(const struct gt_view *view, const struct gt_counter_tracks *tracks, uint32_t track) {
    return gt_measure_asks(view, tracks->kind[track] == GT_COUNTER_SAMPLED ? GT_FACT_METRICS : GT_FACT_COUNTERS);
}

static bool make_tracks(struct making *making) {
    const struct gt_store *store = making->view->store;
    const struct gt_counter_tracks *tracks = &store->counter_tracks;
    for (uint32_t i = 0; i < tracks->count; i++) {
        if (!is_asked(making->view, tracks, i))
            continue;
        struct gt_timeline_row row = gt_lane_list_row(GT_TIMELINE_COUNTERS);
        struct gt_str name = gt_store_string(store, tracks->name[i]),
                      series = gt_store_string(store, tracks->series[i]);
        row.title = series.len ? gt_arena_printf(making->arena, "%.*s, %.*s", (int)name.len, name.ptr, (int)series.len,
                                                 series.ptr)
                               : name;
        row.unit = gt_store_string(store, tracks->unit[i]);
        row.pid = gt_lane_list_pid(store, tracks->process[i]);
        if (tracks->device[i] >= 0)
            row.device = tracks->device[i];
        struct gt_curve curve = {.store = store, .track = i, .count = gt_counter_track_count(store, i)};
        if (!add_curve(making, &curve, &row))
            return false;
    }
    return true;
}

/* ---- memory ---- */

static bool make_memory_curve(struct making *making, const struct gt_memory_event *events, size_t count, int64_t device,
                              bool is_reserved) {
    struct gt_timeline_row row = gt_lane_list_row(GT_TIMELINE_COUNTERS);
    struct gt_curve curve;
    size_t known = 0;
    row.device = device;
    row.title = is_reserved ? GT_STR("Memory reserved") : GT_STR("Memory allocated");
    row.unit = GT_STR("bytes");
    if (!own_values(&curve, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        int64_t value = is_reserved ? events[i].reserved : events[i].allocated;
        if (events[i].time_ns == GT_NO_TIME || value == GT_MEMORY_SET_UNKNOWN)
            continue;
        curve.times_ns[known] = events[i].time_ns;
        curve.values[known++] = (double)value;
    }
    curve.count = known;
    return add_curve(making, &curve, &row);
}

/* Frameworks count what is allocated themselves. */
static bool has_memory_track(const struct gt_view *view, int64_t device) {
    const struct gt_counter_tracks *tracks = &view->store->counter_tracks;
    for (uint32_t i = 0; i < tracks->count; i++)
        if (tracks->device[i] == device && is_asked(view, tracks, i) &&
            gt_str_eq(gt_store_string(view->store, tracks->unit[i]), GT_STR("bytes")))
            return true;
    return false;
}

static bool make_memory(struct making *making) {
    const struct gt_store *store = making->view->store;
    struct gt_memory_events_list list = {0};
    struct gt_memory_set counts = {0};
    if (!gt_measure_asks(making->view, GT_FACT_MEMORY) || store->memory_events.count == 0)
        return true;
    bool ok = gt_memory_events_sort(&list, store);
    for (size_t first = 0, end; first < list.count && ok; first = end) {
        int64_t device = store->memory_events.device[list.items[first].row];
        for (end = first; end < list.count && store->memory_events.device[list.items[end].row] == device;)
            end++;
        if (has_memory_track(making->view, device))
            continue;
        ok = gt_memory_events_follow(list.items + first, end - first, store, &counts) &&
             make_memory_curve(making, list.items + first, end - first, device, false) &&
             make_memory_curve(making, list.items + first, end - first, device, true);
    }
    gt_mem_free(list.items);
    return ok;
}

/* ---- queues ---- */

/* Curves of all devices, made at the same time. */
struct queues {
    const struct gt_view *view;
    struct gt_curve *curves; /* by device; without values: nothing is known of its launches */
    atomic_bool failed;      /* memory was short */
};

/* Launches and starts by moment: how many came since the one before. Gives how many are known. */
static size_t count_changes(const struct gt_view *view, const struct gt_view_device *device, uint64_t step,
                            int64_t *change) {
    size_t known = 0;
    for (size_t i = device->first; i < device->first + device->count; i++) {
        uint32_t call = view->labels->op_call[view->row[i]];
        if (call == GT_NO_ROW)
            continue;
        int64_t start_ns = view->start_ns[i], launch_ns = view->store->calls.end_ns[call];
        launch_ns = launch_ns < start_ns ? launch_ns : start_ns;
        launch_ns = launch_ns > device->span_start_ns ? launch_ns : device->span_start_ns;
        change[((uint64_t)launch_ns - (uint64_t)device->span_start_ns) / step]++;
        change[((uint64_t)start_ns - (uint64_t)device->span_start_ns) / step]--;
        known++;
    }
    return known;
}

/* false: memory was short. */
static bool make_queue(const struct gt_view *view, const struct gt_view_device *device, struct gt_curve *curve) {
    uint64_t length = (uint64_t)device->span_end_ns - (uint64_t)device->span_start_ns;
    size_t moments =
        device->count < QUEUE_MOMENTS_MAX / QUEUE_MOMENTS_OP ? device->count * QUEUE_MOMENTS_OP : QUEUE_MOMENTS_MAX;
    uint64_t step = length / moments + 1;
    int64_t *change = gt_mem_array(moments + 1, sizeof *change);
    int64_t depth = 0;
    size_t known = change ? count_changes(view, device, step, change) : 0;
    bool ok = change && (!known || own_values(curve, moments));
    if (known && ok)
        curve->count = 0;
    for (size_t i = 0; i < moments && i * step <= length && known && ok; i++) { /* before what the next moment has */
        depth += change[i];
        curve->times_ns[curve->count] = gt_ns_add(device->span_start_ns, (int64_t)((i + 1) * step));
        curve->values[curve->count++] = (double)depth;
    }
    gt_mem_free(change);
    return ok;
}

static void make_queue_of(void *context, size_t device) {
    struct queues *queues = context;
    const struct gt_view *view = queues->view;
    if (view->devices[device].count && !make_queue(view, &view->devices[device], &queues->curves[device]))
        queues->failed = true;
}

static bool make_queues(struct making *making) {
    const struct gt_view *view = making->view;
    struct queues queues = {.view = view};
    queues.curves = gt_mem_array(view->device_count, sizeof *queues.curves);
    if (!queues.curves)
        return false;
    gt_threads_parts(gt_threads_count(view->request->threads), view->device_count, make_queue_of, &queues);
    bool ok = !queues.failed;
    for (size_t d = 0; d < view->device_count; d++) {
        struct gt_timeline_row row = gt_lane_list_row(GT_TIMELINE_COUNTERS);
        row.device = view->devices[d].id;
        row.title = GT_STR("Queued ops");
        row.unit = GT_STR("count");
        if (!ok)
            curve_release(&queues.curves[d]);
        else if (queues.curves[d].count)
            ok = add_curve(making, &queues.curves[d], &row);
    }
    gt_mem_free(queues.curves);
    return ok;
}

enum gt_status gt_curves_make(struct gt_curves *curves, const struct gt_view *view, struct gt_arena *arena,
                              struct gt_lane_list *list, struct gt_error *err) {
    struct making making = {curves, view, arena, list};
    bool ok = make_tracks(&making) && make_memory(&making) && make_queues(&making);
    return ok && !gt_arena_failed(arena) ? GT_OK : gt_fail_memory(err);
}

/* ---- windows ---- */

static int64_t time_at(const struct gt_curve *curve, size_t place) {
    int64_t time_ns;
    double value;
    read_values(curve, place, 1, &time_ns, &value);
    return time_ns;
}

/* The first value from a place on that is not before a time. */
static size_t find_from(const struct gt_curve *curve, size_t place, int64_t time_ns) {
    size_t low = place / GT_CURVE_BLOCK, high = curve->block_counts[0], step = 1;
    for (; low + step < high && curve->levels[0][low + step].time_ns < time_ns; step *= 2)
        low += step;
    high = low + step < high ? low + step : high;
    while (low + 1 < high) { /* the last block that starts before it */
        size_t middle = low + (high - low) / 2;
        if (curve->levels[0][middle].time_ns < time_ns)
            low = middle;
        else
            high = middle;
    }
    size_t first = low * GT_CURVE_BLOCK > place ? low * GT_CURVE_BLOCK : place;
    size_t end = (low + 1) * GT_CURVE_BLOCK < curve->count ? (low + 1) * GT_CURVE_BLOCK : curve->count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (time_at(curve, middle) < time_ns)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

static struct gt_curve_block join_values(const struct gt_curve *curve, size_t first, size_t end) {
    struct gt_curve_block all = block_of_values(curve, first, first + 1);
    for (size_t place = first; place < end;) {
        size_t level = curve->level_count, size = 0;
        while (level-- > 0)
            if (place % (size = values_of_level(level)) == 0 && place + size <= end)
                break;
        if (level < curve->level_count) {
            join(&all, &curve->levels[level][place / size]);
            place += size;
            continue;
        }
        size_t stop =
            (place / GT_CURVE_BLOCK + 1) * GT_CURVE_BLOCK < end ? (place / GT_CURVE_BLOCK + 1) * GT_CURVE_BLOCK : end;
        struct gt_curve_block part = block_of_values(curve, place, stop);
        join(&all, &part);
        place = stop;
    }
    return all;
}

static void add_point(struct gt_curve_points *out, int64_t time_ns, const struct gt_curve_block *block) {
    struct gt_timeline_point *grown = gt_mem_room(out->items, out->count, &out->capacity, sizeof *grown);
    if (!grown) {
        out->failed = true;
        return;
    }
    out->items = grown;
    out->items[out->count++] = (struct gt_timeline_point){time_ns, block->low, block->high};
}

int64_t gt_curve_window(const struct gt_curve *curve, int64_t from_ns, int64_t to_ns, size_t most, int64_t grain_ns,
                        struct gt_curve_points *out) {
    int64_t zero_ns = curve->origin_ns;
    size_t first = find_from(curve, 0, gt_ns_add(zero_ns, from_ns)),
           end = find_from(curve, 0, gt_ns_add(zero_ns, to_ns));
    first -= first > 0;
    bool is_single = end - first <= most || grain_ns <= 0;
    for (size_t place = first, next; place < end && !out->failed; place = next) {
        int64_t time_ns = gt_ns_between(zero_ns, time_at(curve, place)), until_ns;
        next = place + 1;
        if (!is_single && place > first) {
            int64_t begin_ns = (int64_t)((uint64_t)time_ns & ~((uint64_t)grain_ns - 1));
            if (__builtin_add_overflow(begin_ns, grain_ns, &until_ns))
                until_ns = INT64_MAX;
            next = find_from(curve, place, gt_ns_add(zero_ns, until_ns));
            next = next > place ? (next < end ? next : end) : place + 1;
        }
        struct gt_curve_block block = join_values(curve, place, next);
        add_point(out, time_ns, &block);
    }
    return is_single ? 0 : grain_ns;
}
