/* Huge pages, which take one fault for 2 MB and a fraction of the time that small ones take. */
#ifndef GT_BASE_HUGE_H
#define GT_BASE_HUGE_H

#include <stddef.h>
#include <stdint.h>

#define GT_HUGE_PAGE_BYTES ((size_t)2 << 20)
/* Of a block that gets them: the part of its last one that may be left empty is little next to it. */
#define GT_HUGE_LEAST_BYTES ((size_t)8 << 20)

/* Says that all of a block will be written soon. Nothing happens where there are few free huge pages. Any thread may
   call it. */
void gt_huge_advise(void *block, size_t size_bytes);

/* The same for a block that gets them if it is long enough. */
static inline void gt_huge_advise_long(void *block, size_t size_bytes) {
    if (size_bytes >= GT_HUGE_LEAST_BYTES)
        gt_huge_advise(block, size_bytes);
}

/* Has the threads ask for the huge pages of a new block, a few each, where several of them will write all over it:
   threads that ask for the same page at the same time all clear one. The block is not initialised by that. */
void gt_huge_touch(void *block, size_t size_bytes, size_t threads);

/* Bytes of free pieces that a huge page fits in, from the text of /proc/buddyinfo; pages of so many bytes. */
size_t gt_huge_free_bytes(const char *buddyinfo, size_t page_bytes);

#endif
