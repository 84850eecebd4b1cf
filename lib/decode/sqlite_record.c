/* SQLite records: bytes of a payload come in, values of the wanted columns go out. */
#include "decode/sqlite_record.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

enum { KEY_BYTES_MAX = 64, LAYOUT_COUNT_LOG2 = 9, LAYOUT_COUNT = 1 << LAYOUT_COUNT_LOG2 };

enum field_kind { FIELD_NULL, FIELD_ZERO, FIELD_ONE, FIELD_INT, FIELD_REAL, FIELD_TEXT, FIELD_BLOB };

/* Where a column's value stands in the payload. */
struct field {
    uint32_t offset, len;
    uint8_t kind;
    uint8_t shift; /* integers: bits to drop after loading eight bytes */
};

struct layout {
    uint64_t key[KEY_BYTES_MAX / 8]; /* the header's first bytes, zeros behind them */
    uint32_t end;                    /* of the last wanted value in the payload */
    bool is_set;
    struct field fields[GT_SQLITE_COLUMNS_MAX];
};

struct gt_sqlite_layouts {
    const struct gt_sqlite_columns *columns;
    uint16_t ascending[GT_SQLITE_COLUMNS_MAX]; /* wanted columns by their place in the table */
    size_t wanted_count;
    size_t key_bytes, key_words; /* header bytes up to the last wanted column; 0 words: not kept */
    uint64_t last_mask;
    struct layout scratch; /* of a header that is not kept */
    struct layout kept[LAYOUT_COUNT];
};

struct gt_sqlite_layouts *gt_sqlite_layouts_new(void) {
    return gt_alloc_array(1, sizeof(struct gt_sqlite_layouts));
}

void gt_sqlite_layouts_free(struct gt_sqlite_layouts *layouts) {
    gt_free(layouts);
}

void gt_sqlite_layouts_use(struct gt_sqlite_layouts *layouts, const struct gt_sqlite_columns *columns) {
    layouts->columns = columns;
    layouts->wanted_count = 0;
    for (uint16_t i = 0; i < columns->count; i++) {
        if (columns->index[i] == GT_SQLITE_NO_COLUMN)
            continue;
        size_t place = layouts->wanted_count++;
        for (; place > 0 && columns->index[layouts->ascending[place - 1]] > columns->index[i]; place--)
            layouts->ascending[place] = layouts->ascending[place - 1];
        layouts->ascending[place] = i;
    }
    size_t wanted = layouts->wanted_count;
    layouts->key_bytes = wanted ? (size_t)columns->index[layouts->ascending[wanted - 1]] + 2 : 0;
    layouts->key_words = layouts->key_bytes <= KEY_BYTES_MAX ? (layouts->key_bytes + 7) / 8 : 0;
    size_t in_last = layouts->key_bytes % 8;
    layouts->last_mask = in_last ? (UINT64_C(1) << (in_last * 8)) - 1 : UINT64_MAX;
    for (size_t i = 0; i < LAYOUT_COUNT; i++)
        layouts->kept[i].is_set = false;
}

