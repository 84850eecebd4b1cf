/* The dependency graph: nodes and edges of small programs, binding edges and delays, the walk, simulation and slack. */
#include "graph/dag.h"

#include "base/mem.h"
#include "graph/dag_simulate.h"
#include "graph/dag_slack.h"
#include "graph/dag_walk.h"
#include "measure_world.h"

/* A program of one process: threads with calls, streams with ops. Times are in ns. */
struct program {
    struct world world;
    uint32_t process;
    uint64_t correlation;
    struct gt_dag *dag;
};

static void begin(struct program *program) {
    memset(program, 0, sizeof *program);
    world_begin(&program->world, 1);
    program->process = gt_builder_process(&program->world.builder, 10, GT_STR(""));
}

static uint32_t thread_of(struct program *program, int64_t tid) {
    return gt_builder_thread(&program->world.builder, program->process, tid, GT_STR(""));
}

static void call(struct program *program, int64_t tid, const char *name, int64_t start_ns, int64_t end_ns) {
    gt_builder_call(&program->world.builder, &(struct gt_calls_row){.start_ns = start_ns,
                                                                    .end_ns = end_ns,
                                                                    .correlation = ++program->correlation,
                                                                    .name = world_text(&program->world, name),
                                                                    .thread = thread_of(program, tid)});
}

static void op_of_last_call(struct program *program, int64_t stream, const char *name, int64_t start_ns, int64_t end_ns,
                            uint8_t flags) {
    struct gt_ops_row row = {.start_ns = start_ns,
                             .end_ns = end_ns,
                             .correlation = program->correlation,
                             .name = world_text(&program->world, name),
                             .lane = gt_builder_lane(&program->world.builder, program->process, 0, stream),
                             .kind = strncmp(name, "Memcpy", 6) == 0 ? GT_OP_MEMCPY : GT_OP_KERNEL,
                             .flags = flags};
    assert_true(gt_builder_op(&program->world.builder, &row));
}

static void launch(struct program *program, int64_t tid, int64_t stream, int64_t start_ns, int64_t op_start_ns,
                   int64_t op_end_ns) {
    call(program, tid, "cudaLaunchKernel_v7000", start_ns, start_ns + 5);
    op_of_last_call(program, stream, "k", op_start_ns, op_end_ns, 0);
}

static struct gt_dag *make(struct program *program, const struct gt_dag_moment *marks, size_t mark_count) {
    struct gt_error err = {0};
    world_seal(&program->world);
    assert_int_equal(gt_dag_new(program->world.store, program->world.labels, marks, mark_count, &program->dag, &err),
                     GT_OK);
    return program->dag;
}

static void end(struct program *program) {
    gt_dag_free(program->dag);
    world_end(&program->world);
}

static size_t edges_of(const struct gt_dag *dag, enum gt_dag_edge_kind kind) {
    return dag->kind_count[kind][0] + dag->kind_count[kind][1];
}

/* Each node comes after all that it waits for, and the simulation without a change gives the recorded times. */
static void check_laws(const struct gt_dag *dag) {
    struct gt_dag_times times = {0};
    assert_true(gt_dag_simulate(dag, &(struct gt_dag_change){0}, &times));
    for (uint32_t v = 0; v < dag->node_count; v++) {
        size_t binding = 0;
        for (uint32_t e = dag->first_edge[v]; e < dag->first_edge[v + 1]; e++) {
            assert_true(dag->edges[e].from < v);
            binding += (dag->edges[e].flags & GT_DAG_BINDS) != 0;
        }
        assert_int_equal(binding, dag->first_edge[v + 1] > dag->first_edge[v]);
        assert_int_equal(times.start_ns[v], dag->start_ns[v]);
        assert_int_equal(times.end_ns[v], dag->end_ns[v]);
    }
    gt_dag_simulate_release(&times);
}

/* ---- nodes and edges ---- */

