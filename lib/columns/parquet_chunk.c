/* Encodes a column chunk: gathers the values that are there page by page, encodes them, compresses pages where that
 * pays, and notes the smallest and the largest value. What comes out depends on the rows alone. */
#include "columns/parquet_chunk.h"

#include <math.h>
#include <string.h>
#include <zstd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "columns/parquet_encode.h"
#include "columns/parquet_texts.h"
#include "columns/thrift.h"

enum {
    PAGE_ROWS = 1 << 16,
    LEVEL = 1,               /* of zstd: fast */
    SAMPLE_BYTES = 64 << 10, /* compressed to find out whether a column compresses at all */
    LENGTH_BYTES = 4,
};
enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };

struct work {
    const struct gt_batch *batch;
    const struct gt_batch_column *column;
    struct gt_parquet_chunk *chunk;
    uint64_t *values;       /* of a page: those that are there */
    uint32_t *numbers;      /* the same as numbers of the dictionary */
    uint8_t *present;       /* by row of the page */
    uint32_t *levels;       /* the same for the encoder */
    uint8_t *page, *packed; /* encoded, compressed */
    size_t page_room, packed_room;
    ZSTD_CCtx *zstd;
    bool is_decided; /* whether pages are compressed */
    struct gt_parquet_texts texts;
    struct gt_error *err;
};

enum gt_parquet_chunk_type gt_parquet_chunk_type_of(const struct gt_batch_column *column) {
    if (column->texts)
        return GT_PARQUET_BYTES;
    return column->type == GPUTIME_FIELD_F64 ? GT_PARQUET_DOUBLE : GT_PARQUET_INT64;
}

static enum gt_status grow(uint8_t **block, size_t *room, size_t bytes, struct gt_error *err) {
    if (bytes <= *room)
        return GT_OK;
    gt_mem_free(*block);
    *block = gt_mem_alloc(bytes);
    *room = *block ? bytes : 0;
    return *block ? GT_OK : gt_fail_memory(err);
}

/* ---- pages ---- */

static void put_page_header(struct gt_out *out, int type, size_t plain, size_t packed, size_t values, int encoding) {
    struct gt_thrift thrift;
    gt_thrift_init(&thrift, out);
    gt_thrift_i32(&thrift, 1, type);
    gt_thrift_i32(&thrift, 2, (int32_t)plain);
    gt_thrift_i32(&thrift, 3, (int32_t)packed);
    gt_thrift_begin(&thrift, type == DATA_PAGE ? 5 : 7);
    gt_thrift_i32(&thrift, 1, (int32_t)values);
    gt_thrift_i32(&thrift, 2, encoding);
    if (type == DATA_PAGE) { /* of levels */
        gt_thrift_i32(&thrift, 3, GT_PARQUET_RLE);
        gt_thrift_i32(&thrift, 4, GT_PARQUET_RLE);
    }
    gt_thrift_end(&thrift);
    gt_thrift_end(&thrift);
}

static enum gt_status compress(struct work *work, const void *bytes, size_t count, size_t *packed) {
    enum gt_status status = grow(&work->packed, &work->packed_room, ZSTD_compressBound(count), work->err);
    if (status != GT_OK)
        return status;
    if (!work->zstd)
        work->zstd = ZSTD_createCCtx();
    if (!work->zstd)
        return gt_fail_memory(work->err);
    *packed = ZSTD_compressCCtx(work->zstd, work->packed, work->packed_room, bytes, count, LEVEL);
    return ZSTD_isError(*packed) ? gt_fail_memory(work->err) : GT_OK;
}

