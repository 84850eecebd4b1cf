/* Sums of time as bytes: what is read at each point, and between any two, is what was written. */
#include <stdlib.h>

#include "base/mem.h"
#include "rank_world.h"
#include "ranks/rank_sums.h"

enum { POINTS = 100 };

/* Points with 0 to 8 parts that grow, by 1 ns to hours. */
static void make_points(struct gt_rank_summary *summary, int64_t sums[POINTS][GT_PART_COUNT]) {
    int64_t before_ns[GT_PART_COUNT] = {0}, ns[GT_PART_COUNT] = {0};
    uint64_t drawn = 1;
    *summary = (struct gt_rank_summary){0};
    for (size_t i = 0; i < POINTS; i++) {
        for (int part = 0; part < GT_PART_COUNT && i; part++) {
            drawn = drawn * 6364136223846793005u + 1442695040888963407u;
            if (part != GT_PART_WAIT && (drawn >> 60 < 5 || part == GT_PART_COMPUTE))
                ns[part] += (int64_t)(1 + (drawn >> 30) % ((uint64_t)1 << (drawn >> 33) % 43));
        }
        gt_rank_sums_add(summary, before_ns, ns);
        memcpy(sums[i], ns, sizeof ns);
        summary->head.last_ns = 0;
        for (int part = 0; part < GT_PART_COUNT; part++)
            summary->head.last_ns += ns[part];
    }
    assert_false(summary->failed);
}

static void each_point_is_what_was_written(void **state) {
    struct gt_rank_summary summary;
    struct gt_rank_sums_walk walk;
    int64_t sums[POINTS][GT_PART_COUNT], ns[GT_PART_COUNT], other_ns[GT_PART_COUNT];
    (void)state;
    make_points(&summary, sums);
    assert_int_equal(summary.head.points, POINTS);
    gt_rank_sums_begin(&walk, &summary);
    for (size_t i = 0; i < POINTS; i++) {
        gt_rank_sums_until(&summary, i, ns);
        assert_memory_equal(ns, sums[i], sizeof ns);
        assert_true(gt_rank_sums_next(&walk));
        assert_memory_equal(walk.ns, sums[i], sizeof ns);
        assert_int_equal(walk.time_ns, gt_rank_sums_time(&summary, i));
        for (size_t k = i; k < POINTS; k++) {
            gt_rank_sums_between(&summary, i, k, ns, other_ns);
            assert_memory_equal(ns, sums[i], sizeof ns);
            assert_memory_equal(other_ns, sums[k], sizeof ns);
        }
    }
    assert_false(gt_rank_sums_next(&walk));
    assert_true(gt_rank_sums_are_sound(&summary));
    gt_rank_summary_release(&summary);
}

static void points_that_do_not_fit_the_span_are_refused(void **state) {
    struct gt_rank_summary summary;
    int64_t sums[POINTS][GT_PART_COUNT];
    (void)state;
    make_points(&summary, sums);
    summary.head.last_ns++;
    assert_false(gt_rank_sums_are_sound(&summary));
    summary.head.last_ns--;
    summary.head.points--;
    assert_false(gt_rank_sums_are_sound(&summary));
    summary.head.points++;
    summary.points_count--;
    assert_false(gt_rank_sums_are_sound(&summary));
    summary.points_count++;
    summary.anchors[2].ns[GT_PART_COMPUTE]++;
    assert_false(gt_rank_sums_are_sound(&summary));
    gt_rank_summary_release(&summary);
}

static void exposed_communication_is_what_was_written(void **state) {
    static const struct gt_interval written[] = {{-5, 0}, {7, 8}, {1000000, INT64_C(7200000000000)}};
    struct gt_rank_summary summary = {.head = {.first_ns = -5, .last_ns = INT64_C(7200000000000)}};
    struct gt_intervals read = {0};
    int64_t reached_ns = summary.head.first_ns;
    (void)state;
    for (size_t i = 0; i < GT_ARRAY_COUNT(written); i++) {
        gt_rank_sums_add_exposed(&summary, reached_ns, written[i].start_ns, written[i].end_ns);
        reached_ns = written[i].end_ns;
    }
    assert_true(gt_rank_sums_list_exposed(&summary, &read));
    assert_int_equal(read.count, GT_ARRAY_COUNT(written));
    assert_memory_equal(read.items, written, sizeof written);
    gt_intervals_release(&read);
    summary.head.last_ns--; /* then the last one goes beyond it */
    assert_false(gt_rank_sums_list_exposed(&summary, &read));
    gt_intervals_release(&read);
    gt_rank_summary_release(&summary);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_point_is_what_was_written),
        cmocka_unit_test(points_that_do_not_fit_the_span_are_refused),
        cmocka_unit_test(exposed_communication_is_what_was_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
