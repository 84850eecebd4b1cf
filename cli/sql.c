/* The command "sql": runs a query over traces and writes its result, or lists what can be queried. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "actions.h"
#include "browser.h"
#include "capture.h"
#include "error.h"
#include "gather.h"
#include "host.h"
#include "read.h"
#include "request.h"
#include "target.h"
#include "terminal.h"

struct job {
    const struct cli_command *command;
    struct cli_options options; /* the user's, with what the query reads */
    char *text;                 /* of the query, where it was read from a file */
    const char *query;
    struct cli_captures captures;
    struct gputime_trace **traces; /* by capture; those that could be read */
    struct gputime_report *report;
    struct cli_destination destinations[CLI_MAX_DESTINATIONS];
    size_t destination_count;
    const char *page; /* to open; NULL: none */
};

/* ---- the query ---- */

/* "-": standard input. */
static enum gputime_status read_text(const char *path, char **out, struct gputime_error *err) {
    enum { MOST_BYTES = 1 << 20 };
    bool is_input = strcmp(path, "-") == 0;
    FILE *file = is_input ? stdin : fopen(path, "re");
    if (!file)
        return cli_fail_system(err, errno, "cannot open '%s'", path);
    char *text = malloc(MOST_BYTES + 1);
    size_t bytes = text ? fread(text, 1, MOST_BYTES + 1, file) : 0;
    bool failed = ferror(file) != 0;
    if (!is_input)
        fclose(file);
    *out = text;
    if (!text)
        return cli_fail_memory(err);
    if (failed)
        return cli_fail(err, "cannot read '%s'", path);
    if (bytes > MOST_BYTES || memchr(text, '\0', bytes))
        return cli_fail(err, "'%s' is no query: too long, or not text", path);
    text[bytes] = '\0';
    return GPUTIME_OK;
}

/* Whether a word begins as queries do. */
static bool is_query(const char *word) {
    static const char *const beginnings[] = {"select", "with", "values", "explain", "/*", "--", "("};
    while (isspace((unsigned char)*word))
        word++;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        size_t bytes = strlen(beginnings[i]);
        bool is_word = isalpha((unsigned char)beginnings[i][0]);
        if (strncasecmp(word, beginnings[i], bytes) == 0 &&
            !(is_word && (isalnum((unsigned char)word[bytes]) || word[bytes] == '.' || word[bytes] == '/')))
            return true;
    }
    return false;
}

/* The query is the last word, or the first one, or in a file; the others are traces. A host puts it last, empty if
 * there is none: its clients must not learn from the answer which files there are. */
static enum gputime_status find_query(struct job *job, struct cli_words *words, struct gputime_error *err) {
    if (job->options.host && words->count) {
        const char *last = words->items[--words->count];
        job->query = *last ? last : NULL;
    } else if (!job->options.query_file && words->count) {
        const char *first = words->items[0], *last = words->items[words->count - 1];
        bool is_first = words->count > 1 && is_query(first) && access(first, F_OK) != 0;
        if (is_first || access(last, F_OK) != 0) {
            job->query = is_first ? first : last;
            *words = (struct cli_words){words->items + is_first, words->count - 1};
        } else if (!isatty(STDIN_FILENO)) {
            job->options.query_file = "-";
        }
    }
    if (job->query && strcmp(job->query, "-") == 0)
        return cli_fail_usage(err, "'-' is neither a trace nor a query; '-f -' reads the query from standard input");
    if (job->query && !is_query(job->query) && !strchr(job->query, ' '))
        return cli_fail_usage(err, "'%s' is neither a trace nor a query; usage: gputime %s %s", job->query,
                              job->command->name, job->command->usage);
    if (job->query)
        return GPUTIME_OK;
    if (!job->options.query_file)
        return cli_fail_usage(err, "'%s' needs a query; usage: gputime %s %s", job->command->name, job->command->name,
                              job->command->usage);
    enum gputime_status status = read_text(job->options.query_file, &job->text, err);
    job->query = job->text;
    return status;
}

/* ---- the result ---- */

static struct gputime_write_options writing_options(const struct job *job, const struct cli_destination *destination) {
    struct gputime_write_options options = job->options.writing;
    options.threads = job->options.opening.threads;
    options.format = destination->format;
    if (!options.width)
        options.width = destination->path ? 80 : cli_terminal_width();
    if (options.color == GPUTIME_COLOR_AUTO)
        options.color = !destination->path && cli_terminal_has_color() ? GPUTIME_COLOR_ALWAYS : GPUTIME_COLOR_NEVER;
    return options;
}

static enum gputime_status write_result(const struct job *job, struct gputime_error *err) {
    enum gputime_status status = GPUTIME_OK;
    for (size_t i = 0; i < job->destination_count && !status; i++) {
        struct gputime_write_options options = writing_options(job, &job->destinations[i]);
        status = cli_host_write(&job->options, job->report, &options, job->destinations[i].path, err);
    }
    if (!status && job->page && !job->options.quiet) {
        char path[4096];
        printf("Page: %s\n", cli_terminal_text(path, sizeof path, job->page));
    }
    return status || !job->page ? status : cli_browser_open(job->page, err);
}

static enum gputime_status plan_output(struct job *job, struct gputime_error *err) {
    enum gputime_status status =
        cli_destinations_plan(job->command, &job->options, job->destinations, &job->destination_count, err);
    if (!status && job->options.open)
        status = cli_browser_plan(job->destinations, &job->destination_count, &job->page, err);
    for (size_t i = 0; i < job->destination_count && !status; i++) {
        const struct cli_destination *destination = &job->destinations[i];
        if (cli_format_is_missing(destination->format))
            status = cli_fail(err, "this build of gputime cannot write %s; build with 'make WEB=1' (needs npm)",
                              destination->format);
        else if (destination->path)
            status = cli_target_check(destination->path, false, &job->captures, err);
    }
    return status;
}

