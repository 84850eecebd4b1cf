/* The traces named on the command line, grouped into captures: several files can hold one. */
#ifndef CLI_CAPTURE_H
#define CLI_CAPTURE_H

#include "options.h"

/* A word of the command line: a trace, or a run as `graph` takes it, FILE,ENGINE,MODEL,SECONDS. */
struct cli_run {
    char *text;                 /* what the others point into; NULL: they are the word's own */
    const char *path;           /* of the trace */
    const char *engine, *model; /* NULL: a trace alone */
    int64_t elapsed_ns;         /* 0: as long as the trace has GPU work */
    char *label;                /* MODEL_ENGINE_FILE_INDEX without the suffixes of the file; NULL: a trace alone */
};

struct cli_capture {
    const char **paths;
    size_t path_count;
    const struct cli_run *run; /* that it is of; NULL: a configuration names it */
};

struct cli_captures {
    struct cli_capture *items; /* in the order of their first files */
    size_t count, first_of_b;  /* those of the second side of a comparison begin there; count: there is none */
    const char **paths;
    struct cli_run *runs; /* one for each word */
    size_t run_count;
    struct gputime_config *config; /* that names them; NULL: the command line does */
};

/* Words are paths, or runs, which belong together: their files must all be there. Files before words[split] and from it
   on are never one capture. Release also after a failure. */
enum gputime_status cli_captures_init(struct cli_captures *captures, const char *const *words, size_t word_count,
                                      bool are_runs, size_t split, struct gputime_error *err);
/* Those of a configuration file. */
enum gputime_status cli_captures_init_config(struct cli_captures *captures, const char *path,
                                             struct gputime_error *err);
void cli_captures_release(struct cli_captures *captures);

/* Whether its files are there to be read. */
enum gputime_status cli_capture_check(const struct cli_capture *capture, struct gputime_error *err);

/* What to open a capture with: what the user's options say, and what they leave open by the run or configuration. */
struct cli_capture_options {
    struct gputime_open_options opening;
    struct gputime_run run;
};
struct cli_capture_options cli_captures_options(const struct cli_captures *captures, size_t index,
                                                const struct cli_options *options);
/* Checks what these say of each capture, before any is read. */
enum gputime_status cli_captures_check(const struct cli_captures *captures, const struct cli_options *options,
                                       struct gputime_error *err);

#endif
