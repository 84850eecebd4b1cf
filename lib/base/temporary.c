/* Temporary files: a target comes in, a new file next to it goes out, known to the signal handler until it is gone. */
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/durable.h"
#include "base/mem.h"

enum { ATTEMPTS_MAX = 100, SLOTS = 16, NAME_BYTES = 48 };

enum slot_state {
    FREE,
    OWNED,    /* the writer may change the path */
    KNOWN,    /* the path names a file that is there, or is about to be */
    REMOVING, /* a signal handler is at it */
    REMOVED,
};

struct gt_temporary_slot {
    atomic_int state; /* enum slot_state */
    char *path;       /* the writer's */
};

/* A variable of the whole library: a signal handler has no other way to learn what is being written. Where more files
   are open than there are slots, the last ones are not removed when the program is interrupted. */
static struct gt_temporary_slot slots[SLOTS];

static struct gt_temporary_slot *take_slot(char *path) {
    for (size_t i = 0; i < SLOTS; i++) {
        int expected = FREE;
        if (!atomic_compare_exchange_strong(&slots[i].state, &expected, OWNED))
            continue;
        slots[i].path = path;
        atomic_store(&slots[i].state, KNOWN);
        return &slots[i];
    }
    return NULL;
}

/* The path must live until no handler reads it: one that has begun, in another thread, is waited for. */
static void give_slot(struct gt_temporary_slot *slot) {
    int expected = KNOWN;
    if (!atomic_compare_exchange_strong(&slot->state, &expected, OWNED))
        while (atomic_load(&slot->state) == REMOVING)
            sched_yield();
    atomic_store(&slot->state, FREE);
}

void gt_temporary_remove_all(void) {
    int number = errno;
    for (size_t i = 0; i < SLOTS; i++) {
        int expected = KNOWN;
        if (!atomic_compare_exchange_strong(&slots[i].state, &expected, REMOVING))
            continue;
        unlink(slots[i].path);
        atomic_store(&slots[i].state, REMOVED);
    }
    errno = number;
}

static void forget(struct gt_temporary *temporary) {
    if (temporary->slot)
        give_slot(temporary->slot);
    gt_mem_free(temporary->path);
    *temporary = (struct gt_temporary){0};
}

static char *make_path(const char *target, int attempt) {
    const char *slash = strrchr(target, '/');
    size_t folder = slash ? (size_t)(slash - target) + 1 : 0;
    char *path = gt_mem_alloc(folder + NAME_BYTES);
    uint64_t number = 0;
    if (!path)
        return NULL;
    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
        number = ((uint64_t)getpid() << 32) + (uint64_t)attempt;
    memcpy(path, target, folder);
    snprintf(path + folder, NAME_BYTES, ".gputime-%016llx.tmp", (unsigned long long)number);
    return path;
}

int gt_temporary_open(struct gt_temporary *temporary, const char *target) {
    for (int i = 0; i < ATTEMPTS_MAX; i++) {
        char *path = make_path(target, i);
        if (!path) {
            errno = ENOMEM;
            return -1;
        }
        /* Registered before it is created, so that an interrupt at any moment removes it. */
        *temporary = (struct gt_temporary){.path = path, .slot = take_slot(path)};
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            return fd;
        int number = errno;
        forget(temporary);
        errno = number;
        if (number != EEXIST && number != EINTR)
            return -1;
    }
    return -1;
}

int gt_temporary_rename(struct gt_temporary *temporary, const char *target) {
    if (rename(temporary->path, target) < 0)
        return -1;
    forget(temporary);
    gt_durable_name(target);
    return 0;
}

void gt_temporary_remove(struct gt_temporary *temporary) {
    if (!temporary->path)
        return;
    unlink(temporary->path);
    forget(temporary);
}
