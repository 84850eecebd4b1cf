/* Runs a report command: traces in, the report to every file and the terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actions.h"
#include "browser.h"
#include "capture.h"
#include "clock.h"
#include "error.h"
#include "gather.h"
#include "host.h"
#include "losses.h"
#include "make.h"
#include "read.h"
#include "target.h"
#include "terminal.h"

struct job {
    const struct cli_command *command;
    struct cli_options own; /* the user's, adapted to the command */
    const struct cli_options *options;
    struct cli_captures captures;
    struct cli_limits limits;
    struct gputime_trace **traces; /* of the captures that could be read */
    const char **names;            /* of each of them, its first file */
    size_t trace_count;
    struct gputime_job *ranks;       /* of a command that is about all of them together; NULL: none */
    struct gputime_job *other_ranks; /* the other side of a comparison */
    const char *directory;           /* that the traces are in; NULL: they are named */
    struct gputime_error failure;    /* of the last capture that could not be read; status 0: none */
    struct cli_destination destinations[CLI_MAX_DESTINATIONS];
    struct cli_request requests[CLI_MAX_DESTINATIONS];
    size_t destination_count;
    const char *heading, *generated_at;
    const char *page; /* to open; NULL: none */
};

/* Two captures need no --a and --b. */
static enum gputime_status find_sides(struct cli_captures *captures, struct gputime_error *err) {
    if (captures->first_of_b == captures->count && captures->count == 2)
        captures->first_of_b = 1;
    if (captures->first_of_b == captures->count)
        return cli_fail_usage(err, "cannot compare %zu captures; assign them to A and B: --a A1 A2 --b B1 B2",
                              captures->count);
    return GPUTIME_OK;
}

/* Whether the traces are those of the ranks of a job, read together. */
static bool is_of_job(const struct job *job) {
    return job->command->action == CLI_ACTION_RANKS || job->options->ranks;
}

/* What waits for what is outside of any selection. */
static enum gputime_status check_job(const struct job *job, struct gputime_error *err) {
    const struct gputime_selection *chosen = &job->options->selection;
    bool is_chosen = chosen->from.kind || chosen->to.kind || chosen->step_count || chosen->device_count ||
                     chosen->stream_count || chosen->process_count || chosen->name || chosen->category_count;
    if (job->options->ranks && is_chosen)
        return cli_fail_usage(err, "--ranks is about whole jobs: remove --from, --step, --device and the like");
    if (!is_of_job(job) && job->options->step_tag)
        return cli_fail_usage(err, "--step-tag is only valid with --ranks");
    return GPUTIME_OK;
}

static bool names_file(const struct cli_destination *destination) {
    return destination->path && strcmp(destination->path, "-") != 0;
}

/* Finds all errors that can be found before the traces are read. */
static enum gputime_status plan(struct job *job, struct cli_words traces, size_t split, struct gputime_error *err) {
    enum gputime_status status =
        job->options->config
            ? cli_captures_init_config(&job->captures, job->options->config, err)
            : cli_captures_init(&job->captures, traces.items, traces.count, job->command->takes_runs, split, err);
    if (!status)
        status = check_job(job, err);
    if (!status)
        status = cli_captures_check(&job->captures, job->options, err);
    if (!status && job->command->action == CLI_ACTION_DIFF)
        status = find_sides(&job->captures, err);
    if (!status)
        status = cli_limits_init(&job->limits, job->command, job->options, traces, err);
    job->own.path |= cli_limits_have_kind(&job->limits, "path"); /* it costs too much to be always there */
    if (!status)
        status = cli_destinations_plan(job->command, job->options, job->destinations, &job->destination_count, err);
    if (!status && job->options->open)
        status = cli_browser_plan(job->destinations, &job->destination_count, &job->page, err);
    for (size_t i = 0; !status && i < job->destination_count; i++) {
        const struct cli_destination *destination = &job->destinations[i];
        if (cli_format_is_missing(destination->format))
            status = cli_fail(err, "this build of gputime cannot write %s; build with 'make WEB=1' (needs npm)",
                              destination->format);
        else if (cli_format_is_binary(destination->format) && !names_file(destination) && isatty(STDOUT_FILENO))
            status = cli_fail_usage(err, "%s is binary and not for a terminal; use -o FILE.%s or a pipe",
                                    destination->format, destination->format);
        else if (destination->path)
            status = cli_target_check(destination->path, destination->makes_directory || destination->makes_itself,
                                      &job->captures, err);
        if (!status)
            status = cli_request_build(job->command, job->options, destination, &job->requests[i], err);
        if (!status && !is_of_job(job))
            cli_limits_add_analyses(&job->limits, &job->requests[i]);
    }
    return status;
}

