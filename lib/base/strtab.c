/* Interning by XXH3 and open addressing: bytes come in, dense 32-bit ids go out. */
#include "base/strtab.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/huge.h"
#include "base/mem.h"

#define FIRST_SLOT_COUNT ((size_t)1024)
#define NOT_FOUND        UINT32_MAX

/* The upper half of the hash chooses the slot by its highest bits, so a growing table is filled in order, slot after
   slot, and no string is read again. 2^32 slots are the most such a hash can distinguish. */
#define MAX_SLOT_COUNT ((uint64_t)1 << 32)

uint32_t gt_strtab_hash(struct gt_str text) {
    return (uint32_t)(XXH3_64bits(text.ptr, text.len) >> 32);
}

static size_t first_slot(size_t slot_count, uint32_t hash) {
    return (size_t)(((uint64_t)hash * slot_count) >> 32);
}

/* The id of text; or NOT_FOUND, and *free_slot is where it belongs. */
static inline gt_strid look_up(const struct gt_strtab *tab, struct gt_str text, uint32_t hash, size_t *free_slot) {
    size_t mask = tab->slot_count - 1;
    size_t at = first_slot(tab->slot_count, hash);

    for (; tab->slots[at]; at = (at + 1) & mask) {
        uint64_t slot = tab->slots[at];
        gt_strid id = (gt_strid)slot - 1;
        if (slot >> 32 == hash && tab->strings[id].len == text.len &&
            memcmp(tab->strings[id].ptr, text.ptr, text.len) == 0)
            return id;
    }
    *free_slot = at;
    return NOT_FOUND;
}

static bool grow_slots(struct gt_strtab *tab) {
    size_t slot_count = tab->slot_count ? tab->slot_count * 2 : FIRST_SLOT_COUNT;
    uint64_t *slots;

    if (slot_count > MAX_SLOT_COUNT)
        return false;
    slots = gt_mem_array(slot_count, sizeof(*slots));
    if (!slots)
        return false;
    for (size_t i = 0; i < tab->slot_count; i++) {
        size_t at = first_slot(slot_count, (uint32_t)(tab->slots[i] >> 32));
        if (tab->slots[i] == 0)
            continue;
        while (slots[at])
            at = (at + 1) & (slot_count - 1);
        slots[at] = tab->slots[i];
    }
    gt_mem_free(tab->slots);
    tab->slots = slots;
    tab->slot_count = slot_count;
    return true;
}

bool gt_strtab_make_room(struct gt_strtab *tab, size_t count) {
    size_t slot_count = tab->slot_count;
    while (slot_count / 3 * 2 < count)
        slot_count *= 2;
    uint64_t *slots = slot_count <= MAX_SLOT_COUNT ? gt_mem_array(slot_count, sizeof *slots) : NULL;
    struct gt_str *strings = slots ? gt_mem_realloc(tab->strings, count * sizeof *strings) : NULL;
    if (strings) {
        gt_huge_advise_long(strings, count * sizeof *strings);
        gt_huge_advise_long(slots, slot_count * sizeof *slots); /* filled here and there, so nearly all pages */
        tab->strings = strings;
        tab->capacity = count;
        gt_mem_free(tab->slots);
        tab->slots = slots;
        tab->slot_count = slot_count;
        return true;
    }
    gt_mem_free(slots);
    return false;
}

bool gt_strtab_put(struct gt_strtab *tab, uint32_t hash, gt_strid id, size_t end) {
    size_t at = first_slot(tab->slot_count, hash);
    while (tab->slots[at]) {
        at++;
        if (at == end)
            return false;
        at &= tab->slot_count - 1;
    }
    tab->slots[at] = (uint64_t)hash << 32 | (uint64_t)(id + 1);
    return true;
}

static bool grow_strings(struct gt_strtab *tab) {
    struct gt_str *strings = gt_mem_room(tab->strings, tab->count, &tab->capacity, sizeof(*strings));

    if (strings)
        tab->strings = strings;
    return strings != NULL;
}

/* At most two thirds full. */
static bool make_room(struct gt_strtab *tab, uint32_t hash, size_t *free_slot) {
    if (tab->count == tab->capacity && !grow_strings(tab))
        return false;
    if (tab->count + 1 <= tab->slot_count / 3 * 2)
        return true;
    if (!grow_slots(tab))
        return false;
    *free_slot = first_slot(tab->slot_count, hash);
    while (tab->slots[*free_slot])
        *free_slot = (*free_slot + 1) & (tab->slot_count - 1);
    return true;
}

