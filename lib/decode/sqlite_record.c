/* SQLite records: bytes of a payload come in, values of the wanted columns go out.

   A record begins with its header: the header's length, then one number for each column that tells the type and size
   of its value. Up to the last wanted column nearly always each is one byte. The wanted columns at the front of a
   table then lie where they lay in other records with the same first header bytes; a few columns far behind, which are
   NULL in most rows, are found by adding up the sizes between, and only where they have a value. */
#include "decode/sqlite_record.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

enum {
    KEY_BYTES_MAX = 64,
    FRONT_GAP_MAX = 8, /* unwanted columns between two wanted ones of the front */
    LAYOUT_COUNT_LOG2 = 7,
    LAYOUT_COUNT = 1 << LAYOUT_COUNT_LOG2,
};

enum field_kind {
    FIELD_INT,
    FIELD_NULL,
    FIELD_ROWID,
    FIELD_REAL,
    FIELD_INT_AS_REAL,
    FIELD_TEXT,
    FIELD_BLOB,
};

/* Where a column's value stands in the payload. */
struct field {
    uint32_t offset, len;
    uint8_t kind, slot; /* slot: of the value */
    /* Integers are eight loaded bytes less some bits, or 0 or 1 that stand nowhere: without a branch, because small
       numbers change between both kinds from row to row. */
    uint8_t shift, constant;
    int8_t mask;
};

/* A wanted column that the table has. */
struct wanted {
    uint16_t column;
    uint8_t slot;
    bool is_real, is_rowid;
};

struct layout {
    uint64_t key[KEY_BYTES_MAX / 8]; /* the header's first bytes, zeros behind them */
    uint32_t end;                    /* of the last wanted value in the payload */
    uint32_t next;                   /* where the column behind the front begins */
    bool is_set;
    struct field fields[GT_SQLITE_COLUMNS_MAX];
};

struct gt_sqlite_layouts {
    struct wanted wanted[GT_SQLITE_COLUMNS_MAX]; /* by their place in the table */
    size_t wanted_count, front_count;
    uint8_t absent[GT_SQLITE_COLUMNS_MAX]; /* slots of columns that the table has not */
    size_t absent_count;
    size_t key_bytes, key_words; /* header bytes up to the last column of the front; 0 words: never kept */
    size_t types_bytes;          /* header bytes up to the last wanted column */
    uint64_t last_mask;
    uint8_t small_sizes[128]; /* of values by type, for types of one byte */
    struct layout scratch;    /* of a header that is not kept */
    struct layout kept[LAYOUT_COUNT];
};

/* Bytes that a value of a serial type takes. */
static uint64_t serial_bytes(uint64_t type) {
    static const uint8_t sizes[12] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
    return type < 12 ? sizes[type] : (type - 12) / 2;
}

struct gt_sqlite_layouts *gt_sqlite_layouts_new(void) {
    struct gt_sqlite_layouts *layouts = gt_alloc_array(1, sizeof *layouts);
    for (size_t type = 0; layouts && type < sizeof layouts->small_sizes; type++)
        layouts->small_sizes[type] = (uint8_t)serial_bytes(type);
    return layouts;
}

void gt_sqlite_layouts_free(struct gt_sqlite_layouts *layouts) {
    gt_free(layouts);
}

static void sort_wanted(struct gt_sqlite_layouts *layouts, const struct gt_sqlite_columns *columns) {
    layouts->wanted_count = layouts->absent_count = 0;
    for (uint8_t slot = 0; slot < columns->count; slot++) {
        uint16_t column = columns->index[slot];
        if (column == GT_SQLITE_NO_COLUMN) {
            layouts->absent[layouts->absent_count++] = slot;
            continue;
        }
        size_t place = layouts->wanted_count++;
        for (; place > 0 && layouts->wanted[place - 1].column > column; place--)
            layouts->wanted[place] = layouts->wanted[place - 1];
        layouts->wanted[place] = (struct wanted){column, slot, columns->is_real[slot], column == columns->rowid_alias};
    }
}

/* Those bytes of a word that stand first in memory. */
static uint64_t first_bytes(size_t count) {
    uint64_t mask = 0;
    memset(&mask, 0xFF, count);
    return mask;
}

void gt_sqlite_layouts_use(struct gt_sqlite_layouts *layouts, const struct gt_sqlite_columns *columns) {
    sort_wanted(layouts, columns);
    size_t front = 0;
    int last = -1;
    while (front < layouts->wanted_count && layouts->wanted[front].column <= last + 1 + FRONT_GAP_MAX &&
           layouts->wanted[front].column + 2 <= KEY_BYTES_MAX)
        last = layouts->wanted[front++].column;
    layouts->front_count = front;
    layouts->key_bytes = front ? (size_t)last + 2 : 0;
    layouts->key_words = (layouts->key_bytes + 7) / 8;
    layouts->types_bytes = layouts->wanted_count ? (size_t)layouts->wanted[layouts->wanted_count - 1].column + 2 : 0;
    layouts->last_mask = first_bytes((layouts->key_bytes + 7) % 8 + 1);
    for (size_t i = 0; i < LAYOUT_COUNT; i++)
        layouts->kept[i].is_set = false;
}

