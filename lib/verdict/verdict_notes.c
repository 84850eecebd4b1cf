/* The sentences of a comparison after the first: the divisor of amounts, tables without changes, and what makes the
 * sides hard to compare. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "compare/join.h"
#include "verdict/verdict.h"

/* ---- what amounts are divided by ---- */

/* "3 in A"; of several captures "3 in each of 10 captures of A", "2 to 4 in 10 captures of A". */
static struct gt_str count_of_side(const struct gt_compare_sides *sides, enum gt_side side, struct gt_arena *arena) {
    double least = INFINITY, most = 0;
    char low[GT_NUM_MAX], high[GT_NUM_MAX];
    size_t captures = sides->reports[side]->section_count;
    for (size_t i = 0; i < sides->capture_count; i++)
        if (gt_compare_side(sides, i) == side) {
            least = fmin(least, sides->divisors[i]);
            most = fmax(most, sides->divisors[i]);
        }
    gt_num_format_grouped(low, (int64_t)least);
    gt_num_format_grouped(high, (int64_t)most);
    if (captures == 1)
        return gt_arena_printf(arena, "%s in %s", low, sides->names[side]);
    if (least == most)
        return gt_arena_printf(arena, "%s in each of %zu captures of %s", low, captures, sides->names[side]);
    return gt_arena_printf(arena, "%s to %s in %zu captures of %s", low, high, captures, sides->names[side]);
}

/* Whether amounts include warm-up, as far as steps show it. */
static bool has_warm_up(const struct gt_compare_sides *sides) {
    bool has_some = false;
    for (size_t i = 0; i < sides->capture_count; i++)
        has_some |= gt_compare_section(sides, i)->has_warm_up;
    return has_some;
}

/* "4 in A, 12 in B"; "3 in each of 20 captures" where all are alike. */
static struct gt_str counts_of(const struct gt_compare_sides *sides, struct gt_arena *arena) {
    bool are_alike = sides->capture_count > GT_SIDE_COUNT;
    char number[GT_NUM_MAX];
    for (size_t i = 1; i < sides->capture_count; i++)
        are_alike &= sides->divisors[i] == sides->divisors[0];
    gt_num_format_grouped(number, (int64_t)sides->divisors[0]);
    if (are_alike)
        return gt_arena_printf(arena, "%s in each of %zu captures", number, sides->capture_count);
    return gt_arena_printf(arena, "%s, %s", count_of_side(sides, GT_SIDE_A, arena).ptr,
                           count_of_side(sides, GT_SIDE_B, arena).ptr);
}

/* " (as they are in 'TITLE', 'TITLE')": tables whose leading amount no count divides; empty: there are none. */
static struct gt_str undivided_tables(const struct gt_section *section, struct gt_arena *arena) {
    struct gt_str list = {"", 0};
    for (size_t b = 0; b < section->block_count; b++) {
        const struct gt_block *block = &section->blocks[b];
        const struct gt_table *table = block->kind == GT_BLOCK_TABLE ? block->table : NULL;
        size_t lead = table && table->shape ? gt_table_column_flagged(table->shape, GT_COLUMN_LEADS) : SIZE_MAX;
        if (lead == SIZE_MAX || !(block->audience & GT_FOR_SCREEN) || !table->row_count ||
            !(table->shape->columns[lead].flags & (GT_COLUMN_RATE | GT_COLUMN_LEVEL)))
            continue;
        list = gt_arena_printf(arena, "%s%s'%s'", list.ptr, list.len ? ", " : "", table->shape->title);
    }
    return list.len ? gt_arena_printf(arena, " (undivided in %s)", list.ptr) : list;
}

