/* Reads the captures of a command. */
#ifndef CLI_READ_H
#define CLI_READ_H

#include "capture.h"
#include "options.h"

/* traces and errors are zeroed and have an element for each capture: the trace, or why there is none. needs_all: where
   one fails, those behind it may have neither. Gives a failure of its own in err only. */
enum gputime_status cli_captures_read(const struct cli_captures *captures, const struct cli_options *options,
                                      bool needs_all, struct gputime_trace **traces, struct gputime_error *errors,
                                      struct gputime_error *err);

#endif
