/* Slack: by name of op, how much later they could have ended without making any window end later. */
#include <stdlib.h>

#include "measure/results/measure.h"
#include "measure/results/path_names.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"name", "Name", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"count", "Ops", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"critical", "Critical", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"min_ns", "Least slack", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"median_ns", "Median slack", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"max_ns", "Most slack", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
};

static struct gt_cell slack_cell(const struct gt_path_name *name, int64_t slack_ns) {
    return name->has_slack ? gt_cell_int(slack_ns) : gt_cell_null();
}

static int by_total(const void *a, const void *b) {
    const struct gt_path_name *x = *(const struct gt_path_name *const *)a, *y = *(const struct gt_path_name *const *)b;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

enum gt_status gt_slack_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_path_names *names = gt_results_path_names(view, err);
    if (!names)
        return err->code;
    const struct gt_path_name **order = gt_mem_array(names->count + 1, sizeof *order);
    if (!order)
        return gt_fail_memory(err);
    for (size_t i = 0; i < names->count; i++)
        order[i] = &names->items[i];
    qsort(order, names->count, sizeof *order, by_total);
    struct gt_table *table = gt_section_table(section, "slack", "Slack of ops", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 10;
    for (size_t i = 0; i < names->count; i++) {
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "name", gt_view_name_text(view, order[i]->name));
        gt_row_count(&row, "count", order[i]->count);
        gt_row_int(&row, "total_ns", order[i]->total_ns);
        gt_row_count(&row, "critical", order[i]->critical);
        gt_row_cell(&row, "min_ns", slack_cell(order[i], order[i]->slack_min_ns));
        gt_row_cell(&row, "median_ns", slack_cell(order[i], order[i]->slack_median_ns));
        gt_row_cell(&row, "max_ns", slack_cell(order[i], order[i]->slack_max_ns));
        gt_row_end(&row);
    }
    gt_mem_free(order);
    return GT_OK;
}
