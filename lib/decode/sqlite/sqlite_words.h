/* The types in the header of a record, eight at a time: most are one byte each. */
#ifndef GT_DECODE_SQLITE_WORDS_H
#define GT_DECODE_SQLITE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t gt_sqlite_words_load(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* How many of so many bytes are in the last of their words, as a mask over it. */
static inline uint64_t gt_sqlite_words_last_mask(size_t bytes) {
    uint64_t mask = 0;
    memset(&mask, 0xFF, (bytes + 7) % 8 + 1);
    return mask;
}

/* Whether each byte of these words, in the last word those of the mask, is a varint of one byte. */
static inline bool gt_sqlite_words_are_short(const uint8_t *bytes, size_t words, uint64_t mask) {
    uint64_t high = gt_sqlite_words_load(bytes + 8 * (words - 1)) & mask;
    for (size_t i = 0; i + 1 < words; i++)
        high |= gt_sqlite_words_load(bytes + 8 * i);
    return (high & UINT64_C(0x8080808080808080)) == 0;
}

#endif
