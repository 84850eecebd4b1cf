/* GPU work of a Perfetto trace: ops of a view come in, render stage events with their kernels, queues and launch
   arguments go out, a sequence for each GPU. */
#include <stdio.h>

#include "base/mem.h"
#include "export/perfetto_fields.h"
#include "export/perfetto_names.h"
#include "export/perfetto_part.h"

/* Interned numbers of stages and, after them, of queues, which share one space. */
enum { IID_STAGE = 1, IID_QUEUE = 16 };

static const struct {
    const char *name;
    uint32_t category;
} stages[] = {
    [GT_OP_KERNEL] = {"kernel", STAGE_COMPUTE},
    [GT_OP_MEMCPY] = {"memcpy", STAGE_OTHER},
    [GT_OP_MEMSET] = {"memset", STAGE_OTHER},
    [GT_OP_GRAPH] = {"graph", STAGE_COMPUTE},
};

/* Interned numbers of arguments: their names are those that Perfetto's views know, where they know any. */
enum arg {
    ARG_OF_CATEGORY = 1,
    ARG_OF_BYTES,
    ARG_OF_SRC,
    ARG_OF_DST,
    ARG_OF_GRAPH,
    ARG_OF_IN_GRAPH,
    ARG_OF_REGISTERS,
    ARG_OF_STATIC,
    ARG_OF_DYNAMIC,
    ARG_OF_SHARED,
    ARG_OF_LOCAL,
    ARG_OF_OCCUPANCY,
    ARG_OF_BLOCKS,
    ARG_OF_WARPS,
    ARG_OF_CLUSTER_X,
    ARG_OF_CLUSTER_Y,
    ARG_OF_CLUSTER_Z,
    ARG_OF_PRIORITY,
    ARG_OF_GRAPH_NODE,
    ARG_OF_LIMITERS,
    ARG_OF_ACTIVE_BLOCKS,
    ARG_OF_LIMIT_REGISTERS,
    ARG_OF_LIMIT_SHARED,
    ARG_OF_LIMIT_WARPS,
    ARG_OF_LIMIT_BLOCKS,
    ARG_OF_LIMIT_BARRIERS,
    ARG_OF_ALLOCATED_REGISTERS,
    ARG_OF_ALLOCATED_SHARED_BYTES,
    ARG_OF_CHANNEL,
    ARG_OF_CHANNEL_TYPE,
    ARG_COUNT
};
static const char *const arg_names[ARG_COUNT] = {
    [ARG_OF_CATEGORY] = "category",
    [ARG_OF_BYTES] = "bytes",
    [ARG_OF_SRC] = "src",
    [ARG_OF_DST] = "dst",
    [ARG_OF_GRAPH] = "graph",
    [ARG_OF_IN_GRAPH] = "in_graph",
    [ARG_OF_REGISTERS] = "registers_per_thread",
    [ARG_OF_STATIC] = "shared_mem_static",
    [ARG_OF_DYNAMIC] = "shared_mem_dynamic",
    [ARG_OF_SHARED] = "shared_mem",
    [ARG_OF_LOCAL] = "local_mem_per_thread",
    [ARG_OF_OCCUPANCY] = "occupancy_percent",
    [ARG_OF_BLOCKS] = "blocks_per_multiprocessor",
    [ARG_OF_WARPS] = "warps_per_multiprocessor",
    [ARG_OF_CLUSTER_X] = "cluster_x",
    [ARG_OF_CLUSTER_Y] = "cluster_y",
    [ARG_OF_CLUSTER_Z] = "cluster_z",
    [ARG_OF_PRIORITY] = "priority",
    [ARG_OF_GRAPH_NODE] = "graph_node",
    [ARG_OF_LIMITERS] = "limiters",
    [ARG_OF_ACTIVE_BLOCKS] = "active_blocks",
    [ARG_OF_LIMIT_REGISTERS] = "limit_registers",
    [ARG_OF_LIMIT_SHARED] = "limit_shared",
    [ARG_OF_LIMIT_WARPS] = "limit_warps",
    [ARG_OF_LIMIT_BLOCKS] = "limit_blocks",
    [ARG_OF_LIMIT_BARRIERS] = "limit_barriers",
    [ARG_OF_ALLOCATED_REGISTERS] = "allocated_registers",
    [ARG_OF_ALLOCATED_SHARED_BYTES] = "allocated_shared_bytes",
    [ARG_OF_CHANNEL] = "channel",
    [ARG_OF_CHANNEL_TYPE] = "channel_type",
};

