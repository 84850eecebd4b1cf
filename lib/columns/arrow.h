/* Columns as a stream of the Arrow C interface. Values are not copied: buffers point to where the columns are, and
   every stream, schema and array keeps what they belong to. */
#ifndef GT_COLUMNS_ARROW_H
#define GT_COLUMNS_ARROW_H

#include "base/fail.h"
#include "columns/batch.h"

/* Rows of one array of a stream: a multiple of 8, so that bits of rows begin with a byte. */
enum { GT_ARROW_ROWS = 1 << 20 };

/* What the columns belong to. */
struct gt_arrow_owner {
    void *object;
    void (*free)(void *object); /* called once, by whichever thread releases last */
};

/* Texts that are said about a table, beside its key and title. */
struct gt_arrow_pair {
    const char *key, *value;
};

struct gt_arrow_table {
    const char *key, *title; /* title may be NULL */
    const struct gt_arrow_pair *pairs;
    size_t pair_count;
};

/* Makes a stream of a batch that has neither chosen rows nor constant columns. The batch itself, its list of columns
   and the texts about them are copied. The owner is taken over, also on failure. */
enum gt_status gt_arrow_stream(const struct gt_arrow_table *table, const struct gt_batch *batch,
                               struct gt_arrow_owner owner, struct ArrowArrayStream *out, struct gt_error *err);

#endif
