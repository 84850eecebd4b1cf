/* Every frame and every column: a new one is a line here, and a function in frame_makers.h where the store does not
   have it. */
#include "base/mem.h"
#include "frame/frame_makers.h"

#define LAUNCHED (GT_FACT_CALLS | GT_FACT_CORRELATION)
#define RANGED   (LAUNCHED | GT_FACT_RANGES)
#define IDLE     (RANGED | GT_FACT_CPU_OPS)
/* What devices, streams, threads and processes are met in. */
#define TRACKED                                                                                                        \
    (GT_FACT_OPS | IDLE | GT_FACT_GROUPS | GT_FACT_PROJECTIONS | GT_FACT_OVERHEADS | GT_FACT_MEMORY |                  \
     GT_FACT_COUNTERS | GT_FACT_SYNCS | GT_FACT_STACKS | GT_FACT_COMM_LOGS)

#define ID                                                                                                             \
    { .key = "id", .how = GT_FRAME_ROW, .help = "number of the row, which columns of other tables refer to" }
#define STORED(name, column, of_unit, about)                                                                           \
    { .key = name, .how = GT_FRAME_STORED, .from = column, .unit = of_unit, .help = about }
#define CORRELATION(about)                                                                                             \
    { .key = "correlation", .how = GT_FRAME_STORED, .from = "correlation", .facts = GT_FACT_CORRELATION, .help = about }
#define MOMENT(name, column, about)                                                                                    \
    { .key = name, .how = GT_FRAME_MOMENT, .from = column, .unit = "ns", .help = about }
#define LENGTH(about)                                                                                                  \
    { .key = "dur_ns", .how = GT_FRAME_LENGTH, .unit = "ns", .help = about }
#define LOOKUP(name, via, frame, column, about)                                                                        \
    { .key = name, .how = GT_FRAME_LOOKUP, .from = via, .other = frame, .what = column, .help = about }
#define SPARSE(name, table, column, row, of_facts, of_unit, about)                                                     \
    {                                                                                                                  \
        .key = name, .how = GT_FRAME_SPARSE, .from = column, .other = table, .what = row, .facts = of_facts,           \
        .unit = of_unit, .help = about                                                                                 \
    }
#define MADE(name, of_type, of_null, maker, of_facts, of_unit, about)                                                  \
    {                                                                                                                  \
        .key = name, .how = GT_FRAME_MADE, .type = GPUTIME_FIELD_##of_type, .null = GPUTIME_NULL_##of_null,            \
        .make = gt_frame_makers_##maker, .facts = of_facts, .unit = of_unit, .help = about                             \
    }
#define MADE_TEXT(name, of_type, of_null, maker, of_facts, about)                                                      \
    {                                                                                                                  \
        .key = name, .how = GT_FRAME_MADE, .type = GPUTIME_FIELD_##of_type, .null = GPUTIME_NULL_##of_null,            \
        .is_text = true, .make = gt_frame_makers_##maker, .facts = of_facts, .help = about                             \
    }
#define MADE_ROW(name, frame, maker, of_facts, about)                                                                  \
    {                                                                                                                  \
        .key = name, .how = GT_FRAME_MADE, .type = GPUTIME_FIELD_U32, .null = GPUTIME_NULL_MAX, .refers_to = frame,    \
        .make = gt_frame_makers_##maker, .facts = of_facts, .help = about                                              \
    }
#define LAUNCH(name, of_unit, about) SPARSE(name, "launch_details", name, "op", GT_FACT_CONFIGS, of_unit, about)
#define CONFIG(name, of_unit, about) SPARSE(name, "kernel_configs", name, "op", GT_FACT_CONFIGS, of_unit, about)

