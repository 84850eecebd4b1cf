/* The thread runner: every index once, whatever the count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/huge.h"
#include "base/mem.h"
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

static void a_few_threads_run_all_indices(void **state) {
    static const size_t counts[] = {0, 1, 2, 3, 100, MOST}, threads[] = {0, 1, 2, 7, 100};
    (void)state;

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        for (size_t t = 0; t < sizeof(threads) / sizeof(threads[0]); t++) {
            struct tally tally = {.caller = pthread_self()};
            gt_threads_deal(threads[t], counts[i], count_call, &tally);
            for (size_t index = 0; index < MOST; index++)
                assert_int_equal(atomic_load(&tally.calls[index]), index < counts[i] ? 1 : 0);
            if (threads[t] < 2)
                assert_int_equal(atomic_load(&tally.elsewhere), 0);
        }
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

enum { DEAL_WORKERS = 3, DEAL_JOBS_MAX = 1000 };

struct dealing {
    struct gt_deal deal;
    atomic_int dealt[DEAL_JOBS_MAX];
    atomic_int out_of_order;
    size_t front[DEAL_WORKERS]; /* how many jobs each worker had before the first that is not the next */
};

static void take_jobs(void *context, size_t worker) {
    struct dealing *dealing = context;
    size_t job, least = 0;

    while (gt_threads_deal_take(&dealing->deal, worker, &job)) {
        dealing->dealt[job]++;
        dealing->out_of_order += job < least;
        dealing->front[worker] += job == dealing->front[worker];
        least = job + 1;
    }
}

static void jobs_are_dealt_once_and_in_order(void **state) {
    static const size_t counts[] = {0, 1, 2, 14, 15, 999, DEAL_JOBS_MAX};
    (void)state;

    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        struct dealing dealing = {0};
        gt_threads_deal_init(&dealing.deal, counts[c], DEAL_WORKERS);
        assert_int_equal(gt_threads_deal_taken(&dealing.deal), 0);
        gt_threads_run(DEAL_WORKERS, take_jobs, &dealing);
        for (size_t i = 0; i < DEAL_JOBS_MAX; i++)
            assert_int_equal(dealing.dealt[i], i < counts[c]);
        assert_int_equal(dealing.out_of_order, 0);
        assert_true(dealing.front[0] >= counts[c] / 15 * 4);
        assert_int_equal(gt_threads_deal_taken(&dealing.deal), counts[c]);
    }
}

static void one_worker_has_all_jobs(void **state) {
    struct gt_deal deal;
    size_t job;
    (void)state;

    gt_threads_deal_init(&deal, 3, 1);
    for (size_t i = 0; i < 3; i++) {
        assert_true(gt_threads_deal_take(&deal, 0, &job));
        assert_int_equal(job, i);
    }
    assert_false(gt_threads_deal_take(&deal, 0, &job));
}

/* ---- tasks that deal tasks ---- */

enum { OUTER = 5, INNER = 40 };

/* Every outer task deals inner ones; those of an outer task are counted apart. */
struct nest {
    struct tally tallies[OUTER];
    size_t threads, inner_count;
    atomic_int running, most_running;
};

struct nested_call {
    struct nest *nest;
    size_t outer;
};

static void count_inner(void *context, size_t index) {
    struct nested_call *call = context;
    struct nest *nest = call->nest;
    int running = atomic_fetch_add(&nest->running, 1) + 1, most = atomic_load(&nest->most_running);

    while (running > most && !atomic_compare_exchange_weak(&nest->most_running, &most, running))
        continue;
    sched_yield();
    count_call(&nest->tallies[call->outer], index);
    atomic_fetch_sub(&nest->running, 1);
}

static void deal_inner(void *context, size_t outer) {
    struct nested_call call = {context, outer};

    call.nest->tallies[outer].caller = pthread_self();
    gt_threads_deal(call.nest->threads, call.nest->inner_count, count_inner, &call);
}

