/* Kernels: statistics of op durations by kernel name, from ops or from an input that is summed already. */
#include <string.h>

#include "base/mem.h"
#include "base/radix.h"
#include "base/threads.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

enum { AHEAD = 16 };

static const struct gt_report_column columns[] = {
    {"name", "Kernel", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"count", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_DIVISOR},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"avg_ns", "Mean", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"min_ns", "Min", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE},
    {"median_ns", "Median", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"max_ns", "Max", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"stddev_ns", "Std dev", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE | GT_COLUMN_SPREAD},
    {"p90_ns", "p90", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE},
    {"p99_ns", "p99", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE},
    {"share", "Share", GT_UNIT_SHARE, "kernel time", GT_COLUMN_BAR},
    {"launch_share", "% of launches", GT_UNIT_SHARE, "kernel launches", GT_COLUMN_DETAIL},
    {"category", "Category", GT_UNIT_NONE, NULL, GT_COLUMN_CLASS},
    {"rule", "Rule", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"collective", "Collective", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"short_name", "Short name", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ALIAS},
    {"full_name", "Full name (first seen)", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_DETAIL},
};

/* "builtin 57: nvjet"; null where no rule fired. */
static struct gt_cell rule_cell(struct gt_arena *arena, const struct gt_name_reason *reason) {
    if (!reason || !reason->source)
        return gt_cell_null();
    return gt_cell_text(gt_arena_printf(arena, "%s %u: %.*s", reason->source, reason->rule, (int)reason->pattern.len,
                                        reason->pattern.ptr));
}

static void add_row(const struct gt_view *view, struct gt_section *section, struct gt_table *table,
                    const struct gt_named_set *set, const struct gt_named *kernel, struct gt_sample_stats stats) {
    const struct gt_labels *labels = view->labels;
    const struct gt_name_reason *reason =
        kernel->category == gt_category_mixed ? NULL : labels->name_reason[kernel->full_name];
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "name", kernel->name);
    gt_row_count(&row, "count", stats.count);
    gt_row_int(&row, "total_ns", stats.total_ns);
    gt_row_real(&row, "avg_ns", stats.mean_ns);
    gt_row_int(&row, "min_ns", stats.min_ns);
    gt_row_cell(&row, "median_ns", gt_cell_known(stats.median_ns));
    gt_row_int(&row, "max_ns", stats.max_ns);
    gt_row_cell(&row, "stddev_ns", gt_cell_known(stats.stddev_ns));
    gt_row_cell(&row, "p90_ns", gt_cell_known(stats.p90_ns));
    gt_row_cell(&row, "p99_ns", gt_cell_known(stats.p99_ns));
    gt_row_share(&row, "share", (double)stats.total_ns, (double)set->total_ns);
    gt_row_share(&row, "launch_share", (double)stats.count, (double)set->total_count);
    gt_row_text(&row, "category", gt_str_of(kernel->category));
    gt_row_cell(&row, "rule", rule_cell(&section->report->arena, reason));
    gt_row_cell(&row, "collective",
                reason && reason->collective ? gt_cell_text(gt_str_of(reason->collective)) : gt_cell_null());
    gt_row_text(&row, "short_name", gt_labels_short_name(labels, kernel->full_name));
    gt_row_text(&row, "full_name", gt_store_string(view->store, kernel->full_name));
    gt_row_end(&row);
}

/* Kernels by time are far apart in the tables of names and groups. */
static void ask_for(const struct gt_view *view, const struct gt_named_set *set, const struct gt_named *kernel) {
    if (set->groups)
        __builtin_prefetch(&set->groups->items[kernel->first_group]);
    __builtin_prefetch(&view->labels->name_reason[kernel->full_name]);
    __builtin_prefetch(&view->labels->short_name[kernel->full_name]);
    __builtin_prefetch(&view->store->strings.strings[kernel->full_name]);
}

/* By count, the largest first, equal ones by time as before. */
static bool order_by_count(const struct gt_named_set *set, struct gt_radix_item *order) {
    for (uint32_t i = 0; i < set->count; i++)
        order[i] = (struct gt_radix_item){~gt_radix_key((int64_t)set->items[i].count), i};
    return gt_radix_sort(order, set->count);
}

static bool wants_quantiles(const struct gt_view *view, const struct gt_table *table) {
    return gt_measure_column_is_wanted(view, table, "median_ns") ||
           gt_measure_column_is_wanted(view, table, "p90_ns") || gt_measure_column_is_wanted(view, table, "p99_ns");
}

/* Of groups of ops alone: a deviation needs the lengths, too. */
static bool wants_lengths(const struct gt_view *view, const struct gt_table *table, const struct gt_named_set *set) {
    return set->groups && (wants_quantiles(view, table) || gt_measure_column_is_wanted(view, table, "stddev_ns"));
}

/* Statistics of kernels that are not shown are not worth making: what the usual sorts go by is known without. */
static enum gt_status add_shown(const struct gt_view *view, struct gt_section *section, struct gt_table *table,
                                const struct gt_named_set *set, struct gt_error *err) {
    size_t wanted;
    const char *sort = gt_measure_table_sort(view, table, set->count, &wanted);
    bool is_by_count = sort && strcmp(sort, "count") == 0;
    if (!is_by_count && !(sort && strcmp(sort, "total_ns") == 0))
        wanted = gt_measure_table_rows_wanted(view, table, set->count);
    bool has_lengths = wanted && wants_lengths(view, table, set);
    const struct gt_op_lengths *lengths = has_lengths ? gt_results_op_lengths(view, err) : NULL;
    if (has_lengths && !lengths)
        return err->code;
    struct gt_radix_item *order = is_by_count ? gt_mem_uninitialised(set->count, sizeof *order) : NULL;
    if (is_by_count && !(order && order_by_count(set, order))) {
        gt_mem_free(order);
        return gt_fail_memory(err);
    }
    struct gt_sample_stats *stats = gt_named_stats_new(set, order, wanted, wants_quantiles(view, table), lengths,
                                                       gt_threads_count(view->request->threads));
    bool ok = stats != NULL;
    gt_row_reserve(table, wanted);
    for (size_t i = 0; i < wanted && ok; i++) {
        size_t ahead = i + AHEAD < wanted ? i + AHEAD : i;
        ask_for(view, set, &set->items[order ? order[ahead].value : ahead]);
        add_row(view, section, table, set, &set->items[order ? order[i].value : i], stats[i]);
    }
    gt_mem_free(order);
    gt_mem_free(stats);
    return ok ? GT_OK : gt_fail_memory(err);
}

enum gt_status gt_kernels_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_named_set *set = gt_results_kernels(view, err);
    if (!set)
        return err->code;
    struct gt_measure_fact_group facts = {.section = section, .audience = GT_FOR_ALL};
    gt_measure_fact_group_add(&facts, "kernel_names", "Distinct kernels", GT_UNIT_COUNT, gt_cell_count(set->count));
    gt_measure_fact_group_add(&facts, "kernel_launches", "Kernel launches", GT_UNIT_COUNT,
                              gt_cell_int(set->total_count));
    gt_measure_fact_group_add(&facts, "kernel_time_ns", "Kernel time (sum)", GT_UNIT_NS, gt_cell_int(set->total_ns));
    struct gt_table *table = gt_section_table(section, "kernels", "Kernels", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 20;
    if (gt_store_can_have(view->store, GT_FACT_OPS))
        table->empty = GT_NONE_IN(view, "kernels");
    table->total_rows = set->count;
    return add_shown(view, section, table, set, err);
}
