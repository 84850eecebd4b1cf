/* The codes of deflate blocks: lengths of codes come in, tables to look symbols up go out. */
#include <string.h>

#include "base/deflate.h"

enum { MAX_LENGTH = 15, MAX_LITERALS = 286, MAX_DISTANCES = 30 };

static unsigned reversed(unsigned code, unsigned length) {
    unsigned out = 0;
    for (; length > 0; length--, code >>= 1)
        out = out << 1 | (code & 1);
    return out;
}

/* Codes in the order of their lengths, then of their symbols, as the format numbers them. */
struct ordered {
    uint16_t counts[MAX_LENGTH + 1];
    uint16_t symbols[320];
    unsigned longest, total;
};

/* false: more codes than bit patterns, or fewer where that is not allowed. One code of one bit is always allowed. */
static bool order(const struct gt_deflate_symbols *symbols, struct ordered *out) {
    memset(out->counts, 0, sizeof out->counts);
    for (size_t i = 0; i < symbols->count; i++)
        out->counts[symbols->lengths[i]]++;
    out->counts[0] = 0;
    uint16_t next[MAX_LENGTH + 2] = {0};
    int left = 1;
    out->longest = 0;
    for (unsigned length = 1; length <= MAX_LENGTH; length++) {
        left = 2 * left - out->counts[length];
        if (left < 0)
            return false;
        if (out->counts[length])
            out->longest = length;
        next[length + 1] = (uint16_t)(next[length] + out->counts[length]);
    }
    out->total = next[MAX_LENGTH + 1];
    for (size_t i = 0; i < symbols->count; i++)
        if (symbols->lengths[i])
            out->symbols[next[symbols->lengths[i]]++] = (uint16_t)i;
    return left == 0 || (!symbols->is_whole && out->longest <= 1);
}

/* How many bits the second table of codes that begin alike needs, from this length on. */
static unsigned second_bits(const struct ordered *codes, unsigned length, unsigned first_bits,
                            unsigned left_of_length) {
    unsigned bits = length - first_bits;
    int room = 1 << bits;
    room -= (int)left_of_length;
    while (room > 0 && bits + first_bits < codes->longest) {
        bits++;
        room = 2 * room - codes->counts[bits + first_bits];
    }
    return bits;
}

/* The entry of a symbol, whose field is the number of extra bits, for a code of this length. */
static uint32_t with_length(uint32_t entry, unsigned length) {
    if (entry & (GT_DEFLATE_LITERAL | GT_DEFLATE_SPECIAL))
        return entry | length;
    return GT_DEFLATE_ENTRY(entry >> 16, 0, length) | (length + gt_deflate_field(entry));
}

bool gt_deflate_table(const struct gt_deflate_symbols *symbols, uint32_t *table) {
    struct ordered codes;
    if (!order(symbols, &codes))
        return false;
    const unsigned bits = symbols->bits, size = 1u << bits;
    uint32_t nothing = GT_DEFLATE_ENTRY(GT_DEFLATE_NO_CODE, GT_DEFLATE_SPECIAL, 0);
    if (codes.total <= 1) /* bit patterns that no code has */
        for (unsigned i = 0; i < size; i++)
            table[i] = nothing;
    unsigned code = 0, taken = 0, end = size, prefix = UINT32_MAX, start = 0, width = 0;
    for (unsigned length = 1; length <= codes.longest; length++, code <<= 1) {
        for (unsigned left = codes.counts[length]; left > 0; left--, code++) {
            unsigned pattern = reversed(code, length);
            uint32_t entry = symbols->entries[codes.symbols[taken++]];
            if (length <= bits) {
                for (unsigned i = pattern; i < size; i += 1u << length)
                    table[i] = with_length(entry, length);
                continue;
            }
            if ((pattern & (size - 1)) != prefix) {
                prefix = pattern & (size - 1);
                width = second_bits(&codes, length, bits, left);
                start = end;
                end += 1u << width;
                table[prefix] = GT_DEFLATE_ENTRY(start, GT_DEFLATE_SPECIAL | GT_DEFLATE_TABLE, width) | bits;
            }
            for (unsigned i = pattern >> bits; i < 1u << width; i += 1u << (length - bits))
                table[start + i] = with_length(entry, length - bits);
        }
    }
    return true;
}

/* ---- the header of a block ---- */

