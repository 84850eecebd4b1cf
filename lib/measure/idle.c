/* Finds the gaps of every device and the cause of each, from the launch calls and what their threads did meanwhile. */
#include "measure/idle.h"

#include "base/mem.h"
#include "base/quantile.h"
#include "measure/calls.h"
#include "measure/cover.h"
#include "measure/measure.h"

const char *const gt_idle_cause_names[GT_IDLE_CAUSE_COUNT] = {
    [GT_IDLE_SYNC] = "sync",       [GT_IDLE_HOST] = "host",
    [GT_IDLE_LAUNCH] = "launch",   [GT_IDLE_DEPENDENCY] = "dependency",
    [GT_IDLE_UNKNOWN] = "unknown", [GT_IDLE_END] = "end",
};

const char *const gt_host_activity_names[GT_HOST_ACTIVITY_COUNT] = {
    [GT_HOST_API] = "inside API calls",
    [GT_HOST_RANGE] = "inside ranges or operators",
    [GT_HOST_OUTSIDE] = "outside everything",
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

static void add_gap(struct gt_idle *idle, const struct gt_view *view, size_t device_index, int64_t start_ns,
                    int64_t end_ns, uint32_t previous, size_t next) {
    const struct gt_calls *calls = &view->store->calls;
    uint32_t ender = op_starting_at(view, &view->devices[device_index], next, end_ns);
    uint32_t call = ender == GT_NO_ROW ? GT_NO_ROW : view->labels->op_call[view->row[ender]];
    idle->gaps[idle->count++] = (struct gt_idle_gap){
        .start_ns = start_ns,
        .end_ns = end_ns,
        .gap_ns = gt_ns_between(start_ns, end_ns),
        .device = (uint32_t)device_index,
        .previous = previous,
        .next = ender,
        .call = call,
        .activity = GT_HOST_OUTSIDE,
        .is_late = call != GT_NO_ROW && calls->start_ns[call] > start_ns && calls->thread[call] != GT_NO_TRACK,
    };
}

/* Ops without length run at no time, so they neither end nor split a gap. */
static void find_device_gaps(struct gt_idle *idle, const struct gt_view *view, size_t device_index) {
    const struct gt_view_device *device = &view->devices[device_index];
    size_t end = device->first + device->count, tail = end;
    int64_t reached_ns = device->span_start_ns;
    uint32_t last = GT_NO_ROW;
    for (size_t i = device->first; i < end; i++) {
        bool runs = view->end_ns[i] > view->start_ns[i];
        if (runs && view->start_ns[i] > reached_ns)
            add_gap(idle, view, device_index, reached_ns, view->start_ns[i], last, i);
        if (runs ? view->end_ns[i] >= reached_ns : view->end_ns[i] == reached_ns) {
            reached_ns = view->end_ns[i];
            last = (uint32_t)i;
        }
    }
    while (tail > device->first && view->start_ns[tail - 1] == device->span_end_ns)
        tail--;
    if (reached_ns < device->span_end_ns)
        add_gap(idle, view, device_index, reached_ns, device->span_end_ns, last, tail);
}

static bool find_gaps(struct gt_idle *idle, const struct gt_view *view) {
    size_t most = view->op_count + view->device_count; /* one before each op, and one behind the last of a device */
    *idle = (struct gt_idle){.gaps = gt_alloc_array(most, sizeof *idle->gaps)};
    for (size_t d = 0; d < view->device_count && idle->gaps; d++)
        find_device_gaps(idle, view, d);
    return idle->gaps != NULL;
}

/* ---- what the launching thread did before it launched ---- */

static uint8_t *new_blocking_calls(const struct gt_store *store) {
    uint8_t *is_blocking = gt_alloc_array(store->calls.count, 1);
    uint8_t *answer = gt_alloc_array(store->strings.count, 1); /* by name: 0 not asked yet, 1 no, 2 yes */
    for (size_t i = 0; i < store->calls.count && is_blocking && answer; i++) {
        gt_strid name = store->calls.name[i];
        if (!answer[name])
            answer[name] = gt_call_is_blocking(gt_store_string(store, name)) ? 2 : 1;
        is_blocking[i] = answer[name] == 2;
    }
    if (!answer) {
        gt_free(is_blocking);
        is_blocking = NULL;
    }
    gt_free(answer);
    return is_blocking;
}

/* Late gaps become sync, or host with its activity. */
static void judge_late_gaps(struct gt_idle *idle, const struct gt_stretch *stretches, const int64_t *blocked_ns,
                            const int64_t *api_ns, const int64_t *range_ns) {
    size_t s = 0;
    for (size_t i = 0; i < idle->count; i++) {
        if (!idle->gaps[i].is_late)
            continue;
        int64_t half_ns = gt_ns_between(stretches[s].start_ns, stretches[s].end_ns) / 2;
        idle->gaps[i].cause = blocked_ns[s] > half_ns ? GT_IDLE_SYNC : GT_IDLE_HOST;
        idle->gaps[i].activity = api_ns[s] > half_ns     ? GT_HOST_API
                                 : range_ns[s] > half_ns ? GT_HOST_RANGE
                                                         : GT_HOST_OUTSIDE;
        s++;
    }
}

static bool measure_stretches(const struct gt_view *view, struct gt_idle *idle, const struct gt_stretch *stretches,
                              size_t count) {
    const struct gt_store *store = view->store;
    struct gt_cover cover = {0};
    uint8_t *is_blocking = new_blocking_calls(store);
    int64_t *covered_ns = gt_alloc_array(count, 3 * sizeof *covered_ns);
    struct gt_cover_table calls = {store->calls.count, store->calls.start_ns, store->calls.end_ns, store->calls.thread,
                                   NULL};
    struct gt_cover_table blocking = calls;
    blocking.wanted = is_blocking;
    const struct gt_outers *outers = &idle->outers;
    struct gt_cover_table code = {outers->count, outers->start_ns, outers->end_ns, outers->thread, NULL};
    bool ok = is_blocking && covered_ns && gt_cover_init(&cover, stretches, count, store->threads.count) &&
              gt_cover_measure(&cover, &blocking, covered_ns) && gt_cover_measure(&cover, &calls, covered_ns + count) &&
              gt_cover_measure(&cover, &code, covered_ns + 2 * count);
    if (ok)
        judge_late_gaps(idle, stretches, covered_ns, covered_ns + count, covered_ns + 2 * count);
    gt_cover_release(&cover);
    gt_free(covered_ns);
    gt_free(is_blocking);
    return ok;
}

static bool judge_late(const struct gt_view *view, struct gt_idle *idle) {
    size_t count = 0;
    for (size_t i = 0; i < idle->count; i++)
        count += idle->gaps[i].is_late;
    if (count == 0)
        return true;
    struct gt_stretch *stretches = gt_alloc_array(count, sizeof *stretches);
    size_t s = 0;
    for (size_t i = 0; i < idle->count && stretches; i++)
        if (idle->gaps[i].is_late)
            stretches[s++] =
                (struct gt_stretch){idle->gaps[i].start_ns, view->store->calls.start_ns[idle->gaps[i].call],
                                    view->store->calls.thread[idle->gaps[i].call]};
    bool ok = stretches && gt_outers_init(&idle->outers, view) && measure_stretches(view, idle, stretches, count);
    gt_free(stretches);
    return ok;
}

/* ---- the other causes, device by device ---- */

/* Median time from the end of the launch call to the start of its op, over the gaps during which the call ended. */
static bool launch_latency(const struct gt_view *view, const struct gt_idle_gap *gaps, size_t count, int64_t *samples,
                           double *latency_ns) {
    size_t sample_count = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t call_end_ns = gaps[i].call == GT_NO_ROW ? INT64_MIN : view->store->calls.end_ns[gaps[i].call];
        if (gaps[i].call != GT_NO_ROW && call_end_ns >= gaps[i].start_ns)
            samples[sample_count++] = gt_ns_between(call_end_ns, gaps[i].end_ns);
    }
    *latency_ns = gt_quantile(samples, sample_count, 0.5);
    return sample_count > 0;
}

