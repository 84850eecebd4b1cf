/* Events of a report: entries of an inflated chunk come in, the model gets kernels, copies, calls, ranges and the rest.
   An event is a type and one sub-message; fields may come in any order, unknown ones are skipped. */
#include "decode/nsys_rep_event.h"

#include "base/mem.h"
#include "decode/proto.h"

enum event_type { TYPE_API = 48 };

/* Classes of API events, of which CUDA's runtime and driver are the first two. */
enum api_class { CLASS_CUDA_DRIVER = 1, CLASS_PROFILER = 3 };

/* The sub-messages of an event that are read. */
enum sub_message {
    SUB_NVTX = GT_PROTO_BYTES(102),
    SUB_DEVICE = GT_PROTO_BYTES(107),
    SUB_API = GT_PROTO_BYTES(108),
    SUB_DIAGNOSTIC = GT_PROTO_BYTES(110),
    SUB_PROCESS = GT_PROTO_BYTES(113),
};

void gt_nsys_rep_sink_init(struct gt_nsys_rep_sink *sink, struct gt_nsys_sink *model,
                           const struct gt_nsys_rep_facts *facts) {
    *sink = (struct gt_nsys_rep_sink){.model = model, .facts = facts};
}

void gt_nsys_rep_sink_release(struct gt_nsys_rep_sink *sink) {
    gt_free(sink->processes);
    *sink = (struct gt_nsys_rep_sink){0};
}

/* ---- work on a device ---- */

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

