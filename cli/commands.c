/* The command table (data only) and the look-ups on it. */
#include "commands.h"

#include <string.h>

#define AT(member)   offsetof(struct cli_options, member)
#define KEYS(...)    ((const char *const[]){__VA_ARGS__, NULL})
#define COLUMNS(...) .columns = KEYS(__VA_ARGS__), .column_count = sizeof KEYS(__VA_ARGS__) / sizeof(char *) - 1

/* ---- shared by commands ---- */

static const struct cli_sort kernel_sorts[] = {
    {"count", "+count"}, {"duration", "+avg_ns"}, {"percentage", "+launch_share"}, {"duration-percentage", "+share"},
    {NULL, NULL},
};

static const struct cli_sort gap_sorts[] = {
    {"avg", "+avg_ns"},    {"avggap", "+avg_ns"},   {"count", "+count"},    {"max", "+max_ns"},
    {"maxgap", "+max_ns"}, {"stdev", "+stddev_ns"}, {"total", "+total_ns"}, {NULL, NULL},
};

static const char *const stream_gap_analyses[] = {"stream_gaps", "streams", "histogram", "transitions", NULL};
static const char *const device_gap_analyses[] = {"gaps", "idle_calls", NULL};

static const char *const timeline_analyses[] = {"timeline", NULL};
#define TIMELINE_PART                                                                                                  \
    { .for_page = true, .analyses = timeline_analyses }

static const struct cli_list transitions = {.table = "transitions",
                                            .sort = "avg_ns",
                                            .screen_rows = 15,
                                            .sort_offset = AT(gap_sort),
                                            .top_offset = AT(gap_top),
                                            .sorts = gap_sorts,
                                            .only_sorts = true,
                                            .is_ranked = true};

#define ALL_CAUSE_COLUMNS "cause", "count", "total_ns", "longest_ns", "recoverable_ns", "share"
#define CAUSE_COLUMNS     "device", ALL_CAUSE_COLUMNS

/* ---- summary ---- */

static const char *const summary_analyses[] = {
    "overview", "findings", "accounting",  "categories",    "kernels",     "gaps",      "memory", "streams", "phases",
    "steps",    "graphs",   "collectives", "comm_by_group", "driver_work", "processes", "logged", NULL};

/* One screen; the other tables are for data formats and pages. */
static const char *const summary_tables[] = {
    "findings",      "time_parts",  "accounting_summary", "categories",   "kernels",      "idle_causes",  "gaps",
    "comm_by_group", "collectives", "logged_groups",      "logged_sizes", "logged_ranks", "logged_links", NULL};
static const struct gputime_shape summary_shapes[] = {
    {.table = "findings", .screen_limit = 3, COLUMNS("title", "advice")},
    {.table = "categories", .screen_limit = 6},
    {.table = "kernels", COLUMNS("name", "count", "total_ns", "avg_ns", "share")},
    {.table = "idle_causes", .screen_limit = 8, COLUMNS(CAUSE_COLUMNS)},
    {.table = "idle_host", .limit = 20},
    {.table = "idle_work", .limit = 20},
    {.table = "gaps", .limit = 20, .screen_limit = 3, COLUMNS("device", "start_ns", "gap_ns", "cause", "meanwhile")},
    {.table = NULL},
};

/* Charts that do not fit on a screen. */
static const char *const summary_page_analyses[] = {"histogram", "launches", "range_tree", "timeline", NULL};

/* The timeline of a view is asked for piece by piece. */
static const char *const view_page_analyses[] = {"histogram", "launches", "range_tree", NULL};

static const struct cli_list summary_kernels = {.table = "kernels",
                                                .sort = "total_ns",
                                                .screen_rows = 6,
                                                .sort_offset = AT(sort),
                                                .top_offset = AT(top),
                                                .sorts = kernel_sorts};

/* ---- steps ---- */

static const char *const step_analyses[] = {"steps", NULL};
static const struct gputime_shape step_shapes[] = {
    {.table = "step_states",
     COLUMNS("device", "state", "steps", "cpu_ns", "gpu_ns", "compute_ns", "exposed_comm_ns", "exposed_memory_ns",
             "idle_ns")},
    {.table = NULL},
};
static const struct cli_list all_steps = {.table = "steps", .sort_offset = AT(sort), .top_offset = AT(top)};

/* ---- path ---- */

/* The parts are first, because they say whether the path can be trusted. */
static const char *const path_analyses[] = {"path_parts", "path_kinds", "path_host",     "path_kernels",
                                            "replay",     "slack",      "critical_path", NULL};
static const char *const path_part_analyses[] = {"path_parts", NULL};
static const struct cli_list all_path_kinds = {.table = "path_kinds", .sort_offset = AT(sort), .top_offset = AT(top)};
static const char *const path_tables[] = {"path_kinds", "path_windows", "path_host", "path_kernels", "replay", NULL};

/* ---- memory ---- */

static const char *const memory_analyses[] = {"memory_use", NULL};
static const char *const memory_tables[] = {"memory_peak", "memory_owners", "memory_steps", "allocator_calls", NULL};
static const struct cli_list memory_owner_list = {
    .table = "memory_owners", .sort_offset = AT(sort), .top_offset = AT(top)};

/* ---- whatif ---- */

static const char *const whatif_analyses[] = {"whatif", "replay", NULL};
static const char *const whatif_tables[] = {"whatif", "path_unknown", NULL};
static const struct cli_list ranked_changes = {.table = "whatif", .sort_offset = AT(sort), .top_offset = AT(top)};

/* ---- efficiency ---- */

static const char *const efficiency_analyses[] = {"waterfall",  "mfu",   "roofline", "op_efficiency",
                                                  "efficiency", "peaks", "counters", NULL};
static const char *const efficiency_tables[] = {"waterfall",  "mfu",      "roofline", "op_efficiency",
                                                "efficiency", "counters", "peaks",    NULL};
