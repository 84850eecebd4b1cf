/* Pieces of an event's text at 16 to 64 bytes a step: literals, texts, numbers, objects to skip. All of them read up to
   GT_JSON_PADDING bytes after the current text, where zeros are; no piece goes on after a zero. NULL means that
   the text is not as plain as this code wants it: the portable code then decides what it is. */
#ifndef GT_DECODE_TORCH_TORCH_SIMD_H
#define GT_DECODE_TORCH_TORCH_SIMD_H

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

#define GT_SIMD_TARGET __attribute__((target("avx2,bmi,pclmul")))
#define GT_SIMD        GT_SIMD_TARGET __attribute__((always_inline)) static inline

/* Constants that are read from memory: gcc builds those it knows out of immediates, three instructions each time. */
struct simd_constants {
    char quote[32], escape[32], last_control[32], brackets[32], bracket_bits[32];
    char comma[32], colon[32], close_list[32], open_object[32], close_object[32];
    char positions[32]; /* 0, 1, 2 ... */
    char hash_key[32];
    char zero_digit[16], nine[16], minus[16], minus_to_nine[16];
    char pairs[16], fours[16], eights[16]; /* weights of digits */
    char moves[32];                        /* read from byte n on: moves the first n bytes of a register to its end */
    char from[32];                         /* read from byte 16 - n on: chooses bytes n and up */
    char last_letter[32];
};

GT_SIMD __m256i simd_load(const char *p) {
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

GT_SIMD __m128i simd_load_half(const char *p) {
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* One bit for each byte that is equal. */
GT_SIMD uint32_t simd_equal(__m256i a, __m256i b) {
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b));
}

/* size: of the literal, not 0; last_bits: one for each byte of its last 32 or less. */
GT_SIMD bool simd_matches(const char *p, const char *literal, size_t size, uint32_t last_bits) {
    for (; size > 32; p += 32, literal += 32, size -= 32)
        if (simd_equal(simd_load(p), simd_load(literal)) != UINT32_MAX)
            return false;
    return (last_bits & ~simd_equal(simd_load(p), simd_load(literal))) == 0;
}

/* The same of long ones, which mostly match. */
GT_SIMD bool simd_matches_long(const char *p, const char *text, size_t size, uint32_t last_bits) {
    for (; size > 128; p += 128, text += 128, size -= 128) {
        __m256i first = _mm256_and_si256(_mm256_cmpeq_epi8(simd_load(p), simd_load(text)),
                                         _mm256_cmpeq_epi8(simd_load(p + 32), simd_load(text + 32)));
        __m256i second = _mm256_and_si256(_mm256_cmpeq_epi8(simd_load(p + 64), simd_load(text + 64)),
                                          _mm256_cmpeq_epi8(simd_load(p + 96), simd_load(text + 96)));
        if (_mm256_movemask_epi8(_mm256_and_si256(first, second)) != -1)
            return false;
    }
    return simd_matches(p, text, size, last_bits);
}

/* ---- texts ---- */

/* Where a text ends: quotes, and all that makes it more than a run of bytes. */
GT_SIMD uint32_t simd_text_specials(const struct simd_constants *k, __m256i bytes) {
    __m256i last_control = simd_load(k->last_control);
    __m256i controls = _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, last_control), last_control);
    __m256i quotes = _mm256_cmpeq_epi8(bytes, simd_load(k->quote));
    __m256i escapes = _mm256_cmpeq_epi8(bytes, simd_load(k->escape));
    return (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(controls, _mm256_or_si256(quotes, escapes)));
}

/* The quote that ends the text at p. */
GT_SIMD const char *simd_skip_text(const struct simd_constants *k, const char *p) {
    uint32_t specials;
    while ((specials = simd_text_specials(k, simd_load(p))) == 0)
        p += 32;
    p += __builtin_ctz(specials);
    return *p == '"' ? p : NULL;
}

/* All bits of the first bytes set; count: 0 to 32. */
GT_SIMD __m256i simd_first(const struct simd_constants *k, int count) {
    return _mm256_cmpgt_epi8(_mm256_set1_epi8((char)count), simd_load(k->positions));
}

/* Mixes 32 bytes of a text into its hash. Turning the hash makes their order count. */
GT_SIMD __m256i simd_mix(const struct simd_constants *k, __m256i hash, __m256i bytes) {
    __m256i keyed = _mm256_xor_si256(bytes, simd_load(k->hash_key));
    __m256i product = _mm256_mul_epu32(keyed, _mm256_srli_epi64(keyed, 32));
    return _mm256_add_epi64(_mm256_shuffle_epi32(hash, 0x93), _mm256_xor_si256(product, bytes));
}

