/* The command "export": writes the events of traces to files of another format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actions.h"
#include "capture.h"
#include "error.h"
#include "gather.h"
#include "host.h"
#include "read.h"
#include "target.h"
#include "terminal.h"

struct job {
    struct cli_options options; /* the user's, with what the export reads */
    struct cli_captures captures;
    struct gputime_trace **traces; /* by capture; those that could be read */
    size_t *op_counts;             /* that were exported */
};

static struct gputime_export_options export_options(const struct job *job) {
    struct gputime_export_options options = GPUTIME_EXPORT_OPTIONS_INIT;
    options.format = job->options.writing.format;
    options.selection = &job->options.selection;
    options.threads = job->options.opening.threads;
    options.op_counts = job->op_counts;
    return options;
}

/* Finds wrong options before traces are read: an export of none fails for them, or for that there are none. */
static enum gputime_status check_options(const struct job *job, struct gputime_error *err) {
    struct gputime_export_options options = export_options(job);
    if (gputime_export_facts(&options, job->options.output))
        return GPUTIME_OK;
    return gputime_traces_export(NULL, 0, &options, job->options.output, err);
}

static enum gputime_status plan(struct job *job, struct cli_words traces, struct gputime_error *err) {
    enum gputime_status status =
        cli_captures_init(&job->captures, traces.items, traces.count, false, traces.count, err);
    if (!status)
        status = cli_captures_check(&job->captures, &job->options, err);
    if (!status)
        status = check_options(job, err);
    if (!status)
        status = cli_target_check(job->options.output, false, &job->captures, err);
    return status;
}

/* An export has all traces or is not written. */
static enum gputime_status read_traces(struct job *job, struct gputime_error *err) {
    size_t count = job->captures.count;
    struct gputime_export_options options = export_options(job);
    job->options.opening.facts = gputime_export_facts(&options, job->options.output);
    job->traces = calloc(count + 1, sizeof *job->traces);
    job->op_counts = calloc(count + 1, sizeof *job->op_counts);
    if (!job->traces || !job->op_counts)
        return cli_fail_memory(err);
    return cli_captures_read_all(&job->captures, &job->options, job->traces, err);
}

/* A file without GPU work is seldom what somebody wants. */
static void note_empty(const struct job *job) {
    for (size_t i = 0; i < job->captures.count && !job->options.quiet; i++) {
        const struct gputime_rows *ops = gputime_trace_rows(job->traces[i], "ops");
        char path[1024];
        if (!job->op_counts[i])
            fprintf(stderr, "gputime: %s '%s' has no GPU ops\n",
                    ops && gputime_rows_count(ops) ? "the selection of" : "the trace",
                    cli_terminal_text(path, sizeof path, job->captures.items[i].paths[0]));
    }
}

static void release(struct job *job) {
    for (size_t i = 0; job->traces && i < job->captures.count; i++)
        cli_host_close(&job->options, job->traces[i]);
    free(job->traces);
    free(job->op_counts);
    cli_captures_release(&job->captures);
    free(job);
}

static enum gputime_status run(struct job *job, struct cli_words traces, struct gputime_error *err) {
    enum gputime_status status = plan(job, traces, err);
    if (!status)
        status = read_traces(job, err);
    if (!status) {
        struct gputime_export_options options = export_options(job);
        status = gputime_traces_export(job->traces, job->captures.count, &options, job->options.output, err);
    }
    if (!status && !job->options.quiet)
        cli_captures_warn_of_losses(&job->captures, job->traces);
    if (!status)
        note_empty(job);
    return status;
}

enum gputime_status cli_export_run(const struct cli_command *command, const struct cli_options *options,
                                   struct cli_words words, struct gputime_error *err) {
    char name[4096];
    struct cli_gathered gathered = {0};
    if (words.count == 0)
        return cli_fail_usage(err, "'%s' needs a trace; see 'gputime %s --help'", command->name, command->name);
    if (!options->output || strcmp(options->output, "-") == 0)
        return cli_fail_usage(err, "'%s' needs an output; usage: gputime %s %s", command->name, command->name,
                              command->usage);
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return cli_fail_memory(err);
    job->options = *options;
    enum gputime_status status = cli_gather(&gathered, words, false, err);
    if (!status)
        status = run(job, (struct cli_words){gathered.items, gathered.count}, err);
    if (!status && !options->quiet)
        printf("wrote %s\n", cli_terminal_text(name, sizeof name, options->output));
    release(job);
    cli_gather_release(&gathered);
    return status;
}
