/* The pipeline's middle: from opened traces to a finished report (select, analyse, shape). trace.c opens, output.c
 * writes.
 */
#include "gputime.h"

#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/num.h"
#include "base/threads.h"
#include "events/selection.h"
#include "internal.h"
#include "label/label.h"
#include "label/rules.h"
#include "measure/analysis.h"
#include "measure/options.h"
#include "measure/results/results.h"
#include "take.h"

API const char *gputime_version(void) {
    return GPUTIME_VERSION;
}

enum gputime_status gt_internal_fail(enum gt_status status, const struct gt_error *from, struct gputime_error *to) {
    if (to && status != GT_OK) {
        to->status = (enum gputime_status)status;
        memcpy(to->message, from->message, sizeof to->message);
    }
    return (enum gputime_status)status;
}

/* Run parameters of the report's options override those that the trace was opened with. */
static struct gt_run run_of(const struct gputime_trace *trace, const struct gt_run *asked) {
    const struct gt_run *known = &trace->run;
    return (struct gt_run){
        .title = asked->title ? asked->title : known->title,
        .iterations = asked->iterations ? asked->iterations : known->iterations,
        .gpus = asked->gpus ? asked->gpus : known->gpus,
        .nvtx_tag = asked->nvtx_tag ? asked->nvtx_tag : known->nvtx_tag,
        .elapsed_ns = asked->elapsed_ns ? asked->elapsed_ns : known->elapsed_ns,
        .without_memory = asked->without_memory || known->without_memory,
        .remark = asked->remark ? asked->remark : known->remark,
    };
}

/* Name of an input: its title, else its file, with as many directories as distinguish equal names. */
struct naming {
    struct gputime_trace *const *traces;
    size_t count;
    const struct gt_run *run; /* of the report's options */
    size_t parts;             /* of paths that are used in names */
    size_t before;            /* inputs of another report that is shown with this one */
};

static struct gt_str name_of(const struct naming *naming, size_t index) {
    const struct gputime_trace *trace = naming->traces[index];
    const char *title = run_of(trace, naming->run).title;
    if (title)
        return gt_str_of(title);
    if (trace->how.redact)
        return GT_STR(GT_REDACTED_PATH);
    return gt_str_path_tail(gt_internal_named_by(trace), naming->parts);
}

/* How many of the inputs up to this one have its name. */
static size_t turn_of(const struct naming *naming, size_t index) {
    size_t turn = 0;
    for (size_t i = 0; i <= index; i++)
        turn += gt_str_eq(name_of(naming, i), name_of(naming, index));
    return turn;
}

static struct naming naming_of(struct gputime_trace *const *traces, size_t count, const struct gt_run *run) {
    struct naming naming = {traces, count, run, 1, 0};
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++) {
            bool is_other = !run_of(traces[i], run).title && !traces[i]->how.redact &&
                            strcmp(traces[i]->paths[0], traces[k]->paths[0]) != 0;
            while (is_other && gt_str_eq(name_of(&naming, i), name_of(&naming, k)) &&
                   name_of(&naming, i).len < gt_internal_named_by(traces[i]).len)
                naming.parts++;
        }
    return naming;
}

static struct gt_str label_of(const struct naming *naming, size_t index, struct gt_arena *arena) {
    const struct gputime_trace *trace = naming->traces[index];
    if (trace->how.redact && !run_of(trace, naming->run).title)
        return gt_arena_printf(arena, GT_REDACTED_PATH " %zu", naming->before + index + 1);
    struct gt_str name = gt_arena_copy(arena, name_of(naming, index));
    size_t turn = turn_of(naming, index);
    return turn == 1 ? name : gt_arena_printf(arena, "%s (%zu)", name.ptr, turn);
}

struct gt_str gt_internal_label(struct gputime_trace *const *traces, size_t count, size_t index,
                                struct gt_arena *arena) {
    struct gt_run run = {0};
    struct naming naming = naming_of(traces, count, &run);
    return label_of(&naming, index, arena);
}

uint64_t gt_internal_count_kernels(const struct gt_store *store) {
    return gt_store_count_kind(store->ops.kind, store->ops.count, GT_OP_KERNEL) +
           gt_store_count_kind(store->ops.kind, store->ops.count, GT_OP_GRAPH);
}

/* Some inputs have only the ranges that the profiler projected to the GPU, each one or summed by name. */
static uint64_t count_ranges(const struct gt_store *store) {
    uint64_t count = store->ranges.count ? store->ranges.count : store->projections.count;
    bool is_summed = count == 0;
    for (size_t i = 0; is_summed && i < store->projection_groups.count; i++)
        if (__builtin_add_overflow(count, store->projection_groups.instances[i], &count))
            count = UINT64_MAX;
    return count;
}

