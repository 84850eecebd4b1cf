/* --open: the page in a browser. */
#ifndef CLI_BROWSER_H
#define CLI_BROWSER_H

#include "request.h"

/* Finds the page among the destinations, or adds one: a temporary file in place of printed text. Returns its path,
 * which lives as long as the destinations. */
enum gputime_status cli_browser_plan(struct cli_destination destinations[CLI_MAX_DESTINATIONS], size_t *count,
                                     const char **page, struct gputime_error *err);

/* Removes the file that planning created, if nothing will be written to it. */
void cli_browser_cancel(const struct cli_destination destinations[CLI_MAX_DESTINATIONS], size_t count);

/* Starts the program that $BROWSER names, else xdg-open, and does not wait for it. */
enum gputime_status cli_browser_open(const char *page, struct gputime_error *err);

#endif
