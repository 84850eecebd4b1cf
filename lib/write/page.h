/* The page that web/ is built to (web/dist/page.html), embedded by page.S. */
#ifndef GT_WRITE_PAGE_H
#define GT_WRITE_PAGE_H

#include <stdint.h>

/* Where the writer puts its two parts. web/build.mjs sees to it that each is there once, in this order. */
#define GT_PAGE_DEFINITIONS "{{definitions}}"
#define GT_PAGE_REPORT      "{{report}}"

#pragma GCC visibility push(hidden)
extern const char gt_page[];         /* not terminated */
extern const uint64_t gt_page_bytes; /* 0 in a build without the page */
#pragma GCC visibility pop

#endif