/* Whether the report needs all captures. */
static bool needs_all(const struct job *job) {
    return job->command->takes_runs || (job->command->action == CLI_ACTION_DIFF && !job->options->ranks);
}

/* If one of several captures cannot be read, only its own report is missing and the exit status is that of a failure,
 * unless all are needed. The last failure is printed at the end, after the reports. */
static enum gputime_status leave_out(struct job *job, const struct gputime_error *err) {
    if (err->status == GPUTIME_USAGE || needs_all(job))
        return err->status;
    if (job->failure.status)
        cli_terminal_print_error(&job->failure);
    job->failure = *err;
    return GPUTIME_OK;
}

/* Keeps the traces that could be read, and handles failures in the order of the captures. */
static enum gputime_status take_traces(struct job *job, struct gputime_trace *const *traces,
                                       const struct gputime_error *errors, struct gputime_error *err) {
    enum gputime_status status = GPUTIME_OK;
    for (size_t i = 0; i < job->captures.count; i++) {
        if (traces[i]) {
            job->names[job->trace_count] = job->captures.items[i].paths[0];
            job->traces[job->trace_count++] = traces[i];
        } else if (!status && errors[i].status) {
            *err = errors[i];
            status = leave_out(job, err);
        }
    }
    return status;
}

/* Whether all reports are for that. Limits use all rows and columns. */
static bool are_all(const struct job *job,
                    bool (*is_for)(const struct cli_request *request, const struct cli_destination *destination)) {
    bool are = job->limits.count == 0;
    for (size_t i = 0; i < job->destination_count && are; i++)
        are = is_for(&job->requests[i], &job->destinations[i]);
    return are;
}

static struct cli_making making_of(const struct job *job, size_t index) {
    return (struct cli_making){.command = job->command,
                               .options = job->options,
                               .limits = &job->limits,
                               .request = &job->requests[index],
                               .heading = job->heading,
                               .generated_at = job->generated_at,
                               .is_for_screen = are_all(job, cli_request_is_for_screen),
                               .is_of_columns = are_all(job, cli_request_is_of_columns),
                               .traces = job->traces,
                               .trace_count = job->trace_count,
                               .ranks = job->ranks,
                               .other_ranks = job->other_ranks,
                               .captures = &job->captures};
}

/* All that any of the reports needs is read at once. */
static uint64_t facts_of(const struct job *job) {
    uint64_t facts = 0;
    for (size_t i = 0; i < job->destination_count; i++) {
        const struct cli_making making = making_of(job, i);
        facts |= cli_making_facts(&making);
    }
    return facts;
}

static enum gputime_status check_options(const struct job *job, struct gputime_error *err) {
    const struct cli_making making = making_of(job, 0);
    return cli_making_check(&making, err);
}

static enum gputime_status read_traces(struct job *job, struct gputime_error *err) {
    size_t count = job->captures.count;
    enum gputime_status checked = check_options(job, err);
    if (checked)
        return checked;
    struct gputime_trace **traces = calloc(count + 1, sizeof *traces);
    struct gputime_error *errors = calloc(count + 1, sizeof *errors);
    job->traces = calloc(count + 1, sizeof *job->traces);
    job->names = calloc(count + 1, sizeof *job->names);
    bool has_room = traces && errors && job->traces && job->names;
    job->own.opening.facts = facts_of(job);
    enum gputime_status status =
        has_room ? cli_captures_read(&job->captures, job->options, needs_all(job), traces, errors, err)
                 : cli_fail_memory(err);
    if (has_room && !status)
        status = take_traces(job, traces, errors, err);
    free(traces);
    free(errors);
    if (!status && job->trace_count == 0) {
        *err = job->failure;
        status = err->status;
    }
    return status;
}

/* Ranks that cannot be read are missing in the report. */
static enum gputime_status read_job(struct job *job, struct gputime_error *err) {
    const struct cli_captures *captures = &job->captures;
    size_t count = captures->count, split = job->command->action == CLI_ACTION_DIFF ? captures->first_of_b : count;
    struct gputime_error *errors = calloc(count + 1, sizeof *errors);
    if (!errors)
        return cli_fail_memory(err);
    enum gputime_status status = cli_captures_read_job(captures, 0, split, job->options, &job->ranks, errors, err);
    if (!status && split < count)
        status = cli_captures_read_job(captures, split, count, job->options, &job->other_ranks, errors, err);
    for (size_t i = 0; !status && i < count; i++)
        if (errors[i].status)
            status = leave_out(job, &errors[i]);
    free(errors);
    return status;
}

