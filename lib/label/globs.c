/* Matching names against hundreds of patterns: one pass over the name finds which pieces of text occur, by a hash of
   three characters; only patterns whose pieces all occur are looked at closer. */
#include "label/globs.h"

#include <string.h>

#include "base/mem.h"

enum { MIN_PIECE = 3 };

/* Order and ends of pieces are looked for in this much of a name: longer ones are damage, and cost must stay linear. */
#define CLOSE_LOOK_BYTES 8192

static char lower_char(char c) {
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c;
}

static size_t slot_of(const char *text) {
    uint32_t word = (uint32_t)(unsigned char)text[0] | (uint32_t)(unsigned char)text[1] << 8 |
                    (uint32_t)(unsigned char)text[2] << 16;
    return (size_t)(word * 2654435761u >> 19);
}
_Static_assert(GT_GLOBS_SLOTS == 1 << (32 - 19), "the hash gives as many bits as there are slots");

/* ---- adding ---- */

/* The number of a piece, an old one if it is there already. */
static bool add_piece(struct gt_globs *globs, struct gt_str text, uint16_t *number) {
    if (text.len < MIN_PIECE || globs->piece_count >= UINT16_MAX - 1)
        return false;
    uint16_t *slot = &globs->slots[slot_of(text.ptr)];
    for (uint16_t p = *slot; p; p = globs->pieces[p - 1].next)
        if (gt_str_eq(globs->pieces[p - 1].text, text)) {
            *number = (uint16_t)(p - 1);
            return true;
        }
    struct gt_glob_piece *pieces =
        gt_arena_room(&globs->arena, globs->pieces, globs->piece_count, &globs->piece_capacity, sizeof *pieces);
    if (!pieces)
        return true;
    globs->pieces = pieces;
    *number = (uint16_t)globs->piece_count++;
    pieces[*number] = (struct gt_glob_piece){.text = text, .next = *slot};
    *slot = (uint16_t)(*number + 1);
    return true;
}

static bool add_glob(struct gt_globs *globs, struct gt_glob glob) {
    struct gt_str rest = glob.text;
    if (rest.len && rest.ptr[0] == '^') {
        glob.from_start = true;
        rest = (struct gt_str){rest.ptr + 1, rest.len - 1};
    }
    if (rest.len && rest.ptr[rest.len - 1] == '$') {
        glob.to_end = true;
        rest.len--;
    }
    while (rest.len) {
        const char *star = memchr(rest.ptr, '*', rest.len);
        size_t bytes = star ? (size_t)(star - rest.ptr) : rest.len;
        if (glob.piece_count == GT_GLOB_MAX_PIECES ||
            !add_piece(globs, (struct gt_str){rest.ptr, bytes}, &glob.pieces[glob.piece_count]))
            return false;
        glob.piece_count++;
        bytes += star != NULL;
        rest = (struct gt_str){rest.ptr + bytes, rest.len - bytes};
    }
    struct gt_glob *items = gt_arena_room(&globs->arena, globs->items, globs->count, &globs->capacity, sizeof *items);
    if (!items || glob.piece_count == 0)
        return glob.piece_count > 0;
    globs->items = items;
    glob.next = globs->pieces[glob.pieces[0]].globs;
    items[globs->count++] = glob;
    globs->pieces[glob.pieces[0]].globs = (uint32_t)globs->count;
    return true;
}

bool gt_globs_add(struct gt_globs *globs, uint32_t rule, enum gt_glob_scope scope, const char *patterns) {
    bool ok = true;
    for (const char *at = patterns; ok; at++) {
        size_t bytes = strcspn(at, "|");
        struct gt_str text = {at, bytes};
        while (text.len && text.ptr[0] == ' ')
            text = (struct gt_str){text.ptr + 1, text.len - 1};
        while (text.len && text.ptr[text.len - 1] == ' ')
            text.len--;
        ok = add_glob(globs, (struct gt_glob){.text = text, .rule = rule, .scope = (uint8_t)scope});
        at += bytes;
        if (!*at)
            break;
    }
    return ok;
}

void gt_globs_release(struct gt_globs *globs) {
    gt_mem_free(globs->lower);
    gt_arena_release(&globs->arena);
    memset(globs, 0, sizeof *globs);
}

/* ---- matching ---- */

