/* Failures of the program itself: a status to exit with and the line to print. */
#include "error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum gputime_status cli_fail(struct gputime_error *err, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return err->status = GPUTIME_FAILED;
}

enum gputime_status cli_fail_usage(struct gputime_error *err, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return err->status = GPUTIME_USAGE;
}

enum gputime_status cli_fail_system(struct gputime_error *err, int number, const char *format, ...) {
    char what[sizeof err->message - 128];
    const char *why = strerror(number);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    /* Lower-case first letter as in all messages, except in abbreviations. */
    char first = isupper((unsigned char)why[0]) && !isupper((unsigned char)why[1])
                     ? (char)tolower((unsigned char)why[0])
                     : why[0];
    return cli_fail(err, "%s: %c%s", what, first, why[0] ? why + 1 : "");
}

enum gputime_status cli_fail_memory(struct gputime_error *err) {
    return cli_fail(err, "out of memory; free some, or raise the limit (ulimit -v, container, job)");
}