static void calls_and_ops_are_nodes(void **state) {
    struct program program;
    (void)state;
    begin(&program);
    launch(&program, 1, 7, 100, 110, 150);
    launch(&program, 1, 7, 120, 151, 180);
    call(&program, 1, "cudaEventRecord", 126, 128);
    call(&program, 1, "cudaDeviceSynchronize", 130, 190);
    const struct gt_dag *dag = make(&program, NULL, 0);
    assert_int_equal(dag->node_count,
                     2 + 2 + 2 + 1); /* ops, launches, both ends of the wait, the thread's first moment */
    assert_int_equal(edges_of(dag, GT_DAG_LAUNCH), 2);
    assert_int_equal(edges_of(dag, GT_DAG_STREAM), 1);
    assert_int_equal(edges_of(dag, GT_DAG_SYNC), 1);
    assert_int_equal(edges_of(dag, GT_DAG_OWN), 1);
    assert_int_equal(edges_of(dag, GT_DAG_THINK), 3);
    assert_int_equal(dag->inferred_count, 0);
    check_laws(dag);
    const struct gt_dag_edge *binding = gt_dag_binding(dag, dag->op_node[1]);
    assert_int_equal(binding->kind, GT_DAG_STREAM);
    assert_int_equal(gt_dag_latency_ns(dag, dag->op_node[1], binding), 1);
    end(&program);
}

static void a_call_inside_another_belongs_to_it(void **state) {
    struct program program;
    (void)state;
    begin(&program);
    call(&program, 1, "cudaMemcpy", 100, 200);
    call(&program, 1, "cuMemcpyHtoD_v2", 110, 190);
    op_of_last_call(&program, 7, "Memcpy HtoD (Pageable -> Device)", 120, 150, 0);
    const struct gt_dag *dag = make(&program, NULL, 0);
    assert_int_equal(dag->node_count, 1 + 2 + 1);
    check_laws(dag);
    end(&program);
}

static void overlapping_ops_of_a_stream_begin_in_order(void **state) {
    struct program program;
    (void)state;
    begin(&program);
    launch(&program, 1, 7, 100, 110, 200);
    launch(&program, 1, 7, 120, 150, 260);
    launch(&program, 1, 7, 130, 160, 170); /* ends before the one before it */
    const struct gt_dag *dag = make(&program, NULL, 0);
    assert_int_equal(edges_of(dag, GT_DAG_STREAM), 3); /* two of the second, one of the third */
    check_laws(dag);
    end(&program);
}

static void check_graph_nodes(uint8_t flags) {
    struct program program;
    begin(&program);
    call(&program, 1, "cudaGraphLaunch", 100, 110);
    op_of_last_call(&program, 7, "a", 120, 150, flags);
    op_of_last_call(&program, 7, "b", 121, 180, flags);
    op_of_last_call(&program, 7, "c", 151, 170, flags); /* after a, while b runs */
    const struct gt_dag *dag = make(&program, NULL, 0);
    assert_int_equal(edges_of(dag, GT_DAG_LAUNCH), 3);
    assert_int_equal(edges_of(dag, GT_DAG_STREAM), 1);
    assert_int_equal(gt_dag_binding(dag, dag->op_node[2])->from, dag->op_node[0]);
    check_laws(dag);
    end(&program);
}

static void graph_nodes_wait_for_what_ended_last(void **state) {
    (void)state;
    check_graph_nodes(GT_OP_IN_GRAPH);
    check_graph_nodes(0); /* traces of older profilers: only the call says so */
}

static void edges_that_times_deny_are_left_out(void **state) {
    struct program program;
    (void)state;
    begin(&program);
    launch(&program, 1, 7, 100, 50, 150); /* the op began before its call */
    launch(&program, 1, 8, 110, 120, 100000);
    call(&program, 1, "cudaDeviceSynchronize", 130, 160); /* returned long before that op ended */
    const struct gt_dag *dag = make(&program, NULL, 0);
    assert_int_equal(dag->contradicting_count, 2);
    check_laws(dag);
    end(&program);
}

static void marks_inside_a_call_move_to_its_end(void **state) {
    struct program program;
    (void)state;
    begin(&program);
    launch(&program, 1, 7, 100, 110, 150);
    launch(&program, 1, 7, 120, 151, 180);
    uint32_t thread = thread_of(&program, 1);
    const struct gt_dag_moment marks[] = {{thread, 102}, {thread, 130}, {thread + 1, 5}};
    const struct gt_dag *dag = make(&program, marks, 3);
    assert_int_equal(dag->start_ns[dag->mark_node[0]], 105);
    assert_int_equal(dag->start_ns[dag->mark_node[1]], 130);
    assert_int_equal(dag->mark_node[2], GT_DAG_NONE);
    check_laws(dag);
    end(&program);
}

