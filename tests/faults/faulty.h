/* What the parts of the preloaded library know of each other. */
#ifndef TESTS_FAULTS_FAULTY_H
#define TESTS_FAULTS_FAULTY_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Kinds of calls that are counted, each by itself. */
#define FAULTY_KINDS(X) X(memory) X(thread) X(open) X(read) X(write) X(sync) X(rename) X(close) X(truncate) X(stat)

enum faulty_kind {
#define FAULTY_ENUM(name) FAULTY_##name,
    FAULTY_KINDS(FAULTY_ENUM)
#undef FAULTY_ENUM
        FAULTY_KIND_COUNT,
};

/* Whether this call is to fail, with errno set. */
bool faulty_fails(enum faulty_kind kind);

/* Whether a call that moves bytes is to be interrupted; else *size may be made smaller. */
bool faulty_moves(enum faulty_kind kind, int fd, size_t *size);

/* The function that the library stands before, found once. */
#define FAULTY_REAL(name)                                                                                              \
    static __typeof__(name) *real;                                                                                     \
    if (!real)                                                                                                         \
    real = (__typeof__(name) *)(size_t)dlsym(RTLD_NEXT, #name)

/* ---- what is written to files, in order ---- */

void faulty_journal_begin(const char *path);
void faulty_journal_opened(int fd, int flags);
void faulty_journal_written(int fd, const void *bytes, ssize_t size, off_t offset); /* -1: where the file stands */
void faulty_journal_cut(int fd, off_t size);
void faulty_journal_synced(int fd);
void faulty_journal_renamed(int from_folder, const char *from, int to_folder, const char *to);
void faulty_journal_removed(int folder, const char *path);
void faulty_journal_made(const char *path);

#endif
