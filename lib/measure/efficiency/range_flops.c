/* Sums over trees of ranges: FLOPs by differences of running sums, times from the innermost outwards. Ranges that
   overlap the innermost one of an op without being around it get theirs one by one. */
#include "measure/efficiency/range_flops.h"

#include <stdlib.h>

#include "base/mem.h"

bool gt_range_flops_init(struct gt_range_flops *flops, const struct gt_view *view, const struct gt_work_set *set,
                         const struct gt_range_set *ranges) {
    *flops = (struct gt_range_flops){.view = view, .set = set};
    if (!gt_range_trees_init(&flops->trees, view, ranges))
        return false;
    size_t count = flops->trees.count;
    flops->inside = gt_mem_uninitialised(count, sizeof *flops->inside);
    flops->overlapping = flops->trees.knee ? gt_mem_uninitialised(count, sizeof *flops->overlapping) : NULL;
    flops->before = gt_mem_uninitialised(count + 1, sizeof *flops->before);
    flops->products = gt_mem_uninitialised(gt_view_most_ops(view), sizeof *flops->products);
    flops->found_at = gt_mem_array(ranges->name_count, sizeof *flops->found_at);
    flops->projected_ns = gt_mem_array(ranges->name_count, sizeof *flops->projected_ns);
    return flops->inside && (flops->overlapping || !flops->trees.knee) && flops->before && flops->products &&
           flops->found_at && flops->projected_ns;
}

void gt_range_flops_release(struct gt_range_flops *flops) {
    gt_range_trees_release(&flops->trees);
    gt_mem_free(flops->inside);
    gt_mem_free(flops->overlapping);
    gt_mem_free(flops->before);
    gt_mem_free(flops->products);
    gt_mem_free(flops->found_at);
    gt_mem_free(flops->projected_ns);
    gt_mem_free(flops->found);
}

/* ---- projected time ---- */

static void widen(struct gt_range_flops_extent *extent, const struct gt_range_flops_extent *more) {
    extent->start_ns = more->start_ns < extent->start_ns ? more->start_ns : extent->start_ns;
    extent->end_ns = more->end_ns > extent->end_ns ? more->end_ns : extent->end_ns;
}

/* An op, for the ranges that overlap its own. */
struct overlapping_op {
    struct gt_range_flops *flops;
    size_t position;
    struct gt_range_flops_extent extent;
};

static void widen_other(void *context, uint32_t range, bool is_new) {
    struct overlapping_op *op = context;
    (void)is_new; /* projected time is of each range */
    widen(&op->flops->overlapping[op->flops->trees.place[range]], &op->extent);
}

static void find_extents(struct gt_range_flops *flops, const struct gt_view_device *device) {
    const struct gt_range_flops_extent none = {INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < flops->trees.count; i++) {
        flops->inside[i] = none;
        if (flops->overlapping)
            flops->overlapping[i] = none;
    }
    for (size_t i = device->first; i < device->first + device->count; i++) {
        uint32_t place = gt_range_trees_place(&flops->trees, i);
        if (place == GT_NO_ROW)
            continue;
        struct overlapping_op op = {
            .flops = flops, .position = i, .extent = {flops->view->start_ns[i], flops->view->end_ns[i]}};
        widen(&flops->inside[place], &op.extent);
        gt_range_trees_others(&flops->trees, i, widen_other, &op);
    }
}

static void project(struct gt_range_flops *flops, const struct gt_view_device *device) {
    find_extents(flops, device);
    memset(flops->projected_ns, 0, flops->trees.ranges->name_count * sizeof *flops->projected_ns);
    for (size_t i = flops->trees.count; i-- > 0;) {
        uint32_t around = gt_range_trees_around(&flops->trees, (uint32_t)i),
                 name = gt_range_trees_name(&flops->trees, i);
        if (around != GT_NO_ROW)
            widen(&flops->inside[around], &flops->inside[i]);
        if (flops->overlapping)
            widen(&flops->inside[i], &flops->overlapping[i]);
        const struct gt_range_flops_extent *all = &flops->inside[i];
        if (name != GT_NO_ROW && all->start_ns <= all->end_ns)
            flops->projected_ns[name] = gt_ns_add(flops->projected_ns[name], gt_ns_between(all->start_ns, all->end_ns));
    }
}

/* ---- FLOPs ---- */

/* The sums of a name, made on first use; NULL: memory was short, or steps, which have rows of their own. */
static struct gt_mfu_sums *sums_of(struct gt_range_flops *flops, uint32_t name) {
    const struct gt_range_name *about = &flops->trees.ranges->names[name];
    if (about->is_step)
        return NULL;
    if (!flops->found_at[name]) {
        struct gt_range_flops_name *found =
            gt_mem_room(flops->found, flops->found_count, &flops->found_capacity, sizeof *found);
        flops->has_failed |= !found;
        if (!found)
            return NULL;
        flops->found = found;
        found[flops->found_count] = (struct gt_range_flops_name){.name = name, .text = about->name};
        flops->found_at[name] = (uint32_t)++flops->found_count;
    }
    return &flops->found[flops->found_at[name] - 1].sums;
}