/* Interned numbers of texts: kinds of memory, then categories, then those of the store. */
enum { IID_MEMORY = 1, IID_CATEGORY = 16, IID_TEXT = 1 << 20 };

struct gpu {
    const struct gt_perfetto_part *part;
    const struct gt_view_device *device;
};

static int64_t time_ns(const void *context, size_t event) {
    const struct gpu *gpu = context;
    return gpu->part->view->start_ns[gpu->device->first + event];
}

/* ---- names ---- */

static void intern_specification(struct gt_wire *wire, uint64_t iid, struct gt_str name, struct gt_str description,
                                 uint32_t category) {
    size_t entry = gt_wire_begin(wire, INTERNED_GPU_SPECIFICATIONS);
    gt_wire_uint(wire, INTERNED_IID, iid);
    gt_wire_text(wire, INTERNED_NAME, name);
    if (description.len)
        gt_wire_text(wire, SPECIFICATION_DESCRIPTION, description);
    gt_wire_uint(wire, SPECIFICATION_CATEGORY, category);
    gt_wire_end(wire, entry);
}

/* Streams of a GPU are described by their process, and have it in their name where several use the GPU. */
static void intern_queues(const struct gpu *gpu, struct gt_wire *wire) {
    const struct gt_view *view = gpu->part->view;
    const struct gt_view_lane *lanes = &view->lanes[gpu->device->first_lane];
    bool has_several = false;
    for (size_t i = 0; i < gpu->device->lane_count; i++)
        has_several |= gt_perfetto_part_lane_process(gpu->part, lanes[i].lane) !=
                       gt_perfetto_part_lane_process(gpu->part, lanes[0].lane);
    for (size_t i = 0; i < gpu->device->lane_count; i++) {
        uint32_t lane = lanes[i].lane, owner = gt_perfetto_part_lane_process(gpu->part, lane);
        char process[40] = "", name[80];
        if (owner != GT_NO_TRACK)
            snprintf(process, sizeof process, "process %d", (int)gt_perfetto_part_pid(gpu->part, owner));
        int length = snprintf(name, sizeof name, "Stream %lld%s%s", (long long)view->store->lanes.stream[lane],
                              has_several && process[0] ? " of " : "", has_several ? process : "");
        intern_specification(wire, IID_QUEUE + (uint64_t)lane, (struct gt_str){name, (size_t)length},
                             gt_str_of(process), STAGE_COMPUTE);
    }
}

static void intern_contexts(const struct gpu *gpu, struct gt_wire *wire) {
    const struct gt_store *store = gpu->part->store;
    for (uint32_t i = 0; i < store->processes.count; i++) {
        size_t entry = gt_wire_begin(wire, INTERNED_GRAPHICS_CONTEXTS);
        gt_wire_uint(wire, INTERNED_IID, (uint64_t)i + 1);
        gt_wire_int(wire, CONTEXT_PID, gt_perfetto_part_pid(gpu->part, i));
        gt_wire_uint(wire, CONTEXT_API, gpu->part->api);
        gt_wire_end(wire, entry);
    }
}

static void intern_constants(const struct gpu *gpu, struct gt_wire *wire) {
    const char *memory_kinds = gt_store_choices(GT_REFERS_MEMORY_KIND);
    struct gt_str kind;
    const struct gt_labels *labels = gpu->part->labels;
    for (size_t i = 0; i < GT_ARRAY_COUNT(stages); i++)
        intern_specification(wire, IID_STAGE + i, gt_str_of(stages[i].name), GT_STR(""), stages[i].category);
    for (size_t i = 1; i < ARG_COUNT; i++)
        gt_perfetto_names_add(wire, INTERNED_COMPUTE_ARG_NAMES, i, gt_str_of(arg_names[i]));
    for (size_t i = 0; gt_store_choices_next(&memory_kinds, &kind); i++)
        gt_perfetto_names_add(wire, INTERNED_ANNOTATION_STRINGS, IID_MEMORY + i, kind);
    for (size_t i = 0; i < labels->category_count; i++)
        gt_perfetto_names_add(wire, INTERNED_ANNOTATION_STRINGS, IID_CATEGORY + i,
                              gt_str_of(labels->categories[i].key));
}

