/* Counters: hardware counters of each GPU by kernel, range, kind of time and cause of idle time. */
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"scope", "Scope", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"name", "Name", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_VARIES},
    {"count", "Ops", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS},
    {"time_ns", "Wall", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"method", "Method", GT_UNIT_NONE, NULL, 0},
    {"samples", "Samples", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},
    {"coverage", "Coverage", GT_UNIT_SHARE, "wall time", GT_COLUMN_DETAIL},
    {"sm_active", "SMs active %", GT_UNIT_NONE, NULL, GT_COLUMN_SPARSE},
    {"sm_issue", "Issue %", GT_UNIT_NONE, NULL, GT_COLUMN_SPARSE},
    {"sm_throughput", "SM throughput %", GT_UNIT_NONE, NULL, GT_COLUMN_SPARSE},
    {"tensor", "Tensor %", GT_UNIT_NONE, NULL, GT_COLUMN_SPARSE},
    {"dram", "DRAM %", GT_UNIT_NONE, NULL, GT_COLUMN_SPARSE},
    {"dram_read", "DRAM read %", GT_UNIT_NONE, NULL, GT_COLUMN_SPARSE},
    {"dram_write", "DRAM write %", GT_UNIT_NONE, NULL, GT_COLUMN_SPARSE},
    {"warps", "Warps %", GT_UNIT_NONE, NULL, GT_COLUMN_SPARSE},
    {"gpc_mhz", "MHz", GT_UNIT_NONE, NULL, GT_COLUMN_SPARSE},
    {"dram_bytes", "DRAM bytes", GT_UNIT_BYTES, NULL, GT_COLUMN_SPARSE},
};

static const char *const scope_names[GT_COUNTER_SCOPES] = {
    [GT_COUNTER_OF_DEVICE] = "device", [GT_COUNTER_OF_CLASS] = "class",   [GT_COUNTER_OF_GAP] = "gap",
    [GT_COUNTER_OF_RANGE] = "range",   [GT_COUNTER_OF_KERNEL] = "kernel",
};

static const char *const method_names[] = {
    [GT_COUNTER_DIRECT] = "direct", [GT_COUNTER_SOLVED] = "solved", [GT_COUNTER_UNSAMPLED] = "unsampled"};

/* Of the columns from sm_active on, in their order. */
static const struct {
    const char *key;
    enum gt_metric metric;
} metric_columns[] = {
    {"sm_active", GT_METRIC_SM_ACTIVE},   {"sm_issue", GT_METRIC_SM_ISSUE}, {"sm_throughput", GT_METRIC_SM_THROUGHPUT},
    {"tensor", GT_METRIC_TENSOR},         {"dram", GT_METRIC_DRAM},         {"dram_read", GT_METRIC_DRAM_READ},
    {"dram_write", GT_METRIC_DRAM_WRITE}, {"warps", GT_METRIC_WARPS},
};

static void put_row(struct gt_table *table, int64_t device_id, const struct gt_counter_device *device,
                    const struct gt_counter_item *item) {
    bool has_ops = item->scope == GT_COUNTER_OF_RANGE || item->scope == GT_COUNTER_OF_KERNEL;
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "scope", gt_str_of(scope_names[item->scope]));
    gt_row_text(&row, "name", item->name);
    gt_row_int(&row, "device", device_id);
    gt_row_cell(&row, "count", has_ops ? gt_cell_count(item->ops) : gt_cell_null());
    gt_row_int(&row, "time_ns", item->time_ns);
    gt_row_text(&row, "method", gt_str_of(method_names[item->method]));
    gt_row_count(&row, "samples", item->samples);
    gt_row_share(&row, "coverage", (double)item->filled_ns, (double)item->time_ns);
    for (size_t i = 0; i < GT_ARRAY_COUNT(metric_columns); i++)
        gt_row_cell(&row, metric_columns[i].key, gt_cell_known(gt_counter_set_mean(item, metric_columns[i].metric)));
    gt_row_cell(&row, "gpc_mhz", gt_cell_known(gt_counter_set_mean(item, GT_METRIC_CLOCK) / 1e6));
    gt_row_cell(&row, "dram_bytes", gt_cell_whole(gt_counter_set_dram_bytes(device, item)));
    gt_row_end(&row);
}

/* ---- facts ---- */

struct sums {
    size_t devices; /* with samples */
    const struct gt_counter_device *first;
    uint64_t samples, outside, out_of_range;
    double compute_ns, known_ns; /* durations of compute ops, and of those whose kernels have values */
};

