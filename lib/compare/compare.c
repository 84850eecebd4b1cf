/* Compares two reports: joins their tables one by one, then adds the captures. */
#include "compare/compare.h"

#include <math.h>
#include <string.h>

#include "compare/join.h"

static const struct gt_compare_options automatic;

/* The section of the comparison. */
struct work {
    const struct gt_compare_sides *sides;
    struct gt_section *section;
    const char *wanted; /* comma-separated keys; NULL: all */
};

static bool is_listed(const char *list, const char *key) {
    struct gt_str rest = gt_str_of(list), item;
    while (gt_str_next_item(&rest, &item))
        if (gt_str_eq(item, gt_str_of(key)))
            return true;
    return !list;
}

/* ---- tables ---- */

/* The audiences of the table in any capture. */
static uint32_t audience_of(const struct gt_compare_sides *sides, const char *key) {
    uint32_t audience = 0;
    for (size_t i = 0; i < sides->capture_count; i++) {
        const struct gt_section *from = gt_compare_section(sides, i);
        for (size_t b = 0; b < from->block_count; b++)
            if (from->blocks[b].kind == GT_BLOCK_TABLE && strcmp(from->blocks[b].table->key, key) == 0)
                audience |= from->blocks[b].audience;
    }
    return audience;
}

/* Whether its rows are GPU work, for which the report says how they were matched. */
static bool is_work(const struct gt_roles *roles, const char *key) {
    for (size_t i = 0; i < roles->divisor_count; i++)
        if (roles->divisors[i].rows == GT_DIVISOR_WORK && strcmp(roles->divisors[i].table, key) == 0)
            return true;
    return false;
}

/* Whether sentences are made from it; then it is compared, shown or not. */
static bool is_in_words(const struct gt_roles *roles, const struct gt_table *table) {
    bool is_one = gt_table_column_flagged(table, GT_COLUMN_PART) != SIZE_MAX;
    for (size_t i = 0; i < roles->divisor_count; i++)
        is_one |= strcmp(roles->divisors[i].table, table->key) == 0;
    return is_one;
}

static enum gt_status compare_table(struct work *work, const struct gt_table *of_capture, struct gt_error *err) {
    const char *key = of_capture->key;
    const struct gt_roles *roles = work->sides->roles;
    if (!is_listed(work->wanted, key) && !is_in_words(roles, of_capture))
        return GT_OK;
    struct gt_join join;
    struct gt_join_counts counts;
    struct gt_table *table = NULL;
    if (gt_join_init(&join, work->sides, key) && gt_join_match(&join))
        table = gt_join_add_table(&join, work->section, &counts);
    bool failed = join.failed || gt_arena_failed(&work->section->report->arena);
    gt_join_release(&join);
    if (failed)
        return gt_fail_memory(err);
    if (!table)
        return GT_OK;
    size_t table_block = work->section->block_count - 1;
    struct gt_block *block = &work->section->blocks[table_block];
    if (!work->wanted)
        block->audience &= audience_of(work->sides, key);
    if (!is_listed(work->wanted, key))
        block->audience = 0; /* only for the sentences */
    else if (counts.changed && is_work(roles, key))
        gt_join_note_matches(work->sides, work->section, table->shape->title, &counts);
    if (counts.changed && (work->section->blocks[table_block].audience & GT_FOR_SCREEN))
        gt_join_note_members(work->sides, work->section, table);
    return GT_OK;
}

/* Every key once, in the order of the first capture that has it. */
static enum gt_status compare_tables(struct work *work, struct gt_error *err) {
    enum gt_status status = GT_OK;
    for (size_t i = 0; i < work->sides->capture_count; i++) {
        const struct gt_section *from = gt_compare_section(work->sides, i);
        for (size_t b = 0; b < from->block_count && status == GT_OK; b++) {
            bool is_table = from->blocks[b].kind == GT_BLOCK_TABLE;
            if (is_table && !gt_section_find(work->section, from->blocks[b].table->key))
                status = compare_table(work, from->blocks[b].table, err);
        }
    }
    return status;
}

/* ---- reading ---- */

static size_t find_prefixed(const struct gt_table *table, const char *prefix, const char *key) {
    size_t bytes = strlen(prefix);
    for (size_t c = 0; c < table->column_count; c++)
        if (strncmp(table->columns[c].key, prefix, bytes) == 0 && strcmp(table->columns[c].key + bytes, key) == 0)
            return c;
    return SIZE_MAX;
}

struct gt_compare_columns gt_compare_find_columns(const struct gt_table *table, size_t column) {
    if (column == SIZE_MAX)
        return (struct gt_compare_columns){SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX};
    const char *key = table->shape->columns[column].key;
    return (struct gt_compare_columns){.a = find_prefixed(table, "a_", key),
                                       .b = find_prefixed(table, "b_", key),
                                       .delta = find_prefixed(table, "delta_", key),
                                       .noise = find_prefixed(table, "noise_", key)};
}