/* What matters first: 80 columns show it. */
static const struct gputime_shape efficiency_shapes[] = {
    {.table = "roofline",
     COLUMNS("family", "unit", "total_ns", "efficiency", "gflops_per_s", "gbytes_per_s", "count", "bytes", "intensity",
             "roofline_ns")},
    {.table = "op_efficiency",
     COLUMNS("op", "shape", "total_ns", "efficiency", "bound", "lost_ns", "count", "gflops_per_s", "gbytes_per_s")},
    {.table = "efficiency",
     COLUMNS("name", "count", "total_ns", "efficiency", "bound", "lost_ns", "reason", "family", "roofline_ns")},
    {.table = "peaks", COLUMNS("name", "bf16", "fp8", "fp32", "bandwidth", "source", "arch", "sms")},
    {.table = "counters",
     COLUMNS("scope", "name", "time_ns", "tensor", "dram_read", "dram_write", "sm_active", "gpc_mhz", "method",
             "sm_issue", "warps", "dram_bytes")},
    {.table = NULL},
};
static const struct cli_list all_efficiency = {.table = "efficiency", .sort_offset = AT(sort), .top_offset = AT(top)};

/* ---- findings ---- */

static const char *const finding_analyses[] = {"findings", "python_calls", "finding_facts", NULL};
static const struct cli_list ranked_findings = {.table = "findings", .sort_offset = AT(sort), .top_offset = AT(top)};
static const struct cli_list claimed_rows = {.table = "finding_rows", .top_offset = AT(top)};

/* ---- kernels ---- */

static const char *const kernel_analyses[] = {"kernels", NULL};
static const char *const launch_analyses[] = {"launches", NULL};
static const char *const detail_analyses[] = {"kernel_details", NULL};
static const struct gputime_shape detail_shapes[] = {
    {.table = "kernel_details", COLUMNS("name", "total_ns", "occupancy", "limiters", "file")},
    {.table = NULL},
};

static const struct gputime_shape kernel_shapes[] = {
    {.table = "kernels", COLUMNS("name", "count", "avg_ns", "total_ns", "stddev_ns", "launch_share", "share")},
    {.table = NULL},
};

static const struct gputime_shape why_shapes[] = {
    {.table = "kernels", COLUMNS("name", "share", "category", "rule")},
    {.table = NULL},
};

static const char *const side_gap_tables[] = {"streams", "histogram", "transitions", NULL};
static const struct gputime_shape side_gap_shapes[] = {{.table = "stream_gaps", .limit = 20}, {.table = NULL}};

static const struct cli_list ranked_kernels = {.table = "kernels",
                                               .sort = "count",
                                               .screen_rows = 10,
                                               .sort_offset = AT(sort),
                                               .top_offset = AT(top),
                                               .sorts = kernel_sorts,
                                               .is_ranked = true};

/* ---- gaps ---- */

/* Data formats also have the gaps of each GPU as a whole. */
static const char *const all_gap_analyses[] = {"stream_gaps", "streams", "histogram", "transitions", "gaps", NULL};

static const char *const stream_gap_tables[] = {"streams", "histogram", "transitions", NULL};

static const struct gputime_shape device_gap_shapes[] = {
    {.table = "idle_causes", COLUMNS(CAUSE_COLUMNS)},
    {.table = "idle_causes_all", COLUMNS(ALL_CAUSE_COLUMNS)},
    {.table = "gaps", COLUMNS("device", "start_ns", "gap_ns", "cause", "before", "meanwhile")},
    {.table = NULL},
};

/* Here --sort and --top work like --gap-sort and --gap-top. */
static const struct cli_list transitions_too = {
    .table = "transitions", .sort_offset = AT(sort), .top_offset = AT(top), .sorts = gap_sorts};
static const struct cli_list device_gaps = {.table = "gaps", .screen_rows = 15, .top_offset = AT(gap_top)};
static const struct cli_list device_gaps_too = {.table = "gaps", .sort_offset = AT(sort), .top_offset = AT(top)};

/* ---- stats ---- */

static const char *const stats_analyses[] = {"class_stats", NULL};

static const struct cli_list class_list = {.table = "class_stats", .sort_offset = AT(sort), .top_offset = AT(top)};

/* ---- ranges ---- */

static const char *const range_analyses[] = {"phases", "ranges", "range_categories", "operators", NULL};
static const char *const range_tree_analyses[] = {"phases", "ranges", "range_tree", "range_categories", NULL};
static const char *const range_page_analyses[] = {"range_tree", "timeline", NULL};
static const char *const range_data_analyses[] = {"range_instances", "range_texts", NULL};

static const char *const range_tree_tables[] = {"phases", "range_tree", "range_categories", NULL};

static const struct cli_list ranked_ranges = {
    .table = "ranges", .sort_offset = AT(sort), .top_offset = AT(top), .is_ranked = true};
static const struct cli_list nested_ranges = {.table = "range_tree", .sort_offset = AT(sort), .top_offset = AT(top)};

/* ---- diff, check ---- */

static const char *const diff_analyses[] = {"kernels", "memory",      "phases",     "ranges", "launches",
                                            "graphs",  "collectives", "path_parts", NULL};
static const char *const diff_data_analyses[] = {"streams", NULL};

/* The measures summarize what the accounting and the steps have for each GPU. */
static const char *const diff_tables[] = {"measures", "categories",  "kernels",         "memory",    "phases",
                                          "ranges",   "idle_causes", "idle_causes_all", "idle_work", "gaps",
                                          "launches", "graphs",      "collectives",     NULL};
static const char *const diff_data_tables[] = {"kernel_launches", NULL};
/* All single gaps would take more space than everything else; on request they are compared by cause and next op. */
static const char *const diff_asked_tables[] = {"gaps", NULL};

static const struct cli_list diff_kernels = {.table = "kernels", .sort_offset = AT(sort), .top_offset = AT(top)};

/* What else limits are about runs because of them: other analyses have things to say that nobody asked for. */
static const char *const check_analyses[] = {"overview", "accounting", "steps", "measures", "categories",
                                             "kernels",  "memory",     "gaps",  "launches", NULL};

static const char *const no_tables[] = {NULL};
static const char *const check_tables[] = {"idle_causes_all", NULL};
static const struct gputime_shape check_shapes[] = {{.table = "gaps", .limit = 20}, {.table = NULL}};

/* ---- graph ---- */

static const char *const graph_analyses[] = {"graph", NULL};

static const char *const graph_tables[] = {"graph_runs", "graph_devices", "graph", NULL};
static const struct gputime_shape graph_shapes[] = {
    {.table = "graph_runs", .joined = 1},
    {.table = "graph_devices", .joined = 1},
    {.table = "graph", .pivot_row = "category", .pivot_value = "elapsed_ns"},
    {.table = NULL},
};

