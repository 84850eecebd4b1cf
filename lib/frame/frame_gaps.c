/* Idle gaps of devices, as the analysis of idle time has them, and the gap before each op. */
#include "base/mem.h"
#include "base/ns.h"
#include "frame/frame_makers.h"
#include "measure/results/calls.h"
#include "measure/results/gap_calls.h"
#include "measure/results/launch_wait.h"
#include "measure/results/results.h"

static const struct gt_idle *idle_of(struct gt_frames *frames, struct gt_error *err) {
    const struct gt_view *view = gt_frame_make_view(frames, err);
    return view ? gt_results_idle(view, err) : NULL;
}

enum gt_status gt_frame_makers_gap_rows(struct gt_frames *frames, size_t *count, struct gt_error *err) {
    const struct gt_idle *idle = idle_of(frames, err);
    if (!idle)
        return err->code;
    *count = idle->count;
    return GT_OK;
}

/* A column with an expression for each gap: its number i, `idle` and `view` are there. */
#define GAP_COLUMN(name, type, value) CODED_GAP_COLUMN(name, type, value, NULL, 0)
#define CODED_GAP_COLUMN(name, type, value, words, word_count)                                                         \
    enum gt_status gt_frame_makers_##name(struct gt_frames *frames, const struct gt_frame_spec *spec,                  \
                                          struct gt_frame_slot *slot, struct gt_error *err) {                          \
        (void)spec;                                                                                                    \
        const struct gt_idle *idle = idle_of(frames, err);                                                             \
        type *out = idle ? gt_frame_make_array(slot, sizeof *out, err) : NULL;                                         \
        if (!out)                                                                                                      \
            return err->code;                                                                                          \
        const struct gt_view *view = frames->view;                                                                     \
        for (size_t i = 0; i < slot->count; i++) {                                                                     \
            out[i] = (value);                                                                                          \
        }                                                                                                              \
        (void)view;                                                                                                    \
        return gt_frame_make_choices(frames, slot, words, word_count, err);                                            \
    }

static uint32_t row_of(const struct gt_view *view, uint32_t position) {
    return position == GT_NO_ROW ? GT_NO_ROW : view->row[position];
}

static int64_t since_origin(const struct gt_view *view, int64_t time_ns) {
    return gt_ns_between(view->store->origin_ns, time_ns);
}

GAP_COLUMN(gap_device, int64_t, view->devices[gt_idle_device_of(idle, i)].id)
GAP_COLUMN(gap_start_ns, int64_t, since_origin(view, gt_idle_gap_start_ns(idle, i)))
GAP_COLUMN(gap_end_ns, int64_t, since_origin(view, gt_idle_gap_end_ns(idle, i)))
GAP_COLUMN(gap_ns, int64_t, gt_idle_gap_ns(idle, i))
GAP_COLUMN(gap_previous, uint32_t, row_of(view, gt_idle_gap_previous(idle, i)))
GAP_COLUMN(gap_next, uint32_t, row_of(view, idle->next[i]))
GAP_COLUMN(gap_call, uint32_t, gt_idle_gap_call(idle, i))
GAP_COLUMN(gap_recoverable_ns, double,
           (double)gt_idle_gap_twice_recoverable_ns(idle, i, &idle->devices[gt_idle_device_of(idle, i)]) / 2)

static const char *const part_words[] = {"whole", "first", "queued"};
CODED_GAP_COLUMN(gap_cause, uint8_t, (uint8_t)gt_idle_gap_cause(idle, i), gt_idle_cause_names, GT_IDLE_CAUSE_COUNT)
CODED_GAP_COLUMN(gap_part, uint8_t, (uint8_t)gt_idle_gap_part(idle, i), part_words, GT_ARRAY_COUNT(part_words))

/* ---- what the CPU was in ---- */

