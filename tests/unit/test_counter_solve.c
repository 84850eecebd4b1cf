/* Least squares without negative rates, against systems whose answer is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "measure/counters/counter_solve.h"
#include "random.h"

enum { MOST = 12 };

static void assert_near(double got, double wanted, double off) {
    assert_true(fabs(got - wanted) <= off);
}

/* Samples of shares and values, and the equations that they give. */
struct system {
    size_t count;
    double weights[MOST][MOST], targets[MOST], own[MOST];
    size_t first[MOST + 1];
    struct gt_counter_solve_pair pairs[MOST * MOST];
};

static void add_sample(struct system *system, const double *shares, double value) {
    for (size_t i = 0; i < system->count; i++) {
        system->targets[i] += shares[i] * value;
        for (size_t k = 0; k < system->count; k++)
            system->weights[i][k] += shares[i] * shares[k];
    }
}

static bool solve(struct system *system, double *rates) {
    size_t pairs = 0;
    for (size_t i = 0; i < system->count; i++) {
        system->first[i] = pairs;
        system->own[i] = system->weights[i][i];
        for (size_t k = 0; k < system->count; k++)
            if (k != i && system->weights[i][k] > 0)
                system->pairs[pairs++] = (struct gt_counter_solve_pair){(uint32_t)k, system->weights[i][k]};
    }
    system->first[system->count] = pairs;
    struct gt_counter_solve equations = {system->count, system->first, system->pairs, system->own};
    return gt_counter_solve_rates(&equations, system->targets, rates);
}

static void one_thing_has_its_mean(void **state) {
    (void)state;
    struct system system = {.count = 1};
    double rates[MOST];
    add_sample(&system, (double[]){1}, 40);
    add_sample(&system, (double[]){1}, 60);
    assert_true(solve(&system, rates));
    assert_near(rates[0], 50, 1e-6);
}

static void what_never_ran_has_no_rate(void **state) {
    (void)state;
    struct system system = {.count = 2};
    double rates[MOST];
    add_sample(&system, (double[]){0.5, 0}, 20);
    assert_true(solve(&system, rates));
    assert_near(rates[0], 40, 1e-6);
    assert_near(rates[1], 0, 0);
}

static void no_rate_is_negative(void **state) {
    (void)state;
    struct system system = {.count = 2};
    double rates[MOST];
    add_sample(&system, (double[]){0.5, 0.5}, 10); /* without bounds: 60 and -40 */
    add_sample(&system, (double[]){0.9, 0.1}, 50);
    assert_true(solve(&system, rates));
    assert_true(rates[0] > 0);
    assert_near(rates[1], 0, 0);
    assert_near(rates[0], (0.5 * 10 + 0.9 * 50) / (0.25 + 0.81), 1e-6);
}

/* Samples that rates explain exactly give these rates back. */
static void known_rates_are_found(void **state) {
    (void)state;
    uint64_t random = 7;
    for (int round = 0; round < 50; round++) {
        struct system system = {.count = 2 + random_below(&random, MOST - 1)};
        double truth[MOST], rates[MOST];
        for (size_t i = 0; i < system.count; i++)
            truth[i] = (double)random_below(&random, 101);
        for (size_t sample = 0; sample < 40 * system.count; sample++) {
            double shares[MOST] = {0}, left = 1, value = 0;
            for (int part = 0; part < 3; part++) {
                size_t thing = random_below(&random, system.count);
                double share = left * (double)random_below(&random, 1000) / 1000;
                shares[thing] += share;
                left -= share;
            }
            for (size_t i = 0; i < system.count; i++)
                value += shares[i] * truth[i];
            add_sample(&system, shares, value);
        }
        assert_true(solve(&system, rates));
        for (size_t i = 0; i < system.count; i++)
            assert_near(rates[i], truth[i], 1e-3);
    }
}

/* Two that are always together, with the same shares: any division fits, and an answer comes all the same. */
static void things_that_cannot_be_told_apart(void **state) {
    (void)state;
    struct system system = {.count = 2};
    double rates[MOST];
    for (int i = 0; i < 10; i++)
        add_sample(&system, (double[]){0.5, 0.5}, 30);
    assert_true(solve(&system, rates));
    assert_near(rates[0] + rates[1], 60, 1e-5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thing_has_its_mean),
        cmocka_unit_test(what_never_ran_has_no_rate),
        cmocka_unit_test(no_rate_is_negative),
        cmocka_unit_test(known_rates_are_found),
        cmocka_unit_test(things_that_cannot_be_told_apart),
    };
    return cmocka_run_group_tests_name("counter_solve", tests, NULL, NULL);
}