static const struct cli_list graph_bars = {.table = "graph", .sort_offset = AT(sort), .top_offset = AT(top)};

/* ---- explain ---- */

static const char *const explain_analyses[] = {
    "findings",     "overview",     "accounting", "gaps",   "kernels", "categories",    "memory",
    "launch_rates", "tiny_kernels", "sync_calls", "ranges", "phases",  "comm_by_group", NULL};
static const char *const explain_process_phase_analyses[] = {"process_phases", NULL};
static const char *const explain_detail_analyses[] = {"range_kernels",   "longest_ranges", "processes",
                                                      "process_kernels", "device_kernels", "steps",
                                                      "schema",          "timeline",       NULL};

static const char *const explain_tables[] = {"findings",
                                             "accounting",
                                             "accounting_summary",
                                             "idle_causes",
                                             "idle_causes_all",
                                             "idle_host",
                                             "idle_work",
                                             "gaps",
                                             "kernels",
                                             "categories",
                                             "memory",
                                             "launch_rate",
                                             "process_launch_rates",
                                             "tiny_kernels",
                                             "process_tiny_kernels",
                                             "sync_calls",
                                             "process_sync_calls",
                                             "process_sync",
                                             "ranges",
                                             "phases",
                                             "comm_by_group",
                                             NULL};
static const char *const explain_detail_tables[] = {
    "process_ranges", "process_coverage", "range_kernels", "longest_ranges",
    "processes",      "process_kernels",  "step_states",   NULL};
static const char *const explain_path_analyses[] = {"path_parts", "path_kinds", NULL};
static const char *const explain_path_tables[] = {"path_kinds", NULL};
static const char *const explain_efficiency_analyses[] = {"waterfall", "mfu", "op_efficiency", "efficiency", NULL};
static const char *const explain_efficiency_tables[] = {"waterfall", "mfu", "op_efficiency", "efficiency", NULL};
static const char *const schema_tables[] = {"schema", NULL};

static const struct gputime_shape explain_shapes[] = {
    {.table = "accounting",
     COLUMNS("device", "span_ns", "busy_ns", "idle_ns", "compute_ns", "exposed_comm_ns", "exposed_memory_ns",
             "utilisation")},
    {.table = "idle_causes", COLUMNS(CAUSE_COLUMNS)},
    {.table = "idle_causes_all", COLUMNS(ALL_CAUSE_COLUMNS)},
    {.table = "gaps",
     .limit = 50,
     .screen_limit = 20,
     COLUMNS("device", "start_ns", "gap_ns", "cause", "before", "meanwhile", "after")},
    {.table = "kernels",
     .limit = 30,
     .screen_limit = 30,
     COLUMNS("name", "count", "total_ns", "avg_ns", "median_ns", "p90_ns", "share")},
    {.table = "memory", .screen_limit = 10},
    {.table = NULL},
};
static const struct gputime_shape shown_schema[] = {
    {.table = "schema", COLUMNS("table", "role", "rows", "start_ns", "end_ns")},
    {.table = NULL},
};

static const struct cli_list explained_kernels = {.table = "kernels", .top_offset = AT(top)};
static const struct cli_list limited_kernels = {.table = "kernels", .top_offset = AT(kernel_limit)};
static const struct cli_list explained_gaps = {.table = "gaps", .top_offset = AT(top)};

/* ---- ranks ---- */

static const char *const rank_analyses[] = {"ranks", "logged", NULL};
static const char *const rank_tables[] = {"findings",      "ranks",        "blame",        "episodes",     "groups",
                                          "logged_groups", "logged_ranks", "logged_sizes", "logged_links", NULL};
static const struct gputime_shape rank_shapes[] = {
    {.table = "findings", .screen_limit = -1, COLUMNS("title", "advice")},
    {.table = "ranks",
     COLUMNS("rank", "charged_ns", "leads", "gain_ns", "compute_ns", "exposed_transfer_ns", "exposed_wait_ns",
             "idle_ns")},
    {.table = "blame", .screen_limit = 10, COLUMNS("rank", "reason", "charged_ns", "share", "steps", "kernel")},
    {.table = "episodes", .screen_limit = 10, .cut_sort = "charged_ns"},
    {.table = "groups",
     .screen_limit = 10,
     .cut_sort = "wait_ns",
     COLUMNS("name", "desc", "members", "rung", "ops", "transfer_ns", "wait_ns", "busbw_p50_gbs")},
    {.table = NULL},
};
static const char *const rank_why_tables[] = {"findings", NULL};
static const char *const job_diff_tables[] = {"job_measures", "wait_causes", "ranks", "groups", "group_speeds", NULL};
/* Tables of single collectives and steps are long. */
static const char *const job_asked_tables[] = {"rank_steps",       "bubbles", "all_to_all", "job_collectives",
                                               "collective_ranks", "clocks",  NULL};
static const char *const job_check_tables[] = {"job_parts", NULL};
static const struct cli_list all_ranks = {
    .table = "ranks", .cut_sort = "charged_ns", .screen_rows = 16, .sort_offset = AT(sort), .top_offset = AT(top)};

static const char *const schema_analyses[] = {"schema", NULL};
static const char *const fact_analyses[] = {"trace_facts", NULL}; /* reads everything that the trace has */

