/* Finds gaps in slices of the ops of each device, and what is known of each before its launch call is looked at with
   the time around it. */
#include "measure/results/idle_gaps.h"

#include <stdatomic.h>
#include <string.h>

#include "base/intervals.h"
#include "base/mem.h"
#include "base/threads.h"
#include "measure/results/idle_slices.h"
#include "measure/results/idle_times.h"

/* Of the ops that start at this instant, the first of which has this position, the lowest stream and row. */
static uint32_t op_starting_at(const struct gt_view *view, const struct gt_view_device *device, size_t position,
                               int64_t time_ns) {
    const struct gt_store *store = view->store;
    uint32_t best = GT_NO_ROW;
    int64_t best_stream = 0;
    for (size_t i = position; i < device->first + device->count && view->start_ns[i] == time_ns; i++) {
        int64_t stream = store->lanes.stream[view->lane[i]];
        if (best == GT_NO_ROW || stream < best_stream || (stream == best_stream && view->row[i] < view->row[best])) {
            best = (uint32_t)i;
            best_stream = stream;
        }
    }
    return best;
}

/* The cause as far as the launch call alone says it. Most calls ended before, and when they did is all that is looked
   up of them. */
static enum gt_idle_cause cause_by_call(const struct gt_calls *calls, uint32_t next, uint32_t call, int64_t start_ns) {
    if (next == GT_NO_ROW)
        return GT_IDLE_END;
    if (call == GT_NO_ROW)
        return GT_IDLE_UNKNOWN;
    if (calls->end_ns[call] <= start_ns)
        return GT_IDLE_DEPENDENCY; /* or launch, where the wait is short */
    return calls->start_ns[call] > start_ns ? GT_IDLE_HOST /* or sync */ : GT_IDLE_LAUNCH;
}

/* What comes of a slice of ops. */
struct slice {
    size_t first, count;     /* of its gaps */
    struct gt_idle_far *far; /* of its gaps; has room for all that may be */
    size_t far_count;
    uint32_t last; /* the op that ended last, of its own; GT_NO_ROW: none of them */
    size_t late_starts;
    __int128 total_ns;
    struct gt_moments unblamed[GT_IDLE_CAUSE_COUNT]; /* as gt_idle_device has them */
};

/* What a gap is a sample of. */
enum sampled { LATENCIES, WAITS, SAMPLED_COUNT };

/* How long a launch takes. */
struct latency {
    double median_ns;
    bool is_known;
};

struct finder {
    const struct gt_view *view;
    struct gt_idle *idle;
    size_t threads;
    struct gt_idle_slices ops;                  /* in slices */
    struct slice *slices;                       /* what comes of them */
    struct gt_idle_far *far;                    /* of the slices */
    struct gt_idle_times *times[SAMPLED_COUNT]; /* by slice */
    uint32_t *counts;                           /* theirs */
    atomic_bool has_failed;                     /* memory was short */
    struct latency *latencies;                  /* by device */
};

/* Slices of one device have as much. */
static size_t times_room(const struct finder *finder, size_t slice) {
    size_t device = finder->ops.items[slice].device, slices = finder->ops.first[device + 1] - finder->ops.first[device];
    return gt_idle_times_room(finder->view->devices[device].count / slices);
}

/* Runs a pass over slices or devices. */
static void run(struct finder *finder, size_t count, void (*task)(void *context, size_t index)) {
    gt_threads_parts(finder->threads, count, task, finder);
}

/* ---- gaps ---- */

/* A launch that had ended so long before was not under way any more, where launches take less: that is known before it
   is known how long they take. */
enum { AHEAD_NS = 50000 };

/* A slice while its gaps are listed: what it counts is not to be looked for in memory. */
struct filling {
    const struct finder *finder;
    struct slice *slice;
    size_t place; /* of the next gap */
    struct gt_idle_times latencies, waits;
    __int128 total_ns;
    struct gt_moments_batch batches[GT_IDLE_CAUSE_COUNT];
};

