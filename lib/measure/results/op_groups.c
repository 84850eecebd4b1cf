/* Groups the ops of a view: in come the ops, out go groups by name, GPU, process, kind and category with the lengths of
   their ops. Two passes over the ops, the lengths of a group then lie next to each other. */
#include "measure/results/op_groups.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/moments.h"
#include "base/ns.h"
#include "base/radix.h"
#include "measure/results/measure.h"

/* A group while its ops are counted; small, as there may be as many as ops. */
struct counted {
    uint32_t device, process; /* tracks */
    gt_strid full_name;
    uint8_t kind, category;
    bool is_indexed;
    uint32_t first;       /* position of its first op */
    uint32_t count;       /* of ops */
    uint32_t next_length; /* once the groups are in order: where the length of its next op goes */
};

/* What is needed only while groups are made. */
struct making {
    const struct gt_view *view;
    struct counted *groups; /* in order of appearance */
    size_t count, capacity;
    uint32_t *recent;    /* by full name: 1 + the group that an op of it was in last; 0: none was yet */
    struct gt_map index; /* of the groups of names that have several, by key: most have one, which needs no index */
    uint32_t *group_of;  /* by position */
};

static uint64_t key_hi(const struct counted *group) {
    return (uint64_t)group->device << 32 | group->full_name;
}

static uint64_t key_lo(const struct counted *group) {
    return (uint64_t)group->process << 16 | (uint64_t)group->category << 8 | group->kind;
}

static bool add_group(struct making *it, const struct counted *group) {
    if (it->count == it->capacity) {
        size_t capacity = it->capacity ? it->capacity * 2 : 1024;
        struct counted *grown = gt_mem_pages_resize(it->groups, it->capacity * sizeof *grown, capacity * sizeof *grown);
        if (!grown)
            return false;
        it->groups = grown;
        it->capacity = capacity;
    }
    it->groups[it->count++] = *group;
    return true;
}

static bool is_of_group(const struct gt_view *view, size_t position, const struct counted *group) {
    return group->device == view->store->lanes.device[view->lane[position]] &&
           group->process == gt_view_op_process(view, position) && group->kind == gt_view_op_kind(view, position) &&
           group->category == view->category[position];
}

/* Makes the group of an op the recent one of its name, which it is not yet. false: memory was short. */
static bool change_recent(struct making *it, uint32_t position) {
    const struct gt_view *view = it->view;
    uint32_t *recent = &it->recent[view->name[position]], index = (uint32_t)it->count;
    struct counted group = {.device = view->store->lanes.device[view->lane[position]],
                            .process = gt_view_op_process(view, position),
                            .full_name = view->name[position],
                            .kind = gt_view_op_kind(view, position),
                            .category = view->category[position],
                            .is_indexed = *recent,
                            .first = position};
    if (*recent) {
        struct counted *other = &it->groups[*recent - 1];
        if (!other->is_indexed)
            gt_map_put(&it->index, key_hi(other), key_lo(other), *recent - 1);
        other->is_indexed = true;
        index = gt_map_put_if_new(&it->index, key_hi(&group), key_lo(&group), index);
        if (it->index.failed)
            return false;
    }
    *recent = index + 1;
    return index < it->count || add_group(it, &group);
}

static bool group_ops(struct making *it) {
    const struct gt_view *view = it->view;
    for (uint32_t i = 0; i < view->op_count; i++) {
        const uint32_t *recent = &it->recent[view->name[i]];
        if (*recent == 0 || !is_of_group(view, i, &it->groups[*recent - 1]))
            if (!change_recent(it, i))
                return false;
        it->groups[*recent - 1].count++;
        it->group_of[i] = *recent - 1;
    }
    return true;
}

