/* The pipeline's middle: from opened traces to a finished report (select, analyse, shape). trace.c opens, output.c
 * writes.
 */
#include "gputime.h"

#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/num.h"
#include "events/select.h"
#include "internal.h"
#include "label/label.h"
#include "label/rules.h"
#include "measure/analysis.h"

const struct gputime_options gt_options_automatic;

enum gputime_status gt_error_pass(enum gt_status status, const struct gt_error *from, struct gputime_error *to) {
    if (to && status != GT_OK) {
        to->status = (enum gputime_status)status;
        memcpy(to->message, from->message, sizeof to->message);
    }
    return (enum gputime_status)status;
}

/* What the report's options say of a run goes before what the trace was opened with. */
static struct gt_run run_of(const struct gputime_trace *trace, const struct gputime_options *options) {
    const struct gt_run *known = &trace->run;
    return (struct gt_run){
        .title = options->title ? options->title : known->title,
        .iterations = options->iterations > 0 ? options->iterations : known->iterations,
        .gpus = options->gpus > 0 ? options->gpus : known->gpus,
        .nvtx_tag = options->nvtx_tag ? options->nvtx_tag : known->nvtx_tag,
        .elapsed = options->elapsed ? options->elapsed : known->elapsed,
        .without_memory = options->without_memory || known->without_memory,
        .remark = options->remark ? options->remark : known->remark,
    };
}

/* What an input is called: its title, else its file, with as many folders as distinguish those of one name. */
struct naming {
    struct gputime_trace *const *traces;
    size_t count;
    const struct gputime_options *options;
    size_t parts; /* of paths that stand in names */
};

static struct gt_str name_of(const struct naming *naming, size_t index) {
    const struct gputime_trace *trace = naming->traces[index];
    const char *title = run_of(trace, naming->options).title;
    if (title)
        return gt_str_of(title);
    return strcmp(trace->paths[0], "-") == 0 ? GT_STR("standard input")
                                             : gt_str_path_tail(gt_str_of(trace->paths[0]), naming->parts);
}

/* How many of the inputs up to this one have its name. */
static size_t turn_of(const struct naming *naming, size_t index) {
    size_t turn = 0;
    for (size_t i = 0; i <= index; i++)
        turn += gt_str_eq(name_of(naming, i), name_of(naming, index));
    return turn;
}

static struct naming naming_of(struct gputime_trace *const *traces, size_t count,
                               const struct gputime_options *options) {
    struct naming naming = {traces, count, options, 1};
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++) {
            bool is_other = !run_of(traces[i], options).title && strcmp(traces[i]->paths[0], traces[k]->paths[0]) != 0;
            while (is_other && gt_str_eq(name_of(&naming, i), name_of(&naming, k)) &&
                   name_of(&naming, i).len < strlen(traces[i]->paths[0]))
                naming.parts++;
        }
    return naming;
}

static struct gt_str label_of(const struct naming *naming, size_t index, struct gt_arena *arena) {
    struct gt_str name = gt_arena_copy(arena, name_of(naming, index));
    size_t turn = turn_of(naming, index);
    return turn == 1 ? name : gt_arena_printf(arena, "%s (%zu)", name.ptr, turn);
}

static uint64_t count_kernels(const struct gt_store *store) {
    uint64_t count = 0;
    for (size_t i = 0; i < store->ops.count; i++)
        count += store->ops.kind[i] == GT_OP_KERNEL || store->ops.kind[i] == GT_OP_GRAPH;
    return count;
}

/* Inputs that have ranges only as the profiler projected them have those, each one or summed by name. */
static uint64_t count_ranges(const struct gt_store *store) {
    uint64_t count = store->ranges.count ? store->ranges.count : store->projections.count;
    bool is_summed = count == 0;
    for (size_t i = 0; is_summed && i < store->projection_groups.count; i++)
        if (__builtin_add_overflow(count, store->projection_groups.instances[i], &count))
            count = UINT64_MAX;
    return count;
}

static void describe_input(struct gt_section *section, const struct gputime_trace *trace, struct gt_str label) {
    const struct gt_store *store = trace->store;
    struct gt_arena *arena = &section->report->arena;
    section->input = (struct gt_report_input){
        .label = label,
        .path = gt_arena_copy(arena, gt_str_of(trace->paths[0])),
        .format = store->meta.format,
        .producer = gt_store_string(store, store->meta.producer),
        .ops = store->ops.count,
        .kernels = count_kernels(store),
        .calls = store->calls.count,
        .ranges = count_ranges(store),
        .cpu_ops = store->cpu_ops.count,
        .skipped_events = store->skipped_events,
        .origin_ns = store->origin_ns,
        .base_ns = store->meta.base_ns,
        .rank = store->meta.rank,
        .world_size = store->meta.world_size,
    };
}

