/* Turns a command's row and the options into analyses, tables and their shapes. */
#include "request.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "suggest.h"

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool cli_format_is_data(const char *format) {
    struct gputime_entry entry = gputime_registry_find(GPUTIME_OUTPUTS, format);
    return !entry.key || entry.is_data; /* the files of older tools have all rows */
}

bool cli_format_is_missing(const char *format) {
    return gputime_registry_find(GPUTIME_OUTPUTS, format).is_missing;
}

bool cli_format_is_binary(const char *format) {
    return gputime_registry_find(GPUTIME_OUTPUTS, format).is_binary;
}

bool cli_format_is_page(const char *format) {
    return strcmp(format, "html") == 0;
}

bool cli_part_applies(const struct cli_part *part, const struct cli_options *options) {
    if (!part->analyses)
        return false;
    return !part->option || *(const int *)((const char *)options + part->option) == part->value;
}

/* ---- tables ---- */

/* Takes the first item off a comma-separated list. */
static const char *take_item(const char **list, char key[CLI_TABLE_KEY_MAX]) {
    size_t bytes = strcspn(*list, ",");
    assert(bytes < CLI_TABLE_KEY_MAX);
    memcpy(key, *list, bytes);
    key[bytes] = '\0';
    *list += bytes + ((*list)[bytes] == ',');
    return key;
}

const char *cli_table_next(struct cli_table_walk *walk) {
    while (!walk->rest || !*walk->rest) {
        if (walk->next == gputime_registry_count(GPUTIME_ANALYSES))
            return NULL;
        walk->rest = gputime_registry_entry(GPUTIME_ANALYSES, walk->next++).detail;
    }
    return take_item(&walk->rest, walk->key);
}

struct gputime_entry cli_table_analysis(const char *table) {
    struct cli_table_walk walk = {0};
    for (const char *key = cli_table_next(&walk); key; key = cli_table_next(&walk))
        if (strcmp(key, table) == 0)
            return gputime_registry_entry(GPUTIME_ANALYSES, walk.next - 1);
    return (struct gputime_entry){0};
}

/* The table with the most similar name, of all commands. false: none is similar. */
static bool find_similar_table(const char *given, char nearest[CLI_TABLE_KEY_MAX]) {
    struct cli_suggestion suggestion;
    struct cli_table_walk walk = {0};
    nearest[0] = '\0';
    cli_suggestion_init(&suggestion, given, strlen(given));
    for (const char *key = cli_table_next(&walk); key; key = cli_table_next(&walk)) {
        cli_suggestion_offer(&suggestion, key);
        if (suggestion.nearest != key)
            continue;
        snprintf(nearest, CLI_TABLE_KEY_MAX, "%s", key); /* the walk overwrites it */
        suggestion.nearest = nearest;
    }
    return *nearest;
}

/* Whether the options ask for the part, in one format or another. */
static bool is_wanted(const struct cli_command *command, const struct cli_part *part,
                      const struct cli_options *options) {
    bool is_alone = false;
    for (size_t i = 0; i < CLI_MAX_PARTS && !options->directory; i++)
        is_alone |= command->parts[i].is_alone && cli_part_applies(&command->parts[i], options);
    return cli_part_applies(part, options) && (part->is_alone || !is_alone);
}

static bool runs_analysis(const struct cli_command *command, const struct cli_options *options, const char *analysis) {
    for (size_t i = 0; i < CLI_MAX_PARTS; i++)
        for (size_t j = 0; is_wanted(command, &command->parts[i], options) && command->parts[i].analyses[j]; j++)
            if (strcmp(command->parts[i].analyses[j], analysis) == 0)
                return true;
    return false;
}

static enum gputime_status fail_table(const struct cli_command *command, const struct cli_options *options,
                                      const char *table, struct gputime_error *err) {
    char own[600] = "", nearest[CLI_TABLE_KEY_MAX];
    size_t used = 0;
    if (find_similar_table(table, nearest))
        return cli_fail_usage(err, "no table '%s'; did you mean '%s'? See 'gputime list analyses'", table, nearest);
    struct cli_table_walk walk = {0};
    for (const char *key = cli_table_next(&walk); key; key = cli_table_next(&walk)) {
        bool is_own = runs_analysis(command, options, cli_table_analysis(key).key);
        if (is_own && used + strlen(key) + sizeof ", " <= sizeof own)
            used += (size_t)sprintf(own + used, "%s%s", used ? ", " : "", key);
    }
    return cli_fail_usage(err, "no table '%s'; this command has %s; see 'gputime list analyses'", table, own);
}

/* ---- shapes ---- */

