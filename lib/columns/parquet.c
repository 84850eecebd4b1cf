/* A Parquet file: magic, column chunks of each row group, then the footer that says where all of them are. */
#include "columns/parquet.h"

#include "base/mem.h"
#include "base/threads.h"
#include "columns/parquet_chunk.h"
#include "columns/thrift.h"

static const char magic[] = {'P', 'A', 'R', '1'};
enum { FORMAT_VERSION = 2, REQUIRED = 0, OPTIONAL = 1, CONVERTED_UTF8 = 0, CONVERTED_UINT64 = 14 };
enum { LOGICAL_STRING = 1, LOGICAL_INTEGER = 10 };

static void put_bytes(struct gt_parquet *parquet, const void *bytes, size_t count) {
    gt_out_write(parquet->out, bytes, count);
    parquet->position += (int64_t)count;
}

enum gt_status gt_parquet_init(struct gt_parquet *parquet, struct gt_out *out, size_t threads, const char *key,
                               const char *title, const struct gt_batch_column *columns, size_t column_count,
                               struct gt_error *err) {
    *parquet = (struct gt_parquet){.out = out,
                                   .threads = threads,
                                   .key = gt_str_of(key),
                                   .title = gt_str_of(title),
                                   .columns = columns,
                                   .column_count = column_count};
    put_bytes(parquet, magic, sizeof magic);
    return gt_out_open_memory(&parquet->groups, err);
}

void gt_parquet_release(struct gt_parquet *parquet) {
    gt_out_close(parquet->groups);
    *parquet = (struct gt_parquet){0};
}

/* ---- row groups ---- */

static void put_statistics(struct gt_thrift *thrift, const struct gt_parquet_chunk *chunk) {
    gt_thrift_begin(thrift, 12);
    gt_thrift_i64(thrift, 3, chunk->null_count);
    if (chunk->has_range) {
        gt_thrift_text(thrift, 5, (struct gt_str){(const char *)chunk->largest, chunk->largest_bytes});
        gt_thrift_text(thrift, 6, (struct gt_str){(const char *)chunk->smallest, chunk->smallest_bytes});
    }
    gt_thrift_end(thrift);
}

static void put_encodings(struct gt_thrift *thrift, const struct gt_parquet_chunk *chunk) {
    bool has_plain = chunk->dictionary_bytes || chunk->encoding == GT_PARQUET_PLAIN;
    bool has_other = chunk->encoding != GT_PARQUET_PLAIN;
    gt_thrift_list(thrift, 2, GT_THRIFT_I32, 1 + (size_t)has_plain + (size_t)has_other);
    gt_thrift_item_i32(thrift, GT_PARQUET_RLE);
    if (has_plain)
        gt_thrift_item_i32(thrift, GT_PARQUET_PLAIN);
    if (has_other)
        gt_thrift_item_i32(thrift, (int32_t)chunk->encoding);
}

static void put_chunk(struct gt_thrift *thrift, const struct gt_batch_column *column,
                      const struct gt_parquet_chunk *chunk, int64_t position) {
    gt_thrift_begin_element(thrift);
    gt_thrift_i64(thrift, 2, 0); /* metadata are only in the footer */
    gt_thrift_begin(thrift, 3);
    gt_thrift_i32(thrift, 1, (int32_t)gt_parquet_chunk_type_of(column));
    put_encodings(thrift, chunk);
    gt_thrift_list(thrift, 3, GT_THRIFT_BINARY, 1);
    gt_thrift_item_text(thrift, gt_str_of(column->key));
    gt_thrift_i32(thrift, 4, (int32_t)chunk->codec);
    gt_thrift_i64(thrift, 5, chunk->value_count);
    gt_thrift_i64(thrift, 6, chunk->plain_bytes);
    gt_thrift_i64(thrift, 7, (int64_t)gt_out_bytes(chunk->pages).len);
    gt_thrift_i64(thrift, 9, position + chunk->dictionary_bytes);
    if (chunk->dictionary_bytes)
        gt_thrift_i64(thrift, 11, position);
    put_statistics(thrift, chunk);
    gt_thrift_end(thrift);
    gt_thrift_end(thrift);
}