static const struct gt_frame_spec ops[] = {
    ID,
    MOMENT("start_ns", "start_ns", "start on the GPU, since the start of the first op"),
    MOMENT("end_ns", "end_ns", "end on the GPU"),
    LENGTH("duration on the GPU"),
    STORED("name", "name", "", "full name"),
    MADE_TEXT("short_name", U32, NEVER, op_short_name, 0, "name without template arguments and parameters"),
    STORED("kind", "kind", "", "kernel, memcpy, memset or graph"),
    MADE_TEXT("category", U8, NEVER, op_category, 0, "gemm, attention, communication and others"),
    MADE_TEXT("class", U8, NEVER, op_class, 0, "compute, comm or memory: the kind of time it is accounted as"),
    LOOKUP("device", "stream_id", "streams", "device", "number of the GPU"),
    LOOKUP("stream", "stream_id", "streams", "stream", "number of the stream"),
    STORED("stream_id", "lane", "", "its stream"),
    MADE_ROW("process_id", "processes", op_process, LAUNCHED, "process whose work it is"),
    LOOKUP("pid", "process_id", "processes", "pid", "pid of that process"),
    CORRELATION("correlation id of the launch"),
    MADE_ROW("call_id", "calls", op_call, LAUNCHED, "launch call"),
    LOOKUP("call", "call_id", "calls", "api", "name of the launch call, without version suffix"),
    LOOKUP("call_start_ns", "call_id", "calls", "start_ns", "start of the launch call"),
    LOOKUP("call_end_ns", "call_id", "calls", "end_ns", "end of the launch call"),
    LOOKUP("call_ns", "call_id", "calls", "dur_ns", "duration of the launch call"),
    LOOKUP("tid", "call_id", "calls", "tid", "thread that launched it"),
    MADE("queue_ns", I64, NEGATIVE, op_queue_ns, LAUNCHED, "ns", "from the end of the launch call to its start"),
    MADE("launch_delay_ns", I64, MIN, op_delay_ns, LAUNCHED, "ns", "from the start of the launch call to its start"),
    MADE_ROW("range_id", "ranges", op_range, RANGED, "innermost range around the launch"),
    LOOKUP("range", "range_id", "ranges", "name", "name of that range"),
    LOOKUP("range_domain", "range_id", "ranges", "domain", "NVTX domain of that range"),
    MADE_TEXT("phase", U32, MAX, op_phase, RANGED, "phase of the program that the range belongs to"),
    MADE_ROW("operator_id", "cpu_ops", op_operator, LAUNCHED | GT_FACT_CPU_OPS,
             "innermost CPU operator that launched it"),
    LOOKUP("operator", "operator_id", "cpu_ops", "name", "name of that operator"),
    MADE_ROW("step_id", "steps", op_step, RANGED, "step that launched it"),
    LOOKUP("step", "step_id", "steps", "number", "number of that step"),
    MADE("wall_ns", I64, NEVER, op_wall_ns, 0, "ns",
         "device time charged to it: each instant counts once, compute before comm before memory"),
    MADE_ROW("gap_id", "gaps", op_gap, IDLE, "idle gap of the GPU that it ended"),
    LOOKUP("gap_ns", "gap_id", "gaps", "gap_ns", "length of that gap, without the time in the queue"),
    LOOKUP("gap_cause", "gap_id", "gaps", "cause", "why the GPU was idle: host, sync, launch, dependency, unknown"),
    MADE("gap_queued_ns", I64, NEGATIVE, op_gap_queued_ns, IDLE, "ns",
         "rest of a gap in which a late start was queued; counts as dependency"),
    SPARSE("bytes", "copies", "bytes", "op", GT_FACT_BYTES, "bytes", "size of a copy or fill"),
    SPARSE("src_memory", "copies", "src", "op", GT_FACT_BYTES, "", "kind of memory copied from"),
    SPARSE("dst_memory", "copies", "dst", "op", GT_FACT_BYTES, "", "kind of memory copied to"),
    SPARSE("graph", "graph_ops", "graph", "op", GT_FACT_GRAPHS, "", "number of its CUDA graph"),
    MADE_ROW("collective_id", "collectives", op_collective, GT_FACT_COMMS,
             "collective that it carries, the first of several"),
    LOOKUP("collective", "collective_id", "collectives", "operation", "all_reduce, all_gather and others"),
    LOOKUP("comm_bytes", "collective_id", "collectives", "bytes", "message size of that collective"),
    LOOKUP("comm_group", "collective_id", "collectives", "group_name", "name of the group of ranks"),
    LOOKUP("comm_group_size", "collective_id", "collectives", "group_size", "number of ranks in the group"),
    CONFIG("grid_x", "", "blocks of the launch"),
    CONFIG("grid_y", "", "blocks of the launch"),
    CONFIG("grid_z", "", "blocks of the launch"),
    CONFIG("block_x", "", "threads of a block"),
    CONFIG("block_y", "", "threads of a block"),
    CONFIG("block_z", "", "threads of a block"),
    CONFIG("registers", "", "registers of a thread"),
    CONFIG("static_shared_bytes", "bytes", "static shared memory of a block"),
    CONFIG("dynamic_shared_bytes", "bytes", "dynamic shared memory of a block"),
    CONFIG("shared_bytes", "bytes", "shared memory of a block in all"),
    CONFIG("local_bytes", "bytes", "local memory of a thread"),
    CONFIG("occupancy_percent", "%", "occupancy as the profiler estimates it"),
    CONFIG("priority", "", "priority of its stream"),
    LAUNCH("graph_node", "", "node of its CUDA graph"),
    LAUNCH("limiters", "", "what limits its occupancy, as the profiler says: REGS, SMEM and others"),
    LAUNCH("active_blocks", "", "blocks that run on a multiprocessor at a time"),
    LAUNCH("limit_registers", "", "blocks that its registers allow there"),
    LAUNCH("limit_shared", "", "blocks that its shared memory allows there"),
    LAUNCH("limit_warps", "", "blocks that its warps allow there"),
    LAUNCH("limit_blocks", "", "blocks that the multiprocessor allows"),
    LAUNCH("limit_barriers", "", "blocks that its barriers allow there"),
    LAUNCH("channel", "", "hardware channel that carried the launch"),
    LAUNCH("channel_type", "", "kind of that channel, as CUPTI numbers them"),
    LOOKUP("kernel_file", "operator_id", "cpu_ops", "kernel_file", "source of the kernel that a compiler generated"),
    LOOKUP("stack", "operator_id", "cpu_ops", "stack", "code that called its operator"),
};

