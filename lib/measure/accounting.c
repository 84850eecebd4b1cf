/* Accounting: for each device, its span split into compute, exposed communication, exposed memory and idle time, which
   sum to the span; then the mean, minimum and maximum over devices. */
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

#define AMOUNT_COLUMNS                                                                                                 \
    {"span_ns", "Span", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},                                           \
        {"busy_ns", "Busy", GT_UNIT_NS, NULL, GT_COLUMN_ADDS}, {"idle_ns", "Idle", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},  \
        {"compute_ns", "Compute", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},                                                   \
        {"comm_ns", "Comm", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},                                                         \
        {"memory_ns", "Memory", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},                                                     \
        {"exposed_comm_ns", "Exposed comm", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},                                         \
        {"exposed_memory_ns", "Exposed memory", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},                                     \
        {"overlap_ns", "Overlap", GT_UNIT_NS, NULL, GT_COLUMN_ADDS}, {                                                 \
        "sum_ns", "Op time (sum)", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS                                 \
    }

static const struct gt_report_column account_columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    AMOUNT_COLUMNS,
    {"utilisation", "Busy share", GT_UNIT_SHARE, "span", 0},
    {"gpu", "Model", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"idle_share", "Idle share", GT_UNIT_SHARE, "span", GT_COLUMN_DETAIL},
};

static const struct gt_report_column summary_columns[] = {
    {"measure", "Across GPUs", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    AMOUNT_COLUMNS,
    {"utilisation", "Busy share", GT_UNIT_SHARE, "span", 0},
};

static const struct gt_report_column part_columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"part", "Part", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"share", "Share", GT_UNIT_SHARE, "span", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
};

static void add_parts(struct gt_table *table, const struct gt_view_device *device, const struct gt_account *account) {
    static const struct {
        const char *title;
        enum gt_amount amount;
    } parts[] = {{"compute", GT_AMOUNT_COMPUTE},
                 {"exposed communication", GT_AMOUNT_EXPOSED_COMM},
                 {"exposed memory", GT_AMOUNT_EXPOSED_MEMORY},
                 {"idle", GT_AMOUNT_IDLE}};
    for (size_t i = 0; i < GT_ARRAY_COUNT(parts); i++) {
        struct gt_row row = gt_row_begin(table);
        int64_t ns = account->ns[parts[i].amount];
        gt_row_int(&row, "device", device->id);
        gt_row_text(&row, "part", gt_str_of(parts[i].title));
        gt_row_int(&row, "total_ns", ns);
        gt_row_share(&row, "share", (double)ns, (double)account->ns[GT_AMOUNT_SPAN]);
        gt_row_end(&row);
    }
}

static void add_account(struct gt_table *table, const struct gt_view *view, const struct gt_view_device *device,
                        const struct gt_account *account) {
    struct gt_str gpu = gt_store_string(view->store, view->store->devices.name[device->device]);
    struct gt_row row = gt_row_begin(table);
    gt_row_int(&row, "device", device->id);
    for (size_t i = 0; i < GT_AMOUNT_COUNT; i++)
        gt_row_int(&row, gt_amount_keys[i], account->ns[i]);
    gt_row_share(&row, "utilisation", (double)account->ns[GT_AMOUNT_BUSY], (double)account->ns[GT_AMOUNT_SPAN]);
    gt_row_cell(&row, "gpu", gpu.len ? gt_cell_text(gpu) : gt_cell_null());
    gt_row_share(&row, "idle_share", (double)account->ns[GT_AMOUNT_IDLE], (double)account->ns[GT_AMOUNT_SPAN]);
    gt_row_end(&row);
}

/* Running mean, minimum and maximum over devices. */
struct summary {
    size_t count;
    __int128 sum[GT_AMOUNT_COUNT];
    int64_t min[GT_AMOUNT_COUNT], max[GT_AMOUNT_COUNT];
    double share_sum, share_min, share_max;
};

static void summary_take(struct summary *summary, const struct gt_account *account) {
    bool is_first = summary->count++ == 0;
    for (size_t i = 0; i < GT_AMOUNT_COUNT; i++) {
        int64_t ns = account->ns[i];
        summary->sum[i] += ns;
        summary->min[i] = is_first || ns < summary->min[i] ? ns : summary->min[i];
        summary->max[i] = is_first || ns > summary->max[i] ? ns : summary->max[i];
    }
    double share =
        account->ns[GT_AMOUNT_SPAN] > 0 ? (double)account->ns[GT_AMOUNT_BUSY] / (double)account->ns[GT_AMOUNT_SPAN] : 0;
    summary->share_sum += share;
    summary->share_min = is_first || share < summary->share_min ? share : summary->share_min;
    summary->share_max = is_first || share > summary->share_max ? share : summary->share_max;
}

static void add_extremes(struct gt_table *table, const char *measure, const int64_t *ns, double share) {
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "measure", gt_str_of(measure));
    for (size_t i = 0; i < GT_AMOUNT_COUNT; i++)
        gt_row_int(&row, gt_amount_keys[i], ns[i]);
    gt_row_real(&row, "utilisation", share);
    gt_row_end(&row);
}

static void add_summary(struct gt_section *section, const struct summary *summary) {
    struct gt_table *table = gt_section_table(section, "accounting_summary", "GPU time across GPUs", summary_columns,
                                              GT_ARRAY_COUNT(summary_columns));
    if (summary->count < 2)
        gt_measure_table_for(section, table, GT_FOR_DATA);
    if (summary->count == 0)
        return;
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "measure", GT_STR("mean"));
    for (size_t i = 0; i < GT_AMOUNT_COUNT; i++)
        gt_row_real(&row, gt_amount_keys[i], (double)summary->sum[i] / (double)summary->count);
    gt_row_real(&row, "utilisation", summary->share_sum / (double)summary->count);
    gt_row_end(&row);
    add_extremes(table, "min", summary->min, summary->share_min);
    add_extremes(table, "max", summary->max, summary->share_max);
}

enum gt_status gt_accounting_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    struct gt_table *parts =
        gt_section_table(section, "time_parts", "Where the GPU time went", part_columns, GT_ARRAY_COUNT(part_columns));
    gt_measure_table_for(section, parts, GT_FOR_SCREEN); /* data have the table, pages a chart of it */
    struct gt_table *table = gt_section_table(section, "accounting", "Time breakdown by GPU", account_columns,
                                              GT_ARRAY_COUNT(account_columns));
    const struct gt_accounts *accounts = gt_results_accounts(view, err);
    struct summary summary = {0};
    if (!accounts)
        return err->code;
    for (size_t d = 0; d < view->device_count; d++) {
        add_parts(parts, &view->devices[d], &accounts->by_device[d]);
        add_account(table, view, &view->devices[d], &accounts->by_device[d]);
        summary_take(&summary, &accounts->by_device[d]);
    }
    add_summary(section, &summary);
    return GT_OK;
}
