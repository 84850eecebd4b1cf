/* Rows that several threads pick are those that one picks. Linked with short_slices.c, so that small tables are cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/threads.h"
#include "null_row.h"
#include "random.h"
#include "write/picked.h"

enum { ROWS_MAX = 3000 };

static const struct gt_report_column columns[] = {
    {"pid", "Process", GT_UNIT_NONE, NULL, 0},
    {"name", "Name", GT_UNIT_NONE, NULL, 0},
    {"total_ns", "Total", GT_UNIT_NS, NULL, 0},
};

/* Totals are often equal: then rows stay in the order of the table. */
static struct gt_report *new_report(size_t row_count, uint64_t *seed) {
    struct gt_report *report = gt_report_new("test", 1);
    assert_non_null(report);
    struct gt_table *table = gt_section_table(&report->sections[0], "rows", "Rows", columns, 3);
    for (size_t i = 0; i < row_count; i++) {
        struct gt_cell *cell = null_row(table);
        if (random_below(seed, 3))
            cell[0] = gt_cell_int(random_between(seed, 1, 4));
        cell[1] = gt_cell_text(random_below(seed, 4) ? GT_STR("a") : GT_STR("b"));
        cell[2] = gt_cell_int(random_between(seed, 0, 40));
    }
    return report;
}

static void check(const struct gt_report *report, const struct gt_pick *pick) {
    struct gt_scope scope = {.section = &report->sections[0]};
    struct gt_picked alone, picked;
    assert_int_equal(gt_picked_init(&alone, pick, &scope, 1, NULL), GT_OK);
    for (size_t threads = 2; threads <= 16; threads += 7) {
        assert_int_equal(gt_picked_init(&picked, pick, &scope, threads, NULL), GT_OK);
        assert_int_equal(picked.count, alone.count);
        for (size_t i = 0; i < alone.count; i++)
            assert_ptr_equal(picked.rows[i], alone.rows[i]);
        gt_picked_release(&picked);
    }
    gt_picked_release(&alone);
}

static void threads_pick_the_same(void **state) {
    static const size_t counts[] = {0, 1, 31, 32, 100, ROWS_MAX}, limits[] = {0, 1, 7, 300};
    static const char *const known[] = {NULL, "pid"}, *const where[] = {NULL, "name"},
                             *const sort[] = {NULL, "total_ns"};
    uint64_t seed = 5;
    (void)state;
    assert_true(gt_threads_slices(4, ROWS_MAX, 0) > 1);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        struct gt_report *report = new_report(counts[c], &seed);
        for (size_t way = 0; way < 8; way++)
            for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
                check(report, &(struct gt_pick){.table = "rows",
                                                .known = known[way & 1],
                                                .where = where[way >> 1 & 1],
                                                .is = "b",
                                                .sort = sort[way >> 2],
                                                .limit = limits[l]});
        gt_report_free(report);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_pick_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
