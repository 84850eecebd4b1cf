/* Sealing, the rows: columns of several builders come in, those of the merged store go out. Of each table, the columns
   of the builder that has most of its rows grow to hold them all, unless there are many builders; what is copied is
   given back, so each thread has two of one piece, and those that share a column two of its short pieces. */
#include <stdatomic.h>
#include <string.h>

#include "base/huge.h"
#include "base/mem.h"
#include "base/threads.h"
#include "events/builder.h"
#include "events/seal.h"

static bool is_track_table(enum gt_table_id table) {
    for (int r = GT_REFERS_PROCESS; r < GT_REFERS_OP; r++)
        if (gt_store_table_referred((enum gt_refers)r) == table)
            return true;
    return false;
}

static size_t piece_rows(const struct gt_piece *piece, enum gt_table_id table) {
    return piece->segment->dropped ? 0 : piece->segment->end[table] - piece->segment->begin[table];
}

/* Whether rows of a builder only ever move towards the end: it has dropped none, and has them in order. */
static bool is_in_order(const struct gt_merge *merge, size_t builder) {
    const struct gt_segment *last = NULL;
    for (size_t p = 0; p < merge->piece_count; p++) {
        const struct gt_piece *piece = &merge->pieces[p];
        if (piece->builder_index != builder)
            continue;
        if (piece->segment->dropped || (last && piece->segment < last))
            return false;
        last = piece->segment;
    }
    return true;
}

/* From so many builders on, to move the rows that stay takes longer than to copy them with the others: nobody copies
   meanwhile. */
enum { MANY_BUILDERS = 8 };

/* Chooses whose columns are kept. */
static void choose_kept(struct gt_merge *merge, struct gt_builder *builders, size_t count) {
    size_t most[GT_TABLE_COUNT] = {0};
    for (enum gt_table_id t = 0; t < GT_TABLE_COUNT; t++)
        merge->kept[t] = GT_SEAL_NONE;
    for (size_t b = 0; b < count && count < MANY_BUILDERS; b++) {
        bool can_be_kept = is_in_order(merge, b);
        for (enum gt_table_id t = 0; can_be_kept && t < GT_TABLE_COUNT; t++) {
            size_t rows = *gt_store_row_count(&builders[b].store, t);
            merge->kept[t] = rows > most[t] ? b : merge->kept[t];
            most[t] = rows > most[t] ? rows : most[t];
        }
    }
}

/* Where each piece's rows go, table by table; makes room for them. */
static bool place_rows(struct gt_merge *merge, struct gt_builder *builders, size_t count) {
    struct gt_store *into = &merge->target.store;
    choose_kept(merge, builders, count);
    for (enum gt_table_id t = 0; t < GT_TABLE_COUNT; t++) {
        size_t rows = 0;
        if (is_track_table(t))
            continue;
        for (size_t p = 0; p < merge->piece_count; p++) {
            merge->pieces[p].place[t] = rows;
            rows += piece_rows(&merge->pieces[p], t);
        }
        if (merge->kept[t] != GT_SEAL_NONE)
            gt_store_table_move(into, &builders[merge->kept[t]].store, t);
        *gt_store_row_count(into, t) = rows;
        if (rows && !gt_store_table_reserve(into, t, rows))
            return false;
        if (merge->kept[t] != GT_SEAL_NONE) /* new ones have asked for huge pages already */
            gt_store_table_fill(into, t);
    }
    return true;
}

/* The numbers that one column has in some rows of a piece, as the merged store has them. old and new may be the same.
 */
static void renumber_rows(const struct gt_merge *merge, const struct gt_piece *piece, const struct gt_column_info *info,
                          size_t count, const uint32_t *old, uint32_t *new) {
    const struct gt_renumbering *numbers = &merge->renumberings[piece->builder_index];
    if (info->refers >= GT_REFERS_OP) {
        /* Rows move from the builder's place to the merged one; what refers to them moves along. */
        enum gt_table_id table = gt_store_table_referred(info->refers);
        uint32_t shift = (uint32_t)(piece->place[table] - piece->segment->begin[table]);
        for (size_t i = 0; i < count; i++)
            new[i] = old[i] == GT_NO_ROW ? GT_NO_ROW : old[i] + shift;
        return;
    }
    for (size_t i = 0; i < count; i++)
        new[i] = gt_seal_renumber(numbers, info->refers, old[i]);
}

