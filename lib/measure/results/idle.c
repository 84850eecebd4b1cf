/* Finds the gaps of every device and the cause of each, from the launch calls and what their threads did during the
 * gaps. */
#include "measure/results/idle.h"

#include "base/mem.h"
#include "base/moments.h"
#include "base/ns.h"
#include "measure/results/calls.h"
#include "measure/results/launch_wait.h"
#include "measure/results/results.h"

const char *const gt_idle_cause_names[GT_IDLE_CAUSE_COUNT] = {
    [GT_IDLE_SYNC] = "sync",       [GT_IDLE_HOST] = "host",
    [GT_IDLE_LAUNCH] = "launch",   [GT_IDLE_DEPENDENCY] = "dependency",
    [GT_IDLE_UNKNOWN] = "unknown", [GT_IDLE_END] = "end",
};

const char *const gt_host_activity_names[GT_HOST_ACTIVITY_COUNT] = {
    [GT_HOST_API] = "in API calls",
    [GT_HOST_RANGE] = "in ranges or operators",
    [GT_HOST_OUTSIDE] = "in untraced code",
};

/* ---- finding the gaps ---- */

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

/* The cause as far as the launch call alone says it. */
static enum gt_idle_cause cause_by_call(const struct gt_calls *calls, const struct gt_idle_gap *gap) {
    if (gap->next == GT_NO_ROW)
        return GT_IDLE_END;
    if (gap->call == GT_NO_ROW)
        return GT_IDLE_UNKNOWN;
    if (calls->start_ns[gap->call] > gap->start_ns)
        return GT_IDLE_HOST; /* or sync */
    return calls->end_ns[gap->call] > gap->start_ns ? GT_IDLE_LAUNCH
                                                    : GT_IDLE_DEPENDENCY; /* or launch, where the wait is short */
}

struct finder {
    const struct gt_view *view;
    struct gt_idle *idle;
    struct gt_host_spans launch_waits; /* of the gaps that have one, in their order */
    int64_t *samples;                  /* of the current device */
    size_t sample_count;
    bool has_failed;
    bool wants_activity; /* of host gaps; otherwise causes alone */
};

/* Takes a sample of the launch latency where the call ended during the gap. */
static void add_gap(struct finder *finder, const struct gt_view_device *device, int64_t start_ns, int64_t end_ns,
                    uint32_t previous, size_t next) {
    const struct gt_view *view = finder->view;
    const struct gt_calls *calls = &view->store->calls;
    uint32_t ender = op_starting_at(view, device, next, end_ns);
    struct gt_idle_gap *gap = &finder->idle->gaps[finder->idle->count++];
    *gap = (struct gt_idle_gap){
        .start_ns = start_ns,
        .end_ns = end_ns,
        .previous = previous,
        .next = ender,
        .call = ender == GT_NO_ROW ? GT_NO_ROW : view->labels->op_call[view->row[ender]],
        .activity = GT_HOST_OUTSIDE,
    };
    gap->cause = (uint8_t)cause_by_call(calls, gap);
    gap->has_launch_wait = gap->cause == GT_IDLE_HOST && calls->thread[gap->call] != GT_NO_TRACK;
    if (gap->has_launch_wait)
        finder->has_failed |= !gt_host_spans_add(&finder->launch_waits, calls->thread[gap->call], start_ns,
                                                 calls->start_ns[gap->call], (uint32_t)(finder->idle->count - 1));
    if (gap->call != GT_NO_ROW && calls->end_ns[gap->call] >= start_ns)
        finder->samples[finder->sample_count++] = gt_ns_between(calls->end_ns[gap->call], end_ns);
}

/* Ops without length run at no time, so they neither end nor split a gap. */
static void find_device_gaps(struct finder *finder, const struct gt_view_device *device) {
    enum { AHEAD = 16 };
    const struct gt_view *view = finder->view;
    const struct gt_calls *calls = &view->store->calls;
    size_t end = device->first + device->count, tail = end;
    int64_t reached_ns = device->span_start_ns;
    uint32_t last = GT_NO_ROW;
    for (size_t i = device->first; i < end; i++) {
        bool runs = view->end_ns[i] > view->start_ns[i];
        uint32_t coming = i + AHEAD < end ? view->labels->op_call[view->row[i + AHEAD]] : GT_NO_ROW;
        if (coming != GT_NO_ROW) { /* where devices are served by turns, their calls lie far apart */
            __builtin_prefetch(&calls->start_ns[coming]);
            __builtin_prefetch(&calls->end_ns[coming]);
        }
        if (runs && view->start_ns[i] > reached_ns)
            add_gap(finder, device, reached_ns, view->start_ns[i], last, i);
        if (runs ? view->end_ns[i] >= reached_ns : view->end_ns[i] == reached_ns) {
            reached_ns = view->end_ns[i];
            last = (uint32_t)i;
        }
    }
    while (tail > device->first && view->start_ns[tail - 1] == device->span_end_ns)
        tail--;
    if (reached_ns < device->span_end_ns)
        add_gap(finder, device, reached_ns, device->span_end_ns, last, tail);
}

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

