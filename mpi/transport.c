/* Moves bytes between processes. The working thread posts one task at a time and waits for it; the thread of MPI makes
   it progress, without ever blocking in MPI. Each process sends signs of life to process 0, and that to all others. */
#include "transport.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "life.h"

enum {
    CHUNK_BYTES = 4 << 20, /* of one message: counts of MPI are ints */
    TICK_MS = 200,
    IDLE_MS = 20,
    BUSY_US = 2000, /* how long to poll without a pause after something arrived */
    LONGEST_PAUSE_US = 1000,
    DATA_TAG = 1,
};

/* Bytes to or from one process, or from process 0 to all. */
struct stream {
    enum { STREAM_SEND, STREAM_RECEIVE, STREAM_BROADCAST } kind;
    uint32_t peer;
    char *at;
    size_t left;
    bool is_active; /* request is of its next bytes */
    size_t chunk;
    MPI_Request request;
};

static struct {
    MPI_Comm data;
    struct gputime_team team;
    pthread_mutex_t lock;
    pthread_cond_t posted, finished;
    struct stream *task; /* what the working thread waits for; NULL: none; guarded by lock, as is_done */
    bool is_done;        /* the working thread has ended */
    void (*work)(void *context);
    void *work_context;
    void (*tick)(void *context); /* called with the lock held */
    void *tick_context;
    double ticked_s;
} transport = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the working thread ---- */

static struct timespec after_ms(long ms) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_nsec += ms * 1000000L;
    time.tv_sec += time.tv_nsec / 1000000000L;
    time.tv_nsec %= 1000000000L;
    return time;
}

static void carry_out(struct stream *stream) {
    pthread_mutex_lock(&transport.lock);
    transport.task = stream;
    pthread_cond_signal(&transport.posted);
    while (transport.task)
        pthread_cond_wait(&transport.finished, &transport.lock);
    pthread_mutex_unlock(&transport.lock);
}

static void broadcast(void *context, void *bytes, size_t count) {
    struct stream stream = {.kind = STREAM_BROADCAST, .at = bytes, .left = count};
    (void)context;
    carry_out(&stream);
}

static void send_bytes(void *context, uint32_t to, const void *bytes, size_t count) {
    struct stream stream = {.kind = STREAM_SEND, .peer = to, .at = (char *)(uintptr_t)bytes, .left = count};
    (void)context;
    carry_out(&stream);
}

static void receive_bytes(void *context, uint32_t from, void *bytes, size_t count) {
    struct stream stream = {.kind = STREAM_RECEIVE, .peer = from, .at = bytes, .left = count};
    (void)context;
    carry_out(&stream);
}

static void give_up(void *context, const char *message) {
    (void)context;
    mpi_life_give_up("%s", message);
}

static void set_progress(void *context, uint64_t done_bytes) {
    (void)context;
    mpi_life_set_progress(done_bytes);
}

static uint64_t progress_of(void *context, uint32_t process) {
    (void)context;
    return mpi_life_progress_of(process);
}

static void set_reading(void *context, int is_reading) {
    (void)context;
    mpi_life_set_reading(is_reading);
}

static void set_tick(void *context, void (*tick)(void *), void *tick_context) {
    (void)context;
    pthread_mutex_lock(&transport.lock);
    transport.tick = tick;
    transport.tick_context = tick_context;
    pthread_mutex_unlock(&transport.lock);
}

static const char *place_of(void *context, uint32_t process) {
    (void)context;
    return mpi_life_place_of(process);
}

static void *work(void *unused) {
    (void)unused;
    transport.work(transport.work_context);
    pthread_mutex_lock(&transport.lock);
    transport.is_done = true;
    pthread_cond_signal(&transport.posted);
    pthread_mutex_unlock(&transport.lock);
    return NULL;
}

/* ---- the thread of MPI ---- */

static void start_chunk(struct stream *stream) {
    stream->chunk = stream->left < CHUNK_BYTES ? stream->left : CHUNK_BYTES;
    int count = (int)stream->chunk, peer = (int)stream->peer;
    if (stream->kind == STREAM_SEND)
        MPI_Isend(stream->at, count, MPI_BYTE, peer, DATA_TAG, transport.data, &stream->request);
    else if (stream->kind == STREAM_RECEIVE)
        MPI_Irecv(stream->at, count, MPI_BYTE, peer, DATA_TAG, transport.data, &stream->request);
    else
        MPI_Ibcast(stream->at, count, MPI_BYTE, 0, transport.data, &stream->request);
    stream->is_active = true;
}

