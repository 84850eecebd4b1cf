/* Finds gaps in slices of the ops of each device: what a slice needs of those before it is passed on between two
   passes, so that nothing depends on how many there are. */
#include "measure/results/idle_gaps.h"

#include <stdatomic.h>

#include "base/intervals.h"
#include "base/mem.h"
#include "base/threads.h"

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

/* Times in 32 bits. */
struct sampling {
    uint32_t *samples;
    size_t count, too_low, too_high; /* how many there are, and how many of them do not fit */
};

/* Ops of a device one after the other, and what comes of them. */
struct slice {
    size_t device, begin, end; /* positions */
    bool is_last;              /* of its device */
    int64_t reached_ns;        /* before it: the latest end */
    int64_t latest_ns;         /* in it, of ops that have a length */
    size_t first, count;       /* of its gaps */
    struct sampling sampling;  /* from the place of its first gap on */
    uint32_t last;             /* the op that ended last, of its own; GT_NO_ROW: none of them */
    size_t late_starts;
    __int128 total_ns;
    struct gt_moments unblamed[GT_IDLE_CAUSE_COUNT]; /* as gt_idle_device has them */
};

/* How long a launch takes. */
struct latency {
    double median_ns;
    bool is_known;
};

struct finder {
    const struct gt_view *view;
    struct gt_idle *idle;
    size_t threads;
    struct slice *slices; /* by device */
    size_t slice_count;
    uint32_t *samples;         /* at most one for each gap */
    atomic_bool has_failed;    /* memory was short */
    struct latency *latencies; /* by device */
    size_t *first_slices;      /* by device, and after the last */
};

/* Runs a pass over slices or devices. */
static void run(struct finder *finder, size_t count, void (*task)(void *context, size_t index)) {
    gt_threads_parts(finder->threads, count, task, finder);
}

/* ---- slices ---- */

static bool make_slices(struct finder *finder) {
    const struct gt_view *view = finder->view;
    size_t count = 0;
    for (size_t d = 0; d < view->device_count; d++)
        count += gt_threads_slices(finder->threads, view->devices[d].count, 0);
    finder->slices = gt_mem_array(count, sizeof *finder->slices);
    finder->first_slices = gt_mem_array(view->device_count + 1, sizeof *finder->first_slices);
    if (!finder->slices || !finder->first_slices)
        return false;
    for (size_t d = 0; d < view->device_count; d++) {
        const struct gt_view_device *device = &view->devices[d];
        size_t parts = gt_threads_slices(finder->threads, device->count, 0);
        for (size_t i = 0; i < parts; i++)
            finder->slices[finder->slice_count++] = (struct slice){
                .device = d,
                .begin = device->first + gt_threads_slice_begin(device->count, parts, i),
                .end = device->first + gt_threads_slice_begin(device->count, parts, i + 1),
                .is_last = i + 1 == parts,
            };
        finder->first_slices[d + 1] = finder->slice_count;
    }
    return true;
}

static bool is_first(const struct finder *finder, const struct slice *slice) {
    return slice->begin == finder->view->devices[slice->device].first;
}

static void find_latest(void *context, size_t index) {
    const struct finder *finder = context;
    const struct gt_view *view = finder->view;
    struct slice *slice = &finder->slices[index];
    slice->latest_ns = INT64_MIN;
    for (size_t i = slice->begin; i < slice->end && !slice->is_last; i++)
        if (view->end_ns[i] > view->start_ns[i] && view->end_ns[i] > slice->latest_ns)
            slice->latest_ns = view->end_ns[i];
}

static void pass_on_reach(struct finder *finder) {
    for (struct slice *slice = finder->slices; slice < finder->slices + finder->slice_count; slice++) {
        slice->reached_ns = finder->view->devices[slice->device].span_start_ns;
        if (!is_first(finder, slice))
            slice->reached_ns = slice[-1].latest_ns > slice[-1].reached_ns ? slice[-1].latest_ns : slice[-1].reached_ns;
    }
}

/* Ops without length run at no time, so they neither end nor split a gap. */
static void count_gaps(void *context, size_t index) {
    const struct finder *finder = context;
    const struct gt_view *view = finder->view;
    struct slice *slice = &finder->slices[index];
    int64_t reached_ns = slice->reached_ns;
    size_t count = 0;
    for (size_t i = slice->begin; i < slice->end; i++) {
        bool runs = view->end_ns[i] > view->start_ns[i];
        count += runs && view->start_ns[i] > reached_ns;
        reached_ns = runs && view->end_ns[i] > reached_ns ? view->end_ns[i] : reached_ns;
    }
    slice->count = count + (slice->is_last && reached_ns < view->devices[slice->device].span_end_ns);
}