/* Giving memory back makes all threads forget where memory is: that pays for long pieces. */
enum { LONG_PIECE_BYTES = 64 << 10 };

/* Some rows of a piece, counted from its first, in one column: to where they are in the merged store. */
static void copy_rows(const struct gt_merge *merge, struct gt_store *into, const struct gt_piece *piece,
                      const struct gt_column_info *info, size_t first, size_t end) {
    size_t from_bytes = (piece->segment->begin[info->table] + first) * info->elem_bytes;
    size_t length = (end - first) * info->elem_bytes;
    char *to = (char *)*gt_store_column(into, info) + (piece->place[info->table] + first) * info->elem_bytes;
    char *column = *gt_store_column(&piece->builder->store, info), *from = column + from_bytes;
    if (!gt_store_column_refers(info))
        memcpy(to, from, length);
    else
        renumber_rows(merge, piece, info, end - first, (const uint32_t *)(const void *)from, (uint32_t *)(void *)to);
    if (length >= LONG_PIECE_BYTES)
        gt_mem_pages_discard(column, from_bytes, from_bytes + length);
}

/* Whether all that the rows of a piece refer to has the same number in the merged store. */
static bool keeps_numbers(const struct gt_merge *merge, const struct gt_piece *piece, const struct gt_column_info *info,
                          const uint32_t *numbers) {
    if (info->refers >= GT_REFERS_OP) {
        enum gt_table_id table = gt_store_table_referred(info->refers);
        return piece->place[table] == piece->segment->begin[table];
    }
    size_t count = piece_rows(piece, info->table);
    uint32_t end = 0; /* after the largest; GT_NO_TRACK wraps to 0 */
    for (size_t i = 0; i < count; i++)
        end = numbers[i] + 1 > end ? numbers[i] + 1 : end;
    return end <= merge->renumberings[piece->builder_index].same_below[info->refers];
}

/* The same for a piece whose column has become the merged store's. */
static void move_column(const struct gt_merge *merge, struct gt_store *into, const struct gt_piece *piece,
                        const struct gt_column_info *info) {
    char *column = *gt_store_column(into, info);
    char *to = column + piece->place[info->table] * info->elem_bytes;
    const char *from = column + piece->segment->begin[info->table] * info->elem_bytes;
    if (to != from)
        memmove(to, from, piece_rows(piece, info->table) * info->elem_bytes);
    if (!gt_store_column_refers(info))
        return;
    uint32_t *numbers = (uint32_t *)(void *)to;
    if (!keeps_numbers(merge, piece, info, numbers)) /* what is only read stays in the caches of all threads */
        renumber_rows(merge, piece, info, piece_rows(piece, info->table), numbers, numbers);
}

/* Columns shared by several threads: each takes the next part that nobody has. */
struct copying {
    struct gt_merge *merge;
    struct gt_builder *builders;
    size_t builder_count;
    size_t *first_parts; /* by column: how many parts those before it have; after the last one, all */
    atomic_size_t next;  /* part */
    atomic_size_t *left; /* by column: how many of its parts nobody has copied */
};

/* Parts begin where huge pages do: threads that ask for the same one at the same time all clear one. Tests have shorter
   ones (tests/unit/short_parts.c). */
#ifndef GT_SEAL_PART_BYTES
#define GT_SEAL_PART_BYTES GT_HUGE_PAGE_BYTES
#endif

/* The row of the merged column that a part begins with. */
static size_t part_begin(const struct copying *copying, const struct gt_column_info *info, size_t part) {
    size_t bytes = info->elem_bytes, rows_per_part = GT_SEAL_PART_BYTES / bytes;
    size_t before = (uintptr_t)*gt_store_column(&copying->merge->target.store, info) % GT_SEAL_PART_BYTES / bytes;
    return part ? part * rows_per_part - before : 0;
}