static size_t begin_arg(struct gt_wire *wire, uint32_t field, enum arg arg) {
    size_t entry = gt_wire_begin(wire, field);
    gt_wire_uint(wire, ARG_NAME_IID, arg);
    return entry;
}

/* A kernel of this name. Its category is that of all of them. */
static void intern_kernel(const struct gpu *gpu, size_t position, struct gt_wire *wire) {
    const struct gt_view *view = gpu->part->view;
    const struct gt_devices *devices = &view->store->devices;
    uint32_t device = gpu->device->device;
    size_t entry = gt_wire_begin(wire, INTERNED_COMPUTE_KERNELS);
    gt_wire_uint(wire, INTERNED_IID, (uint64_t)view->name[position] + 1);
    gt_wire_text(wire, KERNEL_NAME, gt_labels_short_name(view->labels, view->name[position]));
    gt_wire_text(wire, KERNEL_DEMANGLED_NAME, gt_view_op_name(view, position));
    if (devices->compute_major[device]) {
        char arch[40];
        int length =
            snprintf(arch, sizeof arch, "sm_%u%u", devices->compute_major[device], devices->compute_minor[device]);
        gt_wire_text(wire, KERNEL_ARCH, (struct gt_str){arch, (size_t)length});
    }
    size_t arg = begin_arg(wire, KERNEL_ARGS, ARG_OF_CATEGORY);
    gt_wire_uint(wire, ARG_STRING_IID, IID_CATEGORY + (uint64_t)view->category[position]);
    gt_wire_end(wire, arg);
    gt_wire_end(wire, entry);
}

static uint32_t row_of(const uint32_t *rows, uint32_t op) {
    return rows ? rows[op] : GT_NO_ROW;
}

/* GT_STRID_EMPTY: not known. */
static gt_strid limiters_of(const struct gt_perfetto_part *part, size_t position) {
    uint32_t launch = row_of(part->launch, part->view->row[position]);
    return launch == GT_NO_ROW ? GT_STRID_EMPTY : part->store->launch_details.limiters[launch];
}

static bool intern_all(const void *context, struct gt_wire *wire) {
    const struct gpu *gpu = context;
    const struct gt_view *view = gpu->part->view;
    size_t first = gpu->device->first, count = gpu->device->count;
    struct gt_perfetto_names names, kernels, texts;
    bool is_done = gt_perfetto_names_init(&names, view->store->strings.count, count);
    is_done = gt_perfetto_names_init(&texts, view->store->strings.count, count) && is_done;
    is_done = gt_perfetto_names_init(&kernels, view->store->strings.count, count) && is_done;
    intern_constants(gpu, wire);
    intern_queues(gpu, wire);
    intern_contexts(gpu, wire);
    for (size_t i = first; is_done && i < first + count; i++) {
        if (gt_perfetto_names_is_new(&names, view->name[i]))
            gt_perfetto_names_add(wire, INTERNED_EVENT_NAMES, (uint64_t)view->name[i] + 1, gt_view_op_name(view, i));
        if (gt_store_kind_is_kernel(view->kind[i]) && gt_perfetto_names_is_new(&kernels, view->name[i]))
            intern_kernel(gpu, i, wire);
        gt_strid limiters = limiters_of(gpu->part, i);
        if (limiters != GT_STRID_EMPTY && gt_perfetto_names_is_new(&texts, limiters))
            gt_perfetto_names_add(wire, INTERNED_ANNOTATION_STRINGS, IID_TEXT + (uint64_t)limiters,
                                  gt_store_string(view->store, limiters));
    }
    is_done = gt_perfetto_names_release(&names) && is_done;
    is_done = gt_perfetto_names_release(&texts) && is_done;
    return gt_perfetto_names_release(&kernels) && is_done;
}

/* ---- events ---- */

static void add_uint(struct gt_wire *wire, enum arg arg, uint64_t value) {
    size_t entry = begin_arg(wire, LAUNCH_ARGS, arg);
    gt_wire_uint(wire, ARG_UINT, value);
    gt_wire_end(wire, entry);
}

static void add_known(struct gt_wire *wire, enum arg arg, uint64_t value) {
    if (value != UINT64_MAX)
        add_uint(wire, arg, value);
}

