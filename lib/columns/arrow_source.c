/* Makes what an Arrow stream needs beside the columns: dictionaries as UTF-8 and metadata. */
#include "columns/arrow_source.h"

#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

/* ---- metadata: the number of pairs, then length and bytes of each key and value ---- */

struct pair {
    struct gt_str key, value;
};

static char *put_text(char *out, struct gt_str text) {
    int32_t length = (int32_t)text.len;
    memcpy(out, &length, sizeof length);
    if (text.len)
        memcpy(out + sizeof length, text.ptr, text.len);
    return out + sizeof length + text.len;
}

/* NULL without any pair that has a value. */
static char *encode_pairs(const struct pair *pairs, size_t count, struct gt_arena *arena) {
    size_t bytes = sizeof(int32_t);
    int32_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (pairs[i].value.len) {
            bytes += 2 * sizeof(int32_t) + pairs[i].key.len + pairs[i].value.len;
            kept++;
        }
    char *encoded = kept ? gt_arena_alloc(arena, bytes) : NULL;
    if (!encoded)
        return NULL;
    memcpy(encoded, &kept, sizeof kept);
    char *out = encoded + sizeof kept;
    for (size_t i = 0; i < count; i++)
        if (pairs[i].value.len) {
            out = put_text(out, pairs[i].key);
            out = put_text(out, pairs[i].value);
        }
    return encoded;
}

static char *about_column(const struct gt_batch_column *column, struct gt_arena *arena) {
    const struct pair pairs[] = {{GT_STR("title"), gt_str_of(column->title)},
                                 {GT_STR("unit"), gt_str_of(column->unit)},
                                 {GT_STR("of"), gt_str_of(column->of)}};
    return encode_pairs(pairs, sizeof pairs / sizeof *pairs, arena);
}

static char *about_table(const struct gt_arrow_table *table, struct gt_arena *arena) {
    size_t count = 0;
    struct pair *pairs = gt_arena_array(arena, table->pair_count + 3, sizeof *pairs);
    if (!pairs)
        return NULL;
    pairs[count++] = (struct pair){GT_STR("gputime.version"), GT_STR(GPUTIME_VERSION)};
    pairs[count++] = (struct pair){GT_STR("gputime.table"), gt_str_of(table->key)};
    pairs[count++] = (struct pair){GT_STR("gputime.title"), gt_str_of(table->title)};
    for (size_t i = 0; i < table->pair_count; i++)
        pairs[count++] = (struct pair){gt_str_of(table->pairs[i].key), gt_str_of(table->pairs[i].value)};
    return encode_pairs(pairs, count, arena);
}

/* ---- dictionaries ---- */

static void put_offset(struct gt_arrow_words *words, size_t index, size_t offset) {
    if (words->is_large)
        ((int64_t *)words->offsets)[index] = (int64_t)offset;
    else
        ((int32_t *)words->offsets)[index] = (int32_t)offset;
}

/* false: memory was short. */
static bool make_words(struct gt_arrow_words *words, const struct gt_batch_texts *texts) {
    size_t bytes = 0, at = 0;
    for (size_t i = 0; i < texts->count; i++)
        bytes += gt_utf8_valid_bytes(texts->items[i]);
    words->from = texts;
    words->count = texts->count;
    words->is_large = bytes > INT32_MAX;
    words->offsets = gt_mem_uninitialised(texts->count + 1, words->is_large ? sizeof(int64_t) : sizeof(int32_t));
    words->bytes = gt_mem_alloc(bytes);
    if (!words->offsets || !words->bytes)
        return false;
    for (size_t i = 0; i < texts->count; i++) {
        put_offset(words, i, at);
        at = (size_t)(gt_utf8_put_valid(words->bytes + at, texts->items[i]) - words->bytes);
    }
    put_offset(words, texts->count, at);
    return true;
}

/* Columns with the same texts, as all names of a trace, have one dictionary. */
static const struct gt_arrow_words *words_of(struct gt_arrow_source *source, const struct gt_batch_texts *texts) {
    for (size_t i = 0; i < source->dictionary_count; i++) {
        const struct gt_batch_texts *from = source->dictionaries[i].from;
        if (from->items == texts->items && from->count == texts->count)
            return &source->dictionaries[i];
    }
    struct gt_arrow_words *words = &source->dictionaries[source->dictionary_count++];
    return make_words(words, texts) ? words : NULL;
}

/* ---- the whole ---- */

static bool copy_columns(struct gt_arrow_source *source, const struct gt_batch *batch) {
    struct gt_arena *arena = &source->arena;
    struct gt_batch_column *columns = gt_arena_array(arena, batch->column_count, sizeof *columns);
    source->about_one = gt_arena_array(arena, batch->column_count, sizeof *source->about_one);
    source->words = gt_arena_array(arena, batch->column_count, sizeof *source->words);
    source->dictionaries = gt_arena_array(arena, batch->column_count, sizeof *source->dictionaries);
    if (gt_arena_failed(arena))
        return false;
    for (size_t c = 0; c < batch->column_count; c++) {
        columns[c] = batch->columns[c];
        columns[c].key = gt_arena_copy(arena, gt_str_of(columns[c].key)).ptr;
        source->about_one[c] = about_column(&columns[c], arena);
        if (columns[c].texts && !(source->words[c] = words_of(source, columns[c].texts)))
            return false;
    }
    source->batch = *batch;
    source->batch.columns = columns;
    return !gt_arena_failed(arena);
}

struct gt_arrow_source *gt_arrow_source_new(const struct gt_arrow_table *table, const struct gt_batch *batch,
                                            struct gt_arrow_owner owner) {
    struct gt_arrow_source *source = gt_mem_array(1, sizeof *source);
    if (!source) {
        owner.free(owner.object);
        return NULL;
    }
    atomic_init(&source->users, 1);
    source->owner = owner;
    source->key = gt_arena_copy(&source->arena, gt_str_of(table->key)).ptr;
    source->about = about_table(table, &source->arena);
    if (copy_columns(source, batch))
        return source;
    gt_arrow_source_let_go(source);
    return NULL;
}

struct gt_arrow_source *gt_arrow_source_hold(struct gt_arrow_source *source) {
    atomic_fetch_add_explicit(&source->users, 1, memory_order_relaxed);
    return source;
}

void gt_arrow_source_let_go(struct gt_arrow_source *source) {
    if (atomic_fetch_sub_explicit(&source->users, 1, memory_order_acq_rel) > 1)
        return;
    for (size_t i = 0; i < source->dictionary_count; i++) {
        gt_mem_free(source->dictionaries[i].offsets);
        gt_mem_free(source->dictionaries[i].bytes);
    }
    source->owner.free(source->owner.object);
    gt_arena_release(&source->arena);
    gt_mem_free(source);
}
