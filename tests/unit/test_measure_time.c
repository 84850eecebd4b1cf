/* Accounting, categories, streams and their gaps against a look at every single nanosecond. */
#include "measure_world.h"

enum { SEEDS = 300 };

/* A third of the seeds look through a window, which lies inside the trace. */
static void choose_window(struct world *world, uint64_t seed, char from[32], char to[32], int64_t bounds[2]) {
    bounds[0] = INT64_MIN;
    bounds[1] = INT64_MAX;
    int64_t origin = world->store->origin_ns, length = world_last_end(world) - origin;
    if (seed % 3 || length == 0)
        return;
    int64_t first = (int64_t)random_below(&world->random, (uint64_t)length);
    int64_t last = random_between(&world->random, first + 1, length);
    snprintf(from, 32, "%lldns", (long long)first);
    snprintf(to, 32, "%lldns", (long long)last);
    world->options.from = from;
    world->options.to = to;
    bounds[0] = origin + first;
    bounds[1] = origin + last;
}

static bool any_runs(const struct plain_ops *ops, int64_t device, enum gt_class class, int64_t now) {
    for (size_t i = 0; i < ops->count; i++)
        if (ops->items[i].device == device && ops->items[i].class == class && plain_runs(&ops->items[i], now))
            return true;
    return false;
}

static void span_of(const struct plain_ops *ops, int64_t device, const int64_t bounds[2], int64_t span[2]) {
    span[0] = INT64_MAX;
    span[1] = INT64_MIN;
    for (size_t i = 0; i < ops->count; i++) {
        if (ops->items[i].device != device)
            continue;
        span[0] = ops->items[i].start < span[0] ? ops->items[i].start : span[0];
        span[1] = ops->items[i].end > span[1] ? ops->items[i].end : span[1];
    }
    if (bounds[0] != INT64_MIN) {
        span[0] = bounds[0];
        span[1] = bounds[1];
    }
}

static void check_account(const struct gt_table *table, size_t row, const struct plain_ops *ops,
                          const int64_t bounds[2]) {
    int64_t device = table_int(table, row, "device"), span[2];
    int64_t busy = 0, compute = 0, comm = 0, memory = 0, exposed_comm = 0, exposed_memory = 0, overlap = 0, sum = 0;
    span_of(ops, device, bounds, span);
    for (int64_t now = span[0]; now < span[1]; now++) {
        bool x = any_runs(ops, device, GT_CLASS_COMPUTE, now), y = any_runs(ops, device, GT_CLASS_COMM, now);
        bool z = any_runs(ops, device, GT_CLASS_MEMORY, now);
        busy += x || y || z;
        compute += x;
        comm += y;
        memory += z;
        exposed_comm += y && !x;
        exposed_memory += z && !x && !y;
        overlap += x && y;
    }
    for (size_t i = 0; i < ops->count; i++)
        sum += ops->items[i].device == device ? ops->items[i].end - ops->items[i].start : 0;
    assert_int_equal(table_int(table, row, "span_ns"), span[1] - span[0]);
    assert_int_equal(table_int(table, row, "busy_ns"), busy);
    assert_int_equal(table_int(table, row, "idle_ns"), span[1] - span[0] - busy);
    assert_int_equal(table_int(table, row, "compute_ns"), compute);
    assert_int_equal(table_int(table, row, "comm_ns"), comm);
    assert_int_equal(table_int(table, row, "memory_ns"), memory);
    assert_int_equal(table_int(table, row, "exposed_comm_ns"), exposed_comm);
    assert_int_equal(table_int(table, row, "exposed_memory_ns"), exposed_memory);
    assert_int_equal(table_int(table, row, "overlap_ns"), overlap);
    assert_int_equal(table_int(table, row, "sum_ns"), sum);
    double length = (double)(span[1] - span[0]);
    assert_near(table_real(table, row, "utilisation"), length > 0 ? (double)busy / length : 0);
}

