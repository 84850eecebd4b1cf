/* Random traces with all that an exploration shows, and every question that can be asked of one. */
#ifndef TESTS_UNIT_EXPLORE_WORLD_H
#define TESTS_UNIT_EXPLORE_WORLD_H

#include "base/out.h"
#include "explore/explore.h"
#include "explore/model.h"
#include "measure_world.h"

static inline void explore_world_python(struct world *world, uint32_t thread, int64_t start_ns, int64_t length_ns) {
    gt_builder_python_call(
        &world->builder,
        &(struct gt_python_calls_row){start_ns, start_ns + length_ns, world_text(world, "train.py(3): step"), thread});
}

/* A world of ops, calls, ranges and operators, with Python functions and synchronizations besides. */
static inline void explore_world_random(struct world *world, uint64_t seed) {
    world_begin(world, seed);
    uint64_t *random = &world->random;
    struct gt_builder *builder = &world->builder;
    for (uint64_t i = 0, count = 1 + random_below(random, 40); i < count; i++) {
        uint32_t process = gt_builder_process(builder, 50 + (int64_t)random_below(random, 2), GT_STR(""));
        uint32_t thread = gt_builder_thread(builder, process, (int64_t)random_below(random, 2), GT_STR(""));
        world_add_op(world, process, i);
        world_add_call(world, world_calls[random_below(random, 3)], thread, i);
        if (random_below(random, 3) == 0)
            world_add_call(world, world_blocking[random_below(random, 3)], thread, GT_NO_CORRELATION);
        int64_t start = world_time(world);
        if (random_below(random, 2) == 0)
            gt_builder_cpu_op(builder, &(struct gt_cpu_ops_row){start, start + (int64_t)random_below(random, 60),
                                                                world_text(world, "aten::mm"), thread});
        if (random_below(random, 2) == 0)
            explore_world_python(world, thread, start, (int64_t)random_below(random, 90));
        if (random_below(random, 4) == 0)
            gt_builder_range(builder, &(struct gt_ranges_row){.start_ns = start,
                                                              .end_ns = start + (int64_t)random_below(random, 60),
                                                              .name = world_text(world, "ProfilerStep#4"),
                                                              .thread = thread,
                                                              .end_thread = GT_NO_TRACK,
                                                              .lane = GT_NO_TRACK});
    }
    world_seal(world);
}

static inline enum gt_status explore_world_new(const struct world *world, int64_t threads, struct gt_explore **explore,
                                               struct gt_error *err) {
    struct gt_explore_trace trace = {.store = world->store,
                                     .labels = world->labels,
                                     .label = GT_STR("world"),
                                     .names = GPUTIME_NAMES_FULL,
                                     .threads = threads};
    return gt_explore_new(&trace, explore, err);
}

static inline enum gt_status explore_world_ask_items(const struct gt_explore *explore, struct gt_out *out,
                                                     struct gt_error *err) {
    enum gt_status status = GT_OK;
    for (uint32_t lane = 0; lane < explore->lane_count && status == GT_OK; lane++) {
        const struct gt_model_lane *at = &explore->lanes[lane];
        for (size_t i = 0; at->spans && i < at->pyramid.row.count && i < 3 && status == GT_OK; i++) {
            struct gt_interval times = gt_model_times(explore, at->row.kind, at->pyramid.row.first + i);
            status =
                gt_explore_item(explore, &(struct gt_explore_item){lane, times.start_ns, times.end_ns, 0}, out, err);
        }
    }
    return status;
}

/* All kinds of questions, one after the other, into one text. */
static inline enum gt_status explore_world_ask(const struct gt_explore *explore, struct gt_out *out,
                                               struct gt_error *err) {
    enum gt_status status = gt_explore_lanes(explore, out, err);
    for (int64_t from_ns = -20; from_ns < 200 && status == GT_OK; from_ns += 55)
        status = gt_explore_window(explore, &(struct gt_explore_window){from_ns, from_ns + 100, 7, NULL, 0}, out, err);
    for (int back = 0; back < 2 && status == GT_OK; back++)
        status = gt_explore_search(explore, &(struct gt_explore_search){GT_STR("mE"), 60, back != 0, 5}, out, err);
    for (int of = 0; of < 3; of++)
        for (int by = 0; by < 2 && status == GT_OK; by++)
            status = gt_explore_flame(
                explore, &(struct gt_explore_flame){(enum gt_explore_of)of, (enum gt_explore_by)by, 10, 150}, out, err);
    return status == GT_OK ? explore_world_ask_items(explore, out, err) : status;
}

#endif
