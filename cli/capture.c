/* Groups the traces of the command line into captures and checks them before the long work starts. */
#include "capture.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"

/* The reports of nsys stats, which writes one capture as several files: PREFIX_REPORT.csv, where the report's arguments
   may follow its name. The second list is what they were called until 2022. */
static const char *const reports[] = {
    "cuda_api_gpu_sum",
    "cuda_api_sum",
    "cuda_api_trace",
    "cuda_gpu_kern_gb_sum",
    "cuda_gpu_kern_sum",
    "cuda_gpu_mem_size_sum",
    "cuda_gpu_mem_time_sum",
    "cuda_gpu_sum",
    "cuda_gpu_trace",
    "cuda_kern_exec_sum",
    "cuda_kern_exec_trace",
    "mpi_event_sum",
    "mpi_event_trace",
    "mpi_msg_size_sum",
    "nvtx_gpu_proj_sum",
    "nvtx_gpu_proj_trace",
    "nvtx_kern_sum",
    "nvtx_pushpop_sum",
    "nvtx_pushpop_trace",
    "nvtx_startend_sum",
    "nvtx_sum",
    "openacc_sum",
    "opengl_khr_gpu_range_sum",
    "opengl_khr_range_sum",
    "openmp_sum",
    "osrt_sum",
    "syscall_sum",
    "um_cpu_page_faults_sum",
    "um_sum",
    "um_total_sum",
    "vulkan_api_sum",
    "vulkan_gpu_marker_sum",
    "vulkan_marker_sum",

    "apigpusum",
    "cudaapisum",
    "cudaapitrace",
    "gpukerngbsum",
    "gpukernsum",
    "gpumemsizesum",
    "gpumemtimesum",
    "gpusum",
    "gputrace",
    "kernexecsum",
    "kernexectrace",
    "khrdebuggpusum",
    "khrdebugsum",
    "nvtxgpuproj",
    "nvtxkernsum",
    "nvtxppsum",
    "nvtxpptrace",
    "nvtxsesum",
    "nvtxssesum",
    "nvtxsum",
    "openaccsum",
    "openmpevtsum",
    "osrtsum",
    "umcpupagefaults",
    "umsum",
    "umtotalsum",
    "unifiedmemory",
    "unifiedmemorytotals",
    "vulkangpumarkersum",
    "vulkanmarkerssum",
};

static bool ends_in(const char *text, const char *end) {
    size_t text_bytes = strlen(text), end_bytes = strlen(end);
    return text_bytes >= end_bytes && strcmp(text + text_bytes - end_bytes, end) == 0;
}

static bool begins_report(const char *text) {
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        size_t bytes = strlen(reports[i]);
        if (strncmp(text, reports[i], bytes) == 0 && strchr("._:", text[bytes]))
            return true;
    }
    return false;
}

/* Length of the prefix that names the capture; 0: the file stands alone. */
static size_t capture_prefix(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t bytes = 0;
    if (!ends_in(base, ".csv") && !ends_in(base, ".csv.gz"))
        return 0;
    for (const char *next = strchr(base, '_'); next; next = strchr(next + 1, '_'))
        if (begins_report(next + 1))
            bytes = (size_t)(next - path);
    return bytes;
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
                                      size_t split, struct gputime_error *err) {
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
    for (size_t i = 0; i < path_count; i++) {
        if (i == split)
            captures->first_of_b = captures->count;
        if (!is_taken[i]) {
            add_capture(captures, next, paths, i < split ? split : path_count, i, is_taken);
            next += captures->items[captures->count - 1].path_count;
        }
    }
    if (split >= path_count)
        captures->first_of_b = captures->count;
    free(is_taken);
    return GPUTIME_OK;
}

void cli_captures_release(struct cli_captures *captures) {
    free(captures->items);
    free(captures->paths);
    *captures = (struct cli_captures){0};
}
