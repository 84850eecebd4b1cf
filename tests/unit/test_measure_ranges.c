/* Ranges by name and one by one where programs annotate badly: pushed and never popped, started and ended anyhow. That
   the numbers are right on ordinary traces is shown by the tests of the program. */
#include "measure_world.h"

static struct gt_ranges_row range_row(struct world *world, uint32_t thread, int64_t start, int64_t end,
                                      const char *name) {
    return (struct gt_ranges_row){.start_ns = start,
                                  .end_ns = end,
                                  .name = world_text(world, name),
                                  .thread = thread,
                                  .end_thread = GT_NO_TRACK,
                                  .lane = GT_NO_TRACK,
                                  .kind = GT_RANGE_START_END};
}

static void launch(struct world *world, uint32_t thread, int64_t at, uint64_t id, const char *name) {
    struct gt_builder *builder = &world->builder;
    gt_builder_call(builder, &(struct gt_calls_row){at, at, id, world_text(world, "cudaLaunchKernel"), thread});
    struct gt_ops_row op = {.start_ns = at + 5,
                            .end_ns = at + 7,
                            .correlation = id,
                            .name = world_text(world, name),
                            .lane = gt_builder_lane(builder, GT_NO_TRACK, 0, 7)};
    assert_true(gt_builder_op(builder, &op));
}

static uint32_t only_thread(struct world *world) {
    uint32_t process = gt_builder_process(&world->builder, 50, GT_STR(""));
    return gt_builder_thread(&world->builder, process, 1, GT_STR(""));
}

/* A push in every step of a loop without a pop: the last step runs inside all those before it. Visiting every range of
   every op would mean tens of billions of visits. */
static void ranges_never_closed(void **unused) {
    (void)unused;
    enum { STEPS = 200000 };
    struct world world;
    world_begin(&world, 1);
    uint32_t thread = only_thread(&world);
    for (int64_t i = 0; i < STEPS; i++) {
        struct gt_ranges_row row = range_row(&world, thread, 10 * i, 10 * STEPS, i % 2 ? "work" : "step");
        gt_builder_range(&world.builder, &row);
        launch(&world, thread, 10 * i + 1, (uint64_t)i + 1, "k");
    }
    world_seal(&world);
    world_run(&world, "ranges");
    const struct gt_table *table = world_table(&world, "ranges");
    assert_int_equal(table->row_count, 2);
    assert_text(table_text(table, 0, "name"), "step");
    assert_int_equal(table_int(table, 0, "ops"), STEPS);
    assert_int_equal(table_int(table, 0, "exclusive_ns"), STEPS);
    assert_int_equal(table_int(table, 0, "launches"), (int64_t)STEPS * (STEPS + 2) / 4);
    assert_text(table_text(table, 1, "name"), "work");
    assert_int_equal(table_int(table, 1, "ops"), STEPS - 1);
    assert_int_equal(table_int(table, 1, "busy_ns"), 2 * (STEPS - 1));
    assert_near(table_real(table, 1, "level_avg"), STEPS / 2.0);
    world_end(&world);
}

/* Three ranges, each of which begins inside the one before and ends after it. */
static void ranges_that_interlock(void **unused) {
    (void)unused;
    struct world world;
    world_begin(&world, 1);
    uint32_t thread = only_thread(&world);
    for (int64_t i = 0; i < 3; i++) {
        struct gt_ranges_row row = range_row(&world, thread, 10 * i, 25 + 10 * i, i == 1 ? "middle" : "side");
        gt_builder_range(&world.builder, &row);
    }
    launch(&world, thread, 5, 1, "in the first");
    launch(&world, thread, 15, 2, "in the first two");
    launch(&world, thread, 22, 3, "in all three");
    launch(&world, thread, 30, 4, "in the last two");
    launch(&world, thread, 40, 5, "in the last");
    world_seal(&world);
    world_run(&world, "range_instances");
    const struct gt_table *table = world_table(&world, "range_instances");
    static const int64_t projected[] = {19, 17, 20};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(table_int(table, i, "range"), i);
        assert_int_equal(table_int(table, i, "ops"), 3);
        assert_int_equal(table_int(table, i, "launches"), 3);
        assert_int_equal(table_int(table, i, "projected_ns"), projected[i]);
        assert_true(table_is_null(table, i, "parent"));
    }
    world_run(&world, "ranges");
    table = world_table(&world, "ranges");
    assert_text(table_text(table, 0, "name"), "side");
    assert_int_equal(table_int(table, 0, "ops"), 5);
    assert_int_equal(table_int(table, 0, "exclusive_ns"), 8);
    assert_int_equal(table_int(table, 1, "ops"), 3);
    assert_int_equal(table_int(table, 1, "exclusive_ns"), 2);
    world_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_never_closed),
        cmocka_unit_test(ranges_that_interlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
