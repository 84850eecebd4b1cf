/* Turns records of ROCm's profilers into rows. */
#include "decode/rocm/rocm.h"

#include <string.h>

#include "base/mem.h"

/* ---- the capture ---- */

bool gt_rocm_capture_init(struct gt_rocm_capture *capture) {
    *capture = (struct gt_rocm_capture){.host = {"", 0}, .producer = {"", 0}};
    capture->has_counters = gt_strtab_init(&capture->counters);
    return capture->has_counters;
}

void gt_rocm_capture_release(struct gt_rocm_capture *capture) {
    if (capture->has_counters)
        gt_strtab_release(&capture->counters);
    gt_mem_free(capture->processes);
    gt_mem_free(capture->agents);
    gt_mem_free(capture->threads);
    gt_map_release(&capture->process_of);
    gt_arena_release(&capture->arena);
    *capture = (struct gt_rocm_capture){0};
}

uint32_t gt_rocm_capture_process(struct gt_rocm_capture *capture, uint32_t node, int64_t pid) {
    uint32_t index = gt_map_get(&capture->process_of, node, (uint64_t)pid);
    if (index != GT_MAP_NONE)
        return index;
    struct gt_rocm_process *grown =
        gt_mem_room(capture->processes, capture->process_count, &capture->process_capacity, sizeof *grown);
    if (!grown) {
        capture->arena.failed = true;
        return GT_ROCM_NO_PROCESS;
    }
    capture->processes = grown;
    index = (uint32_t)capture->process_count;
    gt_map_put(&capture->process_of, node, (uint64_t)pid, index);
    capture->arena.failed |= capture->process_of.failed;
    grown[capture->process_count++] = (struct gt_rocm_process){
        .pid = pid, .name = {"", 0}, .machine = {"", 0}, .node = node, .rank = -1, .world_size = -1};
    return index;
}

void gt_rocm_capture_thread(struct gt_rocm_capture *capture, uint32_t process, int64_t tid, struct gt_str name) {
    struct gt_rocm_thread *grown =
        gt_mem_room(capture->threads, capture->thread_count, &capture->thread_capacity, sizeof *grown);
    capture->arena.failed |= !grown;
    if (!grown)
        return;
    capture->threads = grown;
    grown[capture->thread_count++] = (struct gt_rocm_thread){process, tid, gt_arena_copy(&capture->arena, name)};
}

uint32_t gt_rocm_capture_agent(struct gt_rocm_capture *capture, const struct gt_rocm_agent *agent) {
    struct gt_rocm_agent *grown =
        gt_mem_room(capture->agents, capture->agent_count, &capture->agent_capacity, sizeof *grown);
    capture->arena.failed |= !grown;
    if (!grown)
        return UINT32_MAX;
    capture->agents = grown;
    grown[capture->agent_count] = *agent;
    return (uint32_t)capture->agent_count++;
}

/* ---- the sink ---- */

void gt_rocm_sink_init(struct gt_rocm_sink *sink, struct gt_builder *builder, const struct gt_rocm_capture *capture,
                       uint32_t facts) {
    memset(sink, 0, sizeof *sink);
    sink->builder = builder;
    sink->capture = capture;
    sink->facts = facts;
}

void gt_rocm_sink_release(struct gt_rocm_sink *sink) {
    gt_mem_free(sink->allocations);
    gt_mem_free(sink->spans);
    gt_mem_free(sink->values);
    memset(sink, 0, sizeof *sink);
}

static void count_issue(struct gt_rocm_sink *sink, enum gt_issue_id issue, uint32_t facts) {
    gt_builder_issue_of(sink->builder, issue, facts, 1, GT_NO_OFFSET);
}

/* ---- tracks ---- */

static struct gt_rocm_slot *slot_of(struct gt_rocm_slot *slots, uint32_t process, uint64_t a, uint64_t b) {
    uint64_t hash = (process ^ a * 31 ^ b * 1021) * UINT64_C(0x9E3779B97F4A7C15);
    return &slots[(size_t)(hash >> 32) & (GT_ROCM_SLOTS - 1)];
}

static bool is_in(const struct gt_rocm_slot *slot, uint32_t process, uint64_t a, uint64_t b) {
    return slot->is_set && slot->process == process && slot->a == a && slot->b == b;
}

