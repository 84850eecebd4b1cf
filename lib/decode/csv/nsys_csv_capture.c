/* Which tables of `nsys stats` are of one capture: the path of a table comes in, the length of what names its capture
   goes out. */
#include <string.h>

#include "decode/csv/nsys_csv.h"

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

size_t gt_nsys_csv_capture_prefix(const char *path) {
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
