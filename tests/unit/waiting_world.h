/* A GPU that waits for one thread: an op, a gap, and the op after it, with what the thread does meanwhile. */
#ifndef TESTS_UNIT_WAITING_WORLD_H
#define TESTS_UNIT_WAITING_WORLD_H

#include "measure_world.h"

#include "measure/results/idle.h"

enum { US = 1000, GAP_START = 100 * US };

struct waiting {
    struct world world;
    struct gt_idle idle;
    uint32_t thread, other_thread;
    uint64_t correlation;
};

static inline void waiting_call(struct waiting *it, const char *name, int64_t start_ns, int64_t end_ns,
                                uint64_t correlation) {
    gt_builder_call(&it->world.builder,
                    &(struct gt_calls_row){start_ns, end_ns, correlation, world_text(&it->world, name), it->thread});
}

/* An op, launched by a call of the thread. */
static inline void waiting_op(struct waiting *it, const char *name, int64_t call_start_ns, int64_t call_end_ns,
                              int64_t start_ns, int64_t end_ns) {
    uint64_t correlation = ++it->correlation;
    waiting_call(it, "cudaLaunchKernel", call_start_ns, call_end_ns, correlation);
    assert_true(
        gt_builder_op(&it->world.builder,
                      &(struct gt_ops_row){start_ns, end_ns, correlation, world_text(&it->world, name),
                                           gt_builder_lane(&it->world.builder, GT_NO_TRACK, 0, 7), GT_OP_KERNEL, 0}));
}

static inline void waiting_range(struct waiting *it, const char *name, int64_t start_ns, int64_t end_ns) {
    gt_builder_range(&it->world.builder, &(struct gt_ranges_row){.start_ns = start_ns,
                                                                 .end_ns = end_ns,
                                                                 .name = world_text(&it->world, name),
                                                                 .thread = it->thread,
                                                                 .end_thread = GT_NO_TRACK,
                                                                 .lane = GT_NO_TRACK,
                                                                 .kind = GT_RANGE_NESTED});
}

static inline void waiting_operator(struct waiting *it, const char *name, int64_t start_ns, int64_t end_ns) {
    gt_builder_cpu_op(&it->world.builder,
                      &(struct gt_cpu_ops_row){start_ns, end_ns, world_text(&it->world, name), it->thread});
}

static inline void waiting_python(struct waiting *it, const char *name, int64_t start_ns, int64_t end_ns) {
    gt_builder_python_call(&it->world.builder,
                           &(struct gt_python_calls_row){start_ns, end_ns, world_text(&it->world, name), it->thread});
}

/* The GPU is busy from 0 to the start of the gap. */
static inline void waiting_begin(struct waiting *it) {
    memset(it, 0, sizeof *it);
    world_begin(&it->world, 1);
    uint32_t process = gt_builder_process(&it->world.builder, 1, GT_STR(""));
    it->thread = gt_builder_thread(&it->world.builder, process, 1, GT_STR(""));
    it->other_thread = gt_builder_thread(&it->world.builder, process, 2, GT_STR(""));
    waiting_op(it, "first", -10 * US, -9 * US, 0, GAP_START);
}

/* Ends the gap with an op that is launched in the microsecond before it, and finds the gaps. */
static inline void waiting_seal(struct waiting *it, int64_t gap_ns) {
    struct gt_error err = {0};
    int64_t end_ns = GAP_START + gap_ns;
    waiting_op(it, "last", end_ns - 1 * US, end_ns, end_ns, end_ns + 100 * US);
    world_seal(&it->world);
    assert_int_equal(gt_view_new(it->world.store, it->world.labels, ask(&it->world.options, &it->world.asked),
                                 &it->world.view, &err),
                     GT_OK);
    assert_int_equal(gt_idle_init(&it->idle, it->world.view, &err), GT_OK);
    assert_int_equal(it->idle.count, 1);
}

static inline void waiting_end(struct waiting *it) {
    gt_idle_release(&it->idle);
    world_end(&it->world);
}

#endif
