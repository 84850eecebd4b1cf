/* Critical path: the chain of CPU and GPU work that took the time of each window, segment by segment. */
#include "measure/results/calls.h"
#include "measure/results/measure.h"
#include "measure/results/paths.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"window", "Window", GT_UNIT_NONE, NULL, 0},
    {"start_ns", "Start", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT},
    {"end_ns", "End", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_MOMENT},
    {"dur_ns", "Length", GT_UNIT_NS, NULL, 0},
    {"kind", "Spent on", GT_UNIT_NONE, NULL, 0},
    {"name", "Name", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"stream", "Stream", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"tid", "Thread", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"range", "Range", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_DETAIL},
    {"operator", "Operator", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_DETAIL},
    {"inferred", "Inferred", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
};

static struct gt_cell text_or_null(struct gt_str text) {
    return text.len ? gt_cell_text(text) : gt_cell_null();
}

static void add_place(const struct gt_view *view, struct gt_row *row, const struct gt_paths *paths,
                      const struct gt_dag_segment *segment) {
    const struct gt_dag *dag = paths->dag;
    const struct gt_store *store = view->store;
    bool is_op = segment->node != GT_DAG_NONE && dag->kind[segment->node] == GT_DAG_OP;
    uint32_t lane = is_op ? store->ops.lane[dag->row[segment->node]] : GT_NO_TRACK;
    uint32_t device = is_op ? store->lanes.device[lane] : GT_NO_TRACK;
    gt_row_cell(row, "device",
                is_op && device < store->devices.count ? gt_cell_int(store->devices.id[device]) : gt_cell_null());
    gt_row_cell(row, "stream", is_op ? gt_cell_int(store->lanes.stream[lane]) : gt_cell_null());
}

/* Innermost range and operator: of the launch of an op, or of most of the CPU time. */
static void add_around(const struct gt_view *view, struct gt_row *row, const struct gt_paths *paths,
                       const struct gt_dag_segment *segment, struct gt_path_cpu_place place) {
    const struct gt_store *store = view->store;
    bool is_op = segment->edge == GT_DAG_NONE && segment->time <= GT_DAG_TIME_COPY;
    uint32_t range = is_op ? view->labels->op_range[paths->dag->row[segment->node]] : GT_NO_ROW;
    gt_row_cell(row, "range",
                text_or_null(gt_store_string(store, range == GT_NO_ROW ? place.range : store->ranges.name[range])));
    gt_row_cell(row, "operator", text_or_null(gt_store_string(store, place.cpu_op)));
}

static void add_segment(const struct gt_view *view, struct gt_table *table, const struct gt_paths *paths,
                        const struct gt_path_window *window, struct gt_cell name, const struct gt_dag_segment *segment,
                        struct gt_path_cpu_place place) {
    const struct gt_store *store = view->store;
    uint32_t thread = gt_dag_walk_thread(paths->dag, segment);
    struct gt_row row = gt_row_begin(table);
    gt_row_cell(&row, "window", name);
    gt_row_cell(&row, "start_ns", gt_measure_time_cell(view, segment->start_ns));
    gt_row_cell(&row, "end_ns", gt_measure_time_cell(view, segment->end_ns));
    gt_row_int(&row, "dur_ns", gt_ns_between(segment->start_ns, segment->end_ns));
    gt_row_text(&row, "kind", gt_str_of(gt_dag_walk_word((enum gt_dag_time)segment->time)));
    gt_row_cell(&row, "name", text_or_null(gt_call_plain_name(gt_paths_segment_name(paths, segment))));
    add_place(view, &row, paths, segment);
    gt_row_cell(&row, "pid", gt_measure_pid_cell(view, window->process));
    gt_row_cell(&row, "tid", thread == GT_NO_TRACK ? gt_cell_null() : gt_cell_int(store->threads.tid[thread]));
    add_around(view, &row, paths, segment, place);
    gt_row_int(&row, "inferred", segment->is_inferred);
    gt_row_end(&row);
}

enum gt_status gt_critical_path_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_paths *paths = gt_results_paths(view, err);
    const struct gt_path_cpu *cpu = paths ? gt_results_path_cpu(view, err) : NULL;
    if (!cpu)
        return err->code;
    struct gt_table *table =
        gt_section_table(section, "critical_path", "Critical path", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 20;
    table->empty = "No GPU work to find a path through.";
    for (size_t w = 0; w < paths->window_count; w++) {
        const struct gt_path_window *window = &paths->windows[w];
        if (window->is_hidden || window->kind == GT_PATH_RUN) /* its steps have its segments */
            continue;
        struct gt_cell name = gt_paths_window_cell(section, window);
        struct gt_paths_cursor cursor = gt_paths_segments(paths, window);
        for (size_t i = 0; i < window->segment_count; i++) {
            struct gt_dag_segment segment = gt_paths_next(&cursor);
            size_t place = cpu->walk_first[window->walk] + window->first_segment + i;
            add_segment(view, table, paths, window, name, &segment, cpu->places[place]);
        }
    }
    return GT_OK;
}
