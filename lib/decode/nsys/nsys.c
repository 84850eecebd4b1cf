/* What one Nsight Systems record means: raw rows of either reader come in, ops, calls, tracks and issues go into the
   builder. */
#include "decode/nsys/nsys.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/num.h"
#include "events/builder.h"

/* ENUM_CUDA_MEMCPY_OPER; old exports come without the table. */
static const char *const copy_names[] = {
    "[CUDA memcpy Unknown]",
    "[CUDA memcpy Host-to-Device]",
    "[CUDA memcpy Device-to-Host]",
    "[CUDA memcpy Host-to-Array]",
    "[CUDA memcpy Array-to-Host]",
    "[CUDA memcpy Array-to-Array]",
    "[CUDA memcpy Array-to-Device]",
    "[CUDA memcpy Device-to-Array]",
    "[CUDA memcpy Device-to-Device]",
    "[CUDA memcpy Host-to-Host]",
    "[CUDA memcpy Peer-to-Peer]",
    "[CUDA memcpy Unified Host-to-Device]",
    "[CUDA memcpy Unified Device-to-Host]",
    "[CUDA memcpy Unified Device-to-Device]",
};

/* ENUM_CUDA_MEM_KIND. */
static const uint8_t memory_kinds[] = {
    GT_MEMORY_PAGEABLE, GT_MEMORY_PINNED, GT_MEMORY_DEVICE,  GT_MEMORY_ARRAY,
    GT_MEMORY_MANAGED,  GT_MEMORY_DEVICE, GT_MEMORY_MANAGED, GT_MEMORY_UNKNOWN,
};

const char *gt_nsys_copy_name(uint64_t copy_kind) {
    return copy_names[copy_kind < sizeof copy_names / sizeof *copy_names ? copy_kind : 0];
}

uint64_t gt_nsys_kernel_name(const struct gt_nsys_capture *capture, uint64_t demangled_id, uint64_t short_id,
                             uint64_t mangled_id) {
    if (gt_nsys_has_string(capture, demangled_id))
        return demangled_id;
    if (gt_nsys_has_string(capture, short_id))
        return short_id;
    return gt_nsys_has_string(capture, mangled_id) ? mangled_id : GT_NSYS_NO_ID;
}

void gt_nsys_capture_release(struct gt_nsys_capture *capture) {
    gt_arena_release(&capture->arena);
    gt_map_release(&capture->gpu_of);
    memset(capture, 0, sizeof *capture);
}

bool gt_nsys_sink_init(struct gt_nsys_sink *sink, struct gt_builder *builder, const struct gt_nsys_capture *capture,
                       uint32_t facts) {
    memset(sink, 0, sizeof *sink);
    sink->builder = builder;
    sink->capture = capture;
    sink->facts = facts;
    sink->interned = gt_mem_array(capture->string_count + 1, sizeof *sink->interned);
    return sink->interned != NULL;
}

void gt_nsys_sink_release(struct gt_nsys_sink *sink) {
    gt_arena_release(&sink->arena);
    gt_mem_free(sink->interned);
    gt_mem_free(sink->comm_ranks);
    gt_mem_free(sink->suspected);
    gt_mem_free(sink->python.samples);
    gt_mem_free(sink->python.frames);
    for (int kind = 0; kind < GT_NSYS_LABEL_KINDS; kind++)
        gt_nsys_label_release(&sink->labels[kind]);
    memset(sink, 0, sizeof *sink);
}

static void count_issue(struct gt_nsys_sink *sink, enum gt_issue_id issue, enum gt_fact fact) {
    gt_builder_issue_of(sink->builder, issue, fact, 1, GT_NO_OFFSET);
}

gt_strid gt_nsys_name(struct gt_nsys_sink *sink, uint64_t id, struct gt_str text, bool *is_known) {
    const struct gt_nsys_capture *capture = sink->capture;
    *is_known = true;
    if (id < capture->string_count && sink->interned[id])
        return sink->interned[id] - 1;
    if (id == GT_NSYS_NO_ID && text.ptr)
        return gt_builder_string(sink->builder, text);
    *is_known = gt_nsys_has_string(capture, id);
    gt_strid name = gt_builder_string(sink->builder, *is_known ? capture->strings[id] : GT_LOST_NAME);
    if (*is_known)
        sink->interned[id] = name + 1;
    return name;
}

gt_strid gt_nsys_string(struct gt_nsys_sink *sink, uint64_t id) {
    bool is_known;
    return gt_nsys_has_string(sink->capture, id) ? gt_nsys_name(sink, id, GT_STR(""), &is_known) : GT_STRID_EMPTY;
}

