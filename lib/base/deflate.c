/* Deflate blocks as symbols: packed bytes come in, bytes and markers go out. Blocks can be found from any bit on. */
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

static inline unsigned take(struct cursor *at, unsigned bits) {
    unsigned value = (unsigned)(at->bits & ((UINT64_C(1) << bits) - 1));
    skip(at, bits);
    return value;
}

/* Up to 31 symbols more than asked for are written: there is room. Most copies end with the first 32, whatever their
   length, so that the CPU need not guess how often a loop runs. */
static inline void copy(uint16_t *to, unsigned distance, unsigned length) {
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

/* A special entry: the entry of the second table, or the end. */
static inline uint32_t second_look(struct cursor *at, const uint32_t *table, uint32_t entry) {
    skip(at, gt_deflate_length(entry));
    return table[(entry >> 16) + (at->bits & ((1u << gt_deflate_extra(entry)) - 1))];
}

static inline uint32_t look(struct cursor *at, const uint32_t *table, unsigned table_bits) {
    uint32_t entry = table[at->bits & ((1u << table_bits) - 1)];
    return entry & GT_DEFLATE_TABLE ? second_look(at, table, entry) : entry;
}

/* One literal or two: what is written after one is overwritten. */
static inline uint16_t *put(uint16_t *out, uint32_t entry) {
    out[0] = (uint16_t)(entry >> 16 & 0xff);
    out[1] = (uint16_t)(entry >> 24);
    return out + 1 + gt_deflate_extra(entry);
}

static uint64_t place_of(const struct gt_deflate *deflate, const struct cursor *at) {
    return 8 * (uint64_t)(at->next - deflate->in) - at->count;
}

/* What is wrong may be but the zeros after the input. */
static enum gt_deflate_status damaged(const struct gt_deflate *deflate, uint64_t bit) {
    return bit > 8 * (uint64_t)deflate->in_bytes ? GT_DEFLATE_NEEDS_INPUT : GT_DEFLATE_DAMAGED;
}

/* The symbols of a block with codes, from a bit on; moves *bit to its end. */
static enum gt_deflate_status decode(struct gt_deflate *deflate, uint64_t *bit, size_t *out_count) {
    const uint32_t *literals = deflate->literals, *distances = deflate->distances;
    const unsigned char *in_end = deflate->in + deflate->in_bytes;
    uint16_t *out = deflate->out + deflate->out_count;
    const uint16_t *out_end = deflate->out + deflate->out_room - GT_DEFLATE_SLACK;
    const uint16_t *reachable = deflate->out + GT_DEFLATE_WINDOW - deflate->reach;
    struct cursor at = {.next = deflate->in + *bit / 8};
    load(&at);
    skip(&at, *bit % 8);
    uint32_t entry;
    for (;;) {
        load(&at);
        if (at.next > in_end + sizeof at.bits)
            return GT_DEFLATE_NEEDS_INPUT;
        if (out >= out_end)
            return GT_DEFLATE_NEEDS_ROOM;
        entry = look(&at, literals, GT_DEFLATE_LITERAL_BITS);
        if (entry & GT_DEFLATE_LITERAL) {
            skip(&at, gt_deflate_length(entry));
            out = put(out, entry);
            entry = look(&at, literals, GT_DEFLATE_LITERAL_BITS);
            if (entry & GT_DEFLATE_LITERAL) {
                skip(&at, gt_deflate_length(entry));
                out = put(out, entry);
                continue;
            }
        }
        skip(&at, gt_deflate_length(entry));
        if (entry & GT_DEFLATE_SPECIAL)
            break;
        load(&at);
        unsigned length = (entry >> 16) + take(&at, gt_deflate_extra(entry));
        entry = look(&at, distances, GT_DEFLATE_DISTANCE_BITS);
        skip(&at, gt_deflate_length(entry));
        unsigned distance = (entry >> 16) + take(&at, gt_deflate_extra(entry));
        if ((entry & GT_DEFLATE_SPECIAL) || distance > (size_t)(out - reachable))
            return damaged(deflate, place_of(deflate, &at));
        copy(out, distance, length);
        out += length;
    }
    uint64_t end = place_of(deflate, &at);
    if (end > 8 * (uint64_t)deflate->in_bytes)
        return GT_DEFLATE_NEEDS_INPUT;
    *bit = end;
    *out_count = (size_t)(out - deflate->out);
    return entry >> 16 == GT_DEFLATE_END_OF_BLOCK ? GT_DEFLATE_BLOCK_END : GT_DEFLATE_DAMAGED;
}

/* Bytes as they are, after their number and its complement. */
static enum gt_deflate_status copy_stored(struct gt_deflate *deflate, uint64_t *bit, size_t *out_count) {
    size_t at = (size_t)((*bit + 7) / 8);
    if (at + 4 > deflate->in_bytes)
        return GT_DEFLATE_NEEDS_INPUT;
    const unsigned char *in = deflate->in + at;
    size_t size = in[0] | (size_t)in[1] << 8;
    if ((size ^ 0xffff) != (in[2] | (size_t)in[3] << 8))
        return GT_DEFLATE_DAMAGED;
    if (size > deflate->in_bytes - at - 4)
        return GT_DEFLATE_NEEDS_INPUT;
    if (deflate->out_room < GT_DEFLATE_SLACK + size || deflate->out_count > deflate->out_room - GT_DEFLATE_SLACK - size)
        return GT_DEFLATE_NEEDS_ROOM;
    for (size_t i = 0; i < size; i++)
        deflate->out[deflate->out_count + i] = in[4 + i];
    *bit = 8 * (uint64_t)(at + 4 + size);
    *out_count = deflate->out_count + size;
    return GT_DEFLATE_BLOCK_END;
}

enum gt_deflate_status gt_deflate_block(struct gt_deflate *deflate) {
    uint64_t bit = deflate->bit;
    size_t out_count = deflate->out_count;
    if (bit + 3 > 8 * (uint64_t)deflate->in_bytes)
        return GT_DEFLATE_NEEDS_INPUT;
    unsigned head = gt_deflate_peek(deflate->in, bit) & 7;
    bool is_last = head & 1;
    enum { STORED = 0, FIXED = 1, OWN_CODES = 2 };
    enum gt_deflate_status status = GT_DEFLATE_DAMAGED;
    bit += 3;
    if (head >> 1 == STORED)
        status = copy_stored(deflate, &bit, &out_count);
    else if (head >> 1 == FIXED)
        status = gt_deflate_fixed_codes(deflate) ? GT_DEFLATE_BLOCK_END : GT_DEFLATE_DAMAGED;
    else if (head >> 1 == OWN_CODES)
        status = gt_deflate_codes(deflate, &bit);
    if (status == GT_DEFLATE_DAMAGED)
        return damaged(deflate, bit);
    if (head >> 1 != STORED && status == GT_DEFLATE_BLOCK_END) {
        gt_deflate_pair_literals(deflate->literals);
        status = decode(deflate, &bit, &out_count);
    }
    if (status != GT_DEFLATE_BLOCK_END)
        return status;
    deflate->bit = bit;
    deflate->out_count = out_count;
    return is_last ? GT_DEFLATE_STREAM_END : GT_DEFLATE_BLOCK_END;
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