static const struct gt_frame_spec calls[] = {
    ID,
    MOMENT("start_ns", "start_ns", "start on the CPU, since the start of the first op"),
    MOMENT("end_ns", "end_ns", "end on the CPU"),
    LENGTH("duration on the CPU"),
    STORED("name", "name", "", "name as recorded"),
    MADE_TEXT("api", U32, NEVER, call_api, 0, "name without version suffix"),
    STORED("thread_id", "thread", "", "its thread"),
    LOOKUP("tid", "thread_id", "threads", "tid", "number of the thread"),
    LOOKUP("pid", "thread_id", "threads", "pid", "pid of the thread"),
    CORRELATION("correlation id"),
    MADE("ops", U32, NEVER, call_ops, GT_FACT_OPS | LAUNCHED, "count", "GPU ops that it launched"),
    MADE("is_launch", U8, NEVER, call_launches, GT_FACT_OPS | LAUNCHED, "", "1: it launches GPU work"),
    MADE("is_blocking", U8, NEVER, call_blocks, GT_FACT_OPS, "", "1: it waits for the GPU"),
    MADE_ROW("operator_id", "cpu_ops", call_operator, GT_FACT_OPS | GT_FACT_CPU_OPS,
             "innermost CPU operator around it"),
    LOOKUP("operator", "operator_id", "cpu_ops", "name", "name of that operator"),
};

static const struct gt_frame_spec ranges[] = {
    ID,
    MOMENT("start_ns", "start_ns", "start, since the start of the first op"),
    MOMENT("end_ns", "end_ns", "end"),
    LENGTH("duration, on the CPU unless it is a GPU-side annotation"),
    STORED("name", "name", "", "name"),
    STORED("domain", "domain", "", "NVTX domain"),
    STORED("kind", "kind", "",
           "how it was recorded; gpu: copy of a range on the GPU, which 'gputime ranges' leaves out"),
    STORED("thread_id", "thread", "", "its thread"),
    LOOKUP("tid", "thread_id", "threads", "tid", "number of the thread"),
    MADE_ROW("process_id", "processes", range_process, 0, "its process"),
    LOOKUP("pid", "process_id", "processes", "pid", "pid of the process"),
    MADE_ROW("parent_id", "ranges", range_parent, 0, "tightest range around it"),
    LOOKUP("parent", "parent_id", "ranges", "name", "name of that range"),
    MADE("level", U32, NEVER, range_level, 0, "", "number of ranges around it"),
    MADE_TEXT("phase", U32, NEVER, range_phase, 0, "phase of the program that it belongs to"),
    SPARSE("category", "range_categories", "name", "range", GT_FACT_RANGE_TEXTS, "", "NVTX category"),
    MADE("ops", U32, NEVER, range_ops, GT_FACT_OPS | RANGED, "count", "GPU ops launched inside"),
    MADE("gpu_start_ns", I64, MIN, range_gpu_start_ns, GT_FACT_OPS | RANGED, "ns", "first start of these ops"),
    MADE("gpu_end_ns", I64, MIN, range_gpu_end_ns, GT_FACT_OPS | RANGED, "ns", "last end of these ops"),
};

