/* What the amounts of both sides are divided by, so that captures of different length compare. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "report/diff_parts.h"

static const double usual_noise_share = 0.01;
static const double least_step_cover = 0.5; /* steps that cover less of the span do not stand for it */

enum { LISTED_RANGES = 6, LONGEST_LISTED = 40, SEARCHED_RANGES = 200 };

/* ---- how many there are in one capture; 0: none, or the report does not tell ---- */

static size_t find_row(const struct gt_table *table, const char *column, struct gt_str text) {
    size_t index = gt_table_column(table, column), row = 0;
    for (; index != SIZE_MAX && row < table->row_count; row++) {
        const struct gt_cell *cell = &table->cells[row * table->column_count + index];
        if (cell->type == GPUTIME_CELL_TEXT && gt_str_eq((struct gt_str){cell->text, cell->text_bytes}, text))
            return row;
    }
    return SIZE_MAX;
}

static double measure_of(const struct gt_section *section, struct gt_str measure, const char *column) {
    const struct gt_table *measures = gt_section_find(section, "measures");
    size_t row = measures ? find_row(measures, "measure", measure) : SIZE_MAX;
    double number = row == SIZE_MAX ? NAN : gt_table_number(measures, row, column);
    return isnan(number) ? 0 : number;
}

/* Steps of one process: several do theirs at the same time. */
static double count_steps(const struct gt_section *section, const char *range) {
    (void)range;
    double processes = measure_of(section, GT_STR("step"), "processes");
    return measure_of(section, GT_STR("step"), "count") / fmax(1, processes);
}

/* Ranges of that name in any domain. */
static double count_ranges(const struct gt_section *section, const char *range) {
    const struct gt_table *ranges = gt_section_find(section, "ranges");
    size_t name = ranges ? gt_table_column(ranges, "name") : SIZE_MAX;
    double count = 0;
    for (size_t row = 0; name != SIZE_MAX && row < ranges->row_count; row++) {
        const struct gt_cell *cell = &ranges->cells[row * ranges->column_count + name];
        if (cell->type == GPUTIME_CELL_TEXT &&
            gt_str_eq((struct gt_str){cell->text, cell->text_bytes}, gt_str_of(range)))
            count += fmax(0, gt_table_number(ranges, row, "instances"));
    }
    return count;
}

static double count_launches(const struct gt_section *section, const char *range) {
    (void)range;
    const struct gt_table *kernels = gt_section_find(section, "kernels");
    double count = 0;
    for (size_t row = 0; kernels && row < kernels->row_count; row++)
        count += gt_table_number(kernels, row, "count");
    return kernels && kernels->total_rows == kernels->row_count ? count : 0;
}

static double count_one(const struct gt_section *section, const char *range) {
    (void)section;
    (void)range;
    return 1;
}

static const struct per {
    const char *key, *unit, *many;
    double (*count)(const struct gt_section *section, const char *range);
} pers[] = {
    {"step", "per step", "steps", count_steps},
    {"range", "per instance of the range", "ranges of that name", count_ranges},
    {"launch", "per launch", "kernel launches", count_launches},
    {"none", "", "", count_one},
};

/* ---- choosing ---- */

static const struct per *find_per(const char *key) {
    for (size_t i = 0; i < sizeof pers / sizeof *pers; i++)
        if (strcmp(pers[i].key, key) == 0)
            return &pers[i];
    return NULL;
}

static bool steps_are_most(const struct gt_diff_sides *sides) {
    for (size_t i = 0; i < sides->capture_count; i++) {
        const struct gt_section *section = gt_capture_section(sides, i);
        double span_ns = measure_of(section, GT_STR("span"), "total_ns");
        if (measure_of(section, GT_STR("step"), "total_ns") < least_step_cover * span_ns)
            return false;
    }
    return true;
}

/* Steps are what to go by where every capture has them, some have several, and they make up most of all. */
static const struct per *choose(const struct gt_diff_sides *sides, const char **why) {
    enum gt_step_choice choice = sides->reports[GT_SIDE_A]->step_choice;
    bool has_several = false;
    *why = "";
    for (size_t i = 0; i < sides->capture_count; i++) {
        double steps = count_steps(gt_capture_section(sides, i), NULL);
        has_several |= steps > 1;
        if (steps < 1)
            return find_per("none");
    }
    if (choice == GT_STEPS_OPEN)
        choice = has_several && steps_are_most(sides) ? GT_STEPS_TAKEN : GT_STEPS_LEFT;
    if (choice == GT_STEPS_LEFT)
        *why = has_several ? " The steps cover less than half of the time; --per step goes by them all the same."
                           : " None has more than one step; --per step goes by it all the same.";
    return find_per(choice == GT_STEPS_TAKEN ? "step" : "none");
}

static bool all_have_range(const struct gt_diff_sides *sides, const char *range) {
    for (size_t i = 0; i < sides->capture_count; i++)
        if (!(count_ranges(gt_capture_section(sides, i), range) > 0))
            return false;
    return true;
}

