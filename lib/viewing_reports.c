/* Reports of any part of the traces, in the form that the page of the html output reads, and results of queries. */
#include "viewing_reports.h"

#include <inttypes.h>

#include "base/mem.h"
#include "base/num.h"
#include "measure/analysis.h"
#include "report/roles.h"
#include "report/table.h"
#include "write/escape.h"
#include "write/json.h"
#include "write/json_value.h"

enum { PAGE_ROWS = 2000, MOST_QUERY_ROWS = 100000, USUAL_QUERY_ROWS = 1000, QUERY_SECONDS = 30 };

/* ---- what is asked for ---- */

/* Options of a report as a question changes them; nothing of it is moved or copied once it is filled. */
struct asking {
    struct gputime_report_options options;
    struct gputime_selection selection;
};

static enum gt_status fail_from(const struct gputime_error *failure, struct gt_error *err) {
    return failure->status == GPUTIME_USAGE ? gt_fail_usage(err, "%s", failure->message)
                                            : gt_fail(err, "%s", failure->message);
}

/* "0,2-3" as ranges in the arena of the question. */
static enum gt_status take_ranges(struct gt_viewing_question *question, const char *key,
                                  const struct gputime_range **out, size_t *count, struct gt_error *err) {
    const char *text = gt_viewing_query_text(&question->query, key);
    struct gputime_error failure = {0};
    size_t needed;
    if (!text)
        return GT_OK;
    if (gputime_ranges_parse(text, NULL, 0, &needed, &failure) != GPUTIME_OK)
        return gt_fail_usage(err, "'%s': %s", key, failure.message);
    struct gputime_range *ranges = gt_arena_array(&question->query.arena, needed, sizeof *ranges);
    if (!ranges)
        return gt_fail_memory(err);
    gputime_ranges_parse(text, ranges, needed, count, NULL);
    *out = ranges;
    return GT_OK;
}

static enum gt_status take_time(const struct gt_viewing_question *question, const char *key, struct gputime_time *time,
                                struct gt_error *err) {
    struct gputime_time given = {.kind = GPUTIME_TIME_NS};
    enum gt_status status = gt_viewing_query_time(&question->query, key, &given.ns, err);
    if (status == GT_OK && gt_viewing_query_text(&question->query, key))
        *time = given;
    return status;
}

static enum gt_status take_selection(struct gt_viewing_question *question, struct gputime_selection *selection,
                                     struct gt_error *err) {
    const char *name = gt_viewing_query_text(&question->query, "name");
    enum gt_status status = take_time(question, "from_ns", &selection->from, err);
    if (status == GT_OK)
        status = take_time(question, "to_ns", &selection->to, err);
    if (status == GT_OK)
        status = take_ranges(question, "device", &selection->devices, &selection->device_count, err);
    if (status == GT_OK)
        status = take_ranges(question, "stream", &selection->streams, &selection->stream_count, err);
    if (status == GT_OK)
        status = take_ranges(question, "pid", &selection->processes, &selection->process_count, err);
    if (status == GT_OK)
        status = take_ranges(question, "step", &selection->steps, &selection->step_count, err);
    if (name)
        selection->name = name;
    return status;
}

static enum gt_status ask(struct gt_viewing_question *question, struct asking *asking, struct gt_error *err) {
    const struct gputime_view *view = question->view;
    const char *const *analyses;
    size_t count;
    *asking = (struct asking){.options = view->reporting, .selection = view->selection};
    asking->options.selection = &asking->selection;
    asking->options.run = NULL;
    enum gt_status status = gt_viewing_query_keys(&question->query, "analyses", &analyses, &count, err);
    if (status == GT_OK)
        status = take_selection(question, &asking->selection, err);
    for (size_t i = 0; status == GT_OK && i < count; i++)
        if (!gt_analysis_find(analyses[i]))
            status = gt_fail_usage(err, "unknown analysis '%.60s'; see 'gputime list analyses'", analyses[i]);
    if (status == GT_OK && count) {
        asking->options.analyses = analyses;
        asking->options.analysis_count = count;
    }
    if (status == GT_OK && !asking->options.analysis_count)
        status = gt_fail_usage(err, "'analyses' is needed");
    return status;
}

