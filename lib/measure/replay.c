/* Replay: how well the dependency graph gives back the time of each window, and what it consists of. */
#include "measure/results/measure.h"
#include "measure/results/paths.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"window", "Window", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_VARIES},
    {"wall_ns", "Recorded", GT_UNIT_NS, NULL, 0},
    {"replay_ns", "Replayed", GT_UNIT_NS, NULL, 0},
    {"error", "Error", GT_UNIT_SHARE, "recorded time", 0},
    {"unknown_ns", "Unknown", GT_UNIT_NS, NULL, GT_COLUMN_SPARSE},
    {"inferred_ns", "Inferred", GT_UNIT_NS, NULL, GT_COLUMN_SPARSE},
    {"trust", "Trust", GT_UNIT_NONE, NULL, 0},
    {"start_ns", "Start", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_MOMENT},
    {"segments", "Segments", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},
};

static const struct gt_report_column kind_columns[] = {
    {"kind", "Edge", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"recorded", "Recorded", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"inferred", "Inferred", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
};

static const struct gt_report_column delay_columns[] = {
    {"kind", "Edge", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"to", "To", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"count", "Binding", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"typical_ns", "Usual latency", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"limit_ns", "Limit", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
};

static void add_window(const struct gt_view *view, struct gt_section *section, struct gt_table *table,
                       const struct gt_path_window *window) {
    struct gt_cell name = gt_paths_window_cell(section, window);
    struct gt_row row = gt_row_begin(table);
    gt_row_cell(&row, "window", name);
    gt_row_cell(&row, "pid", gt_measure_pid_cell(view, window->process));
    gt_row_int(&row, "wall_ns", gt_paths_length_ns(window));
    gt_row_cell(&row, "replay_ns", window->is_replayed ? gt_cell_int(window->replay_ns) : gt_cell_null());
    gt_row_real(&row, "error", window->error);
    gt_row_int(&row, "unknown_ns", window->time_ns[GT_DAG_TIME_UNKNOWN]);
    gt_row_int(&row, "inferred_ns", window->inferred_ns);
    gt_row_text(&row, "trust", gt_str_of(gt_paths_trust_word(window->trust)));
    gt_row_cell(&row, "start_ns", gt_measure_time_cell(view, window->start_ns));
    gt_row_count(&row, "segments", window->segment_count);
    gt_row_end(&row);
}

/* Windows that count come first; steps that are explained well need no line on the screen. */
static void add_windows(const struct gt_view *view, struct gt_section *section, struct gt_table *table,
                        const struct gt_paths *paths) {
    enum { SCREEN_ROWS = 20 };
    bool is_good = true;
    for (size_t i = 0; i < paths->listed_count; i++) {
        add_window(view, section, table, &paths->windows[paths->listed[i]]);
        is_good &= paths->windows[paths->listed[i]].trust == GT_PATH_GOOD;
    }
    table->screen_limit = is_good && paths->counted_count < SCREEN_ROWS ? paths->counted_count : SCREEN_ROWS;
}

static void add_kinds(struct gt_section *section, const struct gt_dag *dag) {
    struct gt_table *table = gt_section_table(section, "edge_kinds", "Edges of the dependency graph", kind_columns,
                                              GT_ARRAY_COUNT(kind_columns));
    for (size_t kind = 0; kind < GT_DAG_EDGE_KINDS; kind++) {
        if (!dag->kind_count[kind][0] && !dag->kind_count[kind][1])
            continue;
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "kind", gt_str_of(gt_dag_edge_word((enum gt_dag_edge_kind)kind)));
        gt_row_count(&row, "recorded", dag->kind_count[kind][0]);
        gt_row_count(&row, "inferred", dag->kind_count[kind][1]);
        gt_row_end(&row);
    }
    gt_measure_table_for(section, table, GT_FOR_DATA | GT_FOR_PAGE);
}

static void add_delays(struct gt_section *section, const struct gt_dag *dag) {
    struct gt_table *table = gt_section_table(section, "edge_delays", "Usual latencies of edges", delay_columns,
                                              GT_ARRAY_COUNT(delay_columns));
    for (size_t i = GT_DAG_EDGE_KINDS; i < dag->delay_count; i++) {
        const struct gt_dag_delay *delay = &dag->delays[i];
        if (!delay->count)
            continue;
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "kind", gt_str_of(gt_dag_edge_word(delay->kind)));
        gt_row_text(&row, "to", gt_arena_copy(&section->report->arena, delay->class_name));
        gt_row_count(&row, "count", delay->count);
        gt_row_int(&row, "typical_ns", delay->typical_ns);
        gt_row_int(&row, "limit_ns", delay->limit_ns);
        gt_row_end(&row);
    }
    gt_measure_table_for(section, table, GT_FOR_DATA | GT_FOR_PAGE);
}

enum gt_status gt_replay_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_paths *paths = gt_results_paths(view, err);
    if (!paths)
        return err->code;
    struct gt_table *table =
        gt_section_table(section, "replay", "Replay of the dependency graph", columns, GT_ARRAY_COUNT(columns));
    add_windows(view, section, table, paths);
    add_kinds(section, paths->dag);
    add_delays(section, paths->dag);
    return GT_OK;
}
