/* Range instances: every single range with where its work fell on the GPUs, in the order in which that began. */
#include "base/mem.h"
#include "base/ns.h"
#include "base/spans.h"
#include "measure/results/measure.h"
#include "measure/results/range_projected.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"range", "Number", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"name", "Range", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"domain", "Domain", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL | GT_COLUMN_KEY},
    {"start_ns", "GPU start", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT},
    {"projected_ns", "Projected", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"range_start_ns", "CPU start", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT},
    {"range_ns", "CPU time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"ops", "Ops", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"launches", "Launches", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS},
    {"level", "Level", GT_UNIT_NONE, NULL, 0},
    {"parent", "Parent", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"children", "Children", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},
    {"style", "Style", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"tid", "Thread", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
};

struct gt_str gt_range_set_style(uint8_t kind) {
    static const char *const styles[] = {[GT_RANGE_NESTED] = "PushPop",
                                         [GT_RANGE_START_END] = "StartEnd",
                                         [GT_RANGE_MARK] = "Mark",
                                         [GT_RANGE_GPU] = "GPU"};
    return gt_str_of(styles[kind]);
}

static int64_t projected_ns(const struct gt_range_use *use) {
    return gt_ns_between(use->start_ns, use->end_ns);
}

static struct gt_interval projection_of(const void *context, uint32_t range) {
    const struct gt_range_use *use = &((const struct gt_range_use *)context)[range];
    return (struct gt_interval){use->start_ns, use->end_ns};
}

/* By first op, the longest projection first, then by row; after them those without ops, by row. */
static bool sort_instances(const struct gt_range_set *set, uint32_t *order, size_t *count) {
    uint32_t range_count = (uint32_t)set->view->store->ranges.count;
    *count = 0;
    for (uint32_t range = 0; range < range_count; range++)
        if (set->uses[range].ops)
            order[(*count)++] = range;
    if (!gt_spans_sort_by(order, *count, projection_of, set->uses))
        return false;
    for (uint32_t range = 0; range < range_count; range++)
        if (!set->uses[range].ops && gt_range_set_lists(set, range))
            order[(*count)++] = range;
    return true;
}

static void count_children(const struct gt_range_set *set, uint32_t *children) {
    const uint32_t *parent = set->view->labels->range_parent;
    for (size_t range = 0; range < set->view->store->ranges.count; range++)
        if (set->uses[range].ops && parent[range] != GT_NO_ROW)
            children[parent[range]]++;
}

uint32_t gt_range_set_process(const struct gt_store *store, uint32_t range) {
    uint32_t thread = store->ranges.thread[range], lane = store->ranges.lane[range];
    if (thread != GT_NO_TRACK)
        return store->threads.process[thread];
    return lane == GT_NO_TRACK ? GT_NO_TRACK : store->lanes.process[lane];
}

struct gt_cell gt_range_set_tid_cell(const struct gt_store *store, uint32_t thread) {
    return thread == GT_NO_TRACK || store->threads.tid[thread] == -1 ? gt_cell_null()
                                                                     : gt_cell_int(store->threads.tid[thread]);
}

static void add_row(const struct gt_range_set *set, struct gt_table *table, uint32_t range, uint32_t children) {
    const struct gt_view *view = set->view;
    const struct gt_ranges *ranges = &view->store->ranges;
    const struct gt_range_use *use = &set->uses[range];
    const struct gt_range_name *name = &set->names[set->name_of[range]];
    uint32_t parent = view->labels->range_parent[range];
    struct gt_row row = gt_row_begin(table);
    gt_row_int(&row, "range", range);
    gt_row_text(&row, "name", name->name);
    gt_row_text(&row, "domain", name->domain);
    gt_row_cell(&row, "start_ns", use->ops ? gt_measure_time_cell(view, use->start_ns) : gt_cell_null());
    gt_row_cell(&row, "projected_ns", use->ops ? gt_cell_int(projected_ns(use)) : gt_cell_null());
    gt_row_cell(&row, "range_start_ns", gt_measure_time_cell(view, ranges->start_ns[range]));
    gt_row_int(&row, "range_ns", gt_ns_between(ranges->start_ns[range], ranges->end_ns[range]));
    gt_row_int(&row, "ops", use->ops);
    gt_row_int(&row, "launches", use->launches);
    gt_row_int(&row, "level", view->labels->range_level[range]);
    gt_row_cell(&row, "parent", parent == GT_NO_ROW ? gt_cell_null() : gt_cell_int(parent));
    gt_row_int(&row, "children", children);
    gt_row_text(&row, "style", gt_range_set_style(ranges->kind[range]));
    gt_row_cell(&row, "pid", gt_measure_pid_cell(view, gt_range_set_process(view->store, range)));
    gt_row_cell(&row, "tid", gt_range_set_tid_cell(view->store, ranges->thread[range]));
    gt_row_end(&row);
}

struct gt_table *gt_range_set_instances_table_new(struct gt_section *section) {
    struct gt_table *table =
        gt_section_table(section, "range_instances", "Range instances", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 20;
    return table;
}

static bool add_table(const struct gt_range_set *set, struct gt_section *section, uint32_t *order, uint32_t *children) {
    size_t count;
    if (!sort_instances(set, order, &count))
        return false;
    count_children(set, children);
    struct gt_table *table = gt_range_set_instances_table_new(section);
    size_t wanted = gt_measure_table_rows_wanted(set->view, table, count);
    for (size_t i = 0; i < wanted; i++)
        add_row(set, table, order[i], children[order[i]]);
    table->total_rows = count;
    return true;
}

enum gt_status gt_range_instances_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    if (gt_range_projected_applies(view))
        return gt_range_projected_instances(view, section, err);
    const struct gt_range_set *set = gt_results_ranges(view, err);
    if (!set)
        return err->code;
    uint32_t *order = gt_mem_uninitialised(view->store->ranges.count, sizeof *order);
    uint32_t *children = gt_mem_array(view->store->ranges.count, sizeof *children);
    bool ok = order && children && add_table(set, section, order, children);
    gt_mem_free(order);
    gt_mem_free(children);
    return ok ? GT_OK : gt_fail_memory(err);
}
