/* Names with wildcards: '*' is any text, '?' any byte. Case counts. */
#ifndef GT_BASE_GLOB_H
#define GT_BASE_GLOB_H

#include <stdbool.h>

#include "base/str.h"

bool gt_glob_matches(struct gt_str glob, struct gt_str text);

#endif
