/* Plain rows: payloads of records come in, their integers go to columns.

   The type of each column up to the last wanted one is a byte of the record's header here, so those bytes say where
   all values are: what follows from them is kept and looked up by them. Columns far behind the others, which have to
   be NULL, are left out of what is kept, because sizes of values between change from row to row. */
#include "decode/sqlite/sqlite_plain.h"

#include <string.h>

#include "base/mem.h"
#include "decode/sqlite/sqlite_words.h"

enum {
    KEY_BYTES_MAX = 16, /* two words */
    GAP_MAX = 8,        /* unwanted columns between two wanted ones that are kept */
    LAYOUT_COUNT_LOG2 = 8,
    LAYOUT_COUNT = 1 << LAYOUT_COUNT_LOG2,
};

/* An integer in the payload: eight loaded bytes, shifted to the right. One that is not there is what the first byte of
   the record has above its seven lowest bits, which is nothing, plus a constant. */
struct field {
    uint32_t offset;
    uint8_t shift;
    int8_t constant;
};

/* Of a size that finds one of many without a multiplication. */
struct layout {
    uint64_t key[2];                /* the header's first bytes, zeros after them */
    uint32_t end;                   /* of the wanted values in the payload; UINT32_MAX: such rows are not plain */
    uint32_t text_offset, text_len; /* 0: there is none */
    uint32_t unused[9];
    struct field fields[GT_SQLITE_PLAIN_MAX];
};
_Static_assert(sizeof(struct layout) == 128, "the size of a layout is no power of two");

struct gt_sqlite_plains {
    size_t field_count;
    uint16_t columns[GT_SQLITE_PLAIN_MAX]; /* of the fields; GT_SQLITE_NO_COLUMN: always -1 */
    bool may_lack[GT_SQLITE_PLAIN_MAX];
    bool has_text;
    uint16_t text_column;
    size_t null_count, far_null_count;
    uint16_t nulls[GT_SQLITE_PLAIN_MAX], far_nulls[GT_SQLITE_PLAIN_MAX]; /* columns */
    size_t key_bytes;                                                    /* header bytes up to the last kept column */
    size_t types_bytes;                                                  /* up to the last wanted column */
    size_t far_words;                                                    /* between both */
    uint64_t key_mask[2];                                                /* what counts of the words of the key */
    uint64_t far_mask;                                                   /* of the last word of what is far */
    struct layout layouts[LAYOUT_COUNT];
};

struct gt_sqlite_plains *gt_sqlite_plain_new(void) {
    return gt_mem_array(1, sizeof(struct gt_sqlite_plains));
}

void gt_sqlite_plain_free(struct gt_sqlite_plains *plains) {
    gt_mem_free(plains);
}

static bool has_slot(const uint8_t *slots, size_t count, size_t slot) {
    return memchr(slots, (int)slot, count) != NULL;
}

/* The first wanted column from one on; GT_SQLITE_NO_COLUMN if there is none. */
static uint16_t next_wanted(const struct gt_sqlite_columns *columns, int from) {
    uint16_t next = GT_SQLITE_NO_COLUMN;
    for (size_t i = 0; i < columns->count; i++)
        if (columns->index[i] >= from && columns->index[i] < next)
            next = columns->index[i];
    return next;
}

/* Which wanted columns are close together at the front, and which follow far behind. */
static void split_columns(struct gt_sqlite_plains *plains, const struct gt_sqlite_columns *columns) {
    int last = -1, next;
    while ((next = next_wanted(columns, last + 1)) <= last + 1 + GAP_MAX && next + 2 <= KEY_BYTES_MAX)
        last = next;
    plains->key_bytes = (size_t)(last + 2);
    memset(plains->key_mask, 0, sizeof plains->key_mask);
    memset(plains->key_mask, 0xFF, plains->key_bytes);
    for (; next != GT_SQLITE_NO_COLUMN; next = next_wanted(columns, last + 1))
        last = next;
    plains->types_bytes = (size_t)(last + 2);
    plains->far_words = (plains->types_bytes - plains->key_bytes + 7) / 8;
    plains->far_mask = gt_sqlite_words_last_mask(plains->types_bytes - plains->key_bytes);
}

