/* How the rows of a comparison were matched: sentences below its tables. */
#include <string.h>

#include "compare/join.h"

enum { TOLD_ROWS = 3, LONGEST_NAME = 64 };

void gt_join_note_matches(const struct gt_compare_sides *sides, struct gt_section *section, const char *title,
                          const struct gt_join_counts *counts) {
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
                    gt_arena_printf(arena, "%s matched: %s; %zu only in %s, %zu only in %s.", title,
                                    text.len ? text.ptr : "none", counts->only[GT_SIDE_A], sides->names[GT_SIDE_A],
                                    counts->only[GT_SIDE_B], sides->names[GT_SIDE_B]));
}

/* ---- names in joined rows ---- */

static struct gt_str text_at(const struct gt_table *table, size_t row, size_t column) {
    return gt_cell_as_text(&table->cells[row * table->column_count + column]);
}

/* The shown column of those with names; SIZE_MAX: there is none. */
static size_t name_column(const struct gt_table *table) {
    for (size_t c = 0; c < table->column_count; c++)
        if ((table->columns[c].flags & GT_COLUMN_NAME) && !(table->columns[c].flags & GT_COLUMN_DETAIL))
            return c;
    return SIZE_MAX;
}

/* Kernel names with the same simplified name differ after it; the return type and namespaces before it are omitted. */
static struct gt_str without_head(struct gt_str name, struct gt_str label) {
    struct gt_str word = {label.ptr, 0};
    while (word.len < label.len && label.ptr[word.len] != ' ')
        word.len++;
    const char *found = word.len ? gt_str_find_nocase(name, word) : NULL;
    return found ? (struct gt_str){found, name.len - (size_t)(found - name.ptr)} : name;
}

static struct gt_str quoted(struct gt_arena *arena, struct gt_str name, struct gt_str label, bool has_head) {
    struct gt_str whole = has_head ? without_head(name, label) : name, kept = gt_str_cut(whole, LONGEST_NAME);
    return gt_arena_printf(arena, "'%.*s%s'", (int)kept.len, kept.ptr, kept.len < whole.len ? "..." : "");
}

/* "gemm (2 -> 3 names): the largest is 'x' in A, 'y' in B." */
void gt_join_note_members(const struct gt_compare_sides *sides, struct gt_section *section,
                          const struct gt_table *table) {
    struct gt_arena *arena = &section->report->arena;
    size_t name = name_column(table), match = gt_table_column(table, "match"), noted = 0;
    if (name == SIZE_MAX)
        return;
    size_t of_a = gt_table_column_named(table, gt_arena_printf(arena, "a_%s", table->columns[name].key));
    size_t of_b = gt_table_column_named(table, gt_arena_printf(arena, "b_%s", table->columns[name].key));
    if (of_a == SIZE_MAX || of_b == SIZE_MAX || match == SIZE_MAX)
        return;
    size_t shown = table->screen_limit ? table->screen_limit : table->row_count;
    for (size_t row = 0; row < table->row_count && row < shown && noted < TOLD_ROWS; row++) {
        struct gt_str label = text_at(table, row, name), a = text_at(table, row, of_a), b = text_at(table, row, of_b);
        struct gt_str how = text_at(table, row, match);
        bool is_simplified = gt_str_eq(how, gt_str_of(gt_match_names[GT_MATCH_SHORT]));
        if (!a.len || !b.len || gt_str_eq(how, gt_str_of(gt_match_names[GT_MATCH_EXACT])))
            continue;
        gt_section_note(section, GT_FOR_SCREEN, /* data and pages have columns for it */
                        gt_arena_printf(arena, "%.*s: the largest is %s in %s, %s in %s.", (int)label.len, label.ptr,
                                        quoted(arena, a, label, is_simplified).ptr, sides->names[GT_SIDE_A],
                                        quoted(arena, b, label, is_simplified).ptr, sides->names[GT_SIDE_B]));
        noted++;
    }
}