uint32_t gt_rocm_process(struct gt_rocm_sink *sink, uint32_t process) {
    const struct gt_rocm_capture *capture = sink->capture;
    if (process >= capture->process_count && (process == GT_ROCM_NO_PROCESS || !(process & GT_ROCM_BARE)))
        return GT_NO_TRACK;
    if (process >= capture->process_count)
        return gt_builder_process(sink->builder, process & ~GT_ROCM_BARE, GT_STR(""));
    const struct gt_rocm_process *known = &capture->processes[process];
    return gt_builder_process(sink->builder, known->pid, capture->has_several_machines ? known->machine : GT_STR(""));
}

uint32_t gt_rocm_thread(struct gt_rocm_sink *sink, uint32_t process, int64_t tid) {
    struct gt_rocm_slot *slot = slot_of(sink->threads, process, (uint64_t)tid, 0);
    if (is_in(slot, process, (uint64_t)tid, 0))
        return slot->track;
    uint32_t of = gt_rocm_process(sink, process);
    if (of == GT_NO_TRACK)
        of = gt_builder_process(sink->builder, -1, GT_STR("process"));
    uint32_t track = gt_builder_thread(sink->builder, of, tid < 0 ? -1 : tid, tid < 0 ? GT_STR("thread") : GT_STR(""));
    *slot = (struct gt_rocm_slot){(uint64_t)tid, 0, process, track, true};
    return track;
}

static uint32_t lane_of(struct gt_rocm_sink *sink, const struct gt_rocm_op *op) {
    int64_t device = op->device;
    if (device < 0) {
        count_issue(sink, GT_ISSUE_OP_WITHOUT_DEVICE, GT_FACT_OPS);
        device = 0;
    }
    struct gt_rocm_slot *slot = slot_of(sink->lanes, op->process, (uint64_t)device, (uint64_t)op->stream);
    if (!is_in(slot, op->process, (uint64_t)device, (uint64_t)op->stream)) {
        uint32_t lane = gt_builder_lane(sink->builder, gt_rocm_process(sink, op->process), device, op->stream);
        *slot = (struct gt_rocm_slot){(uint64_t)device, (uint64_t)op->stream, op->process, lane, true};
    }
    return slot->track;
}

/* ---- ops ---- */

static bool has_word(struct gt_str text, const char *word) {
    return gt_str_find_nocase(text, gt_str_of(word)) != NULL;
}

enum gt_rocm_way gt_rocm_way_of(struct gt_str name) {
    static const struct {
        const char *word, *other;
        enum gt_rocm_way way;
    } ways[] = {
        {"HOST_TO_DEVICE", "HostToDevice", GT_ROCM_HOST_TO_DEVICE},
        {"DEVICE_TO_HOST", "DeviceToHost", GT_ROCM_DEVICE_TO_HOST},
        {"DEVICE_TO_DEVICE", "DeviceToDevice", GT_ROCM_DEVICE_TO_DEVICE},
        {"HOST_TO_HOST", "HostToHost", GT_ROCM_HOST_TO_HOST},
    };
    for (size_t i = 0; i < GT_ARRAY_COUNT(ways); i++)
        if (has_word(name, ways[i].word) || has_word(name, ways[i].other))
            return ways[i].way;
    return GT_ROCM_WAY_UNKNOWN;
}

enum gt_rocm_way gt_rocm_way_between(bool from_gpu, bool to_gpu) {
    return from_gpu ? to_gpu ? GT_ROCM_DEVICE_TO_DEVICE : GT_ROCM_DEVICE_TO_HOST
           : to_gpu ? GT_ROCM_HOST_TO_DEVICE
                    : GT_ROCM_HOST_TO_HOST;
}

/* In the words of other profilers of AMD's GPUs. */
gt_strid gt_rocm_copy_name(struct gt_rocm_sink *sink, const struct gt_rocm_op *op) {
    static const char *const names[] = {
        [GT_ROCM_HOST_TO_HOST] = "Memcpy HtoH (Host -> Host)",
        [GT_ROCM_HOST_TO_DEVICE] = "Memcpy HtoD (Host -> Device)",
        [GT_ROCM_DEVICE_TO_HOST] = "Memcpy DtoH (Device -> Host)",
        [GT_ROCM_DEVICE_TO_DEVICE] = "Memcpy DtoD (Device -> Device)",
    };
    if (op->way != GT_ROCM_WAY_UNKNOWN)
        return gt_builder_string(sink->builder, gt_str_of(names[op->way]));
    return op->name != GT_STRID_EMPTY ? op->name : gt_builder_string(sink->builder, GT_STR("Memcpy"));
}

