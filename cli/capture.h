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
    size_t count;
    const char **paths;
    struct gputime_config *config; /* that names them; NULL: the command line does */
};

/* Checks that every path can be read before any is. Release also after a failure. */
enum gputime_status cli_captures_init(struct cli_captures *captures, const char *const *paths, size_t path_count,
                                      struct gputime_error *err);
/* Those of a configuration file, which is checked too. */
enum gputime_status cli_captures_init_config(struct cli_captures *captures, const char *path,
                                             struct gputime_error *err);
/* The options to open a capture with. */
struct gputime_options cli_captures_options(const struct cli_captures *captures, size_t index,
                                            const struct gputime_options *options);
void cli_captures_release(struct cli_captures *captures);

#endif
