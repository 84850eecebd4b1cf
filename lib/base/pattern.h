/* A user's name pattern: a case-insensitive substring, or a PCRE2 regular expression after "re:". */
#ifndef GT_BASE_PATTERN_H
#define GT_BASE_PATTERN_H

#include <stdbool.h>

#include "base/fail.h"
#include "base/str.h"

struct gt_pattern;

/* A bad expression is a usage error with its position. *out is NULL then. */
enum gt_status gt_pattern_new(const char *text, struct gt_pattern **out, struct gt_error *err);
void gt_pattern_free(struct gt_pattern *pattern);

/* Bytes, not UTF-8: names may hold anything. Safe from several threads only with one pattern each. */
bool gt_pattern_matches(const struct gt_pattern *pattern, struct gt_str text);

#endif