/* Writes the chunks of a row group one after the other, and notes where they are. */
static void put_group(struct gt_parquet *parquet, const struct gt_parquet_chunk *chunks, size_t row_count) {
    struct gt_thrift thrift;
    int64_t plain_bytes = 0, begin = parquet->position;
    gt_thrift_init(&thrift, parquet->groups);
    gt_thrift_begin_element(&thrift);
    gt_thrift_list(&thrift, 1, GT_THRIFT_STRUCT, parquet->column_count);
    for (size_t c = 0; c < parquet->column_count; c++) {
        struct gt_str pages = gt_out_bytes(chunks[c].pages);
        put_chunk(&thrift, &parquet->columns[c], &chunks[c], parquet->position);
        put_bytes(parquet, pages.ptr, pages.len);
        plain_bytes += chunks[c].plain_bytes;
    }
    gt_thrift_i64(&thrift, 2, plain_bytes);
    gt_thrift_i64(&thrift, 3, (int64_t)row_count);
    gt_thrift_i64(&thrift, 5, begin);
    gt_thrift_i64(&thrift, 6, parquet->position - begin);
    if (parquet->group_count <= INT16_MAX)
        gt_thrift_i16(&thrift, 7, (int16_t)parquet->group_count);
    gt_thrift_end(&thrift);
    parquet->group_count++;
    parquet->row_count += (int64_t)row_count;
}

struct encoding {
    const struct gt_batch *batch;
    size_t first, count;
    struct gt_parquet_chunk *chunks;
    struct gt_error *errors;
};

static void encode(void *context, size_t column) {
    struct encoding *work = context;
    gt_parquet_chunk_init(&work->chunks[column], work->batch, &work->batch->columns[column], work->first, work->count,
                          &work->errors[column]);
}

static enum gt_status append_group(struct gt_parquet *parquet, struct encoding *work, struct gt_error *err) {
    enum { FEW_VALUES = 1 << 16 }; /* threads cost more */
    enum gt_status status = GT_OK;
    size_t columns = parquet->column_count;
    gt_threads_deal(work->count * columns < FEW_VALUES ? 1 : parquet->threads, columns, encode, work);
    for (size_t c = 0; c < columns && status == GT_OK; c++) {
        status = work->errors[c].code;
        if (status != GT_OK)
            *err = work->errors[c];
    }
    if (status == GT_OK)
        put_group(parquet, work->chunks, work->count);
    for (size_t c = 0; c < columns; c++)
        gt_parquet_chunk_release(&work->chunks[c]);
    return status;
}

enum gt_status gt_parquet_append(struct gt_parquet *parquet, const struct gt_batch *batch, struct gt_error *err) {
    size_t columns = parquet->column_count;
    struct encoding work = {.batch = batch,
                            .chunks = gt_mem_array(columns, sizeof *work.chunks),
                            .errors = gt_mem_array(columns, sizeof *work.errors)};
    enum gt_status status = work.chunks && work.errors ? GT_OK : gt_fail_memory(err);
    for (; work.first < batch->row_count && status == GT_OK; work.first += work.count) {
        size_t left = batch->row_count - work.first;
        work.count = left < GT_PARQUET_GROUP_ROWS ? left : GT_PARQUET_GROUP_ROWS;
        status = append_group(parquet, &work, err);
    }
    gt_mem_free(work.chunks);
    gt_mem_free(work.errors);
    return status;
}

/* ---- footer ---- */

static void put_logical_type(struct gt_thrift *thrift, const struct gt_batch_column *column) {
    bool is_unsigned = !column->texts && column->type == GPUTIME_FIELD_U64;
    if (!column->texts && !is_unsigned)
        return;
    gt_thrift_i32(thrift, 6, column->texts ? CONVERTED_UTF8 : CONVERTED_UINT64);
    gt_thrift_begin(thrift, 10);
    gt_thrift_begin(thrift, column->texts ? LOGICAL_STRING : LOGICAL_INTEGER);
    if (is_unsigned) {
        gt_thrift_i8(thrift, 1, 64);
        gt_thrift_bool(thrift, 2, false);
    }
    gt_thrift_end(thrift);
    gt_thrift_end(thrift);
}

