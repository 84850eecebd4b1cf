/* Files of the tests that make calls fail: read, written and listed, and all removed in the end. */
#ifndef TESTS_UNIT_FILES_H
#define TESTS_UNIT_FILES_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faults.h"

enum { PATH_BYTES = 128 };

struct text {
    char *bytes;
    size_t size;
};

static inline struct text read_file(const char *path) {
    struct stat info;
    struct text text = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) < 0)
        fail_msg("cannot read %s", path);
    text.size = (size_t)info.st_size;
    text.bytes = malloc(text.size + 1);
    assert_non_null(text.bytes);
    assert_int_equal(read(fd, text.bytes, text.size), text.size);
    text.bytes[text.size] = '\0';
    close(fd);
    return text;
}

static inline void write_file(const char *path, const char *bytes, size_t size) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
}

/* Calls visit for every file of a folder. */
static inline size_t each_file(const char *path, void (*visit)(const char *path, const char *name)) {
    size_t count = 0;
    char file[PATH_BYTES + 256];
    DIR *listing = opendir(path);
    for (struct dirent *item; listing && (item = readdir(listing));) {
        if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
            continue;
        snprintf(file, sizeof file, "%s/%s", path, item->d_name);
        visit(file, item->d_name);
        count++;
    }
    if (listing)
        closedir(listing);
    return count;
}

static inline void remove_file(const char *path, const char *name) {
    (void)name;
    remove(path);
}

static inline void refuse_temporary(const char *path, const char *name) {
    if (strstr(name, "tmp"))
        fail_msg("%s still exists", path);
}

#endif