static void nested_indices_run_once_on_no_more_threads(void **state) {
    static const size_t threads[] = {1, 2, 3, 7, 64}, counts[] = {0, 1, 2, INNER};
    (void)state;

    for (size_t t = 0; t < sizeof(threads) / sizeof(threads[0]); t++)
        for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
            for (int again = 0; again < 20; again++) {
                struct nest *nest = calloc(1, sizeof *nest);
                assert_non_null(nest);
                nest->threads = threads[t];
                nest->inner_count = counts[c];
                gt_threads_deal(threads[t], OUTER, deal_inner, nest);
                for (size_t outer = 0; outer < OUTER; outer++) {
                    for (size_t i = 0; i < MOST; i++)
                        assert_int_equal(atomic_load(&nest->tallies[outer].calls[i]), i < counts[c] ? 1 : 0);
                    assert_int_equal(atomic_load(&nest->tallies[outer].first_elsewhere), 0);
                }
                assert_true((size_t)atomic_load(&nest->most_running) <= threads[t]);
                free(nest);
            }
}

/* The second task has nothing to do, so its thread takes part in what the first deals: alone that would never end. */
static void deal_a_meeting(void *context, size_t index) {
    if (index == 0)
        gt_threads_run(2, meet, context);
}

static void free_threads_take_part_in_what_others_deal(void **state) {
    atomic_int arrived = 0;
    (void)state;

    gt_threads_run(2, deal_a_meeting, &arrived);
    assert_int_equal(atomic_load(&arrived), 2);
}

/* With more threads than tasks, those without a task take part from the beginning. */
static void deal_its_own_meeting(void *context, size_t index) {
    gt_threads_run(2, meet, (atomic_int *)context + index);
}

static void threads_without_a_task_take_part(void **state) {
    atomic_int arrived[2] = {0, 0};
    (void)state;

    gt_threads_deal(4, 2, deal_its_own_meeting, arrived);
    assert_int_equal(atomic_load(&arrived[0]), 2);
    assert_int_equal(atomic_load(&arrived[1]), 2);
}

/* Of this process, as the kernel counts them. */
static int count_threads(void) {
    DIR *folder = opendir("/proc/self/task");
    int count = 0;

    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void count_in_task(void *context, size_t index) {
    ((int *)context)[index] = count_threads();
}

static void deal_one_more(void *context, size_t index) {
    if (index == 0)
        gt_threads_run(3, count_in_task, context);
}

static void only_threads_that_have_work_are_started(void **state) {
    int before = count_threads(), counts[3] = {0};
    (void)state;

    gt_threads_deal(64, 2, count_in_task, counts);
    assert_true(counts[0] <= before + 1 && counts[1] <= before + 1);
    gt_threads_deal(64, 2, deal_one_more, counts);
    for (size_t i = 0; i < 3; i++)
        assert_true(counts[i] <= before + 3);
}

static void ask_for_own(void *context, size_t index) {
    ((size_t *)context)[index] = gt_threads_own(8);
}

static void tasks_share_the_threads_they_may_start(void **state) {
    size_t own[9] = {0};
    (void)state;

    assert_int_equal(gt_threads_own(8), 8);
    assert_int_equal(gt_threads_own(0), 1);
    gt_threads_deal(8, 2, ask_for_own, own);
    assert_true(own[0] == 4 && own[1] == 4);
    gt_threads_deal(8, 9, ask_for_own, own);
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(own[i], 1);
}

static void slices_hold_every_row_once(void **state) {
    const struct {
        size_t threads, rows, own_items, slices;
    } cases[] = {
        {4, 0, 0, 1},        {4, 1000, 0, 1},         {4, 100000, 0, 3},        {4, 1000003, 0, 4},
        {4, 1000003, 10, 4}, {4, 1000003, 100000, 2}, {4, 1000003, 1000000, 1},
    };
    (void)state;

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        size_t slices = gt_threads_slices(cases[c].threads, cases[c].rows, cases[c].own_items);
        assert_int_equal(slices, cases[c].slices);
        assert_int_equal(gt_threads_slice_begin(cases[c].rows, slices, 0), 0);
        for (size_t i = 0; i < slices; i++)
            assert_true(gt_threads_slice_begin(cases[c].rows, slices, i) <=
                        gt_threads_slice_begin(cases[c].rows, slices, i + 1));
        assert_int_equal(gt_threads_slice_begin(cases[c].rows, slices, slices), cases[c].rows);
    }
}

