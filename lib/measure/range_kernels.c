/* Range kernels: the kernel time that was launched directly inside each range, by name and by process, and how much of
   all kernel time that covers. */
#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/num.h"
#include "base/sort.h"
#include "base/threads.h"
#include "measure/results/keyed.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"name", "Range", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"domain", "Domain", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL | GT_COLUMN_KEY},
    {"kernels", "Kernels", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"kernel_ns", "Kernel time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"avg_ns", "Mean", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"share", "Share", GT_UNIT_SHARE, "kernel time", GT_COLUMN_BAR},
};

static const struct gt_report_column process_columns[] = {
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"name", "Range", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"domain", "Domain", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL | GT_COLUMN_KEY},
    {"instances", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"range_ns", "CPU time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"range_avg_ns", "Mean", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"kernels", "Kernels", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"kernel_ns", "Kernel time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"kernel_avg_ns", "Kernel mean", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE},
    {"coverage", "Coverage", GT_UNIT_SHARE, "kernel time of the process", GT_COLUMN_DETAIL},
};

static const struct gt_report_column coverage_columns[] = {
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"kernels", "Kernels", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"kernel_ns", "Kernel time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"covered_kernels", "In ranges", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"covered_ns", "Time in ranges", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"coverage", "Coverage", GT_UNIT_SHARE, "kernel time of the process", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
};

/* Keys: a range is its domain and name; a process its track. Pairs of both are dealt to parts, which threads sum at the
   same time. */
struct part {
    const struct attribution *sums;
    struct gt_keyed lengths;  /* of ranges: process, range */
    struct gt_keyed kernels;  /* of kernels: process (GT_NO_TRACK: not known), range */
    struct process_row *rows; /* of the table of processes */
    size_t row_count;
    bool ok;
};

struct attribution {
    const struct gt_view *view;
    const struct gt_range_set *set;       /* NULL: all ranges on the CPU are listed */
    const struct gt_range_groups *groups; /* NULL: kernels have no ranges */
    struct part *parts;
    size_t part_count, threads;
    struct gt_keyed by_range;  /* of kernels: range */
    struct gt_keyed processes; /* of kernels: process, 0 for all of them and 1 for those in ranges */
    __int128 total_ns, covered_ns;
    size_t covered;
};

static struct gt_str name_of(const struct gt_view *view, uint64_t range_key) {
    return gt_store_string(view->store, gt_range_groups_key_name(range_key));
}

static struct gt_str domain_of(const struct gt_view *view, uint64_t range_key) {
    return gt_store_string(view->store, gt_range_groups_key_domain(range_key));
}

static bool is_known(const struct gt_view *view, uint32_t process) {
    return gt_measure_pid_cell(view, process).type != GPUTIME_CELL_NULL;
}

static bool is_of_part(const struct part *part, uint64_t process, uint64_t range) {
    const struct attribution *sums = part->sums;
    uint64_t mixed = (range ^ process << 20) * UINT64_C(0x9e3779b97f4a7c15);
    return sums->part_count == 1 || (mixed >> 32) % sums->part_count == (size_t)(part - sums->parts);
}

/* The same ranges as the table `ranges` lists. */
static void add_ranges(struct part *part) {
    const struct attribution *sums = part->sums;
    const struct gt_store *store = sums->view->store;
    const struct gt_ranges *ranges = &store->ranges;
    for (uint32_t range = 0; range < ranges->count; range++) {
        uint32_t process = gt_range_set_process(store, range);
        uint64_t key = gt_range_groups_key(store, range);
        if (!is_of_part(part, process, key))
            continue;
        bool is_listed = sums->set ? gt_range_set_lists(sums->set, range) : gt_range_set_is_on_cpu(store, range);
        if (is_listed && is_known(sums->view, process))
            gt_keyed_add(&part->lengths, process, key, gt_ns_between(ranges->start_ns[range], ranges->end_ns[range]));
    }
}

static void add_kernels(struct part *part) {
    const struct gt_range_groups *groups = part->sums->groups;
    for (size_t i = 0; groups && i < groups->keyed.count; i++) {
        const struct gt_keyed_group *group = &groups->keyed.items[i];
        uint64_t process = gt_range_group_process(group), range = gt_range_group_range(group);
        if (gt_range_group_is_of_kernels(group) && range != GT_NO_RANGE_KEY && is_of_part(part, process, range))
            gt_keyed_merge(&part->kernels, process, range, &group->lengths);
    }
}

