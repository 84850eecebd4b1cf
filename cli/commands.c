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
static const char *const device_gap_analyses[] = {"gaps", NULL};

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

static const char *const summary_analyses[] = {"overview", "findings",    "accounting",  "categories", "kernels",
                                               "gaps",     "memory",      "streams",     "phases",     "steps",
                                               "graphs",   "collectives", "driver_work", "processes",  NULL};

/* One screen: the rest is for data and pages. */
static const char *const summary_tables[] = {"findings",    "time_parts", "accounting_summary", "categories", "kernels",
                                             "idle_causes", "gaps",       "collectives",        NULL};
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

/* Charts that a screen has no room for. */
static const char *const summary_page_analyses[] = {"histogram", "launches", "range_tree", "timeline", NULL};

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

/* ---- findings ---- */

static const char *const finding_analyses[] = {"findings", NULL};
static const struct cli_list ranked_findings = {.table = "findings", .sort_offset = AT(sort), .top_offset = AT(top)};

/* ---- kernels ---- */

static const char *const kernel_analyses[] = {"kernels", NULL};
static const char *const launch_analyses[] = {"launches", NULL};

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

/* The data have the gaps of whole GPUs too. */
static const char *const all_gap_analyses[] = {"stream_gaps", "streams", "histogram", "transitions", "gaps", NULL};

static const char *const stream_gap_tables[] = {"streams", "histogram", "transitions", NULL};

static const struct gputime_shape device_gap_shapes[] = {
    {.table = "idle_causes", COLUMNS(CAUSE_COLUMNS)},
    {.table = "idle_causes_all", COLUMNS(ALL_CAUSE_COLUMNS)},
    {.table = "gaps", COLUMNS("device", "start_ns", "gap_ns", "cause", "before", "meanwhile")},
    {.table = NULL},
};

/* --sort and --top do here what --gap-sort and --gap-top do. */
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

static const char *const diff_analyses[] = {"kernels",  "memory", "phases",      "ranges",
                                            "launches", "graphs", "collectives", NULL};
static const char *const diff_data_analyses[] = {"streams", NULL};

/* The measures say what the accounting and the steps say for each GPU. */
static const char *const diff_tables[] = {"measures", "categories",  "kernels",         "memory",    "phases",
                                          "ranges",   "idle_causes", "idle_causes_all", "idle_work", "gaps",
                                          "launches", "graphs",      "collectives",     NULL};
static const char *const diff_data_tables[] = {"kernel_launches", NULL};
/* Every single gap would take more room than all the rest; asked for, they are compared by cause and next op. */
static const char *const diff_asked_tables[] = {"gaps", NULL};

static const struct cli_list diff_kernels = {.table = "kernels", .sort_offset = AT(sort), .top_offset = AT(top)};

static const char *const check_analyses[] = {"overview", "accounting", "steps",  "measures", "categories", "kernels",
                                             "memory",   "gaps",       "phases", "ranges",   "launches",   NULL};

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
    "findings",     "overview",     "accounting", "gaps",   "kernels", "categories", "memory",
    "launch_rates", "tiny_kernels", "sync_calls", "ranges", "phases",  NULL};
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
                                             NULL};
static const char *const explain_detail_tables[] = {
    "process_ranges", "process_coverage", "range_kernels", "longest_ranges",
    "processes",      "process_kernels",  "step_states",   NULL};
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
static const char *const schema_analyses[] = {"schema", NULL};

