/* Ranges: what the annotated parts of the program put on the GPUs, by name. */
#include "base/mem.h"
#include "base/ns.h"
#include "base/sort.h"
#include "base/threads.h"
#include "measure/results/measure.h"
#include "measure/results/range_projected.h"
#include "measure/results/results.h"
#include "measure/results/samples.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"name", "Range", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"domain", "Domain", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL | GT_COLUMN_KEY},
    {"instances", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_DIVISOR},
    {"ops", "Ops", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"busy_ns", "Busy", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"sum_ns", "Sum", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS},
    {"projected_ns", "Projected", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_EXTENT},
    {"range_ns", "CPU time", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS},
    {"exclusive_ns", "Exclusive sum", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"share", "Exclusive share", GT_UNIT_SHARE, "op time", GT_COLUMN_BAR},
    {"launches", "Launches", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS},
    {"used", "With ops", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS},
    {"proj_avg_ns", "Projected mean", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE},
    {"proj_median_ns", "Projected median", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE},
    {"proj_min_ns", "Projected min", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE},
    {"proj_max_ns", "Projected max", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE},
    {"proj_stddev_ns", "Projected std dev", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE},
    {"level_avg", "Mean level", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"range_avg_ns", "CPU mean", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE},
    {"group", "Group", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL | GT_COLUMN_GROUP},
};

static int by_busy(const void *a, const void *b, void *context) {
    const struct gt_range_name *x = *(const struct gt_range_name *const *)a;
    const struct gt_range_name *y = *(const struct gt_range_name *const *)b;
    (void)context;
    if (x->sums.busy.busy_ns != y->sums.busy.busy_ns)
        return x->sums.busy.busy_ns < y->sums.busy.busy_ns ? 1 : -1;
    int order = gt_str_cmp(x->name, y->name);
    return order ? order : gt_str_cmp(x->domain, y->domain);
}

/* The lengths of the projections, by name. */
static bool collect_projections(const struct gt_range_set *set, struct gt_samples *samples) {
    if (!gt_samples_init(samples, set->name_count))
        return false;
    size_t range_count = set->view->store->ranges.count;
    for (size_t range = 0; range < range_count; range++)
        if (set->uses[range].ops)
            gt_samples_count(samples, set->name_of[range]);
    if (!gt_samples_place(samples))
        return false;
    for (size_t range = 0; range < range_count; range++)
        if (set->uses[range].ops)
            gt_samples_add(samples, set->name_of[range],
                           gt_ns_between(set->uses[range].start_ns, set->uses[range].end_ns));
    return true;
}

struct listing {
    const struct gt_range_set *set;
    const struct gt_range_name *const *names;
    const struct gt_samples *projections;
};

static void fill_row(const void *context, struct gt_row *row, size_t index) {
    const struct listing *listing = context;
    const struct gt_range_set *set = listing->set;
    const struct gt_range_name *name = listing->names[index];
    struct gt_sample_stats stats = gt_samples_stats(listing->projections, (size_t)(name - set->names));
    bool is_used = name->used > 0;
    gt_row_text(row, "name", name->name);
    gt_row_text(row, "domain", name->domain);
    gt_row_count(row, "instances", name->instances);
    gt_row_count(row, "ops", name->sums.ops);
    gt_row_int(row, "busy_ns", name->sums.busy.busy_ns);
    gt_row_int(row, "sum_ns", name->sums.sum_ns);
    gt_row_int(row, "projected_ns", name->projected_ns);
    gt_row_int(row, "range_ns", name->range_ns);
    gt_row_int(row, "exclusive_ns", name->sums.exclusive_ns);
    gt_row_share(row, "share", (double)name->sums.exclusive_ns, (double)set->total_ns);
    gt_row_count(row, "launches", name->launches);
    gt_row_count(row, "used", name->used);
    gt_row_cell(row, "proj_avg_ns", is_used ? gt_cell_real(stats.mean_ns) : gt_cell_null());
    gt_row_cell(row, "proj_median_ns", is_used ? gt_cell_real(stats.median_ns) : gt_cell_null());
    gt_row_cell(row, "proj_min_ns", is_used ? gt_cell_int(stats.min_ns) : gt_cell_null());
    gt_row_cell(row, "proj_max_ns", is_used ? gt_cell_int(stats.max_ns) : gt_cell_null());
    gt_row_cell(row, "proj_stddev_ns", is_used ? gt_cell_real(stats.stddev_ns) : gt_cell_null());
    gt_row_cell(row, "level_avg", is_used ? gt_cell_real((double)name->levels / (double)name->used) : gt_cell_null());
    gt_row_cell(row, "range_avg_ns",
                name->instances ? gt_cell_real((double)name->range_ns / (double)name->instances) : gt_cell_null());
    gt_row_cell(row, "group", name->is_step ? gt_cell_text(GT_STR("steps")) : gt_cell_null());
}

struct gt_table *gt_range_set_table_new(const struct gt_view *view, struct gt_section *section) {
    struct gt_table *table = gt_section_table(section, "ranges", "Ranges", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 20;
    table->empty = GT_NONE_IN(view, "ranges");
    return table;
}

static void add_table(const struct gt_view *view, struct gt_section *section, const struct listing *listing,
                      size_t count, size_t threads) {
    struct gt_table *table = gt_range_set_table_new(view, section);
    gt_row_fill(table, count, threads, fill_row, listing);
    for (size_t i = 0; i < count; i++)
        if (listing->names[i]->domain.len)
            table->screen_columns = "name,domain,instances,ops,busy_ns,projected_ns,exclusive_ns,share";
}

static void add_facts(struct gt_section *section, const struct gt_range_set *set, size_t name_count) {
    size_t instances = 0;
    for (size_t i = 0; i < set->name_count; i++)
        instances += set->names[i].instances;
    struct gt_measure_fact_group facts = {.section = section, .audience = GT_FOR_ALL};
    gt_measure_fact_group_add(&facts, "range_names", "Distinct ranges", GT_UNIT_COUNT, gt_cell_count(name_count));
    gt_measure_fact_group_add(&facts, "range_count", "Ranges", GT_UNIT_COUNT, gt_cell_count(instances));
    if (set->total_ns > 0)
        gt_measure_fact_group_add(&facts, "range_coverage", "Op time inside ranges", GT_UNIT_SHARE,
                                  gt_cell_share((double)set->covered_ns, (double)set->total_ns));
}

enum gt_status gt_ranges_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    if (gt_range_projected_applies(view))
        return gt_range_projected_names(view, section, err);
    const struct gt_range_set *set = gt_results_ranges(view, err);
    if (!set)
        return err->code;
    enum gt_status status = GT_OK;
    struct gt_samples projections = {0};
    size_t threads = gt_threads_count(view->request->threads);
    const struct gt_range_name **sorted = gt_mem_array(set->name_count, sizeof(struct gt_range_name *));
    if (sorted && collect_projections(set, &projections)) {
        size_t count = 0;
        for (size_t i = 0; i < set->name_count; i++)
            if (set->names[i].instances)
                sorted[count++] = &set->names[i];
        gt_sort(sorted, count, sizeof(struct gt_range_name *), by_busy, NULL, threads);
        add_facts(section, set, count);
        add_table(view, section, &(struct listing){set, sorted, &projections}, count, threads);
    } else {
        status = gt_fail_memory(err);
    }
    gt_samples_release(&projections);
    gt_mem_free(sorted);
    return status;
}
