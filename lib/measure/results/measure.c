/* Helpers of the analyses: cells, audiences, how many rows a table needs, facts. */
#include "measure/results/measure.h"

#include "base/ns.h"

struct gt_cell gt_measure_time_cell(const struct gt_view *view, int64_t time_ns) {
    return gt_cell_int(gt_ns_between(view->store->origin_ns, time_ns));
}

struct gt_cell gt_measure_pid_cell(const struct gt_view *view, uint32_t process) {
    const struct gt_processes *processes = &view->store->processes;
    if (process == GT_NO_TRACK || processes->pid[process] == -1)
        return gt_cell_null();
    return gt_cell_int(processes->pid[process]);
}

struct gt_cell gt_measure_op_name_cell(const struct gt_view *view, uint32_t position) {
    if (position == GT_NO_ROW)
        return gt_cell_null();
    return gt_cell_text(gt_view_name_text(view, gt_view_op_name_id(view, position)));
}

void gt_measure_table_for(struct gt_section *section, const struct gt_table *table, uint32_t audience) {
    for (size_t i = 0; i < section->block_count; i++)
        if (section->blocks[i].table && section->blocks[i].table == table)
            section->blocks[i].audience = audience;
}

void gt_measure_table_for_processes(struct gt_section *section, const struct gt_table *table) {
    for (size_t row = 1; row < table->row_count; row++)
        if (table->cells[row * table->column_count].integer != table->cells[0].integer)
            return;
    gt_measure_table_for(section, table, GT_FOR_DATA | GT_FOR_PAGE);
}

/* Joined tables are made of whole ones, and the rows to keep are known only after sorting. */
static bool needs_all_rows(const struct gt_shape *shape) {
    return shape->sort || shape->joined || shape->pivot;
}

size_t gt_measure_rows_wanted(const struct gt_view *view, const char *table, size_t count) {
    struct gt_shape shape = gt_shape_of(table, view->request->shapes, view->request->shape_count);
    return !needs_all_rows(&shape) && shape.limit > 0 && (uint64_t)shape.limit < count ? (size_t)shape.limit : count;
}

bool gt_measure_table_is_wanted(const struct gt_view *view, const char *table) {
    struct gt_shape shape = gt_shape_of(table, view->request->shapes, view->request->shape_count);
    return shape.absent <= 0 && !(view->request->for_screen && shape.hidden > 0);
}

/* sort: as users write it; NULL: by no column */
static bool sorts_by(const struct gt_table *table, const char *sort, const char *column) {
    return sort && gt_table_column_sorted(table, sort) == gt_table_column(table, column);
}

bool gt_measure_column_is_wanted(const struct gt_view *view, const struct gt_table *table, const char *column) {
    struct gt_shape shape = gt_shape_of(table->key, view->request->shapes, view->request->shape_count);
    struct gt_str rest = shape.columns ? gt_str_of(shape.columns) : GT_STR(""), key;
    if (!view->request->columns_only || !shape.columns || shape.pivot)
        return true;
    while (gt_str_next_item(&rest, &key))
        if (gt_str_eq(key, gt_str_of(column)))
            return true;
    return sorts_by(table, shape.sort, column) || sorts_by(table, shape.cut_sort, column);
}

/* Of so many rows in the order of the table, those that the screen shows. */
static size_t shown_rows(const struct gt_view *view, const struct gt_table *table, const struct gt_shape *shape,
                         size_t count) {
    size_t shown = shape->screen_limit > 0 ? (size_t)shape->screen_limit : table->screen_limit; /* 0: all */
    if (!view->request->for_screen || shape->screen_limit < 0 || shown == 0)
        return count;
    return shown < count ? shown : count;
}

size_t gt_measure_table_rows_wanted(const struct gt_view *view, const struct gt_table *table, size_t count) {
    struct gt_shape shape = gt_shape_of(table->key, view->request->shapes, view->request->shape_count);
    size_t wanted = gt_measure_rows_wanted(view, table->key, count);
    return needs_all_rows(&shape) ? wanted : shown_rows(view, table, &shape, wanted);
}

const char *gt_measure_table_sort(const struct gt_view *view, const struct gt_table *table, size_t count,
                                  size_t *wanted) {
    struct gt_shape shape = gt_shape_of(table->key, view->request->shapes, view->request->shape_count);
    *wanted = shape.joined || shape.pivot ? count : shown_rows(view, table, &shape, count);
    return *wanted < count ? shape.sort : NULL;
}

void gt_measure_fact_group_add(struct gt_measure_fact_group *group, const char *key, const char *title,
                               enum gt_unit unit, struct gt_cell value) {
    if (gt_section_has_fact(group->section, key))
        return;
    if (!group->block) {
        group->block = gt_section_facts(group->section, group->title);
        group->block->audience = group->audience;
    }
    gt_section_add_fact(group->section, group->block, key, title, unit, value);
}

void gt_measure_issue(struct gt_section *section, enum gt_issue_id id, uint64_t count) {
    const struct gt_issue_info *info = &gt_issue_infos[id];
    if (count)
        gt_section_issue(section, &(struct gt_report_issue){.id = info->id,
                                                            .help = info->help,
                                                            .count = count,
                                                            .first_offset = GT_NO_OFFSET,
                                                            .is_loss = info->issue_class == GT_ISSUE_CLASS_LOSS});
}

const struct gt_python_calls *gt_measure_python_calls(const struct gt_view *view) {
    static const struct gt_python_calls none;
    return view->request->facts & GT_FACT_STACKS ? &view->store->python_calls : &none;
}
