/* Late starts: gaps in which an op was launched and did not start, by hand at every bound and against plain
   recomputation. */
#include "measure_world.h"

enum { US = 1000 };

/* One op after a gap, and the call that launched it. */
struct launch {
    int64_t call_start, call_end, op_start, op_end;
};

static void put_op(struct world *world, int64_t device, const struct launch *launch, uint64_t correlation) {
    assert_true(
        gt_builder_op(&world->builder,
                      &(struct gt_ops_row){launch->op_start, launch->op_end, correlation, world_text(world, "k"),
                                           gt_builder_lane(&world->builder, GT_NO_TRACK, device, 7), GT_OP_KERNEL, 0}));
}

static void put_call(struct world *world, const char *name, int64_t start, int64_t end, uint64_t correlation) {
    uint32_t process = gt_builder_process(&world->builder, 1, GT_STR(""));
    uint32_t thread = gt_builder_thread(&world->builder, process, 1, GT_STR(""));
    gt_builder_call(&world->builder, &(struct gt_calls_row){start, end, correlation, world_text(world, name), thread});
}

static void put_launch(struct world *world, int64_t device, const struct launch *launch, uint64_t correlation) {
    put_call(world, "cudaLaunchKernel", launch->call_start, launch->call_end, correlation);
    put_op(world, device, launch, correlation);
}

/* An op in [0, 100 us), and others that launches put after it. */
static void begin(struct world *world, const struct launch *launches, size_t count) {
    world_begin(world, 1);
    put_op(world, 0, &(struct launch){.op_start = 0, .op_end = 100 * US}, GT_NO_CORRELATION);
    for (size_t i = 0; i < count; i++)
        put_launch(world, 0, &launches[i], i + 1);
}

static void run(struct world *world) {
    world_seal(world);
    world_run(world, "gaps");
}

static size_t find_cause(const struct gt_table *table, const char *cause) {
    for (size_t row = 0; row < table->row_count; row++)
        if (gt_str_eq(table_text(table, row, "cause"), gt_str_of(cause)))
            return row;
    return SIZE_MAX;
}

static void check_cause(const struct world *world, const char *cause, int64_t count, int64_t total_ns,
                        double recoverable_ns) {
    const struct gt_table *table = world_table(world, "idle_causes");
    size_t row = find_cause(table, cause);
    assert_int_equal(row == SIZE_MAX, count == 0);
    if (row == SIZE_MAX)
        return;
    assert_int_equal(table_int(table, row, "count"), count);
    assert_int_equal(table_int(table, row, "total_ns"), total_ns);
    assert_near(table_real(table, row, "recoverable_ns"), recoverable_ns);
}

/* ---- by hand ---- */

/* The call ended 43 us into a gap of 463 ms. Two more gaps have a launch latency of 2.001 and 3 us. */
static void test_the_queued_part_is_no_fault_of_the_cpu(void **state) {
    (void)state;
    static const struct launch launches[] = {
        {138 * US, 143 * US, 463100 * US, 463200 * US},
        {463201 * US, 463210 * US, 463212 * US + 1, 463300 * US},
        {463301 * US, 463310 * US, 463313 * US, 463400 * US},
    };
    struct world world;
    begin(&world, launches, 3);
    run(&world); /* latency: 3 us, the median of 462957, 2.001 and 3 us */
    const struct gt_table *gaps = world_table(&world, "gaps");
    assert_int_equal(gaps->row_count, 3);
    assert_int_equal(table_int(gaps, 0, "start_ns"), 100 * US);
    assert_int_equal(table_int(gaps, 0, "end_ns"), 463100 * US);
    assert_int_equal(table_int(gaps, 0, "gap_ns"), 463000 * US);
    assert_int_equal(table_int(gaps, 0, "queued_ns"), 462954 * US);
    assert_int_equal(table_int(gaps, 1, "queued_ns"), 0);
    assert_text(table_text(gaps, 0, "cause"), "dependency");
    assert_near(table_real(gaps, 0, "recoverable_ns"), 46 * US); /* no dependency gap before splitting */
    assert_true(table_is_null(gaps, 0, "activity"));
    assert_true(table_is_null(gaps, 0, "meanwhile"));
    assert_text(table_text(gaps, 1, "cause"), "host");
    assert_text(table_text(gaps, 1, "activity"), "in untraced code");
    check_cause(&world, "host", 3, (46 + 13 + 12) * US + 1, (46 + 13 + 12) * US + 1);
    check_cause(&world, "dependency", 1, 462954 * US, 0);
    const struct gt_table *host = world_table(&world, "idle_host"), *work = world_table(&world, "idle_work");
    assert_int_equal(host->row_count, 1);
    assert_int_equal(table_int(host, 0, "longest_ns"), 46 * US);
    assert_int_equal(table_int(work, 0, "total_ns"), (46 + 13 + 12) * US + 1);
    world_end(&world);
}