/* People see as many rows as they ask for, else as many as the library thinks best. */
static struct gputime_shape shape_of(const struct job *job, const char *table) {
    int64_t rows = job->options.max_rows;
    return (struct gputime_shape){.table = table, .screen_limit = rows == CLI_UNSET ? 0 : rows ? rows : -1};
}

/* Words are the tables to list; traces among them say nothing about tables, which are the same for all. */
static enum gputime_status run_schema(struct job *job, struct cli_words words, struct gputime_error *err) {
    if (words.count == 1 && !*words.items[0]) /* a query that is not asked */
        words.count = 0;
    const char **tables = calloc(words.count + 1, sizeof *tables);
    struct gputime_report_options reporting = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_shaping shaping = GPUTIME_SHAPING_INIT;
    struct gputime_shape shape = shape_of(job, "sql_schema");
    shaping.shapes = &shape;
    shaping.shape_count = 1;
    shaping.main_table = "sql_schema";
    reporting.shaping = &shaping;
    if (!tables)
        return cli_fail_memory(err);
    for (size_t i = 0; i < words.count; i++)
        if (!strpbrk(words.items[i], "./") || access(words.items[i], F_OK) != 0)
            tables[reporting.analysis_count++] = words.items[i];
    reporting.analyses = tables;
    enum gputime_status status = plan_output(job, err);
    if (!status)
        status = gputime_sql_schema(&reporting, &job->report, err);
    free(tables);
    return status ? status : write_result(job, err);
}

static enum gputime_status query(struct job *job, struct gputime_error *err) {
    struct gputime_sql_options options = GPUTIME_SQL_OPTIONS_INIT;
    struct gputime_report_options reporting = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_shaping shaping = GPUTIME_SHAPING_INIT;
    struct gputime_shape shape = shape_of(job, "rows");
    shaping.shapes = &shape;
    shaping.shape_count = 1;
    shaping.main_table = "rows";
    reporting.shaping = &shaping;
    reporting.threads = job->options.opening.threads;
    options.reporting = &reporting;
    options.max_rows = job->options.max_rows == CLI_UNSET ? 0 : job->options.max_rows ? job->options.max_rows : -1;
    if (job->options.most_rows && (options.max_rows <= 0 || options.max_rows > job->options.most_rows))
        options.max_rows = job->options.most_rows;
    options.timeout_ns = job->options.timeout_ns == 1 ? -1 : job->options.timeout_ns; /* "0" */
    return gputime_sql_query(job->traces, job->captures.count, job->query, &options, &job->report, err);
}

static enum gputime_status read_traces(struct job *job, struct gputime_error *err) {
    size_t count = job->captures.count;
    job->options.opening.facts = gputime_sql_facts(job->query);
    job->traces = calloc(count + 1, sizeof *job->traces);
    if (!job->traces)
        return cli_fail_memory(err);
    return cli_captures_read_all(&job->captures, &job->options, job->traces, err);
}

/* Formats that hold rows and nothing else cannot say that some were left out. */
static void warn_of_notes(const struct job *job) {
    bool is_due = false;
    for (size_t i = 0; i < job->destination_count && !job->options.quiet; i++)
        is_due |= gputime_registry_find(GPUTIME_OUTPUTS, job->destinations[i].format).fills_folders;
    for (size_t i = 0; is_due && i < gputime_report_note_count(job->report, 0); i++)
        fprintf(stderr, "gputime: %s\n", gputime_report_note(job->report, 0, i));
}

static enum gputime_status run_query(struct job *job, struct cli_words traces, struct gputime_error *err) {
    enum gputime_status status =
        cli_captures_init(&job->captures, traces.items, traces.count, false, traces.count, err);
    if (!status)
        status = cli_captures_check(&job->captures, &job->options, err);
    if (!status)
        status = plan_output(job, err);
    if (!status)
        status = read_traces(job, err);
    if (!status)
        status = query(job, err);
    if (!status)
        status = write_result(job, err);
    if (!status && !job->options.quiet)
        cli_captures_warn_of_losses(&job->captures, job->traces);
    if (!status)
        warn_of_notes(job);
    return status;
}

static void release(struct job *job) {
    gputime_report_free(job->report);
    for (size_t i = 0; job->traces && i < job->captures.count; i++)
        cli_host_close(&job->options, job->traces[i]);
    free(job->traces);
    free(job->text);
    cli_captures_release(&job->captures);
    free(job);
}

enum gputime_status cli_sql_run(const struct cli_command *command, const struct cli_options *options,
                                struct cli_words words, struct gputime_error *err) {
    struct cli_gathered gathered = {0};
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return cli_fail_memory(err);
    job->command = command;
    job->options = *options;
    enum gputime_status status = options->sql_schema ? run_schema(job, words, err) : find_query(job, &words, err);
    if (!status && !options->sql_schema && words.count == 0)
        status = cli_fail_usage(err, "'%s' needs a trace; usage: gputime %s %s", command->name, command->name,
                                command->usage);
    if (!status && !options->sql_schema)
        status = cli_gather(&gathered, words, false, err);
    if (!status && !options->sql_schema)
        status = run_query(job, (struct cli_words){gathered.items, gathered.count}, err);
    if (status && job->page)
        cli_browser_cancel(job->destinations, job->destination_count);
    release(job);
    cli_gather_release(&gathered);
    return status;
}
