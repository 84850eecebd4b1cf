/* Streams, schemas and arrays of the Arrow C interface. A consumer may move any part away and release parts in any
 * order: each keeps the source, and a parent releases only what is still there. */
#include "columns/arrow.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "columns/arrow_source.h"

/* ---- schemas ---- */

/* What a schema owns: its children, which stay in place when a consumer moves their contents. */
struct schema_part {
    struct gt_arrow_source *source;
    struct ArrowSchema *children, *dictionary;
    struct ArrowSchema **list;
};

static void release_schema(struct ArrowSchema *schema) {
    struct schema_part *part = schema->private_data;
    for (int64_t i = 0; i < schema->n_children; i++)
        if (part->children[i].release)
            part->children[i].release(&part->children[i]);
    if (part->dictionary && part->dictionary->release)
        part->dictionary->release(part->dictionary);
    gt_arrow_source_let_go(part->source);
    gt_mem_free(part->children);
    gt_mem_free(part->dictionary);
    gt_mem_free(part->list);
    gt_mem_free(part);
    schema->release = NULL;
}

/* A schema with room for so many children, which are still to be filled. false: memory was short, nothing is left. */
static bool begin_schema(struct ArrowSchema *schema, struct gt_arrow_source *source, size_t children,
                         bool has_dictionary) {
    struct schema_part *part = gt_mem_array(1, sizeof *part);
    *schema = (struct ArrowSchema){.format = "+s", .name = "", .private_data = part};
    if (!part)
        return false;
    part->source = gt_arrow_source_hold(source);
    part->children = gt_mem_array(children, sizeof *part->children);
    part->list = gt_mem_array(children, sizeof *part->list);
    part->dictionary = has_dictionary ? gt_mem_array(1, sizeof *part->dictionary) : NULL;
    schema->release = release_schema;
    if (!part->children || !part->list || (has_dictionary && !part->dictionary)) {
        release_schema(schema);
        return false;
    }
    for (size_t i = 0; i < children; i++)
        part->list[i] = &part->children[i];
    schema->n_children = (int64_t)children;
    schema->children = children ? part->list : NULL;
    schema->dictionary = part->dictionary;
    return true;
}

/* Numbers of texts are signed, as most readers want them, where they fit. */
static const char *format_of(const struct gt_batch_column *column) {
    size_t texts = column->texts ? column->texts->count : SIZE_MAX;
    switch (column->type) {
    case GPUTIME_FIELD_U8:
        return texts <= INT8_MAX ? "c" : "C";
    case GPUTIME_FIELD_U16:
        return texts <= INT16_MAX ? "s" : "S";
    case GPUTIME_FIELD_U32:
        return texts <= INT32_MAX ? "i" : "I";
    case GPUTIME_FIELD_U64:
        return "L";
    case GPUTIME_FIELD_F64:
        return "g";
    default:
        return "l";
    }
}

static bool fill_column_schema(struct ArrowSchema *schema, struct gt_arrow_source *source, size_t index) {
    const struct gt_batch_column *column = &source->batch.columns[index];
    const struct gt_arrow_words *words = source->words[index];
    if (!begin_schema(schema, source, 0, words != NULL))
        return false;
    schema->format = format_of(column);
    schema->name = column->key;
    schema->metadata = source->about_one[index];
    schema->flags = gt_batch_is_nullable(column) ? ARROW_FLAG_NULLABLE : 0;
    if (!words)
        return true;
    if (!begin_schema(schema->dictionary, source, 0, false)) {
        release_schema(schema);
        return false;
    }
    schema->dictionary->format = words->is_large ? "U" : "u";
    return true;
}

static bool fill_schema(struct ArrowSchema *schema, struct gt_arrow_source *source) {
    if (!begin_schema(schema, source, source->batch.column_count, false))
        return false;
    schema->metadata = source->about;
    for (size_t c = 0; c < source->batch.column_count; c++)
        if (!fill_column_schema(schema->children[c], source, c)) {
            release_schema(schema);
            return false;
        }
    return true;
}

/* ---- arrays ---- */

enum { BUFFERS_MAX = 3 };

struct array_part {
    struct gt_arrow_source *source;
    struct ArrowArray *children, *dictionary;
    struct ArrowArray **list;
    const void *buffers[BUFFERS_MAX];
    uint8_t *valid; /* made for this array; NULL: none */
};

static void release_array(struct ArrowArray *array) {
    struct array_part *part = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++)
        if (part->children[i].release)
            part->children[i].release(&part->children[i]);
    if (part->dictionary && part->dictionary->release)
        part->dictionary->release(part->dictionary);
    gt_arrow_source_let_go(part->source);
    gt_mem_free(part->children);
    gt_mem_free(part->dictionary);
    gt_mem_free(part->list);
    gt_mem_free(part->valid);
    gt_mem_free(part);
    array->release = NULL;
}

