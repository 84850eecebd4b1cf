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

size_t cli_capture_prefix(const char *path) {
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

/* Runs that say what they are stand alone, too. */
static bool same_capture(const struct cli_run *a, const struct cli_run *b) {
    size_t bytes = a->rules || b->rules ? 0 : cli_capture_prefix(a->path);
    return bytes && bytes == cli_capture_prefix(b->path) && memcmp(a->path, b->path, bytes) == 0;
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

enum gputime_status cli_capture_check(const struct cli_capture *capture, struct gputime_error *err) {
    enum gputime_status status = GPUTIME_OK;
    for (size_t i = 0; i < capture->path_count && !status; i++)
        status = check_readable(capture->paths[i], err);
    return status;
}

static enum gputime_status read_words(struct cli_captures *captures, const char *const *words, size_t word_count,
                                      bool are_runs, struct gputime_error *err) {
    size_t pipes = 0;
    for (size_t i = 0; i < word_count; i++) {
        struct cli_run *run = &captures->runs[captures->run_count++];
        enum gputime_status status = are_runs ? cli_run_init(run, words[i], i, err) : GPUTIME_OK;
        if (!are_runs)
            run->path = words[i];
        if (!status && are_runs)
            status = check_readable(run->path, err);
        if (status)
            return status;
        pipes += strcmp(run->path, "-") == 0;
    }
    return pipes > 1 ? cli_fail_usage(err, "standard input ('-') can be read only once") : GPUTIME_OK;
}

/* Adds the capture of the first run: its file and every one before `end` that belongs to it. */
static void add_capture(struct cli_captures *captures, const char **next, size_t first, size_t end, bool *is_taken) {
    struct cli_capture *capture = &captures->items[captures->count++];
    const struct cli_run *runs = captures->runs;
    capture->paths = next;
    capture->run = &runs[first];
    for (size_t i = first; i < end; i++)
        if (!is_taken[i] && (i == first || same_capture(&runs[first], &runs[i]))) {
            is_taken[i] = true;
            capture->paths[capture->path_count++] = runs[i].path;
        }
}

enum gputime_status cli_captures_init(struct cli_captures *captures, const char *const *words, size_t word_count,
                                      bool are_runs, size_t split, struct gputime_error *err) {
    bool *is_taken = calloc(word_count + 1, sizeof *is_taken);
    *captures = (struct cli_captures){.items = calloc(word_count + 1, sizeof *captures->items),
                                      .paths = calloc(word_count + 1, sizeof *captures->paths),
                                      .runs = calloc(word_count + 1, sizeof *captures->runs)};
    if (!is_taken || !captures->items || !captures->paths || !captures->runs) {
        free(is_taken);
        return cli_fail_memory(err);
    }
    enum gputime_status status = read_words(captures, words, word_count, are_runs, err);
    const char **next = captures->paths;
    for (size_t i = 0; !status && i < word_count; i++) {
        if (i == split)
            captures->first_of_b = captures->count;
        if (!is_taken[i]) {
            add_capture(captures, next, i, i < split ? split : word_count, is_taken);
            next += captures->items[captures->count - 1].path_count;
        }
    }
    if (split >= word_count)
        captures->first_of_b = captures->count;
    free(is_taken);
    return status;
}

enum gputime_status cli_captures_init_config(struct cli_captures *captures, const char *path,
                                             struct gputime_error *err) {
    *captures = (struct cli_captures){0};
    enum gputime_status status = gputime_config_open(path, &captures->config, err);
    if (status)
        return status;
    size_t count = gputime_config_input_count(captures->config), path_count = 0;
    for (size_t i = 0; i < count; i++)
        path_count += gputime_config_input(captures->config, i, NULL).path_count;
    captures->items = calloc(count + 1, sizeof *captures->items);
    captures->paths = calloc(path_count + 1, sizeof *captures->paths);
    if (!captures->items || !captures->paths)
        return cli_fail_memory(err);
    const char **next = captures->paths;
    for (size_t i = 0; i < count; i++) {
        struct gputime_input input = gputime_config_input(captures->config, i, NULL);
        captures->items[captures->count++] = (struct cli_capture){.paths = next, .path_count = input.path_count};
        memcpy(next, input.paths, input.path_count * sizeof *next);
        next += input.path_count;
    }
    return GPUTIME_OK;
}

struct gputime_options cli_captures_options(const struct cli_captures *captures, size_t index,
                                            const struct gputime_options *options) {
    struct gputime_options base = *options;
    if (captures->is_class_default)
        base.rules = base.map = NULL;
    struct gputime_options own = captures->config ? gputime_config_input(captures->config, index, &base).options
                                                  : cli_run_options(captures->items[index].run, &base);
    if (!own.rules && !own.map) {
        own.rules = options->rules;
        own.map = options->map;
    }
    return own;
}

enum gputime_status cli_captures_check(const struct cli_captures *captures, const struct gputime_options *options,
                                       struct gputime_error *err) {
    enum gputime_status status = GPUTIME_OK;
    for (size_t i = 0; !status && i < captures->count; i++) {
        struct gputime_options own = cli_captures_options(captures, i, options);
        status = captures->config ? gputime_options_check(&own, err) : cli_run_check(captures->items[i].run, &own, err);
    }
    return status;
}

void cli_captures_release(struct cli_captures *captures) {
    gputime_config_free(captures->config);
    for (size_t i = 0; i < captures->run_count; i++)
        cli_run_release(&captures->runs[i]);
    free(captures->runs);
    free(captures->items);
    free(captures->paths);
    *captures = (struct cli_captures){0};
}
