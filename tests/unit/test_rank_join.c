/* Joining lists of collectives: shifts, holes, repeated labels, clocks that differ; against what was made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "random.h"
#include "ranks/rank_join.h"

enum { MOST = 400 };
#define NONE UINT32_MAX

/* A list that is made from another. */
struct list {
    int64_t end_ns[MOST], step[MOST];
    uint64_t label[MOST];
    size_t count;
};

static struct gt_rank_join_list view_of(const struct list *list) {
    return (struct gt_rank_join_list){list->end_ns, list->label, list->step, list->count};
}

static void add(struct list *list, int64_t end_ns, uint64_t label, int64_t step) {
    list->end_ns[list->count] = end_ns;
    list->label[list->count] = label;
    list->step[list->count++] = step;
}

/* Ends in irregular distances, with so many labels. */
static struct list irregular(uint64_t *random, size_t count, uint64_t labels) {
    struct list list = {.count = 0};
    int64_t end_ns = 1000000000;
    for (size_t i = 0; i < count; i++) {
        end_ns += 50000 + (int64_t)random_below(random, 3000000);
        add(&list, end_ns, random_below(random, labels), GT_RANK_JOIN_NO_STEP);
    }
    return list;
}

/* The part of a list from a place on, without one op in it, on another clock that is noisy. */
static struct list seen(const struct list *whole, size_t from, size_t hole, int64_t offset_ns, uint64_t *random) {
    struct list list = {.count = 0};
    for (size_t i = from; i < whole->count; i++)
        if (i != hole)
            add(&list, whole->end_ns[i] + offset_ns + (int64_t)random_below(random, 4000), whole->label[i],
                whole->step[i]);
    return list;
}

static void check(const struct list *a, const struct list *b, size_t from, size_t hole) {
    struct gt_rank_join_list x = view_of(a), y = view_of(b);
    uint32_t partner[MOST];
    bool is_guessed;
    assert_true(gt_rank_join(&x, &y, false, partner, &is_guessed));
    assert_false(is_guessed);
    for (size_t j = 0; j < b->count; j++) {
        size_t i = j + from;
        assert_int_equal(partner[j], i >= hole ? i + 1 : i);
    }
}

static void equal_lists_are_joined_in_order(void **state) {
    uint64_t random = 1;
    (void)state;
    for (int turn = 0; turn < 20; turn++) {
        struct list a = irregular(&random, 120, 3), b = seen(&a, 0, SIZE_MAX, -123000000000, &random);
        check(&a, &b, 0, SIZE_MAX);
    }
}

static void a_list_that_begins_later_is_shifted(void **state) {
    uint64_t random = 2;
    (void)state;
    for (int turn = 0; turn < 20; turn++) {
        size_t from = 1 + random_below(&random, 40);
        struct list a = irregular(&random, 120, 3), b = seen(&a, from, SIZE_MAX, 7300000, &random);
        check(&a, &b, from, SIZE_MAX);
    }
}

static void a_missing_op_leaves_a_hole(void **state) {
    uint64_t random = 3;
    (void)state;
    for (int turn = 0; turn < 20; turn++) {
        size_t from = random_below(&random, 10), hole = from + 20 + random_below(&random, 60);
        struct list a = irregular(&random, 120, 1), b = seen(&a, from, hole, 42, &random);
        check(&a, &b, from, hole);
    }
}

static void different_labels_are_never_partners(void **state) {
    struct list a = {.count = 0}, b = {.count = 0};
    uint32_t partner[MOST];
    bool is_guessed;
    (void)state;
    for (int i = 0; i < 10; i++) {
        add(&a, 1000 * i, 1, GT_RANK_JOIN_NO_STEP);
        add(&b, 1000 * i, 2, GT_RANK_JOIN_NO_STEP);
    }
    struct gt_rank_join_list x = view_of(&a), y = view_of(&b);
    assert_true(gt_rank_join(&x, &y, false, partner, &is_guessed));
    for (int i = 0; i < 10; i++)
        assert_int_equal(partner[i], NONE);
}

static void steps_decide_about_messages(void **state) {
    struct list a = {.count = 0}, b = {.count = 0};
    uint32_t partner[MOST];
    bool is_guessed;
    (void)state;
    for (int i = 0; i < 12; i++) {
        add(&a, 1000 * i, 1, i / 4);
        if (i >= 4)
            add(&b, 9000 + 777 * i, 1, i / 4);
    }
    struct gt_rank_join_list x = view_of(&a), y = view_of(&b);
    assert_true(gt_rank_join(&x, &y, true, partner, &is_guessed));
    assert_false(is_guessed);
    for (uint32_t j = 0; j < 8; j++)
        assert_int_equal(partner[j], j + 4);
    for (int i = 0; i < 12; i++)
        a.step[i] = b.step[i] = GT_RANK_JOIN_NO_STEP;
    assert_true(gt_rank_join(&x, &y, true, partner, &is_guessed));
    assert_true(is_guessed);
    for (uint32_t j = 0; j < 8; j++)
        assert_int_equal(partner[j], j);
}

static void any_times_end_in_an_answer(void **state) {
    uint64_t random = 4;
    (void)state;
    for (int turn = 0; turn < 200; turn++) {
        struct list lists[2] = {{.count = 0}, {.count = 0}};
        uint32_t partner[MOST];
        bool is_guessed;
        for (int l = 0; l < 2; l++)
            for (uint64_t i = 1 + random_below(&random, 30); i-- > 0;)
                add(&lists[l], (int64_t)(random_u64(&random) >> random_below(&random, 60)), random_below(&random, 2),
                    GT_RANK_JOIN_NO_STEP);
        struct gt_rank_join_list a = view_of(&lists[0]), b = view_of(&lists[1]);
        assert_true(gt_rank_join(&a, &b, turn % 2, partner, &is_guessed));
        for (size_t j = 0, last = 0; j < b.count; j++)
            if (partner[j] != NONE) { /* in order, with equal labels */
                assert_true(partner[j] < a.count && partner[j] >= last && a.label[partner[j]] == b.label[j]);
                last = partner[j] + 1;
            }
    }
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void the_selected_element_is_that_of_the_sorted_values(void **state) {
    uint64_t random = 5;
    (void)state;
    for (int turn = 0; turn < 2000; turn++) {
        int64_t values[50], sorted[50];
        size_t count = 1 + random_below(&random, 50), place = random_below(&random, count);
        for (size_t i = 0; i < count; i++)
            values[i] = sorted[i] = (int64_t)random_below(&random, turn % 2 ? 5 : 1000000) - 3;
        qsort(sorted, count, sizeof *sorted, by_value);
        assert_int_equal(gt_rank_join_select(values, count, place), sorted[place]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_lists_are_joined_in_order),
        cmocka_unit_test(a_list_that_begins_later_is_shifted),
        cmocka_unit_test(a_missing_op_leaves_a_hole),
        cmocka_unit_test(different_labels_are_never_partners),
        cmocka_unit_test(steps_decide_about_messages),
        cmocka_unit_test(any_times_end_in_an_answer),
        cmocka_unit_test(the_selected_element_is_that_of_the_sorted_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
