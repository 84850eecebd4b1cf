/* Says when the memory of a GPU was fullest, with whose data, and whether it grows. */
#include "measure/memory_use/memory_words.h"

#include <inttypes.h>
#include <math.h>

#include "base/ns.h"
#include "base/num.h"

#define LEAST_PART 0.01 /* of the peak: an owner of less is not named */

uint64_t gt_memory_words_capacity(const struct gt_view *view, const struct gt_memory_device *device) {
    return device->device == GT_NO_TRACK ? 0 : view->store->devices.memory_bytes[device->device];
}

double gt_memory_words_fullness(const struct gt_view *view, const struct gt_memory_device *device) {
    uint64_t capacity = gt_memory_words_capacity(view, device);
    return capacity ? (double)device->peak / (double)capacity : (double)device->peak / 0x1p64 - 1;
}

/* The step of the peak; NULL: none. */
static const struct gt_step *step_at(const struct gt_view *view, const struct gt_memory_device *device) {
    for (size_t i = 0; i < device->step_count; i++) {
        const struct gt_step *step = &view->labels->steps[device->steps[i].step];
        if (step->start_ns <= device->peak_ns && device->peak_ns < step->end_ns)
            return step;
    }
    return NULL;
}

static struct gt_str when(struct gt_arena *arena, const struct gt_view *view, const struct gt_memory_device *device) {
    const struct gt_step *step = step_at(view, device);
    int64_t at_ns = gt_ns_between(view->store->origin_ns, device->peak_ns);
    char time[GT_NUM_MAX];
    if (at_ns < 0)
        return gt_arena_printf(arena, "before the first GPU op");
    gt_num_format_duration(time, (double)at_ns);
    if (!step)
        return gt_arena_printf(arena, "at %s", time);
    return gt_arena_printf(arena, "at %s (step %" PRId64 ")", time, step->number);
}

/* "41% by aten::mm in forward"; memory that nobody of the trace allocated has names such as "(before the trace)". */
static struct gt_str part_of(struct gt_arena *arena, const struct gt_memory_device *device,
                             const struct gt_memory_owner *owner, const char *before) {
    bool is_named = owner->op.len && owner->op.ptr[0] != '(';
    struct gt_str op = owner->op;
    if (!is_named && op.len > 1)
        op = (struct gt_str){op.ptr + 1, op.len - 2};
    return gt_arena_printf(arena, "%s%.0f%% %s%.*s%s%.*s", before, 100 * (double)owner->bytes / (double)device->peak,
                           is_named ? "by " : "", (int)op.len, op.ptr, owner->range.len ? " in " : "",
                           (int)owner->range.len, owner->range.ptr);
}

/* The largest owner, if any is known; after memory that nobody of the trace allocated, the next one, too. */
static struct gt_str who(struct gt_arena *arena, const struct gt_memory_device *device) {
    const struct gt_memory_owner *owner = device->owners;
    if (!device->owner_count || device->peak <= 0)
        return gt_arena_printf(arena, "%s", "");
    struct gt_str words = part_of(arena, device, owner, ": ");
    bool has_next = owner->op.len && owner->op.ptr[0] == '(' && device->owner_count > 1 &&
                    (double)owner[1].bytes >= LEAST_PART * (double)device->peak;
    return has_next ? part_of(arena, device, owner + 1, gt_arena_printf(arena, "%s, ", words.ptr).ptr) : words;
}

static struct gt_str rest(struct gt_arena *arena, const struct gt_memory_device *device) {
    char reserved[GT_NUM_MAX], growth[GT_NUM_MAX];
    struct gt_str words = gt_arena_printf(arena, "%s", "");
    if (device->reserved_at_peak > 0) {
        double unused = (double)gt_ns_between(device->peak, device->reserved_at_peak);
        gt_num_format_bytes(reserved, (double)device->reserved_at_peak);
        words = gt_arena_printf(arena, "; reserved %s, %.0f%% fragmentation", reserved,
                                100 * unused / (double)device->reserved_at_peak);
    }
    if (device->growth > 0) { /* not NAN */
        gt_num_format_bytes(growth, device->growth);
        words = gt_arena_printf(arena, "%.*s; grows %s a step", (int)words.len, words.ptr, growth);
    }
    return words;
}

struct gt_str gt_memory_words_peak(struct gt_arena *arena, const struct gt_view *view,
                                   const struct gt_memory_device *device, bool names_device) {
    uint64_t capacity = gt_memory_words_capacity(view, device);
    char peak[GT_NUM_MAX], all[GT_NUM_MAX];
    struct gt_str start =
        names_device ? gt_arena_printf(arena, "GPU %" PRId64 ": peak", device->id) : gt_arena_printf(arena, "Peak");
    gt_num_format_bytes(peak, (double)device->peak);
    gt_num_format_bytes(all, (double)capacity);
    return gt_arena_printf(arena, "%s %s%s%s allocated %s%s%s.", start.ptr, peak, capacity ? " of " : "",
                           capacity ? all : "", when(arena, view, device).ptr, who(arena, device).ptr,
                           rest(arena, device).ptr);
}