/* Whether memory of the host is pinned is not recorded. */
static void add_copy(struct gt_rocm_sink *sink, const struct gt_rocm_op *op) {
    bool from_gpu = op->way == GT_ROCM_DEVICE_TO_HOST || op->way == GT_ROCM_DEVICE_TO_DEVICE;
    bool to_gpu = op->is_fill || op->way == GT_ROCM_HOST_TO_DEVICE || op->way == GT_ROCM_DEVICE_TO_DEVICE;
    gt_builder_copy(sink->builder, &(struct gt_copies_row){
                                       .bytes = op->bytes,
                                       .src = from_gpu ? GT_MEMORY_DEVICE : GT_MEMORY_UNKNOWN,
                                       .dst = to_gpu ? GT_MEMORY_DEVICE : GT_MEMORY_UNKNOWN,
                                   });
}

bool gt_rocm_add_op(struct gt_rocm_sink *sink, const struct gt_rocm_op *op) {
    bool is_node = op->graph != 0 && op->graph != GT_ROCM_NONE;
    if (op->start_ns == GT_NO_TIME || op->end_ns == GT_NO_TIME || (op->start_ns == 0 && op->end_ns == 0)) {
        count_issue(sink, GT_ISSUE_OP_WITHOUT_TIME, GT_FACT_OPS);
        return false;
    }
    struct gt_ops_row row = {
        .start_ns = op->start_ns,
        .end_ns = op->end_ns,
        .correlation = op->correlation,
        .name = op->is_copy   ? gt_rocm_copy_name(sink, op)
                : op->is_fill ? gt_builder_string(sink->builder, GT_STR("Memset (Device)"))
                              : op->name,
        .lane = lane_of(sink, op),
        .kind = op->is_copy   ? GT_OP_MEMCPY
                : op->is_fill ? GT_OP_MEMSET
                              : GT_OP_KERNEL,
        .flags = is_node ? GT_OP_IN_GRAPH : 0,
    };
    if (!gt_builder_op(sink->builder, &row))
        return false;
    if (op->lacks_name)
        count_issue(sink, GT_ISSUE_OP_WITHOUT_NAME, GT_FACT_OPS);
    if (is_node && op->graph < UINT32_MAX && gt_rocm_reads(sink, GT_FACT_GRAPHS))
        gt_builder_graph_op(sink->builder, &(struct gt_graph_ops_row){.graph = (uint32_t)op->graph});
    if ((op->is_copy || op->is_fill) && op->bytes != GT_ROCM_NONE && gt_rocm_reads(sink, GT_FACT_BYTES))
        add_copy(sink, op);
    return true;
}