/* By machine and process number, since machines use the same numbers; gt_nsys_finish leaves the latter to be seen. */
uint32_t gt_nsys_process(struct gt_nsys_sink *sink, uint64_t global_id) {
    if (global_id == GT_NSYS_NO_ID)
        return GT_NO_TRACK;
    return gt_builder_process(sink->builder, gt_nsys_process_key(global_id), (struct gt_str){"", 0});
}

static size_t slot_of(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t hash = (a ^ b * 31 ^ c * 1021) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(hash >> 32) & (GT_NSYS_CACHE_SLOTS - 1);
}

uint32_t gt_nsys_thread(struct gt_nsys_sink *sink, uint64_t global_tid) {
    if (global_tid == GT_NSYS_NO_ID)
        return GT_NO_TRACK;
    struct gt_nsys_thread_slot *slot = &sink->threads[slot_of(global_tid, 0, 0)];
    if (!slot->is_set || slot->global_tid != global_tid) {
        uint32_t process = gt_nsys_process(sink, global_tid);
        uint32_t thread = gt_builder_thread(sink->builder, process, gt_nsys_tid(global_tid), (struct gt_str){"", 0});
        *slot = (struct gt_nsys_thread_slot){global_tid, thread, true};
    }
    return slot->thread;
}

int64_t gt_nsys_device(const struct gt_nsys_capture *capture, uint64_t global_pid, int64_t ordinal) {
    if (global_pid == GT_NSYS_NO_ID)
        return ordinal;
    uint32_t gpu = gt_map_get(&capture->gpu_of, (uint64_t)gt_nsys_pid(global_pid), (uint64_t)ordinal);
    return gpu == GT_MAP_NONE ? ordinal : (int64_t)gpu;
}

uint32_t gt_nsys_lane(struct gt_nsys_sink *sink, uint64_t global_pid, int64_t ordinal, int64_t stream) {
    struct gt_nsys_lane_slot *slot = &sink->lanes[slot_of(global_pid, (uint64_t)ordinal, (uint64_t)stream)];
    if (!slot->is_set || slot->global_pid != global_pid || slot->device != ordinal || slot->stream != stream) {
        uint32_t lane = gt_builder_lane(sink->builder, gt_nsys_process(sink, global_pid),
                                        gt_nsys_device(sink->capture, global_pid, ordinal), stream);
        *slot = (struct gt_nsys_lane_slot){global_pid, ordinal, stream, lane, true};
    }
    return slot->lane;
}

static uint32_t lane_of(struct gt_nsys_sink *sink, const struct gt_nsys_activity *activity) {
    if (activity->device < 0)
        count_issue(sink, GT_ISSUE_OP_WITHOUT_DEVICE, GT_FACT_OPS);
    return gt_nsys_lane(sink, activity->global_pid, activity->device < 0 ? 0 : activity->device, activity->stream);
}

static gt_strid activity_name(struct gt_nsys_sink *sink, const struct gt_nsys_activity *activity) {
    char text[40];
    bool is_known;
    gt_strid name;
    switch (activity->kind) {
    case GT_NSYS_MEMCPY:
        return gt_builder_string(sink->builder, gt_str_of(gt_nsys_copy_name(activity->copy_kind)));
    case GT_NSYS_MEMSET:
        return gt_builder_string(sink->builder, GT_STR("[CUDA memset]"));
    case GT_NSYS_GRAPH:
        if (activity->graph_id == GT_NSYS_NO_ID)
            return gt_builder_string(sink->builder, GT_STR("[CUDA graph]"));
        snprintf(text, sizeof text, "[CUDA graph %llu]", (unsigned long long)activity->graph_id);
        return gt_builder_string(sink->builder, gt_str_of(text));
    default:
        name = gt_nsys_name(sink, activity->name_id, activity->name, &is_known);
        if (!is_known)
            count_issue(sink, GT_ISSUE_OP_WITHOUT_NAME, GT_FACT_OPS);
        return name;
    }
}

uint8_t gt_nsys_memory_kind(uint64_t number) {
    return number < sizeof memory_kinds ? memory_kinds[number] : GT_MEMORY_UNKNOWN;
}

/* CUPTI writes zeros where it could not take the time; a graph may have a start alone. */
static bool has_times(const struct gt_nsys_activity *activity) {
    if (activity->start_ns == GT_NO_TIME || activity->end_ns == GT_NO_TIME)
        return false;
    return activity->end_ns != 0 || (activity->start_ns != 0 && activity->kind != GT_NSYS_GRAPH);
}