/* Packed differences are often as good as random, texts never are. All pages of a column have the same codec. */
static enum gt_status decide(struct work *work, const void *bytes, size_t count) {
    size_t sample = count < SAMPLE_BYTES ? count : SAMPLE_BYTES, packed = 0;
    enum gt_status status = GT_OK;
    if (work->is_decided)
        return GT_OK;
    work->is_decided = true;
    if (!work->column->texts)
        status = compress(work, bytes, sample, &packed);
    if (status == GT_OK)
        work->chunk->codec = packed + packed / 8 < sample ? GT_PARQUET_ZSTD : GT_PARQUET_PLAIN_CODEC;
    return status;
}

static enum gt_status put_page(struct work *work, int type, const uint8_t *bytes, size_t count, size_t values,
                               int encoding) {
    struct gt_out *out = work->chunk->pages;
    size_t packed = count, before = gt_out_bytes(out).len;
    enum gt_status status = decide(work, bytes, count);
    bool is_packed = work->chunk->codec == GT_PARQUET_ZSTD;
    if (status == GT_OK && is_packed)
        status = compress(work, bytes, count, &packed);
    if (status != GT_OK)
        return status;
    put_page_header(out, type, count, packed, values, encoding);
    work->chunk->plain_bytes += (int64_t)(gt_out_bytes(out).len - before + count);
    gt_out_write(out, is_packed ? work->packed : bytes, packed);
    return GT_OK;
}

/* Which values are there; gives the length. */
static size_t put_levels(struct work *work, size_t rows, uint8_t *out) {
    if (!gt_batch_is_nullable(work->column))
        return 0;
    for (size_t i = 0; i < rows; i++)
        work->levels[i] = work->present[i];
    size_t bytes = gt_parquet_encode_hybrid(work->levels, rows, 1, out + LENGTH_BYTES);
    for (unsigned i = 0; i < LENGTH_BYTES; i++)
        out[i] = (uint8_t)(bytes >> 8 * i);
    return bytes + LENGTH_BYTES;
}

/* ---- smallest and largest ---- */

static bool is_less(const struct gt_batch_column *column, uint64_t a, uint64_t b) {
    double x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    if (column->type == GPUTIME_FIELD_F64)
        return x < y;
    return column->type == GPUTIME_FIELD_U64 ? a < b : (int64_t)a < (int64_t)b;
}

static void put_bound(uint8_t *bound, size_t *bytes, uint64_t value) {
    *bytes = sizeof value;
    for (unsigned i = 0; i < sizeof value; i++)
        bound[i] = (uint8_t)(value >> 8 * i);
}

struct range {
    uint64_t smallest, largest;
    bool is_known, is_broken; /* a NaN has no place among numbers */
};

static void widen(struct range *range, const struct gt_batch_column *column, const uint64_t *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double real;
        memcpy(&real, &values[i], sizeof real);
        if (column->type == GPUTIME_FIELD_F64 && isnan(real))
            range->is_broken = true;
        if (!range->is_known || is_less(column, values[i], range->smallest))
            range->smallest = values[i];
        if (!range->is_known || is_less(column, range->largest, values[i]))
            range->largest = values[i];
        range->is_known = true;
    }
}

static void note_range(struct gt_parquet_chunk *chunk, const struct gt_batch_column *column, struct range range) {
    const uint64_t minus_zero = UINT64_C(1) << 63;
    if (column->type == GPUTIME_FIELD_F64) { /* readers must find both zeros between the bounds */
        range.smallest = range.smallest == 0 ? minus_zero : range.smallest;
        range.largest = range.largest == minus_zero ? 0 : range.largest;
    }
    chunk->has_range = range.is_known && !range.is_broken;
    put_bound(chunk->smallest, &chunk->smallest_bytes, range.smallest);
    put_bound(chunk->largest, &chunk->largest_bytes, range.largest);
}

/* ---- numbers ---- */

