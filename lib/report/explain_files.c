/* The folder of `gputime explain` as data: its files, and where the columns and keys that scripts know from
   nsys-llm-explain come from. Milliseconds are ns/1000000, microseconds ns/1000, percentages shares*100. */
#include "report/folders.h"

/* ---- tables/ ---- */

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

/* ---- report.json ---- */

#define OBJECT(name_)                                                                                                  \
    { .kind = GT_KEY_OBJECT, .key = name_ }
#define END                                                                                                            \
    { .kind = GT_KEY_END }
#define VALUE(name_, place_)                                                                                           \
    { .kind = GT_KEY_VALUE, .key = name_, .value = place_ }
#define FLAG(name_, place_)                                                                                            \
    { .kind = GT_KEY_FLAG, .key = name_, .value = place_ }
#define LITERAL(name_, json)                                                                                           \
    { .kind = GT_KEY_LITERAL, .key = name_, .value = json }
#define NOTES(name_)                                                                                                   \
    { .kind = GT_KEY_NOTES, .key = name_ }
/* The rest is the pick: the table, then what of it. */
#define ROWS(name_, ...)                                                                                               \
    {                                                                                                                  \
        .kind = GT_KEY_ROWS, .key = name_, .rows = { __VA_ARGS__ }                                                     \
    }
#define ROW(name_, ...)                                                                                                \
    {                                                                                                                  \
        .kind = GT_KEY_ROW, .key = name_, .rows = { __VA_ARGS__ }                                                      \
    }
#define HAS(name_, ...)                                                                                                \
    {                                                                                                                  \
        .kind = GT_KEY_HAS, .key = name_, .rows = { __VA_ARGS__ }                                                      \
    }
#define COUNT(name_, ...)                                                                                              \
    {                                                                                                                  \
        .kind = GT_KEY_COUNT, .key = name_, .rows = { __VA_ARGS__ }                                                    \
    }
#define MAP(name_, by, ...)                                                                                            \
    {                                                                                                                  \
        .kind = GT_KEY_MAP, .key = name_, .name = by, .rows = { __VA_ARGS__ }                                          \
    }
#define LIST(name_, place_, ...)                                                                                       \
    {                                                                                                                  \
        .kind = GT_KEY_LIST, .key = name_, .value = place_, .rows = { __VA_ARGS__ }                                    \
    }
#define LOOKUP(name_, by, place_, ...)                                                                                 \
    {                                                                                                                  \
        .kind = GT_KEY_LOOKUP, .key = name_, .name = by, .value = place_, .rows = { __VA_ARGS__ }                      \
    }

#define FLAGS(name_, by, place_, ...)                                                                                  \
    {                                                                                                                  \
        .kind = GT_KEY_FLAGS, .key = name_, .name = by, .value = place_, .rows = { __VA_ARGS__ }                       \
    }

#define NO_NOTES_NO_SQL LITERAL("notes", "[]"), LITERAL("sql", "{}")

/* Of a row of launch_rate or process_launch_rates. */
#define LAUNCH_STORM                                                                                                   \
    FLAG("is_launch_storm", "storm"), VALUE("launches_per_s", "per_second"),                                           \
        VALUE("median_kernel_us", "median_ns/1000"), VALUE("p50_kernel_us", "median_ns/1000"),                         \
        VALUE("p90_kernel_us", "p90_ns/1000"), VALUE("p99_kernel_us", "p99_ns/1000"),                                  \
        VALUE("pct_under_5us", "under_5us*100"), VALUE("pct_under_10us", "under_10us*100"),                            \
        VALUE("pct_under_20us", "under_20us*100"), VALUE("total_launches", "count"),                                   \
        VALUE("window_s", "window_ns/1000000000"),                                                                     \
        LITERAL("storm_thresholds",                                                                                    \
                "{\"launches_per_s_threshold_1\": 50000.0, \"launches_per_s_threshold_2\": 100000.0,"                  \
                " \"p50_kernel_us_threshold_1\": 10.0, \"p50_kernel_us_threshold_2\": 20.0}")

