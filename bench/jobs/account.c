/* How long a rank waited with nothing else to do: the part of its waits in which neither a kernel computes nor a
   collective moves data. */
#include <stdlib.h>

#include "job.h"

struct interval {
    int64_t start_ns, end_ns;
};

struct intervals {
    struct interval *items;
    size_t count, room;
};

struct collected {
    struct job *job;
    struct intervals busy, waits;
    struct step_times window;
    struct account account;
};

static void add(struct intervals *intervals, int64_t start_ns, int64_t end_ns) {
    if (end_ns <= start_ns)
        return;
    if (intervals->count == intervals->room) {
        intervals->room = intervals->room * 2 + 256;
        intervals->items = realloc(intervals->items, intervals->room * sizeof *intervals->items);
        if (!intervals->items)
            fail("out of memory");
    }
    intervals->items[intervals->count++] = (struct interval){start_ns, end_ns};
}

static void widen(int64_t *first_ns, int64_t *last_ns, int64_t start_ns, int64_t end_ns) {
    if (*first_ns < 0 || start_ns < *first_ns)
        *first_ns = start_ns;
    if (end_ns > *last_ns)
        *last_ns = end_ns;
}

static void collect(void *context, const struct lane *lane, const struct event *event) {
    struct collected *collected = context;
    struct account *account = &collected->account;
    (void)lane;
    if (event->end_ns == 0)
        return; /* nothing on the GPU */
    widen(&account->first_ns, &account->last_ns, event->start_ns, event->end_ns);
    bool is_recorded = clock_records(collected->window, event);
    if (is_recorded)
        widen(&account->recorded_first_ns, &account->recorded_last_ns, event->start_ns, event->end_ns);
    if (event->op->type == OP_COMM) {
        collected->job->is_recorded[event->slot] = is_recorded;
        int64_t wait_ns = transfer_wait_ns(collected->job, event->team, event->meeting, event->position);
        add(&collected->waits, event->start_ns, event->start_ns + wait_ns);
        add(&collected->busy, event->start_ns + wait_ns, event->end_ns);
    } else if (event->op->type != OP_COPY_IN && event->op->type != OP_COPY_OUT) {
        add(&collected->busy, event->start_ns, event->end_ns);
    }
}

static int by_start(const void *a, const void *b) {
    const struct interval *left = a, *right = b;
    return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

/* Joins what overlaps or touches. */
static void merge(struct intervals *intervals) {
    size_t kept = 0;
    if (intervals->count == 0)
        return;
    qsort(intervals->items, intervals->count, sizeof *intervals->items, by_start);
    for (size_t i = 1; i < intervals->count; i++) {
        struct interval next = intervals->items[i], *last = &intervals->items[kept];
        if (next.start_ns > last->end_ns)
            intervals->items[++kept] = next;
        else if (next.end_ns > last->end_ns)
            last->end_ns = next.end_ns;
    }
    intervals->count = kept + 1;
}

/* The length of what is in a and not in b; both are merged. */
static int64_t length_without(const struct intervals *a, const struct intervals *b) {
    int64_t length_ns = 0;
    for (size_t i = 0, k = 0; i < a->count; i++) {
        int64_t at_ns = a->items[i].start_ns, end_ns = a->items[i].end_ns;
        while (k < b->count && b->items[k].end_ns <= at_ns)
            k++;
        for (size_t m = k; m < b->count && b->items[m].start_ns < end_ns; m++) {
            if (b->items[m].start_ns > at_ns)
                length_ns += b->items[m].start_ns - at_ns;
            if (b->items[m].end_ns > at_ns)
                at_ns = b->items[m].end_ns;
        }
        if (end_ns > at_ns)
            length_ns += end_ns - at_ns;
    }
    return length_ns;
}

static struct account account_rank(struct job *job, uint32_t rank) {
    struct collected collected = {
        .job = job, .window = clock_window(job, rank), .account = {.first_ns = -1, .recorded_first_ns = -1}};
    lane_walk(job, rank, collect, &collected);
    merge(&collected.busy);
    merge(&collected.waits);
    collected.account.exposed_wait_ns = length_without(&collected.waits, &collected.busy);
    free(collected.busy.items);
    free(collected.waits.items);
    return collected.account;
}

struct accounts {
    struct job *job;
    struct account *ranks;
};

static void account_one(void *context, uint32_t rank) {
    struct accounts *accounts = context;
    accounts->ranks[rank] = account_rank(accounts->job, rank);
}

/* All ranks; the exposed wait of each goes to the array, if there is one. */
struct account account_job(struct job *job, int64_t *exposed_wait_ns) {
    uint32_t ranks = job->options.ranks;
    struct accounts accounts = {job, draw_memory(ranks, sizeof *accounts.ranks)};
    workers_run(job->options.threads, ranks, account_one, &accounts);
    struct account all = {.first_ns = -1, .recorded_first_ns = -1};
    for (uint32_t rank = 0; rank < ranks; rank++) {
        struct account one = accounts.ranks[rank];
        all.exposed_wait_ns += one.exposed_wait_ns;
        widen(&all.first_ns, &all.last_ns, one.first_ns, one.last_ns);
        if (one.recorded_first_ns >= 0)
            widen(&all.recorded_first_ns, &all.recorded_last_ns, one.recorded_first_ns, one.recorded_last_ns);
        if (exposed_wait_ns)
            exposed_wait_ns[rank] = one.exposed_wait_ns;
    }
    free(accounts.ranks);
    return all;
}
