/* The traces named on the command line, grouped into captures: several files can hold one. */
#ifndef CLI_CAPTURE_H
#define CLI_CAPTURE_H

#include "options.h"

/* A word of the command line: a trace, or a run as `graph` takes it, FILE,ENGINE,MODEL,SECONDS. */
struct cli_run {
    char *text;                 /* copy that the others point into; NULL: they point into the word */
    const char *path;           /* of the trace */
    const char *engine, *model; /* NULL: a trace alone */
    int64_t elapsed_ns;         /* 0: the span of the GPU work */
    char *label;                /* MODEL_ENGINE_FILE_INDEX without the suffixes of the file; NULL: a trace alone */
};

struct cli_capture {
    const char **paths;
    size_t path_count;
    const struct cli_run *run; /* its run; NULL: it comes from a configuration */
};

struct cli_captures {
    struct cli_capture *items; /* in the order of their first files */
    size_t count, first_of_b;  /* first capture of side B; count: there is no side B */
    const char **paths;
    struct cli_run *runs; /* one for each word */
    size_t run_count;
    struct gputime_config *config; /* that lists them; NULL: they come from the command line */
};

/* Words are paths or runs. All files of a set of runs must exist. Files before and after words[split] are never one
 * capture. Release also after a failure. */
enum gputime_status cli_captures_init(struct cli_captures *captures, const char *const *words, size_t word_count,
                                      bool are_runs, size_t split, struct gputime_error *err);
/* Captures listed in a configuration file. */
enum gputime_status cli_captures_init_config(struct cli_captures *captures, const char *path,
                                             struct gputime_error *err);
void cli_captures_release(struct cli_captures *captures);

/* Fails if a file cannot be read. */
enum gputime_status cli_capture_check(const struct cli_capture *capture, struct gputime_error *err);

/* Options to open a capture with: the user's, completed by those of the run or configuration. */
struct cli_capture_options {
    struct gputime_open_options opening;
    struct gputime_run run;
};
struct cli_capture_options cli_captures_options(const struct cli_captures *captures, size_t index,
                                                const struct cli_options *options);
/* Checks these options for each capture, before any is read. */
enum gputime_status cli_captures_check(const struct cli_captures *captures, const struct cli_options *options,
                                       struct gputime_error *err);

#endif