/* Adds a gap that is nobody's fault. Nearly all fit a batch. */
static inline void add_unblamed(struct gt_moments *moments, struct gt_moments_batch *batch, int64_t gap_ns) {
    if ((uint64_t)gap_ns >= GT_MOMENTS_BATCH_LIMIT) {
        gt_moments_add(moments, gap_ns);
        return;
    }
    if (batch->count == GT_MOMENTS_BATCH)
        gt_moments_take(moments, batch);
    gt_moments_batch_add(batch, (uint64_t)gap_ns);
}

static void take_batches(struct slice *slice, struct gt_moments_batch *batches) {
    for (size_t cause = 0; cause < GT_IDLE_CAUSE_COUNT; cause++)
        if (batches[cause].count)
            gt_moments_take(&slice->unblamed[cause], &batches[cause]);
}

static inline void add_op_before(struct filling *filling, uint32_t previous, uint32_t ender) {
    struct gt_idle *idle = filling->finder->idle;
    struct slice *slice = filling->slice;
    size_t place = filling->place;
    uint32_t back = ender - previous;
    bool is_near = previous != GT_NO_ROW && ender != GT_NO_ROW && back <= UINT8_MAX;
    idle->back[place] = is_near ? (uint8_t)back : 0;
    if (__builtin_expect(!is_near, 0))
        slice->far[slice->far_count++] = (struct gt_idle_far){(uint32_t)place, previous};
}

/* Takes a sample of the launch latency where the call ended during the gap. Where the call says already that the gap is
   nobody's fault, that is all there is to it; for others, see judge_waits. */
static inline void add_gap(struct filling *filling, struct gt_interval time, uint32_t previous, uint32_t ender) {
    const struct gt_view *view = filling->finder->view;
    const struct gt_calls *calls = &view->store->calls;
    struct gt_idle *idle = filling->finder->idle;
    uint32_t call = ender == GT_NO_ROW ? GT_NO_ROW : view->labels->op_call[view->row[ender]];
    enum gt_idle_cause cause = cause_by_call(calls, ender, call, time.start_ns);
    bool has_launch_wait = cause == GT_IDLE_HOST && calls->thread[call] != GT_NO_TRACK;
    int64_t gap_ns = gt_ns_between(time.start_ns, time.end_ns);
    int64_t since_ns = call == GT_NO_ROW ? INT64_MAX : gt_ns_between(calls->end_ns[call], time.end_ns);
    unsigned state = gt_idle_state(cause, GT_GAP_WHOLE, has_launch_wait);
    if (call != GT_NO_ROW && calls->end_ns[call] >= time.start_ns)
        gt_idle_times_add(&filling->latencies, since_ns);
    if (cause > GT_IDLE_LAUNCH && since_ns >= AHEAD_NS) {
        state |= GT_IDLE_UNBLAMED_BIT;
        add_unblamed(&filling->slice->unblamed[cause], &filling->batches[cause], gap_ns);
        if (cause == GT_IDLE_DEPENDENCY)
            gt_idle_times_add(&filling->waits, gap_ns);
    }
    filling->total_ns += gap_ns;
    add_op_before(filling, previous, ender);
    idle->next[filling->place] = ender;
    idle->state[filling->place] = (uint8_t)(state | (gap_ns >= GT_IDLE_LONG_NS ? GT_IDLE_LONG_BIT : 0));
    filling->place++;
}

