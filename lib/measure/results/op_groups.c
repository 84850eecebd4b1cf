/* Groups the ops of a view: in come the ops, out go groups by name, GPU, process, kind and category with the sums of
   their lengths. One pass over the ops, in slices on several threads. */
#include "measure/results/op_groups.h"

#include "base/mem.h"
#include "base/moments.h"
#include "base/ns.h"
#include "base/radix.h"
#include "base/threads.h"
#include "measure/results/measure.h"

/* What is needed only while groups are made. Each slice of the ops has groups of its own, which are then put together.
 */
struct making {
    const struct gt_view *view;
    struct gt_op_groups *groups;
    uint32_t *owners;            /* by stream */
    struct gt_op_grouping whole; /* unless there is one slice */
};

static void group_slice(void *context, size_t index) {
    struct making *it = context;
    struct gt_op_grouping *slice = &it->groups->slices[index];
    size_t count = it->view->op_count, slice_count = it->groups->slice_count;
    slice->has_failed =
        !gt_op_grouping_take(slice, it->view, it->owners, gt_threads_slice_begin(count, slice_count, index),
                             gt_threads_slice_begin(count, slice_count, index + 1));
    gt_op_grouping_end(slice);
}

static bool join_slices(struct making *it) {
    struct gt_op_grouping *whole = &it->whole;
    whole->recent = gt_mem_array(it->view->store->strings.count, sizeof *whole->recent);
    bool ok = whole->recent;
    for (size_t i = 0; i < it->groups->slice_count && ok; i++)
        ok = gt_op_grouping_add(whole, &it->groups->slices[i]);
    gt_op_grouping_end(whole);
    return ok;
}

static struct gt_op_grouping *whole_of(struct making *it) {
    return it->groups->slice_count > 1 ? &it->whole : it->groups->slices;
}

/* Kernels first, then by name, device, process: two stable sorts. */
static struct gt_radix_item *new_order(const struct gt_view *view, const struct gt_op_grouping *it) {
    const struct gt_op_part *groups = it->parts;
    struct gt_radix_item *order = gt_mem_uninitialised(it->count, sizeof *order);
    for (uint32_t i = 0; i < it->count && order; i++)
        order[i] = (struct gt_radix_item){(uint64_t)groups[i].device << 32 | groups[i].process, i};
    bool ok = order && gt_radix_sort(order, it->count);
    for (size_t i = 0; i < it->count && ok; i++) {
        const struct gt_op_part *group = &groups[order[i].value];
        gt_strid name = gt_view_name_id(view, group->full_name);
        order[i].key = (uint64_t)!gt_store_kind_is_kernel(group->kind) << 32 | name;
    }
    if (ok && gt_radix_sort(order, it->count))
        return order;
    gt_mem_free(order);
    return NULL;
}

/* Puts the groups in order, each with the place of its lengths among all. */
static bool order_groups(struct making *it) {
    struct gt_op_grouping *whole = whole_of(it);
    struct gt_op_groups *groups = it->groups;
    groups->items = gt_mem_uninitialised(whole->count, sizeof *groups->items); /* what stays lies below what goes */
    struct gt_radix_item *order = new_order(it->view, whole);
    bool ok = order && groups->items;
    uint32_t first_length = 0;
    for (size_t i = 0; i < whole->count && ok; i++) {
        struct gt_op_part *group = &whole->parts[order[i].value];
        group->whole = (uint32_t)i;
        groups->items[groups->count++] = (struct gt_op_group){.sum_ns = group->sum_ns,
                                                              .min_ns = group->min_ns,
                                                              .max_ns = group->max_ns,
                                                              .name = gt_view_name_id(it->view, group->full_name),
                                                              .device = group->device,
                                                              .process = group->process,
                                                              .kind = group->kind,
                                                              .category = group->category,
                                                              .first = group->first,
                                                              .first_length = first_length,
                                                              .count = group->count};
        first_length += group->count;
        groups->kernel_count += gt_store_kind_is_kernel(group->kind);
    }
    gt_mem_free(order);
    return ok;
}