static void a_silent_thread_hands_its_work_over(void **state) {
    struct program program;
    const int64_t us = 1000;
    (void)state;
    begin(&program);
    launch(&program, 1, 7, 0, 10, 20);
    for (int64_t i = 0; i < 10; i++)
        launch(&program, 2, 7, (10 + 10 * i) * us, (11 + 10 * i) * us, (12 + 10 * i) * us);
    launch(&program, 1, 7, 120 * us, 121 * us, 122 * us);
    const struct gt_dag *dag = make(&program, NULL, 0);
    assert_int_equal(dag->kind_count[GT_DAG_HANDOVER][1], 2);
    assert_int_equal(edges_of(dag, GT_DAG_ORDER), 1);
    check_laws(dag);
    struct gt_dag_path path = {0};
    assert_true(gt_dag_walk(dag, &(struct gt_dag_way){dag->op_node[11], 0, 122 * us, &path}, 1));
    for (struct gt_dag_cursor cursor = gt_dag_walk_from(&path, 0); cursor.left;)
        assert_int_not_equal(gt_dag_walk_next(&cursor).time, GT_DAG_TIME_UNKNOWN);
    gt_dag_walk_release(&path);
    end(&program);
}

/* ---- what a graph is for ---- */

/* CPU-bound launches: 10 of 5 ns, 100 apart, each with an op of 20 right after. */
static const struct gt_dag *slow_cpu(struct program *program) {
    begin(program);
    for (int64_t i = 0; i < 10; i++)
        launch(program, 1, 7, 100 * i, 100 * i + 7, 100 * i + 27);
    return make(program, NULL, 0);
}

static int64_t simulated_end(const struct gt_dag *dag, const struct gt_dag_change *change, uint32_t op) {
    struct gt_dag_times times = {0};
    assert_true(gt_dag_simulate(dag, change, &times));
    int64_t end_ns = times.end_ns[dag->op_node[op]];
    gt_dag_simulate_release(&times);
    return end_ns;
}

static void simulations_follow_the_changes(void **state) {
    struct program program;
    const struct gt_dag *dag = slow_cpu(&program);
    (void)state;
    assert_int_equal(simulated_end(dag, &(struct gt_dag_change){0}, 9), 927);
    assert_int_equal(simulated_end(dag, &(struct gt_dag_change){.replays = true}, 9), 927);
    assert_int_equal(simulated_end(dag, &(struct gt_dag_change){.no_think = true}, 9), 10 * 20 + 7); /* GPU-bound */
    assert_int_equal(simulated_end(dag, &(struct gt_dag_change){.no_launch = true}, 9), 9 * 95 + 20);
    assert_int_equal(simulated_end(dag, &(struct gt_dag_change){.cpu_ppm = 500000}, 9), 9 * 48 + 9 * 3 + 3 + 2 + 20);
    struct gt_dag_meeting meeting = {.op = 9, .others_start_ns = 2000, .transfer_ns = 15};
    struct gt_dag_change joined = {.meetings = &meeting, .meeting_count = 1};
    assert_int_equal(simulated_end(dag, &joined, 9), 2015); /* another rank comes later */
    meeting.others_start_ns = 0;
    assert_int_equal(simulated_end(dag, &joined, 9), 922); /* this rank is the last */
    assert_int_equal(simulated_end(dag, &joined, 8), 827);
    end(&program);
}

