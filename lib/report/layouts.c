/* The old tools' texts as data: the kernel list and the gap report of GPU Kernel Analyzer, the statistics of GPU
   Performance Analyser, the rows of gputrc2graph. */
#include "report/layouts.h"

#include <string.h>

#define LINE_10   "----------"
#define LINE_30   LINE_10 LINE_10 LINE_10
#define LINE_50   LINE_30 LINE_10 LINE_10
#define DOUBLE_10 "=========="
#define DOUBLE_50 DOUBLE_10 DOUBLE_10 DOUBLE_10 DOUBLE_10 DOUBLE_10

#define OPERATION_TITLES "  TimePerIter(ms)  InstancePerIter  TotalTime(ms)  TotalInstance\n"
#define OPERATION_ROW    "{time_per_iter_ns/1000000:17.2}{instances_per_iter:17.0}{total_ns/1000000:15.2}{instances:15}\n"
#define NOT_HIDDEN       "Estimated non-hidden NCCL, mem ops and bubble "

static const struct gt_csv_layout gputrc2graph_csv = {
    .rows = {.table = "graph_kernels"},
    .line_end = "\n",
    .has_header = true,
    .columns = {{"Model_Engine", "@input"},
                {"Category", "category"},
                {"Instances", "instances"},
                {"Name", "name"},
                {"Elapsed Time (sec)", "elapsed_ns/1000000000"}},
};

