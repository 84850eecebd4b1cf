/* Labels of an Nsight capture: what single events say comes in by thread, one answer for each key goes out. */
#include "decode/nsys/nsys_label.h"

#include <stdlib.h>

#include "base/mem.h"
#include "decode/nsys/nsys.h"
#include "events/builder.h"

void gt_nsys_label_release(struct gt_nsys_labels *labels) {
    gt_map_release(&labels->index_of);
    gt_mem_free(labels->list);
}

size_t gt_nsys_label_index(struct gt_nsys_sink *sink, enum gt_nsys_label_kind kind, uint64_t global_id,
                           uint64_t number) {
    struct gt_nsys_labels *labels = &sink->labels[kind];
    uint32_t index = gt_map_get(&labels->index_of, global_id, number);
    if (index != GT_MAP_NONE)
        return index;
    struct gt_nsys_label *grown = gt_mem_room(labels->list, labels->count, &labels->capacity, sizeof *grown);
    if (!grown) {
        sink->builder->failed = true;
        return SIZE_MAX;
    }
    labels->list = grown;
    labels->list[labels->count] = (struct gt_nsys_label){.global_id = global_id, .number = number};
    gt_map_put(&labels->index_of, global_id, number, (uint32_t)labels->count);
    sink->builder->failed |= labels->index_of.failed;
    return labels->count++;
}

static void give(struct gt_nsys_sink *sink, struct gt_nsys_label *label, uint64_t order, struct gt_str name,
                 uint64_t value) {
    if (label->is_given && label->order <= order)
        return;
    label->is_given = true;
    label->order = order;
    label->value = value;
    label->name = gt_arena_copy(&sink->arena, name);
    sink->builder->failed |= gt_arena_failed(&sink->arena);
}

void gt_nsys_label_give(struct gt_nsys_sink *sink, enum gt_nsys_label_kind kind, uint64_t global_id, uint64_t number,
                        struct gt_str name, uint64_t value) {
    const struct gt_builder *builder = sink->builder;
    size_t index = gt_nsys_label_index(sink, kind, global_id, number);
    if (index == SIZE_MAX || builder->segment_count == 0)
        return;
    uint64_t order = builder->segments[builder->segment_count - 1].order;
    give(sink, &sink->labels[kind].list[index], order, name, value);
}

void gt_nsys_label_default(struct gt_nsys_sink *sink, enum gt_nsys_label_kind kind, size_t index, struct gt_str name) {
    give(sink, &sink->labels[kind].list[index], UINT64_MAX, name, 0);
}

static int by_key(const void *a, const void *b) {
    const struct gt_nsys_label *x = a, *y = b;
    if (x->global_id != y->global_id)
        return x->global_id < y->global_id ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static bool is_same_key(const struct gt_nsys_label *a, const struct gt_nsys_label *b) {
    return a->global_id == b->global_id && a->number == b->number;
}

bool gt_nsys_label_set_init(struct gt_nsys_label_set *set, const struct gt_nsys_sink *sinks, size_t count,
                            enum gt_nsys_label_kind kind) {
    size_t total = 0, kept = 0;
    for (size_t s = 0; s < count; s++)
        total += sinks[s].labels[kind].count;
    struct gt_nsys_label *all = gt_mem_array(total + 1, sizeof *all);
    *set = (struct gt_nsys_label_set){.list = all};
    if (!all)
        return false;
    total = 0;
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < sinks[s].labels[kind].count; i++)
            if (sinks[s].labels[kind].list[i].is_given)
                all[total++] = sinks[s].labels[kind].list[i];
    qsort(all, total, sizeof *all, by_key);
    for (size_t i = 0; i < total; i++)
        if (kept == 0 || !is_same_key(&all[kept - 1], &all[i]))
            all[kept++] = all[i];
    set->count = kept;
    return true;
}

void gt_nsys_label_set_release(struct gt_nsys_label_set *set) {
    gt_mem_free(set->list);
    *set = (struct gt_nsys_label_set){0};
}

const struct gt_nsys_label *gt_nsys_label_find(const struct gt_nsys_label_set *set, uint64_t global_id,
                                               uint64_t number) {
    const struct gt_nsys_label key = {.global_id = global_id, .number = number};
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_key(&set->list[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    /* Orders are never below the key's, which is 0. */
    return low < set->count && is_same_key(&set->list[low], &key) ? &set->list[low] : NULL;
}