static void check_summary(const struct world *world) {
    const struct gt_table *table = world_table(world, "accounting"),
                          *summary = world_table(world, "accounting_summary");
    assert_int_equal(summary->row_count, 3);
    const char *const keys[] = {"span_ns", "busy_ns", "idle_ns", "comm_ns", "exposed_memory_ns"};
    for (size_t k = 0; k < 5; k++) {
        int64_t sum = 0, min = INT64_MAX, max = INT64_MIN;
        for (size_t row = 0; row < table->row_count; row++) {
            int64_t value = table_int(table, row, keys[k]);
            sum += value;
            min = value < min ? value : min;
            max = value > max ? value : max;
        }
        assert_near(table_real(summary, 0, keys[k]), (double)sum / (double)table->row_count);
        assert_int_equal(table_int(summary, 1, keys[k]), min);
        assert_int_equal(table_int(summary, 2, keys[k]), max);
    }
}

static void check_parts(const struct world *world) {
    const struct gt_table *table = world_table(world, "accounting"), *parts = world_table(world, "time_parts");
    assert_int_equal(parts->row_count, 4 * table->row_count);
    for (size_t row = 0; row < table->row_count; row++) {
        int64_t sum = 0;
        for (size_t k = 0; k < 4; k++)
            sum += table_int(parts, 4 * row + k, "total_ns");
        assert_int_equal(sum, table_int(table, row, "span_ns"));
    }
}

static void test_accounting(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world world;
        char from[32], to[32];
        int64_t bounds[2];
        world_random(&world, seed);
        choose_window(&world, seed, from, to, bounds);
        world_run(&world, "accounting");
        struct plain_ops ops = plain_ops_between(&world, bounds[0], bounds[1]);
        const struct gt_table *table = world_table(&world, "accounting");
        assert_int_equal(table->row_count, world.view->device_count);
        for (size_t row = 0; row < table->row_count; row++)
            check_account(table, row, &ops, bounds);
        if (table->row_count) {
            check_summary(&world);
            check_parts(&world);
        }
        world_end(&world);
    }
}

static const struct plain_op *charged_op(const struct plain_ops *ops, int64_t device, int64_t now) {
    const struct plain_op *best = NULL;
    for (size_t i = 0; i < ops->count; i++) {
        const struct plain_op *op = &ops->items[i]; /* in the order that decides inside a class */
        if (op->device == device && plain_runs(op, now) && (!best || op->class < best->class))
            best = op;
    }
    return best;
}

static void check_category(const struct world *world, const struct gt_table *table, size_t row,
                           const struct plain_ops *ops) {
    int64_t count = 0, total = 0, wall = 0, busy = 0;
    struct gt_str key = table_text(table, row, "category");
    const struct gt_labels *labels = world->labels;
    for (size_t i = 0; i < ops->count; i++) {
        bool is_own = gt_str_eq(gt_str_of(labels->categories[labels->op_category[ops->items[i].row]].key), key);
        count += is_own;
        total += is_own ? ops->items[i].end - ops->items[i].start : 0;
    }
    for (int64_t device = 0; device < 2; device++)
        for (int64_t now = WORLD_START; now < WORLD_END; now++) {
            const struct plain_op *op = charged_op(ops, device, now);
            busy += op != NULL;
            wall += op && gt_str_eq(gt_str_of(labels->categories[labels->op_category[op->row]].key), key);
        }
    assert_int_equal(table_int(table, row, "count"), count);
    assert_int_equal(table_int(table, row, "total_ns"), total);
    assert_int_equal(table_int(table, row, "wall_ns"), wall);
    assert_near(table_real(table, row, "share"), busy ? (double)wall / (double)busy : 0);
}

static void test_categories(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world world;
        char from[32], to[32];
        int64_t bounds[2], walls = 0, busy = 0;
        world_random(&world, seed);
        choose_window(&world, seed, from, to, bounds);
        struct plain_ops ops = plain_ops_between(&world, bounds[0], bounds[1]);
        world_run(&world, "accounting");
        const struct gt_table *accounts = world_table(&world, "accounting");
        for (size_t row = 0; row < accounts->row_count; row++)
            busy += table_int(accounts, row, "busy_ns");
        world_run(&world, "categories");
        const struct gt_table *table = world_table(&world, "categories");
        for (size_t row = 0; row < table->row_count; row++) {
            check_category(&world, table, row, &ops);
            walls += table_int(table, row, "wall_ns");
            if (row)
                assert_true(table_int(table, row - 1, "wall_ns") >= table_int(table, row, "wall_ns"));
        }
        assert_int_equal(walls, busy);
        world_end(&world);
    }
}