const struct cli_command cli_command_table[] = {
    {.name = "summary",
     .help = "the whole trace on one screen; also without a command",
     .usage = "TRACE...",
     .details = "Shows where the time of each GPU went (compute, exposed communication, exposed memory, idle), the "
                "categories of work, the kernels that took longest, why the GPU was idle, and what is wrong with the "
                "trace itself.",
     .action = CLI_ACTION_REPORT,
     .groups = CLI_GROUPS_REPORT | CLI_GROUP_PHASES,
     .parts = {{.main_table = "accounting",
                .analyses = summary_analyses,
                .tables = summary_tables,
                .shapes = summary_shapes,
                .lists = {&summary_kernels}},
               {.for_page = true, .analyses = summary_page_analyses}},
     .notes = {{"top", "kernels to show (6; 0 = all)"}},
     .examples = {"gputime trace.json.gz", "gputime --from 40% --to 60% profile.sqlite -o summary.md"}},

    {.name = "kernels",
     .help = "GPU kernels: launches, average, total, deviation, shares",
     .usage = "TRACE...",
     .details = "Ranks the kernels of the trace. Only work on a GPU counts; the launch calls have a table of their own "
                "(--launches).",
     .action = CLI_ACTION_REPORT,
     .groups = CLI_GROUPS_REPORT | CLI_GROUP_KERNELS | CLI_GROUP_GAP_PART,
     .parts = {{.main_table = "kernels",
                .output_layout = "kernel-analysis",
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
               {.option = AT(why),
                .value = 1,
                .analyses = kernel_analyses,
                .shapes = why_shapes,
                .lists = {&ranked_kernels}}},
     .prints_too = true,
     .hint = "tip: --sort duration-percentage ranks by GPU time",
     .notes = {{"top", "kernels to show (10; 0 = all)"},
               {"sort", "count, duration (average), percentage (of launches),\n"
                        "duration-percentage, or a column (count)"},
               {"step", "only kernels launched in step N (also --pstep)"},
               {"names", "group by full or by short, simplified name"},
               {"verbose", "show names whole"},
               {"output", "write the list of every kernel to FILE; the table is\n"
                          "printed too (-q: not)"}},
     .examples = {"gputime kernels --sort duration-percentage --top 20 trace.json.gz",
                  "gputime kernels --gaps --gap-output gaps.txt -o kernels.csv trace.json"}},

    {.name = "gaps",
     .help = "idle gaps: histogram, transitions, causes",
     .usage = "TRACE...",
     .details = "Shows the time in which nothing ran: on each stream, with a histogram and the kernel before and after "
                "(transitions); or, with --per device, on each whole GPU, with the cause of every gap.",
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
               {"output", "write the gap report to FILE; the tables are printed\n"
                          "too (-q: not)"}},
     .examples = {"gputime gaps --gap-sort max trace.json.gz", "gputime gaps --per device --top 20 profile.sqlite"}},

    {.name = "ranges",
     .help = "NVTX ranges and annotations: what each put on the GPU",
     .usage = "TRACE...",
     .details = "Shows the GPU work that was launched inside each range of the program, by name. Busy counts work in "
                "inner ranges too, exclusive only that of the innermost; projected is the time from the first to the "
                "last op of each range. Data formats list every single range as well (table range_instances).",
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
     .help = "steps of the program: account of each, warm-up, outliers",
     .usage = "TRACE...",
     .details = "Shows where the GPU time of each step went, from the first to the last op it launched. Steps are the "
                "ranges ProfilerStep#N, 'step N', 'iteration N', train_step and the like, whichever the trace has. "
                "One that takes over 1.5 times the median is an outlier; before the first usual one it is warm-up.",
     .action = CLI_ACTION_REPORT,
     .groups = CLI_GROUPS_REPORT,
     .parts = {{.main_table = "steps", .analyses = step_analyses, .shapes = step_shapes, .lists = {&all_steps}},
               TIMELINE_PART},
     .notes = {{"top", "steps to show (20; 0 = all)"}},
     .examples = {"gputime steps trace.json.gz", "gputime steps --sort cpu_ns --top 5 profile.nsys-rep"}},

    {.name = "findings",
     .help = "what to do next, with the evidence",
     .usage = "TRACE...",
     .details = "Lists what stands out in a trace: the most severe first, then the most GPU time to win back. Each "
                "finding has its evidence "
                "in numbers, advice, and the table to look at (--table KEY). The times to win back overlap: they are "
                "upper bounds, each for itself.",
     .action = CLI_ACTION_REPORT,
     .groups = CLI_GROUPS_REPORT | CLI_GROUP_PHASES,
     .parts = {{.main_table = "findings", .analyses = finding_analyses, .lists = {&ranked_findings}}},
     .notes = {{"top", "findings to show (all)"}, {"columns", "parts to show: title, evidence, advice, table"}},
     .examples = {"gputime findings profile.nsys-rep", "gputime findings --step 3-9 --json trace.json.gz"}},

    {.name = "graph",
     .help = "GPU and non-GPU time of runs by category, side by side",
     .usage = "RUN...",
     .details = "A RUN is FILE,ENGINE,MODEL,SECONDS: a trace, whose rules its kernels are classed by ('gputime list "
                "engines'), and how long the run took without a profiler (0: as long as the trace has GPU work); or a "
                "trace alone. Time that ops overlap counts once, for the earlier; what the run has beside is "
                "CPU(non-GPU). Writes result.csv and result.html, unless --format or --output says else.",
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
     .help = "a report to keep: findings, kernels, idle, ranges, processes",
     .usage = "TRACE --out DIR",
     .details = "Writes all there is to say about a trace into a folder: report.md, report.json and report.html with "
                "what to do next on top, and tables/*.csv. The keys and columns of nsys-llm-explain are there under "
                "their names. Without --out the report is printed like that of any command.",
     .action = CLI_ACTION_REPORT,
     .groups = CLI_GROUPS_REPORT | CLI_GROUP_EXPLAIN | CLI_GROUP_PHASES,
     .folder_layout = "explain",
     .folder_files = "report.md, with report.json, report.html and tables/",
     .parts = {{.main_table = "findings",
                .print_layout = "explain-brief",
                .analyses = explain_analyses,
                .tables = explain_tables,
                .shapes = explain_shapes,
                .lists = {&explained_kernels, &limited_kernels, &explained_gaps}},
               {.option = AT(no_range_kernels), .value = 0, .analyses = explain_process_phase_analyses},
               {.analyses = explain_detail_analyses, .tables = explain_detail_tables},
               {.option = AT(print_schema),
                .value = 1,
                .is_alone = true,
                .text_layout = "explain-schema",
                .print_layout = "explain-schema",
                .analyses = schema_analyses,
                .tables = schema_tables,
                .shapes = shown_schema}},
     .notes = {{"top", "kernels and gaps to list (30, 50; 0 = all)"}},
     .examples = {"gputime explain profile.nsys-rep --out report",
                  "gputime explain profile.sqlite --out report --phase-map phases.json"}},

    {.name = "stats",
     .help = "time of an iteration by class, NCCL, copies, NVTX",
     .usage = "TRACE...|--config FILE",
     .details =
         "Divides the time of kernels, communication and copies by iterations and GPUs. Classes are those of --map "
         "(substrings of kernel names), else the built-in categories. With --nvtx-tag it estimates what of an "
         "iteration no kernel covers.",
     .action = CLI_ACTION_REPORT,
     .groups = CLI_GROUPS_REPORT | CLI_GROUP_STATS | CLI_GROUP_TITLE,
     .parts =
         {{.main_table = "class_stats", .text_layout = "stats", .analyses = stats_analyses, .lists = {&class_list}}},
     .examples = {"gputime stats --config runs.json",
                  "gputime stats --map classes.json --iters 5 --nvtx-tag Train_step t.nsys-rep"}},

    {.name = "diff",
     .help = "what changed between two traces; limits for CI",
     .usage = "A B | --a A... --b B...",
     .details =
         "Compares trace B with trace A, of any kinds: where the time went, categories, kernels, ranges, why the "
         "GPU was idle. Names that differ are matched by simplified name, then without tile sizes, architecture "
         "and generated numbers, then by category. A change inside the spread of steps and launches, or of "
         "several captures, is noise. Per step, and only then, warm-up and what is outside the steps are left out "
         "(--from 0 takes them in). Ranges go by their exclusive GPU time: ops inside inner ranges count there. Limits "
         "are as those of "
         "'gputime check', but of changes: rows that match are summed, or after 'each' judged one by one; what one "
         "side cannot tell is an error (exit 2).",
     .action = CLI_ACTION_DIFF,
     .groups = CLI_GROUPS_REPORT | CLI_GROUP_PHASES | CLI_GROUP_DIFF | CLI_GROUP_LIMITS,
     .parts = {{.main_table = "measures",
                .analyses = diff_analyses,
                .tables = diff_tables,
                .data_tables = diff_data_tables,
                .asked_tables = diff_asked_tables,
                .lists = {&diff_kernels}},
               {.for_data = true, .analyses = diff_data_analyses}},
     .notes = {{"top", "kernels to show (10; 0 = all)"}},
     .examples = {"gputime diff --of kernels --per step before.sqlite after.json.gz",
                  "gputime diff --a a1.json a2.json --b b1.json b2.json -o pr.md",
                  "gputime diff a.json b.json --fail-if 'step>+3%' --fail-if 'each kernel:*>+9%'"}},

    {.name = "check",
     .help = "limits of one trace for CI: idle, gaps, kernels, health",
     .usage = "TRACE... --limit LIMIT",
     .details =
         "Says for each limit whether the trace keeps it. A limit is a measure (step, span, busy, idle, compute, "
         "exposed_comm, exposed_memory, comm, memory, overlap, sum, utilisation, coverage, gap, launches, steps, "
         "issues, losses) or kernel:, category:, range:, phase:, memory:, cause:, launch:, work: and a name, "
         "with '*' also one that no row has; then < <= > or >=, then a number with % (of the span, or of the table), "
         "ns, us, ms, s, or nothing. Rows that match are summed; after 'each', every row is judged by itself. "
         "step leaves warm-up out; range: and phase: are exclusive GPU time. What the trace cannot tell is an error "
         "(exit 2). In a file of limits ('-' is standard input) '#' at the start of a line or behind a space begins a "
         "comment.",
     .action = CLI_ACTION_CHECK,
     .groups =
         (CLI_GROUPS_REPORT & ~(unsigned)CLI_GROUP_TABLES) | CLI_GROUP_PHASES | CLI_GROUP_CHECK | CLI_GROUP_LIMITS,
     .parts = {{.main_table = "limits", .analyses = check_analyses, .tables = check_tables, .shapes = check_shapes}},
     .examples = {"gputime check trace.json.gz --limit 'idle<20%' --limit 'exposed_comm<5%'",
                  "gputime check profile.nsys-rep --limits limits.txt --json",
                  "gputime check trace.json.gz --limit 'each kernel:*<20%' --strict"}},

    {.name = "redact",
     .help = "a copy of an Nsight export without private data",
     .usage = "EXPORT.sqlite -o FILE",
     .details = "Writes a new SQLite export of a capture of Nsight Systems that is fit to share: without host, user, "
                "environment, paths, process list and clock time, and with new numbers for processes and threads. "
                "Only tables and columns that are known to be harmless are copied. Every report is the same from the "
                "copy, but for names of processes. Names of kernels and ranges stay unless they hold a path; --names "
                "hash hides them all, and with them what names tell: steps, phases and most categories.",
     .action = CLI_ACTION_REDACT,
     .groups = CLI_GROUP_NAMES | CLI_GROUP_FILE,
     .notes = {{"names", "full; hash: kernels and ranges are k_3f9a0c12 and\n"
                         "the like"},
               {"output", "the file to write"},
               {"quiet", "do not tell what was written"}},
     .examples = {"gputime redact profile.sqlite -o shared.sqlite",
                  "gputime redact --names hash profile.sqlite -o shared.sqlite"}},

    {.name = "list",
     .help = "what can be read, measured and written",
     .usage = "inputs|analyses|outputs|categories|engines|rules",
     .words = "inputs|analyses|outputs|categories|engines|rules",
     .details = "Prints one of the lists of what this build of gputime knows.",
     .action = CLI_ACTION_LIST,
     .groups = CLI_GROUP_FORMAT | CLI_GROUP_RULES,
     .formats = "text|json",
     .notes = {{"format", "text or json"}, {"rules", "list those of this file or folder too"}},
     .examples = {"gputime list inputs", "gputime list analyses --json", "gputime list rules --rules my.json"}},

    {.name = "define",
     .help = "what a number means: the formula of a key of the JSON",
     .usage = "KEY",
     .words = "",
     .details = "Prints what docs/measures.md says of a table, column, fact, finding or issue.",
     .action = CLI_ACTION_DEFINE,
     .examples = {"gputime define exposed_comm_ns", "gputime define idle_causes", "gputime define host_bound"}},

    {.name = "cache",
     .help = "the cache of traces that took long to read",
     .usage = "show|clear",
     .words = "show|clear",
     .details = "A trace that took over a second to read is kept in a compact form under $XDG_CACHE_HOME/gputime and "
                "read from there as long as the file has not changed. 'clear' removes all of it.",
     .action = CLI_ACTION_CACHE,
     .examples = {"gputime cache show"}},

    {.name = "help",
     .help = "help on a command",
     .usage = "[COMMAND]",
     .words = "",
     .details = "The same as 'gputime COMMAND --help'.",
     .action = CLI_ACTION_HELP,
     .examples = {"gputime help kernels"}},

    {.name = "version",
     .help = "the version of the program and of its libraries",
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
    return ((command->groups | CLI_GROUPS_ALWAYS) & (unsigned)option->group) != 0;
}

bool cli_command_writes(const struct cli_command *command, const char *format) {
    return !command->formats || cli_choice_index(command->formats, format) >= 0;
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
