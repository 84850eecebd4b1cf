/* Operators: GPU time by the CPU operator that launched it. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/measure.h"
#include "measure/results/operator_set.h"

static const struct gt_report_column columns[] = {
    {"name", "Operator", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"calls", "Launches", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"ops", "Ops", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"avg_ns", "Mean", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"share", "Share", GT_UNIT_SHARE, "op time", GT_COLUMN_BAR},
};

/* All that operators of one name launched. */
struct row {
    struct gt_str name;
    size_t calls, ops;
    int64_t total_ns;
};

static int by_total(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return gt_str_cmp(x->name, y->name);
}

/* calls, operators: by op; rows: by string. Gives the op time of all ops. */
static int64_t sum_ops(const struct gt_view *view, const uint32_t *calls, const uint32_t *operators, struct row *rows,
                       uint8_t *seen_calls) {
    const struct gt_store *store = view->store;
    int64_t all_ns = 0;
    for (size_t i = 0; i < view->op_count; i++) {
        all_ns = gt_ns_add(all_ns, gt_view_op_ns(view, i));
        if (operators[i] == GT_NO_ROW)
            continue;
        struct row *row = &rows[store->cpu_ops.name[operators[i]]];
        row->ops++;
        row->calls += !seen_calls[calls[i]];
        row->total_ns = gt_ns_add(row->total_ns, gt_view_op_ns(view, i));
        seen_calls[calls[i]] = 1;
    }
    return all_ns;
}

static void add_rows(const struct gt_view *view, struct gt_table *table, struct row *rows, int64_t all_ns) {
    size_t count = 0;
    for (size_t i = 0; i < view->store->strings.count; i++)
        if (rows[i].ops) {
            rows[count] = rows[i];
            rows[count++].name = gt_store_string(view->store, (gt_strid)i);
        }
    qsort(rows, count, sizeof *rows, by_total);
    for (size_t i = 0; i < count; i++) {
        struct gt_cell *cell = gt_table_row(table);
        *cell++ = gt_cell_text(rows[i].name);
        *cell++ = gt_cell_count(rows[i].calls);
        *cell++ = gt_cell_count(rows[i].ops);
        *cell++ = gt_cell_int(rows[i].total_ns);
        *cell++ = gt_cell_real((double)rows[i].total_ns / (double)rows[i].ops);
        *cell++ = gt_cell_share((double)rows[i].total_ns, (double)all_ns);
    }
}

static uint32_t *new_calls(const struct gt_view *view) {
    uint32_t *calls = gt_mem_uninitialised(view->op_count, sizeof *calls);
    for (size_t i = 0; i < view->op_count && calls; i++)
        calls[i] = view->labels->op_call[view->row[i]];
    return calls;
}

enum gt_status gt_operators_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    uint32_t *calls = new_calls(view);
    uint32_t *operators = calls ? gt_operator_set_of_calls(view, calls, view->op_count) : NULL;
    struct row *rows = gt_mem_array(view->store->strings.count, sizeof *rows);
    uint8_t *seen_calls = gt_mem_array(view->store->calls.count, 1);
    bool ok = operators && rows && seen_calls;
    struct gt_table *table =
        gt_section_table(section, "operators", "GPU time by CPU operator", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 10;
    if (ok)
        add_rows(view, table, rows, sum_ops(view, calls, operators, rows, seen_calls));
    gt_mem_free(calls);
    gt_mem_free(operators);
    gt_mem_free(rows);
    gt_mem_free(seen_calls);
    return ok ? GT_OK : gt_fail_memory(err);
}
