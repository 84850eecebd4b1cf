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

static bool is_same(const char *text, struct gt_str needle) {
    for (size_t i = 0; i < needle.len; i++)
        if (fold(text[i]) != fold(needle.ptr[i]))
            return false;
    return true;
}

/* The bytes of many places at once: names are searched for every key of a user's map. */
typedef unsigned char lanes __attribute__((vector_size(16)));

/* Both cases of a letter, twice the same byte of anything else. */
struct either {
    lanes lower, upper;
};

static struct either either_case(char c) {
    unsigned char lower = fold(c), upper = lower >= 'a' && lower <= 'z' ? (unsigned char)(lower & ~0x20u) : lower;
    return (struct either){(lanes){0} + lower, (lanes){0} + upper};
}

static lanes equal(const char *text, const struct either *byte) {
    lanes bytes;
    memcpy(&bytes, text, sizeof bytes);
    return (lanes)((bytes == byte->lower) | (bytes == byte->upper));
}

static bool any(lanes flags) {
    unsigned long long halves[2];
    memcpy(halves, &flags, sizeof halves);
    return (halves[0] | halves[1]) != 0;
}

/* Places are looked at closer only around one that has the needle's first and last byte. */
struct gt_str gt_str_path_tail(struct gt_str path, size_t parts) {
    for (size_t i = path.len; i > 0; i--)
        if (path.ptr[i - 1] == '/' && i < path.len && --parts == 0)
            return (struct gt_str){path.ptr + i, path.len - i};
    return path;
}

const char *gt_str_find_nocase(struct gt_str text, struct gt_str needle) {
    if (needle.len == 0)
        return text.ptr ? text.ptr : "";
    if (needle.len > text.len)
        return NULL;
    size_t places = text.len - needle.len + 1, at = 0;
    struct either first = either_case(needle.ptr[0]), last = either_case(needle.ptr[needle.len - 1]);
    while (at < places) {
        size_t step = places - at < sizeof(lanes) ? places - at : sizeof(lanes);
        const char *here = text.ptr + at;
        if (step < sizeof(lanes) || any(equal(here, &first) & equal(here + needle.len - 1, &last)))
            for (size_t i = 0; i < step; i++)
                if (((unsigned char)here[i] == first.lower[0] || (unsigned char)here[i] == first.upper[0]) &&
                    is_same(here + i, needle))
                    return here + i;
        at += step;
    }
    return NULL;
}

bool gt_str_has_any_nocase(struct gt_str text, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (gt_str_find_nocase(text, gt_str_of(words[i])))
            return true;
    return false;
}

/* Column by column of a; the row is over b. A part of a may begin and end anywhere: nothing before and after it
   costs. */
static size_t distance(struct gt_str a, struct gt_str b, bool is_part) {
    size_t row[GT_STR_DISTANCE_MAX + 1], nearest = b.len;
    for (size_t j = 0; j <= b.len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = is_part ? 0 : i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t changed = diagonal + (fold(a.ptr[i - 1]) != fold(b.ptr[j - 1]));
            size_t moved = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = changed < moved ? changed : moved;
        }
        nearest = row[b.len] < nearest ? row[b.len] : nearest;
    }
    return is_part ? nearest : row[b.len];
}

static struct gt_str first_bytes(struct gt_str text, size_t most) {
    return (struct gt_str){text.ptr, text.len < most ? text.len : most};
}

size_t gt_str_distance_nocase(struct gt_str a, struct gt_str b) {
    return distance(first_bytes(a, GT_STR_DISTANCE_MAX), first_bytes(b, GT_STR_DISTANCE_MAX), false);
}

size_t gt_str_distance_within_nocase(struct gt_str text, struct gt_str needle) {
    return distance(first_bytes(text, GT_STR_SEARCHED_MAX), first_bytes(needle, GT_STR_DISTANCE_MAX), true);
}

bool gt_str_next_item(struct gt_str *rest, struct gt_str *item) {
    if (!rest->ptr)
        return false;
    const char *comma = memchr(rest->ptr, ',', rest->len);
    *item = (struct gt_str){rest->ptr, comma ? (size_t)(comma - rest->ptr) : rest->len};
    *rest = comma ? (struct gt_str){comma + 1, rest->len - item->len - 1} : (struct gt_str){0};
    while (item->len && item->ptr[0] == ' ') {
        item->ptr++;
        item->len--;
    }
    while (item->len && item->ptr[item->len - 1] == ' ')
        item->len--;
    return true;
}
