/* Names of a timeline: in come those of its items, out goes a table with the most important ones first. */
#include "measure/results/timeline_names.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/measure.h"

/* Two entries of a category table may have one key; their pointers distinguish them. */
uint32_t gt_timeline_names_add(struct gt_timeline_names *names, enum gt_timeline_kind kind, uint32_t id,
                               struct gt_str text, const char *category) {
    uint32_t next = (uint32_t)names->count;
    uint32_t index = gt_map_put_if_new(&names->ids, (uint64_t)kind << 32 | id, (uint64_t)(uintptr_t)category, next);
    if (names->failed || names->ids.failed) {
        names->failed = true;
        return 0;
    }
    if (index != next)
        return index;
    struct gt_timeline_named *grown = gt_mem_room(names->items, names->count, &names->capacity, sizeof *grown);
    if (!grown) {
        names->failed = true;
        return 0;
    }
    names->items = grown;
    names->items[names->count++] = (struct gt_timeline_named){.name = {text, category}, .index = index};
    return index;
}

static int by_busy(const void *a, const void *b) {
    const struct gt_timeline_named *x = a, *y = b;
    if (x->busy_ns != y->busy_ns)
        return x->busy_ns > y->busy_ns ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static struct gt_str shortened(struct gt_arena *arena, struct gt_str text, size_t longest_bytes) {
    struct gt_str kept = gt_str_cut(text, longest_bytes);
    if (kept.len == text.len)
        return text;
    return gt_arena_printf(arena, "%.*s\u2026", (int)kept.len, kept.ptr);
}

bool gt_timeline_names_settle(struct gt_timeline_names *names, struct gt_timeline *timeline, struct gt_arena *arena,
                              size_t longest_bytes, size_t most_bytes) {
    uint32_t *rank = gt_mem_array(names->count, sizeof *rank);
    timeline->names = gt_arena_array(arena, names->count, sizeof *timeline->names);
    if (names->failed || !rank || (!timeline->names && names->count)) {
        gt_mem_free(rank);
        return false;
    }
    for (size_t r = 0; r < timeline->row_count; r++)
        for (size_t i = 0; i < timeline->rows[r].item_count; i++) {
            const struct gt_timeline_item *item = &timeline->rows[r].items[i];
            names->items[item->name].busy_ns = gt_ns_add(names->items[item->name].busy_ns, item->busy_ns);
        }
    if (names->count)
        qsort(names->items, names->count, sizeof *names->items, by_busy);
    size_t used_bytes = 0;
    for (size_t i = 0; i < names->count; i++) {
        const struct gt_timeline_named *named = &names->items[i];
        used_bytes += gt_str_cut(named->name.text, longest_bytes).len;
        timeline->names[i].category = named->name.category;
        timeline->names[i].text =
            used_bytes <= most_bytes ? shortened(arena, named->name.text, longest_bytes) : GT_STR("");
        rank[named->index] = (uint32_t)i;
    }
    timeline->name_count = names->count;
    for (size_t r = 0; r < timeline->row_count; r++)
        for (size_t i = 0; i < timeline->rows[r].item_count; i++)
            timeline->rows[r].items[i].name = rank[timeline->rows[r].items[i].name];
    gt_mem_free(rank);
    return true;
}

void gt_timeline_names_release(struct gt_timeline_names *names) {
    gt_map_release(&names->ids);
    gt_mem_free(names->items);
}
