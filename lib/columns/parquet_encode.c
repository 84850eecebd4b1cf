/* DELTA_BINARY_PACKED and the hybrid of runs and packed bits, as the format's Encodings.md describes them. */
#include "columns/parquet_encode.h"

#include <endian.h>
#include <string.h>

enum { BLOCK = 128, MINIBLOCKS = 4, MINIBLOCK = BLOCK / MINIBLOCKS, VARINT_MAX = 10, GROUP = 8 };

static uint8_t *put_varint(uint8_t *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        *out++ = (uint8_t)(value | 0x80);
    *out++ = (uint8_t)value;
    return out;
}

static uint8_t *put_zigzag(uint8_t *out, int64_t value) {
    return put_varint(out, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

unsigned gt_parquet_encode_bits(uint64_t largest) {
    return largest ? 64 - (unsigned)__builtin_clzll(largest) : 0;
}

static uint8_t *put_le(uint8_t *out, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++)
        *out++ = (uint8_t)(value >> 8 * i);
    return out;
}

/* Packs values of so many bits, the lowest bit first; count is a multiple of 8, so that bytes come out even. */
static uint8_t *pack(const uint64_t *values, size_t count, unsigned bits, uint8_t *out) {
    uint64_t word = 0;
    unsigned used = 0;
    if (bits == 0)
        return out;
    for (size_t i = 0; i < count; i++) {
        word |= values[i] << used;
        used += bits;
        if (used >= 64) {
            word = htole64(word);
            memcpy(out, &word, sizeof word);
            out += sizeof word;
            used -= 64;
            word = used ? values[i] >> (bits - used) : 0;
        }
    }
    return put_le(out, word, used / 8);
}

/* ---- differences ---- */

size_t gt_parquet_encode_delta_room(size_t count) {
    size_t blocks = (count + BLOCK - 1) / BLOCK;
    return 4 * VARINT_MAX + blocks * (VARINT_MAX + MINIBLOCKS + BLOCK * sizeof(uint64_t));
}

/* One block: its smallest difference, then what is above it. count: differences in it, at most BLOCK; the rest of the
 * block repeats the smallest. */
static uint8_t *put_block(const uint64_t *values, size_t count, uint8_t *out) {
    uint64_t deltas[BLOCK];
    int64_t smallest = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        deltas[i] = values[i + 1] - values[i];
        smallest = (int64_t)deltas[i] < smallest ? (int64_t)deltas[i] : smallest;
    }
    for (size_t i = count; i < BLOCK; i++)
        deltas[i] = (uint64_t)smallest;
    for (size_t i = 0; i < BLOCK; i++)
        deltas[i] -= (uint64_t)smallest;
    out = put_zigzag(out, smallest);
    uint8_t *widths = out;
    out += MINIBLOCKS;
    for (size_t m = 0; m < MINIBLOCKS; m++) {
        uint64_t all = 0;
        for (size_t i = 0; i < MINIBLOCK; i++)
            all |= deltas[m * MINIBLOCK + i];
        unsigned bits = gt_parquet_encode_bits(all);
        widths[m] = (uint8_t)bits;
        if (m * MINIBLOCK < count)
            out = pack(deltas + m * MINIBLOCK, MINIBLOCK, bits, out);
    }
    return out;
}

size_t gt_parquet_encode_delta(const uint64_t *values, size_t count, uint8_t *out) {
    uint8_t *begin = out;
    out = put_varint(out, BLOCK);
    out = put_varint(out, MINIBLOCKS);
    out = put_varint(out, count);
    out = put_zigzag(out, count ? (int64_t)values[0] : 0);
    for (size_t at = 0; at + 1 < count; at += BLOCK) {
        size_t left = count - 1 - at;
        out = put_block(values + at, left < BLOCK ? left : BLOCK, out);
    }
    return (size_t)(out - begin);
}

/* ---- runs and packed bits ---- */

size_t gt_parquet_encode_hybrid_room(size_t count, unsigned bits) {
    size_t groups = count / GROUP + 1;
    return groups * (2 * VARINT_MAX + bits) + 2 * VARINT_MAX;
}

static uint8_t *put_packed(const uint32_t *values, size_t count, unsigned bits, uint8_t *out) {
    size_t groups = (count + GROUP - 1) / GROUP;
    if (groups == 0)
        return out;
    out = put_varint(out, (uint64_t)groups << 1 | 1);
    for (size_t at = 0; at < count; at += GROUP) {
        uint64_t wide[GROUP] = {0};
        for (size_t i = 0; i < GROUP && at + i < count; i++)
            wide[i] = values[at + i];
        out = pack(wide, GROUP, bits, out);
    }
    return out;
}

static uint8_t *put_run(uint32_t value, size_t count, unsigned bits, uint8_t *out) {
    out = put_varint(out, (uint64_t)count << 1);
    return put_le(out, value, (bits + 7) / 8);
}

size_t gt_parquet_encode_run(uint32_t value, size_t count, unsigned bits, uint8_t *out) {
    return count ? (size_t)(put_run(value, count, bits, out) - out) : 0;
}

size_t gt_parquet_encode_hybrid(const uint32_t *values, size_t count, unsigned bits, uint8_t *out) {
    uint8_t *begin = out;
    size_t packed_from = 0;
    for (size_t at = 0; at < count;) {
        size_t run = 1;
        while (at + run < count && values[at + run] == values[at])
            run++;
        size_t fill = (GROUP - (at - packed_from) % GROUP) % GROUP; /* packed values come in groups */
        if (run >= fill + GROUP) {
            out = put_packed(values + packed_from, at + fill - packed_from, bits, out);
            out = put_run(values[at], run - fill, bits, out);
            packed_from = at + run;
        }
        at += run;
    }
    out = put_packed(values + packed_from, count - packed_from, bits, out);
    return (size_t)(out - begin);
}