/* The shape of that table; added if missing. */
static struct gputime_shape *shape_of(struct cli_request *request, const char *table) {
    for (size_t i = 0; i < request->shape_count; i++)
        if (strcmp(request->shapes[i].table, table) == 0)
            return &request->shapes[i];
    assert(request->shape_count < CLI_REQUEST_SHAPES);
    request->shapes[request->shape_count] = (struct gputime_shape){.table = table};
    return &request->shapes[request->shape_count++];
}

static void set_rows(struct gputime_shape *shape, int64_t rows, bool in_data) {
    shape->screen_limit = rows ? rows : -1;
    if (in_data || !rows || (shape->limit && shape->limit != rows))
        shape->limit = rows;
}

static enum gputime_status fail_sort(const struct cli_list *list, const char *given, struct gputime_error *err) {
    char names[256];
    size_t used = 0;
    for (size_t i = 0; list->sorts && list->sorts[i].name; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", list->sorts[i].name);
    return cli_fail_usage(err, "cannot sort %s by '%s'; use one of %s", list->table, given, names);
}

/* given: a short name or a column, '+' before it for the smallest first. */
static enum gputime_status set_sort(struct gputime_shape *shape, const struct cli_list *list, const char *given,
                                    struct gputime_error *err) {
    bool is_ascending = given[0] == '+';
    for (size_t i = 0; list->sorts && list->sorts[i].name; i++)
        if (strcmp(list->sorts[i].name, given + is_ascending) == 0) {
            shape->sort = list->sorts[i].plus_column + !is_ascending;
            return GPUTIME_OK;
        }
    if (list->only_sorts)
        return fail_sort(list, given, err);
    shape->sort = given;
    return GPUTIME_OK;
}

static void set_complete(struct gputime_shape *shape, const struct cli_destination *destination) {
    shape->limit = 0;
    if (!cli_format_is_data(destination->format))
        shape->screen_limit = -1;
}

/* Data and pages have all rows, in the order of the analysis. */
static bool is_cut(const struct cli_destination *destination) {
    return !cli_format_is_data(destination->format) && !cli_format_is_page(destination->format);
}

static const char *text_option(const struct cli_options *options, size_t offset) {
    return offset ? *(const char *const *)((const char *)options + offset) : NULL;
}

static int64_t rows_option(const struct cli_options *options, size_t offset) {
    return offset ? *(const int64_t *)((const char *)options + offset) : CLI_UNSET;
}

static enum gputime_status shape_list(struct cli_request *request, const struct cli_list *list,
                                      const struct cli_options *options, const struct cli_destination *destination,
                                      struct gputime_error *err) {
    struct gputime_shape *shape = shape_of(request, list->table);
    const char *sort = text_option(options, list->sort_offset);
    int64_t rows = rows_option(options, list->top_offset);