enum gt_status gt_frame_makers_gap_activity(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                            struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const struct gt_idle *idle = idle_of(frames, err);
    const struct gt_idle_code *code = idle ? gt_results_idle_code(frames->view, err) : NULL;
    uint8_t *out = code ? gt_frame_make_array(slot, sizeof *out, err) : NULL;
    if (!out)
        return err->code;
    for (size_t i = 0; i < slot->count; i++)
        out[i] = gt_idle_gap_cause(idle, i) == GT_IDLE_HOST ? code->activity[i] : UINT8_MAX;
    return gt_frame_make_choices(frames, slot, gt_host_activity_names, GT_HOST_ACTIVITY_COUNT, err);
}

static uint32_t *all_gaps(const struct gt_idle *idle) {
    uint32_t *gaps = gt_mem_uninitialised(idle->count, sizeof *gaps);
    for (uint32_t i = 0; i < idle->count && gaps; i++)
        gaps[i] = i;
    return gaps;
}

static gt_strid meanwhile(const struct gt_view *view, struct gt_strtab *words, uint32_t call, gt_strid code) {
    const struct gt_store *store = view->store;
    if (call != GT_NO_ROW)
        return gt_strtab_intern(words, gt_call_plain_name(gt_store_string(store, store->calls.name[call])));
    return code == GT_STRID_EMPTY ? UINT32_MAX : gt_strtab_intern(words, gt_launch_wait_code_text(view, code));
}

/* As the table of gaps has it: the second part of a late start, and one that is mostly queued, have none. */
enum gt_status gt_frame_makers_gap_meanwhile(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                             struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const struct gt_idle *idle = idle_of(frames, err);
    const struct gt_idle_code *found = idle ? gt_results_idle_code(frames->view, err) : NULL;
    struct gt_strtab *words = found ? gt_frame_make_words(slot, err) : NULL;
    uint32_t *out = words ? gt_frame_make_array(slot, sizeof *out, err) : NULL;
    if (!out)
        return err->code;
    uint32_t *gaps = all_gaps(idle), *calls = gaps ? gt_gap_calls(frames->view, idle, gaps, idle->count) : NULL;
    gt_strid *code = gaps ? gt_gap_calls_code(idle, found, gaps, idle->count) : NULL;
    bool ok = calls && code;
    for (size_t i = 0; i < slot->count && ok; i++) {
        bool has_none =
            gt_idle_gap_part(idle, i) == GT_GAP_QUEUED || gt_idle_gap_queued_ns(idle, i) > gt_idle_gap_ns(idle, i);
        out[i] = has_none ? UINT32_MAX : meanwhile(frames->view, words, calls[i], code[i]);
    }
    gt_mem_free(gaps);
    gt_mem_free(calls);
    gt_mem_free(code);
    return ok ? gt_frame_make_end_words(slot, err) : gt_fail_memory(err);
}

/* ---- by op ---- */

/* The gap that an op ends: of a late start the first part. */
enum gt_status gt_frame_makers_op_gap(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                      struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const struct gt_idle *idle = idle_of(frames, err);
    uint32_t *out = idle ? gt_frame_make_array(slot, sizeof *out, err) : NULL;
    if (!out)
        return err->code;
    for (size_t i = 0; i < slot->count; i++)
        out[i] = GT_NO_ROW;
    for (uint32_t i = 0; i < idle->count; i++)
        if (idle->next[i] != GT_NO_ROW && gt_idle_gap_part(idle, i) != GT_GAP_QUEUED)
            out[frames->view->row[idle->next[i]]] = i;
    return GT_OK;
}

enum gt_status gt_frame_makers_op_gap_queued_ns(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                                struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const struct gt_idle *idle = idle_of(frames, err);
    struct gt_frame_values gaps;
    if (!idle || gt_frame_make_sibling(frames, "ops", "gap_id", &gaps, err) != GT_OK)
        return err->code;
    const uint32_t *gap_of = gaps.data;
    int64_t *out = gt_frame_make_array(slot, sizeof *out, err);
    for (size_t i = 0; i < slot->count && out; i++)
        out[i] = gap_of[i] == GT_NO_ROW ? -1 : gt_idle_gap_queued_ns(idle, gap_of[i]);
    return out ? GT_OK : err->code;
}
