/* A job of two ranks in one trace, made by hand: each process computes and meets the other in collectives. */
#ifndef RANK_WORLD_H
#define RANK_WORLD_H

#include "ranks/rank_job.h"
#include "ranks/rank_reduce.h"
#include "small_trace.h"

#define COMM_KERNEL "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

struct rank_world {
    struct small_trace trace;
    uint64_t correlation;
    struct gt_rank_summary *summaries;
    size_t count;
};

static inline void world_begin(struct rank_world *world) {
    *world = (struct rank_world){0};
    trace_begin(&world->trace);
}

/* A kernel of a process on the device with the number of its rank, launched just before it. */
static inline void world_kernel(struct rank_world *world, int64_t rank, int64_t start_ns, int64_t end_ns,
                                const char *name) {
    world->correlation++;
    add_op(&world->trace, 10 + rank, rank, 7, start_ns, end_ns, world->correlation, name);
    add_call(&world->trace, 10 + rank, 1, start_ns - 20, start_ns - 10, world->correlation);
}

static inline void world_collective(struct rank_world *world, int64_t rank, int64_t start_ns, int64_t end_ns,
                                    uint64_t bytes) {
    struct gt_builder *builder = &world->trace.builder;
    struct gt_comms_row row = GT_COMM_UNKNOWN;
    const struct gt_comm_groups_row group = {.communicator = UINT64_MAX,
                                             .size = 2,
                                             .first_rank = 0,
                                             .stride = 1,
                                             .name = gt_builder_string(builder, GT_STR("tp")),
                                             .ranks = gt_builder_string(builder, GT_STR("[0, 1]"))};
    world_kernel(world, rank, start_ns, end_ns, COMM_KERNEL);
    row.name = gt_builder_string(builder, GT_STR("allreduce"));
    row.dtype = gt_builder_string(builder, GT_STR("BFloat16"));
    row.in_bytes = row.out_bytes = bytes;
    row.external = world->correlation;
    row.group = gt_builder_comm_group(builder, &group);
    row.op = 0; /* the last one */
    gt_builder_comm(builder, &row);
}

static inline void world_reduce(struct rank_world *world) {
    struct gt_error err = {0};
    trace_end(&world->trace);
    const struct gt_rank_reduce_input input = {.store = world->trace.store,
                                               .labels = world->trace.labels,
                                               .path = "made.json",
                                               .name = GT_STR("made.json"),
                                               .threads = 1};
    assert_int_equal(gt_rank_reduce(&input, &world->summaries, &world->count, &err), GT_OK);
}

static inline void world_free(struct rank_world *world) {
    gt_rank_reduce_free(world->summaries, world->count);
    trace_free(&world->trace);
}

/* Rank 1 computes twice as long: rank 0 waits for it in the second collective. */
static inline void world_make(struct rank_world *world) {
    world_begin(world);
    for (int64_t rank = 0; rank < 2; rank++) {
        world_kernel(world, rank, 1000, 2000, "gemm");
        world_collective(world, rank, 2000, 2500, 1024);
        world_kernel(world, rank, 2500, rank ? 4500 : 3500, "gemm");
        world_collective(world, rank, rank ? 4500 : 3500, 5000, 4096);
        world_kernel(world, rank, 5000, 5100, "gemm");
    }
    world_reduce(world);
}

static inline void world_analyse(const struct rank_world *world, struct gt_rank_job *job) {
    struct gt_rank_summary *list[2] = {&world->summaries[0], &world->summaries[1]};
    const struct gt_rank_job_options options = {.threads = 1, .keeps_exposed = true};
    struct gt_error err = {0};
    assert_int_equal(gt_rank_job_analyse(job, list, world->count, &options, &err), GT_OK);
}

#endif