/* clang-format off: a line of source is a line of the file */
const struct gt_layout gt_layouts[] = {
    {.key = "kernel-analysis",
     .parts = {{.head = "DETAILED GPU KERNEL ANALYSIS\n" DOUBLE_50 "\n"
                        "Results sorted by: {@order}\n" DOUBLE_50 "\n"
                        "\n",
                .table = "kernels",
                .row = "Rank {#}: {name}\n"
                       "  Count: {count} ({launch_share*100:.1}% of total launches)\n"
                       "  Total Duration: {total_ns/1000:.2} μs ({share*100:.1}% of total duration)\n"
                       "  Average Duration: {avg_ns/1000:.2} μs\n"
                       "  Standard Deviation: {stddev_ns/1000:.2} μs\n"
                       "  Example Full Name: {full_name|name}\n" LINE_50 "\n"}},
     .orders = {{"count", "count"},
                {"avg_ns", "average duration"},
                {"launch_share", "percentage of total launches"},
                {"share", "percentage of total duration"},
                {"total_ns", "total duration"},
                {"stddev_ns", "standard deviation"}}},

    {.key = "gap-report",
     .parts = {{.head = "DETAILED GPU GAP ANALYSIS\n" DOUBLE_50 "\n"
                        "\n"
                        "Total gaps found: {stream_gap_count}\n"
                        "Total idle time: {stream_gap_total_ns/1000:.2} μs\n"
                        "Average gap duration: {stream_gap_avg_ns/1000:.2} μs\n"
                        "\n"
                        "Active streams: {@rows}\n",
                .table = "streams",
                .where = "gap_count",
                .row = "  Stream {stream}: {gap_count} gaps, {gap_ns/1000:.2} μs idle time\n"},
               {.head = "\n"
                        "Gap Duration Histogram:\n" LINE_30 "\n",
                .table = "histogram",
                .row = "{from_ns/1000:8.1}-{to_ns/1000:8.1} μs: {count:4}\n"},
               {.head = "\n"
                        "Kernel Pairs Ranked by {@order}:\n" LINE_50 "\n",
                .table = "transitions",
                .row = "Rank {#}: {from} → {to}\n"
                       "  Count: {count}\n"
                       "  Average Gap: {avg_ns/1000:.2} μs\n"
                       "  Max Gap: {max_ns/1000:.2} μs\n"
                       "  Min Gap: {min_ns/1000:.2} μs\n"
                       "  Std Dev: {stddev_ns/1000:.2} μs\n"
                       "  Total Gap Time: {total_ns/1000:.2} μs\n" LINE_30 "\n"}},
     .orders = {{"avg_ns", "average gap duration"},
                {"count", "count"},
                {"max_ns", "maximum gap duration"},
                {"min_ns", "minimum gap duration"},
                {"stddev_ns", "standard deviation"},
                {"total_ns", "total gap time"}}},

    {.key = "gputrc2graph", .csv = &gputrc2graph_csv},

    {.key = "explain-brief",
     .parts = {{.issue = "no_gpu_work", .head = "The trace has no GPU work.\n"},
               {.issue = "nothing_selected", .head = "No GPU work in the selection.\n"},
               {.fact = "findings_verdict", .head = "{findings_verdict}\n"},
               {.head = "", .table = "findings", .limit = 3, .row = "{#}. [{severity}] {title}\n"},
               {.head = "",
                .table = "kernels",
                .limit = 1,
                .row = "Top kernel: {name:~28} ({share*100:.1}% of kernel time, launches: {count})\n"},
               {.head = "",
                .table = "launch_rate",
                .limit = 1,
                .row = "Kernel launches: {count}, {per_second:.0}/s in {window_ns/1000000:.1} ms without long gaps; "
                       "median kernel {median_ns/1000:.2} us\n"},
               {.head = "",
                .table = "accounting",
                .sort = "idle_ns",
                .limit = 1,
                .row = "Most idle: GPU {device}, {idle_share*100:.1}% of {span_ns/1000000:.1} ms\n"}}},

    {.key = "explain-schema",
     .parts = {{.head = "", .table = "schema", .row = "{table} (rows={rows|role}): {columns|role}\n"}, {.head = "\n"}}},

    {.key = "stats",
     .none = "n/a",
     .is_screen = true,
     .parts = {{.head = "===== {@input} =====\n"
                        "Kernel time per iteration: {kernel_time_per_iter_ns/1000000:.3} (ms)\n"
                        "Kernel instances per iteration: {kernel_instances_per_iter:.0}\n"
                        "Kernel total time: {kernel_total_ns/1000000:.3} (ms)\n"
                        "Kernel total instances: {kernel_instances}\n"
                        "Kernel Statistic:\n"
                        "{'Class'class:-14}  TimePerIter(ms)  InstancePerIter  TimePerIter(%)  TotalTime(ms)"
                        "  TotalInstance  TotalTime(%)\n",
                .table = "class_stats",
                .row = "{class:-14}{time_per_iter_ns/1000000:17.2}{instances_per_iter:17.0}{share*100:16.2}"
                       "{total_ns/1000000:15.2}{instances:15}{share*100:14.2}\n"},
               {.fact = "nccl_instances",
                .head = "\n"
                        "NCCL time per iteration: {nccl_time_per_iter_ns/1000000:.3} (ms)\n"
                        "NCCL instances per iteration: {nccl_instances_per_iter:.0}\n"
                        "NCCL total time: {nccl_total_ns/1000000:.3} (ms)\n"
                        "NCCL total instances: {nccl_instances}\n"
                        "NCCL Statistic:\n"
                        "{'Class'operation:-14}" OPERATION_TITLES,
                .table = "nccl_stats",
                .row = "{operation:-14}" OPERATION_ROW},
               {.fact = "memory_instances",
                .head = "\n"
                        "Mem Ops Statistic:\n"
                        "{'Class'operation:-14}" OPERATION_TITLES,
                .table = "memory_stats",
                .row = "{operation:-14}" OPERATION_ROW},
               {.fact = "iteration_ranges",
                .head = "\n"
                        "NVTX range count: {iteration_ranges}\n"
                        "NVTX average range time: {iteration_range_avg_ns/1000000:.3} (ms)\n"
                        "NVTX total range time: {iteration_range_total_ns/1000000:.3} (ms)\n"
                        "\n" NOT_HIDDEN "time per range: {non_hidden_per_range_ns/1000000:.3} (ms)\n" NOT_HIDDEN
                        "time per range: {non_hidden_share*100:.2} (%)\n" NOT_HIDDEN
                        "total time: {non_hidden_total_ns/1000000:.3} (ms)\n" NOT_HIDDEN
                        "total time: {non_hidden_share*100:.2} (%)\n"},
               {.head = "{@notes}"}}},
};
/* clang-format on */

const size_t gt_layout_count = sizeof gt_layouts / sizeof *gt_layouts;

const struct gt_layout *gt_layout_find(const char *key) {
    for (size_t i = 0; i < gt_layout_count; i++) {
        if (strcmp(gt_layouts[i].key, key) == 0)
            return &gt_layouts[i];
    }
    return NULL;
}
