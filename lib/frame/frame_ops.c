/* Columns of ops: what labels say of each, and what analyses make of the ops of a device. */
#include "base/mem.h"
#include "base/ns.h"
#include "events/comms.h"
#include "frame/frame_makers.h"
#include "measure/results/calls.h"
#include "measure/results/charging.h"
#include "measure/results/operator_set.h"
#include "measure/results/phase_set.h"

enum gt_status gt_frame_makers_op_short_name(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                             struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const struct gt_labels *labels = frames->trace.labels;
    const gt_strid *name = frames->trace.store->ops.name;
    gt_strid *out = gt_frame_make_array(slot, sizeof *out, err);
    for (size_t i = 0; i < slot->count && out; i++)
        out[i] = labels->short_name[name[i]];
    slot->texts = labels->short_names.strings;
    slot->text_count = labels->short_names.count;
    return out ? GT_OK : err->code;
}

enum gt_status gt_frame_makers_op_category(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                           struct gt_frame_slot *slot, struct gt_error *err) {
    struct gt_frame_values keys;
    (void)spec;
    slot->data = frames->trace.labels->op_category;
    enum gt_status status = gt_frame_make_sibling(frames, "categories", "category", &keys, err);
    slot->texts = keys.texts;
    slot->text_count = keys.text_count;
    return status;
}

enum gt_status gt_frame_makers_op_class(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                        struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const struct gt_labels *labels = frames->trace.labels;
    struct gt_frame_values classes;
    enum gt_status status = gt_frame_make_sibling(frames, "categories", "class", &classes, err);
    if (status != GT_OK)
        return status;
    uint8_t *out = gt_frame_make_array(slot, sizeof *out, err);
    for (size_t i = 0; i < slot->count && out; i++)
        out[i] = (uint8_t)labels->categories[labels->op_category[i]].time_class;
    slot->texts = classes.texts;
    slot->text_count = classes.text_count;
    return out ? GT_OK : err->code;
}

enum gt_status gt_frame_makers_op_process(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                          struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    uint32_t *out = gt_frame_make_array(slot, sizeof *out, err);
    for (uint32_t i = 0; i < slot->count && out; i++)
        out[i] = gt_labels_op_process(frames->trace.labels, frames->trace.store, i);
    return out ? GT_OK : err->code;
}

enum gt_status gt_frame_makers_op_call(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                       struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec, (void)err;
    slot->data = frames->trace.labels->op_call;
    return GT_OK;
}

enum gt_status gt_frame_makers_op_range(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                        struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec, (void)err;
    slot->data = frames->trace.labels->op_range;
    return GT_OK;
}

enum gt_status gt_frame_makers_op_step(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                       struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec, (void)err;
    slot->data = frames->trace.labels->op_step;
    return GT_OK;
}

enum gt_status gt_frame_makers_op_queue_ns(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                           struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    int64_t *out = gt_frame_make_array(slot, sizeof *out, err);
    for (uint32_t i = 0; i < slot->count && out; i++)
        out[i] = gt_calls_queue_ns(frames->trace.store, frames->trace.labels, i);
    return out ? GT_OK : err->code;
}

enum gt_status gt_frame_makers_op_delay_ns(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                           struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const struct gt_store *store = frames->trace.store;
    const uint32_t *call = frames->trace.labels->op_call;
    int64_t *out = gt_frame_make_array(slot, sizeof *out, err);
    for (size_t i = 0; i < slot->count && out; i++)
        out[i] =
            call[i] == GT_NO_ROW ? INT64_MIN : gt_ns_between(store->calls.start_ns[call[i]], store->ops.start_ns[i]);
    return out ? GT_OK : err->code;
}

enum gt_status gt_frame_makers_op_operator(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                           struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const struct gt_view *view = gt_frame_make_view(frames, err);
    if (!view)
        return err->code;
    slot->owned = gt_operator_set_of_calls(view, frames->trace.labels->op_call, slot->count);
    slot->data = slot->owned;
    return slot->owned ? GT_OK : gt_fail_memory(err);
}

enum gt_status gt_frame_makers_op_phase(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                        struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    struct gt_frame_values phases;
    const uint32_t *range = frames->trace.labels->op_range;
    enum gt_status status = gt_frame_make_sibling(frames, "ranges", "phase", &phases, err);
    if (status != GT_OK)
        return status;
    const uint32_t *phase_of = phases.data;
    uint32_t *out = gt_frame_make_array(slot, sizeof *out, err);
    for (size_t i = 0; i < slot->count && out; i++)
        out[i] = range[i] == GT_NO_ROW ? UINT32_MAX : phase_of[range[i]];
    slot->texts = phases.texts;
    slot->text_count = phases.text_count;
    return out ? GT_OK : err->code;
}

/* ---- time that is charged to one op at a time ---- */

struct charges {
    const struct gt_view *view;
    int64_t *wall_ns; /* by row */
};

static void charge(void *context, size_t position, int64_t start_ns, int64_t end_ns) {
    struct charges *charges = context;
    int64_t *wall_ns = &charges->wall_ns[charges->view->row[position]];
    *wall_ns = gt_ns_add(*wall_ns, gt_ns_between(start_ns, end_ns));
}

enum gt_status gt_frame_makers_op_wall_ns(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                          struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const struct gt_view *view = gt_frame_make_view(frames, err);
    if (!view)
        return err->code;
    struct charges charges = {view, gt_frame_make_array(slot, sizeof *charges.wall_ns, err)};
    if (!charges.wall_ns)
        return err->code;
    for (size_t i = 0; i < slot->count; i++)
        charges.wall_ns[i] = 0;
    for (size_t d = 0; d < view->device_count; d++)
        gt_charging_device(view, &view->devices[d], charge, &charges);
    return GT_OK;
}

enum gt_status gt_frame_makers_op_collective(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                             struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    uint32_t *out = gt_frame_make_array(slot, sizeof *out, err);
    for (uint32_t i = 0; i < slot->count && out; i++) {
        const struct gt_comm_launch *launch = gt_comms_of_op(frames->trace.labels, i);
        out[i] = launch ? launch->first : GT_NO_ROW;
    }
    return out ? GT_OK : err->code;
}