static bool make_room(struct gt_globs *globs, size_t bytes) {
    if (!globs->found) {
        globs->found = gt_arena_array(&globs->arena, globs->piece_count / 64 + 1, sizeof *globs->found);
        globs->hits = gt_arena_array(&globs->arena, globs->piece_count, sizeof *globs->hits);
        globs->failed |= gt_arena_failed(&globs->arena);
    }
    if (globs->lower_bytes < bytes) {
        char *lower = gt_mem_realloc(globs->lower, bytes);
        globs->failed |= !lower;
        globs->lower = lower ? lower : globs->lower;
        globs->lower_bytes = lower ? bytes : globs->lower_bytes;
    }
    return !globs->failed;
}

static void find_pieces(struct gt_globs *globs, size_t bytes) {
    const char *text = globs->lower;
    memset(globs->found, 0, (globs->piece_count / 64 + 1) * sizeof *globs->found);
    globs->hit_count = 0;
    for (size_t i = 0; i + MIN_PIECE <= bytes; i++)
        for (uint16_t p = globs->slots[slot_of(text + i)]; p; p = globs->pieces[p - 1].next) {
            const struct gt_glob_piece *piece = &globs->pieces[p - 1];
            uint64_t bit = 1ull << ((p - 1) % 64), *word = &globs->found[(p - 1) / 64];
            if (*word & bit || piece->text.len > bytes - i || memcmp(text + i, piece->text.ptr, piece->text.len) != 0)
                continue;
            *word |= bit;
            globs->hits[globs->hit_count++] = (uint16_t)(p - 1);
        }
}

static bool has_piece(const struct gt_globs *globs, uint16_t piece) {
    return globs->found[piece / 64] >> (piece % 64) & 1;
}

/* Without the number that ends a name of a series: x_7 -> x_ */
static size_t end_of_word(const char *text, size_t bytes) {
    while (bytes && text[bytes - 1] >= '0' && text[bytes - 1] <= '9')
        bytes--;
    return bytes;
}

/* Whether the piece ends the text, after `at`; a number may follow it. */
static bool ends(const char *text, size_t bytes, size_t at, bool from_start, struct gt_str piece) {
    for (size_t end = end_of_word(text, bytes); end <= bytes; end++)
        if (end >= at + piece.len && memcmp(text + end - piece.len, piece.ptr, piece.len) == 0 &&
            (!from_start || end == piece.len))
            return true;
    return false;
}

/* All pieces occur somewhere: do they in this order, and where they are tied to? Taking each as early as possible is
   enough, but the last where it has to be at the end. */
static bool fits(const struct gt_globs *globs, const struct gt_glob *glob, const char *text, size_t bytes) {
    size_t at = 0;
    for (size_t i = 0; i < glob->piece_count; i++) {
        struct gt_str piece = globs->pieces[glob->pieces[i]].text;
        if (glob->to_end && i + 1 == glob->piece_count)
            return ends(text, bytes, at, i == 0 && glob->from_start, piece);
        if (i == 0 && glob->from_start) {
            if (bytes < piece.len || memcmp(text, piece.ptr, piece.len) != 0)
                return false;
            at = piece.len;
            continue;
        }
        const char *found = memmem(text + at, bytes - at, piece.ptr, piece.len);
        if (!found)
            return false;
        at = (size_t)(found - text) + piece.len;
    }
    return true;
}

static bool matches(const struct gt_globs *globs, const struct gt_glob *glob, size_t bytes, size_t name_at,
                    size_t name_bytes) {
    for (size_t i = 1; i < glob->piece_count; i++)
        if (!has_piece(globs, glob->pieces[i]))
            return false;
    if (glob->scope == GT_GLOB_NAME)
        return fits(globs, glob, globs->lower + name_at, name_bytes < CLOSE_LOOK_BYTES ? name_bytes : CLOSE_LOOK_BYTES);
    bool is_plain = glob->piece_count == 1 && !glob->from_start && !glob->to_end;
    return is_plain || fits(globs, glob, globs->lower, bytes < CLOSE_LOOK_BYTES ? bytes : CLOSE_LOOK_BYTES);
}

uint32_t gt_globs_match(struct gt_globs *globs, struct gt_str full, struct gt_str name) {
    if (full.len < MIN_PIECE || !make_room(globs, full.len))
        return GT_GLOBS_NONE;
    for (size_t i = 0; i < full.len; i++)
        globs->lower[i] = lower_char(full.ptr[i]);
    find_pieces(globs, full.len);
    size_t name_at = (size_t)(name.ptr - full.ptr);
    uint32_t first = GT_GLOBS_NONE;
    for (size_t h = 0; h < globs->hit_count; h++)
        for (uint32_t g = globs->pieces[globs->hits[h]].globs; g; g = globs->items[g - 1].next)
            if (g - 1 < first && matches(globs, &globs->items[g - 1], full.len, name_at, name.len))
                first = g - 1;
    return first;
}
