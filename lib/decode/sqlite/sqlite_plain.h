/* Plain rows of SQLite tables, many at once: rows in which some wanted values are integers, some others NULL and one
   may be a short text, as in nearly all rows of large tables. The cells of a page come in, columns of values go out. */
#ifndef GT_DECODE_SQLITE_SQLITE_PLAIN_H
#define GT_DECODE_SQLITE_SQLITE_PLAIN_H

#include "decode/sqlite/sqlite_record.h"

enum { GT_SQLITE_PLAIN_MAX = 8, GT_SQLITE_BATCH_ROWS = 64 };

/* What makes a row plain, by slots of the wanted columns. The values of all others do not matter. */
struct gt_sqlite_plain {
    uint8_t integers[GT_SQLITE_PLAIN_MAX], nulls[GT_SQLITE_PLAIN_MAX];
    size_t integer_count, null_count;
    uint32_t may_lack; /* bits of slots of integers that are -1 where a row or the table has none */
    bool has_text;
    uint8_t text; /* slot of a text that may be NULL */
};

struct gt_sqlite_batch {
    size_t count;
    int64_t values[GT_SQLITE_PLAIN_MAX][GT_SQLITE_BATCH_ROWS]; /* of the integers, in their order; of each row */
    struct gt_str texts[GT_SQLITE_BATCH_ROWS];                 /* as the file encodes them; NULL where there is none */
    uint32_t pointers[GT_SQLITE_BATCH_ROWS];                   /* to the cell of each row: where they are on the page */
};

/* The cells of a leaf page that were not yet looked at. */
struct gt_sqlite_leaf {
    const uint8_t *page;
    const uint8_t *pointers, *pointers_end; /* to the next ones */
    uint32_t cells_from, usable_bytes;      /* where cells may be */
    size_t room_bytes; /* which records have together: where they overlapped, each byte would give many rows */
};

struct gt_sqlite_plains; /* what records with equal headers have in common; one for each thread */
struct gt_sqlite_plains *gt_sqlite_plain_new(void);
void gt_sqlite_plain_free(struct gt_sqlite_plains *plains);
/* Must be called before the first record of a table. false: none of its rows are known to be plain. */
bool gt_sqlite_plain_use(struct gt_sqlite_plains *plains, const struct gt_sqlite_columns *columns,
                         const struct gt_sqlite_plain *plain);

/* Moves the next cells of a leaf to a batch, until it is full or the next one is not plain, or out of the ordinary:
   gt_sqlite_record_read says what that has. */
void gt_sqlite_plain_fill(struct gt_sqlite_plains *plains, struct gt_sqlite_leaf *leaf, struct gt_sqlite_batch *batch);

#endif