const struct cli_command cli_command_table[] = {
    {.name = "summary",
     .help = "one-screen overview of a trace (the default command)",
     .usage = "TRACE...",
     .details = "Shows where the time of each GPU went (compute, exposed communication, exposed memory, "
                "idle), the categories of work, the longest-running kernels, the causes of idle time, "
                "and problems in the trace itself. A directory means all traces in it and in its directories.",
     .action = CLI_ACTION_REPORT,
     .groups = CLI_GROUPS_REPORT | CLI_GROUP_PHASES,
     .parts = {{.main_table = "accounting",
                .analyses = summary_analyses,
                .tables = summary_tables,
                .shapes = summary_shapes,
                .lists = {&summary_kernels}},
               {.for_page = true, .analyses = summary_page_analyses}},
     .notes = {{"top", "kernels to show (6; 0 = all)"}},
     .takes_directories = true,
     .examples = {"gputime trace.json.gz", "gputime --from 40% --to 60% profile.sqlite -o summary.md"}},

    {.name = "kernels",
     .help = "GPU kernels: launches, mean, total, standard deviation, shares",
     .usage = "TRACE...",
     .details = "Ranks the kernels of the trace. Only work on a GPU counts; --launches adds a table of "
                "the launch calls.",
     .action = CLI_ACTION_REPORT,
     .groups = CLI_GROUPS_REPORT | CLI_GROUP_KERNELS | CLI_GROUP_GAP_PART,
     .parts = {{.main_table = "kernels",
                .output_layout = "kernel-analysis",
                .lays_out_columns = true,
                .analyses = kernel_analyses,
                .shapes = kernel_shapes,
                .lists = {&ranked_kernels}},
               {.option = AT(gaps),
                .value = 1,
                .gap_layout = "gap-report",
                .analyses = stream_gap_analyses,
                .tables = side_gap_tables,
                .shapes = side_gap_shapes,
                .lists = {&transitions}},
               {.option = AT(launches), .value = 1, .analyses = launch_analyses},
               {.option = AT(details), .value = 1, .analyses = detail_analyses, .shapes = detail_shapes},
               {.option = AT(why),
                .value = 1,
                .analyses = kernel_analyses,
                .shapes = why_shapes,
                .lists = {&ranked_kernels}}},
     .prints_too = true,
     .hint = "tip: --sort duration-percentage ranks by GPU time",
     .notes = {{"top", "kernels to show (10; 0 = all)"},
               {"sort", "count, duration (mean), percentage (of launches),\n"
                        "duration-percentage, or a column (count)"},
               {"step", "only kernels launched in step N (also --pstep)"},
               {"names", "group by full name or by short, simplified name"},
               {"verbose", "do not shorten names"},
               {"output", "write the full list of kernels to FILE and print\n"
                          "the table (-q: do not print)"}},
     .examples = {"gputime kernels --sort duration-percentage --top 20 trace.json.gz",
                  "gputime kernels --gaps --gap-output gaps.txt -o kernels.csv trace.json"}},

    {.name = "gaps",
     .help = "idle gaps: histogram, transitions, causes",
     .usage = "TRACE...",
     .details = "Shows the time in which nothing ran: on each stream, with a histogram and the kernels "
                "before and after (transitions); or, with --per device, on each GPU as a whole, with the "
                "cause of every gap.",
     .action = CLI_ACTION_REPORT,
     .groups = CLI_GROUPS_REPORT | CLI_GROUP_GAPS | CLI_GROUP_GAP_PART,
     .parts = {{.option = AT(per),
                .value = CLI_PER_STREAM,
                .main_table = "transitions",
                .output_layout = "gap-report",
                .gap_layout = "gap-report",
                .analyses = all_gap_analyses,
                .tables = stream_gap_tables,
                .lists = {&transitions, &transitions_too}},
               {.option = AT(per),
                .value = CLI_PER_DEVICE,
                .main_table = "gaps",
                .analyses = device_gap_analyses,
                .shapes = device_gap_shapes,
                .lists = {&device_gaps, &device_gaps_too}},
               TIMELINE_PART},
     .prints_too = true,
     .notes = {{"sort", "as --gap-sort, or a column"},
               {"output", "write the gap report to FILE and print the tables\n"
                          "(-q: do not print)"}},
     .examples = {"gputime gaps --gap-sort max trace.json.gz", "gputime gaps --per device --top 20 profile.sqlite"}},

    {.name = "ranges",
     .help = "NVTX ranges and annotations: GPU time of each",
     .usage = "TRACE...",
     .details = "Shows the GPU work launched inside each range of the program, by name. Busy includes "
                "work in nested ranges, exclusive does not; projected is the time from the first to the "
                "last op of each range. Data formats also list every single range (table "
                "range_instances).",
     .action = CLI_ACTION_REPORT,
     .groups = CLI_GROUPS_REPORT | CLI_GROUP_RANGES | CLI_GROUP_PHASES,
     .parts = {{.option = AT(tree),
                .value = 0,
                .main_table = "ranges",
                .analyses = range_analyses,
                .lists = {&ranked_ranges}},
               {.option = AT(tree),
                .value = 1,
                .main_table = "range_tree",
                .analyses = range_tree_analyses,
                .tables = range_tree_tables,
                .lists = {&nested_ranges}},
               {.for_data = true, .analyses = range_data_analyses},
               {.for_page = true, .analyses = range_page_analyses}},
     .notes = {{"top", "rows to show (20; with --tree 40; 0 = all)"}},
     .examples = {"gputime ranges --sort exclusive_ns profile.sqlite", "gputime ranges --tree trace.json.gz",
                  "gputime ranges --table range_instances --csv profile.sqlite"}},

    {.name = "steps",
     .help = "per-step time breakdown, warm-up, outliers",
     .usage = "TRACE...",
     .details = "Shows where the GPU time of each step went, from the first to the last op it launched. "
                "Steps are ranges such as ProfilerStep#N, 'step N', 'iteration N' or train_step, "
                "whichever the trace has. A step that takes more than 1.5 times the median is an "
                "outlier, or warm-up if it precedes the first steady step.",
     .action = CLI_ACTION_REPORT,
     .groups = CLI_GROUPS_REPORT,
     .parts = {{.main_table = "steps", .analyses = step_analyses, .shapes = step_shapes, .lists = {&all_steps}},
               TIMELINE_PART},
     .notes = {{"top", "steps to show (20; 0 = all)"}},
     .examples = {"gputime steps trace.json.gz", "gputime steps --sort cpu_ns --top 5 profile.nsys-rep"}},

    {.name = "path",
     .help = "critical path: which chain of CPU and GPU work took the time",
     .usage = "TRACE...",
     .details = "Finds what had to wait for what (launches, streams, events, synchronization, threads) and "
                "follows it back from the end of each step: which kernels, launches and CPU work the time "
                "went to, to the ns. Waiting is never on the path, what was waited for is. --step, --range, "
                "--from and --to choose windows; the graph always has the whole trace. Data formats also "
                "list every segment (critical_path) and how late ops could be (slack).",
     .action = CLI_ACTION_REPORT,
     .groups = CLI_GROUPS_REPORT | CLI_GROUP_PATH,
     .parts =
         {{.main_table = "path_kinds", .analyses = path_analyses, .tables = path_tables, .lists = {&all_path_kinds}}},
     .notes = {{"step", "only the path of these steps"}, {"top", "rows to show (20; 0 = all)"}},
     .examples = {"gputime path trace.json.gz", "gputime path --step 3 --json profile.sqlite"}},

    {.name = "whatif",
     .help = "predicted time if kernels, the CPU or waits were different",
     .usage = "TRACE...",
     .details = "Predicts how long each step would take if ops, the CPU or waits were different: the "
                "dependency graph of the trace is simulated again. Changes act together; without any, the "
                "usual ones are ranked by what they save. A trace that the graph explains badly gets no "
                "answer (exit 1) unless --force is given. Not modelled: kernels that slow each other down, "
                "clocks, other ranks.",
     .action = CLI_ACTION_REPORT,
     .groups = CLI_GROUPS_REPORT | CLI_GROUP_PATH | CLI_GROUP_WHATIF,
     .may_refuse = true,
     .parts =
         {{.main_table = "whatif", .analyses = whatif_analyses, .tables = whatif_tables, .lists = {&ranked_changes}}},
     .notes = {{"step", "only these steps"}, {"top", "rows to show (15; 0 = all)"}},
     .examples = {"gputime whatif trace.json.gz", "gputime whatif --class gemm=0.8 --cpu 2 profile.sqlite",
                  "gputime whatif --scale 'flash*=0.5' --no sync --step 3-9 trace.json.gz"}},

    {.name = "memory",
     .help = "memory of GPUs: peak, owners, fragmentation, growth over steps",
     .usage = "TRACE...",
     .details = "Shows how much GPU memory was allocated and reserved, when it was most, which operators, "
                "calls and ranges owned it then, what each step keeps, and how long calls of the driver's "
                "allocator left GPUs idle. PyTorch traces need profile_memory=True, Nsight captures "
                "--cuda-memory-usage=true. Copies and fills are in the table 'memory' (--table memory).",
     .action = CLI_ACTION_REPORT,
     .groups = CLI_GROUPS_REPORT,
     .parts = {{.main_table = "memory_owners",
                .analyses = memory_analyses,
                .tables = memory_tables,
                .lists = {&memory_owner_list}},
               TIMELINE_PART},
     .notes = {{"top", "owners to show (15; 0 = all)"}},
     .examples = {"gputime memory trace.json.gz", "gputime check trace.json.gz --limit 'peak_memory<70GB'"}},

    {.name = "efficiency",
     .help = "FLOPs, bytes and roofline of kernels and operators; MFU",
     .usage = "TRACE...",
     .details = "Compares kernels with what their work needs at the GPU's peaks. FLOPs and bytes come from "
                "the shapes of operators (PyTorch: record_shapes=True). The waterfall divides the span of each "
                "GPU into ideal time, what kernels of each family take above it, time whose work is not known, "
                "exposed communication and memory, and idle time by cause. MFU and HFU are given for the trace, "
                "its steps and its ranges.",
     .action = CLI_ACTION_REPORT,
     .groups = CLI_GROUPS_REPORT | CLI_GROUP_EFFICIENCY,
     .parts = {{.main_table = "efficiency",
                .analyses = efficiency_analyses,
                .tables = efficiency_tables,
                .shapes = efficiency_shapes,
                .lists = {&all_efficiency}}},
     .notes = {{"top", "kernels to show (12; 0 = all)"}},
     .examples = {"gputime efficiency trace.json.gz",
                  "gputime efficiency --peak bf16=989T --bandwidth 4.8T trace.json.gz"}},

    {.name = "ranks",
     .help = "many ranks: who waits for whom, who holds the others up",
     .usage = "DIR|TRACE...",
     .details = "Reads the traces of a job's ranks together; DIR means all traces in it and in its directories. "
                "Collectives are matched between ranks, each is "
                "split into waiting and transfer, and every wait is charged to the rank and the work that "
                "caused it. Clocks of the ranks need not agree. Data formats also list every collective "
                "(job_collectives, collective_ranks), steps, pipeline bubbles, all_to_alls and clocks. What "
                "cannot be read is left out (exit 1).",
     .action = CLI_ACTION_RANKS,
     .groups = (CLI_GROUPS_REPORT & ~(CLI_GROUP_SELECTION | CLI_GROUP_NAMES)) | CLI_GROUP_RANKS | CLI_GROUP_JOB,
     .takes_directories = true,
     .parts = {{.main_table = "ranks",
                .analyses = rank_analyses,
                .tables = rank_tables,
                .shapes = rank_shapes,
                .lists = {&all_ranks}},
               {.option = AT(why),
                .value = 1,
                .is_alone = true,
                .main_table = "findings",
                .analyses = rank_analyses,
                .tables = rank_why_tables}},
     .notes = {{"top", "ranks to show (16, the most guilty; 0 = all)"}},
     .examples = {"gputime ranks traces/", "gputime ranks rank*.json.gz --table blame",
                  "gputime ranks --step-tag step rank*.nsys-rep --json"}},

    {.name = "findings",
     .help = "what to do next, with evidence",
     .usage = "TRACE...",
     .details = "Lists what is worth acting on, most severe first, then by potential saving. Each "
                "finding has evidence in numbers, advice, and the table to look at (--table KEY). "
                "Savings are simulated where the trace can be explained, else upper bounds; no two findings claim "
                "the same time.",
     .action = CLI_ACTION_REPORT,
     .groups = CLI_GROUPS_REPORT | CLI_GROUP_PHASES | CLI_GROUP_FINDINGS,
     .parts = {{.main_table = "findings", .analyses = finding_analyses, .lists = {&ranked_findings, &claimed_rows}}},
     .notes = {{"top", "findings to show (all)"}, {"columns", "parts to show: title, evidence, advice, table"}},
     .examples = {"gputime findings profile.nsys-rep", "gputime findings --why host_bound profile.nsys-rep",
                  "gputime findings --step 3-9 --json trace.json.gz"}},

    {.name = "graph",
     .help = "GPU and non-GPU time of runs by category, side by side",
     .usage = "RUN...",
     .details = "A RUN is a trace, or FILE,ENGINE,MODEL,SECONDS: a trace, the engine and model whose "
                "rules classify its kernels ('gputime list engines'), and the elapsed time of the run "
                "without a profiler (0: the span of the GPU work). Where ops overlap, the time counts "
                "once, for the op that started first; elapsed time without GPU work is CPU(non-GPU). "
                "Writes result.csv and result.html unless --format or --output is given.",
     .action = CLI_ACTION_REPORT,
     .groups = CLI_GROUPS_REPORT | CLI_GROUP_GRAPH | CLI_GROUP_TITLE,
     .parts = {{.main_table = "graph",
                .analyses = graph_analyses,
                .tables = graph_tables,
                .shapes = graph_shapes,
                .lists = {&graph_bars}}},
     .takes_runs = true,
     .files = {{"result.csv", "gputrc2graph", true}, {"result.html", "html", false}},
     .notes = {{"title", "heading of the graph"}, {"top", "categories to show (0 = all)"}},
     .examples = {"gputime graph run1.nsys-rep,vllm,gpt-oss,306 --title 'gpt-oss'",
                  "gputime graph a.sqlite,vllm,llama,100 b.sqlite,sglang,llama,102 --out-dir out"}},

    {.name = "explain",
     .help = "full report in a directory: findings, kernels, idle time, ranges",
     .usage = "TRACE --out DIR",
     .details = "Writes everything about a trace to a directory: report.md, report.json and report.html, "
                "with what to do next first, and tables/*.csv. Keys and columns of nsys-llm-explain keep "
                "their names. Without --out the report is printed, as by any other command.",
     .action = CLI_ACTION_REPORT,
     .groups = CLI_GROUPS_REPORT | CLI_GROUP_EXPLAIN | CLI_GROUP_PHASES | CLI_GROUP_WITH_PATH | CLI_GROUP_EFFICIENCY,
     .directory_layout = "explain",
     .directory_files = "report.md, with report.json, report.html and tables/",
     .parts = {{.main_table = "findings",
                .print_layout = "explain-brief",
                .analyses = explain_analyses,
                .tables = explain_tables,
                .shapes = explain_shapes,
                .lists = {&explained_kernels, &limited_kernels, &explained_gaps}},
               {.option = AT(no_range_kernels), .value = 0, .analyses = explain_process_phase_analyses},
               {.option = AT(path), .value = 1, .analyses = explain_path_analyses, .tables = explain_path_tables},
               {.option = AT(efficiency),
                .value = 1,
                .analyses = explain_efficiency_analyses,
                .tables = explain_efficiency_tables},
               {.analyses = explain_detail_analyses, .tables = explain_detail_tables},
               {.option = AT(print_schema),
                .value = 1,
                .is_alone = true,
                .text_layout = "explain-schema",
                .print_layout = "explain-schema",
                .analyses = schema_analyses,
                .tables = schema_tables,
                .shapes = shown_schema},
               {.option = AT(print_schema), .value = 1, .for_data = true, .is_alone = true, .analyses = fact_analyses}},
     .notes = {{"path", "add the critical path by kind"}, {"top", "kernels and gaps to list (30, 50; 0 = all)"}},
     .examples = {"gputime explain profile.nsys-rep --out report",
                  "gputime explain profile.sqlite --out report --path --phase-map phases.json",
                  "gputime explain trace.json.gz --efficiency --name flash_fwd"}},

    {.name = "stats",
     .help = "time per iteration by kernel class, NCCL, copies, NVTX",
     .usage = "TRACE...|--config FILE",
     .details = "Divides the time of kernels, communication and copies by iterations and GPUs. Classes "
                "come from --map (substrings of kernel names), by default they are the built-in "
                "categories. With --nvtx-tag it estimates the part of an iteration that no kernel covers.",
     .action = CLI_ACTION_REPORT,
     .groups = CLI_GROUPS_REPORT | CLI_GROUP_STATS | CLI_GROUP_TITLE,
     .parts =
         {{.main_table = "class_stats", .text_layout = "stats", .analyses = stats_analyses, .lists = {&class_list}}},
     .examples = {"gputime stats --config runs.json",
                  "gputime stats --map classes.json --iters 5 --nvtx-tag Train_step t.nsys-rep"}},

    {.name = "diff",
     .help = "what changed between two traces; limits for CI",
     .usage = "A B | --a A... --b B... | --ranks DIR DIR",
     .details =
         "Compares trace B with trace A, in any formats: time breakdown, categories, kernels, "
         "ranges, causes of idle time. Names that differ are matched by simplified name, then "
         "without tile sizes, architecture and generated numbers, then by category. Changes "
         "within the variation of steps, launches or captures are noise. Amounts per step exclude "
         "warm-up and everything outside steps (--from 0 includes them). Ranges are compared by "
         "exclusive GPU time. Limits are written as for 'gputime check', but on changes; matching "
         "rows are summed, with 'each' they are judged one by one. It is an error (exit 2) when "
         "either trace lacks the data. With --ranks the sides are jobs of many ranks, each a directory: "
         "time breakdown, who caused the waiting, own time of ranks, transfer and bandwidth of groups. These are "
         "whole jobs: --from, --step, --name and the like are not valid with --ranks.",
     .action = CLI_ACTION_DIFF,
     .groups = CLI_GROUPS_REPORT | CLI_GROUP_PHASES | CLI_GROUP_DIFF | CLI_GROUP_LIMITS | CLI_GROUP_EFFICIENCY |
               CLI_GROUP_JOB,
     .parts = {{.main_table = "measures",
                .analyses = diff_analyses,
                .tables = diff_tables,
                .data_tables = diff_data_tables,
                .asked_tables = diff_asked_tables,
                .lists = {&diff_kernels}},
               {.for_data = true, .analyses = diff_data_analyses},
               {.option = AT(ranks),
                .value = 1,
                .is_alone = true,
                .main_table = "job_measures",
                .analyses = rank_analyses,
                .tables = job_diff_tables,
                .asked_tables = job_asked_tables}},
     .notes = {{"per", "normalize by step, range NAME, launch or none\n(step, if steps cover the time)"},
               {"top", "kernels to show (10; 0 = all)"}},
     .examples = {"gputime diff --of kernels --per step before.sqlite after.json.gz",
                  "gputime diff --a a1.json a2.json --b b1.json b2.json -o pr.md",
                  "gputime diff a.json b.json --fail-if 'step>+3%' --fail-if 'each kernel:*>+9%'",
                  "gputime diff --ranks before/ after/ --fail-if 'exposed_wait>+10%'"}},

    {.name = "check",
     .help = "limits on one trace for CI: idle, gaps, kernels, health",
     .usage = "TRACE...|--ranks DIR --limit LIMIT",
     .details =
         "Tests limits. A limit is a measure (step, span, busy, idle, compute, exposed_comm, "
         "exposed_memory, comm, memory, overlap, sum, utilisation, coverage, gap, launches, "
         "steps, mfu, hfu, model_coverage, peak_memory, memory_growth, issues, losses), or kernel:, "
         "category:, range:, phase:, memory:, cause:, launch:, work: or path: and a name; then < <= > or "
         ">=; then a number with % (of the span, or of the table), ns, us, ms, s, kB, MB, GB, KiB, MiB, "
         "GiB or no unit. A name with '*' may match nothing. Matching rows are "
         "summed; with 'each' they are judged one by one. step excludes warm-up; range: and "
         "phase: are exclusive GPU time. It is an error (exit 2) when the trace lacks the data. "
         "In a file of limits ('-': standard input), '#' after a space or at the start of a line "
         "begins a comment. With --ranks the measures are those of a job: step, span, compute, exposed_comm, "
         "exposed_transfer, exposed_wait, exposed_memory, idle, slowdown, replay, ideal, imbalance, "
         "all_to_all_imbalance, gain, busbw, ranks, issues, losses; part:, wait: or group: and a name. Verdicts say "
         "whether a time is per step or per run. These are whole jobs: --from, --step, --name and the like are "
         "not valid with --ranks.",
     .action = CLI_ACTION_CHECK,
     .groups = (CLI_GROUPS_REPORT & ~CLI_GROUP_TABLES) | CLI_GROUP_PHASES | CLI_GROUP_CHECK | CLI_GROUP_LIMITS |
               CLI_GROUP_EFFICIENCY | CLI_GROUP_JOB,
     .parts = {{.main_table = "limits", .analyses = check_analyses, .tables = check_tables, .shapes = check_shapes},
               {.option = AT(path), .value = 1, .analyses = path_part_analyses, .tables = no_tables},
               {.option = AT(ranks),
                .value = 1,
                .is_alone = true,
                .main_table = "limits",
                .analyses = rank_analyses,
                .tables = job_check_tables}},
     .examples = {"gputime check trace.json.gz --limit 'idle<20%' --limit 'exposed_comm<5%'",
                  "gputime check profile.nsys-rep --limits limits.txt --json",
                  "gputime check trace.json.gz --limit 'each kernel:*<20%' --strict",
                  "gputime check --ranks traces/ --limit 'exposed_wait<5%'"}},

    {.name = "redact",
     .help = "copy of an Nsight export without private data",
     .usage = "EXPORT.sqlite -o FILE",
     .details = "Writes a copy of an Nsight Systems SQLite export that is safe to share: without host, "
                "user, environment, paths, process list and clock time, and with new process and thread "
                "numbers. Only tables and columns known to be harmless are copied. Reports from the copy "
                "are the same, except for process names. Names of kernels and ranges are kept unless "
                "they contain a path; --names hash replaces them all, and steps, phases and most "
                "categories, which are recognized by name, are lost.",
     .action = CLI_ACTION_REDACT,
     .groups = CLI_GROUP_NAMES | CLI_GROUP_FILE,
     .notes = {{"names", "full; hash: names such as k_3f9a0c12 for kernels and\n"
                         "ranges"},
               {"output", "the file to write"},
               {"quiet", "do not print what was written"}},
     .examples = {"gputime redact profile.sqlite -o shared.sqlite",
                  "gputime redact --names hash profile.sqlite -o shared.sqlite"}},

    {.name = "export",
     .help = "events as tables for data frames, or for other tools",
     .usage = "TRACE... -o DIR/|FILE.pftrace",
     .details = "Writes the events of traces: GPU ops with their launch calls, ranges, steps, categories and "
                "idle gaps, one Parquet file per table, for DuckDB, pandas, polars and the like. The column "
                "'input' says which trace a row is from. A selection applies to ops; the other tables are "
                "whole. docs/frames.md describes the columns. FILE.pftrace is a Perfetto trace of what is selected, "
                "for ui.perfetto.dev, with ranks on one clock (docs/perfetto.md). The suffix decides the format.",
     .action = CLI_ACTION_EXPORT,
     .groups = CLI_GROUP_SELECTION | CLI_GROUP_FORMAT | CLI_GROUP_FILE | CLI_GROUP_READING | CLI_GROUP_RULES,
     .takes_directories = true,
     .notes = {{"format", "see 'gputime list exports' (by the suffix of FILE)"},
               {"output", "the directory or file to write"},
               {"quiet", "do not print what was written"}},
     .examples = {"gputime export trace.json.gz -o events/", "gputime export --step 3-5 trace.json.gz -o events/",
                  "gputime export rank*.json.gz --step 4 -o job.pftrace"}},

    {.name = "view",
     .help = "explore traces in the browser, at any zoom",
     .usage = "TRACE...|DIR",
     .details = "Starts a server that only this machine reaches, opens the page in a browser and prints its address "
                "and, on a remote machine, the ssh command that makes it reachable. The page shows every op, call, "
                "range and operator at any zoom, whatever the size of the trace, and reports of any selection. The "
                "address has a random token; without it nothing is answered. Ends by Ctrl-C or when the last page is "
                "closed. docs/view.md has more.",
     .action = CLI_ACTION_VIEW,
     .groups = CLI_GROUP_VIEW | CLI_GROUP_SELECTION | CLI_GROUP_NAMES | CLI_GROUP_READING | CLI_GROUP_RULES |
               CLI_GROUP_TITLE | CLI_GROUP_PHASES,
     .formats = "",
     .takes_directories = true,
     .parts = {{.main_table = "accounting",
                .analyses = summary_analyses,
                .tables = summary_tables,
                .shapes = summary_shapes},
               {.for_page = true, .analyses = view_page_analyses}},
     .examples = {"gputime view trace.json.gz", "gputime view before.json after.json",
                  "gputime view --port 8000 traces/"}},

    {.name = "sql",
     .help = "SQL queries over the events of traces",
     .usage = "TRACE... 'SELECT ...'|-f FILE",
     .details = "Runs one SELECT of SQLite's dialect. Tables are the events with their joins already made (ops has the "
                "launch call, range, operator, step, collective and idle gap of each GPU op; calls, ranges, cpu_ops, "
                "gaps, steps, counters and others), and report_KEY for each table of 'gputime list analyses'. Times "
                "are ns since the first GPU op. With several traces the columns 'input' and 'rank' tell their rows "
                "apart. median(), percentile() and stddev() are there too. Only what the query uses is read. Tables "
                "cannot be changed. docs/sql.md has examples.",
     .action = CLI_ACTION_SQL,
     .groups = CLI_GROUP_SQL | CLI_GROUP_FORMAT | CLI_GROUP_FILE | CLI_GROUP_OUTPUT | CLI_GROUP_TERMINAL |
               CLI_GROUP_READING | CLI_GROUP_RULES,
     .takes_directories = true,
     .parts = {{.main_table = "rows"}},
     .examples = {"gputime sql trace.json.gz 'select name, sum(dur_ns) from ops group by name'",
                  "gputime sql r0.json r1.json 'select rank, sum(gap_ns) from gaps group by rank'",
                  "gputime sql profile.nsys-rep -f query.sql --csv", "gputime sql --schema"}},

    {.name = "list",
     .help = "supported inputs, analyses, outputs, exports, rules ...",
     .usage = "LIST",
     .words = "inputs|analyses|outputs|exports|categories|engines|rules",
     .details = "Prints what this build of gputime supports: inputs, analyses, outputs, exports, categories, engines "
                "or rules.",
     .action = CLI_ACTION_LIST,
     .groups = CLI_GROUP_FORMAT | CLI_GROUP_RULES,
     .formats = "text|json",
     .notes = {{"format", "text or json"}, {"rules", "also list the rules of this file or directory"}},
     .examples = {"gputime list inputs", "gputime list analyses --json", "gputime list rules --rules my.json"}},

    {.name = "define",
     .help = "definition of a JSON key or a word on the screen",
     .usage = "KEY",
     .words = "",
     .details = "Prints the definition of a table, column, fact, finding, issue or word, with its "
                "formula, from docs/measures.md and docs/words.md.",
     .action = CLI_ACTION_DEFINE,
     .examples = {"gputime define exposed_comm_ns", "gputime define idle_causes", "gputime define host_bound"}},

    {.name = "mcp",
     .help = "server for agents: the commands as tools (MCP)",
     .usage = "",
     .words = "",
     .details = "Serves the Model Context Protocol on standard input and output, for programs that start it: "
                "every command that only reads is a tool with the same options, and traces stay open between "
                "calls. Answers are limited in size and say what was left out. Clients name traces and nothing "
                "else of this machine; --root limits them to a directory. It ends when standard input ends.",
     .action = CLI_ACTION_MCP,
     .groups = CLI_GROUP_MCP | CLI_GROUP_READING,
     .notes = {{"redact", "hide host, user, paths, pids, clock of all traces"},
               {"redact-names", "the same, and names of kernels and ranges are hashes"}},
     .examples = {"gputime mcp", "gputime mcp --root traces --redact"}},

    {.name = "cache",
     .help = "show or clear the cache of parsed traces",
     .usage = "show|clear",
     .words = "show|clear",
     .details = "A trace that took more than a second to read is stored in compact form in "
                "$XDG_CACHE_HOME/gputime and read from there until the file changes. 'clear' deletes all "
                "of them.",
     .action = CLI_ACTION_CACHE,
     .examples = {"gputime cache show"}},

    {.name = "help",
     .help = "help for a command",
     .usage = "[COMMAND]",
     .words = "",
     .details = "The same as 'gputime COMMAND --help'. With --json: all commands, options and tables, for programs.",
     .action = CLI_ACTION_HELP,
     .groups = CLI_GROUP_FORMAT,
     .formats = "text|json",
     .notes = {{"format", "text or json"}},
     .examples = {"gputime help kernels", "gputime help --json"}},

    {.name = "version",
     .help = "versions of gputime and its libraries",
     .usage = "",
     .words = "",
     .details = "The same as 'gputime --version'.",
     .action = CLI_ACTION_VERSION,
     .examples = {"gputime version"}},
};
const size_t cli_command_count = sizeof cli_command_table / sizeof *cli_command_table;