size_t gt_sqlite_varint_long(const uint8_t *bytes, size_t limit, uint64_t *value) {
    uint64_t result = 0;
    for (size_t i = 0; i < limit && i < 8; i++) {
        result = result << 7 | (bytes[i] & 0x7F);
        if (bytes[i] < 0x80) {
            *value = result;
            return i + 1;
        }
    }
    if (limit < 9)
        return 0;
    *value = result << 8 | bytes[8];
    return 9;
}

static struct field field_of(const struct wanted *wanted, uint64_t type, uint32_t offset) {
    struct field field = {.offset = offset, .len = (uint32_t)serial_bytes(type), .slot = wanted->slot};
    if (type >= 12) {
        field.kind = type % 2 ? FIELD_TEXT : FIELD_BLOB;
    } else if (type == 7) {
        field.kind = FIELD_REAL;
    } else if (type == 0 || type >= 10) {
        field.kind = wanted->is_rowid ? FIELD_ROWID : FIELD_NULL;
    } else {
        field.kind = wanted->is_real ? FIELD_INT_AS_REAL : FIELD_INT;
        field.shift = (uint8_t)(field.len ? 64 - 8 * field.len : 0);
        field.mask = field.len ? -1 : 0;
        field.constant = type == 9;
        field.offset = field.len ? offset : 0; /* anywhere that is there */
    }
    return field;
}

/* Fills a layout from the header, for the first of the wanted columns. */
static enum gt_sqlite_outcome parse_header(const struct gt_sqlite_layouts *layouts, size_t wanted_count,
                                           const struct gt_sqlite_record *record, struct layout *layout,
                                           size_t *needed) {
    uint64_t header_bytes, type;
    size_t at = gt_sqlite_varint(record->payload, record->at_hand, &header_bytes);
    if (at == 0 || header_bytes < at || header_bytes > record->payload_bytes)
        return GT_SQLITE_DAMAGED;
    if (header_bytes > record->at_hand) {
        *needed = (size_t)header_bytes;
        return GT_SQLITE_NEEDS_MORE;
    }
    uint64_t offset = header_bytes;
    size_t next = 0;
    layout->end = 0;
    for (uint16_t column = 0; next < wanted_count && at < header_bytes; column++) {
        size_t len = gt_sqlite_varint(record->payload + at, (size_t)header_bytes - at, &type);
        if (len == 0 || serial_bytes(type) > record->payload_bytes - offset)
            return GT_SQLITE_DAMAGED;
        at += len;
        for (; next < wanted_count && layouts->wanted[next].column == column; next++) {
            layout->fields[next] = field_of(&layouts->wanted[next], type, (uint32_t)offset);
            layout->end = (uint32_t)(offset + serial_bytes(type));
        }
        offset += serial_bytes(type);
    }
    layout->next = (uint32_t)offset;
    /* Records from before a column was added are shorter. */
    for (; next < wanted_count; next++)
        layout->fields[next] = field_of(&layouts->wanted[next], 0, 0);
    return GT_SQLITE_ROW;
}