#define OPERATOR_ARG(name, column, about) SPARSE(name, "operator_args", column, "cpu_op", GT_FACT_ARGUMENTS, "", about)
#define OPERATOR_DETAIL(name, about)      SPARSE(name, "operator_details", name, "cpu_op", GT_FACT_DETAILS, "", about)
static const struct gt_frame_spec cpu_ops[] = {
    ID,
    MOMENT("start_ns", "start_ns", "start, since the start of the first op"),
    MOMENT("end_ns", "end_ns", "end"),
    LENGTH("duration on the CPU"),
    STORED("name", "name", "", "name"),
    STORED("thread_id", "thread", "", "its thread"),
    LOOKUP("tid", "thread_id", "threads", "tid", "number of the thread"),
    LOOKUP("pid", "thread_id", "threads", "pid", "pid of the thread"),
    OPERATOR_ARG("dims", "dims", "shapes of its inputs"),
    OPERATOR_ARG("types", "types", "types of its inputs"),
    OPERATOR_ARG("sequence", "sequence", "number that a forward and its backward operator share"),
    OPERATOR_DETAIL("kernel_file", "source of the kernel that a compiler generated for it"),
    OPERATOR_DETAIL("kernel_hash", "hash of that kernel"),
    OPERATOR_DETAIL("kernel_backend", "what that kernel is written in"),
    OPERATOR_DETAIL("kernel_kwargs", "block sizes and others that it was compiled with"),
    OPERATOR_DETAIL("kernel_grid", "its grid"),
    OPERATOR_DETAIL("num_warps", "warps of a block of it"),
    OPERATOR_DETAIL("num_stages", "stages of its pipeline"),
    OPERATOR_DETAIL("stack", "code that called the operator"),
    OPERATOR_DETAIL("modules", "modules around it"),
};

static const struct gt_frame_spec gaps[] = {
    ID,
    MADE("device", I64, NEGATIVE, gap_device, 0, "", "number of the GPU"),
    MADE("start_ns", I64, NEVER, gap_start_ns, 0, "ns", "start, since the start of the first op"),
    MADE("end_ns", I64, NEVER, gap_end_ns, 0, "ns", "end"),
    MADE("gap_ns", I64, NEVER, gap_ns, 0, "ns", "length"),
    MADE_TEXT("cause", U8, NEVER, gap_cause, 0, "why the GPU was idle: host, sync, launch, dependency, unknown"),
    MADE_TEXT("activity", U8, MAX, gap_activity, 0, "of host gaps: what the launching thread did"),
    MADE_TEXT("part", U8, NEVER, gap_part, 0, "whole, or the first and the queued part of a late start"),
    MADE_ROW("previous_id", "ops", gap_previous, 0, "op that ended last before it"),
    LOOKUP("previous", "previous_id", "ops", "name", "name of that op"),
    MADE_ROW("next_id", "ops", gap_next, 0, "op that ended it"),
    LOOKUP("next", "next_id", "ops", "name", "name of that op"),
    MADE_ROW("call_id", "calls", gap_call, 0, "launch call of the next op"),
    LOOKUP("call", "call_id", "calls", "api", "name of that call"),
    MADE("recoverable_ns", F64, NEGATIVE, gap_recoverable_ns, 0, "ns", "potential saving"),
    MADE_TEXT("meanwhile", U32, MAX, gap_meanwhile, 0, "call or code that the CPU was in for most of it"),
    LOOKUP("range", "next_id", "ops", "range", "innermost range of the next op"),
    LOOKUP("operator", "next_id", "ops", "operator", "CPU operator of the next op"),
    LOOKUP("step", "next_id", "ops", "step", "step of the next op"),
    LOOKUP("stream", "next_id", "ops", "stream", "stream of the next op"),
};

static const struct gt_frame_spec steps[] = {
    ID,
    MADE("number", I64, NEVER, step_number, 0, "", "its number"),
    MADE("start_ns", I64, NEVER, step_start_ns, 0, "ns", "start on the CPU, since the start of the first op"),
    MADE("end_ns", I64, NEVER, step_end_ns, 0, "ns", "end on the CPU"),
    MADE("dur_ns", I64, NEVER, step_dur_ns, 0, "ns", "duration on the CPU"),
    MADE_ROW("process_id", "processes", step_process, 0, "its process"),
    LOOKUP("pid", "process_id", "processes", "pid", "pid of the process"),
    MADE_ROW("range_id", "ranges", step_range, 0, "range that marks it"),
    LOOKUP("name", "range_id", "ranges", "name", "name of that range"),
    MADE_TEXT("state", U8, NEVER, step_state, GT_FACT_OPS | LAUNCHED, "steady, warm-up or outlier"),
};

