/* Hash map from 64-bit keys (or pairs of them) to 32-bit values: open addressing, no deletion. */
#ifndef GT_BASE_MAP_H
#define GT_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_MAP_NONE UINT32_MAX /* never a value */

struct gt_map_slot {
    uint64_t key_hi, key_lo;
    uint32_t value; /* GT_MAP_NONE = free slot */
};

struct gt_map {
    struct gt_map_slot *slots;
    size_t count, slot_count;
    bool failed; /* sticky: memory was short, later puts are lost */
};

void gt_map_init(struct gt_map *map); /* the same as zeroing it; allocates at the first put */
void gt_map_release(struct gt_map *map);
bool gt_map_reserve(struct gt_map *map, size_t count); /* room for count keys without rehashing */

/* Two halves of a key. */
static inline uint64_t gt_map_key(uint32_t high, uint32_t low) {
    return (uint64_t)high << 32 | low;
}

uint32_t gt_map_get(const struct gt_map *map, uint64_t key_hi, uint64_t key_lo);       /* GT_MAP_NONE if absent */
void gt_map_put(struct gt_map *map, uint64_t key_hi, uint64_t key_lo, uint32_t value); /* replaces */

/* Stores value if the key is new. Returns what is there now. */
uint32_t gt_map_put_if_new(struct gt_map *map, uint64_t key_hi, uint64_t key_lo, uint32_t value);

#endif
