/* Rows of a database whose text is UTF-16, on their way to one who wants UTF-8. */
#ifndef GT_DECODE_SQLITE_SQLITE_UTF16_H
#define GT_DECODE_SQLITE_SQLITE_UTF16_H

#include "decode/sqlite/sqlite_pages.h"

struct gt_sqlite_utf16 {
    gt_sqlite_pages_row_fn *take;
    void *context;
    bool is_big_endian;
    struct gt_sqlite_row row; /* as it is passed on */
    char *text;               /* of that row */
    size_t text_bytes;
    bool has_failed; /* memory was short, and rows are missing */
};

/* A gt_sqlite_pages_row_fn; context: struct gt_sqlite_utf16. Its text is to be given to gt_mem_free in the end. */
void gt_sqlite_utf16_take(void *context, const struct gt_sqlite_row *row);

#endif
