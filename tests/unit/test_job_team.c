/* Jobs in several processes, with threads in their place: the same job as one process opens, and lists joined alike. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gputime.h"
#include "job_join.h"

enum { PROCESSES = 3 };

/* Bytes from one to another; the sender waits until they are taken. */
struct letter {
    const void *bytes;
    size_t count;
    bool is_full;
};

static struct hub {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct letter letters[PROCESSES][PROCESSES]; /* from, to */
    uint64_t done_bytes[PROCESSES];
    struct gputime_team teams[PROCESSES];
} hub = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static uint32_t process_of(const void *context) {
    return (uint32_t)((const struct gputime_team *)context - hub.teams);
}

static void send_bytes(void *context, uint32_t to, const void *bytes, size_t count) {
    struct letter *letter = &hub.letters[process_of(context)][to];
    pthread_mutex_lock(&hub.lock);
    *letter = (struct letter){bytes, count, true};
    pthread_cond_broadcast(&hub.changed);
    while (letter->is_full)
        pthread_cond_wait(&hub.changed, &hub.lock);
    pthread_mutex_unlock(&hub.lock);
}

static void receive_bytes(void *context, uint32_t from, void *bytes, size_t count) {
    struct letter *letter = &hub.letters[from][process_of(context)];
    pthread_mutex_lock(&hub.lock);
    while (!letter->is_full)
        pthread_cond_wait(&hub.changed, &hub.lock);
    if (letter->count != count)
        abort(); /* they are out of step */
    if (count)
        memcpy(bytes, letter->bytes, count);
    letter->is_full = false;
    pthread_cond_broadcast(&hub.changed);
    pthread_mutex_unlock(&hub.lock);
}

static void broadcast(void *context, void *bytes, size_t count) {
    if (process_of(context) != 0)
        receive_bytes(context, 0, bytes, count);
    for (uint32_t p = 1; p < PROCESSES && process_of(context) == 0; p++)
        send_bytes(context, p, bytes, count);
}

static void give_up(void *context, const char *message) {
    (void)context;
    (void)message;
    abort();
}

static void set_progress(void *context, uint64_t done_bytes) {
    pthread_mutex_lock(&hub.lock);
    hub.done_bytes[process_of(context)] = done_bytes;
    pthread_mutex_unlock(&hub.lock);
}

static uint64_t progress_of(void *context, uint32_t process) {
    (void)context;
    pthread_mutex_lock(&hub.lock);
    uint64_t done_bytes = hub.done_bytes[process];
    pthread_mutex_unlock(&hub.lock);
    return done_bytes;
}

static void set_reading(void *context, int is_reading) {
    (void)context;
    (void)is_reading;
}

static void set_tick(void *context, void (*tick)(void *), void *tick_context) {
    (void)context;
    if (tick)
        tick(tick_context);
}

static const char *place_of(void *context, uint32_t process) {
    (void)context;
    return process == 2 ? "elsewhere" : "here";
}

static int set_up(void **state) {
    (void)state;
    for (uint32_t p = 0; p < PROCESSES; p++)
        hub.teams[p] = (struct gputime_team){.size = sizeof hub.teams[p],
                                             .process = p,
                                             .process_count = PROCESSES,
                                             .context = &hub.teams[p],
                                             .broadcast = broadcast,
                                             .send = send_bytes,
                                             .receive = receive_bytes,
                                             .give_up = give_up,
                                             .set_progress = set_progress,
                                             .progress_of = progress_of,
                                             .set_reading = set_reading,
                                             .set_tick = set_tick,
                                             .place_of = place_of};
    return 0;
}

/* ---- reading ---- */

static const char *const paths[] = {"tests/data/overlap.json", "tests/data/absent.json", "tests/data/devices.json",
                                    "tests/data/cpu-only.json"};
enum { INPUTS = sizeof paths / sizeof *paths };

static void *serve(void *context) {
    const struct gputime_team *team = context;
    struct gputime_open_options opening = GPUTIME_OPEN_OPTIONS_INIT;
    opening.no_cache = 1;
    opening.threads = 1;
    gputime_team_serve(team, &opening, NULL, 0, NULL);
    return NULL;
}

static void *serve_failing(void *context) {
    const struct gputime_error failure = {GPUTIME_FAILED, "its settings cannot be read"};
    gputime_team_serve(context, NULL, NULL, 0, &failure);
    return NULL;
}

