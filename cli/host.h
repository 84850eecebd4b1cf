/* A part of the program that runs commands inside itself and hands their results on (`gputime mcp`): it says what may
 * be read, keeps traces open, and takes reports. */
#ifndef CLI_HOST_H
#define CLI_HOST_H

#include "options.h"

struct cli_host {
    void *context;
    /* Fails if the options of the command line, without settings, are too much for the host. */
    enum gputime_status (*accept)(void *context, const struct cli_options *options, struct gputime_error *err);
    /* Changes the options of a command before it runs. */
    void (*settle)(void *context, struct cli_options *options);
    /* Fails if the file may not be read. */
    enum gputime_status (*check)(void *context, const char *path, struct gputime_error *err);
    /* As gputime_traces_open; close is called instead of gputime_trace_free. */
    void (*open)(void *context, const struct gputime_input *inputs, size_t count, bool needs_all,
                 struct gputime_trace **traces, struct gputime_error *errors);
    void (*close)(void *context, struct gputime_trace *trace);
    /* As gputime_report_write to standard output. */
    enum gputime_status (*write)(void *context, const struct gputime_report *report,
                                 const struct gputime_write_options *writing, struct gputime_error *err);
};

/* Closes a trace of cli_captures_read, which may be NULL: caches and frees it, unless a host keeps it. */
void cli_host_close(const struct cli_options *options, struct gputime_trace *trace);
/* As gputime_report_write; what is printed goes to the host. */
enum gputime_status cli_host_write(const struct cli_options *options, const struct gputime_report *report,
                                   const struct gputime_write_options *writing, const char *path,
                                   struct gputime_error *err);

#endif
