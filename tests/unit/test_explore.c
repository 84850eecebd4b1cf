/* Explorations: all rows are in lanes, once; answers do not depend on threads; hostile traces stay bounded. */
#include "explore_world.h"

#include <pthread.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/host_lanes.h"
#include "measure/results/results.h"

static struct gt_explore *explored(const struct world *world, int64_t threads) {
    struct gt_explore *explore;
    struct gt_error err = {0};
    assert_int_equal(explore_world_new(world, threads, &explore, &err), GT_OK);
    return explore;
}

/* ---- lanes ---- */

static size_t rows_of(const struct gt_store *store, enum gt_timeline_kind kind) {
    switch (kind) {
    case GT_TIMELINE_OPS:
        return store->ops.count;
    case GT_TIMELINE_HOST_RANGES:
        return store->ranges.count;
    case GT_TIMELINE_OPERATORS:
        return store->cpu_ops.count;
    case GT_TIMELINE_PYTHON:
        return store->python_calls.count;
    case GT_TIMELINE_CALLS:
        return store->calls.count;
    default:
        return SIZE_MAX;
    }
}

/* Every row is in a lane, once, in order; on one level of a thread none overlaps another. */
static void check_kind(const struct gt_explore *explore, enum gt_timeline_kind kind) {
    size_t rows = rows_of(explore->trace.store, kind), found = 0;
    uint8_t *seen = calloc(rows + 1, 1);
    for (uint32_t l = 0; l < explore->lane_count; l++) {
        const struct gt_model_lane *lane = &explore->lanes[l];
        int64_t reached_ns = INT64_MIN, before_ns = INT64_MIN;
        assert_int_equal(lane->row.lane, l);
        for (size_t i = 0; lane->row.kind == kind && i < lane->pyramid.row.count; i++, found++) {
            size_t span = lane->pyramid.row.first + i;
            struct gt_interval times = gt_model_times(explore, kind, span);
            uint32_t row = gt_model_row(explore, kind, span);
            assert_true(row < rows && !seen[row]);
            seen[row] = 1;
            assert_true(times.start_ns >= before_ns);
            before_ns = times.start_ns;
            if (kind != GT_TIMELINE_OPS)
                assert_true(times.start_ns >= reached_ns);
            reached_ns = times.end_ns > reached_ns ? times.end_ns : reached_ns;
            struct gt_model_place place;
            assert_true(gt_model_find(explore, kind, lane->track, row, &place));
            assert_int_equal(place.lane, l);
            assert_int_equal(place.span, span);
        }
    }
    assert_int_equal(found, rows);
    free(seen);
}

/* Gaps are those of the analysis, although most are kept as two rows of ops. */
static void check_gaps(const struct gt_explore *explore, const struct gt_view *view) {
    struct gt_error err = {0};
    const struct gt_idle *idle = gt_results_idle(view, &err);
    const struct gt_idle_code *code = gt_results_idle_code(view, &err);
    assert_non_null(idle);
    assert_non_null(code);
    assert_int_equal(explore->idle.count, idle->count);
    for (size_t i = 0; i < idle->count; i++) {
        struct gt_idle_lanes_gap gap = gt_idle_lanes_gap(&explore->idle, i);
        assert_int_equal(gap.start_ns, gt_idle_gap_start_ns(idle, i));
        assert_int_equal(gap.end_ns, gt_idle_gap_end_ns(idle, i));
        assert_int_equal(gap.cause, gt_idle_gap_cause(idle, i));
        assert_int_equal(gap.part, gt_idle_gap_part(idle, i));
        assert_int_equal(gap.next, idle->next[i] == GT_NO_ROW ? GT_NO_ROW : view->row[idle->next[i]]);
        if (gap.cause == GT_IDLE_HOST)
            assert_int_equal(gap.activity, code->activity[i]);
    }
}

static void lanes_have_every_row_once(void **unused) {
    (void)unused;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct world world;
        explore_world_random(&world, seed);
        world_run(&world, "gaps");
        struct gt_explore *explore = explored(&world, 1);
        for (enum gt_timeline_kind kind = 0; kind < GT_TIMELINE_KIND_COUNT; kind++)
            if (rows_of(world.store, kind) != SIZE_MAX)
                check_kind(explore, kind);
        check_gaps(explore, world.view);
        gt_explore_free(explore);
        world_end(&world);
    }
}

/* ---- threads ---- */

static char *answers_of(const struct gt_explore *explore) {
    struct gt_error err = {0};
    struct gt_out *out;
    assert_int_equal(gt_out_open_memory(&out, &err), GT_OK);
    assert_int_equal(explore_world_ask(explore, out, &err), GT_OK);
    struct gt_str bytes = gt_out_bytes(out);
    char *text = strndup(bytes.ptr, bytes.len);
    gt_out_close(out);
    return text;
}

static void threads_change_nothing(void **unused) {
    (void)unused;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct world world;
        explore_world_random(&world, seed);
        struct gt_explore *one = explored(&world, 1), *several = explored(&world, 3);
        char *expected = answers_of(one), *found = answers_of(several);
        assert_string_equal(expected, found);
        free(expected);
        free(found);
        gt_explore_free(one);
        gt_explore_free(several);
        world_end(&world);
    }
}

static void *ask_all(void *explore) {
    return answers_of(explore);
}

static void many_may_ask_at_once(void **unused) {
    (void)unused;
    enum { ASKING = 6 };
    struct world world;
    explore_world_random(&world, 5);
    struct gt_explore *explore = explored(&world, 2);
    pthread_t asking[ASKING];
    for (size_t i = 0; i < ASKING; i++)
        assert_int_equal(pthread_create(&asking[i], NULL, ask_all, explore), 0);
    char *expected = answers_of(explore);
    for (size_t i = 0; i < ASKING; i++) {
        void *found;
        pthread_join(asking[i], &found);
        assert_string_equal(expected, found);
        free(found);
    }
    free(expected);
    gt_explore_free(explore);
    world_end(&world);
}

