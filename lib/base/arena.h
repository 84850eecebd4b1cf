/* Memory that is released all at once. The first failure sticks: check gt_arena_failed() once, at the end. */
#ifndef GT_BASE_ARENA_H
#define GT_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct gt_arena_block;

struct gt_arena {
    struct gt_arena_block *head;
    size_t total_bytes;
    bool failed;
};

void gt_arena_init(struct gt_arena *arena); /* the same as zeroing it */
void gt_arena_release(struct gt_arena *arena);
/* Gives up all that was taken but keeps a block for what is taken next: for scratch that is needed over and over. */
void gt_arena_reset(struct gt_arena *arena);
/* All memory of `from`, and its failure, become the arena's; `from` is empty then. */
void gt_arena_take(struct gt_arena *arena, struct gt_arena *from);

/* Zeroed, aligned to 16 bytes. NULL on failure (and on every call after a failure). */
void *gt_arena_alloc(struct gt_arena *arena, size_t size_bytes);
void *gt_arena_array(struct gt_arena *arena, size_t count, size_t elem_bytes);
/* The same where all of it will be written: large ones are not zeroed. */
void *gt_arena_uninitialised(struct gt_arena *arena, size_t count, size_t elem_bytes);
/* An array with room for one more than `count` elements, as gt_mem_room has it; the old one stays readable. */
void *gt_arena_room(struct gt_arena *arena, void *items, size_t count, size_t *capacity, size_t elem_bytes);

/* Copies with a NUL after them. On failure an empty string with len 0, never NULL. */
struct gt_str gt_arena_copy(struct gt_arena *arena, struct gt_str text);
struct gt_str gt_arena_printf(struct gt_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline bool gt_arena_failed(const struct gt_arena *arena) {
    return arena->failed;
}

#endif
