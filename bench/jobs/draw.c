/* Numbers that depend only on what they are for, never on the order of drawing; and memory that is there or ends it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "job.h"

uint64_t draw_mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint64_t draw_key(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    uint64_t key = draw_mix(a + 0x9e3779b97f4a7c15u);
    key = draw_mix(key ^ (b + 0xd1b54a32d192ed03u));
    return draw_mix(key ^ (c << 32 ^ d) * 0x9e3779b97f4a7c15u);
}

double draw_unit(uint64_t key) {
    return (double)(key >> 11) * 0x1p-53;
}

void *draw_memory(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        fail("out of memory");
    return memory;
}

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("jobgen: ", stderr);
    vfprintf(stderr, format, arguments);
    fputs("\n", stderr);
    va_end(arguments);
    exit(1);
}
