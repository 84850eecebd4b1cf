/* Open addressing with linear probing: pairs of 64-bit keys come in, 32-bit values go out. */
#include "base/map.h"

#include <assert.h>

#include "base/mem.h"

#define FIRST_SLOT_COUNT ((size_t)64)

/* Keys count up, step by powers of two or are addresses; a weaker mix than this one leaves runs thousands of slots
   long. The constants are those of MurmurHash3's finaliser. */
static uint64_t hash_key(uint64_t key_hi, uint64_t key_lo) {
    unsigned __int128 product = (unsigned __int128)(key_hi ^ 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
    uint64_t hash = (uint64_t)product ^ (uint64_t)(product >> 64) ^ key_lo;

    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
    hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
    return hash ^ hash >> 33;
}

/* The slot of the key, or the free one where it belongs. There is always a free one. */
static struct gt_map_slot *find_slot(const struct gt_map *map, uint64_t key_hi, uint64_t key_lo) {
    size_t mask = map->slot_count - 1;
    size_t at = (size_t)hash_key(key_hi, key_lo) & mask;

    for (;; at = (at + 1) & mask) {
        struct gt_map_slot *slot = &map->slots[at];
        if (slot->value == GT_MAP_NONE || (slot->key_lo == key_lo && slot->key_hi == key_hi))
            return slot;
    }
}

/* At most three quarters full. */
static bool has_room(const struct gt_map *map, size_t count) {
    return count <= map->slot_count - map->slot_count / 4;
}

static bool resize(struct gt_map *map, size_t slot_count) {
    struct gt_map bigger = {.count = map->count, .slot_count = slot_count};
    size_t size_bytes;

    if (__builtin_mul_overflow(slot_count, sizeof(*bigger.slots), &size_bytes))
        return false;
    bigger.slots = gt_mem_alloc(size_bytes);
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < slot_count; i++)
        bigger.slots[i].value = GT_MAP_NONE;
    for (size_t i = 0; i < map->slot_count; i++)
        if (map->slots[i].value != GT_MAP_NONE)
            *find_slot(&bigger, map->slots[i].key_hi, map->slots[i].key_lo) = map->slots[i];
    gt_mem_free(map->slots);
    *map = bigger;
    return true;
}

void gt_map_init(struct gt_map *map) {
    *map = (struct gt_map){0};
}

void gt_map_release(struct gt_map *map) {
    gt_mem_free(map->slots);
    gt_map_init(map);
}

bool gt_map_reserve(struct gt_map *map, size_t count) {
    size_t slot_count = map->slot_count ? map->slot_count : FIRST_SLOT_COUNT;

    if (map->failed)
        return false;
    while (count > slot_count - slot_count / 4 && slot_count <= SIZE_MAX / 4)
        slot_count *= 2;
    if (slot_count != map->slot_count && !resize(map, slot_count))
        map->failed = true;
    return !map->failed;
}

uint32_t gt_map_get(const struct gt_map *map, uint64_t key_hi, uint64_t key_lo) {
    return map->count ? find_slot(map, key_hi, key_lo)->value : GT_MAP_NONE;
}

/* The slot to store in: its value is GT_MAP_NONE when the key is new. NULL: memory was short. */
static struct gt_map_slot *slot_for_put(struct gt_map *map, uint64_t key_hi, uint64_t key_lo) {
    struct gt_map_slot *slot;

    if (map->failed || (!has_room(map, map->count + 1) && !gt_map_reserve(map, map->count + 1)))
        return NULL;
    slot = find_slot(map, key_hi, key_lo);
    if (slot->value == GT_MAP_NONE) {
        slot->key_hi = key_hi;
        slot->key_lo = key_lo;
        map->count++;
    }
    return slot;
}

void gt_map_put(struct gt_map *map, uint64_t key_hi, uint64_t key_lo, uint32_t value) {
    struct gt_map_slot *slot = slot_for_put(map, key_hi, key_lo);

    assert(value != GT_MAP_NONE);
    if (slot)
        slot->value = value;
}

uint32_t gt_map_put_if_new(struct gt_map *map, uint64_t key_hi, uint64_t key_lo, uint32_t value) {
    struct gt_map_slot *slot = slot_for_put(map, key_hi, key_lo);

    assert(value != GT_MAP_NONE);
    if (!slot)
        return gt_map_get(map, key_hi, key_lo);
    if (slot->value == GT_MAP_NONE)
        slot->value = value;
    return slot->value;
}
