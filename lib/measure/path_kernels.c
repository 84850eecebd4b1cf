/* Path kernels: ops on the critical path by name, and what a faster one would save. */
#include "measure/results/measure.h"
#include "measure/results/path_names.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"name", "Name", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"category", "Category", GT_UNIT_NONE, NULL, GT_COLUMN_CLASS},
    {"count", "On path", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"path_ns", "Path time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"path_share", "On path share", GT_UNIT_SHARE, "total", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
    {"saved_ns", "10% faster saves", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"slack_ns", "Least slack", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE | GT_COLUMN_SPARSE},
    {"ops", "Ops", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},
};

enum gt_status gt_path_kernels_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_path_names *names = gt_results_path_names(view, err);
    if (!names)
        return err->code;
    struct gt_table *table =
        gt_section_table(section, "path_kernels", "GPU work on the critical path", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 10;
    table->empty = "No GPU work is on the critical path.";
    for (size_t i = 0; i < names->on_path; i++) {
        const struct gt_path_name *name = &names->items[i];
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "name", gt_view_name_text(view, name->name));
        gt_row_text(&row, "category", gt_str_of(view->labels->categories[name->category].key));
        gt_row_count(&row, "count", name->path_count);
        gt_row_int(&row, "path_ns", name->path_ns);
        gt_row_int(&row, "total_ns", name->total_ns);
        gt_row_share(&row, "path_share", (double)name->path_ns, (double)name->total_ns);
        gt_row_cell(&row, "saved_ns", name->has_saving ? gt_cell_int(name->saved_ns) : gt_cell_null());
        gt_row_cell(&row, "slack_ns", name->has_slack ? gt_cell_int(name->slack_min_ns) : gt_cell_null());
        gt_row_count(&row, "ops", name->count);
        gt_row_end(&row);
    }
    return GT_OK;
}
