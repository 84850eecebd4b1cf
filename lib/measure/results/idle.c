/* Finds the gaps of every device and the cause of each, from the launch calls and what their threads did during the
 * gaps. */
#include "measure/results/idle.h"

#include "base/mem.h"
#include "base/moments.h"
#include "base/ns.h"
#include "measure/results/idle_gaps.h"
#include "measure/results/launch_wait.h"

const char *const gt_idle_cause_names[GT_IDLE_CAUSE_COUNT] = {
    [GT_IDLE_SYNC] = "sync",       [GT_IDLE_HOST] = "host",
    [GT_IDLE_LAUNCH] = "launch",   [GT_IDLE_DEPENDENCY] = "dependency",
    [GT_IDLE_UNKNOWN] = "unknown", [GT_IDLE_END] = "end",
};

struct finder {
    const struct gt_view *view;
    struct gt_idle *idle;
    struct gt_host_spans launch_waits; /* of the gaps that have one, in their order */
};

/* ---- waiting for the GPU before launching ---- */

/* A span may be reported twice, and then the second report counts. */
static void note_waits(void *context, uint32_t span, const struct gt_host_span_part *part) {
    const struct finder *finder = context;
    struct gt_idle_gap *gap = &finder->idle->gaps[finder->launch_waits.items[span].gap];
    gap->cause = part->is_most ? GT_IDLE_SYNC : GT_IDLE_HOST;
}

static bool judge_launch_waits(struct finder *finder) {
    if (!gt_launch_wait_list(&finder->launch_waits, finder->view, finder->idle))
        return false;
    return finder->launch_waits.count == 0 ||
           gt_launch_wait_calls(finder->view, &finder->launch_waits, true, note_waits, finder);
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
                queued->start_ns = gap.end_ns = gt_idle_gaps_launched_ns(calls, &gap, device);
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

void gt_idle_sum_causes(const struct gt_idle *idle, size_t device, struct gt_idle_sum sums[GT_IDLE_CAUSE_COUNT]) {
    const struct gt_idle_device *of = &idle->devices[device];
    for (size_t i = 0; i < GT_IDLE_CAUSE_COUNT; i++)
        sums[i] = (struct gt_idle_sum){0};
    for (size_t i = of->first; i < of->first + of->count; i++)
        gt_idle_sum_add(&sums[idle->gaps[i].cause], &idle->gaps[i], of);
}

enum gt_status gt_idle_init(struct gt_idle *idle, const struct gt_view *view, struct gt_error *err) {
    *idle = (struct gt_idle){0};
    struct finder finder = {.view = view, .idle = idle};
    bool ok = gt_idle_gaps_find(idle, view) && judge_launch_waits(&finder) && split_late_starts(&finder);
    gt_host_spans_release(&finder.launch_waits);
    if (!ok) {
        gt_idle_release(idle);
        return gt_fail_memory(err);
    }
    return GT_OK;
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
    *idle = (struct gt_idle){0};
}
