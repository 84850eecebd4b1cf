/* The different texts of a column chunk, numbered in order of appearance: its dictionary. */
#ifndef GT_COLUMNS_PARQUET_TEXTS_H
#define GT_COLUMNS_PARQUET_TEXTS_H

#include "base/fail.h"
#include "columns/batch.h"

struct gt_parquet_texts {
    const struct gt_batch_texts *all;
    uint32_t *numbers;      /* by text of the column: its number, UINT32_MAX: not there */
    uint32_t *chosen;       /* by number: the text of the column */
    size_t count, capacity; /* of chosen */
    size_t bytes;           /* of those, as UTF-8, without their lengths */
    size_t longest;         /* bytes of the longest */
};

/* Release also after a failure. */
enum gt_status gt_parquet_texts_init(struct gt_parquet_texts *texts, const struct gt_batch_texts *all,
                                     struct gt_error *err);
void gt_parquet_texts_release(struct gt_parquet_texts *texts);

/* Adds those of some values, and gives their numbers. A text that is too long for the format is an error. */
enum gt_status gt_parquet_texts_add(struct gt_parquet_texts *texts, const uint64_t *values, size_t count,
                                    uint32_t *numbers, struct gt_error *err);

/* Whether there are some, and they fit into one page. */
bool gt_parquet_texts_fit(const struct gt_parquet_texts *texts);
/* How many rows a page may have for their texts to fit, at most so many and at least one. */
size_t gt_parquet_texts_page(const struct gt_parquet_texts *texts, size_t rows);

size_t gt_parquet_texts_bytes(const struct gt_parquet_texts *texts, size_t number);
/* Writes the text of a number in PLAIN encoding: length, then UTF-8. Gives how many bytes that are. */
size_t gt_parquet_texts_put(const struct gt_parquet_texts *texts, size_t number, uint8_t *out);

/* The first and the last in order of bytes, if there are any and both are short and as they are in the file. */
bool gt_parquet_texts_range(const struct gt_parquet_texts *texts, size_t longest, struct gt_str *smallest,
                            struct gt_str *largest);

#endif
