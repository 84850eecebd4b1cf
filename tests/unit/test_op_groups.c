/* Groups of ops, against a look at every op for each of them; statistics of equal lengths, against all lengths. */
#include "measure/results/op_lengths.h"

#include "measure/results/measure.h"
#include "measure_world.h"

static void view_world(struct world *world, enum gputime_names names) {
    struct gt_error err = {0};
    world->options.names = names;
    gt_view_free(world->view);
    assert_int_equal(gt_view_new(world->store, world->labels, ask(&world->options, &world->asked), &world->view, &err),
                     GT_OK);
}

static bool is_in(const struct gt_view *view, size_t position, const struct gt_op_group *group) {
    return gt_view_op_name_id(view, position) == group->name && gt_view_op_process(view, position) == group->process &&
           view->store->lanes.device[view->lane[position]] == group->device &&
           gt_view_op_kind(view, position) == group->kind && view->category[position] == group->category;
}

/* Has the lengths of its ops in their order. Full names: no two groups are alike. */
static void check_group(const struct gt_view *view, const struct gt_op_lengths *all, size_t index) {
    const struct gt_op_group *group = &all->groups->items[index];
    struct gt_slice lengths = gt_op_lengths_of(all, index, index + 1);
    struct gt_tally expected = {0};
    for (size_t i = 0; i < view->op_count; i++) {
        if (!is_in(view, i, group))
            continue;
        assert_true(expected.count < lengths.count);
        assert_int_equal(gt_quantile_sample(&lengths, expected.count), gt_view_op_ns(view, i));
        assert_true(expected.count > 0 || group->first == i);
        gt_keyed_tally_add(&expected, gt_view_op_ns(view, i));
    }
    assert_true(expected.count > 0);
    assert_int_equal(group->count, expected.count);
    assert_true(group->sum_ns == expected.sum);
    assert_int_equal(group->min_ns, expected.min);
    assert_int_equal(group->max_ns, expected.max);
}

static bool is_before(const struct gt_op_group *a, const struct gt_op_group *b) {
    if (a->name != b->name)
        return a->name < b->name;
    return a->device != b->device ? a->device < b->device : a->process <= b->process;
}

static void check_order(const struct gt_op_groups *groups) {
    for (size_t i = 0; i < groups->count; i++) {
        assert_int_equal(gt_store_kind_is_kernel(groups->items[i].kind), i < groups->kernel_count);
        if (i > 0 && i != groups->kernel_count)
            assert_true(is_before(&groups->items[i - 1], &groups->items[i]));
    }
}

static void agrees_with_ops(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        struct world world;
        struct gt_error err = {0};
        world_random(&world, seed);
        for (int names = GPUTIME_NAMES_FULL; names <= GPUTIME_NAMES_SHORT; names++) {
            struct gt_op_groups groups;
            struct gt_op_lengths lengths;
            view_world(&world, (enum gputime_names)names);
            if (seed % 4 == 0 && world.view->op_count) /* longer than fits 32 bits */
                world.view->end_ns[seed % world.view->op_count] += INT64_C(1) << 33;
            assert_int_equal(gt_op_groups_init(&groups, world.view, &err), GT_OK);
            check_order(&groups);
            assert_int_equal(gt_op_lengths_init(&lengths, world.view, &err), GT_OK);
            assert_int_equal(gt_op_lengths_of(&lengths, 0, groups.count).count, world.view->op_count);
            for (size_t i = 0; i < groups.count && names == GPUTIME_NAMES_FULL; i++)
                check_group(world.view, &lengths, i);
            gt_op_lengths_release(&lengths);
            gt_op_groups_release(&groups);
        }
        world_end(&world);
    }
}

static void extremes_suffice_for_equal_lengths(void **state) {
    (void)state;
    for (int64_t length_ns = 0; length_ns < INT64_MAX / 8; length_ns = length_ns * 7 + 1)
        for (size_t count = 1; count < 6; count++) {
            const int64_t samples[] = {length_ns, length_ns, length_ns, length_ns, length_ns};
            struct gt_sample_stats all = gt_samples_slice_stats((struct gt_slice){.samples = samples, .count = count}),
                                   completed = all;
            completed.median_ns = completed.p90_ns = completed.p99_ns = completed.stddev_ns = -1;
            assert_true(gt_sample_stats_complete(&completed));
            assert_memory_equal(&completed, &all, sizeof all);
        }
    struct gt_sample_stats stats = {.count = 2, .min_ns = 1, .max_ns = 2, .median_ns = -1};
    assert_false(gt_sample_stats_complete(&stats));
    assert_true(stats.median_ns == -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_ops),
        cmocka_unit_test(extremes_suffice_for_equal_lengths),
    };
    return cmocka_run_group_tests_name("op_groups", tests, NULL, NULL);
}
