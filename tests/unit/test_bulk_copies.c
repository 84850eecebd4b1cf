/* Bulk copies: the gaps next to them are those that a look at every gap finds, in order, whatever the number of
   threads. Linked with short_slices.c, so that small traces are cut. */
#include "measure/findings/bulk_copies.h"
#include "measure_world.h"

/* Ops on a few streams of two devices, so close that many start or end together and some take no time. */
static void begin_trace(struct world *world, uint64_t seed) {
    world_begin(world, seed);
    uint64_t *random = &world->random;
    uint64_t count = random_below(random, 200), sparse = 1 + random_below(random, 4);
    for (uint64_t i = 0; i < count; i++) {
        int64_t start_ns = WORLD_START + (int64_t)(random_below(random, 1 + 2 * count) * sparse);
        bool is_copy = random_below(random, 3) > 0;
        struct gt_ops_row op = {
            .start_ns = start_ns,
            .end_ns = start_ns + (int64_t)random_below(random, 4),
            .correlation = GT_NO_CORRELATION,
            .name = world_text(world, is_copy ? "[CUDA memcpy Host-to-Device]" : "kernel"),
            .lane = gt_builder_lane(&world->builder, GT_NO_TRACK, (int64_t)random_below(random, 2),
                                    (int64_t)random_below(random, 3)),
            .kind = is_copy ? GT_OP_MEMCPY : GT_OP_KERNEL,
        };
        assert_true(gt_builder_op(&world->builder, &op));
        if (is_copy && random_below(random, 6))
            gt_builder_copy(&world->builder, &(struct gt_copies_row){.bytes = random_below(random, 2) ? 300000 : 10,
                                                                     .src = GT_MEMORY_PAGEABLE,
                                                                     .dst = GT_MEMORY_DEVICE});
    }
    world_seal(world);
}

static const struct gt_bulk_copy *copy_at(const struct gt_bulk_copies *copies, uint32_t position) {
    for (size_t i = 0; i < copies->count; i++)
        if (copies->items[i].position == position)
            return &copies->items[i];
    return NULL;
}

/* Gives how many gaps there are next to copies. */
static size_t check(const struct gt_view *view) {
    struct gt_idle idle;
    struct gt_bulk_copies copies;
    struct gt_error err = {0};
    size_t next = 0;
    assert_int_equal(gt_idle_init(&idle, view, &err), GT_OK);
    assert_int_equal(gt_bulk_copies_init(&copies, view, &idle, &err), GT_OK);
    for (size_t i = 0; i < idle.count; i++) {
        const struct gt_bulk_copy *before = copy_at(&copies, gt_idle_gap_previous(&idle, i)),
                                  *after = copy_at(&copies, idle.next[i]);
        if (!before && !after)
            continue;
        assert_true(next < copies.gap_count);
        assert_int_equal(copies.gaps[next].gap, i);
        assert_ptr_equal(copies.gaps[next].before, before);
        assert_ptr_equal(copies.gaps[next].after, after);
        next++;
    }
    assert_int_equal(next, copies.gap_count);
    gt_bulk_copies_release(&copies);
    gt_idle_release(&idle);
    return next;
}

static void gaps_next_to_copies_are_found(void **state) {
    (void)state;
    size_t found = 0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        struct world world;
        struct asked asked;
        struct gt_view *view;
        struct gt_error err = {0};
        begin_trace(&world, seed);
        for (int64_t threads = 1; threads <= 5; threads += 2) {
            world.options.threads = threads;
            ask(&world.options, &asked);
            assert_int_equal(gt_view_new(world.store, world.labels, &asked.request, &view, &err), GT_OK);
            found += check(view);
            gt_view_free(view);
        }
        world_end(&world);
    }
    assert_true(found > 10000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(gaps_next_to_copies_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
