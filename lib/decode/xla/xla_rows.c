/* Turns events of XLA's profiler into ops, calls, ranges and the rest. Calls are named after what they launch: these
   get the name of the call that launches such things. */
#include "decode/xla/xla_rows.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/num.h"

#define BIT(stat) (UINT32_C(1) << (stat))

enum { NAME_MAX_BYTES = 512 };

void gt_xla_rows_init(struct gt_xla_rows *rows, struct gt_builder *builder, const struct gt_xla_capture *capture) {
    *rows = (struct gt_xla_rows){.builder = builder, .capture = capture, .track = GT_NO_TRACK};
}

void gt_xla_rows_begin(struct gt_xla_rows *rows, const struct gt_xla_line *line) {
    rows->line = line;
    rows->track = GT_NO_TRACK;
}

static bool reads(const struct gt_xla_rows *rows, uint32_t facts) {
    return rows->capture->facts & facts;
}

static bool has(const struct gt_xla_event *event, enum gt_xla_stat stat) {
    return event->seen >> stat & 1;
}

static uint64_t number(const struct gt_xla_event *event, enum gt_xla_stat stat, uint64_t otherwise) {
    return has(event, stat) ? event->numbers[stat] : otherwise;
}

uint32_t gt_xla_rows_stats(const struct gt_xla_capture *capture, const struct gt_xla_line *line, bool *is_read) {
    uint32_t facts = capture->facts;
    uint32_t details = BIT(GT_XLA_STAT_KERNEL) | BIT(GT_XLA_STAT_MEMCPY) | BIT(GT_XLA_STAT_MEMSET) |
                       BIT(GT_XLA_STAT_MEMORY) | BIT(GT_XLA_STAT_CORRELATION);
    uint32_t memory = facts & (GT_FACT_MEMORY | GT_FACT_COUNTERS)
                          ? BIT(GT_XLA_STAT_ALLOCATOR) | BIT(GT_XLA_STAT_ADDRESS) | BIT(GT_XLA_STAT_BYTES) |
                                BIT(GT_XLA_STAT_ALLOCATED)
                          : 0;
    switch (line->kind) {
    case GT_XLA_LINE_STREAM:
        *is_read = facts & GT_FACT_OPS;
        return details | BIT(GT_XLA_STAT_GRAPH) | BIT(GT_XLA_STAT_GRAPH_NODE) | BIT(GT_XLA_STAT_GRAPH_WHOLE) |
               (facts & GT_FACT_CONFIGS ? BIT(GT_XLA_STAT_OCCUPANCY) : 0);
    case GT_XLA_LINE_THREAD:
        *is_read = facts & (GT_FACT_CALLS | GT_FACT_RANGES | GT_FACT_OVERHEADS | GT_FACT_STACKS | GT_FACT_MEMORY |
                            GT_FACT_COUNTERS);
        return details | memory | BIT(GT_XLA_STAT_DEVICE) | BIT(GT_XLA_STAT_STEP);
    case GT_XLA_LINE_OVERHEAD:
        *is_read = facts & GT_FACT_OVERHEADS;
        return 0;
    case GT_XLA_LINE_COUNTERS:
        *is_read = facts & GT_FACT_METRICS;
        return 0;
    default:
        *is_read = false;
        return 0;
    }
}

/* ---- tracks and names ---- */

static uint32_t process_of(struct gt_xla_rows *rows) {
    int64_t pid = rows->capture->pid;
    return gt_builder_process(rows->builder, pid, pid < 0 ? GT_STR("/host:CPU") : GT_STR(""));
}

static uint32_t track_of(struct gt_xla_rows *rows) {
    const struct gt_xla_line *line = rows->line;
    if (rows->track != GT_NO_TRACK)
        return rows->track;
    uint32_t process = process_of(rows);
    if (line->kind == GT_XLA_LINE_STREAM) {
        rows->track = gt_builder_lane(rows->builder, process, line->device, line->number);
    } else {
        rows->track = gt_builder_thread(rows->builder, process, line->number, GT_STR(""));
        gt_builder_name_thread(rows->builder, rows->track, line->name);
    }
    return rows->track;
}

static gt_strid name_of(const struct gt_xla_rows *rows, const struct gt_xla_event *event) {
    if (event->name_id && *event->name_id != GT_STRID_EMPTY)
        return *event->name_id;
    gt_strid id = gt_builder_string(rows->builder, event->name);
    if (event->name_id)
        *event->name_id = id;
    return id;
}

/* ---- what ran on the GPU ---- */

