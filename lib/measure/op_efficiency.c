/* Operators against the roofline of their work: a row for each operator, shape and way in which the work is known. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "measure/efficiency/work_sums.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_VARIES},
    {"op", "Operator", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"shape", "Shape", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"family", "Family", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"unit", "Unit", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"count", "Calls", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"kernels", "Kernels", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_DETAIL},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"flops", "FLOPs", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_DETAIL},
    {"bytes", "Bytes", GT_UNIT_BYTES, NULL, GT_COLUMN_ADDS | GT_COLUMN_DETAIL},
    {"gflops_per_s", "GFLOP/s", GT_UNIT_NONE, NULL, 0},
    {"gbytes_per_s", "GB/s", GT_UNIT_NONE, NULL, 0},
    {"roofline_ns", "Roofline", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_DETAIL},
    {"efficiency", "Efficiency", GT_UNIT_SHARE, "modelled time", GT_COLUMN_BAR | GT_COLUMN_WHOLE | GT_COLUMN_SPARSE},
    {"bound", "Bound", GT_UNIT_NONE, NULL, GT_COLUMN_SPARSE},
    {"lost_ns", "Lost", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_SPARSE},
    {"provenance", "Source of work", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"recompute", "Recomputed", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
};

/* What the view has of an instance of several ops. */
struct selected {
    struct gt_work_part part;
    int64_t ns;
    size_t ops;
};

struct row {
    size_t device; /* of the view */
    const struct gt_work_kind *kind;
    struct gt_work_sums sums;
    size_t kernels;
};

/* Which work, but for its amount of time: 0 if it is one row of the table. */
static int by_work(const struct row *x, const struct row *y) {
    const struct gt_work_kind *a = x->kind, *b = y->kind;
    int order = gt_str_cmp(a->op, b->op);
    order = order ? order : gt_str_cmp(a->shape, b->shape);
#define THEN(of_a, of_b) order = order ? order : ((of_a) > (of_b)) - ((of_a) < (of_b))
    THEN(a->unit, b->unit);
    THEN(a->provenance, b->provenance);
    THEN(a->is_recomputed, b->is_recomputed);
    THEN(a->flops, b->flops);
    THEN(a->bytes, b->bytes);
    THEN(a->family, b->family);
#undef THEN
    return order;
}

static int by_device_and_work(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    return x->device != y->device ? (x->device > y->device) - (x->device < y->device) : by_work(x, y);
}

static int by_device_and_time(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->device != y->device)
        return x->device > y->device ? 1 : -1;
    if (x->sums.total_ns != y->sums.total_ns)
        return x->sums.total_ns < y->sums.total_ns ? 1 : -1;
    return by_work(x, y);
}

/* Kinds that differ only in what tables do not show are one row. */
static size_t join_equal(struct row *rows, size_t count) {
    size_t kept = 0;
    if (count)
        qsort(rows, count, sizeof *rows, by_device_and_work);
    for (size_t i = 0; i < count; i++)
        if (kept && by_device_and_work(&rows[kept - 1], &rows[i]) == 0) {
            gt_work_sums_join(&rows[kept - 1].sums, &rows[i].sums);
            rows[kept - 1].kernels += rows[i].kernels;
        } else {
            rows[kept++] = rows[i];
        }
    return kept;
}

static void add_row(const struct gt_view *view, struct gt_table *table, const struct row *it) {
    const struct gt_work_sums *sums = &it->sums;
    struct gt_row row = gt_row_begin(table);
    gt_row_int(&row, "device", view->devices[it->device].id);
    gt_row_text(&row, "op", it->kind->op);
    gt_row_text(&row, "shape", gt_arena_copy(&table->report->arena, it->kind->shape));
    gt_row_text(&row, "family", gt_str_of(gt_family_infos[it->kind->family].key));
    gt_row_cell(&row, "unit",
                it->kind->unit < GT_PEAK_COUNT ? gt_cell_text(gt_str_of(gt_peak_unit_keys[it->kind->unit]))
                                               : gt_cell_null());
    gt_row_count(&row, "count", sums->count);
    gt_row_count(&row, "kernels", it->kernels);
    gt_row_int(&row, "total_ns", sums->total_ns);
    gt_row_cell(&row, "flops", gt_work_sums_cell(sums->flops, sums->has_flops));
    gt_row_cell(&row, "bytes", gt_work_sums_cell(sums->bytes, sums->has_bytes));
    gt_row_cell(&row, "gflops_per_s", gt_work_sums_per_second(sums->flops, sums->has_flops, sums->total_ns));
    gt_row_cell(&row, "gbytes_per_s", gt_work_sums_per_second(sums->bytes, sums->has_bytes, sums->total_ns));
    gt_row_cell(&row, "roofline_ns", gt_work_sums_cell(sums->roofline_ns, sums->has_roofline));
    gt_row_cell(&row, "efficiency", gt_work_sums_efficiency(sums));
    gt_row_cell(&row, "bound", gt_work_sums_bound(sums));
    gt_row_cell(&row, "lost_ns", gt_work_sums_cell(sums->lost_ns, sums->has_roofline));
    gt_row_text(&row, "provenance", gt_str_of(gt_provenance_names[it->kind->provenance]));
    gt_row_int(&row, "recompute", it->kind->is_recomputed);
    gt_row_end(&row);
}

