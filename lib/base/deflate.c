/* Deflate blocks as steps and symbols: packed bytes come in. Blocks can be found from any bit on. */
#include "base/deflate.h"

/* Where decoding is: bits that are loaded, and the next byte to load. */
struct cursor {
    uint64_t bits;
    unsigned count;
    const unsigned char *next;
};

static inline void load(struct cursor *at) {
    uint64_t bits;
    memcpy(&bits, at->next, sizeof bits);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bits = __builtin_bswap64(bits);
#endif
    at->bits |= bits << at->count;
    at->next += (63 - at->count) >> 3;
    at->count |= 56;
}

static inline void skip(struct cursor *at, unsigned bits) {
    at->bits >>= bits;
    at->count -= bits;
}

/* A special entry: the entry of the second table, or the end. */
static inline uint32_t second_look(struct cursor *at, const uint32_t *table, uint32_t entry) {
    skip(at, gt_deflate_bits(entry));
    return table[(entry >> 16) + (at->bits & ((1u << gt_deflate_field(entry)) - 1))];
}

static inline uint32_t look(struct cursor *at, const uint32_t *table, unsigned table_bits) {
    uint32_t entry = table[at->bits & ((1u << table_bits) - 1)];
    return entry & GT_DEFLATE_TABLE ? second_look(at, table, entry) : entry;
}

/* The length or distance of an entry, and past it: code and extra bits at once, since the next look waits for that. */
static inline unsigned take(struct cursor *at, uint32_t entry) {
    uint64_t bits = at->bits & ((UINT64_C(1) << gt_deflate_bits(entry)) - 1);
    skip(at, gt_deflate_bits(entry));
    return (entry >> 16) + (unsigned)(bits >> gt_deflate_field(entry));
}

/* ---- where what is decoded goes ---- */

/* Ends of what has been written, and of the room: what one turn of the loop writes has room after these. */
struct output {
    uint32_t *step;
    const uint32_t *step_end;
    unsigned char *byte, *run; /* run: from here on, the bytes are in no step yet */
    const unsigned char *byte_end;
    size_t text_bytes;
    uint16_t *symbol;
    const uint16_t *symbol_end;
};

/* Bytes of a run that one turn of the loop writes. */
enum { BYTES_OF_TURN = 4 };

static struct output begin_output(const struct gt_deflate *deflate) {
    const struct gt_steps *text = deflate->text;
    size_t spare_steps = gt_deflate_steps_of_run(text->byte_room) + 1; /* for the longest run, and for a copy */
    size_t last_step = text->room > spare_steps ? text->room - spare_steps : 0;
    size_t last_byte = text->byte_room > BYTES_OF_TURN ? text->byte_room - BYTES_OF_TURN : 0;
    struct output out = {
        .step = text->steps + text->count,
        .step_end = text->steps + last_step,
        .byte = text->bytes + text->byte_count,
        .run = text->bytes + text->byte_count,
        .byte_end = text->bytes + last_byte,
        .text_bytes = text->text_bytes - text->byte_count,
    };
    if (deflate->symbols) {
        out.symbol = deflate->symbols + deflate->symbol_count;
        out.symbol_end = deflate->symbols + GT_DEFLATE_SYMBOLS;
    }
    return out;
}

static inline bool has_room(const struct output *out) {
    return out->step < out->step_end && out->byte < out->byte_end;
}

static void end_output(struct gt_deflate *deflate, struct output *out) {
    struct gt_steps *text = deflate->text;
    if (out->run < out->byte)
        out->step = gt_deflate_steps_put_run(out->step, (size_t)(out->byte - out->run));
    text->count = (size_t)(out->step - text->steps);
    text->byte_count = (size_t)(out->byte - text->bytes);
    text->text_bytes = out->text_bytes + text->byte_count;
    if (deflate->symbols)
        deflate->symbol_count = (size_t)(out->symbol - deflate->symbols);
}

