/* How long the program would take on a machine with a core for each of its threads, found on one with fewer
   (`make cores`): the linker leads its calls of pthread functions here.

   One thread runs at a time. Each has a clock, which is the CPU time that it has used, and wherever it locks, waits,
   starts or joins a thread, or takes a number from a counter, the turn goes to the thread whose clock is least. Who
   waits goes on no earlier than who wakes it, and what that takes is added. So clocks agree about the order of things,
   and at the end that of the first thread says how long it would have taken. Left out is what cores share (memory,
   caches) and what is no CPU time (disks).

   On standard error: that time. In the file that CORES_OUT names: when which thread ran (S thread begin end, in ns),
   where it was at some moments (P thread time addresses, innermost first), and what is at which address (M). */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "cores.h"

enum { MOST_THREADS = 4096, MOST_STRETCHES = 1 << 21, MOST_SAMPLES = 1 << 18, DEPTH = 24, PLACES = 1 << 16 };

/* What virtual machines take, about. */
enum {
    WAKE_NS = 25000,   /* from a signal to a thread that runs */
    SIGNAL_NS = 1500,  /* for who gives it, for each thread */
    LOCK_NS = 3000,    /* to take a lock that was held */
    START_NS = 30000,  /* from pthread_create to a thread that runs */
    CREATE_NS = 8000,  /* for who calls it */
    SAMPLE_NS = 50000, /* between two looks at where the running thread is */
};

enum state { READY, WAITING, ENDED };

struct thread {
    int64_t clock_ns; /* when it had used cpu_ns of CPU time */
    int64_t cpu_ns;
    int64_t begun_ns; /* the stretch that it is in */
    enum state state;
    sem_t turn;
    struct thread *joining, *next; /* who waits for its end; who waits for the same thing after it */
    void *(*task)(void *);
    void *argument;
    pthread_t id;
    pid_t tid;
    int number;
    uintptr_t stack_begin, stack_end;
};

/* A lock or a condition, by its address. */
struct place {
    const void *address;
    bool is_held;
    int64_t free_ns; /* when it was let go last */
    struct thread *first, *last;
};

static struct thread *threads[MOST_THREADS];
static int thread_count;
static _Thread_local struct thread *self;
static struct thread *volatile running;
static struct place places[PLACES];

static struct {
    int thread;
    int64_t begin_ns, end_ns;
} stretches[MOST_STRETCHES];
static int stretch_count;

static struct sample {
    int thread, depth;
    int64_t time_ns;
    uintptr_t addresses[DEPTH];
} * samples;
static volatile int sample_count;
static volatile sig_atomic_t has_ended;
static pthread_t sampler;

int __real_pthread_create(pthread_t *id, const pthread_attr_t *how, void *(*task)(void *), void *argument);
int __real_pthread_join(pthread_t id, void **result);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *how, void *(*task)(void *), void *argument);
int __wrap_pthread_join(pthread_t id, void **result);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock);
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *until);
int __wrap_pthread_cond_signal(pthread_cond_t *condition);
int __wrap_pthread_cond_broadcast(pthread_cond_t *condition);

/* ---- clocks ---- */

static int64_t cpu_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void stop_clock(void) {
    int64_t now_ns = cpu_now_ns();
    self->clock_ns += now_ns - self->cpu_ns;
    self->cpu_ns = now_ns;
}

/* What this file did meanwhile does not count. */
static void start_clock(void) {
    self->cpu_ns = cpu_now_ns();
}

static void end_stretch(void) {
    if (self->clock_ns > self->begun_ns && stretch_count < MOST_STRETCHES) {
        stretches[stretch_count].thread = self->number;
        stretches[stretch_count].begin_ns = self->begun_ns;
        stretches[stretch_count++].end_ns = self->clock_ns;
    }
    self->begun_ns = self->clock_ns;
}

static void advance(int64_t to_ns) {
    if (to_ns <= self->clock_ns)
        return;
    end_stretch();
    self->clock_ns = self->begun_ns = to_ns;
}

/* ---- turns ---- */

static struct thread *find_next(void) {
    struct thread *next = NULL;
    for (int i = 0; i < thread_count; i++)
        if (threads[i]->state == READY && (!next || threads[i]->clock_ns < next->clock_ns))
            next = threads[i];
    if (!next) {
        fputs("cores: all threads wait\n", stderr);
        abort();
    }
    return next;
}

