/* Groups the ops of a view: in come the ops, out go groups by name, GPU, process, kind and category with the lengths of
   their ops. Two passes over the ops, the lengths of a group then lie beside each other. */
#include "measure/op_groups.h"

#include "base/mem.h"
#include "base/radix.h"
#include "measure/grouping.h"
#include "measure/measure.h"

/* What is needed only while groups are made. */
struct making {
    const struct gt_view *view;
    struct gt_grouping found; /* groups in order of appearance */
    uint32_t *recent;         /* by full name: the group that an op of it was in last */
    uint32_t *group_of;       /* by position */
    size_t *next_length;      /* by group, in order of appearance: where the length of its next op goes */
};

/* The group of a key that is not the recent one of its name. */
static struct gt_op_group *find_group(struct making *it, uint64_t hi, uint64_t lo, size_t position) {
    bool is_new;
    struct gt_op_group *group = gt_grouping_find(&it->found, hi, lo, &is_new);
    if (group && is_new) {
        const struct gt_view *view = it->view;
        group->hi = hi;
        group->lo = lo;
        group->name = gt_op_name_id(view, position);
        group->device = view->store->lanes.device[view->lane[position]];
        group->process = gt_op_process(view, position);
        group->kind = gt_op_kind(view, position);
        group->category = view->category[position];
        group->first = (uint32_t)position;
    }
    return group;
}

static bool group_ops(struct making *it) {
    const struct gt_view *view = it->view;
    const uint32_t *device_of = view->store->lanes.device;
    for (size_t i = 0; i < view->op_count; i++) {
        struct gt_op_group *groups = (void *)it->found.list;
        gt_strid name = view->name[i];
        uint64_t hi = (uint64_t)device_of[view->lane[i]] << 32 | name;
        uint64_t lo = (uint64_t)gt_op_process(view, i) << 16 | (uint64_t)view->category[i] << 8 | gt_op_kind(view, i);
        uint32_t index = it->recent[name];
        if (index >= it->found.count || groups[index].hi != hi || groups[index].lo != lo) {
            struct gt_op_group *group = find_group(it, hi, lo, i);
            if (!group)
                return false;
            groups = (void *)it->found.list;
            it->recent[name] = index = (uint32_t)(group - groups);
        }
        groups[index].lengths.count++;
        it->group_of[i] = index;
    }
    return true;
}

/* Kernels first, then by name, device, process: two stable sorts. */
static struct gt_radix_item *new_order(const struct gt_op_group *groups, size_t count) {
    struct gt_radix_item *order = gt_alloc_array(count, sizeof *order);
    for (uint32_t i = 0; i < count && order; i++)
        order[i] = (struct gt_radix_item){(uint64_t)groups[i].device << 32 | groups[i].process, i};
    bool ok = order && gt_radix_sort(order, count);
    for (size_t i = 0; i < count && ok; i++) {
        const struct gt_op_group *group = &groups[order[i].value];
        order[i].key = (uint64_t)!gt_kind_is_kernel(group->kind) << 32 | group->name;
    }
    if (ok && gt_radix_sort(order, count))
        return order;
    gt_free(order);
    return NULL;
}

/* Puts the groups in order, each with its run of lengths. */
static bool order_groups(struct gt_op_groups *groups, struct making *it) {
    const struct gt_op_group *found = (void *)it->found.list;
    struct gt_radix_item *order = new_order(found, it->found.count);
    groups->items = gt_alloc_array(it->found.count, sizeof *groups->items);
    it->next_length = gt_alloc_array(it->found.count, sizeof *it->next_length);
    bool ok = order && groups->items && it->next_length;
    size_t first_length = 0;
    for (size_t i = 0; i < it->found.count && ok; i++) {
        struct gt_op_group *group = &groups->items[groups->count++];
        *group = found[order[i].value];
        group->first_length = it->next_length[order[i].value] = first_length;
        first_length += group->lengths.count;
        groups->kernel_count += gt_kind_is_kernel(group->kind);
    }
    gt_free(order);
    return ok;
}

static bool place_lengths(struct gt_op_groups *groups, const struct making *it) {
    const struct gt_view *view = it->view;
    groups->lengths_ns = gt_alloc(view->op_count * sizeof *groups->lengths_ns);
    if (!groups->lengths_ns)
        return false;
    for (size_t i = 0; i < view->op_count; i++)
        groups->lengths_ns[it->next_length[it->group_of[i]]++] = gt_op_ns(view, i);
    for (size_t g = 0; g < groups->count; g++) {
        struct gt_slice slice = gt_op_groups_lengths(groups, g, g + 1);
        struct gt_tally lengths = {0};
        for (size_t i = 0; i < slice.count; i++)
            gt_tally_add(&lengths, slice.samples[i]);
        groups->items[g].lengths = lengths;
    }
    return true;
}

enum gt_status gt_op_groups_init(struct gt_op_groups *groups, const struct gt_view *view, struct gt_error *err) {
    *groups = (struct gt_op_groups){0};
    struct making it = {.view = view, .found = {.elem_bytes = sizeof(struct gt_op_group)}};
    it.recent = gt_alloc_array(view->store->strings.count, sizeof *it.recent);
    it.group_of = gt_alloc(view->op_count * sizeof *it.group_of);
    bool ok = it.recent && it.group_of && group_ops(&it) && order_groups(groups, &it) && place_lengths(groups, &it);
    gt_grouping_release(&it.found);
    gt_free(it.recent);
    gt_free(it.group_of);
    gt_free(it.next_length);
    if (ok)
        return GT_OK;
    gt_op_groups_release(groups);
    return gt_fail_memory(err);
}

void gt_op_groups_release(struct gt_op_groups *groups) {
    gt_free(groups->items);
    gt_free(groups->lengths_ns);
    *groups = (struct gt_op_groups){0};
}

struct gt_tally gt_op_groups_tally(const struct gt_op_groups *groups, size_t first, size_t end) {
    struct gt_tally tally = {0};
    for (size_t i = first; i < end; i++)
        gt_tally_merge(&tally, &groups->items[i].lengths);
    return tally;
}

struct gt_slice gt_op_groups_lengths(const struct gt_op_groups *groups, size_t first, size_t end) {
    size_t count = 0;
    for (size_t i = first; i < end; i++)
        count += groups->items[i].lengths.count;
    return (struct gt_slice){groups->lengths_ns + (count ? groups->items[first].first_length : 0), count};
}

struct gt_sample_stats gt_tally_stats(const struct gt_tally *lengths) {
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
