/* Makes reports, comparisons and verdicts on limits through the library. */
#include "make.h"

#include <assert.h>
#include <string.h>

#include "error.h"
#include "tables.h"

enum { MOST_SIDE_ANALYSES = 2 * CLI_REQUEST_ANALYSES };

static bool is_asked_for(const struct cli_making *making, const char *table) {
    return making->options->lib.table && strcmp(making->request->main_table, table) == 0;
}

static size_t add_absent(const struct cli_making *making, const struct gputime_shape *from,
                         struct gputime_shape *shapes, size_t count) {
    for (; from && from->table; from++)
        if (from->absent && !is_asked_for(making, from->table))
            shapes[count++] = (struct gputime_shape){.table = from->table, .absent = 1};
    return count;
}

/* What the reports of the sides need not hold, unless it is asked for. */
static size_t list_absent(const struct cli_making *making, struct gputime_shape shapes[CLI_REQUEST_SHAPES + 1]) {
    size_t count = 0;
    if (making->options->lib.table)
        return add_absent(making, making->command->parts[0].shapes, shapes, 0);
    for (size_t i = 0; i < making->request->shape_count; i++)
        if (making->request->shapes[i].absent)
            shapes[count++] = (struct gputime_shape){.table = making->request->shapes[i].table, .absent = 1};
    return count;
}

static void add_analysis(const char *key, const char *analyses[MOST_SIDE_ANALYSES], size_t *count) {
    for (size_t i = 0; i < *count; i++)
        if (strcmp(analyses[i], key) == 0)
            return;
    assert(*count < MOST_SIDE_ANALYSES);
    analyses[(*count)++] = key;
}

/* The same whatever is shown: limits look at all of it, amounts may be per range, and tables tell each other's noise.
   The library adds what every comparison needs. */
static size_t list_analyses(const struct cli_making *making, const char *analyses[MOST_SIDE_ANALYSES]) {
    size_t count = 0;
    for (const char *const *key = making->command->parts[0].analyses; *key; key++)
        add_analysis(*key, analyses, &count);
    for (size_t i = 0; i < making->request->analysis_count; i++)
        add_analysis(making->request->analyses[i], analyses, &count);
    return count;
}

static enum gputime_status make_comparison(const struct cli_making *making, const struct gputime_options *lib,
                                           struct cli_made *made, struct gputime_error *err) {
    const char *analyses[MOST_SIDE_ANALYSES];
    const struct cli_captures *captures = making->captures;
    size_t count = list_analyses(making, analyses);
    struct gputime_diff_options diff = making->options->diff;
    if (making->options->lib.table) /* the verdicts are compared with nothing */
        diff.tables = is_asked_for(making, CLI_TABLE_LIMITS) ? "" : making->request->main_table;
    made->side_options = *lib;
    made->side_options.main_table = NULL;
    made->side_options.for_screen = 0;
    made->side_options.whole_steps = !diff.per                       ? GPUTIME_STEPS_IF_MOST
                                     : strcmp(diff.per, "step") == 0 ? GPUTIME_STEPS_WHOLE
                                                                     : GPUTIME_STEPS_ANY;
    made->side_options.shapes = made->side_shapes;
    made->side_options.shape_count = list_absent(making, made->side_shapes);
    struct gputime_report *sides[2];
    enum gputime_status status =
        gputime_report_new_sides(making->traces, captures->count, captures->first_of_b, making->command->name, analyses,
                                 count, &made->side_options, sides, err);
    made->a = sides[0];
    made->b = sides[1];
    return status ? status : gputime_report_diff(made->a, made->b, &diff, lib, &made->report, err);
}

enum gputime_status cli_make(const struct cli_making *making, const struct gputime_options *lib, struct cli_made *made,
                             struct gputime_error *err) {
    cli_made_release(made);
    enum gputime_status status =
        making->command->action == CLI_ACTION_DIFF
            ? make_comparison(making, lib, made, err)
            : gputime_report_new(making->traces, making->trace_count, making->command->name, making->request->analyses,
                                 making->request->analysis_count, lib, &made->report, err);
    return status ? status : cli_limits_judge(making->limits, made->report, &made->verdicts, err);
}

void cli_made_release(struct cli_made *made) {
    gputime_report_free(made->report);
    gputime_report_free(made->a);
    gputime_report_free(made->b);
    *made = (struct cli_made){0};
}
