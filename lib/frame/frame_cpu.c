/* Columns of what happened on the CPU: calls, ranges, steps, allocations. */
#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "frame/frame_makers.h"
#include "measure/results/calls.h"
#include "measure/results/operator_set.h"
#include "measure/results/phase_map.h"
#include "measure/results/phase_set.h"
#include "measure/results/results.h"

/* A column that labels have as it is. */
#define LABEL_COLUMN(name, member)                                                                                     \
    enum gt_status gt_frame_makers_##name(struct gt_frames *frames, const struct gt_frame_spec *spec,                  \
                                          struct gt_frame_slot *slot, struct gt_error *err) {                          \
        (void)spec, (void)err;                                                                                         \
        slot->data = frames->trace.labels->member;                                                                     \
        return GT_OK;                                                                                                  \
    }
LABEL_COLUMN(range_parent, range_parent)
LABEL_COLUMN(range_level, range_level)
LABEL_COLUMN(memory_call, memory_call)
LABEL_COLUMN(memory_operator, memory_cpu_op)
LABEL_COLUMN(memory_range, memory_range)

/* A column with an expression for each row i, with `store`, `labels` and what `before` declares. */
#define EACH_ROW(name, type, before, value)                                                                            \
    enum gt_status gt_frame_makers_##name(struct gt_frames *frames, const struct gt_frame_spec *spec,                  \
                                          struct gt_frame_slot *slot, struct gt_error *err) {                          \
        (void)spec;                                                                                                    \
        const struct gt_store *store = frames->trace.store;                                                            \
        const struct gt_labels *labels = frames->trace.labels;                                                         \
        before;                                                                                                        \
        type *out = gt_frame_make_array(slot, sizeof *out, err);                                                       \
        for (uint32_t i = 0; i < slot->count && out; i++)                                                              \
            out[i] = (value);                                                                                          \
        (void)store, (void)labels;                                                                                     \
        return out ? GT_OK : err->code;                                                                                \
    }

/* ---- calls ---- */

enum gt_status gt_frame_makers_call_api(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                        struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const struct gt_store *store = frames->trace.store;
    struct gt_strtab *words = gt_frame_make_words(slot, err);
    gt_strid *out = words ? gt_frame_make_array(slot, sizeof *out, err) : NULL;
    gt_strid *plain = out ? gt_mem_array(store->strings.count, sizeof *plain) : NULL; /* + 1; 0: not asked */
    if (!plain)
        return out ? gt_fail_memory(err) : err->code;
    for (size_t i = 0; i < slot->count; i++) {
        gt_strid name = store->calls.name[i];
        if (!plain[name])
            plain[name] = gt_strtab_intern(words, gt_call_plain_name(gt_store_string(store, name))) + 1;
        out[i] = plain[name] - 1;
    }
    gt_mem_free(plain);
    return gt_frame_make_end_words(slot, err);
}

static uint32_t *row_numbers(size_t count) {
    uint32_t *rows = gt_mem_uninitialised(count, sizeof *rows);
    for (uint32_t i = 0; i < count && rows; i++)
        rows[i] = i;
    return rows;
}

enum gt_status gt_frame_makers_call_operator(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                             struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const struct gt_view *view = gt_frame_make_view(frames, err);
    if (!view)
        return err->code;
    uint32_t *calls = row_numbers(slot->count);
    slot->owned = calls ? gt_operator_set_of_calls(view, calls, slot->count) : NULL;
    slot->data = slot->owned;
    gt_mem_free(calls);
    return slot->owned ? GT_OK : gt_fail_memory(err);
}

enum gt_status gt_frame_makers_call_ops(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                        struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const uint32_t *call = frames->trace.labels->op_call;
    uint32_t *out = gt_frame_make_array(slot, sizeof *out, err);
    if (!out)
        return err->code;
    for (size_t i = 0; i < slot->count; i++)
        out[i] = 0;
    for (size_t i = 0; i < frames->trace.store->ops.count; i++)
        if (call[i] != GT_NO_ROW)
            out[call[i]]++;
    return GT_OK;
}

