/* Queries of the public interface: from open traces to the report with their result. */
#include <stdio.h>

#include "base/mem.h"
#include "frame/frame.h"
#include "internal.h"
#include "measure/analysis.h"
#include "sql/sql_query.h"
#include "sql/sql_reports.h"
#include "sql/sql_schema.h"
#include "sql/sql_words.h"
#include "take.h"

/* ---- tables of reports ---- */

/* Which analysis makes a table. */
struct made_by {
    struct gt_str key;
    const struct gt_analysis *analysis;
};

/* Calls for each table of each analysis, in their order. */
static void each_table(void (*take)(void *context, struct gt_str key, const struct gt_analysis *analysis),
                       void *context) {
    for (size_t i = 0; i < gt_analysis_count; i++) {
        struct gt_str rest = gt_str_of(gt_analyses[i].tables), key;
        while (gt_str_next_item(&rest, &key))
            if (key.len)
                take(context, key, &gt_analyses[i]);
    }
}

struct table_list {
    struct gt_arena *arena;
    struct made_by *items;
    size_t count, capacity;
};

static void list_table(void *context, struct gt_str key, const struct gt_analysis *analysis) {
    struct table_list *list = context;
    for (size_t i = 0; i < list->count; i++)
        if (gt_str_eq(list->items[i].key, key))
            return;
    struct made_by *items = gt_arena_room(list->arena, list->items, list->count, &list->capacity, sizeof *items);
    if (!items)
        return; /* recorded in the arena */
    list->items = items;
    list->items[list->count++] = (struct made_by){gt_arena_copy(list->arena, key), analysis};
}

/* ---- the world of a query ---- */

/* A report that a query used; it has a section for each trace. */
struct used_report {
    const struct gt_analysis *analysis;
    struct gputime_report *report;
};

/* Frames of a reading. A query may use those of an earlier one as long as it runs. */
struct framed {
    struct gt_frames *frames;
    uint32_t facts; /* that were asked for */
    struct framed *older;
};

struct work {
    struct gputime_trace *const *traces;
    size_t count;
    struct gputime_sql_options options;
    struct gputime_report_options reporting;
    struct gt_sql_query query;
    uint32_t facts;
    struct gt_arena arena;
    struct table_list tables;
    struct framed **framed; /* by trace, the newest first; NULL: none yet */
    struct used_report *reports;
    size_t report_count, report_capacity;
};

static enum gt_status frames_of(void *context, size_t input, uint32_t facts, struct gt_frames **out,
                                struct gt_error *err) {
    struct work *work = context;
    struct framed *framed = work->framed[input];
    facts = gt_store_facts_closed(facts);
    *out = framed ? framed->frames : NULL;
    if (framed && (framed->facts & facts) == facts)
        return GT_OK;
    struct framed *newer = gt_mem_array(1, sizeof *newer);
    if (!newer)
        return gt_fail_memory(err);
    /* All that the text mentions is read at once; what it hides, as names in the quotes of strings, when it is used. */
    *newer = (struct framed){.facts = (framed ? framed->facts : work->facts) | facts, .older = framed};
    enum gt_status status = gt_internal_frames(work->traces[input], newer->facts, &newer->frames, err);
    if (status != GT_OK) {
        gt_mem_free(newer);
        return gt_fail_context(err, "'%s'", work->traces[input]->paths[0]);
    }
    work->framed[input] = newer;
    *out = newer->frames;
    return GT_OK;
}

static enum gt_status make_report(struct work *work, const struct gt_analysis *analysis, struct gputime_report **out,
                                  struct gt_error *err) {
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_error failure;
    struct used_report *reports =
        gt_mem_room(work->reports, work->report_count, &work->report_capacity, sizeof *reports);
    if (!reports)
        return gt_fail_memory(err);
    work->reports = reports;
    options.analyses = &analysis->key;
    options.analysis_count = 1;
    options.options = work->reporting.options;
    options.option_count = work->reporting.option_count;
    options.names = work->reporting.names;
    options.threads = work->reporting.threads;
    if (gputime_report_new(work->traces, work->count, &options, out, &failure) != GPUTIME_OK)
        return failure.status == GPUTIME_USAGE ? gt_fail_usage(err, "%s", failure.message)
                                               : gt_fail(err, "%s", failure.message);
    reports[work->report_count++] = (struct used_report){analysis, *out};
    return GT_OK;
}

static enum gt_status report_of(void *context, size_t input, const char *key, const struct gt_table **out,
                                struct gt_error *err) {
    struct work *work = context;
    const struct gt_analysis *analysis = NULL;
    struct gputime_report *report = NULL;
    enum gt_status status = GT_OK;
    *out = NULL;
    for (size_t i = 0; i < work->tables.count && !analysis; i++)
        if (gt_str_eq(work->tables.items[i].key, gt_str_of(key)))
            analysis = work->tables.items[i].analysis;
    for (size_t i = 0; i < work->report_count && !report; i++)
        if (work->reports[i].analysis == analysis)
            report = work->reports[i].report;
    if (!report)
        status = make_report(work, analysis, &report, err);
    if (status == GT_OK && report)
        *out = gt_section_find(&report->model->sections[input], key);
    return status;
}

