/* Threads for one call, and for the calls of its tasks: a task and a count come in, every index has run when it
   returns. */
#include "base/threads.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>

#include "base/bell.h"
#include "base/num.h"

/* What takes longer than starting a thread; tests have fewer (tests/unit/short_slices.c). */
#ifndef GT_THREADS_LEAST_ROWS
#define GT_THREADS_LEAST_ROWS 32768
#endif

/* Held for a few instructions, but by many threads in turn when a job begins: who finds it held looks again at once. */
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#define TEAM_LOCK PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#else
#define TEAM_LOCK PTHREAD_MUTEX_INITIALIZER
#endif

static size_t clamp_count(uint64_t count) {
    return count < 1 ? 1 : count > GT_THREADS_MOST ? GT_THREADS_MOST : (size_t)count;
}

/* CPUs that this process may run on. */
static size_t count_cpus(void) {
    cpu_set_t allowed;

    /* Fails on machines with more CPUs than the set holds: more than enough for the most threads used. */
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
        return clamp_count((uint64_t)CPU_COUNT(&allowed));
    return GT_THREADS_MOST;
}

size_t gt_threads_count(int64_t asked) {
    const char *wish = getenv("GPUTIME_THREADS");
    uint64_t number;

    if (asked > 0)
        return clamp_count((uint64_t)asked);
    if (wish && gt_num_parse_uint(gt_str_of(wish), &number) && number > 0)
        return clamp_count(number);
    return count_cpus();
}

/* A call of gt_threads_deal: indices that are handed out one after the other. It is on the stack of its caller. */
struct job {
    void (*task)(void *context, size_t index);
    void *context;
    size_t depth;          /* 0: not dealt by a task of another */
    size_t count, next;    /* of the indices; the first that nobody has taken */
    size_t workers;        /* threads that have one now */
    size_t at_most;        /* of them */
    bool is_part;          /* its tasks enter no gate */
    struct job *following; /* in the list of the team */
};

/* The threads of an outermost call, and what they can do: its job and those that its tasks deal in turn. */
struct team {
    pthread_mutex_t lock;
    struct gt_bell work;  /* a job came or has room for another thread, a gate has opened, or the first job has ended */
    struct gt_bell ended; /* a job that a task has dealt has */
    bool may_look;        /* each thread has a CPU of its own */
    struct job *jobs, *first;
    pthread_t threads[GT_THREADS_MOST - 1];
    size_t started, resting; /* threads; those that have nothing to do */
};

/* A variable of the library: tasks call gt_threads_deal without a handle to their team. Each
   thread has its own, and the team is NULL outside of calls. */
static _Thread_local struct {
    struct team *team;
    size_t depth; /* of what the thread deals now */
    bool is_in_part;
} own;

static bool has_index(const struct job *job) {
    return job->next < job->count && job->workers < job->at_most;
}

static bool has_ended(const struct job *job) {
    return job->next == job->count && job->workers == 0;
}

/* Runs the next index of a job. The lock is held before and after. */
static void do_next(struct team *team, struct job *job) {
    size_t index = job->next++, depth = own.depth;
    bool was_in_part = own.is_in_part;

    job->workers++;
    own.depth = job->depth + 1;
    own.is_in_part = job->is_part;
    pthread_mutex_unlock(&team->lock);
    job->task(job->context, index);
    pthread_mutex_lock(&team->lock);
    own.depth = depth;
    own.is_in_part = was_in_part;
    bool was_full = job->workers-- == job->at_most;
    if (has_ended(job))
        gt_bell_ring(job == team->first ? &team->work : &team->ended);
    else if (was_full && has_index(job))
        gt_bell_ring(&team->work);
}

/* An outermost job goes before those that its tasks deal, and of these the one that has fewest threads. */
static struct job *find_job(const struct team *team) {
    struct job *best = has_index(team->first) ? team->first : NULL;

    for (struct job *job = team->jobs; job && !(best && best->depth == 0); job = job->following)
        if (has_index(job) && (!best || job->depth == 0 || job->workers < best->workers))
            best = job;
    return best;
}

/* Of the parts that have work, those of the job that has fewest threads. */
static struct job *find_part(const struct team *team) {
    struct job *best = NULL;

    for (struct job *job = team->jobs; job; job = job->following)
        if (job->is_part && has_index(job) && (!best || job->workers < best->workers))
            best = job;
    return best;
}

