/* Tiny kernels: which kernels are over so soon that launching them costs more than running them, by name, over all and
   for each process. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "measure/results/tiny.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"name", "Kernel", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"count", "Tiny launches", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"avg_ns", "Mean", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"launch_share", "% of launches", GT_UNIT_SHARE, "kernel launches", GT_COLUMN_BAR},
};

static const struct gt_report_column process_columns[] = {
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"name", "Kernel", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"count", "Tiny launches", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"avg_ns", "Mean", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
};

/* Which are tiny is anybody's guess, so no branch depends on it. */
struct gt_tally gt_tiny_tally(struct gt_slice lengths) {
    struct gt_tally tiny = {0};
    for (size_t i = 0; i < lengths.count; i++) {
        int64_t length_ns = gt_quantile_sample(&lengths, i);
        bool is_tiny = length_ns <= GT_TINY_NS;
        tiny.count += is_tiny;
        tiny.sum += length_ns & -(int64_t)is_tiny;
    }
    return tiny;
}

struct row {
    uint32_t process;
    struct gt_str name;
    const struct gt_tally *lengths;
};

static int by_process_and_count(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->lengths->count != y->lengths->count)
        return x->lengths->count < y->lengths->count ? 1 : -1;
    return gt_str_cmp(x->name, y->name);
}

static void add_cells(struct gt_row *cells, const struct row *row) {
    gt_row_text(cells, "name", row->name);
    gt_row_count(cells, "count", row->lengths->count);
    gt_row_int(cells, "total_ns", gt_ns_of_sum(row->lengths->sum));
    gt_row_real(cells, "avg_ns", gt_keyed_tally_mean(row->lengths));
}

static void add_table(struct gt_section *section, const struct row *rows, size_t count, size_t launches) {
    struct gt_table *table =
        gt_section_table(section, "tiny_kernels", "Kernels of 5 us or less", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 10;
    for (size_t i = 0; i < count; i++) {
        struct gt_row cells = gt_row_begin(table);
        add_cells(&cells, &rows[i]);
        gt_row_share(&cells, "launch_share", (double)rows[i].lengths->count, (double)launches);
        gt_row_end(&cells);
    }
}

static void add_process_table(const struct gt_view *view, struct gt_section *section, const struct row *rows,
                              size_t count) {
    struct gt_table *table = gt_section_table(section, "process_tiny_kernels", "Kernels of 5 us or less by process",
                                              process_columns, GT_ARRAY_COUNT(process_columns));
    gt_measure_table_for(section, table, GT_FOR_DATA);
    for (size_t i = 0; i < count; i++) {
        struct gt_cell pid = gt_measure_pid_cell(view, rows[i].process);
        if (pid.type == GPUTIME_CELL_NULL)
            continue;
        struct gt_row cells = gt_row_begin(table);
        gt_row_cell(&cells, "pid", pid);
        add_cells(&cells, &rows[i]);
        gt_row_end(&cells);
    }
}

/* To be freed; NULL: memory was short. */
static struct row *new_rows(const struct gt_view *view, const struct gt_keyed *groups) {
    struct row *rows = gt_mem_array(groups->count, sizeof *rows);
    for (size_t i = 0; i < groups->count && rows; i++)
        rows[i] = (struct row){.process = (uint32_t)groups->items[i].hi,
                               .name = gt_view_name_text(view, (gt_strid)groups->items[i].lo),
                               .lengths = &groups->items[i].lengths};
    if (rows)
        qsort(rows, groups->count, sizeof *rows, by_process_and_count);
    return rows;
}

enum gt_status gt_tiny_kernels_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_op_lengths *lengths = gt_results_op_lengths(view, err);
    if (!lengths)
        return err->code;
    const struct gt_op_groups *groups = lengths->groups;
    struct gt_keyed by_process = {0}, by_name = {0};
    struct row *rows = NULL, *process_rows = NULL;
    for (size_t i = 0; i < groups->kernel_count; i++) {
        struct gt_tally tiny = gt_tiny_tally(gt_op_lengths_of(lengths, i, i + 1));
        if (tiny.count == 0)
            continue;
        gt_keyed_merge(&by_process, groups->items[i].process, groups->items[i].name, &tiny);
        gt_keyed_merge(&by_name, 0, groups->items[i].name, &tiny);
    }
    if (!by_process.failed && !by_name.failed) {
        rows = new_rows(view, &by_name);
        process_rows = new_rows(view, &by_process);
    }
    bool ok = rows && process_rows;
    if (ok) {
        add_table(section, rows, by_name.count, gt_op_groups_tally(groups, 0, groups->kernel_count).count);
        add_process_table(view, section, process_rows, by_process.count);
    }
    gt_mem_free(rows);
    gt_mem_free(process_rows);
    gt_keyed_release(&by_process);
    gt_keyed_release(&by_name);
    return ok ? GT_OK : gt_fail_memory(err);
}