/* When the launch of the op that ends a gap had reached the GPU. */
static int64_t launched_ns(const struct gt_calls *calls, const struct gt_idle_gap *gap,
                           const struct gt_idle_device *device) {
    return gt_ns_add(calls->end_ns[gap->call], device->launch_latency_ns);
}

/* A gap in which the launch came to an end, long before the op started. */
static bool is_late_start(const struct gt_calls *calls, const struct gt_idle_gap *gap,
                          const struct gt_idle_device *device, int64_t limit_ns) {
    if (gt_idle_gap_ns(gap) <= limit_ns || gap->cause > GT_IDLE_LAUNCH)
        return false;
    int64_t call_end_ns = calls->end_ns[gap->call];
    return call_end_ns > gap->start_ns && gt_ns_between(call_end_ns, gap->end_ns) > limit_ns &&
           launched_ns(calls, gap, device) < gap->end_ns;
}

/* An op that was queued in time, and no longer than a launch takes (the median of the samples), was being launched.
   The others waited longer than any launch. */
static void judge_waits(struct finder *finder, struct gt_idle_device *device) {
    const struct gt_calls *calls = &finder->view->store->calls;
    bool has_latency = finder->sample_count > 0;
    double latency_ns = gt_quantile(finder->samples, finder->sample_count, 0.5);
    int64_t limit_ns = late_start_limit_ns(latency_ns);
    size_t waits = 0;
    device->launch_latency_ns = whole_latency_ns(latency_ns);
    for (size_t i = device->first; i < device->first + device->count; i++) {
        struct gt_idle_gap *gap = &finder->idle->gaps[i];
        int64_t gap_ns = gt_idle_gap_ns(gap);
        device->total_ns += gap_ns;
        if (is_late_start(calls, gap, device, limit_ns)) {
            gap->part = GT_GAP_FIRST;
            device->late_starts++;
        }
        if (gap->cause != GT_IDLE_DEPENDENCY)
            continue;
        bool is_short = has_latency && (double)gap_ns <= latency_ns; /* it waited at least as long as the gap */
        if (is_short && (double)gt_ns_between(calls->end_ns[gap->call], gap->end_ns) <= latency_ns)
            gap->cause = GT_IDLE_LAUNCH;
        else
            finder->samples[waits++] = gap_ns;
    }
    double floor_ns = gt_quantile(finder->samples, waits, 0.5);
    device->twice_floor_ns = floor_ns < 0x1p63 ? (uint64_t)(2 * floor_ns) : UINT64_MAX;
}

/* All gaps, each with its cause as far as launch waits do not change it. */
static bool find_gaps(struct finder *finder) {
    const struct gt_view *view = finder->view;
    struct gt_idle *idle = finder->idle;
    size_t most = view->op_count + view->device_count; /* one before each op, and one after the last of a device */
    idle->gaps = gt_mem_uninitialised(most, sizeof *idle->gaps);
    idle->devices = gt_mem_array(view->device_count, sizeof *idle->devices);
    idle->device_count = view->device_count;
    finder->samples = gt_mem_uninitialised(gt_view_most_ops(view) + 1, sizeof *finder->samples);
    bool ok = gt_host_spans_init(&finder->launch_waits, most, view->store->threads.count) && idle->gaps &&
              idle->devices && finder->samples;
    for (size_t d = 0; d < view->device_count && ok; d++) {
        gt_host_spans_rewind(&finder->launch_waits);
        idle->devices[d].first = idle->count;
        finder->sample_count = 0;
        find_device_gaps(finder, &view->devices[d]);
        idle->devices[d].count = idle->count - idle->devices[d].first;
        judge_waits(finder, &idle->devices[d]);
        idle->late_starts += idle->devices[d].late_starts;
    }
    gt_mem_free(finder->samples);
    return ok && !finder->has_failed;
}

/* ---- what the launching thread did before it launched ---- */

static struct gt_idle_gap *gap_of_wait(const struct finder *finder, uint32_t span) {
    return &finder->idle->gaps[finder->launch_waits.items[span].gap];
}

/* A span may be reported twice, and then the second report counts. Calls are reported first: they are inside code and
   more specific. */
static void note_calls(void *context, uint32_t span, const struct gt_host_span_part *part) {
    gap_of_wait(context, span)->activity = part->is_most ? GT_HOST_API : GT_HOST_OUTSIDE;
}

static void note_waits(void *context, uint32_t span, const struct gt_host_span_part *part) {
    gap_of_wait(context, span)->cause = part->is_most ? GT_IDLE_SYNC : GT_IDLE_HOST;
}

static void note_code(void *context, uint32_t span, const struct gt_host_span_part *part) {
    const struct finder *finder = context;
    struct gt_idle_gap *gap = gap_of_wait(finder, span);
    if (gap->activity != GT_HOST_API)
        gap->activity = part->is_most ? GT_HOST_RANGE : GT_HOST_OUTSIDE;
    finder->idle->launch_wait_code[span] = part->is_most ? part->name : GT_STRID_EMPTY;
}

