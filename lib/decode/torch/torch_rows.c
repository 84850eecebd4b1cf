/* The last step of reading a trace: an event's values come in, a row of the builder goes out. */
#include "decode/torch/torch_sink.h"
#include "decode/torch/torch_value.h"
#include "events/builder.h"

static struct gt_torch_track_cache *cache_slot(struct gt_torch_track_cache *cache, int64_t major, int64_t minor) {
    uint64_t hash = ((uint64_t)major * 31 + (uint64_t)minor) * UINT64_C(0x9E3779B97F4A7C15);
    return &cache[hash >> 32 & (GT_TORCH_CACHE_SLOTS - 1)];
}

uint32_t gt_torch_sink_thread(struct gt_torch_sink *sink, int64_t pid, int64_t tid) {
    struct gt_torch_track_cache *slot = cache_slot(sink->threads, pid, tid);
    if (!slot->is_set || slot->major != pid || slot->minor != tid) {
        uint32_t process = gt_builder_process(sink->builder, pid, (struct gt_str){"", 0});
        uint32_t thread = gt_builder_thread(sink->builder, process, tid, (struct gt_str){"", 0});
        *slot = (struct gt_torch_track_cache){pid, tid, thread, true};
    }
    return slot->id;
}

/* Kineto puts GPU work under the device, not under the process that launched it. */
uint32_t gt_torch_sink_lane(struct gt_torch_sink *sink, int64_t device, int64_t stream) {
    struct gt_torch_track_cache *slot = cache_slot(sink->lanes, device, stream);
    if (!slot->is_set || slot->major != device || slot->minor != stream) {
        uint32_t lane = gt_builder_lane(sink->builder, GT_NO_TRACK, device, stream);
        *slot = (struct gt_torch_track_cache){device, stream, lane, true};
    }
    return slot->id;
}

void gt_torch_sink_add_graph(struct gt_torch_sink *sink, enum gt_torch_category category, int64_t graph, int64_t node) {
    if (graph > 0 && graph < UINT32_MAX && sink->facts & GT_FACT_GRAPHS)
        gt_builder_graph_op(sink->builder, &(struct gt_graph_ops_row){.graph = (uint32_t)graph});
    if (node > 0 && category != GT_TORCH_CAT_KERNEL && sink->facts & GT_FACT_CONFIGS) {
        struct gt_launch_details_row details = GT_LAUNCH_DETAIL_UNKNOWN; /* of kernels there is more */
        details.graph_node = (uint64_t)node;
        gt_builder_launch_detail(sink->builder, &details);
    }
}

void gt_torch_sink_add_bytes(struct gt_torch_sink *sink, const struct gt_torch_row *row, int64_t bytes) {
    if (bytes < 0)
        return;
    struct gt_copies_row copy = {.bytes = (uint64_t)bytes};
    gt_torch_value_memory_kinds(gt_strtab_get(&sink->builder->store.strings, row->name), &copy.src, &copy.dst);
    gt_builder_copy(sink->builder, &copy);
}

void gt_torch_sink_add_range(struct gt_torch_sink *sink, const struct gt_torch_row *row) {
    bool is_gpu_side = row->category == GT_TORCH_CAT_GPU_RANGE;
    gt_builder_range(sink->builder, &(struct gt_ranges_row){.start_ns = row->start_ns,
                                                            .end_ns = row->end_ns,
                                                            .name = row->name,
                                                            .thread = is_gpu_side ? GT_NO_TRACK : row->track,
                                                            .end_thread = GT_NO_TRACK,
                                                            .lane = is_gpu_side ? row->track : GT_NO_TRACK,
                                                            .kind = is_gpu_side ? GT_RANGE_GPU : GT_RANGE_NESTED});
}

/* Loading of code is the program's own, no matter who measures it; the rest is the profiler's. */
static void add_overhead(struct gt_builder *builder, const struct gt_torch_row *row) {
    struct gt_str name = gt_store_string(&builder->store, row->name);
    if (gt_str_eq(name, GT_STR("Lazy Function Loading")) || gt_str_eq(name, GT_STR("Runtime Triggered Module Loading")))
        gt_builder_driver_work(builder,
                               &(struct gt_driver_work_row){row->start_ns, row->end_ns, row->name, row->track});
    else
        gt_builder_overhead(builder, &(struct gt_overheads_row){row->start_ns, row->end_ns, row->name, row->track});
}

void gt_torch_sink_add_rare(struct gt_torch_sink *sink, const struct gt_torch_row *row) {
    if (row->category == GT_TORCH_CAT_OVERHEAD)
        add_overhead(sink->builder, row);
    else if (row->category == GT_TORCH_CAT_PYTHON)
        gt_builder_python_call(sink->builder,
                               &(struct gt_python_calls_row){row->start_ns, row->end_ns, row->name, row->track});
    else
        gt_torch_sink_add_range(sink, row);
}
