/* Makes a store from bytes. Each row is a byte that says what it is and a few that say where; what is missing at the
   end is 0. Times are mostly near each other, so that rows overlap, touch and are equal; some are at the ends of what
   64 bits hold. */
#include "made_store.h"

#include <string.h>

#include "base/mem.h"
#include "events/builder.h"

enum { BUILDERS_MAX = 4, ROWS_OF_CHUNK = 5, TRACKS = 4 };

struct bytes {
    const uint8_t *p, *end;
};

struct making {
    struct bytes in;
    struct gt_builder *builder; /* the current one */
    int64_t now_ns, scale_ns;
    uint64_t correlation;
};

static const char *const names[] = {"void at::native::vectorized_elementwise_kernel<4, F>(int)",
                                    "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT",
                                    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
                                    "flash_fwd_kernel",
                                    "triton_poi_fused_add_3",
                                    "Memcpy HtoD (Pageable -> Device)",
                                    "cudaLaunchKernel",
                                    "cudaGraphLaunch",
                                    "cudaDeviceSynchronize",
                                    "cudaMemcpyAsync",
                                    "cudaStreamWaitEvent",
                                    "cudaMalloc",
                                    "ProfilerStep#3",
                                    "ProfilerStep#4",
                                    "ProfilerStep#5",
                                    "forward",
                                    "backward",
                                    "aten::mm",
                                    "aten::copy_",
                                    "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                                    "train.py(41): step",
                                    "Optimizer.step#AdamW.step",
                                    "SM Active",
                                    "allreduce",
                                    "[[64, 128], [128, 256]]",
                                    "['c10::BFloat16', 'c10::BFloat16']",
                                    "[0, 1, 2, 3]",
                                    ""};
enum { NAME_COUNT = sizeof names / sizeof *names };

static uint8_t take(struct bytes *in) {
    return in->p < in->end ? *in->p++ : 0;
}

static uint64_t take_wide(struct bytes *in, size_t size) {
    uint64_t value = 0;
    while (size--)
        value = value << 8 | take(in);
    return value;
}

/* One of the names, or up to 31 bytes of the input. */
static gt_strid take_name(struct making *making) {
    uint8_t choice = take(&making->in);
    struct gt_str text = gt_str_of(names[choice % NAME_COUNT]);
    size_t own = choice >= 0xe0 ? choice - 0xe0u : 0, left = (size_t)(making->in.end - making->in.p);
    if (choice >= 0xe0) {
        text = (struct gt_str){(const char *)making->in.p, own < left ? own : left};
        making->in.p += text.len;
    }
    return gt_builder_string(making->builder, text);
}

static void take_times(struct making *making, int64_t *start_ns, int64_t *end_ns) {
    uint8_t how = take(&making->in);
    int64_t step = (int8_t)take(&making->in), length = take(&making->in);
    if (how == 0xff) { /* anywhere */
        *start_ns = (int64_t)take_wide(&making->in, 8);
        *end_ns = (int64_t)take_wide(&making->in, 8);
        return;
    }
    making->now_ns += step * making->scale_ns;
    *start_ns = making->now_ns + (how & 7) * making->scale_ns;
    *end_ns = *start_ns + (length - (how & 8 ? 2 : 0)) * making->scale_ns * (how & 16 ? 16 : 1);
}

static uint32_t take_thread(struct making *making) {
    uint8_t choice = take(&making->in);
    uint32_t process = gt_builder_process(making->builder, 100 + choice / 2 % 2, (struct gt_str){"", 0});
    return choice == 0xff ? GT_NO_TRACK
                          : gt_builder_thread(making->builder, process, 100 + choice % TRACKS, (struct gt_str){"", 0});
}

static uint32_t take_process(struct making *making) {
    return gt_builder_process(making->builder, 100 + take(&making->in) % 2, (struct gt_str){"", 0});
}

static uint32_t take_lane(struct making *making) {
    uint8_t choice = take(&making->in);
    uint32_t process = choice & 64 ? GT_NO_TRACK : gt_builder_process(making->builder, 100, (struct gt_str){"", 0});
    return gt_builder_lane(making->builder, process, choice >> 2 & 3, choice & 3);
}

/* Near the last one, so that calls and ops find each other. */
static uint64_t take_correlation(struct making *making) {
    uint8_t choice = take(&making->in);
    if (choice == 0xff)
        return GT_NO_CORRELATION;
    making->correlation += choice >> 7;
    return making->correlation - (choice & 3) % (making->correlation + 1);
}

/* ---- rows ---- */

