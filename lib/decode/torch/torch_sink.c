/* Turns parsed trace events into rows: what Kineto and its relatives write comes in, ops, calls, ranges, tracks and
   issues go into the builder. */
#include "decode/torch/torch_sink.h"

#include <string.h>

#include "base/mem.h"
#include "decode/torch/torch_facts.h"
#include "decode/torch/torch_fast.h"
#include "decode/torch/torch_halves.h"
#include "decode/torch/torch_subject.h"
#include "decode/torch/torch_untyped.h"
#include "decode/torch/torch_value.h"
#include "events/builder.h"

#define BIT(category) (UINT32_C(1) << (category))

/* What complete events of each category are read for. */
static const uint32_t facts_of_category[] = {
    [GT_TORCH_CAT_OTHER] = 0,
    [GT_TORCH_CAT_KERNEL] = GT_FACT_OPS,
    [GT_TORCH_CAT_MEMCPY] = GT_FACT_OPS,
    [GT_TORCH_CAT_MEMSET] = GT_FACT_OPS,
    [GT_TORCH_CAT_GPU_OP] = GT_FACT_OPS,
    [GT_TORCH_CAT_DEVICE_OP] = GT_FACT_OPS,
    [GT_TORCH_CAT_CALL] = GT_FACT_CALLS,
    [GT_TORCH_CAT_CPU_OP] = GT_FACT_CPU_OPS,
    [GT_TORCH_CAT_RANGE] = GT_FACT_RANGES,
    [GT_TORCH_CAT_GPU_RANGE] = GT_FACT_RANGES,
    [GT_TORCH_CAT_OVERHEAD] = GT_FACT_OVERHEADS,
    [GT_TORCH_CAT_PYTHON] = GT_FACT_STACKS,
    [GT_TORCH_CAT_SYNC] = GT_FACT_SYNCS,
    [GT_TORCH_CAT_EVENT_RECORD] = GT_FACT_SYNCS,
};

uint32_t gt_torch_sink_categories(uint32_t facts) {
    uint32_t taken = 0;
    for (size_t i = 0; i < sizeof facts_of_category / sizeof *facts_of_category; i++)
        taken |= facts & facts_of_category[i] ? BIT(i) : 0;
    return taken;
}

bool gt_torch_sink_may_be_step(enum gt_torch_category category) {
    switch (category) {
    case GT_TORCH_CAT_OTHER:
    case GT_TORCH_CAT_CPU_OP:
    case GT_TORCH_CAT_PYTHON:
    case GT_TORCH_CAT_SYNC:
    case GT_TORCH_CAT_EVENT_RECORD:
        return true;
    default:
        return false;
    }
}

bool gt_torch_sink_is_step(const struct gt_torch_event *event) {
    return gt_torch_sink_may_be_step(event->category) && gt_torch_event_has(event, GT_TORCH_NAME) &&
           gt_str_starts(event->values[GT_TORCH_NAME].text.raw, GT_STR("ProfilerStep#"));
}

void gt_torch_sink_init(struct gt_torch_sink *sink, struct gt_builder *builder, enum gt_torch_mode mode,
                        uint32_t facts) {
    memset(sink, 0, sizeof *sink);
    sink->fast = mode == GT_TORCH_PORTABLE ? NULL : gt_torch_fast_new(mode == GT_TORCH_EAGER, facts);
    sink->builder = builder;
    sink->facts = facts;
    sink->taken = gt_torch_sink_categories(facts);
    sink->args_wanted = sink->taken & (BIT(GT_TORCH_CAT_KERNEL) | BIT(GT_TORCH_CAT_MEMCPY) | BIT(GT_TORCH_CAT_MEMSET) |
                                       BIT(GT_TORCH_CAT_GPU_OP) | BIT(GT_TORCH_CAT_DEVICE_OP) | BIT(GT_TORCH_CAT_CALL) |
                                       BIT(GT_TORCH_CAT_GPU_RANGE));
    gt_arena_init(&sink->arena);
}

void gt_torch_sink_release(struct gt_torch_sink *sink) {
    gt_torch_fast_free(sink->fast);
    gt_mem_free(sink->scratch);
    gt_mem_free(sink->names);
    gt_mem_free(sink->untyped);
    gt_mem_free(sink->halves);
    gt_arena_release(&sink->arena);
    memset(sink, 0, sizeof *sink);
}

static bool starts_nocase(struct gt_str text, struct gt_str prefix) {
    return text.len >= prefix.len && gt_str_find_nocase((struct gt_str){text.ptr, prefix.len}, prefix);
}