const struct cli_command *cli_command_find(const char *name) {
    for (size_t i = 0; i < cli_command_count; i++)
        if (strcmp(cli_command_table[i].name, name) == 0)
            return &cli_command_table[i];
    return NULL;
}

bool cli_command_takes(const struct cli_command *command, const struct cli_option *option) {
    return ((command->groups | CLI_GROUPS_ALWAYS) & option->group) != 0;
}

/* The list of what a command without formats of its own writes. */
static enum gputime_registry written_by(const struct cli_command *command) {
    return command->action == CLI_ACTION_EXPORT ? GPUTIME_EXPORTS : GPUTIME_OUTPUTS;
}

bool cli_command_writes(const struct cli_command *command, const char *format) {
    return command->formats ? cli_choice_index(command->formats, format) >= 0
                            : gputime_registry_find(written_by(command), format).key != NULL;
}

const char *cli_command_formats(const struct cli_command *command, char *text, size_t size) {
    return command->formats ? command->formats : cli_registry_keys(written_by(command), text, size);
}

static const struct cli_note *find_note(const struct cli_command *command, const struct cli_option *option) {
    for (size_t i = 0; i < CLI_MAX_NOTES && command->notes[i].option; i++)
        if (strcmp(command->notes[i].option, option->name) == 0)
            return &command->notes[i];
    return NULL;
}

bool cli_command_has_note(const struct cli_command *command, const struct cli_option *option) {
    return find_note(command, option) != NULL;
}

const char *cli_command_option_help(const struct cli_command *command, const struct cli_option *option) {
    const struct cli_note *note = find_note(command, option);
    return note ? note->help : option->help;
}