static void add_copy(struct gt_nsys_sink *sink, const struct gt_nsys_activity *activity) {
    bool is_copy = activity->kind == GT_NSYS_MEMCPY;
    if (activity->bytes == GT_NSYS_NO_ID || (!is_copy && activity->kind != GT_NSYS_MEMSET))
        return;
    gt_builder_copy(sink->builder,
                    &(struct gt_copies_row){
                        .bytes = activity->bytes,
                        .src = is_copy ? gt_nsys_memory_kind(activity->src_kind) : (uint8_t)GT_MEMORY_UNKNOWN,
                        .dst = gt_nsys_memory_kind(activity->dst_kind),
                    });
}

bool gt_nsys_add_activity(struct gt_nsys_sink *sink, const struct gt_nsys_activity *activity) {
    static const uint8_t kinds[] = {
        [GT_NSYS_KERNEL] = GT_OP_KERNEL,
        [GT_NSYS_MEMCPY] = GT_OP_MEMCPY,
        [GT_NSYS_MEMSET] = GT_OP_MEMSET,
        [GT_NSYS_GRAPH] = GT_OP_GRAPH,
    };
    if (!has_times(activity)) {
        count_issue(sink, GT_ISSUE_OP_WITHOUT_TIME, GT_FACT_OPS);
        return false;
    }
    bool is_node = activity->graph_node != GT_NSYS_NO_ID && activity->graph_node != 0;
    struct gt_ops_row row = {
        .start_ns = activity->start_ns,
        .end_ns = activity->end_ns,
        .correlation = activity->correlation,
        .name = activity_name(sink, activity),
        .lane = lane_of(sink, activity),
        .kind = kinds[activity->kind],
        .flags = is_node ? GT_OP_IN_GRAPH : 0,
    };
    if (!gt_builder_op(sink->builder, &row))
        return false;
    if ((is_node || activity->kind == GT_NSYS_GRAPH) && sink->facts & GT_FACT_GRAPHS)
        gt_nsys_add_graph_op(sink, activity);
    if (sink->facts & GT_FACT_BYTES)
        add_copy(sink, activity);
    return true;
}

void gt_nsys_add_call(struct gt_nsys_sink *sink, const struct gt_nsys_call *call) {
    bool is_known;
    if (call->start_ns == GT_NO_TIME) {
        count_issue(sink, GT_ISSUE_EVENT_DAMAGED, GT_FACT_CALLS);
        return;
    }
    gt_builder_call(sink->builder, &(struct gt_calls_row){
                                       .start_ns = call->start_ns,
                                       .end_ns = call->end_ns == GT_NO_TIME ? call->start_ns : call->end_ns,
                                       .correlation = call->correlation,
                                       .name = gt_nsys_name(sink, call->name_id, call->name, &is_known),
                                       .thread = gt_nsys_thread(sink, call->global_tid),
                                   });
}

void gt_nsys_add_overhead(struct gt_nsys_sink *sink, const struct gt_nsys_overhead *overhead) {
    int64_t start_ns = overhead->start_ns, end_ns = overhead->end_ns == GT_NO_TIME ? start_ns : overhead->end_ns;
    bool is_known;
    if (start_ns == GT_NO_TIME) {
        count_issue(sink, GT_ISSUE_EVENT_DAMAGED, GT_FACT_OVERHEADS);
        return;
    }
    gt_strid name = gt_nsys_name(sink, overhead->name_id, overhead->name, &is_known);
    uint32_t thread = gt_nsys_thread(sink, overhead->global_tid);
    if (overhead->is_driver)
        gt_builder_driver_work(sink->builder, &(struct gt_driver_work_row){start_ns, end_ns, name, thread});
    else
        gt_builder_overhead(sink->builder, &(struct gt_overheads_row){start_ns, end_ns, name, thread});
}

void gt_nsys_add_host_call(struct gt_nsys_sink *sink, const struct gt_nsys_host_call *call) {
    int64_t start_ns = call->start_ns, end_ns = call->end_ns == GT_NO_TIME ? start_ns : call->end_ns;
    bool is_known;
    if (start_ns == GT_NO_TIME) {
        count_issue(sink, GT_ISSUE_EVENT_DAMAGED, GT_FACT_HOST_CALLS);
        return;
    }
    gt_strid name = gt_nsys_name(sink, call->name_id, call->name, &is_known);
    gt_strid domain = gt_builder_string(sink->builder, call->is_mpi ? GT_STR("mpi") : GT_STR("os"));
    gt_builder_host_call(sink->builder, &(struct gt_host_calls_row){start_ns, end_ns, name, domain,
                                                                    gt_nsys_thread(sink, call->global_tid)});
}
