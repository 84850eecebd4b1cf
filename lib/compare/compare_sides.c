/* Chooses what the amounts of both sides are divided by, so that captures of different lengths can be compared. */
#include <math.h>
#include <string.h>

#include "compare/compare.h"

static const double usual_noise_share = 0.01;
static const double least_step_cover = 0.5; /* steps that cover less of the span do not represent it */

enum { LISTED_NAMES = 6, LONGEST_LISTED = 40, SEARCHED_ROWS = 200 };

/* ---- counts in one capture; 0: none or unknown ---- */

/* The first row of that name; SIZE_MAX: there is none. */
static size_t find_row(const struct gt_table *table, struct gt_str name) {
    size_t column = gt_table_name_column(table), row = 0;
    while (column != SIZE_MAX && row < table->row_count) {
        if (gt_str_eq(gt_cell_as_text(&table->cells[row * table->column_count + column]), name))
            return row;
        row++;
    }
    return SIZE_MAX;
}

/* A number of a measure, from the column with that flag; 0: unknown. */
static double measure_of(const struct gt_section *section, const char *measure, uint32_t flag) {
    const struct gt_table *measures = gt_section_find(section, section->report->roles->measures);
    size_t row = measures ? find_row(measures, gt_str_of(measure)) : SIZE_MAX;
    size_t column = measures ? gt_table_column_flagged(measures, flag) : SIZE_MAX;
    if (row == SIZE_MAX || column == SIZE_MAX)
        return 0;
    double number = gt_cell_as_number(&measures->cells[row * measures->column_count + column]);
    return isnan(number) ? 0 : number;
}

/* Steps of one process: several processes run their steps at the same time. */
static double count_steps(const struct gt_section *section, const struct gt_divisor *divisor) {
    return measure_of(section, divisor->measure, GT_COLUMN_DIVISOR) /
           fmax(1, measure_of(section, divisor->measure, GT_COLUMN_AT_ONCE));
}

/* All rows of that name, regardless of other keys: ranges of any domain. */
static double count_named(const struct gt_table *table, size_t counted, const char *wanted) {
    size_t name = gt_table_name_column(table);
    double count = 0;
    for (size_t row = 0; name != SIZE_MAX && row < table->row_count; row++) {
        const struct gt_cell *cells = &table->cells[row * table->column_count];
        if (cells[name].type == GPUTIME_CELL_TEXT && gt_str_eq(gt_cell_as_text(&cells[name]), gt_str_of(wanted)))
            count += fmax(0, gt_cell_as_number(&cells[counted]));
    }
    return count;
}

/* A truncated table does not have all. */
static double count_all(const struct gt_table *table, size_t counted) {
    double count = 0;
    for (size_t row = 0; row < table->row_count; row++)
        count += gt_cell_as_number(&table->cells[row * table->column_count + counted]);
    return table->total_rows == table->row_count ? count : 0;
}

/* divisor NULL: whole captures. */
static double count_of(const struct gt_section *section, const struct gt_divisor *divisor, const char *name) {
    if (!divisor)
        return 1;
    if (divisor->rows == GT_DIVISOR_STEPS)
        return count_steps(section, divisor);
    const struct gt_table *table = gt_section_find(section, divisor->table);
    size_t counted = table ? gt_table_column_flagged(table, GT_COLUMN_DIVISOR) : SIZE_MAX;
    if (counted == SIZE_MAX)
        return 0;
    return divisor->rows == GT_DIVISOR_NAMED ? count_named(table, counted, name) : count_all(table, counted);
}

/* ---- choosing ---- */

static const char none[] = "none";

static const struct gt_divisor *find_divisor(const struct gt_roles *roles, const char *key) {
    for (size_t i = 0; i < roles->divisor_count; i++)
        if (strcmp(roles->divisors[i].key, key) == 0)
            return &roles->divisors[i];
    return NULL;
}

static bool steps_are_most(const struct gt_compare_sides *sides, const struct gt_divisor *steps) {
    for (size_t i = 0; i < sides->capture_count; i++) {
        const struct gt_section *section = gt_compare_section(sides, i);
        double span_ns = measure_of(section, sides->roles->whole, GT_COLUMN_LEADS);
        if (measure_of(section, steps->measure, GT_COLUMN_LEADS) < least_step_cover * span_ns)
            return false;
    }
    return true;
}

