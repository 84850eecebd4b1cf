/* The folder of `gputime explain` as data: its files, and where the columns that scripts know from nsys-llm-explain
   come from. Milliseconds are ns/1000000, microseconds ns/1000, percentages shares*100. explain_keys.c has those of
   JSON. */
#include "report/folders.h"

static const struct gt_csv_layout kernels_csv = {
    .rows = {.table = "device_kernels"},
    .columns = {{"kernel_name", "name"},
                {"device_id", "device"},
                {"call_count", "count"},
                {"total_time_ns", "total_ns"},
                {"total_time_ms", "total_ns/1000000"},
                {"avg_duration_us", "avg_ns/1000"},
                {"min_duration_us", "min_ns/1000"},
                {"max_duration_us", "max_ns/1000"},
                {"p50_duration_us", "median_ns/1000"},
                {"p90_duration_us", "p90_ns/1000"},
                {"pct_total_kernel_time", "share*100"}},
};

static const struct gt_csv_layout ranges_csv = {
    .rows = {.table = "ranges", .sort = "range_ns"},
    .columns = {{"range_name", "name"},
                {"count", "instances"},
                {"total_time_ms", "range_ns/1000000"},
                {"avg_duration_us", "range_avg_ns/1000"}},
};

static const struct gt_csv_layout gaps_csv = {
    .rows = {.table = "gaps"},
    .columns = {{"device_id", "device"},
                {"gap_start_ns", "start_ns+"},
                {"gap_end_ns", "end_ns+"},
                {"gap_ms", "gap_ns/1000000"}},
};

static const struct gt_csv_layout process_kernels_csv = {
    .rows = {.table = "process_kernels"},
    .columns = {{"pid", "pid"},
                {"pid_total_kernel_time_ms", "process_kernel_ns/1000000"},
                {"pid_pct_of_total_kernel_time", "process_kernel_share*100"},
                {"kernel_name", "name"},
                {"device_id", "device"},
                {"call_count", "count"},
                {"total_time_ms", "total_ns/1000000"},
                {"avg_duration_us", "avg_ns/1000"},
                {"pct_of_pid_kernel_time", "process_share*100"},
                {"pct_of_total_kernel_time", "share*100"}},
};

static const struct gt_csv_layout process_sync_csv = {
    .rows = {.table = "process_sync_calls"},
    .columns = {{"pid", "pid"},
                {"api_name", "api_name"},
                {"call_count", "count"},
                {"total_time_ms", "total_ns/1000000"},
                {"avg_duration_us", "avg_ns/1000"}},
};

static const struct gt_csv_layout process_ranges_csv = {
    .rows = {.table = "process_ranges"},
    .columns = {{"pid", "pid"},
                {"range_name", "name"},
                {"nvtx_count", "instances"},
                {"nvtx_total_time_ms", "range_ns/1000000"},
                {"attributed_kernel_time_ms", "kernel_ns/1000000"},
                {"attributed_kernel_count", "kernels"},
                {"pid_attribution_coverage_pct", "coverage*100"}},
};

/* The rest is not of nsys-llm-explain, and has a file only where there are rows. */

static const struct gt_csv_layout categories_csv = {
    .rows = {.table = "categories"},
    .columns = {{"category", "category"},
                {"kind_of_time", "time_class"},
                {"op_count", "count"},
                {"total_time_ms", "total_ns/1000000"},
                {"wall_time_ms", "wall_ns/1000000"},
                {"pct_of_time", "share*100"}},
};

static const struct gt_csv_layout idle_causes_csv = {
    .rows = {.table = "idle_causes"},
    .columns = {{"device_id", "device"},
                {"cause", "cause"},
                {"gap_count", "count"},
                {"total_time_ms", "total_ns/1000000"},
                {"longest_gap_ms", "longest_ns/1000000"},
                {"recoverable_time_ms", "recoverable_ns/1000000"},
                {"pct_of_idle_time", "share*100"}},
};

static const struct gt_csv_layout phases_csv = {
    .rows = {.table = "phases"},
    .columns = {{"phase", "phase"},
                {"range_count", "instances"},
                {"op_count", "ops"},
                {"exclusive_time_ms", "exclusive_ns/1000000"},
                {"busy_time_ms", "busy_ns/1000000"},
                {"pct_of_time_in_ranges", "share*100"},
                {"cpu_time_ms", "cpu_ns/1000000"},
                {"source", "source"}},
};

const struct gt_folder_file gt_explain_files[] = {
    {.path = "report.md", .format = "md"},
    {.path = "report.json", .keys = gt_explain_keys},
    {.path = "report.html", .format = "html"},
    {.path = "tables/kernels.csv", .csv = &kernels_csv},
    {.path = "tables/nvtx_ranges.csv", .csv = &ranges_csv},
    {.path = "tables/gpu_idle_gaps.csv", .csv = &gaps_csv},
    {.path = "tables/kernels_by_pid.csv", .csv = &process_kernels_csv},
    {.path = "tables/sync_by_pid.csv", .csv = &process_sync_csv},
    {.path = "tables/nvtx_by_pid.csv", .csv = &process_ranges_csv, .needs_rows = true},
    {.path = "tables/categories.csv", .csv = &categories_csv, .needs_rows = true},
    {.path = "tables/idle_causes.csv", .csv = &idle_causes_csv, .needs_rows = true},
    {.path = "tables/phases.csv", .csv = &phases_csv, .needs_rows = true},
    {.path = NULL},
};
