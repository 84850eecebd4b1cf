/* SQLite records: bytes of a payload come in, values of the wanted columns go out.

   A record begins with its header: the header's length, then one number for each column that gives the type and size
   of its value. Up to the last wanted column nearly always each is one byte. The wanted columns at the front of a
   table then lie where they lay in other records with the same first header bytes; a few columns far after, which are
   NULL in most rows, are found by adding up the sizes between, and only where they have a value. */
#include "decode/sqlite/sqlite_record.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "decode/sqlite/sqlite_words.h"

enum {
    KEY_BYTES_MAX = 64,
    KEY_BYTES_FEW = 16,  /* enough where longer ones differ too much from row to row */
    REPLACED_MAX = 1024, /* layouts in a run, until that is known */
    FRONT_GAP_MAX = 8,   /* unwanted columns between two wanted ones of the front */
    LAYOUT_COUNT_LOG2 = 7,
    LAYOUT_COUNT = 1 << LAYOUT_COUNT_LOG2,
};

/* Where an integer is in the payload: eight loaded bytes less some bits, or 0 or 1 that are nowhere. Without a
   branch, because small numbers change between both kinds from row to row. */
struct integer_field {
    uint32_t offset;
    uint8_t shift, constant;
    int8_t mask;
    uint8_t slot;
};

/* Where a value of any other type is. */
struct other_field {
    union {
        struct integer_field integer; /* is_integer */
        union gt_sqlite_cell value;   /* is_default */
    };
    uint32_t offset;
    uint32_t len;
    uint8_t slot;
    bool is_integer; /* of a column that holds real numbers */
    bool is_default; /* of a record from before the column was added */
};

/* A wanted column that the table has. */
struct wanted {
    uint16_t column;
    uint8_t slot;
    bool is_real, is_rowid;
    uint8_t default_type;
    uint32_t default_len;
    union gt_sqlite_cell default_value;
};

struct layout {
    uint64_t key[KEY_BYTES_MAX / 8]; /* the header's first bytes, zeros after them */
    bool is_set;
    uint32_t end;  /* of the last wanted value in the payload */
    uint32_t next; /* where the column after the last wanted one begins */
    uint8_t types[GT_SQLITE_COLUMNS_MAX];
    size_t integer_count, other_count;
    struct integer_field integers[GT_SQLITE_COLUMNS_MAX];
    struct other_field others[GT_SQLITE_COLUMNS_MAX];
};

/* Of a size that finds one of many without a multiplication. */
enum { LAYOUT_BYTES = 1024 };
union kept_layout {
    struct layout layout;
    char room[LAYOUT_BYTES];
};
_Static_assert(sizeof(union kept_layout) == LAYOUT_BYTES, "a layout has no room");

struct gt_sqlite_layouts {
    struct wanted wanted[GT_SQLITE_COLUMNS_MAX]; /* by their place in the table */
    size_t wanted_count, front_count;
    size_t replaced;              /* layouts since the first record of the table */
    size_t key_bytes, key_words;  /* header bytes up to the last column of the front */
    size_t types_bytes;           /* header bytes up to the last wanted column */
    size_t tail_words;            /* between both */
    uint64_t key_mask, tail_mask; /* what counts of the last word of each */
    uint8_t small_sizes[128];     /* of values by type, for types of one byte */
    struct layout scratch;        /* of a header that is not kept */
    union kept_layout kept[LAYOUT_COUNT];
};

/* Bytes that a value of a serial type takes. */
static uint64_t serial_bytes(uint64_t type) {
    static const uint8_t sizes[12] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
    return type < 12 ? sizes[type] : (type - 12) / 2;
}

struct gt_sqlite_layouts *gt_sqlite_record_layouts_new(void) {
    struct gt_sqlite_layouts *layouts = gt_mem_array(1, sizeof *layouts);
    for (size_t type = 0; layouts && type < sizeof layouts->small_sizes; type++)
        layouts->small_sizes[type] = (uint8_t)serial_bytes(type);
    return layouts;
}

void gt_sqlite_record_layouts_free(struct gt_sqlite_layouts *layouts) {
    gt_mem_free(layouts);
}