static void wait_for_turn(void) {
    while (sem_wait(&self->turn) != 0)
        continue;
    start_clock();
    self->begun_ns = self->clock_ns;
}

static void give_turn(void) {
    struct thread *next = find_next();
    if (next == self)
        return;
    end_stretch();
    running = next;
    sem_post(&next->turn);
    wait_for_turn();
}

void cores_turn(void) {
    stop_clock();
    give_turn();
    start_clock();
}

static void wake(struct thread *thread, int64_t at_ns) {
    if (at_ns > thread->clock_ns)
        thread->clock_ns = at_ns;
    thread->state = READY;
}

/* ---- locks and conditions ---- */

static struct place *place_of(const void *address) {
    size_t i = (size_t)(((uintptr_t)address >> 3) * UINT64_C(0x9E3779B97F4A7C15) >> 48);
    while (places[i].address && places[i].address != address)
        i = (i + 1) % PLACES;
    places[i].address = address;
    return &places[i];
}

static void wait_at(struct place *place) {
    self->state = WAITING;
    self->next = NULL;
    if (place->last)
        place->last->next = self;
    else
        place->first = self;
    place->last = self;
    give_turn();
}

static struct thread *take_waiting(struct place *place) {
    struct thread *thread = place->first;
    if (thread)
        place->first = thread->next;
    if (!place->first)
        place->last = NULL;
    return thread;
}

static void take_lock(const void *address) {
    struct place *place = place_of(address);
    give_turn();
    while (place->is_held)
        wait_at(place);
    advance(place->free_ns);
    place->is_held = true;
}

static void let_go(const void *address) {
    struct place *place = place_of(address);
    struct thread *thread = take_waiting(place);
    place->is_held = false;
    place->free_ns = self->clock_ns;
    if (thread)
        wake(thread, self->clock_ns + LOCK_NS);
}

static void wake_some(const void *condition, int most) {
    struct place *place = place_of(condition);
    struct thread *thread;
    while (most-- > 0 && (thread = take_waiting(place))) {
        wake(thread, self->clock_ns + WAKE_NS);
        self->clock_ns += SIGNAL_NS;
    }
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *lock) {
    stop_clock();
    take_lock(lock);
    start_clock();
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock) {
    stop_clock();
    let_go(lock);
    start_clock();
    return 0;
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock) {
    stop_clock();
    let_go(lock);
    wait_at(place_of(condition));
    take_lock(lock);
    start_clock();
    return 0;
}

/* Nothing that is measured waits for a time to come. */
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *until) {
    (void)until;
    return __wrap_pthread_cond_wait(condition, lock);
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition) {
    stop_clock();
    wake_some(condition, 1);
    start_clock();
    return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition) {
    stop_clock();
    wake_some(condition, MOST_THREADS);
    start_clock();
    return 0;
}

/* ---- threads ---- */

static void find_stack(struct thread *thread) {
    pthread_attr_t attributes;
    void *begin = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &begin, &size);
        pthread_attr_destroy(&attributes);
    }
    thread->stack_begin = (uintptr_t)begin;
    thread->stack_end = thread->stack_begin + size;
    thread->tid = (pid_t)syscall(SYS_gettid);
}

static struct thread *add_thread(void) {
    struct thread *thread = thread_count < MOST_THREADS ? calloc(1, sizeof *thread) : NULL;
    if (!thread) {
        fputs("cores: too many threads\n", stderr);
        abort();
    }
    sem_init(&thread->turn, 0, 0);
    thread->number = thread_count;
    threads[thread_count++] = thread;
    return thread;
}

static void *run_thread(void *argument) {
    self = argument;
    find_stack(self);
    wait_for_turn();
    void *result = self->task(self->argument);
    stop_clock();
    end_stretch();
    self->state = ENDED;
    if (self->joining)
        wake(self->joining, self->clock_ns + WAKE_NS);
    running = find_next();
    sem_post(&running->turn);
    return result;
}

