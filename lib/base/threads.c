/* Threads for one call: a task and a count come in, every index has run when it returns. */
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/num.h"

#define MAX_THREADS    64
#define MIN_SLICE_ROWS 65536 /* what takes longer than starting a thread */

static size_t clamp_count(uint64_t count) {
    return count < 1 ? 1 : count > MAX_THREADS ? MAX_THREADS : (size_t)count;
}

size_t gt_threads_count(int64_t asked) {
    const char *wish = getenv("GPUTIME_THREADS");
    uint64_t number;
    cpu_set_t allowed;

    if (asked > 0)
        return clamp_count((uint64_t)asked);
    if (wish && gt_num_parse_uint(gt_str_of(wish), &number) && number > 0)
        return clamp_count(number);
    /* Fails on machines with more CPUs than the set holds: more than enough for the most threads used. */
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
        return clamp_count((uint64_t)CPU_COUNT(&allowed));
    return MAX_THREADS;
}

struct job {
    void (*task)(void *context, size_t index);
    void *context;
    size_t count;
    atomic_size_t next; /* the first index nobody has taken */
};

static void *work(void *argument) {
    struct job *job = argument;
    size_t index;

    while ((index = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed)) < job->count)
        job->task(job->context, index);
    return NULL;
}

void gt_threads_run(size_t count, void (*task)(void *context, size_t index), void *context) {
    gt_threads_deal(count, count, task, context);
}

void gt_threads_deal(size_t thread_count, size_t count, void (*task)(void *context, size_t index), void *context) {
    struct job job = {.task = task, .context = context, .count = count};
    pthread_t threads[MAX_THREADS - 1];
    size_t started = 0, wanted = clamp_count(thread_count < count ? thread_count : count) - 1;

    if (count == 0)
        return;
    atomic_init(&job.next, 1);
    while (started < wanted && pthread_create(&threads[started], NULL, work, &job) == 0)
        started++;
    task(context, 0);
    work(&job);
    while (started > 0)
        pthread_join(threads[--started], NULL);
}

/* Two threads on one work are half as quick again as one, so the largest may be a third above its share. */
size_t gt_threads_at_once(size_t thread_count, const uint64_t *sizes, size_t count) {
    size_t at_once = thread_count < count ? thread_count : count;
    double total = 0, largest = 0;

    for (size_t i = 0; i < count; i++) {
        if (sizes[i] == 0)
            return 1;
        total += (double)sizes[i];
        largest = (double)sizes[i] > largest ? (double)sizes[i] : largest;
    }
    while (at_once > 1 && largest * (double)at_once > total * 4 / 3)
        at_once--;
    return at_once > 1 ? at_once : 1;
}

size_t gt_threads_slices(size_t thread_count, size_t rows, size_t own_items) {
    size_t most_by_rows = rows / MIN_SLICE_ROWS, most_by_items = rows / (4 * (own_items ? own_items : 1));
    size_t most = most_by_rows < most_by_items ? most_by_rows : most_by_items;

    return clamp_count(thread_count < most ? thread_count : most);
}

/* Four fifths of its share: the rest makes up for a worker that is held up. */
void gt_deal_init(struct gt_deal *deal, size_t count, size_t workers) {
    deal->count = count;
    deal->front_count = workers > 1 ? count / (5 * workers) * 4 : 0;
    atomic_init(&deal->front_taken, 0);
    atomic_init(&deal->rest_taken, 0);
}

bool gt_deal_take(struct gt_deal *deal, size_t worker, size_t *job) {
    if (worker == 0 && (*job = atomic_fetch_add(&deal->front_taken, 1)) < deal->front_count)
        return true;
    *job = deal->front_count + atomic_fetch_add(&deal->rest_taken, 1);
    return *job < deal->count;
}

size_t gt_deal_taken(struct gt_deal *deal) {
    size_t front = atomic_load(&deal->front_taken), rest = atomic_load(&deal->rest_taken);
    size_t rest_count = deal->count - deal->front_count;

    return (front < deal->front_count ? front : deal->front_count) + (rest < rest_count ? rest : rest_count);
}
