/* The public interface of comparisons and limits. */
#include <inttypes.h>

#include "base/mem.h"
#include "base/threads.h"
#include "compare/compare.h"
#include "events/selection.h"
#include "internal.h"
#include "measure/analysis.h"
#include "ranks/rank_measures.h"
#include "take.h"
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
    struct gputime_report_options options;
    struct gputime_selection selection;
};

static void make_side(void *context, size_t index) {
    struct sides *sides = context;
    struct side *side = &sides->items[index];
    size_t before = index ? sides->items[0].trace_count : 0;
    side->status =
        gt_internal_new_side(side->traces, side->trace_count, before, &sides->options, &side->report, &side->err);
}

/* Analyses that every comparison needs, then the other requested ones. NULL: out of memory. */
static const char **list_analyses(const char *const *asked, size_t asked_count, size_t *count) {
    const char **list = gt_mem_array(gt_analysis_count + asked_count, sizeof *list);
    *count = 0;
    for (int need = GT_COMPARING_NOTHING + 1; list && need < GT_COMPARING_COUNT; need++)
        for (size_t i = 0; i < gt_analysis_count; i++)
            if (gt_analyses[i].comparing == (enum gt_comparing)need)
                list[(*count)++] = gt_analyses[i].key;
    for (size_t i = 0; list && i < asked_count; i++) {
        const struct gt_analysis *analysis = gt_analysis_find(asked[i]);
        if (!analysis || analysis->comparing == GT_COMPARING_NOTHING) /* an unknown one is an error later */
            list[(*count)++] = asked[i];
    }
    return list;
}

/* Amounts per step cover complete steps, amounts per capture everything: the same for all sides. */
static enum gputime_whole_steps choose_steps(const struct gt_reading *const *readings, size_t count,
                                             enum gputime_whole_steps asked) {
    bool has_several = false;
    for (size_t i = 0; i < count && asked != GPUTIME_STEPS_ANY; i++) {
        const struct gt_labels *labels = readings[i]->labels;
        has_several |= labels->step_count > 1;
        bool are_most = asked == GPUTIME_STEPS_WHOLE || gt_labels_steps_are_most(labels, readings[i]->store);
        if (labels->step_count == 0 || !are_most)
            return GPUTIME_STEPS_ANY;
    }
    return asked == GPUTIME_STEPS_IF_MOST && !has_several ? GPUTIME_STEPS_ANY : asked;
}

/* Whether steps are most of a trace is asked before its report is made. */
enum { STEP_FACTS = GT_FACT_OPS | GT_FACT_CALLS | GT_FACT_CORRELATION | GT_FACT_RANGES };

static enum gt_status take_sides(struct sides *sides, const struct gputime_report_options *options,
                                 struct gputime_trace *const *traces, size_t count, struct gt_error *err) {
    enum gt_status status = GT_TAKE(gputime_report_options, options, &sides->options, err);
    if (status == GT_OK)
        status = gt_take_selection(sides->options.selection, &sides->selection, err);
    for (size_t i = 0; i < count && status == GT_OK; i++)
        if (!traces[i])
            status = gt_fail_usage(err, "trace %zu of %zu is NULL", i + 1, count);
    if (status != GT_OK)
        return status;
    const struct gt_reading **readings = gt_mem_array(count, sizeof *readings);
    if (!readings)
        return gt_fail_memory(err);
    for (size_t i = 0; i < count && status == GT_OK; i++)
        status = gt_internal_read(traces[i], STEP_FACTS, &readings[i], err);
    if (status == GT_OK)
        sides->selection.whole_steps = choose_steps(readings, count, sides->selection.whole_steps);
    gt_mem_free(readings);
    sides->options.selection = &sides->selection;
    return status;
}

API uint64_t gputime_report_sides_facts(const struct gputime_report_options *given) {
    struct gputime_report_options options;
    if (GT_TAKE(gputime_report_options, given, &options, NULL) != GT_OK)
        return 0;
    const char **list = list_analyses(options.analyses, options.analysis_count, &options.analysis_count);
    options.size = sizeof options;
    options.analyses = list;
    uint64_t facts = list ? gputime_report_facts(&options) : 0;
    gt_mem_free(list);
    return facts ? facts | gt_store_facts_closed(STEP_FACTS) : 0;
}

API enum gputime_status gputime_report_new_sides(struct gputime_trace *const *traces, size_t trace_count,
                                                 size_t first_of_b, const struct gputime_report_options *options,
                                                 struct gputime_report *out[2], struct gputime_error *err) {
    struct gt_error error = {0};
    struct sides sides = {0};
    out[0] = out[1] = NULL;
    if (first_of_b == 0 || first_of_b >= trace_count) {
        gt_fail_usage(&error, "side B cannot start at trace %zu of %zu; each side needs at least one", first_of_b,
                      trace_count);
        return gt_internal_fail(GT_ERR_USAGE, &error, err);
    }
    enum gt_status status = take_sides(&sides, options, traces, trace_count, &error);
    if (status != GT_OK)
        return gt_internal_fail(status, &error, err);
    const char **list =
        list_analyses(sides.options.analyses, sides.options.analysis_count, &sides.options.analysis_count);
    if (!list)
        return gt_internal_fail(gt_fail_memory(&error), &error, err);
    sides.options.analyses = list;
    sides.items[0] = (struct side){.traces = traces, .trace_count = first_of_b};
    sides.items[1] = (struct side){.traces = traces + first_of_b, .trace_count = trace_count - first_of_b};
    bool is_chosen = !gt_selection_chooses_time(&sides.selection);
    gt_threads_deal(gt_threads_count(sides.options.threads), 2, make_side, &sides);
    gt_mem_free(list);
    const struct side *failed = sides.items[0].status ? &sides.items[0] : &sides.items[1];
    for (size_t i = 0; i < 2; i++) {
        if (failed->status)
            gputime_report_free(sides.items[i].report);
        out[i] = failed->status ? NULL : sides.items[i].report;
        if (out[i] && is_chosen)
            out[i]->model->step_choice =
                sides.selection.whole_steps == GPUTIME_STEPS_ANY ? GT_STEPS_LEFT : GT_STEPS_TAKEN;
    }
    if (failed->status && err)
        *err = failed->err;
    return failed->status;
}