static void add_totals(struct attribution *sums) {
    for (size_t i = 0; sums->groups && i < sums->groups->keyed.count; i++) {
        const struct gt_keyed_group *group = &sums->groups->keyed.items[i];
        uint64_t process = gt_range_group_process(group), range = gt_range_group_range(group);
        if (!gt_range_group_is_of_kernels(group))
            continue;
        sums->total_ns += group->lengths.sum;
        gt_keyed_merge(&sums->processes, process, 0, &group->lengths);
        if (range == GT_NO_RANGE_KEY)
            continue;
        sums->covered += group->lengths.count;
        sums->covered_ns += group->lengths.sum;
        gt_keyed_merge(&sums->by_range, 0, range, &group->lengths);
        gt_keyed_merge(&sums->processes, process, 1, &group->lengths);
    }
}

static void attribution_release(struct attribution *sums) {
    for (size_t i = 0; i < sums->part_count && sums->parts; i++) {
        gt_keyed_release(&sums->parts[i].lengths);
        gt_keyed_release(&sums->parts[i].kernels);
        gt_mem_free(sums->parts[i].rows);
    }
    gt_mem_free(sums->parts);
    gt_keyed_release(&sums->by_range);
    gt_keyed_release(&sums->processes);
}

static __int128 sum_of(const struct gt_keyed_group *group) {
    return group ? group->lengths.sum : 0;
}

static size_t count_of(const struct gt_keyed_group *group) {
    return group ? group->lengths.count : 0;
}

static struct gt_cell coverage_of(const struct attribution *sums, uint64_t process) {
    return gt_cell_share((double)sum_of(gt_keyed_find(&sums->processes, process, 1)),
                         (double)sum_of(gt_keyed_find(&sums->processes, process, 0)));
}

/* ---- by range ---- */

static int by_kernel_time(const void *a, const void *b, void *context) {
    const struct gt_keyed_group *x = a, *y = b;
    const struct gt_view *view = context;
    if (x->lengths.sum != y->lengths.sum)
        return x->lengths.sum < y->lengths.sum ? 1 : -1;
    int order = gt_str_cmp(name_of(view, x->lo), name_of(view, y->lo));
    return order ? order : gt_str_cmp(domain_of(view, x->lo), domain_of(view, y->lo));
}

/* Sorts the groups in place: nothing is looked up in them any more. */
static void add_table(struct gt_section *section, struct attribution *sums) {
    const struct gt_view *view = sums->view;
    struct gt_table *table = gt_section_table(section, "range_kernels", "Kernel time directly inside ranges", columns,
                                              GT_ARRAY_COUNT(columns));
    table->screen_limit = 20;
    gt_sort(sums->by_range.items, sums->by_range.count, sizeof *sums->by_range.items, by_kernel_time,
            (void *)(uintptr_t)view, sums->threads);
    for (size_t i = 0; i < sums->by_range.count; i++) {
        const struct gt_keyed_group *group = &sums->by_range.items[i];
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "name", name_of(view, group->lo));
        gt_row_text(&row, "domain", domain_of(view, group->lo));
        gt_row_count(&row, "kernels", group->lengths.count);
        gt_row_int(&row, "kernel_ns", gt_ns_of_sum(group->lengths.sum));
        gt_row_real(&row, "avg_ns", gt_keyed_tally_mean(&group->lengths));
        gt_row_share(&row, "share", (double)group->lengths.sum, (double)sums->total_ns);
        gt_row_end(&row);
    }
    if (!gt_option_flag(view, GT_OPTION_ranges_have_kernels))
        return;
    struct gt_measure_fact_group facts = {.section = section, .audience = GT_FOR_ALL};
    if (sums->total_ns > 0)
        gt_measure_fact_group_add(&facts, "range_kernel_coverage", "Kernel time inside ranges", GT_UNIT_SHARE,
                                  gt_cell_share((double)sums->covered_ns, (double)sums->total_ns));
    struct gt_measure_fact_group data = {.section = section, .audience = GT_FOR_DATA};
    gt_measure_fact_group_add(&data, "range_kernel_ns", "Kernel time inside ranges", GT_UNIT_NS,
                              gt_cell_int(gt_ns_of_sum(sums->covered_ns)));
    gt_measure_fact_group_add(&data, "range_kernels", "Kernels inside ranges", GT_UNIT_COUNT,
                              gt_cell_count(sums->covered));
}

