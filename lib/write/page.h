/* The page that web/ is built to, embedded by page.S: what is before the report and what is after it. */
#ifndef GT_WRITE_PAGE_H
#define GT_WRITE_PAGE_H

#include <stdint.h>

#pragma GCC visibility push(hidden)
extern const char gt_page_head[], gt_page_tail[];
extern const uint64_t gt_page_head_bytes, gt_page_tail_bytes; /* 0 in a build without the page */
#pragma GCC visibility pop

#endif
