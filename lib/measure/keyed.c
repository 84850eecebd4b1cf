/* Groups lengths by keys: in come keys with lengths, or the ops of a view; out go groups with their moments. */
#include "measure/keyed.h"

#include "base/mem.h"
#include "measure/measure.h"

static bool add_group(struct gt_keyed *keyed, uint64_t hi, uint64_t lo) {
    if (keyed->count == keyed->capacity) {
        size_t capacity = keyed->capacity ? keyed->capacity * 2 : 64;
        struct gt_keyed_group *grown = gt_realloc(keyed->items, capacity * sizeof *grown);
        if (!grown)
            return false;
        keyed->items = grown;
        keyed->capacity = capacity;
    }
    keyed->items[keyed->count++] = (struct gt_keyed_group){.hi = hi, .lo = lo};
    return true;
}

static bool find_or_add(struct gt_keyed *keyed, uint64_t hi, uint64_t lo) {
    if (keyed->count && keyed->items[keyed->last].hi == hi && keyed->items[keyed->last].lo == lo)
        return true;
    uint32_t next = (uint32_t)keyed->count;
    keyed->last = gt_map_put_if_new(&keyed->ids, hi, lo, next);
    return !keyed->ids.failed && (keyed->last != next || add_group(keyed, hi, lo));
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
    uint32_t index = gt_map_get(&keyed->ids, hi, lo);
    return index == GT_MAP_NONE ? NULL : &keyed->items[index];
}

void gt_keyed_release(struct gt_keyed *keyed) {
    gt_map_release(&keyed->ids);
    gt_free(keyed->items);
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
