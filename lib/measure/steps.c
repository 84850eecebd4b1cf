/* Steps: what each step of the program put on each device, and which steps took unusually long. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/quantile.h"
#include "measure/measure.h"

/* The ops of one step on one device. */
struct part {
    uint32_t step;   /* index into labels->steps */
    uint32_t device; /* index into view->devices; GT_NO_TRACK: the step launched nothing */
    size_t ops;
    int64_t start_ns, end_ns, busy_ns;
};

struct parts {
    struct part *items;
    size_t count, capacity;
    uint32_t *latest; /* by step: index + 1 of the part added last */
};

static const struct gt_report_column columns[] = {
    {"step", "Step", GT_UNIT_NONE, NULL, 0},
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"start_ns", "GPU start", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT},
    {"end_ns", "GPU end", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_MOMENT},
    {"gpu_ns", "GPU time span", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"ops", "Ops", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"busy_ns", "Busy", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"busy_share", "Busy share", GT_UNIT_SHARE, "GPU time span of the step", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
    {"cpu_start_ns", "CPU start", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_MOMENT},
    {"cpu_end_ns", "CPU end", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_MOMENT},
    {"cpu_ns", "CPU step", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"state", "State", GT_UNIT_NONE, NULL, 0},
};

static struct part *parts_add(struct parts *parts, uint32_t step, uint32_t device) {
    if (parts->count == parts->capacity) {
        size_t capacity = parts->capacity ? parts->capacity * 2 : 64;
        struct part *grown = gt_realloc(parts->items, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        parts->items = grown;
        parts->capacity = capacity;
    }
    struct part *part = &parts->items[parts->count++];
    *part = (struct part){.step = step, .device = device};
    parts->latest[step] = (uint32_t)parts->count;
    return part;
}

/* Ops of a device come in order of start, so the busy time is what each adds behind the latest end of its step. */
static void take_op(struct part *part, int64_t start_ns, int64_t end_ns) {
    if (part->ops++ == 0)
        part->start_ns = part->end_ns = start_ns;
    int64_t from_ns = start_ns > part->end_ns ? start_ns : part->end_ns;
    if (end_ns > from_ns)
        part->busy_ns = gt_ns_add(part->busy_ns, gt_ns_between(from_ns, end_ns));
    if (end_ns > part->end_ns)
        part->end_ns = end_ns;
}

static bool collect(const struct gt_view *view, struct parts *parts) {
    parts->latest = gt_alloc_array(view->labels->step_count, sizeof *parts->latest);
    if (!parts->latest)
        return false;
    for (uint32_t d = 0; d < view->device_count; d++) {
        const struct gt_view_device *device = &view->devices[d];
        for (size_t i = device->first; i < device->first + device->count; i++) {
            uint32_t step = view->labels->op_step[view->row[i]];
            if (step == GT_NO_ROW)
                continue;
            struct part *part = parts->latest[step] ? &parts->items[parts->latest[step] - 1] : NULL;
            if (!part || part->device != d)
                part = parts_add(parts, step, d);
            if (!part)
                return false;
            take_op(part, view->start_ns[i], view->end_ns[i]);
        }
    }
    /* With a selection, most steps have no op for that reason alone. */
    for (uint32_t step = 0; step < view->labels->step_count && view->is_whole; step++)
        if (!parts->latest[step] && !parts_add(parts, step, GT_NO_TRACK))
            return false;
    return true;
}

static int by_step(const void *a, const void *b) {
    const struct part *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->device > y->device) - (x->device < y->device);
}

static int64_t cpu_ns(const struct gt_step *step) {
    return gt_ns_between(step->start_ns, step->end_ns);
}

static bool median_step(const struct gt_labels *labels, double *median_ns) {
    int64_t *lengths = gt_alloc_array(labels->step_count, sizeof *lengths);
    if (!lengths)
        return false;
    for (size_t i = 0; i < labels->step_count; i++)
        lengths[i] = cpu_ns(&labels->steps[i]);
    *median_ns = gt_quantile(lengths, labels->step_count, 0.5);
    gt_free(lengths);
    return true;
}

/* Long steps before the first usual one are warm-up. */
static const char *state_of(const struct gt_labels *labels, double median_ns, uint32_t step, uint32_t first_usual) {
    bool is_long = (double)cpu_ns(&labels->steps[step]) > 1.5 * median_ns;
    return !is_long ? "steady" : step < first_usual ? "warm-up" : "outlier";
}

static void add_row(const struct gt_view *view, struct gt_table *table, const struct part *part, const char *state) {
    const struct gt_step *step = &view->labels->steps[part->step];
    int64_t gpu_ns = gt_ns_between(part->start_ns, part->end_ns);
    bool has_ops = part->device != GT_NO_TRACK;
    struct gt_cell *cell = gt_table_row(table);
    *cell++ = gt_cell_int(step->number);
    *cell++ = gt_cell_pid(view, step->process);
    *cell++ = has_ops ? gt_cell_int(view->devices[part->device].id) : gt_cell_null();
    *cell++ = has_ops ? gt_cell_time(view, part->start_ns) : gt_cell_null();
    *cell++ = has_ops ? gt_cell_time(view, part->end_ns) : gt_cell_null();
    *cell++ = has_ops ? gt_cell_int(gpu_ns) : gt_cell_null();
    *cell++ = gt_cell_count(part->ops);
    *cell++ = gt_cell_int(part->busy_ns);
    *cell++ = has_ops ? gt_cell_share((double)part->busy_ns, (double)gpu_ns) : gt_cell_null();
    *cell++ = gt_cell_time(view, step->start_ns);
    *cell++ = gt_cell_time(view, step->end_ns);
    *cell++ = gt_cell_int(cpu_ns(step));
    *cell++ = gt_cell_text(gt_str_of(state));
}

enum gt_status gt_steps_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_labels *labels = view->labels;
    struct parts parts = {0};
    double median_ns = 0;
    bool ok = collect(view, &parts) && median_step(labels, &median_ns);
    if (ok) {
        uint32_t first_usual = 0;
        while (first_usual < labels->step_count && (double)cpu_ns(&labels->steps[first_usual]) > 1.5 * median_ns)
            first_usual++;
        if (parts.count)
            qsort(parts.items, parts.count, sizeof *parts.items, by_step);
        struct gt_table *table = gt_section_table(section, "steps", "Steps", columns, GT_ARRAY_COUNT(columns));
        table->screen_limit = 20;
        for (size_t i = 0; i < parts.count; i++)
            add_row(view, table, &parts.items[i], state_of(labels, median_ns, parts.items[i].step, first_usual));
    }
    gt_free(parts.items);
    gt_free(parts.latest);
    return ok ? GT_OK : gt_fail_memory(err);
}
