/* Tiny kernels: which kernels are over so soon that launching them costs more than running them, by name, over all and
   for each process. */
#include <stdlib.h>

#include "base/mem.h"
#include "measure/keyed.h"
#include "measure/measure.h"

enum { TINY_NS = 5000 };

static const struct gt_report_column columns[] = {
    {"name", "Kernel", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"count", "Tiny launches", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"avg_ns", "Mean", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"launch_share", "Of launches", GT_UNIT_SHARE, "kernel launches", GT_COLUMN_BAR},
};

static const struct gt_report_column process_columns[] = {
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"name", "Kernel", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"count", "Tiny launches", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"avg_ns", "Mean", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
};

static bool is_tiny(const struct gt_view *view, size_t position) {
    return gt_kind_is_kernel(gt_op_kind(view, position)) && gt_op_ns(view, position) <= TINY_NS;
}

static bool key_of(const struct gt_view *view, size_t position, uint64_t *process, uint64_t *name) {
    *process = 0;
    *name = gt_op_name_id(view, position);
    return is_tiny(view, position);
}

static bool process_key_of(const struct gt_view *view, size_t position, uint64_t *process, uint64_t *name) {
    uint32_t track = gt_op_process(view, position);
    *process = track;
    *name = gt_op_name_id(view, position);
    return is_tiny(view, position) && gt_cell_pid(view, track).type != GPUTIME_CELL_NULL;
}

struct row {
    uint32_t process;
    struct gt_str name;
    const struct gt_moments *lengths;
};

static int by_process_and_count(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->lengths->count != y->lengths->count)
        return x->lengths->count < y->lengths->count ? 1 : -1;
    return gt_str_cmp(x->name, y->name);
}

static void add_cells(struct gt_cell *cell, const struct row *row) {
    *cell++ = gt_cell_text(row->name);
    *cell++ = gt_cell_count(row->lengths->count);
    *cell++ = gt_cell_int(gt_ns_of_sum(row->lengths->sum));
    *cell++ = gt_cell_real(gt_moments_mean(row->lengths));
}

static void add_table(const struct gt_view *view, struct gt_section *section, const struct row *rows, size_t count) {
    size_t launches = 0;
    struct gt_table *table =
        gt_section_table(section, "tiny_kernels", "Kernels of 5 us and less", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 10;
    for (size_t i = 0; i < view->op_count; i++)
        launches += gt_kind_is_kernel(gt_op_kind(view, i));
    for (size_t i = 0; i < count; i++) {
        struct gt_cell *cell = gt_table_row(table);
        add_cells(cell, &rows[i]);
        cell[4] = gt_cell_share((double)rows[i].lengths->count, (double)launches);
    }
}

static void add_process_table(const struct gt_view *view, struct gt_section *section, const struct row *rows,
                              size_t count) {
    struct gt_table *table = gt_section_table(section, "process_tiny_kernels", "Kernels of 5 us and less, by process",
                                              process_columns, GT_ARRAY_COUNT(process_columns));
    gt_table_for(section, table, GT_FOR_DATA);
    for (size_t i = 0; i < count; i++) {
        struct gt_cell *cell = gt_table_row(table);
        cell[0] = gt_cell_pid(view, rows[i].process);
        add_cells(cell + 1, &rows[i]);
    }
}

static enum gt_status list(const struct gt_view *view, struct gt_section *section, bool by_process,
                           struct gt_error *err) {
    struct gt_keyed groups = {0};
    enum gt_status status = gt_keyed_add_ops(&groups, view, by_process ? process_key_of : key_of, NULL, err);
    struct row *rows = gt_alloc_array(groups.count, sizeof *rows);
    if (status == GT_OK && !rows)
        status = gt_fail_memory(err);
    if (status == GT_OK) {
        for (size_t i = 0; i < groups.count; i++)
            rows[i] = (struct row){.process = (uint32_t)groups.items[i].hi,
                                   .name = gt_name_text(view, (gt_strid)groups.items[i].lo),
                                   .lengths = &groups.items[i].lengths};
        qsort(rows, groups.count, sizeof *rows, by_process_and_count);
        if (by_process)
            add_process_table(view, section, rows, groups.count);
        else
            add_table(view, section, rows, groups.count);
    }
    gt_free(rows);
    gt_keyed_release(&groups);
    return status;
}

enum gt_status gt_tiny_kernels_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    enum gt_status status = list(view, section, false, err);
    return status == GT_OK ? list(view, section, true, err) : status;
}