/* Counts of what the report did not ask for are not known, even where the store happens to have them. */
static uint64_t count_if(const struct gt_request *request, uint32_t facts, uint64_t count) {
    return (request->facts & facts) == facts ? count : GT_NOT_COUNTED;
}

static void describe_input(struct gt_section *section, const struct gputime_trace *trace,
                           const struct gt_reading *reading, const struct gt_request *request, struct gt_str label) {
    const struct gt_store *store = reading->store;
    struct gt_arena *arena = &section->report->arena;
    section->input = (struct gt_report_input){
        .label = label,
        .path = trace->how.redact ? label : gt_arena_copy(arena, gt_str_of(trace->paths[0])),
        .format = store->meta.format,
        .producer = gt_store_string(store, store->meta.producer),
        .ops = store->ops.count,
        .kernels = gt_internal_count_kernels(store),
        .calls = count_if(request, GT_FACT_CALLS, store->calls.count),
        .ranges = count_if(request, GT_FACT_RANGES, count_ranges(store)),
        .cpu_ops = count_if(request, GT_FACT_CPU_OPS, store->cpu_ops.count),
        .origin_ns = store->origin_ns,
        .base_ns = store->meta.base_ns,
        .rank = reading->rank.rank,
        .world_size = reading->rank.world_size,
        .rank_source = gt_trace_rank_source_key(reading->rank.source),
        .host = gt_store_string(store, store->meta.host),
    };
}

/* Losses are noted before the numbers they affect. */
static void note_losses(const struct gt_store *store, uint32_t facts, struct gt_section *section) {
    for (int k = 0; k < GT_ISSUE_COUNT; k++)
        if (gt_issue_infos[k].issue_class == GT_ISSUE_CLASS_LOSS &&
            gt_store_issue(store, (enum gt_issue_id)k, facts).count)
            gt_section_note_warning(section, GT_FOR_SCREEN | GT_FOR_PAGE,
                                    gt_arena_printf(&section->report->arena, "Only partly read (%s): %s.",
                                                    gt_issue_infos[k].id, gt_issue_infos[k].help));
}

/* Whether all analyses are of the critical path, which leads through all GPU work whatever is selected. */
static bool is_of_paths(const struct gputime_report_options *options) {
    for (size_t i = 0; i < options->analysis_count; i++) {
        const struct gt_analysis *analysis = gt_analysis_find(options->analyses[i]);
        if (analysis && !(analysis->uses & UINT32_C(1) << GT_RESULT_PATHS))
            return false;
    }
    return options->analysis_count > 0;
}

/* A report of a selection must not look like one of the complete trace. */
static void note_selection(const struct gputime_selection *asked, bool is_of_paths, struct gt_section *section) {
    struct gt_selection_term given[GT_SELECTION_TERMS_MAX];
    struct gt_arena *arena = &section->report->arena;
    size_t count = gt_selection_list(asked, arena, given);
    struct gt_str text = {"", 0};
    for (size_t i = 0; i < count; i++)
        text = gt_arena_printf(arena, "%s%s%s %s", text.ptr, text.len ? ", " : "", given[i].name, given[i].value);
    if (!text.len)
        return;
    section->input.selection = text;
    bool leaves_work_out =
        asked->step_count || asked->stream_count || asked->process_count || asked->name || asked->category_count;
    gt_section_note(section, GT_FOR_SCREEN | GT_FOR_PAGE,
                    gt_arena_printf(arena, "Selection: %s.%s", text.ptr,
                                    leaves_work_out && !is_of_paths ? " Other GPU work counts as idle." : ""));
}

static void note_outside_steps(const struct gt_view *view, struct gt_section *section) {
    const struct gt_ops *ops = &view->store->ops;
    size_t before = 0, after = 0;
    for (size_t i = 0; i < ops->count && view->is_of_steps; i++) {
        before += ops->end_ns[i] <= view->window_start_ns && !view->warm_up_steps;
        after += ops->start_ns[i] >= view->window_end_ns && ops->end_ns[i] > view->window_end_ns;
    }
    if (before + after)
        gt_section_note(
            section, GT_FOR_ALL,
            gt_arena_printf(
                &section->report->arena,
                "Work outside the steps excluded: %zu ops before the first, %zu after the last; --from 0 includes it.",
                before, after));
}

static void note_warm_up(const struct gt_view *view, struct gt_section *section) {
    char length[GT_NUM_MAX];
    if (!view->warm_up_steps)
        return;
    gt_num_format_duration(length, (double)gt_ns_between(view->store->origin_ns, view->window_start_ns));
    gt_section_note(section, GT_FOR_ALL,
                    gt_arena_printf(&section->report->arena,
                                    "Warm-up excluded: %zu of %zu steps, the first %s; --from 0 includes it.",
                                    view->warm_up_steps, view->labels->step_count, length));
}

