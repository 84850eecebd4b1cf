/* The text of a trace: events and members go out in one of the layouts that writers use. */
#ifndef BENCH_TRACE_TEXT_H
#define BENCH_TRACE_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum layout { LAYOUT_MULTI, LAYOUT_FLAT, LAYOUT_MIN };

static struct {
    FILE *file;
    enum layout layout;
    bool has_decimals;
    bool is_rehearsal; /* nothing is written, only counted */
    uint64_t bytes, events;
    size_t used;
    char buffer[1 << 20];
} trace = {.has_decimals = true};

static void flush(void) {
    if (!trace.is_rehearsal && fwrite(trace.buffer, 1, trace.used, trace.file) != trace.used) {
        perror("tracegen");
        exit(1);
    }
    trace.bytes += trace.used;
    trace.used = 0;
}

static void put_bytes(const char *text, size_t size) {
    if (trace.used + size > sizeof trace.buffer)
        flush();
    memcpy(trace.buffer + trace.used, text, size);
    trace.used += size;
}

static void put(const char *text) {
    put_bytes(text, strlen(text));
}

static void put_number(uint64_t value) {
    char digits[24];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    put_bytes(digits + at, sizeof digits - at);
}

static void put_fraction(uint64_t value, int digits) {
    char text[8] = {'.'};
    for (int i = digits; i > 0; i--, value /= 10)
        text[i] = (char)('0' + value % 10);
    put_bytes(text, (size_t)digits + 1);
}

static void put_ratio(uint64_t a, uint64_t b) {
    put_number(a / b);
    put_fraction(a % b * 1000000 / b, 6);
}

static void put_micros(uint64_t ns) {
    put_number(ns / 1000);
    if (trace.has_decimals)
        put_fraction(ns % 1000, 3);
}

/* The text of this layout; the flat one is like the first but for what stands between args. */
static void put_layout(const char *multi, const char *flat, const char *min) {
    put(trace.layout == LAYOUT_MULTI ? multi : trace.layout == LAYOUT_FLAT ? flat : min);
}

static void begin_event(void) {
    if (trace.events++)
        put_layout(",", ",", ", ");
    put_layout("\n  {\n    ", "\n  {\n    ", "{");
}

static void end_event(void) {
    put_layout("\n  }", "\n  }", "}");
}

static void next_line(void) {
    put_layout(",\n    ", ",\n    ", ", ");
}

static void begin_args(void) {
    put_layout(",\n    \"args\": {\n      ", ",\n    \"args\": {\n      ", ", \"args\": {");
}

static void end_args(void) {
    put_layout("\n    }", "\n    }", "}");
    end_event();
}

static void next_arg(void) {
    put_layout(",\n      ", ",      ", ", ");
}

static void put_member(const char *key, uint64_t value) {
    put(key);
    put_number(value);
}

#endif