static void fill_slice(void *context, size_t index) {
    enum { AHEAD = 32, FAR_AHEAD = 80 };
    struct finder *finder = context;
    const struct gt_idle_slice *ops = &finder->ops.items[index];
    struct slice *slice = &finder->slices[index];
    const struct gt_view *view = finder->view;
    const struct gt_view_device *device = &view->devices[ops->device];
    const struct gt_calls *calls = &view->store->calls;
    size_t tail = ops->end;
    int64_t reached_ns = ops->reached_ns;
    uint32_t last = GT_NO_ROW;
    struct filling filling = {.finder = finder,
                              .slice = slice,
                              .place = slice->first,
                              .latencies = finder->times[LATENCIES][index],
                              .waits = finder->times[WAITS][index]};
    const int64_t *start_ns = view->start_ns, *end_ns = view->end_ns;
    const uint32_t *op_call = view->labels->op_call, *row = view->row;
    for (size_t i = ops->begin, end = ops->end; i < end; i++) {
        bool runs = end_ns[i] > start_ns[i];
        if (i + FAR_AHEAD < end)
            __builtin_prefetch(&op_call[row[i + FAR_AHEAD]]);
        uint32_t coming = i + AHEAD < end ? op_call[row[i + AHEAD]] : GT_NO_ROW;
        if (coming != GT_NO_ROW) /* where devices are served by turns, their calls lie far apart */
            __builtin_prefetch(&calls->end_ns[coming]);
        if (runs && start_ns[i] > reached_ns) {
            bool is_alone = i + 1 < end && start_ns[i + 1] != start_ns[i];
            uint32_t ender = is_alone ? (uint32_t)i : op_starting_at(view, device, i, start_ns[i]);
            add_gap(&filling, (struct gt_interval){reached_ns, start_ns[i]}, last, ender);
        }
        if (runs ? end_ns[i] >= reached_ns : end_ns[i] == reached_ns) {
            reached_ns = end_ns[i];
            last = (uint32_t)i;
        }
    }
    slice->last = last;
    while (ops->is_last && tail > device->first && view->start_ns[tail - 1] == device->span_end_ns)
        tail--;
    if (ops->is_last && reached_ns < device->span_end_ns)
        add_gap(&filling, (struct gt_interval){reached_ns, device->span_end_ns}, last,
                op_starting_at(view, device, tail, device->span_end_ns));
    take_batches(slice, filling.batches);
    slice->count = filling.place - slice->first;
    slice->total_ns = filling.total_ns;
    finder->times[LATENCIES][index] = filling.latencies;
    finder->times[WAITS][index] = filling.waits;
}

/* The op before the first gap of a slice may be of a slice before: all other gaps come after an op of their own. */
static void pass_on_last(struct finder *finder) {
    uint32_t last = GT_NO_ROW;
    for (size_t i = 0; i < finder->ops.count; i++) {
        struct slice *slice = &finder->slices[i];
        last = finder->ops.items[i].is_first ? GT_NO_ROW : last;
        if (slice->far_count && slice->far->previous == GT_NO_ROW)
            slice->far->previous = last;
        last = slice->last == GT_NO_ROW ? last : slice->last;
    }
}

/* ---- latency ---- */

/* From which time on after its launch call an op is late: several times what a launch takes, within bounds. */
static int64_t late_start_limit_ns(double latency_ns) {
    enum { LEAST_NS = 10000, MOST_NS = 200000, FACTOR = 4 };
    double limit_ns = FACTOR * latency_ns;
    return limit_ns < LEAST_NS ? LEAST_NS : limit_ns > MOST_NS ? MOST_NS : (int64_t)limit_ns;
}

/* In whole ns; calls may return after their ops have started, and then no time is left to a launch. */
static int64_t whole_latency_ns(double latency_ns) {
    return latency_ns < 0 ? 0 : latency_ns < 0x1p63 ? (int64_t)latency_ns : INT64_MAX;
}

/* A gap longer than the limit in which the launch came to an end, long before the op started. */
static bool is_late_start(const struct gt_idle *idle, size_t gap, const struct gt_idle_device *device,
                          int64_t limit_ns) {
    if (gt_idle_gap_cause(idle, gap) > GT_IDLE_LAUNCH)
        return false;
    int64_t call_end_ns = idle->view->store->calls.end_ns[gt_idle_gap_call(idle, gap)];
    int64_t end_ns = gt_idle_gap_whole_end_ns(idle, gap);
    return call_end_ns > gt_idle_gap_start_ns(idle, gap) && gt_ns_between(call_end_ns, end_ns) > limit_ns &&
           gt_idle_gaps_launched_ns(idle, gap, device) < end_ns;
}

