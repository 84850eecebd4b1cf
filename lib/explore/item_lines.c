/* Gathers what the store and the labels say of one op, gap, range, operator, function, call or step. */
#include "explore/item_lines.h"

#include "base/ns.h"
#include "events/comms.h"
#include "measure/results/calls.h"
#include "measure/results/phase_map.h"

/* The row of a table with rows for some ops, in their order; SIZE_MAX: none. */
static size_t find_sparse(const uint32_t *column, size_t count, uint32_t row) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (column[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && column[low] == row ? low : SIZE_MAX;
}

static struct gt_str choice(enum gt_refers refers, uint8_t code) {
    const char *choices = gt_store_choices(refers);
    struct gt_str word = {"", 0};
    for (uint8_t i = 0; gt_store_choices_next(&choices, &word); i++)
        if (i == code)
            return word;
    return (struct gt_str){"", 0};
}

static void write_number(struct gt_item *item, const char *key, const char *title, uint64_t value, const char *unit) {
    if (value <= INT64_MAX)
        gt_item_write_int(item, key, title, (int64_t)value, unit);
}

/* ---- ops ---- */

static void write_config(struct gt_item *item, uint32_t op) {
    const struct gt_kernel_configs *configs = &item->explore->trace.store->kernel_configs;
    size_t c = find_sparse(configs->op, configs->count, op);
    if (c == SIZE_MAX)
        return;
    gt_item_write_dims(item, "grid", "Grid", configs->grid_x[c], configs->grid_y[c], configs->grid_z[c]);
    gt_item_write_dims(item, "block", "Block", configs->block_x[c], configs->block_y[c], configs->block_z[c]);
    if (configs->registers[c] != UINT32_MAX)
        gt_item_write_int(item, "registers", "Registers per thread", configs->registers[c], "count");
    write_number(item, "shared_bytes", "Shared memory per block", configs->shared_bytes[c], "bytes");
    write_number(item, "static_shared_bytes", "Static shared memory", configs->static_shared_bytes[c], "bytes");
    write_number(item, "dynamic_shared_bytes", "Dynamic shared memory", configs->dynamic_shared_bytes[c], "bytes");
    if (configs->occupancy_percent[c] >= 0)
        gt_item_write_real(item, "occupancy", "Occupancy (estimate)", configs->occupancy_percent[c], "%");
}

static void write_copy(struct gt_item *item, uint32_t op) {
    const struct gt_store *store = item->explore->trace.store;
    size_t c = find_sparse(store->copies.op, store->copies.count, op);
    if (c == SIZE_MAX)
        return;
    int64_t length_ns = gt_ns_between(store->ops.start_ns[op], store->ops.end_ns[op]);
    write_number(item, "bytes", "Bytes", store->copies.bytes[c], "bytes");
    if (length_ns > 0)
        gt_item_write_real(item, "bandwidth", "Bandwidth", (double)store->copies.bytes[c] * 1e9 / (double)length_ns,
                           "bytes/s");
    if (store->copies.src[c] != GT_MEMORY_UNKNOWN)
        gt_item_write_text(item, "source", "From memory", choice(GT_REFERS_MEMORY_KIND, store->copies.src[c]));
    if (store->copies.dst[c] != GT_MEMORY_UNKNOWN)
        gt_item_write_text(item, "target", "To memory", choice(GT_REFERS_MEMORY_KIND, store->copies.dst[c]));
}

static void write_collective(struct gt_item *item, uint32_t op) {
    const struct gt_store *store = item->explore->trace.store;
    const struct gt_labels *labels = item->explore->trace.labels;
    const struct gt_comm_launch *launch = gt_comms_of_op(labels, op);
    if (!launch || launch->count == 0)
        return;
    const struct gt_collective *collective = &labels->comms.collectives[launch->first];
    const struct gt_comm_group *group = gt_comms_group(labels, collective);
    struct gt_comms_row record = gt_comms_merged(store, collective);
    const char *key = gt_comms_op_key((enum gt_comm_op)collective->op);
    int64_t length_ns = gt_ns_between(store->ops.start_ns[op], store->ops.end_ns[op]);
    gt_item_write_text(item, "operation", "Collective", key ? gt_str_of(key) : gt_store_string(store, record.name));
    if (launch->count > 1)
        gt_item_write_int(item, "collectives", "Collectives in this launch", launch->count, "count");
    write_number(item, "message_bytes", "Message size", gt_comms_bytes(&record, (enum gt_comm_op)collective->op),
                 "bytes");
    double bus_bytes = gt_comms_bus_bytes(store, &record, (enum gt_comm_op)collective->op, group);
    if (length_ns > 0)
        gt_item_write_real(item, "bus_bandwidth", "Bus bandwidth", bus_bytes * 1e9 / (double)length_ns, "bytes/s");
    gt_item_write_text(item, "dtype", "Data type", gt_store_string(store, record.dtype));
    if (group && group->size > 0)
        gt_item_write_int(item, "group_size", "Ranks in the group", group->size, "count");
    if (group)
        gt_item_write_text(item, "group", "Group", gt_store_string(store, group->name));
    if (record.sequence != INT64_MIN)
        gt_item_write_int(item, "sequence", "Number in the group", record.sequence, "");
}

/* As the column `phase` of the frame of ops: that of the innermost range that has one. */
static enum gt_status write_phase(struct gt_item *item, uint32_t op, struct gt_error *err) {
    const struct gt_labels *labels = item->explore->trace.labels;
    const struct gt_store *store = item->explore->trace.store;
    struct gt_phase_map map;
    enum { RANGES_MAX = 10000 };
    if (labels->op_range[op] == GT_NO_ROW)
        return GT_OK;
    enum gt_status status = gt_phase_map_init(&map, NULL, err);
    uint32_t phase = GT_NO_PHASE, range = labels->op_range[op];
    for (size_t i = 0; status == GT_OK && phase == GT_NO_PHASE && range != GT_NO_ROW && i < RANGES_MAX; i++) {
        phase = gt_phase_map_find(&map, gt_store_string(store, store->ranges.name[range]));
        range = labels->range_parent[range];
    }
    if (phase != GT_NO_PHASE)
        gt_item_write_text(item, "phase", "Phase", map.phases[phase]);
    gt_phase_map_release(&map);
    return status;
}

static void write_launch(struct gt_item *item, uint32_t op) {
    const struct gt_store *store = item->explore->trace.store;
    const struct gt_labels *labels = item->explore->trace.labels;
    uint32_t call = labels->op_call[op];
    if (call == GT_NO_ROW)
        return;
    gt_item_write_text(item, "launch_call", "Launched by", gt_store_string(store, store->calls.name[call]));
    int64_t queue_ns = gt_calls_queue_ns(store, labels, op);
    if (queue_ns >= 0)
        gt_item_write_int(item, "queue_ns", "Queued after its launch", queue_ns, "ns");
    gt_item_write_int(item, "delay_ns", "From launch call to start",
                      gt_ns_between(store->calls.start_ns[call], store->ops.start_ns[op]), "ns");
}

static enum gt_status write_op(struct gt_item *item, struct gt_error *err) {
    const struct gt_store *store = item->explore->trace.store;
    const struct gt_labels *labels = item->explore->trace.labels;
    uint32_t op = item->row, step = labels->op_step[op];
    gt_item_write_text(item, "full_name", "Full name", gt_store_string(store, store->ops.name[op]));
    gt_item_write_text(item, "kind", "Kind", choice(GT_REFERS_OP_KIND, store->ops.kind[op]));
    gt_item_write_text(item, "category", "Category", gt_str_of(labels->categories[labels->op_category[op]].title));
    gt_item_write_int(item, "device", "GPU", store->devices.id[store->lanes.device[store->ops.lane[op]]], "");
    gt_item_write_int(item, "stream", "Stream", store->lanes.stream[store->ops.lane[op]], "");
    if (store->ops.correlation[op] != GT_NO_CORRELATION)
        write_number(item, "correlation", "Correlation", store->ops.correlation[op], "");
    write_launch(item, op);
    if (step != GT_NO_ROW)
        gt_item_write_int(item, "step", "Step", labels->steps[step].number, "");
    enum gt_status status = write_phase(item, op, err);
    write_config(item, op);
    write_copy(item, op);
    write_collective(item, op);
    size_t graph = find_sparse(store->graph_ops.op, store->graph_ops.count, op);
    if (graph != SIZE_MAX)
        gt_item_write_int(item, "graph", "CUDA graph", store->graph_ops.graph[graph], "");
    return status;
}

/* ---- the others ---- */

static const char *const cause_titles[GT_IDLE_CAUSE_COUNT] = {
    [GT_IDLE_SYNC] = "the launching thread waited in a blocking call",
    [GT_IDLE_HOST] = "the CPU had not launched the next op yet",
    [GT_IDLE_LAUNCH] = "the launch was under way",
    [GT_IDLE_DEPENDENCY] = "the next op was queued, waiting for other work",
    [GT_IDLE_UNKNOWN] = "the trace has no launch call of the next op",
    [GT_IDLE_END] = "until the end of the window",
};

static void write_gap(struct gt_item *item) {
    struct gt_idle_lanes_gap gap = gt_idle_lanes_gap(&item->explore->idle, item->span);
    gt_item_write_text(item, "cause", "Cause", gt_str_of(gt_idle_cause_names[gap.cause]));
    gt_item_write_text(item, "reason", "Why", gt_str_of(cause_titles[gap.cause]));
    if (gap.cause == GT_IDLE_HOST)
        gt_item_write_text(item, "activity", "CPU was", gt_str_of(gt_host_activity_names[gap.activity]));
    gt_item_write_int(item, "device", "GPU", item->explore->lanes[item->lane].row.device, "");
}

static void write_thread(struct gt_item *item) {
    const struct gt_timeline_row *row = &item->explore->lanes[item->lane].row;
    if (row->pid != GT_TIMELINE_UNKNOWN)
        gt_item_write_int(item, "pid", "Process", row->pid, "");
    if (row->tid != GT_TIMELINE_UNKNOWN)
        gt_item_write_int(item, "tid", "Thread", row->tid, "");
    gt_item_write_text(item, "thread", "Thread name", row->thread);
}

/* Of either kind: a projected one says when the CPU was in it. */
static void write_range(struct gt_item *item) {
    const struct gt_store *store = item->explore->trace.store;
    uint32_t row = item->row;
    if (store->ranges.count == 0) {
        gt_item_write_text(item, "domain", "Domain", gt_store_string(store, store->projections.domain[row]));
        return;
    }
    gt_item_write_text(item, "domain", "Domain", gt_store_string(store, store->ranges.domain[row]));
    if (item->kind == GT_TIMELINE_RANGES) {
        gt_item_write_int(item, "cpu_start_ns", "Start on the CPU",
                          gt_ns_between(store->origin_ns, store->ranges.start_ns[row]), "ns");
        gt_item_write_int(item, "cpu_ns", "Time on the CPU",
                          gt_ns_between(store->ranges.start_ns[row], store->ranges.end_ns[row]), "ns");
    }
}

static void write_operator(struct gt_item *item) {
    const struct gt_store *store = item->explore->trace.store;
    size_t a = find_sparse(store->operator_args.cpu_op, store->operator_args.count, item->row);
    if (a == SIZE_MAX)
        return;
    gt_item_write_text(item, "dims", "Input dims", gt_store_string(store, store->operator_args.dims[a]));
    gt_item_write_text(item, "types", "Input types", gt_store_string(store, store->operator_args.types[a]));
    if (store->operator_args.sequence[a] >= 0)
        gt_item_write_int(item, "sequence", "Sequence number", store->operator_args.sequence[a], "");
}

static void write_call(struct gt_item *item) {
    const struct gt_store *store = item->explore->trace.store;
    if (store->calls.correlation[item->row] != GT_NO_CORRELATION)
        write_number(item, "correlation", "Correlation", store->calls.correlation[item->row], "");
    if (gt_call_is_blocking(gt_store_string(store, store->calls.name[item->row])))
        gt_item_write_text(item, "blocks", "Blocks", GT_STR("until the GPU is done"));
}

enum gt_status gt_item_lines_write(struct gt_item *item, struct gt_error *err) {
    enum gt_status status = GT_OK;
    gt_item_write_int(item, "start_ns", "Start", item->times.start_ns, "ns");
    gt_item_write_int(item, "dur_ns", "Duration", gt_ns_between(item->times.start_ns, item->times.end_ns), "ns");
    switch (item->kind) {
    case GT_TIMELINE_OPS:
    case GT_TIMELINE_COLLECTIVES:
        status = write_op(item, err);
        break;
    case GT_TIMELINE_GAPS:
        write_gap(item);
        break;
    case GT_TIMELINE_STEPS:
        gt_item_write_int(item, "step", "Step", item->explore->trace.labels->steps[item->row].number, "");
        break;
    case GT_TIMELINE_RANGES:
    case GT_TIMELINE_HOST_RANGES:
        write_range(item);
        break;
    case GT_TIMELINE_OPERATORS:
        write_operator(item);
        break;
    case GT_TIMELINE_CALLS:
        write_call(item);
        break;
    default:
        break;
    }
    if (item->kind >= GT_TIMELINE_RANGES)
        write_thread(item);
    return status;
}
