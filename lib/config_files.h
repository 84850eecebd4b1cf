/* The files that a configuration names: where they are, whether they can be read, and what they hold. */
#ifndef GT_CONFIG_FILES_H
#define GT_CONFIG_FILES_H

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

/* Relative paths count from the current folder, else from that of the configuration (with its slash; may be empty). */
const char *gt_config_file_find(struct gt_arena *arena, struct gt_str folder, struct gt_str given);

enum gt_status gt_config_file_check(const char *path, const char *config_path, struct gt_error *err);

/* The key of the input format that the first bytes tell; NULL where they tell none, or cannot be looked at twice. */
const char *gt_config_file_format(const char *path);

#endif