/* All ops of the process are on GPU 1, but the wait says GPU 0. */
static void a_wait_on_a_gpu_without_work_is_for_any(void **state) {
    struct program program;
    (void)state;
    begin(&program);
    call(&program, 1, "cudaLaunchKernel", 0, 5);
    struct gt_ops_row row = {.start_ns = 10,
                             .end_ns = 500,
                             .correlation = program.correlation,
                             .name = world_text(&program.world, "k"),
                             .lane = gt_builder_lane(&program.world.builder, program.process, 1, 7),
                             .kind = GT_OP_KERNEL};
    assert_true(gt_builder_op(&program.world.builder, &row));
    for (int64_t i = 0; i < 2; i++) { /* one wait for the stream, one for the device */
        call(&program, 1, i ? "cudaDeviceSynchronize" : "cudaStreamSynchronize", 20 + 490 * i, 505 + 10 * i);
        gt_builder_sync(&program.world.builder, &(struct gt_syncs_row){.start_ns = 20 + 490 * i,
                                                                       .end_ns = 505 + 10 * i,
                                                                       .correlation = program.correlation,
                                                                       .event = UINT64_MAX,
                                                                       .record = UINT64_MAX,
                                                                       .wait_correlation = UINT64_MAX,
                                                                       .device = 0,
                                                                       .stream = i ? -1 : 7,
                                                                       .wait_stream = -1,
                                                                       .process = program.process});
    }
    const struct gt_dag *dag = make(&program, NULL, 0);
    assert_int_equal(dag->kind_count[GT_DAG_SYNC][0], 2);
    check_laws(dag);
    end(&program);
}

/* Stream 7 waits for an event that was recorded after communication on stream 17. */
static void points_without_edges_hold_nothing_up(void **state) {
    struct program program;
    (void)state;
    begin(&program);
    call(&program, 1, "cudaLaunchKernel", 0, 5);
    op_of_last_call(&program, 17, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 10, 500, 0);
    call(&program, 1, "cudaEventRecord", 20, 21);
    uint64_t record = program.correlation;
    call(&program, 1, "cudaStreamWaitEvent", 30, 31);
    gt_builder_sync(&program.world.builder, &(struct gt_syncs_row){.start_ns = 30,
                                                                   .end_ns = 31,
                                                                   .correlation = program.correlation,
                                                                   .event = UINT64_MAX,
                                                                   .record = UINT64_MAX,
                                                                   .wait_correlation = record,
                                                                   .device = 0,
                                                                   .stream = 7,
                                                                   .wait_stream = 17,
                                                                   .process = program.process});
    launch(&program, 1, 7, 40, 501, 521);
    const struct gt_dag *dag = make(&program, NULL, 0);
    assert_int_equal(edges_of(dag, GT_DAG_EVENT), 3); /* op, recording, wait, op */
    check_laws(dag);
    assert_int_equal(simulated_end(dag, &(struct gt_dag_change){0}, 1), 521);
    assert_int_equal(simulated_end(dag, &(struct gt_dag_change){.overlap_comm = true}, 1), 40 + 5 + 5 + 20);
    end(&program);
}

/* Compute and communication take turns on one stream: 4 x 100 ns each, launched at once. */
static void overlap_keeps_the_order_of_a_stream(void **state) {
    struct program program;
    (void)state;
    begin(&program);
    for (int64_t i = 0; i < 8; i++) {
        call(&program, 1, "cudaLaunchKernel", 5 * i, 5 * i + 5);
        op_of_last_call(&program, 7, i % 2 ? "ncclDevKernel_AllReduce_Sum_bf16_RING_LL" : "k", 100 * (i + 1),
                        100 * (i + 2), 0);
    }
    const struct gt_dag *dag = make(&program, NULL, 0);
    const struct gt_dag_change overlap = {.overlap_comm = true};
    check_laws(dag);
    assert_int_equal(simulated_end(dag, &overlap, 6), 500); /* the last kernel */
    assert_int_equal(simulated_end(dag, &overlap, 7), 600); /* waits for it */
    end(&program);
}

/* ---- several ranks ---- */

enum { RANKS = 2, COLLECTIVES = 2, TRANSFER_NS = 15 };
static const uint32_t collective_ops[COLLECTIVES] = {4, 9};

struct rank {
    struct program program;
    const struct gt_dag *dag;
    struct gt_dag_change change;
    struct gt_dag_meeting meetings[COLLECTIVES];
    int64_t start_ns[COLLECTIVES], end_ns[COLLECTIVES];
};

/* Ten launches; the fifth and the last op are collectives. */
static void begin_rank(struct rank *rank, int64_t every_ns) {
    *rank = (struct rank){0};
    begin(&rank->program);
    for (int64_t i = 0; i < 10; i++)
        launch(&rank->program, 1, 7, every_ns * i, every_ns * i + 7, every_ns * i + 27);
    rank->dag = make(&rank->program, NULL, 0);
    for (size_t i = 0; i < COLLECTIVES; i++)
        rank->meetings[i] =
            (struct gt_dag_meeting){.op = collective_ops[i], .others_start_ns = INT64_MIN, .transfer_ns = TRANSFER_NS};
}

