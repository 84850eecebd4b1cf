/* Work on a device: the sub-message of an event comes in, the model gets a kernel, copy, set or whole graph. */
#include "decode/nsys/nsys_rep_sink.h"
#include "decode/proto/proto.h"
#include "events/builder.h"

/* What kernels, copies, sets and graphs have beyond what all activities have. Each is false when damaged. */

static bool take_kernel(const struct gt_nsys_capture *capture, struct gt_nsys_activity *activity,
                        struct gt_str message) {
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    uint64_t demangled = GT_NSYS_NO_ID, short_name = GT_NSYS_NO_ID, mangled = GT_NSYS_NO_ID;
    while (gt_proto_next(&fields, &field)) {
        switch (field.tag) {
        case GT_PROTO_VARINT(1):
            demangled = field.value;
            break;
        case GT_PROTO_VARINT(2):
            short_name = field.value;
            break;
        case GT_PROTO_VARINT(3):
            mangled = field.value;
            break;
        case GT_PROTO_VARINT(27):
            activity->graph_node = field.value;
            break;
        }
    }
    activity->name_id = gt_nsys_kernel_name(capture, demangled, short_name, mangled);
    return !fields.is_damaged;
}

static bool take_copy(struct gt_nsys_activity *activity, struct gt_str message) {
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    while (gt_proto_next(&fields, &field)) {
        switch (field.tag) {
        case GT_PROTO_VARINT(1):
            activity->bytes = field.value;
            break;
        case GT_PROTO_VARINT(2):
            activity->copy_kind = field.value;
            break;
        case GT_PROTO_VARINT(4):
            activity->src_kind = field.value;
            break;
        case GT_PROTO_VARINT(5):
            activity->dst_kind = field.value;
            break;
        case GT_PROTO_VARINT(11):
            activity->graph_node = field.value;
            break;
        }
    }
    return !fields.is_damaged;
}

static bool take_set(struct gt_nsys_activity *activity, struct gt_str message) {
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    while (gt_proto_next(&fields, &field)) {
        switch (field.tag) {
        case GT_PROTO_VARINT(1):
            activity->bytes = field.value;
            break;
        case GT_PROTO_VARINT(3):
            activity->graph_node = field.value;
            break;
        case GT_PROTO_VARINT(4):
            activity->dst_kind = field.value;
            break;
        }
    }
    return !fields.is_damaged;
}

static bool take_graph(struct gt_nsys_activity *activity, struct gt_str message) {
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    while (gt_proto_next(&fields, &field))
        if (field.tag == GT_PROTO_VARINT(1))
            activity->graph_id = field.value;
    return !fields.is_damaged;
}

/* What the sub-message makes of an activity. false: nothing that is kept (syncs, event records), or damaged. */
static bool take_details(const struct gt_nsys_capture *capture, struct gt_nsys_activity *activity, uint32_t tag,
                         struct gt_str message, bool *is_damaged) {
    switch (tag) {
    case GT_PROTO_BYTES(101):
        activity->kind = GT_NSYS_KERNEL;
        *is_damaged = !take_kernel(capture, activity, message);
        break;
    case GT_PROTO_BYTES(102):
        activity->kind = GT_NSYS_MEMCPY;
        *is_damaged = !take_copy(activity, message);
        break;
    case GT_PROTO_BYTES(103):
        activity->kind = GT_NSYS_MEMSET;
        *is_damaged = !take_set(activity, message);
        break;
    case GT_PROTO_BYTES(107):
        activity->kind = GT_NSYS_GRAPH;
        *is_damaged = !take_graph(activity, message);
        break;
    default:
        return false;
    }
    return !*is_damaged;
}

bool gt_nsys_rep_sink_take_activity(struct gt_nsys_rep_sink *sink, struct gt_str message) {
    struct gt_nsys_activity activity = {
        .start_ns = GT_NO_TIME,
        .end_ns = GT_NO_TIME,
        .correlation = GT_NSYS_NO_ID,
        .global_pid = GT_NSYS_NO_ID,
        .device = -1,
        .name_id = GT_NSYS_NO_ID,
        .graph_node = GT_NSYS_NO_ID,
        .graph_id = GT_NSYS_NO_ID,
        .bytes = GT_NSYS_NO_ID,
        .copy_kind = GT_NSYS_NO_ID,
        .src_kind = GT_NSYS_NO_ID,
        .dst_kind = GT_NSYS_NO_ID,
    };
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    uint32_t details_tag = 0;
    struct gt_str details = {NULL, 0};
    while (gt_proto_next(&fields, &field)) {
        switch (field.tag) {
        case GT_PROTO_VARINT(1):
            activity.start_ns = (int64_t)field.value;
            break;
        case GT_PROTO_VARINT(2):
            activity.end_ns = (int64_t)field.value;
            break;
        case GT_PROTO_VARINT(3):
            activity.correlation = field.value;
            break;
        case GT_PROTO_VARINT(4):
            activity.device = (int64_t)field.value;
            break;
        case GT_PROTO_VARINT(6):
            activity.stream = (int64_t)field.value;
            break;
        case GT_PROTO_VARINT(8):
            activity.global_pid = field.value;
            break;
        default:
            if (field.tag >= GT_PROTO_VARINT(101) && (field.tag & 7) == 2) {
                details_tag = field.tag;
                details = field.bytes;
            }
        }
    }
    bool is_damaged = fields.is_damaged;
    if (is_damaged)
        return false;
    if (take_details(&sink->facts->capture, &activity, details_tag, details, &is_damaged))
        gt_nsys_add_activity(sink->model, &activity);
    else if (!is_damaged)
        gt_builder_skip(sink->model->builder);
    return !is_damaged;
}
