/* Stream gaps: every gap between the ops of a stream, longest first, and the facts on all of them together. */
#include "base/mem.h"
#include "base/moments.h"
#include "base/ns.h"
#include "base/quantile.h"
#include "base/radix.h"
#include "measure/results/measure.h"
#include "measure/results/stream_walk.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"stream", "Stream", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"start_ns", "Start", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT},
    {"end_ns", "End", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_MOMENT},
    {"gap_ns", "Gap", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"after", "Previous op", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"before", "Next op", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
};

static void add_facts(struct gt_section *section, const struct gt_stream_gap *gaps, size_t count, int64_t *lengths) {
    struct gt_moments moments = {0};
    for (size_t i = 0; i < count; i++) {
        lengths[i] = gaps[i].gap_ns;
        gt_moments_add(&moments, gaps[i].gap_ns);
    }
    struct gt_measure_fact_group facts = {.section = section, .audience = GT_FOR_ALL};
    gt_measure_fact_group_add(&facts, "stream_gap_count", "Stream gaps", GT_UNIT_COUNT, gt_cell_count(count));
    gt_measure_fact_group_add(&facts, "stream_gap_total_ns", "Gap time (sum)", GT_UNIT_NS,
                              gt_cell_int(gt_ns_of_sum(moments.sum)));
    if (count == 0)
        return;
    gt_measure_fact_group_add(&facts, "stream_gap_avg_ns", "Mean gap", GT_UNIT_NS,
                              gt_cell_real(gt_moments_mean(&moments)));
    gt_measure_fact_group_add(&facts, "stream_gap_p50_ns", "Median gap", GT_UNIT_NS,
                              gt_cell_real(gt_quantile(lengths, count, 0.5)));
    gt_measure_fact_group_add(&facts, "stream_gap_p90_ns", "p90", GT_UNIT_NS,
                              gt_cell_real(gt_quantile(lengths, count, 0.9)));
    gt_measure_fact_group_add(&facts, "stream_gap_p99_ns", "p99", GT_UNIT_NS,
                              gt_cell_real(gt_quantile(lengths, count, 0.99)));
}

/* The gaps that the user does not want to see are not in any number of this report. */
static void note_left_out(const struct gt_view *view, struct gt_section *section, size_t shown) {
    size_t all = gt_stream_walk_is_bounded(view) ? gt_stream_walk_gap_count(view, NULL) : shown;
    if (all == shown)
        return;
    gt_section_note(section, GT_FOR_ALL,
                    gt_arena_printf(&section->report->arena,
                                    "--hist-min and --hist-max leave out %zu of %zu stream gaps.", all - shown, all));
}

/* Longest first, then by start; gaps that are equal in both stay in the order of device, process and stream. */
static struct gt_radix_item *new_order(const struct gt_stream_gap *gaps, size_t count) {
    struct gt_radix_item *order = gt_mem_array(count, sizeof *order);
    if (!order)
        return NULL;
    for (size_t i = 0; i < count; i++)
        order[i] = (struct gt_radix_item){gt_radix_key(gaps[i].start_ns), (uint32_t)i};
    bool ok = gt_radix_sort(order, count);
    for (size_t i = 0; i < count; i++)
        order[i].key = ~gt_radix_key(gaps[order[i].value].gap_ns);
    if (ok && gt_radix_sort(order, count))
        return order;
    gt_mem_free(order);
    return NULL;
}

static void add_row(const struct gt_view *view, struct gt_table *table, const struct gt_stream_gap *gap) {
    const struct gt_lanes *lanes = &view->store->lanes;
    uint32_t lane = view->lanes[gap->lane].lane;
    struct gt_row row = gt_row_begin(table);
    gt_row_int(&row, "device", view->store->devices.id[lanes->device[lane]]);
    gt_row_cell(&row, "pid", gt_measure_pid_cell(view, lanes->process[lane]));
    gt_row_int(&row, "stream", lanes->stream[lane]);
    gt_row_cell(&row, "start_ns", gt_measure_time_cell(view, gap->start_ns));
    gt_row_cell(&row, "end_ns", gt_measure_time_cell(view, gap->end_ns));
    gt_row_int(&row, "gap_ns", gap->gap_ns);
    gt_row_cell(&row, "after", gt_measure_op_name_cell(view, gap->previous));
    gt_row_cell(&row, "before", gt_measure_op_name_cell(view, gap->next));
    gt_row_end(&row);
}

enum gt_status gt_stream_gaps_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    struct gt_gap_bounds bounds;
    if (gt_stream_walk_read_bounds(&bounds, view, err) != GT_OK)
        return err->code;
    size_t count = gt_stream_walk_gap_count(view, &bounds), filled = 0;
    struct gt_radix_item *order = NULL;
    struct gt_stream_gap *gaps = gt_mem_array(count, sizeof *gaps);
    int64_t *lengths = gt_mem_array(count, sizeof *lengths);
    enum gt_status status = GT_OK;
    if (gaps && lengths) {
        struct gt_stream_walk walk = {.view = view, .bounds = &bounds};
        while (filled < count && gt_stream_walk_next(&walk, &gaps[filled]))
            filled++;
        order = new_order(gaps, count);
    }
    if (!order) {
        status = gt_fail_memory(err);
        goto out;
    }
    if (!view->is_summed) {
        add_facts(section, gaps, count, lengths);
        note_left_out(view, section, count);
    }
    struct gt_table *table =
        gt_section_table(section, "stream_gaps", "Longest stream gaps", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 15;
    size_t wanted = gt_measure_table_rows_wanted(view, table, count);
    for (size_t i = 0; i < wanted; i++)
        add_row(view, table, &gaps[order[i].value]);
    table->total_rows = count;
out:
    gt_mem_free(order);
    gt_mem_free(lengths);
    gt_mem_free(gaps);
    return status;
}
