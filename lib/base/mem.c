/* Heap blocks and whole pages: sizes come in, memory or NULL goes out; nothing here aborts. */
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* No object may be larger; a request beyond it comes from damaged input. */
#define MAX_BYTES ((size_t)PTRDIFF_MAX)

void *gt_mem_alloc(size_t size_bytes) {
    return size_bytes <= MAX_BYTES ? malloc(size_bytes ? size_bytes : 1) : NULL;
}

/* 0 when it overflows; an empty array has a byte. */
static size_t array_bytes(size_t count, size_t elem_bytes) {
    size_t size_bytes;

    if (__builtin_mul_overflow(count, elem_bytes, &size_bytes) || size_bytes > MAX_BYTES)
        return 0;
    return size_bytes ? size_bytes : 1;
}

void *gt_mem_array(size_t count, size_t elem_bytes) {
    size_t size_bytes = array_bytes(count, elem_bytes);
    return size_bytes ? calloc(1, size_bytes) : NULL;
}

void *gt_mem_uninitialised(size_t count, size_t elem_bytes) {
    size_t size_bytes = array_bytes(count, elem_bytes);
    return size_bytes ? malloc(size_bytes) : NULL;
}

void *gt_mem_realloc(void *block, size_t size_bytes) {
    return size_bytes <= MAX_BYTES ? realloc(block, size_bytes ? size_bytes : 1) : NULL;
}

size_t gt_mem_room_capacity(size_t capacity) {
    return capacity ? capacity * 2 : 64;
}

void *gt_mem_room(void *items, size_t count, size_t *capacity, size_t elem_bytes) {
    size_t larger = gt_mem_room_capacity(*capacity);

    if (count < *capacity)
        return items;
    if (larger > MAX_BYTES / elem_bytes)
        return NULL;
    items = gt_mem_realloc(items, larger * elem_bytes);
    if (items)
        *capacity = larger;
    return items;
}

void gt_mem_free(void *block) {
    free(block);
}

#define HUGE_BYTES ((size_t)2 << 20)

/* Only the huge pages that are inside the block, so that it takes no more memory than it has bytes. */
void gt_mem_huge(void *block, size_t size_bytes) {
    uintptr_t from = ((uintptr_t)block + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
    uintptr_t to = ((uintptr_t)block + size_bytes) / HUGE_BYTES * HUGE_BYTES;

    if (block && to > from)
        madvise((char *)block + (from - (uintptr_t)block), to - from, MADV_HUGEPAGE);
}

/* At least one page; 0 when the rounded size does not fit. */
static size_t whole_pages(size_t size_bytes) {
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t wanted = size_bytes ? size_bytes : 1;

    if (wanted > SIZE_MAX - (page_bytes - 1))
        return 0;
    return (wanted + page_bytes - 1) / page_bytes * page_bytes;
}

void *gt_mem_pages_alloc(size_t size_bytes) {
    size_t length = whole_pages(size_bytes);
    void *pages;

    if (length == 0)
        return NULL;
    pages = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

#ifdef __SANITIZE_THREAD__
/* ThreadSanitizer does not see mremap and takes the moved pages for those of their last owner. */
static void *move_pages(void *pages, size_t old_length, size_t new_length) {
    void *moved = mmap(NULL, new_length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (moved != MAP_FAILED) {
        memcpy(moved, pages, old_length < new_length ? old_length : new_length);
        munmap(pages, old_length);
    }
    return moved;
}
#else
static void *move_pages(void *pages, size_t old_length, size_t new_length) {
    return mremap(pages, old_length, new_length, MREMAP_MAYMOVE);
}
#endif

void *gt_mem_pages_resize(void *pages, size_t old_bytes, size_t new_bytes) {
    size_t old_length, new_length = whole_pages(new_bytes);
    void *moved;

    if (!pages)
        return gt_mem_pages_alloc(new_bytes);
    if (new_length == 0)
        return NULL;
    old_length = whole_pages(old_bytes);
    /* What is cut off inside the last page must read as zero should the block grow again. */
    if (new_bytes < old_bytes) {
        size_t dirty_end = old_bytes < new_length ? old_bytes : new_length;
        memset((char *)pages + new_bytes, 0, dirty_end - new_bytes);
    }
    if (new_length == old_length)
        return pages;
    moved = move_pages(pages, old_length, new_length);
    return moved == MAP_FAILED ? NULL : moved;
}

void gt_mem_pages_free(void *pages, size_t size_bytes) {
    if (pages)
        munmap(pages, whole_pages(size_bytes));
}

void gt_mem_pages_discard(void *pages, size_t from_bytes, size_t to_bytes) {
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t from = (from_bytes + page_bytes - 1) / page_bytes * page_bytes;
    size_t to = to_bytes / page_bytes * page_bytes;

    if (to > from)
        madvise((char *)pages + from, to - from, MADV_DONTNEED);
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; an error on older ones */
#endif

void gt_mem_pages_touch(void *pages, size_t from_bytes, size_t to_bytes) {
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t from = from_bytes / page_bytes * page_bytes;

    if (to_bytes > from)
        madvise((char *)pages + from, to_bytes - from, MADV_POPULATE_WRITE);
}

void *gt_mem_pages_map_file(int fd, size_t size_bytes) {
    void *pages = mmap(NULL, size_bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    return pages == MAP_FAILED ? NULL : pages;
}