static enum gt_status put_numbers(struct work *work, size_t rows, size_t there) {
    bool is_real = work->column->type == GPUTIME_FIELD_F64;
    size_t at = put_levels(work, rows, work->page);
    if (is_real) {
        for (size_t i = 0; i < there; i++, at += sizeof(uint64_t)) {
            size_t bytes;
            put_bound(work->page + at, &bytes, work->values[i]);
        }
    } else {
        at += gt_parquet_encode_delta(work->values, there, work->page + at);
    }
    return put_page(work, DATA_PAGE, work->page, at, rows, (int)work->chunk->encoding);
}

/* ---- texts ---- */

static enum gt_status put_dictionary(struct work *work) {
    const struct gt_parquet_texts *texts = &work->texts;
    enum gt_status status = grow(&work->page, &work->page_room, texts->bytes + texts->count * LENGTH_BYTES, work->err);
    if (status != GT_OK)
        return status;
    size_t bytes = 0;
    for (size_t i = 0; i < texts->count; i++)
        bytes += gt_parquet_texts_put(texts, i, work->page + bytes);
    status = put_page(work, DICTIONARY_PAGE, work->page, bytes, texts->count, GT_PARQUET_PLAIN);
    work->chunk->dictionary_bytes = (int64_t)gt_out_bytes(work->chunk->pages).len;
    return status;
}

static enum gt_status put_text_numbers(struct work *work, size_t rows, size_t there) {
    unsigned bits = gt_parquet_encode_bits(work->texts.count ? work->texts.count - 1 : 0);
    size_t at = put_levels(work, rows, work->page);
    for (size_t i = 0; i < there; i++)
        work->numbers[i] = gt_parquet_texts_number(&work->texts, work->values[i]);
    work->page[at++] = (uint8_t)bits;
    at += gt_parquet_encode_hybrid(work->numbers, there, bits, work->page + at);
    return put_page(work, DATA_PAGE, work->page, at, rows, GT_PARQUET_DICTIONARY);
}

/* Where texts are too long for a dictionary. */
static enum gt_status put_plain_texts(struct work *work, size_t rows, size_t there) {
    size_t bytes = gt_parquet_encode_hybrid_room(rows, 1) + LENGTH_BYTES;
    for (size_t i = 0; i < there; i++)
        bytes += LENGTH_BYTES + gt_parquet_texts_bytes(&work->texts, work->values[i]);
    enum gt_status status = grow(&work->page, &work->page_room, bytes, work->err);
    if (status != GT_OK)
        return status;
    size_t at = put_levels(work, rows, work->page);
    for (size_t i = 0; i < there; i++)
        at +=
            gt_parquet_texts_put(&work->texts, gt_parquet_texts_number(&work->texts, work->values[i]), work->page + at);
    return put_page(work, DATA_PAGE, work->page, at, rows, GT_PARQUET_PLAIN);
}

static void note_text_range(struct gt_parquet_chunk *chunk, const struct gt_parquet_texts *texts) {
    struct gt_str smallest, largest;
    chunk->has_range = gt_parquet_texts_range(texts, GT_PARQUET_CHUNK_TEXT, &smallest, &largest);
    if (!chunk->has_range)
        return;
    memcpy(chunk->smallest, smallest.ptr, smallest.len);
    memcpy(chunk->largest, largest.ptr, largest.len);
    chunk->smallest_bytes = smallest.len;
    chunk->largest_bytes = largest.len;
}

/* ---- all of it ---- */

static size_t page_rows(const struct work *work) {
    return work->chunk->encoding == GT_PARQUET_PLAIN && work->column->texts && work->texts.count
               ? gt_parquet_texts_page(&work->texts, PAGE_ROWS)
               : PAGE_ROWS;
}

