/* Sums over trees of ranges: FLOPs by differences of running sums, times from the innermost outwards. */
#include "measure/efficiency/range_flops.h"

#include <stdlib.h>

#include "base/mem.h"

bool gt_range_flops_init(struct gt_range_flops *flops, const struct gt_view *view, const struct gt_work_set *set,
                         const struct gt_range_set *ranges) {
    const struct gt_labels *labels = view->labels;
    size_t count = labels->range_order_count;
    bool *is_open = gt_mem_array(ranges->name_count, sizeof *is_open);
    *flops = (struct gt_range_flops){
        .view = view,
        .set = set,
        .ranges = ranges,
        .place = gt_mem_uninitialised(view->store->ranges.count, sizeof *flops->place),
        .end = gt_mem_uninitialised(count, sizeof *flops->end),
        .is_outermost = gt_mem_array(count, sizeof *flops->is_outermost),
        .start_ns = gt_mem_uninitialised(count, sizeof *flops->start_ns),
        .end_ns = gt_mem_uninitialised(count, sizeof *flops->end_ns),
        .before = gt_mem_uninitialised(count + 1, sizeof *flops->before),
        .names = gt_mem_array(ranges->name_count, sizeof *flops->names),
        .found = gt_mem_array(ranges->name_count, sizeof *flops->found),
    };
    bool ok = is_open && flops->place && flops->end && flops->is_outermost && flops->start_ns && flops->end_ns &&
              flops->before && flops->names && flops->found;
    for (size_t i = 0; i < view->store->ranges.count && ok; i++)
        flops->place[i] = GT_NO_ROW;
    for (size_t i = 0; i < count && ok; i++)
        flops->place[labels->range_order[i]] = (uint32_t)i;
    /* names of the ranges around the current one are open */
    uint32_t before = GT_NO_ROW;
    for (size_t i = 0; i < count && ok; i++) {
        uint32_t range = labels->range_order[i], name = ranges->name_of[range];
        for (; before != labels->range_parent[range]; before = labels->range_parent[before])
            if (flops->is_outermost[flops->place[before]])
                is_open[ranges->name_of[before]] = false;
        flops->is_outermost[i] = name != GT_NO_ROW && !is_open[name];
        if (name != GT_NO_ROW)
            is_open[name] = true;
        before = range;
        flops->end[i] = (uint32_t)i + 1;
    }
    for (size_t i = count; i-- > 0 && ok;) {
        uint32_t parent = labels->range_parent[labels->range_order[i]];
        uint32_t *end = parent == GT_NO_ROW ? NULL : &flops->end[flops->place[parent]];
        if (end && *end < flops->end[i])
            *end = flops->end[i];
    }
    gt_mem_free(is_open);
    return ok;
}

void gt_range_flops_release(struct gt_range_flops *flops) {
    gt_mem_free(flops->place);
    gt_mem_free(flops->end);
    gt_mem_free(flops->is_outermost);
    gt_mem_free(flops->start_ns);
    gt_mem_free(flops->end_ns);
    gt_mem_free(flops->before);
    gt_mem_free(flops->names);
    gt_mem_free(flops->found);
}

/* Place of the innermost range around the launch of an op; GT_NO_ROW: it has none. */
static uint32_t place_of(const struct gt_range_flops *flops, size_t position) {
    uint32_t range = flops->view->labels->op_range[flops->view->row[position]];
    return range == GT_NO_ROW ? GT_NO_ROW : flops->place[range];
}

static void widen(struct gt_range_flops *flops, uint32_t place, int64_t start_ns, int64_t end_ns) {
    if (start_ns < flops->start_ns[place])
        flops->start_ns[place] = start_ns;
    if (end_ns > flops->end_ns[place])
        flops->end_ns[place] = end_ns;
}