/* A row for each kind and device. */
struct rows {
    const struct gt_work_set *set;
    struct row *items;
    size_t count, capacity;
    struct gt_map place;       /* kind, device -> row */
    uint32_t *latest;          /* by kind: its last row; GT_NO_ROW */
    uint32_t *device_of;       /* by track: device of the view */
    struct selected *selected; /* by instance; those of one op are not used */
    bool failed;
};

/* NULL: memory was short. */
static struct row *row_of(struct rows *rows, const struct gt_work_instance *instance) {
    uint32_t latest = rows->latest[instance->kind], device = rows->device_of[instance->device];
    if (rows->items && latest != GT_NO_ROW && rows->items[latest].device == device)
        return &rows->items[latest];
    uint32_t place = gt_map_put_if_new(&rows->place, instance->kind, instance->device, (uint32_t)rows->count);
    struct row *items = gt_mem_room(rows->items, rows->count, &rows->capacity, sizeof *items);
    rows->items = items ? items : rows->items;
    if (!items || rows->place.failed) {
        rows->failed = true;
        return NULL;
    }
    if (place == rows->count)
        items[rows->count++] = (struct row){.device = device, .kind = gt_work_set_kind(rows->set, instance)};
    rows->latest[instance->kind] = place;
    return &items[place];
}

static void add_instance(struct rows *rows, const struct gt_work_instance *instance, const struct selected *selected) {
    struct row *row = row_of(rows, instance);
    if (!row)
        return;
    gt_work_sums_add(&row->sums, selected->ns, &selected->part, instance->bound);
    row->kernels += selected->ops;
}

static void join_part(struct selected *into, const struct gt_work_part *part, const struct gt_work_kind *kind,
                      int64_t ns) {
    if (!into->ops++)
        into->part =
            (struct gt_work_part){.flops = kind->flops < 0 ? -1 : 0, .roofline_ns = part->roofline_ns < 0 ? -1 : 0};
    into->ns = gt_ns_add(into->ns, ns);
    into->part.bytes += part->bytes;
    into->part.flops += into->part.flops < 0 ? 0 : part->flops;
    into->part.roofline_ns += into->part.roofline_ns < 0 ? 0 : part->roofline_ns;
}

/* Most instances are one op. The ops of others are joined first. */
static void sum_instances(const struct gt_view *view, struct rows *rows) {
    const struct gt_work_set *set = rows->set;
    for (size_t i = 0; i < set->instance_count; i++)
        if (set->instances[i].op_count > 1)
            rows->selected[i] = (struct selected){0};
    for (size_t i = 0; i < view->op_count && !rows->failed; i++) {
        struct gt_work_part part = gt_work_set_part(view, set, i);
        const struct gt_work_instance *instance = part.instance == GT_NO_ROW ? NULL : &set->instances[part.instance];
        if (!instance || !gt_work_set_kind(set, instance)->op.len)
            continue;
        int64_t ns = gt_view_op_ns(view, i);
        if (instance->op_count == 1)
            add_instance(rows, instance, &(struct selected){part, ns, 1});
        else
            join_part(&rows->selected[part.instance], &part, gt_work_set_kind(set, instance), ns);
    }
    for (size_t i = 0; i < set->instance_count && !rows->failed; i++)
        if (set->instances[i].op_count > 1 && rows->selected[i].ops)
            add_instance(rows, &set->instances[i], &rows->selected[i]);
}

static bool rows_init(struct rows *rows, const struct gt_view *view, const struct gt_work_set *set) {
    *rows = (struct rows){
        .set = set,
        .latest = gt_mem_uninitialised(set->kind_count, sizeof *rows->latest),
        .device_of = gt_mem_array(view->store->devices.count, sizeof *rows->device_of),
        .selected = gt_mem_uninitialised(set->instance_count, sizeof *rows->selected),
    };
    if (!rows->latest || !rows->device_of || !rows->selected)
        return false;
    memset(rows->latest, 0xff, set->kind_count * sizeof *rows->latest); /* GT_NO_ROW */
    for (uint32_t d = 0; d < view->device_count; d++)
        rows->device_of[view->devices[d].device] = d;
    return true;
}

static void rows_release(struct rows *rows) {
    gt_mem_free(rows->latest);
    gt_mem_free(rows->device_of);
    gt_mem_free(rows->selected);
    gt_mem_free(rows->items);
    gt_map_release(&rows->place);
}

enum gt_status gt_op_efficiency_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_work_set *set = gt_results_work(view, err);
    if (!set)
        return err->code;
    struct gt_table *table = gt_section_table(section, "op_efficiency", "Operators against their roofline", columns,
                                              GT_ARRAY_COUNT(columns));
    struct rows rows;
    table->screen_limit = 12;
    bool ok = rows_init(&rows, view, set);
    if (ok)
        sum_instances(view, &rows);
    ok = ok && !rows.failed;
    size_t count = ok ? join_equal(rows.items, rows.count) : 0;
    if (count)
        qsort(rows.items, count, sizeof *rows.items, by_device_and_time);
    for (size_t i = 0; i < count; i++)
        add_row(view, table, &rows.items[i]);
    rows_release(&rows);
    return ok ? GT_OK : gt_fail_memory(err);
}
