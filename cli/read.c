/* Reads captures into traces and errors, in the order of the captures. */
#include "read.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "error.h"
#include "host.h"
#include "terminal.h"

/* One element for each capture whose files exist. */
struct reading {
    struct gputime_input *inputs;
    struct cli_capture_options *options; /* that the inputs point to */
    struct cli_progress_part *parts;
    struct gputime_trace **traces;
    struct gputime_error *errors;
    size_t *captures; /* index of the capture */
    size_t count;
    struct cli_progress progress;
};

static uint64_t bytes_of(const struct cli_capture *capture) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < capture->path_count; i++) {
        struct stat info;
        bytes += stat(capture->paths[i], &info) == 0 && S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0;
    }
    return bytes;
}

static void add_capture(struct reading *reading, const struct cli_captures *captures, size_t index,
                        const struct cli_options *options) {
    const struct cli_capture *capture = &captures->items[index];
    struct cli_capture_options *own = &reading->options[reading->count];
    *own = cli_captures_options(captures, index, options);
    reading->inputs[reading->count] = (struct gputime_input){
        .paths = capture->paths, .path_count = capture->path_count, .options = &own->opening, .run = &own->run};
    if (reading->progress.is_wanted && !options->quiet) {
        struct cli_progress_part *part = &reading->parts[reading->count];
        cli_progress_add(&reading->progress, part, bytes_of(capture));
        own->opening.progress = cli_progress_update;
        own->opening.progress_context = part;
    }
    reading->captures[reading->count++] = index;
}

static enum gputime_status check_host(const struct cli_capture *capture, const struct cli_host *host,
                                      struct gputime_error *err) {
    enum gputime_status status = GPUTIME_OK;
    for (size_t i = 0; host && !status && i < capture->path_count; i++)
        status = host->check(host->context, capture->paths[i], err);
    return status;
}

/* Which captures to list. */
enum needs {
    NEEDS_ANY, /* all that can be read */
    NEEDS_ALL, /* only those before the first that cannot */
    NEEDS_JOB, /* those that cannot as well: the report of the job names them */
};

static void list_captures(struct reading *reading, const struct cli_captures *captures, size_t first, size_t end,
                          const struct cli_options *options, enum needs needs, struct gputime_error *errors) {
    char many[32];
    snprintf(many, sizeof many, "%zu traces", end - first);
    cli_progress_begin(&reading->progress, end - first == 1 ? captures->items[first].paths[0] : many,
                       options->team != NULL);
    for (size_t i = first; i < end; i++) {
        bool is_allowed = !check_host(&captures->items[i], options->host, &errors[i]);
        bool is_readable = is_allowed && !cli_capture_check(&captures->items[i], &errors[i]);
        if (is_readable || (is_allowed && needs == NEEDS_JOB))
            add_capture(reading, captures, i, options);
        else if (needs == NEEDS_ALL)
            break;
    }
}

static bool reading_init(struct reading *reading, size_t places) {
    *reading = (struct reading){.inputs = calloc(places, sizeof *reading->inputs),
                                .options = calloc(places, sizeof *reading->options),
                                .parts = calloc(places, sizeof *reading->parts),
                                .traces = calloc(places, sizeof *reading->traces),
                                .errors = calloc(places, sizeof *reading->errors),
                                .captures = calloc(places, sizeof *reading->captures)};
    return reading->inputs && reading->options && reading->parts && reading->traces && reading->errors &&
           reading->captures;
}

static void reading_release(struct reading *reading) {
    free(reading->inputs);
    free(reading->options);
    free(reading->parts);
    free(reading->traces);
    free(reading->errors);
    free(reading->captures);
}

enum gputime_status cli_captures_read(const struct cli_captures *captures, const struct cli_options *options,
                                      bool needs_all, struct gputime_trace **traces, struct gputime_error *errors,
                                      struct gputime_error *err) {
    struct reading reading;
    bool has_memory = reading_init(&reading, captures->count + 1);
    if (has_memory) {
        list_captures(&reading, captures, 0, captures->count, options, needs_all ? NEEDS_ALL : NEEDS_ANY, errors);
        const struct cli_host *host = options->host;
        if (host)
            host->open(host->context, reading.inputs, reading.count, needs_all, reading.traces, reading.errors);
        else
            gputime_traces_open(reading.inputs, reading.count, needs_all, reading.traces, reading.errors);
        cli_progress_end(&reading.progress);
    }
    for (size_t i = 0; i < reading.count; i++) {
        traces[reading.captures[i]] = reading.traces[i];
        errors[reading.captures[i]] = reading.errors[i];
    }
    reading_release(&reading);
    return has_memory ? GPUTIME_OK : cli_fail_memory(err);
}

static void warn_of_loss(const struct gputime_trace *trace, const char *name) {
    const char *loss = gputime_trace_loss(trace);
    char path[1024];
    if (loss)
        fprintf(stderr, "gputime: '%s' was only partly read: %s\n", cli_terminal_text(path, sizeof path, name), loss);
}

enum gputime_status cli_captures_read_all(const struct cli_captures *captures, const struct cli_options *options,
                                          struct gputime_trace **traces, struct gputime_error *err) {
    struct gputime_error *errors = calloc(captures->count + 1, sizeof *errors);
    if (!errors)
        return cli_fail_memory(err);
    enum gputime_status status = cli_captures_read(captures, options, true, traces, errors, err);
    for (size_t i = 0; i < captures->count && !status; i++)
        if (!traces[i]) {
            *err = errors[i];
            status = err->status;
        }
    free(errors);
    return status;
}

void cli_warn_of_losses(struct gputime_trace *const *traces, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        warn_of_loss(traces[i], names[i]);
}

void cli_captures_warn_of_losses(const struct cli_captures *captures, struct gputime_trace *const *traces) {
    for (size_t i = 0; i < captures->count; i++)
        warn_of_loss(traces[i], captures->items[i].paths[0]);
}

static enum gputime_status last_failure(const struct gputime_error *errors, size_t first, size_t end,
                                        struct gputime_error *err) {
    enum gputime_status status = GPUTIME_OK;
    for (size_t i = first; i < end; i++)
        if (errors[i].status) {
            *err = errors[i];
            status = err->status;
        }
    return status;
}

enum gputime_status cli_captures_read_job(const struct cli_captures *captures, size_t first, size_t end,
                                          const struct cli_options *options, struct gputime_job **job,
                                          struct gputime_error *errors, struct gputime_error *err) {
    struct reading reading;
    enum gputime_status status = reading_init(&reading, captures->count + 1) ? GPUTIME_OK : cli_fail_memory(err);
    if (!status) {
        list_captures(&reading, captures, first, end, options, NEEDS_JOB, errors);
        if (reading.count)
            status = gputime_job_open_team(options->team, reading.inputs, reading.count, options->analysing,
                                           options->analysing_count, job, reading.errors, err);
        else /* the host allows none of them */
            status = last_failure(errors, first, end, err);
        cli_progress_end(&reading.progress);
    }
    for (size_t i = 0; i < reading.count; i++)
        if (!errors[reading.captures[i]].status || !reading.errors[i].status)
            errors[reading.captures[i]] = reading.errors[i];
    reading_release(&reading);
    return status;
}