/* Takes part in all that the team does until its first job has ended. */
static void *take_part(void *argument) {
    struct team *team = argument;
    struct job *job;

    own.team = team;
    pthread_mutex_lock(&team->lock);
    while (!has_ended(team->first)) {
        if ((job = find_job(team))) {
            do_next(team, job);
            continue;
        }
        team->resting++;
        gt_bell_wait(&team->work, &team->lock, team->may_look);
        team->resting--;
    }
    pthread_mutex_unlock(&team->lock);
    own.team = NULL;
    return NULL;
}

/* Starts as many more threads as a job has work for, where nobody rests; with the caller the team has as many as its
   first job may have. The lock is held. */
static void start_threads(struct team *team, const struct job *job) {
    size_t wanted = (job->at_most < job->count ? job->at_most : job->count) - 1;

    wanted = wanted > team->resting ? wanted - team->resting : 0;
    while (wanted-- > 0 && team->started + 1 < team->first->at_most &&
           pthread_create(&team->threads[team->started], NULL, take_part, team) == 0)
        team->started++;
}

static void deal_in_new_team(struct job *job) {
    struct team team = {.lock = TEAM_LOCK, .may_look = job->at_most <= count_cpus(), .first = job};

    gt_bell_init(&team.work);
    gt_bell_init(&team.ended);
    /* Index 0 is for the caller, which takes it before anyone else can. */
    pthread_mutex_lock(&team.lock);
    start_threads(&team, job);
    own.team = &team;
    do_next(&team, job);
    pthread_mutex_unlock(&team.lock);
    take_part(&team);
    while (team.started > 0)
        pthread_join(team.threads[--team.started], NULL);
    gt_bell_release(&team.work);
    gt_bell_release(&team.ended);
    pthread_mutex_destroy(&team.lock);
}

/* Whoever of the team is free takes part; the caller waits for nobody but those. It holds the lock between its indices,
   so that no other thread takes its place among at_most. */
static void deal_in_team(struct team *team, struct job *job) {
    pthread_mutex_lock(&team->lock);
    job->depth = own.depth;
    job->following = team->jobs;
    team->jobs = job;
    start_threads(team, job);
    gt_bell_ring(&team->work);
    while (job->next < job->count)
        do_next(team, job);
    struct job **place = &team->jobs;
    while (*place != job)
        place = &(*place)->following;
    *place = job->following;
    while (!has_ended(job))
        gt_bell_wait(&team->ended, &team->lock, team->may_look);
    pthread_mutex_unlock(&team->lock);
}

void gt_threads_run(size_t count, void (*task)(void *context, size_t index), void *context) {
    gt_threads_deal(count, count, task, context);
}

static void do_alone(const struct job *job) {
    bool was_in_part = own.is_in_part;

    own.is_in_part = job->is_part;
    for (size_t i = 0; i < job->count; i++)
        job->task(job->context, i);
    own.is_in_part = was_in_part;
}

static void deal(struct job *job) {
    if (job->at_most == 1 || job->count <= 1)
        do_alone(job);
    else if (own.team)
        deal_in_team(own.team, job);
    else
        deal_in_new_team(job);
}

void gt_threads_deal(size_t thread_count, size_t count, void (*task)(void *context, size_t index), void *context) {
    deal(&(struct job){.task = task,
                       .context = context,
                       .count = count,
                       .at_most = clamp_count(thread_count),
                       .is_part = own.is_in_part});
}

void gt_threads_parts(size_t thread_count, size_t count, void (*task)(void *context, size_t index), void *context) {
    deal(&(struct job){
        .task = task, .context = context, .count = count, .at_most = clamp_count(thread_count), .is_part = true});
}

void gt_threads_gate_init(struct gt_threads_gate *gate) {
    pthread_mutex_init(&gate->lock, NULL); /* neither can fail without attributes */
    pthread_cond_init(&gate->opened, NULL);
    atomic_init(&gate->is_held, false);
    atomic_init(&gate->team, NULL);
}

void gt_threads_gate_release(struct gt_threads_gate *gate) {
    pthread_cond_destroy(&gate->opened);
    pthread_mutex_destroy(&gate->lock);
}

/* Takes part in what the team deals until none of it holds the gate. Who opens it says so to his own team afterwards,
   under the lock that is held here from looking at the gate to waiting. */