/* ---- streams ---- */

struct plain_gap {
    const struct plain_op *previous, *next;
    int64_t start, end;
};

/* For every op, its distance to the latest end among the earlier ops of its stream. */
static size_t plain_gaps(const struct plain_ops *ops, struct plain_gap *gaps) {
    size_t count = 0;
    for (size_t i = 0; i < ops->count; i++) {
        const struct plain_op *next = &ops->items[i], *previous = NULL;
        for (size_t k = 0; k < i; k++)
            if (ops->items[k].lane == next->lane && (!previous || ops->items[k].end >= previous->end))
                previous = &ops->items[k];
        if (previous && next->start > previous->end)
            gaps[count++] = (struct plain_gap){previous, next, previous->end, next->start};
    }
    return count;
}

static void check_stream(const struct world *world, const struct gt_table *table, size_t row,
                         const struct plain_ops *ops) {
    const struct gt_lanes *lanes = &world->store->lanes;
    struct plain_gap gaps[64];
    size_t gap_count = plain_gaps(ops, gaps);
    int64_t count = 0, busy = 0, own_gaps = 0, gap_ns = 0;
    int64_t pid = table_is_null(table, row, "pid") ? -1 : table_int(table, row, "pid");
    uint32_t lane = 0;
    for (; lane < lanes->count; lane++) {
        int64_t lane_pid = lanes->process[lane] == GT_NO_TRACK ? -1 : world->store->processes.pid[lanes->process[lane]];
        if (world->store->devices.id[lanes->device[lane]] == table_int(table, row, "device") && lane_pid == pid &&
            lanes->stream[lane] == table_int(table, row, "stream"))
            break;
    }
    assert_true(lane < lanes->count);
    for (size_t i = 0; i < ops->count; i++)
        count += ops->items[i].lane == lane;
    for (int64_t now = WORLD_START; now < WORLD_END; now++) {
        bool runs = false;
        for (size_t i = 0; i < ops->count; i++)
            runs |= ops->items[i].lane == lane && plain_runs(&ops->items[i], now);
        busy += runs;
    }
    for (size_t i = 0; i < gap_count; i++)
        if (gaps[i].next->lane == lane) {
            own_gaps++;
            gap_ns += gaps[i].end - gaps[i].start;
        }
    assert_int_equal(table_int(table, row, "count"), count);
    assert_int_equal(table_int(table, row, "busy_ns"), busy);
    assert_int_equal(table_int(table, row, "gap_count"), own_gaps);
    assert_int_equal(table_int(table, row, "gap_ns"), gap_ns);
}

static void test_streams(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world world;
        char from[32], to[32];
        int64_t bounds[2];
        world_random(&world, seed);
        choose_window(&world, seed, from, to, bounds);
        struct plain_ops ops = plain_ops_between(&world, bounds[0], bounds[1]);
        world_run(&world, "streams");
        const struct gt_table *table = world_table(&world, "streams");
        assert_int_equal(table->row_count, world.view->lane_count);
        for (size_t row = 0; row < table->row_count; row++)
            check_stream(&world, table, row, &ops);
        world_end(&world);
    }
}

static int longest_first(const void *a, const void *b) {
    const struct plain_gap *x = a, *y = b;
    int64_t x_ns = x->end - x->start, y_ns = y->end - y->start;
    if (x_ns != y_ns)
        return x_ns > y_ns ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

static void test_stream_gaps(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world world;
        world_random(&world, seed);
        struct plain_ops ops = plain_all(&world);
        struct plain_gap gaps[64];
        size_t count = plain_gaps(&ops, gaps);
        qsort(gaps, count, sizeof *gaps, longest_first);
        int64_t sum = 0;
        world_run(&world, "stream_gaps");
        const struct gt_table *table = world_table(&world, "stream_gaps");
        assert_int_equal(table->row_count, count);
        for (size_t i = 0; i < count; i++) {
            sum += gaps[i].end - gaps[i].start;
            assert_int_equal(table_int(table, i, "gap_ns"), gaps[i].end - gaps[i].start);
            assert_int_equal(table_int(table, i, "start_ns"), gaps[i].start - world.store->origin_ns);
            assert_int_equal(table_int(table, i, "end_ns"), gaps[i].end - world.store->origin_ns);
        }
        assert_int_equal(world_fact(&world, "stream_gap_count").integer, count);
        assert_int_equal(world_fact(&world, "stream_gap_total_ns").integer, sum);
        if (count)
            assert_near(world_fact(&world, "stream_gap_avg_ns").real, (double)sum / (double)count);
        world_end(&world);
    }
}