bool gt_deflate_make_room(struct gt_deflate *deflate) {
    enum { MORE_BYTES = 48 << 10, MORE_STEPS = 48 << 10 };
    const struct output out = begin_output(deflate);
    size_t bytes = deflate->text->byte_room, steps = deflate->text->room;
    if (!deflate->text->bytes || out.byte >= out.byte_end)
        bytes += bytes / 4 < MORE_BYTES ? MORE_BYTES : bytes / 4;
    if (!deflate->text->steps || out.step >= out.step_end)
        steps += MORE_STEPS;
    return gt_deflate_steps_make_room(deflate->text, steps + gt_deflate_steps_of_run(bytes), bytes);
}

void gt_deflate_begin_symbols(struct gt_deflate *deflate) {
    for (unsigned i = 0; i < GT_DEFLATE_WINDOW; i++)
        deflate->symbols[i] = (uint16_t)(GT_DEFLATE_MARKER + i);
    deflate->symbol_count = GT_DEFLATE_WINDOW;
}

/* One literal or two: what is written after one is overwritten. */
static inline void put_literals(struct output *out, uint32_t entry, bool has_symbols) {
    unsigned count = 1 + gt_deflate_field(entry);
    out->byte[0] = (unsigned char)(entry >> 16);
    out->byte[1] = (unsigned char)(entry >> 24);
    out->byte += count;
    if (!has_symbols)
        return;
    out->symbol[0] = (uint16_t)(entry >> 16 & 0xff);
    out->symbol[1] = (uint16_t)(entry >> 24);
    out->symbol += count;
}

/* Up to 31 symbols more than asked for are written: there is room. Most copies end with the first 32, whatever their
   length, so that the CPU need not guess how often a loop runs. */
static inline void copy_symbols(uint16_t *to, unsigned distance, unsigned length) {
    const uint16_t *from = to - distance, *end = to + length;
    if (distance >= 32) {
        do {
            memcpy(to, from, 32 * sizeof *to);
            to += 32;
            from += 32;
        } while (to < end);
        return;
    }
    if (distance >= 8) {
        for (; to < end; to += 8, from += 8)
            memcpy(to, from, 8 * sizeof *to);
        return;
    }
    while (to < end)
        *to++ = *from++;
}

static inline void put_copy(struct output *out, unsigned length, unsigned distance, bool has_symbols) {
    size_t run = (size_t)(out->byte - out->run);
    if (run > GT_STEPS_MAX_RUN) {
        out->step = gt_deflate_steps_put_run(out->step, run);
        run = 0;
    }
    *out->step++ = gt_deflate_steps_code(run, length, distance);
    out->run = out->byte;
    out->text_bytes += length;
    if (!has_symbols)
        return;
    copy_symbols(out->symbol, distance, length);
    out->symbol += length;
}

/* Where the room for symbols ends, the window moves to its beginning. */
static void slide(const struct gt_deflate *deflate, struct output *out) {
    memmove(deflate->symbols, out->symbol - GT_DEFLATE_WINDOW, GT_DEFLATE_WINDOW * sizeof *deflate->symbols);
    out->symbol = deflate->symbols + GT_DEFLATE_WINDOW;
}

/* ---- blocks ---- */

static uint64_t place_of(const struct gt_deflate *deflate, const struct cursor *at) {
    return 8 * (uint64_t)(at->next - deflate->in) - at->count;
}

/* What is wrong may be but the zeros after the input. */
static enum gt_deflate_status damaged(const struct gt_deflate *deflate, uint64_t bit) {
    return bit > 8 * (uint64_t)deflate->in_bytes ? GT_DEFLATE_NEEDS_INPUT : GT_DEFLATE_DAMAGED;
}

/* Up to where the next byte to load may be: a turn of the loop takes none but bits of the input, so that it need not be
   done again when there is more. After the last input come zeros. */
