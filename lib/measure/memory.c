/* Memory: time and bytes of copies and fills by name, from ops or from an input that is summed already. */
#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/copies.h"
#include "measure/results/measure.h"
#include "measure/results/named.h"
#include "measure/results/results.h"
#include "report/row.h"

/* Sizes by name id. */
struct moved {
    uint64_t sized_ops, bytes;
    int64_t sized_ns; /* unclipped time of the ops whose size is known */
};

static const struct gt_report_column columns[] = {
    {"name", "Operation", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"count", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"avg_ns", "Mean", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"min_ns", "Min", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE},
    {"median_ns", "Median", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE},
    {"max_ns", "Max", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"stddev_ns", "Std dev", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE | GT_COLUMN_SPREAD},
    {"share", "Share", GT_UNIT_SHARE, "memory op time", GT_COLUMN_BAR},
    {"bytes", "Bytes", GT_UNIT_BYTES, NULL, GT_COLUMN_ADDS},
    {"bytes_per_s", "Bytes/s", GT_UNIT_BYTES, NULL, GT_COLUMN_DETAIL},
    {"category", "Category", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL | GT_COLUMN_CLASS},
};

static void add_sizes(const struct gt_view *view, struct moved *moved) {
    const struct gt_store *store = view->store;
    uint32_t next_copy = 0;
    for (size_t i = 0; i < view->op_count; i++) {
        if (gt_store_kind_is_kernel(gt_view_op_kind(view, i)))
            continue;
        uint32_t copy = gt_copy_next_of_op(store, view->row[i], &next_copy);
        if (copy == GT_NO_ROW)
            continue;
        struct moved *of_name = &moved[gt_view_op_name_id(view, i)];
        of_name->sized_ops++;
        if (__builtin_add_overflow(of_name->bytes, store->copies.bytes[copy], &of_name->bytes))
            of_name->bytes = UINT64_MAX;
        of_name->sized_ns = gt_ns_add(of_name->sized_ns, gt_view_op_whole_ns(view, i));
    }
}

static void add_row(struct gt_table *table, const struct gt_named_set *set, const struct gt_named *named,
                    const struct gt_op_lengths *lengths, const struct moved *moved) {
    const struct gt_sample_stats stats = gt_named_stats(set, named, lengths);
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "name", named->name);
    gt_row_count(&row, "count", stats.count);
    gt_row_int(&row, "total_ns", stats.total_ns);
    gt_row_real(&row, "avg_ns", stats.mean_ns);
    gt_row_int(&row, "min_ns", stats.min_ns);
    gt_row_cell(&row, "median_ns", gt_cell_known(stats.median_ns));
    gt_row_int(&row, "max_ns", stats.max_ns);
    gt_row_cell(&row, "stddev_ns", gt_cell_known(stats.stddev_ns));
    gt_row_share(&row, "share", (double)stats.total_ns, (double)set->total_ns);
    gt_row_cell(&row, "bytes", moved->sized_ops ? gt_cell_int(gt_ns_of_sum((__int128)moved->bytes)) : gt_cell_null());
    gt_row_cell(&row, "bytes_per_s",
                moved->sized_ns > 0 ? gt_cell_real((double)moved->bytes * 1e9 / (double)moved->sized_ns)
                                    : gt_cell_null());
    gt_row_text(&row, "category", gt_str_of(named->category));
    gt_row_end(&row);
}

static enum gt_status add_table(const struct gt_view *view, struct gt_section *section, const struct gt_named_set *set,
                                struct moved *moved, struct gt_error *err) {
    const struct gt_op_lengths *lengths = set->groups && set->count ? gt_results_op_lengths(view, err) : NULL;
    if (set->groups && set->count && !lengths)
        return err->code;
    struct gt_table *table = gt_section_table(section, "memory", "Memory ops", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 20;
    table->empty = GT_NONE_IN(view, "memory ops");
    add_sizes(view, moved);
    for (size_t i = 0; i < set->count; i++)
        add_row(table, set, &set->items[i], lengths, &moved[gt_view_name_id(view, set->items[i].full_name)]);
    return GT_OK;
}

enum gt_status gt_memory_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    if (!gt_measure_table_is_wanted(view, "memory"))
        return GT_OK;
    struct moved *moved = gt_mem_array(gt_view_name_count(view), sizeof *moved);
    if (!moved)
        return gt_fail_memory(err);
    struct gt_named_set set;
    enum gt_status status = gt_named_set_init(&set, view, false, err);
    if (status == GT_OK) {
        status = add_table(view, section, &set, moved, err);
        gt_named_set_release(&set);
    }
    gt_mem_free(moved);
    return status;
}