/* A limit on the table leaves the first rows and says how many there were. */
static void test_limited_gaps(void **state) {
    (void)state;
    const char *const keys[] = {"stream_gaps", "gaps"};
    for (size_t k = 0; k < 2; k++) {
        struct world world;
        world_random(&world, 4);
        world_run(&world, keys[k]);
        size_t count = world_table(&world, keys[k])->row_count;
        assert_true(count > 3);
        int64_t third = table_int(world_table(&world, keys[k]), 2, "start_ns");
        struct gt_shape shape = {.table = keys[k], .limit = 3};
        world.options.shapes = &shape;
        world.options.shape_count = 1;
        world_run(&world, keys[k]);
        assert_int_equal(world_table(&world, keys[k])->row_count, 3);
        assert_int_equal(world_table(&world, keys[k])->total_rows, count);
        assert_int_equal(table_int(world_table(&world, keys[k]), 2, "start_ns"), third);
        shape.sort = "+gap_ns";
        world_run(&world, keys[k]);
        assert_int_equal(world_table(&world, keys[k])->row_count, count);
        world_end(&world);
    }
}

static void check_transition(const struct world *world, const struct gt_table *table, size_t row,
                             const struct plain_gap *gaps, size_t gap_count) {
    struct gt_str from = table_text(table, row, "from"), to = table_text(table, row, "to");
    int64_t count = 0, total = 0, min = INT64_MAX, max = 0;
    for (size_t i = 0; i < gap_count; i++) {
        if (!gt_str_eq(plain_name(world, gaps[i].previous), from) || !gt_str_eq(plain_name(world, gaps[i].next), to))
            continue;
        int64_t length = gaps[i].end - gaps[i].start;
        count++;
        total += length;
        min = length < min ? length : min;
        max = length > max ? length : max;
    }
    assert_true(count > 0);
    assert_int_equal(table_int(table, row, "count"), count);
    assert_int_equal(table_int(table, row, "total_ns"), total);
    assert_int_equal(table_int(table, row, "min_ns"), min);
    assert_int_equal(table_int(table, row, "max_ns"), max);
    assert_near(table_real(table, row, "avg_ns"), (double)total / (double)count);
    if (row)
        assert_true(table_real(table, row - 1, "avg_ns") >= table_real(table, row, "avg_ns"));
}

static void test_transitions(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world world;
        world_random(&world, seed);
        struct plain_ops ops = plain_all(&world);
        struct plain_gap gaps[64];
        size_t gap_count = plain_gaps(&ops, gaps);
        int64_t counted = 0;
        world_run(&world, "transitions");
        const struct gt_table *table = world_table(&world, "transitions");
        for (size_t row = 0; row < table->row_count; row++) {
            check_transition(&world, table, row, gaps, gap_count);
            counted += table_int(table, row, "count");
        }
        assert_int_equal(counted, gap_count);
        world_end(&world);
    }
}

