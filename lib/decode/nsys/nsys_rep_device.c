/* Work on a device: the sub-message of an event comes in, the model gets a kernel, copy, set or whole graph, and where
   they are asked for launch configurations, synchronizations and recorded events. */
#include <stddef.h>

#include "decode/nsys/nsys_rep_sink.h"
#include "decode/proto/proto.h"
#include "events/builder.h"

/* The sub-messages of an activity. */
enum details {
    DETAILS_KERNEL = GT_PROTO_BYTES(101),
    DETAILS_COPY = GT_PROTO_BYTES(102),
    DETAILS_SET = GT_PROTO_BYTES(103),
    DETAILS_SYNC = GT_PROTO_BYTES(105),
    DETAILS_RECORD = GT_PROTO_BYTES(106),
    DETAILS_GRAPH = GT_PROTO_BYTES(107),
};

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

/* Where each field of a kernel goes that describes its launch; 0: it does not. */
#define PLACE(member) (1 + offsetof(struct gt_nsys_config, member) / sizeof(uint64_t))
static const uint8_t config_places[] = {
    [10] = PLACE(grid[0]),
    [11] = PLACE(grid[1]),
    [12] = PLACE(grid[2]),
    [13] = PLACE(block[0]),
    [14] = PLACE(block[1]),
    [15] = PLACE(block[2]),
    [16] = PLACE(static_shared_bytes),
    [17] = PLACE(dynamic_shared_bytes),
    [18] = PLACE(local_bytes),
    [21] = PLACE(registers),
    [22] = PLACE(shared_bytes),
    [31] = PLACE(cluster[0]),
    [32] = PLACE(cluster[1]),
    [33] = PLACE(cluster[2]),
};

/* How the kernel that was added last was launched: a second look at its fields, for those who ask. */
static void take_config(struct gt_nsys_sink *model, struct gt_str message) {
    union {
        struct gt_nsys_config config;
        uint64_t values[sizeof(struct gt_nsys_config) / sizeof(uint64_t)];
    } launch;
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    memset(&launch, 0xFF, sizeof launch); /* GT_NSYS_NO_ID */
    while (gt_proto_next(&fields, &field)) {
        uint32_t number = field.tag >> 3;
        uint8_t place = number < sizeof config_places && (field.tag & 7) == 0 ? config_places[number] : 0;
        if (place)
            launch.values[place - 1] = field.value;
    }
    gt_nsys_add_config(model, &launch.config);
}

/* Up to 2024.6 the type of a synchronization is field 2, with other numbers. */
static bool take_sync(struct gt_nsys_sink *model, const struct gt_nsys_activity *activity, uint64_t stream,
                      struct gt_str message) {
    struct gt_nsys_sync sync = {
        .start_ns = activity->start_ns,
        .end_ns = activity->end_ns,
        .correlation = activity->correlation,
        .global_pid = activity->global_pid,
        .stream = stream,
        .event = GT_NSYS_NO_ID,
        .record = GT_NSYS_NO_ID,
        .device = activity->device,
        .type = GT_NSYS_NO_ID,
        .is_old = true,
    };
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    while (gt_proto_next(&fields, &field)) {
        switch (field.tag) {
        case GT_PROTO_VARINT(1):
            sync.event = field.value;
            break;
        case GT_PROTO_VARINT(2):
            sync.type = sync.is_old ? field.value : sync.type;
            break;
        case GT_PROTO_VARINT(3):
            sync.record = field.value;
            break;
        case GT_PROTO_VARINT(4):
            sync.type = field.value;
            sync.is_old = false;
            break;
        }
    }
    if (!fields.is_damaged)
        gt_nsys_add_sync(model, &sync);
    return !fields.is_damaged;
}

static bool take_record(struct gt_nsys_sink *model, const struct gt_nsys_activity *activity, uint64_t stream,
                        struct gt_str message) {
    struct gt_nsys_event_record record = {
        .correlation = activity->correlation,
        .global_pid = activity->global_pid,
        .stream = stream,
        .event = GT_NSYS_NO_ID,
        .record = GT_NSYS_NO_ID,
        .device = activity->device,
    };
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    while (gt_proto_next(&fields, &field)) {
        if (field.tag == GT_PROTO_VARINT(1))
            record.event = field.value;
        else if (field.tag == GT_PROTO_VARINT(2))
            record.record = field.value;
    }
    if (!fields.is_damaged)
        gt_nsys_add_event_record(model, &record);
    return !fields.is_damaged;
}

/* What the sub-message makes of an activity. false: it is no op, or damaged. */
static bool take_details(const struct gt_nsys_capture *capture, struct gt_nsys_activity *activity, uint32_t tag,
                         struct gt_str message, bool *is_damaged) {
    switch (tag) {
    case DETAILS_KERNEL:
        activity->kind = GT_NSYS_KERNEL;
        *is_damaged = !take_kernel(capture, activity, message);
        break;
    case DETAILS_COPY:
        activity->kind = GT_NSYS_MEMCPY;
        *is_damaged = !take_copy(activity, message);
        break;
    case DETAILS_SET:
        activity->kind = GT_NSYS_MEMSET;
        *is_damaged = !take_set(activity, message);
        break;
    case DETAILS_GRAPH:
        activity->kind = GT_NSYS_GRAPH;
        *is_damaged = !take_graph(activity, message);
        break;
    default:
        return false;
    }
    return !*is_damaged;
}

/* What is no work: synchronizations and recorded events, for those who ask. false: it is damaged. */
static bool take_other(struct gt_nsys_sink *model, const struct gt_nsys_activity *activity, uint64_t stream,
                       uint32_t tag, struct gt_str message) {
    bool asks = model->facts & GT_FACT_SYNCS;
    if (asks && tag == DETAILS_SYNC)
        return take_sync(model, activity, stream, message);
    if (asks && tag == DETAILS_RECORD)
        return take_record(model, activity, stream, message);
    gt_builder_skip(model->builder);
    return true;
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
    uint32_t details_tag = 0, asked = sink->model->facts;
    uint64_t stream = GT_NSYS_NO_ID;
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
            stream = field.value;
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
    if (!(asked & GT_FACT_OPS) || !take_details(&sink->facts->capture, &activity, details_tag, details, &is_damaged))
        return !is_damaged && take_other(sink->model, &activity, stream, details_tag, details);
    activity.stream = stream == GT_NSYS_NO_ID ? 0 : (int64_t)stream;
    if (gt_nsys_add_activity(sink->model, &activity) && asked & GT_FACT_CONFIGS && details_tag == DETAILS_KERNEL)
        take_config(sink->model, details);
    return true;
}
