/* Links of chains: those that are listed are links, and none of a run that is long enough is missing, whatever the
   number of threads. Linked with short_slices.c, so that small traces are cut. */
#include "measure/findings/chain_links.h"
#include "measure/findings/thresholds.h"
#include "measure_world.h"

enum { SHORT_NS = 500, LONG_NS = 20000 };

/* Element-wise kernels, some of them short, between others, on a few streams. */
static void begin_trace(struct world *world, uint64_t seed) {
    world_begin(world, seed);
    uint64_t *random = &world->random;
    uint64_t count = random_below(random, 300), others = 1 + random_below(random, 6);
    for (uint64_t i = 0; i < count; i++) {
        int64_t start_ns = WORLD_START + (int64_t)i * 2 * LONG_NS;
        bool is_other = random_below(random, others + 2) == 0;
        struct gt_ops_row op = {
            .start_ns = start_ns,
            .end_ns = start_ns + (random_below(random, 8) ? LONG_NS : SHORT_NS),
            .correlation = GT_NO_CORRELATION,
            .name =
                world_text(world, is_other ? "ampere_sgemm_128x64_nn"
                                           : "void at::native::vectorized_elementwise_kernel<4, AddFunctor<float>>"),
            .lane = gt_builder_lane(&world->builder, GT_NO_TRACK, 0, (int64_t)random_below(random, 2)),
            .kind = random_below(random, 30) ? GT_OP_KERNEL : GT_OP_MEMSET,
        };
        assert_true(gt_builder_op(&world->builder, &op));
    }
    world_seal(world);
}

static bool is_link(const struct gt_view *view, const struct gt_traits *traits, size_t place) {
    uint32_t position = view->lane_order[place];
    return view->end_ns[position] - view->start_ns[position] >= LONG_NS &&
           gt_traits_of_op(traits, view, position) & GT_TRAIT_ELEMENTWISE;
}

/* How many links are around a place without one between them. */
static size_t run_around(const struct gt_view *view, const struct gt_traits *traits, size_t place) {
    size_t first = place, end = place;
    while (first > 0 && is_link(view, traits, first - 1))
        first--;
    while (end < view->op_count && is_link(view, traits, end))
        end++;
    return end - first;
}

static size_t check(const struct gt_view *view, const struct gt_traits *traits) {
    struct gt_chain_links links;
    struct gt_updates updates = {0};
    struct gt_error err = {0};
    size_t next = 0, dropped = 0;
    assert_int_equal(gt_chain_links_init(&links, view, traits, &updates, &err), GT_OK);
    for (size_t i = 0; i < view->op_count; i++) {
        bool is_listed = next < links.count && links.items[next] == i;
        bool is_needed = is_link(view, traits, i) && (double)run_around(view, traits, i) >= gt_thresholds.chain_length;
        next += is_listed;
        assert_true(is_link(view, traits, i) || !is_listed);
        assert_true(is_listed || !is_needed);
        dropped += is_link(view, traits, i) && !is_listed;
    }
    assert_int_equal(next, links.count);
    gt_chain_links_release(&links);
    return dropped;
}

static void runs_that_are_long_enough_are_whole(void **state) {
    (void)state;
    size_t dropped = 0;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct world world;
        struct asked asked;
        struct gt_view *view;
        struct gt_traits traits;
        struct gt_error err = {0};
        begin_trace(&world, seed);
        for (int64_t threads = 1; threads <= 5; threads++) {
            world.options.threads = threads;
            ask(&world.options, &asked);
            assert_int_equal(gt_view_new(world.store, world.labels, &asked.request, &view, &err), GT_OK);
            assert_int_equal(gt_traits_init(&traits, view, &err), GT_OK);
            dropped += check(view, &traits);
            gt_traits_release(&traits);
            gt_view_free(view);
        }
        world_end(&world);
    }
    assert_true(dropped > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_that_are_long_enough_are_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
