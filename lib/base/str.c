/* Search in borrowed text: bytes come in, a place in them goes out. */
#include "base/str.h"

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
