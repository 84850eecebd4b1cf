/* Path kinds: what the time of each window of the critical path was spent on. */
#include "measure/results/measure.h"
#include "measure/results/paths.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"window", "Window", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"kind", "Spent on", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"total_ns", "Time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"share", "Share", GT_UNIT_SHARE, "window", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
    {"inferred_ns", "Inferred", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
};

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

/* ---- in words ---- */

/* What all windows that count spent, and how many steps they are. */
struct total {
    int64_t length_ns, time_ns[GT_DAG_TIME_COUNT];
    size_t windows, steps;
};

static struct total add_up(const struct gt_paths *paths) {
    struct total total = {0};
    for (size_t i = 0; i < paths->window_count; i++) {
        const struct gt_path_window *window = &paths->windows[i];
        total.steps += window->kind == GT_PATH_STEP && (!window->is_hidden || window->counts);
        if (!window->counts)
            continue;
        total.windows++;
        total.length_ns = gt_ns_add(total.length_ns, gt_paths_length_ns(window));
        for (size_t kind = 0; kind < GT_DAG_TIME_COUNT; kind++)
            total.time_ns[kind] += window->time_ns[kind];
    }
    return total;
}

static const char *const kind_words[GT_DAG_TIME_COUNT] = {
    [GT_DAG_TIME_KERNEL] = "kernels",        [GT_DAG_TIME_COMM] = "communication",
    [GT_DAG_TIME_COPY] = "copies",           [GT_DAG_TIME_QUEUE] = "latency between GPU ops",
    [GT_DAG_TIME_LAUNCH] = "launching",      [GT_DAG_TIME_CPU] = "waits for the CPU",
    [GT_DAG_TIME_CALL] = "other CUDA calls", [GT_DAG_TIME_SYNC] = "synchronization",
    [GT_DAG_TIME_UNKNOWN] = "unexplained",
};

static double percent(int64_t part_ns, int64_t whole_ns) {
    return whole_ns > 0 ? 100 * (double)part_ns / (double)whole_ns : 0;
}

/* " 82% waits for the CPU (backward: 55%), 12% launching": the largest parts. */
static struct gt_str list_parts(const struct gt_view *view, struct gt_arena *arena, struct total total,
                                const struct gt_path_cpu *cpu) {
    enum { PARTS_MOST = 4 };
    struct gt_str list = {"", 0};
    for (size_t part = 0; part < PARTS_MOST; part++) {
        size_t largest = 0;
        for (size_t kind = 1; kind < GT_DAG_TIME_COUNT; kind++)
            largest = total.time_ns[kind] > total.time_ns[largest] ? kind : largest;
        double share = percent(total.time_ns[largest], total.length_ns);
        if (share < 1)
            break;
        list = gt_arena_printf(arena, "%s%s %.0f%% %s", list.ptr, part ? "," : "", share, kind_words[largest]);
        gt_strid range = largest == GT_DAG_TIME_CPU ? cpu->main_range : GT_STRID_EMPTY;
        struct gt_str name = gt_str_cut(gt_store_string(view->store, range), 40);
        if (range != GT_STRID_EMPTY && percent(cpu->main_range_ns, total.length_ns) >= 5)
            list = gt_arena_printf(arena, "%s (%.*s: %.0f%%)", list.ptr, (int)name.len, name.ptr,
                                   percent(cpu->main_range_ns, total.length_ns));
        total.time_ns[largest] = 0;
    }
    return list;
}

static bool is_refused(const struct gt_paths *paths) {
    for (size_t i = 0; i < paths->window_count; i++)
        if (paths->windows[i].counts && paths->windows[i].trust == GT_PATH_REFUSED)
            return true;
    return false;
}

static struct gt_str say_savings(struct gt_arena *arena, const struct gt_paths *paths, double percent_saved) {
    if (is_refused(paths))
        return GT_STR("too much is unexplained to say what would save time");
    if (percent_saved < 1)
        return GT_STR("faster kernels would save almost nothing");
    return gt_arena_printf(arena, "kernels that take 10%% less would save %.1f%%", percent_saved);
}

/* One graph has all of the trace: leaving GPUs or ops out of it would leave waits without a cause. */
static void say_selection(const struct gt_view *view, struct gt_section *section) {
    const struct gputime_selection *asked = &view->request->selection;
    if (asked->device_count || asked->stream_count || asked->category_count || asked->name)
        gt_section_note(section, GT_FOR_ALL,
                        GT_STR("The critical path leads through all GPU work, not only through what is selected."));
}

static void say(const struct gt_view *view, struct gt_section *section, const struct gt_paths *paths,
                const struct gt_path_cpu *cpu, const struct gt_path_names *names) {
    struct gt_arena *arena = &section->report->arena;
    struct total total = add_up(paths);
    char length[GT_NUM_MAX];
    size_t parts = total.steps ? total.steps : total.windows;
    if (!total.windows) {
        gt_section_note(section, GT_FOR_ALL, GT_STR("No GPU work to find a path through."));
        return;
    }
    gt_num_format_duration(length, (double)total.length_ns / (double)parts);
    struct gt_str what = total.steps ? GT_STR("Step") : GT_STR("Window");
    if (!total.steps && paths->window_count && paths->windows[0].kind == GT_PATH_TRACE)
        what = GT_STR("Trace");
    if (!total.steps && paths->window_count && paths->windows[0].kind == GT_PATH_RANGE)
        what = GT_STR("Range");
    struct gt_str list = list_parts(view, arena, total, cpu);
    struct gt_str end = say_savings(arena, paths, percent(names->faster_saves_ns, total.length_ns));
    gt_section_note(section, GT_FOR_ALL,
                    gt_arena_printf(arena, "%s %s%s:%s; %s.", what.ptr, length, parts > 1 ? " on average" : "",
                                    list.len ? list.ptr : " nothing to see", end.ptr));
}

enum gt_status gt_path_kinds_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_paths *paths = gt_results_paths(view, err);
    const struct gt_path_cpu *cpu = paths ? gt_results_path_cpu(view, err) : NULL;
    const struct gt_path_names *names = cpu ? gt_results_path_names(view, err) : NULL;
    if (!names)
        return err->code;
    say(view, section, paths, cpu, names);
    say_selection(view, section);
    struct gt_table *table =
        gt_section_table(section, "path_kinds", "Critical path by kind", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 20;
    for (size_t i = 0; i < paths->window_count; i++)
        if (!paths->windows[i].is_hidden)
            add_window(view, section, table, &paths->windows[i]);
    struct gt_measure_fact_group facts = {.section = section, .audience = GT_FOR_DATA | GT_FOR_PAGE};
    const struct gt_dag *dag = paths->dag;
    if (dag->is_cut_short)
        gt_section_note(section, GT_FOR_ALL,
                        GT_STR("The trace has so many streams or threads that inferred dependencies may be missing."));
    if (paths->is_cut_short)
        gt_section_note(section, GT_FOR_ALL, GT_STR("Only the first 4,096 ranges of that name have a path."));
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
