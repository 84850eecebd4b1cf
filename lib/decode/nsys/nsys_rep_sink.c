/* Events of a report: entries of an inflated chunk come in, the model gets kernels, copies, calls, ranges and the rest.
   An event is a type and one sub-message; fields may come in any order, unknown ones are skipped. */
#include "decode/nsys/nsys_rep_sink.h"

#include "base/mem.h"
#include "decode/proto/proto.h"
#include "events/builder.h"

enum event_type {
    TYPE_CATEGORY = 33,
    TYPE_MARK = 34,
    TYPE_THREAD_NAME = 39,
    TYPE_API = 48,
    TYPE_PUSH_POP = 59,
    TYPE_START_END = 60,
    TYPE_DOMAIN = 75,
    TYPE_KERNEL = 79,
    TYPE_COPY = 80,
    TYPE_SYNC = 106,
    TYPE_NODE_CLONED = 113,
    TYPE_MEMORY = 117,
    TYPE_RECORD = 127,
    TYPE_POOL = 129,
    TYPE_GRAPH = 130,
    TYPE_GRAPH_CLONED = 133,
};

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
    gt_nsys_rep_metrics_samples_release(&sink->samples);
    *sink = (struct gt_nsys_rep_sink){0};
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

/* Which facts can be in an event, by its type alone; 0: that is seen later. */
static const uint32_t facts_of_type[] = {
    [TYPE_CATEGORY] = GT_FACT_RANGES,
    [TYPE_MARK] = GT_FACT_RANGES,
    [TYPE_THREAD_NAME] = GT_FACT_RANGES | GT_FACT_CALLS,
    [TYPE_API] = GT_FACT_CALLS | GT_FACT_OVERHEADS | GT_FACT_HOST_CALLS,
    [TYPE_PUSH_POP] = GT_FACT_RANGES | GT_FACT_HOST_CALLS, /* calls of MPI are ranges */
    [TYPE_START_END] = GT_FACT_RANGES | GT_FACT_HOST_CALLS,
    [TYPE_DOMAIN] = GT_FACT_RANGES,
    [TYPE_KERNEL] = GT_FACT_OPS,
    [TYPE_COPY] = GT_FACT_OPS,
    [TYPE_SYNC] = GT_FACT_SYNCS,
    [TYPE_NODE_CLONED] = GT_FACT_GRAPHS,
    [TYPE_MEMORY] = GT_NSYS_FACTS_OF_MEMORY,
    [TYPE_RECORD] = GT_FACT_SYNCS,
    [TYPE_POOL] = GT_NSYS_FACTS_OF_MEMORY,
    [TYPE_GRAPH] = GT_FACT_OPS,
    [TYPE_GRAPH_CLONED] = GT_FACT_GRAPHS,
};

static uint32_t facts_by_type(uint64_t type) {
    return type < sizeof facts_of_type / sizeof *facts_of_type ? facts_of_type[type] : 0;
}

/* Who a damaged event concerns, 0: all. The sub-message decides where the type does not. */
static uint32_t facts_of_event(uint64_t type, uint32_t tag) {
    if (facts_by_type(type))
        return facts_by_type(type);
    switch (tag) {
    case SUB_DEVICE:
        return GT_FACT_OPS | GT_FACT_SYNCS;
    case SUB_API:
        return GT_FACT_CALLS | GT_FACT_OVERHEADS;
    case SUB_NVTX:
        return GT_FACT_RANGES;
    case SUB_MEMORY:
    case SUB_POOL:
        return GT_FACT_MEMORY;
    default:
        return 0;
    }
}

/* false: the event is damaged, which concerns these facts (0: all). What nobody asks for is left out before its fields
   are looked at. */
static bool take_event(struct gt_nsys_rep_sink *sink, struct gt_str event, uint32_t *facts) {
    struct gt_proto fields = gt_proto_of(event);
    struct gt_proto_field field;
    uint64_t type = UINT64_MAX;
    uint32_t tag = 0, asked = sink->model->facts;
    struct gt_str sub = {NULL, 0};
    while (gt_proto_next(&fields, &field)) {
        if (field.tag == GT_PROTO_VARINT(1)) {
            type = field.value;
        } else if ((field.tag & 7) == 2) {
            tag = field.tag;
            sub = field.bytes;
        }
    }
    *facts = 0;
    if (fields.is_damaged)
        return false;
    *facts = facts_of_event(type, tag);
    if (facts_by_type(type) && !(asked & facts_by_type(type)))
        tag = 0;
    switch (tag) {
    case SUB_DEVICE:
        return gt_nsys_rep_sink_take_activity(sink, sub);
    case SUB_API:
        return gt_nsys_rep_sink_take_api(sink, type, sub);
    case SUB_NVTX:
        return gt_nsys_rep_sink_take_nvtx(sink, sub);
    case SUB_MEMORY:
        if (asked & GT_NSYS_FACTS_OF_MEMORY)
            return gt_nsys_rep_sink_take_memory(sink, sub);
        break;
    case SUB_POOL:
        if (asked & GT_NSYS_FACTS_OF_MEMORY)
            return gt_nsys_rep_sink_take_pool(sink, sub);
        break;
    case SUB_PROCESS:
        return take_process(sink, sub);
    case SUB_DIAGNOSTIC:
        gt_nsys_add_diagnostic(sink->model, gt_proto_find_bytes(sub, GT_PROTO_BYTES(4)),
                               gt_proto_find_value(sub, GT_PROTO_VARINT(5), GT_NSYS_NO_ID));
        return true;
    }
    gt_builder_skip(sink->model->builder);
    return true;
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
    uint32_t facts;
    size_t entries = 0;
    while (entries <= entries_max && gt_proto_next(&fields, &field)) {
        bool is_event = field.tag == GT_PROTO_BYTES(1), is_generic = field.tag == GT_PROTO_BYTES(2);
        if ((!is_event && !is_generic) || entries++ == entries_max)
            continue;
        if (is_generic) {
            if (!take_generic(sink, field.bytes, entries_max))
                gt_builder_issue_of(builder, GT_ISSUE_EVENT_DAMAGED, GT_FACT_METRICS, 1, offset);
            continue;
        }
        sink->event_count++;
        if (sink->left_count == 0)
            continue;
        sink->left_count--;
        if (!take_event(sink, field.bytes, &facts))
            gt_builder_issue_of(builder, GT_ISSUE_EVENT_DAMAGED, facts, 1, offset);
    }
    gt_nsys_rep_metrics_flush(&sink->samples, &sink->facts->metrics, sink->model);
    if (fields.is_damaged || entries == 0 || entries > entries_max)
        gt_builder_issue(builder, GT_ISSUE_PACKING_DAMAGED, 1, offset);
}
