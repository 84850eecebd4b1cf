/* Checks the files that a report is to be written to, before the long work starts. */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include <stdbool.h>

#include "capture.h"
#include "gputime.h"

/* A path that ends in '/': a folder that gets one CSV file for each table. */
bool cli_target_is_folder(const char *path);

/* Fails when writing to path would replace one of the traces, or its folder is not there (and cannot be made, if that
   is allowed). */
enum gputime_status cli_target_check(const char *path, bool makes_folder, const struct cli_captures *captures,
                                     struct gputime_error *err);

/* Makes the folders that path is to be in, where they are not there. */
enum gputime_status cli_target_make_folder(const char *path, struct gputime_error *err);

/* Whether writing to one replaces what was written to the other. */
bool cli_targets_overlap(const char *a, const char *b);

#endif
