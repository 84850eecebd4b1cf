/* What the targets of text parsers share: the bytes as text with a NUL after them, and what an error must say. */
#ifndef TESTS_FUZZ_TEXT_INPUT_H
#define TESTS_FUZZ_TEXT_INPUT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/str.h"
#include "fuzz.h"
#include "gputime.h"

enum { FUZZ_TEXT_MAX = 4096 };

#define fuzz_must(condition)                                                                                           \
    ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition), abort()))

/* A block of exactly the size, so that reading beyond its end is seen. NULL: too long for this. Free it. */
static inline char *fuzz_text(const uint8_t *data, size_t size) {
    char *text = size <= FUZZ_TEXT_MAX ? malloc(size + 1) : NULL;
    if (text) {
        if (size)
            memcpy(text, data, size);
        text[size] = '\0';
    }
    return text;
}

static inline void fuzz_must_say(enum gt_status status, const struct gt_error *err) {
    fuzz_must(status == GT_OK || err->message[0]);
}

#endif
