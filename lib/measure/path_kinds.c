/* Path kinds: what the time of each window of the critical path was spent on. */
#include "measure/results/measure.h"
#include "measure/results/path_words.h"
#include "measure/results/paths.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"window", "Window", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_VARIES},
    {"kind", "Spent on", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"total_ns", "Time", GT_UNIT_NS, NULL, 0},
    {"share", "Share", GT_UNIT_SHARE, "window", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
    {"inferred_ns", "Inferred", GT_UNIT_NS, NULL, GT_COLUMN_SPARSE},
};

/* The same, a row for each window: what pages draw. */
static const struct gt_report_column window_columns[] = {
    {"window", "Window", GT_UNIT_NONE, NULL, 0},
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_VARIES},
    {"start_ns", "Start", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_MOMENT},
    {"total_ns", "Time", GT_UNIT_NS, NULL, 0},
    {"kernel_ns", "Kernels", GT_UNIT_NS, NULL, GT_COLUMN_SPARSE},
    {"comm_ns", "Comm", GT_UNIT_NS, NULL, GT_COLUMN_SPARSE},
    {"copy_ns", "Copies", GT_UNIT_NS, NULL, GT_COLUMN_SPARSE},
    {"queue_ns", "Queue", GT_UNIT_NS, NULL, GT_COLUMN_SPARSE},
    {"launch_ns", "Launch", GT_UNIT_NS, NULL, GT_COLUMN_SPARSE},
    {"cpu_ns", "CPU", GT_UNIT_NS, NULL, GT_COLUMN_SPARSE},
    {"call_ns", "Calls", GT_UNIT_NS, NULL, GT_COLUMN_SPARSE},
    {"sync_ns", "Sync", GT_UNIT_NS, NULL, GT_COLUMN_SPARSE},
    {"unknown_ns", "Unknown", GT_UNIT_NS, NULL, GT_COLUMN_SPARSE},
};

static const char *const kind_columns[GT_DAG_TIME_COUNT] = {
    [GT_DAG_TIME_KERNEL] = "kernel_ns", [GT_DAG_TIME_COMM] = "comm_ns",     [GT_DAG_TIME_COPY] = "copy_ns",
    [GT_DAG_TIME_QUEUE] = "queue_ns",   [GT_DAG_TIME_LAUNCH] = "launch_ns", [GT_DAG_TIME_CPU] = "cpu_ns",
    [GT_DAG_TIME_CALL] = "call_ns",     [GT_DAG_TIME_SYNC] = "sync_ns",     [GT_DAG_TIME_UNKNOWN] = "unknown_ns",
};

static bool list_windows(const struct gt_view *view, struct gt_section *section, const struct gt_paths *paths) {
    const struct gt_report_column *chosen =
        gt_paths_columns(paths, &section->report->arena, window_columns, GT_ARRAY_COUNT(window_columns));
    if (!chosen)
        return false;
    struct gt_table *table =
        gt_section_table(section, "path_windows", "Critical path by window", chosen, GT_ARRAY_COUNT(window_columns));
    table->screen_limit = 8;
    for (size_t i = 0; i < paths->listed_count; i++) {
        const struct gt_path_window *window = &paths->windows[paths->listed[i]];
        struct gt_row row = gt_row_begin(table);
        gt_row_cell(&row, "window", gt_paths_window_cell(section, window));
        gt_row_cell(&row, "pid", gt_measure_pid_cell(view, window->process));
        gt_row_cell(&row, "start_ns", gt_measure_time_cell(view, window->start_ns));
        gt_row_int(&row, "total_ns", gt_paths_length_ns(window));
        for (size_t kind = 0; kind < GT_DAG_TIME_COUNT; kind++)
            gt_row_int(&row, kind_columns[kind], window->time_ns[kind]);
        gt_row_end(&row);
    }
    if (paths->listed_count < 2) /* the table of kinds has it all */
        gt_measure_table_for(section, table, GT_FOR_DATA | GT_FOR_PAGE);
    return true;
}

static void add_window(const struct gt_view *view, struct gt_section *section, struct gt_table *table,
                       const struct gt_path_window *window) {
    struct gt_cell name = gt_paths_window_cell(section, window);
    for (size_t kind = 0; kind < GT_DAG_TIME_COUNT; kind++) {
        if (!window->time_ns[kind])
            continue;
        struct gt_row row = gt_row_begin(table);
        gt_row_cell(&row, "window", name);
        gt_row_cell(&row, "pid", gt_measure_pid_cell(view, window->process));
        gt_row_text(&row, "kind", gt_str_of(gt_dag_walk_word((enum gt_dag_time)kind)));
        gt_row_int(&row, "total_ns", window->time_ns[kind]);
        gt_row_share(&row, "share", (double)window->time_ns[kind], (double)gt_paths_length_ns(window));
        gt_row_int(&row, "inferred_ns", window->inferred_time_ns[kind]);
        gt_row_end(&row);
    }
}

/* Windows that count come first, and on the screen nothing else. */
static void add_windows(const struct gt_view *view, struct gt_section *section, struct gt_table *table,
                        const struct gt_paths *paths) {
    enum { SCREEN_ROWS = 20 };
    for (size_t i = 0; i < paths->listed_count; i++) {
        add_window(view, section, table, &paths->windows[paths->listed[i]]);
        if (i < paths->counted_count)
            table->screen_limit = table->row_count < SCREEN_ROWS ? table->row_count : SCREEN_ROWS;
    }
}

