/* Peaks: what each GPU could do at most, and where the numbers are from. */
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_VARIES},
    {"name", "Name", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
    {"arch", "Architecture", GT_UNIT_NONE, NULL, 0},
    {"sms", "SMs", GT_UNIT_COUNT, NULL, 0},
    {"matrix_clock_hz", "Matrix clock (Hz)", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},
    {"vector_clock_hz", "Vector clock (Hz)", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},
    {"bandwidth", "Bandwidth/s", GT_UNIT_BYTES, NULL, 0},
    {"source", "Clock from", GT_UNIT_NONE, NULL, 0},
    {"bf16", "bf16 FLOP/s", GT_UNIT_COUNT, NULL, 0},
    {"tf32", "tf32 FLOP/s", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},
    {"fp8", "fp8 FLOP/s", GT_UNIT_COUNT, NULL, 0},
    {"fp32", "fp32 FLOP/s", GT_UNIT_COUNT, NULL, 0},
};

static struct gt_cell known(int64_t value) {
    return value > 0 ? gt_cell_int(value) : gt_cell_null();
}

static struct gt_cell text_or_null(struct gt_section *section, struct gt_str text) {
    return text.len ? gt_cell_text(gt_arena_copy(&section->report->arena, text)) : gt_cell_null();
}

static void add_row(struct gt_section *section, struct gt_table *table, int64_t id, const struct gt_gpu_peaks *peaks) {
    struct gt_row row = gt_row_begin(table);
    gt_row_int(&row, "device", id);
    gt_row_cell(&row, "name", text_or_null(section, peaks->given_name.len ? peaks->given_name : peaks->name));
    gt_row_cell(&row, "arch", text_or_null(section, gt_str_of(gt_gpu_peaks_arch(peaks))));
    gt_row_cell(&row, "sms", known(peaks->peak_multiprocessors));
    gt_row_cell(&row, "matrix_clock_hz", known(peaks->matrix_clock_hz));
    gt_row_cell(&row, "vector_clock_hz", known(peaks->vector_clock_hz));
    gt_row_cell(&row, "bandwidth", known(peaks->bandwidth));
    gt_row_cell(&row, "source", text_or_null(section, gt_str_of(gt_peak_source_names[peaks->source])));
    gt_row_cell(&row, "bf16", known(peaks->flops[GT_PEAK_BF16]));
    gt_row_cell(&row, "tf32", known(peaks->flops[GT_PEAK_TF32]));
    gt_row_cell(&row, "fp8", known(peaks->flops[GT_PEAK_FP8]));
    gt_row_cell(&row, "fp32", known(peaks->flops[GT_PEAK_FP32]));
    gt_row_end(&row);
}

enum gt_status gt_peaks_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_work_set *set = gt_results_work(view, err);
    struct gt_table *table = gt_section_table(section, "peaks", "GPU peaks (dense)", columns, GT_ARRAY_COUNT(columns));
    if (!set)
        return err->code;
    for (size_t d = 0; d < view->device_count; d++)
        add_row(section, table, view->devices[d].id, &set->peaks[view->devices[d].device]);
    return GT_OK;
}