void gt_verdict_note_per(const struct gt_compare_sides *sides, struct gt_section *section) {
    struct gt_arena *arena = &section->report->arena;
    const char *warm_up = has_warm_up(sides) ? " Warm-up is included." : "";
    const char *mean = sides->capture_count > GT_SIDE_COUNT ? ", mean over the captures of a side" : "";
    struct gt_str text =
        *sides->unit ? gt_arena_printf(arena, "Amounts are %s: %s%s.%s", sides->unit, counts_of(sides, arena).ptr,
                                       undivided_tables(section, arena).ptr, warm_up)
                     : gt_arena_printf(arena, "Amounts are totals of captures%s.%s%s", mean, warm_up, sides->why);
    if (sides->is_named)
        text =
            gt_arena_printf(arena, "%s A is %s, B is %s.", text.ptr, sides->names[GT_SIDE_A], sides->names[GT_SIDE_B]);
    gt_section_note(section, GT_FOR_ALL, text);
}

/* ---- tables without changes ---- */

static bool has_status(const struct gt_table *table, size_t row, const char *status) {
    return gt_str_eq(gt_table_text(table, row, "status"), gt_str_of(status));
}

enum outcome { CHANGED, UNCHANGED, ONE_SIDED, OUTCOME_COUNT };

/* Whether any row changed beyond the noise, or only one side has the data. Tables that the first sentence is made from
 * count as changed even by noise. */
static enum outcome outcome_of(const struct gt_block *block) {
    const struct gt_table *table = block->table;
    size_t total = table->total_rows > table->row_count ? table->total_rows : table->row_count;
    size_t rows = total - table->blank_rows < table->row_count ? total - table->blank_rows : table->row_count;
    size_t unchanged = 0, unknown = 0;
    bool is_in_sentence = gt_verdict_is_of_the_whole(block);
    for (size_t row = 0; row < rows; row++) {
        unchanged += has_status(table, row, "same") || (!is_in_sentence && has_status(table, row, "noise"));
        unknown += has_status(table, row, "unknown");
    }
    if (!rows || table->keeps_order || gt_table_column(table, "status") == SIZE_MAX)
        return CHANGED;
    return unchanged == rows ? UNCHANGED : unknown == rows ? ONE_SIDED : CHANGED;
}

void gt_verdict_hide_tables(const struct gt_compare_sides *sides, struct gt_section *section) {
    static const struct {
        const char *text;
        uint32_t audience;
    } sentences[OUTCOME_COUNT] = {[UNCHANGED] = {"No change beyond the noise in: %s.", GT_FOR_ALL},
                                  [ONE_SIDED] = {"Only one trace has the data for: %s.", GT_FOR_SCREEN}};
    struct gt_arena *arena = &section->report->arena;
    struct gt_str titles[OUTCOME_COUNT] = {{"", 0}, {"", 0}, {"", 0}};
    if (sides->is_chosen) /* requested tables are always shown */
        return;
    for (size_t b = 0; b < section->block_count; b++) {
        struct gt_block *block = &section->blocks[b];
        bool is_shown = block->kind == GT_BLOCK_TABLE && (block->audience & GT_FOR_SCREEN);
        enum outcome outcome = is_shown ? outcome_of(block) : CHANGED;
        if (outcome == CHANGED)
            continue;
        block->audience &= ~(uint32_t)GT_FOR_SCREEN;
        titles[outcome] =
            gt_arena_printf(arena, "%s%s%s", titles[outcome].ptr, titles[outcome].len ? "; " : "", block->table->title);
    }
    for (size_t outcome = UNCHANGED; outcome < OUTCOME_COUNT; outcome++)
        if (titles[outcome].len)
            gt_section_note(section, sentences[outcome].audience,
                            gt_arena_printf(arena, sentences[outcome].text, titles[outcome].ptr));
}

/* ---- what was lost ---- */

/* "A: no trace of rank 12."; of several captures "A, 'job 2: 4 ranks': no trace of rank 12." */
static void note_mark(const struct gt_compare_sides *sides, size_t capture, struct gt_str mark,
                      struct gt_section *section) {
    struct gt_arena *arena = &section->report->arena;
    enum gt_side side = gt_compare_side(sides, capture);
    struct gt_str of = {"", 0}, label = gt_compare_section(sides, capture)->input.label;
    if (sides->reports[side]->section_count > 1)
        of = gt_arena_printf(arena, ", '%.*s'", (int)label.len, label.ptr);
    gt_section_note(section, GT_FOR_ALL,
                    gt_arena_printf(arena, "%s%s: %.*s.", sides->names[side], of.ptr, (int)mark.len, mark.ptr));
}