/* Threads of the calls that a task deals one after the other. */
struct stay {
    pthread_t caller;
    atomic_int arrived;
    atomic_int others; /* indices that ran on other threads */
    int before, between, deals;
    struct tally tally;
};

static void meet_two(void *context, size_t index) {
    struct stay *stay = context;
    (void)index;
    atomic_fetch_add(&stay->others, !pthread_equal(pthread_self(), stay->caller));
    atomic_fetch_add(&stay->arrived, 1);
    while (atomic_load(&stay->arrived) < 3)
        sched_yield(); /* so that three threads are needed */
}

static void deal_twice(void *context) {
    struct stay *stay = context;
    for (int i = 0; i < 2; i++) {
        atomic_store(&stay->arrived, 0);
        gt_threads_run(3, meet_two, stay);
        stay->between = count_threads();
        stay->deals++;
    }
    gt_threads_deal(3, MOST, count_call, &stay->tally);
}

static void threads_stay_together(void **state) {
    struct stay stay = {.caller = pthread_self(), .before = count_threads(), .tally.caller = pthread_self()};
    (void)state;

    gt_threads_together(3, deal_twice, &stay);
    assert_int_equal(stay.deals, 2);
    assert_int_equal(atomic_load(&stay.others), 4);
    assert_int_equal(stay.between, stay.before + 2); /* while nothing is dealt */
    for (size_t i = 0; i < MOST; i++)
        assert_int_equal(atomic_load(&stay.tally.calls[i]), 1);
    assert_int_equal(atomic_load(&stay.tally.first_elsewhere), 0);
    for (int i = 0; i < 1000 && count_threads() > stay.before; i++)
        usleep(1000); /* the kernel forgets a joined thread a little later */
    assert_int_equal(count_threads(), stay.before);
}

static void count_own(void *context) {
    *(size_t *)context = gt_threads_own(8);
}

static void deal_together(void *context, size_t index) {
    gt_threads_together(8, count_own, (size_t *)context + index);
}

static void who_is_together_has_all_threads(void **state) {
    size_t own = 0, owns[2] = {0};
    (void)state;

    gt_threads_together(8, count_own, &own);
    assert_int_equal(own, 8);
    gt_threads_deal(8, 2, deal_together, owns);
    assert_int_equal(owns[0], 4);
    assert_int_equal(owns[1], 4);
    gt_threads_together(1, count_own, &own);
    assert_int_equal(own, 8);
}

/* ---- gates ---- */

struct gated {
    struct gt_threads_gate gate;
    atomic_bool was_held;
    atomic_int arrived;   /* tasks of the holder */
    atomic_int strangers; /* those that another thread ran */
    pthread_t holder;
    void (*deal)(size_t thread_count, size_t count, void (*task)(void *context, size_t index), void *context);
    void (*task)(void *context, size_t index);
};

static void meet_in_gate(void *context, size_t index) {
    struct gated *gated = context;
    meet(&gated->arrived, index);
}

static void count_strangers(void *context, size_t index) {
    struct gated *gated = context;
    (void)index;
    gated->strangers += !pthread_equal(pthread_self(), gated->holder);
}

/* The first holds the gate while it deals, the second waits at it. */
static void hold_or_wait(void *context, size_t index) {
    struct gated *gated = context;
    while (index > 0 && !gated->was_held)
        sched_yield();
    gt_threads_gate_enter(&gated->gate);
    if (index == 0) {
        gated->holder = pthread_self();
        gated->was_held = true;
        gated->deal(2, 2, gated->task, gated);
    }
    gt_threads_gate_leave(&gated->gate);
}

/* Parts that wait for each other only end if the second thread takes part. */
static void who_waits_at_a_gate_takes_part(void **state) {
    struct gated gated = {.deal = gt_threads_parts, .task = meet_in_gate};
    (void)state;
    gt_threads_gate_init(&gated.gate);
    gt_threads_run(2, hold_or_wait, &gated);
    assert_int_equal(gated.arrived, 2);
    gt_threads_gate_release(&gated.gate);
}

