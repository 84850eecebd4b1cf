/* Columns of which most items are 0, against plain arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/sparse.h"
#include "random.h"

static void all_are_0_at_first(void **state) {
    (void)state;
    struct gt_sparse sparse;
    assert_true(gt_sparse_init(&sparse, 100));
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(gt_sparse_get(&sparse, i), 0);
    assert_int_equal(sparse.block_count, 0);
    gt_sparse_release(&sparse);
}

static void items_are_as_in_an_array(void **state) {
    enum { ITEMS = 1000, CHANGES = 3000 };
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t random = seed;
        int64_t plain[ITEMS] = {0};
        struct gt_sparse sparse;
        assert_true(gt_sparse_init(&sparse, ITEMS));
        for (size_t i = 0; i < CHANGES; i++) {
            size_t item = random_below(&random, ITEMS);
            int64_t ns = (int64_t)random_below(&random, 1000);
            plain[item] += ns;
            *gt_sparse_at(&sparse, item) += ns;
        }
        for (size_t i = 0; i < ITEMS; i++)
            assert_int_equal(gt_sparse_get(&sparse, i), plain[i]);
        assert_true(sparse.block_count <= ITEMS / GT_SPARSE_BLOCK + 1);
        gt_sparse_release(&sparse);
    }
}

/* Some blocks are there before; what was made stays when it is closed, and more can be made then. */
static void an_open_column_has_room_for_all(void **state) {
    enum { ITEMS = 1000 };
    (void)state;
    for (size_t every = 1; every <= 100; every += 33) {
        struct gt_sparse sparse;
        assert_true(gt_sparse_init(&sparse, ITEMS));
        *gt_sparse_at(&sparse, 5) = 7;
        assert_true(gt_sparse_open(&sparse, ITEMS));
        for (size_t i = 0; i < ITEMS; i += every)
            *gt_sparse_at_open(&sparse, i) += (int64_t)i;
        gt_sparse_close(&sparse);
        *gt_sparse_at(&sparse, ITEMS - 1) += 1;
        for (size_t i = 0; i < ITEMS; i++) {
            int64_t own = i % every ? 0 : (int64_t)i;
            assert_int_equal(gt_sparse_get(&sparse, i), own + (i == 5 ? 7 : 0) + (i == ITEMS - 1));
            assert_true(!gt_sparse_is_empty(&sparse, i) || gt_sparse_get(&sparse, i) == 0);
        }
        gt_sparse_release(&sparse);
    }
}

struct listed {
    size_t count;
    struct gt_sparse_amount *amounts;
};

static void list(const void *context, size_t begin, size_t end, struct gt_sparse_amount *amounts) {
    const struct listed *listed = context;
    assert_true(begin < end && end <= listed->count && end - begin <= GT_SPARSE_ASKED);
    memcpy(amounts, listed->amounts + begin, (end - begin) * sizeof *amounts);
}

/* Long enough for several slices; neighbours share blocks, some have nothing, some blocks are there before. */
static void many_are_added_on_threads(void **state) {
    enum { ITEMS = 400000 };
    struct gt_sparse_amount *amounts = calloc(ITEMS, sizeof *amounts);
    int64_t *plain = calloc(ITEMS, sizeof *plain);
    (void)state;
    assert_true(amounts && plain);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        uint64_t random = seed;
        struct listed listed = {.amounts = amounts};
        struct gt_sparse sparse;
        assert_true(gt_sparse_init(&sparse, ITEMS));
        memset(plain, 0, ITEMS * sizeof *plain);
        for (size_t round = 0; round < 3; round++) {
            listed.count = 0;
            for (size_t i = 0; i < ITEMS; i++)
                if (random_below(&random, 3))
                    amounts[listed.count++] = (struct gt_sparse_amount){i, (int64_t)random_below(&random, seed + 1)};
            for (size_t i = 0; i < listed.count; i++)
                plain[amounts[i].item] += amounts[i].amount;
            assert_true(gt_sparse_add(&sparse, listed.count, 1 + (seed + round) % 4, list, &listed));
        }
        for (size_t i = 0; i < ITEMS; i++)
            assert_int_equal(gt_sparse_get(&sparse, i), plain[i]);
        assert_true(sparse.block_count <= ITEMS / GT_SPARSE_BLOCK);
        gt_sparse_release(&sparse);
    }
    free(amounts);
    free(plain);
}

static void nothing_is_added(void **state) {
    struct listed none = {0};
    struct gt_sparse sparse;
    (void)state;
    assert_true(gt_sparse_init(&sparse, 0));
    assert_true(gt_sparse_add(&sparse, 0, 4, list, &none));
    assert_int_equal(sparse.block_count, 0);
    gt_sparse_release(&sparse);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_0_at_first),
        cmocka_unit_test(items_are_as_in_an_array),
        cmocka_unit_test(an_open_column_has_room_for_all),
        cmocka_unit_test(many_are_added_on_threads),
        cmocka_unit_test(nothing_is_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
