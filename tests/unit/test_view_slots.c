/* Slots of a view: a result is made once, for whoever asks first, and released once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <string.h>

#include "base/threads.h"
#include "events/view.h"

enum { THREADS = 4, ASKS = 400 };

struct result {
    size_t number;
    char zeroed[64];
};

static atomic_size_t made, released, wrong; /* threads count what is wrong, the test itself looks at the end */
static size_t to_fail;                      /* so many of the next that are made */

static enum gt_status result_init(void *to, const struct gt_view *view, struct gt_error *err) {
    static const char zeros[sizeof((struct result){0}.zeroed)];
    struct result *result = to;
    wrong += !view->slots || memcmp(result->zeroed, zeros, sizeof zeros) != 0;
    if (to_fail) {
        to_fail--;
        return gt_fail(err, "not this time");
    }
    result->number = ++made;
    memset(result->zeroed, 1, sizeof zeros);
    return GT_OK;
}

static void result_release(void *result) {
    wrong += ((struct result *)result)->number == 0;
    released++;
}

static const struct gt_view_slots_maker maker = {sizeof(struct result), result_init, result_release};

static int make_slots(void **state) {
    static struct gt_view view;
    made = released = wrong = to_fail = 0;
    view.slots = gt_view_slots_new();
    *state = &view;
    return view.slots ? 0 : -1;
}

static int free_slots(void **state) {
    gt_view_slots_free(((struct gt_view *)*state)->slots);
    return made == released && wrong == 0 ? 0 : -1;
}

static const struct result *get(const struct gt_view *view, size_t slot) {
    struct gt_error err = {0};
    return gt_view_slots_get(view, slot, &maker, &err);
}

static void each_slot_has_a_result_of_its_own(void **state) {
    for (size_t slot = 0; slot < GT_VIEW_SLOTS_COUNT; slot++)
        assert_int_equal(get(*state, slot)->number, slot + 1);
    for (size_t slot = 0; slot < GT_VIEW_SLOTS_COUNT; slot++)
        assert_int_equal(get(*state, slot)->number, slot + 1);
    assert_int_equal(made, GT_VIEW_SLOTS_COUNT);
    assert_int_equal(released, 0);
}

static void what_is_cleared_is_made_again(void **state) {
    const struct gt_view *view = *state;
    assert_int_equal(get(view, 3)->number, 1);
    gt_view_slots_clear(view->slots);
    assert_int_equal(released, 1);
    gt_view_slots_clear(view->slots);
    assert_int_equal(released, 1);
    assert_int_equal(get(view, 3)->number, 2);
}

static void who_asks_after_a_failure_has_it_made(void **state) {
    struct gt_error err = {0};
    to_fail = 1;
    assert_null(gt_view_slots_get(*state, 0, &maker, &err));
    assert_string_equal(err.message, "not this time");
    assert_int_equal(released, 0);
    assert_int_equal(get(*state, 0)->number, 1);
}

static void ask(void *context, size_t index) {
    wrong += !get(context, index % 2);
}

static void threads_that_ask_at_once_get_one_result(void **state) {
    gt_threads_deal(THREADS, ASKS, ask, *state);
    assert_int_equal(made, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_slots, free_slots)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(each_slot_has_a_result_of_its_own),
        TEST(what_is_cleared_is_made_again),
        TEST(who_asks_after_a_failure_has_it_made),
        TEST(threads_that_ask_at_once_get_one_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