/* The parts of a report, in its arena or borrowed for the call. */
struct making {
    struct gputime_report *report;
    struct gputime_report_options options;
    struct gputime_shaping shaping;
    struct gt_run run;
};

static enum gt_status fill_section(struct making *making, size_t index, const struct gputime_trace *trace,
                                   const struct gt_reading *reading, struct gt_error *err) {
    struct gputime_report *report = making->report;
    struct gt_section *section = &report->model->sections[index];
    enum gt_status status = gt_view_new(reading->store, reading->labels, &report->request, &report->views[index], err);
    struct gt_run run = run_of(trace, &making->run);
    if (status == GT_OK)
        report->views[index]->run = run;
    if (run.remark)
        gt_section_note(section, GT_FOR_ALL, gt_str_of(run.remark));
    if (trace->rules && gt_rules_remark(trace->rules))
        gt_section_note(section, GT_FOR_ALL, gt_str_of(gt_rules_remark(trace->rules)));
    note_losses(reading->store, report->request.facts, section);
    note_selection(&report->request.selection, is_of_paths(&making->options), section);
    if (status == GT_OK) {
        note_warm_up(report->views[index], section);
        note_outside_steps(report->views[index], section);
        status = gt_internal_analyse(report->views[index], making->options.analyses, making->options.analysis_count,
                                     section, err);
    }
    return status == GT_OK ? GT_OK : gt_fail_context(err, "'%s'", trace->paths[0]);
}

struct filling {
    struct making *making;
    size_t index;
    const struct gputime_trace *trace;
    const struct gt_reading *reading;
    struct gt_error *err;
    enum gt_status status;
};

static void fill_together(void *context) {
    struct filling *filling = context;
    filling->status = fill_section(filling->making, filling->index, filling->trace, filling->reading, filling->err);
}

uint32_t gt_internal_facts(const char *const *analyses, size_t count, const struct gputime_selection *selection) {
    uint32_t launches = GT_FACT_CALLS | GT_FACT_CORRELATION, facts = gt_analysis_facts(analyses, count);
    if (selection->step_count || selection->whole_steps != GPUTIME_STEPS_ANY)
        facts |= launches | GT_FACT_RANGES;
    if (selection->process_count) /* some traces know the process of an op by its launch call alone */
        facts |= launches;
    return gt_store_facts_closed(facts);
}

API uint64_t gputime_report_facts(const struct gputime_report_options *given) {
    struct gputime_report_options options;
    struct gputime_selection selection;
    if (GT_TAKE(gputime_report_options, given, &options, NULL) != GT_OK ||
        gt_take_selection(options.selection, &selection, NULL) != GT_OK)
        return 0;
    return gt_internal_facts(options.analyses, options.analysis_count, &selection);
}

/* Finds all errors in the options themselves. */
static enum gt_status take_options(struct making *making, const struct gputime_report_options *given,
                                   struct gt_error *err) {
    struct gt_arena *arena = &making->report->model->arena;
    struct gt_request *request = &making->report->request;
    const struct gputime_report_options *options = &making->options;
    struct gt_shape *shapes = NULL;
    enum gt_status status = GT_TAKE(gputime_report_options, given, &making->options, err);
    if (status == GT_OK)
        status = gt_take_selection(options->selection, &request->selection, err);
    if (status == GT_OK)
        status = gt_take_choice("names", (unsigned)options->names, GPUTIME_NAMES_SHORT, err);
    if (status == GT_OK)
        status = GT_TAKE(gputime_shaping, options->shaping, &making->shaping, err);
    if (status == GT_OK)
        status = gt_take_run(options->run, arena, &making->run, err);
    if (status == GT_OK)
        status = gt_take_shapes(&making->shaping, arena, &shapes, &request->shape_count, err);
    if (status == GT_OK)
        status = gt_options_complete(options->options, options->option_count, arena, &request->options, err);
    request->threads = options->threads;
    request->names = options->names;
    request->shapes = shapes;
    request->for_screen = making->shaping.for_screen;
    request->columns_only = making->shaping.columns_only;
    if (status == GT_OK)
        request->facts = gt_internal_facts(options->analyses, options->analysis_count, &request->selection);
    /* Which full name comes first for a simplified one is a question of order. With calls, health looks at devices. */
    request->any_order = options->names == GPUTIME_NAMES_FULL && !(request->facts & GT_FACT_CALLS) &&
                         gt_analysis_any_order(options->analyses, options->analysis_count);
    return status;
}

