/* The limits of a command, from options and files, and their verdicts. */
#ifndef CLI_LIMITS_H
#define CLI_LIMITS_H

#include <stdbool.h>

#include "actions.h"

struct cli_limit {
    const char *text;
    const char *file; /* where it was read; NULL: from an option */
    size_t line;
};

/* Texts are owned by these files or by the options. */
struct cli_limits {
    struct cli_limit *items;
    size_t count, capacity;
    char *files[CLI_TEXTS_MAX]; /* contents */
};

/* The values of --fail-if or --limit, then the lines of every --limits. Release also after a failure. */
enum gputime_status cli_limits_init(struct cli_limits *limits, const struct cli_command *command,
                                    const struct cli_options *options, struct cli_words traces,
                                    struct gputime_error *err);
/* Whether any limit is about rows of that kind: "kernel" in "each kernel:*>+3%". */
bool cli_limits_have_kind(const struct cli_limits *limits, const char *kind);
void cli_limits_release(struct cli_limits *limits);

/* Counts of verdicts; a limit on two traces counts twice. */
struct cli_verdicts {
    size_t count, broken, noise;
};

/* Judges limits one at a time, so that an error can name the place of the limit. */
enum gputime_status cli_limits_judge(const struct cli_limits *limits, struct gputime_report *report,
                                     struct cli_verdicts *verdicts, struct gputime_error *err);

/* Prints broken limits, and those exceeded within the noise, to standard error. */
void cli_limits_print(const struct gputime_report *report, const struct cli_verdicts *verdicts);

#endif
