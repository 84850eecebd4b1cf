/* Pieces of an event's text at 32 and 64 bytes a step: literals, texts, numbers, objects to skip. All of them read up to
   GT_TORCH_PADDING bytes behind the text at hand, where zeros stand; no piece goes on behind a zero. NULL means that
   the text is not as plain as this code wants it: the portable code then decides what it is. */
#ifndef GT_DECODE_TORCH_SIMD_H
#define GT_DECODE_TORCH_SIMD_H

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GT_SIMD __attribute__((target("avx2,bmi,pclmul"), always_inline)) static inline

GT_SIMD __m256i simd_load(const char *p) {
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

/* One bit for each byte that equals c. */
GT_SIMD uint32_t simd_equal(__m256i bytes, char c) {
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(c)));
}

GT_SIMD bool simd_matches(const char *p, const char *literal, size_t size) {
    for (;; p += 32, literal += 32, size -= 32) {
        uint32_t differs = ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(simd_load(p), simd_load(literal)));
        if (size <= 32)
            return differs << (32 - size) == 0;
        if (differs)
            return false;
    }
}

/* ---- texts ---- */

/* Where a text ends: quotes, and all that makes it more than a run of bytes. */
GT_SIMD uint32_t simd_text_specials(__m256i bytes) {
    const __m256i last_control = _mm256_set1_epi8(0x1f);
    __m256i controls = _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, last_control), last_control);
    __m256i quotes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'));
    __m256i escapes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'));
    return (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(controls, _mm256_or_si256(quotes, escapes)));
}

/* The quote that ends the text at p. */
GT_SIMD const char *simd_skip_text(const char *p) {
    uint32_t specials;
    while ((specials = simd_text_specials(simd_load(p))) == 0)
        p += 32;
    p += __builtin_ctz(specials);
    return *p == '"' ? p : NULL;
}

/* Mixes 32 bytes of a text into its hash; `round` makes their order count. */
GT_SIMD __m256i simd_mix(__m256i hash, __m256i bytes, uint64_t round) {
    __m256i keyed = _mm256_xor_si256(bytes, _mm256_set1_epi64x((long long)((round + 1) * 0x9e3779b97f4a7c15u)));
    __m256i product = _mm256_mul_epu32(keyed, _mm256_srli_epi64(keyed, 32));
    return _mm256_add_epi64(hash, _mm256_xor_si256(product, bytes));
}

GT_SIMD uint64_t simd_fold(__m256i hash, size_t size) {
    uint64_t lanes[4];
    _mm256_storeu_si256((__m256i *)(void *)lanes, hash);
    uint64_t a = (lanes[0] ^ lanes[1] >> 29) * 0x9fb21c651e98df25u, b = (lanes[2] ^ lanes[3] >> 31) * 0xd6e8feb86659fd93u;
    uint64_t c = (lanes[1] + lanes[3] * 3 + size) * 0xa0761d6478bd642fu;
    a ^= b >> 32 ^ c >> 17 ^ b ^ c;
    return a ^ a >> 32;
}

/* The same as simd_skip_text, and a hash of the text on the way. */
GT_SIMD const char *simd_hash_text(const char *p, uint64_t *hash) {
    const __m256i positions = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                                               21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
    const char *begin = p;
    __m256i state = _mm256_setzero_si256();
    for (uint64_t round = 0;; round++, p += 32) {
        __m256i bytes = simd_load(p);
        uint32_t specials = simd_text_specials(bytes);
        if (specials) {
            int size = __builtin_ctz(specials);
            __m256i inside = _mm256_cmpgt_epi8(_mm256_set1_epi8((char)size), positions);
            state = simd_mix(state, _mm256_and_si256(bytes, inside), round);
            p += size;
            break;
        }
        state = simd_mix(state, bytes, round);
    }
    *hash = simd_fold(state, (size_t)(p - begin));
    return *p == '"' ? p : NULL;
}

GT_SIMD bool simd_equal_texts(const char *a, const char *b, size_t size) {
    for (; size > 32; a += 32, b += 32, size -= 32)
        if (_mm256_movemask_epi8(_mm256_cmpeq_epi8(simd_load(a), simd_load(b))) != -1)
            return false;
    uint32_t differs = ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(simd_load(a), simd_load(b)));
    return differs << (32 - size) == 0;
}

/* ---- numbers ---- */

/* Skips a number that nobody asks for: one byte or more of - . / 0 ... 9, none of which ends a bare value. */
GT_SIMD const char *simd_skip_number(const char *p) {
    const char *begin = p;
    for (;; p += 16) {
        __m128i from_minus = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), _mm_set1_epi8('-'));
        __m128i is_part = _mm_cmpeq_epi8(_mm_min_epu8(from_minus, _mm_set1_epi8('9' - '-')), from_minus);
        uint32_t others = ~(uint32_t)_mm_movemask_epi8(is_part) & 0xffff;
        if (others) {
            p += __builtin_ctz(others);
            return p > begin ? p : NULL;
        }
    }
}

/* 1 to 15 digits, all at once: pairs, fours, eights, sixteen. */
GT_SIMD const char *simd_take_digits(const char *p, int64_t *value) {
    /* Loaded from behind its first half on, this moves digits to the end of a register, zeros before them. */
    static const int8_t moves[32] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                     0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15};
    __m128i digits = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), _mm_set1_epi8('0'));
    __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
    uint32_t others = ~(uint32_t)_mm_movemask_epi8(is_digit) & 0xffff;
    if (others == 0 || others & 1)
        return NULL;
    int count = __builtin_ctz(others);
    digits = _mm_shuffle_epi8(digits, _mm_loadu_si128((const __m128i *)(const void *)(moves + count)));
    __m128i pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(10 | 1 << 8));
    __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(100 | 1 << 16));
    __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(10000 | 1 << 16));
    uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);
    *value = (int64_t)((both & 0xffffffff) * 100000000 + (both >> 32));
    return p + count;
}

