/* Text of UTF-16 databases to UTF-8, row by row; half a character becomes the one that represents what cannot be read.
 */
#include "decode/sqlite/sqlite_utf16.h"

#include "base/mem.h"

enum {
    UNREADABLE = 0xFFFD,
    UTF8_PER_UNIT = 3, /* bytes at most: characters of four bytes take two units */
};

static uint32_t load_unit(const char *bytes, bool is_big_endian) {
    uint32_t unit = gt_sqlite_record_load16((const uint8_t *)bytes);
    return is_big_endian ? unit : unit >> 8 | (unit & 0xFF) << 8;
}

static size_t put_character(char *to, uint32_t character) {
    static const uint8_t marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t len = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = len; i-- > 1; character >>= 6)
        to[i] = (char)(0x80 | (character & 0x3F));
    to[0] = (char)(marks[len] | character);
    return len;
}

/* Returns the bytes that were written. */
static size_t convert(const char *from, size_t from_bytes, bool is_big_endian, char *to) {
    size_t len = 0, units = from_bytes / 2;
    for (size_t i = 0; i < units; i++) {
        uint32_t character = load_unit(from + 2 * i, is_big_endian);
        if (character >> 11 == 0xD800 >> 11) {
            uint32_t low = i + 1 < units ? load_unit(from + 2 * i + 2, is_big_endian) : 0;
            bool is_pair = character < 0xDC00 && low >> 10 == 0xDC00 >> 10;
            character = is_pair ? 0x10000 + ((character & 0x3FF) << 10 | (low & 0x3FF)) : UNREADABLE;
            i += is_pair;
        }
        len += put_character(to + len, character);
    }
    return len;
}

static bool reserve(struct gt_sqlite_utf16 *utf16, size_t size) {
    if (size <= utf16->text_bytes)
        return true;
    char *grown = gt_mem_realloc(utf16->text, size);
    utf16->has_failed |= !grown;
    if (!grown)
        return false;
    utf16->text = grown;
    utf16->text_bytes = size;
    return true;
}

void gt_sqlite_utf16_take(void *context, const struct gt_sqlite_row *row) {
    struct gt_sqlite_utf16 *utf16 = context;
    size_t size = 1, at = 0; /* no text is not the same as none */
    for (size_t i = 0; i < GT_SQLITE_COLUMNS_MAX; i++)
        if (row->types[i] == GT_SQLITE_TEXT)
            size += (size_t)row->lens[i] / 2 * UTF8_PER_UNIT;
    if (!reserve(utf16, size))
        return;
    utf16->row = *row;
    for (size_t i = 0; i < GT_SQLITE_COLUMNS_MAX; i++) {
        if (row->types[i] != GT_SQLITE_TEXT)
            continue;
        size_t len = convert(row->cells[i].bytes, row->lens[i], utf16->is_big_endian, utf16->text + at);
        utf16->row.cells[i].bytes = utf16->text + at;
        utf16->row.lens[i] = (uint32_t)len;
        at += len;
    }
    utf16->take(utf16->context, &utf16->row);
}