/* Gaps as they were when the samples were taken: of waits those that turned out not to be launches. */
static bool is_sampled(const struct gt_idle *idle, size_t gap, enum sampled what, int64_t *sample_ns) {
    const struct gt_calls *calls = &idle->view->store->calls;
    int64_t start_ns = gt_idle_gap_start_ns(idle, gap), end_ns = gt_idle_gap_whole_end_ns(idle, gap);
    uint32_t call = gt_idle_gap_call(idle, gap);
    if (what == WAITS) {
        *sample_ns = gt_ns_between(start_ns, end_ns);
        return gt_idle_gap_cause(idle, gap) == GT_IDLE_DEPENDENCY;
    }
    *sample_ns = call == GT_NO_ROW ? 0 : gt_ns_between(calls->end_ns[call], end_ns);
    return call != GT_NO_ROW && calls->end_ns[call] >= start_ns;
}

/* The median where it does not fit: the samples are taken again. */
static double wide_median_ns(struct finder *finder, size_t device, enum sampled what, size_t count) {
    int64_t *samples = gt_mem_uninitialised(count, sizeof *samples), sample_ns;
    double median_ns = 0;
    size_t taken = 0;
    for (size_t i = finder->ops.first[device]; i < finder->ops.first[device + 1] && samples; i++) {
        const struct slice *slice = &finder->slices[i];
        for (size_t gap = slice->first; gap < slice->first + slice->count; gap++)
            if (is_sampled(finder->idle, gap, what, &sample_ns))
                samples[taken++] = sample_ns;
    }
    if (samples)
        median_ns = gt_quantile(samples, taken, 0.5);
    else
        finder->has_failed = true;
    gt_mem_free(samples);
    return median_ns;
}

/* The median of the samples of a device, which its slices have. */
static double median_ns(struct finder *finder, size_t device, enum sampled what, size_t *count) {
    size_t first = finder->ops.first[device], end = finder->ops.first[device + 1];
    double median_ns;
    *count = 0;
    for (size_t i = first; i < end; i++)
        *count += finder->times[what][i].count;
    if (gt_idle_times_median(finder->times[what] + first, end - first, &median_ns))
        return median_ns;
    return wide_median_ns(finder, device, what, *count);
}

static void find_latency(void *context, size_t index) {
    struct finder *finder = context;
    size_t count;
    finder->latencies[index].median_ns = median_ns(finder, index, LATENCIES, &count);
    finder->latencies[index].is_known = count > 0;
    finder->idle->devices[index].launch_latency_ns = whole_latency_ns(finder->latencies[index].median_ns);
}

/* Whether it was right to take gaps for nobody's fault before it was known how long a launch takes. */
static bool was_ahead(const struct latency *latency) {
    return !latency->is_known || latency->median_ns < AHEAD_NS;
}

/* Sums are made again, of all gaps. */
static void forget_unblamed(struct slice *slice, struct gt_idle_times *waits) {
    for (size_t cause = 0; cause < GT_IDLE_CAUSE_COUNT; cause++)
        slice->unblamed[cause] = (struct gt_moments){0};
    gt_idle_times_clear(waits);
}

/* An op that was queued in time, and no longer than a launch takes (the median of the samples), was being launched. */
static inline bool is_launch(const struct gt_idle *idle, size_t gap, int64_t gap_ns, const struct latency *latency) {
    const struct gt_calls *calls = &idle->view->store->calls;
    if (!latency->is_known || (double)gap_ns > latency->median_ns) /* it waited that long */
        return false;
    int64_t call_end_ns = calls->end_ns[gt_idle_gap_call(idle, gap)];
    return (double)gt_ns_between(call_end_ns, gt_idle_gap_whole_end_ns(idle, gap)) <= latency->median_ns;
}