static const unsigned char *last_load(const struct gt_deflate *deflate) {
    enum { BYTES_OF_TURN_IN = 24 };
    if (deflate->has_all)
        return deflate->in + deflate->in_bytes + 8;
    return deflate->in + (deflate->in_bytes > BYTES_OF_TURN_IN ? deflate->in_bytes - BYTES_OF_TURN_IN : 0);
}

/* The symbols of a block with codes. BLOCK_END: its end was read, or NEEDS_INPUT, where that was not in the input. */
static inline __attribute__((always_inline)) enum gt_deflate_status decode(struct gt_deflate *deflate,
                                                                           bool has_symbols) {
    const uint32_t *literals = deflate->literals, *distances = deflate->distances;
    const unsigned char *in_end = last_load(deflate);
    struct output out = begin_output(deflate);
    struct cursor at = {.next = deflate->in + deflate->bit / 8};
    load(&at);
    skip(&at, deflate->bit % 8);
    enum gt_deflate_status status;
    for (;;) {
        load(&at);
        if (at.next > in_end) {
            status = GT_DEFLATE_NEEDS_INPUT;
            break;
        }
        if (!has_room(&out)) {
            status = GT_DEFLATE_NEEDS_ROOM;
            break;
        }
        if (has_symbols && out.symbol >= out.symbol_end)
            slide(deflate, &out);
        uint32_t entry = look(&at, literals, GT_DEFLATE_LITERAL_BITS);
        if (entry & GT_DEFLATE_LITERAL) {
            skip(&at, gt_deflate_bits(entry));
            put_literals(&out, entry, has_symbols);
            entry = look(&at, literals, GT_DEFLATE_LITERAL_BITS);
            if (entry & GT_DEFLATE_LITERAL) {
                skip(&at, gt_deflate_bits(entry));
                put_literals(&out, entry, has_symbols);
                continue;
            }
        }
        if (entry & GT_DEFLATE_SPECIAL) {
            skip(&at, gt_deflate_bits(entry));
            status = entry >> 16 == GT_DEFLATE_END_OF_BLOCK ? GT_DEFLATE_BLOCK_END : GT_DEFLATE_DAMAGED;
            break;
        }
        unsigned length = take(&at, entry);
        load(&at);
        entry = look(&at, distances, GT_DEFLATE_DISTANCE_BITS);
        if (entry & GT_DEFLATE_SPECIAL) {
            status = GT_DEFLATE_DAMAGED;
            break;
        }
        unsigned distance = take(&at, entry);
        put_copy(&out, length, distance, has_symbols);
    }
    end_output(deflate, &out);
    deflate->bit = place_of(deflate, &at);
    deflate->is_inside = status != GT_DEFLATE_BLOCK_END;
    if (status == GT_DEFLATE_DAMAGED || deflate->bit > 8 * (uint64_t)deflate->in_bytes)
        return damaged(deflate, deflate->bit);
    return status;
}

/* Two of them, so that the loop has nothing of symbols that nobody needs. */
static __attribute__((noinline)) enum gt_deflate_status decode_steps(struct gt_deflate *deflate) {
    return decode(deflate, false);
}
static __attribute__((noinline)) enum gt_deflate_status decode_steps_and_symbols(struct gt_deflate *deflate) {
    return decode(deflate, true);
}

static void put_stored_symbols(const struct gt_deflate *deflate, struct output *out, const unsigned char *bytes,
                               size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (out->symbol >= out->symbol_end)
            slide(deflate, out);
        *out->symbol++ = bytes[i];
    }
}

