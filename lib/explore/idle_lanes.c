/* Packs the gaps that the analysis of idle time found, and unpacks them one by one. */
#include "explore/idle_lanes.h"

#include "base/mem.h"

enum { CAUSE_BITS = 7, ACTIVITY_SHIFT = 3, PART_SHIFT = 5, ODD = 128 };

static uint32_t row_of(const struct gt_view *view, uint32_t position) {
    return position == GT_NO_ROW ? GT_NO_ROW : view->row[position];
}

static bool is_odd(const struct gt_idle *idle, size_t gap) {
    const struct gt_ops *ops = &idle->view->store->ops;
    uint32_t previous = row_of(idle->view, gt_idle_gap_previous(idle, gap)), next = row_of(idle->view, idle->next[gap]);
    return previous == GT_NO_ROW || next == GT_NO_ROW || ops->end_ns[previous] != gt_idle_gap_start_ns(idle, gap) ||
           ops->start_ns[next] != gt_idle_gap_end_ns(idle, gap);
}

static bool alloc(struct gt_idle_lanes *lanes, size_t odd_count) {
    lanes->previous = gt_mem_uninitialised(lanes->count, sizeof *lanes->previous);
    lanes->next = gt_mem_uninitialised(lanes->count, sizeof *lanes->next);
    lanes->code = gt_mem_uninitialised(lanes->count, sizeof *lanes->code);
    lanes->odd = gt_mem_uninitialised(odd_count, sizeof *lanes->odd);
    lanes->odd_times = gt_mem_uninitialised(odd_count, sizeof *lanes->odd_times);
    return lanes->previous && lanes->next && lanes->code && lanes->odd && lanes->odd_times;
}

bool gt_idle_lanes_init(struct gt_idle_lanes *lanes, const struct gt_view *view, const struct gt_idle *idle,
                        const struct gt_idle_code *code) {
    *lanes = (struct gt_idle_lanes){.store = view->store, .count = idle->count};
    size_t odd_count = 0;
    for (size_t i = 0; i < idle->count; i++)
        odd_count += is_odd(idle, i);
    if (!alloc(lanes, odd_count))
        return false;
    for (size_t i = 0; i < idle->count; i++) {
        unsigned cause = gt_idle_gap_cause(idle, i), part = gt_idle_gap_part(idle, i);
        lanes->previous[i] = row_of(view, gt_idle_gap_previous(idle, i));
        lanes->next[i] = row_of(view, idle->next[i]);
        lanes->code[i] = (uint8_t)(cause | (unsigned)code->activity[i] << ACTIVITY_SHIFT | part << PART_SHIFT);
        if (is_odd(idle, i)) {
            lanes->code[i] |= ODD;
            lanes->odd[lanes->odd_count] = (uint32_t)i;
            lanes->odd_times[lanes->odd_count++] =
                (struct gt_interval){gt_idle_gap_start_ns(idle, i), gt_idle_gap_end_ns(idle, i)};
        }
    }
    return true;
}

void gt_idle_lanes_release(struct gt_idle_lanes *lanes) {
    gt_mem_free(lanes->previous);
    gt_mem_free(lanes->next);
    gt_mem_free(lanes->code);
    gt_mem_free(lanes->odd);
    gt_mem_free(lanes->odd_times);
    *lanes = (struct gt_idle_lanes){0};
}

size_t gt_idle_lanes_bytes(const struct gt_idle_lanes *lanes) {
    return lanes->count * (2 * sizeof *lanes->next + sizeof *lanes->code) +
           lanes->odd_count * (sizeof *lanes->odd + sizeof *lanes->odd_times);
}

/* The first odd gap that is not before this one. */
static size_t find_odd(const struct gt_idle_lanes *lanes, size_t gap) {
    size_t low = 0, high = lanes->odd_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lanes->odd[middle] < gap)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct gt_interval times_of(const struct gt_idle_lanes *lanes, size_t gap, size_t odd) {
    if (lanes->code[gap] & ODD)
        return lanes->odd_times[odd];
    return (struct gt_interval){lanes->store->ops.end_ns[lanes->previous[gap]],
                                lanes->store->ops.start_ns[lanes->next[gap]]};
}

void gt_idle_lanes_read(const void *data, size_t first, size_t count, struct gt_span *out) {
    const struct gt_idle_lanes *lanes = data;
    size_t odd = SIZE_MAX;
    for (size_t i = first; i < first + count; i++) {
        bool is_one = (lanes->code[i] & ODD) != 0;
        if (is_one)
            odd = odd == SIZE_MAX ? find_odd(lanes, i) : odd + 1;
        struct gt_interval times = times_of(lanes, i, odd);
        *out++ = (struct gt_span){times.start_ns, times.end_ns, lanes->code[i] & CAUSE_BITS};
    }
}

struct gt_idle_lanes_gap gt_idle_lanes_gap(const struct gt_idle_lanes *lanes, size_t gap) {
    struct gt_interval times = times_of(lanes, gap, lanes->code[gap] & ODD ? find_odd(lanes, gap) : 0);
    uint8_t code = lanes->code[gap];
    return (struct gt_idle_lanes_gap){.start_ns = times.start_ns,
                                      .end_ns = times.end_ns,
                                      .previous = lanes->previous[gap],
                                      .next = lanes->next[gap],
                                      .cause = (enum gt_idle_cause)(code & CAUSE_BITS),
                                      .activity = (enum gt_host_activity)(code >> ACTIVITY_SHIFT & 3),
                                      .part = (enum gt_gap_part)(code >> PART_SHIFT & 3)};
}

enum gt_idle_cause gt_idle_lanes_cause(const struct gt_idle_lanes *lanes, size_t gap) {
    return (enum gt_idle_cause)(lanes->code[gap] & CAUSE_BITS);
}
