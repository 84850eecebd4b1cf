/* Path host: CPU time on the critical path by range, operator and call. */
#include "measure/results/calls.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"range", "Range", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY | GT_COLUMN_SPARSE},
    {"operator", "Operator", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY | GT_COLUMN_SPARSE},
    {"call", "Call", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY | GT_COLUMN_SPARSE},
    {"total_ns", "Time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"share", "Share", GT_UNIT_SHARE, "window", GT_COLUMN_BAR},
};

static struct gt_cell name_cell(const struct gt_view *view, gt_strid name) {
    return name == GT_STRID_EMPTY ? gt_cell_null() : gt_cell_text(gt_store_string(view->store, name));
}

enum gt_status gt_path_host_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_path_cpu *cpu = gt_results_path_cpu(view, err);
    if (!cpu)
        return err->code;
    struct gt_table *table =
        gt_section_table(section, "path_host", "CPU time on the critical path", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 10;
    table->empty = "No CPU time is on the critical path.";
    for (size_t i = 0; i < cpu->count; i++) {
        const struct gt_path_cpu_item *item = &cpu->items[i];
        struct gt_row row = gt_row_begin(table);
        gt_row_cell(&row, "range", name_cell(view, item->range));
        gt_row_cell(&row, "operator", name_cell(view, item->cpu_op));
        if (item->is_handover)
            gt_row_text(&row, "call", GT_STR("(hand-over)"));
        else if (item->call == GT_STRID_EMPTY)
            gt_row_null(&row, "call");
        else
            gt_row_text(&row, "call", gt_call_plain_name(gt_store_string(view->store, item->call)));
        gt_row_int(&row, "total_ns", item->total_ns);
        gt_row_share(&row, "share", (double)item->total_ns, (double)cpu->window_ns);
        gt_row_end(&row);
    }
    return GT_OK;
}