/* Ranges that hold little of the work do not represent it. */
static void warn(struct gt_section *section, const struct attribution *sums) {
    double threshold = gt_option_real(sums->view, GT_OPTION_coverage_threshold);
    double share = sums->total_ns ? (double)sums->covered_ns / (double)sums->total_ns : 1;
    struct gt_measure_fact_group data = {.section = section, .audience = GT_FOR_DATA};
    gt_measure_fact_group_add(&data, "coverage_threshold", "Warning threshold of kernel time inside ranges",
                              GT_UNIT_SHARE, gt_cell_real(threshold));
    uint64_t worst = GT_NO_TRACK;
    double worst_share = threshold;
    for (size_t i = 0; i < sums->processes.count; i++) {
        struct gt_cell coverage = coverage_of(sums, sums->processes.items[i].hi);
        if (is_known(sums->view, (uint32_t)sums->processes.items[i].hi) && coverage.real < worst_share) {
            worst = sums->processes.items[i].hi;
            worst_share = coverage.real;
        }
    }
    struct gt_arena *arena = &section->report->arena;
    if (share <= 0 && !(sums->view->store->facts & GT_FACT_CORRELATION))
        return; /* nothing is known of what was launched where */
    if (share < threshold)
        gt_section_note(section, GT_FOR_ALL,
                        gt_arena_printf(arena,
                                        "Only %.1f%% of kernel time was launched inside ranges (less than %g%%): times "
                                        "by range and phase are not representative.",
                                        100 * share, 100 * threshold));
    if (worst != GT_NO_TRACK)
        gt_section_note(section, GT_FOR_ALL,
                        gt_arena_printf(arena, "Process %lld: only %.1f%% of kernel time was launched inside ranges.",
                                        (long long)sums->view->store->processes.pid[worst], 100 * worst_share));
}

/* ---- by process ---- */

struct process_row {
    int64_t pid;
    uint64_t process, range;
    const struct gt_keyed_group *lengths, *kernels; /* either may be NULL */
    int64_t kernel_ns,
        range_ns; /* their sums, cut at the ends of 64 bits: most rows are ordered without a look there */
};

static int compare_sums(int64_t x_ns, int64_t y_ns, const struct gt_keyed_group *x, const struct gt_keyed_group *y) {
    if (x_ns != y_ns)
        return x_ns < y_ns ? 1 : -1;
    return x_ns < INT64_MAX ? 0 : (sum_of(x) < sum_of(y)) - (sum_of(x) > sum_of(y));
}

static int by_pid_and_time(const void *a, const void *b, void *context) {
    const struct process_row *x = a, *y = b;
    const struct gt_view *view = context;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    int order = compare_sums(x->kernel_ns, y->kernel_ns, x->kernels, y->kernels);
    if (!order)
        order = compare_sums(x->range_ns, y->range_ns, x->lengths, y->lengths);
    if (!order)
        order = gt_str_cmp(name_of(view, x->range), name_of(view, y->range));
    return order ? order : gt_str_cmp(domain_of(view, x->range), domain_of(view, y->range));
}

struct process_rows {
    const struct attribution *sums;
    const struct process_row *rows;
};

static void fill_process_row(const void *context, struct gt_row *cells, size_t index) {
    const struct attribution *sums = ((const struct process_rows *)context)->sums;
    const struct process_row *row = &((const struct process_rows *)context)->rows[index];
    size_t instances = count_of(row->lengths);
    gt_row_int(cells, "pid", row->pid);
    gt_row_text(cells, "name", name_of(sums->view, row->range));
    gt_row_text(cells, "domain", domain_of(sums->view, row->range));
    gt_row_count(cells, "instances", instances);
    gt_row_int(cells, "range_ns", row->range_ns);
    gt_row_cell(cells, "range_avg_ns",
                instances ? gt_cell_real(gt_keyed_tally_mean(&row->lengths->lengths)) : gt_cell_null());
    if (!gt_option_flag(sums->view, GT_OPTION_ranges_have_kernels)) {
        gt_row_null_rest(cells, "kernels");
        return;
    }
    gt_row_count(cells, "kernels", count_of(row->kernels));
    gt_row_int(cells, "kernel_ns", row->kernel_ns);
    gt_row_cell(cells, "kernel_avg_ns",
                row->kernels ? gt_cell_real(gt_keyed_tally_mean(&row->kernels->lengths)) : gt_cell_null());
    gt_row_cell(cells, "coverage", row->kernels ? coverage_of(sums, row->process) : gt_cell_null());
}

static void list_row(struct part *part, uint64_t process, uint64_t range, const struct gt_keyed_group *lengths,
                     const struct gt_keyed_group *kernels) {
    part->rows[part->row_count++] = (struct process_row){.pid = part->sums->view->store->processes.pid[process],
                                                         .process = process,
                                                         .range = range,
                                                         .lengths = lengths,
                                                         .kernels = kernels,
                                                         .kernel_ns = gt_ns_of_sum(sum_of(kernels)),
                                                         .range_ns = gt_ns_of_sum(sum_of(lengths))};
}

static void list_rows(struct part *part) {
    for (size_t i = 0; i < part->lengths.count; i++) {
        const struct gt_keyed_group *group = &part->lengths.items[i];
        list_row(part, group->hi, group->lo, group, gt_keyed_find(&part->kernels, group->hi, group->lo));
    }
    /* Ranges on the GPU's side replace launches that the trace does not have: kernels without a CPU range. */
    for (size_t i = 0; i < part->kernels.count; i++) {
        const struct gt_keyed_group *group = &part->kernels.items[i];
        if (is_known(part->sums->view, (uint32_t)group->hi) && !gt_keyed_find(&part->lengths, group->hi, group->lo))
            list_row(part, group->hi, group->lo, NULL, group);
    }
}

