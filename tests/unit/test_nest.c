/* Tracks as viewers show them: every interval is there once, what nests is nested, what does not is beside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "export/nest.h"

enum { MOST_ITEMS = 2000 };

static uint64_t random_state = 11;
static uint32_t random_below(uint32_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % n;
}

/* A viewer: an end closes what was opened last. Counts how often each row is seen. */
static void look_at_lane(const struct gt_nest_item *items, const uint32_t *events, size_t count, unsigned *seen) {
    uint32_t open[MOST_ITEMS];
    size_t depth = 0;
    int64_t now_ns = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        size_t item = gt_nest_item_of(events[i]);
        assert_true(gt_nest_event_ns(items, events[i]) >= now_ns);
        now_ns = gt_nest_event_ns(items, events[i]);
        if (events[i] & 1) {
            assert_true(depth > 0);
            assert_int_equal(open[--depth], item);
            continue;
        }
        seen[items[item].row]++;
        if (!items[item].is_moment)
            open[depth++] = (uint32_t)item;
    }
    assert_int_equal(depth, 0);
}

static size_t look_at(struct gt_nest_item *items, size_t count) {
    struct gt_nest nest;
    unsigned seen[MOST_ITEMS] = {0};
    assert_true(gt_nest_init(&nest, items, count));
    for (size_t i = 0; i < nest.lane_count; i++)
        look_at_lane(items, nest.events + nest.lanes[i].first, nest.lanes[i].count, seen);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(seen[i], 1);
    size_t lanes = nest.lane_count;
    gt_nest_release(&nest);
    return lanes;
}

static void random_intervals(void **unused) {
    (void)unused;
    for (unsigned round = 0; round < 200; round++) {
        struct gt_nest_item items[MOST_ITEMS];
        size_t count = random_below(round < 100 ? 12 : MOST_ITEMS);
        uint32_t span = 1 + random_below(500);
        for (size_t i = 0; i < count; i++) {
            int64_t start_ns = random_below(span);
            bool is_moment = random_below(10) == 0;
            items[i] = (struct gt_nest_item){start_ns, start_ns + (is_moment ? 0 : random_below(1 + span / 4)),
                                             (uint32_t)i, 0, is_moment};
        }
        look_at(items, count);
    }
}

static void equal_and_nested_ones_share_a_lane(void **unused) {
    (void)unused;
    struct gt_nest_item items[] = {{10, 20, 0, 0, false}, {0, 30, 1, 0, false},  {10, 20, 2, 0, false},
                                   {20, 30, 3, 0, false}, {30, 30, 4, 0, false}, {5, 5, 5, 0, true}};
    assert_int_equal(look_at(items, 6), 1);
    assert_int_equal(items[2].row, 0); /* of equal ones the first is around the other */
    assert_int_equal(items[3].row, 2);
}

static void staggered_ones_need_a_lane_for_each_that_runs_at_once(void **unused) {
    (void)unused;
    struct gt_nest_item items[100];
    for (uint32_t i = 0; i < 100; i++)
        items[i] = (struct gt_nest_item){10 * i, 10 * i + 35, i, 0, false};
    assert_int_equal(look_at(items, 100), 4);
    assert_int_equal(look_at(items, 0), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_intervals),
        cmocka_unit_test(equal_and_nested_ones_share_a_lane),
        cmocka_unit_test(staggered_ones_need_a_lane_for_each_that_runs_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
