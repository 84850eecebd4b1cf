/* Answers about names that differ in the number at their end. */
#include "base/stems.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static uint8_t *answer(struct gt_stems *stems, const char *name) {
    return gt_stems_answer(stems, gt_str_of(name));
}

static void numbers_share_an_answer(void **state) {
    struct gt_stems stems = {0};
    (void)state;

    assert_int_equal(*answer(&stems, "step 7"), 0);
    *answer(&stems, "step 7") = 3;
    assert_int_equal(*answer(&stems, "step 8"), 3);
    assert_int_equal(*answer(&stems, "step 1234"), 3);
    *answer(&stems, "12") = 5;
    assert_int_equal(*answer(&stems, "9"), 5);
}

static void other_names_do_not(void **state) {
    struct gt_stems stems = {0};
    (void)state;

    assert_null(answer(&stems, "step"));
    assert_null(answer(&stems, ""));
    assert_null(answer(&stems, "step 7:"));
    *answer(&stems, "step 7") = 3;
    assert_int_equal(*answer(&stems, "stop 7"), 0);
    assert_int_equal(*answer(&stems, "step7"), 0);
}

/* More stems than are kept: an answer may be forgotten, but is never another's. */
static void many_stems(void **state) {
    enum { NAMES = 1000 };
    static char names[NAMES][24];
    struct gt_stems stems = {0};
    (void)state;

    for (int round = 0; round < 2; round++)
        for (int i = 0; i < NAMES; i++) {
            snprintf(names[i], sizeof names[i], "%c%c layer %d", 'a' + i % 26, 'a' + i / 26 % 26, i);
            uint8_t *found = answer(&stems, names[i]), expected = (uint8_t)(1 + i % 200);
            assert_true(*found == 0 || *found == expected);
            *found = expected;
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_share_an_answer),
        cmocka_unit_test(other_names_do_not),
        cmocka_unit_test(many_stems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