static void simulate_rank(struct rank *rank) {
    struct gt_dag_times times = {0};
    rank->change.meetings = rank->meetings;
    rank->change.meeting_count = COLLECTIVES;
    assert_true(gt_dag_simulate(rank->dag, &rank->change, &times));
    for (size_t i = 0; i < COLLECTIVES; i++) {
        rank->start_ns[i] = times.start_ns[rank->dag->op_node[collective_ops[i]]];
        rank->end_ns[i] = times.end_ns[rank->dag->op_node[collective_ops[i]]];
    }
    gt_dag_simulate_release(&times);
}

/* Graphs of ranks are joined by what each tells the other: when its collectives begin. Every round settles one more. */
static void simulate_ranks(struct rank ranks[RANKS]) {
    for (size_t round = 0; round <= COLLECTIVES; round++) {
        for (size_t r = 0; r < RANKS; r++)
            simulate_rank(&ranks[r]);
        for (size_t r = 0; r < RANKS; r++)
            for (size_t i = 0; i < COLLECTIVES; i++)
                ranks[r].meetings[i].others_start_ns = ranks[!r].start_ns[i];
    }
}

static void ranks_meet_at_collectives(void **state) {
    struct rank ranks[RANKS];
    (void)state;
    begin_rank(&ranks[0], 100);
    begin_rank(&ranks[1], 60);
    simulate_ranks(ranks);
    const int64_t recorded[COLLECTIVES] = {407 + TRANSFER_NS, 907 + TRANSFER_NS}; /* the slower rank decides */
    for (size_t r = 0; r < RANKS; r++)
        assert_memory_equal(ranks[r].end_ns, recorded, sizeof recorded);
    assert_int_equal(ranks[1].start_ns[0], 247);
    ranks[0].change.no_think = true; /* now the other one is */
    simulate_ranks(ranks);
    for (size_t i = 0; i < COLLECTIVES; i++) {
        assert_int_equal(ranks[0].end_ns[i], ranks[1].end_ns[i]);
        assert_int_equal(ranks[1].end_ns[i], ranks[1].start_ns[i] + TRANSFER_NS);
        assert_true(ranks[0].start_ns[i] < ranks[1].start_ns[i]);
    }
    assert_true(ranks[1].end_ns[1] < recorded[1]);
    for (size_t r = 0; r < RANKS; r++)
        end(&ranks[r].program);
}

static void factors_round_to_the_nearest(void **state) {
    (void)state;
    assert_int_equal(gt_dag_simulate_scale(3, 500000), 2);
    assert_int_equal(gt_dag_simulate_scale(1, 499999), 0);
    assert_int_equal(gt_dag_simulate_scale(-3, 500000), -1);
    assert_int_equal(gt_dag_simulate_scale(INT64_MAX, 2000000), INT64_MAX);
    assert_int_equal(gt_dag_simulate_scale(INT64_MAX, GT_DAG_WHOLE), INT64_MAX);
}

static void the_walk_fills_the_window(void **state) {
    struct program program;
    const struct gt_dag *dag = slow_cpu(&program);
    struct gt_dag_path path = {0};
    int64_t sums[GT_DAG_TIME_COUNT] = {0}, at_ns = -50;
    (void)state;
    assert_true(gt_dag_walk(dag, &(struct gt_dag_way){dag->op_node[9], -50, 930, &path}, 1));
    for (struct gt_dag_cursor cursor = gt_dag_walk_from(&path, 0); cursor.left;) {
        struct gt_dag_segment segment = gt_dag_walk_next(&cursor);
        assert_int_equal(segment.start_ns, at_ns);
        at_ns = segment.end_ns;
        sums[segment.time] += segment.end_ns - segment.start_ns;
    }
    assert_int_equal(at_ns, 930);
    assert_int_equal(sums[GT_DAG_TIME_UNKNOWN], 50 + 3); /* before the first event and after the last */
    assert_int_equal(sums[GT_DAG_TIME_KERNEL], 20);
    assert_int_equal(sums[GT_DAG_TIME_LAUNCH], 50 + 2);
    assert_int_equal(sums[GT_DAG_TIME_CPU], 9 * 95);
    gt_dag_walk_release(&path);
    end(&program);
}

