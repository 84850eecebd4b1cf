/* Process kernels: the kernels of each process on each GPU, the process with the most kernel time first. */
#include <stdlib.h>

#include "base/mem.h"
#include "measure/keyed.h"
#include "measure/measure.h"

static const struct gt_report_column columns[] = {
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"name", "Kernel", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"count", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"avg_ns", "Mean", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"process_share", "Of process", GT_UNIT_SHARE, "the kernel time of the process", 0},
    {"share", "Share", GT_UNIT_SHARE, "kernel time", GT_COLUMN_BAR},
    {"process_kernel_ns", "Kernel time of the process", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL},
    {"process_kernel_share", "Process' share", GT_UNIT_SHARE, "kernel time", GT_COLUMN_DETAIL},
};

/* Kernels of one name, process and GPU. */
struct row {
    uint32_t process;
    int64_t device_id;
    struct gt_str name;
    const struct gt_tally *lengths;
    __int128 process_ns;
};

static int by_process_and_total(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->process_ns != y->process_ns)
        return x->process_ns < y->process_ns ? 1 : -1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->lengths->sum != y->lengths->sum)
        return x->lengths->sum < y->lengths->sum ? 1 : -1;
    int order = gt_str_cmp(x->name, y->name);
    return order ? order : (x->device_id > y->device_id) - (x->device_id < y->device_id);
}

/* Kernels whose process the trace does not tell are in no group. */
static bool key_of(const struct gt_view *view, size_t position, uint64_t *process, uint64_t *kernel) {
    uint32_t track = gt_op_process(view, position);
    uint64_t device = view->store->lanes.device[view->lane[position]];
    *process = track;
    *kernel = device << 32 | gt_op_name_id(view, position);
    return gt_kind_is_kernel(gt_op_kind(view, position)) && gt_cell_pid(view, track).type != GPUTIME_CELL_NULL;
}

static void add_table(const struct gt_view *view, struct gt_section *section, struct row *rows, size_t count,
                      double total_ns) {
    struct gt_table *table =
        gt_section_table(section, "process_kernels", "Kernels of each process", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 20;
    qsort(rows, count, sizeof *rows, by_process_and_total);
    for (size_t i = 0; i < count; i++) {
        double kernel_ns = (double)rows[i].lengths->sum, process_ns = (double)rows[i].process_ns;
        struct gt_cell *cell = gt_table_row(table);
        *cell++ = gt_cell_pid(view, rows[i].process);
        *cell++ = gt_cell_text(rows[i].name);
        *cell++ = gt_cell_int(rows[i].device_id);
        *cell++ = gt_cell_count(rows[i].lengths->count);
        *cell++ = gt_cell_int(gt_ns_of_sum(rows[i].lengths->sum));
        *cell++ = gt_cell_real(gt_tally_mean(rows[i].lengths));
        *cell++ = gt_cell_share(kernel_ns, process_ns);
        *cell++ = gt_cell_share(kernel_ns, total_ns);
        *cell++ = gt_cell_int(gt_ns_of_sum(rows[i].process_ns));
        *cell++ = gt_cell_share(process_ns, total_ns);
    }
    gt_table_for_processes(section, table);
}

/* Kernel time of each process, and as the last of them of all, those without a known process too. */
static void sum_kernels(const struct gt_view *view, const struct gt_keyed *groups, __int128 *process_ns) {
    size_t process_count = view->store->processes.count;
    for (size_t i = 0; i < groups->count; i++)
        process_ns[groups->items[i].hi] += groups->items[i].lengths.sum;
    for (size_t i = 0; i < view->op_count; i++)
        if (gt_kind_is_kernel(gt_op_kind(view, i)))
            process_ns[process_count] += gt_op_ns(view, i);
}

enum gt_status gt_process_kernels_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    struct gt_keyed groups = {0};
    enum gt_status status = gt_keyed_add_ops(&groups, view, key_of, NULL, err);
    size_t process_count = view->store->processes.count;
    __int128 *process_ns = gt_alloc_array(process_count + 1, sizeof *process_ns);
    struct row *rows = gt_alloc_array(groups.count, sizeof *rows);
    if (status != GT_OK)
        goto out;
    if (!process_ns || !rows) {
        status = gt_fail_memory(err);
        goto out;
    }
    sum_kernels(view, &groups, process_ns);
    for (size_t i = 0; i < groups.count; i++) {
        const struct gt_keyed_group *group = &groups.items[i];
        rows[i] = (struct row){.process = (uint32_t)group->hi,
                               .device_id = view->store->devices.id[group->lo >> 32],
                               .name = gt_name_text(view, (gt_strid)(group->lo & UINT32_MAX)),
                               .lengths = &group->lengths,
                               .process_ns = process_ns[group->hi]};
    }
    add_table(view, section, rows, groups.count, (double)process_ns[process_count]);
out:
    gt_free(rows);
    gt_free(process_ns);
    gt_keyed_release(&groups);
    return status;
}
