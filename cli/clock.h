/* The time of a report. */
#ifndef CLI_CLOCK_H
#define CLI_CLOCK_H

#include "options.h"

enum { CLI_TIME_MAX = 40 };

/* Whether the text is a date (2026-01-31), or a date and a time of day to the minute or finer with or without a zone
   (2026-01-31T09:30:00.25+01:00), as ISO 8601 writes them. */
bool cli_moment_is_valid(const char *text);

/* The value of --generated-at, else SOURCE_DATE_EPOCH (for reproducible builds), else the current time if a directory
 * is written. NULL: the report has no time. */
const char *cli_generated_at(const struct cli_options *options, char text[CLI_TIME_MAX]);

#endif