/* false: rows with such a column among the wanted ones are not plain. */
static bool take_slot(struct gt_sqlite_plains *plains, const struct gt_sqlite_columns *columns,
                      const struct gt_sqlite_plain *plain, size_t slot) {
    uint16_t column = columns->index[slot];
    bool is_integer = has_slot(plain->integers, plain->integer_count, slot);
    bool is_null = has_slot(plain->nulls, plain->null_count, slot);
    bool is_there = column != GT_SQLITE_NO_COLUMN, is_far = is_there && column + 2U > plains->key_bytes;
    if (is_integer && !is_there)
        return plain->may_lack >> slot & 1;
    bool is_text = plain->has_text && slot == plain->text;
    if ((is_integer || is_null || is_text) && is_there && (columns->is_real[slot] || column == columns->rowid_alias))
        return false;
    if (is_null && is_far)
        plains->far_nulls[plains->far_null_count++] = column;
    else if (is_null && is_there)
        plains->nulls[plains->null_count++] = column;
    return is_null || !is_far;
}

bool gt_sqlite_plain_use(struct gt_sqlite_plains *plains, const struct gt_sqlite_columns *columns,
                         const struct gt_sqlite_plain *plain) {
    bool is_plain = true;
    split_columns(plains, columns);
    plains->field_count = plain->integer_count;
    plains->null_count = plains->far_null_count = 0;
    plains->text_column = plain->has_text ? columns->index[plain->text] : GT_SQLITE_NO_COLUMN;
    plains->has_text = plain->has_text;
    for (size_t i = 0; i < plain->integer_count; i++) {
        plains->columns[i] = columns->index[plain->integers[i]];
        plains->may_lack[i] = plain->may_lack >> plain->integers[i] & 1;
    }
    for (size_t slot = 0; slot < columns->count; slot++)
        is_plain &= take_slot(plains, columns, plain, slot);
    /* A record that has nothing but zeros in its place is not plain. */
    for (size_t i = 0; i < LAYOUT_COUNT; i++)
        plains->layouts[i] = (struct layout){.end = UINT32_MAX};
    return is_plain;
}

static int64_t load_integer(const struct field *field, const uint8_t *payload) {
    uint64_t word = gt_sqlite_words_load(payload + field->offset);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return ((int64_t)word >> field->shift) + field->constant;
}

/* Bytes that a value takes whose type is a byte. */
static uint32_t size_of(uint8_t type) {
    static const uint8_t sizes[12] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
    return type < 12 ? sizes[type] : (type - 12U) / 2;
}

/* false: the value of this type is no integer. */
static bool make_field(struct field *field, uint8_t type, uint32_t offset, bool may_lack) {
    bool is_null = type == 0 && may_lack;
    if (type == 7 || type > 9 || (type == 0 && !may_lack))
        return false;
    uint32_t size = size_of(type);
    *field = size ? (struct field){offset, (uint8_t)(64 - 8 * size), 0}
                  : (struct field){0, 63, is_null ? (int8_t)-1 : (int8_t)(type == 9)};
    return true;
}

/* What follows from the header of a record. */
static void make_layout(const struct gt_sqlite_plains *plains, const uint8_t *payload, struct layout *layout) {
    uint32_t offsets[KEY_BYTES_MAX] = {0}, offset = payload[0];
    bool is_plain = payload[0] >= plains->key_bytes;
    for (size_t i = 0; i < plains->key_bytes; i++)
        is_plain &= payload[i] < 0x80;
    for (size_t i = 0; i + 1 < plains->key_bytes; i++) {
        offsets[i] = offset;
        offset += size_of(payload[1 + i]);
    }
    for (size_t i = 0; i < plains->null_count; i++)
        is_plain &= payload[1 + plains->nulls[i]] == 0;
    for (size_t i = 0; i < plains->field_count && is_plain; i++) {
        uint16_t column = plains->columns[i];
        is_plain = column == GT_SQLITE_NO_COLUMN
                       ? make_field(&layout->fields[i], 0, 0, true)
                       : make_field(&layout->fields[i], payload[1 + column], offsets[column], plains->may_lack[i]);
    }
    layout->text_offset = layout->text_len = 0;
    if (plains->text_column != GT_SQLITE_NO_COLUMN && payload[1 + plains->text_column] != 0 && is_plain) {
        uint8_t type = payload[1 + plains->text_column];
        layout->text_offset = offsets[plains->text_column];
        layout->text_len = size_of(type);
        is_plain = type > 12 && type % 2;
    }
    layout->end = is_plain ? offset : UINT32_MAX;
}

