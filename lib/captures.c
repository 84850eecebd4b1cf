/* The public interface of files' names: which files are of one capture, and which are there twice. */
#include <string.h>
#include <strings.h>

#include "decode/decoder.h"
#include "internal.h"

API size_t gputime_capture_prefix(const char *path) {
    size_t bytes = 0;
    for (size_t i = 0; i < gt_decoder_count && !bytes; i++)
        bytes = gt_decoders[i].capture_prefix ? gt_decoders[i].capture_prefix(path) : 0;
    return bytes;
}

/* What a tool adds to the name of a file that has more in it, where it writes the same capture twice. */
static const struct {
    const char *suffix, *origin;
} copies[] = {
    {".sqlite", ".nsys-rep"},    {".sqlite.gz", ".nsys-rep"},   {".sqlite.zst", ".nsys-rep"},
    {".sqlite.xz", ".nsys-rep"}, {".trace.json", ".xplane.pb"}, {".trace.json.gz", ".xplane.pb"},
    {".stats.csv", ".csv"},      {".hip_stats.csv", ".csv"},    {".hsa_stats.csv", ".csv"}, /* sums of rocprof */
    {".copy_stats.csv", ".csv"}, {".stats.csv", ".json"},       {".hip_stats.csv", ".json"},
    {".hsa_stats.csv", ".json"}, {".copy_stats.csv", ".json"},
};

/* Length of the path without the suffix, in any case of letters; 0: it does not end so. */
static size_t stem_of(const char *path, const char *suffix) {
    size_t bytes = strlen(path), suffix_bytes = strlen(suffix);
    return bytes > suffix_bytes && strcasecmp(path + bytes - suffix_bytes, suffix) == 0 ? bytes - suffix_bytes : 0;
}

static bool is_there(const char *const *paths, size_t count, const char *path, size_t stem, const char *suffix) {
    for (size_t i = 0; i < count && stem; i++)
        if (strncmp(paths[i], path, stem) == 0 && strcmp(paths[i] + stem, suffix) == 0)
            return true;
    return false;
}

API int gputime_capture_is_copy(const char *path, const char *const *paths, size_t path_count) {
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        if (is_there(paths, path_count, path, stem_of(path, copies[i].suffix), copies[i].origin))
            return 1;
    return is_there(paths, path_count, path, gputime_capture_prefix(path), ".nsys-rep");
}

/* Paths that only say which of the program's open files is meant, as bash makes of <(...). */
static struct gt_str name_of_open_file(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0)
        return GT_STR("standard input");
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return strcmp(path + strlen(folders[i]), "0") == 0 ? GT_STR("standard input") : GT_STR("pipe");
    return (struct gt_str){"", 0};
}

struct gt_str gt_internal_named_by(const struct gputime_trace *trace) {
    const char *path = trace->paths[0];
    struct gt_str name = name_of_open_file(path);
    size_t prefix = name.len || trace->path_count < 2 ? 0 : gputime_capture_prefix(path);
    if (name.len)
        return name;
    return prefix && path[prefix - 1] != '/' ? (struct gt_str){path, prefix} : gt_str_of(path);
}
