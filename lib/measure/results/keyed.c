/* Groups lengths by keys: in come keys with lengths, out go groups with their moments. */
#include "measure/results/keyed.h"

#include "base/mem.h"

static struct gt_keyed_group *find_or_add(struct gt_keyed *keyed, uint64_t hi, uint64_t lo) {
    bool is_new;
    keyed->groups.elem_bytes = sizeof *keyed->items;
    struct gt_keyed_group *group = gt_grouping_find(&keyed->groups, hi, lo, &is_new);
    if (!group)
        return NULL;
    keyed->items = (void *)keyed->groups.list;
    keyed->count = keyed->groups.count;
    group->hi = hi;
    group->lo = lo;
    return group;
}

uint32_t gt_keyed_add(struct gt_keyed *keyed, uint64_t hi, uint64_t lo, int64_t length_ns) {
    if (!keyed->recent && !(keyed->recent = gt_mem_array(GT_KEYED_RECENT, sizeof *keyed->recent))) {
        keyed->failed = true;
        return GT_NO_ROW;
    }
    uint32_t *recent = &keyed->recent[(lo * 31 + hi * 17) % GT_KEYED_RECENT];
    struct gt_keyed_group *group = *recent < keyed->count ? &keyed->items[*recent] : NULL;
    if (!group || group->hi != hi || group->lo != lo) {
        group = keyed->failed ? NULL : find_or_add(keyed, hi, lo);
        if (!group) {
            keyed->failed = true;
            return GT_NO_ROW;
        }
        *recent = (uint32_t)(group - keyed->items);
    }
    gt_keyed_tally_add(&group->lengths, length_ns);
    return *recent;
}

void gt_keyed_merge(struct gt_keyed *keyed, uint64_t hi, uint64_t lo, const struct gt_tally *lengths) {
    struct gt_keyed_group *group = keyed->failed ? NULL : find_or_add(keyed, hi, lo);
    keyed->failed = !group;
    if (group)
        gt_keyed_tally_merge(&group->lengths, lengths);
}

const struct gt_keyed_group *gt_keyed_find(const struct gt_keyed *keyed, uint64_t hi, uint64_t lo) {
    uint32_t index = gt_map_get(&keyed->groups.index_of, hi, lo);
    return index == GT_MAP_NONE ? NULL : &keyed->items[index];
}

void gt_keyed_release(struct gt_keyed *keyed) {
    gt_grouping_release(&keyed->groups);
    gt_mem_free(keyed->recent);
    *keyed = (struct gt_keyed){0};
}
