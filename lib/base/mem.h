/* Every allocation of the library passes through here: heap blocks and page-granular columns that grow without copying.
 */
#ifndef GT_BASE_MEM_H
#define GT_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

#define GT_ARRAY_COUNT(array) (sizeof(array) / sizeof *(array))

/* Heap blocks. NULL when memory is short or the size overflows; size 0 gives a valid block. */
void *gt_mem_alloc(size_t size_bytes);
void *gt_mem_array(size_t count, size_t elem_bytes);         /* zeroed */
void *gt_mem_uninitialised(size_t count, size_t elem_bytes); /* all will be written: large ones may get huge pages */
void *gt_mem_realloc(void *block, size_t size_bytes);        /* NULL leaves the old block as it was */
void gt_mem_free(void *block);                               /* NULL is fine */
/* An array with room for one more than `count` elements: itself where there is, else a longer one in its place. NULL
   leaves the old one as it was. */
void *gt_mem_room(void *items, size_t count, size_t *capacity, size_t elem_bytes);
size_t gt_mem_room_capacity(size_t capacity); /* of the longer one */

/* Whole pages straight from the kernel, zeroed. Resizing moves page tables, never bytes,
   so a column of gigabytes grows at the cost of touching its new pages once. Large blocks begin where huge pages can
   (huge.h). Sizes are rounded up to whole pages by these functions; the caller passes the same size it asked for. NULL
   when memory is short. */
void *gt_mem_pages_alloc(size_t size_bytes);
void *gt_mem_pages_resize(void *pages, size_t old_bytes, size_t new_bytes);
void gt_mem_pages_free(void *pages, size_t size_bytes);

/* Whether addresses are plenty, so that a block may be much longer than what will be written of it. */
bool gt_mem_pages_are_plenty(void);

/* Gives back the memory of the whole pages between two offsets, which read as zero from then on.
 */
void gt_mem_pages_discard(void *pages, size_t from_bytes, size_t to_bytes);

/* Says that the pages between two offsets will be written soon: they come all at once, where the kernel can do that,
   instead of by a fault each. */
void gt_mem_pages_touch(void *pages, size_t from_bytes, size_t to_bytes);

/* A file's first bytes as read-only pages, read in at once; free with gt_mem_pages_free. NULL when it cannot be mapped.
   Only for files of our own: a mapped file that shrinks kills its reader. */
void *gt_mem_pages_map_file(int fd, size_t size_bytes);

#endif