/* One kind of FLOPs on one unit; of every kind there are as many instances. */
static void sum_unit(struct gt_range_flops *flops, enum gt_flops_kind kind, size_t unit, bool counts_instances) {
    const struct gt_range_trees *trees = &flops->trees;
    memset(flops->before, 0, (trees->count + 1) * sizeof *flops->before);
    for (size_t i = 0; i < flops->product_count; i++) {
        const struct gt_range_flops_product *product = &flops->products[i];
        if (product->place == GT_NO_ROW || (!counts_instances && product->kind->unit != unit))
            continue;
        int64_t amount = counts_instances ? 1 : gt_mfu_sums_kind_flops(product->kind, kind);
        flops->before[product->place + 1] = gt_work_math_add(flops->before[product->place + 1], amount);
    }
    for (size_t i = 0; i < trees->count; i++)
        flops->before[i + 1] = gt_work_math_add(flops->before[i + 1], flops->before[i]);
    for (size_t i = 0; i < trees->count; i++) {
        gt_big inside = flops->before[trees->end[i]] - flops->before[i];
        struct gt_mfu_sums *sums =
            trees->is_outermost[i] && inside > 0 ? sums_of(flops, gt_range_trees_name(trees, i)) : NULL;
        if (sums && counts_instances)
            sums->instances += (size_t)inside;
        else if (sums)
            sums->flops[kind][unit] = gt_work_math_add(sums->flops[kind][unit], inside);
    }
}

static void add_other(void *context, uint32_t range, bool is_new) {
    struct overlapping_op *op = context;
    struct gt_mfu_sums *sums = is_new ? sums_of(op->flops, op->flops->trees.ranges->name_of[range]) : NULL;
    if (sums)
        gt_mfu_sums_add(sums, op->flops->view, op->flops->set, op->position);
}

static void sum_others(struct gt_range_flops *flops) {
    for (size_t i = 0; i < flops->product_count && flops->overlapping; i++) {
        struct overlapping_op op = {.flops = flops, .position = flops->products[i].position};
        gt_range_trees_others(&flops->trees, op.position, add_other, &op);
    }
}

static void list_products(struct gt_range_flops *flops, const struct gt_view_device *device) {
    flops->product_count = 0;
    for (size_t i = device->first; i < device->first + device->count; i++) {
        const struct gt_work_kind *kind = gt_mfu_sums_kind(flops->view, flops->set, i);
        if (kind)
            flops->products[flops->product_count++] =
                (struct gt_range_flops_product){kind, i, gt_range_trees_place(&flops->trees, i)};
    }
}

/* ---- all ---- */

static int by_time(const void *a, const void *b) {
    const struct gt_range_flops_name *x = a, *y = b;
    if (x->projected_ns != y->projected_ns)
        return x->projected_ns < y->projected_ns ? 1 : -1;
    int order = gt_str_cmp(x->text, y->text);
    return order ? order : (x->name > y->name) - (x->name < y->name);
}

static void forget(struct gt_range_flops *flops) {
    for (size_t i = 0; i < flops->found_count; i++)
        flops->found_at[flops->found[i].name] = 0;
    flops->found_count = 0;
}

bool gt_range_flops_find(struct gt_range_flops *flops, const struct gt_view_device *device) {
    bool has_unit[GT_PEAK_COUNT + 1] = {false};
    forget(flops);
    list_products(flops, device);
    if (!flops->product_count)
        return true;
    for (size_t i = 0; i < flops->product_count; i++)
        has_unit[flops->products[i].kind->unit] |= flops->products[i].kind->flops > 0;
    project(flops, device);
    sum_unit(flops, GT_FLOPS_EXECUTED, 0, true);
    for (size_t unit = 0; unit <= GT_PEAK_COUNT; unit++)
        for (int kind = 0; kind < GT_FLOPS_COUNT && has_unit[unit]; kind++)
            sum_unit(flops, (enum gt_flops_kind)kind, unit, false);
    sum_others(flops);
    for (size_t i = 0; i < flops->found_count; i++)
        flops->found[i].projected_ns = flops->projected_ns[flops->found[i].name];
    if (flops->found_count)
        qsort(flops->found, flops->found_count, sizeof *flops->found, by_time);
    for (size_t i = 0; i < flops->found_count; i++)
        flops->found_at[flops->found[i].name] = (uint32_t)i + 1;
    return !flops->has_failed;
}
