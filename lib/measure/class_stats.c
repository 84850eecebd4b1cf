/* Class statistics: kernel time and launches of an iteration by class, communication by operation, copies by kind, and
   what of an iteration's range no kernel covers. In come sums and what the user knows of the run; out go facts and
   three tables. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"
#include "measure/results/class_sums.h"
#include "measure/results/measure.h"
#include "measure/results/tagged_ranges.h"
#include "report/row.h"

struct class_stats {
    const struct gt_view *view;
    struct gt_section *section;
    struct gt_class_sums sums;
    struct gt_tally kernels, operations, copies; /* over all names */
    struct gt_tagged_ranges ranges;
    struct gt_str why_no_ranges; /* where the tag names none; else empty */
    int64_t iterations, gpus;
};

#define SUM_COLUMNS                                                                                                    \
    {"time_per_iter_ns", "Time/iter", GT_UNIT_NS, NULL, 0},                                                            \
        {"instances_per_iter", "Count/iter", GT_UNIT_COUNT, NULL, 0},                                                  \
        {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS}, {                                   \
        "instances", "Count", GT_UNIT_COUNT, NULL, 0                                                                   \
    }

static const struct gt_report_column class_columns[] = {
    {"class", "Class", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    SUM_COLUMNS,
    {"share", "Share", GT_UNIT_SHARE, "kernel time without communication", GT_COLUMN_BAR},
};

static const struct gt_report_column operation_columns[] = {
    {"operation", "Operation", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    SUM_COLUMNS,
};

/* ---- what an iteration is ---- */

static double parts(const struct class_stats *stats) {
    return (double)stats->iterations * (double)stats->gpus;
}

static void count_iterations(struct class_stats *stats) {
    const struct gt_run *run = &stats->view->run;
    int64_t devices = (int64_t)stats->view->device_count;
    stats->gpus = run->gpus > 0 ? run->gpus : devices > 0 ? devices : 1;
    stats->iterations = run->iterations > 0 ? run->iterations : stats->ranges.most > 0 ? stats->ranges.most : 1;
}

static double range_average_ns(const struct class_stats *stats) {
    return (double)stats->ranges.projected_ns / (double)stats->ranges.count;
}

/* What kernels leave of a range; below 0 where they take longer. */
static double uncovered_ns(const struct class_stats *stats) {
    return range_average_ns(stats) - (double)stats->kernels.total_ns / parts(stats);
}

/* ---- facts ---- */

struct sum_keys {
    const char *title; /* of the group */
    const char *iter_ns, *iter_ns_title, *iter_instances, *iter_instances_title;
    const char *total_ns, *total_ns_title, *instances, *instances_title;
};

#define SUM_KEYS(title, key, word)                                                                                     \
    {                                                                                                                  \
        title, key "_time_per_iter_ns", word " time per iteration", key "_instances_per_iter",                         \
            word " instances per iteration", key "_total_ns", word " total time", key "_instances",                    \
            word " total instances"                                                                                    \
    }

static void add_sum_facts(struct class_stats *stats, const struct sum_keys *keys, const struct gt_tally *sum) {
    struct gt_measure_fact_group facts = {.section = stats->section, .title = keys->title, .audience = GT_FOR_ALL};
    gt_measure_fact_group_add(&facts, keys->iter_ns, keys->iter_ns_title, GT_UNIT_NS,
                              gt_cell_real((double)sum->total_ns / parts(stats)));
    gt_measure_fact_group_add(&facts, keys->iter_instances, keys->iter_instances_title, GT_UNIT_COUNT,
                              gt_cell_real((double)sum->instances / parts(stats)));
    gt_measure_fact_group_add(&facts, keys->total_ns, keys->total_ns_title, GT_UNIT_NS, gt_cell_int(sum->total_ns));
    gt_measure_fact_group_add(&facts, keys->instances, keys->instances_title, GT_UNIT_COUNT,
                              gt_cell_int(sum->instances));
}

static void add_range_facts(struct class_stats *stats) {
    const struct gt_tagged_ranges *ranges = &stats->ranges;
    struct gt_measure_fact_group facts = {
        .section = stats->section, .title = "Iteration ranges", .audience = GT_FOR_ALL};
    if (ranges->state != GT_TAGGED_FOUND)
        return;
    double average_ns = range_average_ns(stats), left_ns = uncovered_ns(stats);
    gt_measure_fact_group_add(&facts, "iteration_ranges", "Ranges", GT_UNIT_COUNT, gt_cell_int(ranges->count));
    gt_measure_fact_group_add(&facts, "iteration_range_avg_ns", "Mean range time", GT_UNIT_NS,
                              gt_cell_real(average_ns));
    gt_measure_fact_group_add(&facts, "iteration_range_total_ns", "Total range time", GT_UNIT_NS,
                              gt_cell_int(ranges->projected_ns));
    gt_measure_fact_group_add(&facts, "non_hidden_per_range_ns", "Not covered by kernels, per range", GT_UNIT_NS,
                              gt_cell_real(left_ns));
    gt_measure_fact_group_add(&facts, "non_hidden_total_ns", "Not covered by kernels, total", GT_UNIT_NS,
                              gt_cell_real(left_ns * (double)ranges->count));
    gt_measure_fact_group_add(&facts, "non_hidden_share", "Not covered, share of range time", GT_UNIT_SHARE,
                              average_ns > 0 ? gt_cell_real(left_ns / average_ns) : gt_cell_null());
}

/* ---- tables ---- */

struct row {
    struct gt_str name;
    const struct gt_tally *sum;
};

static int by_total(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->sum->total_ns != y->sum->total_ns)
        return x->sum->total_ns < y->sum->total_ns ? 1 : -1;
    return gt_str_cmp(x->name, y->name);
}

/* Classes are in the order of the user's map, which may name more of them than there are kernels for; all else has
   its largest sum first, which is the same from every kind of input. */
static bool add_rows(struct class_stats *stats, struct gt_table *table, const struct gt_tallies *tallies,
                     size_t named_count, const struct gt_tally *whole) {
    struct gt_arena *arena = &stats->section->report->arena;
    struct row *rows = gt_mem_array(tallies->names.count, sizeof *rows);
    size_t count = 0;
    for (gt_strid id = 0; id < tallies->names.count && id < tallies->capacity && rows; id++) {
        struct gt_str name = gt_strtab_get(&tallies->names, id);
        bool is_named = id && named_count && !gt_str_eq(name, GT_STR("nccl"));
        if (is_named || tallies->items[id].instances)
            rows[count++] = (struct row){name, &tallies->items[id]};
    }
    if (count && !named_count)
        qsort(rows, count, sizeof *rows, by_total);
    for (size_t i = 0; i < count; i++) {
        struct gt_row cells = gt_row_begin(table);
        gt_row_text(&cells, table->columns[0].key, gt_arena_copy(arena, rows[i].name));
        gt_row_real(&cells, "time_per_iter_ns", (double)rows[i].sum->total_ns / parts(stats));
        gt_row_real(&cells, "instances_per_iter", (double)rows[i].sum->instances / parts(stats));
        gt_row_int(&cells, "total_ns", rows[i].sum->total_ns);
        gt_row_int(&cells, "instances", rows[i].sum->instances);
        if (whole)
            gt_row_cell(&cells, "share",
                        whole->total_ns > 0 ? gt_cell_real((double)rows[i].sum->total_ns / (double)whole->total_ns)
                                            : gt_cell_null());
        gt_row_end(&cells);
    }
    gt_mem_free(rows);
    return rows != NULL;
}

static bool add_tables(struct class_stats *stats) {
    struct gt_section *section = stats->section;
    size_t named_count = stats->view->labels->named_category_count;
    struct gt_table *classes =
        gt_section_table(section, "class_stats", "Kernel classes", class_columns, GT_ARRAY_COUNT(class_columns));
    classes->empty = GT_NONE_IN(stats->view, "kernels");
    struct gt_table *operations = gt_section_table(section, "nccl_stats", "Communication by collective",
                                                   operation_columns, GT_ARRAY_COUNT(operation_columns));
    struct gt_table *copies = gt_section_table(section, "memory_stats", "Memory ops by kind", operation_columns,
                                               GT_ARRAY_COUNT(operation_columns));
    return add_rows(stats, classes, &stats->sums.classes, named_count, &stats->kernels) &&
           add_rows(stats, operations, &stats->sums.operations, 0, NULL) &&
           (stats->view->run.without_memory || add_rows(stats, copies, &stats->sums.copies, 0, NULL));
}

/* ---- notes ---- */

static const char *why_no_ranges(const struct class_stats *stats) {
    if (!stats->view->run.nvtx_tag)
        return "no iteration range given";
    if (stats->why_no_ranges.len)
        return stats->why_no_ranges.ptr;
    switch (stats->ranges.state) {
    case GT_TAGGED_NONE:
        return "the input has no ranges";
    case GT_TAGGED_IDLE:
        return "no range with this tag launched selected GPU work";
    case GT_TAGGED_UNKNOWN:
        return "projected ranges are not available for a selection";
    case GT_TAGGED_FOUND:
        break;
    }
    return NULL;
}

/* Blocks that a reader may look for in vain, and why. */
static void note_missing_blocks(struct class_stats *stats) {
    const struct {
        const char *block, *why;
    } missing[] = {
        {"NCCL", stats->operations.instances ? NULL : "no communication kernels"},
        {"Mem Ops", stats->copies.instances || stats->view->run.without_memory ? NULL : "no memory ops"},
        {"NVTX", why_no_ranges(stats)},
    };
    struct gt_arena *arena = &stats->section->report->arena;
    struct gt_str text = GT_STR("");
    for (size_t i = 0; i < GT_ARRAY_COUNT(missing); i++)
        if (missing[i].why)
            text = gt_arena_printf(arena, "%s%s%s (%s)", text.ptr, text.len ? ", " : "Not shown: ", missing[i].block,
                                   missing[i].why);
    if (text.len)
        gt_section_note(stats->section, GT_FOR_ALL, gt_arena_printf(arena, "%s.", text.ptr));
}

/* An estimate below zero needs a reason. */
static void note_negative(struct class_stats *stats) {
    const struct gt_tagged_ranges *ranges = &stats->ranges;
    struct gt_arena *arena = &stats->section->report->arena;
    if (ranges->state != GT_TAGGED_FOUND || uncovered_ns(stats) >= 0)
        return;
    struct gt_str why = GT_STR("kernels ran concurrently");
    if (ranges->total_ns > ranges->inside_ns) {
        char outside[GT_NUM_MAX], total[GT_NUM_MAX];
        gt_num_format_duration(outside, (double)ranges->total_ns - (double)ranges->inside_ns);
        gt_num_format_duration(total, (double)ranges->total_ns);
        why = gt_arena_printf(arena, "%s of %s of GPU work ran outside the ranges", outside, total);
    } else if (ranges->total_ns == 0) {
        why = GT_STR("kernels ran outside the ranges or concurrently");
    }
    gt_section_note(stats->section, GT_FOR_ALL,
                    gt_arena_printf(arena,
                                    "The kernels of an iteration take longer than range '%s', so the estimate of "
                                    "uncovered time is negative and meaningless: %s.",
                                    stats->view->run.nvtx_tag, why.ptr));
}

static void note_oddities(struct class_stats *stats) {
    struct gt_section *section = stats->section;
    struct gt_arena *arena = &section->report->arena;
    const struct gt_tagged_ranges *ranges = &stats->ranges;
    long long iterations = stats->iterations, gpus = stats->gpus;
    size_t devices = stats->view->device_count;
    if (ranges->state == GT_TAGGED_FOUND && ranges->count != iterations &&
        (__int128)ranges->count != (__int128)iterations * gpus)
        gt_section_note(section, GT_FOR_ALL,
                        gt_arena_printf(arena,
                                        "Found %lld ranges '%s' for %lld iterations on %lld GPU%s: per-iteration and "
                                        "per-range numbers do not cover the same work.",
                                        (long long)ranges->count, stats->view->run.nvtx_tag, iterations, gpus,
                                        gpus == 1 ? "" : "s"));
    if (stats->view->is_whole && stats->kernels.instances == 0 && stats->operations.instances == 0)
        gt_section_note(section, GT_FOR_ALL,
                        gt_arena_printf(arena, "The input has no kernels.%s",
                                        stats->view->is_summed ? " Add cuda_gpu_kern_sum or cuda_gpu_trace." : ""));
    note_negative(stats);
    if (gpus > 1)
        gt_section_note(
            section, GT_FOR_ALL,
            gt_arena_printf(arena,
                            "Per-iteration numbers are per GPU: totals divided by %lld iteration%s and %lld GPUs.",
                            iterations, iterations == 1 ? "" : "s", gpus));
    if (devices && (size_t)gpus != devices)
        gt_section_note(
            section, GT_FOR_ALL,
            gt_arena_printf(arena, "Totals are divided by %lld GPUs, but the trace has %zu.", gpus, devices));
    if (stats->sums.shorter.len)
        gt_section_note(
            section, GT_FOR_ALL,
            gt_arena_printf(
                arena, "Keys of the class map overlap ('%s' is part of '%s'): if both match, the longer one applies.",
                stats->sums.shorter.ptr, stats->sums.longer.ptr));
}

/* Of several inputs one may lack the range that the others have, which is no reason to show nothing of them. */
static enum gt_status find_ranges(struct class_stats *stats, struct gt_error *err) {
    const char *tag = stats->view->run.nvtx_tag;
    stats->ranges.state = GT_TAGGED_NONE;
    enum gt_status status = tag ? gt_tagged_ranges_find(stats->view, tag, &stats->ranges, err) : GT_OK;
    if (status != GT_ERR_USAGE || stats->section->report->input_count < 2)
        return status;
    stats->why_no_ranges = gt_arena_copy(&stats->section->report->arena, gt_str_of(err->message));
    *err = (struct gt_error){0};
    return GT_OK;
}

enum gt_status gt_class_stats_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    static const struct sum_keys kernel_keys = SUM_KEYS("Kernels", "kernel", "Kernel");
    static const struct sum_keys nccl_keys = SUM_KEYS("Communication", "nccl", "NCCL");
    static const struct sum_keys memory_keys = SUM_KEYS("Memory ops", "memory", "Memory");
    struct class_stats stats = {.view = view, .section = section};
    enum gt_status status = gt_class_sums_init(&stats.sums, view, err);
    if (status == GT_OK)
        status = find_ranges(&stats, err);
    if (status != GT_OK)
        goto out;
    stats.kernels = gt_class_sums_of_tallies(&stats.sums.classes);
    stats.operations = gt_class_sums_of_tallies(&stats.sums.operations);
    stats.copies = gt_class_sums_of_tallies(&stats.sums.copies);
    count_iterations(&stats);

    struct gt_measure_fact_group facts = {.section = section, .audience = GT_FOR_ALL};
    gt_measure_fact_group_add(&facts, "iterations", "Iterations", GT_UNIT_COUNT, gt_cell_int(stats.iterations));
    gt_measure_fact_group_add(&facts, "gpus", "GPUs", GT_UNIT_COUNT, gt_cell_int(stats.gpus));
    add_sum_facts(&stats, &kernel_keys, &stats.kernels);
    if (stats.operations.instances)
        add_sum_facts(&stats, &nccl_keys, &stats.operations);
    if (stats.copies.instances && !view->run.without_memory)
        add_sum_facts(&stats, &memory_keys, &stats.copies);
    add_range_facts(&stats);
    if (!add_tables(&stats))
        status = gt_fail_memory(err);
    note_oddities(&stats);
    note_missing_blocks(&stats);
out:
    gt_class_sums_release(&stats.sums);
    return status;
}