/* Reads with two others and compares with reading alone. */
static struct gputime_job *open_with(void *(*work)(void *), struct gputime_error *errors) {
    pthread_t threads[PROCESSES];
    struct gputime_open_options opening = GPUTIME_OPEN_OPTIONS_INIT;
    struct gputime_input inputs[INPUTS];
    struct gputime_job *job;
    struct gputime_error err = {0};
    opening.no_cache = 1;
    opening.threads = 1;
    for (size_t i = 0; i < INPUTS; i++)
        inputs[i] = (struct gputime_input){.paths = &paths[i], .path_count = 1, .options = &opening};
    for (uint32_t p = 1; p < PROCESSES; p++)
        assert_int_equal(pthread_create(&threads[p], NULL, work, &hub.teams[p]), 0);
    assert_int_equal(gputime_job_open_team(&hub.teams[0], inputs, INPUTS, NULL, 0, &job, errors, &err), GPUTIME_OK);
    gputime_team_end(&hub.teams[0]);
    for (uint32_t p = 1; p < PROCESSES; p++)
        pthread_join(threads[p], NULL);
    return job;
}

static void a_team_reads_what_one_process_reads(void **state) {
    struct gputime_error errors[INPUTS];
    struct gputime_job *job = open_with(serve, errors);
    (void)state;
    assert_int_equal(gputime_job_rank_count(job), 2);
    assert_int_equal(errors[0].status, GPUTIME_OK);
    assert_int_equal(errors[1].status, GPUTIME_FAILED);
    assert_non_null(strstr(errors[1].message, paths[1]));
    assert_int_equal(errors[2].status, GPUTIME_OK);
    assert_int_equal(errors[3].status, GPUTIME_OK);
    gputime_job_free(job);
}

/* Its inputs have the error, those of process 0 are there; the machine is named where it is another one. */
static void a_process_that_cannot_read_says_why(void **state) {
    struct gputime_error errors[INPUTS];
    struct gputime_job *job = open_with(serve_failing, errors);
    size_t failed = 0, elsewhere = 0;
    (void)state;
    for (size_t i = 0; i < INPUTS; i++) {
        failed += strstr(errors[i].message, "its settings cannot be read") != NULL;
        elsewhere += strstr(errors[i].message, "(on elsewhere)") != NULL;
    }
    assert_true(failed >= 2 && failed < INPUTS);
    assert_true(elsewhere >= 1 && elsewhere < failed);
    assert_true(gputime_job_rank_count(job) <= 1);
    gputime_job_free(job);
}

/* ---- joining ---- */

enum { LISTS = 9, LENGTH = 40 };

static void *serve_join(void *context) {
    gt_job_join_serve(context, 1);
    return NULL;
}

/* Lists that begin apart and lack an op each; two references. */
static void lists_are_joined_as_by_one_process(void **state) {
    static int64_t end_ns[LISTS][LENGTH], step[LISTS][LENGTH];
    static uint64_t label[LISTS][LENGTH];
    static uint32_t alone[LISTS][LENGTH], together[LISTS][LENGTH];
    struct gt_rank_join_pair pairs[LISTS - 1], same[LISTS - 1];
    pthread_t threads[PROCESSES];
    (void)state;
    for (size_t l = 0; l < LISTS; l++)
        for (size_t i = 0; i < LENGTH; i++) {
            size_t op = i + l % 4 + (i > 20 && l % 2);
            end_ns[l][i] = (int64_t)(op * op * 1000 + op * 37 + l * 5000000);
            label[l][i] = op % 5;
            step[l][i] = GT_RANK_JOIN_NO_STEP;
        }
    for (size_t l = 1; l < LISTS; l++) {
        size_t reference = l < 5 ? 0 : 4;
        pairs[l - 1] = (struct gt_rank_join_pair){
            .a = {end_ns[reference], label[reference], step[reference], LENGTH},
            .b = {end_ns[l], label[l], step[l], LENGTH - l % 3},
            .are_messages = l == 7,
            .partner = alone[l],
        };
        same[l - 1] = pairs[l - 1];
        same[l - 1].partner = together[l];
    }
    assert_true(gt_rank_joins_run_here(pairs, LISTS - 1, 1));
    for (uint32_t p = 1; p < PROCESSES; p++)
        assert_int_equal(pthread_create(&threads[p], NULL, serve_join, &hub.teams[p]), 0);
    assert_true(gt_job_join_lead(&hub.teams[0], same, LISTS - 1, 1));
    for (uint32_t p = 1; p < PROCESSES; p++)
        pthread_join(threads[p], NULL);
    assert_memory_equal(alone, together, sizeof alone);
    for (size_t i = 0; i < LISTS - 1; i++)
        assert_int_equal(pairs[i].is_guessed, same[i].is_guessed);
    assert_int_not_equal(alone[1][20], UINT32_MAX); /* something was joined */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_team_reads_what_one_process_reads),
        cmocka_unit_test(a_process_that_cannot_read_says_why),
        cmocka_unit_test(lists_are_joined_as_by_one_process),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