/* "MemcpyD2H" in the words of other profilers: "Memcpy DtoH (Device -> Pinned)". */
static gt_strid copy_name(const struct gt_xla_rows *rows, const struct gt_xla_event *event,
                          const struct gt_copies_row *copy) {
    static const char *const words[] = {
        [GT_MEMORY_UNKNOWN] = "Unknown", [GT_MEMORY_PAGEABLE] = "Pageable", [GT_MEMORY_PINNED] = "Pinned",
        [GT_MEMORY_DEVICE] = "Device",   [GT_MEMORY_ARRAY] = "Array",       [GT_MEMORY_MANAGED] = "Managed",
        [GT_MEMORY_STATIC] = "Device",
    };
    static const struct {
        struct gt_str name;
        const char *direction;
    } directions[] = {
        {GT_STR("MemcpyH2D"), "HtoD"},  {GT_STR("MemcpyD2H"), "DtoH"},   {GT_STR("MemcpyD2D"), "DtoD"},
        {GT_STR("MemcpyP2P"), "PtoP"},  {GT_STR("MemcpyHtoD"), "HtoD"},  {GT_STR("MemcpyDtoH"), "DtoH"},
        {GT_STR("MemcpyDtoD"), "DtoD"}, {GT_STR("MemcpyOther"), "AtoA"},
    };
    char text[NAME_MAX_BYTES];
    for (size_t i = 0; i < GT_ARRAY_COUNT(directions); i++) {
        if (!gt_str_eq(event->name, directions[i].name))
            continue;
        bool is_known = copy->src != GT_MEMORY_UNKNOWN || copy->dst != GT_MEMORY_UNKNOWN;
        int length = is_known ? snprintf(text, sizeof text, "Memcpy %s (%s -> %s)", directions[i].direction,
                                         words[copy->src], words[copy->dst])
                              : snprintf(text, sizeof text, "Memcpy %s", directions[i].direction);
        return gt_builder_string(rows->builder, (struct gt_str){text, (size_t)length});
    }
    return name_of(rows, event);
}

static gt_strid set_name(const struct gt_xla_rows *rows, const struct gt_copies_row *copy) {
    return gt_builder_string(rows->builder,
                             copy->dst == GT_MEMORY_DEVICE ? GT_STR("Memset (Device)") : GT_STR("Memset"));
}

/* AMD's copies have no kinds of memory. */
static struct gt_copies_row copy_of(const struct gt_xla_event *event, enum gt_op_kind kind) {
    struct gt_str details = event->texts[kind == GT_OP_MEMCPY ? GT_XLA_STAT_MEMCPY : GT_XLA_STAT_MEMSET];
    struct gt_copies_row copy = {.bytes = UINT64_MAX};
    if (kind == GT_OP_MEMCPY && has(event, GT_XLA_STAT_MEMCPY)) {
        copy.bytes = gt_xla_names_number(details, GT_STR("size"));
        copy.src = (uint8_t)gt_xla_names_memory(gt_xla_names_detail(details, GT_STR("kind_src")));
        copy.dst = (uint8_t)gt_xla_names_memory(gt_xla_names_detail(details, GT_STR("kind_dst")));
    } else if (kind == GT_OP_MEMSET && has(event, GT_XLA_STAT_MEMSET)) {
        copy.bytes = gt_xla_names_number(details, GT_STR("num_bytes"));
        copy.dst = (uint8_t)gt_xla_names_memory(gt_xla_names_detail(details, GT_STR("kind")));
    }
    return copy;
}

static enum gt_op_kind kind_of(const struct gt_xla_event *event) {
    if (has(event, GT_XLA_STAT_KERNEL))
        return GT_OP_KERNEL;
    if (has(event, GT_XLA_STAT_MEMCPY) || gt_str_starts(event->name, GT_STR("Memcpy")))
        return GT_OP_MEMCPY;
    if (has(event, GT_XLA_STAT_MEMSET) || gt_str_starts(event->name, GT_STR("Memset")))
        return GT_OP_MEMSET;
    return has(event, GT_XLA_STAT_GRAPH_WHOLE) ? GT_OP_GRAPH : GT_OP_KERNEL;
}

/* "384,1,1" */
static void take_sizes(struct gt_str text, uint32_t *x, uint32_t *y, uint32_t *z) {
    uint32_t *const sizes[] = {x, y, z};
    struct gt_str item;
    uint64_t size;
    for (size_t i = 0; i < 3 && gt_str_next_item(&text, &item); i++)
        if (gt_num_parse_uint(item, &size) && size < UINT32_MAX)
            *sizes[i] = (uint32_t)size;
}