static void add_comm(struct making *making, bool of_op) {
    struct gt_comms_row row = GT_COMM_UNKNOWN;
    struct gt_comm_groups_row group = GT_COMM_GROUP_UNKNOWN;
    group.name = take_name(making);
    group.ranks = take_name(making);
    group.size = (int8_t)take(&making->in);
    row.group = gt_builder_comm_group(making->builder, &group);
    row.name = take_name(making);
    row.dtype = take_name(making);
    row.in_bytes = take_wide(&making->in, 3);
    row.out_bytes = take(&making->in) == 0xff ? UINT64_MAX : row.in_bytes;
    row.sequence = take(&making->in);
    row.external = take(&making->in);
    if (of_op)
        row.op = 0;
    else
        row.cpu_op = 0;
    gt_builder_comm(making->builder, &row);
}

static void add_config(struct making *making) {
    struct gt_kernel_configs_row row = GT_KERNEL_CONFIG_UNKNOWN;
    row.grid_x = (uint32_t)take_wide(&making->in, 4);
    row.grid_y = row.grid_z = take(&making->in);
    row.block_x = take(&making->in) * 4u;
    row.block_y = row.block_z = 1;
    row.registers = take(&making->in);
    row.occupancy_percent = take(&making->in) % 101;
    gt_builder_kernel_config(making->builder, &row);
}

static void add_op(struct making *making) {
    struct gt_ops_row row = {
        .name = take_name(making), .lane = take_lane(making), .correlation = take_correlation(making)};
    uint8_t more = take(&making->in);
    row.kind = more & 3;
    take_times(making, &row.start_ns, &row.end_ns);
    if (!gt_builder_op(making->builder, &row))
        return;
    if (row.kind == GT_OP_MEMCPY || row.kind == GT_OP_MEMSET)
        gt_builder_copy(
            making->builder,
            &(struct gt_copies_row){.bytes = take_wide(&making->in, more & 4 ? 8 : 2), .src = more >> 4 & 3, .dst = 3});
    if (more & 8)
        gt_builder_graph_op(making->builder, &(struct gt_graph_ops_row){.graph = more >> 6});
    if (more & 16)
        add_config(making);
    if (more & 32)
        add_comm(making, true);
}

static void add_call(struct making *making) {
    struct gt_calls_row row = {
        .name = take_name(making), .thread = take_thread(making), .correlation = take_correlation(making)};
    take_times(making, &row.start_ns, &row.end_ns);
    if (row.thread != GT_NO_TRACK)
        gt_builder_call(making->builder, &row);
}

static void add_range(struct making *making) {
    struct gt_ranges_row row = {.name = take_name(making), .end_thread = GT_NO_TRACK, .lane = GT_NO_TRACK};
    row.kind = take(&making->in) & 3;
    row.thread = row.kind == GT_RANGE_GPU ? GT_NO_TRACK : take_thread(making);
    if (row.thread == GT_NO_TRACK) {
        row.lane = take_lane(making);
        row.kind = GT_RANGE_GPU;
    }
    take_times(making, &row.start_ns, &row.end_ns);
    gt_builder_range(making->builder, &row);
    if (take(&making->in) & 1) {
        gt_builder_range_category(making->builder, &(struct gt_range_categories_row){.name = take_name(making)});
        gt_builder_range_text(making->builder,
                              &(struct gt_range_texts_row){.key = take_name(making), .text = take_name(making)});
    }
}

static void add_cpu_op(struct making *making) {
    struct gt_cpu_ops_row row = {.name = take_name(making), .thread = take_thread(making)};
    uint8_t more = take(&making->in);
    take_times(making, &row.start_ns, &row.end_ns);
    if (row.thread == GT_NO_TRACK)
        return;
    gt_builder_cpu_op(making->builder, &row);
    if (more & 1)
        gt_builder_operator_args(making->builder, &(struct gt_operator_args_row){.external = more,
                                                                                 .sequence = take(&making->in) - 1,
                                                                                 .dims = take_name(making),
                                                                                 .types = take_name(making),
                                                                                 .inputs = take_name(making)});
    if (more & 2)
        add_comm(making, false);
}

static void add_host_time(struct making *making) {
    uint8_t which = take(&making->in);
    gt_strid name = take_name(making);
    uint32_t thread = take_thread(making);
    int64_t start_ns, end_ns;
    take_times(making, &start_ns, &end_ns);
    if (which % 3 == 0)
        gt_builder_overhead(making->builder, &(struct gt_overheads_row){start_ns, end_ns, name, thread});
    else if (which % 3 == 1)
        gt_builder_driver_work(making->builder, &(struct gt_driver_work_row){start_ns, end_ns, name, thread});
    else if (thread != GT_NO_TRACK)
        gt_builder_python_call(making->builder, &(struct gt_python_calls_row){start_ns, end_ns, name, thread});
}