int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *how, void *(*task)(void *), void *argument) {
    stop_clock();
    struct thread *thread = add_thread();
    thread->task = task;
    thread->argument = argument;
    thread->clock_ns = self->clock_ns + START_NS;
    int error = __real_pthread_create(&thread->id, how, run_thread, thread);
    if (error)
        thread->state = ENDED;
    *id = thread->id;
    self->clock_ns += CREATE_NS;
    start_clock();
    return error;
}

int __wrap_pthread_join(pthread_t id, void **result) {
    int i = thread_count - 1; /* ids of threads that have been joined come again */
    stop_clock();
    while (!pthread_equal(threads[i]->id, id))
        i--;
    struct thread *thread = threads[i];
    give_turn();
    if (thread->state != ENDED) {
        thread->joining = self;
        self->state = WAITING;
        give_turn();
    }
    advance(thread->clock_ns);
    int error = __real_pthread_join(id, result);
    start_clock();
    return error;
}

/* ---- samples ---- */

/* Of the thread that runs, by its frame pointers. */
static void take_sample(int number, siginfo_t *info, void *context) {
    const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    struct thread *thread = self;
    (void)number;
    (void)info;
    if (!thread || thread != running || sample_count >= MOST_SAMPLES)
        return;
    struct sample *sample = &samples[sample_count];
    uintptr_t frame = (uintptr_t)registers[REG_RBP];
    *sample = (struct sample){.thread = thread->number, .time_ns = thread->clock_ns + cpu_now_ns() - thread->cpu_ns};
    sample->addresses[sample->depth++] = (uintptr_t)registers[REG_RIP];
    while (sample->depth < DEPTH && frame % sizeof frame == 0 && frame > thread->stack_begin &&
           frame + 2 * sizeof frame <= thread->stack_end) {
        uintptr_t outer;
        memcpy(&outer, (const void *)frame, sizeof outer);
        memcpy(&sample->addresses[sample->depth++], (const void *)(frame + sizeof frame), sizeof frame);
        if (outer <= frame)
            break;
        frame = outer;
    }
    sample_count++;
}

static void *ask_for_samples(void *unused) {
    (void)unused;
    while (!has_ended) {
        nanosleep(&(struct timespec){.tv_nsec = SAMPLE_NS}, NULL);
        const struct thread *thread = running;
        if (thread->tid)
            syscall(SYS_tgkill, getpid(), thread->tid, SIGUSR2);
    }
    return NULL;
}

/* ---- begin and end ---- */

static void write_maps(FILE *out) {
    char line[1024];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "r-xp"))
            fprintf(out, "M %s", line);
    if (maps)
        fclose(maps);
}

static void write_out(const char *path) {
    FILE *out = fopen(path, "w");
    if (!out) {
        perror(path);
        return;
    }
    write_maps(out);
    for (int i = 0; i < stretch_count; i++)
        fprintf(out, "S %d %lld %lld\n", stretches[i].thread, (long long)stretches[i].begin_ns,
                (long long)stretches[i].end_ns);
    for (int i = 0; i < sample_count; i++) {
        fprintf(out, "P %d %lld", samples[i].thread, (long long)samples[i].time_ns);
        for (int d = 0; d < samples[i].depth; d++)
            fprintf(out, " %llx", (unsigned long long)samples[i].addresses[d]);
        fputc('\n', out);
    }
    fclose(out);
}

static void finish(void) {
    const char *path = getenv("CORES_OUT");
    stop_clock();
    end_stretch();
    has_ended = true;
    if (path) {
        __real_pthread_join(sampler, NULL);
        write_out(path);
    }
    fprintf(stderr, "cores: %.3f ms\n", (double)self->clock_ns / 1e6);
}

__attribute__((constructor)) static void begin(void) {
    struct sigaction action = {.sa_sigaction = take_sample, .sa_flags = SA_SIGINFO | SA_RESTART};
    self = running = add_thread();
    self->id = pthread_self();
    find_stack(self);
    self->clock_ns = self->cpu_ns = cpu_now_ns(); /* loading the program counts */
    samples = calloc(MOST_SAMPLES, sizeof *samples);
    sigaction(SIGUSR2, &action, NULL);
    if (getenv("CORES_OUT") && (!samples || __real_pthread_create(&sampler, NULL, ask_for_samples, NULL) != 0))
        abort();
    atexit(finish);
}
