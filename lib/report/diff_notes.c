/* The sentences of a comparison beside the first: what amounts are divided by, how kernels were matched, which tables
   have no news, and what makes the sides hard to compare. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "report/diff_parts.h"

/* ---- what amounts are divided by ---- */

/* "3 in A"; of several captures "3 in each of 10 captures of A", "2 to 4 in 10 captures of A". */
static struct gt_str count_of_side(const struct gt_diff_sides *sides, enum gt_side side, struct gt_arena *arena) {
    double least = INFINITY, most = 0;
    char low[GT_NUM_MAX], high[GT_NUM_MAX];
    size_t captures = sides->reports[side]->section_count;
    for (size_t i = 0; i < sides->capture_count; i++)
        if (gt_capture_side(sides, i) == side) {
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

/* Do amounts hold warm-up, as far as steps tell it? */
static bool has_warm_up(const struct gt_diff_sides *sides) {
    for (size_t i = 0; i < sides->capture_count; i++) {
        const struct gt_table *steps = gt_section_find(gt_capture_section(sides, i), "steps");
        for (size_t row = 0; steps && row < steps->row_count; row++)
            if (gt_str_eq(gt_table_text(steps, row, "state"), GT_STR("warm-up")))
                return true;
    }
    return false;
}

/* "4 in A, 12 in B"; "3 in each of 20 captures" where all are alike. */
static struct gt_str counts_of(const struct gt_diff_sides *sides, struct gt_arena *arena) {
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

void gt_diff_note_per(const struct gt_diff_sides *sides, struct gt_section *section) {
    struct gt_arena *arena = &section->report->arena;
    const char *warm_up = has_warm_up(sides) ? " Warm-up counts too." : "";
    const char *mean = sides->capture_count > GT_SIDE_COUNT ? ", the mean over those of a side" : "";
    struct gt_str text =
        *sides->unit
            ? gt_arena_printf(arena, "Amounts are %s: %s.%s", sides->unit, counts_of(sides, arena).ptr, warm_up)
            : gt_arena_printf(arena, "Amounts are of whole captures%s.%s%s", mean, warm_up, sides->why);
    if (sides->is_named)
        text =
            gt_arena_printf(arena, "%s A is %s, B is %s.", text.ptr, sides->names[GT_SIDE_A], sides->names[GT_SIDE_B]);
    gt_section_note(section, GT_FOR_ALL, text);
}

/* ---- how rows were matched ---- */

void gt_diff_note_matches(const struct gt_diff_sides *sides, struct gt_section *section,
                          const struct gt_diff_counts *counts) {
    struct gt_arena *arena = &section->report->arena;
    static const char *const words[GT_MATCH_COUNT] = {[GT_MATCH_EXACT] = "by name",
                                                      [GT_MATCH_SHORT] = "by simplified name",
                                                      [GT_MATCH_SIMILAR] = "by similar name",
                                                      [GT_MATCH_CATEGORY] = "by category"};
    struct gt_str text = {"", 0};
    for (size_t m = 0; m < GT_MATCH_COUNT; m++)
        if (words[m] && counts->by_match[m])
            text = gt_arena_printf(arena, "%s%s%zu %s", text.ptr, text.len ? ", " : "", counts->by_match[m], words[m]);
    gt_section_note(section, GT_FOR_ALL,
                    gt_arena_printf(arena, "Kernels matched: %s; %zu only in %s, %zu only in %s.",
                                    text.len ? text.ptr : "none", counts->only[GT_SIDE_A], sides->names[GT_SIDE_A],
                                    counts->only[GT_SIDE_B], sides->names[GT_SIDE_B]));
}

/* ---- tables without news ---- */

static bool has_status(const struct gt_table *table, size_t row, const char *status) {
    return gt_str_eq(gt_table_text(table, row, "status"), gt_str_of(status));
}

enum news { NEWS, NO_CHANGE, ONE_SIDED, NEWS_COUNT };

/* Nothing in it is beyond the noise, or one side tells nothing of it. What the first sentence is made from is shown for
   its noise too. */
static enum news news_of(const struct gt_table *table) {
    static const char *const told[] = GT_DIFF_TOLD_TABLES;
    size_t total = table->total_rows > table->row_count ? table->total_rows : table->row_count;
    size_t rows = total - table->blank_rows < table->row_count ? total - table->blank_rows : table->row_count;
    size_t unchanged = 0, unknown = 0;
    bool is_told = false;
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        is_told |= strcmp(told[i], table->key) == 0;
    for (size_t row = 0; row < rows; row++) {
        unchanged += has_status(table, row, "same") || (!is_told && has_status(table, row, "noise"));
        unknown += has_status(table, row, "unknown");
    }
    if (!rows || table->keeps_order || gt_table_column(table, "status") == SIZE_MAX)
        return NEWS;
    return unchanged == rows ? NO_CHANGE : unknown == rows ? ONE_SIDED : NEWS;
}

void gt_diff_hide_tables(const struct gt_diff_sides *sides, struct gt_section *section) {
    static const struct {
        const char *text;
        uint32_t audience;
    } sentences[NEWS_COUNT] = {[NO_CHANGE] = {"No change beyond the noise in: %s.", GT_FOR_ALL},
                               [ONE_SIDED] = {"Only one side can tell: %s.", GT_FOR_SCREEN}};
    struct gt_arena *arena = &section->report->arena;
    struct gt_str titles[NEWS_COUNT] = {{"", 0}, {"", 0}, {"", 0}};
    if (sides->is_chosen) /* tables that were asked for are shown in any case */
        return;
    for (size_t b = 0; b < section->block_count; b++) {
        struct gt_block *block = &section->blocks[b];
        bool is_shown = block->kind == GT_BLOCK_TABLE && (block->audience & GT_FOR_SCREEN);
        enum news news = is_shown ? news_of(block->table) : NEWS;
        if (news == NEWS)
            continue;
        block->audience &= ~(uint32_t)GT_FOR_SCREEN;
        titles[news] =
            gt_arena_printf(arena, "%s%s%s", titles[news].ptr, titles[news].len ? "; " : "", block->table->title);
    }
    for (size_t news = NO_CHANGE; news < NEWS_COUNT; news++)
        if (titles[news].len)
            gt_section_note(section, sentences[news].audience,
                            gt_arena_printf(arena, sentences[news].text, titles[news].ptr));
}

/* ---- what was lost ---- */

void gt_diff_note_losses(const struct gt_diff_sides *sides, struct gt_section *section) {
    struct gt_arena *arena = &section->report->arena;
    for (size_t i = 0; i < sides->capture_count; i++) {
        const struct gt_section *from = gt_capture_section(sides, i);
        struct gt_str ids = {"", 0};
        for (size_t k = 0; k < from->issue_count; k++)
            if (from->issues[k].is_loss)
                ids = gt_arena_printf(arena, "%s%s%s", ids.ptr, ids.len ? ", " : "", from->issues[k].id);
        if (ids.len)
            gt_section_note(section, GT_FOR_ALL,
                            gt_arena_printf(arena,
                                            "Not read whole: %s, '%.*s' (%s). Differences may come from what is lost.",
                                            sides->names[gt_capture_side(sides, i)], (int)from->input.label.len,
                                            from->input.label.ptr, ids.ptr));
    }
}

/* ---- captures of different work ---- */

static const double same_factor = 0.05; /* factors that differ by less are one */

static bool is_near(double factor, double other) {
    return fabs(factor - other) <= same_factor * other;
}

/* How often B has what a row counts for once in A; NAN: one of them does not have it. */
static double factor_of(const struct gt_table *table, size_t row, const char *count) {
    char a[64], b[64];
    snprintf(a, sizeof a, "a_%s", count);
    snprintf(b, sizeof b, "b_%s", count);
    double of_a = gt_table_number(table, row, a), of_b = gt_table_number(table, row, b);
    return of_a > 0 && of_b > 0 ? of_b / of_a : NAN;
}

static int compare_reals(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The factor by which most kernels are launched more often in B, if it is one for most names and most launches. */
struct common {
    double factor; /* NAN: there is none */
    size_t names, of_names;
};

static struct common common_factor(const struct gt_table *kernels) {
    struct common common = {.factor = NAN};
    double *factors = gt_mem_array(kernels->row_count + 1, sizeof *factors), launches = 0, of_launches = 0;
    for (size_t row = 0; factors && row < kernels->row_count; row++) {
        double factor = factor_of(kernels, row, "count");
        of_launches += fmax(0, gt_table_number(kernels, row, "a_count"));
        if (!isnan(factor))
            factors[common.of_names++] = factor;
    }
    if (common.of_names) {
        qsort(factors, common.of_names, sizeof *factors, compare_reals);
        common.factor = factors[common.of_names / 2];
    }
    gt_mem_free(factors);
    for (size_t row = 0; common.of_names && row < kernels->row_count; row++)
        if (is_near(factor_of(kernels, row, "count"), common.factor)) {
            common.names++;
            launches += gt_table_number(kernels, row, "a_count");
        }
    if (is_near(common.factor, 1) || 2 * common.names <= common.of_names || 2 * launches <= of_launches)
        common.factor = NAN;
    return common;
}

/* What to compare by instead: the steps, or the range with the most time, that there is more of by the same factor. */
static struct gt_str advised_unit(const struct gt_table *measures, const struct gt_table *ranges, double factor,
                                  struct gt_arena *arena) {
    size_t best = SIZE_MAX;
    double most_ns = -1;
    for (size_t row = 0; measures && row < measures->row_count; row++)
        if (gt_str_eq(gt_table_text(measures, row, "measure"), GT_STR("step")) &&
            is_near(factor_of(measures, row, "count"), factor))
            return GT_STR("step");
    for (size_t row = 0; ranges && row < ranges->row_count; row++) {
        double time_ns = gt_table_number(ranges, row, "a_projected_ns");
        bool is_same = gt_str_eq(gt_table_text(ranges, row, "match"), gt_str_of(gt_match_names[GT_MATCH_EXACT]));
        if (is_same && is_near(factor_of(ranges, row, "instances"), factor) && time_ns > most_ns) {
            best = row;
            most_ns = time_ns;
        }
    }
    if (best == SIZE_MAX)
        return GT_STR("launch");
    struct gt_str name = gt_table_text(ranges, best, "name");
    return gt_arena_printf(arena, "range '%.*s'", (int)name.len, name.ptr);
}

void gt_diff_note_work(const struct gt_diff_sides *sides, struct gt_section *section, const struct gt_table *measures,
                       const struct gt_table *kernels, const struct gt_table *ranges) {
    struct gt_arena *arena = &section->report->arena;
    struct common common = kernels ? common_factor(kernels) : (struct common){.factor = NAN};
    if (isnan(common.factor))
        return;
    struct gt_str unit = advised_unit(measures, ranges, common.factor, arena);
    gt_section_note(section, GT_FOR_ALL,
                    gt_arena_printf(arena,
                                    "Different amounts of work? %zu of the %zu kernels that both have are launched "
                                    "%.3g times as often in %s as in %s; --per %.*s compares like with like.",
                                    common.names, common.of_names, common.factor, sides->names[GT_SIDE_B],
                                    sides->names[GT_SIDE_A], (int)unit.len, unit.ptr));
}

/* ---- graphs ---- */

static bool has_whole_graphs(const struct gt_report *report) {
    for (size_t s = 0; s < report->section_count; s++)
        for (size_t i = 0; i < report->sections[s].issue_count; i++)
            if (strcmp(report->sections[s].issues[i].id, "graph_whole") == 0)
                return true;
    return false;
}

void gt_diff_note_graphs(const struct gt_diff_sides *sides, struct gt_section *section) {
    bool of_a = has_whole_graphs(sides->reports[GT_SIDE_A]), of_b = has_whole_graphs(sides->reports[GT_SIDE_B]);
    if (of_a == of_b)
        return;
    const char *whole = sides->names[of_a ? GT_SIDE_A : GT_SIDE_B], *other = sides->names[of_a ? GT_SIDE_B : GT_SIDE_A];
    gt_section_note(section, GT_FOR_ALL,
                    gt_arena_printf(&section->report->arena,
                                    "CUDA graphs of %s were traced as a whole, without the kernels inside, and %s "
                                    "has none such: kernels and categories do not compare. Trace both with "
                                    "--cuda-graph-trace=node.",
                                    whole, other));
}