GT_SIMD uint64_t simd_fold(__m256i hash, size_t size) {
    __m128i low = _mm256_castsi256_si128(hash), high = _mm256_extracti128_si256(hash, 1);
    __m128i both = _mm_xor_si128(low, _mm_shuffle_epi32(high, 0x39));
    uint64_t a = (uint64_t)_mm_cvtsi128_si64(both), b = (uint64_t)_mm_extract_epi64(both, 1);
    uint64_t product = (a ^ size) * 0x9fb21c651e98df25u + (b ^ b >> 29) * 0xd6e8feb86659fd93u;
    return product ^ product >> 32;
}

/* The same as simd_skip_text, and a hash of the text on the way. */
GT_SIMD const char *simd_hash_text(const struct simd_constants *k, const char *p, uint64_t *hash) {
    const char *begin = p;
    __m256i state = _mm256_setzero_si256(), bytes;
    uint32_t specials;
    while ((specials = simd_text_specials(k, bytes = simd_load(p))) == 0) {
        state = simd_mix(k, state, bytes);
        p += 32;
    }
    int size = __builtin_ctz(specials);
    state = simd_mix(k, state, _mm256_and_si256(bytes, simd_first(k, size)));
    p += size;
    *hash = simd_fold(state, (size_t)(p - begin));
    return *p == '"' ? p : NULL;
}

/* A hash of bytes whose size is known, not 0. */
GT_SIMD uint64_t simd_hash_bytes(const struct simd_constants *k, struct gt_str text) {
    const char *p = text.ptr, *end = p + text.len;
    __m256i state = _mm256_setzero_si256();
    for (; end - p > 32; p += 32)
        state = simd_mix(k, state, simd_load(p));
    state = simd_mix(k, state, _mm256_and_si256(simd_load(p), simd_first(k, (int)(end - p))));
    return simd_fold(state, text.len);
}

/* A text and another of the same size, not 0, whose first 32 bytes are in `head`, with zeros after a shorter one.
   Nothing after the other text is read: the last step overlaps the one before. */
GT_SIMD bool simd_equal_texts(const struct simd_constants *k, const char *head, const char *other, struct gt_str text) {
    __m256i bytes = simd_load(text.ptr);
    if (text.len < 32)
        bytes = _mm256_and_si256(bytes, simd_first(k, (int)text.len));
    if (simd_equal(bytes, simd_load(head)) != UINT32_MAX)
        return false;
    if (text.len <= 32)
        return true;
    for (size_t i = 32; i + 32 < text.len; i += 32)
        if (simd_equal(simd_load(text.ptr + i), simd_load(other + i)) != UINT32_MAX)
            return false;
    return simd_equal(simd_load(text.ptr + text.len - 32), simd_load(other + text.len - 32)) == UINT32_MAX;
}

/* ---- numbers ---- */

/* Skips a number that nobody asks for: one byte or more of - . / 0 ... 9, none of which ends a bare value. */
GT_SIMD const char *simd_skip_number(const struct simd_constants *k, const char *p) {
    const char *begin = p;
    for (;; p += 16) {
        __m128i from_minus = _mm_sub_epi8(simd_load_half(p), simd_load_half(k->minus));
        __m128i is_part = _mm_cmpeq_epi8(_mm_min_epu8(from_minus, simd_load_half(k->minus_to_nine)), from_minus);
        int count = __builtin_ctz(~(unsigned)_mm_movemask_epi8(is_part)); /* 16: all of them */
        if (count < 16)
            return p + count > begin ? p + count : NULL;
    }
}

/* The number that 16 digits make, all at once: pairs, fours, eights, sixteen. */
GT_SIMD int64_t simd_sum_digits(const struct simd_constants *k, __m128i digits) {
    __m128i pairs = _mm_maddubs_epi16(digits, simd_load_half(k->pairs));
    __m128i fours = _mm_madd_epi16(pairs, simd_load_half(k->fours));
    __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), simd_load_half(k->eights));
    uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);
    return (int64_t)((both & 0xffffffff) * 100000000 + (both >> 32));
}

/* One bit for each byte, '0' taken off, that is a digit. */
GT_SIMD unsigned simd_are_digits(const struct simd_constants *k, __m128i bytes) {
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, simd_load_half(k->nine)), bytes));
}

/* 1 to 16 digits. More of them match no literal after the number. */
GT_SIMD const char *simd_take_digits(const struct simd_constants *k, const char *p, int64_t *value) {
    __m128i digits = _mm_sub_epi8(simd_load_half(p), simd_load_half(k->zero_digit));
    int count = __builtin_ctz(~simd_are_digits(k, digits));
    if (count == 0)
        return NULL;
    *value = simd_sum_digits(k, _mm_shuffle_epi8(digits, simd_load_half(k->moves + count)));
    return p + count;
}