static void who_waits_at_a_gate_takes_nothing_but_parts(void **state) {
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct gated gated = {.deal = gt_threads_deal, .task = count_strangers};
        gt_threads_gate_init(&gated.gate);
        gt_threads_run(2, hold_or_wait, &gated);
        assert_int_equal(gated.strangers, 0);
        gt_threads_gate_release(&gated.gate);
    }
}

struct crowd {
    struct gt_threads_gate gate;
    int inside; /* guarded by the gate */
    size_t entered;
    atomic_int wrong;
};

static void pass_gate(void *context, size_t index) {
    struct crowd *crowd = context;
    (void)index;
    gt_threads_gate_enter(&crowd->gate);
    crowd->wrong += crowd->inside++ != 0;
    crowd->entered++;
    crowd->inside--;
    gt_threads_gate_leave(&crowd->gate);
}

static void *pass_often(void *crowd) {
    for (size_t i = 0; i < MOST; i++)
        pass_gate(crowd, i);
    return NULL;
}

/* Of a team, of several, and of none. */
static void one_thread_at_a_time_is_inside(void **state) {
    enum { THREADS = 3 };
    struct crowd crowd = {0};
    pthread_t threads[THREADS];
    (void)state;
    gt_threads_gate_init(&crowd.gate);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, pass_often, &crowd), 0);
    gt_threads_deal(4, MOST, pass_gate, &crowd);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(crowd.wrong, 0);
    assert_int_equal(crowd.entered, (THREADS + 1) * MOST);
    gt_threads_gate_release(&crowd.gate);
}

/* One byte each of the huge pages that begin in a block, and none outside it. */
static void huge_pages_of_a_block_are_asked_for(void **state) {
    const size_t count = GT_HUGE_LEAST_BYTES, margin = 4096;
    (void)state;

    for (size_t before = 0; before < 3; before++) {
        char *bytes = gt_mem_uninitialised(count + 2 * margin + 3, 1), *block = bytes + margin + before;
        size_t touched = 0;
        assert_non_null(bytes);
        memset(bytes, 2, count + 2 * margin + 3);
        memset(block, 1, count);
        gt_huge_touch(block, count, 1);
        gt_huge_touch(block, count - 1, 4); /* too short */
        assert_null(memchr(bytes, 0, count + 2 * margin + 3));
        gt_huge_touch(block, count, 4);
        for (size_t i = 0; i < count; i++) {
            assert_true(block[i] == 1 || (uintptr_t)(block + i) % GT_HUGE_PAGE_BYTES == 0);
            touched += block[i] != 1;
        }
        assert_int_equal(touched, count / GT_HUGE_PAGE_BYTES);
        assert_null(memchr(bytes, 0, margin + before));
        assert_null(memchr(block + count, 0, margin));
        gt_mem_free(bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(huge_pages_of_a_block_are_asked_for),
        cmocka_unit_test(slices_hold_every_row_once),
        cmocka_unit_test(nested_indices_run_once_on_no_more_threads),
        cmocka_unit_test(free_threads_take_part_in_what_others_deal),
        cmocka_unit_test(threads_without_a_task_take_part),
        cmocka_unit_test(threads_stay_together),
        cmocka_unit_test(who_is_together_has_all_threads),
        cmocka_unit_test(only_threads_that_have_work_are_started),
        cmocka_unit_test(tasks_share_the_threads_they_may_start),
        cmocka_unit_test(jobs_are_dealt_once_and_in_order),
        cmocka_unit_test(one_worker_has_all_jobs),
        cmocka_unit_test(who_waits_at_a_gate_takes_part),
        cmocka_unit_test(who_waits_at_a_gate_takes_nothing_but_parts),
        cmocka_unit_test(one_thread_at_a_time_is_inside),
        cmocka_unit_test(every_index_runs_once),
        cmocka_unit_test(a_few_threads_run_all_indices),
        cmocka_unit_test(tasks_run_at_the_same_time),
        cmocka_unit_test(no_thread_can_start),
        cmocka_unit_test(the_count_comes_from_asked_then_environment_then_cpus),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
