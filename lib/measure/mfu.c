/* MFU and HFU of the trace, of its steps and of its ranges. */
#include <math.h>

#include "base/map.h"
#include "base/mem.h"
#include "measure/efficiency/mfu_sums.h"
#include "measure/efficiency/range_flops.h"
#include "measure/efficiency/work_sums.h"
#include "measure/results/devices_most.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

/* Rows are of the trace, of a step or of all ranges of a name, so that nothing is divided by steps. */
static const struct gt_report_column columns[] = {
    {"scope", "Scope", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"name", "Name", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_VARIES},
    {"time_ns", "Time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_RATE},
    {"flops", "FLOPs", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_RATE | GT_COLUMN_SPARSE},
    {"model_flops", "Model FLOPs", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_RATE | GT_COLUMN_DETAIL},
    {"dense_flops", "Dense FLOPs", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_RATE | GT_COLUMN_DETAIL},
    {"hfu", "HFU", GT_UNIT_SHARE, "dense peak", GT_COLUMN_ADDS | GT_COLUMN_RATE},
    {"mfu", "MFU", GT_UNIT_SHARE, "dense peak",
     GT_COLUMN_BAR | GT_COLUMN_WHOLE | GT_COLUMN_ADDS | GT_COLUMN_RATE | GT_COLUMN_LEADS},
    {"mfu_dense", "MFU (no mask)", GT_UNIT_SHARE, "dense peak", GT_COLUMN_ADDS | GT_COLUMN_RATE},
    {"hfu_counter", "HFU (counters)", GT_UNIT_SHARE, "dense peak", GT_COLUMN_ADDS | GT_COLUMN_RATE | GT_COLUMN_SPARSE},
};

/* Peaks of the GPUs are mostly from one source. */
static struct gt_str convention(struct gt_section *section, const struct gt_view *view, const struct gt_work_set *set) {
    static const char *const sources[] = {[GT_PEAK_OF_NOTHING] = "dense peaks",
                                          [GT_PEAK_OF_USER] = "the dense peaks that were given",
                                          [GT_PEAK_OF_DATA_SHEET] = "dense data-sheet peaks",
                                          [GT_PEAK_OF_TRACE] = "dense peaks at the boost clock of the trace"};
    enum gt_peak_source source = view->device_count ? set->peaks[view->devices[0].device].source : GT_PEAK_OF_NOTHING;
    for (size_t d = 0; d < view->device_count; d++) {
        const struct gt_gpu_peaks *peaks = &set->peaks[view->devices[d].device];
        if (peaks->source != source || !peaks->is_known)
            source = GT_PEAK_OF_NOTHING;
    }
    return gt_arena_printf(
        &section->report->arena,
        "HFU: matrix FLOPs as executed; MFU: without recomputation. Causal attention counts unmasked "
        "pairs; 'MFU (no mask)' counts all. Peaks are %s of each product's type.",
        sources[source]);
}

/* Time in which matrix work was done, and what samples say of the time of matrix units. */
struct scope {
    const char *scope;
    struct gt_str name;
    int64_t device, time_ns;
    const struct gt_gpu_peaks *peaks;
    double hfu_counter; /* NAN: not known, as for all but the trace */
};

static void add_row(struct gt_table *table, const struct scope *of, const struct gt_mfu_sums *sums) {
    static const char *const flops_keys[] = {"flops", "model_flops", "dense_flops"};
    static const char *const share_keys[] = {"hfu", "mfu", "mfu_dense"};
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "scope", gt_str_of(of->scope));
    gt_row_text(&row, "name", of->name);
    gt_row_int(&row, "device", of->device);
    gt_row_int(&row, "time_ns", of->time_ns);
    for (int i = 0; i < GT_FLOPS_COUNT; i++)
        gt_row_cell(&row, flops_keys[i], gt_work_sums_cell(gt_mfu_sums_flops(sums, (enum gt_flops_kind)i), true));
    for (int i = 0; i < GT_FLOPS_COUNT; i++)
        gt_row_cell(&row, share_keys[i],
                    gt_cell_known(gt_mfu_sums_share(sums, (enum gt_flops_kind)i, of->peaks, of->time_ns)));
    gt_row_cell(&row, "hfu_counter", isnan(of->hfu_counter) ? gt_cell_null() : gt_cell_real(of->hfu_counter));
    gt_row_end(&row);
}

/* ---- the trace ---- */

static void add_trace(const struct gt_view *view, const struct gt_work_set *set, const struct gt_counter_set *counters,
                      struct gt_table *table, struct gt_measure_fact_group *facts) {
    double hfu = -1, mfu = -1;
    for (size_t d = 0; d < view->device_count; d++) {
        const struct gt_view_device *device = &view->devices[d];
        const struct gt_gpu_peaks *peaks = &set->peaks[device->device];
        int64_t span_ns = gt_ns_between(device->span_start_ns, device->span_end_ns);
        struct gt_mfu_sums sums = {0};
        gt_mfu_sums_add_device(&sums, view, set, device);
        add_row(
            table,
            &(struct scope){"trace", GT_STR(""), device->id, span_ns, peaks, gt_counter_set_hfu(&counters->devices[d])},
            &sums);
        hfu = gt_mfu_sums_share(&sums, GT_FLOPS_EXECUTED, peaks, span_ns);
        mfu = gt_mfu_sums_share(&sums, GT_FLOPS_MODEL, peaks, span_ns);
    }
    bool is_one = view->device_count == 1;
    gt_measure_fact_group_add(facts, "hfu", "HFU", GT_UNIT_SHARE, gt_cell_known(is_one ? hfu : -1));
    gt_measure_fact_group_add(facts, "mfu", "MFU", GT_UNIT_SHARE, gt_cell_known(is_one ? mfu : -1));
}