/* ---- hostile traces ---- */

static void add_call(struct world *world, uint32_t thread, int64_t start_ns, int64_t end_ns, const char *name) {
    gt_builder_call(&world->builder, &(struct gt_calls_row){.start_ns = start_ns,
                                                            .end_ns = end_ns,
                                                            .correlation = GT_NO_CORRELATION,
                                                            .name = world_text(world, name),
                                                            .thread = thread});
}

static void add_op(struct world *world, int64_t stream, int64_t start_ns, int64_t end_ns) {
    struct gt_ops_row op = {.start_ns = start_ns,
                            .end_ns = end_ns,
                            .correlation = GT_NO_CORRELATION,
                            .name = world_text(world, ""),
                            .lane = gt_builder_lane(&world->builder, GT_NO_TRACK, 0, stream)};
    assert_true(gt_builder_op(&world->builder, &op));
}

static uint32_t add_thread(struct world *world) {
    uint32_t process = gt_builder_process(&world->builder, 1, GT_STR(""));
    return gt_builder_thread(&world->builder, process, 1, GT_STR(""));
}

/* Deeper than anyone looks, and more streams: what is left out is counted. */
static void deep_and_wide_traces_are_bounded(void **unused) {
    (void)unused;
    enum { DEPTH = 100000, STREAMS = 50000 };
    struct world world;
    world_begin(&world, 1);
    uint32_t thread = add_thread(&world);
    for (int64_t i = 0; i < DEPTH; i++)
        add_call(&world, thread, i, 2 * DEPTH - i, "call");
    for (int64_t i = 0; i < STREAMS; i++)
        add_op(&world, i, i, i + 10);
    world_seal(&world);
    struct gt_explore *explore = explored(&world, 2);
    size_t calls = 0, ops = 0;
    for (size_t i = 0; i < explore->lane_count; i++) {
        calls += explore->lanes[i].row.kind == GT_TIMELINE_CALLS;
        ops += explore->lanes[i].row.kind == GT_TIMELINE_OPS;
    }
    assert_int_equal(calls, GT_HOST_LANES_LEVELS);
    assert_int_equal(explore->lanes_left_out[GT_TIMELINE_CALLS], DEPTH - GT_HOST_LANES_LEVELS);
    assert_true(ops > 1000);
    assert_int_equal(ops + explore->lanes_left_out[GT_TIMELINE_OPS], STREAMS);
    free(answers_of(explore));
    gt_explore_free(explore);
    world_end(&world);
}

static void times_at_the_ends_of_the_range(void **unused) {
    (void)unused;
    static const int64_t edges[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct world world;
        world_begin(&world, seed);
        uint32_t thread = add_thread(&world);
        for (int i = 0; i < 40; i++) {
            int64_t a = edges[random_below(&world.random, 7)], b = edges[random_below(&world.random, 7)];
            add_op(&world, i % 3, a < b ? a : b, a < b ? b : a);
            add_call(&world, thread, a < b ? a : b, a < b ? b : a, i % 2 ? "cudaDeviceSynchronize" : "");
        }
        world_seal(&world);
        struct gt_explore *explore = explored(&world, 1);
        free(answers_of(explore));
        struct gt_error err = {0};
        struct gt_out *out;
        assert_int_equal(gt_out_open_memory(&out, &err), GT_OK);
        struct gt_explore_window all = {INT64_MIN, INT64_MAX, 1000, NULL, 0};
        assert_int_equal(gt_explore_window(explore, &all, out, &err), GT_OK);
        struct gt_explore_flame flame = {GT_EXPLORE_OPERATORS, GT_EXPLORE_GPU, INT64_MIN, INT64_MAX};
        assert_int_equal(gt_explore_flame(explore, &flame, out, &err), GT_OK);
        gt_out_close(out);
        gt_explore_free(explore);
        world_end(&world);
    }
}

static void bad_questions_are_refused(void **unused) {
    (void)unused;
    struct world world;
    explore_world_random(&world, 3);
    struct gt_explore *explore = explored(&world, 1);
    struct gt_error err = {0};
    struct gt_out *out;
    uint32_t lane = (uint32_t)explore->lane_count;
    assert_int_equal(gt_out_open_memory(&out, &err), GT_OK);
    assert_int_equal(gt_explore_window(explore, &(struct gt_explore_window){0, 9, 5, &lane, 1}, out, &err),
                     GT_ERR_USAGE);
    assert_int_equal(gt_explore_window(explore, &(struct gt_explore_window){9, 9, 5, NULL, 0}, out, &err),
                     GT_ERR_USAGE);
    assert_int_equal(gt_explore_item(explore, &(struct gt_explore_item){lane, 0, 1, 0}, out, &err), GT_ERR_USAGE);
    assert_int_equal(gt_explore_item(explore, &(struct gt_explore_item){0, -99999, 1, 0}, out, &err), GT_ERR_USAGE);
    assert_int_equal(gt_explore_search(explore, &(struct gt_explore_search){GT_STR(""), 0, false, 5}, out, &err),
                     GT_ERR_USAGE);
    gt_out_close(out);
    gt_explore_free(explore);
    world_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_have_every_row_once),      cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(many_may_ask_at_once),           cmocka_unit_test(deep_and_wide_traces_are_bounded),
        cmocka_unit_test(times_at_the_ends_of_the_range), cmocka_unit_test(bad_questions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
