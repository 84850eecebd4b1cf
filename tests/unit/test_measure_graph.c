/* Graph against a pass that looks at every nanosecond: whose it is, and how much of the run is nobody's. */
#include "measure_world.h"

enum { SEEDS = 300, MAX_OPS = 64 };

/* Who is charged a nanosecond of a device: of the ops that run then, the first in the order of ops; -1: nobody. */
static int64_t owner_of(const struct world *world, const struct gt_view_device *device, int64_t ns) {
    for (size_t i = device->first; i < device->first + device->count; i++)
        if (world->view->start_ns[i] <= ns && ns < world->view->end_ns[i])
            return (int64_t)i;
    return -1;
}

static void charge_all(const struct world *world, int64_t *charged, int64_t *busy) {
    for (size_t d = 0; d < world->view->device_count; d++)
        for (int64_t ns = WORLD_START; ns < WORLD_END; ns++) {
            int64_t owner = owner_of(world, &world->view->devices[d], ns);
            if (owner < 0)
                continue;
            charged[owner]++;
            busy[d]++;
        }
}

static double charged_to(const struct world *world, const int64_t *charged, struct gt_str category, struct gt_str name,
                         int64_t *instances) {
    double sum = 0;
    *instances = 0;
    for (size_t i = 0; i < world->view->op_count; i++) {
        const char *key = world->labels->categories[world->labels->op_category[world->view->row[i]]].key;
        if (!gt_str_eq(gt_str_of(key), category) || (name.len && !gt_str_eq(gt_view_op_name(world->view, i), name)))
            continue;
        sum += (double)charged[i];
        ++*instances;
    }
    return sum / (double)world->view->device_count;
}

static void check_works(const struct world *world, const struct gt_table *table, bool has_names, const int64_t *charged,
                        double non_gpu_ns) {
    double sum = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        struct gt_str category = table_text(table, row, "category");
        struct gt_str name = has_names ? table_text(table, row, "name") : GT_STR("");
        int64_t instances = 1;
        double expected = gt_str_eq(category, GT_STR("CPU(non-GPU)"))
                              ? non_gpu_ns
                              : charged_to(world, charged, category, name, &instances);
        assert_near(table_real(table, row, "elapsed_ns"), expected);
        assert_int_equal(table_int(table, row, "instances"), instances);
        sum += expected;
    }
    double busy_ns = 0;
    for (size_t i = 0; i < world->view->op_count; i++)
        busy_ns += (double)charged[i] / (double)world->view->device_count;
    assert_near(sum, busy_ns + non_gpu_ns);
}

static void check(struct world *world, int64_t elapsed_ns) {
    int64_t charged[MAX_OPS] = {0}, busy[8] = {0};
    double non_gpu_ns = 0;
    const struct gt_table *devices = world_table(world, "graph_devices"), *run = world_table(world, "graph_runs");
    charge_all(world, charged, busy);
    for (size_t d = 0; d < world->view->device_count; d++) {
        int64_t idle_ns = elapsed_ns > busy[d] ? elapsed_ns - busy[d] : 0;
        assert_int_equal(table_int(devices, d, "busy_ns"), busy[d]);
        assert_int_equal(table_int(devices, d, "non_gpu_ns"), idle_ns);
        non_gpu_ns += (double)idle_ns / (double)world->view->device_count;
    }
    assert_int_equal(table_int(run, 0, "elapsed_ns"), elapsed_ns);
    assert_int_equal(table_int(run, 0, "gpus"), world->view->device_count);
    assert_near(table_real(run, 0, "non_gpu_ns"), non_gpu_ns);
    check_works(world, world_table(world, "graph"), false, charged, non_gpu_ns);
    check_works(world, world_table(world, "graph_kernels"), true, charged, non_gpu_ns);
}

static void random_traces(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct world world;
        world_random(&world, seed);
        world_run(&world, "graph");
        int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
        for (size_t i = 0; i < world.view->op_count; i++) {
            first_ns = world.view->start_ns[i] < first_ns ? world.view->start_ns[i] : first_ns;
            last_ns = world.view->end_ns[i] > last_ns ? world.view->end_ns[i] : last_ns;
        }
        if (world.view->op_count)
            check(&world, last_ns - first_ns);
        world_end(&world);
    }
}

/* Times at both ends of the range must neither overflow nor give a negative time. */
static void any_times(void **state) {
    (void)state;
    static const int64_t times[][2] = {{INT64_MIN, INT64_MAX}, {INT64_MIN, -1}, {0, INT64_MAX}, {-5, INT64_MAX}};
    struct world world;
    world_begin(&world, 1);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct gt_ops_row op = {.start_ns = times[i][0],
                                .end_ns = times[i][1],
                                .name = world_text(&world, "kernel"),
                                .lane = gt_builder_lane(&world.builder, GT_NO_TRACK, (int64_t)i % 2, 7),
                                .kind = GT_OP_KERNEL};
        gt_builder_op(&world.builder, &op);
    }
    world_seal(&world);
    world_run(&world, "graph");
    const struct gt_table *table = world_table(&world, "graph");
    for (size_t row = 0; row < table->row_count; row++)
        assert_true(table_real(table, row, "elapsed_ns") >= 0);
    world_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_traces),
        cmocka_unit_test(any_times),
    };
    return cmocka_run_group_tests_name("measure_graph", tests, NULL, NULL);
}