/* ---- gaps ---- */

/* Samples are only asked for their median: those that do not fit need only lie on the right side of it. */
static inline void add_sample(struct sampling *to, int64_t sample_ns) {
    if (__builtin_expect((uint64_t)sample_ns > UINT32_MAX, 0)) {
        to->too_low += sample_ns < 0;
        to->too_high += sample_ns > 0;
        sample_ns = sample_ns < 0 ? 0 : UINT32_MAX;
    }
    to->samples[to->count++] = (uint32_t)sample_ns;
}

/* Takes a sample of the launch latency where the call ended during the gap. */
static inline void add_gap(const struct finder *finder, struct sampling *sampling, size_t place,
                           struct gt_interval time, uint32_t previous, uint32_t ender) {
    const struct gt_view *view = finder->view;
    const struct gt_calls *calls = &view->store->calls;
    uint32_t call = ender == GT_NO_ROW ? GT_NO_ROW : view->labels->op_call[view->row[ender]];
    enum gt_idle_cause cause = cause_by_call(calls, ender, call, time.start_ns);
    bool has_launch_wait = cause == GT_IDLE_HOST && calls->thread[call] != GT_NO_TRACK;
    if (call != GT_NO_ROW && calls->end_ns[call] >= time.start_ns)
        add_sample(sampling, gt_ns_between(calls->end_ns[call], time.end_ns));
    finder->idle->previous[place] = previous;
    finder->idle->next[place] = ender;
    finder->idle->call[place] = call;
    finder->idle->state[place] = gt_idle_state(cause, GT_GAP_WHOLE, has_launch_wait);
}

static void fill_slice(void *context, size_t index) {
    enum { AHEAD = 16 };
    struct finder *finder = context;
    struct slice *slice = &finder->slices[index];
    const struct gt_view *view = finder->view;
    const struct gt_view_device *device = &view->devices[slice->device];
    const struct gt_calls *calls = &view->store->calls;
    size_t place = slice->first, tail = slice->end;
    int64_t reached_ns = slice->reached_ns;
    uint32_t last = GT_NO_ROW;
    struct sampling sampling = {.samples = finder->samples + slice->first};
    const int64_t *start_ns = view->start_ns, *end_ns = view->end_ns;
    const uint32_t *op_call = view->labels->op_call, *row = view->row;
    for (size_t i = slice->begin, end = slice->end; i < end; i++) {
        bool runs = end_ns[i] > start_ns[i];
        uint32_t coming = i + AHEAD < end ? op_call[row[i + AHEAD]] : GT_NO_ROW;
        if (coming != GT_NO_ROW) /* where devices are served by turns, their calls lie far apart */
            __builtin_prefetch(&calls->end_ns[coming]);
        if (runs && start_ns[i] > reached_ns) {
            bool is_alone = i + 1 < end && start_ns[i + 1] != start_ns[i];
            uint32_t ender = is_alone ? (uint32_t)i : op_starting_at(view, device, i, start_ns[i]);
            add_gap(finder, &sampling, place++, (struct gt_interval){reached_ns, start_ns[i]}, last, ender);
        }
        if (runs ? end_ns[i] >= reached_ns : end_ns[i] == reached_ns) {
            reached_ns = end_ns[i];
            last = (uint32_t)i;
        }
    }
    slice->last = last;
    while (slice->is_last && tail > device->first && view->start_ns[tail - 1] == device->span_end_ns)
        tail--;
    if (slice->is_last && reached_ns < device->span_end_ns)
        add_gap(finder, &sampling, place, (struct gt_interval){reached_ns, device->span_end_ns}, last,
                op_starting_at(view, device, tail, device->span_end_ns));
    slice->sampling = sampling;
}

/* The op before the first gap of a slice may be of a slice before: all other gaps come after an op of their own. */
static void pass_on_last(struct finder *finder) {
    uint32_t last = GT_NO_ROW;
    for (const struct slice *slice = finder->slices; slice < finder->slices + finder->slice_count; slice++) {
        last = is_first(finder, slice) ? GT_NO_ROW : last;
        if (slice->count && finder->idle->previous[slice->first] == GT_NO_ROW)
            finder->idle->previous[slice->first] = last;
        last = slice->last == GT_NO_ROW ? last : slice->last;
    }
}

/* ---- latency ---- */

