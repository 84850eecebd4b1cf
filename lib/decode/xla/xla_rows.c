/* Turns events of XLA's profiler into ops and what is known about them. */
#include "decode/xla/xla_rows.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/num.h"
#include "decode/xla/xla_host.h"

#define BIT(stat) (UINT32_C(1) << (stat))

enum { NAME_MAX_BYTES = 512 };

void gt_xla_rows_init(struct gt_xla_rows *rows, struct gt_builder *builder, const struct gt_xla_capture *capture) {
    *rows = (struct gt_xla_rows){.builder = builder, .capture = capture, .track = GT_NO_TRACK};
}

void gt_xla_rows_release(struct gt_xla_rows *rows) {
    gt_xla_scopes_release(&rows->scopes);
}

void gt_xla_rows_begin(struct gt_xla_rows *rows, const struct gt_xla_line *line, uint64_t order) {
    rows->line = line;
    rows->order = order;
    rows->track = GT_NO_TRACK;
    rows->is_unscoped = false;
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
               (facts & GT_FACT_CONFIGS ? BIT(GT_XLA_STAT_OCCUPANCY) : 0) |
               (facts & GT_FACT_RANGES ? BIT(GT_XLA_STAT_OPERATION) : 0);
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

uint32_t gt_xla_rows_process(struct gt_xla_rows *rows) {
    int64_t pid = rows->capture->pid;
    return gt_builder_process(rows->builder, pid, pid < 0 ? GT_STR("/host:CPU") : GT_STR(""));
}

uint32_t gt_xla_rows_track(struct gt_xla_rows *rows) {
    const struct gt_xla_line *line = rows->line;
    if (rows->track != GT_NO_TRACK)
        return rows->track;
    uint32_t process = gt_xla_rows_process(rows);
    if (line->kind == GT_XLA_LINE_STREAM) {
        rows->track = gt_builder_lane(rows->builder, process, line->device, line->number);
    } else {
        rows->track = gt_builder_thread(rows->builder, process, line->number, GT_STR(""));
        gt_builder_name_thread(rows->builder, rows->track, line->name);
    }
    return rows->track;
}

gt_strid gt_xla_rows_name(const struct gt_xla_rows *rows, const struct gt_xla_event *event) {
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
    return gt_xla_rows_name(rows, event);
}

static gt_strid set_name(const struct gt_xla_rows *rows, const struct gt_copies_row *copy) {
    return gt_builder_string(rows->builder,
                             copy->dst == GT_MEMORY_DEVICE ? GT_STR("Memset (Device)") : GT_STR("Memset"));
}

/* AMD's copies have no kinds of memory. */
static struct gt_copies_row copy_of(const struct gt_xla_event *event, enum gt_op_kind kind) {
    struct gt_str details = event->texts[kind == GT_OP_MEMCPY ? GT_XLA_STAT_MEMCPY : GT_XLA_STAT_MEMSET];
    struct gt_copies_row copy = {.bytes = UINT64_MAX};
    if (kind == GT_OP_MEMCPY && gt_xla_rows_has(event, GT_XLA_STAT_MEMCPY)) {
        copy.bytes = gt_xla_names_number(details, GT_STR("size"));
        copy.src = (uint8_t)gt_xla_names_memory(gt_xla_names_detail(details, GT_STR("kind_src")));
        copy.dst = (uint8_t)gt_xla_names_memory(gt_xla_names_detail(details, GT_STR("kind_dst")));
    } else if (kind == GT_OP_MEMSET && gt_xla_rows_has(event, GT_XLA_STAT_MEMSET)) {
        copy.bytes = gt_xla_names_number(details, GT_STR("num_bytes"));
        copy.dst = (uint8_t)gt_xla_names_memory(gt_xla_names_detail(details, GT_STR("kind")));
    }
    return copy;
}

static enum gt_op_kind kind_of(const struct gt_xla_event *event) {
    if (gt_xla_rows_has(event, GT_XLA_STAT_KERNEL))
        return GT_OP_KERNEL;
    if (gt_xla_rows_has(event, GT_XLA_STAT_MEMCPY) || gt_str_starts(event->name, GT_STR("Memcpy")))
        return GT_OP_MEMCPY;
    if (gt_xla_rows_has(event, GT_XLA_STAT_MEMSET) || gt_str_starts(event->name, GT_STR("Memset")))
        return GT_OP_MEMSET;
    return gt_xla_rows_has(event, GT_XLA_STAT_GRAPH_WHOLE) ? GT_OP_GRAPH : GT_OP_KERNEL;
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
    if (gt_xla_rows_has(event, GT_XLA_STAT_OCCUPANCY))
        config.occupancy_percent = event->occupancy;
    else if (gt_num_parse_real(gt_xla_names_detail(details, GT_STR("occ_pct")), &occupancy))
        config.occupancy_percent = occupancy;
    /* The profiler writes 0 where it could not compute it. */
    if (!(config.occupancy_percent > 0 && config.occupancy_percent <= 100))
        config.occupancy_percent = -1;
    gt_builder_kernel_config(rows->builder, &config);
}

static void add_scope(struct gt_xla_rows *rows, const struct gt_xla_event *event, const struct gt_ops_row *op) {
    struct gt_str operation = GT_STR("");
    if (gt_xla_rows_has(event, GT_XLA_STAT_OPERATION))
        operation = event->texts[GT_XLA_STAT_OPERATION];
    if (operation.len == 0 && rows->is_unscoped)
        return;
    rows->is_unscoped = operation.len == 0;
    gt_xla_scopes_add(&rows->scopes, &(struct gt_xla_scope_op){
                                         .order = rows->order,
                                         .device = rows->line->device,
                                         .stream = rows->line->number,
                                         .start_ns = op->start_ns,
                                         .end_ns = op->end_ns,
                                         .correlation = op->correlation,
                                         .operation = operation,
                                     });
}

static void add_op(struct gt_xla_rows *rows, const struct gt_xla_event *event, uint64_t offset) {
    /* Memory that is allocated, freed or moved on demand stands on the same lines. */
    if (gt_xla_rows_has(event, GT_XLA_STAT_MEMORY) || gt_str_eq(event->name, GT_STR("UnifiedMemory"))) {
        gt_builder_skip(rows->builder);
        return;
    }
    enum gt_op_kind kind = kind_of(event);
    struct gt_copies_row copy = copy_of(event, kind);
    uint64_t graph = gt_xla_rows_number(event, GT_XLA_STAT_GRAPH, 0);
    struct gt_ops_row row = {
        .start_ns = event->start_ns,
        .end_ns = event->end_ns,
        .correlation = gt_xla_rows_number(event, GT_XLA_STAT_CORRELATION, GT_NO_CORRELATION),
        .name = kind == GT_OP_MEMCPY   ? copy_name(rows, event, &copy)
                : kind == GT_OP_MEMSET ? set_name(rows, &copy)
                                       : gt_xla_rows_name(rows, event),
        .lane = gt_xla_rows_track(rows),
        .kind = (uint8_t)kind,
        .flags =
            kind != GT_OP_GRAPH && (graph || gt_xla_rows_number(event, GT_XLA_STAT_GRAPH_NODE, 0)) ? GT_OP_IN_GRAPH : 0,
    };
    if (!gt_builder_op(rows->builder, &row))
        return;
    if (row.name == GT_STRID_EMPTY)
        gt_builder_issue_of(rows->builder, GT_ISSUE_OP_WITHOUT_NAME, GT_FACT_OPS, 1, offset);
    if (copy.bytes != UINT64_MAX)
        gt_builder_copy(rows->builder, &copy);
    if (kind == GT_OP_GRAPH)
        graph = event->numbers[GT_XLA_STAT_GRAPH_WHOLE];
    if (graph && graph < UINT32_MAX && gt_xla_rows_reads(rows, GT_FACT_GRAPHS))
        gt_builder_graph_op(rows->builder, &(struct gt_graph_ops_row){.graph = (uint32_t)graph});
    if (gt_xla_rows_has(event, GT_XLA_STAT_KERNEL) && gt_xla_rows_reads(rows, GT_FACT_CONFIGS))
        add_config(rows, event);
    if (gt_xla_rows_reads(rows, GT_FACT_RANGES))
        add_scope(rows, event, &row);
}

static void add_counter(struct gt_xla_rows *rows, const struct gt_xla_event *event) {
    struct gt_counter_tracks_row track = {
        .process = GT_NO_TRACK,
        .device = rows->line->device,
        .name = gt_xla_rows_name(rows, event),
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
        gt_xla_host_add(rows, event);
        break;
    case GT_XLA_LINE_OVERHEAD:
        gt_xla_host_add_overhead(rows, event, false);
        break;
    case GT_XLA_LINE_COUNTERS:
        add_counter(rows, event);
        break;
    default:
        gt_builder_skip(rows->builder);
    }
}

bool gt_xla_rows_join(struct gt_xla_rows *const *rows, size_t count) {
    struct gt_xla_scopes **scopes = gt_mem_array(count, sizeof *scopes);
    struct gt_builder **builders = gt_mem_array(count, sizeof *builders);
    bool has_scopes = false, is_done = scopes && builders;
    for (size_t i = 0; is_done && i < count; i++) {
        scopes[i] = &rows[i]->scopes;
        builders[i] = rows[i]->builder;
        has_scopes |= gt_xla_scopes_has_any(scopes[i]) || scopes[i]->failed;
    }
    if (is_done && has_scopes)
        is_done = gt_xla_scopes_join(scopes, builders, count, gt_xla_rows_process(rows[0]));
    gt_mem_free(scopes);
    gt_mem_free(builders);
    return is_done;
}
