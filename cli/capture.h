/* The traces named on the command line, grouped into captures: several files can hold one. */
#ifndef CLI_CAPTURE_H
#define CLI_CAPTURE_H

#include <stddef.h>

#include "gputime.h"

struct cli_capture {
    const char **paths;
    size_t path_count;
};

struct cli_captures {
    struct cli_capture *items; /* in the order of their first files */
    size_t count, first_of_b;  /* those of the second side of a comparison begin there; count: there is none */
    const char **paths;
};

/* Checks that every path can be read before any is. Files before paths[split] and from it on are never one capture.
   Release also after a failure. */
enum gputime_status cli_captures_init(struct cli_captures *captures, const char *const *paths, size_t path_count,
                                      size_t split, struct gputime_error *err);
void cli_captures_release(struct cli_captures *captures);

#endif
