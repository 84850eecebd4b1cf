/* Routes of a view without HTTP: what an address asks, its parameters, what is kept of answers, many askers at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "viewing.h"

static struct gputime_trace *traces[2];

static int open_traces(void **state) {
    static const char *const paths[] = {"tests/data/torch/llama_train_compiled.json.gz", "tests/data/devices.json"};
    struct gputime_open_options options = GPUTIME_OPEN_OPTIONS_INIT;
    (void)state;
    options.no_cache = 1;
    options.facts = gputime_view_facts(NULL);
    for (size_t i = 0; i < 2; i++)
        if (gputime_trace_open(&paths[i], 1, &options, NULL, &traces[i], NULL) != GPUTIME_OK)
            return -1;
    return 0;
}

static int free_traces(void **state) {
    (void)state;
    gputime_trace_free(traces[0]);
    gputime_trace_free(traces[1]);
    return 0;
}

static struct gputime_view *view_of(size_t count) {
    struct gputime_view *view;
    struct gputime_error err;
    if (gputime_view_new(traces, count, NULL, &view, &err) != GPUTIME_OK)
        fail_msg("%s", err.message);
    return view;
}

/* Asks, and gives the status. *body is the caller's; NULL: it is not wanted. */
static int ask(struct gputime_view *view, const char *address, char **body) {
    struct gputime_answer answer;
    assert_int_equal(gputime_view_answer(view, address, &answer, NULL), GPUTIME_OK);
    assert_int_equal(strlen(answer.body.bytes), answer.body.size);
    if (body)
        *body = (char *)(uintptr_t)answer.body.bytes;
    else
        gputime_text_free(answer.body);
    return answer.status;
}

static bool says(struct gputime_view *view, const char *address, int status, const char *words) {
    char *body;
    bool is_right = ask(view, address, &body) == status && strstr(body, words);
    if (!is_right)
        print_message("%s: %.300s\n", address, body);
    gt_mem_free(body);
    return is_right;
}

static void routes(void **state) {
    struct gputime_view *view = view_of(2);
    (void)state;
    assert_true(says(view, "", 200, "\"view\": {\"version\": 1"));
    assert_true(says(view, "lanes?input=0", 200, "\"rows\": ["));
    assert_true(says(view, "window?input=1&from_ns=0&to_ns=1000&width=100", 200, "\"rows\": ["));
    assert_true(says(view, "report?analyses=kernels&input=0", 200, "\"kernels\""));
    assert_true(says(view, "diff?analyses=kernels", 200, "delta_total_ns"));
    assert_true(says(view, "ranks", 200, "\"ranks\""));
    assert_true(says(view, "sql?query=select+41%2B1+as+x", 200, "[42]"));
    assert_true(says(view, "search?input=0&text=nvjet&limit=1", 200, "nvjet"));
    assert_true(says(view, "flame?input=0", 200, "\"nodes\""));
    assert_true(says(view, "alive", 200, "{}"));
    assert_true(says(view, "gone?", 200, "{}"));
    assert_true(says(view, "nothing", 404, "no such address"));
    assert_true(says(view, "lanes", 400, "'input' is needed"));
    assert_true(says(view, "lanes?input=2", 400, "from 0 to 1"));
    assert_true(says(view, "report", 400, "'analyses' is needed"));
    gputime_view_free(view);
}

/* What is wrong with a question is said, whichever of its parts it is. */
static void wrong_questions(void **state) {
    static const struct {
        const char *address, *words;
    } wrong[] = {
        {"item?input=0&lane=x&start_ns=0&end_ns=1", "'lane' must be"},
        {"item?input=0&lane=0&start_ns=x&end_ns=1", "'start_ns' must be"},
        {"item?input=0&lane=0&start_ns=0&end_ns=x", "'end_ns' must be"},
        {"item?input=0&lane=0&start_ns=0&end_ns=1&nth=-1", "'nth' must be"},
        {"item?input=0&start_ns=0&end_ns=1", "are needed"},
        {"item?input=0&lane=0&end_ns=1", "are needed"},
        {"item?input=0&lane=0&start_ns=0", "are needed"},
        {"item?input=9&lane=0&start_ns=0&end_ns=1", "'input' must be"},
        {"search?input=9&text=a", "'input' must be"},
        {"search?input=0&text=a&from_ns=x", "'from_ns' must be"},
        {"search?input=0&text=a&from_ns=0&before_ns=1", "before_ns"},
        {"search?input=0&text=a&limit=x", "'limit' must be"},
        {"flame?input=9", "'input' must be"},
        {"flame?input=0&of=x", "'of' must be"},
        {"flame?input=0&by=x", "'by' must be"},
        {"flame?input=0&from_ns=x", "'from_ns' must be"},
        {"window?input=0&from_ns=x", "'from_ns' must be"},
        {"window?input=0&to_ns=x", "'to_ns' must be"},
        {"window?input=0&from_ns=2&to_ns=1", "to_ns"},
        {"window?input=0&lanes=1,x", "whole numbers"},
        {"window?input=0&lanes=4294967296", "whole numbers"},
        {"diff?analyses=nothing", "unknown analysis"},
        {"diff?analyses=kernels&a=2", "'a' must be"},
        {"diff?analyses=kernels&b=x", "'b' must be"},
        {"diff?analyses=kernels&name=re:(", "bad pattern"},
        {"report?analyses=kernels&input=0&device=x", "'device'"},
        {"report?analyses=kernels&input=0&name=re:(", "bad pattern"},
    };
    struct gputime_view *view = view_of(2);
    bool is_right = true;
    (void)state;
    for (size_t i = 0; i < GT_ARRAY_COUNT(wrong); i++)
        is_right &= says(view, wrong[i].address, 400, wrong[i].words);
    assert_true(is_right);
    gputime_view_free(view);
}

