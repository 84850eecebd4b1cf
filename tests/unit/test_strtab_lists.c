/* Lists that several threads intern at once have the ids that texts have one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lists_world.h"

static struct lists_world world;

static void check_ids(struct gt_strtab *alone, const struct gt_strtab *together) {
    for (size_t l = 0; l < LIST_COUNT; l++)
        for (size_t i = 0; i < world.lists[l].count; i++) {
            gt_strid id = gt_strtab_intern(alone, world.texts[l][i]);
            assert_int_equal(world.ids[l][i], id);
            assert_int_equal(gt_strtab_find(together, world.texts[l][i]), id);
        }
    assert_int_equal(together->count, alone->count);
    for (gt_strid id = 0; id < alone->count; id++) {
        struct gt_str text = gt_strtab_get(together, id);
        assert_true(gt_str_eq(text, gt_strtab_get(alone, id)));
        assert_int_equal(text.ptr[text.len], 0);
    }
}

/* With few different texts, many, and hardly two that are equal. What is interned later finds its place, too. */
static void threads_change_no_id(void **state) {
    static const uint32_t different[] = {1, 60, 20000, UINT32_MAX};
    (void)state;
    for (size_t d = 0; d < sizeof different / sizeof *different; d++)
        for (size_t threads = 1; threads <= 16; threads = threads * 2 + 1) {
            struct gt_strtab alone, together;
            lists_world_fill(&world, d + 1, different[d]);
            assert_true(gt_strtab_init(&alone));
            assert_true(gt_strtab_init(&together));
            gt_strtab_lists_intern(&together, world.lists, LIST_COUNT, threads);
            assert_false(together.failed);
            check_ids(&alone, &together);
            assert_int_equal(gt_strtab_find(&together, GT_STR("another")), UINT32_MAX);
            assert_int_equal(gt_strtab_intern(&together, GT_STR("another")), alone.count);
            assert_int_equal(gt_strtab_find(&together, GT_STR("another")), alone.count);
            gt_strtab_release(&alone);
            gt_strtab_release(&together);
        }
}

static void a_table_with_strings_keeps_them(void **state) {
    struct gt_strtab alone, together;
    (void)state;
    lists_world_fill(&world, 9, 20000);
    assert_true(gt_strtab_init(&alone));
    assert_true(gt_strtab_init(&together));
    assert_int_equal(gt_strtab_intern(&alone, GT_STR("before")), gt_strtab_intern(&together, GT_STR("before")));
    gt_strtab_lists_intern(&together, world.lists, LIST_COUNT, 4);
    check_ids(&alone, &together);
    gt_strtab_release(&alone);
    gt_strtab_release(&together);
}

static void no_lists_are_nothing(void **state) {
    struct gt_strtab tab;
    (void)state;
    assert_true(gt_strtab_init(&tab));
    gt_strtab_lists_intern(&tab, NULL, 0, 4);
    assert_int_equal(tab.count, 1);
    assert_false(tab.failed);
    gt_strtab_release(&tab);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_no_id),
        cmocka_unit_test(a_table_with_strings_keeps_them),
        cmocka_unit_test(no_lists_are_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
