/* The public interface of comparisons and limits: the reports of both sides in, another or a verdict out. */
#include "base/mem.h"
#include "base/threads.h"
#include "compare/compare.h"
#include "internal.h"
#include "measure/analysis.h"
#include "verdict/limit.h"
#include "verdict/verdict.h"

/* ---- the sides ---- */

struct side {
    struct gputime_trace *const *traces;
    size_t trace_count;
    struct gputime_report *report;
    enum gputime_status status;
    struct gputime_error err;
};

struct sides {
    struct side items[2]; /* A, B */
    const char *command;
    const char *const *analyses;
    size_t analysis_count;
    struct gputime_options options;
};

static void make_side(void *context, size_t index) {
    struct sides *sides = context;
    struct side *side = &sides->items[index];
    side->status = gputime_report_new(side->traces, side->trace_count, sides->command, sides->analyses,
                                      sides->analysis_count, &sides->options, &side->report, &side->err);
}

/* Those that every comparison needs, then the others that are asked for. NULL: memory was short. */
static const char **list_analyses(const char *const *asked, size_t asked_count, size_t *count) {
    const char **list = gt_mem_array(gt_analysis_count + asked_count, sizeof *list);
    *count = 0;
    for (int need = GT_COMPARING_NOTHING + 1; list && need < GT_COMPARING_COUNT; need++)
        for (size_t i = 0; i < gt_analysis_count; i++)
            if (gt_analyses[i].comparing == (enum gt_comparing)need)
                list[(*count)++] = gt_analyses[i].key;
    for (size_t i = 0; list && i < asked_count; i++) {
        const struct gt_analysis *analysis = gt_analysis_find(asked[i]);
        if (!analysis || analysis->comparing == GT_COMPARING_NOTHING) /* one that there is not is an error later */
            list[(*count)++] = asked[i];
    }
    return list;
}

/* Amounts per step are of whole steps, those of whole captures are not: all sides the same. */
static enum gputime_whole_steps choose_steps(struct gputime_trace *const *traces, size_t count,
                                             enum gputime_whole_steps asked) {
    bool has_several = false;
    for (size_t i = 0; i < count && asked != GPUTIME_STEPS_ANY; i++) {
        const struct gt_labels *labels = traces[i]->labels;
        has_several |= labels->step_count > 1;
        bool are_most = asked == GPUTIME_STEPS_WHOLE || gt_labels_steps_are_most(labels, traces[i]->store);
        if (labels->step_count == 0 || !are_most)
            return GPUTIME_STEPS_ANY;
    }
    return asked == GPUTIME_STEPS_IF_MOST && !has_several ? GPUTIME_STEPS_ANY : asked;
}

API enum gputime_status gputime_report_new_sides(struct gputime_trace *const *traces, size_t trace_count,
                                                 size_t first_of_b, const char *command, const char *const *analyses,
                                                 size_t analysis_count, const struct gputime_options *options,
                                                 struct gputime_report *out[2], struct gputime_error *err) {
    struct gt_error error = {0};
    out[0] = out[1] = NULL;
    if (first_of_b == 0 || first_of_b >= trace_count) {
        gt_fail_usage(&error, "side B cannot start at trace %zu of %zu; each side needs at least one", first_of_b,
                      trace_count);
        return gt_error_pass(GT_ERR_USAGE, &error, err);
    }
    size_t list_count;
    const char **list = list_analyses(analyses, analysis_count, &list_count);
    if (!list)
        return gt_error_pass(gt_fail_memory(&error), &error, err);
    struct sides sides = {.items = {{.traces = traces, .trace_count = first_of_b},
                                    {.traces = traces + first_of_b, .trace_count = trace_count - first_of_b}},
                          .command = command,
                          .analyses = list,
                          .analysis_count = list_count,
                          .options = options ? *options : gt_options_automatic};
    sides.options.whole_steps = choose_steps(traces, trace_count, sides.options.whole_steps);
    bool is_chosen = !sides.options.from && !sides.options.to && !sides.options.step;
    gt_threads_deal(gt_threads_count(sides.options.threads), 2, make_side, &sides);
    gt_mem_free(list);
    const struct side *failed = sides.items[0].status ? &sides.items[0] : &sides.items[1];
    for (size_t i = 0; i < 2; i++) {
        if (failed->status)
            gputime_report_free(sides.items[i].report);
        out[i] = failed->status ? NULL : sides.items[i].report;
        if (out[i] && is_chosen)
            out[i]->model->step_choice =
                sides.options.whole_steps == GPUTIME_STEPS_ANY ? GT_STEPS_LEFT : GT_STEPS_TAKEN;
    }
    if (failed->status && err)
        *err = failed->err;
    return failed->status;
}

/* ---- comparisons and verdicts ---- */

API enum gputime_status gputime_report_diff(const struct gputime_report *a, const struct gputime_report *b,
                                            const struct gputime_diff_options *diff,
                                            const struct gputime_options *options, struct gputime_report **out,
                                            struct gputime_error *err) {
    struct gt_error error = {0};
    const struct gputime_options *how = options ? options : &gt_options_automatic;
    *out = NULL;
    struct gputime_report *report = gt_mem_array(1, sizeof *report);
    if (!report)
        return gt_error_pass(gt_fail_memory(&error), &error, err);
    enum gt_status status = gt_compare_new(a->model, b->model, diff, &report->model, &error);
    if (status == GT_OK)
        status = gt_verdict_add(report->model, &error);
    if (status == GT_OK) {
        if (how->main_table)
            report->model->main_table = how->main_table;
        status = gt_report_shape(report->model, how->shapes, how->shape_count, &error);
    }
    if (status == GT_OK)
        status = gt_verdict_finish(report->model, &error);
    if (status == GT_OK)
        *out = report;
    else
        gputime_report_free(report);
    return gt_error_pass(status, &error, err);
}

API enum gputime_status gputime_report_check(struct gputime_report *report, const char *const *limits,
                                             size_t limit_count, size_t *broken, struct gputime_error *err) {
    struct gt_error error = {0};
    return gt_error_pass(gt_limit_check(report->model, limits, limit_count, broken, &error), &error, err);
}
