/* Torture of a view: every call to the system fails in turn while one is made and asked. A question is answered as
   ever, or with a reason, or there is no memory for an answer; nothing is leaked. */
#include "torture_world.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static const char *const questions[] = {
    "",
    "lanes",
    "window?from_ns=0&to_ns=100000&width=50",
    "window?from_ns=0&to_ns=100000&width=50&lanes=0,1",
    "report?analyses=kernels&name=a",
    "report?analyses=kernels&device=0&stream=0-9",
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

/* ---- over HTTP ---- */

struct serving {
    const struct asking *asking;
    struct gputime_view *view;
    const char *what;
    pthread_t asker;
    char url[300];
    int port;
    char received[4096];
};

/* Sends the question and takes what comes; nothing where the connection is closed. */
static void *ask_and_stop(void *context) {
    struct serving *serving = context;
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((uint16_t)serving->port)};
    const char *token = strchr(serving->url + strlen("http://"), '/');
    char text[600];
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int bytes = snprintf(text, sizeof text, "GET %s%s HTTP/1.1\r\nHost: localhost:%d\r\nConnection: close\r\n\r\n",
                         token, serving->asking->question, serving->port);
    if (connect(fd, (struct sockaddr *)&place, sizeof place) != 0 ||
        send(fd, text, (size_t)bytes, MSG_NOSIGNAL) != bytes)
        abort();
    size_t got = 0;
    for (ssize_t more = 1; more > 0; got += more > 0 ? (size_t)more : 0)
        more = recv(fd, serving->received + got, sizeof serving->received - 1 - got, 0);
    close(fd);
    end_faults(); /* it is to be heard */
    gputime_view_stop(serving->view);
    return NULL;
}

static void start_asking(void *context, const char *url, int port) {
    struct serving *serving = context;
    snprintf(serving->url, sizeof serving->url, "%s", url);
    serving->port = port;
    if (__real_pthread_create(&serving->asker, NULL, ask_and_stop, serving) != 0)
        abort();
}

static void run_serving(const void *context, const char *what) {
    struct serving serving = {.asking = context, .what = what};
    struct gputime_trace *trace = serving.asking->trace;
    struct gputime_serve_options options = GPUTIME_SERVE_OPTIONS_INIT;
    struct gputime_error err = {0};
    enum fault fault = system_state.fault;
    end_faults();
    assert_int_equal(gputime_view_new(&trace, 1, NULL, &serving.view, &err), GPUTIME_OK);
    options.ready = start_asking;
    options.context = &serving;
    options.idle_seconds = -1;
    system_state.fault = fault;
    assert_int_equal(gputime_view_serve(serving.view, &options, &err), GPUTIME_OK);
    pthread_join(serving.asker, NULL);
    const char *received = serving.received;
    bool is_whole = strncmp(received, "HTTP/1.1 200 ", 13) == 0 && strstr(received, serving.asking->wanted.bytes);
    /* No memory for the request closes the connection, none for the answer is 500, and some has its reason. */
    bool is_refused = !received[0] || strncmp(received, "HTTP/1.1 500 ", 13) == 0;
    if (!is_whole && !(system_state.was_hit && is_refused))
        fail_msg("%s: another answer: %.300s", what, received);
    gputime_view_free(serving.view);
}

static void test_serving(void **state) {
    (void)state;
    struct asking asking = {.question = "alive"};
    struct gputime_open_options options = open_options(1);
    const char *path = json;
    if (!gputime_view_can_serve())
        skip();
    options.facts = gputime_view_facts(NULL);
    assert_int_equal(gputime_trace_open(&path, 1, &options, NULL, &asking.trace, NULL), GPUTIME_OK);
    asking.wanted = answer_of(asking.trace, asking.question);
    torture(run_serving, &asking, "serving");
    free(asking.wanted.bytes);
    gputime_trace_free(asking.trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_asking, switch_faults_off),
                                       cmocka_unit_test_setup(test_serving, switch_faults_off)};
    int failed = cmocka_run_group_tests(tests, make_world, remove_world);
    print_faults();
    return failed;
}