static void sort_wanted(struct gt_sqlite_layouts *layouts, const struct gt_sqlite_columns *columns) {
    layouts->wanted_count = 0;
    for (uint8_t slot = 0; slot < columns->count; slot++) {
        uint16_t column = columns->index[slot];
        if (column == GT_SQLITE_NO_COLUMN)
            continue;
        size_t place = layouts->wanted_count++;
        for (; place > 0 && layouts->wanted[place - 1].column > column; place--)
            layouts->wanted[place] = layouts->wanted[place - 1];
        layouts->wanted[place] = (struct wanted){
            .column = column,
            .slot = slot,
            .is_real = columns->is_real[slot],
            .is_rowid = column == columns->rowid_alias,
            .default_type = columns->default_types[slot],
            .default_len = columns->default_lens[slot],
            .default_value = columns->defaults[slot],
        };
    }
}

/* Which of the wanted columns are the front. */
static void split_wanted(struct gt_sqlite_layouts *layouts, int key_bytes_max) {
    size_t front = 0;
    int last = -1;
    while (front < layouts->wanted_count && layouts->wanted[front].column <= last + 1 + FRONT_GAP_MAX &&
           layouts->wanted[front].column + 2 <= key_bytes_max)
        last = layouts->wanted[front++].column;
    layouts->front_count = front;
    layouts->key_bytes = (size_t)(last + 2);
    layouts->key_words = (layouts->key_bytes + 7) / 8;
    layouts->key_mask = gt_sqlite_words_last_mask(layouts->key_bytes);
    if (front < layouts->wanted_count)
        last = layouts->wanted[layouts->wanted_count - 1].column;
    layouts->types_bytes = (size_t)(last + 2);
    layouts->tail_words = (layouts->types_bytes - layouts->key_bytes + 7) / 8;
    layouts->tail_mask = gt_sqlite_words_last_mask(layouts->types_bytes - layouts->key_bytes);
    layouts->replaced = 0;
    for (size_t i = 0; i < LAYOUT_COUNT; i++)
        layouts->kept[i].layout.is_set = false;
}

void gt_sqlite_record_layouts_use(struct gt_sqlite_layouts *layouts, const struct gt_sqlite_columns *columns) {
    sort_wanted(layouts, columns);
    split_wanted(layouts, KEY_BYTES_MAX);
}

