/* Makes the report of a command from its traces: plain, a comparison, or with limits. */
#ifndef CLI_MAKE_H
#define CLI_MAKE_H

#include "capture.h"
#include "limits.h"
#include "request.h"

/* A report, the reports it borrows from, and the verdicts on its limits. */
struct cli_made {
    struct gputime_report *report, *a, *b;
    struct cli_verdicts verdicts;
};

/* What a report is made from. */
struct cli_making {
    const struct cli_command *command;
    const struct cli_options *options;
    const struct cli_limits *limits;
    const struct cli_request *request;
    const char *heading, *generated_at;  /* NULL: none */
    bool is_of_columns;                  /* only the columns that its shapes list */
    bool is_for_screen;                  /* only the rows that text and Markdown show are needed */
    struct gputime_trace *const *traces; /* those that could be read; all, for a comparison */
    size_t trace_count;
    const struct gputime_job *ranks, *other_ranks; /* of a job, of two in a comparison; NULL: each trace for itself */
    const struct cli_captures *captures;
};

/* What reports of this kind read of their traces (gputime_open_options.facts); traces need not be there yet. */
uint64_t cli_making_facts(const struct cli_making *making);

/* Finds wrong options of analyses before traces are read, with a report of none. */
enum gputime_status cli_making_check(const struct cli_making *making, struct gputime_error *err);

/* `made` is zeroed, or the result of an earlier call, which is replaced. */
enum gputime_status cli_make(const struct cli_making *making, struct cli_made *made, struct gputime_error *err);
void cli_made_release(struct cli_made *made);

#endif