static void add_config(struct gt_xla_rows *rows, const struct gt_xla_event *event) {
    struct gt_kernel_configs_row config = GT_KERNEL_CONFIG_UNKNOWN;
    struct gt_str details = event->texts[GT_XLA_STAT_KERNEL];
    uint64_t registers = gt_xla_names_number(details, GT_STR("regs"));
    double occupancy;
    take_sizes(gt_xla_names_detail(details, GT_STR("grid")), &config.grid_x, &config.grid_y, &config.grid_z);
    take_sizes(gt_xla_names_detail(details, GT_STR("block")), &config.block_x, &config.block_y, &config.block_z);
    config.static_shared_bytes = gt_xla_names_number(details, GT_STR("static_shared"));
    config.dynamic_shared_bytes = gt_xla_names_number(details, GT_STR("dynamic_shared"));
    if (config.static_shared_bytes <= UINT32_MAX && config.dynamic_shared_bytes <= UINT32_MAX)
        config.shared_bytes = config.static_shared_bytes + config.dynamic_shared_bytes;
    config.registers = registers < UINT32_MAX ? (uint32_t)registers : UINT32_MAX;
    if (has(event, GT_XLA_STAT_OCCUPANCY))
        config.occupancy_percent = event->occupancy;
    else if (gt_num_parse_real(gt_xla_names_detail(details, GT_STR("occ_pct")), &occupancy))
        config.occupancy_percent = occupancy;
    /* The profiler writes 0 where it could not compute it. */
    if (!(config.occupancy_percent > 0 && config.occupancy_percent <= 100))
        config.occupancy_percent = -1;
    gt_builder_kernel_config(rows->builder, &config);
}

static void add_op(struct gt_xla_rows *rows, const struct gt_xla_event *event, uint64_t offset) {
    /* Memory that is allocated, freed or moved on demand stands on the same lines. */
    if (has(event, GT_XLA_STAT_MEMORY) || gt_str_eq(event->name, GT_STR("UnifiedMemory"))) {
        gt_builder_skip(rows->builder);
        return;
    }
    enum gt_op_kind kind = kind_of(event);
    struct gt_copies_row copy = copy_of(event, kind);
    uint64_t graph = number(event, GT_XLA_STAT_GRAPH, 0);
    struct gt_ops_row row = {
        .start_ns = event->start_ns,
        .end_ns = event->end_ns,
        .correlation = number(event, GT_XLA_STAT_CORRELATION, GT_NO_CORRELATION),
        .name = kind == GT_OP_MEMCPY   ? copy_name(rows, event, &copy)
                : kind == GT_OP_MEMSET ? set_name(rows, &copy)
                                       : name_of(rows, event),
        .lane = track_of(rows),
        .kind = (uint8_t)kind,
        .flags = kind != GT_OP_GRAPH && (graph || number(event, GT_XLA_STAT_GRAPH_NODE, 0)) ? GT_OP_IN_GRAPH : 0,
    };
    if (!gt_builder_op(rows->builder, &row))
        return;
    if (row.name == GT_STRID_EMPTY)
        gt_builder_issue_of(rows->builder, GT_ISSUE_OP_WITHOUT_NAME, GT_FACT_OPS, 1, offset);
    if (copy.bytes != UINT64_MAX)
        gt_builder_copy(rows->builder, &copy);
    if (kind == GT_OP_GRAPH)
        graph = event->numbers[GT_XLA_STAT_GRAPH_WHOLE];
    if (graph && graph < UINT32_MAX && reads(rows, GT_FACT_GRAPHS))
        gt_builder_graph_op(rows->builder, &(struct gt_graph_ops_row){.graph = (uint32_t)graph});
    if (has(event, GT_XLA_STAT_KERNEL) && reads(rows, GT_FACT_CONFIGS))
        add_config(rows, event);
}

/* ---- what threads did ---- */