/* The category, or what the name says where it says too little. */
static enum gt_torch_category op_category(const struct gt_torch_subject *at) {
    if (at->event->category != GT_TORCH_CAT_GPU_OP && at->event->category != GT_TORCH_CAT_DEVICE_OP)
        return at->event->category;
    struct gt_str name =
        gt_torch_event_has(at->event, GT_TORCH_NAME) ? at->event->values[GT_TORCH_NAME].text.raw : GT_STR("");
    struct gt_str category = at->event->values[GT_TORCH_CAT].text.raw;
    if (gt_str_ends(category, GT_STR("_memcpy")))
        return GT_TORCH_CAT_MEMCPY;
    if (gt_str_ends(category, GT_STR("_memset")))
        return GT_TORCH_CAT_MEMSET;
    return starts_nocase(name, GT_STR("memcpy"))   ? GT_TORCH_CAT_MEMCPY
           : starts_nocase(name, GT_STR("memset")) ? GT_TORCH_CAT_MEMSET
                                                   : GT_TORCH_CAT_KERNEL;
}

static void take_op(const struct gt_torch_subject *at) {
    struct gt_torch_row row = {.category = op_category(at)};
    if (!gt_torch_subject_times(at, &row.start_ns, &row.end_ns)) {
        gt_torch_subject_issue(at, GT_ISSUE_OP_WITHOUT_TIME);
        return;
    }
    row.track = at->sink->last_track = gt_torch_subject_lane(at);
    row.correlation = gt_torch_subject_correlation(at);
    row.name = gt_torch_subject_name(at);
    int64_t graph = gt_torch_subject_int(at, GT_TORCH_GRAPH, 0);
    int64_t node = gt_torch_subject_int(at, GT_TORCH_GRAPH_NODE, 0);
    row.is_in_graph = graph != 0 || node != 0;
    if (!gt_torch_sink_add_op(at->sink, &row))
        return;
    if (row.is_in_graph)
        gt_torch_sink_add_graph(at->sink, row.category, graph, node);
    if (at->event->category == GT_TORCH_CAT_DEVICE_OP)
        gt_torch_subject_issue(at, GT_ISSUE_OTHER_ACCELERATOR);
    if (row.name == GT_STRID_EMPTY)
        gt_torch_subject_issue(at, GT_ISSUE_OP_WITHOUT_NAME);
    if (row.category != GT_TORCH_CAT_KERNEL)
        gt_torch_sink_add_bytes(at->sink, &row, gt_torch_subject_int(at, GT_TORCH_BYTES, -1));
    else
        gt_torch_facts_of_kernel(at);
}

static void take_gpu_range(const struct gt_torch_subject *at) {
    struct gt_torch_row row = {.category = GT_TORCH_CAT_GPU_RANGE};
    if (!gt_torch_subject_times(at, &row.start_ns, &row.end_ns)) {
        gt_torch_subject_issue(at, GT_ISSUE_EVENT_DAMAGED);
        return;
    }
    row.track = at->sink->last_track = gt_torch_subject_lane(at);
    row.name = gt_torch_subject_name(at);
    gt_torch_sink_add_range(at->sink, &row);
}

/* What happened on a CPU thread, as the kind of row its category asks for. */
static void take_cpu_side(const struct gt_torch_subject *at, enum gt_torch_category category) {
    struct gt_torch_row row = {.category = category, .track = GT_NO_TRACK};
    int64_t pid;
    if (!gt_torch_subject_times(at, &row.start_ns, &row.end_ns)) {
        gt_torch_subject_issue(at, GT_ISSUE_EVENT_DAMAGED);
        return;
    }
    /* The profiler's own work often is of no process: pid -1. */
    if (category != GT_TORCH_CAT_OVERHEAD || gt_torch_value_int(at->event, GT_TORCH_PID, &pid) != GT_JSON_NUMBER ||
        pid >= 0)
        row.track = gt_torch_subject_thread(at);
    at->sink->last_track = row.track;
    row.name = gt_torch_subject_name(at);
    if (category == GT_TORCH_CAT_CALL)
        row.correlation = gt_torch_subject_correlation(at);
    gt_torch_sink_add_cpu_side(at->sink, &row);
    if (category == GT_TORCH_CAT_CPU_OP)
        gt_torch_facts_of_cpu_op(at, row.name);
}

static struct gt_torch_track_name *add_track_name(struct gt_torch_sink *sink) {
    struct gt_torch_track_name *grown = gt_mem_room(sink->names, sink->name_count, &sink->name_capacity, sizeof *grown);
    if (!grown) {
        sink->builder->failed = true;
        return NULL;
    }
    sink->names = grown;
    return &sink->names[sink->name_count++];
}

