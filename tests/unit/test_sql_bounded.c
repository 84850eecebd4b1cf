/* Functions of SQL that cannot be called, whether this SQLite has them or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sql/sql_bounded.h"

static void test_refused(void **state) {
    (void)state;
    assert_true(gt_sql_bounded_refuses("json_patch"));
    assert_true(gt_sql_bounded_refuses("UNHEX"));
    assert_false(gt_sql_bounded_refuses("hex"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
