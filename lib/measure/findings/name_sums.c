/* Adds up times by name: a map from the name to its place in a list. */
#include "measure/findings/name_sums.h"

#include <stdlib.h>

#include "base/mem.h"

struct gt_str gt_name_sums_plain(struct gt_str name) {
    static const char *const marks[] = {", seq = ", ", op_id = ", ", sizes = "};
    for (size_t i = 0; i < GT_ARRAY_COUNT(marks); i++) {
        const char *at = gt_str_find_nocase(name, gt_str_of(marks[i]));
        if (at && at > name.ptr)
            name.len = (size_t)(at - name.ptr);
    }
    return name;
}

/* FNV-1a. Names that collide, of one length, would be one; no accident makes them. */
static uint64_t hash_of(struct gt_str text) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char)text.ptr[i]) * 0x100000001b3u;
    return hash;
}

/* The place of a name; GT_MAP_NONE: memory was short. */
static uint32_t place_of(struct gt_name_sums *sums, const struct gt_store *store, gt_strid name) {
    enum { BY_ID, BY_TEXT };
    uint32_t place = gt_map_get(&sums->places, BY_ID, name);
    if (place != GT_MAP_NONE)
        return place;
    struct gt_str plain = gt_name_sums_plain(gt_store_string(store, name));
    place = gt_map_put_if_new(&sums->places, BY_TEXT + plain.len, hash_of(plain), (uint32_t)sums->count);
    if (place != GT_MAP_NONE)
        gt_map_put(&sums->places, BY_ID, name, place);
    return sums->places.failed ? GT_MAP_NONE : place;
}

static void add(struct gt_name_sums *sums, const struct gt_store *store, const struct gt_name_sum *sum) {
    struct gt_name_sum *items = gt_mem_room(sums->items, sums->count, &sums->capacity, sizeof *items);
    uint32_t place = items ? place_of(sums, store, sum->name) : GT_MAP_NONE;
    sums->items = items ? items : sums->items;
    sums->has_failed |= place == GT_MAP_NONE;
    if (sums->has_failed)
        return;
    if (place == sums->count)
        items[sums->count++] = (struct gt_name_sum){.name = sum->name, .text = gt_store_string(store, sum->name)};
    items[place].count += sum->count;
    items[place].ns += sum->ns;
    sums->total_ns += sum->ns;
}

void gt_name_sums_add(struct gt_name_sums *sums, const struct gt_store *store, gt_strid name, int64_t ns) {
    add(sums, store, &(struct gt_name_sum){.name = name, .count = 1, .ns = ns});
}

void gt_name_sums_merge(struct gt_name_sums *sums, const struct gt_store *store, const struct gt_name_sums *other) {
    sums->has_failed |= other->has_failed;
    for (size_t i = 0; i < other->count; i++)
        add(sums, store, &other->items[i]);
}

static int by_time_and_name(const void *a, const void *b) {
    const struct gt_name_sum *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return gt_str_cmp(x->text, y->text);
}

void gt_name_sums_sort(struct gt_name_sums *sums) {
    if (sums->count)
        qsort(sums->items, sums->count, sizeof *sums->items, by_time_and_name);
}

void gt_name_sums_release(struct gt_name_sums *sums) {
    gt_mem_free(sums->items);
    gt_map_release(&sums->places);
    *sums = (struct gt_name_sums){0};
}
