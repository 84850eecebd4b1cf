/* The limits of a command: gathered from the options and the files they name, and their verdicts told. */
#ifndef CLI_LIMITS_H
#define CLI_LIMITS_H

#include "actions.h"

struct cli_limit {
    const char *text;
    const char *file; /* where it stands; NULL: among the options */
    size_t line;
};

/* Texts belong to them or to the options. */
struct cli_limits {
    struct cli_limit *items;
    size_t count, capacity;
    char *files[CLI_TEXTS_MAX]; /* contents */
};

/* The values of --fail-if or --limit, then the lines of every --limits. Release also after a failure. */
enum gputime_status cli_limits_init(struct cli_limits *limits, const struct cli_command *command,
                                    const struct cli_options *options, struct cli_words traces,
                                    struct gputime_error *err);
void cli_limits_release(struct cli_limits *limits);

/* How they fared: a limit in two traces counts twice. */
struct cli_verdicts {
    size_t count, broken, noise;
};

/* Judges each by itself, so that an error can name its place. */
enum gputime_status cli_limits_judge(const struct cli_limits *limits, struct gputime_report *report,
                                     struct cli_verdicts *verdicts, struct gputime_error *err);

/* Names on standard error what is broken, and what is exceeded but within the noise. */
void cli_limits_tell(const struct gputime_report *report, const struct cli_verdicts *verdicts);

#endif