    if (list->sort)
        shape->sort = list->sort;
    if (list->screen_rows)
        shape->screen_limit = list->screen_rows;
    if (is_cut(destination))
        shape->cut_sort = list->cut_sort;
    if (destination->is_complete)
        set_complete(shape, destination);
    else if (rows != CLI_UNSET)
        set_rows(shape, rows, cli_format_is_data(destination->format));
    shape->ranked = list->is_ranked || shape->ranked;
    return sort ? set_sort(shape, list, sort, err) : GPUTIME_OK;
}

static void add_analysis(struct cli_request *request, const char *key) {
    for (size_t i = 0; i < request->analysis_count; i++)
        if (strcmp(request->analyses[i], key) == 0)
            return;
    assert(request->analysis_count < CLI_REQUEST_ANALYSES);
    request->analyses[request->analysis_count++] = key;
}

static bool is_listed(const char *const *keys, size_t count, const char *key) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static void show_table(struct cli_request *request, const char *key) {
    assert(request->shown_count < CLI_REQUEST_TABLES);
    if (!is_listed(request->shown, request->shown_count, key))
        request->shown[request->shown_count++] = key;
}

/* All tables of an analysis, whose list has commas between them. */
static void show_analysis(struct cli_request *request, const char *analysis) {
    const char *list = gputime_registry_find(GPUTIME_ANALYSES, analysis).detail;
    while (list && *list) {
        char *key = request->names + request->names_used;
        assert(request->names_used + CLI_TABLE_KEY_MAX <= sizeof request->names);
        request->names_used += strlen(take_item(&list, key)) + 1;
        show_table(request, key);
    }
}

static void add_tables(struct cli_request *request, const struct cli_part *part,
                       const struct cli_destination *destination) {
    for (size_t i = 0; part->tables && part->tables[i]; i++)
        show_table(request, part->tables[i]);
    for (size_t i = 0; !part->tables && part->analyses[i]; i++)
        show_analysis(request, part->analyses[i]);
    for (size_t i = 0; part->data_tables && part->data_tables[i] && !cli_format_is_data(destination->format); i++)
        request->absent[request->absent_count++] = part->data_tables[i];
}

static bool lists_columns(const struct cli_part *part, const char *table) {
    for (size_t i = 0; part->shapes && part->shapes[i].table; i++)
        if (same_text(part->shapes[i].table, table) && part->shapes[i].column_count)
            return true;
    return false;
}

static enum gputime_status add_part(struct cli_request *request, const struct cli_part *part,
                                    const struct cli_options *options, const struct cli_destination *destination,
                                    struct gputime_error *err) {
    enum gputime_status status = GPUTIME_OK;
    if (part->main_table)
        request->main_table = part->main_table;
    if (part->text_layout)
        request->text_layout = part->text_layout;
    if (part->lays_out_columns && destination->is_layout && same_text(part->output_layout, destination->format))
        request->is_layout_of_columns = true;
    else if (lists_columns(part, request->main_table)) /* others than those of the part with the layout */
        request->is_layout_of_columns = false;
    for (size_t i = 0; part->analyses[i]; i++)
        add_analysis(request, part->analyses[i]);
    add_tables(request, part, destination);
    for (size_t i = 0; part->shapes && part->shapes[i].table; i++) {
        struct gputime_shape *shape = shape_of(request, part->shapes[i].table);
        *shape = part->shapes[i];
        shape->cut_sort = is_cut(destination) ? shape->cut_sort : NULL;
        if (destination->is_complete)
            shape->limit = 0;
    }
    for (size_t i = 0; !status && i < CLI_MAX_LISTS && part->lists[i]; i++)
        status = shape_list(request, part->lists[i], options, destination, err);
    return status;
}

/* The short names that commands have for the table's columns. */
static struct cli_list list_of_table(const char *table) {
    for (size_t c = 0; c < cli_command_count; c++)
        for (size_t p = 0; p < CLI_MAX_PARTS; p++)
            for (size_t l = 0; l < CLI_MAX_LISTS; l++) {
                const struct cli_list *list = cli_command_table[c].parts[p].lists[l];
                if (list && strcmp(list->table, table) == 0)
                    return (struct cli_list){.table = table, .sorts = list->sorts};
            }
    return (struct cli_list){.table = table};
}

/* Exactly these columns, without a rank. */
static void set_columns(struct cli_request *request, struct gputime_shape *shape,
                        const struct gputime_write_options *writing) {
    request->columns = shape->columns = writing->columns;
    request->column_count = shape->column_count = writing->column_count;
    shape->ranked = 0;
}

static bool is_verdicts(const struct cli_command *command, const char *table) {
    return (command->groups & CLI_GROUP_LIMITS) && strcmp(table, CLI_TABLE_LIMITS) == 0;
}

/* Tables on one finding, which has to be named. */
static bool is_about_finding(const char *table) {
    return strncmp(table, "finding_", strlen("finding_")) == 0;
}

/* --table: only the analysis that makes it runs, and --sort, --top and --columns apply to it. */
static enum gputime_status narrow_to_table(struct cli_request *request, const struct cli_command *command,
                                           const struct cli_options *options, const struct cli_destination *destination,
                                           struct gputime_error *err) {
    const char *table = options->writing.table;
    struct gputime_entry analysis = cli_table_analysis(table);
    if (is_verdicts(command, table)) {
        if (!options->fail_if.count && !options->limit_files.count)
            return cli_fail_usage(err, "table '%s' needs a limit: --fail-if 'step>+3%%', or --limits FILE", table);
    } else if (!analysis.key) {
        return fail_table(command, options, table, err);
    } else if (is_about_finding(table) && !options->why_finding) {
        return cli_fail_usage(err, "table '%s' is about one finding: use 'gputime findings --why ID'", table);
    }
    request->analyses[0] = analysis.key;
    request->analysis_count = analysis.key ? 1 : 0;
    request->main_table = table;
    request->text_layout = NULL;

