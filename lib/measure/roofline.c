/* Roofline: work and time of each family of kernels, by the unit that its products run on. */
#include <stdlib.h>

#include "base/mem.h"
#include "measure/efficiency/work_sums.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_VARIES},
    {"family", "Family", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"unit", "Unit", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"count", "Calls", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"flops", "FLOPs", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_DETAIL},
    {"bytes", "Bytes", GT_UNIT_BYTES, NULL, GT_COLUMN_ADDS},
    {"intensity", "FLOPs per byte", GT_UNIT_NONE, NULL, 0},
    {"gflops_per_s", "GFLOP/s", GT_UNIT_NONE, NULL, 0},
    {"gbytes_per_s", "GB/s", GT_UNIT_NONE, NULL, 0},
    {"roofline_ns", "Roofline", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_SPARSE},
    {"efficiency", "Efficiency", GT_UNIT_SHARE, "modelled time", GT_COLUMN_BAR | GT_COLUMN_WHOLE | GT_COLUMN_SPARSE},
};

/* Units of products, and one more for what vector units do. */
enum { VECTOR = GT_PEAK_COUNT + 1, UNIT_COUNT };

struct family {
    uint8_t family, unit;
    struct gt_work_sums sums; /* count: of instances */
};

struct families {
    struct family items[GT_FAMILY_COUNT][UNIT_COUNT];
};

/* An instance counts where its first op does. */
static void sum_device(const struct gt_view *view, const struct gt_work_set *set, const struct gt_view_device *device,
                       struct families *families) {
    for (size_t i = device->first; i < device->first + device->count; i++) {
        struct gt_work_part part = gt_work_set_part(view, set, i);
        if (part.instance == GT_NO_ROW)
            continue;
        const struct gt_work_instance *instance = &set->instances[part.instance];
        const struct gt_work_kind *kind = gt_work_set_kind(set, instance);
        struct family *family =
            &families->items[kind->family][gt_work_set_is_matrix(kind) ? kind->unit : (uint8_t)VECTOR];
        size_t count = family->sums.count;
        gt_work_sums_add(&family->sums, gt_view_op_ns(view, i), &part, instance->bound);
        family->sums.count = count + (instance->first_op == view->row[i]);
    }
}

static int by_time(const void *a, const void *b) {
    const struct family *x = a, *y = b;
    if (x->sums.total_ns != y->sums.total_ns)
        return x->sums.total_ns < y->sums.total_ns ? 1 : -1;
    int order = gt_str_cmp(gt_str_of(gt_family_infos[x->family].key), gt_str_of(gt_family_infos[y->family].key));
    return order ? order : (x->unit > y->unit) - (x->unit < y->unit);
}

static struct gt_cell unit_cell(uint8_t unit) {
    if (unit == VECTOR)
        return gt_cell_text(GT_STR("vector"));
    return unit < GT_PEAK_COUNT ? gt_cell_text(gt_str_of(gt_peak_unit_keys[unit])) : gt_cell_null();
}

static void add_row(struct gt_table *table, int64_t device, const struct family *family) {
    const struct gt_work_sums *sums = &family->sums;
    struct gt_row row = gt_row_begin(table);
    gt_row_int(&row, "device", device);
    gt_row_text(&row, "family", gt_str_of(gt_family_infos[family->family].key));
    gt_row_cell(&row, "unit", unit_cell(family->unit));
    gt_row_count(&row, "count", sums->count);
    gt_row_int(&row, "total_ns", sums->total_ns);
    gt_row_cell(&row, "flops", gt_work_sums_cell(sums->flops, true));
    gt_row_cell(&row, "bytes", gt_work_sums_cell(sums->bytes, true));
    gt_row_cell(&row, "intensity",
                sums->bytes > 0 ? gt_cell_real((double)sums->flops / (double)sums->bytes) : gt_cell_null());
    gt_row_cell(&row, "gflops_per_s", gt_work_sums_per_second(sums->flops, true, sums->total_ns));
    gt_row_cell(&row, "gbytes_per_s", gt_work_sums_per_second(sums->bytes, true, sums->total_ns));
    gt_row_cell(&row, "roofline_ns", gt_work_sums_cell(sums->roofline_ns, sums->has_roofline));
    gt_row_cell(&row, "efficiency", gt_work_sums_efficiency(sums));
    gt_row_end(&row);
}

static void add_rows(struct gt_table *table, int64_t device, struct families *families) {
    struct family rows[GT_FAMILY_COUNT * UNIT_COUNT] = {0};
    size_t count = 0;
    for (int f = 0; f < GT_FAMILY_COUNT; f++)
        for (int u = 0; u < UNIT_COUNT; u++)
            if (families->items[f][u].sums.has_bytes) {
                rows[count] = families->items[f][u];
                rows[count].family = (uint8_t)f;
                rows[count++].unit = (uint8_t)u;
            }
    qsort(rows, count, sizeof *rows, by_time);
    for (size_t i = 0; i < count; i++)
        add_row(table, device, &rows[i]);
}

enum gt_status gt_roofline_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_work_set *set = gt_results_work(view, err);
    if (!set)
        return err->code;
    struct gt_table *table =
        gt_section_table(section, "roofline", "Roofline by family of work", columns, GT_ARRAY_COUNT(columns));
    for (size_t d = 0; d < view->device_count; d++) {
        struct families families = {0};
        sum_device(view, set, &view->devices[d], &families);
        add_rows(table, view->devices[d].id, &families);
    }
    return GT_OK;
}
