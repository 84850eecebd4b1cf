/* Checks the output files of a report before anything is read. */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include <stdbool.h>

#include "capture.h"
#include "gputime.h"

/* A path that ends in '/': a directory that gets one file per table. */
bool cli_target_is_directory(const char *path);

/* Fails if writing to path would replace one of the traces, or if its directory does not exist (and cannot be created,
 * if that is allowed). */
enum gputime_status cli_target_check(const char *path, bool makes_directory, const struct cli_captures *captures,
                                     struct gputime_error *err);

/* Creates the missing parent directories of path. */
enum gputime_status cli_target_make_directory(const char *path, struct gputime_error *err);

/* Whether writing to one replaces what was written to the other. */
bool cli_targets_overlap(const char *a, const char *b);

#endif
