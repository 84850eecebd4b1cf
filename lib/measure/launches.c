/* Launches: time inside launch calls by API, and how long ops then waited in the queue, by API and by kernel. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/strtab.h"
#include "measure/results/calls.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "measure/results/samples.h"
#include "report/row.h"

static const struct gt_report_column api_columns[] = {
    {"name", "API call", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"count", "Calls", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"avg_ns", "Mean", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"max_ns", "Max", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"queued", "Ops queued", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"queue_p50_ns", "Queue p50", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"queue_p90_ns", "Queue p90", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"queue_max_ns", "Queue max", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
};

static const struct gt_report_column kernel_columns[] = {
    {"name", "Kernel", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"count", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"queued", "Queued", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"queue_p50_ns", "Queue p50", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"queue_p90_ns", "Queue p90", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"queue_max_ns", "Queue max", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"queue_ns", "Queue sum", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
};

/* A row: what was called or launched, how often, and the set of its queue times. */
struct launch {
    struct gt_str name;
    size_t set, count;
    int64_t total_ns, max_ns;
};

static inline int64_t queue_ns_of(const struct gt_view *view, uint32_t op) {
    return gt_calls_queue_ns(view->store, view->labels, op);
}

static void add_queue_cells(struct gt_row *row, struct gt_samples *queues, size_t set) {
    size_t queued = gt_samples_size(queues, set);
    gt_row_count(row, "queued", queued);
    if (queued == 0) {
        gt_row_null(row, "queue_p50_ns");
        gt_row_null(row, "queue_p90_ns");
        gt_row_null(row, "queue_max_ns");
        return;
    }
    double quantiles[2];
    gt_samples_quantiles(queues, set, (const double[]){0.5, 0.9}, GT_ARRAY_COUNT(quantiles), quantiles);
    gt_row_real(row, "queue_p50_ns", quantiles[0]);
    gt_row_real(row, "queue_p90_ns", quantiles[1]);
    gt_row_int(row, "queue_max_ns", gt_samples_max(queues, set));
}

/* ---- by API ---- */

/* Launch calls by the plain name of their API. */
struct apis {
    const uint8_t *is_launch; /* by call */
    struct gt_strtab names;   /* plain ones */
    gt_strid *plain;          /* by string of the store that names a launch call */
    struct launch *rows;      /* by plain name */
    struct gt_samples queues;
};

static void apis_release(struct apis *apis) {
    gt_strtab_release(&apis->names);
    gt_mem_free(apis->plain);
    gt_mem_free(apis->rows);
    gt_samples_release(&apis->queues);
}

static bool sum_calls(const struct gt_view *view, struct apis *apis) {
    const struct gt_calls *calls = &view->store->calls;
    apis->plain = gt_mem_array(view->store->strings.count, sizeof *apis->plain);
    if (!apis->plain || !gt_strtab_init(&apis->names))
        return false;
    for (size_t i = 0; i < calls->count; i++)
        if (apis->is_launch[i] && apis->plain[calls->name[i]] == GT_STRID_EMPTY)
            apis->plain[calls->name[i]] = gt_strtab_intern_borrowed(
                &apis->names, gt_call_plain_name(gt_store_string(view->store, calls->name[i])));
    apis->rows = gt_mem_array(apis->names.count, sizeof *apis->rows);
    if (!apis->rows || apis->names.failed)
        return false;
    for (size_t i = 0; i < apis->names.count; i++)
        apis->rows[i] = (struct launch){.name = gt_strtab_get(&apis->names, (gt_strid)i), .set = i};
    for (size_t i = 0; i < calls->count; i++) {
        if (!apis->is_launch[i])
            continue;
        struct launch *row = &apis->rows[apis->plain[calls->name[i]]];
        int64_t length_ns = gt_ns_between(calls->start_ns[i], calls->end_ns[i]);
        row->count++;
        row->total_ns = gt_ns_add(row->total_ns, length_ns);
        row->max_ns = length_ns > row->max_ns ? length_ns : row->max_ns;
    }
    return true;
}

static size_t api_of_op(const struct gt_view *view, const struct apis *apis, uint32_t op) {
    return apis->plain[view->store->calls.name[view->labels->op_call[op]]];
}

static bool queue_by_api(const struct gt_view *view, struct apis *apis) {
    if (!gt_samples_init(&apis->queues, apis->names.count))
        return false;
    for (size_t i = 0; i < view->op_count; i++) {
        uint32_t op = gt_view_any_op_row(view, i);
        if (queue_ns_of(view, op) >= 0)
            gt_samples_count(&apis->queues, api_of_op(view, apis, op));
    }
    if (!gt_samples_place(&apis->queues))
        return false;
    for (size_t i = 0; i < view->op_count; i++) {
        uint32_t op = gt_view_any_op_row(view, i);
        int64_t queue_ns = queue_ns_of(view, op);
        if (queue_ns >= 0)
            gt_samples_add(&apis->queues, api_of_op(view, apis, op), queue_ns);
    }
    return true;
}

