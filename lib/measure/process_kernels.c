/* Process kernels: the kernels of each process on each GPU, the process with the most kernel time first. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"name", "Kernel", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"count", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"avg_ns", "Mean", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"process_share", "% of process", GT_UNIT_SHARE, "kernel time of the process", 0},
    {"share", "Share", GT_UNIT_SHARE, "kernel time", GT_COLUMN_BAR},
    {"process_kernel_ns", "Kernel time of the process", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL},
    {"process_kernel_share", "Share of process", GT_UNIT_SHARE, "kernel time", GT_COLUMN_DETAIL},
};

/* Kernels of one name, process and GPU. */
struct row {
    uint32_t process;
    int64_t device_id;
    struct gt_str name;
    struct gt_tally lengths;
    __int128 process_ns;
};

static int by_process_and_total(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->process_ns != y->process_ns)
        return x->process_ns < y->process_ns ? 1 : -1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->lengths.sum != y->lengths.sum)
        return x->lengths.sum < y->lengths.sum ? 1 : -1;
    int order = gt_str_cmp(x->name, y->name);
    return order ? order : (x->device_id > y->device_id) - (x->device_id < y->device_id);
}

static void add_table(const struct gt_view *view, struct gt_section *section, struct row *rows, size_t count,
                      double total_ns) {
    struct gt_table *table =
        gt_section_table(section, "process_kernels", "Kernels by process", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 20;
    qsort(rows, count, sizeof *rows, by_process_and_total);
    for (size_t i = 0; i < count; i++) {
        double kernel_ns = (double)rows[i].lengths.sum, process_ns = (double)rows[i].process_ns;
        struct gt_row cells = gt_row_begin(table);
        gt_row_cell(&cells, "pid", gt_measure_pid_cell(view, rows[i].process));
        gt_row_text(&cells, "name", rows[i].name);
        gt_row_int(&cells, "device", rows[i].device_id);
        gt_row_count(&cells, "count", rows[i].lengths.count);
        gt_row_int(&cells, "total_ns", gt_ns_of_sum(rows[i].lengths.sum));
        gt_row_real(&cells, "avg_ns", gt_keyed_tally_mean(&rows[i].lengths));
        gt_row_share(&cells, "process_share", kernel_ns, process_ns);
        gt_row_share(&cells, "share", kernel_ns, total_ns);
        gt_row_int(&cells, "process_kernel_ns", gt_ns_of_sum(rows[i].process_ns));
        gt_row_share(&cells, "process_kernel_share", process_ns, total_ns);
        gt_row_end(&cells);
    }
    gt_measure_table_for_processes(section, table);
}

/* One row for the groups of a name, process and GPU; how many these are. Kernels whose process the trace does not say
   have none. */
static size_t list_rows(const struct gt_view *view, const struct gt_op_groups *groups, struct row *rows) {
    size_t count = 0;
    for (size_t first = 0, end; first < groups->kernel_count; first = end) {
        const struct gt_op_group *group = &groups->items[first];
        for (end = first + 1; end < groups->kernel_count; end++)
            if (groups->items[end].name != group->name || groups->items[end].device != group->device ||
                groups->items[end].process != group->process)
                break;
        if (gt_measure_pid_cell(view, group->process).type != GPUTIME_CELL_NULL)
            rows[count++] = (struct row){.process = group->process,
                                         .device_id = view->store->devices.id[group->device],
                                         .name = gt_view_name_text(view, group->name),
                                         .lengths = gt_op_groups_tally(groups, first, end)};
    }
    return count;
}

enum gt_status gt_process_kernels_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_op_groups *groups = gt_results_op_groups(view, err);
    if (!groups)
        return err->code;
    __int128 *process_ns = gt_mem_array(view->store->processes.count, sizeof *process_ns);
    struct row *rows = gt_mem_array(groups->kernel_count, sizeof *rows);
    bool ok = process_ns && rows;
    if (ok) {
        size_t count = list_rows(view, groups, rows);
        struct gt_tally all = gt_op_groups_tally(groups, 0, groups->kernel_count);
        for (size_t i = 0; i < count; i++)
            process_ns[rows[i].process] += rows[i].lengths.sum;
        for (size_t i = 0; i < count; i++)
            rows[i].process_ns = process_ns[rows[i].process];
        add_table(view, section, rows, count, (double)all.sum);
    }
    gt_mem_free(rows);
    gt_mem_free(process_ns);
    return ok ? GT_OK : gt_fail_memory(err);
}