static void add_sync(struct making *making) {
    struct gt_syncs_row row = {.correlation = take_correlation(making),
                               .event = take(&making->in) & 3,
                               .process = take_process(making),
                               .stream = take(&making->in) % 4 - 1,
                               .wait_stream = take(&making->in) % 4 - 1};
    row.record = row.event;
    row.wait_correlation = row.correlation;
    row.kind = take(&making->in) % 6;
    take_times(making, &row.start_ns, &row.end_ns);
    gt_builder_sync(making->builder, &row);
    gt_builder_event_record(making->builder, &(struct gt_event_records_row){.correlation = row.correlation - 1,
                                                                            .event = row.event,
                                                                            .record = row.record,
                                                                            .stream = row.wait_stream,
                                                                            .process = row.process});
}

static void add_memory(struct making *making) {
    struct gt_memory_events_row row = {.bytes = (int16_t)take_wide(&making->in, 2),
                                       .address = take(&making->in) & 15u,
                                       .correlation = GT_NO_CORRELATION,
                                       .allocated_bytes = take_wide(&making->in, 2),
                                       .reserved_bytes = UINT64_MAX,
                                       .pool = UINT64_MAX,
                                       .pool_bytes = UINT64_MAX,
                                       .pool_used_bytes = UINT64_MAX,
                                       .pool_kept_bytes = UINT64_MAX,
                                       .device = take(&making->in) % 4 - 1,
                                       .process = take_process(making),
                                       .thread = GT_NO_TRACK};
    int64_t unused;
    row.kind = take(&making->in) % 7;
    row.operation = row.bytes < 0;
    row.source = take(&making->in) & 1;
    take_times(making, &row.time_ns, &unused);
    gt_builder_memory_event(making->builder, &row);
}

static void add_counter(struct making *making) {
    struct gt_counter_tracks_row track = {.process = GT_NO_TRACK,
                                          .device = take(&making->in) & 3,
                                          .name = take_name(making),
                                          .unit = gt_builder_string(making->builder, GT_STR("%"))};
    int64_t time_ns, unused;
    track.kind = take(&making->in) & 1;
    track.period_ns = track.kind ? 0 : 1000;
    uint32_t number = gt_builder_counter_track(making->builder, &track);
    take_times(making, &time_ns, &unused);
    if (number != GT_NO_TRACK)
        gt_builder_counter(making->builder, number, time_ns, (double)take_wide(&making->in, 2));
}

static void add_flow(struct making *making) {
    struct gt_flows_row row = {.id = take(&making->in) & 7u, .thread = take_thread(making)};
    int64_t unused;
    row.phase = take(&making->in) & 1;
    take_times(making, &row.time_ns, &unused);
    if (row.thread != GT_NO_TRACK)
        gt_builder_flow(making->builder, &row);
}

static void add_row(struct making *making) {
    static void (*const kinds[])(struct making *) = {
        add_op,     add_op,        add_op,   add_call,   add_call,    add_range, add_range, add_cpu_op,
        add_cpu_op, add_host_time, add_sync, add_memory, add_counter, add_flow,  add_op,    add_call};
    kinds[take(&making->in) % (sizeof kinds / sizeof *kinds)](making);
}

struct gt_store *fuzz_made_store(const uint8_t *data, size_t size, size_t builder_count) {
    struct gt_builder builders[BUILDERS_MAX];
    struct making making = {.in = {data, data + size}, .correlation = 1};
    struct gt_store *store = NULL;
    making.scale_ns = (int64_t[]){1, 100, 7000, 1000000}[take(&making.in) & 3];
    making.now_ns = (int64_t[]){0, 1000, INT64_C(1700000000000000000), -5}[take(&making.in) & 3];
    for (size_t i = 0; i < builder_count; i++)
        if (gt_builder_init(&builders[i], "torch-json", NULL) != GT_OK)
            return NULL; /* nothing of this runs without memory */
    for (uint64_t chunk = 0; making.in.p < making.in.end; chunk++) {
        making.builder = &builders[chunk % builder_count];
        gt_builder_begin(making.builder, chunk);
        for (size_t row = 0; row < ROWS_OF_CHUNK && making.in.p < making.in.end; row++)
            add_row(&making);
        gt_builder_end(making.builder);
    }
    gt_store_seal(builders, builder_count, &store, NULL);
    if (store)
        store->asked = store->possible = GT_FACTS_ALL;
    return store;
}
