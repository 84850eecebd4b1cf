/* Encodes a column chunk: gathers the values that are there page by page, encodes them, compresses pages where that
 * pays, and notes the smallest and the largest value. What comes out depends on the rows alone. */
#include "columns/parquet_chunk.h"

#include <endian.h>
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
    uint32_t *numbers;      /* of texts: of all rows that have one, their numbers in the dictionary */
    uint8_t *present;       /* by row of the page; of texts by row of the chunk */
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

/* A page: rows, of which some are there. */
struct page {
    size_t rows, there;
    const uint8_t *present;  /* by row */
    const uint32_t *numbers; /* of texts that are there */
};

/* Which values are there; gives the length. */
static size_t put_levels(struct work *work, const struct page *page, uint8_t *out) {
    size_t bytes;
    if (!gt_batch_is_nullable(work->column))
        return 0;
    if (page->there == page->rows || page->there == 0) {
        bytes = gt_parquet_encode_run(page->there != 0, page->rows, 1, out + LENGTH_BYTES);
    } else {
        for (size_t i = 0; i < page->rows; i++)
            work->levels[i] = page->present[i];
        bytes = gt_parquet_encode_hybrid(work->levels, page->rows, 1, out + LENGTH_BYTES);
    }
    for (unsigned i = 0; i < LENGTH_BYTES; i++)
        out[i] = (uint8_t)(bytes >> 8 * i);
    return bytes + LENGTH_BYTES;
}

/* ---- smallest and largest ---- */

static void put_bound(uint8_t *bound, size_t *bytes, uint64_t value) {
    *bytes = sizeof value;
    for (unsigned i = 0; i < sizeof value; i++)
        bound[i] = (uint8_t)(value >> 8 * i);
}

struct range {
    uint64_t smallest, largest;
    bool is_known, is_broken; /* a NaN has no place among numbers */
};

