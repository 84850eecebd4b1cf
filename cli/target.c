/* Output paths: none may be an input trace or the same file as another output. */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "request.h"

bool cli_target_is_directory(const char *path) {
    size_t bytes = strlen(path);
    return bytes && path[bytes - 1] == '/';
}

/* ---- files of a path ---- */

/* Zero-initialise but for the path. */
struct file_walk {
    const char *path;
    bool is_over; /* of a path that is one file */
    struct cli_table_walk tables;
    const char *table;   /* whose files are being named */
    size_t format;       /* the next output that may write one */
    char file[PATH_MAX]; /* in a directory: a file of the table; longer ones cannot be opened anyway */
};

static const char *next_file(struct file_walk *walk) {
    if (!cli_target_is_directory(walk->path)) {
        const char *file = walk->is_over ? NULL : walk->path;
        walk->is_over = true;
        return file;
    }
    for (;; walk->format++) {
        if (!walk->table || walk->format >= gputime_registry_count(GPUTIME_OUTPUTS)) {
            walk->table = cli_table_next(&walk->tables);
            walk->format = 0;
        }
        if (!walk->table)
            return NULL;
        struct gputime_entry output = gputime_registry_entry(GPUTIME_OUTPUTS, walk->format);
        if (output.fills_folders) {
            snprintf(walk->file, sizeof walk->file, "%s%s%s", walk->path, walk->table, output.detail);
            walk->format++;
            return walk->file;
        }
    }
}

static bool is_same(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* ---- traces ---- */

/* The parent directory of path; of a directory, too, which may still have to be created. */
static bool find_directory(const char *path, struct stat *info) {
    char directory[PATH_MAX];
    size_t bytes = strlen(path);
    while (bytes && path[bytes - 1] == '/')
        bytes--;
    while (bytes && path[bytes - 1] != '/')
        bytes--;
    if (bytes >= sizeof directory)
        return false;
    memcpy(directory, path, bytes);
    directory[bytes] = '\0';
    return stat(bytes ? directory : ".", info) == 0 && S_ISDIR(info->st_mode);
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

/* Whether directories can be created in the nearest existing parent of path. */
static bool can_make_directory(const char *path) {
    char directory[PATH_MAX];
    struct stat info;
    if (strlen(path) >= sizeof directory)
        return false;
    memcpy(directory, path, strlen(path) + 1);
    for (char *slash = strrchr(directory, '/'); slash && slash > directory; slash = strrchr(directory, '/')) {
        *slash = '\0';
        if (stat(directory, &info) == 0)
            return S_ISDIR(info.st_mode) && access(directory, W_OK | X_OK) == 0;
    }
    return access(path[0] == '/' ? "/" : ".", W_OK | X_OK) == 0;
}

/* So that a new directory is still there after a loss of power; not every system can. */
static void sync_parent(const char *directory) {
    char parent[PATH_MAX + 4];
    snprintf(parent, sizeof parent, "%s/..", directory);
    int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)!fsync(fd);
    close(fd);
}

enum gputime_status cli_target_make_directory(const char *path, struct gputime_error *err) {
    char directory[PATH_MAX];
    if (strlen(path) >= sizeof directory)
        return cli_fail_usage(err, "'%.100s...' is too long for a path", path);
    memcpy(directory, path, strlen(path) + 1);
    for (char *slash = strchr(directory + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(directory, 0777) == 0)
            sync_parent(directory);
        else if (errno != EEXIST)
            return cli_fail_system(err, errno, "cannot create directory '%s'", directory);
        *slash = '/';
    }
    return GPUTIME_OK;
}

enum gputime_status cli_target_check(const char *path, bool makes_directory, const struct cli_captures *captures,
                                     struct gputime_error *err) {
    struct file_walk walk = {.path = path};
    struct stat info;
    if (strcmp(path, "-") == 0)
        return GPUTIME_OK;
    if (makes_directory && !can_make_directory(path))
        return cli_fail(err, "cannot write '%s': its directory cannot be created or written to", path);
    errno = 0;
    if (!makes_directory && !find_directory(path, &info))
        return errno && errno != ENOENT ? cli_fail_system(err, errno, "cannot write '%s'", path)
                                        : cli_fail(err, "cannot write '%s': its directory does not exist", path);
    for (const char *file = next_file(&walk); file; file = next_file(&walk)) {
        bool is_there = stat(file, &info) == 0;
        if (!is_there && errno != ENOENT && errno != ENOTDIR) /* it may be a trace */
            return cli_fail_system(err, errno, "cannot write '%s'", file);
        if (is_there && S_ISREG(info.st_mode) && is_trace(&info, captures))
            return cli_fail_usage(err, "cannot write '%s': it is an input trace", file);
    }
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

/* Files that do not exist yet are the same if they have the same name and directory. */
static bool is_same_place(const char *a, const char *b) {
    struct stat x, y;
    bool a_exists = stat(a, &x) == 0, b_exists = stat(b, &y) == 0;
    if (a_exists && b_exists)
        return is_same(&x, &y) && (S_ISREG(x.st_mode) || S_ISDIR(x.st_mode)); /* a terminal can take both */
    if (a_exists || b_exists)
        return false;
    const char *a_name, *b_name;
    size_t a_bytes = name_bytes(a, &a_name), b_bytes = name_bytes(b, &b_name);
    return a_bytes == b_bytes && memcmp(a_name, b_name, a_bytes) == 0 && find_directory(a, &x) &&
           find_directory(b, &y) && is_same(&x, &y);
}

bool cli_targets_overlap(const char *a, const char *b) {
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return false;
    if (cli_target_is_directory(a) && cli_target_is_directory(b))
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
