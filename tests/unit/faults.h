/* Calls to the system that fail on demand, and a loop that makes each of them fail in turn. The calls are caught by the
   linker (--wrap, see the Makefile), so only those of the library fail, not those inside of other libraries. */
#ifndef TESTS_UNIT_FAULTS_H
#define TESTS_UNIT_FAULTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "gputime.h"

enum fault {
    FAULT_NONE,
    FAULT_ONCE,        /* one call fails */
    FAULT_FROM_THERE,  /* that call and all after it fail */
    FAULT_INTERRUPTED, /* no call fails for good, but reading and writing is interrupted or stops half-way */
};
static const char *const fault_names[] = {"never", "once", "from there on", "interrupted"};

static struct {
    enum fault fault;
    long place; /* of the first call that fails */
    atomic_long calls;
    atomic_bool was_hit;
    atomic_long blocks, mappings; /* that are not given back yet */
    long injected;                /* faults since the beginning */
} system_state;

static bool fails(int number) {
    if (system_state.fault == FAULT_NONE || system_state.fault == FAULT_INTERRUPTED)
        return false;
    long call = atomic_fetch_add(&system_state.calls, 1);
    if (call < system_state.place || (call > system_state.place && system_state.fault == FAULT_ONCE))
        return false;
    system_state.was_hit = true;
    errno = number;
    return true;
}

/* How many bytes a call that reads or writes may move: none with an interruption, half of them, or all. */
static bool is_interrupted(size_t *size) {
    if (system_state.fault != FAULT_INTERRUPTED)
        return false;
    long turn = atomic_fetch_add(&system_state.calls, 1) % 3;
    if (turn == 1)
        *size = (*size + 1) / 2;
    errno = EINTR;
    return turn == 0;
}

static void *counted(void *block) {
    system_state.blocks += block != NULL;
    return block;
}

/* What the linker puts in the place of each function, and what it calls the function itself. */
#define WRAPPED(type, name, ...)                                                                                       \
    type __real_##name(__VA_ARGS__);                                                                                   \
    type __wrap_##name(__VA_ARGS__);                                                                                   \
    type __wrap_##name(__VA_ARGS__)

WRAPPED(void *, malloc, size_t size) {
    return fails(ENOMEM) ? NULL : counted(__real_malloc(size));
}

WRAPPED(void *, calloc, size_t count, size_t size) {
    return fails(ENOMEM) ? NULL : counted(__real_calloc(count, size));
}

WRAPPED(void *, realloc, void *block, size_t size) {
    if (fails(ENOMEM))
        return NULL;
    return block ? __real_realloc(block, size) : counted(__real_realloc(block, size));
}

WRAPPED(void, free, void *block) {
    system_state.blocks -= block != NULL;
    __real_free(block);
}

WRAPPED(void *, mmap, void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    void *pages = fails(ENOMEM) ? MAP_FAILED : __real_mmap(address, size, protection, flags, fd, offset);
    system_state.mappings += pages != MAP_FAILED && !(flags & MAP_FIXED); /* that takes the place of another */
    return pages;
}

WRAPPED(void *, mremap, void *pages, size_t old_size, size_t new_size, int flags, ...) {
    return fails(ENOMEM) ? MAP_FAILED : __real_mremap(pages, old_size, new_size, flags);
}

WRAPPED(int, munmap, void *pages, size_t size) {
    system_state.mappings--;
    return __real_munmap(pages, size);
}

WRAPPED(ssize_t, read, int fd, void *bytes, size_t size) {
    return fails(EIO) || is_interrupted(&size) ? -1 : __real_read(fd, bytes, size);
}

WRAPPED(ssize_t, pread, int fd, void *bytes, size_t size, off_t offset) {
    return fails(EIO) || is_interrupted(&size) ? -1 : __real_pread(fd, bytes, size, offset);
}

WRAPPED(ssize_t, write, int fd, const void *bytes, size_t size) {
    return fails(ENOSPC) || is_interrupted(&size) ? -1 : __real_write(fd, bytes, size);
}

WRAPPED(ssize_t, pwrite, int fd, const void *bytes, size_t size, off_t offset) {
    return fails(ENOSPC) || is_interrupted(&size) ? -1 : __real_pwrite(fd, bytes, size, offset);
}

WRAPPED(int, fsync, int fd) {
    return fails(EIO) ? -1 : __real_fsync(fd);
}

WRAPPED(int, rename, const char *from, const char *to) {
    return fails(EIO) ? -1 : __real_rename(from, to);
}

WRAPPED(int, renameat, int from_folder, const char *from, int to_folder, const char *to) {
    return fails(EIO) ? -1 : __real_renameat(from_folder, from, to_folder, to);
}

WRAPPED(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context) {
    return fails(EAGAIN) ? EAGAIN : __real_pthread_create(thread, attributes, run, context);
}