static struct sums sum_devices(const struct gt_counter_set *set) {
    struct sums sums = {0};
    for (size_t d = 0; d < set->device_count; d++) {
        const struct gt_counter_device *device = &set->devices[d];
        if (!device->has_samples)
            continue;
        sums.first = sums.devices++ ? sums.first : device;
        sums.samples += device->samples;
        sums.outside += device->outside;
        sums.out_of_range += device->out_of_range;
        for (size_t i = 0; i < device->item_count; i++) {
            double ns = (double)device->items[i].compute_sum_ns;
            sums.compute_ns += ns;
            sums.known_ns += device->items[i].method == GT_COUNTER_UNSAMPLED ? 0 : ns;
        }
    }
    return sums;
}

/* A clock and a share of the span are of one GPU. */
static void put_facts(struct gt_section *section, const struct sums *sums) {
    const struct gt_counter_device *one = sums->devices == 1 ? sums->first : NULL;
    struct gt_measure_fact_group facts = {
        .section = section, .title = "Samples of hardware counters", .audience = GT_FOR_ALL};
    gt_measure_fact_group_add(&facts, "sample_period_ns", "Sampling period", GT_UNIT_NS,
                              gt_cell_int(sums->first->period_ns));
    gt_measure_fact_group_add(&facts, "samples", "Samples", GT_UNIT_COUNT, gt_cell_count(sums->samples));
    gt_measure_fact_group_add(&facts, "counter_coverage", "Compute time with counters", GT_UNIT_SHARE,
                              gt_cell_share(sums->known_ns, sums->compute_ns));
    if (!one)
        return;
    gt_measure_fact_group_add(&facts, "gpc_clock_busy_mhz", "Busy clock (MHz)", GT_UNIT_NONE,
                              gt_cell_known(gt_counter_set_busy_hz(one) / 1e6));
    gt_measure_fact_group_add(&facts, "hfu_counter", "HFU from counters", GT_UNIT_SHARE,
                              gt_cell_known(gt_counter_set_hfu(one)));
}

/* With a selection most samples are outside of it. */
static void put_issues(struct gt_section *section, const struct gt_view *view, const struct sums *sums) {
    gt_measure_issue(section, GT_ISSUE_SAMPLES_OUTSIDE_SPAN, view->is_whole ? sums->outside : 0);
    gt_measure_issue(section, GT_ISSUE_METRIC_OUT_OF_RANGE, sums->out_of_range);
}

/* Counters that mean nothing here are still there: those of AMD are sums over a kernel. NULL: there are none. */
static const char *say_unknown(const struct gt_view *view, struct gt_arena *arena) {
    enum { LISTED = 5, LONGEST = 100 };
    const struct gt_counter_tracks *tracks = &view->store->counter_tracks;
    gt_strid listed[LISTED];
    struct gt_str text = GT_STR("");
    size_t count = 0;
    for (uint32_t i = 0; i < tracks->count; i++) {
        gt_strid id = tracks->series[i] != GT_STRID_EMPTY ? tracks->series[i] : tracks->name[i];
        bool is_new = gt_sampling_is_unknown(view->store, i);
        for (size_t k = 0; k < count && is_new; k++)
            is_new = listed[k] != id;
        if (!is_new)
            continue;
        struct gt_str name = gt_store_string(view->store, id);
        if (count == LISTED) {
            text = gt_arena_printf(arena, "%s and others", text.ptr);
            break;
        }
        text = gt_arena_printf(arena, "%s%s%.*s", text.ptr, count ? ", " : "",
                               (int)(name.len < LONGEST ? name.len : LONGEST), name.ptr);
        listed[count++] = id;
    }
    return count ? gt_arena_printf(arena,
                                   "Counters under names that are not known here: %s. 'gputime sql' has their values.",
                                   text.ptr)
                       .ptr
                 : NULL;
}

enum gt_status gt_counters_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_counter_set *set = gt_results_counters(view, err);
    if (!set)
        return err->code;
    struct sums sums = sum_devices(set);
    if (sums.devices) {
        put_facts(section, &sums);
        put_issues(section, view, &sums);
    }
    struct gt_table *table =
        gt_section_table(section, "counters", "Hardware counters", columns, GT_ARRAY_COUNT(columns));
    table->keeps_order = true;
    table->screen_limit = 20;
    /* most profilers record none: that is worth a sentence only where nothing else is shown */
    const char *unknown = sums.devices ? NULL : say_unknown(view, &section->report->arena);
    if (sums.devices || unknown || !gt_measure_table_is_wanted(view, "efficiency"))
        table->empty = unknown ? unknown : GT_NONE_IN(view, "hardware counters");
    for (size_t d = 0; d < set->device_count; d++)
        for (size_t i = 0; i < set->devices[d].item_count; i++)
            put_row(table, view->devices[d].id, &set->devices[d], &set->devices[d].items[i]);
    return GT_OK;
}