static inline const struct layout *find_layout(struct gt_sqlite_plains *plains, const uint8_t *payload) {
    uint64_t key[2] = {gt_sqlite_words_load(payload) & plains->key_mask[0],
                       gt_sqlite_words_load(payload + 8) & plains->key_mask[1]};
    uint64_t hash = key[0] * UINT64_C(0x9E3779B97F4A7C15) + key[1] * UINT64_C(0xD6E8FEB86659FD93);
    struct layout *layout = &plains->layouts[hash >> (64 - LAYOUT_COUNT_LOG2)];
    if ((layout->key[0] ^ key[0]) | (layout->key[1] ^ key[1])) {
        make_layout(plains, payload, layout);
        memcpy(layout->key, key, sizeof key);
    }
    return layout;
}

static bool are_far_nulls(const struct gt_sqlite_plains *plains, const uint8_t *payload) {
    bool are_null = payload[0] >= plains->types_bytes &&
                    gt_sqlite_words_are_short(payload + plains->key_bytes, plains->far_words, plains->far_mask);
    for (size_t i = 0; i < plains->far_null_count; i++)
        are_null &= payload[1 + plains->far_nulls[i]] == 0;
    return are_null;
}

/* A table has the same fields in all rows, so that the jump is foreseen. */
static void load_fields(const struct field *fields, size_t count, const uint8_t *payload, int64_t *values) {
#define LOAD(i) values[(size_t)(i)*GT_SQLITE_BATCH_ROWS] = load_integer(&fields[i], payload)
    switch (count) {
    case 8:
        LOAD(7); /* fall through */
    case 7:
        LOAD(6); /* fall through */
    case 6:
        LOAD(5); /* fall through */
    case 5:
        LOAD(4); /* fall through */
    case 4:
        LOAD(3); /* fall through */
    case 3:
        LOAD(2); /* fall through */
    case 2:
        LOAD(1); /* fall through */
    case 1:
        LOAD(0);
    }
#undef LOAD
}

/* The length of a varint of up to eight bytes; 0: it is longer. */
static inline size_t varint_bytes(const uint8_t *bytes) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t ends = ~gt_sqlite_words_load(bytes) & UINT64_C(0x8080808080808080);
    return ends ? (size_t)__builtin_ctzll(ends) / 8 + 1 : 0;
#else
    size_t count = 1;
    while (count <= 8 && bytes[count - 1] >= 0x80)
        count++;
    return count <= 8 ? count : 0;
#endif
}

/* The whole payload of a cell that has the most ordinary form; NULL: it has not. */
static inline const uint8_t *find_payload(const struct gt_sqlite_leaf *leaf, uint32_t at, size_t *payload_bytes) {
    enum { SIZES_BYTES = 2 + 8 }; /* of the length, and of the rowid */
    const uint8_t *cell = leaf->page + at;
    if (at < leaf->cells_from || at + SIZES_BYTES > leaf->usable_bytes)
        return NULL;
    uint64_t size = cell[0];
    if (*cell++ >= 0x80) {
        size = (size & 0x7F) << 7 | cell[0];
        if (*cell++ >= 0x80)
            return NULL;
    }
    size_t rowid_bytes = varint_bytes(cell);
    if (rowid_bytes == 0)
        return NULL;
    cell += rowid_bytes;
    *payload_bytes = size;
    return size <= leaf->usable_bytes - GT_SQLITE_LEAF_SPARE && size <= leaf->usable_bytes - (size_t)(cell - leaf->page)
               ? cell
               : NULL;
}

static struct gt_str text_of(const struct layout *layout, const uint8_t *payload) {
    const char *text = layout->text_offset ? (const char *)payload + layout->text_offset : NULL;
    return (struct gt_str){text, layout->text_len};
}

void gt_sqlite_plain_fill(struct gt_sqlite_plains *plains, struct gt_sqlite_leaf *leaf, struct gt_sqlite_batch *batch) {
    size_t row = batch->count;
    for (; leaf->pointers < leaf->pointers_end && row < GT_SQLITE_BATCH_ROWS; leaf->pointers += 2) {
        uint32_t at = gt_sqlite_record_load16(leaf->pointers);
        size_t payload_bytes;
        const uint8_t *payload = find_payload(leaf, at, &payload_bytes);
        if (!payload || payload_bytes > leaf->room_bytes || payload_bytes < plains->types_bytes)
            break;
        const struct layout *layout = find_layout(plains, payload);
        if (layout->end > payload_bytes || (plains->far_null_count && !are_far_nulls(plains, payload)))
            break;
        leaf->room_bytes -= payload_bytes;
        batch->pointers[row] = (uint32_t)(leaf->pointers - leaf->page);
        if (plains->has_text)
            batch->texts[row] = text_of(layout, payload);
        load_fields(layout->fields, plains->field_count, payload, &batch->values[0][row++]);
    }
    batch->count = row;
}