void gt_verdict_note_losses(const struct gt_compare_sides *sides, struct gt_section *section) {
    struct gt_arena *arena = &section->report->arena;
    for (size_t i = 0; i < sides->capture_count; i++) {
        const struct gt_section *from = gt_compare_section(sides, i);
        struct gt_str ids = {"", 0};
        for (size_t k = 0; k < from->issue_count; k++)
            if (from->issues[k].is_loss && from->issues[k].mark.len)
                note_mark(sides, i, from->issues[k].mark, section);
            else if (from->issues[k].is_loss)
                ids = gt_arena_printf(arena, "%s%s%s", ids.ptr, ids.len ? ", " : "", from->issues[k].id);
        if (ids.len)
            gt_section_note_warning(
                section, GT_FOR_ALL,
                gt_arena_printf(arena, "Only partly read: %s, '%.*s' (%s). Differences may come from lost events.",
                                sides->names[gt_compare_side(sides, i)], (int)from->input.label.len,
                                from->input.label.ptr, ids.ptr));
    }
}

/* ---- different workloads ---- */

static const double same_factor = 0.05; /* factors that differ by less are the same */

static bool is_near(double factor, double other) {
    return fabs(factor - other) <= same_factor * other;
}

/* A table of the comparison with counts that amounts may be divided by. */
struct counted {
    const struct gt_table *table; /* NULL: there is none */
    struct gt_compare_columns count;
    const struct gt_divisor *divisor;
};

static struct counted find_counted(const struct gt_section *section, const struct gt_roles *roles,
                                   enum gt_divisor_rows rows) {
    for (size_t i = 0; i < roles->divisor_count; i++) {
        const struct gt_table *table = gt_section_find(section, roles->divisors[i].table);
        if (roles->divisors[i].rows == rows && table && table->shape)
            return (struct counted){table, gt_compare_find_amount(table, GT_COLUMN_DIVISOR), &roles->divisors[i]};
    }
    return (struct counted){0};
}

static struct gt_str name_of(const struct counted *counted, size_t row) {
    const struct gt_table *shape = counted->table->shape;
    return gt_table_text(counted->table, row, shape->columns[gt_table_name_column(shape)].key);
}

/* Count in B / count in A; NAN: one side has none. */
static double factor_of(const struct counted *counted, size_t row) {
    double of_a = gt_compare_number(counted->table, row, counted->count.a);
    double of_b = gt_compare_number(counted->table, row, counted->count.b);
    return of_a > 0 && of_b > 0 ? of_b / of_a : NAN;
}