/* From which time on after its launch call an op is late: several times what a launch takes, within bounds. */
static int64_t late_start_limit_ns(double latency_ns) {
    enum { LEAST_NS = 10000, MOST_NS = 200000, LATENCIES = 4 };
    double limit_ns = LATENCIES * latency_ns;
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
    int64_t call_end_ns = idle->view->store->calls.end_ns[idle->call[gap]];
    int64_t end_ns = gt_idle_gap_whole_end_ns(idle, gap);
    return call_end_ns > gt_idle_gap_start_ns(idle, gap) && gt_ns_between(call_end_ns, end_ns) > limit_ns &&
           gt_idle_gaps_launched_ns(idle, gap, device) < end_ns;
}

/* What a gap is a sample of. */
enum sampled { LATENCIES, WAITS };

/* Gaps as they were when the samples were taken: of waits those that turned out not to be launches. */
static bool is_sampled(const struct gt_idle *idle, size_t gap, enum sampled what, int64_t *sample_ns) {
    const struct gt_calls *calls = &idle->view->store->calls;
    int64_t start_ns = gt_idle_gap_start_ns(idle, gap), end_ns = gt_idle_gap_whole_end_ns(idle, gap);
    uint32_t call = idle->call[gap];
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
    for (size_t i = finder->first_slices[device]; i < finder->first_slices[device + 1] && samples; i++) {
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

/* The median of the samples of a device, which its slices have. All that are below 0 say the same: calls return after
   their ops have started. */
static double median_ns(struct finder *finder, size_t device, enum sampled what, size_t *count) {
    struct gt_slice parts[GT_THREADS_MOST];
    size_t used = 0, too_low = 0, too_high = 0;
    double level = 0.5, median = 0;
    *count = 0;
    for (size_t i = finder->first_slices[device]; i < finder->first_slices[device + 1]; i++) {
        const struct slice *slice = &finder->slices[i];
        parts[used++] = (struct gt_slice){.narrow = slice->sampling.samples, .count = slice->sampling.count};
        *count += slice->sampling.count;
        too_low += slice->sampling.too_low;
        too_high += slice->sampling.too_high;
    }
    if (*count == 0)
        return 0;
    if (too_low > *count / 2)
        return -1;
    if (too_low > (*count - 1) / 2 || too_high > (*count - 1) / 2) /* one of the two in the middle */
        return wide_median_ns(finder, device, what, *count);
    gt_quantile_all(parts, used, &level, 1, &median);
    return median;
}

static void find_latency(void *context, size_t index) {
    struct finder *finder = context;
    size_t count;
    finder->latencies[index].median_ns = median_ns(finder, index, LATENCIES, &count);
    finder->latencies[index].is_known = count > 0;
    finder->idle->devices[index].launch_latency_ns = whole_latency_ns(finder->latencies[index].median_ns);
}

/* Adds a gap that is nobody's fault. Nearly all fit a batch. */
static inline void add_unblamed(struct gt_moments *moments, struct gt_moments_batch *batch, int64_t gap_ns) {
    if ((uint64_t)gap_ns < GT_MOMENTS_BATCH_LIMIT)
        gt_moments_batch_add(batch, (uint64_t)gap_ns);
    else
        gt_moments_add(moments, gap_ns);
}

/* An op that was queued in time, and no longer than a launch takes (the median of the samples), was being launched.
   The others waited longer than any launch: their waits are samples now. */
static void judge_some(const struct finder *finder, struct slice *slice, size_t begin, size_t end) {
    struct gt_idle *idle = finder->idle;
    const struct gt_calls *calls = &finder->view->store->calls;
    const struct gt_idle_device *device = &idle->devices[slice->device];
    const struct latency latency = finder->latencies[slice->device];
    const int64_t limit_ns = late_start_limit_ns(latency.median_ns);
    struct gt_moments_batch batches[GT_IDLE_CAUSE_COUNT] = {0}, queued = {0}; /* most are queued: no address of it */
    struct sampling sampling = slice->sampling;
    __int128 total_ns = 0;
    for (size_t gap = begin; gap < end; gap++) {
        enum gt_idle_cause cause = gt_idle_gap_cause(idle, gap);
        int64_t end_ns = gt_idle_gap_whole_end_ns(idle, gap);
        int64_t gap_ns = gt_ns_between(gt_idle_gap_start_ns(idle, gap), end_ns);
        total_ns += gap_ns;
        if (gap_ns > limit_ns && is_late_start(idle, gap, device, limit_ns)) {
            idle->state[gap] = gt_idle_state(cause, GT_GAP_FIRST, gt_idle_gap_has_launch_wait(idle, gap));
            slice->late_starts++;
        }
        bool is_queued = cause == GT_IDLE_DEPENDENCY;
        bool is_short = is_queued && latency.is_known && (double)gap_ns <= latency.median_ns; /* it waited that long */
        if (is_short && (double)gt_ns_between(calls->end_ns[idle->call[gap]], end_ns) <= latency.median_ns) {
            idle->state[gap] = gt_idle_state(GT_IDLE_LAUNCH, GT_GAP_WHOLE, false);
            continue;
        }
        if (is_queued) {
            add_sample(&sampling, gap_ns);
            add_unblamed(&slice->unblamed[cause], &queued, gap_ns);
        } else if (cause > GT_IDLE_LAUNCH) {
            add_unblamed(&slice->unblamed[cause], &batches[cause], gap_ns);
        }
    }
    slice->sampling = sampling;
    slice->total_ns += total_ns;
    batches[GT_IDLE_DEPENDENCY] = queued;
    for (size_t cause = 0; cause < GT_IDLE_CAUSE_COUNT; cause++)
        if (batches[cause].count)
            gt_moments_take(&slice->unblamed[cause], &batches[cause]);
}

static void judge_waits(void *context, size_t index) {
    struct finder *finder = context;
    struct slice *slice = &finder->slices[index];
    slice->sampling = (struct sampling){.samples = finder->samples + slice->first};
    for (size_t gap = slice->first, end = gap + slice->count, stop; gap < end; gap = stop) {
        stop = end - gap < GT_MOMENTS_BATCH ? end : gap + GT_MOMENTS_BATCH;
        judge_some(finder, slice, gap, stop);
    }
}

static void find_floor(void *context, size_t index) {
    struct finder *finder = context;
    size_t count;
    double floor_ns = median_ns(finder, index, WAITS, &count);
    finder->idle->devices[index].twice_floor_ns = floor_ns < 0x1p63 ? (uint64_t)(2 * floor_ns) : UINT64_MAX;
}

/* ---- all gaps ---- */

/* Room for the gaps that were counted. */
static bool make_room(struct finder *finder) {
    struct gt_idle *idle = finder->idle;
    for (size_t i = 0; i < finder->slice_count; i++) {
        struct slice *slice = &finder->slices[i];
        slice->first = idle->count;
        idle->count += slice->count;
    }
    idle->device_count = finder->view->device_count;
    idle->previous = gt_mem_uninitialised(idle->count, sizeof *idle->previous);
    idle->next = gt_mem_uninitialised(idle->count, sizeof *idle->next);
    idle->call = gt_mem_uninitialised(idle->count, sizeof *idle->call);
    idle->state = gt_mem_uninitialised(idle->count, sizeof *idle->state);
    idle->devices = gt_mem_array(idle->device_count, sizeof *idle->devices);
    finder->samples = gt_mem_uninitialised(idle->count, sizeof *finder->samples);
    finder->latencies = gt_mem_array(idle->device_count, sizeof *finder->latencies);
    return idle->previous && idle->next && idle->call && idle->state && idle->devices && finder->samples &&
           finder->latencies;
}

static void sum_devices(struct finder *finder) {
    struct gt_idle *idle = finder->idle;
    for (const struct slice *slice = finder->slices; slice < finder->slices + finder->slice_count; slice++) {
        struct gt_idle_device *device = &idle->devices[slice->device];
        if (is_first(finder, slice))
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
    if (!make_slices(finder))
        return false;
    size_t slices = finder->slice_count, devices = finder->view->device_count;
    if (slices > devices)
        run(finder, slices, find_latest);
    pass_on_reach(finder);
    run(finder, slices, count_gaps);
    if (!make_room(finder))
        return false;
    run(finder, slices, fill_slice);
    pass_on_last(finder);
    run(finder, devices, find_latency);
    run(finder, slices, judge_waits);
    run(finder, devices, find_floor);
    sum_devices(finder);
    return !finder->has_failed;
}

bool gt_idle_gaps_find(struct gt_idle *idle, const struct gt_view *view) {
    struct finder finder = {.view = view, .idle = idle, .threads = gt_threads_count(view->request->threads)};
    bool ok = find(&finder);
    gt_mem_free(finder.samples);
    gt_mem_free(finder.latencies);
    gt_mem_free(finder.slices);
    gt_mem_free(finder.first_slices);
    return ok;
}
