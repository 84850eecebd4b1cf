/* The calls themselves, in place of those of the C library and for all that the program is linked with. Each asks
   whether it is to fail, and tells the journal what it did. What libc's own streams do is caught where they are called.
 */
#include "faulty.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* The names of large files are those of the same functions on every 64-bit system. */
#define SAME_AS(name) __attribute__((alias(#name)))

/* ---- memory and threads ---- */

void *malloc(size_t size) {
    FAULTY_REAL(malloc);
    return faulty_fails(FAULTY_memory) ? NULL : real(size);
}

void *calloc(size_t count, size_t size) {
    FAULTY_REAL(calloc);
    return faulty_fails(FAULTY_memory) ? NULL : real(count, size);
}

void *realloc(void *block, size_t size) {
    FAULTY_REAL(realloc);
    return faulty_fails(FAULTY_memory) ? NULL : real(block, size);
}

void *reallocarray(void *block, size_t count, size_t size) {
    FAULTY_REAL(reallocarray);
    return faulty_fails(FAULTY_memory) ? NULL : real(block, count, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    FAULTY_REAL(aligned_alloc);
    return faulty_fails(FAULTY_memory) ? NULL : real(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    FAULTY_REAL(posix_memalign);
    return faulty_fails(FAULTY_memory) ? errno : real(block, alignment, size);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    FAULTY_REAL(mmap);
    return faulty_fails(FAULTY_memory) ? MAP_FAILED : real(address, size, protection, flags, fd, offset);
}
void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset) SAME_AS(mmap);

void *mremap(void *pages, size_t old_size, size_t new_size, int flags, ...) {
    FAULTY_REAL(mremap);
    va_list arguments;
    va_start(arguments, flags);
    void *wanted = flags & MREMAP_FIXED ? va_arg(arguments, void *) : NULL;
    va_end(arguments);
    return faulty_fails(FAULTY_memory) ? MAP_FAILED : real(pages, old_size, new_size, flags, wanted);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context) {
    FAULTY_REAL(pthread_create);
    return faulty_fails(FAULTY_thread) ? errno : real(thread, attributes, run, context);
}

/* ---- opening and closing ---- */

static int opened(int fd, int flags) {
    if (fd >= 0)
        faulty_journal_opened(fd, flags);
    return fd;
}

/* The mode, where there is one. */
#define READ_MODE(mode)                                                                                                \
    va_list arguments;                                                                                                 \
    va_start(arguments, flags);                                                                                        \
    mode_t mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;                 \
    va_end(arguments)

int open(const char *path, int flags, ...) {
    FAULTY_REAL(open);
    READ_MODE(mode);
    return faulty_fails(FAULTY_open) ? -1 : opened(real(path, flags, mode), flags);
}
int open64(const char *path, int flags, ...) SAME_AS(open);
int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags) {
    return open(path, flags);
}

int openat(int folder, const char *path, int flags, ...) {
    FAULTY_REAL(openat);
    READ_MODE(mode);
    return faulty_fails(FAULTY_open) ? -1 : opened(real(folder, path, flags, mode), flags);
}
int openat64(int folder, const char *path, int flags, ...) SAME_AS(openat);

int mkostemp(char *path, int flags) {
    FAULTY_REAL(mkostemp);
    return faulty_fails(FAULTY_open) ? -1 : opened(real(path, flags), O_CREAT | O_RDWR);
}

int mkstemps(char *path, int suffix) {
    FAULTY_REAL(mkstemps);
    return faulty_fails(FAULTY_open) ? -1 : opened(real(path, suffix), O_CREAT | O_RDWR);
}

FILE *fopen(const char *path, const char *mode) {
    FAULTY_REAL(fopen);
    return faulty_fails(FAULTY_open) ? NULL : real(path, mode);
}
FILE *fopen64(const char *path, const char *mode) SAME_AS(fopen);

DIR *opendir(const char *path) {
    FAULTY_REAL(opendir);
    return faulty_fails(FAULTY_open) ? NULL : real(path);
}

int socket(int domain, int type, int protocol) {
    FAULTY_REAL(socket);
    return faulty_fails(FAULTY_open) ? -1 : real(domain, type, protocol);
}

/* A descriptor is gone even if closing it fails. */
int close(int fd) {
    FAULTY_REAL(close);
    int result = real(fd);
    return fd != STDERR_FILENO && faulty_fails(FAULTY_close) ? -1 : result;
}

int fclose(FILE *file) {
    FAULTY_REAL(fclose);
    bool fails = file != stderr && faulty_fails(FAULTY_close);
    int number = errno, result = real(file);
    if (!fails)
        return result;
    errno = number;
    return EOF;
}

/* ---- bytes ---- */

ssize_t read(int fd, void *bytes, size_t size) {
    FAULTY_REAL(read);
    return faulty_moves(FAULTY_read, fd, &size) ? -1 : real(fd, bytes, size);
}

ssize_t pread(int fd, void *bytes, size_t size, off_t offset) {
    FAULTY_REAL(pread);
    return faulty_moves(FAULTY_read, fd, &size) ? -1 : real(fd, bytes, size, offset);
}
ssize_t pread64(int fd, void *bytes, size_t size, off_t offset) SAME_AS(pread);

