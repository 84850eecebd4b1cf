/* Which calls fail: read from the environment when the library is loaded before a program (LD_PRELOAD).

   FAULTY="KIND N ERROR [then]": the Nth call (from 0) of the kind fails with ERROR, an errno by its number; "then": and
   all after it. ERROR "short": from the Nth on calls move half of their bytes; "interrupted": every second one is
   interrupted. FAULTY_COUNTS=FILE: how many calls of each kind there were, written at the end. FAULTY_JOURNAL=FILE:
   what is written to files, in order (journal.c).

   Calls are counted from main on. Standard error never fails: it is where the program says what happened. */
#include "faulty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum manner { MANNER_NONE, MANNER_ERROR, MANNER_SHORT, MANNER_INTERRUPTED };

static struct {
    bool is_armed;
    enum faulty_kind kind;
    enum manner manner;
    int number; /* errno */
    long place;
    bool goes_on;
    char counts_path[4096];
    atomic_long calls[FAULTY_KIND_COUNT];
} state;

static const char *const kind_names[] = {
#define FAULTY_NAME(name) #name,
    FAULTY_KINDS(FAULTY_NAME)
#undef FAULTY_NAME
};

static void read_plan(const char *plan) {
    char kind[32], error[32], then[32] = "";
    if (sscanf(plan, "%31s %ld %31s %31s", kind, &state.place, error, then) < 3)
        _exit(99);
    while (strcmp(kind_names[state.kind], kind) != 0)
        if (++state.kind == FAULTY_KIND_COUNT)
            _exit(99);
    state.number = atoi(error);
    state.goes_on = strcmp(then, "then") == 0;
    state.manner = strcmp(error, "short") == 0         ? MANNER_SHORT
                   : strcmp(error, "interrupted") == 0 ? MANNER_INTERRUPTED
                                                       : MANNER_ERROR;
}

__attribute__((constructor)) static void begin(void) {
    const char *plan = getenv("FAULTY"), *counts = getenv("FAULTY_COUNTS"), *journal = getenv("FAULTY_JOURNAL");
    if (plan)
        read_plan(plan);
    if (counts)
        snprintf(state.counts_path, sizeof state.counts_path, "%s", counts);
    if (journal)
        faulty_journal_begin(journal);
    unsetenv("LD_PRELOAD"); /* programs that this one starts are not meant */
    state.is_armed = true;
}

__attribute__((destructor)) static void end(void) {
    char text[512];
    size_t used = 0;
    state.is_armed = false;
    if (!state.counts_path[0])
        return;
    for (int i = 0; i < FAULTY_KIND_COUNT; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %ld\n", kind_names[i], state.calls[i]);
    int fd = open(state.counts_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text, used) < 0)
        _exit(98);
    close(fd);
}

bool faulty_fails(enum faulty_kind kind) {
    if (!state.is_armed)
        return false;
    long call = atomic_fetch_add(&state.calls[kind], 1);
    if (state.manner != MANNER_ERROR || kind != state.kind || call < state.place ||
        (call > state.place && !state.goes_on))
        return false;
    errno = state.number;
    return true;
}

/* Pipes inside of the process and eventfds: nothing about them can fail. */
static bool is_own(int fd) {
    struct stat info;
    return fd > STDERR_FILENO && syscall(SYS_newfstatat, fd, "", &info, AT_EMPTY_PATH) == 0 &&
           (S_ISFIFO(info.st_mode) || (info.st_mode & S_IFMT) == 0);
}

bool faulty_moves(enum faulty_kind kind, int fd, size_t *size) {
    if (fd == STDERR_FILENO || is_own(fd))
        return false;
    if (faulty_fails(kind))
        return true;
    if (!state.is_armed || kind != state.kind || state.calls[kind] <= state.place)
        return false;
    if (state.manner == MANNER_SHORT)
        *size = (*size + 1) / 2;
    errno = EINTR;
    return state.manner == MANNER_INTERRUPTED && (state.calls[kind] - state.place) % 2 == 1;
}
