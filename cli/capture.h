/* The traces named on the command line, grouped into captures: several files can hold one. */
#ifndef CLI_CAPTURE_H
#define CLI_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "gputime.h"
#include "run.h"

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
    bool is_class_default;         /* rules and map of the options are for captures that nobody else tells classes of */
};

/* Words are paths, or runs, which belong together: their files must all be there. Files before words[split] and from it
   on are never one capture. Release also after a failure. */
enum gputime_status cli_captures_init(struct cli_captures *captures, const char *const *words, size_t word_count,
                                      bool are_runs, size_t split, struct gputime_error *err);
/* Whether its files are there to be read. */
enum gputime_status cli_capture_check(const struct cli_capture *capture, struct gputime_error *err);
/* Those of a configuration file. */
enum gputime_status cli_captures_init_config(struct cli_captures *captures, const char *path,
                                             struct gputime_error *err);
/* The options to open a capture with. */
struct gputime_options cli_captures_options(const struct cli_captures *captures, size_t index,
                                            const struct gputime_options *options);
/* Checks what these say of each capture, before any is read. */
enum gputime_status cli_captures_check(const struct cli_captures *captures, const struct gputime_options *options,
                                       struct gputime_error *err);
void cli_captures_release(struct cli_captures *captures);

/* Length of the beginning that names the capture of an `nsys stats` CSV; 0: the file stands alone. */
size_t cli_capture_prefix(const char *path);

#endif