static size_t count_parts(const struct copying *copying, const struct gt_column_info *info) {
    size_t rows = *gt_store_row_count(&copying->merge->target.store, info->table), parts = 1;
    while (part_begin(copying, info, parts) < rows)
        parts++;
    return is_track_table(info->table) ? 0 : parts;
}

/* Rows that stay in their column move first, the last of them foremost, so that no row is overwritten before it moved.
 */
static void move_pieces(const struct copying *copying, const struct gt_column_info *info) {
    const struct gt_merge *merge = copying->merge;
    for (size_t p = merge->piece_count; p-- > 0;)
        if (merge->pieces[p].builder_index == merge->kept[info->table] && piece_rows(&merge->pieces[p], info->table))
            move_column(merge, &copying->merge->target.store, &merge->pieces[p], info);
}

static void move_columns(void *context, size_t column) {
    const struct gt_column_info *info = &gt_column_infos[column];
    if (!is_track_table(info->table))
        move_pieces(context, info);
}

/* The piece that has a row of the merged store. */
static size_t piece_at(const struct gt_merge *merge, enum gt_table_id table, size_t row) {
    size_t low = 0, high = merge->piece_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(merge->pieces[middle].place[table] <= row ? &low : &high) = middle;
    }
    return low;
}

static void copy_part(const struct copying *copying, const struct gt_column_info *info, size_t part) {
    const struct gt_merge *merge = copying->merge;
    enum gt_table_id t = info->table;
    size_t begin = part_begin(copying, info, part), end = part_begin(copying, info, part + 1);
    for (size_t p = piece_at(merge, t, begin); p < merge->piece_count && merge->pieces[p].place[t] < end; p++) {
        const struct gt_piece *piece = &merge->pieces[p];
        size_t place = piece->place[t], rows = piece_rows(piece, t);
        size_t first = begin > place ? begin - place : 0, last = end - place < rows ? end - place : rows;
        if (piece->builder_index != merge->kept[t] && first < last)
            copy_rows(merge, &copying->merge->target.store, piece, info, first, last);
    }
}

/* Only one thread at a time can unmap, so pages are given back before. */
static void free_columns(const struct copying *copying, const struct gt_column_info *info) {
    for (size_t b = 0; b < copying->builder_count; b++)
        gt_store_column_discard(&copying->builders[b].store, info);
    for (size_t b = 0; b < copying->builder_count; b++)
        gt_store_column_free(&copying->builders[b].store, info);
}

static void copy_columns(void *context, size_t thread) {
    struct copying *copying = context;
    size_t column = 0, taken;
    (void)thread;
    while ((taken = atomic_fetch_add(&copying->next, 1)) < copying->first_parts[gt_column_count]) {
        while (taken >= copying->first_parts[column + 1])
            column++;
        copy_part(copying, &gt_column_infos[column], taken - copying->first_parts[column]);
        if (atomic_fetch_sub(&copying->left[column], 1) == 1)
            free_columns(copying, &gt_column_infos[column]);
    }
}

/* false: memory is short. */
static bool divide_columns(struct copying *copying) {
    copying->first_parts = gt_mem_array(gt_column_count + 1, sizeof *copying->first_parts);
    copying->left = gt_mem_array(gt_column_count, sizeof *copying->left);
    if (!copying->first_parts || !copying->left)
        return false;
    for (size_t c = 0; c < gt_column_count; c++) {
        size_t parts = count_parts(copying, &gt_column_infos[c]);
        copying->first_parts[c + 1] = copying->first_parts[c] + parts;
        atomic_init(&copying->left[c], parts);
    }
    return true;
}

bool gt_seal_merge_rows(struct gt_merge *merge, struct gt_builder *builders, size_t count) {
    struct copying copying = {.merge = merge, .builders = builders, .builder_count = count};
    bool ok = place_rows(merge, builders, count) && divide_columns(&copying);
    if (ok) {
        gt_threads_deal(count, gt_column_count, move_columns, &copying);
        gt_threads_run(count, copy_columns, &copying);
    }
    gt_mem_free(copying.first_parts);
    gt_mem_free((void *)copying.left);
    return ok;
}
