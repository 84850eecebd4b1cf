/* Makes reports, comparisons and verdicts on limits through the library. */
#include "make.h"

#include <assert.h>
#include <string.h>

#include "error.h"
#include "request.h"

enum { MOST_SIDE_ANALYSES = 2 * CLI_REQUEST_ANALYSES };

static bool is_asked_for(const struct cli_making *making, const char *table) {
    return making->options->writing.table && strcmp(making->request->main_table, table) == 0;
}

/* Tables that the reports of the sides do not need unless requested. */
static size_t list_absent(const struct cli_making *making, const char *absent[CLI_REQUEST_TABLES + 1]) {
    const char *const *data_tables = making->command->parts[0].data_tables;
    const char *const *asked_tables = making->command->parts[0].asked_tables;
    size_t count = 0;
    for (size_t i = 0; asked_tables && asked_tables[i]; i++)
        if (!is_asked_for(making, asked_tables[i]))
            absent[count++] = asked_tables[i];
    for (size_t i = 0; making->options->writing.table && data_tables && data_tables[i]; i++)
        if (!is_asked_for(making, data_tables[i]))
            absent[count++] = data_tables[i];
    for (size_t i = 0; !making->options->writing.table && i < making->request->absent_count; i++)
        absent[count++] = making->request->absent[i];
    return count;
}

static void add_analysis(const char *key, const char *analyses[MOST_SIDE_ANALYSES], size_t *count) {
    for (size_t i = 0; i < *count; i++)
        if (strcmp(analyses[i], key) == 0)
            return;
    assert(*count < MOST_SIDE_ANALYSES);
    analyses[(*count)++] = key;
}

/* Does not depend on what is shown: limits use all tables, amounts may be per range, and tables provide each other's
 * noise. The library adds what every comparison needs. */
static size_t list_analyses(const struct cli_making *making, const char *analyses[MOST_SIDE_ANALYSES]) {
    size_t count = 0;
    for (const char *const *key = making->command->parts[0].analyses; *key; key++)
        add_analysis(*key, analyses, &count);
    for (size_t i = 0; i < making->request->analysis_count; i++)
        add_analysis(making->request->analyses[i], analyses, &count);
    return count;
}

/* Settings of every report of the command. */
static struct gputime_report_options report_options(const struct cli_making *making) {
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    options.options = making->options->analysing;
    options.option_count = making->options->analysing_count;
    options.names = making->options->names == CLI_NAMES_SHORT ? GPUTIME_NAMES_SHORT : GPUTIME_NAMES_FULL;
    options.threads = making->options->opening.threads;
    options.selection = &making->options->selection;
    options.run = &making->options->run;
    options.command = making->command->name;
    options.heading = making->heading;
    options.generated_at = making->generated_at;
    return options;
}

static enum gputime_status make_sides(const struct cli_making *making, struct cli_made *made,
                                      struct gputime_error *err) {
    const char *analyses[MOST_SIDE_ANALYSES], *absent[CLI_REQUEST_TABLES + 1];
    enum gputime_per per = making->options->diff.per;
    struct gputime_selection selection = making->options->selection;
    struct gputime_shaping shaping = GPUTIME_SHAPING_INIT;
    struct gputime_report_options options = report_options(making);
    selection.whole_steps = per == GPUTIME_PER_AUTO   ? GPUTIME_STEPS_IF_MOST
                            : per == GPUTIME_PER_STEP ? GPUTIME_STEPS_WHOLE
                                                      : GPUTIME_STEPS_ANY;
    shaping.absent = absent;
    shaping.absent_count = list_absent(making, absent);
    options.analyses = analyses;
    options.analysis_count = list_analyses(making, analyses);
    options.selection = &selection;
    options.shaping = &shaping;
    struct gputime_report *sides[2];
    enum gputime_status status = gputime_report_new_sides(making->traces, making->captures->count,
                                                          making->captures->first_of_b, &options, sides, err);
    made->a = sides[0];
    made->b = sides[1];
    return status;
}

