/* Groups lengths by keys: in come keys with lengths, or the ops of a view; out go groups with their moments. */
#include "measure/keyed.h"

#include "measure/measure.h"

static bool find_or_add(struct gt_keyed *keyed, uint64_t hi, uint64_t lo) {
    bool is_new;
    if (keyed->count && keyed->items[keyed->last].hi == hi && keyed->items[keyed->last].lo == lo)
        return true;
    keyed->groups.elem_bytes = sizeof *keyed->items;
    struct gt_keyed_group *group = gt_grouping_find(&keyed->groups, hi, lo, &is_new);
    if (!group)
        return false;
    keyed->items = (void *)keyed->groups.list;
    keyed->count = keyed->groups.count;
    keyed->last = (uint32_t)(group - keyed->items);
    group->hi = hi;
    group->lo = lo;
    return true;
}

uint32_t gt_keyed_add(struct gt_keyed *keyed, uint64_t hi, uint64_t lo, int64_t length_ns) {
    if (keyed->failed || !find_or_add(keyed, hi, lo)) {
        keyed->failed = true;
        return GT_NO_ROW;
    }
    gt_moments_add(&keyed->items[keyed->last].lengths, length_ns);
    return keyed->last;
}

const struct gt_keyed_group *gt_keyed_find(const struct gt_keyed *keyed, uint64_t hi, uint64_t lo) {
    uint32_t index = gt_map_get(&keyed->groups.index_of, hi, lo);
    return index == GT_MAP_NONE ? NULL : &keyed->items[index];
}

void gt_keyed_release(struct gt_keyed *keyed) {
    gt_grouping_release(&keyed->groups);
    *keyed = (struct gt_keyed){0};
}

enum gt_status gt_keyed_add_ops(struct gt_keyed *keyed, const struct gt_view *view, gt_op_key_fn *key,
                                uint32_t *group_of, struct gt_error *err) {
    for (size_t i = 0; i < view->op_count && !keyed->failed; i++) {
        uint64_t hi, lo;
        uint32_t group = key(view, i, &hi, &lo) ? gt_keyed_add(keyed, hi, lo, gt_op_ns(view, i)) : GT_NO_ROW;
        if (group_of)
            group_of[i] = group;
    }
    return keyed->failed ? gt_fail_memory(err) : GT_OK;
}

bool gt_keyed_op_samples(const struct gt_keyed *keyed, const struct gt_view *view, const uint32_t *group_of,
                         struct gt_samples *samples) {
    if (!gt_samples_init(samples, keyed->count))
        return false;
    for (size_t i = 0; i < keyed->count; i++)
        samples->bounds[i + 2] = keyed->items[i].lengths.count;
    if (!gt_samples_place(samples))
        return false;
    for (size_t i = 0; i < view->op_count; i++)
        if (group_of[i] != GT_NO_ROW)
            gt_samples_add(samples, group_of[i], gt_op_ns(view, i));
    return true;
}