static void comparisons_of_parts(void **state) {
    struct gputime_view *view = view_of(2);
    (void)state;
    assert_true(says(view, "diff?analyses=kernels&a=0&b=0&from_ns=0", 200, "delta_total_ns"));
    assert_true(says(view, "diff?analyses=kernels&a=0&b=0&to_ns=1000000000", 200, "delta_total_ns"));
    assert_true(says(view, "diff?analyses=kernels&a=0&b=0&step=0-1000", 200, "delta_total_ns"));
    gputime_view_free(view);
}

static void a_title_is_shown(void **state) {
    struct gputime_view_options options = GPUTIME_VIEW_OPTIONS_INIT;
    struct gputime_view *view;
    (void)state;
    options.title = "nightly run";
    assert_int_equal(gputime_view_new(traces, 1, &options, &view, NULL), GPUTIME_OK);
    assert_true(says(view, "", 200, "\"title\": \"nightly run\""));
    gputime_view_free(view);
}

static void no_pipe_is_left(void **state) {
    struct gputime_view *view;
    struct gputime_error err;
    struct rlimit before, none;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    enum gputime_status status = gputime_view_new(traces, 1, NULL, &view, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(status, GPUTIME_FAILED);
    assert_string_equal(err.message, "no pipe is left");
    assert_null(view);
}

/* The pipe is full long before the last of them. */
static void stopping_often(void **state) {
    struct gputime_view *view = view_of(1);
    (void)state;
    for (int i = 0; i < 1 << 17; i++) {
        errno = 7;
        gputime_view_stop(view);
        assert_int_equal(errno, 7);
    }
    gputime_view_free(view);
}

static void what_is_wrong_with_a_view(void **state) {
    struct gputime_view *view;
    struct gputime_error err;
    struct gputime_trace *none = NULL;
    struct gputime_view_options options = {.size = 3};
    (void)state;
    assert_int_equal(gputime_view_new(NULL, 0, NULL, &view, &err), GPUTIME_USAGE);
    assert_int_equal(gputime_view_new(&none, 1, NULL, &view, &err), GPUTIME_USAGE);
    assert_int_equal(gputime_view_new(traces, 1, &options, &view, &err), GPUTIME_USAGE);
    assert_null(view);
    assert_int_equal(gputime_view_facts(&options), 0);
    gputime_view_free(NULL);
}

static void wrong_ways_to_serve(void **state) {
    struct gputime_view *view = view_of(1);
    struct gputime_serve_options options = GPUTIME_SERVE_OPTIONS_INIT;
    struct gputime_error err;
    (void)state;
    options.port = -1;
    assert_int_equal(gputime_view_serve(view, &options, &err), GPUTIME_USAGE);
    options.size = 3;
    assert_int_equal(gputime_view_serve(view, &options, &err), GPUTIME_USAGE);
    options.size = sizeof options;
    options.port = 65536;
    assert_int_equal(gputime_view_serve(view, &options, &err), GPUTIME_USAGE);
    options.port = 0;
    options.idle_seconds = -2;
    assert_int_equal(gputime_view_serve(view, &options, &err), GPUTIME_USAGE);
    options.idle_seconds = 0;
    gputime_view_stop(view); /* before it begins */
    gputime_view_stop(view);
    assert_int_equal(gputime_view_serve(view, &options, &err), gputime_view_can_serve() ? GPUTIME_OK : GPUTIME_FAILED);
    gputime_view_free(view);
}

/* ---- parameters ---- */

static void parameters(void **state) {
    struct gt_viewing_query query;
    struct gt_error err = {0};
    int64_t number = 7;
    unsigned choice = 9;
    const char *const *keys;
    uint32_t *numbers;
    size_t count;
    (void)state;
    assert_int_equal(
        gt_viewing_query_parse(&query, GT_STR("a=x+y%21&b=&c=-5&&d=1,2,4294967295&e=k,l&f=two"), "a,b,c,d,e,f", &err),
        GT_OK);
    assert_string_equal(gt_viewing_query_text(&query, "a"), "x y!");
    assert_null(gt_viewing_query_text(&query, "b"));
    assert_int_equal(gt_viewing_query_int(&query, "b", 0, 1, &number, &err), GT_OK);
    assert_int_equal(number, 7);
    assert_int_equal(gt_viewing_query_int(&query, "c", -5, 1, &number, &err), GT_OK);
    assert_int_equal(number, -5);
    assert_int_equal(gt_viewing_query_int(&query, "c", -4, 1, &number, &err), GT_ERR_USAGE);
    assert_int_equal(gt_viewing_query_int(&query, "a", -4, 1, &number, &err), GT_ERR_USAGE);
    assert_int_equal(gt_viewing_query_numbers(&query, "d", &numbers, &count, &err), GT_OK);
    assert_true(count == 3 && numbers[2] == UINT32_MAX);
    assert_int_equal(gt_viewing_query_numbers(&query, "e", &numbers, &count, &err), GT_ERR_USAGE);
    assert_int_equal(gt_viewing_query_keys(&query, "e", &keys, &count, &err), GT_OK);
    assert_true(count == 2 && strcmp(keys[1], "l") == 0);
    assert_int_equal(gt_viewing_query_choice(&query, "f", "one|two|three", &choice, &err), GT_OK);
    assert_int_equal(choice, 1);
    assert_int_equal(gt_viewing_query_choice(&query, "f", "one|tw", &choice, &err), GT_ERR_USAGE);
    gt_viewing_query_release(&query);
}

static void broken_parameters(void **state) {
    static const char *const texts[] = {"x=1",   "a=1&a=2", "a=%",   "a=%1", "a=%1x", "a=%/0",
                                        "a=%G0", "a=%00",   "%00=1", "=1",   "a%3d=1"};
    (void)state;
    for (size_t i = 0; i < GT_ARRAY_COUNT(texts); i++) {
        struct gt_viewing_query query;
        struct gt_error err = {0};
        assert_int_equal(gt_viewing_query_parse(&query, gt_str_of(texts[i]), "a,b", &err), GT_ERR_USAGE);
        gt_viewing_query_release(&query);
    }
}

static void too_many_parameters(void **state) {
    static const char letters[] = "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q";
    struct gt_viewing_query query;
    struct gt_error err = {0};
    (void)state;
    assert_int_equal(
        gt_viewing_query_parse(&query, GT_STR("a=1&b=1&c=1&d=1&e=1&f=1&g=1&h=1&i=1&j=1&k=1&l=1&m=1&n=1&o=1&p=1&q=1"),
                               letters, &err),
        GT_ERR_USAGE);
    assert_string_equal(err.message, "too many parameters");
    gt_viewing_query_release(&query);
}

static void empty_items(void **state) {
    struct gt_viewing_query query;
    struct gt_error err = {0};
    const char *const *keys;
    size_t count;
    (void)state;
    assert_int_equal(gt_viewing_query_parse(&query, GT_STR("a=,x,,y,&b"), "a,b", &err), GT_OK);
    assert_int_equal(gt_viewing_query_keys(&query, "a", &keys, &count, &err), GT_OK);
    assert_true(count == 2 && strcmp(keys[0], "x") == 0 && strcmp(keys[1], "y") == 0);
    assert_null(gt_viewing_query_text(&query, "b"));
    gt_viewing_query_release(&query);
}

/* ---- what is kept ---- */

static void the_cache_is_bounded(void **state) {
    struct gt_viewing_cache *cache = gt_mem_array(1, sizeof *cache);
    static char large[GT_VIEWING_CACHE_BYTES / 2 + 1];
    size_t bytes;
    (void)state;
    gt_viewing_cache_init(cache);
    for (int i = 0; i < 3 * GT_VIEWING_CACHE_ANSWERS; i++) {
        char key[20];
        snprintf(key, sizeof key, "key %d", i);
        gt_viewing_cache_add(cache, gt_str_of(key), gt_str_of(key));
        gt_mem_free(gt_viewing_cache_find(cache, GT_STR("key 0"), &bytes)); /* is used all the time */
    }
    assert_int_equal(cache->count, GT_VIEWING_CACHE_ANSWERS);
    char *first = gt_viewing_cache_find(cache, GT_STR("key 0"), &bytes);
    assert_string_equal(first, "key 0");
    assert_int_equal(bytes, 5);
    gt_mem_free(first);
    assert_null(gt_viewing_cache_find(cache, GT_STR("key 1"), &bytes));
    gt_viewing_cache_add(cache, GT_STR("too large"), (struct gt_str){large, sizeof large});
    assert_null(gt_viewing_cache_find(cache, GT_STR("too large"), &bytes));
    for (int i = 0; i < 5; i++) {
        char key[20];
        snprintf(key, sizeof key, "large %d", i);
        gt_viewing_cache_add(cache, gt_str_of(key), (struct gt_str){large, sizeof large / 2});
        assert_true(cache->bytes <= GT_VIEWING_CACHE_BYTES);
    }
    gt_viewing_cache_release(cache);
    gt_mem_free(cache);
}

static int is_gone(void *context) {
    int *looks = context;
    return ++*looks > 1;
}

static void who_is_gone_waits_no_longer(void **state) {
    struct gt_viewing_cache *cache = gt_mem_array(1, sizeof *cache);
    int looks = 0;
    const struct gt_viewing_cache_asker patient = {NULL, NULL}, other = {is_gone, &looks};
    (void)state;
    gt_viewing_cache_init(cache);
    assert_true(gt_viewing_cache_enter(cache, &patient) && gt_viewing_cache_enter(cache, &patient));
    assert_false(gt_viewing_cache_enter(cache, &other));
    assert_int_equal(looks, 2);
    gt_viewing_cache_leave(cache);
    assert_true(gt_viewing_cache_enter(cache, &other));
    assert_true(cache->running == 2 && cache->waiting == 0);
    gt_viewing_cache_release(cache);
    gt_mem_free(cache);
}

/* A query that never ends is abandoned with its asker. */
static void queries_are_abandoned(void **state) {
    struct gputime_view *view = view_of(1);
    struct gputime_answer answer;
    int looks = 0;
    (void)state;
    assert_int_equal(gt_viewing_answer(view,
                                       "sql?query=with+recursive+n(i)+as+(select+1+union+all+select+i%2b1+from+n)+"
                                       "select+count(*)+from+n",
                                       &(struct gt_viewing_cache_asker){is_gone, &looks}, &answer, NULL),
                     GPUTIME_OK);
    assert_non_null(strstr(answer.body.bytes, "abandoned"));
    gputime_text_free(answer.body);
    gputime_view_free(view);
}

/* ---- many at once ---- */

static const char *const questions[] = {
    "lanes?input=0",
    "lanes?input=1",
    "window?input=0&width=700",
    "report?analyses=kernels,gaps&input=0",
    "report?analyses=kernels,gaps&input=1",
    "sql?query=select+sum(dur_ns)+from+ops",
    "search?input=0&text=a&limit=50",
    "flame?input=0&of=ranges",
    "ranks",
};

enum { ASKERS = 6 };

struct asker {
    struct gputime_view *view;
    char *answers[GT_ARRAY_COUNT(questions)];
    size_t first;
};

static void *ask_all(void *context) {
    struct asker *asker = context;
    for (size_t i = 0; i < GT_ARRAY_COUNT(questions); i++) {
        size_t question = (asker->first + i) % GT_ARRAY_COUNT(questions);
        ask(asker->view, questions[question], &asker->answers[question]);
    }
    return NULL;
}

static void everybody_gets_the_same_answer(void **state) {
    struct gputime_view *view = view_of(2);
    struct asker askers[ASKERS] = {0};
    pthread_t threads[ASKERS];
    (void)state;
    for (size_t i = 0; i < ASKERS; i++) {
        askers[i] = (struct asker){.view = view, .first = i};
        assert_int_equal(pthread_create(&threads[i], NULL, ask_all, &askers[i]), 0);
    }
    for (size_t i = 0; i < ASKERS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < ASKERS; i++)
        for (size_t k = 0; k < GT_ARRAY_COUNT(questions); k++) {
            assert_string_equal(askers[i].answers[k], askers[0].answers[k]);
            if (i)
                gt_mem_free(askers[i].answers[k]);
        }
    for (size_t k = 0; k < GT_ARRAY_COUNT(questions); k++)
        gt_mem_free(askers[0].answers[k]);
    gputime_view_free(view);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes),
        cmocka_unit_test(wrong_questions),
        cmocka_unit_test(comparisons_of_parts),
        cmocka_unit_test(a_title_is_shown),
        cmocka_unit_test(no_pipe_is_left),
        cmocka_unit_test(stopping_often),
        cmocka_unit_test(what_is_wrong_with_a_view),
        cmocka_unit_test(wrong_ways_to_serve),
        cmocka_unit_test(parameters),
        cmocka_unit_test(broken_parameters),
        cmocka_unit_test(too_many_parameters),
        cmocka_unit_test(empty_items),
        cmocka_unit_test(the_cache_is_bounded),
        cmocka_unit_test(who_is_gone_waits_no_longer),
        cmocka_unit_test(queries_are_abandoned),
        cmocka_unit_test(everybody_gets_the_same_answer),
    };
    return cmocka_run_group_tests(tests, open_traces, free_traces);
}
