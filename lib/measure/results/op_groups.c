/* Groups the ops of a view: in come the ops, out go groups by name, GPU, process, kind and category with the lengths of
   their ops. Two passes over the ops, in slices on several threads; the lengths of a group then lie next to each other.
 */
#include "measure/results/op_groups.h"

#include <stdatomic.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/moments.h"
#include "base/ns.h"
#include "base/radix.h"
#include "base/threads.h"
#include "measure/results/measure.h"

/* A group while its ops are counted; small, as there may be as many as ops. */
struct counted {
    uint32_t device, process; /* tracks */
    gt_strid full_name;
    uint8_t kind, category;
    bool is_indexed;
    uint32_t first; /* position of its first op */
    uint32_t count; /* of ops */
    uint32_t lane;  /* of an op in it, where streams have processes: then all such ops of the stream are; else none */
    uint32_t next_length; /* once the groups are in order: where the length of its next op goes */
    uint32_t whole;       /* of a slice's group: the group of all ops that it is part of */
};

/* Groups in order of appearance. */
struct grouping {
    struct counted *groups;
    size_t count, capacity;
    uint32_t *recent;    /* by full name: 1 + the group that an op of it was in last; 0: none was yet */
    struct gt_map index; /* of the groups of names that have several, by key: most have one, which needs no index */
    bool has_failed;     /* memory was short */
};

/* What is needed only while groups are made. Each slice of the ops has groups of its own, which are then put together.
 */
struct making {
    const struct gt_view *view;
    struct gt_op_groups *groups;
    size_t slice_count;
    struct grouping *slices;
    struct grouping whole; /* unless there is one slice */
    uint32_t *group_of;    /* by position: the group of its slice */
    atomic_bool has_long;  /* an op is longer than fits 32 bits */
};

static uint64_t key_hi(const struct counted *group) {
    return (uint64_t)group->device << 32 | group->full_name;
}

static uint64_t key_lo(const struct counted *group) {
    return (uint64_t)group->process << 16 | (uint64_t)group->category << 8 | group->kind;
}