static int by_total(const void *a, const void *b) {
    const struct launch *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return gt_str_cmp(x->name, y->name);
}

static void add_apis(const struct gt_view *view, struct gt_section *section, struct apis *apis) {
    struct gt_table *table =
        gt_section_table(section, "launches", "Launch calls", api_columns, GT_ARRAY_COUNT(api_columns));
    table->screen_limit = 20;
    table->empty = GT_NONE_IN(view, "launch calls");
    qsort(apis->rows, apis->names.count, sizeof *apis->rows, by_total);
    for (size_t i = 0; i < apis->names.count; i++) {
        const struct launch *row = &apis->rows[i];
        if (row->count == 0)
            continue;
        struct gt_row cells = gt_row_begin(table);
        gt_row_text(&cells, "name", row->name);
        gt_row_count(&cells, "count", row->count);
        gt_row_int(&cells, "total_ns", row->total_ns);
        gt_row_real(&cells, "avg_ns", (double)row->total_ns / (double)row->count);
        gt_row_int(&cells, "max_ns", row->max_ns);
        add_queue_cells(&cells, &apis->queues, row->set);
        gt_row_end(&cells);
    }
}

static enum gt_status launches_by_api(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_launch_marks *marks = gt_results_launch_marks(view, err);
    if (!marks)
        return err->code;
    struct apis apis = {.is_launch = marks->of_call};
    bool ok = sum_calls(view, &apis) && queue_by_api(view, &apis);
    if (ok)
        add_apis(view, section, &apis);
    apis_release(&apis);
    return ok ? GT_OK : gt_fail_memory(err);
}

/* ---- by kernel ---- */

static bool queue_by_kernel(const struct gt_view *view, struct gt_samples *queues, size_t *counts) {
    for (size_t i = 0; i < view->op_count; i++) {
        if (!gt_store_kind_is_kernel(gt_view_op_kind(view, i)))
            continue;
        counts[gt_view_op_name_id(view, i)]++;
        if (queue_ns_of(view, view->row[i]) >= 0)
            gt_samples_count(queues, gt_view_op_name_id(view, i));
    }
    if (!gt_samples_place(queues))
        return false;
    for (size_t i = 0; i < view->op_count; i++) {
        int64_t queue_ns = gt_store_kind_is_kernel(gt_view_op_kind(view, i)) ? queue_ns_of(view, view->row[i]) : -1;
        if (queue_ns >= 0)
            gt_samples_add(queues, gt_view_op_name_id(view, i), queue_ns);
    }
    return true;
}

static int by_count(const void *a, const void *b) {
    const struct launch *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return gt_str_cmp(x->name, y->name);
}

static bool add_kernels(const struct gt_view *view, struct gt_section *section, struct gt_samples *queues,
                        const size_t *counts) {
    size_t name_count = gt_view_name_count(view), used = 0, filled = 0;
    for (size_t id = 0; id < name_count; id++)
        used += counts[id] > 0;
    struct launch *rows = gt_mem_array(used, sizeof *rows);
    if (!rows)
        return false;
    for (size_t id = 0; id < name_count; id++)
        if (counts[id])
            rows[filled++] =
                (struct launch){.name = gt_view_name_text(view, (gt_strid)id), .set = id, .count = counts[id]};
    qsort(rows, used, sizeof *rows, by_count);
    struct gt_table *table = gt_section_table(section, "kernel_launches", "Queue time by kernel", kernel_columns,
                                              GT_ARRAY_COUNT(kernel_columns));
    gt_measure_table_for(section, table, GT_FOR_DATA | GT_FOR_PAGE);
    for (size_t i = 0; i < used; i++) {
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "name", rows[i].name);
        gt_row_count(&row, "count", rows[i].count);
        add_queue_cells(&row, queues, rows[i].set);
        gt_row_cell(&row, "queue_ns",
                    gt_samples_size(queues, rows[i].set) ? gt_cell_int(gt_samples_stats(queues, rows[i].set).total_ns)
                                                         : gt_cell_null());
        gt_row_end(&row);
    }
    gt_mem_free(rows);
    return true;
}

static enum gt_status launches_by_kernel(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    struct gt_samples queues = {0};
    size_t *counts = gt_mem_array(gt_view_name_count(view), sizeof *counts);
    bool ok = counts && gt_samples_init(&queues, gt_view_name_count(view)) && queue_by_kernel(view, &queues, counts) &&
              add_kernels(view, section, &queues, counts);
    gt_samples_release(&queues);
    gt_mem_free(counts);
    return ok ? GT_OK : gt_fail_memory(err);
}

enum gt_status gt_launches_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    enum gt_status status = launches_by_api(view, section, err);
    if (status == GT_OK && gt_measure_table_is_wanted(view, "kernel_launches"))
        status = launches_by_kernel(view, section, err);
    return status;
}