static bool judge_launch_waits(struct finder *finder) {
    struct gt_idle *idle = finder->idle;
    if (finder->launch_waits.count == 0)
        return true;
    if (!finder->wants_activity)
        return gt_launch_wait_calls(finder->view, &finder->launch_waits, NULL, note_waits, finder);
    idle->launch_wait_code = gt_mem_uninitialised(finder->launch_waits.count, sizeof *idle->launch_wait_code);
    return idle->launch_wait_code &&
           gt_launch_wait_calls(finder->view, &finder->launch_waits, note_calls, note_waits, finder) &&
           gt_launch_wait_code(finder->view, &finder->launch_waits, note_code, finder);
}

/* ---- late starts ---- */

/* Makes two gaps of each late start. They move up to make room, the last one first. */
static bool split_late_starts(struct finder *finder) {
    const struct gt_calls *calls = &finder->view->store->calls;
    struct gt_idle *idle = finder->idle;
    if (idle->late_starts == 0)
        return true;
    size_t end = idle->count + idle->late_starts;
    struct gt_idle_gap *gaps = gt_mem_realloc(idle->gaps, end * sizeof *gaps);
    if (!gaps)
        return false;
    idle->gaps = gaps;
    idle->count = end;
    for (size_t d = idle->device_count; d-- > 0;) {
        struct gt_idle_device *device = &idle->devices[d];
        for (size_t i = device->first + device->count; i-- > device->first;) {
            struct gt_idle_gap gap = gaps[i];
            if (gap.part == GT_GAP_FIRST) {
                struct gt_idle_gap *queued = &gaps[--end];
                *queued = gap;
                queued->start_ns = gap.end_ns = launched_ns(calls, &gap, device);
                queued->cause = GT_IDLE_DEPENDENCY;
                queued->has_launch_wait = false;
                queued->part = GT_GAP_QUEUED;
            }
            gaps[--end] = gap;
        }
        device->first = end;
        device->count += device->late_starts;
    }
    return true;
}

/* ---- sums ---- */

static void sum_add(struct gt_idle_sum *sum, int64_t gap_ns, int64_t twice_recoverable_ns) {
    gt_moments_add(&sum->gaps, gap_ns);
    sum->twice_recoverable_ns += twice_recoverable_ns;
}

struct gt_idle_sums gt_idle_sums_of(const struct gt_idle *idle, size_t device) {
    const struct gt_idle_device *of = &idle->devices[device];
    const struct gt_idle_gap *gaps = idle->gaps + of->first;
    struct gt_idle_sums sums = {0};
    for (size_t i = 0; i < of->count; i++) {
        int64_t gap_ns = gt_idle_gap_ns(&gaps[i]);
        int64_t twice_recoverable_ns = gt_idle_gap_twice_recoverable_ns(&gaps[i], of);
        sum_add(&sums.causes[gaps[i].cause], gap_ns, twice_recoverable_ns);
        if (gaps[i].cause == GT_IDLE_HOST)
            sum_add(&sums.activities[gaps[i].activity], gap_ns, twice_recoverable_ns);
    }
    return sums;
}

static enum gt_status find_idle(struct gt_idle *idle, const struct gt_view *view, bool wants_activity,
                                struct gt_error *err) {
    *idle = (struct gt_idle){0};
    struct finder finder = {.view = view, .idle = idle, .wants_activity = wants_activity};
    bool ok = find_gaps(&finder) && judge_launch_waits(&finder) && split_late_starts(&finder);
    gt_host_spans_release(&finder.launch_waits);
    if (!ok) {
        gt_idle_release(idle);
        return gt_fail_memory(err);
    }
    return GT_OK;
}

enum gt_status gt_idle_init(struct gt_idle *idle, const struct gt_view *view, struct gt_error *err) {
    return find_idle(idle, view, true, err);
}

enum gt_status gt_idle_causes_init(struct gt_idle_causes *causes, const struct gt_view *view, struct gt_error *err) {
    *causes = (struct gt_idle_causes){.idle = gt_results_made(view, GT_RESULT_IDLE)};
    if (causes->idle)
        return GT_OK;
    causes->idle = &causes->own;
    return find_idle(&causes->own, view, false, err);
}

void gt_idle_causes_release(struct gt_idle_causes *causes) {
    gt_idle_release(&causes->own);
}

size_t gt_idle_device_of(const struct gt_idle *idle, size_t gap) {
    size_t low = 0, high = idle->device_count; /* the first device whose gaps end after it */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (idle->devices[middle].first + idle->devices[middle].count <= gap)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void gt_idle_release(struct gt_idle *idle) {
    gt_mem_free(idle->gaps);
    gt_mem_free(idle->devices);
    gt_mem_free(idle->launch_wait_code);
    *idle = (struct gt_idle){0};
}