static void help_until_open(struct team *team, struct gt_threads_gate *gate) {
    pthread_mutex_lock(&team->lock);
    while (atomic_load(&gate->is_held) && atomic_load(&gate->team) == team) {
        struct job *job = find_part(team);
        if (job)
            do_next(team, job);
        else
            gt_bell_wait(&team->work, &team->lock, team->may_look);
    }
    pthread_mutex_unlock(&team->lock);
}

void gt_threads_gate_enter(struct gt_threads_gate *gate) {
    assert(!own.is_in_part);
    pthread_mutex_lock(&gate->lock);
    while (atomic_load(&gate->is_held)) {
        if (!own.team || atomic_load(&gate->team) != own.team) {
            pthread_cond_wait(&gate->opened, &gate->lock);
            continue;
        }
        pthread_mutex_unlock(&gate->lock);
        help_until_open(own.team, gate);
        pthread_mutex_lock(&gate->lock);
    }
    atomic_store(&gate->team, own.team);
    atomic_store(&gate->is_held, true);
    pthread_mutex_unlock(&gate->lock);
}

void gt_threads_gate_leave(struct gt_threads_gate *gate) {
    pthread_mutex_lock(&gate->lock);
    atomic_store(&gate->is_held, false);
    pthread_cond_broadcast(&gate->opened);
    pthread_mutex_unlock(&gate->lock);
    if (!own.team)
        return;
    pthread_mutex_lock(&own.team->lock);
    gt_bell_ring(&own.team->work);
    pthread_mutex_unlock(&own.team->lock);
}

struct together {
    void (*task)(void *context);
    void *context;
};

static void do_together(void *context, size_t index) {
    const struct together *together = context;
    (void)index;
    own.depth = 0; /* what it deals is outermost */
    together->task(together->context);
}

void gt_threads_together(size_t thread_count, void (*task)(void *context), void *context) {
    struct together together = {task, context};
    struct job job = {.task = do_together, .context = &together, .count = 1, .at_most = clamp_count(thread_count)};

    if (job.at_most == 1 || own.team)
        task(context);
    else
        deal_in_new_team(&job);
}

size_t gt_threads_own(size_t thread_count) {
    size_t tasks = own.team ? own.team->first->count : 1;

    return clamp_count(thread_count / tasks);
}

size_t gt_threads_slices(size_t thread_count, size_t rows, size_t own_items) {
    size_t most_by_rows = rows / GT_THREADS_LEAST_ROWS, most_by_items = rows / (4 * (own_items ? own_items : 1));
    size_t most = most_by_rows < most_by_items ? most_by_rows : most_by_items;

    return clamp_count(thread_count < most ? thread_count : most);
}

size_t gt_threads_turns(size_t rows) {
    enum { ROWS = 4 * GT_THREADS_LEAST_ROWS };

    return rows / ROWS + 1;
}

struct sliced {
    size_t slices, rows;
    void (*task)(void *context, size_t slice, size_t begin, size_t end);
    void *context;
};

static void do_slice(void *context, size_t slice) {
    const struct sliced *sliced = context;
    sliced->task(sliced->context, slice, gt_threads_slice_begin(sliced->rows, sliced->slices, slice),
                 gt_threads_slice_begin(sliced->rows, sliced->slices, slice + 1));
}

void gt_threads_rows(size_t slices, size_t rows, void (*task)(void *context, size_t slice, size_t begin, size_t end),
                     void *context) {
    struct sliced sliced = {slices, rows, task, context};
    gt_threads_parts(slices, slices, do_slice, &sliced);
}

/* Four fifths of its share: the rest makes up for a worker that is held up. */
void gt_threads_deal_init(struct gt_deal *deal, size_t count, size_t workers) {
    deal->count = count;
    deal->front_count = workers > 1 ? count / (5 * workers) * 4 : 0;
    atomic_init(&deal->front_taken, 0);
    atomic_init(&deal->rest_taken, 0);
}

bool gt_threads_deal_take(struct gt_deal *deal, size_t worker, size_t *job) {
    if (worker == 0 && (*job = atomic_fetch_add(&deal->front_taken, 1)) < deal->front_count)
        return true;
    *job = deal->front_count + atomic_fetch_add(&deal->rest_taken, 1);
    return *job < deal->count;
}

size_t gt_threads_deal_taken(struct gt_deal *deal) {
    size_t front = atomic_load(&deal->front_taken), rest = atomic_load(&deal->rest_taken);
    size_t rest_count = deal->count - deal->front_count;

    return (front < deal->front_count ? front : deal->front_count) + (rest < rest_count ? rest : rest_count);
}