/* ---- reports ---- */

static enum gt_status write_report(struct gt_viewing_question *question, const struct gputime_report *report,
                                   struct gt_error *err) {
    return gt_json_report(report->model, &(struct gt_json_how){.audience = GT_FOR_PAGE, .row_limit = PAGE_ROWS},
                          question->out, err);
}

enum gt_status gt_viewing_reports_report(struct gt_viewing_question *question, struct gt_error *err) {
    struct gputime_view *view = question->view;
    struct gputime_error failure = {0};
    struct gputime_report *report = NULL;
    struct asking asking;
    int64_t input = -1;
    enum gt_status status = ask(question, &asking, err);
    if (status == GT_OK)
        status = gt_viewing_query_int(&question->query, "input", 0, (int64_t)view->count - 1, &input, err);
    size_t first = input < 0 ? 0 : (size_t)input, count = input < 0 ? view->count : 1;
    if (status == GT_OK && gputime_report_new(view->traces + first, count, &asking.options, &report, &failure))
        status = fail_from(&failure, err);
    for (size_t i = 0; status == GT_OK && i < count; i++)
        report->model->sections[i].input.label = view->inputs[first + i].label;
    if (status == GT_OK)
        status = write_report(question, report, err);
    gputime_report_free(report);
    return status;
}

/* ---- comparisons ---- */

static enum gt_status compare(struct gt_viewing_question *question, struct gputime_trace *const sides[2],
                              struct asking *asking, struct gt_error *err) {
    struct gputime_error failure = {0};
    struct gputime_report *reports[2] = {NULL, NULL}, *report = NULL;
    struct gputime_diff_options options = GPUTIME_DIFF_OPTIONS_INIT;
    bool has_window = asking->selection.from.kind || asking->selection.to.kind || asking->selection.step_count;
    asking->selection.whole_steps = has_window ? GPUTIME_STEPS_ANY : GPUTIME_STEPS_IF_MOST;
    asking->options.shaping = NULL;
    enum gputime_status made = gputime_report_new_sides(sides, 2, 1, &asking->options, reports, &failure);
    if (!made)
        made = gputime_report_diff(reports[0], reports[1], &options, &report, &failure);
    enum gt_status status = made ? fail_from(&failure, err) : write_report(question, report, err);
    gputime_report_free(report);
    gputime_report_free(reports[0]);
    gputime_report_free(reports[1]);
    return status;
}

enum gt_status gt_viewing_reports_diff(struct gt_viewing_question *question, struct gt_error *err) {
    const struct gputime_view *view = question->view;
    struct asking asking;
    int64_t a = 0, b = 1, last = (int64_t)view->count - 1;
    if (view->count < 2)
        return gt_fail_usage(err, "a comparison needs two traces");
    enum gt_status status = ask(question, &asking, err);
    if (status == GT_OK)
        status = gt_viewing_query_int(&question->query, "a", 0, last, &a, err);
    if (status == GT_OK)
        status = gt_viewing_query_int(&question->query, "b", 0, last, &b, err);
    struct gputime_trace *const sides[2] = {view->traces[a], view->traces[b]};
    return status == GT_OK ? compare(question, sides, &asking, err) : status;
}

/* ---- jobs ---- */

enum gt_status gt_viewing_reports_ranks(struct gt_viewing_question *question, struct gt_error *err) {
    const struct gputime_view *view = question->view;
    struct gputime_error failure = {0};
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_report *report = NULL;
    struct gputime_job *job = NULL;
    options.threads = view->reporting.threads;
    options.command = "ranks";
    enum gt_status status = gt_internal_job(view->traces, view->count, options.threads, &job, err);
    if (status == GT_OK && gputime_job_report(job, &options, &report, &failure))
        status = fail_from(&failure, err);
    if (status == GT_OK)
        status = write_report(question, report, err);
    gputime_report_free(report);
    gputime_job_free(job);
    return status;
}

