/* Interned strings: equal bytes have equal 32-bit ids, ids count up from 0 in order of first appearance. */
#ifndef GT_BASE_STRTAB_H
#define GT_BASE_STRTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

typedef uint32_t gt_strid;

#define GT_STRID_EMPTY ((gt_strid)0) /* "" is always there */

struct gt_strtab {
    struct gt_str *strings; /* count of them, bytes owned by text (NUL-terminated) or borrowed */
    uint64_t *slots;        /* open addressing: upper half of the hash, then id + 1; 0 = free */
    size_t count, capacity, slot_count;
    struct gt_arena text;
    bool failed; /* sticky: memory was short, intern then answers GT_STRID_EMPTY */
};

bool gt_strtab_init(struct gt_strtab *tab); /* false: memory was short, and there is nothing to release */
void gt_strtab_release(struct gt_strtab *tab);

/* Copies the bytes on first sight. Amortised O(len). */
gt_strid gt_strtab_intern(struct gt_strtab *tab, struct gt_str text);

/* The same for many at once, one after the other: memory is asked for all of them before it is needed for one. Ids of
   empty texts and of those without a ptr are GT_STRID_EMPTY. */
#define GT_STRTAB_MANY 64
void gt_strtab_intern_many(struct gt_strtab *tab, const struct gt_str *texts, size_t count, gt_strid *ids);

/* The id, or UINT32_MAX if the string is not there. Safe from several threads while nobody interns. */
gt_strid gt_strtab_find(const struct gt_strtab *tab, struct gt_str text);

/* Like intern, but keeps the pointer: the bytes must outlive the table (strings of a mapped file). */
gt_strid gt_strtab_intern_borrowed(struct gt_strtab *tab, struct gt_str text);

/* ---- for those who fill a table by themselves (strtab_lists.c) ---- */

/* Half of a text's hash: the highest bits say which slot comes first. */
uint32_t gt_strtab_hash(struct gt_str text);
/* Room for so many strings in all, of which none but "" are there yet. */
bool gt_strtab_make_room(struct gt_strtab *tab, size_t count);
/* Puts an id into the first free slot of its hash, if that comes before `end` or, with SIZE_MAX, anywhere. */
bool gt_strtab_put(struct gt_strtab *tab, uint32_t hash, gt_strid id, size_t end);

static inline struct gt_str gt_strtab_get(const struct gt_strtab *tab, gt_strid id) {
    return id < tab->count ? tab->strings[id] : (struct gt_str){"", 0};
}

#endif
