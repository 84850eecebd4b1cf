/* Torture of a view: every call to the system fails in turn while one is made and asked. A question is answered as
   ever, or with a reason, or there is no memory for an answer; nothing is leaked. */
#include "torture_world.h"

static const char *const questions[] = {
    "",
    "lanes",
    "window?from_ns=0&to_ns=100000&width=50",
    "report?analyses=kernels&name=a",
    "ranks",
    "search?text=kernel&limit=2",
    "flame?of=ranges",
    "sql?query=select+name+from+ops+limit+3",
    "nothing?x",
};

struct asking {
    struct gputime_trace *trace;
    const char *question;
    struct text wanted;
};

static void ask(const struct asking *asking, struct gputime_view *view, const char *what) {
    struct gputime_error err = {0};
    struct gputime_answer answer;
    enum gputime_status status = gputime_view_answer(view, asking->question, &answer, &err);
    if (status != GPUTIME_OK) {
        expect_reason(status, &err, what);
        assert_null(answer.body.bytes);
        return;
    }
    bool is_same = answer.body.size == asking->wanted.size &&
                   memcmp(answer.body.bytes, asking->wanted.bytes, answer.body.size) == 0;
    if (!is_same && (!system_state.was_hit || !strstr(answer.body.bytes, "\"error\": \"")))
        fail_msg("%s: another answer: %.200s", what, answer.body.bytes);
    gputime_text_free(answer.body);
}

static void run_asking(const void *context, const char *what) {
    const struct asking *asking = context;
    struct gputime_error err = {0};
    struct gputime_view *view;
    struct gputime_trace *trace = asking->trace;
    enum gputime_status status = gputime_view_new(&trace, 1, NULL, &view, &err);
    if (status != GPUTIME_OK)
        expect_reason(status, &err, what);
    else
        ask(asking, view, what);
    gputime_view_free(view);
    end_faults();
}

static struct text answer_of(struct gputime_trace *trace, const char *question) {
    struct gputime_view *view;
    struct gputime_answer answer;
    assert_int_equal(gputime_view_new(&trace, 1, NULL, &view, NULL), GPUTIME_OK);
    assert_int_equal(gputime_view_answer(view, question, &answer, NULL), GPUTIME_OK);
    gputime_view_free(view);
    return (struct text){(char *)(uintptr_t)answer.body.bytes, answer.body.size};
}

static void test_asking(void **state) {
    (void)state;
    struct gputime_open_options options = open_options(1);
    const char *path = json;
    struct asking asking = {.trace = NULL};
    options.facts = gputime_view_facts(NULL);
    assert_int_equal(gputime_trace_open(&path, 1, &options, NULL, &asking.trace, NULL), GPUTIME_OK);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        asking.question = questions[i];
        asking.wanted = answer_of(asking.trace, questions[i]);
        free(answer_of(asking.trace, questions[i]).bytes); /* what is made only once is there now */
        torture(run_asking, &asking, questions[i]);
        free(asking.wanted.bytes);
    }
    gputime_trace_free(asking.trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_asking, switch_faults_off)};
    int failed = cmocka_run_group_tests(tests, make_world, remove_world);
    print_faults();
    return failed;
}
