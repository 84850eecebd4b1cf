/* Makes the report of a command from its traces: a plain one, a comparison, one with limits. */
#ifndef CLI_MAKE_H
#define CLI_MAKE_H

#include "capture.h"
#include "limits.h"
#include "request.h"

/* A report, what it borrows from, and how its limits fared. */
struct cli_made {
    struct gputime_report *report, *a, *b;
    struct gputime_options side_options; /* of a and b */
    struct gputime_shape side_shapes[CLI_REQUEST_SHAPES + 1];
    struct cli_verdicts verdicts;
};

/* What a report is made from. */
struct cli_making {
    const struct cli_command *command;
    const struct cli_options *options;
    const struct cli_limits *limits;
    const struct cli_request *request;
    struct gputime_trace *const *traces; /* those that could be read; of a comparison all */
    size_t trace_count;
    const struct cli_captures *captures;
};

/* `made` is zeroed or of an earlier call, which it then replaces. lib must live as long as it does. */
enum gputime_status cli_make(const struct cli_making *making, const struct gputime_options *lib, struct cli_made *made,
                             struct gputime_error *err);
void cli_made_release(struct cli_made *made);

#endif