/* ---- queries ---- */

static void write_columns(struct gt_out *out, const struct gputime_table *table) {
    gt_out_text(out, "{\"columns\": [");
    for (size_t c = 0; c < gputime_table_column_count(table); c++) {
        struct gputime_column column = gputime_table_column(table, c);
        gt_out_text(out, c ? ", {" : "{");
        gt_json_value_text(out, "key", gt_str_of(column.key));
        gt_out_text(out, ", ");
        gt_json_value_text(out, "title", gt_str_of(column.title));
        gt_out_printf(out, ", \"unit\": \"%s\"}", column.unit);
    }
}

static void write_rows(struct gt_out *out, const struct gt_table *table, size_t limit) {
    size_t columns = gputime_table_column_count((const struct gputime_table *)(const void *)table);
    gt_out_text(out, "], \"rows\": [");
    for (size_t r = 0; r < table->row_count && r < limit; r++) {
        gt_out_text(out, r ? ",\n[" : "\n[");
        for (size_t c = 0; c < columns; c++) {
            gt_out_text(out, c ? "," : "");
            gt_json_value_exact_cell(out, &table->cells[r * columns + c]);
        }
        gt_out_char(out, ']');
    }
    gt_out_printf(out, "], \"total_rows\": %zu, \"notes\": [", table->total_rows);
}

static void write_result(struct gt_out *out, const struct gputime_report *report, size_t limit) {
    const struct gputime_table *table = gputime_report_table(report, 0, "rows");
    write_columns(out, table);
    write_rows(out, (const struct gt_table *)(const void *)table, limit);
    for (size_t i = 0; i < gputime_report_note_count(report, 0); i++) {
        gt_out_text(out, i ? ", " : "");
        gt_escape_json(out, gt_str_of(gputime_report_note(report, 0, i)));
    }
    gt_out_text(out, "], \"error\": null}");
}

/* What is wrong with a query is part of its result. */
enum gt_status gt_viewing_reports_sql(struct gt_viewing_question *question, struct gt_error *err) {
    const struct gputime_view *view = question->view;
    const char *text = gt_viewing_query_text(&question->query, "query");
    struct gputime_error failure = {0};
    struct gputime_sql_options options = GPUTIME_SQL_OPTIONS_INIT;
    struct gputime_report_options reporting = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_report *report = NULL;
    int64_t limit = USUAL_QUERY_ROWS;
    if (!text)
        return gt_fail_usage(err, "'query' is needed");
    enum gt_status status = gt_viewing_query_int(&question->query, "limit", 1, MOST_QUERY_ROWS, &limit, err);
    if (status != GT_OK)
        return status;
    reporting.threads = view->reporting.threads;
    reporting.names = view->reporting.names;
    reporting.options = view->reporting.options;
    reporting.option_count = view->reporting.option_count;
    options.reporting = &reporting;
    options.is_abandoned = question->asker.is_gone;
    options.abandoned_context = question->asker.context;
    options.max_rows = limit;
    options.max_bytes = 32 << 20;
    options.timeout_ns = QUERY_SECONDS * INT64_C(1000000000);
    if (gputime_sql_query(view->traces, view->count, text, &options, &report, &failure)) {
        gt_out_text(question->out, "{\"columns\": [], \"rows\": [], \"total_rows\": 0, \"notes\": [], \"error\": ");
        gt_escape_json(question->out, gt_str_of(gt_viewing_message(view, failure.message)));
        gt_out_char(question->out, '}');
    } else {
        write_result(question->out, report, (size_t)limit);
    }
    gputime_report_free(report);
    return GT_OK;
}
