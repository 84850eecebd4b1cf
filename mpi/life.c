/* Signs of life: small messages once a second. MPI says nothing about a process that is gone or hangs; launchers do,
   but not all of them. */
#include "life.h"

#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gputime.h"

enum { USUAL_LIMIT_S = 60, LONGEST_LIMIT_S = 86400, PATIENCE = 10, ABORT_S = 10, PLACE_BYTES = 64, SIGN_TAG = 2 };

struct sign {
    uint64_t done_bytes; /* of what it reads */
    uint64_t is_reading; /* 0: it has no traces to read */
};

/* Another process, as this one hears of it; or this one itself. */
struct peer {
    double heard_s;    /* when */
    double advanced_s; /* when it read something, or began to */
    struct sign sign;  /* the last */
    struct sign sent;
    MPI_Request request; /* of the sign to it; MPI_REQUEST_NULL: none is on its way */
    char place[PLACE_BYTES];
};

static struct {
    MPI_Comm signs;
    uint32_t process, processes;
    struct peer *peers; /* by process */
    double sent_s, looked_s;
    double limit_s; /* without a sign */
    atomic_uint_fast64_t done_bytes, is_reading;
    atomic_uint_fast64_t *shown; /* by process: its progress, for the working thread */
} life = {.limit_s = USUAL_LIMIT_S};

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- the end ---- */

static void die_late(int number) {
    static const char text[] = "gputime: MPI did not answer in time\n";
    (void)number;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(2);
    _exit(1);
}

void mpi_life_give_up(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char text[1200];
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "gputime: %s\n", text);
    fflush(stderr);
    gputime_remove_unfinished();
    signal(SIGALRM, die_late);
    alarm(ABORT_S); /* the launcher may hang as well */
    MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1);
}

/* ---- begin ---- */

static void read_limit(void) {
    const char *text = getenv("GPUTIME_MPI_TIMEOUT");
    char *end = NULL;
    long limit_s = text ? strtol(text, &end, 10) : 0;
    if (limit_s > 0 && limit_s <= LONGEST_LIMIT_S && !*end)
        life.limit_s = (double)limit_s;
}

void mpi_life_expect_start(void) {
    read_limit();
    signal(SIGALRM, die_late);
    alarm((unsigned)(PATIENCE * life.limit_s));
}

/* Slurm's name of the node, else that of the machine. */
static void name_place(char place[PLACE_BYTES]) {
    const char *node = getenv("SLURMD_NODENAME");
    memset(place, 0, PLACE_BYTES);
    if (node && *node)
        snprintf(place, PLACE_BYTES, "%s", node);
    else if (gethostname(place, PLACE_BYTES - 1) != 0)
        snprintf(place, PLACE_BYTES, "?");
}

void mpi_life_begin(uint32_t process, uint32_t processes) {
    char place[PLACE_BYTES], *places = calloc(processes, PLACE_BYTES);
    life.process = process;
    life.processes = processes;
    life.peers = calloc(processes, sizeof *life.peers);
    life.shown = calloc(processes, sizeof *life.shown);
    if (!places || !life.peers || !life.shown)
        mpi_life_give_up("out of memory for %u processes", processes);
    name_place(place);
    MPI_Allgather(place, PLACE_BYTES, MPI_CHAR, places, PLACE_BYTES, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &life.signs);
    for (uint32_t p = 0; p < processes; p++) {
        life.peers[p] = (struct peer){.heard_s = seconds_now(), .request = MPI_REQUEST_NULL};
        memcpy(life.peers[p].place, places + (size_t)p * PLACE_BYTES, PLACE_BYTES - 1);
    }
    free(places);
    life.looked_s = seconds_now();
    alarm(0);
}

/* ---- signs ---- */

static bool is_heard(uint32_t process) {
    return process != life.process && (life.process == 0 || process == 0);
}

static void take(struct peer *peer, uint32_t process, const struct sign *sign, double now_s) {
    bool has_advanced = sign->done_bytes != peer->sign.done_bytes || sign->is_reading != peer->sign.is_reading;
    peer->heard_s = now_s;
    if (has_advanced)
        peer->advanced_s = now_s;
    peer->sign = *sign;
    atomic_store(&life.shown[process], sign->done_bytes);
}