/* The call that launched what the event is named after. */
static gt_strid call_name(const struct gt_xla_rows *rows, const struct gt_xla_event *event) {
    bool is_amd = rows->capture->is_amd;
    if (event->host.kind == GT_XLA_HOST_CALL)
        return gt_builder_string(rows->builder, event->host.text);
    struct gt_str name = is_amd ? GT_STR("hipLaunchKernel") : GT_STR("cuLaunchKernel");
    if (has(event, GT_XLA_STAT_MEMCPY)) {
        bool is_async = gt_xla_names_number(event->texts[GT_XLA_STAT_MEMCPY], GT_STR("async")) != 0;
        name = is_amd     ? is_async ? GT_STR("hipMemcpyAsync") : GT_STR("hipMemcpy")
                   : is_async ? GT_STR("cuMemcpyAsync")
                          : GT_STR("cuMemcpy");
    } else if (has(event, GT_XLA_STAT_MEMSET)) {
        bool is_async = gt_xla_names_number(event->texts[GT_XLA_STAT_MEMSET], GT_STR("async")) != 0;
        name = is_amd     ? is_async ? GT_STR("hipMemsetAsync") : GT_STR("hipMemset")
                   : is_async ? GT_STR("cuMemsetD8Async")
                          : GT_STR("cuMemsetD8");
    } else if (has(event, GT_XLA_STAT_MEMORY)) {
        bool is_free = gt_str_find_nocase(event->name, GT_STR("free"));
        name = is_amd    ? is_free ? GT_STR("hipFree") : GT_STR("hipMalloc")
                  : is_free ? GT_STR("cuMemFree")
                         : GT_STR("cuMemAlloc");
    }
    return gt_builder_string(rows->builder, name);
}

static void add_call(struct gt_xla_rows *rows, const struct gt_xla_event *event) {
    gt_builder_call(rows->builder, &(struct gt_calls_row){
                                       .start_ns = event->start_ns,
                                       .end_ns = event->end_ns,
                                       .correlation = number(event, GT_XLA_STAT_CORRELATION, GT_NO_CORRELATION),
                                       .name = call_name(rows, event),
                                       .thread = track_of(rows),
                                   });
}

/* Steps are ranges with a number, which belongs to the name as in NVTX ranges of the same program. */
static gt_strid range_name(const struct gt_xla_rows *rows, const struct gt_xla_event *event) {
    char text[NAME_MAX_BYTES];
    if (!has(event, GT_XLA_STAT_STEP))
        return name_of(rows, event);
    struct gt_str name = gt_str_cut(event->name, NAME_MAX_BYTES / 2);
    int length = snprintf(text, sizeof text, "%.*s#step_num=%lld#", (int)name.len, name.ptr,
                          (long long)event->numbers[GT_XLA_STAT_STEP]);
    return gt_builder_string(rows->builder, (struct gt_str){text, (size_t)length});
}

static void add_range(struct gt_xla_rows *rows, const struct gt_xla_event *event) {
    bool is_mark = event->end_ns == event->start_ns && !has(event, GT_XLA_STAT_STEP);
    gt_builder_range(rows->builder, &(struct gt_ranges_row){
                                        .start_ns = event->start_ns,
                                        .end_ns = event->end_ns,
                                        .name = range_name(rows, event),
                                        .thread = track_of(rows),
                                        .end_thread = GT_NO_TRACK,
                                        .lane = GT_NO_TRACK,
                                        .kind = (uint8_t)(is_mark ? GT_RANGE_MARK : GT_RANGE_NESTED),
                                    });
}

static void add_python_call(struct gt_xla_rows *rows, const struct gt_xla_event *event) {
    char text[NAME_MAX_BYTES];
    size_t length = gt_xla_names_python(event->name, text, sizeof text);
    gt_builder_python_call(rows->builder, &(struct gt_python_calls_row){
                                              .start_ns = event->start_ns,
                                              .end_ns = event->end_ns,
                                              .name = gt_builder_string(rows->builder, (struct gt_str){text, length}),
                                              .thread = track_of(rows),
                                          });
}

static void add_total(struct gt_xla_rows *rows, const struct gt_xla_event *event, int64_t device) {
    struct gt_counter_tracks_row track = {
        .process = process_of(rows),
        .device = device,
        .name = gt_builder_string(rows->builder, GT_STR("Total Allocated")),
        .series = gt_builder_string(rows->builder, event->texts[GT_XLA_STAT_ALLOCATOR]),
        .unit = gt_builder_string(rows->builder, GT_STR("bytes")),
        .kind = GT_COUNTER_STATE,
    };
    gt_builder_counter(rows->builder, gt_builder_counter_track(rows->builder, &track), event->start_ns,
                       (double)event->numbers[GT_XLA_STAT_ALLOCATED]);
}

