/* Interned strings, against a plain list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/strtab.h"
#include "random.h"

static void empty_is_always_there(void **state) {
    struct gt_strtab tab;
    (void)state;

    assert_true(gt_strtab_init(&tab));
    assert_int_equal(tab.count, 1);
    assert_int_equal(gt_strtab_intern(&tab, (struct gt_str){NULL, 0}), GT_STRID_EMPTY);
    assert_int_equal(gt_strtab_find(&tab, GT_STR("")), GT_STRID_EMPTY);
    assert_int_equal(gt_strtab_find(&tab, GT_STR("x")), UINT32_MAX);
    assert_int_equal(gt_strtab_get(&tab, 77).len, 0);
    gt_strtab_release(&tab);
    assert_int_equal(gt_strtab_find(&tab, GT_STR("x")), UINT32_MAX);
}

/* A small alphabet and short lengths make repeats common; the list is the truth. */
static void ids_follow_first_appearance(void **state) {
    enum { ROUNDS = 6000, MAX_LEN = 6 };
    static char seen[ROUNDS][MAX_LEN];
    static size_t seen_len[ROUNDS];
    size_t seen_count = 1;
    struct gt_strtab tab;
    uint64_t seed = 2;
    (void)state;

    assert_true(gt_strtab_init(&tab));
    for (size_t round = 0; round < ROUNDS; round++) {
        char text[MAX_LEN];
        size_t len = random_below(&seed, MAX_LEN + 1), id = 0;
        for (size_t i = 0; i < len; i++)
            text[i] = "a\0\xff/"[random_below(&seed, 4)];
        while (id < seen_count && !(seen_len[id] == len && memcmp(seen[id], text, len) == 0))
            id++;
        assert_int_equal(gt_strtab_find(&tab, (struct gt_str){text, len}), id < seen_count ? id : UINT32_MAX);
        if (id == seen_count) {
            memcpy(seen[id], text, len);
            seen_len[seen_count++] = len;
        }
        assert_int_equal(gt_strtab_intern(&tab, (struct gt_str){text, len}), id);
        assert_int_equal(gt_strtab_find(&tab, (struct gt_str){text, len}), id);
    }
    assert_int_equal(tab.count, seen_count);
    for (gt_strid id = 0; id < seen_count; id++) {
        struct gt_str got = gt_strtab_get(&tab, id);
        assert_true(gt_str_eq(got, (struct gt_str){seen[id], seen_len[id]}));
        assert_int_equal(got.ptr[got.len], 0);
    }
    assert_false(tab.failed);
    gt_strtab_release(&tab);
}

static void many_strings_survive_growth(void **state) {
    enum { COUNT = 200000 };
    struct gt_strtab tab;
    char text[32];
    (void)state;

    assert_true(gt_strtab_init(&tab));
    for (int pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < COUNT; i++) {
            int len = snprintf(text, sizeof(text), "kernel_%u", i);
            assert_int_equal(gt_strtab_intern(&tab, (struct gt_str){text, (size_t)len}), i + 1);
        }
    assert_int_equal(tab.count, COUNT + 1);
    assert_in_range(tab.slot_count, COUNT * 3 / 2, COUNT * 4);
    assert_string_equal(gt_strtab_get(&tab, 1).ptr, "kernel_0");
    assert_string_equal(gt_strtab_get(&tab, COUNT).ptr, "kernel_199999");
    gt_strtab_release(&tab);
}

static void long_strings_differ_in_one_byte(void **state) {
    enum { LEN = 5000 };
    struct gt_strtab tab;
    char *text = gt_mem_alloc(LEN);
    (void)state;

    assert_true(gt_strtab_init(&tab));
    assert_non_null(text);
    memset(text, 'x', LEN);
    for (unsigned i = 0; i < LEN; i++) {
        text[i] = 'y';
        assert_int_equal(gt_strtab_intern(&tab, (struct gt_str){text, LEN}), i + 1);
        text[i] = 'x';
    }
    for (unsigned i = 1; i < LEN; i++)
        assert_int_equal(gt_strtab_intern(&tab, (struct gt_str){text, i}), LEN + i);
    gt_mem_free(text);
    gt_strtab_release(&tab);
}

static void borrowed_bytes_are_not_copied(void **state) {
    static const char text[] = "mapped name";
    struct gt_str borrowed = {text, sizeof(text) - 1};
    struct gt_strtab tab;
    gt_strid id;
    (void)state;

    assert_true(gt_strtab_init(&tab));
    id = gt_strtab_intern_borrowed(&tab, borrowed);
    assert_ptr_equal(gt_strtab_get(&tab, id).ptr, text);
    assert_int_equal(gt_strtab_intern(&tab, borrowed), id);
    id = gt_strtab_intern(&tab, (struct gt_str){text, 6});
    assert_ptr_not_equal(gt_strtab_get(&tab, id).ptr, text);
    assert_int_equal(gt_strtab_intern_borrowed(&tab, (struct gt_str){text, 6}), id);
    gt_strtab_release(&tab);
}

/* Each of many at once has the id that it has alone, also where the table grows between. */
static void many_at_once_are_as_one_by_one(void **state) {
    enum { COUNT = 150, ROUNDS = 200 };
    static char bytes[COUNT][16];
    struct gt_strtab alone, together;
    uint64_t seed = 3;
    (void)state;

    assert_true(gt_strtab_init(&alone));
    assert_true(gt_strtab_init(&together));
    for (size_t round = 0; round < ROUNDS; round++) {
        struct gt_str texts[COUNT];
        gt_strid ids[COUNT];
        size_t count = random_below(&seed, COUNT + 1);
        for (size_t i = 0; i < count; i++) {
            int len = snprintf(bytes[i], sizeof bytes[i], "text %u", (unsigned)random_below(&seed, 9000));
            texts[i] = random_below(&seed, 9) ? (struct gt_str){bytes[i], (size_t)len} : (struct gt_str){NULL, 0};
        }
        gt_strtab_intern_many(&together, texts, count, ids);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(ids[i], gt_strtab_intern(&alone, texts[i]));
    }
    assert_int_equal(alone.count, together.count);
    gt_strtab_release(&alone);
    gt_strtab_release(&together);
    struct gt_str text = GT_STR("x");
    gt_strid id = 7;
    gt_strtab_intern_many(&together, &text, 1, &id);
    assert_int_equal(id, GT_STRID_EMPTY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_is_always_there),         cmocka_unit_test(ids_follow_first_appearance),
        cmocka_unit_test(many_strings_survive_growth),   cmocka_unit_test(long_strings_differ_in_one_byte),
        cmocka_unit_test(borrowed_bytes_are_not_copied), cmocka_unit_test(many_at_once_are_as_one_by_one),
    };
    return cmocka_run_group_tests_name("strtab", tests, NULL, NULL);
}