/* Bytes as they are, after their number and its complement. */
static enum gt_deflate_status copy_stored(struct gt_deflate *deflate, uint64_t bit) {
    size_t at = (size_t)((bit + 7) / 8);
    if (at + 4 > deflate->in_bytes)
        return GT_DEFLATE_NEEDS_INPUT;
    const unsigned char *in = deflate->in + at;
    size_t size = in[0] | (size_t)in[1] << 8;
    if ((size ^ 0xffff) != (in[2] | (size_t)in[3] << 8))
        return GT_DEFLATE_DAMAGED;
    if (size > deflate->in_bytes - at - 4)
        return GT_DEFLATE_NEEDS_INPUT;
    struct gt_steps *text = deflate->text;
    if (!gt_deflate_steps_make_room(text, text->count + gt_deflate_steps_of_run(text->byte_count + size),
                                    text->byte_count + size))
        return GT_DEFLATE_NEEDS_ROOM;
    struct output out = begin_output(deflate);
    if (out.symbol)
        put_stored_symbols(deflate, &out, in + 4, size);
    if (size) { /* without one there may be no room at all */
        memcpy(out.byte, in + 4, size);
        out.byte += size;
    }
    end_output(deflate, &out);
    deflate->bit = 8 * (uint64_t)(at + 4 + size);
    return GT_DEFLATE_BLOCK_END;
}

/* The three bits at the beginning of a block, and its codes. */
static enum gt_deflate_status begin_block(struct gt_deflate *deflate, bool *is_stored) {
    uint64_t bit = deflate->bit;
    if (bit + 3 > 8 * (uint64_t)deflate->in_bytes)
        return GT_DEFLATE_NEEDS_INPUT;
    unsigned head = gt_deflate_peek(deflate->in, bit) & 7;
    enum { STORED = 0, FIXED = 1, OWN_CODES = 2 };
    enum gt_deflate_status status = GT_DEFLATE_DAMAGED;
    bit += 3;
    *is_stored = head >> 1 == STORED;
    deflate->is_last = head & 1;
    if (*is_stored)
        return copy_stored(deflate, bit);
    if (head >> 1 == FIXED)
        status = gt_deflate_fixed_codes(deflate) ? GT_DEFLATE_BLOCK_END : GT_DEFLATE_DAMAGED;
    else if (head >> 1 == OWN_CODES)
        status = gt_deflate_codes(deflate, &bit);
    if (status == GT_DEFLATE_DAMAGED)
        return damaged(deflate, bit);
    if (status != GT_DEFLATE_BLOCK_END)
        return status;
    gt_deflate_pair_literals(deflate->literals);
    deflate->bit = bit;
    deflate->is_inside = true;
    return GT_DEFLATE_BLOCK_END;
}

enum gt_deflate_status gt_deflate_block(struct gt_deflate *deflate) {
    bool is_stored = false;
    enum gt_deflate_status status = deflate->is_inside ? GT_DEFLATE_BLOCK_END : begin_block(deflate, &is_stored);
    if (status == GT_DEFLATE_BLOCK_END && !is_stored)
        status = deflate->symbols ? decode_steps_and_symbols(deflate) : decode_steps(deflate);
    return status == GT_DEFLATE_BLOCK_END && deflate->is_last ? GT_DEFLATE_STREAM_END : status;
}

/* What four codes of these lengths, of three bits each, take of all bit patterns, in 128ths; 255 stands for more. */
#define PART(length) ((length) ? 128 >> (length) : 0)
#define SUM(sum)     (unsigned char)((sum) > 255 ? 255 : (sum))
#define PARTS_8(sum)                                                                                                   \
    SUM((sum) + PART(0)), SUM((sum) + PART(1)), SUM((sum) + PART(2)), SUM((sum) + PART(3)), SUM((sum) + PART(4)),      \
        SUM((sum) + PART(5)), SUM((sum) + PART(6)), SUM((sum) + PART(7))
#define PARTS_64(sum)                                                                                                  \
    PARTS_8((sum) + PART(0)), PARTS_8((sum) + PART(1)), PARTS_8((sum) + PART(2)), PARTS_8((sum) + PART(3)),            \
        PARTS_8((sum) + PART(4)), PARTS_8((sum) + PART(5)), PARTS_8((sum) + PART(6)), PARTS_8((sum) + PART(7))