ssize_t recv(int fd, void *bytes, size_t size, int flags) {
    FAULTY_REAL(recv);
    return faulty_moves(FAULTY_read, fd, &size) ? -1 : real(fd, bytes, size, flags);
}

/* A stream keeps that it failed, so that ferror says so; an interruption is its own business. */
static bool stream_fails(enum faulty_kind kind, FILE *file) {
    if (file == stderr || !faulty_fails(kind))
        return false;
    file->_flags |= 0x20;
    return true;
}

size_t fread(void *bytes, size_t size, size_t count, FILE *file) {
    FAULTY_REAL(fread);
    return stream_fails(FAULTY_read, file) ? 0 : real(bytes, size, count, file);
}

ssize_t __getdelim(char **line, size_t *size, int end, FILE *file);
ssize_t __getdelim(char **line, size_t *size, int end, FILE *file) {
    FAULTY_REAL(__getdelim);
    return stream_fails(FAULTY_read, file) ? -1 : real(line, size, end, file);
}
ssize_t getdelim(char **line, size_t *size, int end, FILE *file) SAME_AS(__getdelim);

char *fgets(char *line, int size, FILE *file) {
    FAULTY_REAL(fgets);
    return stream_fails(FAULTY_read, file) ? NULL : real(line, size, file);
}

ssize_t write(int fd, const void *bytes, size_t size) {
    FAULTY_REAL(write);
    if (faulty_moves(FAULTY_write, fd, &size))
        return -1;
    ssize_t result = real(fd, bytes, size);
    faulty_journal_written(fd, bytes, result, -1);
    return result;
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) {
    FAULTY_REAL(pwrite);
    if (faulty_moves(FAULTY_write, fd, &size))
        return -1;
    ssize_t result = real(fd, bytes, size, offset);
    faulty_journal_written(fd, bytes, result, offset);
    return result;
}
ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t offset) SAME_AS(pwrite);

ssize_t send(int fd, const void *bytes, size_t size, int flags) {
    FAULTY_REAL(send);
    return faulty_moves(FAULTY_write, fd, &size) ? -1 : real(fd, bytes, size, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    FAULTY_REAL(sendmsg);
    size_t size = 0;
    return faulty_moves(FAULTY_write, fd, &size) ? -1 : real(fd, message, flags);
}

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *file) {
    FAULTY_REAL(fwrite);
    return stream_fails(FAULTY_write, file) ? 0 : real(bytes, size, count, file);
}

int fflush(FILE *file) {
    FAULTY_REAL(fflush);
    return file && stream_fails(FAULTY_write, file) ? EOF : real(file);
}

/* ---- files as a whole ---- */

int fsync(int fd) {
    FAULTY_REAL(fsync);
    int result = faulty_fails(FAULTY_sync) ? -1 : real(fd);
    if (result == 0)
        faulty_journal_synced(fd);
    return result;
}
int fdatasync(int fd) SAME_AS(fsync);

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    FAULTY_REAL(renameat);
    int result = faulty_fails(FAULTY_rename) ? -1 : real(from_folder, from, to_folder, to);
    if (result == 0)
        faulty_journal_renamed(from_folder, from, to_folder, to);
    return result;
}

int rename(const char *from, const char *to) {
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int unlinkat(int folder, const char *path, int flags) {
    FAULTY_REAL(unlinkat);
    int result = real(folder, path, flags);
    if (result == 0)
        faulty_journal_removed(folder, path);
    return result;
}

int unlink(const char *path) {
    return unlinkat(AT_FDCWD, path, 0);
}

int mkdir(const char *path, mode_t mode) {
    FAULTY_REAL(mkdir);
    int result = real(path, mode);
    if (result == 0)
        faulty_journal_made(path);
    return result;
}

int ftruncate(int fd, off_t size) {
    FAULTY_REAL(ftruncate);
    int result = faulty_fails(FAULTY_truncate) ? -1 : real(fd, size);
    if (result == 0)
        faulty_journal_cut(fd, size);
    return result;
}
int ftruncate64(int fd, off_t size) SAME_AS(ftruncate);

int fstat(int fd, struct stat *info) {
    FAULTY_REAL(fstat);
    return faulty_fails(FAULTY_stat) ? -1 : real(fd, info);
}
int fstat64(int fd, struct stat64 *info) {
    FAULTY_REAL(fstat64);
    return faulty_fails(FAULTY_stat) ? -1 : real(fd, info);
}

int stat(const char *path, struct stat *info) {
    FAULTY_REAL(stat);
    return faulty_fails(FAULTY_stat) ? -1 : real(path, info);
}
int stat64(const char *path, struct stat64 *info) {
    FAULTY_REAL(stat64);
    return faulty_fails(FAULTY_stat) ? -1 : real(path, info);
}

int lstat(const char *path, struct stat *info) {
    FAULTY_REAL(lstat);
    return faulty_fails(FAULTY_stat) ? -1 : real(path, info);
}
int lstat64(const char *path, struct stat64 *info) {
    FAULTY_REAL(lstat64);
    return faulty_fails(FAULTY_stat) ? -1 : real(path, info);
}
