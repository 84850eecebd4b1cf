/* Output paths: none may be a trace that is read, nor a file that another output of the same run goes to. */
#include "target.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "request.h"

bool cli_target_is_folder(const char *path) {
    size_t bytes = strlen(path);
    return bytes && path[bytes - 1] == '/';
}

/* ---- the files that a path stands for ---- */

/* Zero-initialise but for the path. */
struct file_walk {
    const char *path;
    bool is_over; /* of a path that is one file */
    struct cli_table_walk tables;
    char file[PATH_MAX]; /* in a folder: that of the table; longer ones cannot be opened anyway */
};

static const char *next_file(struct file_walk *walk) {
    if (!cli_target_is_folder(walk->path)) {
        const char *file = walk->is_over ? NULL : walk->path;
        walk->is_over = true;
        return file;
    }
    const char *table = cli_table_next(&walk->tables);
    if (!table)
        return NULL;
    snprintf(walk->file, sizeof walk->file, "%s%s.csv", walk->path, table);
    return walk->file;
}

static bool is_same(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* ---- traces ---- */

/* The folder of path; where path is a folder itself it may still be made, so the one above it counts. */
static bool find_folder(const char *path, struct stat *info) {
    char folder[PATH_MAX];
    size_t bytes = strlen(path);
    while (bytes && path[bytes - 1] == '/')
        bytes--;
    while (bytes && path[bytes - 1] != '/')
        bytes--;
    if (bytes >= sizeof folder)
        return false;
    memcpy(folder, path, bytes);
    folder[bytes] = '\0';
    return stat(bytes ? folder : ".", info) == 0 && S_ISDIR(info->st_mode);
}

static bool stat_trace(const char *trace, struct stat *info) {
    return (strcmp(trace, "-") == 0 ? fstat(STDIN_FILENO, info) : stat(trace, info)) == 0;
}

static bool is_trace(const struct stat *output, const struct cli_captures *captures) {
    struct stat input;
    for (size_t i = 0; i < captures->count; i++)
        for (size_t j = 0; j < captures->items[i].path_count; j++)
            if (stat_trace(captures->items[i].paths[j], &input) && is_same(&input, output))
                return true;
    return false;
}

/* Whether the nearest folder above path that exists is one to make others in. */
static bool can_make_folder(const char *path) {
    char folder[PATH_MAX];
    struct stat info;
    if (strlen(path) >= sizeof folder)
        return false;
    memcpy(folder, path, strlen(path) + 1);
    for (char *slash = strrchr(folder, '/'); slash && slash > folder; slash = strrchr(folder, '/')) {
        *slash = '\0';
        if (stat(folder, &info) == 0)
            return S_ISDIR(info.st_mode) && access(folder, W_OK | X_OK) == 0;
    }
    return access(path[0] == '/' ? "/" : ".", W_OK | X_OK) == 0;
}

enum gputime_status cli_target_make_folder(const char *path, struct gputime_error *err) {
    char folder[PATH_MAX];
    if (strlen(path) >= sizeof folder)
        return cli_fail_usage(err, "'%.100s...' is too long for a path", path);
    memcpy(folder, path, strlen(path) + 1);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            return cli_fail_system(err, errno, "cannot make folder '%s'", folder);
        *slash = '/';
    }
    return GPUTIME_OK;
}

enum gputime_status cli_target_check(const char *path, bool makes_folder, const struct cli_captures *captures,
                                     struct gputime_error *err) {
    struct file_walk walk = {.path = path};
    struct stat info;
    if (strcmp(path, "-") == 0)
        return GPUTIME_OK;
    if (makes_folder && !can_make_folder(path))
        return cli_fail(err, "cannot write '%s': its folder can be neither made nor written to", path);
    if (!makes_folder && !find_folder(path, &info))
        return cli_fail(err, "cannot write '%s': its folder does not exist", path);
    for (const char *file = next_file(&walk); file; file = next_file(&walk))
        if (stat(file, &info) == 0 && S_ISREG(info.st_mode) && is_trace(&info, captures))
            return cli_fail_usage(err, "'%s' is a trace to read; it cannot be the output too", file);
    return GPUTIME_OK;
}

/* ---- other outputs ---- */

static size_t name_bytes(const char *path, const char **name) {
    size_t bytes = strlen(path);
    while (bytes && path[bytes - 1] == '/')
        bytes--;
    size_t start = bytes;
    while (start && path[start - 1] != '/')
        start--;
    *name = path + start;
    return bytes - start;
}

/* Names that are not there yet are the same if they will stand under one name in one folder. */
static bool is_same_place(const char *a, const char *b) {
    struct stat x, y;
    bool a_exists = stat(a, &x) == 0, b_exists = stat(b, &y) == 0;
    if (a_exists && b_exists)
        return is_same(&x, &y) && (S_ISREG(x.st_mode) || S_ISDIR(x.st_mode)); /* a terminal takes both in turn */
    if (a_exists || b_exists)
        return false;
    const char *a_name, *b_name;
    size_t a_bytes = name_bytes(a, &a_name), b_bytes = name_bytes(b, &b_name);
    return a_bytes == b_bytes && memcmp(a_name, b_name, a_bytes) == 0 && find_folder(a, &x) && find_folder(b, &y) &&
           is_same(&x, &y);
}

bool cli_targets_overlap(const char *a, const char *b) {
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return false;
    if (cli_target_is_folder(a) && cli_target_is_folder(b))
        return is_same_place(a, b);
    struct file_walk a_walk = {.path = a};
    for (const char *file = next_file(&a_walk); file; file = next_file(&a_walk)) {
        struct file_walk b_walk = {.path = b};
        for (const char *other = next_file(&b_walk); other; other = next_file(&b_walk))
            if (is_same_place(file, other))
                return true;
    }
    return false;
}