#define PARTS_512(sum)                                                                                                 \
    PARTS_64((sum) + PART(0)), PARTS_64((sum) + PART(1)), PARTS_64((sum) + PART(2)), PARTS_64((sum) + PART(3)),        \
        PARTS_64((sum) + PART(4)), PARTS_64((sum) + PART(5)), PARTS_64((sum) + PART(6)), PARTS_64((sum) + PART(7))
static const unsigned char parts_of_four[4096] = {
    PARTS_512(PART(0)), PARTS_512(PART(1)), PARTS_512(PART(2)), PARTS_512(PART(3)),
    PARTS_512(PART(4)), PARTS_512(PART(5)), PARTS_512(PART(6)), PARTS_512(PART(7)),
};

/* Whether the code of the lengths of codes is whole: few random bits are, so that most places are ruled out here. No
   branch before the sum is known: it would be guessed wrong for every second place. */
static inline bool has_whole_code(uint64_t lengths, unsigned count) {
    lengths &= (UINT64_C(1) << 3 * count) - 1;
    return parts_of_four[lengths & 4095] + parts_of_four[lengths >> 12 & 4095] + parts_of_four[lengths >> 24 & 4095] +
               parts_of_four[lengths >> 36 & 4095] + parts_of_four[lengths >> 48] ==
           128;
}

/* Which of the bits from here on, FIND_BITS of them, may be the first of a block that is looked for: not the last one,
   with codes of its own, no more of these than there are, with copies from more than 256 bytes back (17 distances or
   more) and codes of many lengths (12 or more). Traces hardly have other blocks, and this alone rules out all but 3 %
   of places; a block that is passed over belongs to the piece before. */
enum { FIND_BITS = 40 };
static inline uint64_t possible_begins(uint64_t bits) {
    uint64_t own_codes = ~bits & ~(bits >> 1) & bits >> 2;
    uint64_t too_many_literals = bits >> 4 & bits >> 5 & bits >> 6 & bits >> 7;
    uint64_t far_copies = bits >> 12;
    uint64_t too_many_distances = bits >> 9 & bits >> 10 & bits >> 11;
    uint64_t many_lengths = bits >> 16;
    return own_codes & ~too_many_literals & far_copies & ~too_many_distances & many_lengths &
           ((UINT64_C(1) << FIND_BITS) - 1);
}

static bool begins(struct gt_deflate *deflate, uint64_t bit) {
    enum { COUNT_AT = 13, LENGTHS_AT = 17 };
    unsigned count = 4 + (gt_deflate_peek(deflate->in, bit) >> COUNT_AT & 15);
    uint64_t after = bit + 3;
    return has_whole_code(gt_deflate_peek(deflate->in, bit + LENGTHS_AT), count) &&
           gt_deflate_codes(deflate, &after) == GT_DEFLATE_BLOCK_END;
}

bool gt_deflate_can_find(const struct gt_deflate *deflate) {
    return deflate->bit + 3 <= 8 * (uint64_t)deflate->in_bytes &&
           (possible_begins(gt_deflate_peek(deflate->in, deflate->bit)) & 1);
}

bool gt_deflate_find(struct gt_deflate *deflate, uint64_t end_bit) {
    uint64_t last = 8 * (uint64_t)deflate->in_bytes;
    end_bit = end_bit < last ? end_bit : last;
    for (uint64_t bit = deflate->bit; bit < end_bit; bit += FIND_BITS)
        for (uint64_t rest = possible_begins(gt_deflate_peek(deflate->in, bit)); rest; rest &= rest - 1) {
            uint64_t at = bit + (unsigned)__builtin_ctzll(rest);
            if (at < end_bit && begins(deflate, at)) {
                deflate->bit = at;
                return true;
            }
        }
    deflate->bit = end_bit;
    return false;
}
