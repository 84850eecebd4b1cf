/* Device kernels: the kernels that the table `kernels` lists, apart for each GPU they ran on. */
#include <stdlib.h>

#include "base/mem.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"name", "Kernel", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"count", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"avg_ns", "Mean", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"min_ns", "Min", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE},
    {"median_ns", "Median", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"p90_ns", "p90", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"max_ns", "Max", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE},
    {"share", "Share", GT_UNIT_SHARE, "kernel time", GT_COLUMN_BAR},
};

struct row {
    struct gt_str name;
    struct gt_cell device; /* null: the input does not say */
    struct gt_sample_stats stats;
};

static int by_total(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->stats.total_ns != y->stats.total_ns)
        return x->stats.total_ns < y->stats.total_ns ? 1 : -1;
    int order = gt_str_cmp(x->name, y->name);
    return order ? order : (x->device.integer > y->device.integer) - (x->device.integer < y->device.integer);
}

static void add_table(struct gt_section *section, struct row *rows, size_t count, int64_t total_ns) {
    struct gt_table *table =
        gt_section_table(section, "device_kernels", "Kernels by GPU", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 20;
    qsort(rows, count, sizeof *rows, by_total);
    for (size_t i = 0; i < count; i++) {
        const struct gt_sample_stats *stats = &rows[i].stats;
        struct gt_row cells = gt_row_begin(table);
        gt_row_text(&cells, "name", rows[i].name);
        gt_row_cell(&cells, "device", rows[i].device);
        gt_row_count(&cells, "count", stats->count);
        gt_row_int(&cells, "total_ns", stats->total_ns);
        gt_row_real(&cells, "avg_ns", stats->mean_ns);
        gt_row_int(&cells, "min_ns", stats->min_ns);
        gt_row_cell(&cells, "median_ns", gt_cell_known(stats->median_ns));
        gt_row_cell(&cells, "p90_ns", gt_cell_known(stats->p90_ns));
        gt_row_int(&cells, "max_ns", stats->max_ns);
        gt_row_share(&cells, "share", (double)stats->total_ns, (double)total_ns);
        gt_row_end(&cells);
    }
}

/* The kernels of one name on each GPU; how many these are. Without lengths there are no quantiles. */
static size_t list_devices(const struct gt_view *view, const struct gt_named_set *set, const struct gt_named *kernel,
                           const struct gt_op_lengths *lengths, struct row *rows) {
    const struct gt_op_groups *groups = set->groups;
    size_t count = 0;
    for (size_t first = kernel->first_group, end; first < kernel->end_group; first = end) {
        uint32_t device = groups->items[first].device;
        for (end = first + 1; end < kernel->end_group && groups->items[end].device == device;)
            end++;
        struct gt_tally tally = gt_op_groups_tally(groups, first, end);
        struct gt_sample_stats stats = gt_op_groups_tally_stats(&tally);
        if (lengths && !gt_sample_stats_complete(&stats))
            stats = gt_samples_slice_stats(gt_op_lengths_of(lengths, first, end));
        rows[count++] =
            (struct row){.name = kernel->name, .device = gt_cell_int(view->store->devices.id[device]), .stats = stats};
    }
    return count;
}

/* A kernel on eight GPUs is one kernel, listed on all or on none. */
enum gt_status gt_device_kernels_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_named_set *set = gt_results_kernels(view, err);
    if (!set)
        return err->code;
    bool has_quantiles = !view->is_summed && gt_option_flag(view, GT_OPTION_kernel_percentiles);
    const struct gt_op_lengths *lengths = has_quantiles ? gt_results_op_lengths(view, err) : NULL;
    if (has_quantiles && !lengths)
        return err->code;
    size_t wanted = gt_measure_rows_wanted(view, "kernels", set->count), most = 0, count = 0;
    for (size_t i = 0; i < wanted; i++)
        most += view->is_summed ? 1 : set->items[i].end_group - set->items[i].first_group;
    struct row *rows = gt_mem_array(most, sizeof *rows);
    if (!rows)
        return gt_fail_memory(err);
    for (size_t i = 0; i < wanted; i++)
        if (view->is_summed) /* such an input does not say the GPU */
            rows[count++] =
                (struct row){.name = set->items[i].name, .stats = gt_named_stats(set, &set->items[i], NULL)};
        else
            count += list_devices(view, set, &set->items[i], lengths, rows + count);
    add_table(section, rows, count, set->total_ns);
    gt_mem_free(rows);
    return GT_OK;
}