#define SYNC_CALL                                                                                                      \
    VALUE("api_name", "api_name"), VALUE("call_count", "count"), VALUE("total_time_ms", "total_ns/1000000"),           \
        VALUE("avg_duration_us", "avg_ns/1000")

#define TINY_KERNEL VALUE("kernel_name", "name"), VALUE("call_count", "count"), VALUE("avg_duration_us", "avg_ns/1000")

#define PROCESS_TIMES                                                                                                  \
    VALUE("pid", "pid"), VALUE("total_kernel_time_ns", "kernel_ns"),                                                   \
        VALUE("total_kernel_time_ms", "kernel_ns/1000000"), VALUE("pct_of_total_kernel_time", "kernel_share*100")

#define KERNEL_PROCESSES .table = "processes", .with = "kernels", .known = "pid", .sort = "kernel_ns", .limit = 10

/* clang-format off: the indentation is that of the file */
static const struct gt_key report_keys[] = {
    OBJECT("trace"),
    VALUE("path", "@path"),
    END,
    NOTES("warnings"),
    OBJECT("schema"),
    VALUE("path", "@path"),
    VALUE("string_table", "string_table"),
    VALUE("kernel_table", "kernel_table"),
    VALUE("runtime_table", "runtime_table"),
    VALUE("sync_table", "runtime_table"),
    VALUE("nvtx_table", "nvtx_table"),
    VALUE("kernel_pid_source", "kernel_pid_source"),
    VALUE("runtime_pid_source", "runtime_pid_source"),
    VALUE("nvtx_pid_source", "nvtx_pid_source"),
    LITERAL("sqlite_version", "null"),
    LITERAL("timestamp_unit_assumed", "\"ns\""),
    VALUE("timestamp_unit_guess", "timestamp_unit_guess"),
    VALUE("timestamp_unit_guess_basis", "timestamp_unit_guess_basis"),
    OBJECT("capabilities"),
    FLAG("has_string_table", "string_table"),
    FLAGS("kernel_table", "capability", "present", .table = "schema_capabilities", .where = "role",
          .is = "kernel_table"),
    FLAGS("runtime_table", "capability", "present", .table = "schema_capabilities", .where = "role",
          .is = "runtime_table"),
    FLAGS("nvtx_table", "capability", "present", .table = "schema_capabilities", .where = "role", .is = "nvtx_table"),
    END,
    MAP("tables", "table", .table = "schema", .with = "columns"),
    LIST("columns", "column", .table = "schema_columns", .match = "table"),
    LOOKUP("types", "column", "type", .table = "schema_columns", .match = "table"),
    END,
    END,
    OBJECT("metrics"),
    OBJECT("top_kernels"),
    VALUE("table", "kernel_table"),
    NO_NOTES_NO_SQL,
    VALUE("total_kernel_time_ns", "kernel_time_ns"),
    ROWS("kernels", .table = "device_kernels"),
    VALUE("kernel_name", "name"),
    VALUE("device_id", "device"),
    VALUE("call_count", "count"),
    VALUE("total_time_ns", "total_ns"),
    VALUE("total_time_ms", "total_ns/1000000"),
    VALUE("avg_duration_us", "avg_ns/1000"),
    VALUE("min_duration_us", "min_ns/1000"),
    VALUE("max_duration_us", "max_ns/1000"),
    VALUE("p50_duration_us", "median_ns/1000"),
    VALUE("p90_duration_us", "p90_ns/1000"),
    VALUE("pct_total_kernel_time", "share*100"),
    END,
    END,
    ROW("launch_storm", .table = "launch_rate"),
    NO_NOTES_NO_SQL,
    LAUNCH_STORM,
    LITERAL("tiny_kernel_us", "5.0"),
    ROWS("tiny_kernels", .table = "tiny_kernels", .limit = 10),
    TINY_KERNEL,
    END,
    END,
    OBJECT("sync"),
    VALUE("table", "runtime_table"),
    NO_NOTES_NO_SQL,
    ROWS("sync_calls", .table = "sync_calls", .limit = 200),
    SYNC_CALL,
    END,
    END,
    OBJECT("gpu_idle"),
    VALUE("table", "kernel_table"),
    NO_NOTES_NO_SQL,
    ROWS("devices", .table = "accounting"),
    VALUE("device_id", "device"),
    VALUE("window_ms", "span_ns/1000000"),
    VALUE("busy_ms", "busy_ns/1000000"),
    VALUE("idle_ms", "idle_ns/1000000"),
    VALUE("idle_pct_of_window", "idle_share*100"),
    END,
    ROWS("gaps", .table = "gaps"),
    VALUE("device_id", "device"),
    VALUE("gap_start_ns", "start_ns+"),
    VALUE("gap_end_ns", "end_ns+"),
    VALUE("gap_ms", "gap_ns/1000000"),
    END,
    END,
    OBJECT("nvtx"),
    VALUE("table", "nvtx_table"),
    NO_NOTES_NO_SQL,
    ROWS("ranges", .table = "ranges", .sort = "range_ns", .limit = 50),
    VALUE("range_name", "name"),
    VALUE("count", "instances"),
    VALUE("total_time_ms", "range_ns/1000000"),
    VALUE("avg_duration_us", "range_avg_ns/1000"),
    END,
    ROWS("instances", .table = "longest_ranges"),
    VALUE("range_name", "name"),
    VALUE("start_ns", "start_ns+"),
    VALUE("end_ns", "end_ns+"),
    VALUE("dur_ms", "range_ns/1000000"),
    VALUE("pid", "pid"),
    VALUE("tid", "tid"),
    END,
    END,
    ROW("nvtx_phases", .table = "phases", .limit = 1),
    HAS("present", .table = "phases"),
    VALUE("nvtx_total_time_ms", "phase_cpu_ns/1000000"),
    ROWS("phases", .table = "phases"),
    VALUE("phase", "phase"),
    VALUE("total_time_ms", "cpu_ns/1000000"),
    VALUE("pct_of_nvtx_total", "cpu_share*100"),
    END,
    END,
    OBJECT("nvtx_kernel_time"),
    HAS("present", .table = "range_kernels"),
    VALUE("kernel_table", "kernel_table"),
    VALUE("runtime_table", "runtime_table"),
    VALUE("nvtx_table", "nvtx_table"),
    NO_NOTES_NO_SQL,
    VALUE("total_kernel_time_ns", "kernel_time_ns"),
    VALUE("mapped_kernel_time_ns", "range_kernel_ns"),
    VALUE("mapped_kernel_time_ms", "range_kernel_ns/1000000"),
    VALUE("mapped_kernel_count", "range_kernels"),
    VALUE("coverage_fraction", "range_kernel_coverage"),
    VALUE("coverage_pct", "range_kernel_coverage*100"),
    ROWS("ranges", .table = "range_kernels", .limit = 50),
    VALUE("range_name", "name"),
    VALUE("kernel_count", "kernels"),
    VALUE("total_kernel_time_ns", "kernel_ns"),
    VALUE("total_kernel_time_ms", "kernel_ns/1000000"),
    VALUE("avg_kernel_duration_us", "avg_ns/1000"),
    VALUE("pct_of_total_kernel_time", "share*100"),
    END,
    END,
    ROW("nvtx_kernel_phases", .table = "phases", .limit = 1),
    HAS("present", .table = "phases"),
    VALUE("attributed_kernel_time_ms", "phase_ns/1000000"),
    ROWS("phases", .table = "phases"),
    VALUE("phase", "phase"),
    VALUE("total_kernel_time_ms", "exclusive_ns/1000000"),
    VALUE("pct_of_attributed_kernel_time", "share*100"),
    END,
    END,
    VALUE("nvtx_coverage_warn_threshold", "coverage_threshold"),
    OBJECT("per_pid"),
    HAS("present", KERNEL_PROCESSES),
    VALUE("pid_source", "kernel_pid_source"),
    NO_NOTES_NO_SQL,
    ROWS("top_pids", KERNEL_PROCESSES),
    PROCESS_TIMES,
    VALUE("kernel_launches", "kernels"),
    END,
    ROWS("pids", KERNEL_PROCESSES),
    VALUE("pid", "pid"),
    ROW("launch_storm", .table = "process_launch_rates", .match = "pid"),
    LAUNCH_STORM,
    END,
    OBJECT("top_kernels"),
    VALUE("table", "kernel_table"),
    ROWS("kernels", .table = "process_kernels", .match = "pid", .limit = 10),
    VALUE("kernel_name", "name"),
    VALUE("device_id", "device"),
    VALUE("call_count", "count"),
    VALUE("total_time_ms", "total_ns/1000000"),
    VALUE("avg_duration_us", "avg_ns/1000"),
    END,
    ROWS("tiny_kernels", .table = "process_tiny_kernels", .match = "pid", .limit = 10),
    TINY_KERNEL,
    END,
    END,
    OBJECT("sync"),
    HAS("present", .table = "process_sync_calls", .match = "pid"),
    VALUE("table", "runtime_table"),
    LITERAL("notes", "[]"),
    LITERAL("sql", "\"\""),
    ROWS("sync_calls", .table = "process_sync_calls", .match = "pid", .limit = 50),
    SYNC_CALL,
    END,
    END,
    OBJECT("nvtx"),
    HAS("present", .table = "process_ranges", .match = "pid"),
    VALUE("table", "nvtx_table"),
    LITERAL("notes", "[]"),
    LITERAL("sql", "\"\""),
    ROWS("ranges", .table = "process_ranges", .match = "pid", .sort = "range_ns", .limit = 50),
    VALUE("range_name", "name"),
    VALUE("count", "instances"),
    VALUE("total_time_ms", "range_ns/1000000"),
    VALUE("avg_duration_us", "range_avg_ns/1000"),
    END,
    END,
    END,
    END,
    OBJECT("pid_attribution"),
    VALUE("kernel_pid_source", "kernel_pid_source"),
    COUNT("kernel_pid_count", .table = "schema_processes", .with = "kernels", .known = "pid"),
    LIST("kernel_pids_sample", "pid", .table = "schema_processes", .with = "kernels", .known = "pid", .limit = 10),
    VALUE("runtime_pid_source", "runtime_pid_source"),
    COUNT("runtime_pid_count", .table = "schema_processes", .with = "calls", .known = "pid"),
    LIST("runtime_pids_sample", "pid", .table = "schema_processes", .with = "calls", .known = "pid", .limit = 10),
    VALUE("nvtx_pid_source", "nvtx_pid_source"),
    COUNT("nvtx_pid_count", .table = "schema_processes", .with = "ranges", .known = "pid"),
    LIST("nvtx_pids_sample", "pid", .table = "schema_processes", .with = "ranges", .known = "pid", .limit = 10),
    END,
    OBJECT("by_pid"),
    OBJECT("kernels"),
    HAS("present", .table = "process_kernels"),
    VALUE("kernel_table", "kernel_table"),
    VALUE("pid_source", "kernel_pid_source"),
    NO_NOTES_NO_SQL,
    OBJECT("pid_quality"),
    HAS("present", .table = "process_kernels"),
    VALUE("rows_with_pid", "kernels_with_pid"),
    VALUE("pid0_rows", "kernels_with_pid_0"),
    VALUE("pid0_fraction", "kernels_with_pid_0_share"),
    VALUE("pid_ge_10m_rows", "kernels_with_large_pid"),
    VALUE("pid_ge_10m_fraction", "kernels_with_large_pid_share"),
    END,
    ROWS("pids", KERNEL_PROCESSES),
    PROCESS_TIMES,
    VALUE("kernel_count", "kernels"),
    END,
    ROWS("kernels", .table = "process_kernels"),
    VALUE("pid", "pid"),
    VALUE("pid_total_kernel_time_ms", "process_kernel_ns/1000000"),
    VALUE("pid_pct_of_total_kernel_time", "process_kernel_share*100"),
    VALUE("kernel_name", "name"),
    VALUE("device_id", "device"),
    VALUE("call_count", "count"),
    VALUE("total_time_ms", "total_ns/1000000"),
    VALUE("avg_duration_us", "avg_ns/1000"),
    VALUE("pct_of_pid_kernel_time", "process_share*100"),
    VALUE("pct_of_total_kernel_time", "share*100"),
    END,
    END,
    OBJECT("sync"),
    HAS("present", .table = "process_sync_calls"),
    VALUE("runtime_table", "runtime_table"),
    VALUE("pid_source", "runtime_pid_source"),
    NO_NOTES_NO_SQL,
    ROWS("pids", .table = "process_sync"),
    VALUE("pid", "pid"),
    VALUE("sync_total_time_ms", "total_ns/1000000"),
    END,
    ROWS("sync_calls", .table = "process_sync_calls"),
    VALUE("pid", "pid"),
    SYNC_CALL,
    END,
    END,
    OBJECT("nvtx"),
    HAS("present", .table = "process_ranges"),
    VALUE("nvtx_table", "nvtx_table"),
    VALUE("pid_source", "nvtx_pid_source"),
    NO_NOTES_NO_SQL,
    ROWS("ranges", .table = "process_ranges"),
    VALUE("pid", "pid"),
    VALUE("range_name", "name"),
    VALUE("nvtx_count", "instances"),
    VALUE("nvtx_total_time_ms", "range_ns/1000000"),
    VALUE("attributed_kernel_time_ms", "kernel_ns/1000000"),
    VALUE("attributed_kernel_count", "kernels"),
    VALUE("pid_attribution_coverage_pct", "coverage*100"),
    END,
    OBJECT("kernel_time_by_pid"),
    HAS("present", .table = "process_coverage"),
    VALUE("kernel_table", "kernel_table"),
    VALUE("runtime_table", "runtime_table"),
    VALUE("nvtx_table", "nvtx_table"),
    NO_NOTES_NO_SQL,
    ROWS("pids", .table = "process_coverage"),
    VALUE("pid", "pid"),
    VALUE("pid_total_kernel_time_ms", "kernel_ns/1000000"),
    VALUE("pid_total_kernel_count", "kernels"),
    VALUE("pid_attributed_kernel_time_ms", "covered_ns/1000000"),
    VALUE("pid_attribution_coverage_fraction", "coverage"),
    VALUE("pid_attribution_coverage_pct", "coverage*100"),
    END,
    ROWS("ranges", .table = "process_ranges", .with = "kernels"),
    VALUE("pid", "pid"),
    VALUE("range_name", "name"),
    VALUE("kernel_count", "kernels"),
    VALUE("total_kernel_time_ns", "kernel_ns"),
    VALUE("total_kernel_time_ms", "kernel_ns/1000000"),
    VALUE("avg_kernel_duration_us", "kernel_avg_ns/1000"),
    END,
    END,
    END,
    ROWS("nvtx_kernel_phases", .table = "process_coverage"),
    VALUE("pid", "pid"),
    ROWS("phases", .table = "process_phases", .match = "pid"),
    VALUE("phase", "phase"),
    VALUE("total_kernel_time_ms", "kernel_ns/1000000"),
    VALUE("pct_of_attributed_kernel_time", "share*100"),
    END,
    END,
    END,
    END,
    END,
};
/* clang-format on */

const struct gt_folder_file gt_explain_files[] = {
    {.path = "report.md", .format = "md"},
    {.path = "report.json", .keys = report_keys},
    {.path = "report.html", .format = "html"},
    {.path = "tables/kernels.csv", .csv = &kernels_csv},
    {.path = "tables/nvtx_ranges.csv", .csv = &ranges_csv},
    {.path = "tables/gpu_idle_gaps.csv", .csv = &gaps_csv},
    {.path = "tables/kernels_by_pid.csv", .csv = &process_kernels_csv},
    {.path = "tables/sync_by_pid.csv", .csv = &process_sync_csv},
    {.path = "tables/nvtx_by_pid.csv", .csv = &process_ranges_csv, .needs_rows = true},
    {.path = NULL},
};