/* XLA's allocators take blocks of memory that they have had from the driver since the beginning. */
static void add_memory_event(struct gt_xla_rows *rows, const struct gt_xla_event *event) {
    bool is_free = event->host.kind == GT_XLA_HOST_DEALLOCATION;
    uint64_t bytes = number(event, GT_XLA_STAT_BYTES, UINT64_MAX);
    if (!has(event, GT_XLA_STAT_ALLOCATOR) || bytes > INT64_MAX) {
        gt_builder_skip(rows->builder);
        return;
    }
    int64_t device = gt_xla_names_allocator(event->texts[GT_XLA_STAT_ALLOCATOR]);
    if (has(event, GT_XLA_STAT_ALLOCATED) && reads(rows, GT_FACT_COUNTERS))
        add_total(rows, event, device);
    if (!reads(rows, GT_FACT_MEMORY))
        return;
    gt_builder_memory_event(rows->builder, &(struct gt_memory_events_row){
                                               .time_ns = event->start_ns,
                                               .bytes = is_free ? -(int64_t)bytes : (int64_t)bytes,
                                               .address = number(event, GT_XLA_STAT_ADDRESS, UINT64_MAX),
                                               .correlation = GT_NO_CORRELATION,
                                               .allocated_bytes = number(event, GT_XLA_STAT_ALLOCATED, UINT64_MAX),
                                               .reserved_bytes = UINT64_MAX,
                                               .pool = UINT64_MAX,
                                               .pool_bytes = UINT64_MAX,
                                               .pool_used_bytes = UINT64_MAX,
                                               .pool_kept_bytes = UINT64_MAX,
                                               .device = device,
                                               .stream = -1,
                                               .process = process_of(rows),
                                               .thread = track_of(rows),
                                               .kind = (uint8_t)(device < 0 ? GT_MEMORY_PINNED : GT_MEMORY_DEVICE),
                                               .operation = (uint8_t)(is_free ? GT_MEMORY_FREE : GT_MEMORY_ALLOCATE),
                                               .source = GT_MEMORY_OF_FRAMEWORK,
                                           });
}

static void add_overhead(struct gt_xla_rows *rows, const struct gt_xla_event *event, bool is_driver_work) {
    uint32_t thread = rows->line->kind == GT_XLA_LINE_THREAD ? track_of(rows) : GT_NO_TRACK;
    gt_strid name = name_of(rows, event);
    if (is_driver_work)
        gt_builder_driver_work(rows->builder,
                               &(struct gt_driver_work_row){event->start_ns, event->end_ns, name, thread});
    else
        gt_builder_overhead(rows->builder, &(struct gt_overheads_row){event->start_ns, event->end_ns, name, thread});
}

/* What an event of a thread is read for. */
static uint32_t host_facts(const struct gt_xla_event *event) {
    if (has(event, GT_XLA_STAT_CORRELATION))
        return GT_FACT_CALLS;
    switch (event->host.kind) {
    case GT_XLA_HOST_CALL:
        return GT_FACT_CALLS;
    case GT_XLA_HOST_PYTHON:
        return GT_FACT_STACKS;
    case GT_XLA_HOST_OVERHEAD:
    case GT_XLA_HOST_DRIVER_WORK:
        return GT_FACT_OVERHEADS;
    case GT_XLA_HOST_ALLOCATION:
    case GT_XLA_HOST_DEALLOCATION:
        return GT_FACT_MEMORY | GT_FACT_COUNTERS;
    default:
        return GT_FACT_RANGES;
    }
}

static void add_host(struct gt_xla_rows *rows, const struct gt_xla_event *event) {
    uint32_t facts = host_facts(event);
    if (!reads(rows, facts))
        gt_builder_skip(rows->builder);
    else if (facts == GT_FACT_CALLS)
        add_call(rows, event);
    else if (facts == GT_FACT_STACKS)
        add_python_call(rows, event);
    else if (facts == GT_FACT_OVERHEADS)
        add_overhead(rows, event, event->host.kind == GT_XLA_HOST_DRIVER_WORK);
    else if (facts == GT_FACT_RANGES)
        add_range(rows, event);
    else
        add_memory_event(rows, event);
}

static void add_counter(struct gt_xla_rows *rows, const struct gt_xla_event *event) {
    struct gt_counter_tracks_row track = {
        .process = GT_NO_TRACK,
        .device = rows->line->device,
        .name = name_of(rows, event),
        .kind = GT_COUNTER_STATE,
    };
    if (event->has_value)
        gt_builder_counter(rows->builder, gt_builder_counter_track(rows->builder, &track), event->start_ns,
                           event->value);
    else
        gt_builder_skip(rows->builder);
}

void gt_xla_rows_add(struct gt_xla_rows *rows, const struct gt_xla_event *event, uint64_t offset) {
    switch (rows->line->kind) {
    case GT_XLA_LINE_STREAM:
        add_op(rows, event, offset);
        break;
    case GT_XLA_LINE_THREAD:
        add_host(rows, event);
        break;
    case GT_XLA_LINE_OVERHEAD:
        add_overhead(rows, event, false);
        break;
    case GT_XLA_LINE_COUNTERS:
        add_counter(rows, event);
        break;
    default:
        gt_builder_skip(rows->builder);
    }
}
