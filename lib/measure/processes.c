/* Processes: whose work the GPU did. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

struct process {
    uint32_t track; /* GT_NO_TRACK: the trace does not record whose */
    size_t ops, kernels;
    __int128 total_ns, kernel_ns;
};

static const struct gt_report_column columns[] = {
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"name", "Name", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
    {"ops", "Ops", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"kernels", "Kernels", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS},
    {"total_ns", "Op time (sum)", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS | GT_COLUMN_TOTAL},
    {"share", "Share", GT_UNIT_SHARE, "summed op time", GT_COLUMN_BAR},
    {"kernel_ns", "Kernel time", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS},
    {"kernel_share", "% of kernel time", GT_UNIT_SHARE, "kernel time", GT_COLUMN_DETAIL},
};

static int by_total(const void *a, const void *b) {
    const struct process *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return (x->track > y->track) - (x->track < y->track);
}

/* The name the trace gives, else the text it uses instead of a number. */
static struct gt_cell name_of(const struct gt_view *view, uint32_t track) {
    const struct gt_processes *processes = &view->store->processes;
    if (track == GT_NO_TRACK)
        return gt_cell_null();
    struct gt_str name = gt_store_string(view->store, processes->name[track]);
    if (name.len == 0)
        name = gt_store_string(view->store, processes->label[track]);
    return name.len ? gt_cell_text(name) : gt_cell_null();
}

enum gt_status gt_processes_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_op_groups *groups = gt_results_op_groups(view, err);
    if (!groups)
        return err->code;
    size_t count = view->store->processes.count + 1; /* the last: unknown */
    struct process *processes = gt_mem_array(count, sizeof *processes);
    if (!processes)
        return gt_fail_memory(err);
    for (size_t i = 0; i < count; i++)
        processes[i].track = i + 1 < count ? (uint32_t)i : GT_NO_TRACK;
    __int128 total_ns = 0, kernel_ns = 0;
    for (size_t i = 0; i < groups->count; i++) {
        const struct gt_op_group *group = &groups->items[i];
        struct process *process = &processes[group->process == GT_NO_TRACK ? count - 1 : group->process];
        process->ops += group->count;
        process->total_ns += group->sum_ns;
        total_ns += group->sum_ns;
        if (!gt_store_kind_is_kernel(group->kind))
            continue;
        process->kernels += group->count;
        process->kernel_ns += group->sum_ns;
        kernel_ns += group->sum_ns;
    }
    qsort(processes, count, sizeof *processes, by_total);
    struct gt_table *table = gt_section_table(section, "processes", "Processes", columns, GT_ARRAY_COUNT(columns));
    for (size_t i = 0; i < count; i++) {
        if (processes[i].ops == 0)
            continue;
        struct gt_row row = gt_row_begin(table);
        gt_row_cell(&row, "pid", gt_measure_pid_cell(view, processes[i].track));
        gt_row_cell(&row, "name", name_of(view, processes[i].track));
        gt_row_count(&row, "ops", processes[i].ops);
        gt_row_count(&row, "kernels", processes[i].kernels);
        gt_row_int(&row, "total_ns", gt_ns_of_sum(processes[i].total_ns));
        gt_row_share(&row, "share", (double)processes[i].total_ns, (double)total_ns);
        gt_row_int(&row, "kernel_ns", gt_ns_of_sum(processes[i].kernel_ns));
        gt_row_share(&row, "kernel_share", (double)processes[i].kernel_ns, (double)kernel_ns);
        gt_row_end(&row);
    }
    gt_mem_free(processes);
    return GT_OK;
}