/* ---- in words ---- */

static struct gt_str say_savings(struct gt_arena *arena, const struct gt_paths *paths, double percent_saved) {
    if (gt_paths_is_refused(paths))
        return GT_STR("too much is unexplained to say what would save time");
    if (percent_saved < 1)
        return GT_STR("faster kernels would save almost nothing");
    return gt_arena_printf(arena, "kernels that take 10%% less would save %.1f%%", percent_saved);
}

static void say_selection(const struct gt_view *view, struct gt_section *section) {
    if (gt_paths_ignores_selection(view))
        gt_section_note(section, GT_FOR_ALL,
                        GT_STR("The critical path leads through all GPU work, not only through what is selected."));
}

/* " Without the warm-up ...": the path has all steps, and a long first one dominates their mean. */
static struct gt_str say_warm_up(struct gt_arena *arena, const struct gt_paths *paths,
                                 const struct gt_step_set *steps) {
    char length[GT_NUM_MAX];
    int64_t steady_ns = 0;
    size_t steady = 0, warm = 0;
    for (size_t i = 0; i < paths->window_count && steps->states; i++) {
        const struct gt_path_window *window = &paths->windows[i];
        bool is_step = window->kind == GT_PATH_STEP && (!window->is_hidden || window->counts);
        if (!is_step || window->step == GT_NO_ROW)
            continue;
        bool is_warm_up = steps->states[window->step] == GT_STEP_WARM_UP;
        warm += is_warm_up;
        steady += !is_warm_up;
        steady_ns = gt_ns_add(steady_ns, is_warm_up ? 0 : gt_paths_length_ns(window));
    }
    if (!warm || !steady)
        return GT_STR("");
    gt_num_format_duration(length, (double)steady_ns / (double)steady);
    return gt_arena_printf(arena, " %zu of %zu steps %s warm-up; without it a step takes %s%s.", warm, warm + steady,
                           warm > 1 ? "are" : "is", length, steady > 1 ? " on average" : "");
}

static void say(const struct gt_view *view, struct gt_section *section, const struct gt_paths *paths,
                const struct gt_path_cpu *cpu, const struct gt_path_names *names, const struct gt_step_set *steps) {
    struct gt_arena *arena = &section->report->arena;
    struct gt_path_words_sum sum = gt_path_words_add_up(paths);
    struct gt_str words = gt_path_words_say(view, paths, &sum, cpu, arena);
    if (!words.len) {
        gt_section_note(section, GT_FOR_ALL, GT_STR("No GPU work to find a path through."));
        return;
    }
    double saves = sum.length_ns > 0 ? 100 * (double)names->faster_saves_ns / (double)sum.length_ns : 0;
    struct gt_str end = say_savings(arena, paths, saves);
    gt_section_note(section, GT_FOR_ALL,
                    gt_arena_printf(arena, "%s; %s.%s", words.ptr, end.ptr, say_warm_up(arena, paths, steps).ptr));
}

enum gt_status gt_path_kinds_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_paths *paths = gt_results_paths(view, err);
    const struct gt_path_cpu *cpu = paths ? gt_results_path_cpu(view, err) : NULL;
    const struct gt_path_names *names = cpu ? gt_results_path_names(view, err) : NULL;
    const struct gt_step_set *steps = names ? gt_results_steps(view, err) : NULL;
    if (!steps)
        return err->code;
    say(view, section, paths, cpu, names, steps);
    say_selection(view, section);
    if (!list_windows(view, section, paths))
        return gt_fail_memory(err);
    struct gt_table *table =
        gt_section_table(section, "path_kinds", "Critical path by kind", columns, GT_ARRAY_COUNT(columns));
    add_windows(view, section, table, paths);
    struct gt_measure_fact_group facts = {.section = section, .audience = GT_FOR_DATA | GT_FOR_PAGE};
    const struct gt_dag *dag = paths->dag;
    if (dag->is_cut_short)
        gt_section_note(section, GT_FOR_ALL,
                        GT_STR("The trace has so many streams or threads that inferred dependencies may be missing."));
    if (paths->is_cut_short)
        gt_section_note(section, GT_FOR_ALL, gt_paths_cut_note(&section->report->arena, paths));
    gt_measure_fact_group_add(&facts, "path_nodes", "Nodes of the dependency graph", GT_UNIT_COUNT,
                              gt_cell_count(dag->node_count));
    gt_measure_fact_group_add(&facts, "path_edges", "Edges of the dependency graph", GT_UNIT_COUNT,
                              gt_cell_count(dag->edge_count));
    gt_measure_fact_group_add(&facts, "edges_inferred", "Inferred edges", GT_UNIT_COUNT,
                              gt_cell_count(dag->inferred_count));
    gt_measure_fact_group_add(&facts, "edges_contradicting", "Edges that times contradict", GT_UNIT_COUNT,
                              gt_cell_count(dag->contradicting_count));
    gt_measure_fact_group_add(&facts, "queue_depth", "Launches that fill a queue", GT_UNIT_COUNT,
                              dag->queue_depth ? gt_cell_int(dag->queue_depth) : gt_cell_null());
    return GT_OK;
}