static void project(struct gt_range_flops *flops, const struct gt_view_device *device) {
    const struct gt_labels *labels = flops->view->labels;
    for (size_t i = 0; i < labels->range_order_count; i++) {
        flops->start_ns[i] = INT64_MAX;
        flops->end_ns[i] = INT64_MIN;
    }
    for (size_t i = device->first; i < device->first + device->count; i++)
        if (place_of(flops, i) != GT_NO_ROW)
            widen(flops, place_of(flops, i), flops->view->start_ns[i], flops->view->end_ns[i]);
    for (size_t i = labels->range_order_count; i-- > 0;) {
        uint32_t range = labels->range_order[i], parent = labels->range_parent[range];
        uint32_t name = flops->ranges->name_of[range];
        if (flops->end_ns[i] == INT64_MIN)
            continue;
        if (parent != GT_NO_ROW)
            widen(flops, flops->place[parent], flops->start_ns[i], flops->end_ns[i]);
        if (name != GT_NO_ROW)
            flops->names[name].projected_ns =
                gt_ns_add(flops->names[name].projected_ns, gt_ns_between(flops->start_ns[i], flops->end_ns[i]));
    }
}

/* One kind of FLOPs on one unit; of every kind there are as many instances. */
static void sum_unit(struct gt_range_flops *flops, const struct gt_view_device *device, enum gt_flops_kind kind,
                     size_t unit, bool counts_instances) {
    const struct gt_labels *labels = flops->view->labels;
    memset(flops->before, 0, (labels->range_order_count + 1) * sizeof *flops->before);
    for (size_t i = device->first; i < device->first + device->count; i++) {
        const struct gt_work_kind *work = gt_mfu_sums_kind(flops->view, flops->set, i);
        uint32_t place = work ? place_of(flops, i) : GT_NO_ROW;
        if (place == GT_NO_ROW || (!counts_instances && work->unit != unit))
            continue;
        int64_t amount = counts_instances ? 1 : gt_mfu_sums_kind_flops(work, kind);
        flops->before[place + 1] = gt_work_math_add(flops->before[place + 1], amount);
    }
    for (size_t i = 0; i < labels->range_order_count; i++)
        flops->before[i + 1] = gt_work_math_add(flops->before[i + 1], flops->before[i]);
    for (size_t i = 0; i < labels->range_order_count; i++) {
        gt_big inside = flops->before[flops->end[i]] - flops->before[i];
        if (!flops->is_outermost[i] || inside <= 0)
            continue;
        struct gt_mfu_sums *sums = &flops->names[flops->ranges->name_of[labels->range_order[i]]].sums;
        if (counts_instances)
            sums->instances += (size_t)inside;
        else
            sums->flops[kind][unit] = gt_work_math_add(sums->flops[kind][unit], inside);
    }
}

static int by_time(const void *a, const void *b) {
    const struct gt_range_flops_name *x = a, *y = b;
    if (x->projected_ns != y->projected_ns)
        return x->projected_ns < y->projected_ns ? 1 : -1;
    return gt_str_cmp(x->text, y->text);
}

void gt_range_flops_find(struct gt_range_flops *flops, const struct gt_view_device *device) {
    struct gt_mfu_sums all = {0};
    memset(flops->names, 0, flops->ranges->name_count * sizeof *flops->names);
    flops->found_count = 0;
    gt_mfu_sums_add_device(&all, flops->view, flops->set, device);
    if (!all.instances)
        return;
    project(flops, device);
    sum_unit(flops, device, GT_FLOPS_EXECUTED, 0, true);
    for (size_t unit = 0; unit <= GT_PEAK_COUNT; unit++)
        for (int kind = 0; kind < GT_FLOPS_COUNT && all.flops[GT_FLOPS_EXECUTED][unit]; kind++)
            sum_unit(flops, device, (enum gt_flops_kind)kind, unit, false);
    for (size_t i = 0; i < flops->ranges->name_count; i++) {
        flops->names[i].text = flops->ranges->names[i].name;
        if (flops->names[i].sums.instances && !flops->ranges->names[i].is_step)
            flops->found[flops->found_count++] = flops->names[i];
    }
    if (flops->found_count)
        qsort(flops->found, flops->found_count, sizeof *flops->found, by_time);
}