enum gt_status gt_frame_makers_call_blocks(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                           struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const struct gt_view *view = gt_frame_make_view(frames, err);
    const struct gt_blocking_marks *marks = view ? gt_results_blocking_marks(view, err) : NULL;
    if (!marks)
        return err->code;
    if (marks->of_call) {
        slot->data = marks->of_call;
        return GT_OK;
    }
    uint8_t *none = gt_frame_make_array(slot, sizeof *none, err);
    if (none && slot->count)
        memset(none, 0, slot->count);
    return none ? GT_OK : err->code;
}

enum gt_status gt_frame_makers_call_launches(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                             struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const struct gt_view *view = gt_frame_make_view(frames, err);
    const struct gt_launch_marks *marks = view ? gt_results_launch_marks(view, err) : NULL;
    slot->data = marks ? marks->of_call : NULL;
    return marks ? GT_OK : err->code;
}

/* ---- ranges ---- */

static enum gt_status name_phases(const struct gt_phase_map *map, struct gt_frame_slot *slot, struct gt_error *err) {
    struct gt_strtab *words = gt_frame_make_words(slot, err); /* "" is its first: phases count from 1 */
    if (!words)
        return err->code;
    for (size_t i = 0; i < map->phase_count; i++)
        gt_strtab_intern(words, map->phases[i]);
    gt_strtab_intern(words, GT_PHASE_UNMAPPED);
    return gt_frame_make_end_words(slot, err);
}

enum gt_status gt_frame_makers_range_phase(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                           struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    struct gt_phase_map map;
    enum gt_status status = gt_phase_map_init(&map, NULL, err);
    uint32_t *out = status == GT_OK ? gt_frame_make_array(slot, sizeof *out, err) : NULL;
    if (status == GT_OK && !out)
        status = err->code;
    if (status == GT_OK && !gt_phase_set_of_ranges(&map, frames->trace.store, frames->trace.labels, out))
        status = gt_fail_memory(err);
    if (status == GT_OK)
        status = name_phases(&map, slot, err);
    for (size_t i = 0; i < slot->count && status == GT_OK; i++) {
        struct gt_str name = out[i] < map.phase_count ? map.phases[out[i]] : GT_PHASE_UNMAPPED;
        out[i] = gt_strtab_find(slot->words, name);
    }
    gt_phase_map_release(&map);
    return status;
}

#define RANGE_USES                                                                                                     \
    const struct gt_view *view = gt_frame_make_view(frames, err);                                                      \
    const struct gt_range_set *set = view ? gt_results_ranges(view, err) : NULL;                                       \
    if (!set)                                                                                                          \
    return err->code
EACH_ROW(range_ops, uint32_t, RANGE_USES, set->uses[i].ops)
EACH_ROW(range_gpu_start_ns, int64_t, RANGE_USES,
         set->uses[i].ops ? gt_ns_between(store->origin_ns, set->uses[i].start_ns) : INT64_MIN)
EACH_ROW(range_gpu_end_ns, int64_t, RANGE_USES,
         set->uses[i].ops ? gt_ns_between(store->origin_ns, set->uses[i].end_ns) : INT64_MIN)
EACH_ROW(range_process, uint32_t, (void)0, gt_range_set_process(store, i))

/* ---- steps ---- */

enum gt_status gt_frame_makers_step_rows(struct gt_frames *frames, size_t *count, struct gt_error *err) {
    (void)err;
    *count = frames->trace.labels->step_count;
    return GT_OK;
}

EACH_ROW(step_number, int64_t, (void)0, labels->steps[i].number)
EACH_ROW(step_start_ns, int64_t, (void)0, gt_ns_between(store->origin_ns, labels->steps[i].start_ns))
EACH_ROW(step_end_ns, int64_t, (void)0, gt_ns_between(store->origin_ns, labels->steps[i].end_ns))
EACH_ROW(step_dur_ns, int64_t, (void)0, gt_step_set_cpu_ns(&labels->steps[i]))
EACH_ROW(step_process, uint32_t, (void)0, labels->steps[i].process)
EACH_ROW(step_range, uint32_t, (void)0, labels->steps[i].range)

enum gt_status gt_frame_makers_step_state(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                          struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const struct gt_view *view = gt_frame_make_view(frames, err);
    const struct gt_step_set *set = view ? gt_results_steps(view, err) : NULL;
    if (!set)
        return err->code;
    slot->data = set->states;
    return gt_frame_make_choices(frames, slot, gt_step_state_names, GT_STEP_STATE_COUNT, err);
}
