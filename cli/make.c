/* Makes reports, comparisons and verdicts on limits through the library. */
#include "make.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "tables.h"

enum { LARGEST_FILE = 1 << 20, MOST_SIDE_ANALYSES = 2 * CLI_REQUEST_ANALYSES };

/* ---- limits ---- */

static enum gputime_status read_file(const char *path, char **text, struct gputime_error *err) {
    FILE *file = fopen(path, "re");
    if (!file)
        return cli_fail_system(err, errno, "cannot read '%s'", path);
    *text = malloc(LARGEST_FILE + 1);
    size_t bytes = *text ? fread(*text, 1, LARGEST_FILE + 1, file) : 0;
    int read_error = ferror(file) ? errno : 0;
    fclose(file);
    if (!*text)
        return cli_fail_memory(err);
    if (read_error)
        return cli_fail_system(err, read_error, "cannot read '%s'", path);
    if (bytes > LARGEST_FILE)
        return cli_fail(err, "cannot read '%s': it is no file of limits; it has over a megabyte", path);
    (*text)[bytes] = '\0';
    return GPUTIME_OK;
}

/* Cuts the text into its lines, without comments and empty ones. Without items it only counts. */
static size_t split_lines(char *text, const char **items) {
    size_t count = 0;
    for (char *line = text; line && *line;) {
        char *end = strchr(line, '\n'), *hash;
        size_t bytes = end ? (size_t)(end - line) : strlen(line);
        if (items) {
            line[bytes] = '\0';
            hash = strchr(line, '#');
            if (hash)
                *hash = '\0';
            line += strspn(line, " \t\r");
            if (*line)
                items[count++] = line;
        } else {
            count++;
        }
        line = end ? end + 1 : NULL;
    }
    return count;
}

enum gputime_status cli_limits_init(struct cli_limits *limits, const struct cli_command *command,
                                    const struct cli_options *options, struct gputime_error *err) {
    const struct cli_texts *values = command->action == CLI_ACTION_DIFF ? &options->fail_if : &options->limits;
    *limits = (struct cli_limits){0};
    if (options->limit_file) {
        enum gputime_status status = read_file(options->limit_file, &limits->text, err);
        if (status)
            return status;
    }
    limits->items = calloc(values->count + split_lines(limits->text, NULL) + 1, sizeof *limits->items);
    if (!limits->items)
        return cli_fail_memory(err);
    for (size_t i = 0; i < values->count; i++)
        limits->items[limits->count++] = values->items[i];
    limits->count += split_lines(limits->text, limits->items + limits->count);
    if (command->action == CLI_ACTION_CHECK && !limits->count)
        return cli_fail_usage(err, "'%s' needs a limit: --limit 'idle<20%%', or --limits FILE", command->name);
    return GPUTIME_OK;
}

void cli_limits_release(struct cli_limits *limits) {
    free(limits->items);
    free(limits->text);
    *limits = (struct cli_limits){0};
}

/* ---- reports ---- */

/* What every comparison is made from beside the command's own analyses. */
static const char *const core[] = {"overview", "accounting", "steps", "measures", "categories", "gaps", "spread", NULL};

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

/* What the reports of the sides need not hold. Every single gap would take more room than all the rest; asked for, they
   are compared by cause and next op. */
static size_t list_absent(const struct cli_making *making, struct gputime_shape shapes[CLI_REQUEST_SHAPES + 1]) {
    static const struct gputime_shape gaps[] = {{.table = "gaps", .absent = 1}, {.table = NULL}};
    size_t count = add_absent(making, gaps, shapes, 0);
    if (making->options->lib.table)
        return add_absent(making, making->command->parts[0].shapes, shapes, count);
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
 */
static size_t list_analyses(const struct cli_making *making, const char *analyses[MOST_SIDE_ANALYSES]) {
    size_t count = 0;
    for (const char *const *key = core; *key; key++)
        add_analysis(*key, analyses, &count);
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
    made->limit_count = making->limits->count;
    if (!status && made->limit_count)
        status = gputime_report_check(made->report, making->limits->items, made->limit_count, &made->broken, err);
    return status;
}

void cli_made_release(struct cli_made *made) {
    gputime_report_free(made->report);
    gputime_report_free(made->a);
    gputime_report_free(made->b);
    *made = (struct cli_made){0};
}