static int compare_reals(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The factor by which most kernels are launched more often in B, if it is the same for most names and most launches. */
struct common {
    double factor; /* NAN: there is none */
    size_t names, of_names;
};

static struct common common_factor(const struct counted *kernels) {
    size_t row_count = kernels->table->row_count;
    struct common common = {.factor = NAN};
    double *factors = gt_mem_array(row_count + 1, sizeof *factors), launches = 0, of_launches = 0;
    for (size_t row = 0; factors && row < row_count; row++) {
        double factor = factor_of(kernels, row);
        of_launches += fmax(0, gt_compare_number(kernels->table, row, kernels->count.a));
        if (!isnan(factor))
            factors[common.of_names++] = factor;
    }
    if (common.of_names) {
        qsort(factors, common.of_names, sizeof *factors, compare_reals);
        common.factor = factors[common.of_names / 2];
    }
    gt_mem_free(factors);
    for (size_t row = 0; common.of_names && row < row_count; row++)
        if (is_near(factor_of(kernels, row), common.factor)) {
            common.names++;
            launches += gt_compare_number(kernels->table, row, kernels->count.a);
        }
    if (is_near(common.factor, 1) || 2 * common.names <= common.of_names || 2 * launches <= of_launches)
        common.factor = NAN;
    return common;
}

/* The row to normalize by: of those whose count grew by the same factor, the one with the most time. SIZE_MAX: there is
 * none. */
static size_t find_named(const struct counted *named, double factor) {
    size_t best = SIZE_MAX, time = gt_compare_find_amount(named->table, GT_COLUMN_EXTENT).a;
    double most_ns = -1;
    for (size_t row = 0; row < named->table->row_count; row++) {
        double time_ns = gt_compare_number(named->table, row, time);
        bool is_same = gt_str_eq(gt_table_text(named->table, row, "match"), gt_str_of(gt_match_names[GT_MATCH_EXACT]));
        if (is_same && is_near(factor_of(named, row), factor) && time_ns > most_ns) {
            best = row;
            most_ns = time_ns;
        }
    }
    return best;
}

/* What to normalize by instead: steps or a name whose count grew by the same factor, else launches. */
static struct gt_str advised_unit(const struct gt_section *section, const struct counted *work, double factor,
                                  const struct gt_roles *roles, struct gt_arena *arena) {
    struct counted steps = find_counted(section, roles, GT_DIVISOR_STEPS);
    struct counted named = find_counted(section, roles, GT_DIVISOR_NAMED);
    for (size_t row = 0; steps.table && row < steps.table->row_count; row++)
        if (gt_str_eq(name_of(&steps, row), gt_str_of(steps.divisor->measure)) &&
            is_near(factor_of(&steps, row), factor))
            return gt_str_of(steps.divisor->key);
    size_t best = named.table ? find_named(&named, factor) : SIZE_MAX;
    if (best == SIZE_MAX)
        return gt_str_of(work->divisor->key);
    struct gt_str name = name_of(&named, best);
    return gt_arena_printf(arena, "%s '%.*s'", named.divisor->key, (int)name.len, name.ptr);
}

void gt_verdict_note_work(const struct gt_compare_sides *sides, struct gt_section *section) {
    struct gt_arena *arena = &section->report->arena;
    struct counted work = find_counted(section, sides->roles, GT_DIVISOR_WORK);
    struct common common = work.table ? common_factor(&work) : (struct common){.factor = NAN};
    if (isnan(common.factor))
        return;
    struct gt_str unit = advised_unit(section, &work, common.factor, sides->roles, arena);
    gt_section_note(section, GT_FOR_ALL,
                    gt_arena_printf(arena,
                                    "Different workloads? %zu of the %zu kernels in both traces are launched "
                                    "%.3g times as often in %s as in %s; normalize with --per %.*s.",
                                    common.names, common.of_names, common.factor, sides->names[GT_SIDE_B],
                                    sides->names[GT_SIDE_A], (int)unit.len, unit.ptr));
}

/* ---- graphs ---- */

static bool has_whole_graphs(const struct gt_report *report) {
    const char *opaque = report->roles->opaque_issue;
    for (size_t s = 0; s < report->section_count; s++)
        for (size_t i = 0; i < report->sections[s].issue_count; i++)
            if (opaque && strcmp(report->sections[s].issues[i].id, opaque) == 0)
                return true;
    return false;
}

void gt_verdict_note_graphs(const struct gt_compare_sides *sides, struct gt_section *section) {
    bool of_a = has_whole_graphs(sides->reports[GT_SIDE_A]), of_b = has_whole_graphs(sides->reports[GT_SIDE_B]);
    if (of_a == of_b)
        return;
    const char *whole = sides->names[of_a ? GT_SIDE_A : GT_SIDE_B], *other = sides->names[of_a ? GT_SIDE_B : GT_SIDE_A];
    gt_section_note(section, GT_FOR_ALL,
                    gt_arena_printf(&section->report->arena,
                                    "CUDA graphs of %s were traced as a whole, without their kernels; %s has no such "
                                    "graphs. Kernels and categories cannot be compared: trace both with "
                                    "--cuda-graph-trace=node.",
                                    whole, other));
}