static gt_strid add(struct gt_strtab *tab, struct gt_str text, bool copy, uint32_t hash, size_t free_slot) {
    if (tab->failed || !make_room(tab, hash, &free_slot))
        goto failed;
    if (copy) {
        text = gt_arena_copy(&tab->text, text);
        if (gt_arena_failed(&tab->text))
            goto failed;
    }
    tab->strings[tab->count] = text;
    tab->slots[free_slot] = (uint64_t)hash << 32 | (uint64_t)(tab->count + 1);
    return (gt_strid)tab->count++;

failed:
    tab->failed = true;
    return GT_STRID_EMPTY;
}

static gt_strid intern_hashed(struct gt_strtab *tab, struct gt_str text, bool copy, uint32_t hash) {
    size_t free_slot = 0;
    gt_strid id = look_up(tab, text, hash, &free_slot);

    return id != NOT_FOUND ? id : add(tab, text, copy, hash, free_slot);
}

static gt_strid intern(struct gt_strtab *tab, struct gt_str text, bool copy) {
    if (text.len == 0 || tab->slot_count == 0)
        return GT_STRID_EMPTY;
    return intern_hashed(tab, text, copy, gt_strtab_hash(text));
}

bool gt_strtab_init(struct gt_strtab *tab) {
    *tab = (struct gt_strtab){0};
    gt_arena_init(&tab->text);
    if (!grow_slots(tab) || !grow_strings(tab)) {
        gt_strtab_release(tab);
        tab->failed = true;
        return false;
    }
    tab->strings[tab->count++] = GT_STR(""); /* needs no slot: every search answers it before it looks */
    return true;
}

void gt_strtab_release(struct gt_strtab *tab) {
    gt_mem_free(tab->strings);
    gt_mem_free(tab->slots);
    gt_arena_release(&tab->text);
    *tab = (struct gt_strtab){0};
}

gt_strid gt_strtab_intern(struct gt_strtab *tab, struct gt_str text) {
    return intern(tab, text, true);
}

/* What a text most likely is, if it is there: the string of its first slot. */
static const struct gt_str *likely(const struct gt_strtab *tab, uint32_t hash) {
    uint64_t slot = tab->slots[first_slot(tab->slot_count, hash)];
    return &tab->strings[slot ? (gt_strid)slot - 1 : 0];
}

/* Slot, string and bytes are three distant places, each known by the one before: each is asked for in a round of its
   own. */
static void intern_block(struct gt_strtab *tab, const struct gt_str *texts, size_t count, gt_strid *ids) {
    uint32_t hashes[GT_STRTAB_MANY];

    for (size_t i = 0; i < count; i++) {
        hashes[i] = texts[i].len ? gt_strtab_hash(texts[i]) : 0;
        __builtin_prefetch(&tab->slots[first_slot(tab->slot_count, hashes[i])]);
    }
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(likely(tab, hashes[i]));
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(likely(tab, hashes[i])->ptr);
    for (size_t i = 0; i < count; i++)
        ids[i] = texts[i].len ? intern_hashed(tab, texts[i], true, hashes[i]) : GT_STRID_EMPTY;
}

void gt_strtab_intern_many(struct gt_strtab *tab, const struct gt_str *texts, size_t count, gt_strid *ids) {
    for (size_t from = 0; from < count; from += GT_STRTAB_MANY) {
        size_t block = count - from < GT_STRTAB_MANY ? count - from : GT_STRTAB_MANY;
        if (tab->slot_count)
            intern_block(tab, texts + from, block, ids + from);
        else
            memset(ids + from, 0, block * sizeof *ids);
    }
}

gt_strid gt_strtab_intern_borrowed(struct gt_strtab *tab, struct gt_str text) {
    return intern(tab, text, false);
}

gt_strid gt_strtab_find(const struct gt_strtab *tab, struct gt_str text) {
    size_t free_slot;

    if (text.len == 0)
        return GT_STRID_EMPTY;
    return tab->slot_count ? look_up(tab, text, gt_strtab_hash(text), &free_slot) : NOT_FOUND;
}
