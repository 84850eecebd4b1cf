/* Failures of the program itself: a status to exit with and the line to print. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

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

enum gputime_status cli_fail_memory(struct gputime_error *err) {
    return cli_fail(err, "memory is short");
}
