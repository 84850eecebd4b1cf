/* Failures: a format and its arguments come in, a filled gt_error and its status go out. */
#include "base/fail.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Messages quote names of files and keys, which may hold anything; they stay one line that steers no terminal. */
static void copy_line(char *line, size_t size, const char *text) {
    static const char digits[] = "0123456789abcdef";
    size_t used = 0;
    for (; *text && used + sizeof "\\x00" <= size; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte >= ' ' && byte != 0x7f) {
            line[used++] = *text;
            continue;
        }
        line[used++] = '\\';
        line[used++] = 'x';
        line[used++] = digits[byte >> 4];
        line[used++] = digits[byte & 15];
    }
    while (*text && used + 1 < size && (unsigned char)*text >= ' ' && *text != 0x7f)
        line[used++] = *text++;
    line[used] = '\0';
}

/* Arguments may point into err->message, so the text is built next to it. */
static void set_message(struct gt_error *err, enum gt_status code, const char *format, va_list args) {
    char text[sizeof(err->message)];

    if (vsnprintf(text, sizeof(text), format, args) < 0)
        text[0] = '\0';
    err->code = code;
    copy_line(err->message, sizeof err->message, text);
}

enum gt_status gt_fail(struct gt_error *err, const char *format, ...) {
    va_list args;

    if (err) {
        va_start(args, format);
        set_message(err, GT_ERR, format, args);
        va_end(args);
    }
    return GT_ERR;
}

enum gt_status gt_fail_usage(struct gt_error *err, const char *format, ...) {
    va_list args;

    if (err) {
        va_start(args, format);
        set_message(err, GT_ERR_USAGE, format, args);
        va_end(args);
    }
    return GT_ERR_USAGE;
}

enum gt_status gt_fail_memory(struct gt_error *err) {
    return gt_fail(err, "out of memory; free some, or raise the limit (ulimit -v, container, job)");
}

/* Appends what fits; the message stays terminated. */
static void append(char *message, size_t size_bytes, const char *text) {
    size_t length = strlen(message), room = size_bytes - 1 - length, more = strlen(text);

    memcpy(message + length, text, more < room ? more : room);
    message[length + (more < room ? more : room)] = '\0';
}

enum gt_status gt_fail_context(struct gt_error *err, const char *format, ...) {
    char old[sizeof(err->message)];
    va_list args;

    if (!err)
        return GT_ERR;
    assert(err->code != GT_OK);
    memcpy(old, err->message, sizeof(old));
    va_start(args, format);
    set_message(err, err->code, format, args);
    va_end(args);
    append(err->message, sizeof(err->message), ": ");
    append(err->message, sizeof(err->message), old);
    return err->code;
}