static const uint32_t *literal_entries(void) {
    static const uint32_t entries[MAX_LITERALS + 2] = {
#define LITERAL(x)     GT_DEFLATE_ENTRY(x, GT_DEFLATE_LITERAL, 0)
#define LITERALS_4(x)  LITERAL(x), LITERAL((x) + 1), LITERAL((x) + 2), LITERAL((x) + 3)
#define LITERALS_16(x) LITERALS_4(x), LITERALS_4((x) + 4), LITERALS_4((x) + 8), LITERALS_4((x) + 12)
#define LITERALS_64(x) LITERALS_16(x), LITERALS_16((x) + 16), LITERALS_16((x) + 32), LITERALS_16((x) + 48)
        LITERALS_64(0),
        LITERALS_64(64),
        LITERALS_64(128),
        LITERALS_64(192),
        GT_DEFLATE_ENTRY(GT_DEFLATE_END_OF_BLOCK, GT_DEFLATE_SPECIAL, 0),
#define LENGTH(base, extra) GT_DEFLATE_ENTRY(base, 0, extra)
        LENGTH(3, 0),
        LENGTH(4, 0),
        LENGTH(5, 0),
        LENGTH(6, 0),
        LENGTH(7, 0),
        LENGTH(8, 0),
        LENGTH(9, 0),
        LENGTH(10, 0),
        LENGTH(11, 1),
        LENGTH(13, 1),
        LENGTH(15, 1),
        LENGTH(17, 1),
        LENGTH(19, 2),
        LENGTH(23, 2),
        LENGTH(27, 2),
        LENGTH(31, 2),
        LENGTH(35, 3),
        LENGTH(43, 3),
        LENGTH(51, 3),
        LENGTH(59, 3),
        LENGTH(67, 4),
        LENGTH(83, 4),
        LENGTH(99, 4),
        LENGTH(115, 4),
        LENGTH(131, 5),
        LENGTH(163, 5),
        LENGTH(195, 5),
        LENGTH(227, 5),
        LENGTH(258, 0),
        /* The fixed codes have two more, which are not used. */
        GT_DEFLATE_ENTRY(GT_DEFLATE_NO_CODE, GT_DEFLATE_SPECIAL, 0),
        GT_DEFLATE_ENTRY(GT_DEFLATE_NO_CODE, GT_DEFLATE_SPECIAL, 0),
    };
    return entries;
}

/* Distances double every second symbol: 1, 2, 3, 4, 5, 7, 9, 13, ... */
static void distance_entries(uint32_t entries[MAX_DISTANCES + 2]) {
    for (unsigned i = 0; i < MAX_DISTANCES; i++) {
        unsigned extra = i < 2 ? 0 : i / 2 - 1;
        unsigned base = i < 2 ? i + 1 : (2 + i % 2) * (1u << extra) + 1;
        entries[i] = GT_DEFLATE_ENTRY(base, 0, extra);
    }
    entries[30] = entries[31] = GT_DEFLATE_ENTRY(GT_DEFLATE_NO_CODE, GT_DEFLATE_SPECIAL, 0);
}

void gt_deflate_pair_literals(uint32_t *table) {
    /* Downwards: what follows the first code is a smaller pattern, whose entry is still that of one literal. */
    for (unsigned pattern = 1u << GT_DEFLATE_LITERAL_BITS; pattern-- > 0;) {
        uint32_t first = table[pattern];
        if (!(first & GT_DEFLATE_LITERAL))
            continue;
        uint32_t second = table[pattern >> gt_deflate_bits(first)];
        unsigned length = gt_deflate_bits(first) + gt_deflate_bits(second);
        if ((second & GT_DEFLATE_LITERAL) && length <= GT_DEFLATE_LITERAL_BITS)
            table[pattern] = GT_DEFLATE_ENTRY(first >> 16 | second >> 16 << 8, GT_DEFLATE_LITERAL, 1) | length;
    }
}

static bool make_tables(struct gt_deflate *deflate, const unsigned char *lengths, size_t literals, size_t distances) {
    uint32_t entries[MAX_DISTANCES + 2];
    distance_entries(entries);
    return gt_deflate_table(&(struct gt_deflate_symbols){lengths, literals, literal_entries(), GT_DEFLATE_LITERAL_BITS,
                                                         .is_whole = false},
                            deflate->literals) &&
           gt_deflate_table(&(struct gt_deflate_symbols){lengths + literals, distances, entries,
                                                         GT_DEFLATE_DISTANCE_BITS, .is_whole = false},
                            deflate->distances);
}

