/* Heap blocks and whole pages: sizes come in, memory or NULL goes out; nothing here aborts. */
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/huge.h"

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
    void *block = size_bytes ? malloc(size_bytes) : NULL;
    gt_huge_advise_long(block, size_bytes);
    return block;
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

/* At least one page; 0 when the rounded size does not fit. */
static size_t whole_pages(size_t size_bytes) {
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t wanted = size_bytes ? size_bytes : 1;

    if (wanted > SIZE_MAX - (page_bytes - 1))
        return 0;
    return (wanted + page_bytes - 1) / page_bytes * page_bytes;
}

static void *map_pages(size_t length) {
    void *pages = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void *gt_mem_pages_alloc(size_t size_bytes) {
    size_t length = whole_pages(size_bytes);
    return length ? map_pages(length) : NULL;
}

#ifdef __SANITIZE_THREAD__
/* ThreadSanitizer does not see mremap and takes the moved pages for those of their last owner. */
static void *move_pages(void *pages, size_t old_length, size_t new_length) {
    void *moved = map_pages(new_length);

    if (moved) {
        memcpy(moved, pages, old_length < new_length ? old_length : new_length);
        munmap(pages, old_length);
    }
    return moved;
}
#else
/* Pages that begin where a huge page can. */
static char *map_aligned(size_t length) {
    char *pages = length <= SIZE_MAX - GT_HUGE_PAGE_BYTES ? map_pages(length + GT_HUGE_PAGE_BYTES) : NULL;
    size_t before = pages ? -(uintptr_t)pages % GT_HUGE_PAGE_BYTES : 0;

    if (!pages)
        return NULL;
    if (before)
        munmap(pages, before);
    munmap(pages + before + length, GT_HUGE_PAGE_BYTES - before);
    return pages + before;
}

/* Huge pages stay whole only if they are moved to where huge pages can be. */
static void *move_aligned(void *pages, size_t old_length, size_t new_length) {
    char *place = map_aligned(new_length);
    void *moved = place ? mremap(pages, old_length, new_length, MREMAP_MAYMOVE | MREMAP_FIXED, place) : MAP_FAILED;

    if (place && moved == MAP_FAILED)
        munmap(place, new_length);
    return moved;
}

static void *move_pages(void *pages, size_t old_length, size_t new_length) {
    bool is_huge = new_length > old_length && new_length >= GT_HUGE_LEAST_BYTES;
    bool is_aligned = (uintptr_t)pages % GT_HUGE_PAGE_BYTES == 0;
    void *moved = is_huge && is_aligned ? mremap(pages, old_length, new_length, 0) : MAP_FAILED;

    if (moved == MAP_FAILED && is_huge)
        moved = move_aligned(pages, old_length, new_length);
    if (moved == MAP_FAILED)
        moved = mremap(pages, old_length, new_length, MREMAP_MAYMOVE);
    return moved == MAP_FAILED ? NULL : moved;
}
#endif

void *gt_mem_pages_resize(void *pages, size_t old_bytes, size_t new_bytes) {
    size_t old_length, new_length = whole_pages(new_bytes);

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
    return move_pages(pages, old_length, new_length);
}

void gt_mem_pages_free(void *pages, size_t size_bytes) {
    if (pages)
        munmap(pages, whole_pages(size_bytes));
}

bool gt_mem_pages_are_plenty(void) {
    struct rlimit limit;
    return sizeof(void *) >= sizeof(uint64_t) && getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
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