static enum gt_status put_rows(struct work *work, size_t first, size_t count) {
    struct gt_parquet_chunk *chunk = work->chunk;
    struct range range = {0};
    enum gt_status status = GT_OK;
    size_t most = page_rows(work);
    for (size_t done = 0; done < count && status == GT_OK;) {
        size_t rows = count - done < most ? count - done : most;
        size_t there = gt_batch_gather(work->batch, work->column, first + done, rows, work->values, work->present);
        chunk->null_count += (int64_t)(rows - there);
        if (!work->column->texts) {
            widen(&range, work->column, work->values, there);
            status = put_numbers(work, rows, there);
        } else {
            status = chunk->encoding == GT_PARQUET_DICTIONARY ? put_text_numbers(work, rows, there)
                                                              : put_plain_texts(work, rows, there);
        }
        done += rows;
    }
    if (work->column->texts)
        note_text_range(chunk, &work->texts);
    else
        note_range(chunk, work->column, range);
    return status;
}

/* The texts that the rows have, before the first page: a dictionary comes before the pages that use it. */
static enum gt_status find_texts(struct work *work, size_t first, size_t count) {
    enum gt_status status = gt_parquet_texts_init(&work->texts, work->column->texts, work->err);
    for (size_t done = 0; done < count && status == GT_OK;) {
        size_t rows = count - done < PAGE_ROWS ? count - done : PAGE_ROWS;
        size_t there = gt_batch_gather(work->batch, work->column, first + done, rows, work->values, NULL);
        status = gt_parquet_texts_add(&work->texts, work->values, there, work->err);
        done += rows;
    }
    if (status != GT_OK)
        return status;
    work->chunk->encoding = gt_parquet_texts_fit(&work->texts) ? GT_PARQUET_DICTIONARY : GT_PARQUET_PLAIN;
    return work->chunk->encoding == GT_PARQUET_DICTIONARY ? put_dictionary(work) : GT_OK;
}

static enum gt_status make_room(struct work *work, size_t count) {
    size_t rows = count < PAGE_ROWS ? count : PAGE_ROWS;
    size_t values = gt_parquet_encode_delta_room(rows), numbers = gt_parquet_encode_hybrid_room(rows, 32) + 1;
    work->values = gt_mem_uninitialised(rows, sizeof *work->values);
    work->present = gt_mem_uninitialised(rows, sizeof *work->present);
    work->levels = gt_mem_uninitialised(rows, sizeof *work->levels);
    work->numbers = work->column->texts ? gt_mem_uninitialised(rows, sizeof *work->numbers) : NULL;
    if (!work->values || !work->present || !work->levels || (work->column->texts && !work->numbers))
        return gt_fail_memory(work->err);
    return grow(&work->page, &work->page_room,
                gt_parquet_encode_hybrid_room(rows, 1) + LENGTH_BYTES + (values > numbers ? values : numbers),
                work->err);
}

enum gt_status gt_parquet_chunk_init(struct gt_parquet_chunk *chunk, const struct gt_batch *batch,
                                     const struct gt_batch_column *column, size_t first, size_t count,
                                     struct gt_error *err) {
    struct work work = {.batch = batch, .column = column, .chunk = chunk, .err = err};
    *chunk =
        (struct gt_parquet_chunk){.value_count = (int64_t)count,
                                  .encoding = column->type == GPUTIME_FIELD_F64 ? GT_PARQUET_PLAIN : GT_PARQUET_DELTA};
    enum gt_status status = gt_out_open_memory(&chunk->pages, err);
    if (status == GT_OK)
        status = make_room(&work, count);
    if (status == GT_OK && column->texts)
        status = find_texts(&work, first, count);
    if (status == GT_OK)
        status = put_rows(&work, first, count);
    if (status == GT_OK)
        status = gt_out_commit(chunk->pages, err);
    ZSTD_freeCCtx(work.zstd);
    gt_parquet_texts_release(&work.texts);
    gt_mem_free(work.values);
    gt_mem_free(work.numbers);
    gt_mem_free(work.present);
    gt_mem_free(work.levels);
    gt_mem_free(work.page);
    gt_mem_free(work.packed);
    return status;
}

void gt_parquet_chunk_release(struct gt_parquet_chunk *chunk) {
    gt_out_close(chunk->pages);
    chunk->pages = NULL;
}