static const struct gt_frame_spec names[] = {
    ID,
    MADE_TEXT("name", U32, NEVER, name_name, 0, "full name of GPU ops"),
    MADE_TEXT("short_name", U32, NEVER, name_short_name, 0, "name without template arguments and parameters"),
    MADE_TEXT("category", U8, NEVER, name_category, 0, "category of its first op"),
    MADE("ops", U32, NEVER, name_ops, 0, "count", "ops of that name"),
    MADE("total_ns", I64, NEVER, name_total_ns, 0, "ns", "their durations, summed"),
    MADE_TEXT("rule_source", U32, MAX, name_source, 0, "rules that gave the category"),
    MADE_TEXT("rule_pattern", U32, MAX, name_pattern, 0, "what of the rule matched"),
};

static const struct gt_frame_spec categories[] = {
    ID,
    MADE_TEXT("category", U8, NEVER, category_key, 0, "key of the category"),
    MADE_TEXT("title", U8, NEVER, category_title, 0, "what it holds"),
    MADE_TEXT("class", U8, NEVER, category_class, 0, "compute, comm or memory"),
};

static const struct gt_frame_spec collectives[] = {
    ID,
    MADE_TEXT("operation", U8, NEVER, collective_operation, 0, "all_reduce, all_gather and others"),
    MADE_TEXT("name", U32, NEVER, collective_text, 0, "name as recorded"),
    MADE_TEXT("dtype", U32, NEVER, collective_text, 0, "type of its elements"),
    MADE("bytes", U64, MAX, collective_bytes, 0, "bytes", "message size"),
    MADE("bus_bytes", F64, NEGATIVE, collective_bus_bytes, 0, "bytes", "bytes that pass the busiest link"),
    MADE_TEXT("group_name", U32, MAX, collective_group, 0, "name of the group of ranks"),
    MADE_TEXT("group_purpose", U32, MAX, collective_group, 0, "what the group is for"),
    MADE("group_size", I64, NEGATIVE, collective_group, 0, "count", "number of ranks in the group"),
    MADE("sequence", I64, MIN, collective_number, 0, "", "number in the group"),
    MADE("src_rank", I64, MIN, collective_number, 0, "",
         "rank that a message is from, as recorded: global, or its place in the group"),
    MADE("dst_rank", I64, MIN, collective_number, 0, "",
         "rank that a message is for, as recorded: global, or its place in the group"),
    MADE("root", I64, MIN, collective_number, 0, "", "root of the collective"),
    MADE_ROW("op_id", "ops", collective_op, 0, "kernel that carries it, the first of several"),
    MADE("ops", U32, NEVER, collective_ops, 0, "count", "kernels launched with it"),
    LOOKUP("start_ns", "op_id", "ops", "start_ns", "start of that kernel"),
    LOOKUP("end_ns", "op_id", "ops", "end_ns", "end of that kernel"),
    LOOKUP("dur_ns", "op_id", "ops", "dur_ns", "duration of that kernel"),
};

static const struct gt_frame_spec counter_tracks[] = {
    ID,
    STORED("name", "name", "", "name"),
    STORED("series", "series", "", "which of several values of one counter"),
    STORED("unit", "unit", "", "unit of the values"),
    STORED("kind", "kind", "", "sampled, or a state"),
    STORED("device", "device", "", "number of the GPU"),
    STORED("process_id", "process", "", "its process"),
    STORED("period_ns", "period_ns", "ns", "period of samples; 0: not known, or a state"),
    MADE("samples", U64, NEVER, track_values, 0, "count", "number of values"),
};

static const struct gt_frame_spec counters[] = {
    ID,
    MADE_ROW("track_id", "counter_tracks", counter_track, 0, "what is counted"),
    MADE("time_ns", I64, NEVER, counter_time_ns, 0, "ns", "time, since the start of the first op"),
    MADE("value", F64, NEVER, counter_value, 0, "", "value"),
    LOOKUP("name", "track_id", "counter_tracks", "name", "name of the counter"),
    LOOKUP("series", "track_id", "counter_tracks", "series", "which of several values of one counter"),
    LOOKUP("unit", "track_id", "counter_tracks", "unit", "unit of the value"),
    LOOKUP("device", "track_id", "counter_tracks", "device", "number of the GPU"),
};

