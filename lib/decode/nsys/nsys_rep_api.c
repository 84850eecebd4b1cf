/* Calls: the sub-message of an event comes in, the model gets a runtime or driver call, the profiler's own work, or a
   copy of a graph. */
#include "decode/nsys/nsys_rep_sink.h"
#include "decode/proto/proto.h"
#include "events/builder.h"

enum { TYPE_API = 48 };

/* Classes of API events, of which CUDA's runtime and driver are the first two. */
enum api_class { CLASS_CUDA_DRIVER = 1, CLASS_PROFILER = 3, CLASS_OS = 27, CLASS_DRIVER_OVERHEAD = 103 };

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

bool gt_nsys_rep_sink_take_api(struct gt_nsys_rep_sink *sink, uint64_t type, struct gt_str message) {
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
    else if (type == TYPE_API && class == CLASS_OS && asked & GT_FACT_HOST_CALLS)
        gt_nsys_add_host_call(sink->model, &(struct gt_nsys_host_call){.start_ns = call.start_ns,
                                                                       .end_ns = call.end_ns,
                                                                       .global_tid = call.global_tid,
                                                                       .name_id = call.name_id});
    else if ((node.ptr || graph.ptr) && asked & GT_FACT_GRAPHS)
        take_clone(sink, call.global_tid, node, graph);
    else
        gt_builder_skip(sink->model->builder);
    return true;
}