/* Kernels first, then by name, device, process: two stable sorts. */
static struct gt_radix_item *new_order(const struct making *it) {
    const struct counted *groups = it->groups;
    struct gt_radix_item *order = gt_mem_uninitialised(it->count, sizeof *order);
    for (uint32_t i = 0; i < it->count && order; i++)
        order[i] = (struct gt_radix_item){(uint64_t)groups[i].device << 32 | groups[i].process, i};
    bool ok = order && gt_radix_sort(order, it->count);
    for (size_t i = 0; i < it->count && ok; i++) {
        const struct counted *group = &groups[order[i].value];
        gt_strid name = gt_view_name_id(it->view, group->full_name);
        order[i].key = (uint64_t)!gt_store_kind_is_kernel(group->kind) << 32 | name;
    }
    if (ok && gt_radix_sort(order, it->count))
        return order;
    gt_mem_free(order);
    return NULL;
}

/* Puts the groups in order, each with its run of lengths. */
static bool order_groups(struct gt_op_groups *groups, struct making *it) {
    groups->items = gt_mem_uninitialised(it->count, sizeof *groups->items); /* what stays lies below what goes */
    struct gt_radix_item *order = new_order(it);
    bool ok = order && groups->items;
    uint32_t first_length = 0;
    for (size_t i = 0; i < it->count && ok; i++) {
        struct counted *group = &it->groups[order[i].value];
        groups->items[groups->count++] = (struct gt_op_group){.name = gt_view_name_id(it->view, group->full_name),
                                                              .device = group->device,
                                                              .process = group->process,
                                                              .kind = group->kind,
                                                              .category = group->category,
                                                              .first = group->first,
                                                              .first_length = first_length,
                                                              .count = group->count};
        group->next_length = first_length;
        first_length += group->count;
        groups->kernel_count += gt_store_kind_is_kernel(group->kind);
    }
    gt_mem_free(order);
    return ok;
}

static void sum_lengths(struct gt_op_groups *groups) {
    for (size_t g = 0; g < groups->count; g++) {
        struct gt_slice slice = gt_op_groups_lengths(groups, g, g + 1);
        struct gt_tally lengths = {0};
        for (size_t i = 0; i < slice.count; i++)
            gt_keyed_tally_add(&lengths, slice.samples[i]);
        groups->items[g].sum_ns = lengths.sum;
        groups->items[g].min_ns = lengths.min;
        groups->items[g].max_ns = lengths.max;
    }
}

static bool place_lengths(struct gt_op_groups *groups, const struct making *it) {
    const struct gt_view *view = it->view;
    groups->lengths_ns = gt_mem_uninitialised(view->op_count, sizeof *groups->lengths_ns);
    for (size_t i = 0; i < view->op_count && groups->lengths_ns; i++)
        groups->lengths_ns[it->groups[it->group_of[i]].next_length++] = gt_view_op_ns(view, i);
    return groups->lengths_ns;
}

static bool count_groups(struct making *it) {
    it->recent = gt_mem_array(it->view->store->strings.count, sizeof *it->recent);
    it->group_of = gt_mem_uninitialised(it->view->op_count, sizeof *it->group_of);
    bool ok = it->recent && it->group_of && group_ops(it);
    gt_map_release(&it->index);
    gt_mem_free(it->recent);
    return ok;
}

enum gt_status gt_op_groups_init(struct gt_op_groups *groups, const struct gt_view *view, struct gt_error *err) {
    *groups = (struct gt_op_groups){0};
    struct making it = {.view = view};
    bool ok = count_groups(&it) && order_groups(groups, &it) && place_lengths(groups, &it);
    gt_mem_pages_free(it.groups, it.capacity * sizeof *it.groups);
    gt_mem_free(it.group_of);
    if (!ok) {
        gt_op_groups_release(groups);
        return gt_fail_memory(err);
    }
    sum_lengths(groups);
    return GT_OK;
}

void gt_op_groups_release(struct gt_op_groups *groups) {
    gt_mem_free(groups->items);
    gt_mem_free(groups->lengths_ns);
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

struct gt_slice gt_op_groups_lengths(const struct gt_op_groups *groups, size_t first, size_t end) {
    size_t count = 0;
    for (size_t i = first; i < end; i++)
        count += groups->items[i].count;
    return (struct gt_slice){groups->lengths_ns + (count ? groups->items[first].first_length : 0), count};
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