/* ---- queries ---- */

static int64_t limit_of(int64_t given, int64_t automatic) {
    return given == 0 ? automatic : given < 0 ? 0 : given;
}

static enum gt_status take_options(struct work *work, const struct gputime_sql_options *given, struct gt_error *err) {
    enum gt_status status = GT_TAKE(gputime_sql_options, given, &work->options, err);
    if (status == GT_OK)
        status = GT_TAKE(gputime_report_options, work->options.reporting, &work->reporting, err);
    work->query.limits = (struct gt_sql_limits){
        .rows = (uint64_t)limit_of(work->options.max_rows, 1000000),
        .bytes = (uint64_t)limit_of(work->options.max_bytes, INT64_C(1) << 30),
        .timeout_ns = limit_of(work->options.timeout_ns, INT64_C(300) * 1000000000),
        .is_abandoned = work->options.is_abandoned,
        .abandoned_context = work->options.abandoned_context,
    };
    return status;
}

static enum gt_status begin(struct work *work, struct gt_error *err) {
    const char **keys;
    each_table(list_table, &work->tables);
    keys = gt_arena_array(&work->arena, work->tables.count, sizeof *keys);
    for (size_t i = 0; i < work->tables.count && keys; i++)
        keys[i] = work->tables.items[i].key.ptr;
    work->query.report_keys = keys;
    work->query.report_count = work->tables.count;
    work->framed = gt_mem_array(work->count, sizeof *work->framed);
    return keys && work->framed && !gt_arena_failed(&work->arena) ? GT_OK : gt_fail_memory(err);
}

static void release(struct work *work) {
    for (size_t i = 0; i < work->count && work->framed; i++)
        for (struct framed *framed = work->framed[i], *older; framed; framed = older) {
            older = framed->older;
            gt_frame_free(framed->frames);
            gt_mem_free(framed);
        }
    for (size_t i = 0; i < work->report_count; i++)
        gputime_report_free(work->reports[i].report);
    gt_mem_free(work->framed);
    gt_mem_free(work->reports);
    gt_arena_release(&work->arena);
}

/* Who the rows are about. */
static void describe(const struct work *work, const struct gt_str *names, struct gt_section *section) {
    struct gt_arena *arena = &section->report->arena;
    section->input = (struct gt_report_input){.rank = -1,
                                              .world_size = -1,
                                              .kernels = GT_NOT_COUNTED,
                                              .calls = GT_NOT_COUNTED,
                                              .ranges = GT_NOT_COUNTED,
                                              .cpu_ops = GT_NOT_COUNTED};
    section->input.label =
        work->count == 1 ? gt_arena_copy(arena, names[0]) : gt_arena_printf(arena, "%zu traces", work->count);
    if (work->count != 1)
        return;
    const struct gt_reading *reading = work->traces[0]->shown;
    section->input.path =
        work->traces[0]->how.redact ? section->input.label : gt_arena_copy(arena, gt_str_of(work->traces[0]->paths[0]));
    section->input.format = reading->store->meta.format;
    section->input.producer = gt_arena_copy(arena, gt_store_string(reading->store, reading->store->meta.producer));
    section->input.host = gt_arena_copy(arena, gt_store_string(reading->store, reading->store->meta.host));
    section->input.ops = reading->store->ops.count;
    section->input.origin_ns = reading->store->origin_ns;
    section->input.base_ns = reading->store->meta.base_ns;
    section->input.rank = reading->rank.rank;
    section->input.world_size = reading->rank.world_size;
    section->input.rank_source = gt_trace_rank_source_key(reading->rank.source);
}

/* What could not be read concerns every result. */
static void add_losses(const struct work *work, struct gt_section *section) {
    for (size_t i = 0; i < work->count; i++)
        for (int k = 0; k < GT_ISSUE_COUNT; k++) {
            struct gt_issue issue = gt_store_issue(work->traces[i]->shown->store, (enum gt_issue_id)k, work->facts);
            if (gt_issue_infos[k].issue_class == GT_ISSUE_CLASS_LOSS && issue.count)
                gt_section_issue(section, &(struct gt_report_issue){.id = gt_issue_infos[k].id,
                                                                    .help = gt_issue_infos[k].help,
                                                                    .count = issue.count,
                                                                    .first_offset = issue.first_offset,
                                                                    .is_loss = true});
        }
}

