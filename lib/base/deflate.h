/* Deflate blocks from any bit of a packed stream on, without what comes before: they become steps, which need it only
   when bytes are made of them, and, where asked for, symbols that say which bytes of it the end of the text copies. So
   a stream can be inflated by several threads at once. */
#ifndef GT_BASE_DEFLATE_H
#define GT_BASE_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/deflate_steps.h"

/* How far a copy can reach back; how many bytes of zeros must follow the input (two loads of eight bytes go beyond its
   end before that is looked at). */
enum { GT_DEFLATE_WINDOW = GT_STEPS_WINDOW, GT_DEFLATE_PADDING = 32 };

/* A symbol below 256 is a byte, one from here on the byte of that place in the window before the first block. */
enum { GT_DEFLATE_MARKER = 256 };

/* Symbols of the last part of the text: what slides through them stays in a CPU's own cache. The rest is for copies,
   which overwrite what comes after their end. */
enum { GT_DEFLATE_SYMBOLS = 4 * GT_DEFLATE_WINDOW, GT_DEFLATE_SYMBOL_ROOM = GT_DEFLATE_SYMBOLS + 512 };

enum { GT_DEFLATE_LITERAL_ENTRIES = 2342, GT_DEFLATE_DISTANCE_ENTRIES = 402 };

struct gt_deflate {
    const unsigned char *in; /* in_bytes, and GT_DEFLATE_PADDING zeros */
    size_t in_bytes;
    bool has_all;          /* no more input comes */
    uint64_t bit;          /* where to go on */
    bool is_inside;        /* that is inside a block, whose codes are those below */
    bool is_last;          /* the last block that was begun is the last one of the stream */
    struct gt_steps *text; /* steps are added to it */
    /* GT_DEFLATE_SYMBOL_ROOM symbols, of which the GT_DEFLATE_WINDOW before symbol_count are the end of the text, after
       gt_deflate_begin_symbols; NULL: nobody needs them. */
    uint16_t *symbols;
    size_t symbol_count;

    /* Of the present block: codes of literals and lengths, codes of distances. */
    uint32_t literals[GT_DEFLATE_LITERAL_ENTRIES], distances[GT_DEFLATE_DISTANCE_ENTRIES];
};

enum gt_deflate_status {
    GT_DEFLATE_BLOCK_END,   /* bit is after the block */
    GT_DEFLATE_STREAM_END,  /* the same, and it was the last one */
    GT_DEFLATE_NEEDS_INPUT, /* with more of it, call again: it goes on where it was; there is no more: the end is
                               missing */
    GT_DEFLATE_NEEDS_ROOM,  /* the same, for steps or their bytes: gt_deflate_make_room */
    GT_DEFLATE_DAMAGED,
};

/* The next block, or the rest of the present one. */
enum gt_deflate_status gt_deflate_block(struct gt_deflate *deflate);

/* More room than there is; false: no memory. */
bool gt_deflate_make_room(struct gt_deflate *deflate);

/* Nothing is known of what comes before the next block. */
void gt_deflate_begin_symbols(struct gt_deflate *deflate);

/* Moves `bit` to the next place before end_bit where a block of the kind that is looked for may begin; false: there is
   none. Most are right: the codes there are complete. */
bool gt_deflate_find(struct gt_deflate *deflate, uint64_t end_bit);

/* Whether the next block is of the kind that is looked for: not the last one, with many codes of its own. */
bool gt_deflate_can_find(const struct gt_deflate *deflate);

/* Reads the codes of a block, after the three bits of its header: moves *bit. */
enum gt_deflate_status gt_deflate_codes(struct gt_deflate *deflate, uint64_t *bit);
bool gt_deflate_fixed_codes(struct gt_deflate *deflate); /* those of blocks without codes of their own */

/* A table for codes of these lengths (0: not used), as gt_deflate_block walks it: `bits` for the first look-up. false:
   the codes are no prefix code, or leave bit patterns over where `is_whole` forbids it. */
struct gt_deflate_symbols {
    const unsigned char *lengths;
    size_t count;
    const uint32_t *entries; /* by symbol, without the length of its code */
    unsigned bits;
    bool is_whole;
};
bool gt_deflate_table(const struct gt_deflate_symbols *symbols, uint32_t *table);

/* Entries of a table of literals where another one follows within the same look-up become entries of both. */
void gt_deflate_pair_literals(uint32_t *table);

/* ---- entries of tables ----
   Bits 0..7 how many bits it takes, 13..15 what it is, 16..31 the value. A literal: 8..12 are 1 if there are two, the
   first one in the lower byte of the value. A length or distance: 8..12 the length of its code, after which come extra
   bits. A table: 8..12 the bits of the second look. */
enum {
    GT_DEFLATE_LITERAL = 1 << 15,
    GT_DEFLATE_SPECIAL = 1 << 14, /* neither a literal nor a plain length or distance: one of these two */
    GT_DEFLATE_TABLE = 1 << 13,   /* look up in the table at `value`; otherwise the end of the block, or nothing */
    GT_DEFLATE_LITERAL_BITS = 11,
    GT_DEFLATE_DISTANCE_BITS = 8,
};
#define GT_DEFLATE_ENTRY(value, flags, extra) ((uint32_t)(value) << 16 | (uint32_t)(flags) | (uint32_t)(extra) << 8)
/* Values of special entries that are no tables. */
enum { GT_DEFLATE_END_OF_BLOCK = 1, GT_DEFLATE_NO_CODE = 0 };

static inline unsigned gt_deflate_bits(uint32_t entry) {
    return entry & 0xff;
}
static inline unsigned gt_deflate_field(uint32_t entry) {
    return entry >> 8 & 0x1f;
}

/* 57 bits or more from a bit on. */
static inline uint64_t gt_deflate_peek(const unsigned char *in, uint64_t bit) {
    uint64_t bits;
    memcpy(&bits, in + bit / 8, sizeof bits);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bits = __builtin_bswap64(bits);
#endif
    return bits >> bit % 8;
}

#endif