static void add_known_32(struct gt_wire *wire, enum arg arg, uint32_t value) {
    if (value != UINT32_MAX)
        add_uint(wire, arg, value);
}

static void add_real(struct gt_wire *wire, enum arg arg, double value) {
    if (!(value >= 0))
        return;
    size_t entry = begin_arg(wire, LAUNCH_ARGS, arg);
    gt_wire_double(wire, ARG_DOUBLE, value);
    gt_wire_end(wire, entry);
}

static void add_text(struct gt_wire *wire, enum arg arg, uint64_t iid) {
    size_t entry = begin_arg(wire, LAUNCH_ARGS, arg);
    gt_wire_uint(wire, ARG_STRING_IID, iid);
    gt_wire_end(wire, entry);
}

static void add_dimensions(struct gt_wire *wire, uint32_t field, uint32_t x, uint32_t y, uint32_t z) {
    if (x == UINT32_MAX || y == UINT32_MAX || z == UINT32_MAX)
        return;
    size_t entry = gt_wire_begin(wire, field);
    gt_wire_uint(wire, DIM_X, x);
    gt_wire_uint(wire, DIM_Y, y);
    gt_wire_uint(wire, DIM_Z, z);
    gt_wire_end(wire, entry);
}

static void add_config(const struct gt_kernel_configs *configs, uint32_t row, struct gt_wire *wire) {
    add_dimensions(wire, LAUNCH_GRID_SIZE, configs->grid_x[row], configs->grid_y[row], configs->grid_z[row]);
    add_dimensions(wire, LAUNCH_WORKGROUP_SIZE, configs->block_x[row], configs->block_y[row], configs->block_z[row]);
    add_known_32(wire, ARG_OF_REGISTERS, configs->registers[row]);
    add_known(wire, ARG_OF_STATIC, configs->static_shared_bytes[row]);
    add_known(wire, ARG_OF_DYNAMIC, configs->dynamic_shared_bytes[row]);
    add_known(wire, ARG_OF_SHARED, configs->shared_bytes[row]);
    add_known(wire, ARG_OF_LOCAL, configs->local_bytes[row]);
    add_real(wire, ARG_OF_OCCUPANCY, configs->occupancy_percent[row]);
    add_real(wire, ARG_OF_BLOCKS, configs->blocks_per_multiprocessor[row]);
    add_real(wire, ARG_OF_WARPS, configs->warps_per_multiprocessor[row]);
    add_known_32(wire, ARG_OF_CLUSTER_X, configs->cluster_x[row]);
    add_known_32(wire, ARG_OF_CLUSTER_Y, configs->cluster_y[row]);
    add_known_32(wire, ARG_OF_CLUSTER_Z, configs->cluster_z[row]);
    if (configs->priority[row] != INT64_MIN) {
        size_t priority = begin_arg(wire, LAUNCH_ARGS, ARG_OF_PRIORITY);
        gt_wire_int(wire, ARG_INT, configs->priority[row]);
        gt_wire_end(wire, priority);
    }
}

static void add_details(const struct gt_launch_details *details, uint32_t row, struct gt_wire *wire) {
    add_known(wire, ARG_OF_GRAPH_NODE, details->graph_node[row]);
    if (details->limiters[row] != GT_STRID_EMPTY)
        add_text(wire, ARG_OF_LIMITERS, IID_TEXT + (uint64_t)details->limiters[row]);
    add_known_32(wire, ARG_OF_ACTIVE_BLOCKS, details->active_blocks[row]);
    add_known_32(wire, ARG_OF_LIMIT_REGISTERS, details->limit_registers[row]);
    add_known_32(wire, ARG_OF_LIMIT_SHARED, details->limit_shared[row]);
    add_known_32(wire, ARG_OF_LIMIT_WARPS, details->limit_warps[row]);
    add_known_32(wire, ARG_OF_LIMIT_BLOCKS, details->limit_blocks[row]);
    add_known_32(wire, ARG_OF_LIMIT_BARRIERS, details->limit_barriers[row]);
    add_known_32(wire, ARG_OF_ALLOCATED_REGISTERS, details->allocated_registers[row]);
    add_known_32(wire, ARG_OF_ALLOCATED_SHARED_BYTES, details->allocated_shared_bytes[row]);
    add_known_32(wire, ARG_OF_CHANNEL, details->channel[row]);
    add_known_32(wire, ARG_OF_CHANNEL_TYPE, details->channel_type[row]);
}