/* What could have been meant: "both sides have 'decode', 'prefill'". */
static struct gt_str list_ranges(const struct gt_diff_sides *sides, struct gt_arena *arena) {
    const struct gt_table *ranges = gt_section_find(gt_capture_section(sides, 0), "ranges");
    struct gt_str list = {"", 0};
    size_t listed = 0;
    for (size_t row = 0; ranges && row < ranges->row_count && row < SEARCHED_RANGES; row++) {
        struct gt_str name = gt_arena_copy(arena, gt_table_text(ranges, row, "name"));
        if (!name.ptr || !name.len || name.len > LONGEST_LISTED || !all_have_range(sides, name.ptr))
            continue;
        if (listed++ == LISTED_RANGES)
            return gt_arena_printf(arena, "%s, ...", list.ptr);
        list = gt_arena_printf(arena, "%s%s'%s'", list.ptr, list.len ? ", " : "", name.ptr);
    }
    return list;
}

static enum gt_status fail_range(const struct gt_diff_sides *sides, const struct gt_section *section, const char *range,
                                 struct gt_arena *arena, struct gt_error *err) {
    struct gt_str label = section->input.label, list = list_ranges(sides, arena);
    if (!list.len)
        return gt_fail_usage(err,
                             "'%.*s' has no range '%s' to compare by, and no other is on both sides; use --per none",
                             (int)label.len, label.ptr, range);
    return gt_fail_usage(err, "'%.*s' has no range '%s'; --per range NAME takes one that both sides have: %s",
                         (int)label.len, label.ptr, range, list.ptr);
}

static enum gt_status set_divisors(struct gt_diff_sides *sides, const struct per *per, const char *range,
                                   struct gt_arena *arena, struct gt_error *err) {
    for (size_t i = 0; i < sides->capture_count; i++) {
        const struct gt_section *section = gt_capture_section(sides, i);
        sides->divisors[i] = per->count(section, range);
        if (!(sides->divisors[i] > 0) && per->count == count_ranges)
            return fail_range(sides, section, range, arena, err);
        if (!(sides->divisors[i] > 0))
            return gt_fail_usage(err, "'%.*s' has no %s to compare by; use --per none", (int)section->input.label.len,
                                 section->input.label.ptr, per->many);
    }
    return GT_OK;
}

static enum gt_status name_sides(struct gt_diff_sides *sides, const char *const labels[GT_SIDE_COUNT],
                                 struct gt_arena *arena, struct gt_error *err) {
    const char *a = labels[GT_SIDE_A], *b = labels[GT_SIDE_B];
    if (!a && !b)
        return GT_OK;
    if (!a || !b || !*a || !*b || strcmp(a, b) == 0)
        return gt_fail_usage(err, "'%s,%s' does not name two sides; write for example main,PR", a ? a : "", b ? b : "");
    for (size_t side = 0; side < GT_SIDE_COUNT; side++)
        sides->names[side] = gt_arena_copy(arena, gt_str_of(labels[side])).ptr;
    if (!sides->names[GT_SIDE_A] || !sides->names[GT_SIDE_B])
        return gt_fail_memory(err);
    sides->is_named = strcmp(sides->names[GT_SIDE_A], "A") != 0 || strcmp(sides->names[GT_SIDE_B], "B") != 0;
    return GT_OK;
}

enum gt_status gt_diff_sides_init(struct gt_diff_sides *sides, const struct gt_report *a, const struct gt_report *b,
                                  const struct gt_diff_options *options, struct gt_arena *arena, struct gt_error *err) {
    *sides = (struct gt_diff_sides){.reports = {a, b},
                                    .capture_count = a->section_count + b->section_count,
                                    .why = "",
                                    .is_chosen = options->tables,
                                    .names = {"A", "B"}};
    sides->divisors = gt_arena_array(arena, sides->capture_count, sizeof *sides->divisors);
    if (!sides->divisors)
        return gt_fail_memory(err);
    const struct per *per = options->per ? find_per(options->per) : choose(sides, &sides->why);
    if (!per)
        return gt_fail_usage(err, "cannot compare per '%s'; there are step, range, launch, none", options->per);
    if (strcmp(per->key, "range") == 0 && !options->range)
        return gt_fail_usage(err, "to compare per range the name of the range is needed: --per range NAME");
    enum gt_status status = set_divisors(sides, per, options->range, arena, err);
    sides->is_noise_told = options->is_noise_told;
    sides->noise_share = options->is_noise_told ? options->noise_share : usual_noise_share;
    sides->per = per->key;
    sides->unit =
        per->count == count_ranges ? gt_arena_printf(arena, "%s '%s'", per->unit, options->range).ptr : per->unit;
    return status == GT_OK ? name_sides(sides, options->labels, arena, err) : status;
}
