/* Lists of random texts, some of which are equal or empty, for tests of what interns them. */
#ifndef TESTS_UNIT_LISTS_WORLD_H
#define TESTS_UNIT_LISTS_WORLD_H

#include <stdio.h>

#include "base/strtab_lists.h"
#include "random.h"

enum { LIST_COUNT = 9, LIST_TEXTS = 9000 };

struct lists_world {
    struct gt_strtab_list lists[LIST_COUNT];
    struct gt_str texts[LIST_COUNT][LIST_TEXTS];
    gt_strid ids[LIST_COUNT][LIST_TEXTS];
    char bytes[LIST_COUNT][LIST_TEXTS][16];
};

/* One list is empty. */
static inline void lists_world_fill(struct lists_world *world, uint64_t seed, uint32_t different) {
    for (size_t l = 0; l < LIST_COUNT; l++) {
        for (size_t i = 0; i < LIST_TEXTS; i++) {
            unsigned number = (unsigned)random_below(&seed, different);
            int length = snprintf(world->bytes[l][i], sizeof world->bytes[l][i], "text %u", number);
            world->texts[l][i] = (struct gt_str){world->bytes[l][i], number % 50 ? (size_t)length : 0};
        }
        world->lists[l] = (struct gt_strtab_list){world->texts[l], l == 4 ? 0 : LIST_TEXTS, world->ids[l]};
    }
}

#endif
