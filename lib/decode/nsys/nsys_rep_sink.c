/* Events of a report: entries of an inflated chunk come in, the model gets kernels, copies, calls, ranges and the rest.
   An event is a type and one sub-message; fields may come in any order, unknown ones are skipped. */
#include "decode/nsys/nsys_rep_sink.h"

#include "base/mem.h"
#include "decode/proto/proto.h"
#include "events/builder.h"

enum event_type { TYPE_API = 48 };

/* Classes of API events, of which CUDA's runtime and driver are the first two. */
enum api_class { CLASS_CUDA_DRIVER = 1, CLASS_PROFILER = 3, CLASS_DRIVER_OVERHEAD = 103 };

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
    gt_mem_free(sink->processes);
    *sink = (struct gt_nsys_rep_sink){0};
}

/* ---- calls ---- */

static void take_overhead(struct gt_nsys_rep_sink *sink, const struct gt_nsys_call *call, bool is_driver) {
    gt_nsys_add_overhead(sink->model, &(struct gt_nsys_overhead){
                                          .is_driver = is_driver,
                                          .start_ns = call->start_ns,
                                          .end_ns = call->end_ns,
                                          .global_tid = call->global_tid,
                                          .name_id = call->name_id,
                                      });
}

/* Nodes and graphs that are copies name what they were copied from. */
static void take_clone(struct gt_nsys_rep_sink *sink, uint64_t global_tid, struct gt_str node, struct gt_str graph) {
    gt_nsys_add_clone(sink->model, &(struct gt_nsys_clone){
                                       .global_tid = global_tid,
                                       .node = gt_proto_find_value(node, GT_PROTO_VARINT(1), GT_NSYS_NO_ID),
                                       .original_node = gt_proto_find_value(node, GT_PROTO_VARINT(2), GT_NSYS_NO_ID),
                                       .graph = gt_proto_find_value(graph, GT_PROTO_VARINT(1), GT_NSYS_NO_ID),
                                       .original_graph = gt_proto_find_value(graph, GT_PROTO_VARINT(2), GT_NSYS_NO_ID),
                                   });
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
    struct gt_str node = {NULL, 0}, graph = {NULL, 0};
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
        case GT_PROTO_BYTES(33):
            node = field.bytes;
            break;
        case GT_PROTO_BYTES(39):
            graph = field.bytes;
            break;
        }
    }
    if (fields.is_damaged)
        return false;
    if (type == TYPE_API && class <= CLASS_CUDA_DRIVER)
        gt_nsys_add_call(sink->model, &call);
    else if (type == TYPE_API && class == CLASS_PROFILER)
        take_overhead(sink, &call, false);
    else if (type == TYPE_API && class == CLASS_DRIVER_OVERHEAD)
        take_overhead(sink, &call, true);
    else if (node.ptr || graph.ptr)
        take_clone(sink, call.global_tid, node, graph);
    else
        gt_builder_skip(sink->model->builder);
    return true;
}

/* ---- NVTX ---- */

/* The size of the message that a range is about, and the texts that belong to it, where it has some. */
static void take_payload(struct gt_nsys_rep_sink *sink, const struct gt_nsys_nvtx *event, struct gt_str payload) {
    struct gt_builder *builder = sink->model->builder;
    const struct gt_nsys_rep_schemas *schemas = &sink->facts->schemas;
    uint64_t value, global_pid = gt_nsys_global_pid(event->global_tid);
    uint64_t domain = event->domain_id == GT_NSYS_NO_ID ? 0 : event->domain_id;
    struct gt_str bytes;
    const struct gt_nsys_rep_schema *schema =
        gt_nsys_rep_payload_schemas_find(schemas, global_pid, domain, payload, &bytes);
    for (size_t i = 0; schema && i < schema->entry_count; i++) {
        const struct gt_nsys_rep_entry *entry = &schemas->entries[schema->first_entry + i];
        if (!gt_nsys_rep_payload_entry_read(entry, bytes, &value))
            continue;
        if (!entry->is_text) {
            struct gt_comms_row comm = GT_COMM_UNKNOWN;
            comm.in_bytes = value;
            comm.range = 0;
            gt_builder_comm(builder, &comm);
        } else if (value != 0 && gt_nsys_has_string(&sink->facts->capture, value)) /* 0: the program gave none */
            gt_builder_range_text(builder, &(struct gt_range_texts_row){.key = gt_builder_string(builder, entry->name),
                                                                        .text = gt_nsys_string(sink->model, value)});
    }
}

static bool take_nvtx(struct gt_nsys_rep_sink *sink, struct gt_str message) {
    struct gt_nsys_nvtx event = {
        .start_ns = GT_NO_TIME,
        .end_ns = GT_NO_TIME,
        .global_tid = GT_NSYS_NO_ID,
        .end_global_tid = GT_NSYS_NO_ID,
        .domain_id = GT_NSYS_NO_ID,
        .category = GT_NSYS_NO_ID,
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
        case GT_PROTO_VARINT(5):
            event.category = field.value;
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
    if (payload.ptr && sink->model->builder->store.ranges.count > ranges_before)
        take_payload(sink, &event, payload);
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
    struct gt_nsys_rep_process *grown =
        gt_mem_room(sink->processes, sink->process_count, &sink->process_capacity, sizeof *grown);
    if (!grown) {
        sink->model->builder->failed = true;
        return true;
    }
    sink->processes = grown;
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
        return gt_nsys_rep_sink_take_activity(sink, sub);
    case SUB_API:
        return take_api(sink, type, sub);
    case SUB_NVTX:
        return take_nvtx(sink, sub);
    case SUB_PROCESS:
        return take_process(sink, sub);
    case SUB_DIAGNOSTIC:
        gt_nsys_add_diagnostic(sink->model, gt_proto_find_bytes(sub, GT_PROTO_BYTES(4)),
                               gt_proto_find_value(sub, GT_PROTO_VARINT(5), GT_NSYS_NO_ID));
        return true;
    default:
        gt_builder_skip(sink->model->builder);
        return true;
    }
}

void gt_nsys_rep_sink_take(struct gt_nsys_rep_sink *sink, struct gt_str message, size_t entries_max, uint64_t offset) {
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    struct gt_builder *builder = sink->model->builder;
    size_t entries = 0;
    while (entries <= entries_max && gt_proto_next(&fields, &field)) {
        bool is_event = field.tag == GT_PROTO_BYTES(1), is_generic = field.tag == GT_PROTO_BYTES(2);
        if ((!is_event && !is_generic) || entries++ == entries_max)
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
    if (fields.is_damaged || entries == 0 || entries > entries_max)
        gt_builder_issue(builder, GT_ISSUE_PACKING_DAMAGED, 1, offset);
}