/* Of gaps that were not, yet, nobody's fault. Those queued longer than any launch takes are samples of waits. */
static void judge_waits(void *context, size_t index) {
    struct finder *finder = context;
    struct gt_idle *idle = finder->idle;
    struct slice *slice = &finder->slices[index];
    struct gt_idle_times *waits = &finder->times[WAITS][index];
    const size_t of = finder->ops.items[index].device;
    const struct gt_idle_device *device = &idle->devices[of];
    const struct latency latency = finder->latencies[of];
    const int64_t limit_ns = late_start_limit_ns(latency.median_ns);
    const bool is_some = was_ahead(&latency);
    struct gt_moments_batch batches[GT_IDLE_CAUSE_COUNT] = {0};
    if (!is_some)
        forget_unblamed(slice, waits);
    for (size_t gap = slice->first, end = gap + slice->count; gap < end; gap++) {
        if (is_some && (gap = gt_idle_next_blamed(idle, gap, end)) == end)
            break;
        enum gt_idle_cause cause = gt_idle_gap_cause(idle, gap);
        int64_t gap_ns = gt_ns_between(gt_idle_gap_start_ns(idle, gap), gt_idle_gap_whole_end_ns(idle, gap));
        if (gap_ns > limit_ns && is_late_start(idle, gap, device, limit_ns)) {
            gt_idle_gaps_set(idle, gap, cause, GT_GAP_FIRST, gt_idle_gap_has_launch_wait(idle, gap));
            slice->late_starts++;
        }
        if (cause == GT_IDLE_DEPENDENCY && is_launch(idle, gap, gap_ns, &latency)) {
            gt_idle_gaps_set(idle, gap, GT_IDLE_LAUNCH, GT_GAP_WHOLE, false);
            continue;
        }
        if (cause <= GT_IDLE_LAUNCH)
            continue;
        idle->state[gap] |= GT_IDLE_UNBLAMED_BIT;
        add_unblamed(&slice->unblamed[cause], &batches[cause], gap_ns);
        if (cause == GT_IDLE_DEPENDENCY)
            gt_idle_times_add(waits, gap_ns);
    }
    take_batches(slice, batches);
}

static void find_floor(void *context, size_t index) {
    struct finder *finder = context;
    size_t count;
    double floor_ns = median_ns(finder, index, WAITS, &count);
    finder->idle->devices[index].twice_floor_ns = floor_ns < 0x1p63 ? (uint64_t)(2 * floor_ns) : UINT64_MAX;
}

/* ---- all gaps ---- */

/* Room for the ops before gaps that are far before: between them are a hundred ops or more, which are before one gap
   only or start with the op that ends it. */
static size_t far_room(const struct gt_idle_slice *ops) {
    enum { LEAST_OPS = 64, ENDS = 4 };
    return (ops->end - ops->begin) / LEAST_OPS + ENDS;
}

static bool make_far(struct finder *finder) {
    size_t room = 0;
    for (size_t i = 0; i < finder->ops.count; i++)
        room += far_room(&finder->ops.items[i]);
    finder->far = gt_mem_uninitialised(room, sizeof *finder->far);
    struct gt_idle_far *next = finder->far;
    for (size_t i = 0; i < finder->ops.count && next; i++) {
        finder->slices[i].far = next;
        next += far_room(&finder->ops.items[i]);
    }
    return finder->far;
}

/* Room for what is sampled of the slices. */
static bool make_times(struct finder *finder) {
    size_t room = 0;
    for (size_t i = 0; i < finder->ops.count; i++)
        room += SAMPLED_COUNT * times_room(finder, i);
    finder->counts = gt_mem_array(room, sizeof *finder->counts);
    uint32_t *next = finder->counts;
    for (size_t what = 0; what < SAMPLED_COUNT; what++) {
        finder->times[what] = gt_mem_array(finder->ops.count, sizeof *finder->times[what]);
        for (size_t i = 0; i < finder->ops.count && finder->times[what] && next; i++) {
            finder->times[what][i] = (struct gt_idle_times){next, times_room(finder, i), 0, 0, 0};
            next += finder->times[what][i].room;
        }
    }
    return finder->counts && finder->times[LATENCIES] && finder->times[WAITS];
}