static bool take_activity(struct gt_nsys_rep_sink *sink, struct gt_str message) {
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

/* ---- calls ---- */

static void take_overhead(struct gt_nsys_rep_sink *sink, const struct gt_nsys_call *call) {
    const struct gt_nsys_capture *capture = &sink->facts->capture;
    bool is_known = call->name_id < capture->string_count;
    gt_nsys_add_overhead(sink->model, call->start_ns, call->end_ns, call->global_tid,
                         is_known ? capture->strings[call->name_id] : GT_STR("?"));
}

static bool take_api(struct gt_nsys_rep_sink *sink, uint64_t type, struct gt_str message) {
    struct gt_nsys_call call = {
        .start_ns = GT_NO_TIME,
        .end_ns = GT_NO_TIME,
        .correlation = GT_NSYS_NO_ID,
        .global_tid = GT_NSYS_NO_ID,
        .name_id = GT_NSYS_NO_ID,
    };
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    uint64_t class = UINT64_MAX;
    while (gt_proto_next(&fields, &field)) {
        switch (field.tag) {
        case GT_PROTO_VARINT(1):
            call.start_ns = (int64_t)field.value;
            break;
        case GT_PROTO_VARINT(2):
            call.end_ns = (int64_t)field.value;
            break;
        case GT_PROTO_VARINT(3):
            call.correlation = field.value;
            break;
        case GT_PROTO_VARINT(6):
            class = field.value;
            break;
        case GT_PROTO_VARINT(7):
            call.name_id = field.value;
            break;
        case GT_PROTO_VARINT(13):
            call.global_tid = field.value;
            break;
        }
    }
    if (fields.is_damaged)
        return false;
    if (type == TYPE_API && class <= CLASS_CUDA_DRIVER)
        gt_nsys_add_call(sink->model, &call);
    else if (type == TYPE_API && class == CLASS_PROFILER)
        take_overhead(sink, &call);
    else
        gt_builder_skip(sink->model->builder);
    return true;
}

/* ---- NVTX ---- */

/* The size of the message that a range is about, where it has one. */
static void take_payload(struct gt_nsys_rep_sink *sink, const struct gt_nsys_nvtx *event, struct gt_str payload,
                         size_t ranges_before) {
    struct gt_builder *builder = sink->model->builder;
    uint64_t bytes, global_pid = event->global_tid & ~UINT64_C(0xFFFFFF);
    uint64_t domain = event->domain_id == GT_NSYS_NO_ID ? 0 : event->domain_id;
    if (builder->store.ranges.count > ranges_before &&
        gt_nsys_rep_schemas_find_bytes(&sink->facts->schemas, global_pid, domain, payload, &bytes))
        gt_builder_payload(builder, &(struct gt_payloads_row){.bytes = bytes});
}

static bool take_nvtx(struct gt_nsys_rep_sink *sink, struct gt_str message) {
    struct gt_nsys_nvtx event = {
        .start_ns = GT_NO_TIME,
        .end_ns = GT_NO_TIME,
        .global_tid = GT_NSYS_NO_ID,
        .end_global_tid = GT_NSYS_NO_ID,
        .domain_id = GT_NSYS_NO_ID,
        .text_id = GT_NSYS_NO_ID,
    };
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    struct gt_str payload = {NULL, 0};
    while (gt_proto_next(&fields, &field)) {
        switch (field.tag) {
        case GT_PROTO_VARINT(1):
            event.type = field.value;
            break;
        case GT_PROTO_VARINT(2):
            event.start_ns = (int64_t)field.value;
            break;
        case GT_PROTO_BYTES(7):
            event.text = field.bytes;
            break;
        case GT_PROTO_BYTES(8):
            payload = field.bytes;
            break;
        case GT_PROTO_VARINT(9):
            event.global_tid = field.value;
            break;
        case GT_PROTO_VARINT(10):
            event.end_ns = (int64_t)field.value;
            break;
        case GT_PROTO_VARINT(11):
            event.end_global_tid = field.value;
            break;
        case GT_PROTO_VARINT(12):
            event.text_id = field.value;
            break;
        case GT_PROTO_VARINT(13):
            event.domain_id = field.value;
            break;
        }
    }
    if (fields.is_damaged)
        return false;
    size_t ranges_before = sink->model->builder->store.ranges.count;
    gt_nsys_add_nvtx(sink->model, &event);
    if (payload.ptr)
        take_payload(sink, &event, payload, ranges_before);
    return true;
}

/* ---- processes ---- */

static bool take_process(struct gt_nsys_rep_sink *sink, struct gt_str message) {
    struct gt_str path = gt_proto_find_bytes(message, GT_PROTO_BYTES(5));
    struct gt_str name = gt_proto_find_bytes(message, GT_PROTO_BYTES(6));
    uint64_t global_pid = gt_proto_find_value(message, GT_PROTO_VARINT(2), GT_NSYS_NO_ID);
    name = name.len ? name : path;
    if (name.len == 0 || global_pid == GT_NSYS_NO_ID)
        return true;
    if (sink->process_count == sink->process_capacity) {
        size_t capacity = sink->process_capacity ? sink->process_capacity * 2 : 16;
        struct gt_nsys_rep_process *grown = gt_realloc(sink->processes, capacity * sizeof *grown);
        if (!grown) {
            sink->model->builder->failed = true;
            return true;
        }
        sink->processes = grown;
        sink->process_capacity = capacity;
    }
    sink->processes[sink->process_count] = (struct gt_nsys_rep_process){
        sink->order, sink->process_count, {global_pid, gt_arena_copy(&sink->model->arena, name)}};
    sink->process_count++;
    sink->model->builder->failed |= gt_arena_failed(&sink->model->arena);
    return true;
}

/* ---- chunks ---- */

/* false: the event is damaged. */
static bool take_event(struct gt_nsys_rep_sink *sink, struct gt_str event) {
    struct gt_proto fields = gt_proto_of(event);
    struct gt_proto_field field;
    uint64_t type = UINT64_MAX;
    uint32_t tag = 0;
    struct gt_str sub = {NULL, 0};
    while (gt_proto_next(&fields, &field)) {
        if (field.tag == GT_PROTO_VARINT(1)) {
            type = field.value;
        } else if ((field.tag & 7) == 2) {
            tag = field.tag;
            sub = field.bytes;
        }
    }
    if (fields.is_damaged)
        return false;
    switch (tag) {
    case SUB_DEVICE:
        return take_activity(sink, sub);
    case SUB_API:
        return take_api(sink, type, sub);
    case SUB_NVTX:
        return take_nvtx(sink, sub);
    case SUB_PROCESS:
        return take_process(sink, sub);
    case SUB_DIAGNOSTIC:
        gt_nsys_add_diagnostic(sink->model, gt_proto_find_bytes(sub, GT_PROTO_BYTES(4)));
        return true;
    default:
        gt_builder_skip(sink->model->builder);
        return true;
    }
}

void gt_nsys_rep_sink_take(struct gt_nsys_rep_sink *sink, struct gt_str message, uint64_t offset) {
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    struct gt_builder *builder = sink->model->builder;
    size_t entries = 0;
    while (entries <= GT_NSYS_REP_ENTRIES_MAX && gt_proto_next(&fields, &field)) {
        bool is_event = field.tag == GT_PROTO_BYTES(1), is_generic = field.tag == GT_PROTO_BYTES(2);
        if ((!is_event && !is_generic) || entries++ == GT_NSYS_REP_ENTRIES_MAX)
            continue;
        if (is_generic) {
            gt_builder_skip(builder); /* of the system, not of a GPU */
            continue;
        }
        sink->event_count++;
        if (sink->left_count == 0)
            continue;
        sink->left_count--;
        if (!take_event(sink, field.bytes))
            gt_builder_issue(builder, GT_ISSUE_EVENT_DAMAGED, 1, offset);
    }
    if (fields.is_damaged || entries == 0 || entries > GT_NSYS_REP_ENTRIES_MAX)
        gt_builder_issue(builder, GT_ISSUE_PACKING_DAMAGED, 1, offset);
}