static const struct gt_frame_spec memory_events[] = {
    ID,
    MOMENT("time_ns", "time_ns", "time, since the start of the first op; null: before the capture"),
    STORED("bytes", "bytes", "bytes", "size; negative: freed"),
    STORED("address", "address", "", "address"),
    STORED("device", "device", "", "number of the GPU; null: memory of the host"),
    STORED("stream", "stream", "", "number of the stream"),
    STORED("kind", "kind", "", "kind of memory"),
    STORED("operation", "operation", "", "what was done"),
    STORED("source", "source", "", "who recorded it"),
    STORED("name", "name", "", "name of a static variable"),
    STORED("allocated_bytes", "allocated_bytes", "bytes", "in use by the framework after it"),
    STORED("reserved_bytes", "reserved_bytes", "bytes", "taken from the driver after it"),
    STORED("process_id", "process", "", "its process"),
    LOOKUP("pid", "process_id", "processes", "pid", "pid of the process"),
    STORED("thread_id", "thread", "", "its thread"),
    LOOKUP("tid", "thread_id", "threads", "tid", "number of the thread"),
    MADE_ROW("call_id", "calls", memory_call, 0, "call that made it"),
    LOOKUP("call", "call_id", "calls", "api", "name of that call"),
    MADE_ROW("operator_id", "cpu_ops", memory_operator, 0, "innermost CPU operator around it"),
    LOOKUP("operator", "operator_id", "cpu_ops", "name", "name of that operator"),
    MADE_ROW("range_id", "ranges", memory_range, 0, "innermost range around it"),
    LOOKUP("range", "range_id", "ranges", "name", "name of that range"),
};

static const struct gt_frame_spec python_calls[] = {
    ID,
    MOMENT("start_ns", "start_ns", "start, since the start of the first op"),
    MOMENT("end_ns", "end_ns", "end"),
    LENGTH("duration"),
    STORED("name", "name", "", "file, line and function"),
    STORED("thread_id", "thread", "", "its thread"),
    LOOKUP("tid", "thread_id", "threads", "tid", "number of the thread"),
};

static const struct gt_frame_spec syncs[] = {
    ID,
    MOMENT("start_ns", "start_ns", "start, since the start of the first op"),
    MOMENT("end_ns", "end_ns", "end"),
    LENGTH("duration"),
    STORED("kind", "kind", "", "what is waited for"),
    STORED("correlation", "correlation", "", "correlation id of the call"),
    STORED("event", "event", "", "id of the event that is waited for"),
    STORED("device", "device", "", "number of the GPU"),
    STORED("stream", "stream", "", "stream that waits or is waited for"),
    STORED("wait_stream", "wait_stream", "", "stream on which the event was recorded"),
    STORED("process_id", "process", "", "its process"),
};

#define CPU_TIME                                                                                                       \
    ID, MOMENT("start_ns", "start_ns", "start, since the start of the first op"), MOMENT("end_ns", "end_ns", "end"),   \
        LENGTH("duration"), STORED("name", "name", "", "name"), STORED("thread_id", "thread", "", "its thread"),       \
        LOOKUP("tid", "thread_id", "threads", "tid", "number of the thread")
static const struct gt_frame_spec overheads[] = {CPU_TIME};
static const struct gt_frame_spec driver_work[] = {CPU_TIME};

static const struct gt_frame_spec host_calls[] = {
    CPU_TIME,
    LOOKUP("pid", "thread_id", "threads", "pid", "pid of the thread"),
    STORED("domain", "domain", "", "os: the C library, mpi: MPI"),
};

static const struct gt_frame_spec call_args[] = {
    ID,
    STORED("call_id", "call", "", "its call"),
    STORED("range_id", "range", "", "its range, where a call is kept as one (RCCL, ROCTX)"),
    STORED("position", "position", "", "place among the arguments"),
    STORED("name", "name", "", "name"),
    STORED("type", "type", "", "type as written"),
    STORED("value", "value", "", "value as written"),
};

