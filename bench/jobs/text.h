/* Text that goes to a file, compressed or not, or is only counted. */
#ifndef BENCH_JOBS_TEXT_H
#define BENCH_JOBS_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

struct text {
    FILE *file;
    gzFile packed; /* instead of the file */
    uint64_t bytes;
    size_t used;
    bool has_failed;
    char buffer[1 << 18];
};

static inline void text_flush(struct text *text) {
    if (text->used && text->packed)
        text->has_failed |= gzwrite(text->packed, text->buffer, (unsigned)text->used) != (int)text->used;
    else if (text->file)
        text->has_failed |= fwrite(text->buffer, 1, text->used, text->file) != text->used;
    text->bytes += text->used;
    text->used = 0;
}

static inline void text_put_bytes(struct text *text, const char *bytes, size_t size) {
    if (text->used + size > sizeof text->buffer)
        text_flush(text);
    memcpy(text->buffer + text->used, bytes, size);
    text->used += size;
}

static inline void text_put(struct text *text, const char *words) {
    text_put_bytes(text, words, strlen(words));
}

static inline void text_number(struct text *text, uint64_t value) {
    char digits[24];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    text_put_bytes(text, digits + at, sizeof digits - at);
}

static inline void text_signed(struct text *text, int64_t value) {
    if (value < 0)
        text_put(text, "-");
    text_number(text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* Microseconds with three decimals. */
static inline void text_micros(struct text *text, uint64_t ns) {
    char decimals[4] = {'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10), (char)('0' + ns % 10)};
    text_number(text, ns / 1000);
    text_put_bytes(text, decimals, sizeof decimals);
}

static inline void text_member(struct text *text, const char *key, uint64_t value) {
    text_put(text, key);
    text_number(text, value);
}

static inline void text_string(struct text *text, const char *key, const char *value) {
    text_put(text, key);
    text_put(text, "\"");
    text_put(text, value);
    text_put(text, "\"");
}

#endif