static void add_launch(const struct gt_perfetto_part *part, size_t position, struct gt_wire *wire) {
    const struct gt_store *store = part->store;
    uint32_t op = part->view->row[position];
    uint32_t config = row_of(part->config, op), copy = row_of(part->copy, op), graph = row_of(part->graph, op);
    uint32_t details = row_of(part->launch, op);
    bool is_kernel = gt_store_kind_is_kernel(part->view->kind[position]),
         is_in_graph = store->ops.flags[op] & GT_OP_IN_GRAPH;
    if (is_kernel && config == GT_NO_ROW && graph == GT_NO_ROW && details == GT_NO_ROW && !is_in_graph)
        return;
    size_t launch = gt_wire_begin(wire, STAGE_LAUNCH);
    if (config != GT_NO_ROW)
        add_config(&store->kernel_configs, config, wire);
    if (details != GT_NO_ROW)
        add_details(&store->launch_details, details, wire);
    if (!is_kernel)
        add_text(wire, ARG_OF_CATEGORY, IID_CATEGORY + (uint64_t)part->view->category[position]);
    if (copy != GT_NO_ROW) {
        add_uint(wire, ARG_OF_BYTES, store->copies.bytes[copy]);
        add_text(wire, ARG_OF_SRC, IID_MEMORY + (uint64_t)store->copies.src[copy]);
        add_text(wire, ARG_OF_DST, IID_MEMORY + (uint64_t)store->copies.dst[copy]);
    }
    if (graph != GT_NO_ROW)
        add_uint(wire, ARG_OF_GRAPH, store->graph_ops.graph[graph]);
    if (is_in_graph)
        add_uint(wire, ARG_OF_IN_GRAPH, 1);
    gt_wire_end(wire, launch);
}

static void encode(const void *context, size_t event, struct gt_wire *wire) {
    const struct gpu *gpu = context;
    const struct gt_view *view = gpu->part->view;
    size_t position = gpu->device->first + event, stage = gt_wire_begin(wire, PACKET_GPU_RENDER_STAGE_EVENT);
    uint32_t launcher = gt_view_op_process(view, position);
    uint32_t process = launcher != GT_NO_TRACK ? launcher : gpu->part->owner;
    int64_t length_ns = gt_view_op_ns(view, position);
    gt_wire_uint(wire, STAGE_EVENT_ID, gpu->part->event_id + position);
    gt_wire_uint(wire, STAGE_DURATION, length_ns > 0 ? (uint64_t)length_ns : 0);
    if (process != GT_NO_TRACK)
        gt_wire_uint(wire, STAGE_CONTEXT, (uint64_t)process + 1);
    gt_wire_int(wire, STAGE_GPU_ID, gt_perfetto_part_gpu(gpu->part, gpu->device->device));
    gt_wire_uint(wire, STAGE_HW_QUEUE_IID, IID_QUEUE + (uint64_t)view->lane[position]);
    gt_wire_uint(wire, STAGE_STAGE_IID, IID_STAGE + (uint64_t)view->kind[position]);
    if (gt_store_kind_is_kernel(view->kind[position]))
        gt_wire_uint(wire, STAGE_KERNEL_IID, (uint64_t)view->name[position] + 1);
    gt_wire_uint(wire, STAGE_NAME_IID, (uint64_t)view->name[position] + 1);
    add_launch(gpu->part, position, wire);
    gt_wire_end(wire, stage);
}

bool gt_perfetto_part_add_ops(struct gt_perfetto_part *part) {
    static const struct gt_perfetto_kind kind = {time_ns, intern_all, encode};
    const struct gt_view *view = part->view;
    struct gpu *gpus = gt_arena_array(&part->arena, view->device_count, sizeof *gpus);
    for (size_t i = 0; gpus && i < view->device_count; i++) {
        gpus[i] = (struct gpu){part, &view->devices[i]};
        gt_perfetto_file_add(part->file, (struct gt_perfetto_sequence){.kind = &kind,
                                                                       .context = &gpus[i],
                                                                       .count = view->devices[i].count,
                                                                       .add_ns = part->add_ns,
                                                                       .machine = part->machine});
    }
    return gpus || !view->device_count;
}