/* Whether something has arrived or gone. */
static bool advance(struct stream *stream) {
    int is_finished = 0;
    if (!stream->is_active && stream->left)
        start_chunk(stream);
    if (!stream->is_active)
        return false;
    MPI_Test(&stream->request, &is_finished, MPI_STATUS_IGNORE);
    if (!is_finished)
        return false;
    stream->is_active = false;
    stream->at += stream->chunk;
    stream->left -= stream->chunk;
    return true;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* What is to be done all the time. */
static void look_around(void) {
    double now_s = seconds_now();
    mpi_life_look();
    if (now_s - transport.ticked_s < TICK_MS / 1e3)
        return;
    transport.ticked_s = now_s;
    pthread_mutex_lock(&transport.lock);
    if (transport.tick)
        transport.tick(transport.tick_context);
    pthread_mutex_unlock(&transport.lock);
}

/* Until all bytes are there. Polling leaves the core to others when nothing comes. */
static void move(struct stream *stream) {
    double last_s = seconds_now();
    long pause_us = 10;
    while (stream->left) {
        bool has_moved = advance(stream);
        look_around();
        double now_s = seconds_now();
        if (has_moved) {
            last_s = now_s;
            pause_us = 10;
        } else if (now_s - last_s < BUSY_US / 1e6) {
            sched_yield();
        } else {
            const struct timespec pause = {0, pause_us * 1000};
            nanosleep(&pause, NULL);
            pause_us = 2 * pause_us < LONGEST_PAUSE_US ? 2 * pause_us : LONGEST_PAUSE_US;
        }
    }
}

/* The next task; NULL: the working thread has ended. */
static struct stream *next_task(void) {
    struct stream *task = NULL;
    bool is_done = false;
    while (!task && !is_done) {
        struct timespec until = after_ms(IDLE_MS);
        pthread_mutex_lock(&transport.lock);
        if (!transport.task && !transport.is_done)
            pthread_cond_timedwait(&transport.posted, &transport.lock, &until);
        task = transport.task;
        is_done = transport.is_done;
        pthread_mutex_unlock(&transport.lock);
        look_around();
    }
    return task;
}

void mpi_transport_run(void (*given_work)(void *context), void *context) {
    pthread_t worker;
    transport.work = given_work;
    transport.work_context = context;
    if (pthread_create(&worker, NULL, work, NULL) != 0)
        mpi_life_give_up("cannot start a thread");
    pthread_setname_np(worker, "gputime-work");
    for (struct stream *task = next_task(); task; task = next_task()) {
        move(task);
        pthread_mutex_lock(&transport.lock);
        transport.task = NULL;
        pthread_cond_signal(&transport.finished);
        pthread_mutex_unlock(&transport.lock);
    }
    pthread_join(worker, NULL);
}

/* ---- begin and end ---- */

/* Threads of processes on one machine share its cores. */
static void share_cores(void) {
    MPI_Comm here;
    int neighbours = 1;
    char text[32];
    cpu_set_t allowed;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &neighbours);
    MPI_Comm_free(&here);
    long share = cores / neighbours > 0 ? cores / neighbours : 1;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) < share)
        share = CPU_COUNT(&allowed);
    snprintf(text, sizeof text, "%ld", share);
    setenv("GPUTIME_THREADS", text, 0); /* what the user has set counts */
}

const struct gputime_team *mpi_transport_begin(int *argc, char ***argv) {
    int provided = MPI_THREAD_SINGLE, process = 0, processes = 1;
    pthread_condattr_t monotonic;
    mpi_life_expect_start();
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    if (provided < MPI_THREAD_FUNNELED)
        mpi_life_give_up("this MPI does not support threads (MPI_THREAD_FUNNELED)");
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    MPI_Comm_dup(MPI_COMM_WORLD, &transport.data);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&transport.posted, &monotonic);
    pthread_cond_init(&transport.finished, &monotonic);
    pthread_condattr_destroy(&monotonic);
    transport.team = (struct gputime_team){.size = sizeof transport.team,
                                           .process = (uint32_t)process,
                                           .process_count = (uint32_t)processes,
                                           .broadcast = broadcast,
                                           .send = send_bytes,
                                           .receive = receive_bytes,
                                           .give_up = give_up,
                                           .set_progress = set_progress,
                                           .progress_of = progress_of,
                                           .set_reading = set_reading,
                                           .set_tick = set_tick,
                                           .place_of = place_of};
    share_cores();
    mpi_life_begin((uint32_t)process, (uint32_t)processes);
    return &transport.team;
}

void mpi_transport_end(void) {
    mpi_life_end();
    MPI_Comm_free(&transport.data);
    MPI_Finalize();
}
