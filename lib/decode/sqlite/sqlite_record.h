/* One SQLite record (the payload of a table cell) to the values of chosen columns. Records with equal headers have
   equal layouts, which are kept, so that most rows cost no header parsing. */
#ifndef GT_DECODE_SQLITE_SQLITE_RECORD_H
#define GT_DECODE_SQLITE_SQLITE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define GT_SQLITE_COLUMNS_MAX 28         /* columns that one scan can ask for */
#define GT_SQLITE_NO_COLUMN   UINT16_MAX /* a column the table does not have: always NULL */
#define GT_SQLITE_SLACK       16         /* bytes that must be readable after every record */
#define GT_SQLITE_LEAF_SPARE  35         /* of a leaf page's bytes, which a record that is whole on it leaves */

enum gt_sqlite_type { GT_SQLITE_NULL, GT_SQLITE_INT, GT_SQLITE_REAL, GT_SQLITE_TEXT, GT_SQLITE_BLOB };

union gt_sqlite_cell {
    int64_t integer;
    double real;
    const char *bytes; /* text and blobs; borrowed for the call */
};

/* The wanted values of a row, each in the slot in which it was asked for. */
struct gt_sqlite_row {
    uint8_t types[GT_SQLITE_COLUMNS_MAX]; /* enum gt_sqlite_type */
    union gt_sqlite_cell cells[GT_SQLITE_COLUMNS_MAX];
    uint32_t lens[GT_SQLITE_COLUMNS_MAX]; /* of bytes */
};

static inline bool gt_sqlite_record_is_int(const struct gt_sqlite_row *row, size_t slot) {
    return row->types[slot] == GT_SQLITE_INT;
}

static inline int64_t gt_sqlite_record_int(const struct gt_sqlite_row *row, size_t slot, int64_t absent) {
    return row->types[slot] == GT_SQLITE_INT ? row->cells[slot].integer : absent;
}

/* ptr NULL if it is no text. */
static inline struct gt_str gt_sqlite_record_text(const struct gt_sqlite_row *row, size_t slot) {
    if (row->types[slot] != GT_SQLITE_TEXT)
        return (struct gt_str){NULL, 0};
    return (struct gt_str){row->cells[slot].bytes, row->lens[slot]};
}

/* Which columns of a table a scan wants, in the order in which it gets their values. */
struct gt_sqlite_columns {
    size_t count;
    uint16_t index[GT_SQLITE_COLUMNS_MAX]; /* of the column in the table, or GT_SQLITE_NO_COLUMN */
    bool is_real[GT_SQLITE_COLUMNS_MAX];   /* REAL affinity: whole numbers are stored as integers and read as real */
    /* Records from before the column was added have this value, of this type (enum gt_sqlite_type). */
    uint8_t default_types[GT_SQLITE_COLUMNS_MAX];
    union gt_sqlite_cell defaults[GT_SQLITE_COLUMNS_MAX];
    uint32_t default_lens[GT_SQLITE_COLUMNS_MAX]; /* of text, which is borrowed */
    uint16_t rowid_alias; /* index of the INTEGER PRIMARY KEY, stored as NULL; GT_SQLITE_NO_COLUMN */
};

struct gt_sqlite_layouts; /* the memory of layouts; one for each thread */
struct gt_sqlite_layouts *gt_sqlite_record_layouts_new(void);
void gt_sqlite_record_layouts_free(struct gt_sqlite_layouts *layouts);
/* Must be called before the first record of a table. columns must stay as they are until the next call. */
void gt_sqlite_record_layouts_use(struct gt_sqlite_layouts *layouts, const struct gt_sqlite_columns *columns);

/* The available part of a record, and its whole length. */
struct gt_sqlite_record {
    const uint8_t *payload;
    size_t available_bytes, payload_bytes;
    int64_t rowid;
};

enum gt_sqlite_outcome {
    GT_SQLITE_ROW,
    GT_SQLITE_NEEDS_MORE, /* bytes after available_bytes are needed: *needed from the start */
    GT_SQLITE_DAMAGED,
};
enum gt_sqlite_outcome gt_sqlite_record_read(struct gt_sqlite_layouts *layouts, const struct gt_sqlite_record *record,
                                             struct gt_sqlite_row *row, size_t *needed);

/* Numbers in headers and links, the high byte first. */
static inline uint32_t gt_sqlite_record_load16(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 8 | bytes[1];
}
static inline uint32_t gt_sqlite_record_load32(const uint8_t *bytes) {
    return gt_sqlite_record_load16(bytes) << 16 | gt_sqlite_record_load16(bytes + 2);
}

/* A varint at bytes; returns its length, 0 if it does not end before limit bytes. */
size_t gt_sqlite_record_varint_long(const uint8_t *bytes, size_t limit, uint64_t *value);
static inline size_t gt_sqlite_record_varint(const uint8_t *bytes, size_t limit, uint64_t *value) {
    if (limit < 4)
        return gt_sqlite_record_varint_long(bytes, limit, value);
    *value = bytes[0];
    if (bytes[0] < 0x80)
        return 1;
    *value = (uint64_t)(bytes[0] & 0x7F) << 7 | (bytes[1] & 0x7F);
    if (bytes[1] < 0x80)
        return 2;
    *value = *value << 7 | (bytes[2] & 0x7F);
    if (bytes[2] < 0x80)
        return 3;
    *value = *value << 7 | bytes[3];
    return bytes[3] < 0x80 ? 4 : gt_sqlite_record_varint_long(bytes, limit, value);
}

#endif