/* An empty report of so many sections, as the options want it. */
static enum gt_status begin_report(struct making *making, size_t section_count,
                                   const struct gputime_report_options *options, struct gt_error *err) {
    struct gputime_report *report = making->report;
    report->model = gt_report_new("", section_count);
    report->views = gt_mem_array(section_count, sizeof(struct gt_view *));
    if (!report->model || !report->views)
        return gt_fail_memory(err);
    enum gt_status status = take_options(making, options, err);
    if (status != GT_OK)
        return status;
    struct gt_report *model = report->model;
    model->command = gt_take_text(making->options.command ? making->options.command : "report", &model->arena);
    model->roles = &gt_analysis_roles;
    model->main_table = gt_take_text(making->shaping.main_table, &model->arena);
    model->heading = gt_arena_copy(&model->arena, gt_str_of(making->options.heading));
    model->generated_at = gt_take_text(making->options.generated_at, &model->arena);
    return GT_OK;
}

static enum gt_status end_report(struct gputime_report *report, struct gt_error *err) {
    enum gt_status status = gt_report_status(report->model, err);
    if (status != GT_OK)
        return status;
    return gt_report_shape(report->model, report->request.shapes, report->request.shape_count, err);
}

static enum gt_status fill_report(struct gputime_report *report, struct gputime_trace *const *traces, size_t count,
                                  size_t before, const struct gputime_report_options *options, struct gt_error *err) {
    struct making making = {.report = report};
    for (size_t i = 0; i < count; i++)
        if (!traces[i])
            return gt_fail_usage(err, "trace %zu of %zu is NULL", i + 1, count);
    enum gt_status status = begin_report(&making, count, options, err);
    if (status != GT_OK)
        return status;
    struct gt_report *model = report->model;
    struct naming naming = naming_of(traces, count, &making.run);
    naming.before = before;
    for (size_t i = 0; i < count; i++) {
        const struct gt_reading *reading;
        status = gt_internal_read(traces[i], report->request.facts, &reading, err);
        if (status != GT_OK)
            return status;
        describe_input(&model->sections[i], traces[i], reading, &report->request, label_of(&naming, i, &model->arena));
        struct filling filling = {&making, i, traces[i], reading, err, GT_OK};
        gt_threads_together(gt_threads_count(report->request.threads), fill_together, &filling);
        if (filling.status != GT_OK)
            return filling.status;
    }
    return end_report(report, err);
}

/* The selection and the strings of the shaping belong to the caller and are not used any more. */
static void forget_borrowed(struct gputime_report *report) {
    report->request = (struct gt_request){.threads = report->request.threads, .names = report->request.names};
}

API enum gputime_status gputime_report_new(struct gputime_trace *const *traces, size_t trace_count,
                                           const struct gputime_report_options *options, struct gputime_report **out,
                                           struct gputime_error *err) {
    return gt_internal_new_side(traces, trace_count, 0, options, out, err);
}

enum gputime_status gt_internal_new_side(struct gputime_trace *const *traces, size_t trace_count, size_t before,
                                         const struct gputime_report_options *options, struct gputime_report **out,
                                         struct gputime_error *err) {
    struct gt_error error = {0};
    *out = NULL;
    struct gputime_report *report = gt_mem_array(1, sizeof *report);
    if (!report)
        return gt_internal_fail(gt_fail_memory(&error), &error, err);
    enum gt_status status = fill_report(report, traces, trace_count, before, options, &error);
    forget_borrowed(report);
    if (status == GT_OK)
        *out = report;
    else
        gputime_report_free(report);
    return gt_internal_fail(status, &error, err);
}

enum gputime_status gt_internal_new_report(const struct gputime_report_options *options, size_t section_count,
                                           gt_internal_fill *fill, void *context, struct gputime_report **out,
                                           struct gputime_error *err) {
    struct gt_error error = {0};
    *out = NULL;
    struct gputime_report *report = gt_mem_array(1, sizeof *report);
    if (!report)
        return gt_internal_fail(gt_fail_memory(&error), &error, err);
    struct making making = {.report = report};
    enum gt_status status = begin_report(&making, section_count, options, &error);
    for (size_t i = 0; i < section_count && status == GT_OK; i++)
        status = fill(context, &report->request, &report->model->sections[i], &error);
    if (status == GT_OK)
        status = end_report(report, &error);
    forget_borrowed(report);
    if (status == GT_OK)
        *out = report;
    else
        gputime_report_free(report);
    return gt_internal_fail(status, &error, err);
}

API void gputime_report_free(struct gputime_report *report) {
    if (!report)
        return;
    for (size_t i = 0; report->views && report->model && i < report->model->section_count; i++)
        gt_view_free(report->views[i]);
    gt_mem_free(report->views);
    gt_report_free(report->model);
    gt_mem_free(report);
}