size_t gt_sqlite_record_varint_long(const uint8_t *bytes, size_t limit, uint64_t *value) {
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

static uint64_t load_big_endian(const uint8_t *bytes) {
    uint64_t word = gt_sqlite_words_load(bytes);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static int64_t load_integer(const struct integer_field *field, const uint8_t *payload) {
    return ((int64_t)load_big_endian(payload + field->offset) >> field->shift & field->mask) | field->constant;
}

static struct integer_field integer_field(uint64_t type, uint32_t offset, uint8_t slot) {
    uint32_t len = (uint32_t)serial_bytes(type);
    return (struct integer_field){
        .offset = len ? offset : 0, /* anywhere that is there */
        .shift = (uint8_t)(len ? 64 - 8 * len : 0),
        .constant = type == 9,
        .mask = len ? -1 : 0,
        .slot = slot,
    };
}

static void add_field(struct layout *layout, const struct wanted *wanted, uint64_t type, uint32_t offset) {
    uint8_t slot = wanted->slot;
    bool is_integer = (type >= 1 && type <= 6) || type == 8 || type == 9;
    if (wanted->is_rowid) { /* whatever the payload has in its place */
        layout->types[slot] = GT_SQLITE_NULL;
        layout->others[layout->other_count++] = (struct other_field){.slot = slot};
        return;
    }
    if (is_integer && !wanted->is_real) {
        layout->types[slot] = GT_SQLITE_INT;
        layout->integers[layout->integer_count++] = integer_field(type, offset, slot);
        return;
    }
    if (type == 0 || type == 10 || type == 11) {
        layout->types[slot] = GT_SQLITE_NULL;
        return;
    }
    layout->types[slot] = is_integer || type == 7 ? GT_SQLITE_REAL : type % 2 ? GT_SQLITE_TEXT : GT_SQLITE_BLOB;
    layout->others[layout->other_count++] = (struct other_field){
        .offset = offset,
        .len = (uint32_t)serial_bytes(type),
        .slot = slot,
        .is_integer = is_integer,
        .integer = integer_field(is_integer ? type : 0, offset, slot),
    };
}

/* A column that the record does not have yet. */
static void add_missing(struct layout *layout, const struct wanted *wanted) {
    if (wanted->default_type == GT_SQLITE_NULL) {
        add_field(layout, wanted, 0, 0);
        return;
    }
    layout->types[wanted->slot] = wanted->default_type;
    layout->others[layout->other_count++] = (struct other_field){
        .slot = wanted->slot, .is_default = true, .value = wanted->default_value, .len = wanted->default_len};
}

/* Fills a layout from the header, for the first of the wanted columns. */
static enum gt_sqlite_outcome parse_header(const struct gt_sqlite_layouts *layouts, size_t wanted_count,
                                           const struct gt_sqlite_record *record, struct layout *layout,
                                           size_t *needed) {
    uint64_t header_bytes, type;
    size_t at = gt_sqlite_record_varint(record->payload, record->available_bytes, &header_bytes);
    if (at == 0 || header_bytes < at || header_bytes > record->payload_bytes)
        return GT_SQLITE_DAMAGED;
    if (header_bytes > record->available_bytes) {
        *needed = (size_t)header_bytes;
        return GT_SQLITE_NEEDS_MORE;
    }
    uint64_t offset = header_bytes;
    size_t next = 0;
    layout->end = 0;
    layout->integer_count = layout->other_count = 0;
    memset(layout->types, GT_SQLITE_NULL, sizeof layout->types);
    for (uint16_t column = 0; next < wanted_count && at < header_bytes; column++) {
        size_t len = gt_sqlite_record_varint(record->payload + at, (size_t)header_bytes - at, &type);
        if (len == 0 || serial_bytes(type) > record->payload_bytes - offset)
            return GT_SQLITE_DAMAGED;
        at += len;
        for (; next < wanted_count && layouts->wanted[next].column == column; next++) {
            add_field(layout, &layouts->wanted[next], type, (uint32_t)offset);
            layout->end = (uint32_t)(offset + serial_bytes(type));
        }
        offset += serial_bytes(type);
    }
    layout->next = (uint32_t)offset;
    /* Records from before a column was added are shorter. */
    for (; next < wanted_count; next++)
        add_missing(layout, &layouts->wanted[next]);
    return GT_SQLITE_ROW;
}

static void read_other(const struct other_field *field, const struct gt_sqlite_record *record,
                       struct gt_sqlite_row *row) {
    union gt_sqlite_cell *cell = &row->cells[field->slot];
    uint64_t bits;
    if (field->is_default) {
        *cell = field->value;
        row->lens[field->slot] = field->len;
        return;
    }
    switch (row->types[field->slot]) {
    case GT_SQLITE_NULL:
        row->types[field->slot] = GT_SQLITE_INT;
        cell->integer = record->rowid;
        break;
    case GT_SQLITE_REAL:
        if (field->is_integer) {
            cell->real = (double)load_integer(&field->integer, record->payload);
            break;
        }
        bits = load_big_endian(record->payload + field->offset);
        memcpy(&cell->real, &bits, sizeof bits);
        if (isnan(cell->real))
            row->types[field->slot] = GT_SQLITE_NULL; /* SQL has no NaN */
        break;
    default:
        cell->bytes = (const char *)record->payload + field->offset;
        row->lens[field->slot] = field->len;
        break;
    }
}

static void read_fields(const struct layout *layout, const struct gt_sqlite_record *record, struct gt_sqlite_row *row) {
    const uint8_t *payload = record->payload;
    const struct integer_field *end = layout->integers + layout->integer_count;
    memcpy(row->types, layout->types, sizeof row->types);
    for (const struct integer_field *field = layout->integers; field < end; field++)
        row->cells[field->slot].integer = load_integer(field, payload);
    for (size_t i = 0; i < layout->other_count; i++)
        read_other(&layout->others[i], record, row);
}

/* The header's first bytes as words, and a place for them. */
static size_t key_of(const struct gt_sqlite_layouts *layouts, const uint8_t *payload, uint64_t *key) {
    size_t last = layouts->key_words - 1;
    uint64_t hash = 0;
    for (size_t i = 0; i < last; i++) {
        key[i] = gt_sqlite_words_load(payload + 8 * i);
        hash = (hash ^ key[i]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    key[last] = gt_sqlite_words_load(payload + 8 * last) & layouts->key_mask;
    return (size_t)((hash ^ key[last]) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - LAYOUT_COUNT_LOG2));
}

static bool is_same_key(const uint64_t *a, const uint64_t *b, size_t words) {
    uint64_t difference = 0;
    for (size_t i = 0; i < words; i++)
        difference |= a[i] ^ b[i];
    return difference == 0;
}

/* The layout of the front, from memory or newly kept. NULL: this header needs the long way. */
static const struct layout *front_layout(struct gt_sqlite_layouts *layouts, const struct gt_sqlite_record *record) {
    uint64_t key[KEY_BYTES_MAX / 8];
    size_t needed;
    struct layout *layout = &layouts->kept[key_of(layouts, record->payload, key)].layout;
    if (layout->is_set && is_same_key(layout->key, key, layouts->key_words))
        return layout;
    if (record->payload[0] < layouts->key_bytes ||
        !gt_sqlite_words_are_short(record->payload, layouts->key_words, layouts->key_mask))
        return NULL;
    layouts->replaced += layout->is_set;
    if (layouts->replaced > REPLACED_MAX && layouts->key_bytes > KEY_BYTES_FEW) {
        split_wanted(layouts, KEY_BYTES_FEW);
        return NULL;
    }
    layout->is_set = parse_header(layouts, layouts->front_count, record, layout, &needed) == GT_SQLITE_ROW;
    memcpy(layout->key, key, layouts->key_words * sizeof *key);
    return layout->is_set ? layout : NULL;
}

/* The wanted columns after the front. false: the long way is needed, for a long name among the columns between, an
   older and shorter record, or a type that is out of the ordinary here. */
static bool read_tail(const struct gt_sqlite_layouts *layouts, const struct layout *front,
                      const struct gt_sqlite_record *record, struct gt_sqlite_row *row) {
    const uint8_t *types = record->payload + 1;
    size_t column = layouts->key_bytes - 1;
    uint64_t offset = front->next;
    if (record->payload[0] < layouts->types_bytes ||
        !gt_sqlite_words_are_short(types + column, layouts->tail_words, layouts->tail_mask))
        return false;
    for (size_t i = layouts->front_count; i < layouts->wanted_count; i++) {
        const struct wanted *wanted = &layouts->wanted[i];
        uint8_t type = types[wanted->column];
        if (wanted->is_rowid || wanted->is_real || type == 7 || type > 9)
            return false;
        if (type == 0)
            continue; /* as the front has it */
        for (; column < wanted->column; column++)
            offset += layouts->small_sizes[types[column]];
        if (offset + layouts->small_sizes[type] > record->available_bytes)
            return false;
        struct integer_field field = integer_field(type, (uint32_t)offset, wanted->slot);
        row->types[wanted->slot] = GT_SQLITE_INT;
        row->cells[wanted->slot].integer = load_integer(&field, record->payload);
    }
    return true;
}

static bool read_fast(struct gt_sqlite_layouts *layouts, const struct gt_sqlite_record *record,
                      struct gt_sqlite_row *row) {
    if (record->available_bytes < layouts->types_bytes)
        return false;
    const struct layout *layout = front_layout(layouts, record);
    if (!layout || layout->end > record->available_bytes)
        return false;
    read_fields(layout, record, row);
    return layouts->front_count == layouts->wanted_count || read_tail(layouts, layout, record, row);
}

enum gt_sqlite_outcome gt_sqlite_record_read(struct gt_sqlite_layouts *layouts, const struct gt_sqlite_record *record,
                                             struct gt_sqlite_row *row, size_t *needed) {
    if (read_fast(layouts, record, row))
        return GT_SQLITE_ROW;
    struct layout *layout = &layouts->scratch;
    enum gt_sqlite_outcome outcome = parse_header(layouts, layouts->wanted_count, record, layout, needed);
    if (outcome != GT_SQLITE_ROW)
        return outcome;
    if (layout->end > record->available_bytes) {
        *needed = layout->end;
        return GT_SQLITE_NEEDS_MORE;
    }
    read_fields(layout, record, row);
    return GT_SQLITE_ROW;
}
