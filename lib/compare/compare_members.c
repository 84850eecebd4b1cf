/* Names what is inside the rows of a comparison that join several names: a finished table in, sentences out. */
#include <string.h>

#include "compare/join.h"

enum { TOLD_ROWS = 3, LONGEST_NAME = 64 };

static struct gt_str text_at(const struct gt_table *table, size_t row, size_t column) {
    const struct gt_cell *cell = &table->cells[row * table->column_count + column];
    return cell->type == GPUTIME_CELL_TEXT ? (struct gt_str){cell->text, cell->text_bytes} : (struct gt_str){0};
}

/* The column that is shown of those that hold names; SIZE_MAX: there is none. */
static size_t name_column(const struct gt_table *table) {
    for (size_t c = 0; c < table->column_count; c++)
        if ((table->columns[c].flags & GT_COLUMN_NAME) && !(table->columns[c].flags & GT_COLUMN_DETAIL))
            return c;
    return SIZE_MAX;
}

/* Names of kernels that are simplified to the same word differ behind it; return type and namespaces before it tell
   nothing. */
static struct gt_str without_head(struct gt_str name, struct gt_str label) {
    struct gt_str word = {label.ptr, 0};
    while (word.len < label.len && label.ptr[word.len] != ' ')
        word.len++;
    const char *found = word.len ? gt_str_find_nocase(name, word) : NULL;
    return found ? (struct gt_str){found, name.len - (size_t)(found - name.ptr)} : name;
}

static struct gt_str told(struct gt_arena *arena, struct gt_str name, struct gt_str label, bool has_head) {
    struct gt_str whole = has_head ? without_head(name, label) : name, kept = gt_str_cut(whole, LONGEST_NAME);
    return gt_arena_printf(arena, "'%.*s%s'", (int)kept.len, kept.ptr, kept.len < whole.len ? "..." : "");
}

/* "gemm (2 -> 3 names): the largest is 'x' in A, 'y' in B." */
void gt_diff_note_members(const struct gt_diff_sides *sides, struct gt_section *section, const struct gt_table *table) {
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
                                        told(arena, a, label, is_simplified).ptr, sides->names[GT_SIDE_A],
                                        told(arena, b, label, is_simplified).ptr, sides->names[GT_SIDE_B]));
        noted++;
    }
}