static void put_schema(struct gt_thrift *thrift, const struct gt_parquet *parquet) {
    gt_thrift_list(thrift, 2, GT_THRIFT_STRUCT, parquet->column_count + 1);
    gt_thrift_begin_element(thrift);
    gt_thrift_text(thrift, 4, parquet->key);
    gt_thrift_i32(thrift, 5, (int32_t)parquet->column_count);
    gt_thrift_end(thrift);
    for (size_t c = 0; c < parquet->column_count; c++) {
        const struct gt_batch_column *column = &parquet->columns[c];
        gt_thrift_begin_element(thrift);
        gt_thrift_i32(thrift, 1, (int32_t)gt_parquet_chunk_type_of(column));
        gt_thrift_i32(thrift, 3, gt_batch_is_nullable(column) ? OPTIONAL : REQUIRED);
        gt_thrift_text(thrift, 4, gt_str_of(column->key));
        put_logical_type(thrift, column);
        gt_thrift_end(thrift);
    }
}

/* Key and value of the file's metadata; counted only, where thrift is NULL. Empty values are left out. */
static void put_pair(struct gt_thrift *thrift, size_t *count, const char *before, const char *key, const char *after,
                     struct gt_str value) {
    char name[256];
    size_t used = 0;
    if (!value.len)
        return;
    ++*count;
    if (!thrift)
        return;
    const char *const parts[] = {before, key, after};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        for (const char *c = parts[p]; *c && used < sizeof name; c++)
            name[used++] = *c;
    gt_thrift_begin_element(thrift);
    gt_thrift_text(thrift, 1, (struct gt_str){name, used});
    gt_thrift_text(thrift, 2, value);
    gt_thrift_end(thrift);
}

static size_t put_pairs(struct gt_thrift *thrift, const struct gt_parquet *parquet) {
    size_t count = 0;
    put_pair(thrift, &count, "gputime.", "version", "", GT_STR(GPUTIME_VERSION));
    put_pair(thrift, &count, "gputime.", "table", "", parquet->key);
    put_pair(thrift, &count, "gputime.", "title", "", parquet->title);
    for (size_t c = 0; c < parquet->column_count; c++) {
        const struct gt_batch_column *column = &parquet->columns[c];
        put_pair(thrift, &count, "column.", column->key, ".title", gt_str_of(column->title));
        put_pair(thrift, &count, "column.", column->key, ".unit", gt_str_of(column->unit));
        put_pair(thrift, &count, "column.", column->key, ".of", gt_str_of(column->of));
    }
    return count;
}

static void put_metadata(struct gt_parquet *parquet, struct gt_out *footer) {
    struct gt_thrift thrift;
    gt_thrift_init(&thrift, footer);
    gt_thrift_i32(&thrift, 1, FORMAT_VERSION);
    put_schema(&thrift, parquet);
    gt_thrift_i64(&thrift, 3, parquet->row_count);
    gt_thrift_list(&thrift, 4, GT_THRIFT_STRUCT, parquet->group_count);
    gt_out_str(footer, gt_out_bytes(parquet->groups));
    gt_thrift_list(&thrift, 5, GT_THRIFT_STRUCT, put_pairs(NULL, parquet));
    put_pairs(&thrift, parquet);
    gt_thrift_text(&thrift, 6, GT_STR("gputime version " GPUTIME_VERSION));
    gt_thrift_list(&thrift, 7, GT_THRIFT_STRUCT, parquet->column_count); /* bounds are in the order of the type */
    for (size_t c = 0; c < parquet->column_count; c++) {
        gt_thrift_begin_element(&thrift);
        gt_thrift_begin(&thrift, 1);
        gt_thrift_end(&thrift);
        gt_thrift_end(&thrift);
    }
    gt_thrift_end(&thrift);
}

enum gt_status gt_parquet_finish(struct gt_parquet *parquet, struct gt_error *err) {
    struct gt_out *footer = NULL;
    enum gt_status status = gt_out_open_memory(&footer, err);
    if (status == GT_OK)
        status = gt_out_commit(parquet->groups, err);
    if (status == GT_OK)
        put_metadata(parquet, footer);
    if (status == GT_OK)
        status = gt_out_commit(footer, err);
    if (status == GT_OK) {
        struct gt_str bytes = gt_out_bytes(footer);
        uint8_t length[4];
        if (bytes.len > INT32_MAX)
            status = gt_fail(err, "too many row groups for one Parquet file");
        for (unsigned i = 0; i < sizeof length; i++)
            length[i] = (uint8_t)(bytes.len >> 8 * i);
        put_bytes(parquet, bytes.ptr, bytes.len);
        put_bytes(parquet, length, sizeof length);
        put_bytes(parquet, magic, sizeof magic);
    }
    gt_out_close(footer);
    return status;
}