static void receive_signs(double now_s) {
    int is_there = 1;
    while (is_there) {
        MPI_Status status;
        struct sign sign;
        MPI_Iprobe(MPI_ANY_SOURCE, SIGN_TAG, life.signs, &is_there, &status);
        if (!is_there)
            break;
        MPI_Recv(&sign, sizeof sign, MPI_BYTE, status.MPI_SOURCE, SIGN_TAG, life.signs, MPI_STATUS_IGNORE);
        take(&life.peers[status.MPI_SOURCE], (uint32_t)status.MPI_SOURCE, &sign, now_s);
    }
}

static void send_signs(double now_s) {
    const struct sign own = {atomic_load(&life.done_bytes), atomic_load(&life.is_reading)};
    life.sent_s = now_s;
    take(&life.peers[life.process], life.process, &own, now_s);
    for (uint32_t p = 0; p < life.processes; p++) {
        struct peer *peer = &life.peers[p];
        int is_free = 1;
        if (!is_heard(p))
            continue;
        if (peer->request != MPI_REQUEST_NULL)
            MPI_Test(&peer->request, &is_free, MPI_STATUS_IGNORE);
        if (!is_free)
            continue;
        peer->sent = own;
        MPI_Isend(&peer->sent, sizeof peer->sent, MPI_BYTE, (int)p, SIGN_TAG, life.signs, &peer->request);
    }
}

static void check(uint32_t process, double now_s) {
    const struct peer *peer = &life.peers[process];
    bool is_silent = is_heard(process) && now_s - peer->heard_s > life.limit_s;
    bool is_stuck = life.process == 0 && peer->sign.is_reading && now_s - peer->advanced_s > PATIENCE * life.limit_s;
    if (!is_silent && !is_stuck)
        return;
    if (life.process) { /* all others notice when process 0 is gone, but one need say it */
        const struct timespec pause = {life.process / 100, life.process % 100 * 10000000L};
        nanosleep(&pause, NULL);
    }
    if (is_silent)
        mpi_life_give_up("process %u of %u (on %s) has not answered for %.0f s", process, life.processes, peer->place,
                         life.limit_s);
    mpi_life_give_up("process %u of %u (on %s) has read nothing for %.0f s; is its file system there?", process,
                     life.processes, peer->place, PATIENCE * life.limit_s);
}

void mpi_life_look(void) {
    double now_s = seconds_now(), pause_s = life.limit_s < 4 ? life.limit_s / 4 : 1;
    if (now_s - life.looked_s < 0.01)
        return;
    if (now_s - life.looked_s > life.limit_s / 2) /* this process was stopped: others may have been as well */
        for (uint32_t p = 0; p < life.processes; p++)
            life.peers[p].heard_s = now_s;
    life.looked_s = now_s;
    receive_signs(now_s);
    if (now_s - life.sent_s < pause_s)
        return;
    send_signs(now_s);
    for (uint32_t p = 0; p < life.processes; p++)
        if (is_heard(p) || (p == life.process && p == 0))
            check(p, now_s);
}

/* Process 0 is the last to end, so that nobody sends to one that is gone. */
void mpi_life_end(void) {
    signal(SIGALRM, die_late);
    alarm((unsigned)(2 * life.limit_s));
    double end_s = seconds_now();
    MPI_Request all;
    int is_met = 0;
    MPI_Ibarrier(life.signs, &all);
    while (!is_met) { /* signs that are on their way are taken, so that sends of others complete */
        const struct timespec pause = {0, 1000000};
        MPI_Test(&all, &is_met, MPI_STATUS_IGNORE);
        receive_signs(end_s);
        if (!is_met)
            nanosleep(&pause, NULL);
    }
    receive_signs(end_s);
    for (uint32_t p = 0; p < life.processes; p++)
        if (life.peers[p].request != MPI_REQUEST_NULL)
            MPI_Wait(&life.peers[p].request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&life.signs);
}

/* ---- for the working thread ---- */

void mpi_life_set_progress(uint64_t done_bytes) {
    atomic_store(&life.done_bytes, done_bytes);
}

uint64_t mpi_life_progress_of(uint32_t process) {
    return atomic_load(&life.shown[process]);
}

void mpi_life_set_reading(int is_reading) {
    atomic_store(&life.is_reading, (uint64_t)is_reading);
}

const char *mpi_life_place_of(uint32_t process) {
    return life.peers[process].place;
}
