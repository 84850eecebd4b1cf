/* The time that reports state. */
#ifndef CLI_CLOCK_H
#define CLI_CLOCK_H

#include "options.h"

enum { CLI_TIME_MAX = 40 };

/* What --generated-at says, else the time in SOURCE_DATE_EPOCH (seconds, so that a build can be repeated), else now if
   a folder is written. NULL: none is to be stated. */
const char *cli_generated_at(const struct cli_options *options, char text[CLI_TIME_MAX]);

#endif
