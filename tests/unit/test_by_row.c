/* Views by row, which have no order: what is summed and counted of them is what a view in order gives, whatever the
   number of threads. Linked with short_slices.c, so that small traces are cut. */
#include "base/threads.h"
#include "measure/results/lane_overlaps.h"
#include "measure/results/named.h"
#include "measure/results/results.h"
#include "measure_world.h"

/* Mostly in order, as files are, then once more from the beginning, as tables of copies are, with other ops or copies
   alone; or anyhow. */
static void begin_trace(struct world *world, uint64_t seed) {
    static const char *const names[] = {"gemm", "relu", "softmax", "", "norm", "add"};
    world_begin(world, seed);
    uint64_t *random = &world->random;
    struct gt_builder *builder = &world->builder;
    uint64_t count = random_below(random, 400), disorder = random_below(random, 4), runs = 1 + random_below(random, 3);
    uint64_t copies_from = random_below(random, 2) ? count - count / 4 : count;
    int64_t start = INT64_MIN;
    for (uint64_t i = 0; i < count; i++) {
        if (i == 0 || i == copies_from || random_below(random, count) < runs ||
            (disorder == 3 && random_below(random, 4) == 0))
            start = WORLD_START + (int64_t)random_below(random, 30);
        start += (int64_t)random_below(random, 6);
        if (disorder == 2 && random_below(random, 20) == 0)
            start -= (int64_t)random_below(random, 40);
        const uint8_t kinds[] = {GT_OP_KERNEL, GT_OP_KERNEL, GT_OP_MEMCPY, GT_OP_GRAPH};
        struct gt_ops_row op = {
            .start_ns = start,
            .end_ns = start + (int64_t)random_below(random, 9),
            .correlation = random_below(random, 3) ? GT_NO_CORRELATION : i,
            .name = world_text(world, names[random_below(random, 6)]),
            .lane = gt_builder_lane(builder, GT_NO_TRACK, (int64_t)random_below(random, 2),
                                    (int64_t)random_below(random, 3)),
            .kind = i < copies_from ? kinds[random_below(random, 4)] : GT_OP_MEMCPY,
        };
        assert_true(gt_builder_op(builder, &op));
    }
    world_seal(world);
}

static struct gt_view *new_view(struct world *world, bool any_order, int64_t threads, struct asked *asked) {
    struct gt_view *view;
    struct gt_error err = {0};
    world->options.threads = threads;
    ask(&world->options, asked);
    asked->request.any_order = any_order;
    assert_int_equal(gt_view_new(world->store, world->labels, &asked->request, &view, &err), GT_OK);
    assert_int_equal(view->is_by_row, any_order);
    return view;
}

static void check_kernels(const struct gt_view *ordered, const struct gt_view *by_row, size_t threads) {
    struct gt_error err = {0};
    const struct gt_named_set *expected = gt_results_kernels(ordered, &err), *set = gt_results_kernels(by_row, &err);
    assert_non_null(expected);
    assert_non_null(set);
    assert_int_equal(set->count, expected->count);
    assert_int_equal(set->total_count, expected->total_count);
    assert_int_equal(set->total_ns, expected->total_ns);
    const struct gt_op_lengths *lengths = gt_results_op_lengths(ordered, &err);
    struct gt_sample_stats *stats = gt_named_stats_new(set, NULL, set->count, true, NULL, threads);
    struct gt_sample_stats *without = gt_named_stats_new(set, NULL, set->count, false, NULL, threads);
    assert_non_null(lengths);
    assert_non_null(stats);
    assert_non_null(without);
    for (size_t i = 0; i < set->count; i++) {
        const struct gt_named *kernel = &set->items[i], *other = &expected->items[i];
        struct gt_sample_stats all = gt_named_stats(expected, other, lengths);
        assert_true(gt_str_eq(kernel->name, other->name));
        assert_string_equal(kernel->category, other->category);
        assert_int_equal(kernel->full_name, other->full_name);
        assert_int_equal(kernel->total_ns, other->total_ns);
        assert_int_equal(kernel->count, other->count);
        assert_true(kernel->mean_ns == other->mean_ns);
        assert_memory_equal(&stats[i], &all, sizeof all);
        assert_true(without[i].stddev_ns == all.stddev_ns);
        assert_true(without[i].median_ns == all.median_ns || without[i].median_ns < 0);
    }
    gt_mem_free(stats);
    gt_mem_free(without);
}

/* One op after the other, each stream in the order of the view. */
static struct gt_lane_overlaps count_plainly(const struct gt_view *ordered) {
    struct gt_lane_overlaps counts = {0};
    for (size_t l = 0; l < ordered->lane_count; l++) {
        const uint32_t *order = ordered->lane_order + ordered->lanes[l].first;
        int64_t reached_ns = INT64_MIN;
        for (size_t i = 0; i < ordered->lanes[l].count; i++) {
            int64_t start_ns = ordered->start_ns[order[i]], end_ns = ordered->end_ns[order[i]];
            counts.empty += start_ns == end_ns;
            counts.unnamed += ordered->name[order[i]] == GT_STRID_EMPTY;
            counts.overlaps += start_ns < reached_ns;
            reached_ns = end_ns > reached_ns ? end_ns : reached_ns;
        }
    }
    return counts;
}

static void agrees_with_views_in_order(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        struct world world;
        struct asked asked, asked_by_row;
        begin_trace(&world, seed);
        struct gt_view *ordered = new_view(&world, false, 1, &asked);
        struct gt_lane_overlaps expected = count_plainly(ordered), counts;
        struct gt_error err = {0};
        for (int64_t threads = 1; threads <= 9; threads += threads < 3 ? 1 : 6) {
            struct gt_view *by_row = new_view(&world, true, threads, &asked_by_row);
            check_kernels(ordered, by_row, (size_t)threads);
            const struct gt_named_set *kernels = gt_results_kernels(by_row, &err);
            assert_non_null(kernels);
            counts = kernels->sums.overlaps;
            assert_int_equal(counts.empty, expected.empty);
            assert_int_equal(counts.unnamed, expected.unnamed);
            assert_int_equal(counts.overlaps, expected.overlaps);
            gt_view_free(by_row);
        }
        gt_view_free(ordered);
        world_end(&world);
    }
}

/* A part of the ops has an order of its own. */
static void selections_have_an_order(void **state) {
    (void)state;
    struct world world;
    struct asked asked;
    struct gt_view *view;
    struct gt_error err = {0};
    begin_trace(&world, 4);
    world.options.device = "0";
    ask(&world.options, &asked);
    asked.request.any_order = true;
    assert_int_equal(gt_view_new(world.store, world.labels, &asked.request, &view, &err), GT_OK);
    assert_false(view->is_by_row);
    assert_int_equal(view->device_count, 1);
    gt_view_free(view);
    world_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_views_in_order),
        cmocka_unit_test(selections_have_an_order),
    };
    return cmocka_run_group_tests_name("by_row", tests, NULL, NULL);
}
