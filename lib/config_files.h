/* The files that a configuration names: where they are, whether they can be read, and their formats. */
#ifndef GT_CONFIG_FILES_H
#define GT_CONFIG_FILES_H

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

/* Relative paths start at the current directory, else at that of the configuration (with its slash; may be empty). */
const char *gt_config_file_find(struct gt_arena *arena, struct gt_str directory, struct gt_str given);

enum gt_status gt_config_file_check(const char *path, const char *config_path, struct gt_error *err);

/* The input format recognized by the first bytes; NULL if there is none or the file cannot be read twice. */
const char *gt_config_file_format(const char *path);

#endif