static enum gt_idle_cause cause_of(const struct gt_view *view, const struct gt_idle_gap *gap, bool has_latency,
                                   double latency_ns) {
    const struct gt_calls *calls = &view->store->calls;
    if (gap->next == GT_NO_ROW)
        return GT_IDLE_END;
    if (gap->call == GT_NO_ROW)
        return GT_IDLE_UNKNOWN;
    if (gap->is_late)
        return (enum gt_idle_cause)gap->cause;
    if (calls->start_ns[gap->call] > gap->start_ns)
        return GT_IDLE_HOST;
    if (calls->end_ns[gap->call] > gap->start_ns)
        return GT_IDLE_LAUNCH;
    double waited_ns = (double)gt_ns_between(calls->end_ns[gap->call], gap->end_ns);
    return has_latency && waited_ns <= latency_ns ? GT_IDLE_LAUNCH : GT_IDLE_DEPENDENCY;
}

static void judge_device(const struct gt_view *view, struct gt_idle_gap *gaps, size_t count, int64_t *samples) {
    double latency_ns;
    bool has_latency = launch_latency(view, gaps, count, samples, &latency_ns);
    size_t waits = 0;
    for (size_t i = 0; i < count; i++) {
        gaps[i].cause = (uint8_t)cause_of(view, &gaps[i], has_latency, latency_ns);
        if (gaps[i].cause == GT_IDLE_DEPENDENCY)
            samples[waits++] = gaps[i].gap_ns;
    }
    /* What remains of any gap even when the CPU is in time. */
    __int128 twice_floor_ns = (__int128)(2 * gt_quantile(samples, waits, 0.5));
    for (size_t i = 0; i < count; i++) {
        bool is_avoidable = gaps[i].cause <= GT_IDLE_LAUNCH;
        __int128 above = 2 * (__int128)gaps[i].gap_ns - twice_floor_ns;
        gaps[i].twice_recoverable_ns = is_avoidable && above > 0 ? gt_ns_of_sum(above) : 0;
    }
}

enum gt_status gt_idle_init(struct gt_idle *idle, const struct gt_view *view, struct gt_error *err) {
    int64_t *samples = NULL;
    bool ok = find_gaps(idle, view) && judge_late(view, idle);
    if (ok)
        samples = gt_alloc_array(idle->count, sizeof *samples);
    ok = ok && samples;
    for (size_t first = 0, count; first < idle->count && ok; first += count) {
        for (count = 1; first + count < idle->count && idle->gaps[first + count].device == idle->gaps[first].device;)
            count++;
        judge_device(view, idle->gaps + first, count, samples);
    }
    gt_free(samples);
    if (!ok) {
        gt_idle_release(idle);
        return gt_fail_memory(err);
    }
    return GT_OK;
}

void gt_idle_release(struct gt_idle *idle) {
    gt_free(idle->gaps);
    gt_outers_release(&idle->outers);
    *idle = (struct gt_idle){0};
}
