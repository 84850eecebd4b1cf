/* What is written to files, as lines: "KIND FILE ...", where FILE is device:inode. Bytes are hexadecimal and paths are
   at the end, whole. The journal is read by power.py. */
#include "faulty.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int journal = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* None of the calls here may be counted or written down, so that they are the system's. */
void faulty_journal_begin(const char *path) {
    journal = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (journal < 0)
        _exit(97);
}

static void put(const char *text, size_t size) {
    if (syscall(SYS_write, journal, text, size) != (long)size)
        _exit(97);
}

/* FILE, and whether it is a file or folder at all; false for pipes and the like. */
static bool name_of(int fd, char name[64]) {
    struct stat info;
    if (journal < 0 || syscall(SYS_newfstatat, fd, "", &info, AT_EMPTY_PATH) != 0 ||
        !(S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)))
        return false;
    snprintf(name, 64, "%llx:%llx", (unsigned long long)info.st_dev, (unsigned long long)info.st_ino);
    return true;
}

__attribute__((format(printf, 1, 2))) static void put_line(const char *format, ...) {
    char text[3 * 4096];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof text)
        _exit(97);
    pthread_mutex_lock(&lock);
    put(text, (size_t)size);
    pthread_mutex_unlock(&lock);
}

/* The whole path of one that is relative to a folder. */
static void whole(int folder, const char *path, char out[4096]) {
    char link[64], base[2048] = "";
    if (path[0] != '/') {
        snprintf(link, sizeof link, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
        long size = syscall(SYS_readlinkat, AT_FDCWD, link, base, sizeof base - 1);
        base[size < 0 ? 0 : size] = '\0';
    }
    snprintf(out, 4096, "%s%s%s", base, base[0] ? "/" : "", path);
}

void faulty_journal_opened(int fd, int flags) {
    char name[64], link[64], path[4096];
    if (!name_of(fd, name))
        return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    long size = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    path[size < 0 ? 0 : size] = '\0';
    if (flags & O_DIRECTORY)
        put_line("folder %s %s\n", name, path);
    else if (flags & (O_WRONLY | O_RDWR))
        put_line("%s %s %s\n", flags & O_TRUNC ? "emptied" : "opened", name, path);
}

static char *hexadecimal(const unsigned char *bytes, size_t size) {
    static const char digits[] = "0123456789abcdef";
    char *text = malloc(2 * size + 2);
    if (!text)
        _exit(97);
    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * size] = '\n';
    text[2 * size + 1] = '\0';
    return text;
}

void faulty_journal_written(int fd, const void *bytes, ssize_t size, off_t offset) {
    char name[64], head[160];
    if (size <= 0 || !name_of(fd, name))
        return;
    if (offset < 0)
        offset = (off_t)syscall(SYS_lseek, fd, 0, SEEK_CUR) - size;
    char *text = hexadecimal(bytes, (size_t)size);
    snprintf(head, sizeof head, "written %s %lld ", name, (long long)offset);
    pthread_mutex_lock(&lock);
    put(head, strlen(head));
    put(text, strlen(text));
    pthread_mutex_unlock(&lock);
    free(text);
}

void faulty_journal_cut(int fd, off_t size) {
    char name[64];
    if (name_of(fd, name))
        put_line("cut %s %lld\n", name, (long long)size);
}

void faulty_journal_synced(int fd) {
    char name[64];
    if (name_of(fd, name))
        put_line("synced %s\n", name);
}

void faulty_journal_renamed(int from_folder, const char *from, int to_folder, const char *to) {
    char from_path[4096], to_path[4096];
    if (journal < 0)
        return;
    whole(from_folder, from, from_path);
    whole(to_folder, to, to_path);
    put_line("renamed %s\t%s\n", from_path, to_path);
}

void faulty_journal_removed(int folder, const char *path) {
    char whole_path[4096];
    if (journal < 0)
        return;
    whole(folder, path, whole_path);
    put_line("removed %s\n", whole_path);
}

void faulty_journal_made(const char *path) {
    char whole_path[4096];
    if (journal < 0)
        return;
    whole(AT_FDCWD, path, whole_path);
    put_line("made %s\n", whole_path);
}