/* How much of the compute time has known work. */
static void add_coverage(const struct gt_view *view, const struct gt_work_set *set,
                         struct gt_measure_fact_group *facts) {
    int64_t all_ns = 0, modelled_ns = 0;
    for (size_t i = 0; i < view->op_count; i++) {
        if (gt_view_op_class(view, i) != GT_CLASS_COMPUTE)
            continue;
        int64_t ns = gt_view_op_ns(view, i);
        all_ns = gt_ns_add(all_ns, ns);
        modelled_ns = gt_ns_add(modelled_ns, set->parts[view->row[i]].instance == GT_NO_ROW ? 0 : ns);
    }
    gt_measure_fact_group_add(facts, "model_coverage", "Compute time with known work", GT_UNIT_SHARE,
                              all_ns > 0 ? gt_cell_real((double)modelled_ns / (double)all_ns) : gt_cell_null());
    gt_measure_fact_group_add(facts, "modelled_ns", "Modelled kernel time", GT_UNIT_NS, gt_cell_int(modelled_ns));
    gt_measure_fact_group_add(facts, "compute_sum_ns", "Compute kernel time", GT_UNIT_NS, gt_cell_int(all_ns));
}

/* ---- steps ---- */

static bool sum_steps(const struct gt_view *view, const struct gt_work_set *set, const struct gt_step_set *steps,
                      struct gt_mfu_sums *sums) {
    struct gt_map part_of = {0}; /* step, device -> part */
    for (size_t i = 0; i < steps->count; i++)
        if (steps->parts[i].device != GT_NO_TRACK)
            gt_map_put(&part_of, steps->parts[i].step, steps->parts[i].device, (uint32_t)i);
    for (size_t d = 0; d < view->device_count; d++)
        for (size_t i = view->devices[d].first; i < view->devices[d].first + view->devices[d].count; i++) {
            uint32_t step = view->labels->op_step[view->row[i]];
            uint32_t part = step == GT_NO_ROW ? GT_MAP_NONE : gt_map_get(&part_of, step, d);
            if (part != GT_MAP_NONE)
                gt_mfu_sums_add(&sums[part], view, set, i);
        }
    bool ok = !part_of.failed;
    gt_map_release(&part_of);
    return ok;
}

/* Its length on the CPU, which is that of a cycle of the program. A step that only fills queues is shorter than its ops
   on the GPU, and then the time is theirs: nothing reaches more than the peak in it. */
static int64_t time_of_step(const struct gt_step *step, const struct gt_step_part *part) {
    int64_t cpu_ns = gt_step_set_cpu_ns(step), gpu_ns = gt_ns_between(part->start_ns, part->end_ns);
    return gpu_ns > cpu_ns ? gpu_ns : cpu_ns;
}

static enum gt_status add_steps(const struct gt_view *view, const struct gt_work_set *set, struct gt_table *table,
                                struct gt_error *err) {
    const struct gt_step_set *steps = gt_results_steps(view, err);
    if (!steps)
        return err->code;
    struct gt_mfu_sums *sums = gt_mem_array(steps->count, sizeof *sums);
    bool ok = sums && sum_steps(view, set, steps, sums);
    for (size_t i = 0; i < steps->count && ok; i++) {
        const struct gt_step_part *part = &steps->parts[i];
        if (part->device == GT_NO_TRACK)
            continue;
        const struct gt_step *step = &view->labels->steps[part->step];
        const struct gt_view_device *device = &view->devices[part->device];
        add_row(table,
                &(struct scope){"step", gt_store_string(view->store, view->store->ranges.name[step->range]), device->id,
                                time_of_step(step, part), &set->peaks[device->device], NAN},
                &sums[i]);
    }
    gt_mem_free(sums);
    return ok ? GT_OK : gt_fail_memory(err);
}

/* ---- ranges ---- */

static enum gt_status add_ranges(const struct gt_view *view, const struct gt_work_set *set, struct gt_table *table,
                                 struct gt_error *err) {
    const struct gt_range_set *ranges = gt_results_ranges(view, err);
    struct gt_range_flops flops;
    if (!ranges)
        return err->code;
    bool ok = gt_range_flops_init(&flops, view, set, ranges);
    for (size_t d = 0; d < view->device_count && d < GT_DEVICES_MOST && ok; d++) {
        const struct gt_view_device *device = &view->devices[d];
        ok = gt_range_flops_find(&flops, device);
        for (size_t i = 0; i < flops.found_count && ok; i++)
            add_row(table,
                    &(struct scope){"range", flops.found[i].text, device->id, flops.found[i].projected_ns,
                                    &set->peaks[device->device], NAN},
                    &flops.found[i].sums);
    }
    gt_range_flops_release(&flops);
    return ok ? GT_OK : gt_fail_memory(err);
}

enum gt_status gt_mfu_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_work_set *set = gt_results_work(view, err);
    const struct gt_counter_set *counters = set ? gt_results_counters(view, err) : NULL;
    if (!counters)
        return err->code;
    struct gt_table *table = gt_section_table(section, "mfu", "Model and hardware FLOP utilization (MFU, HFU)", columns,
                                              GT_ARRAY_COUNT(columns));
    struct gt_measure_fact_group facts = {section, NULL, GT_FOR_DATA | GT_FOR_PAGE, NULL};
    table->screen_limit = 15;
    add_trace(view, set, counters, table, &facts);
    add_coverage(view, set, &facts);
    enum gt_status status = add_steps(view, set, table, err);
    if (status == GT_OK)
        status = add_ranges(view, set, table, err);
    if (set->instance_count && gt_measure_table_is_wanted(view, "mfu"))
        gt_section_note(section, GT_FOR_ALL, convention(section, view, set));
    return status;
}
