/* Keeps large heap blocks of the library from one execution to the next: AddressSanitizer gives them back to the system
   each time, and the page faults of new ones cost more than most executions. What is not in use is poisoned, so that
   reading it is seen as before. */
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Freed blocks are kept for a while to see that they are not used; less of them than usual, since all of it is touched.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "quarantine_size_mb=8:malloc_context_size=8";
}

#define GRAIN   ((size_t)1 << 16)
#define LARGEST ((size_t)8 << 20)
enum { BLOCKS_MAX = 64 };

static struct {
    char *bytes;
    size_t size, capacity; /* size 0: not in use */
} blocks[BLOCKS_MAX];

/* Some targets read with several threads. What a block has belongs to its owner while it is in use. */
static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;

void *__real_gt_mem_alloc(size_t size_bytes);
void *__real_gt_mem_array(size_t count, size_t elem_bytes);
void *__real_gt_mem_uninitialised(size_t count, size_t elem_bytes);
void *__real_gt_mem_realloc(void *block, size_t size_bytes);
void *__real_gt_mem_room(void *items, size_t count, size_t *capacity, size_t elem_bytes);
void __real_gt_mem_free(void *block);

void *__wrap_gt_mem_alloc(size_t size_bytes);
void *__wrap_gt_mem_array(size_t count, size_t elem_bytes);
void *__wrap_gt_mem_uninitialised(size_t count, size_t elem_bytes);
void *__wrap_gt_mem_realloc(void *block, size_t size_bytes);
void *__wrap_gt_mem_room(void *items, size_t count, size_t *capacity, size_t elem_bytes);
void __wrap_gt_mem_free(void *block);

/* One that is free and has room, or a new one; BLOCKS_MAX: the usual heap has to do. */
static size_t find_room(size_t size) {
    size_t capacity = (size + GRAIN - 1) / GRAIN * GRAIN, i = 0;
    while (i < BLOCKS_MAX && blocks[i].bytes && (blocks[i].size || blocks[i].capacity != capacity))
        i++;
    if (i == BLOCKS_MAX || blocks[i].bytes)
        return i;
    blocks[i].bytes = malloc(capacity);
    blocks[i].capacity = capacity;
    if (blocks[i].bytes)
        ASAN_POISON_MEMORY_REGION(blocks[i].bytes, capacity);
    return blocks[i].bytes ? i : BLOCKS_MAX;
}

static void *take(size_t size) {
    if (size < GRAIN || size > LARGEST)
        return NULL;
    pthread_mutex_lock(&blocks_lock);
    size_t i = find_room(size);
    char *bytes = i == BLOCKS_MAX ? NULL : blocks[i].bytes;
    if (bytes) {
        blocks[i].size = size;
        ASAN_UNPOISON_MEMORY_REGION(bytes, size);
    }
    pthread_mutex_unlock(&blocks_lock);
    return bytes;
}

static size_t number_of(const void *block) {
    size_t i = 0;
    pthread_mutex_lock(&blocks_lock);
    while (i < BLOCKS_MAX && blocks[i].bytes && blocks[i].bytes != block)
        i++;
    if (i < BLOCKS_MAX && !blocks[i].bytes)
        i = BLOCKS_MAX;
    pthread_mutex_unlock(&blocks_lock);
    return i;
}

void *__wrap_gt_mem_alloc(size_t size_bytes) {
    void *block = take(size_bytes);
    return block ? block : __real_gt_mem_alloc(size_bytes);
}

void *__wrap_gt_mem_array(size_t count, size_t elem_bytes) {
    size_t size;
    void *block = __builtin_mul_overflow(count, elem_bytes, &size) ? NULL : take(size);
    return block ? memset(block, 0, size) : __real_gt_mem_array(count, elem_bytes);
}

void *__wrap_gt_mem_uninitialised(size_t count, size_t elem_bytes) {
    size_t size;
    void *block = __builtin_mul_overflow(count, elem_bytes, &size) ? NULL : take(size);
    return block ? block : __real_gt_mem_uninitialised(count, elem_bytes);
}

void *__wrap_gt_mem_realloc(void *block, size_t size_bytes) {
    if (!block)
        return __wrap_gt_mem_alloc(size_bytes);
    size_t i = number_of(block);
    if (i == BLOCKS_MAX)
        return __real_gt_mem_realloc(block, size_bytes);
    void *moved = __wrap_gt_mem_alloc(size_bytes);
    if (moved) {
        memcpy(moved, block, blocks[i].size < size_bytes ? blocks[i].size : size_bytes);
        __wrap_gt_mem_free(block);
    }
    return moved;
}

/* The library's own asks its own gt_mem_realloc, which knows nothing of these blocks. */
void *__wrap_gt_mem_room(void *items, size_t count, size_t *capacity, size_t elem_bytes) {
    size_t larger = gt_mem_room_capacity(*capacity), size;
    if (count < *capacity || !items || number_of(items) == BLOCKS_MAX)
        return __real_gt_mem_room(items, count, capacity, elem_bytes);
    void *moved = __builtin_mul_overflow(larger, elem_bytes, &size) ? NULL : __wrap_gt_mem_realloc(items, size);
    if (moved)
        *capacity = larger;
    return moved;
}

void __wrap_gt_mem_free(void *block) {
    size_t i = block ? number_of(block) : BLOCKS_MAX;
    if (i == BLOCKS_MAX) {
        __real_gt_mem_free(block);
        return;
    }
    pthread_mutex_lock(&blocks_lock);
    ASAN_POISON_MEMORY_REGION(blocks[i].bytes, blocks[i].capacity);
    blocks[i].size = 0;
    pthread_mutex_unlock(&blocks_lock);
}
