/* A borrowed run of bytes: not NUL-terminated, any bytes, valid as long as its owner. */
#ifndef GT_BASE_STR_H
#define GT_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct gt_str {
    const char *ptr;
    size_t len;
};

#define GT_STR(literal) ((struct gt_str){(literal), sizeof(literal) - 1})

static inline struct gt_str gt_str_of(const char *text) {
    return (struct gt_str){text, text ? strlen(text) : 0};
}

static inline bool gt_str_eq(struct gt_str a, struct gt_str b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool gt_str_starts(struct gt_str text, struct gt_str prefix) {
    return text.len >= prefix.len && (prefix.len == 0 || memcmp(text.ptr, prefix.ptr, prefix.len) == 0);
}

static inline bool gt_str_ends(struct gt_str text, struct gt_str end) {
    return text.len >= end.len && (end.len == 0 || memcmp(text.ptr + text.len - end.len, end.ptr, end.len) == 0);
}

/* Takes the end off a text that has it. */
static inline bool gt_str_take_end(struct gt_str *text, struct gt_str end) {
    bool ends = gt_str_ends(*text, end);
    text->len -= ends ? end.len : 0;
    return ends;
}
/* The same at the start. */
static inline bool gt_str_take_start(struct gt_str *text, struct gt_str start) {
    bool starts = gt_str_starts(*text, start);
    text->ptr += starts ? start.len : 0;
    text->len -= starts ? start.len : 0;
    return starts;
}

/* Byte order, a prefix before what it begins: the tie order of every table. */
static inline int gt_str_cmp(struct gt_str a, struct gt_str b) {
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.ptr, b.ptr, n) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* The first bytes of a text, at most so many, cut before a byte that begins a character. */
struct gt_str gt_str_cut(struct gt_str text, size_t bytes);

/* The last parts of a path, so many: "b/c" is two of "a/b/c". */
struct gt_str gt_str_path_tail(struct gt_str path, size_t parts);

static inline bool gt_str_contains(struct gt_str text, struct gt_str part) {
    return part.len == 0 || (text.len && memmem(text.ptr, text.len, part.ptr, part.len));
}

/* Where needle first occurs in text, ASCII case ignored; NULL if nowhere. An empty needle is found at once. */
const char *gt_str_find_nocase(struct gt_str text, struct gt_str needle);

static inline bool gt_str_starts_nocase(struct gt_str text, struct gt_str start) {
    return text.len >= start.len && gt_str_find_nocase((struct gt_str){text.ptr, start.len}, start);
}

static inline bool gt_str_eq_nocase(struct gt_str a, struct gt_str b) {
    return a.len == b.len && gt_str_starts_nocase(a, b);
}

/* Whether any of these words does. */
bool gt_str_has_any_nocase(struct gt_str text, const char *const *words, size_t count);

/* How many bytes must be put in, taken out or changed to make one of the other, ASCII case ignored. Only the first
   GT_STR_DISTANCE_MAX bytes of each count. */
#define GT_STR_DISTANCE_MAX 64
size_t gt_str_distance_nocase(struct gt_str a, struct gt_str b);
/* The same from the needle to the part of the text that is most like it: 0 where the text contains it. Of the text the
   first GT_STR_SEARCHED_MAX bytes count. */
#define GT_STR_SEARCHED_MAX 256
size_t gt_str_distance_within_nocase(struct gt_str text, struct gt_str needle);

/* Takes the next item off a comma-separated list, without the blanks around it. false: none is left. */
bool gt_str_next_item(struct gt_str *rest, struct gt_str *item);

#endif
