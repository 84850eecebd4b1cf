/* A run of a program as `graph` takes it: FILE,ENGINE,MODEL,SECONDS, where the last two may be left to the trace. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <stddef.h>

#include "gputime.h"

struct cli_run {
    char *text;          /* what the others point into */
    const char *path;    /* of the trace */
    const char *rules;   /* "ENGINE,MODEL"; NULL: a trace alone */
    const char *elapsed; /* seconds; NULL: as long as the trace has GPU work */
    char *label;         /* MODEL_ENGINE_FILE_INDEX without the suffixes of the file; NULL with a trace alone */
};

/* A word of the command line; index counts runs from 0. Only what the word itself tells is checked. Release also after
   a failure. */
enum gputime_status cli_run_init(struct cli_run *run, const char *word, size_t index, struct gputime_error *err);
void cli_run_release(struct cli_run *run);

/* The options to open the trace with. */
struct gputime_options cli_run_options(const struct cli_run *run, const struct gputime_options *options);
/* Checks what these say of engine, model and seconds, before any trace is read. */
enum gputime_status cli_run_check(const struct cli_run *run, const struct gputime_options *own,
                                  struct gputime_error *err);

#endif