/* What is missing is before the numbers that miss it. */
static void note_losses(const struct gt_store *store, struct gt_section *section) {
    for (int k = 0; k < GT_ISSUE_COUNT; k++)
        if (gt_issue_infos[k].issue_class == GT_ISSUE_CLASS_LOSS && store->issues[k].count)
            gt_section_note(section, GT_FOR_SCREEN | GT_FOR_PAGE,
                            gt_arena_printf(&section->report->arena, "Only partly read (%s): %s.", gt_issue_infos[k].id,
                                            gt_issue_infos[k].help));
}

/* A report of a part must not look like one of the whole. */
static void note_selection(const struct gputime_options *options, struct gt_section *section) {
    struct gt_selecting given[GT_SELECTING_MAX];
    size_t count = gt_selecting_options(options, given);
    struct gt_arena *arena = &section->report->arena;
    struct gt_str text = {"", 0};
    for (size_t i = 0; i < count; i++)
        text = gt_arena_printf(arena, "%s%s%s %s", text.ptr, text.len ? ", " : "", given[i].name, given[i].value);
    if (!text.len)
        return;
    section->input.selection = text;
    bool leaves_work_out = options->step || options->stream || options->process || options->name || options->category;
    gt_section_note(
        section, GT_FOR_SCREEN | GT_FOR_PAGE,
        gt_arena_printf(arena, "Selection: %s.%s", text.ptr, leaves_work_out ? " Other GPU work counts as idle." : ""));
}

static void note_outside_steps(const struct gt_view *view, struct gt_section *section) {
    const struct gt_ops *ops = &view->store->ops;
    size_t before = 0, behind = 0;
    for (size_t i = 0; i < ops->count && view->is_of_steps; i++) {
        before += ops->end_ns[i] <= view->window_start_ns && !view->warm_up_steps;
        behind += ops->start_ns[i] >= view->window_end_ns && ops->end_ns[i] > view->window_end_ns;
    }
    if (before + behind)
        gt_section_note(
            section, GT_FOR_ALL,
            gt_arena_printf(
                &section->report->arena,
                "Work outside the steps excluded: %zu ops before the first, %zu after the last; --from 0 includes it.",
                before, behind));
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

static enum gt_status fill_section(struct gputime_report *report, size_t index, const struct gputime_trace *trace,
                                   const char *const *analyses, size_t analysis_count,
                                   const struct gputime_options *options, struct gt_error *err) {
    struct gt_section *section = &report->model->sections[index];
    enum gt_status status = gt_view_new(trace->store, trace->labels, options, &report->views[index], err);
    struct gt_run run = run_of(trace, options);
    if (status == GT_OK)
        report->views[index]->run = run;
    if (run.remark)
        gt_section_note(section, GT_FOR_ALL, gt_str_of(run.remark));
    if (trace->rules && gt_rules_remark(trace->rules))
        gt_section_note(section, GT_FOR_ALL, gt_str_of(gt_rules_remark(trace->rules)));
    note_losses(trace->store, section);
    note_selection(options, section);
    if (status == GT_OK) {
        note_warm_up(report->views[index], section);
        note_outside_steps(report->views[index], section);
        status = gt_analyse(report->views[index], analyses, analysis_count, section, err);
    }
    return status == GT_OK ? GT_OK : gt_fail_context(err, "'%s'", trace->paths[0]);
}

static enum gt_status fill_report(struct gputime_report *report, struct gputime_trace *const *traces, size_t count,
                                  const char *command, const char *const *analyses, size_t analysis_count,
                                  struct gt_error *err) {
    const struct gputime_options *options = &report->options;
    report->model = gt_report_new(command, count);
    report->views = gt_mem_array(count, sizeof(struct gt_view *));
    if (!report->model || !report->views)
        return gt_fail_memory(err);
    report->model->roles = &gt_analysis_roles;
    report->model->main_table = options->main_table;
    report->model->heading = gt_arena_copy(&report->model->arena, gt_str_of(options->heading));
    report->model->generated_at = options->generated_at;
    struct naming naming = naming_of(traces, count, options);
    for (size_t i = 0; i < count; i++) {
        describe_input(&report->model->sections[i], traces[i], label_of(&naming, i, &report->model->arena));
        enum gt_status status = fill_section(report, i, traces[i], analyses, analysis_count, options, err);
        if (status != GT_OK)
            return status;
    }
    enum gt_status status = gt_report_status(report->model, err);
    if (status != GT_OK)
        return status;
    return gt_report_shape(report->model, options->shapes, options->shape_count, err);
}

API enum gputime_status gputime_report_new(struct gputime_trace *const *traces, size_t trace_count, const char *command,
                                           const char *const *analyses, size_t analysis_count,
                                           const struct gputime_options *options, struct gputime_report **out,
                                           struct gputime_error *err) {
    struct gt_error error = {0};
    *out = NULL;
    struct gputime_report *report = gt_mem_array(1, sizeof *report);
    if (!report)
        return gt_error_pass(gt_fail_memory(&error), &error, err);
    report->options = options ? *options : gt_options_automatic;
    enum gt_status status = fill_report(report, traces, trace_count, command, analyses, analysis_count, &error);
    if (status == GT_OK)
        *out = report;
    else
        gputime_report_free(report);
    return gt_error_pass(status, &error, err);
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
