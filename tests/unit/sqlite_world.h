/* Databases for tests: a folder of their own, SQL to fill them, bytes to damage them. */
#ifndef TESTS_UNIT_SQLITE_WORLD_H
#define TESTS_UNIT_SQLITE_WORLD_H

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/source.h"

static char world_folder[] = "/tmp/gputime-sqlite-XXXXXX";
static char world_path[128];

static inline int world_begin(void **state) {
    (void)state;
    if (!mkdtemp(world_folder))
        return -1;
    snprintf(world_path, sizeof world_path, "%s/a.sqlite", world_folder);
    return 0;
}

/* How many files the folder has; removes them if asked. */
static inline int world_files(int is_removing) {
    int count = 0;
    DIR *folder = opendir(world_folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        count++;
        if (is_removing)
            unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
    return count;
}

static inline int world_end(void **state) {
    (void)state;
    world_files(1);
    return rmdir(world_folder);
}

/* Ids as Nsight packs them, for use in SQL: pid(process), tid(process, thread), node(graph, place). */
static inline void world_track(sqlite3_context *context, int count, sqlite3_value **values) {
    sqlite3_int64 thread = count > 1 ? sqlite3_value_int64(values[1]) : 0;
    sqlite3_result_int64(context, (sqlite3_int64)1 << 48 | sqlite3_value_int64(values[0]) << 24 | thread);
}

static inline void world_node(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    sqlite3_result_int64(context, sqlite3_value_int64(values[0]) << 32 | sqlite3_value_int64(values[1]));
}

static inline sqlite3 *world_open(const char *path) {
    sqlite3 *connection;
    assert_int_equal(sqlite3_open(path, &connection), SQLITE_OK);
    sqlite3_create_function(connection, "pid", 1, SQLITE_UTF8, NULL, world_track, NULL, NULL);
    sqlite3_create_function(connection, "tid", 2, SQLITE_UTF8, NULL, world_track, NULL, NULL);
    sqlite3_create_function(connection, "node", 2, SQLITE_UTF8, NULL, world_node, NULL, NULL);
    sqlite3_exec(connection, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
    return connection;
}

static inline void world_sql(sqlite3 *connection, const char *sql) {
    char *message = NULL;
    if (sqlite3_exec(connection, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
}

/* A new database at path, filled by sql. */
static inline void world_make(const char *path, const char *sql) {
    unlink(path);
    sqlite3 *connection = world_open(path);
    world_sql(connection, sql);
    assert_int_equal(sqlite3_close(connection), SQLITE_OK);
}

static inline size_t world_read(const char *path, unsigned char **bytes) {
    struct stat info;
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &info), 0);
    *bytes = malloc((size_t)info.st_size + 1);
    assert_int_equal(read(fd, *bytes, (size_t)info.st_size), info.st_size);
    close(fd);
    return (size_t)info.st_size;
}

static inline void world_write(const char *path, const unsigned char *bytes, size_t size) {
    unlink(path); /* some file systems flush a file that is written over */
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
}

/* The exports of the repository, which are packed, and more where GPUTIME_SHARED names a folder of them. */
struct world_samples {
    glob_t found;
    size_t next, count;
    char path[PATH_MAX];
};

static inline void world_unpack(const char *packed, const char *path) {
    enum { ROOM = 8 << 20 };
    struct gt_error err = {0};
    struct gt_source *source;
    size_t got;
    unsigned char *bytes = malloc(ROOM);
    assert_int_equal(gt_source_open(packed, &source, &err), 0);
    assert_int_equal(gt_source_read(source, bytes, ROOM, &got, &err), 0);
    gt_source_close(source);
    world_write(path, bytes, got);
    free(bytes);
}

static inline const char *world_next_sample(struct world_samples *samples) {
    if (samples->next == samples->found.gl_pathc) {
        globfree(&samples->found);
        return NULL;
    }
    const char *path = samples->found.gl_pathv[samples->next++];
    samples->count++;
    snprintf(samples->path, sizeof samples->path, "%s", path);
    if (strstr(path, ".gz")) {
        snprintf(samples->path, sizeof samples->path, "%s/sample.sqlite", world_folder);
        world_unpack(path, samples->path);
    }
    return samples->path;
}

static inline const char *world_first_sample(struct world_samples *samples) {
    *samples = (struct world_samples){0};
    glob("tests/data/nsys*/*.sqlite.gz", 0, NULL, &samples->found);
    const char *shared = getenv("GPUTIME_SHARED");
    char pattern[PATH_MAX];
    if (shared && *shared &&
        snprintf(pattern, sizeof pattern, "%s/data/*/nsys/*/*.sqlite", shared) < (int)sizeof pattern)
        glob(pattern, GLOB_APPEND, NULL, &samples->found);
    return world_next_sample(samples);
}

#endif