/* Per step if every capture has steps, some have several, and they cover most of the time; else per capture. */
static const struct gt_divisor *choose(const struct gt_compare_sides *sides, struct gt_arena *arena, const char **why) {
    enum gt_step_choice choice = sides->reports[GT_SIDE_A]->step_choice;
    const struct gt_divisor *steps = NULL;
    bool has_several = false;
    for (size_t i = 0; i < sides->roles->divisor_count && !steps; i++)
        steps = sides->roles->divisors[i].rows == GT_DIVISOR_STEPS ? &sides->roles->divisors[i] : NULL;
    *why = "";
    if (!steps)
        return NULL;
    for (size_t i = 0; i < sides->capture_count; i++) {
        double count = count_steps(gt_compare_section(sides, i), steps);
        has_several |= count > 1;
        if (count < 1)
            return NULL;
    }
    if (choice == GT_STEPS_OPEN)
        choice = has_several && steps_are_most(sides, steps) ? GT_STEPS_TAKEN : GT_STEPS_LEFT;
    if (choice == GT_STEPS_LEFT)
        *why = gt_arena_printf(arena,
                               has_several ? " Steps cover less than half of the time; use --per %s to normalize by "
                                             "them."
                                           : " No capture has more than one step; use --per %s to normalize by it.",
                               steps->key)
                   .ptr;
    return choice == GT_STEPS_TAKEN ? steps : NULL;
}

/* ---- names of ranges ---- */

static bool all_have(const struct gt_compare_sides *sides, const struct gt_divisor *divisor, const char *name) {
    for (size_t i = 0; i < sides->capture_count; i++)
        if (!(count_of(gt_compare_section(sides, i), divisor, name) > 0))
            return false;
    return true;
}

/* Suggestions: "'decode', 'prefill'". */
static struct gt_str list_names(const struct gt_compare_sides *sides, const struct gt_divisor *divisor,
                                struct gt_arena *arena) {
    const struct gt_table *table = gt_section_find(gt_compare_section(sides, 0), divisor->table);
    size_t column = table ? gt_table_name_column(table) : SIZE_MAX, listed = 0;
    struct gt_str list = {"", 0};
    for (size_t row = 0; column != SIZE_MAX && row < table->row_count && row < SEARCHED_ROWS; row++) {
        struct gt_str name = gt_arena_copy(arena, gt_cell_as_text(&table->cells[row * table->column_count + column]));
        if (!name.ptr || !name.len || name.len > LONGEST_LISTED || !all_have(sides, divisor, name.ptr))
            continue;
        if (listed++ == LISTED_NAMES)
            return gt_arena_printf(arena, "%s, ...", list.ptr);
        list = gt_arena_printf(arena, "%s%s'%s'", list.ptr, list.len ? ", " : "", name.ptr);
    }
    return list;
}

static enum gt_status fail_name(const struct gt_compare_sides *sides, const struct gt_divisor *divisor,
                                const struct gt_section *section, const char *name, struct gt_arena *arena,
                                struct gt_error *err) {
    struct gt_str label = section->input.label, list = list_names(sides, divisor, arena);
    if (!list.len)
        return gt_fail_usage(err, "'%.*s' has no %s '%s', and both traces have none in common; use --per %s",
                             (int)label.len, label.ptr, divisor->key, name, none);
    return gt_fail_usage(err, "'%.*s' has no %s '%s'; use --per %s NAME with one that both traces have: %s",
                         (int)label.len, label.ptr, divisor->key, name, divisor->key, list.ptr);
}

