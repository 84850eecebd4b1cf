/* Accounts of ops, against one flag per nanosecond and class. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "measure/results/accounts.h"
#include "measure/results/measure.h"
#include "random.h"

enum { SPAN = 200, MAX_COUNT = 40 };

static const struct gt_category categories[] = {
    {"a", "a", GT_CLASS_COMPUTE}, {"b", "b", GT_CLASS_COMM}, {"c", "c", GT_CLASS_MEMORY}};

/* Ops of a view, and the view of them. */
struct world {
    int64_t start_ns[MAX_COUNT], end_ns[MAX_COUNT];
    uint8_t category[MAX_COUNT];
    struct gt_labels labels;
    struct gt_view view;
};

static void world_init(struct world *world) {
    memset(world, 0, sizeof *world);
    world->labels.categories = categories;
    world->labels.category_count = GT_ARRAY_COUNT(categories);
    world->view.labels = &world->labels;
    world->view.start_ns = world->start_ns;
    world->view.end_ns = world->end_ns;
    world->view.category = world->category;
}

static void add_op(struct world *world, int64_t start_ns, int64_t end_ns, enum gt_class class) {
    size_t at = world->view.op_count++;
    world->start_ns[at] = start_ns;
    world->end_ns[at] = end_ns;
    world->category[at] = (uint8_t) class;
}

static void add_random_ops(struct world *world, uint64_t *seed) {
    size_t count = random_below(seed, MAX_COUNT);
    int64_t start_ns = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t length_ns = random_between(seed, 0, i % 10 ? 9 : 70);
        start_ns += random_between(seed, 0, 2 * (SPAN / MAX_COUNT) - 1);
        start_ns = start_ns < SPAN ? start_ns : SPAN - 1;
        int64_t end_ns = start_ns + length_ns < SPAN ? start_ns + length_ns : SPAN;
        add_op(world, start_ns, end_ns, (enum gt_class)random_below(seed, 3));
    }
}

static struct gt_account naive_account(const struct world *world) {
    struct gt_account account = {0};
    int64_t *ns = account.ns;
    ns[GT_AMOUNT_SPAN] = SPAN;
    for (int64_t t = 0; t < SPAN; t++) {
        bool is_in[3] = {false};
        for (size_t i = 0; i < world->view.op_count; i++)
            is_in[world->category[i]] |= world->start_ns[i] <= t && t < world->end_ns[i];
        bool compute = is_in[GT_CLASS_COMPUTE], comm = is_in[GT_CLASS_COMM], memory = is_in[GT_CLASS_MEMORY];
        ns[GT_AMOUNT_BUSY] += compute || comm || memory;
        ns[GT_AMOUNT_IDLE] += !(compute || comm || memory);
        ns[GT_AMOUNT_COMPUTE] += compute;
        ns[GT_AMOUNT_COMM] += comm;
        ns[GT_AMOUNT_MEMORY] += memory;
        ns[GT_AMOUNT_EXPOSED_COMM] += comm && !compute;
        ns[GT_AMOUNT_EXPOSED_MEMORY] += memory && !compute && !comm;
        ns[GT_AMOUNT_OVERLAP] += comm && compute;
    }
    for (size_t i = 0; i < world->view.op_count; i++)
        ns[GT_AMOUNT_SUM] += world->end_ns[i] - world->start_ns[i];
    return account;
}

static void random_ops_agree_with_flags(void **state) {
    uint64_t seed = 21;
    (void)state;
    for (int round = 0; round < 3000; round++) {
        struct world world;
        struct gt_account_sweep accountant;
        world_init(&world);
        add_random_ops(&world, &seed);
        size_t middle = random_below(&seed, world.view.op_count + 1); /* in two runs */
        gt_account_sweep_init(&accountant);
        gt_account_sweep_take(&accountant, &world.view, 0, middle);
        gt_account_sweep_take(&accountant, &world.view, middle, world.view.op_count);
        struct gt_account got = gt_account_sweep_close(&accountant, 0, SPAN), expected = naive_account(&world);
        assert_memory_equal(got.ns, expected.ns, sizeof got.ns);
        const struct gt_view_device device = {.count = world.view.op_count, .span_end_ns = SPAN};
        uint64_t category_ns[3] = {0};
        got = gt_account_of_device(&world.view, &device, category_ns);
        assert_memory_equal(got.ns, expected.ns, sizeof got.ns);
        assert_int_equal(category_ns[GT_CLASS_COMPUTE], expected.ns[GT_AMOUNT_COMPUTE]);
        assert_int_equal(category_ns[GT_CLASS_COMM], expected.ns[GT_AMOUNT_EXPOSED_COMM]);
        assert_int_equal(category_ns[GT_CLASS_MEMORY], expected.ns[GT_AMOUNT_EXPOSED_MEMORY]);
        assert_int_equal(got.ns[GT_AMOUNT_BUSY], gt_view_device_busy_ns(&world.view, &device));
    }
}

static void extreme_times_do_not_overflow(void **state) {
    struct world world;
    (void)state;
    world_init(&world);
    add_op(&world, INT64_MIN, INT64_MIN + 10, GT_CLASS_MEMORY);
    add_op(&world, INT64_MIN, INT64_MAX, GT_CLASS_COMM);
    add_op(&world, 5, 5, GT_CLASS_COMPUTE);
    add_op(&world, INT64_MAX - 5, INT64_MAX, GT_CLASS_COMPUTE);
    const struct gt_view_device device = {.count = 4, .span_start_ns = INT64_MIN, .span_end_ns = INT64_MAX};
    uint64_t category_ns[3] = {0};
    struct gt_account account = gt_account_of_device(&world.view, &device, category_ns);
    assert_int_equal(account.ns[GT_AMOUNT_SPAN], INT64_MAX);
    assert_int_equal(account.ns[GT_AMOUNT_BUSY], INT64_MAX);
    assert_int_equal(gt_view_device_busy_ns(&world.view, &device), INT64_MAX);
    assert_int_equal(account.ns[GT_AMOUNT_IDLE], 0);
    assert_int_equal(account.ns[GT_AMOUNT_COMPUTE], 5);
    assert_int_equal(account.ns[GT_AMOUNT_COMM], INT64_MAX);
    assert_int_equal(account.ns[GT_AMOUNT_MEMORY], 10);
    assert_int_equal(account.ns[GT_AMOUNT_EXPOSED_MEMORY], 0);
    assert_int_equal(account.ns[GT_AMOUNT_OVERLAP], 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_ops_agree_with_flags),
        cmocka_unit_test(extreme_times_do_not_overflow),
    };
    return cmocka_run_group_tests_name("account", tests, NULL, NULL);
}
