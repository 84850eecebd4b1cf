/* Spread over steps, against a table of sums by step and set. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "measure/results/spread.h"
#include "random.h"

enum { MOST_STEPS = 12, MOST_SETS = 6, MOST_ITEMS = 200 };

struct world {
    struct gt_labels labels;
    struct gt_view view;
    uint32_t step[MOST_ITEMS], set[MOST_ITEMS];
    int64_t ns[MOST_ITEMS];
};

/* Steps mostly in order, as in traces, some out of it. Items are ops. */
static void make_random(struct world *world, uint64_t *seed, size_t set_count) {
    size_t count = random_below(seed, MOST_ITEMS + 1), step_count = 1 + random_below(seed, MOST_STEPS);
    bool is_mixed = random_below(seed, 2);
    world->labels = (struct gt_labels){.op_step = world->step, .step_count = step_count};
    world->view = (struct gt_view){.labels = &world->labels, .op_count = count, .is_whole = true};
    for (size_t i = 0; i < count; i++) {
        world->step[i] = is_mixed || random_below(seed, 10) == 0 ? (uint32_t)random_below(seed, step_count)
                                                                 : (uint32_t)(i * step_count / count);
        if (random_below(seed, 10) == 0)
            world->step[i] = GT_NO_ROW;
        world->set[i] = (uint32_t)random_below(seed, set_count);
        world->ns[i] = random_between(seed, -1, 3); /* some sums are 0, and damaged input may make some negative */
    }
}

static void measure(const struct world *world, size_t set_count, double *stddev_ns, size_t *steps) {
    struct gt_spread spread;
    assert_true(gt_spread_init(&spread, &world->view, set_count));
    for (size_t i = 0; i < world->view.op_count && spread.step_count; i++)
        assert_true(gt_spread_place(&spread, i, world->step[i]));
    for (size_t first, end; gt_spread_next(&spread, &first, &end);)
        for (size_t i = first; i < end; i++)
            gt_spread_take(&spread, world->set[i], world->ns[i]);
    assert_true(gt_spread_measure(&spread, &world->view, stddev_ns, steps));
    gt_spread_release(&spread);
}

static double naive_stddev(const struct world *world, uint32_t set, size_t steps) {
    double sums[MOST_STEPS] = {0}, mean = 0, squares = 0;
    bool is_there = false, has_ops[MOST_STEPS] = {false};
    for (size_t i = 0; i < world->view.op_count; i++) {
        if (world->step[i] == GT_NO_ROW)
            continue;
        has_ops[world->step[i]] = true;
        is_there |= world->set[i] == set;
        sums[world->step[i]] += world->set[i] == set ? (double)world->ns[i] : 0;
    }
    for (size_t step = 0; step < MOST_STEPS; step++)
        mean += sums[step] / (double)steps;
    for (size_t step = 0; step < MOST_STEPS; step++)
        squares += has_ops[step] ? (sums[step] - mean) * (sums[step] - mean) : 0;
    return is_there ? sqrt(squares / (double)(steps - 1)) : NAN;
}

static size_t naive_steps(const struct world *world) {
    size_t count = 0;
    for (uint32_t step = 0; step < world->labels.step_count; step++)
        for (size_t i = 0; i < world->view.op_count; i++)
            if (world->step[i] == step) {
                count++;
                break;
            }
    return count >= 3 ? count : 0;
}

static void agrees_with_table(void **unused) {
    (void)unused;
    struct world world;
    uint64_t seed = 7;
    for (int round = 0; round < 3000; round++) {
        size_t set_count = 1 + random_below(&seed, MOST_SETS), steps;
        double stddev_ns[MOST_SETS];
        make_random(&world, &seed, set_count);
        measure(&world, set_count, stddev_ns, &steps);
        assert_int_equal(steps, naive_steps(&world));
        for (uint32_t set = 0; set < set_count && steps; set++) {
            double expected = naive_stddev(&world, set, steps);
            assert_int_equal(isnan(stddev_ns[set]), isnan(expected));
            assert_true(isnan(expected) || fabs(stddev_ns[set] - expected) < 1e-6);
        }
    }
}

static void any_length_is_safe(void **unused) {
    static const int64_t lengths[] = {INT64_MIN, INT64_MAX, -1, 0, INT64_MIN, INT64_MIN};
    struct world world;
    uint64_t seed = 8;
    double stddev_ns[MOST_SETS];
    size_t steps;
    (void)unused;
    for (int round = 0; round < 300; round++) {
        make_random(&world, &seed, MOST_SETS);
        for (size_t i = 0; i < world.view.op_count; i++)
            world.ns[i] = lengths[random_below(&seed, sizeof lengths / sizeof *lengths)];
        measure(&world, MOST_SETS, stddev_ns, &steps);
        for (size_t set = 0; set < MOST_SETS && steps; set++)
            assert_false(isinf(stddev_ns[set]) || stddev_ns[set] < 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_table), cmocka_unit_test(any_length_is_safe)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