/* One or two digits after a point, as thousandths. */
GT_SIMD const char *simd_take_short_fraction(const char *p, int64_t *thousandths) {
    unsigned first = (unsigned char)*p - (unsigned)'0', second = (unsigned char)p[1] - (unsigned)'0';
    if (first > 9)
        return NULL;
    *thousandths = first * 100 + (second > 9 ? 0 : second * 10);
    return second > 9 ? p + 1 : p + 2;
}

/* Three digits after a point, as thousandths, or fewer. */
GT_SIMD const char *simd_take_fraction(const char *p, int64_t *thousandths) {
    uint32_t decimals;
    memcpy(&decimals, p, sizeof decimals);
    if (((decimals & 0xf0f0f0) ^ 0x303030) != 0 || ((decimals + 0x060606) & 0xf0f0f0) != 0x303030)
        return simd_take_short_fraction(p, thousandths);
    *thousandths = (decimals & 0xf) * 100 + (decimals >> 8 & 0xf) * 10 + (decimals >> 16 & 0xf);
    return p + 3;
}

/* Microseconds with up to three decimals, as ns. */
GT_SIMD_TARGET __attribute__((noinline, unused)) static const char *simd_take_any_micros(const struct simd_constants *k,
                                                                                         const char *p, int64_t *ns) {
    int64_t micros, thousandths = 0;
    p = simd_take_digits(k, p, &micros);
    if (!p || micros > INT64_MAX / 1000 - 1)
        return NULL;
    if (*p == '.' && !(p = simd_take_fraction(p + 1, &thousandths)))
        return NULL;
    *ns = micros * 1000 + thousandths;
    return p;
}

/* The same, of most: 1 to 13 digits and three decimals, which without the point are the ns. */
GT_SIMD const char *simd_take_micros(const struct simd_constants *k, const char *p, int64_t *ns) {
    __m128i zero = simd_load_half(k->zero_digit), digits = _mm_sub_epi8(simd_load_half(p), zero);
    unsigned point = (unsigned)__builtin_ctz(~simd_are_digits(k, digits));
    if (point - 1 < 13 && p[point] == '.') {
        __m128i after_point = _mm_sub_epi8(simd_load_half(p + 1), zero);
        digits = _mm_blendv_epi8(digits, after_point, simd_load_half(k->from + 16 - point));
        digits = _mm_shuffle_epi8(digits, simd_load_half(k->moves + point + 3));
        if (simd_are_digits(k, digits) == 0xffff) {
            *ns = simd_sum_digits(k, digits);
            return p + point + 4;
        }
    }
    return simd_take_any_micros(k, p, ns);
}

/* ---- lists and objects ---- */

/* The ] that ends a list in which no text and no list is. */
GT_SIMD const char *simd_skip_list(const struct simd_constants *k, const char *p) {
    for (;; p += 32) {
        __m256i bytes = simd_load(p);
        /* A few letters look like brackets too; none of them is found in lists of numbers. */
        uint32_t brackets = simd_equal(_mm256_or_si256(bytes, simd_load(k->bracket_bits)), simd_load(k->brackets));
        uint32_t specials = brackets | simd_text_specials(k, bytes);
        if (specials) {
            p += __builtin_ctz(specials);
            return *p == ']' ? p : NULL;
        }
    }
}

/* One bit for each of 64 bytes that a function finds among 32 of them. */
#define SIMD_BITS(find, k, p)                                                                                          \
    ((uint32_t)_mm256_movemask_epi8(find(k, simd_load(p))) |                                                           \
     (uint64_t)(uint32_t)_mm256_movemask_epi8(find(k, simd_load((p) + 32))) << 32)

GT_SIMD __m256i simd_quotes(const struct simd_constants *k, __m256i bytes) {
    return _mm256_cmpeq_epi8(bytes, simd_load(k->quote));
}

GT_SIMD __m256i simd_closers(const struct simd_constants *k, __m256i bytes) {
    return _mm256_cmpeq_epi8(bytes, simd_load(k->close_object));
}

/* What may follow a text. */
GT_SIMD __m256i simd_followers(const struct simd_constants *k, __m256i bytes) {
    __m256i marks =
        _mm256_or_si256(_mm256_cmpeq_epi8(bytes, simd_load(k->comma)), _mm256_cmpeq_epi8(bytes, simd_load(k->colon)));
    return _mm256_or_si256(marks,
                           _mm256_or_si256(_mm256_cmpeq_epi8(bytes, simd_load(k->close_list)), simd_closers(k, bytes)));
}