static const struct gt_frame_spec comm_logs[] = {
    ID,
    MOMENT("start_ns", "start_ns", "start of the call, since the start of the first op; only verbose logs have it"),
    MOMENT("time_ns", "time_ns", "when it was written to the log"),
    STORED("dur_ns", "length_ns", "ns", "duration as NCCL measured it"),
    STORED("name", "name", "", "AllReduce, Send and others"),
    STORED("timing", "timing", "", "what the duration is of: kernel_gpu, kernel_cpu, collective_cpu"),
    STORED("bytes", "bytes", "bytes", "bytes of a rank, as NCCL counts them"),
    STORED("sequence", "sequence", "", "number among those of its name in the group"),
    STORED("group_rank", "rank", "", "own place in the group"),
    STORED("peer", "peer", "", "other rank of a message"),
    STORED("nodes", "nodes", "count", "machines that the group is on"),
    STORED("algbw", "algbw", "", "algorithm bandwidth as logged, GB/s"),
    STORED("busbw", "busbw", "", "bus bandwidth as logged, GB/s"),
    STORED("group_id", "group", "", "its group"),
    LOOKUP("communicator", "group_id", "comm_groups", "communicator", "NCCL's number of the group"),
    LOOKUP("group_size", "group_id", "comm_groups", "size", "number of ranks in the group"),
    STORED("process_id", "process", "", "its process"),
    LOOKUP("pid", "process_id", "processes", "pid", "pid of the process"),
};

static const struct gt_frame_spec comm_groups[] = {
    ID,
    STORED("name", "name", "", "name"),
    STORED("purpose", "description", "", "what it is for"),
    STORED("communicator", "communicator", "", "NCCL's number of it, the same on all ranks"),
    STORED("size", "size", "count", "number of ranks"),
    STORED("ranks", "ranks", "", "its ranks as recorded; may be cut short"),
};

static const struct gt_frame_spec summed[] = {
    ID,
    STORED("name", "name", "", "full name"),
    STORED("kind", "kind", "", "kernel, memcpy, memset or graph"),
    MADE_TEXT("category", U8, NEVER, group_category, 0, "gemm, attention, communication and others"),
    STORED("count", "instances", "count", "number of ops"),
    STORED("total_ns", "total_ns", "ns", "their durations, summed"),
    STORED("min_ns", "min_ns", "ns", "shortest"),
    STORED("max_ns", "max_ns", "ns", "longest"),
    STORED("median_ns", "median_ns", "ns", "median"),
    STORED("stddev_ns", "stddev_ns", "ns", "standard deviation"),
};

static const struct gt_frame_spec devices[] = {
    ID,
    STORED("device", "id", "", "number of the GPU"),
    STORED("name", "name", "", "name"),
    STORED("memory_bytes", "memory_bytes", "bytes", "size of its memory; 0: not known"),
    STORED("multiprocessors", "multiprocessors", "count", "number of multiprocessors; 0: not known"),
    STORED("bandwidth", "bandwidth", "", "of its memory, bytes per second; 0: not known"),
    STORED("clock_hz", "clock_hz", "", "highest clock; 0: not known"),
    STORED("compute_major", "compute_major", "", "compute capability"),
    STORED("compute_minor", "compute_minor", "", "compute capability"),
};

static const struct gt_frame_spec streams[] = {
    ID,
    LOOKUP("device", "device_id", "devices", "device", "number of the GPU"),
    STORED("stream", "stream", "", "number of the stream"),
    STORED("device_id", "device", "", "its GPU"),
    STORED("process_id", "process", "", "its process"),
    LOOKUP("pid", "process_id", "processes", "pid", "pid of the process"),
};

static const struct gt_frame_spec threads[] = {
    ID,
    STORED("tid", "tid", "", "number of the thread"),
    STORED("name", "name", "", "name"),
    STORED("label", "label", "", "text that the trace has instead of a number"),
    STORED("process_id", "process", "", "its process"),
    LOOKUP("pid", "process_id", "processes", "pid", "pid of the process"),
};

static const struct gt_frame_spec processes[] = {
    ID,
    STORED("pid", "pid", "", "pid"),
    STORED("name", "name", "", "name"),
    STORED("label", "label", "", "text that the trace has instead of a pid"),
    STORED("process_host", "host", "", "name of its machine, where a trace has several"),
    STORED("process_rank", "rank", "", "its rank, where it is recorded"),
    STORED("world_size", "world_size", "count", "number of ranks"),
};

static const struct gt_frame_spec inputs[] = {
    ID,
    MADE_TEXT("path", U32, NEVER, input_text, 0, "file, the first of several"),
    MADE_TEXT("format", U32, NEVER, input_text, 0, "key of the input format"),
    MADE_TEXT("producer", U32, NEVER, input_text, 0, "program that wrote it"),
    MADE_TEXT("host", U32, NEVER, input_text, 0, "name of the machine"),
    MADE("origin_ns", I64, NEVER, input_number, 0, "ns", "start of the first op in the trace's clock: add it to times"),
    MADE("base_ns", I64, MIN, input_number, 0, "ns", "what to add to the trace's clock for UTC epoch"),
    MADE("duration_ns", I64, NEGATIVE, input_number, 0, "ns", "length of the capture as the profiler gives it"),
    MADE("world_size", I64, NEGATIVE, input_number, 0, "count", "number of ranks"),
    MADE("ops", I64, NEVER, input_number, 0, "count", "number of GPU ops"),
    MADE_TEXT("loss", U32, MAX, input_loss, GT_FACTS_USUAL, "why it was only partly read; null: it was not"),
};