/* A sync gap and a launch gap; and one whose call ended before it, which was queued from its start. */
static void test_every_cause_of_the_host_is_split(void **state) {
    (void)state;
    static const struct launch launches[] = {
        {190 * US, 195 * US, 300 * US, 400 * US}, /* sync: 105 us after its call */
        {390 * US, 405 * US, 500 * US, 600 * US}, /* launch: 95 us */
        {590 * US, 600 * US, 650 * US, 700 * US}, /* ended as the gap began: launch latency is 95 us, so cause launch */
        {690 * US, 695 * US, 900 * US, 910 * US}, /* dependency: 205 us */
    };
    struct world world;
    begin(&world, launches, 4);
    put_call(&world, "cudaDeviceSynchronize", 90 * US, 189 * US, GT_NO_CORRELATION);
    run(&world); /* latency: 95 us; limit: 200 us, so nothing is late */
    check_cause(&world, "sync", 1, 200 * US, 0);
    check_cause(&world, "launch", 2, 150 * US, 0);
    check_cause(&world, "dependency", 1, 200 * US, 0);
    world_end(&world);

    begin(&world, launches, 4);
    put_call(&world, "cudaDeviceSynchronize", 90 * US, 189 * US, GT_NO_CORRELATION);
    for (int64_t i = 0; i < 5; i++) /* bring the latency to 2 us */
        put_launch(&world, 0,
                   &(struct launch){(911 + 10 * i) * US, (912 + 10 * i) * US, (914 + 10 * i) * US, (920 + 10 * i) * US},
                   (uint64_t)(10 + i));
    run(&world);
    /* First parts last to the end of the call, and 2 us. The median dependency gap is (50 + 200) / 2 us. */
    check_cause(&world, "sync", 1, 97 * US, 0);
    check_cause(&world, "launch", 1, 7 * US, 0);
    check_cause(&world, "dependency", 4, (103 + 93 + 50 + 200) * US, 0);
    const struct gt_table *gaps = world_table(&world, "gaps");
    for (size_t i = 0; i < gaps->row_count; i++) {
        int64_t start_us = table_int(gaps, i, "start_ns") / US;
        int64_t queued_us = start_us == 100 ? 103 : start_us == 400 ? 93 : 0;
        assert_int_equal(table_int(gaps, i, "queued_ns"), queued_us * US);
        assert_true(start_us != 100 || gt_str_eq(table_text(gaps, i, "cause"), GT_STR("dependency")));
    }
    world_end(&world);
}

/* A gap of `wait_ns` after its call, which ended 5 us into it, where the launch latency is `latency_ns`: what of it was
   queued, and its cause. */
static int64_t queued_after(int64_t wait_ns, int64_t latency_ns, const char **cause) {
    struct world world;
    int64_t end_ns = 105 * US + wait_ns + US;
    begin(&world, &(struct launch){101 * US, 105 * US, 105 * US + wait_ns, end_ns}, 1);
    for (uint64_t i = 0; i < 4; i++) {
        struct launch launch = {end_ns + 1, end_ns + 1000 * US, end_ns + 1000 * US + latency_ns, 0};
        launch.op_end = end_ns = launch.op_start + 2000 * US;
        put_launch(&world, 0, &launch, 10 + i);
    }
    run(&world);
    const struct gt_table *gaps = world_table(&world, "gaps");
    int64_t queued_ns = -1, whole_ns = 0;
    for (size_t i = 0; i < gaps->row_count; i++)
        if (table_int(gaps, i, "start_ns") == 100 * US) {
            queued_ns = table_int(gaps, i, "queued_ns");
            whole_ns = table_int(gaps, i, "gap_ns");
            *cause = gt_str_eq(table_text(gaps, i, "cause"), GT_STR("host")) ? "host" : "dependency";
        }
    assert_int_equal(whole_ns, 5 * US + wait_ns);
    world_end(&world);
    return queued_ns;
}

