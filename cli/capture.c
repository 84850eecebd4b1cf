/* Groups the traces of the command line into captures and checks them before the long work starts. */
#include "capture.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"

/* nsys stats writes one capture as several files: PREFIX_cuda_gpu_trace.csv, PREFIX_nvtx_pushpop_trace.csv ... */
static const char *const part_markers[] = {"_cuda_gpu_", "_nvtx_"};

static const char *last_occurrence(const char *text, const char *part) {
    const char *found = NULL;
    for (const char *next = strstr(text, part); next; next = strstr(next + 1, part))
        found = next;
    return found;
}

/* Length of the prefix that names the capture; 0: the file stands alone. */
static size_t capture_prefix(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *marker = NULL;
    for (size_t i = 0; i < sizeof part_markers / sizeof *part_markers; i++) {
        const char *found = last_occurrence(base, part_markers[i]);
        if (found && (!marker || found > marker))
            marker = found;
    }
    return marker ? (size_t)(marker - path) : 0;
}

static bool same_capture(const char *a, const char *b) {
    size_t bytes = capture_prefix(a);
    return bytes && bytes == capture_prefix(b) && memcmp(a, b, bytes) == 0;
}

static enum gputime_status check_readable(const char *path, struct gputime_error *err) {
    struct stat info;
    if (strcmp(path, "-") == 0)
        return GPUTIME_OK;
    if (stat(path, &info) != 0)
        return cli_fail_system(err, errno, "cannot read '%s'", path);
    if (S_ISDIR(info.st_mode))
        return cli_fail(err, "cannot read '%s': it is a folder; name the traces in it", path);
    if (access(path, R_OK) != 0)
        return cli_fail_system(err, errno, "cannot read '%s'", path);
    return GPUTIME_OK;
}

static enum gputime_status check_paths(const char *const *paths, size_t path_count, struct gputime_error *err) {
    size_t pipes = 0;
    for (size_t i = 0; i < path_count; i++) {
        enum gputime_status status = check_readable(paths[i], err);
        if (status)
            return status;
        pipes += strcmp(paths[i], "-") == 0;
    }
    return pipes > 1 ? cli_fail_usage(err, "standard input ('-') can be read only once") : GPUTIME_OK;
}

/* Adds the capture of paths[first]: that file and every later one that belongs to it. */
static void add_capture(struct cli_captures *captures, const char **next, const char *const *paths, size_t path_count,
                        size_t first, bool *is_taken) {
    struct cli_capture *capture = &captures->items[captures->count++];
    capture->paths = next;
    for (size_t i = first; i < path_count; i++)
        if (!is_taken[i] && (i == first || same_capture(paths[first], paths[i]))) {
            is_taken[i] = true;
            capture->paths[capture->path_count++] = paths[i];
        }
}

enum gputime_status cli_captures_init(struct cli_captures *captures, const char *const *paths, size_t path_count,
                                      struct gputime_error *err) {
    *captures = (struct cli_captures){0};
    enum gputime_status status = check_paths(paths, path_count, err);
    if (status)
        return status;

    bool *is_taken = calloc(path_count + 1, sizeof *is_taken);
    captures->items = calloc(path_count + 1, sizeof *captures->items);
    captures->paths = calloc(path_count + 1, sizeof *captures->paths);
    if (!is_taken || !captures->items || !captures->paths) {
        free(is_taken);
        return cli_fail_memory(err);
    }
    const char **next = captures->paths;
    for (size_t i = 0; i < path_count; i++)
        if (!is_taken[i]) {
            add_capture(captures, next, paths, path_count, i, is_taken);
            next += captures->items[captures->count - 1].path_count;
        }
    free(is_taken);
    return GPUTIME_OK;
}

void cli_captures_release(struct cli_captures *captures) {
    free(captures->items);
    free(captures->paths);
    *captures = (struct cli_captures){0};
}