struct gt_compare_columns gt_compare_find_amount(const struct gt_table *table, uint32_t flag) {
    return gt_compare_find_columns(table, gt_table_column_flagged(table->shape, flag));
}

double gt_compare_number(const struct gt_table *table, size_t row, size_t column) {
    return column == SIZE_MAX ? NAN : gt_cell_as_number(&table->cells[row * table->column_count + column]);
}

/* ---- sections ---- */

/* "runs/a/trace.json": as much of the path as distinguishes it from the other. */
static struct gt_str distinct_tail(struct gt_str path, struct gt_str other) {
    size_t parts = 1;
    while (!gt_str_eq(path, other) && gt_str_eq(gt_str_path_tail(path, parts), gt_str_path_tail(other, parts)))
        parts++;
    return gt_str_path_tail(path, parts);
}

static struct gt_str side_name(const struct gt_compare_sides *sides, enum gt_side side, struct gt_arena *arena) {
    const struct gt_report_input *input = &sides->reports[side]->sections[0].input;
    const struct gt_report_input *other = &sides->reports[!side]->sections[0].input;
    size_t count = sides->reports[side]->section_count;
    if (count > 1)
        return sides->is_named ? gt_arena_printf(arena, "%s (%zu captures)", sides->names[side], count)
                               : gt_arena_printf(arena, "%zu captures", count);
    if (!gt_str_eq(input->label, other->label))
        return input->label;
    struct gt_str tail = distinct_tail(input->path, other->path); /* nothing, where the folder of a job is hidden */
    return tail.len ? tail : gt_arena_printf(arena, "input %d", side == GT_SIDE_A ? 1 : 2);
}

static void describe_comparison(const struct gt_compare_sides *sides, struct gt_report *report) {
    struct gt_arena *arena = &report->arena;
    struct gt_str of_a = side_name(sides, GT_SIDE_A, arena), of_b = side_name(sides, GT_SIDE_B, arena);
    report->main_table = sides->roles->measures;
    report->roles = sides->roles;
    report->sections[0].input.format = "comparison";
    report->sections[0].input.label =
        gt_arena_printf(arena, "%.*s -> %.*s", (int)of_a.len, of_a.ptr, (int)of_b.len, of_b.ptr);
    gt_compare_describe_captures(sides, report);
}

/* A requested table must be comparable if any capture has it. */
static enum gt_status check_wanted(const struct work *work, struct gt_error *err) {
    struct gt_str rest = gt_str_of(work->wanted), key;
    while (rest.len && gt_str_next_item(&rest, &key)) {
        bool is_there = false;
        for (size_t i = 0; i < work->sides->capture_count; i++)
            is_there |= gt_section_find_named(gt_compare_section(work->sides, i), key) != NULL;
        if (is_there && !gt_section_find_named(work->section, key))
            return gt_fail_usage(err, "table '%.*s' has nothing to compare", (int)key.len, key.ptr);
        if (!is_there)
            gt_section_note(work->section, GT_FOR_ALL,
                            gt_arena_printf(&work->section->report->arena, "Neither trace has a table %.*s.",
                                            (int)key.len, key.ptr));
    }
    return GT_OK;
}

static enum gt_status fill(struct gt_report *report, const struct gt_report *all_a, const struct gt_report *all_b,
                           const struct gt_compare_options *options, struct gt_error *err) {
    struct gt_section *section = &report->sections[0];
    const struct gt_report *a = gt_compare_choose(all_a, &report->arena), *b = gt_compare_choose(all_b, &report->arena);
    if (!a || !b)
        return gt_fail_memory(err);
    struct gt_compare_sides *sides = gt_arena_alloc(&report->arena, sizeof *sides);
    if (!sides)
        return gt_fail_memory(err);
    report->sides = sides;
    report->section_count = 1 + a->section_count + b->section_count;
    struct work work = {.sides = sides, .section = section, .wanted = options->tables};
    enum gt_status status = gt_compare_sides_init(sides, a, b, options, &report->arena, err);
    if (status == GT_OK) {
        describe_comparison(sides, report);
        gt_compare_note_left_out(all_a, sides->names[GT_SIDE_A], section);
        gt_compare_note_left_out(all_b, sides->names[GT_SIDE_B], section);
        status = compare_tables(&work, err);
    }
    if (status == GT_OK)
        status = check_wanted(&work, err);
    if (status != GT_OK)
        return status;
    return gt_report_status(report, err);
}

enum gt_status gt_compare_new(const struct gt_report *a, const struct gt_report *b,
                              const struct gt_compare_options *options, struct gt_report **out, struct gt_error *err) {
    *out = NULL;
    if (a->section_count == 0 || b->section_count == 0)
        return gt_fail_usage(err, "a comparison needs a capture on each side");
    struct gt_report *report = gt_report_new("diff", 1 + a->section_count + b->section_count);
    if (!report)
        return gt_fail_memory(err);
    enum gt_status status = fill(report, a, b, options ? options : &automatic, err);
    if (status == GT_OK)
        *out = report;
    else
        gt_report_free(report);
    return status;
}