static enum gt_status set_divisors(struct gt_compare_sides *sides, const struct gt_divisor *divisor, const char *name,
                                   struct gt_arena *arena, struct gt_error *err) {
    for (size_t i = 0; i < sides->capture_count; i++) {
        const struct gt_section *section = gt_compare_section(sides, i);
        sides->divisors[i] = count_of(section, divisor, name);
        if (sides->divisors[i] > 0)
            continue;
        if (divisor->rows == GT_DIVISOR_NAMED)
            return fail_name(sides, divisor, section, name, arena, err);
        return gt_fail_usage(err, "'%.*s' has no %s to normalize by; use --per %s", (int)section->input.label.len,
                             section->input.label.ptr, divisor->many, none);
    }
    return GT_OK;
}

static enum gt_status fail_key(const struct gt_roles *roles, const char *key, struct gt_arena *arena,
                               struct gt_error *err) {
    struct gt_str list = {"", 0};
    for (size_t i = 0; i < roles->divisor_count; i++)
        list = gt_arena_printf(arena, "%s%s, ", list.ptr, roles->divisors[i].key);
    return gt_fail_usage(err, "cannot compare per '%s'; use one of %s%s", key, list.ptr, none);
}

/* The user's choice, or the automatic one; *divisor NULL: per capture. */
static enum gt_status find_per(struct gt_compare_sides *sides, const struct gt_compare_options *options,
                               struct gt_arena *arena, const struct gt_divisor **divisor, struct gt_error *err) {
    *divisor = options->per ? find_divisor(sides->roles, options->per) : choose(sides, arena, &sides->why);
    if (options->per && !*divisor && strcmp(options->per, none) != 0)
        return fail_key(sides->roles, options->per, arena, err);
    if (*divisor && (*divisor)->rows == GT_DIVISOR_NAMED && !options->range)
        return gt_fail_usage(err, "--per %s needs the name of a %s: --per %s NAME", (*divisor)->key, (*divisor)->key,
                             (*divisor)->key);
    return GT_OK;
}

/* ---- names of the sides ---- */

static enum gt_status name_sides(struct gt_compare_sides *sides, const char *const labels[GT_SIDE_COUNT],
                                 struct gt_arena *arena, struct gt_error *err) {
    const char *a = labels[GT_SIDE_A], *b = labels[GT_SIDE_B];
    if (!a && !b)
        return GT_OK;
    if (!a || !b || !*a || !*b || strcmp(a, b) == 0)
        return gt_fail_usage(err, "'%s,%s' does not name two sides; use for example main,PR", a ? a : "", b ? b : "");
    for (size_t side = 0; side < GT_SIDE_COUNT; side++)
        sides->names[side] = gt_arena_copy(arena, gt_str_of(labels[side])).ptr;
    if (!sides->names[GT_SIDE_A] || !sides->names[GT_SIDE_B])
        return gt_fail_memory(err);
    sides->is_named = strcmp(sides->names[GT_SIDE_A], "A") != 0 || strcmp(sides->names[GT_SIDE_B], "B") != 0;
    return GT_OK;
}

enum gt_status gt_compare_sides_init(struct gt_compare_sides *sides, const struct gt_report *a,
                                     const struct gt_report *b, const struct gt_compare_options *options,
                                     struct gt_arena *arena, struct gt_error *err) {
    *sides = (struct gt_compare_sides){.reports = {a, b},
                                       .roles = a->roles,
                                       .capture_count = a->section_count + b->section_count,
                                       .why = "",
                                       .is_chosen = options->tables,
                                       .names = {"A", "B"}};
    sides->divisors = gt_arena_array(arena, sides->capture_count, sizeof *sides->divisors);
    if (!sides->divisors)
        return gt_fail_memory(err);
    const struct gt_divisor *divisor;
    enum gt_status status = find_per(sides, options, arena, &divisor, err);
    if (status == GT_OK)
        status = set_divisors(sides, divisor, options->range, arena, err);
    if (status != GT_OK)
        return status;
    sides->per = divisor ? divisor->key : none;
    sides->unit = divisor ? divisor->unit : "";
    if (divisor && divisor->rows == GT_DIVISOR_NAMED)
        sides->unit = gt_arena_printf(arena, "%s '%s'", divisor->unit, options->range).ptr;
    sides->is_noise_given = options->is_noise_given;
    sides->noise_share = options->is_noise_given ? options->noise_share : usual_noise_share;
    return name_sides(sides, options->labels, arena, err);
}
