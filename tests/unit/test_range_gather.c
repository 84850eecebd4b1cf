/* What ranges launched, gathered by devices: the same as a naive pass finds, whatever the number of threads. Linked
   with short_slices.c, so that small traces are dealt. */
#include "measure/results/range_set.h"
#include "measure_world.h"

enum { LEVELS = 4, MOST_DEVICES = 4 };

/* Seals, and says how many calls launched ops of two devices. Of some seeds, ranges go on into those that follow. */
static size_t begin_trace(struct world *world, uint64_t seed) {
    world_begin(world, seed);
    struct gt_builder *builder = &world->builder;
    uint64_t *random = &world->random;
    uint64_t count = random_below(random, 250), devices = 1 + random_below(random, MOST_DEVICES);
    bool shares = random_below(random, 3) == 0, crosses = random_below(random, 2) == 0;
    size_t shared = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t process = gt_builder_process(builder, 50 + (int64_t)random_below(random, 2), GT_STR(""));
        uint32_t thread = gt_builder_thread(builder, process, 1, GT_STR(""));
        int64_t at = WORLD_START + (int64_t)i * 100;
        for (int64_t level = 0; level < (int64_t)random_below(random, LEVELS); level++) {
            char name[16];
            snprintf(name, sizeof name, "range %d", (int)random_below(random, 5));
            int64_t more_ns = crosses && random_below(random, 4) == 0 ? (int64_t)random_below(random, 400) : 0;
            struct gt_ranges_row range = {.start_ns = at + level,
                                          .end_ns = at + 50 - level + more_ns,
                                          .name = world_text(world, name),
                                          .thread = thread,
                                          .end_thread = GT_NO_TRACK,
                                          .lane = GT_NO_TRACK};
            gt_builder_range(builder, &range);
        }
        gt_builder_call(builder, &(struct gt_calls_row){.start_ns = at + 10,
                                                        .end_ns = at + 12,
                                                        .correlation = i,
                                                        .name = world_text(world, "cudaGraphLaunch"),
                                                        .thread = thread});
        size_t ops = shares && random_below(random, 8) == 0 ? 2 : 1;
        int64_t device = (int64_t)random_below(random, devices);
        for (size_t k = 0; k < ops; k++) {
            struct gt_ops_row op = {.start_ns = at + 20,
                                    .end_ns = at + 21 + (int64_t)random_below(random, 200),
                                    .correlation = i,
                                    .name = world_text(world, "kernel"),
                                    .lane = gt_builder_lane(builder, process, device + (int64_t)k, 7)};
            assert_true(gt_builder_op(builder, &op));
        }
        shared += ops > 1;
    }
    world_seal(world);
    return shared;
}

static bool is_inside(const struct gt_view *view, uint32_t row, uint32_t range) {
    int64_t reach_ns = gt_labels_op_reach(view->labels, view->store, row);
    uint32_t around = view->labels->op_range[row];
    while (around != GT_NO_ROW && around != range)
        around = gt_labels_next_range(view->labels, view->store, around, reach_ns);
    return around == range;
}

static bool is_inside_name(const struct gt_range_set *set, uint32_t row, uint32_t name) {
    for (uint32_t range = 0; range < set->view->store->ranges.count; range++)
        if (set->name_of[range] == name && is_inside(set->view, row, range))
            return true;
    return false;
}

static size_t count_overlapping(const struct world *world) {
    size_t count = 0;
    for (size_t range = 0; range < world->store->ranges.count; range++)
        count += world->labels->range_sibling[range] != GT_NO_ROW;
    return count;
}

static void check_use(const struct gt_range_set *set, uint32_t range) {
    const struct gt_view *view = set->view;
    struct gt_range_use expected = {0};
    for (uint32_t call = 0; call < view->store->calls.count; call++) {
        bool has_op = false;
        for (size_t i = 0; i < view->op_count; i++) {
            uint32_t row = view->row[i];
            if (view->labels->op_call[row] != call || !is_inside(view, row, range))
                continue;
            int64_t start = view->start_ns[i], end = view->end_ns[i];
            expected.start_ns = expected.ops == 0 || start < expected.start_ns ? start : expected.start_ns;
            expected.end_ns = expected.ops == 0 || end > expected.end_ns ? end : expected.end_ns;
            expected.ops++;
            has_op = true;
        }
        expected.launches += has_op;
    }
    assert_memory_equal(&set->uses[range], &expected, sizeof expected);
}

static void check_name(const struct gt_range_set *set, uint32_t name) {
    const struct gt_view *view = set->view;
    size_t ops = 0;
    int64_t sum_ns = 0, exclusive_ns = 0;
    for (size_t i = 0; i < view->op_count; i++) {
        uint32_t inner = view->labels->op_range[view->row[i]];
        int64_t op_ns = view->end_ns[i] - view->start_ns[i];
        bool counts = is_inside_name(set, view->row[i], name);
        exclusive_ns += inner != GT_NO_ROW && set->name_of[inner] == name ? op_ns : 0;
        ops += counts;
        sum_ns += counts ? op_ns : 0;
    }
    assert_int_equal(set->names[name].sums.ops, ops);
    assert_int_equal(set->names[name].sums.sum_ns, sum_ns);
    assert_int_equal(set->names[name].sums.exclusive_ns, exclusive_ns);
}

static void check_equal(const struct gt_range_set *set, const struct gt_range_set *other) {
    assert_int_equal(set->name_count, other->name_count);
    assert_int_equal(set->total_ns, other->total_ns);
    assert_int_equal(set->covered_ns, other->covered_ns);
    for (size_t i = 0; i < set->name_count; i++) {
        assert_int_equal(set->names[i].sums.busy.busy_ns, other->names[i].sums.busy.busy_ns);
        assert_int_equal(set->names[i].projected_ns, other->names[i].projected_ns);
        assert_int_equal(set->names[i].launches, other->names[i].launches);
    }
}

static void sums_do_not_depend_on_threads(void **state) {
    size_t shared = 0, overlapping = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct world world;
        struct gt_range_set alone = {0};
        struct gt_view *first_view = NULL;
        struct gt_error err = {0};
        shared += begin_trace(&world, seed);
        overlapping += count_overlapping(&world);
        for (int64_t threads = 1; threads <= 5; threads++) {
            struct asked asked;
            struct gt_view *view;
            struct gt_range_set set;
            world.options.threads = threads;
            ask(&world.options, &asked);
            assert_int_equal(gt_view_new(world.store, world.labels, &asked.request, &view, &err), GT_OK);
            assert_int_equal(gt_range_set_init(&set, view, &err), GT_OK);
            for (uint32_t range = 0; range < world.store->ranges.count && threads % 2; range++)
                check_use(&set, range);
            for (uint32_t name = 0; name < set.name_count; name++)
                check_name(&set, name);
            if (threads == 1) {
                alone = set;
                first_view = view;
                continue;
            }
            check_equal(&alone, &set);
            gt_range_set_release(&set);
            gt_view_free(view);
        }
        gt_range_set_release(&alone);
        gt_view_free(first_view);
        world_end(&world);
    }
    assert_true(shared > 100 && overlapping > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_do_not_depend_on_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