static enum gt_status fill(void *context, const struct gt_request *request, struct gt_section *section,
                           struct gt_error *err) {
    struct work *work = context;
    (void)request;
    struct gt_str *names = gt_arena_array(&work->arena, work->count, sizeof *names);
    for (size_t i = 0; i < work->count && names; i++)
        names[i] = gt_internal_label(work->traces, work->count, i, &work->arena);
    if (!names || gt_arena_failed(&work->arena))
        return gt_fail_memory(err);
    struct gt_sql_world world = {.context = work,
                                 .input_count = work->count,
                                 .names = names,
                                 .frames = frames_of,
                                 .is_read = true,
                                 .report = report_of};
    describe(work, names, section);
    add_losses(work, section);
    return gt_sql_query_run(&world, &work->query, section, err);
}

static enum gt_status check_traces(struct gputime_trace *const *traces, size_t count, struct gt_error *err) {
    for (size_t i = 0; i < count; i++)
        if (!traces[i])
            return gt_fail_usage(err, "trace %zu of %zu is NULL", i + 1, count);
    return count ? GT_OK : gt_fail_usage(err, "no trace given");
}

/* How the result is shown: as the caller wants, under the name of the command. */
static struct gputime_report_options shown_as(const struct gputime_report_options *reporting, const char *command) {
    struct gputime_report_options options = *reporting;
    options.size = sizeof options;
    options.analyses = NULL;
    options.analysis_count = 0;
    options.options = NULL;
    options.option_count = 0;
    options.selection = NULL;
    options.command = options.command ? options.command : command;
    return options;
}

API enum gputime_status gputime_sql_query(struct gputime_trace *const *traces, size_t trace_count, const char *text,
                                          const struct gputime_sql_options *options, struct gputime_report **out,
                                          struct gputime_error *err) {
    struct gt_error error = {0};
    struct work work = {.traces = traces, .count = trace_count};
    *out = NULL;
    work.tables.arena = &work.arena;
    work.query.text = gt_str_of(text);
    work.facts = (uint32_t)gputime_sql_facts(text);
    enum gt_status status = check_traces(traces, trace_count, &error);
    if (status == GT_OK)
        status = take_options(&work, options, &error);
    if (status == GT_OK)
        status = begin(&work, &error);
    enum gputime_status result = gt_internal_fail(status, &error, err);
    if (status == GT_OK) {
        struct gputime_report_options shown = shown_as(&work.reporting, "sql");
        result = gt_internal_new_report(&shown, 1, fill, &work, out, err);
    }
    release(&work);
    return result;
}

struct mention {
    struct gt_str text;
    uint32_t facts;
};

static void add_mentioned(void *context, struct gt_str key, const struct gt_analysis *analysis) {
    struct mention *mention = context;
    char name[128];
    int length = snprintf(name, sizeof name, GT_SQL_REPORTS_PREFIX "%.*s", (int)key.len, key.ptr);
    if (gt_sql_words_mention(mention->text, (struct gt_str){name, (size_t)length}))
        mention->facts |= gt_analysis_facts(&analysis->key, 1);
}

API uint64_t gputime_sql_facts(const char *text) {
    struct mention mention = {.text = gt_str_of(text)};
    each_table(add_mentioned, &mention);
    return gt_store_facts_closed(mention.facts | gt_sql_words_facts(mention.text) | GT_FACT_OPS);
}

/* ---- schema ---- */

struct schema {
    struct table_list list;
    const char *const *tables; /* these alone */
    size_t table_count;        /* 0: all */
};

static enum gt_status fill_schema(void *context, const struct gt_request *request, struct gt_section *section,
                                  struct gt_error *err) {
    const struct schema *schema = context;
    const struct table_list *list = &schema->list;
    (void)request;
    section->input = (struct gt_report_input){.label = GT_STR("schema"), .rank = -1, .world_size = -1};
    if (schema->table_count)
        return gt_sql_schema_add_some(section, schema->tables, schema->table_count, err);
    struct gt_sql_schema_report *reports = gt_arena_array(list->arena, list->count, sizeof *reports);
    for (size_t i = 0; i < list->count && reports; i++)
        reports[i] = (struct gt_sql_schema_report){list->items[i].key, list->items[i].analysis->title};
    if (!reports)
        return gt_fail_memory(err);
    gt_sql_schema_add(section, reports, list->count);
    return GT_OK;
}

API enum gputime_status gputime_sql_schema(const struct gputime_report_options *options, struct gputime_report **out,
                                           struct gputime_error *err) {
    struct gt_error error = {0};
    struct gt_arena arena = {0};
    struct gputime_report_options taken;
    struct schema schema = {.list = {.arena = &arena}};
    *out = NULL;
    enum gt_status status = GT_TAKE(gputime_report_options, options, &taken, &error);
    each_table(list_table, &schema.list);
    if (status == GT_OK && gt_arena_failed(&arena))
        status = gt_fail_memory(&error);
    enum gputime_status result = gt_internal_fail(status, &error, err);
    if (status == GT_OK) {
        struct gputime_report_options shown = shown_as(&taken, "sql");
        schema.tables = taken.analyses;
        schema.table_count = taken.analysis_count;
        result = gt_internal_new_report(&shown, 1, fill_schema, &schema, out, err);
    }
    gt_arena_release(&arena);
    return result;
}
