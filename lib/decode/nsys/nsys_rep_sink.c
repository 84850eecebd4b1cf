/* Events of a report: entries of an inflated chunk come in, the model gets kernels, copies, calls, ranges and the rest.
   An event is a type and one sub-message; fields may come in any order, unknown ones are skipped. */
#include "decode/nsys/nsys_rep_sink.h"

#include "base/mem.h"
#include "decode/proto/proto.h"
#include "events/builder.h"

enum event_type {
    TYPE_THREAD_NAME = 39,
    TYPE_API = 48,
    TYPE_KERNEL = 79,
    TYPE_COPY = 80,
    TYPE_SYNC = 106,
    TYPE_RECORD = 127,
    TYPE_GRAPH = 130,
};

/* Classes of API events, of which CUDA's runtime and driver are the first two. */
enum api_class { CLASS_CUDA_DRIVER = 1, CLASS_PROFILER = 3, CLASS_DRIVER_OVERHEAD = 103 };

/* The sub-messages of an event that are read. */
enum sub_message {
    SUB_NVTX = GT_PROTO_BYTES(102),
    SUB_DEVICE = GT_PROTO_BYTES(107),
    SUB_API = GT_PROTO_BYTES(108),
    SUB_DIAGNOSTIC = GT_PROTO_BYTES(110),
    SUB_PROCESS = GT_PROTO_BYTES(113),
    SUB_MEMORY = GT_PROTO_BYTES(123),
    SUB_POOL = GT_PROTO_BYTES(129),
};

/* Values of counters that are taken for each entry that a chunk may have, so that a short sample of many metrics cannot
   make values without end; 22 metrics take 12 packed bytes at least in samples. */
enum { VALUES_EACH = 32 };

void gt_nsys_rep_sink_init(struct gt_nsys_rep_sink *sink, struct gt_nsys_sink *model,
                           const struct gt_nsys_rep_facts *facts) {
    *sink = (struct gt_nsys_rep_sink){.model = model, .facts = facts};
}

void gt_nsys_rep_sink_release(struct gt_nsys_rep_sink *sink) {
    gt_mem_free(sink->processes);
    gt_mem_free(sink->ranks);
    gt_nsys_rep_metrics_samples_release(&sink->samples);
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
    uint32_t asked = sink->model->facts;
    if (type == TYPE_API && class <= CLASS_CUDA_DRIVER && asked & GT_FACT_CALLS)
        gt_nsys_add_call(sink->model, &call);
    else if (type == TYPE_API && class == CLASS_PROFILER && asked & GT_FACT_OVERHEADS)
        take_overhead(sink, &call, false);
    else if (type == TYPE_API && class == CLASS_DRIVER_OVERHEAD && asked & GT_FACT_OVERHEADS)
        take_overhead(sink, &call, true);
    else if ((node.ptr || graph.ptr) && asked & GT_FACT_GRAPHS)
        take_clone(sink, call.global_tid, node, graph);
    else
        gt_builder_skip(sink->model->builder);
    return true;
}

/* ---- processes ---- */

/* What it was started with is known by the number of a string, which is looked at once, when all is read. */
static bool take_process(struct gt_nsys_rep_sink *sink, struct gt_str message) {
    struct gt_str path = gt_proto_find_bytes(message, GT_PROTO_BYTES(5));
    struct gt_str name = gt_proto_find_bytes(message, GT_PROTO_BYTES(6));
    uint64_t global_pid = gt_proto_find_value(message, GT_PROTO_VARINT(2), GT_NSYS_NO_ID);
    uint64_t environment = gt_proto_find_value(message, GT_PROTO_VARINT(13), GT_NSYS_NO_ID);
    name = name.len ? name : path;
    if ((name.len == 0 && environment == GT_NSYS_NO_ID) || global_pid == GT_NSYS_NO_ID)
        return true;
    struct gt_nsys_rep_process *grown =
        gt_mem_room(sink->processes, sink->process_count, &sink->process_capacity, sizeof *grown);
    if (!grown) {
        sink->model->builder->failed = true;
        return true;
    }
    sink->processes = grown;
    sink->processes[sink->process_count] = (struct gt_nsys_rep_process){
        sink->order,
        sink->process_count,
        {global_pid, gt_arena_copy(&sink->model->arena, name.ptr ? name : GT_STR(""))},
        environment,
    };
    sink->process_count++;
    sink->model->builder->failed |= gt_arena_failed(&sink->model->arena);
    return true;
}

/* ---- chunks ---- */

/* Whether anything that is asked for can be in an event, by what is known without its fields. */
static bool is_asked(uint32_t asked, uint64_t type, uint32_t tag) {
    switch (tag) {
    case SUB_DEVICE:
        if (type == TYPE_SYNC || type == TYPE_RECORD)
            return asked & GT_FACT_SYNCS;
        if (type == TYPE_KERNEL || type == TYPE_COPY || type == TYPE_GRAPH)
            return asked & GT_FACT_OPS;
        return asked & (GT_FACT_OPS | GT_FACT_SYNCS);
    case SUB_API:
        return asked & (type == TYPE_API ? GT_FACT_CALLS | GT_FACT_OVERHEADS : GT_FACT_GRAPHS);
    case SUB_NVTX:
        return asked & (type == TYPE_THREAD_NAME ? GT_FACT_RANGES | GT_FACT_CALLS : GT_FACT_RANGES);
    case SUB_MEMORY:
    case SUB_POOL:
        return asked & GT_FACT_MEMORY;
    default:
        return true;
    }
}

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
    if (!is_asked(sink->model->facts, type, tag)) {
        gt_builder_skip(sink->model->builder);
        return true;
    }
    switch (tag) {
    case SUB_DEVICE:
        return gt_nsys_rep_sink_take_activity(sink, sub);
    case SUB_API:
        return take_api(sink, type, sub);
    case SUB_NVTX:
        return gt_nsys_rep_sink_take_nvtx(sink, sub);
    case SUB_MEMORY:
        return gt_nsys_rep_sink_take_memory(sink, sub);
    case SUB_POOL:
        return gt_nsys_rep_sink_take_pool(sink, sub);
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

/* Generic events: samples of GPU metrics, and what others write. false: it is damaged. */
static bool take_generic(struct gt_nsys_rep_sink *sink, struct gt_str event, size_t entries_max) {
    sink->generic_count++;
    if (sink->left_generic == 0)
        return true;
    sink->left_generic--;
    if (sink->facts->metrics.count == 0) { /* nor are they asked for */
        gt_builder_skip(sink->model->builder);
        return true;
    }
    return gt_nsys_rep_metrics_take(&sink->samples, &sink->facts->metrics, sink->model, event,
                                    VALUES_EACH * (uint64_t)entries_max);
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
            if (!take_generic(sink, field.bytes, entries_max))
                gt_builder_issue(builder, GT_ISSUE_EVENT_DAMAGED, 1, offset);
            continue;
        }
        sink->event_count++;
        if (sink->left_count == 0)
            continue;
        sink->left_count--;
        if (!take_event(sink, field.bytes))
            gt_builder_issue(builder, GT_ISSUE_EVENT_DAMAGED, 1, offset);
    }
    gt_nsys_rep_metrics_flush(&sink->samples, &sink->facts->metrics, sink->model);
    if (fields.is_damaged || entries == 0 || entries > entries_max)
        gt_builder_issue(builder, GT_ISSUE_PACKING_DAMAGED, 1, offset);
}