static void test_bounds(void **state) {
    (void)state;
    static const struct {
        int64_t wait_ns, latency_ns, queued_ns;
        const char *cause;
    } cases[] = {
        {10000, 1000, 0, "host"},          /* the least limit is 10 us */
        {10001, 1000, 9001, "dependency"}, /* longer than the first part of 6 us */
        {10001, 2499, 7502, "dependency"}, /* its first part has 7499 ns, 3 ns less */
        {10001, 2500, 7501, "dependency"}, /* 7500 ns */
        {10005, 2501, 7504, "dependency"}, /* the limit is 10004 ns from here on */
        {10004, 2501, 0, "host"},
        {200000, 49999, 150001, "dependency"}, /* 199996 ns */
        {200000, 50000, 0, "host"},            /* 200 us, which is the greatest */
        {200001, 50000, 150001, "dependency"},
        {200001, 90000, 110001, "dependency"},
        {200001, 97501, 102500, "host"}, /* a first part of 102501 ns */
        {200001, 97500, 102501, "dependency"},
        {200003, 97501, 102502, "dependency"},
        {200002, 97501, 102501, "host"}, /* as long as the first part */
        {200001, 200000, 1, "host"},
        {200001, 200001, 0, "host"}, /* no rest */
        {300000, 400000, 0, "host"},
        {10001, -500, 10001, "dependency"}, /* calls that return after their ops have started */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *cause = NULL;
        assert_int_equal(queued_after(cases[i].wait_ns, cases[i].latency_ns, &cause), cases[i].queued_ns);
        assert_string_equal(cause, cases[i].cause);
    }
}

/* ---- at random ---- */

enum { DEVICES = 3, LAUNCHES = 30, SEEDS = 300 };

/* A gap and its cause as the definitions have it. */
struct plain_gap {
    int64_t start, end;
    const struct launch *launch;
    bool is_host, is_launch, is_dependency;
};

struct plain_sums {
    int64_t host, launch, dependency, late_starts;
};

static double plain_median(int64_t *values, size_t count) {
    qsort(values, count, sizeof *values, by_value);
    return count ? ((double)values[(count - 1) / 2] + (double)values[count / 2]) / 2 : 0;
}

static int64_t plain_queued(const struct plain_gap *gap, double latency) {
    double limit = 4 * latency < 10000 ? 10000 : 4 * latency > 200000 ? 200000 : 4 * latency;
    int64_t whole_latency = latency > 0 ? (int64_t)latency : 0, call_end = gap->launch->call_end;
    if (gap->is_dependency || call_end <= gap->start || (double)(gap->end - call_end) <= limit)
        return 0;
    return call_end + whole_latency < gap->end ? gap->end - call_end - whole_latency : 0;
}

static void check_row(const struct world *world, int64_t device, const struct plain_gap *gap, int64_t queued) {
    const struct gt_table *gaps = world_table(world, "gaps");
    const char *first = gap->is_host ? "host" : gap->is_launch ? "launch" : "dependency";
    for (size_t i = 0; i < gaps->row_count; i++) {
        if (table_int(gaps, i, "device") != device ||
            table_int(gaps, i, "start_ns") != gap->start - world->store->origin_ns)
            continue;
        assert_int_equal(table_int(gaps, i, "gap_ns"), gap->end - gap->start);
        assert_int_equal(table_int(gaps, i, "queued_ns"), queued);
        assert_text(table_text(gaps, i, "cause"), 2 * queued > gap->end - gap->start ? "dependency" : first);
        return;
    }
    fail_msg("no gap at %lld", (long long)gap->start);
}