static struct gputime_write_options writing_options(const struct job *job, size_t index) {
    const struct cli_destination *destination = &job->destinations[index];
    const struct cli_request *request = &job->requests[index];
    struct gputime_write_options options = job->options->writing;
    options.threads = job->options->opening.threads;
    options.columns = request->columns;
    options.column_count = request->column_count;
    options.format = destination->format;
    if (request->text_layout && strcmp(options.format, "text") == 0)
        options.format = request->text_layout;
    if (destination->is_layout || destination->is_gap_part)
        options.table = NULL;
    if (!options.width)
        options.width = destination->path ? 80 : cli_terminal_width();
    if (options.color == GPUTIME_COLOR_AUTO)
        options.color = !destination->path && cli_terminal_has_color() ? GPUTIME_COLOR_ALWAYS : GPUTIME_COLOR_NEVER;
    return options;
}

static bool hint_is_due(const struct job *job, const struct cli_destination *destination, int64_t width) {
    return job->command->hint && !destination->path && strcmp(destination->format, "text") == 0 &&
           (int64_t)strlen(job->command->hint) <= width && cli_request_has_default_order(job->command, job->options);
}

/* A report that states that it has no answer fails, with the reason. */
static enum gputime_status check_refusals(const struct gputime_report *report, struct gputime_error *err) {
    for (size_t i = 0; i < gputime_report_section_count(report); i++) {
        struct gputime_fact refused = gputime_report_fact(report, i, "refused");
        if (refused.key)
            return cli_fail(err, "no answer for '%s': %.*s; --force answers all the same",
                            gputime_report_section_title(report, i), (int)refused.value.text_bytes, refused.value.text);
    }
    return GPUTIME_OK;
}

static enum gputime_status write_reports(struct job *job, struct gputime_error *err) {
    enum gputime_status status = GPUTIME_OK;
    struct cli_made made = {0};
    for (size_t i = 0; !status && i < job->destination_count; i++) {
        const struct cli_request *request = &job->requests[i];
        struct gputime_write_options writing = writing_options(job, i);
        const struct cli_making making = making_of(job, i);
        if (!made.report || !cli_request_same(request, &job->requests[i - 1]))
            status = cli_make(&making, &made, err);
        if (!status && job->destinations[i].makes_directory)
            status = cli_target_make_directory(job->destinations[i].path, err);
        if (!status)
            status = cli_host_write(job->options, made.report, &writing, job->destinations[i].path, err);
        if (!status && hint_is_due(job, &job->destinations[i], writing.width))
            printf("\n%s\n", job->command->hint);
    }
    if (!status)
        cli_limits_print(made.report, &made.verdicts);
    if (!status && is_of_job(job) && made.report)
        cli_losses_tell(made.report, job->options->opening.strict, job->limits.count > 0, &job->failure);
    if (!status && made.verdicts.broken) {
        cli_fail(err, "%zu of %zu limits %s broken", made.verdicts.broken, made.verdicts.count,
                 made.verdicts.broken == 1 ? "is" : "are");
        status = err->status = GPUTIME_BROKEN;
    }
    if (!status && job->command->may_refuse)
        status = check_refusals(made.report, err);
    cli_made_release(&made);
    return status;
}

/* Below text: the files that the command wrote without --output. */
static void name_own_files(const struct job *job) {
    char path[4096];
    const char *lead = "\n";
    if (job->destination_count == 0)
        return;
    const struct cli_destination *last = &job->destinations[job->destination_count - 1];
    bool is_text = !last->path && strcmp(last->format, "text") == 0;
    for (size_t i = 0; is_text && i < job->destination_count; i++)
        if (job->destinations[i].makes_directory) {
            printf("%sWrote %s\n", lead, cli_terminal_text(path, sizeof path, job->destinations[i].path));
            lead = "";
        }
}

/* Below the findings: where the files are. */
static void name_directory(const struct job *job) {
    char path[4096];
    bool is_due = job->destination_count > 1 && !job->options->writing.format;
    for (size_t i = 0; is_due && i < job->destination_count; i++)
        if (job->destinations[i].makes_itself)
            printf("\nWrote %s%s\n", cli_terminal_text(path, sizeof path, job->destinations[i].path),
                   job->command->directory_files);
}

/* Text and Markdown show losses above their tables; for data formats the warning is here. So it is with limits, where
 * often only the exit status is looked at. */
static void warn_of_losses(const struct job *job) {
    bool is_gate = job->limits.count, is_due = is_gate || !job->options->quiet;
    for (size_t i = 0; i < job->destination_count && is_due && !is_gate; i++)
        is_due = job->destinations[i].path || cli_format_is_data(job->destinations[i].format);
    if (is_due)
        cli_warn_of_losses(job->traces, job->names, job->trace_count);
}

