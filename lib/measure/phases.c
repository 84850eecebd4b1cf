/* Phases: GPU and CPU time by phase of the program, from the names of its ranges. */
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"phase", "Phase", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"instances", "Ranges", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"ops", "Ops", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"exclusive_ns", "Exclusive sum", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"busy_ns", "Busy", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"share", "Share", GT_UNIT_SHARE, "op time inside ranges", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
    {"cpu_ns", "CPU time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"cpu_share", "CPU share", GT_UNIT_SHARE, "CPU time in ranges", GT_COLUMN_DETAIL},
    {"source", "Source", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
};

/* Shares of the rest mislead where much is outside. */
static void note_outside(struct gt_section *section, const struct gt_phase_set *set) {
    enum { WORTH_NOTING_PERCENT = 5 };
    double sum_ns = (double)set->covered_ns + (double)set->outside_ns;
    double outside_percent = sum_ns > 0 ? 100 * (1 - (double)set->covered_ns / sum_ns) : 0;
    if (outside_percent >= WORTH_NOTING_PERCENT)
        gt_section_note(section, GT_FOR_SCREEN | GT_FOR_PAGE,
                        gt_arena_printf(&section->report->arena,
                                        "%.1f%% of op time was launched outside ranges and is in no phase; for "
                                        "example, autograd launches the backward pass from another thread.",
                                        outside_percent));
}

/* The phase of a known name that most of the time in ranges belongs to, on the GPU or the CPU. */
static void note_dominant(const struct gt_view *view, struct gt_section *section, const struct gt_phase_set *set,
                          bool is_cpu) {
    static const double dominant_share = 0.7;
    enum { LONGEST_NAME = 60 };
    const struct gt_phase *top = NULL;
    int64_t top_ns = 0, all_ns = is_cpu ? set->cpu_ns : set->covered_ns;
    for (size_t i = 0; i < set->mapped_count; i++) {
        int64_t ns = is_cpu ? set->phases[i].cpu_ns : set->phases[i].exclusive_ns;
        top = ns > top_ns ? &set->phases[i] : top;
        top_ns = ns > top_ns ? ns : top_ns;
    }
    if (!top || (double)top_ns < dominant_share * (double)all_ns || !gt_measure_table_is_wanted(view, "phases"))
        return;
    struct gt_str name = gt_str_cut(top->name, LONGEST_NAME);
    gt_section_note(section, GT_FOR_SCREEN | GT_FOR_PAGE,
                    gt_arena_printf(&section->report->arena, "Phase '%.*s' takes %.1f%% of %s time in ranges.",
                                    (int)name.len, name.ptr, 100 * (double)top_ns / (double)all_ns,
                                    is_cpu ? "CPU" : "op"));
}

static void add_notes(const struct gt_view *view, struct gt_section *section, const struct gt_phase_set *set) {
    if (set->count == 0 || (set->map.is_guessed && set->mapped_count == 0))
        return;
    if (gt_option_flag(view, GT_OPTION_ranges_have_kernels)) {
        note_outside(section, set);
        note_dominant(view, section, set, false);
    }
    note_dominant(view, section, set, true);
    if (set->mapped_count == 0)
        gt_section_note(section, GT_FOR_SCREEN | GT_FOR_PAGE, GT_STR("No range matches the phase map."));
}

static void add_row(const struct gt_view *view, struct gt_table *table, const struct gt_phase_set *set,
                    const struct gt_phase *phase, struct gt_str name) {
    bool has_gpu = gt_option_flag(view, GT_OPTION_ranges_have_kernels);
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "phase", name);
    gt_row_count(&row, "instances", phase->instances);
    gt_row_cell(&row, "ops", has_gpu ? gt_cell_count(phase->ops) : gt_cell_null());
    gt_row_cell(&row, "exclusive_ns", has_gpu ? gt_cell_int(phase->exclusive_ns) : gt_cell_null());
    gt_row_cell(&row, "busy_ns", has_gpu ? gt_cell_int(phase->busy.busy_ns) : gt_cell_null());
    gt_row_cell(&row, "share",
                has_gpu ? gt_cell_share((double)phase->exclusive_ns, (double)set->covered_ns) : gt_cell_null());
    gt_row_int(&row, "cpu_ns", phase->cpu_ns);
    gt_row_share(&row, "cpu_share", (double)phase->cpu_ns, (double)set->cpu_ns);
    gt_row_text(&row, "source", set->map.is_guessed ? GT_STR("guessed") : GT_STR("map"));
    gt_row_end(&row);
}

enum gt_status gt_phases_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_phase_set *set = gt_results_phases(view, err);
    if (!set)
        return err->code;
    const char *title = set->map.is_guessed ? "Phases (guessed from range names)" : "Phases";
    struct gt_table *table = gt_section_table(section, "phases", title, columns, GT_ARRAY_COUNT(columns));
    if (!gt_option_flag(view, GT_OPTION_ranges_have_kernels))
        table->screen_columns = "phase,instances,cpu_ns";
    if (set->map.is_guessed && set->mapped_count == 0)
        gt_measure_table_for(section, table, GT_FOR_DATA);
    for (size_t i = 0; i < set->count; i++)
        add_row(view, table, set, &set->phases[i], gt_arena_copy(&section->report->arena, set->phases[i].name));
    for (size_t i = 0; i < set->map.phase_count; i++)
        gt_table_name(table, set->map.phases[i]);
    gt_table_name(table, GT_PHASE_UNMAPPED);
    add_notes(view, section, set);
    struct gt_measure_fact_group facts = {.section = section, .audience = GT_FOR_DATA};
    if (gt_option_flag(view, GT_OPTION_ranges_have_kernels))
        gt_measure_fact_group_add(&facts, "phase_ns", "Op time inside ranges", GT_UNIT_NS,
                                  gt_cell_int(set->covered_ns));
    gt_measure_fact_group_add(&facts, "phase_cpu_ns", "CPU time in ranges", GT_UNIT_NS, gt_cell_int(set->cpu_ns));
    return GT_OK;
}