bool gt_deflate_fixed_codes(struct gt_deflate *deflate) {
    unsigned char lengths[MAX_LITERALS + 2 + MAX_DISTANCES + 2];
    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 256 - 144);
    memset(lengths + 256, 7, 280 - 256);
    memset(lengths + 280, 8, MAX_LITERALS + 2 - 280);
    memset(lengths + MAX_LITERALS + 2, 5, MAX_DISTANCES + 2);
    return make_tables(deflate, lengths, MAX_LITERALS + 2, MAX_DISTANCES + 2);
}

/* Codes of the lengths of codes: 0..15 a length, 16 the last one again, 17 and 18 zeros. */
static bool length_table(const unsigned char *in, uint64_t *bit, unsigned count, uint32_t *table) {
    static const unsigned char places[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    static const uint32_t entries[19] = {
#define SYMBOL(x) GT_DEFLATE_ENTRY(x, 0, 0)
        SYMBOL(0),  SYMBOL(1),  SYMBOL(2),  SYMBOL(3),  SYMBOL(4),  SYMBOL(5),  SYMBOL(6),
        SYMBOL(7),  SYMBOL(8),  SYMBOL(9),  SYMBOL(10), SYMBOL(11), SYMBOL(12), SYMBOL(13),
        SYMBOL(14), SYMBOL(15), SYMBOL(16), SYMBOL(17), SYMBOL(18)};
    unsigned char lengths[19] = {0};
    uint64_t bits = gt_deflate_peek(in, *bit);
    for (unsigned i = 0; i < count; i++, bits >>= 3)
        lengths[places[i]] = bits & 7;
    *bit += 3 * count;
    return gt_deflate_table(&(struct gt_deflate_symbols){lengths, 19, entries, 7, .is_whole = true}, table);
}

/* All lengths, of both codes one after the other. */
static enum gt_deflate_status read_lengths(const struct gt_deflate *deflate, uint64_t *bit, const uint32_t *table,
                                           unsigned char *lengths, unsigned count) {
    static const struct { unsigned char bits, least; } repeats[3] = {{2, 3}, {3, 3}, {7, 11}};
    for (unsigned done = 0; done < count;) {
        if (*bit > 8 * (uint64_t)deflate->in_bytes)
            return GT_DEFLATE_NEEDS_INPUT;
        uint64_t bits = gt_deflate_peek(deflate->in, *bit);
        uint32_t entry = table[bits & 127];
        unsigned symbol = entry >> 16, length = gt_deflate_bits(entry);
        bits >>= length;
        *bit += length;
        if (symbol < 16) {
            lengths[done++] = (unsigned char)symbol;
            continue;
        }
        unsigned times = repeats[symbol - 16].least + ((unsigned)bits & ((1u << repeats[symbol - 16].bits) - 1));
        *bit += repeats[symbol - 16].bits;
        if (times > count - done || (symbol == 16 && done == 0))
            return GT_DEFLATE_DAMAGED;
        memset(lengths + done, symbol == 16 ? lengths[done - 1] : 0, times);
        done += times;
    }
    return *bit > 8 * (uint64_t)deflate->in_bytes ? GT_DEFLATE_NEEDS_INPUT : GT_DEFLATE_BLOCK_END;
}

enum gt_deflate_status gt_deflate_codes(struct gt_deflate *deflate, uint64_t *bit) {
    uint64_t head = gt_deflate_peek(deflate->in, *bit);
    unsigned literals = 257 + (unsigned)(head & 31), distances = 1 + (unsigned)(head >> 5 & 31),
             codes = 4 + (unsigned)(head >> 10 & 15);
    if (literals > MAX_LITERALS || distances > MAX_DISTANCES)
        return GT_DEFLATE_DAMAGED;
    *bit += 14;
    uint32_t table[128];
    unsigned char lengths[MAX_LITERALS + MAX_DISTANCES];
    if (!length_table(deflate->in, bit, codes, table))
        return GT_DEFLATE_DAMAGED;
    enum gt_deflate_status status = read_lengths(deflate, bit, table, lengths, literals + distances);
    if (status != GT_DEFLATE_BLOCK_END)
        return status;
    /* A block has an end. */
    if (lengths[256] == 0 || !make_tables(deflate, lengths, literals, distances))
        return GT_DEFLATE_DAMAGED;
    return GT_DEFLATE_BLOCK_END;
}