/* Room for as many gaps as there may be. */
static bool make_room(struct finder *finder) {
    struct gt_idle *idle = finder->idle;
    size_t most = 0;
    finder->slices = gt_mem_array(finder->ops.count, sizeof *finder->slices);
    for (size_t i = 0; i < finder->ops.count && finder->slices; i++) {
        finder->slices[i].first = most;
        most += finder->ops.items[i].most_gaps;
    }
    idle->device_count = finder->view->device_count;
    idle->next = gt_mem_uninitialised(most, sizeof *idle->next);
    idle->back = gt_mem_uninitialised(most, sizeof *idle->back);
    idle->state = gt_mem_uninitialised(most, sizeof *idle->state);
    idle->devices = gt_mem_array(idle->device_count, sizeof *idle->devices);
    finder->latencies = gt_mem_array(idle->device_count, sizeof *finder->latencies);
    return finder->slices && idle->next && idle->back && idle->state && idle->devices && finder->latencies &&
           make_far(finder) && make_times(finder);
}

/* Those of all slices, in the order of their gaps. false: memory was short. */
static bool join_far(struct finder *finder) {
    struct gt_idle *idle = finder->idle;
    size_t count = 0;
    for (size_t i = 0; i < finder->ops.count; i++)
        count += finder->slices[i].far_count;
    idle->far = gt_mem_uninitialised(count, sizeof *idle->far);
    for (size_t i = 0; i < finder->ops.count && idle->far; i++) {
        const struct slice *slice = &finder->slices[i];
        memcpy(idle->far + idle->far_count, slice->far, slice->far_count * sizeof *slice->far);
        idle->far_count += slice->far_count;
    }
    return idle->far;
}

/* One thread takes slices in order, so that gaps come one after the other though they were not counted. */
static void fill(struct finder *finder) {
    struct gt_idle *idle = finder->idle;
    if (finder->threads > 1)
        run(finder, finder->ops.count, fill_slice);
    for (size_t i = 0; i < finder->ops.count; i++) {
        if (finder->threads == 1) {
            finder->slices[i].first = idle->count;
            fill_slice(finder, i);
        }
        idle->count += finder->slices[i].count;
    }
}

/* Gives back the room that was not needed. */
static void cut_room(struct gt_idle *idle) {
    uint32_t *next = gt_mem_realloc(idle->next, idle->count * sizeof *next);
    uint8_t *back = gt_mem_realloc(idle->back, idle->count), *state = gt_mem_realloc(idle->state, idle->count);
    idle->next = next ? next : idle->next;
    idle->back = back ? back : idle->back;
    idle->state = state ? state : idle->state;
}

static void sum_devices(struct finder *finder) {
    struct gt_idle *idle = finder->idle;
    for (size_t i = 0; i < finder->ops.count; i++) {
        const struct slice *slice = &finder->slices[i];
        struct gt_idle_device *device = &idle->devices[finder->ops.items[i].device];
        if (finder->ops.items[i].is_first)
            device->first = slice->first;
        device->count += slice->count;
        device->late_starts += slice->late_starts;
        device->total_ns += slice->total_ns;
        for (size_t cause = 0; cause < GT_IDLE_CAUSE_COUNT; cause++)
            gt_moments_merge(&device->unblamed[cause], &slice->unblamed[cause]);
        idle->late_starts += slice->late_starts;
    }
}

static bool find(struct finder *finder) {
    size_t devices = finder->view->device_count;
    if (!gt_idle_slices_init(&finder->ops, finder->view, finder->threads) || !make_room(finder))
        return false;
    fill(finder);
    cut_room(finder->idle);
    pass_on_last(finder);
    if (!join_far(finder))
        return false;
    run(finder, devices, find_latency);
    run(finder, finder->ops.count, judge_waits);
    run(finder, devices, find_floor);
    sum_devices(finder);
    return !finder->has_failed;
}

bool gt_idle_gaps_find(struct gt_idle *idle, const struct gt_view *view) {
    struct finder finder = {.view = view, .idle = idle, .threads = gt_threads_count(view->request->threads)};
    bool ok = find(&finder);
    gt_mem_free(finder.far);
    gt_mem_free(finder.times[LATENCIES]);
    gt_mem_free(finder.times[WAITS]);
    gt_mem_free(finder.counts);
    gt_mem_free(finder.latencies);
    gt_mem_free(finder.slices);
    gt_idle_slices_release(&finder.ops);
    return ok;
}