/* One loop for each order of values. */
#define WIDEN(type, from)                                                                                              \
    do {                                                                                                               \
        type low = from(range->smallest), high = from(range->largest);                                                 \
        for (size_t i = 0; i < count; i++) {                                                                           \
            const type value = from(values[i]);                                                                        \
            if (value < low) {                                                                                         \
                low = value;                                                                                           \
                range->smallest = values[i];                                                                           \
            }                                                                                                          \
            if (value > high) {                                                                                        \
                high = value;                                                                                          \
                range->largest = values[i];                                                                            \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

static double real_of(uint64_t bits) {
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

static bool has_nan(const uint64_t *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (isnan(real_of(values[i])))
            return true;
    return false;
}

static void widen(struct range *range, const struct gt_batch_column *column, const uint64_t *values, size_t count) {
    if (count && !range->is_known)
        *range = (struct range){.smallest = values[0], .largest = values[0], .is_known = true};
    if (column->type == GPUTIME_FIELD_F64) {
        range->is_broken |= has_nan(values, count);
        WIDEN(double, real_of);
    } else if (column->type == GPUTIME_FIELD_U64) {
        WIDEN(uint64_t, (uint64_t));
    } else {
        WIDEN(int64_t, (int64_t));
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

static enum gt_status put_numbers(struct work *work, const struct page *page) {
    size_t at = put_levels(work, page, work->page);
    if (work->column->type == GPUTIME_FIELD_F64) {
        for (size_t i = 0; i < page->there; i++, at += sizeof(uint64_t)) {
            uint64_t value = htole64(work->values[i]);
            memcpy(work->page + at, &value, sizeof value);
        }
    } else {
        at += gt_parquet_encode_delta(work->values, page->there, work->page + at);
    }
    return put_page(work, DATA_PAGE, work->page, at, page->rows, (int)work->chunk->encoding);
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

static enum gt_status put_text_numbers(struct work *work, const struct page *page) {
    unsigned bits = gt_parquet_encode_bits(work->texts.count ? work->texts.count - 1 : 0);
    size_t at = put_levels(work, page, work->page);
    work->page[at++] = (uint8_t)bits;
    at += gt_parquet_encode_hybrid(page->numbers, page->there, bits, work->page + at);
    return put_page(work, DATA_PAGE, work->page, at, page->rows, GT_PARQUET_DICTIONARY);
}

/* Where texts are too long for a dictionary. */
static enum gt_status put_plain_texts(struct work *work, const struct page *page) {
    size_t bytes = gt_parquet_encode_hybrid_room(page->rows, 1) + LENGTH_BYTES;
    for (size_t i = 0; i < page->there; i++)
        bytes += LENGTH_BYTES + gt_parquet_texts_bytes(&work->texts, page->numbers[i]);
    enum gt_status status = grow(&work->page, &work->page_room, bytes, work->err);
    if (status != GT_OK)
        return status;
    size_t at = put_levels(work, page, work->page);
    for (size_t i = 0; i < page->there; i++)
        at += gt_parquet_texts_put(&work->texts, page->numbers[i], work->page + at);
    return put_page(work, DATA_PAGE, work->page, at, page->rows, GT_PARQUET_PLAIN);
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

/* The texts that the rows have, before the first page: a dictionary comes before the pages that use it. */
static enum gt_status find_texts(struct work *work, size_t first, size_t count) {
    struct gt_parquet_chunk *chunk = work->chunk;
    size_t found = 0;
    enum gt_status status = gt_parquet_texts_init(&work->texts, work->column->texts, work->err);
    for (size_t done = 0, rows; done < count && status == GT_OK; done += rows) {
        rows = count - done < PAGE_ROWS ? count - done : PAGE_ROWS;
        size_t there =
            gt_batch_gather(work->batch, work->column, first + done, rows, work->values, work->present + done);
        status = gt_parquet_texts_add(&work->texts, work->values, there, work->numbers + found, work->err);
        found += there;
    }
    if (status != GT_OK)
        return status;
    chunk->null_count = (int64_t)(count - found);
    chunk->encoding = gt_parquet_texts_fit(&work->texts) ? GT_PARQUET_DICTIONARY : GT_PARQUET_PLAIN;
    return chunk->encoding == GT_PARQUET_DICTIONARY ? put_dictionary(work) : GT_OK;
}

static size_t count_there(const uint8_t *present, size_t rows) {
    size_t there = 0;
    for (size_t i = 0; i < rows; i++)
        there += present[i];
    return there;
}

static enum gt_status put_texts(struct work *work, size_t first, size_t count) {
    enum gt_status status = find_texts(work, first, count);
    bool is_dictionary = work->chunk->encoding == GT_PARQUET_DICTIONARY;
    size_t most = is_dictionary ? PAGE_ROWS : gt_parquet_texts_page(&work->texts, PAGE_ROWS);
    struct page page = {.present = work->present, .numbers = work->numbers};
    for (size_t done = 0; done < count && status == GT_OK; done += page.rows) {
        page.present = work->present + done;
        page.rows = count - done < most ? count - done : most;
        page.there = count_there(page.present, page.rows);
        status = is_dictionary ? put_text_numbers(work, &page) : put_plain_texts(work, &page);
        page.numbers += page.there;
    }
    note_text_range(work->chunk, &work->texts);
    return status;
}

/* ---- all of it ---- */

static enum gt_status put_values(struct work *work, size_t first, size_t count) {
    struct range range = {0};
    enum gt_status status = GT_OK;
    struct page page = {.present = work->present};
    for (size_t done = 0; done < count && status == GT_OK; done += page.rows) {
        page.rows = count - done < PAGE_ROWS ? count - done : PAGE_ROWS;
        page.there = gt_batch_gather(work->batch, work->column, first + done, page.rows, work->values, work->present);
        work->chunk->null_count += (int64_t)(page.rows - page.there);
        widen(&range, work->column, work->values, page.there);
        status = put_numbers(work, &page);
    }
    note_range(work->chunk, work->column, range);
    return status;
}

static enum gt_status make_room(struct work *work, size_t count) {
    bool is_text = work->column->texts;
    size_t rows = count < PAGE_ROWS ? count : PAGE_ROWS;
    size_t values = gt_parquet_encode_delta_room(rows), numbers = gt_parquet_encode_hybrid_room(rows, 32) + 1;
    work->values = gt_mem_uninitialised(rows, sizeof *work->values);
    work->present = gt_mem_uninitialised(is_text ? count : rows, sizeof *work->present);
    work->levels = gt_mem_uninitialised(rows, sizeof *work->levels);
    work->numbers = is_text ? gt_mem_uninitialised(count, sizeof *work->numbers) : NULL;
    if (!work->values || !work->present || !work->levels || (is_text && !work->numbers))
        return gt_fail_memory(work->err);
    return grow(&work->page, &work->page_room,
                gt_parquet_encode_hybrid_room(rows, 1) + LENGTH_BYTES + (is_text ? numbers : values), work->err);
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
    if (status == GT_OK)
        status = column->texts ? put_texts(&work, first, count) : put_values(&work, first, count);
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
