/* Columns of collectives: what their records say together. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "events/comms.h"
#include "frame/frame_makers.h"

static const struct gt_comm_labels *comms_of(const struct gt_frames *frames) {
    return &frames->trace.labels->comms;
}

enum gt_status gt_frame_makers_collective_rows(struct gt_frames *frames, size_t *count, struct gt_error *err) {
    (void)err;
    *count = comms_of(frames)->collective_count;
    return GT_OK;
}

enum gt_status gt_frame_makers_collective_operation(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                                    struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const char *words[GT_COMM_OP_COUNT];
    uint8_t *out = gt_frame_make_array(slot, sizeof *out, err);
    for (size_t i = 0; i < slot->count && out; i++)
        out[i] = comms_of(frames)->collectives[i].op;
    for (int op = 0; op < GT_COMM_OP_COUNT; op++)
        words[op] = gt_comms_op_key((enum gt_comm_op)op) ? gt_comms_op_key((enum gt_comm_op)op) : "other";
    return out ? gt_frame_make_choices(frames, slot, words, GT_COMM_OP_COUNT, err) : err->code;
}

enum gt_status gt_frame_makers_collective_bytes(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                                struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    uint64_t *out = gt_frame_make_array(slot, sizeof *out, err);
    for (size_t i = 0; i < slot->count && out; i++) {
        const struct gt_collective *collective = &comms_of(frames)->collectives[i];
        struct gt_comms_row record = gt_comms_merged(frames->trace.store, collective);
        out[i] = gt_comms_bytes(&record, (enum gt_comm_op)collective->op);
    }
    return out ? GT_OK : err->code;
}

enum gt_status gt_frame_makers_collective_bus_bytes(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                                    struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    double *out = gt_frame_make_array(slot, sizeof *out, err);
    for (size_t i = 0; i < slot->count && out; i++) {
        const struct gt_collective *collective = &comms_of(frames)->collectives[i];
        struct gt_comms_row record = gt_comms_merged(frames->trace.store, collective);
        double bytes = gt_comms_bus_bytes(frames->trace.store, &record, (enum gt_comm_op)collective->op,
                                          gt_comms_group(frames->trace.labels, collective));
        out[i] = isnan(bytes) ? -1 : bytes;
    }
    return out ? GT_OK : err->code;
}

/* A number of the record, by the key of the column. */
enum gt_status gt_frame_makers_collective_number(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                                 struct gt_frame_slot *slot, struct gt_error *err) {
    size_t offset = strcmp(spec->key, "sequence") == 0   ? offsetof(struct gt_comms_row, sequence)
                    : strcmp(spec->key, "src_rank") == 0 ? offsetof(struct gt_comms_row, src_rank)
                    : strcmp(spec->key, "dst_rank") == 0 ? offsetof(struct gt_comms_row, dst_rank)
                                                         : offsetof(struct gt_comms_row, root);
    int64_t *out = gt_frame_make_array(slot, sizeof *out, err);
    for (size_t i = 0; i < slot->count && out; i++) {
        struct gt_comms_row record = gt_comms_merged(frames->trace.store, &comms_of(frames)->collectives[i]);
        memcpy(&out[i], (const char *)&record + offset, sizeof *out);
    }
    return out ? GT_OK : err->code;
}

enum gt_status gt_frame_makers_collective_text(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                               struct gt_frame_slot *slot, struct gt_error *err) {
    bool of_name = strcmp(spec->key, "name") == 0;
    gt_strid *out = gt_frame_make_array(slot, sizeof *out, err);
    for (size_t i = 0; i < slot->count && out; i++) {
        struct gt_comms_row record = gt_comms_merged(frames->trace.store, &comms_of(frames)->collectives[i]);
        out[i] = of_name ? record.name : record.dtype;
    }
    slot->texts = frames->trace.store->strings.strings;
    slot->text_count = frames->trace.store->strings.count;
    return out ? GT_OK : err->code;
}

/* Of the group: its name, its purpose, or how many ranks it has. */
enum gt_status gt_frame_makers_collective_group(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                                struct gt_frame_slot *slot, struct gt_error *err) {
    bool of_size = strcmp(spec->key, "group_size") == 0, of_name = strcmp(spec->key, "group_name") == 0;
    void *out = gt_frame_make_array(slot, of_size ? sizeof(int64_t) : sizeof(gt_strid), err);
    for (size_t i = 0; i < slot->count && out; i++) {
        const struct gt_comm_group *group = gt_comms_group(frames->trace.labels, &comms_of(frames)->collectives[i]);
        if (of_size)
            ((int64_t *)out)[i] = group ? group->size : -1;
        else
            ((gt_strid *)out)[i] = !group ? UINT32_MAX : of_name ? group->name : group->description;
    }
    slot->texts = of_size ? NULL : frames->trace.store->strings.strings;
    slot->text_count = of_size ? 0 : frames->trace.store->strings.count;
    return out ? GT_OK : err->code;
}

/* The first kernel that carries it. */
enum gt_status gt_frame_makers_collective_op(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                             struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const struct gt_comm_labels *comms = comms_of(frames);
    uint32_t *out = gt_frame_make_array(slot, sizeof *out, err);
    for (size_t i = 0; i < slot->count && out; i++) {
        const struct gt_comm_launch *launch = &comms->launches[comms->collectives[i].launch];
        out[i] = launch->op_count ? comms->ops[launch->first_op] : GT_NO_ROW;
    }
    return out ? GT_OK : err->code;
}

enum gt_status gt_frame_makers_collective_ops(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                              struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const struct gt_comm_labels *comms = comms_of(frames);
    uint32_t *out = gt_frame_make_array(slot, sizeof *out, err);
    for (size_t i = 0; i < slot->count && out; i++)
        out[i] = comms->launches[comms->collectives[i].launch].op_count;
    return out ? GT_OK : err->code;
}
