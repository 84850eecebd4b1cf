/* The sides of a comparison, through the public interface: which of the traces may be side B. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gputime.h"

enum { TRACES = 3 };

static const char *const analyses[] = {"overview"};

static int open_traces(void **state) {
    static struct gputime_trace *traces[TRACES];
    const char *path = "tests/data/devices.json";
    struct gputime_open_options options = GPUTIME_OPEN_OPTIONS_INIT;
    options.no_cache = 1;
    options.threads = 1;
    for (size_t i = 0; i < TRACES; i++)
        if (gputime_trace_open(&path, 1, &options, NULL, &traces[i], NULL) != GPUTIME_OK)
            return -1;
    *state = traces;
    return 0;
}

static int free_traces(void **state) {
    struct gputime_trace **traces = *state;
    for (size_t i = 0; i < TRACES; i++)
        gputime_trace_free(traces[i]);
    return 0;
}

static enum gputime_status make_sides(void **state, size_t first_of_b, struct gputime_report *sides[2],
                                      struct gputime_error *err) {
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    options.analyses = analyses;
    options.analysis_count = 1;
    return gputime_report_new_sides(*state, TRACES, first_of_b, &options, sides, err);
}

static void each_side_has_a_trace(void **state) {
    for (size_t first_of_b = 1; first_of_b < TRACES; first_of_b++) {
        struct gputime_report *sides[2] = {NULL, NULL};
        assert_int_equal(make_sides(state, first_of_b, sides, NULL), GPUTIME_OK);
        for (size_t i = 0; i < 2; i++) {
            assert_non_null(sides[i]);
            gputime_report_free(sides[i]);
        }
    }
}

static void other_sides_are_refused(void **state) {
    static const size_t firsts[] = {0, TRACES, TRACES + 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        char used;
        struct gputime_report *sides[2] = {(void *)&used, (void *)&used};
        struct gputime_error err = {.status = GPUTIME_OK};
        assert_int_equal(make_sides(state, firsts[i], sides, &err), GPUTIME_USAGE);
        assert_int_equal(err.status, GPUTIME_USAGE);
        assert_true(err.message[0] != '\0');
        assert_true(!sides[0] && !sides[1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_side_has_a_trace),
        cmocka_unit_test(other_sides_are_refused),
    };
    return cmocka_run_group_tests_name("comparison", tests, open_traces, free_traces);
}