size_t gt_sqlite_varint(const uint8_t *bytes, size_t limit, uint64_t *value) {
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

/* Bytes that a value of a serial type takes. */
static uint64_t serial_bytes(uint64_t type) {
    static const uint8_t sizes[12] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
    return type < 12 ? sizes[type] : (type - 12) / 2;
}

static struct field field_of(uint64_t type, uint32_t offset) {
    uint32_t len = (uint32_t)serial_bytes(type);
    struct field field = {.offset = offset, .len = len};
    if (type >= 12) {
        field.kind = type % 2 ? FIELD_TEXT : FIELD_BLOB;
    } else if (type >= 1 && type <= 6) {
        field.kind = FIELD_INT;
        field.shift = (uint8_t)(64 - 8 * len);
    } else {
        field.kind = type == 7 ? FIELD_REAL : type == 8 ? FIELD_ZERO : type == 9 ? FIELD_ONE : FIELD_NULL;
    }
    return field;
}

/* Fills a layout from the header. */
static enum gt_sqlite_outcome parse_header(const struct gt_sqlite_layouts *layouts,
                                           const struct gt_sqlite_record *record, struct layout *layout,
                                           size_t *needed) {
    const struct gt_sqlite_columns *columns = layouts->columns;
    uint64_t header_bytes, type;
    memset(layout->fields, 0, sizeof layout->fields);
    layout->end = 0;
    size_t at = gt_sqlite_varint(record->payload, record->at_hand, &header_bytes);
    if (at == 0 || header_bytes < at || header_bytes > record->payload_bytes)
        return GT_SQLITE_DAMAGED;
    if (header_bytes > record->at_hand) {
        *needed = (size_t)header_bytes;
        return GT_SQLITE_NEEDS_MORE;
    }
    uint64_t offset = header_bytes;
    size_t next = 0;
    for (uint16_t column = 0; next < layouts->wanted_count && at < header_bytes; column++) {
        size_t len = gt_sqlite_varint(record->payload + at, (size_t)header_bytes - at, &type);
        /* A value cannot be longer than its record, whose length is that of the file at most. */
        if (len == 0 || serial_bytes(type) > record->payload_bytes - offset)
            return GT_SQLITE_DAMAGED;
        at += len;
        for (; next < layouts->wanted_count && columns->index[layouts->ascending[next]] == column; next++) {
            layout->fields[layouts->ascending[next]] = field_of(type, (uint32_t)offset);
            layout->end = (uint32_t)(offset + serial_bytes(type));
        }
        offset += serial_bytes(type);
    }
    return GT_SQLITE_ROW;
}

/* The header's first bytes as words, and a slot for them. */
static size_t key_of(const struct gt_sqlite_layouts *layouts, const uint8_t *payload, uint64_t *key) {
    uint64_t hash = 0;
    for (size_t i = 0; i < layouts->key_words; i++) {
        memcpy(&key[i], payload + 8 * i, 8);
        if (i + 1 == layouts->key_words)
            key[i] &= layouts->last_mask;
        hash = (hash ^ key[i]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    return (size_t)(hash * UINT64_C(0xD6E8FEB86659FD93) >> (64 - LAYOUT_COUNT_LOG2));
}

/* Each of the first bytes must be one whole number: then equal bytes mean equal layouts. */
static bool can_keep(const struct gt_sqlite_layouts *layouts, const uint64_t *key) {
    uint64_t high = 0;
    for (size_t i = 0; i < layouts->key_words; i++)
        high |= key[i] & UINT64_C(0x8080808080808080);
    return high == 0 && ((const uint8_t *)key)[0] >= layouts->key_bytes;
}

static bool is_same_key(const struct gt_sqlite_layouts *layouts, const uint64_t *a, const uint64_t *b) {
    uint64_t difference = 0;
    for (size_t i = 0; i < layouts->key_words; i++)
        difference |= a[i] ^ b[i];
    return difference == 0;
}

static uint64_t load_big_endian(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static void set_integer(struct gt_sqlite_value *value, int64_t integer, bool is_real) {
    if (is_real) {
        value->type = GT_SQLITE_REAL;
        value->real = (double)integer;
    } else {
        value->type = GT_SQLITE_INT;
        value->integer = integer;
    }
}

static void read_field(const struct field *field, const struct gt_sqlite_record *record, bool is_real,
                       struct gt_sqlite_value *value) {
    switch ((enum field_kind)field->kind) {
    case FIELD_NULL:
        value->type = GT_SQLITE_NULL;
        break;
    case FIELD_ZERO:
    case FIELD_ONE:
        set_integer(value, field->kind == FIELD_ONE, is_real);
        break;
    case FIELD_INT:
        set_integer(value, (int64_t)load_big_endian(record->payload + field->offset) >> field->shift, is_real);
        break;
    case FIELD_REAL: {
        uint64_t bits = load_big_endian(record->payload + field->offset);
        memcpy(&value->real, &bits, sizeof bits);
        value->type = isnan(value->real) ? GT_SQLITE_NULL : GT_SQLITE_REAL; /* SQL has no NaN */
        break;
    }
    case FIELD_TEXT:
    case FIELD_BLOB:
        value->type = field->kind == FIELD_TEXT ? GT_SQLITE_TEXT : GT_SQLITE_BLOB;
        value->bytes = (const char *)record->payload + field->offset;
        value->len = field->len;
        break;
    }
}

static void read_fields(const struct gt_sqlite_layouts *layouts, const struct layout *layout,
                        const struct gt_sqlite_record *record, struct gt_sqlite_value *values) {
    const struct gt_sqlite_columns *columns = layouts->columns;
    for (size_t i = 0; i < columns->count; i++) {
        read_field(&layout->fields[i], record, columns->is_real[i], &values[i]);
        if (values[i].type == GT_SQLITE_NULL && columns->index[i] == columns->rowid_alias &&
            columns->rowid_alias != GT_SQLITE_NO_COLUMN)
            set_integer(&values[i], record->rowid, false);
    }
}

enum gt_sqlite_outcome gt_sqlite_record_read(struct gt_sqlite_layouts *layouts, const struct gt_sqlite_record *record,
                                             struct gt_sqlite_value *values, size_t *needed) {
    uint64_t key[KEY_BYTES_MAX / 8];
    struct layout *layout = &layouts->scratch;
    bool is_keeping = layouts->key_words && record->at_hand >= layouts->key_bytes;
    if (is_keeping) {
        layout = &layouts->kept[key_of(layouts, record->payload, key)];
        if (!layout->is_set || !is_same_key(layouts, layout->key, key)) {
            is_keeping = can_keep(layouts, key);
            layout = is_keeping ? layout : &layouts->scratch;
            layout->is_set = false;
        }
    }
    if (!layout->is_set) {
        enum gt_sqlite_outcome outcome = parse_header(layouts, record, layout, needed);
        if (outcome != GT_SQLITE_ROW)
            return outcome;
        if (is_keeping)
            memcpy(layout->key, key, layouts->key_words * sizeof *key);
        layout->is_set = is_keeping;
    }
    if (layout->end > record->at_hand) {
        *needed = layout->end;
        return layout->end > record->payload_bytes ? GT_SQLITE_DAMAGED : GT_SQLITE_NEEDS_MORE;
    }
    read_fields(layouts, layout, record, values);
    return GT_SQLITE_ROW;
}
