/* A chain of zeroed blocks that only grows: sizes and text come in, memory that lives until release goes out. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define FIRST_BLOCK_BYTES ((size_t)4 << 10)
#define MAX_BLOCK_BYTES   ((size_t)1 << 20)
#define ALIGNMENT         16

struct gt_arena_block {
    struct gt_arena_block *next;
    size_t used, capacity;
    _Alignas(ALIGNMENT) char bytes[];
};

void gt_arena_init(struct gt_arena *arena) {
    *arena = (struct gt_arena){0};
}

void gt_arena_release(struct gt_arena *arena) {
    struct gt_arena_block *block = arena->head;

    while (block) {
        struct gt_arena_block *next = block->next;
        gt_mem_free(block);
        block = next;
    }
    gt_arena_init(arena);
}

void gt_arena_reset(struct gt_arena *arena) {
    struct gt_arena_block *kept = arena->head;
    if (!kept)
        return;
    struct gt_arena rest = {.head = kept->next};
    gt_arena_release(&rest);
    memset(kept->bytes, 0, kept->used);
    kept->next = NULL;
    kept->used = 0;
    arena->total_bytes = sizeof *kept + kept->capacity;
}

/* After the head: the room left in that stays in use. */
void gt_arena_take(struct gt_arena *arena, struct gt_arena *from) {
    struct gt_arena_block **end = arena->head ? &arena->head->next : &arena->head, *rest = *end;

    *end = from->head;
    while (*end)
        end = &(*end)->next;
    *end = rest;
    arena->total_bytes += from->total_bytes;
    arena->failed |= from->failed;
    gt_arena_init(from);
}

/* Blocks grow with the arena, so that small arenas stay small and large ones ask rarely. */
static size_t next_block_bytes(const struct gt_arena *arena) {
    size_t wanted = arena->total_bytes < FIRST_BLOCK_BYTES ? FIRST_BLOCK_BYTES : arena->total_bytes;
    return wanted < MAX_BLOCK_BYTES ? wanted : MAX_BLOCK_BYTES;
}

/* A separate block for a large allocation, after the head: the room left in the head stays in use. */
static struct gt_arena_block *add_block(struct gt_arena *arena, size_t size_bytes, bool is_zeroed) {
    size_t block_bytes = next_block_bytes(arena);
    bool own = size_bytes > (block_bytes - sizeof(struct gt_arena_block)) / 4;
    struct gt_arena_block *block;

    if (size_bytes > SIZE_MAX / 2)
        return NULL;
    if (own && (arena->head || size_bytes > block_bytes - sizeof(struct gt_arena_block)))
        block_bytes = sizeof(struct gt_arena_block) + size_bytes;
    block = is_zeroed ? gt_mem_array(1, block_bytes) : gt_mem_uninitialised(1, block_bytes);
    if (!block)
        return NULL;
    block->used = 0;
    block->capacity = block_bytes - sizeof(struct gt_arena_block);
    arena->total_bytes += block_bytes;
    if (own && arena->head) {
        block->next = arena->head->next;
        arena->head->next = block;
    } else {
        block->next = arena->head;
        arena->head = block;
    }
    return block;
}

static void *take(struct gt_arena *arena, size_t size_bytes, size_t alignment) {
    struct gt_arena_block *block = arena->head;
    size_t start = 0;

    if (arena->failed)
        return NULL;
    if (block)
        start = (block->used + alignment - 1) & ~(alignment - 1);
    if (!block || start > block->capacity || size_bytes > block->capacity - start) {
        block = add_block(arena, size_bytes, true);
        if (!block) {
            arena->failed = true;
            return NULL;
        }
        start = 0;
    }
    block->used = start + size_bytes;
    return block->bytes + start;
}

void *gt_arena_alloc(struct gt_arena *arena, size_t size_bytes) {
    return take(arena, size_bytes ? size_bytes : 1, ALIGNMENT);
}

void *gt_arena_array(struct gt_arena *arena, size_t count, size_t elem_bytes) {
    size_t size_bytes;

    if (__builtin_mul_overflow(count, elem_bytes, &size_bytes)) {
        arena->failed = true;
        return NULL;
    }
    return gt_arena_alloc(arena, size_bytes);
}

/* Only a block of its own, which nothing else is taken from, need not be zeroed. */
void *gt_arena_uninitialised(struct gt_arena *arena, size_t count, size_t elem_bytes) {
    size_t size_bytes;
    struct gt_arena_block *block;

    if (__builtin_mul_overflow(count, elem_bytes, &size_bytes) || size_bytes < MAX_BLOCK_BYTES)
        return gt_arena_array(arena, count, elem_bytes);
    block = arena->failed ? NULL : add_block(arena, size_bytes, false);
    arena->failed |= !block;
    if (!block)
        return NULL;
    block->used = size_bytes;
    return block->bytes;
}

void *gt_arena_room(struct gt_arena *arena, void *items, size_t count, size_t *capacity, size_t elem_bytes) {
    size_t larger = *capacity ? *capacity * 2 : 16;
    void *grown;

    if (arena->failed)
        return NULL;
    if (count < *capacity)
        return items;
    grown = gt_arena_array(arena, larger, elem_bytes);
    if (!grown)
        return NULL;
    if (count)
        memcpy(grown, items, count * elem_bytes);
    *capacity = larger;
    return grown;
}

struct gt_str gt_arena_copy(struct gt_arena *arena, struct gt_str text) {
    char *copy = text.len < SIZE_MAX ? take(arena, text.len + 1, 1) : NULL;

    if (!copy) {
        arena->failed = true;
        return GT_STR("");
    }
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return (struct gt_str){copy, text.len};
}

struct gt_str gt_arena_printf(struct gt_arena *arena, const char *format, ...) {
    char start[256];
    va_list args;
    int length;
    char *text;

    va_start(args, format);
    length = vsnprintf(start, sizeof(start), format, args);
    va_end(args);
    if (length < 0) {
        arena->failed = true;
        return GT_STR("");
    }
    if ((size_t)length < sizeof(start))
        return gt_arena_copy(arena, (struct gt_str){start, (size_t)length});
    text = take(arena, (size_t)length + 1, 1);
    if (!text)
        return GT_STR("");
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return (struct gt_str){text, (size_t)length};
}