/* Parts of slices say which group of all ops they are part of, now by its place. */
static void place_parts(struct making *it) {
    const struct gt_op_grouping *whole = &it->whole;
    for (size_t s = 0; s < it->groups->slice_count && it->groups->slice_count > 1; s++)
        for (size_t i = 0; i < it->groups->slices[s].count; i++) {
            struct gt_op_part *part = &it->groups->slices[s].parts[i];
            part->whole = whole->parts[part->whole].whole;
        }
}

static bool make_groups(struct making *it, size_t thread_count) {
    struct gt_op_groups *groups = it->groups;
    groups->slice_count = gt_threads_slices(thread_count, it->view->op_count, it->view->store->strings.count);
    groups->slices = gt_mem_array(groups->slice_count, sizeof *groups->slices);
    it->owners = gt_op_grouping_owners_new(it->view);
    if (!groups->slices || !it->owners)
        return false;
    gt_threads_parts(thread_count, groups->slice_count, group_slice, it);
    for (size_t i = 0; i < groups->slice_count; i++)
        if (groups->slices[i].has_failed)
            return false;
    if ((groups->slice_count > 1 && !join_slices(it)) || !order_groups(it))
        return false;
    place_parts(it);
    return true;
}

static void release_slices(struct gt_op_groups *groups) {
    for (size_t i = 0; i < groups->slice_count && groups->slices; i++)
        gt_op_grouping_release(&groups->slices[i]);
    gt_mem_free(groups->slices);
    groups->slices = NULL;
}

enum gt_status gt_op_groups_init_with_slices(struct gt_op_groups *groups, const struct gt_view *view,
                                             struct gt_error *err) {
    *groups = (struct gt_op_groups){0};
    struct making it = {.view = view, .groups = groups};
    bool ok = make_groups(&it, gt_threads_count(view->request->threads));
    gt_op_grouping_release(&it.whole);
    gt_mem_free(it.owners);
    if (ok)
        return GT_OK;
    gt_op_groups_release(groups);
    return gt_fail_memory(err);
}

/* Few parts, next to the ops, are kept for those who want lengths. */
enum { OPS_OF_A_KEPT_PART = 8 };

enum gt_status gt_op_groups_init(struct gt_op_groups *groups, const struct gt_view *view, struct gt_error *err) {
    enum gt_status status = gt_op_groups_init_with_slices(groups, view, err);
    size_t parts = 0;
    for (size_t i = 0; i < groups->slice_count; i++)
        parts += groups->slices[i].count;
    if (parts > view->op_count / OPS_OF_A_KEPT_PART)
        release_slices(groups);
    return status;
}

void gt_op_groups_release(struct gt_op_groups *groups) {
    release_slices(groups);
    gt_mem_free(groups->items);
    *groups = (struct gt_op_groups){0};
}

struct gt_tally gt_op_groups_tally(const struct gt_op_groups *groups, size_t first, size_t end) {
    struct gt_tally tally = {0};
    for (size_t i = first; i < end; i++) {
        const struct gt_op_group *group = &groups->items[i];
        gt_keyed_tally_merge(&tally, &(struct gt_tally){group->sum_ns, group->count, group->min_ns, group->max_ns});
    }
    return tally;
}

struct gt_sample_stats gt_op_groups_tally_stats(const struct gt_tally *lengths) {
    struct gt_moments moments = {.sum = lengths->sum, .count = lengths->count};
    return (struct gt_sample_stats){.count = lengths->count,
                                    .total_ns = gt_ns_of_sum(lengths->sum),
                                    .min_ns = lengths->min,
                                    .max_ns = lengths->max,
                                    .mean_ns = gt_moments_mean(&moments),
                                    .stddev_ns = -1,
                                    .median_ns = -1,
                                    .p90_ns = -1,
                                    .p99_ns = -1};
}
