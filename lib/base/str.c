/* Search in borrowed text, its beginning, and likeness of texts: bytes come in, a place or a distance goes out. */
#include "base/str.h"

struct gt_str gt_str_cut(struct gt_str text, size_t bytes) {
    if (text.len <= bytes)
        return text;
    size_t length = bytes;
    while (length && bytes - length < 3 && ((unsigned char)text.ptr[length] & 0xc0) == 0x80)
        length--;
    return (struct gt_str){text.ptr, length};
}

/* ASCII only, whatever the locale. */
static unsigned char fold(char c) {
    unsigned char byte = (unsigned char)c;
    return byte >= 'A' && byte <= 'Z' ? (unsigned char)(byte | 0x20) : byte;
}

static bool matches_at(const char *text, struct gt_str needle) {
    for (size_t i = 0; i < needle.len; i++)
        if (fold(text[i]) != fold(needle.ptr[i]))
            return false;
    return true;
}

const char *gt_str_find_nocase(struct gt_str text, struct gt_str needle) {
    if (needle.len == 0)
        return text.ptr ? text.ptr : "";
    if (needle.len > text.len)
        return NULL;
    for (size_t at = 0; at <= text.len - needle.len; at++)
        if (matches_at(text.ptr + at, needle))
            return text.ptr + at;
    return NULL;
}

size_t gt_str_distance_nocase(struct gt_str a, struct gt_str b) {
    size_t row[GT_STR_DISTANCE_MAX + 1];
    size_t a_bytes = a.len < GT_STR_DISTANCE_MAX ? a.len : GT_STR_DISTANCE_MAX;
    size_t b_bytes = b.len < GT_STR_DISTANCE_MAX ? b.len : GT_STR_DISTANCE_MAX;
    for (size_t j = 0; j <= b_bytes; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_bytes; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_bytes; j++) {
            size_t changed = diagonal + (fold(a.ptr[i - 1]) != fold(b.ptr[j - 1]));
            size_t moved = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = changed < moved ? changed : moved;
        }
    }
    return row[b_bytes];
}
