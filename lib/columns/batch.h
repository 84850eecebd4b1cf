/* Rows as typed columns: the form in which tables leave the library as Parquet files and Arrow streams. Nothing is
   copied: columns point to where the values are. */
#ifndef GT_COLUMNS_BATCH_H
#define GT_COLUMNS_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "gputime.h"

/* Texts that values of a column are numbers of. Any bytes; writers make them UTF-8. */
struct gt_batch_texts {
    const struct gt_str *items;
    size_t count;
};

struct gt_batch_column {
    const char *key;
    const char *title, *unit, *of; /* "" or NULL: none */
    enum gputime_field_type type;  /* any but text */
    enum gputime_null null;        /* values that are none */
    bool may_lack;                 /* some may be missing although no value means that; `valid` says which */
    bool is_constant;              /* `values` has one element, which all rows have; without `valid` */
    const void *values;
    const uint8_t *valid;               /* instead of `null`: a bit for each row, the lowest first; NULL: none */
    const struct gt_batch_texts *texts; /* values are numbers of these, in an unsigned type; NULL: plain */
};

struct gt_batch {
    const struct gt_batch_column *columns;
    size_t column_count;
    size_t row_count;
    const uint32_t *rows; /* row_count numbers of the elements to take; NULL: the first ones */
};

/* Whether the schema allows for missing values. */
static inline bool gt_batch_is_nullable(const struct gt_batch_column *column) {
    return column->may_lack || column->null != GPUTIME_NULL_NEVER;
}

size_t gt_batch_value_bytes(enum gputime_field_type type);

/* The values of rows first .. first + count - 1 that are there, one after the other, as 64 bits each (doubles by their
   bits; unsigned types without a sign). Gives how many. present gets a byte for each row, 1: it is there. */
size_t gt_batch_gather(const struct gt_batch *batch, const struct gt_batch_column *column, size_t first, size_t count,
                       uint64_t *values, uint8_t *present);

#endif