/* Long tables that comparisons of jobs have only on request. */
static size_t list_absent_of_jobs(const struct cli_making *making, const char *absent[CLI_REQUEST_TABLES + 1]) {
    size_t count = 0;
    for (size_t p = 0; p < CLI_MAX_PARTS; p++) {
        const struct cli_part *part = &making->command->parts[p];
        bool is_of_jobs = part->is_alone && cli_part_applies(part, making->options);
        for (size_t i = 0; is_of_jobs && part->asked_tables && part->asked_tables[i]; i++)
            if (!is_asked_for(making, part->asked_tables[i]))
                absent[count++] = part->asked_tables[i];
    }
    return count;
}

static enum gputime_status make_job_sides(const struct cli_making *making, struct cli_made *made,
                                          struct gputime_error *err) {
    const char *absent[CLI_REQUEST_TABLES + 1];
    struct gputime_shaping shaping = GPUTIME_SHAPING_INIT;
    struct gputime_report_options options = report_options(making);
    shaping.absent = absent;
    shaping.absent_count = list_absent_of_jobs(making, absent);
    options.shaping = &shaping;
    enum gputime_status status = gputime_job_report(making->ranks, &options, &made->a, err);
    return status ? status : gputime_job_report(making->other_ranks, &options, &made->b, err);
}

static enum gputime_status make_comparison(const struct cli_making *making, struct cli_made *made,
                                           struct gputime_error *err) {
    struct gputime_diff_options diff = making->options->diff;
    struct gputime_shaping shaping = cli_request_shaping(making->request);
    enum gputime_status status = making->ranks ? make_job_sides(making, made, err) : make_sides(making, made, err);
    if (making->options->writing.table) { /* verdicts are not compared */
        diff.tables = &making->request->main_table;
        diff.table_count = !is_asked_for(making, CLI_TABLE_LIMITS);
    }
    diff.shaping = &shaping;
    return status ? status : gputime_report_diff(made->a, made->b, &diff, &made->report, err);
}

static enum gputime_status make_report(const struct cli_making *making, struct cli_made *made,
                                       struct gputime_error *err) {
    struct gputime_shaping shaping = cli_request_shaping(making->request);
    struct gputime_report_options options = report_options(making);
    shaping.for_screen = making->is_for_screen;
    shaping.columns_only = making->is_of_columns;
    options.analyses = making->request->analyses;
    options.analysis_count = making->request->analysis_count;
    options.shaping = &shaping;
    if (making->ranks)
        return gputime_job_report(making->ranks, &options, &made->report, err);
    return gputime_report_new(making->traces, making->trace_count, &options, &made->report, err);
}

uint64_t cli_making_facts(const struct cli_making *making) {
    const char *analyses[MOST_SIDE_ANALYSES];
    struct gputime_report_options options = report_options(making);
    if (making->command->action == CLI_ACTION_DIFF) {
        options.analyses = analyses;
        options.analysis_count = list_analyses(making, analyses);
        return gputime_report_sides_facts(&options);
    }
    options.analyses = making->request->analyses;
    options.analysis_count = making->request->analysis_count;
    return gputime_report_facts(&options);
}

enum gputime_status cli_making_check(const struct cli_making *making, struct gputime_error *err) {
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_report *report;
    options.options = making->options->analysing;
    options.option_count = making->options->analysing_count;
    enum gputime_status status = gputime_report_new(NULL, 0, &options, &report, err);
    gputime_report_free(report);
    return status;
}

enum gputime_status cli_make(const struct cli_making *making, struct cli_made *made, struct gputime_error *err) {
    cli_made_release(made);
    enum gputime_status status = making->command->action == CLI_ACTION_DIFF ? make_comparison(making, made, err)
                                                                            : make_report(making, made, err);
    return status ? status : cli_limits_judge(making->limits, made->report, &made->verdicts, err);
}

void cli_made_release(struct cli_made *made) {
    gputime_report_free(made->report);
    gputime_report_free(made->a);
    gputime_report_free(made->b);
    *made = (struct cli_made){0};
}
