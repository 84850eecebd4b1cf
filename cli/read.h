/* Reads the captures of a command. */
#ifndef CLI_READ_H
#define CLI_READ_H

#include "capture.h"
#include "options.h"

/* traces and errors are zeroed and have an element for each capture: the trace, or why it could not be read. needs_all:
 * after a failure, later ones may have neither. Other failures go to err. */
enum gputime_status cli_captures_read(const struct cli_captures *captures, const struct cli_options *options,
                                      bool needs_all, struct gputime_trace **traces, struct gputime_error *errors,
                                      struct gputime_error *err);

/* The same for a command that needs every capture: the first failure is err. traces are zeroed; the caller closes what
   there is. */
enum gputime_status cli_captures_read_all(const struct cli_captures *captures, const struct cli_options *options,
                                          struct gputime_trace **traces, struct gputime_error *err);

/* What could be read only partly, one line on standard error for each trace; names are for people. */
void cli_warn_of_losses(struct gputime_trace *const *traces, const char *const *names, size_t count);
/* The same for all captures. */
void cli_captures_warn_of_losses(const struct cli_captures *captures, struct gputime_trace *const *traces);

/* As cli_captures_read for the ranks of a job, the captures from `first` up to `end`, of which summaries are kept.
 * Fails if none could be read. */
enum gputime_status cli_captures_read_job(const struct cli_captures *captures, size_t first, size_t end,
                                          const struct cli_options *options, struct gputime_job **job,
                                          struct gputime_error *errors, struct gputime_error *err);

#endif
