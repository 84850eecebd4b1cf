/* Stands between the library and the system in fast fuzz targets: opening, reading and closing of files in memory, and
   pages that are heap blocks of exactly the size that was asked for, so that AddressSanitizer sees what is beyond it.
   All other files and descriptors are the system's. */
#include "in_memory.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

/* Far above all descriptors that the system gives. */
enum { FIRST_DESCRIPTOR = 1 << 24 };

static struct {
    const uint8_t *data;
    size_t size, next;
} files[FUZZ_MEMORY_FILES];

static const char *const paths[FUZZ_MEMORY_FILES] = {"/fuzz/0", "/fuzz/1", "/fuzz/2", "/fuzz/3",
                                                     "/fuzz/4", "/fuzz/5", "/fuzz/6", "/fuzz/7"};

const char *fuzz_memory_file(size_t number, const void *data, size_t size) {
    files[number].data = data;
    files[number].size = size;
    return paths[number];
}

/* The number of the file, or FUZZ_MEMORY_FILES: it is not ours. */
static size_t number_of(const char *path) {
    if (strncmp(path, "/fuzz/", 6) != 0)
        return FUZZ_MEMORY_FILES;
    size_t number = 0;
    while (number < FUZZ_MEMORY_FILES && strcmp(path, paths[number]) != 0)
        number++;
    return number;
}

bool fuzz_memory_bytes(const char *path, const void **data, size_t *size) {
    size_t number = number_of(path);
    if (number == FUZZ_MEMORY_FILES)
        return false;
    *data = files[number].data;
    *size = files[number].size;
    return true;
}

static size_t read_at(size_t number, void *buf, size_t size, size_t offset) {
    if (offset >= files[number].size || size == 0)
        return 0;
    size_t left = files[number].size - offset, got = left < size ? left : size;
    memcpy(buf, files[number].data + offset, got);
    return got;
}

static void describe(size_t number, struct stat *info) {
    memset(info, 0, sizeof *info);
    info->st_mode = S_IFREG | 0444;
    info->st_size = (off_t)files[number].size;
    info->st_ino = (ino_t)number + 1;
}

/* ---- files: the names are those that the linker gives to what stands in between ---- */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
    size_t number = number_of(path);
    va_list rest;
    va_start(rest, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;
    va_end(rest);
    if (number == FUZZ_MEMORY_FILES)
        return __real_open(path, flags, mode);
    files[number].next = 0;
    return FIRST_DESCRIPTOR + (int)number;
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd) {
    return fd >= FIRST_DESCRIPTOR ? 0 : __real_close(fd);
}

int __real_fstat(int fd, struct stat *info);
int __wrap_fstat(int fd, struct stat *info);
int __wrap_fstat(int fd, struct stat *info) {
    if (fd < FIRST_DESCRIPTOR)
        return __real_fstat(fd, info);
    describe((size_t)(fd - FIRST_DESCRIPTOR), info);
    return 0;
}

int __real_stat(const char *path, struct stat *info);
int __wrap_stat(const char *path, struct stat *info);
int __wrap_stat(const char *path, struct stat *info) {
    size_t number = number_of(path);
    if (number == FUZZ_MEMORY_FILES)
        return __real_stat(path, info);
    describe(number, info);
    return 0;
}

int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int __wrap_access(const char *path, int mode) {
    return number_of(path) < FUZZ_MEMORY_FILES ? 0 : __real_access(path, mode);
}

char *__real_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved) {
    return number_of(path) < FUZZ_MEMORY_FILES && resolved ? strcpy(resolved, path) : __real_realpath(path, resolved);
}

/* What realpath() is called where the compiler knows the room for the result. */
char *__wrap___realpath_chk(const char *path, char *resolved, size_t room);
char *__wrap___realpath_chk(const char *path, char *resolved, size_t room) {
    (void)room;
    return __wrap_realpath(path, resolved);
}

ssize_t __real_pread(int fd, void *buf, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *buf, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *buf, size_t size, off_t offset) {
    if (fd < FIRST_DESCRIPTOR)
        return __real_pread(fd, buf, size, offset);
    return (ssize_t)read_at((size_t)(fd - FIRST_DESCRIPTOR), buf, size, (size_t)offset);
}

ssize_t __real_read(int fd, void *buf, size_t size);
ssize_t __wrap_read(int fd, void *buf, size_t size);
ssize_t __wrap_read(int fd, void *buf, size_t size) {
    if (fd < FIRST_DESCRIPTOR)
        return __real_read(fd, buf, size);
    size_t number = (size_t)(fd - FIRST_DESCRIPTOR), got = read_at(number, buf, size, files[number].next);
    files[number].next += got;
    return (ssize_t)got;
}

/* ---- pages ---- */

/* Large ones stay the system's, which has them cleared only where they are touched. */
#define LARGE_BYTES ((size_t)1 << 20)

void *__real_gt_mem_pages_alloc(size_t size_bytes);
void *__wrap_gt_mem_pages_alloc(size_t size_bytes);
void *__wrap_gt_mem_pages_alloc(size_t size_bytes) {
    return size_bytes < LARGE_BYTES ? gt_mem_array(1, size_bytes) : __real_gt_mem_pages_alloc(size_bytes);
}

void __real_gt_mem_pages_free(void *pages, size_t size_bytes);
void __wrap_gt_mem_pages_free(void *pages, size_t size_bytes);
void __wrap_gt_mem_pages_free(void *pages, size_t size_bytes) {
    if (size_bytes < LARGE_BYTES)
        gt_mem_free(pages);
    else
        __real_gt_mem_pages_free(pages, size_bytes);
}

void *__real_gt_mem_pages_resize(void *pages, size_t old_bytes, size_t new_bytes);
void *__wrap_gt_mem_pages_resize(void *pages, size_t old_bytes, size_t new_bytes);
void *__wrap_gt_mem_pages_resize(void *pages, size_t old_bytes, size_t new_bytes) {
    if (old_bytes >= LARGE_BYTES && new_bytes >= LARGE_BYTES)
        return __real_gt_mem_pages_resize(pages, old_bytes, new_bytes);
    void *moved = __wrap_gt_mem_pages_alloc(new_bytes);
    if (moved && pages) {
        memcpy(moved, pages, old_bytes < new_bytes ? old_bytes : new_bytes);
        __wrap_gt_mem_pages_free(pages, old_bytes);
    }
    return moved;
}

void __wrap_gt_mem_pages_discard(void *pages, size_t from_bytes, size_t to_bytes);
void __wrap_gt_mem_pages_discard(void *pages, size_t from_bytes, size_t to_bytes) {
    (void)pages, (void)from_bytes, (void)to_bytes; /* what is given up there is never read again before it is written */
}

void *__wrap_gt_mem_pages_map_file(int fd, size_t size_bytes);
void *__wrap_gt_mem_pages_map_file(int fd, size_t size_bytes) {
    void *bytes = __wrap_gt_mem_pages_alloc(size_bytes);
    if (bytes && pread(fd, bytes, size_bytes, 0) == (ssize_t)size_bytes)
        return bytes;
    __wrap_gt_mem_pages_free(bytes, size_bytes);
    return NULL;
}