static bool add_group(struct grouping *it, const struct counted *group) {
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

/* Of the name and the kind of the group. The category follows from both. */
static bool is_of_group(const struct gt_view *view, size_t position, const struct counted *group) {
    return group->device == view->store->lanes.device[view->lane[position]] &&
           group->process == gt_view_op_process(view, position);
}

static uint32_t lane_with_process(const struct gt_view *view, size_t position) {
    uint32_t lane = view->lane[position];
    return view->store->lanes.process[lane] == GT_NO_TRACK ? GT_NO_TRACK : lane;
}

/* Makes this group, which has no ops yet, the recent one of its name, which it is not yet. false: memory was short. */
static bool change_recent(struct grouping *it, struct counted group) {
    uint32_t *recent = &it->recent[group.full_name], index = (uint32_t)it->count;
    group.is_indexed = *recent;
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

static struct counted group_of_op(const struct gt_view *view, uint32_t position) {
    return (struct counted){.device = view->store->lanes.device[view->lane[position]],
                            .process = gt_view_op_process(view, position),
                            .full_name = view->name[position],
                            .kind = gt_view_op_kind(view, position),
                            .category = view->category[position],
                            .lane = GT_NO_TRACK,
                            .first = position};
}

/* Makes the group of an op the recent one of its name, which it may be already. false: memory was short. */
static bool find_group(const struct gt_view *view, struct grouping *it, uint32_t position) {
    const uint32_t *recent = &it->recent[view->name[position]];
    const struct counted *group = *recent ? &it->groups[*recent - 1] : NULL;
    if (!group || group->kind != view->kind[position] || !is_of_group(view, position, group))
        if (!change_recent(it, group_of_op(view, position)))
            return false;
    it->groups[*recent - 1].lane = lane_with_process(view, position);
    return true;
}

static bool group_ops(const struct making *it, struct grouping *slice, size_t begin, size_t end) {
    const struct gt_view *view = it->view;
    const gt_strid *names = view->name;
    const uint32_t *lanes = view->lane;
    const uint8_t *kinds = view->kind;
    uint32_t *group_of = it->group_of;
    slice->recent = gt_mem_array(view->store->strings.count, sizeof *slice->recent);
    for (uint32_t i = (uint32_t)begin; i < end && slice->recent; i++) {
        uint32_t recent = slice->recent[names[i]];
        if (recent == 0 || slice->groups[recent - 1].lane != lanes[i] || slice->groups[recent - 1].kind != kinds[i]) {
            if (!find_group(view, slice, i))
                return false;
            recent = slice->recent[names[i]];
        }
        slice->groups[recent - 1].count++;
        group_of[i] = recent - 1;
    }
    return slice->recent;
}

/* Only the groups stay. */
static void end_grouping(struct grouping *it) {
    gt_map_release(&it->index);
    gt_mem_free(it->recent);
    it->recent = NULL;
}

static void group_slice(void *context, size_t index) {
    struct making *it = context;
    struct grouping *slice = &it->slices[index];
    size_t count = it->view->op_count;
    slice->has_failed = !group_ops(it, slice, gt_threads_slice_begin(count, it->slice_count, index),
                                   gt_threads_slice_begin(count, it->slice_count, index + 1));
    end_grouping(slice);
}

/* Puts the groups of a slice together with those of the slices before it. */
static bool add_slice(struct grouping *whole, struct grouping *slice) {
    for (size_t i = 0; i < slice->count; i++) {
        struct counted *part = &slice->groups[i], group = *part;
        group.count = 0;
        const uint32_t *recent = &whole->recent[part->full_name];
        bool is_recent = *recent && key_hi(&whole->groups[*recent - 1]) == key_hi(part) &&
                         key_lo(&whole->groups[*recent - 1]) == key_lo(part);
        if (!is_recent && !change_recent(whole, group))
            return false;
        part->whole = *recent - 1;
        whole->groups[part->whole].count += part->count;
    }
    return true;
}

static bool join_slices(struct making *it) {
    struct grouping *whole = &it->whole;
    whole->recent = gt_mem_array(it->view->store->strings.count, sizeof *whole->recent);
    bool ok = whole->recent;
    for (size_t i = 0; i < it->slice_count && ok; i++)
        ok = add_slice(whole, &it->slices[i]);
    end_grouping(whole);
    return ok;
}

static struct grouping *whole_of(struct making *it) {
    return it->slice_count > 1 ? &it->whole : it->slices;
}

/* Kernels first, then by name, device, process: two stable sorts. */
static struct gt_radix_item *new_order(const struct gt_view *view, const struct grouping *it) {
    const struct counted *groups = it->groups;
    struct gt_radix_item *order = gt_mem_uninitialised(it->count, sizeof *order);
    for (uint32_t i = 0; i < it->count && order; i++)
        order[i] = (struct gt_radix_item){(uint64_t)groups[i].device << 32 | groups[i].process, i};
    bool ok = order && gt_radix_sort(order, it->count);
    for (size_t i = 0; i < it->count && ok; i++) {
        const struct counted *group = &groups[order[i].value];
        gt_strid name = gt_view_name_id(view, group->full_name);
        order[i].key = (uint64_t)!gt_store_kind_is_kernel(group->kind) << 32 | name;
    }
    if (ok && gt_radix_sort(order, it->count))
        return order;
    gt_mem_free(order);
    return NULL;
}

/* Puts the groups in order, each with its run of lengths. */
static bool order_groups(struct making *it) {
    struct grouping *whole = whole_of(it);
    struct gt_op_groups *groups = it->groups;
    groups->items = gt_mem_uninitialised(whole->count, sizeof *groups->items); /* what stays lies below what goes */
    struct gt_radix_item *order = new_order(it->view, whole);
    bool ok = order && groups->items;
    uint32_t first_length = 0;
    for (size_t i = 0; i < whole->count && ok; i++) {
        struct counted *group = &whole->groups[order[i].value];
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

/* A slice's lengths of a group come after those of the slices before it. */
static void share_lengths(struct making *it) {
    for (size_t s = 0; s < it->slice_count && it->slice_count > 1; s++)
        for (size_t i = 0; i < it->slices[s].count; i++) {
            struct counted *part = &it->slices[s].groups[i], *group = &it->whole.groups[part->whole];
            part->next_length = group->next_length;
            group->next_length += part->count;
        }
}

static void place_slice(void *context, size_t index) {
    const struct making *it = context;
    const struct gt_view *view = it->view;
    struct counted *groups = it->slices[index].groups;
    const uint32_t *group_of = it->group_of;
    int64_t *lengths_ns = it->groups->lengths_ns;
    size_t i = gt_threads_slice_begin(view->op_count, it->slice_count, index);
    size_t end = gt_threads_slice_begin(view->op_count, it->slice_count, index + 1);
    for (; i < end; i++)
        lengths_ns[groups[group_of[i]].next_length++] = gt_view_op_ns(view, i);
}

/* The same in half the memory. */
static void place_narrow_slice(void *context, size_t index) {
    struct making *it = context;
    const struct gt_view *view = it->view;
    struct counted *groups = it->slices[index].groups;
    const uint32_t *group_of = it->group_of;
    uint32_t *narrow_ns = it->groups->narrow_ns;
    uint64_t high = 0;
    size_t i = gt_threads_slice_begin(view->op_count, it->slice_count, index);
    size_t end = gt_threads_slice_begin(view->op_count, it->slice_count, index + 1);
    for (; i < end; i++) {
        uint64_t length_ns = (uint64_t)gt_view_op_ns(view, i);
        high |= length_ns;
        narrow_ns[groups[group_of[i]].next_length++] = (uint32_t)length_ns;
    }
    if (high > UINT32_MAX)
        it->has_long = true;
}

/* Some do not fit: they are placed again, from where each group began. */
static bool place_wide(struct making *it, size_t thread_count) {
    struct gt_op_groups *groups = it->groups;
    gt_mem_free(groups->narrow_ns);
    groups->narrow_ns = NULL;
    groups->lengths_ns = gt_mem_uninitialised(it->view->op_count, sizeof *groups->lengths_ns);
    if (!groups->lengths_ns)
        return false;
    for (size_t s = 0; s < it->slice_count; s++)
        for (size_t i = 0; i < it->slices[s].count; i++)
            it->slices[s].groups[i].next_length -= it->slices[s].groups[i].count;
    gt_threads_parts(thread_count, it->slice_count, place_slice, it);
    return true;
}

/* false: memory was short. */
static bool place_lengths(struct making *it, size_t thread_count) {
    it->groups->narrow_ns = gt_mem_uninitialised(it->view->op_count, sizeof *it->groups->narrow_ns);
    if (!it->groups->narrow_ns)
        return false;
    gt_threads_parts(thread_count, it->slice_count, place_narrow_slice, it);
    return !it->has_long || place_wide(it, thread_count);
}

/* Narrow lengths, of which there are fewer than 2^32, have a sum of 64 bits. */
static void sum_narrow(struct gt_op_group *group, const uint32_t *lengths_ns) {
    uint32_t min_ns = lengths_ns[0], max_ns = lengths_ns[0];
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < group->count; i++) {
        min_ns = lengths_ns[i] < min_ns ? lengths_ns[i] : min_ns;
        max_ns = lengths_ns[i] > max_ns ? lengths_ns[i] : max_ns;
        sum_ns += lengths_ns[i];
    }
    group->sum_ns = sum_ns;
    group->min_ns = min_ns;
    group->max_ns = max_ns;
}

static void sum_group(struct gt_op_groups *groups, size_t index) {
    struct gt_op_group *group = &groups->items[index];
    struct gt_slice slice = gt_op_groups_lengths(groups, index, index + 1);
    struct gt_tally lengths = {0};
    if (slice.narrow) {
        sum_narrow(group, slice.narrow);
        return;
    }
    for (size_t i = 0; i < slice.count; i++)
        gt_keyed_tally_add(&lengths, slice.samples[i]);
    group->sum_ns = lengths.sum;
    group->min_ns = lengths.min;
    group->max_ns = lengths.max;
}

/* The first group whose lengths begin there or later. */
static size_t group_at(const struct gt_op_groups *groups, size_t first_length) {
    size_t low = 0, high = groups->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (groups->items[middle].first_length < first_length)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void sum_slice(void *context, size_t index) {
    const struct making *it = context;
    size_t count = it->view->op_count;
    size_t end = group_at(it->groups, gt_threads_slice_begin(count, it->slice_count, index + 1));
    for (size_t g = group_at(it->groups, gt_threads_slice_begin(count, it->slice_count, index)); g < end; g++)
        sum_group(it->groups, g);
}

static bool make_groups(struct making *it, size_t thread_count) {
    size_t op_count = it->view->op_count;
    it->slice_count = gt_threads_slices(thread_count, op_count, it->view->store->strings.count);
    it->slices = gt_mem_array(it->slice_count, sizeof *it->slices);
    it->group_of = gt_mem_uninitialised(op_count, sizeof *it->group_of);
    if (!it->slices || !it->group_of)
        return false;
    gt_threads_parts(thread_count, it->slice_count, group_slice, it);
    for (size_t i = 0; i < it->slice_count; i++)
        if (it->slices[i].has_failed)
            return false;
    if ((it->slice_count > 1 && !join_slices(it)) || !order_groups(it))
        return false;
    share_lengths(it);
    if (!place_lengths(it, thread_count))
        return false;
    gt_threads_parts(thread_count, it->slice_count, sum_slice, it);
    return true;
}

static void release_grouping(struct grouping *it) {
    gt_mem_pages_free(it->groups, it->capacity * sizeof *it->groups);
}

enum gt_status gt_op_groups_init(struct gt_op_groups *groups, const struct gt_view *view, struct gt_error *err) {
    *groups = (struct gt_op_groups){0};
    struct making it = {.view = view, .groups = groups};
    bool ok = make_groups(&it, gt_threads_count(view->request->threads));
    for (size_t i = 0; i < it.slice_count && it.slices; i++)
        release_grouping(&it.slices[i]);
    release_grouping(&it.whole);
    gt_mem_free(it.slices);
    gt_mem_free(it.group_of);
    if (ok)
        return GT_OK;
    gt_op_groups_release(groups);
    return gt_fail_memory(err);
}

void gt_op_groups_release(struct gt_op_groups *groups) {
    gt_mem_free(groups->items);
    gt_mem_free(groups->narrow_ns);
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
    size_t begin = count ? groups->items[first].first_length : 0;
    if (groups->narrow_ns)
        return (struct gt_slice){.narrow = groups->narrow_ns + begin, .count = count};
    return (struct gt_slice){.samples = groups->lengths_ns + begin, .count = count};
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
