/* One column of one row group of a Parquet file, encoded in memory: pages, and what the file says about them. */
#ifndef GT_COLUMNS_PARQUET_CHUNK_H
#define GT_COLUMNS_PARQUET_CHUNK_H

#include "base/fail.h"
#include "base/out.h"
#include "columns/batch.h"

enum gt_parquet_chunk_type { GT_PARQUET_INT64 = 2, GT_PARQUET_DOUBLE = 5, GT_PARQUET_BYTES = 6 };
enum gt_parquet_chunk_codec { GT_PARQUET_PLAIN_CODEC = 0, GT_PARQUET_ZSTD = 6 };
enum gt_parquet_chunk_encoding {
    GT_PARQUET_PLAIN = 0,
    GT_PARQUET_RLE = 3,
    GT_PARQUET_DELTA = 5,
    GT_PARQUET_DICTIONARY = 8,
};

/* The longest text that statistics quote; a longer one leaves them out. */
enum { GT_PARQUET_CHUNK_TEXT = 64 };

struct gt_parquet_chunk {
    struct gt_out *pages; /* in memory */
    enum gt_parquet_chunk_codec codec;
    enum gt_parquet_chunk_encoding encoding; /* of the data pages */
    int64_t value_count, null_count;         /* nulls are values, too */
    int64_t dictionary_bytes;                /* of the dictionary page with its header; 0: there is none */
    int64_t plain_bytes;                     /* of all pages before compression, with their headers */
    bool has_range;                          /* smallest and largest are known, in PLAIN encoding */
    uint8_t smallest[GT_PARQUET_CHUNK_TEXT], largest[GT_PARQUET_CHUNK_TEXT];
    size_t smallest_bytes, largest_bytes;
};

enum gt_parquet_chunk_type gt_parquet_chunk_type_of(const struct gt_batch_column *column);

/* Encodes rows first .. first + count - 1 of a column. Release also after a failure. */
enum gt_status gt_parquet_chunk_init(struct gt_parquet_chunk *chunk, const struct gt_batch *batch,
                                     const struct gt_batch_column *column, size_t first, size_t count,
                                     struct gt_error *err);
void gt_parquet_chunk_release(struct gt_parquet_chunk *chunk);

#endif