/* Ops one after another, so that the gaps are those between neighbours. */
static struct plain_sums check_device(const struct world *world, int64_t device, const struct launch *launches) {
    struct plain_gap gaps[LAUNCHES];
    struct plain_sums sums = {0};
    int64_t delays[LAUNCHES];
    size_t count = 0, delay_count = 0;
    for (size_t i = 1; i < LAUNCHES; i++) {
        if (launches[i].op_start == launches[i - 1].op_end)
            continue;
        gaps[count++] =
            (struct plain_gap){.start = launches[i - 1].op_end, .end = launches[i].op_start, .launch = &launches[i]};
        if (launches[i].call_end >= launches[i - 1].op_end)
            delays[delay_count++] = launches[i].op_start - launches[i].call_end;
    }
    double latency = plain_median(delays, delay_count);
    for (size_t i = 0; i < count; i++) {
        const struct launch *launch = gaps[i].launch;
        bool was_in_time = launch->call_end <= gaps[i].start;
        gaps[i].is_host = launch->call_start > gaps[i].start;
        gaps[i].is_dependency =
            !gaps[i].is_host && was_in_time && (delay_count == 0 || (double)(gaps[i].end - launch->call_end) > latency);
        gaps[i].is_launch = !gaps[i].is_host && !gaps[i].is_dependency;
        int64_t queued = plain_queued(&gaps[i], latency), rest = gaps[i].end - gaps[i].start - queued;
        check_row(world, device, &gaps[i], queued);
        sums.late_starts += queued > 0;
        sums.dependency += queued + (gaps[i].is_dependency ? rest : 0);
        sums.host += gaps[i].is_host ? rest : 0;
        sums.launch += gaps[i].is_launch ? rest : 0;
    }
    return sums;
}

static void put_random(struct world *world, int64_t device, struct launch *launches) {
    int64_t now = WORLD_START;
    for (size_t i = 0; i < LAUNCHES; i++) {
        int64_t scale = random_below(&world->random, 4) ? 5 * US : 300 * US, gap = 0;
        if (random_below(&world->random, 5))
            gap = (int64_t)random_below(&world->random, (uint64_t)scale);
        struct launch *it = &launches[i];
        it->op_start = now + gap;
        it->op_end = now = it->op_start + 1 + (int64_t)random_below(&world->random, 20 * US);
        it->call_end = it->op_start + 50 - (int64_t)random_below(&world->random, (uint64_t)(gap + 4 * US));
        it->call_start = it->call_end - (int64_t)random_below(&world->random, 6 * US);
        put_launch(world, device, it, (uint64_t)(device * LAUNCHES) + i + 1);
    }
}

static int64_t total_of(const struct world *world, const char *cause) {
    const struct gt_table *table = world_table(world, "idle_causes_all");
    size_t row = find_cause(table, cause);
    return row == SIZE_MAX ? 0 : table_int(table, row, "total_ns");
}

static void test_against_plain_recomputation(void **state) {
    (void)state;
    int64_t late_starts = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct launch launches[DEVICES][LAUNCHES];
        struct plain_sums all = {0};
        struct world world;
        world_begin(&world, seed);
        for (int64_t device = 0; device < DEVICES; device++)
            put_random(&world, device, launches[device]);
        run(&world);
        for (int64_t device = 0; device < DEVICES; device++) {
            struct plain_sums sums = check_device(&world, device, launches[device]);
            all.host += sums.host;
            all.launch += sums.launch;
            all.dependency += sums.dependency;
            late_starts += sums.late_starts;
        }
        assert_int_equal(total_of(&world, "host"), all.host);
        assert_int_equal(total_of(&world, "launch"), all.launch);
        assert_int_equal(total_of(&world, "dependency"), all.dependency);
        world_end(&world);
    }
    assert_true(late_starts > SEEDS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_queued_part_is_no_fault_of_the_cpu),
        cmocka_unit_test(test_every_cause_of_the_host_is_split),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_against_plain_recomputation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