/* What makes an object more than texts, numbers and lists. */
GT_SIMD __m256i simd_oddities(const struct simd_constants *k, __m256i bytes) {
    return _mm256_or_si256(_mm256_cmpeq_epi8(bytes, simd_load(k->escape)),
                           _mm256_cmpeq_epi8(bytes, simd_load(k->open_object)));
}

GT_SIMD __m256i simd_braces(const struct simd_constants *k, __m256i bytes) {
    return _mm256_or_si256(_mm256_cmpeq_epi8(bytes, simd_load(k->open_object)), simd_closers(k, bytes));
}

GT_SIMD __m256i simd_list_ends(const struct simd_constants *k, __m256i bytes) {
    return _mm256_cmpeq_epi8(bytes, simd_load(k->close_list));
}

/* Braces, and with them | ~ DEL, which are rare: as numbers with a sign they are above all others. */
GT_SIMD __m256i simd_after_letters(const struct simd_constants *k, __m256i bytes) {
    return _mm256_cmpgt_epi8(bytes, simd_load(k->last_letter));
}

/* The next brace at or after p. */
GT_SIMD const char *simd_find_brace(const struct simd_constants *k, const char *p, const char *end) {
    for (; p < end; p += 64) {
        __m256i both = _mm256_max_epi8(simd_load(p), simd_load(p + 32));
        if (_mm256_movemask_epi8(simd_after_letters(k, both)) == 0)
            continue;
        uint64_t found = SIMD_BITS(simd_after_letters, k, p);
        const char *at = p + (found ? __builtin_ctzll(found) : 0); /* none: the bytes have changed */
        if (*at == '{' || *at == '}')
            return at;
        uint64_t braces = SIMD_BITS(simd_braces, k, p);
        if (braces)
            return p + __builtin_ctzll(braces);
    }
    return NULL;
}

/* The place so many bytes before the next brace. */
GT_SIMD const char *simd_skip_lines(const struct simd_constants *k, const char *p, const char *end, size_t indent) {
    const char *brace = simd_find_brace(k, p, end);
    return brace && (size_t)(brace - p) >= indent ? brace - indent : NULL;
}

/* After the last ] before the next brace. */
GT_SIMD const char *simd_skip_lists(const struct simd_constants *k, const char *p, const char *end) {
    const char *brace = simd_find_brace(k, p, end);
    if (!brace)
        return NULL;
    while (brace > p) {
        const char *at = brace - p < 64 ? p : brace - 64;
        uint64_t before = UINT64_MAX >> (64 - (brace - at));
        uint64_t lists = SIMD_BITS(simd_list_ends, k, at) & before;
        if (lists)
            return at + 64 - __builtin_clzll(lists);
        brace = at;
    }
    return NULL;
}

/* Whether there is a brace after p and no ] before it. */
GT_SIMD bool simd_has_no_lists(const struct simd_constants *k, const char *p, const char *end) {
    for (; p < end; p += 64) {
        uint64_t braces = SIMD_BITS(simd_braces, k, p), lists = SIMD_BITS(simd_list_ends, k, p);
        if (braces | lists)
            return (lists & (braces ^ (braces - 1))) == 0 && braces;
    }
    return false;
}

/* Every bit becomes the parity of itself and all lower ones: what lies between quotes is set, the first one included.
 */
GT_SIMD uint64_t simd_parity(uint64_t bits) {
    __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)bits), _mm_set1_epi8(-1), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

/* Skips the object at p if it holds no other: it ends at the first closing brace outside texts. Quotes are trusted only
   where a comma, colon or bracket follows the second of a pair. */
GT_SIMD const char *simd_skip_object(const struct simd_constants *k, const char *p, const char *end) {
    uint64_t text_before = 0, text_ended = 0;
    for (p++; p < end; p += 64) {
        uint64_t quotes = SIMD_BITS(simd_quotes, k, p), closers = SIMD_BITS(simd_closers, k, p);
        uint64_t text = simd_parity(quotes) ^ text_before, text_ends = quotes & ~text;
        uint64_t ends = closers & ~text, last = ends & -ends;
        uint64_t wrong = ((text_ends << 1 | text_ended) & ~SIMD_BITS(simd_followers, k, p)) | (closers & text) |
                         SIMD_BITS(simd_oddities, k, p);
        if (wrong & (last ^ (last - 1))) /* up to the last byte, or anywhere where it is not in this block */
            return NULL;
        if (last)
            return p + __builtin_ctzll(last) + 1;
        text_before = 0 - (text >> 63);
        text_ended = text_ends >> 63;
    }
    return NULL;
}

#endif