static void check_bins(const struct gt_table *table, const struct plain_gap *gaps, size_t gap_count, int64_t least,
                       int64_t most, bool last_is_closed) {
    int64_t expected = 0, counted = 0;
    for (size_t i = 0; i < gap_count; i++)
        expected += gaps[i].end - gaps[i].start >= least && gaps[i].end - gaps[i].start <= most;
    for (size_t row = 0; row < table->row_count; row++) {
        double from = table_real(table, row, "from_ns"), to = table_real(table, row, "to_ns");
        int64_t inside = 0;
        for (size_t i = 0; i < gap_count; i++) {
            int64_t length = gaps[i].end - gaps[i].start;
            bool is_last = last_is_closed && row + 1 == table->row_count;
            inside += length >= least && length <= most && (double)length >= from &&
                      ((double)length < to || (is_last && (double)length <= to));
        }
        assert_int_equal(table_int(table, row, "count"), inside);
        counted += inside;
        if (row)
            assert_near(from, table_real(table, row - 1, "to_ns"));
    }
    assert_int_equal(counted, expected);
    if (expected && !last_is_closed) {
        assert_true(table_int(table, 0, "count") > 0);
        assert_true(table_int(table, table->row_count - 1, "count") > 0);
    }
}

static void test_histogram(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world world;
        world_random(&world, seed);
        struct plain_ops ops = plain_all(&world);
        struct plain_gap gaps[64];
        size_t gap_count = plain_gaps(&ops, gaps);
        world_run(&world, "histogram");
        check_bins(world_table(&world, "histogram"), gaps, gap_count, INT64_MIN, INT64_MAX, false);
        world.options.has_bounds = true;
        world.options.hist_min_ns = 5;
        world.options.hist_max_ns = 40;
        world_run(&world, "histogram");
        check_bins(world_table(&world, "histogram"), gaps, gap_count, 5, 40, false);
        world.options.has_linear_bins = true;
        world_run(&world, "histogram");
        check_bins(world_table(&world, "histogram"), gaps, gap_count, 5, 40, true);
        world.options.bin_count = 4;
        world_run(&world, "histogram");
        check_bins(world_table(&world, "histogram"), gaps, gap_count, 5, 40, true);
        assert_true(world_table(&world, "histogram")->row_count <= 4);
        world_end(&world);
    }
}

static void test_histogram_edges(void **state) {
    (void)state;
    struct world world;
    world_begin(&world, 1);
    const int64_t starts[] = {0, 1, 4, 10004, INT64_MAX - 5}; /* gaps of 1, 3, 10000 and nearly all time */
    for (size_t i = 0; i < 5; i++)
        assert_true(gt_builder_op(&world.builder,
                                  &(struct gt_ops_row){.start_ns = starts[i],
                                                       .end_ns = starts[i],
                                                       .correlation = GT_NO_CORRELATION,
                                                       .name = world_text(&world, "k"),
                                                       .lane = gt_builder_lane(&world.builder, GT_NO_TRACK, 0, 7)}));
    world_seal(&world);
    world_run(&world, "histogram");
    const struct gt_table *table = world_table(&world, "histogram");
    assert_int_equal(table_int(table, 0, "from_ns"), 1);
    assert_int_equal(table_int(table, 0, "to_ns"), 2);
    assert_int_equal(table_int(table, 0, "count"), 1);
    assert_int_equal(table_int(table, 1, "count"), 1);
    assert_int_equal(table_int(table, 12, "from_ns"), 10000);
    assert_int_equal(table_int(table, 12, "count"), 1);
    assert_int_equal(table_int(table, table->row_count - 1, "from_ns"), 5000000000000000000);
    assert_int_equal(table_int(table, table->row_count - 1, "to_ns"), INT64_MAX);
    world_end(&world);
}

static void test_histogram_refuses(void **state) {
    (void)state;
    struct world world;
    struct gt_error err = {0};
    world_random(&world, 3);
    world.options.has_bounds = true;
    world.options.hist_min_ns = 5000;
    world.options.hist_max_ns = 4500;
    assert_int_equal(world_try(&world, "histogram", &err), GT_ERR_USAGE);
    assert_string_equal(err.message, "the histogram's shortest gap, 5 us, is longer than its longest, 4.5 us");
    world_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accounting),        cmocka_unit_test(test_categories),
        cmocka_unit_test(test_streams),           cmocka_unit_test(test_stream_gaps),
        cmocka_unit_test(test_limited_gaps),      cmocka_unit_test(test_transitions),
        cmocka_unit_test(test_histogram),         cmocka_unit_test(test_histogram_edges),
        cmocka_unit_test(test_histogram_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