#define TABLE(name, of_table, of_facts, about)                                                                         \
    { #name, about, GT_TABLE_##of_table, of_facts, of_facts, NULL, name, GT_ARRAY_COUNT(name) }
#define TRACKS(name, of_table, about)                                                                                  \
    { #name, about, GT_TABLE_##of_table, GT_FACT_OPS, TRACKED, NULL, name, GT_ARRAY_COUNT(name) }
#define COUNTED(name, counter, of_facts, about)                                                                        \
    { #name, about, -1, of_facts, of_facts, gt_frame_makers_##counter, name, GT_ARRAY_COUNT(name) }
const struct gt_frame_info gt_frame_infos[] = {
    TABLE(ops, ops, GT_FACT_OPS, "GPU work: kernels, copies, fills and graphs"),
    TABLE(calls, calls, GT_FACT_OPS | GT_FACT_CALLS, "runtime and driver calls"),
    TABLE(ranges, ranges, GT_FACT_OPS | GT_FACT_RANGES,
          "NVTX ranges and annotations; some traces have copies of them on the GPU, of kind 'gpu'"),
    TABLE(cpu_ops, cpu_ops, GT_FACT_OPS | GT_FACT_CPU_OPS, "operators of a framework"),
    COUNTED(gaps, gap_rows, GT_FACT_OPS | IDLE, "idle gaps of GPUs with their causes"),
    COUNTED(steps, step_rows, GT_FACT_OPS | GT_FACT_RANGES, "steps of the program"),
    COUNTED(names, name_rows, GT_FACT_OPS, "distinct names of GPU work"),
    COUNTED(categories, category_rows, GT_FACT_OPS, "categories of GPU work"),
    COUNTED(collectives, collective_rows, GT_FACT_OPS | GT_FACT_COMMS, "collectives and messages between ranks"),
    COUNTED(counters, counter_rows, GT_FACT_OPS | GT_FACT_COUNTERS, "values of counters"),
    TABLE(counter_tracks, counter_tracks, GT_FACT_OPS | GT_FACT_COUNTERS, "what is counted"),
    TABLE(memory_events, memory_events, GT_FACT_OPS | GT_FACT_MEMORY, "allocations"),
    TABLE(python_calls, python_calls, GT_FACT_OPS | GT_FACT_STACKS, "Python functions"),
    TABLE(syncs, syncs, GT_FACT_OPS | GT_FACT_SYNCS, "synchronizations and waits of streams"),
    TABLE(overheads, overheads, GT_FACT_OPS | GT_FACT_OVERHEADS, "time of the profiler itself"),
    TABLE(driver_work, driver_work, GT_FACT_OPS | GT_FACT_OVERHEADS, "time of the driver outside calls"),
    TABLE(host_calls, host_calls, GT_FACT_OPS | GT_FACT_HOST_CALLS, "calls of the C library and of MPI"),
    TABLE(call_args, call_args, GT_FACT_OPS | GT_FACT_CALL_ARGS, "arguments of calls"),
    TABLE(comm_logs, comm_logs, GT_FACT_OPS | GT_FACT_COMM_LOGS, "collectives and messages that NCCL logged"),
    {"comm_groups", "groups of ranks", GT_TABLE_comm_groups, GT_FACT_OPS,
     GT_FACT_OPS | GT_FACT_COMMS | GT_FACT_COMM_LOGS, NULL, comm_groups, GT_ARRAY_COUNT(comm_groups)},
    TABLE(summed, groups, GT_FACT_OPS | GT_FACT_GROUPS, "rows of inputs that are summed already"),
    TRACKS(devices, devices, "GPUs"),
    TRACKS(streams, lanes, "streams of GPUs"),
    TRACKS(threads, threads, "CPU threads"),
    TRACKS(processes, processes, "processes"),
    COUNTED(inputs, input_rows, GT_FACT_OPS, "the trace itself: one row"),
};
const size_t gt_frame_info_count = GT_ARRAY_COUNT(gt_frame_infos);