static uint32_t small(uint64_t number) {
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

/* Workgroups, where AMD counts work-items; the last one may be smaller. */
static uint32_t groups_of(const struct gt_rocm_config *config, size_t axis) {
    uint64_t items = config->grid[axis], size = config->workgroup[axis];
    if (items == GT_ROCM_NONE || config->is_in_groups)
        return small(items);
    if (size == GT_ROCM_NONE || size == 0)
        return UINT32_MAX;
    return small(items / size + (items % size != 0));
}

void gt_rocm_add_config(struct gt_rocm_sink *sink, const struct gt_rocm_config *config) {
    struct gt_kernel_configs_row row = GT_KERNEL_CONFIG_UNKNOWN;
    uint64_t lds = config->lds_bytes, fixed = config->static_lds_bytes;
    row.grid_x = groups_of(config, 0);
    row.grid_y = groups_of(config, 1);
    row.grid_z = groups_of(config, 2);
    row.block_x = small(config->workgroup[0]);
    row.block_y = small(config->workgroup[1]);
    row.block_z = small(config->workgroup[2]);
    row.registers = small(config->vgprs);
    row.shared_bytes = lds;
    if (lds != GT_ROCM_NONE && fixed != GT_ROCM_NONE && fixed <= lds) {
        row.static_shared_bytes = fixed;
        row.dynamic_shared_bytes = lds - fixed;
    }
    row.local_bytes = config->scratch_bytes;
    gt_builder_kernel_config(sink->builder, &row);
}

struct gt_str gt_rocm_kernel_name(struct gt_str name) {
    gt_str_take_end(&name, GT_STR(" [clone .kd]"));
    gt_str_take_end(&name, GT_STR(".kd"));
    return name;
}

/* ---- regions ---- */

enum gt_rocm_domain gt_rocm_domain_of(struct gt_str category) {
    if (gt_str_starts_nocase(category, GT_STR("HIP_API")) || gt_str_starts_nocase(category, GT_STR("HIP_RUNTIME")) ||
        gt_str_starts_nocase(category, GT_STR("HIP_COMPILER")) || gt_str_starts_nocase(category, GT_STR("HSA_")))
        return GT_ROCM_CALL;
    if (gt_str_starts_nocase(category, GT_STR("MARKER_CORE")) || gt_str_eq_nocase(category, GT_STR("MARKER_API")) ||
        gt_str_starts_nocase(category, GT_STR("ROCTX")))
        return GT_ROCM_MARKER;
    return gt_str_starts_nocase(category, GT_STR("RCCL")) ? GT_ROCM_COLLECTIVE : GT_ROCM_OTHER;
}

uint32_t gt_rocm_domain_facts(enum gt_rocm_domain domain) {
    return domain == GT_ROCM_CALL ? GT_FACT_CALLS : domain == GT_ROCM_OTHER ? 0 : GT_FACT_RANGES;
}

bool gt_rocm_marks_nothing(struct gt_str function) {
    static const struct gt_str names[] = {GT_STR("roctxGetThreadId"), GT_STR("roctxRangePop"), GT_STR("roctxRangeStop"),
                                          GT_STR("roctxProfilerPause"), GT_STR("roctxProfilerResume")};
    for (size_t i = 0; i < GT_ARRAY_COUNT(names); i++)
        if (gt_str_eq(function, names[i]))
            return true;
    return gt_str_starts(function, GT_STR("roctxName"));
}

/* ROCTX has ranges of a thread, which nest, and of a process, which end anywhere. */
static enum gt_range_kind range_kind(const struct gt_rocm_region *region, int64_t end_ns) {
    if (region->domain != GT_ROCM_MARKER)
        return GT_RANGE_NESTED;
    if (gt_str_starts(region->function, GT_STR("roctxMark")))
        return GT_RANGE_MARK;
    if (gt_str_starts(region->function, GT_STR("roctxRangeStart")) ||
        gt_str_starts(region->function, GT_STR("roctxProcessRange")))
        return GT_RANGE_START_END;
    return end_ns == region->start_ns ? GT_RANGE_MARK : GT_RANGE_NESTED;
}

static void add_range(struct gt_rocm_sink *sink, const struct gt_rocm_region *region, int64_t end_ns) {
    enum gt_range_kind kind = range_kind(region, end_ns);
    struct gt_str domain = region->domain == GT_ROCM_COLLECTIVE ? GT_STR("RCCL") : GT_STR("");
    gt_builder_range(sink->builder, &(struct gt_ranges_row){
                                        .start_ns = region->start_ns,
                                        .end_ns = kind == GT_RANGE_MARK ? region->start_ns : end_ns,
                                        .name = region->name,
                                        .domain = gt_builder_string(sink->builder, domain),
                                        .thread = gt_rocm_thread(sink, region->process, region->tid),
                                        .end_thread = GT_NO_TRACK,
                                        .lane = GT_NO_TRACK,
                                        .kind = (uint8_t)kind,
                                    });
}

void gt_rocm_add_region(struct gt_rocm_sink *sink, const struct gt_rocm_region *region) {
    uint32_t facts = gt_rocm_domain_facts(region->domain);
    if (!gt_rocm_reads(sink, facts)) {
        gt_builder_skip(sink->builder);
    } else if (region->start_ns == GT_NO_TIME || region->end_ns == GT_NO_TIME) {
        count_issue(sink, GT_ISSUE_EVENT_DAMAGED, facts);
    } else if (region->domain == GT_ROCM_CALL) {
        gt_builder_call(sink->builder, &(struct gt_calls_row){
                                           .start_ns = region->start_ns,
                                           .end_ns = region->end_ns,
                                           .correlation = region->correlation,
                                           .name = region->name,
                                           .thread = gt_rocm_thread(sink, region->process, region->tid),
                                       });
    } else {
        add_range(sink, region, region->end_ns);
    }
}