static bool begin_array(struct ArrowArray *array, struct gt_arrow_source *source, size_t children,
                        bool has_dictionary) {
    struct array_part *part = gt_mem_array(1, sizeof *part);
    *array = (struct ArrowArray){.private_data = part};
    if (!part)
        return false;
    part->source = gt_arrow_source_hold(source);
    part->children = gt_mem_array(children, sizeof *part->children);
    part->list = gt_mem_array(children, sizeof *part->list);
    part->dictionary = has_dictionary ? gt_mem_array(1, sizeof *part->dictionary) : NULL;
    array->release = release_array;
    if (!part->children || !part->list || (has_dictionary && !part->dictionary)) {
        release_array(array);
        return false;
    }
    for (size_t i = 0; i < children; i++)
        part->list[i] = &part->children[i];
    array->n_children = (int64_t)children;
    array->children = children ? part->list : NULL;
    array->dictionary = part->dictionary;
    array->buffers = part->buffers;
    array->n_buffers = 1;
    return true;
}

/* Which values are there, as bits; none are made where all are. false: memory was short. */
static bool find_valid(struct ArrowArray *array, const struct gt_batch *batch, const struct gt_batch_column *column,
                       size_t first, size_t count) {
    enum { STEP = 1024 };
    struct array_part *part = array->private_data;
    uint64_t values[STEP];
    uint8_t present[STEP];
    if (!column->valid && column->null == GPUTIME_NULL_NEVER)
        return true;
    part->valid = gt_mem_array(count / 8 + 1, 1);
    if (!part->valid)
        return false;
    for (size_t done = 0; done < count; done += STEP) {
        size_t rows = count - done < STEP ? count - done : STEP;
        array->null_count += (int64_t)(rows - gt_batch_gather(batch, column, first + done, rows, values, present));
        for (size_t i = 0; i < rows; i++)
            part->valid[(done + i) / 8] |= (uint8_t)(present[i] << (done + i) % 8);
    }
    if (array->null_count == 0) {
        gt_mem_free(part->valid);
        part->valid = NULL;
    }
    part->buffers[0] = part->valid;
    return true;
}

static void fill_dictionary(struct ArrowArray *array, const struct gt_arrow_words *words) {
    struct array_part *part = array->private_data;
    array->length = (int64_t)words->count;
    array->n_buffers = 3;
    part->buffers[1] = words->offsets;
    part->buffers[2] = words->bytes;
}

static bool fill_column(struct ArrowArray *array, struct gt_arrow_source *source, size_t index, size_t first,
                        size_t count) {
    const struct gt_batch_column *column = &source->batch.columns[index];
    const struct gt_arrow_words *words = source->words[index];
    static const uint64_t nothing = 0; /* a buffer is somewhere even without rows */
    if (!begin_array(array, source, 0, words != NULL))
        return false;
    struct array_part *part = array->private_data;
    array->length = (int64_t)count;
    array->n_buffers = 2;
    part->buffers[1] = column->values ? (const char *)column->values + first * gt_batch_value_bytes(column->type)
                                      : (const void *)&nothing;
    if (!find_valid(array, &source->batch, column, first, count) ||
        (words && !begin_array(array->dictionary, source, 0, false))) {
        release_array(array);
        return false;
    }
    if (words)
        fill_dictionary(array->dictionary, words);
    return true;
}

static bool fill_array(struct ArrowArray *array, struct gt_arrow_source *source, size_t first, size_t count) {
    if (!begin_array(array, source, source->batch.column_count, false))
        return false;
    array->length = (int64_t)count;
    for (size_t c = 0; c < source->batch.column_count; c++)
        if (!fill_column(array->children[c], source, c, first, count)) {
            release_array(array);
            return false;
        }
    return true;
}

/* ---- streams ---- */

struct stream_part {
    struct gt_arrow_source *source;
    size_t next_row;
    bool is_begun; /* a table without rows has one array, so that its schema is seen */
    const char *error;
};

static int fail_stream(struct stream_part *part) {
    part->error = "out of memory";
    return ENOMEM;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    struct stream_part *part = stream->private_data;
    return fill_schema(out, part->source) ? 0 : fail_stream(part);
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    struct stream_part *part = stream->private_data;
    size_t left = part->source->batch.row_count - part->next_row, count = left < GT_ARROW_ROWS ? left : GT_ARROW_ROWS;
    *out = (struct ArrowArray){0};
    if (count == 0 && part->is_begun)
        return 0;
    if (!fill_array(out, part->source, part->next_row, count))
        return fail_stream(part);
    part->is_begun = true;
    part->next_row += count;
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream) {
    return ((struct stream_part *)stream->private_data)->error;
}

static void release_stream(struct ArrowArrayStream *stream) {
    struct stream_part *part = stream->private_data;
    gt_arrow_source_let_go(part->source);
    gt_mem_free(part);
    stream->release = NULL;
}

enum gt_status gt_arrow_stream(const struct gt_arrow_table *table, const struct gt_batch *batch,
                               struct gt_arrow_owner owner, struct ArrowArrayStream *out, struct gt_error *err) {
    struct gt_arrow_source *source = gt_arrow_source_new(table, batch, owner);
    struct stream_part *part = source ? gt_mem_array(1, sizeof *part) : NULL;
    *out = (struct ArrowArrayStream){0};
    if (!part) {
        if (source)
            gt_arrow_source_let_go(source);
        return gt_fail_memory(err);
    }
    part->source = source;
    *out = (struct ArrowArrayStream){.get_schema = get_schema,
                                     .get_next = get_next,
                                     .get_last_error = get_last_error,
                                     .release = release_stream,
                                     .private_data = part};
    return GT_OK;
}