static bool add_process_table(struct gt_section *section, const struct attribution *sums) {
    size_t count = 0, place = 0;
    for (size_t i = 0; i < sums->part_count; i++)
        count += sums->parts[i].row_count;
    struct process_row *rows = gt_mem_uninitialised(count, sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = 0; i < sums->part_count; i++) {
        const struct part *part = &sums->parts[i];
        memcpy(rows + place, part->rows, part->row_count * sizeof *rows);
        place += part->row_count;
    }
    gt_sort(rows, count, sizeof *rows, by_pid_and_time, (void *)(uintptr_t)sums->view, sums->threads);
    struct gt_table *table = gt_section_table(section, "process_ranges", "Ranges by process", process_columns,
                                              GT_ARRAY_COUNT(process_columns));
    table->screen_limit = 20;
    gt_row_fill(table, count, sums->threads, fill_process_row, &(struct process_rows){sums, rows});
    gt_measure_table_for_processes(section, table);
    gt_mem_free(rows);
    return true;
}

static void add_coverage(struct gt_section *section, const struct attribution *sums) {
    struct gt_table *table = gt_section_table(section, "process_coverage", "Kernel time inside ranges, by process",
                                              coverage_columns, GT_ARRAY_COUNT(coverage_columns));
    table->screen_limit = 10;
    for (size_t i = 0; i < sums->processes.count; i++) {
        const struct gt_keyed_group *all = &sums->processes.items[i];
        if (all->lo != 0 || !is_known(sums->view, (uint32_t)all->hi))
            continue;
        const struct gt_keyed_group *covered = gt_keyed_find(&sums->processes, all->hi, 1);
        struct gt_row row = gt_row_begin(table);
        gt_row_cell(&row, "pid", gt_measure_pid_cell(sums->view, (uint32_t)all->hi));
        gt_row_count(&row, "kernels", all->lengths.count);
        gt_row_int(&row, "kernel_ns", gt_ns_of_sum(all->lengths.sum));
        gt_row_count(&row, "covered_kernels", count_of(covered));
        gt_row_int(&row, "covered_ns", gt_ns_of_sum(sum_of(covered)));
        gt_row_cell(&row, "coverage", coverage_of(sums, all->hi));
        gt_row_end(&row);
    }
    gt_measure_table_for_processes(section, table);
}

/* ---- sums ---- */

/* The last index is that of the sums that are not dealt. */
static void make_part(void *context, size_t index) {
    struct attribution *sums = context;
    if (index == sums->part_count) {
        add_totals(sums);
        return;
    }
    struct part *part = &sums->parts[index];
    add_ranges(part);
    add_kernels(part);
    part->rows = gt_mem_uninitialised(part->lengths.count + part->kernels.count, sizeof *part->rows);
    part->ok = part->rows && !part->lengths.failed && !part->kernels.failed;
    if (part->ok)
        list_rows(part);
}

static bool add_sums(struct attribution *sums, struct gt_error *err) {
    const struct gt_view *view = sums->view;
    size_t ranges = view->store->ranges.count;
    bool has_kernels = gt_option_flag(view, GT_OPTION_ranges_have_kernels) && ranges > 0;
    sums->threads = gt_threads_count(view->request->threads);
    sums->part_count = gt_threads_slices(sums->threads, ranges, 1);
    sums->parts = gt_mem_array(sums->part_count, sizeof *sums->parts);
    sums->set = view->is_whole ? NULL : gt_results_ranges(view, err);
    sums->groups = has_kernels ? gt_results_range_groups(view, err) : NULL;
    if (!sums->parts || (!view->is_whole && !sums->set) || (has_kernels && !sums->groups))
        return false;
    for (size_t i = 0; i < sums->part_count; i++)
        sums->parts[i].sums = sums;
    gt_threads_parts(sums->threads, sums->part_count + 1, make_part, sums);
    bool ok = !sums->processes.failed && !sums->by_range.failed;
    for (size_t i = 0; i < sums->part_count; i++)
        ok = ok && sums->parts[i].ok;
    return ok;
}

enum gt_status gt_range_kernels_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    struct attribution sums = {.view = view};
    bool ok = add_sums(&sums, err) && add_process_table(section, &sums);
    if (ok && gt_option_flag(view, GT_OPTION_ranges_have_kernels))
        warn(section, &sums);
    if (ok) {
        add_coverage(section, &sums);
        add_table(section, &sums);
    }
    attribution_release(&sums);
    return ok ? GT_OK : gt_fail_memory(err);
}
