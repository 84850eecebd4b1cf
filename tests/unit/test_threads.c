/* The thread runner: every index once, whatever the count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/threads.h"

enum { MOST = 500 };

struct tally {
    atomic_int calls[MOST];
    pthread_t caller;
    atomic_int first_elsewhere, elsewhere; /* calls on another thread: of index 0, of any */
};

static void count_call(void *context, size_t index) {
    struct tally *tally = context;

    if (!pthread_equal(pthread_self(), tally->caller)) {
        atomic_fetch_add(&tally->elsewhere, 1);
        atomic_fetch_add(&tally->first_elsewhere, index == 0);
    }
    atomic_fetch_add(&tally->calls[index], 1);
}

static void check_counts(size_t count) {
    struct tally tally = {.caller = pthread_self()};

    gt_threads_run(count, count_call, &tally);
    for (size_t i = 0; i < MOST; i++)
        assert_int_equal(atomic_load(&tally.calls[i]), i < count ? 1 : 0);
    assert_int_equal(atomic_load(&tally.first_elsewhere), 0);
}

static void every_index_runs_once(void **state) {
    static const size_t counts[] = {0, 1, 2, 3, 8, 63, 64, 65, 100, MOST};
    (void)state;

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        check_counts(counts[i]);
}

/* Two tasks that wait for each other only end if they run at the same time. */
static void meet(void *context, size_t index) {
    atomic_int *arrived = context;
    (void)index;

    atomic_fetch_add(arrived, 1);
    while (atomic_load(arrived) < 2)
        sched_yield();
}

static void tasks_run_at_the_same_time(void **state) {
    atomic_int arrived = 0;
    (void)state;

    gt_threads_run(2, meet, &arrived);
    assert_int_equal(atomic_load(&arrived), 2);
}

/* In a child, for the limit does not hold for root, and who gave that up cannot take it back. */
static int run_without_threads(void) {
    struct rlimit none = {0, 0};
    struct tally tally = {.caller = pthread_self()};

    if ((getuid() == 0 && setuid(65534) != 0) || setrlimit(RLIMIT_NPROC, &none) != 0)
        return 2;
    gt_threads_run(20, count_call, &tally);
    if (atomic_load(&tally.elsewhere) != 0)
        return 3;
    for (size_t i = 0; i < 20; i++)
        if (atomic_load(&tally.calls[i]) != 1)
            return 4;
    return 0;
}

static void no_thread_can_start(void **state) {
    pid_t child = fork();
    int status = 0;
    (void)state;

    assert_true(child >= 0);
    if (child == 0)
        _exit(run_without_threads());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void the_count_comes_from_asked_then_environment_then_cpus(void **state) {
    cpu_set_t allowed;
    size_t cpus;
    (void)state;

    assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
    cpus = (size_t)CPU_COUNT(&allowed) > 64 ? 64 : (size_t)CPU_COUNT(&allowed);
    unsetenv("GPUTIME_THREADS");
    assert_int_equal(gt_threads_count(0), cpus);
    assert_int_equal(gt_threads_count(5), 5);
    assert_int_equal(gt_threads_count(100000), 64);
    setenv("GPUTIME_THREADS", "7", 1);
    assert_int_equal(gt_threads_count(0), 7);
    assert_int_equal(gt_threads_count(3), 3);
    setenv("GPUTIME_THREADS", "99999999999999999999", 1);
    assert_int_equal(gt_threads_count(0), cpus);
    setenv("GPUTIME_THREADS", "0", 1);
    assert_int_equal(gt_threads_count(0), cpus);
    setenv("GPUTIME_THREADS", "two", 1);
    assert_int_equal(gt_threads_count(0), cpus);
    unsetenv("GPUTIME_THREADS");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_runs_once),
        cmocka_unit_test(tasks_run_at_the_same_time),
        cmocka_unit_test(no_thread_can_start),
        cmocka_unit_test(the_count_comes_from_asked_then_environment_then_cpus),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
