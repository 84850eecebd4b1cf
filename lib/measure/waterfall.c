/* Waterfall: the span of each GPU as ideal time of its work, what kernels took above it, and what was not compute. The
   parts sum to the span. */
#include "base/mem.h"
#include "measure/counters/counter_parts.h"
#include "measure/efficiency/efficiency_words.h"
#include "measure/efficiency/model_waterfall.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_VARIES},
    {"basis", "Basis", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_VARIES},
    {"part", "Part", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"key", "Of", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"name", "Meaning", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY | GT_COLUMN_WORDS | GT_COLUMN_DETAIL},
    {"ns", "Time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS | GT_COLUMN_PART},
    {"share", "Share", GT_UNIT_SHARE, "span", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
};

/* Comparisons have a sentence on the parts by model, which every trace has. */
static const struct gt_parts parts_role = {.whole = "GPU span against ideal kernels",
                                           .column = "basis",
                                           .text = "model",
                                           .is_by_gpu = true,
                                           .unknown = "unmodelled"};

static void add_model(struct gt_table *table, const struct gt_view_device *device,
                      const struct gt_model_waterfall *it) {
    const struct gt_waterfall_rows rows = {table, device->id, "model", it->rest.span_ns};
    struct gt_waterfall_part ideal[GT_FAMILY_COUNT], lost[GT_FAMILY_COUNT];
    size_t count = 0;
    for (size_t f = 0; f < GT_FAMILY_COUNT; f++)
        if (it->has_family[f]) {
            ideal[count] = (struct gt_waterfall_part){"ideal", gt_family_infos[f].key, it->ideal_ns[f]};
            lost[count++] = (struct gt_waterfall_part){"inefficiency", gt_family_infos[f].key, it->lost_ns[f]};
        }
    gt_waterfall_rows_add_sorted(&rows, ideal, count);
    gt_waterfall_rows_add_sorted(&rows, lost, count);
    gt_waterfall_rows_add(&rows, "unmodelled", "", it->unmodelled_ns);
    if (it->peak_unknown_ns > 0)
        gt_waterfall_rows_add(&rows, "unmodelled", GT_WATERFALL_NO_PEAK, it->peak_unknown_ns);
    gt_waterfall_rows_add_rest(&rows, &it->rest);
}

/* false: memory was short. */
static bool divide_all(const struct gt_view *view, const struct gt_work_set *set, const struct gt_idle *idle,
                       struct gt_model_waterfall *models, struct gt_section *section) {
    struct gt_waterfall_spread spread = {0};
    bool has_spread = gt_waterfall_spread_is_known(view);
    for (size_t d = 0; d < view->device_count; d++)
        gt_model_waterfall_of(&models[d], view, set, idle, d, has_spread ? &spread : NULL);
    bool ok = !has_spread || gt_waterfall_spread_tell(&spread, view, section);
    gt_waterfall_spread_release(&spread);
    return ok;
}

enum gt_status gt_waterfall_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_work_set *set = gt_results_work(view, err);
    const struct gt_idle *idle = set ? gt_results_idle(view, err) : NULL;
    const struct gt_counter_set *counters = idle ? gt_results_counters(view, err) : NULL;
    struct gt_efficiency_words words = {.view = view, .set = set, .section = section};
    if (!counters)
        return err->code;
    struct gt_model_waterfall *models = gt_mem_array(view->device_count, sizeof *models);
    if (!models)
        return gt_fail_memory(err);
    words.models = models;
    words.counters = counters;
    if (!divide_all(view, set, idle, models, section) || !gt_efficiency_words_say(&words)) {
        gt_mem_free(models);
        return gt_fail_memory(err);
    }
    struct gt_table *table = gt_section_table(section, "waterfall", "Where the span went, against ideal kernels",
                                              columns, GT_ARRAY_COUNT(columns));
    table->parts = &parts_role;
    table->empty = GT_NONE_IN(view, "GPU ops with timestamps");
    for (size_t d = 0; d < view->device_count; d++) {
        add_model(table, &view->devices[d], &models[d]);
        gt_counter_parts_add(table, view->devices[d].id, &counters->devices[d]);
    }
    gt_mem_free(models);
    return GT_OK;
}