    /* Keeps the command's order and columns, but not the row limit it had as a side table. */
    struct gputime_shape usual = *shape_of(request, table);
    const struct cli_list list = list_of_table(table);
    request->shape_count = request->absent_count = 0;
    request->shown_count = 1;
    request->shown[0] = request->forced = table;
    struct gputime_shape *shape = shape_of(request, table);
    *shape = usual;
    shape->limit = 0;
    if (options->writing.columns)
        set_columns(request, shape, &options->writing);
    if (destination->is_complete)
        set_complete(shape, destination);
    else if (options->top != CLI_UNSET)
        set_rows(shape, options->top, cli_format_is_data(destination->format));
    return options->sort ? set_sort(shape, &list, options->sort, err) : GPUTIME_OK;
}

static enum gputime_status add_parts(struct cli_request *request, const struct cli_command *command,
                                     const struct cli_options *options, const struct cli_destination *destination,
                                     struct gputime_error *err) {
    const char *first_list = NULL;
    *request = (struct cli_request){0};
    for (size_t i = 0; i < CLI_MAX_PARTS; i++) {
        const struct cli_part *part = &command->parts[i];
        if (!is_wanted(command, part, options) || (part->for_data && !cli_format_is_data(destination->format)) ||
            (part->for_page && !cli_format_is_page(destination->format)) ||
            (destination->is_gap_part && !part->gap_layout))
            continue;
        enum gputime_status status = add_part(request, part, options, destination, err);
        if (status)
            return status;
        if (!first_list && part->lists[0])
            first_list = part->lists[0]->table;
    }
    if (!request->main_table)
        request->main_table = first_list;
    if (destination->is_gap_part)
        return GPUTIME_OK;
    if (options->writing.table && !destination->is_layout)
        return narrow_to_table(request, command, options, destination, err);
    /* The layout of an older tool has its own columns and units. */
    if (options->writing.columns || options->writing.unit != GPUTIME_UNIT_AUTO)
        request->text_layout = NULL;
    if (options->writing.columns && first_list)
        set_columns(request, shape_of(request, first_list), &options->writing);
    return GPUTIME_OK;
}

enum gputime_status cli_request_build(const struct cli_command *command, const struct cli_options *options,
                                      const struct cli_destination *destination, struct cli_request *request,
                                      struct gputime_error *err) {
    enum gputime_status status = add_parts(request, command, options, destination, err);
    if (!status && command->action != CLI_ACTION_DIFF)
        request->absent[request->absent_count++] = "spreads"; /* only comparisons read it */
    return status;
}

void cli_request_add_table(struct cli_request *request, const char *table) {
    const char *analysis = cli_table_analysis(table).key;
    if (analysis)
        add_analysis(request, analysis);
}

struct gputime_shaping cli_request_shaping(const struct cli_request *request) {
    struct gputime_shaping shaping = GPUTIME_SHAPING_INIT;
    shaping.shapes = request->shapes;
    shaping.shape_count = request->shape_count;
    shaping.main_table = request->main_table;
    shaping.shown = request->shown;
    shaping.shown_count = request->shown_count;
    shaping.forced = &request->forced;
    shaping.forced_count = request->forced != NULL;
    shaping.absent = request->absent;
    shaping.absent_count = request->absent_count;
    return shaping;
}

bool cli_request_is_for_screen(const struct cli_request *request, const struct cli_destination *destination) {
    return !destination->is_layout && !request->text_layout && !cli_format_is_data(destination->format) &&
           !cli_format_is_page(destination->format);
}

bool cli_request_is_of_columns(const struct cli_request *request, const struct cli_destination *destination) {
    return cli_request_is_for_screen(request, destination) ||
           (request->is_layout_of_columns && !request->columns); /* whose columns --columns does not choose */
}

static bool same_keys(const char *const *a, size_t a_count, const char *const *b, size_t b_count) {
    if (a_count != b_count)
        return false;
    for (size_t i = 0; i < a_count; i++)
        if (!same_text(a[i], b[i]))
            return false;
    return true;
}

static bool same_shape(const struct gputime_shape *a, const struct gputime_shape *b) {
    return same_text(a->table, b->table) && same_text(a->sort, b->sort) && same_text(a->cut_sort, b->cut_sort) &&
           a->limit == b->limit && a->screen_limit == b->screen_limit && a->ranked == b->ranked &&
           same_keys(a->columns, a->column_count, b->columns, b->column_count);
}

bool cli_request_same(const struct cli_request *a, const struct cli_request *b) {
    if (!same_keys(a->analyses, a->analysis_count, b->analyses, b->analysis_count) ||
        !same_keys(a->shown, a->shown_count, b->shown, b->shown_count) ||
        !same_keys(a->absent, a->absent_count, b->absent, b->absent_count) || !same_text(a->forced, b->forced) ||
        a->shape_count != b->shape_count || !same_text(a->main_table, b->main_table))
        return false;
    for (size_t i = 0; i < a->shape_count; i++)
        if (!same_shape(&a->shapes[i], &b->shapes[i]))
            return false;
    return true;
}

bool cli_request_has_default_order(const struct cli_command *command, const struct cli_options *options) {
    return !options->writing.table && (!options->sort || same_text(options->sort, command->parts[0].lists[0]->sort));
}