static enum gputime_status show_page(const struct job *job, struct gputime_error *err) {
    char path[4096];
    if (!job->page)
        return GPUTIME_OK;
    if (!job->options->quiet)
        printf("Page: %s\n", cli_terminal_text(path, sizeof path, job->page));
    return cli_browser_open(job->page, err);
}

/* Whether two of the traces say different ranks. */
static bool have_ranks(const struct job *job) {
    int64_t first = -1;
    for (size_t i = 0; i < job->trace_count; i++) {
        int64_t rank = gputime_trace_describe(job->traces[i]).rank;
        if (first >= 0 && rank >= 0 && rank != first)
            return true;
        first = first >= 0 ? first : rank;
    }
    return false;
}

/* Traces of one directory are often those of one job: said before all their reports if they are, else below. */
static void name_ranks(const struct job *job, bool is_before) {
    char path[4096];
    const struct cli_destination *last = &job->destinations[job->destination_count - 1];
    if (!job->directory || job->options->opening.redact || job->trace_count < 2 || last->path ||
        strcmp(last->format, "text") != 0 || have_ranks(job) != is_before)
        return;
    printf("%stip: 'gputime ranks %s' compares the ranks of one job\n%s", is_before ? "" : "\n",
           cli_terminal_text(path, sizeof path, job->directory), is_before ? "\n" : "");
    fflush(stdout);
}

enum gputime_status cli_report_run(const struct cli_command *command, const struct cli_options *options,
                                   struct cli_words traces, struct gputime_error *err) {
    return cli_report_run_sides(command, options, traces, traces.count, err);
}

/* Puts the traces of directories and patterns in their place; `split` is still where the second side begins. */
static enum gputime_status gather(struct job *job, struct cli_gathered *gathered, struct cli_words *traces,
                                  size_t *split, struct gputime_error *err) {
    struct cli_words of_a = {traces->items, *split}, of_b = {traces->items + *split, traces->count - *split};
    bool takes_directories = job->command->takes_directories || job->options->ranks;
    enum gputime_status status = cli_gather(gathered, of_a, !takes_directories, err);
    *split = gathered->count;
    if (!status)
        status = cli_gather_more(gathered, of_b, err);
    job->directory = gathered->directory;
    *traces = (struct cli_words){gathered->items, gathered->count};
    return status;
}

enum gputime_status cli_report_run_sides(const struct cli_command *command, const struct cli_options *options,
                                         struct cli_words traces, size_t split, struct gputime_error *err) {
    if (traces.count && options->config)
        return cli_fail_usage(err, "--config lists the traces; remove '%s'", traces.items[0]);
    if (traces.count == 0 && !options->config)
        return cli_fail_usage(err, "'%s' needs a trace; see 'gputime %s --help'", command->name, command->name);
    if (options->names == CLI_NAMES_HASH)
        return cli_fail_usage(err, "--names hash is only valid for 'redact'");
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return cli_fail_memory(err);
    job->command = command;
    job->own = *options;
    job->options = &job->own;
    if (command->takes_runs) { /* --title is the heading of all of them */
        job->heading = options->run.title;
        job->own.run.title = NULL;
    }
    char now[CLI_TIME_MAX];
    if (command->directory_layout)
        job->generated_at = cli_generated_at(options, now);
    struct cli_gathered gathered = {0};
    enum gputime_status status = GPUTIME_OK;
    if (!command->takes_runs) /* their words have more than a path */
        status = gather(job, &gathered, &traces, &split, err);
    if (!status)
        status = plan(job, traces, split, err);
    if (!status)
        status = is_of_job(job) ? read_job(job, err) : read_traces(job, err);
    if (!status)
        name_ranks(job, true);
    if (!status)
        status = write_reports(job, err);
    if (!status || status == GPUTIME_BROKEN) {
        name_own_files(job);
        name_directory(job);
        name_ranks(job, false);
        warn_of_losses(job);
        enum gputime_status shown = show_page(job, err);
        status = shown ? shown : status;
    } else {
        if (job->limits.count) /* a limit may lack data because of a loss */
            warn_of_losses(job);
        if (job->page)
            cli_browser_cancel(job->destinations, job->destination_count);
    }
    if (status == GPUTIME_BROKEN && job->failure.status)
        cli_terminal_print_error(&job->failure);
    if (!status && job->failure.status) {
        *err = job->failure;
        status = err->status;
    }
    for (size_t i = 0; i < job->trace_count; i++)
        cli_host_close(options, job->traces[i]);
    free(job->traces);
    free(job->names);
    gputime_job_free(job->ranks);
    gputime_job_free(job->other_ranks);
    cli_captures_release(&job->captures);
    cli_gather_release(&gathered);
    cli_limits_release(&job->limits);
    free(job);
    return status;
}