WRAPPED(char *, strdup, const char *text) {
    return fails(ENOMEM) ? NULL : counted(__real_strdup(text));
}

int __wrap_asprintf(char **text, const char *format, ...);
int __wrap_asprintf(char **text, const char *format, ...) {
    va_list arguments;
    if (fails(ENOMEM))
        return -1;
    va_start(arguments, format);
    int size = vasprintf(text, format, arguments);
    va_end(arguments);
    counted(size < 0 ? NULL : *text);
    return size;
}

/* An arena asks the system for whole blocks; here each of its allocations may be the one that needs a new block. */
static bool fails_for(struct gt_arena *arena) {
    if (fails(ENOMEM))
        arena->failed = true;
    return arena->failed;
}

WRAPPED(void *, gt_arena_alloc, struct gt_arena *arena, size_t size) {
    return fails_for(arena) ? NULL : __real_gt_arena_alloc(arena, size);
}

WRAPPED(void *, gt_arena_array, struct gt_arena *arena, size_t count, size_t size) {
    return fails_for(arena) ? NULL : __real_gt_arena_array(arena, count, size);
}

WRAPPED(void *, gt_arena_room, struct gt_arena *arena, void *items, size_t count, size_t *capacity, size_t size) {
    bool is_full = count >= *capacity;
    return is_full && fails_for(arena) ? NULL : __real_gt_arena_room(arena, items, count, capacity, size);
}

WRAPPED(struct gt_str, gt_arena_copy, struct gt_arena *arena, struct gt_str text) {
    return fails_for(arena) ? GT_STR("") : __real_gt_arena_copy(arena, text);
}

/* ---- one run ---- */

/* What must be as it was when a run is over. */
struct holdings {
    long blocks, mappings, descriptors;
};

static struct holdings holdings_now(void) {
    enum { DESCRIPTORS_MAX = 256 };
    struct holdings now = {system_state.blocks, system_state.mappings, 0};
    struct pollfd descriptors[DESCRIPTORS_MAX];
    for (int fd = 0; fd < DESCRIPTORS_MAX; fd++)
        descriptors[fd] = (struct pollfd){.fd = fd};
    poll(descriptors, DESCRIPTORS_MAX, 0); /* one call for all */
    for (int fd = 0; fd < DESCRIPTORS_MAX; fd++)
        now.descriptors += !(descriptors[fd].revents & POLLNVAL);
    return now;
}

static void begin_faults(enum fault fault, long place) {
    system_state.calls = 0;
    system_state.was_hit = false;
    system_state.place = place;
    system_state.fault = fault;
}

static void end_faults(void) {
    system_state.fault = FAULT_NONE;
}

/* A run on the context; it checks and frees its own results. */
typedef void run_function(const void *context, const char *what);

static void torture_once(run_function *run, const void *context, const char *name, enum fault fault, long place) {
    char what[300];
    struct holdings before = holdings_now();
    snprintf(what, sizeof what, "%s, call %ld fails %s", name, place, fault_names[fault]);
    begin_faults(fault, place);
    run(context, what);
    system_state.injected += system_state.was_hit;
    end_faults();
    struct holdings after = holdings_now();
    if (memcmp(&before, &after, sizeof before) != 0)
        fail_msg("%s: leaks %ld blocks, %ld mappings, %ld descriptors", what, after.blocks - before.blocks,
                 after.mappings - before.mappings, after.descriptors - before.descriptors);
}

/* Until no call is left that could fail. */
static void torture(run_function *run, const void *context, const char *name) {
    torture_once(run, context, name, FAULT_NONE, 0);
    torture_once(run, context, name, FAULT_INTERRUPTED, 0);
    for (enum fault fault = FAULT_ONCE; fault <= FAULT_FROM_THERE; fault++) {
        long place = 0;
        do
            torture_once(run, context, name, fault, place++);
        while (system_state.was_hit);
        assert_true(place > 1);
    }
}

/* A test that failed may have left them on. */
static inline int switch_faults_off(void **state) {
    (void)state;
    end_faults();
    return 0;
}

/* For the end of a test program. */
static inline void print_faults(void) {
    print_message("%ld faults injected\n", system_state.injected);
}

static inline void expect_reason(enum gputime_status status, const struct gputime_error *err, const char *what) {
    if (status != GPUTIME_FAILED || err->status != GPUTIME_FAILED || !err->message[0] || strchr(err->message, '\n'))
        fail_msg("%s: status %d, message '%s'", what, (int)status, err->message);
    if (system_state.fault == FAULT_NONE)
        fail_msg("%s: fails without a fault: %s", what, err->message);
    if (system_state.fault == FAULT_INTERRUPTED)
        fail_msg("%s: fails after an interruption: %s", what, err->message);
}

#endif
