/* Makes the items of a GPU: its span and busy time, kinds of time, causes of idle time, ops by name. */
#include "measure/counters/counter_items.h"

#include <string.h>

#include "base/mem.h"
#include "base/ns.h"

static const char *const class_names[] = {
    [GT_CLASS_COMPUTE] = "compute", [GT_CLASS_COMM] = "comm", [GT_CLASS_MEMORY] = "memory"};

/* The item that a place of a list has, made on first use. */
static uint32_t item_at(struct gt_counter_items *items, uint32_t *place, enum gt_counter_scope scope,
                        struct gt_str name) {
    struct gt_counter_device *device = items->device;
    if (*place != GT_NO_ROW)
        return *place;
    struct gt_counter_item *grown =
        gt_mem_room(device->items, device->item_count, &device->item_capacity, sizeof *grown);
    if (!grown) {
        items->has_failed = true;
        return GT_COUNTER_SPAN_ITEM;
    }
    device->items = grown;
    *place = (uint32_t)device->item_count++;
    device->items[*place] = (struct gt_counter_item){.scope = scope, .name = name, .method = GT_COUNTER_UNSAMPLED};
    return *place;
}

uint32_t gt_counter_items_of_kernel(const struct gt_counter_items *items, uint32_t op) {
    return items->of_name[gt_view_op_name_id(items->view, op)];
}

static void list_add(struct gt_counter_list *list, uint32_t item) {
    list->items[list->count++] = item;
}

static void list_op(struct gt_counter_items *items, struct gt_counter_list *list, uint32_t op) {
    const struct gt_view *view = items->view;
    enum gt_class class = gt_view_op_class(view, op);
    gt_strid name = gt_view_op_name_id(view, op);
    list_add(list, GT_COUNTER_BUSY_ITEM);
    list_add(list, item_at(items, &items->of_class[class], GT_COUNTER_OF_CLASS, gt_str_of(class_names[class])));
    uint32_t kernel = item_at(items, &items->of_name[name], GT_COUNTER_OF_KERNEL, gt_view_name_text(view, name));
    items->device->items[kernel].name_id = name;
    list_add(list, kernel);
}

struct gt_counter_list gt_counter_items_of(struct gt_counter_items *items, uint32_t op, uint8_t cause) {
    struct gt_counter_list list = {.items = {GT_COUNTER_SPAN_ITEM}, .count = 1};
    if (op == GT_NO_ROW)
        list_add(&list,
                 item_at(items, &items->of_cause[cause], GT_COUNTER_OF_GAP, gt_str_of(gt_idle_cause_names[cause])));
    else
        list_op(items, &list, op);
    return list;
}

uint32_t gt_counter_items_add_range(struct gt_counter_items *items, struct gt_str name, uint32_t name_id) {
    uint32_t place = GT_NO_ROW, item = item_at(items, &place, GT_COUNTER_OF_RANGE, name);
    items->device->items[item].name_id = name_id;
    return item;
}

bool gt_counter_items_fills(const struct gt_sampling *sampling, size_t sample, int64_t ns) {
    int64_t period_ns = gt_ns_between(sampling->start_ns[sample], sampling->end_ns[sample]);
    return (__int128)ns * 10 >= (__int128)period_ns * GT_COUNTER_FILLED_TENTHS;
}

void gt_counter_items_add_sample(struct gt_counter_item *item, const struct gt_sampling *sampling, size_t sample,
                                 int64_t ns) {
    item->samples++;
    item->filled_ns = gt_ns_add(item->filled_ns, ns);
    for (int m = 0; m < GT_METRIC_COUNT; m++)
        if (gt_sampling_has(sampling, (enum gt_metric)m, sample)) {
            item->sums[m].values += (__int128)ns * sampling->values[m][sample];
            item->sums[m].weight_ns = gt_ns_add(item->sums[m].weight_ns, ns);
        }
}

static void add_time(void *context, const struct gt_counter_piece *piece) {
    struct gt_counter_items *items = context;
    struct gt_counter_device *device = items->device;
    int64_t ns = gt_ns_between(piece->start_ns, piece->end_ns);
    struct gt_counter_list list = gt_counter_items_of(items, piece->op, piece->cause);
    for (size_t i = 0; i < list.count; i++)
        device->items[list.items[i]].time_ns = gt_ns_add(device->items[list.items[i]].time_ns, ns);
    int64_t *sum_ns = piece->op == GT_NO_ROW ? &device->cause_ns[piece->cause]
                                             : &device->class_ns[gt_view_op_class(items->view, piece->op)];
    *sum_ns = gt_ns_add(*sum_ns, ns);
}

static void add_ops(struct gt_counter_items *items, size_t index) {
    const struct gt_view *view = items->view;
    const struct gt_view_device *of = &view->devices[index];
    struct gt_counter_device *device = items->device;
    for (size_t op = of->first; op < of->first + of->count && !items->has_failed; op++) {
        struct gt_counter_list list = gt_counter_items_of(items, (uint32_t)op, 0);
        for (size_t i = 0; i < list.count; i++)
            device->items[list.items[i]].ops++;
        if (gt_view_op_class(view, op) != GT_CLASS_COMPUTE || items->has_failed)
            continue;
        struct gt_counter_item *kernel = &device->items[gt_counter_items_of_kernel(items, (uint32_t)op)];
        kernel->compute_sum_ns = gt_ns_add(kernel->compute_sum_ns, gt_view_op_ns(view, op));
    }
}

/* So many numbers of no row. */
static uint32_t *no_rows(size_t count) {
    uint32_t *rows = gt_mem_uninitialised(count, sizeof *rows);
    if (rows)
        memset(rows, 0xFF, count * sizeof *rows);
    return rows;
}

bool gt_counter_items_init(struct gt_counter_items *items, const struct gt_view *view, const struct gt_idle *idle,
                           size_t index, struct gt_counter_device *device) {
    *items = (struct gt_counter_items){.view = view, .device = device};
    memset(items->of_class, 0xFF, sizeof items->of_class);
    memset(items->of_cause, 0xFF, sizeof items->of_cause);
    items->of_name = no_rows(gt_view_name_count(view));
    uint32_t span = GT_NO_ROW, busy = GT_NO_ROW;
    item_at(items, &span, GT_COUNTER_OF_DEVICE, GT_STR("span"));
    item_at(items, &busy, GT_COUNTER_OF_DEVICE, GT_STR("busy"));
    if (!items->of_name || items->has_failed) {
        gt_counter_items_release(items);
        return false;
    }
    add_ops(items, index);
    gt_counter_sweep_pieces(view, idle, index, add_time, items);
    return !items->has_failed;
}

void gt_counter_items_release(struct gt_counter_items *items) {
    gt_mem_free(items->of_name);
    *items = (struct gt_counter_items){0};
}
