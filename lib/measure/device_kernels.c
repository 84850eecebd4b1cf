/* Device kernels: the kernels that the table `kernels` lists, apart for each GPU they ran on. */
#include <stdlib.h>

#include "base/mem.h"
#include "measure/keyed.h"
#include "measure/measure.h"
#include "measure/shared.h"

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
    struct gt_cell device; /* null: the input does not tell */
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
        gt_section_table(section, "device_kernels", "Kernels of each GPU", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 20;
    qsort(rows, count, sizeof *rows, by_total);
    for (size_t i = 0; i < count; i++) {
        const struct gt_sample_stats *stats = &rows[i].stats;
        struct gt_cell *cell = gt_table_row(table);
        *cell++ = gt_cell_text(rows[i].name);
        *cell++ = rows[i].device;
        *cell++ = gt_cell_count(stats->count);
        *cell++ = gt_cell_int(stats->total_ns);
        *cell++ = gt_cell_real(stats->mean_ns);
        *cell++ = gt_cell_int(stats->min_ns);
        *cell++ = gt_cell_known(stats->median_ns);
        *cell++ = gt_cell_known(stats->p90_ns);
        *cell++ = gt_cell_int(stats->max_ns);
        *cell++ = gt_cell_share((double)stats->total_ns, (double)total_ns);
    }
}

/* ---- from ops ---- */

static bool key_of(const struct gt_view *view, size_t position, uint64_t *name, uint64_t *device) {
    *name = gt_op_name_id(view, position);
    *device = view->store->lanes.device[view->lane[position]];
    return gt_kind_is_kernel(gt_op_kind(view, position));
}

/* Without percentiles. */
static struct gt_sample_stats stats_of(const struct gt_tally *lengths) {
    return (struct gt_sample_stats){.count = lengths->count,
                                    .total_ns = gt_ns_of_sum(lengths->sum),
                                    .min_ns = lengths->min,
                                    .max_ns = lengths->max,
                                    .mean_ns = gt_tally_mean(lengths),
                                    .median_ns = -1,
                                    .p90_ns = -1};
}

/* By name id: its time over all GPUs. A kernel on eight of them is one kernel, listed on all or on none. */
struct name {
    struct gt_str text;
    __int128 total_ns;
    bool is_listed;
};

static int by_name_total(const void *a, const void *b) {
    const struct name *x = *(const struct name *const *)a, *y = *(const struct name *const *)b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return gt_str_cmp(x->text, y->text);
}

/* Marks the names that the table `kernels` lists. To be freed; NULL: memory was short. */
static struct name *new_names(const struct gt_view *view, const struct gt_keyed *groups) {
    size_t name_count = gt_name_count(view), count = 0;
    struct name *names = gt_alloc_array(name_count, sizeof *names);
    struct name **ranked = gt_alloc_array(groups->count, sizeof(struct name *));
    if (!names || !ranked) {
        gt_free(ranked);
        gt_free(names);
        return NULL;
    }
    for (size_t i = 0; i < groups->count; i++) {
        struct name *name = &names[groups->items[i].hi];
        if (!name->text.ptr)
            ranked[count++] = name;
        name->text = gt_name_text(view, (gt_strid)groups->items[i].hi);
        name->total_ns += groups->items[i].lengths.sum;
    }
    if (count)
        qsort(ranked, count, sizeof(struct name *), by_name_total);
    size_t wanted = gt_rows_wanted(view, "kernels", count);
    for (size_t i = 0; i < wanted; i++)
        ranked[i]->is_listed = true;
    gt_free(ranked);
    return names;
}

static bool list_ops(const struct gt_view *view, const struct gt_keyed *groups, const uint32_t *group_of,
                     struct gt_section *section) {
    struct gt_samples samples = {0};
    struct name *names = new_names(view, groups);
    struct row *rows = gt_alloc_array(groups->count, sizeof *rows);
    bool ok = names && rows && (!group_of || gt_keyed_op_samples(groups, view, group_of, &samples));
    size_t count = 0;
    __int128 total_ns = 0;
    for (size_t i = 0; i < groups->count && ok; i++) {
        const struct gt_keyed_group *group = &groups->items[i];
        total_ns += group->lengths.sum;
        if (!names[group->hi].is_listed)
            continue;
        rows[count++] = (struct row){.name = names[group->hi].text,
                                     .device = gt_cell_int(view->store->devices.id[group->lo]),
                                     .stats = group_of ? gt_samples_stats(&samples, i) : stats_of(&group->lengths)};
    }
    if (ok)
        add_table(section, rows, count, gt_ns_of_sum(total_ns));
    gt_samples_release(&samples);
    gt_free(rows);
    gt_free(names);
    return ok;
}

/* ---- from an input that is summed already, which does not tell the GPU ---- */

static enum gt_status list_sums(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_named_set *set = gt_shared_kernels(view, err);
    if (!set)
        return err->code;
    size_t wanted = gt_rows_wanted(view, "kernels", set->count);
    struct row *rows = gt_alloc_array(wanted, sizeof *rows);
    for (size_t i = 0; i < wanted && rows; i++)
        rows[i] = (struct row){.name = set->items[i].name, .stats = set->items[i].stats};
    if (rows)
        add_table(section, rows, wanted, set->total_ns);
    gt_free(rows);
    return rows ? GT_OK : gt_fail_memory(err);
}

enum gt_status gt_device_kernels_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    if (view->is_summed)
        return list_sums(view, section, err);
    struct gt_keyed groups = {0};
    bool has_quantiles = !view->options->no_kernel_percentiles;
    uint32_t *group_of = has_quantiles ? gt_alloc(view->op_count * sizeof *group_of) : NULL;
    if (has_quantiles && !group_of)
        return gt_fail_memory(err);
    enum gt_status status = gt_keyed_add_ops(&groups, view, key_of, group_of, err);
    if (status == GT_OK && !list_ops(view, &groups, group_of, section))
        status = gt_fail_memory(err);
    gt_keyed_release(&groups);
    gt_free(group_of);
    return status;
}
