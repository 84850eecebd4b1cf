/* Names with wildcards: '*' is any text, '?' any byte; a backslash before one of these or another backslash takes its
   meaning away, any other backslash is itself. Case counts. */
#ifndef GT_BASE_GLOB_H
#define GT_BASE_GLOB_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

bool gt_glob_matches(struct gt_str glob, struct gt_str text);

/* The pattern that only this name matches. It ends with a NUL, and is empty if memory was short. */
struct gt_str gt_glob_of_name(struct gt_arena *arena, struct gt_str name);
/* The same without the backslashes of wildcards, for people. */
struct gt_str gt_glob_plain(struct gt_arena *arena, struct gt_str glob);

#endif