static void slack_is_the_longest_delay_without_effect(void **state) {
    struct program program;
    const struct gt_dag *dag = slow_cpu(&program);
    int64_t *late_ns = gt_dag_slack_new(dag, 927);
    (void)state;
    assert_non_null(late_ns);
    gt_dag_slack_bound(late_ns, dag->op_node[4], 500);
    gt_dag_slack_spread(dag, late_ns);
    assert_int_equal(late_ns[dag->op_node[9]], 927);
    assert_int_equal(late_ns[dag->op_node[5]], 927 - 4 * 20);
    assert_int_equal(late_ns[dag->op_node[4]], 500);
    assert_int_equal(late_ns[dag->op_node[0]], 500 - 4 * 20);
    gt_mem_free(late_ns);
    end(&program);
}

/* ---- any trace ---- */

/* Calls and ops at random times, on a few threads and streams: clocks that are wrong everywhere. */
static void laws_hold_whatever_the_times_are(void **state) {
    static const char *const names[] = {"cudaDeviceSynchronize",
                                        "cudaStreamSynchronize",
                                        "cudaEventSynchronize",
                                        "cudaStreamWaitEvent",
                                        "cudaEventRecord",
                                        "cudaMalloc",
                                        "cudaMemcpy",
                                        "cudaFree_v2"};
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct program program;
        begin(&program);
        program.world.random = seed;
        uint64_t *random = &program.world.random;
        int64_t span = 1 + (int64_t)random_below(random, 300000);
        for (size_t i = 0; i < 60; i++) {
            int64_t start_ns = random_between(random, 0, span - 1), tid = (int64_t)random_below(random, 3);
            int64_t op_ns = random_between(random, 0, span - 1);
            if (i % 3)
                launch(&program, tid, (int64_t)random_below(random, 4), start_ns, op_ns,
                       op_ns + (int64_t)random_below(random, 500));
            else
                call(&program, tid, names[random_below(random, 8)], start_ns,
                     start_ns + (int64_t)random_below(random, 60000));
        }
        const struct gt_dag *dag = make(&program, NULL, 0);
        check_laws(dag);
        end(&program);
    }
}

/* A recorded queue that is full: launch calls take long and return when an op ends. */
static void full_queues_hold_launches_back(void **state) {
    struct program program;
    const int64_t us = 1000;
    (void)state;
    begin(&program);
    for (int64_t i = 0; i < 700; i++) {
        int64_t start_ns = i < 600 ? 10 * i : (100 * (i - 600) + 10) * us, made_ns = (100 * (i - 599)) * us;
        call(&program, 1, "cudaLaunchKernel", start_ns, i < 600 ? start_ns + 5 : made_ns + 1000);
        op_of_last_call(&program, 7, "k", (100 * i) * us, (100 * i + 100) * us, 0);
    }
    const struct gt_dag *dag = make(&program, NULL, 0);
    assert_true(dag->queue_depth >= 512);
    assert_true(dag->kind_count[GT_DAG_ROOM][1] >= 90);
    check_laws(dag);
    end(&program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_and_ops_are_nodes),
        cmocka_unit_test(a_call_inside_another_belongs_to_it),
        cmocka_unit_test(overlapping_ops_of_a_stream_begin_in_order),
        cmocka_unit_test(graph_nodes_wait_for_what_ended_last),
        cmocka_unit_test(edges_that_times_deny_are_left_out),
        cmocka_unit_test(marks_inside_a_call_move_to_its_end),
        cmocka_unit_test(a_silent_thread_hands_its_work_over),
        cmocka_unit_test(simulations_follow_the_changes),
        cmocka_unit_test(a_wait_on_a_gpu_without_work_is_for_any),
        cmocka_unit_test(points_without_edges_hold_nothing_up),
        cmocka_unit_test(overlap_keeps_the_order_of_a_stream),
        cmocka_unit_test(ranks_meet_at_collectives),
        cmocka_unit_test(factors_round_to_the_nearest),
        cmocka_unit_test(the_walk_fills_the_window),
        cmocka_unit_test(slack_is_the_longest_delay_without_effect),
        cmocka_unit_test(laws_hold_whatever_the_times_are),
        cmocka_unit_test(full_queues_hold_launches_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
