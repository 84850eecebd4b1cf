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
    struct gt_cover_spans launch_waits; /* of the gaps that have one, in their order */
};

/* ---- waiting for the GPU before launching ---- */

static void note_waits(void *context, uint32_t wait, const struct gt_cover_part *part) {
    const struct finder *finder = context;
    struct gt_idle *idle = finder->idle;
    size_t gap = finder->launch_waits.items[wait].id;
    gt_idle_gaps_set(idle, gap, part->is_most ? GT_IDLE_SYNC : GT_IDLE_HOST, gt_idle_gap_part(idle, gap),
                     gt_idle_gap_has_launch_wait(idle, gap));
}

static bool judge_launch_waits(struct finder *finder) {
    if (!gt_launch_wait_list(&finder->launch_waits, finder->view, finder->idle))
        return false;
    return finder->launch_waits.count == 0 ||
           gt_launch_wait_calls(finder->view, &finder->launch_waits, true, note_waits, finder);
}

/* ---- late starts ---- */

/* Room for one more gap for each late start. */
static bool make_room(struct gt_idle *idle) {
    size_t count = idle->count + idle->late_starts;
    uint32_t *next = gt_mem_realloc(idle->next, count * sizeof *next);
    idle->next = next ? next : idle->next;
    uint8_t *back = gt_mem_realloc(idle->back, count);
    idle->back = back ? back : idle->back;
    uint8_t *state = gt_mem_realloc(idle->state, count);
    idle->state = state ? state : idle->state;
    return next && back && state;
}

static void move_gap(struct gt_idle *idle, size_t from, size_t to) {
    idle->next[to] = idle->next[from];
    idle->back[to] = idle->back[from];
    idle->state[to] = idle->state[from];
}

/* Makes two gaps of each late start. They move up to make room, the last one first. */
static bool split_late_starts(struct finder *finder) {
    struct gt_idle *idle = finder->idle;
    size_t end = idle->count + idle->late_starts, far = idle->far_count;
    if (idle->late_starts == 0)
        return true;
    if (!make_room(idle))
        return false;
    idle->count = end;
    for (size_t d = idle->device_count; d-- > 0;) {
        struct gt_idle_device *device = &idle->devices[d];
        for (size_t i = device->first + device->count; i-- > device->first;) {
            if (gt_idle_gap_part(idle, i) == GT_GAP_FIRST) {
                move_gap(idle, i, --end);
                idle->state[end] = gt_idle_state(GT_IDLE_DEPENDENCY, GT_GAP_QUEUED, false);
            }
            move_gap(idle, i, --end);
            if (far && idle->far[far - 1].gap == i)
                idle->far[--far].gap = (uint32_t)end;
        }
        device->first = end;
        device->count += device->late_starts;
    }
    return true;
}

int64_t gt_idle_gap_split_ns(const struct gt_idle *idle, size_t gap) {
    return gt_idle_gaps_launched_ns(idle, gap, &idle->devices[gt_idle_device_of(idle, gap)]);
}

uint32_t gt_idle_gap_far_previous(const struct gt_idle *idle, size_t gap) {
    size_t low = 0, high = idle->far_count;
    gap -= gt_idle_gap_part(idle, gap) == GT_GAP_QUEUED; /* the first part has it */
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (idle->far[middle].gap <= gap)
            low = middle;
        else
            high = middle;
    }
    return idle->far[low].previous;
}

/* ---- sums ---- */

void gt_idle_sum_causes(const struct gt_idle *idle, size_t device, struct gt_idle_sum sums[GT_IDLE_CAUSE_COUNT]) {
    const struct gt_idle_device *of = &idle->devices[device];
    for (size_t i = 0; i < GT_IDLE_CAUSE_COUNT; i++)
        sums[i] = (struct gt_idle_sum){0};
    gt_idle_sum_add_unblamed(sums, of);
    for (size_t i = of->first, end = i + of->count; (i = gt_idle_next_blamed(idle, i, end)) < end; i++)
        gt_idle_sum_add(&sums[gt_idle_gap_cause(idle, i)], gt_idle_gap_cause(idle, i), gt_idle_gap_ns(idle, i), of);
}

void gt_idle_sum_add_unblamed(struct gt_idle_sum sums[GT_IDLE_CAUSE_COUNT], const struct gt_idle_device *device) {
    for (size_t i = 0; i < GT_IDLE_CAUSE_COUNT; i++)
        gt_moments_merge(&sums[i].gaps, &device->unblamed[i]);
}

enum gt_status gt_idle_init(struct gt_idle *idle, const struct gt_view *view, struct gt_error *err) {
    *idle = (struct gt_idle){.view = view};
    struct finder finder = {.view = view, .idle = idle};
    bool ok = gt_idle_gaps_find(idle, view) && judge_launch_waits(&finder) && split_late_starts(&finder);
    gt_launch_wait_release(&finder.launch_waits);
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

bool gt_idle_clip(const struct gt_idle *idle, size_t device, size_t *begin, size_t *end) {
    size_t first = idle->devices[device].first, stop = first + idle->devices[device].count;
    *begin = *begin > first ? *begin : first;
    *end = *end < stop ? *end : stop;
    return *begin < *end;
}

size_t gt_idle_first_from(const struct gt_idle *idle, size_t device, int64_t time_ns) {
    size_t low = idle->devices[device].first, high = low + idle->devices[device].count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (gt_idle_gap_start_ns(idle, middle) < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void gt_idle_release(struct gt_idle *idle) {
    gt_mem_free(idle->next);
    gt_mem_free(idle->back);
    gt_mem_free(idle->state);
    gt_mem_free(idle->far);
    gt_mem_free(idle->devices);
    *idle = (struct gt_idle){0};
}