/* ---- comparisons and verdicts ---- */

static enum gt_status take_diff(const struct gputime_diff_options *given, struct gputime_shaping *shaping,
                                struct gt_arena *arena, struct gt_compare_options *diff, struct gt_error *err) {
    static const char *const pers[] = {[GPUTIME_PER_STEP] = "step",
                                       [GPUTIME_PER_RANGE] = "range",
                                       [GPUTIME_PER_LAUNCH] = "launch",
                                       [GPUTIME_PER_NONE] = "none"};
    struct gputime_diff_options taken;
    enum gt_status status = GT_TAKE(gputime_diff_options, given, &taken, err);
    if (status == GT_OK)
        status = GT_TAKE(gputime_shaping, taken.shaping, shaping, err);
    if (status == GT_OK && (unsigned)taken.per > GPUTIME_PER_NONE)
        status = gt_fail_usage(err, "invalid enum gputime_per %d", (int)taken.per);
    if (status != GT_OK)
        return status;
    *diff =
        (struct gt_compare_options){.per = pers[taken.per],
                                    .range = taken.range,
                                    .tables = taken.table_count ? gt_take_keys(taken.tables, taken.table_count, arena)
                                              : taken.tables    ? ""
                                                                : NULL,
                                    .is_noise_given = taken.noise_share != 0,
                                    .noise_share = taken.noise_share > 0 ? taken.noise_share : 0,
                                    .labels = {taken.label_a, taken.label_b}};
    return gt_arena_failed(arena) ? gt_fail_memory(err) : GT_OK;
}

static enum gt_status shape_diff(struct gt_report *model, const struct gputime_shaping *shaping, struct gt_error *err) {
    struct gt_shape *shapes;
    size_t count;
    enum gt_status status = gt_take_shapes(shaping, &model->arena, &shapes, &count, err);
    if (shaping->main_table)
        model->main_table = gt_take_text(shaping->main_table, &model->arena);
    if (status == GT_OK)
        status = gt_report_shape(model, shapes, count, err);
    return status == GT_OK ? gt_verdict_finish(model, err) : status;
}

/* Several jobs of a side are runs of the same, whose amounts are averaged: their traces must not say different worlds.
 */
static enum gt_status check_worlds(const struct gt_report *side, const char *name, struct gt_error *err) {
    int64_t first = -1;
    for (size_t i = 0; i < side->section_count && side->roles == &gt_rank_measures_roles; i++) {
        int64_t world = side->sections[i].input.world_size;
        if (gt_compare_lack(side, i))
            continue;
        if (first > 0 && world > 0 && world != first)
            return gt_fail(err,
                           "%s has traces of %zu jobs, with world sizes of %" PRId64 " and %" PRId64
                           "; pass the traces of one job; 'gputime ranks' lists them",
                           name, side->section_count, first, world);
        first = first > 0 ? first : world;
    }
    return GT_OK;
}

API enum gputime_status gputime_report_diff(const struct gputime_report *a, const struct gputime_report *b,
                                            const struct gputime_diff_options *options, struct gputime_report **out,
                                            struct gputime_error *err) {
    struct gt_error error = {0};
    struct gt_arena arena = {0};
    struct gt_compare_options diff;
    struct gputime_shaping shaping;
    *out = NULL;
    struct gputime_report *report = gt_mem_array(1, sizeof *report);
    if (!report)
        return gt_internal_fail(gt_fail_memory(&error), &error, err);
    enum gt_status status = take_diff(options, &shaping, &arena, &diff, &error);
    if (status == GT_OK)
        status = check_worlds(a->model, "A", &error);
    if (status == GT_OK)
        status = check_worlds(b->model, "B", &error);
    if (status == GT_OK)
        status = gt_compare_new(a->model, b->model, &diff, &report->model, &error);
    if (status == GT_OK)
        status = gt_verdict_add(report->model, &error);
    if (status == GT_OK)
        status = shape_diff(report->model, &shaping, &error);
    gt_arena_release(&arena);
    if (status == GT_OK)
        *out = report;
    else
        gputime_report_free(report);
    return gt_internal_fail(status, &error, err);
}

API const char *gputime_limit_table(const char *limit) {
    return limit ? gt_limit_table(limit, &gt_analysis_roles) : NULL;
}

API enum gputime_status gputime_report_check(struct gputime_report *report, const char *const *limits,
                                             size_t limit_count, size_t *broken, struct gputime_error *err) {
    struct gt_error error = {0};
    size_t count = 0;
    enum gt_status status = gt_limit_check(report->model, limits, limit_count, &count, &error);
    if (broken)
        *broken = count;
    return gt_internal_fail(status, &error, err);
}