static uint64_t load_big_endian(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static int64_t load_integer(const struct field *field, const uint8_t *payload) {
    return ((int64_t)load_big_endian(payload + field->offset) >> field->shift & field->mask) | field->constant;
}

static void read_odd_field(const struct field *field, const struct gt_sqlite_record *record,
                           struct gt_sqlite_value *value) {
    uint64_t bits;
    switch ((enum field_kind)field->kind) {
    case FIELD_NULL:
        value->type = GT_SQLITE_NULL;
        break;
    case FIELD_INT:
    case FIELD_ROWID:
        value->type = GT_SQLITE_INT;
        value->integer = field->kind == FIELD_INT ? load_integer(field, record->payload) : record->rowid;
        break;
    case FIELD_INT_AS_REAL:
        value->type = GT_SQLITE_REAL;
        value->real = (double)load_integer(field, record->payload);
        break;
    case FIELD_REAL:
        bits = load_big_endian(record->payload + field->offset);
        memcpy(&value->real, &bits, sizeof bits);
        value->type = isnan(value->real) ? GT_SQLITE_NULL : GT_SQLITE_REAL; /* SQL has no NaN */
        break;
    case FIELD_TEXT:
    case FIELD_BLOB:
        value->type = field->kind == FIELD_TEXT ? GT_SQLITE_TEXT : GT_SQLITE_BLOB;
        value->bytes = (const char *)record->payload + field->offset;
        value->len = field->len;
        break;
    }
}

static void read_fields(const struct field *fields, size_t count, const struct gt_sqlite_record *record,
                        struct gt_sqlite_value *values) {
    const uint8_t *payload = record->payload;
    for (const struct field *field = fields; field < fields + count; field++) {
        struct gt_sqlite_value *value = &values[field->slot];
        if (field->kind == FIELD_INT) {
            value->type = GT_SQLITE_INT;
            value->integer = load_integer(field, payload);
        } else {
            read_odd_field(field, record, value);
        }
    }
}

/* The header's first bytes as words, and a place for them. */
static size_t key_of(const struct gt_sqlite_layouts *layouts, const uint8_t *payload, uint64_t *key) {
    size_t last = layouts->key_words - 1;
    uint64_t hash = 0;
    for (size_t i = 0; i < last; i++) {
        memcpy(&key[i], payload + 8 * i, 8);
        hash = (hash ^ key[i]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    memcpy(&key[last], payload + 8 * last, 8);
    key[last] &= layouts->last_mask;
    return (size_t)((hash ^ key[last]) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - LAYOUT_COUNT_LOG2));
}

static bool is_same_key(const uint64_t *a, const uint64_t *b, size_t words) {
    uint64_t difference = 0;
    for (size_t i = 0; i < words; i++)
        difference |= a[i] ^ b[i];
    return difference == 0;
}

/* Whether each of these bytes is a whole number. */
static bool are_small(const uint8_t *bytes, size_t count) {
    uint64_t word, high = 0;
    for (; count >= 8; count -= 8, bytes += 8) {
        memcpy(&word, bytes, 8);
        high |= word;
    }
    memcpy(&word, bytes, 8);
    high |= word & first_bytes(count);
    return (high & UINT64_C(0x8080808080808080)) == 0;
}

/* The layout of the front, from memory or newly kept. NULL: this header needs the long way. */
static const struct layout *front_layout(struct gt_sqlite_layouts *layouts, const struct gt_sqlite_record *record) {
    uint64_t key[KEY_BYTES_MAX / 8];
    size_t needed;
    struct layout *layout = &layouts->kept[key_of(layouts, record->payload, key)];
    if (layout->is_set && is_same_key(layout->key, key, layouts->key_words))
        return layout;
    if (record->payload[0] < layouts->key_bytes || !are_small(record->payload, layouts->key_bytes))
        return NULL;
    layout->is_set = parse_header(layouts, layouts->front_count, record, layout, &needed) == GT_SQLITE_ROW;
    memcpy(layout->key, key, layouts->key_words * sizeof *key);
    return layout->is_set ? layout : NULL;
}

/* The wanted columns behind the front. false: the long way is needed. */
static bool read_tail(const struct gt_sqlite_layouts *layouts, const struct layout *front,
                      const struct gt_sqlite_record *record, struct gt_sqlite_value *values) {
    const uint8_t *types = record->payload + 1;
    size_t column = layouts->key_bytes - 1;
    uint64_t offset = front->next;
    if (record->payload[0] < layouts->types_bytes ||
        !are_small(types + column, layouts->types_bytes - layouts->key_bytes))
        return false; /* a long name among them, or an older, shorter record */
    for (size_t i = layouts->front_count; i < layouts->wanted_count; i++) {
        const struct wanted *wanted = &layouts->wanted[i];
        uint8_t type = types[wanted->column];
        if (layouts->small_sizes[type] > 0) {
            for (; column < wanted->column; column++)
                offset += layouts->small_sizes[types[column]];
            if (offset + layouts->small_sizes[type] > record->at_hand)
                return false;
        }
        if (type == 0 && !wanted->is_rowid) {
            values[wanted->slot].type = GT_SQLITE_NULL;
            continue;
        }
        struct field field = field_of(wanted, type, (uint32_t)offset);
        read_fields(&field, 1, record, values);
    }
    return true;
}

static bool read_fast(struct gt_sqlite_layouts *layouts, const struct gt_sqlite_record *record,
                      struct gt_sqlite_value *values) {
    if (layouts->front_count == 0 || record->at_hand < layouts->types_bytes)
        return false;
    const struct layout *layout = front_layout(layouts, record);
    if (!layout || layout->end > record->at_hand)
        return false;
    read_fields(layout->fields, layouts->front_count, record, values);
    return layouts->front_count == layouts->wanted_count || read_tail(layouts, layout, record, values);
}

enum gt_sqlite_outcome gt_sqlite_record_read(struct gt_sqlite_layouts *layouts, const struct gt_sqlite_record *record,
                                             struct gt_sqlite_value *values, size_t *needed) {
    for (size_t i = 0; i < layouts->absent_count; i++)
        values[layouts->absent[i]].type = GT_SQLITE_NULL;
    if (read_fast(layouts, record, values))
        return GT_SQLITE_ROW;
    struct layout *layout = &layouts->scratch;
    enum gt_sqlite_outcome outcome = parse_header(layouts, layouts->wanted_count, record, layout, needed);
    if (outcome != GT_SQLITE_ROW)
        return outcome;
    if (layout->end > record->at_hand) {
        *needed = layout->end;
        return GT_SQLITE_NEEDS_MORE;
    }
    read_fields(layout->fields, layouts->wanted_count, record, values);
    return GT_SQLITE_ROW;
}
