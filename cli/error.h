/* Failures of the program itself, in the library's own error type: lower case, no full stop, advice after a semicolon.
 */
#ifndef CLI_ERROR_H
#define CLI_ERROR_H

#include "gputime.h"

/* Each sets *err and returns the status. */
enum gputime_status cli_fail(struct gputime_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
enum gputime_status cli_fail_usage(struct gputime_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* ": " and the system's text for the error number are appended. */
enum gputime_status cli_fail_system(struct gputime_error *err, int number, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum gputime_status cli_fail_memory(struct gputime_error *err);

#endif