/* false: nothing in it is needed. */
static bool take_metadata(const struct gt_torch_subject *at) {
    struct gt_torch_sink *sink = at->sink;
    const struct gt_builder *builder = sink->builder;
    struct gt_str what = gt_torch_subject_text(at, GT_TORCH_NAME);
    struct gt_torch_track_name name = {.kind = GT_TORCH_NAMES_PROCESS};
    if (gt_str_eq(what, GT_STR("thread_name")))
        name.kind = GT_TORCH_NAMES_THREAD;
    else if (gt_str_eq(what, GT_STR("process_labels")))
        name.kind = GT_TORCH_LABELS_PROCESS;
    else if (!gt_str_eq(what, GT_STR("process_name")))
        return false;
    if (builder->segment_count == 0)
        return false; /* only after memory ran out */
    name.segment = builder->segment_count - 1;
    name.order = builder->segments[name.segment].order;
    name.pid_label = gt_arena_copy(&sink->arena, gt_torch_subject_label(at, GT_TORCH_PID, &name.pid));
    name.tid_label = gt_arena_copy(&sink->arena, gt_torch_subject_label(at, GT_TORCH_TID, &name.tid));
    enum gt_torch_field field = name.kind == GT_TORCH_LABELS_PROCESS ? GT_TORCH_ARG_LABELS : GT_TORCH_ARG_NAME;
    name.name = gt_arena_copy(&sink->arena, gt_torch_subject_text(at, field));
    struct gt_torch_track_name *kept = name.name.len ? add_track_name(sink) : NULL;
    if (kept)
        *kept = name;
    sink->builder->failed |= gt_arena_failed(&sink->arena);
    return kept != NULL;
}

static void take_complete(struct gt_torch_subject *at) {
    enum gt_torch_category category = at->event->category;
    if (gt_torch_sink_is_step(at->event))
        category = GT_TORCH_CAT_RANGE;
    if (!(at->sink->taken >> category & 1)) {
        if (gt_torch_untyped_is_unread(at)) {
            at->facts = GT_FACT_OPS;
            gt_torch_subject_issue(at, GT_ISSUE_DEVICE_EVENTS_NOT_READ);
        }
        if (category != GT_TORCH_CAT_OTHER || !gt_torch_untyped_keep(at))
            gt_builder_skip(at->sink->builder);
        return;
    }
    at->facts = facts_of_category[category];
    switch (category) {
    case GT_TORCH_CAT_KERNEL:
    case GT_TORCH_CAT_MEMCPY:
    case GT_TORCH_CAT_MEMSET:
    case GT_TORCH_CAT_GPU_OP:
    case GT_TORCH_CAT_DEVICE_OP:
        take_op(at);
        return;
    case GT_TORCH_CAT_GPU_RANGE:
        take_gpu_range(at);
        return;
    case GT_TORCH_CAT_SYNC:
        gt_torch_facts_take_sync(at);
        return;
    case GT_TORCH_CAT_EVENT_RECORD:
        gt_torch_facts_take_event_record(at);
        return;
    default:
        take_cpu_side(at, category);
    }
}

/* What events of the other phases become. false: nothing in it is needed. */
static bool take_other(struct gt_torch_subject *at, char phase) {
    uint32_t facts = at->sink->facts;
    switch (phase) {
    case 'M':
        return take_metadata(at);
    case 'C':
        at->facts = GT_FACT_METRICS;
        return facts & GT_FACT_METRICS && gt_torch_facts_take_counter(at);
    case 'i':
    case 'I':
        at->facts = GT_FACT_COUNTERS | GT_FACT_MEMORY;
        return facts & (GT_FACT_COUNTERS | GT_FACT_MEMORY) && gt_torch_facts_take_instant(at);
    case 's':
    case 'f':
        at->facts = GT_FACT_FLOWS;
        return facts & GT_FACT_FLOWS && gt_torch_facts_take_flow(at, phase == 's' ? GT_FLOW_START : GT_FLOW_END);
    case 'B':
    case 'E':
        at->facts = GT_FACT_OPS;
        return gt_torch_halves_keep(at, phase == 'E');
    default:
        return false;
    }
}

void gt_torch_sink_take(struct gt_torch_sink *sink, const struct gt_torch_event *event, uint64_t offset) {
    struct gt_torch_subject at = {sink, event, offset, 0};
    char phase = 0;
    if (gt_torch_event_has(event, GT_TORCH_PH)) {
        sink->event_count++;
        if (event->values[GT_TORCH_PH].text.raw.len == 1)
            phase = event->values[GT_TORCH_PH].text.raw.ptr[0];
    }
    if (sink->take)
        sink->take(sink->take_context, &at, phase);
    else if (phase == 'X')
        take_complete(&at);
    else if (!take_other(&at, phase))
        gt_builder_skip(sink->builder);
}