/* Microseconds with up to three decimals, as ns. */
GT_SIMD const char *simd_take_micros(const char *p, int64_t *ns) {
    static const uint32_t scales[4] = {1000, 100, 10, 1};
    int64_t micros, fraction = 0;
    p = simd_take_digits(p, &micros);
    if (!p)
        return NULL;
    if (*p == '.') {
        unsigned count = 0;
        for (p++; count < 4 && (unsigned char)(*p - '0') < 10; p++, count++)
            fraction = fraction * 10 + (*p - '0');
        if (count == 0 || count > 3)
            return NULL;
        fraction *= scales[count];
    }
    *ns = micros * 1000 + fraction;
    return p;
}

/* ---- lists and objects ---- */

/* The ] that ends a list in which no text and no list stands. */
GT_SIMD const char *simd_skip_list(const char *p) {
    for (;; p += 32) {
        __m256i bytes = simd_load(p);
        uint32_t specials = simd_equal(_mm256_or_si256(bytes, _mm256_set1_epi8(0x26)), 0x7f) | simd_text_specials(bytes);
        if (specials) {
            p += __builtin_ctz(specials);
            return *p == ']' ? p : NULL;
        }
    }
}

/* 64 bytes of an object, as one bit for each byte. */
struct simd_block {
    uint64_t quote, escape, comma, colon, space, open_list, close_list, open_object, close_object;
};

GT_SIMD uint64_t simd_equal_pair(__m256i low, __m256i high, char c) {
    return simd_equal(low, c) | (uint64_t)simd_equal(high, c) << 32;
}

GT_SIMD struct simd_block simd_classify(const char *p) {
    __m256i low = simd_load(p), high = simd_load(p + 32);
    return (struct simd_block){
        .quote = simd_equal_pair(low, high, '"'),
        .escape = simd_equal_pair(low, high, '\\'),
        .comma = simd_equal_pair(low, high, ','),
        .colon = simd_equal_pair(low, high, ':'),
        .space = simd_equal_pair(low, high, ' '),
        .open_list = simd_equal_pair(low, high, '['),
        .close_list = simd_equal_pair(low, high, ']'),
        .open_object = simd_equal_pair(low, high, '{'),
        .close_object = simd_equal_pair(low, high, '}'),
    };
}

/* Every bit becomes the parity of itself and all lower ones: what lies between quotes is set, the first one included. */
GT_SIMD uint64_t simd_parity(uint64_t bits) {
    __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)bits), _mm_set1_epi8(-1), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

/* For each of some brackets the next one among all of them. A bit added just behind a bracket is carried through the
   bytes between to where the next one stands. *carry: the bracket before this block is one of `some`. */
GT_SIMD uint64_t simd_next(uint64_t some, uint64_t all, uint64_t *carry) {
    uint64_t sum;
    bool leaves = __builtin_add_overflow(some << 1 | *carry, ~all, &sum);
    *carry = leaves | some >> 63;
    return sum & all;
}

/* Skips the object at p if it holds numbers, texts, lists of those, and lists of such lists, which is all that the args
   of operators hold. Every bracket must then be followed by one of the right kind:

       [ behind a colon, a list of the object:  by an inner list or its own ]
       any other [, an inner list:              by ]
       ] of an inner list:                      by the next inner list or the ] around it
       ] of an outer list, or nothing:          by the next outer list or the end

   Quotes are trusted only where a comma, colon or bracket follows the second of a pair. */
GT_SIMD const char *simd_skip_object(const char *p, const char *end) {
    uint64_t in_text = 0, text_ended = 0, colons = 0, spaces = 0, after_inner = 0, after_list = 0;
    for (p++; p < end; p += 64) {
        struct simd_block at = simd_classify(p);
        uint64_t text = simd_parity(at.quote) ^ in_text;
        uint64_t ends = at.close_object & ~text, last = ends & -ends;
        uint64_t here = last ? last | (last - 1) : ~UINT64_C(0);
        uint64_t follows_text = (at.quote & ~text) << 1 | text_ended;
        uint64_t may_follow = at.comma | at.colon | at.close_list | at.close_object;
        uint64_t opens = at.open_list & ~text & here, closes = at.close_list & ~text & here;
        uint64_t behind_colon = (at.colon << 1 | colons >> 63) |
                                ((at.colon << 2 | colons >> 62) & (at.space << 1 | spaces >> 63));
        uint64_t outer = opens & behind_colon, inner = opens & ~behind_colon, all = opens | closes | last;
        uint64_t next_inner = simd_next(inner, all, &after_inner);
        uint64_t next_list = simd_next(outer | (closes & next_inner), all, &after_list);
        uint64_t next_rest = all & ~next_inner & ~next_list;
        uint64_t wrong = (next_inner & ~closes) | (next_list & (outer | last)) | (next_rest & (inner | closes)) |
                         (((follows_text & ~may_follow) | at.escape | (at.open_object & ~text)) & here);
        if (wrong)
            return NULL;
        if (last)
            return p + __builtin_ctzll(last) + 1;
        in_text = (uint64_t)((int64_t)text >> 63);
        text_ended = (at.quote & ~text) >> 63;
        colons = at.colon;
        spaces = at.space;
    }
    return NULL;
}

#endif
