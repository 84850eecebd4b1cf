/* The comparison of two reports: the tables of both joined one after the other, the words on top, then the captures. */
#include "report/diff.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "report/diff_parts.h"

static const struct gputime_diff_options automatic;

/* The sections of what is compared, and the tables the words are made from. */
struct work {
    const struct gt_diff_sides *sides;
    struct gt_section *section;
    const char *wanted; /* comma-separated keys; NULL: all */
    struct gt_str unchanged;
    struct {
        const char *key;
        const struct gt_table *table;
    } told[4];
};

static bool is_listed(const char *list, const char *key) {
    struct gt_str rest = gt_str_of(list), item;
    while (gt_columns_next(&rest, &item))
        if (gt_str_eq(item, gt_str_of(key)))
            return true;
    return !list;
}

/* ---- tables ---- */

/* "Kernels matched: 60 by name, 3 by similar name; 1 only in A, 0 only in B." */
static void note_matches(struct work *work, const struct gt_diff_counts *counts) {
    struct gt_arena *arena = &work->section->report->arena;
    static const char *const words[GT_MATCH_COUNT] = {[GT_MATCH_EXACT] = "by name",
                                                      [GT_MATCH_SHORT] = "by simplified name",
                                                      [GT_MATCH_SIMILAR] = "by similar name",
                                                      [GT_MATCH_CATEGORY] = "by category"};
    struct gt_str text = {"", 0};
    for (size_t m = 0; m < GT_MATCH_COUNT; m++)
        if (words[m] && counts->by_match[m])
            text = gt_arena_printf(arena, "%s%s%zu %s", text.ptr, text.len ? ", " : "", counts->by_match[m], words[m]);
    gt_section_note(work->section, GT_FOR_ALL,
                    gt_arena_printf(arena, "Kernels matched: %s; %zu only in A, %zu only in B.",
                                    text.len ? text.ptr : "none", counts->only[GT_SIDE_A], counts->only[GT_SIDE_B]));
}

static void note_unchanged(struct work *work, const char *key, const struct gt_diff_counts *counts) {
    work->unchanged = gt_arena_printf(&work->section->report->arena, "%s%s%s (%zu)", work->unchanged.ptr,
                                      work->unchanged.len ? ", " : "", key, counts->rows);
}

/* Who any capture shows the table to. */
static uint32_t audience_of(const struct gt_diff_sides *sides, const char *key) {
    uint32_t audience = 0;
    for (size_t i = 0; i < sides->capture_count; i++) {
        const struct gt_section *from = gt_capture_section(sides, i);
        for (size_t b = 0; b < from->block_count; b++)
            if (from->blocks[b].kind == GT_BLOCK_TABLE && strcmp(from->blocks[b].table->key, key) == 0)
                audience |= from->blocks[b].audience;
    }
    return audience;
}

static bool is_told(const struct work *work, const char *key) {
    bool is_one = false;
    for (size_t i = 0; i < sizeof work->told / sizeof *work->told; i++)
        is_one |= strcmp(work->told[i].key, key) == 0;
    return is_one;
}

static enum gt_status compare_table(struct work *work, const char *key, struct gt_error *err) {
    if (!is_listed(work->wanted, key) && !is_told(work, key))
        return GT_OK;
    struct gt_diff_join join;
    struct gt_diff_counts counts;
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
    if (!is_listed(work->wanted, key)) {
        block->audience = 0; /* only for the words */
    } else if (counts.changed == 0 && !table->keeps_order) {
        block->audience = GT_FOR_DATA | GT_FOR_PAGE;
        if (counts.rows)
            note_unchanged(work, key, &counts);
    } else if (strcmp(key, "kernels") == 0) {
        note_matches(work, &counts);
    }
    if (work->section->blocks[table_block].audience & GT_FOR_SCREEN)
        gt_diff_note_members(work->section, table);
    for (size_t i = 0; i < sizeof work->told / sizeof *work->told; i++)
        if (strcmp(work->told[i].key, key) == 0)
            work->told[i].table = table;
    return GT_OK;
}

/* Every key once, in the order of the first capture that has it. */
static enum gt_status compare_tables(struct work *work, struct gt_error *err) {
    enum gt_status status = GT_OK;
    for (size_t i = 0; i < work->sides->capture_count; i++) {
        const struct gt_section *from = gt_capture_section(work->sides, i);
        for (size_t b = 0; b < from->block_count && status == GT_OK; b++) {
            bool is_table = from->blocks[b].kind == GT_BLOCK_TABLE;
            if (is_table && !gt_section_find(work->section, from->blocks[b].table->key))
                status = compare_table(work, from->blocks[b].table->key, err);
        }
    }
    return status;
}

/* ---- sections ---- */

/* What is to be said of a capture alone: what it is, its facts, its problems. */
static void describe_capture(const struct gt_section *from, const char *side, struct gt_section *to) {
    struct gt_arena *arena = &to->report->arena;
    to->input = from->input;
    to->input.label = gt_arena_printf(arena, "%s: %.*s", side, (int)from->input.label.len, from->input.label.ptr);
    for (size_t b = 0; b < from->block_count; b++) {
        const struct gt_block *block = &from->blocks[b];
        if (block->kind == GT_BLOCK_NOTE)
            gt_section_note(to, block->audience, block->note);
        if (block->kind != GT_BLOCK_FACTS)
            continue;
        struct gt_block *facts = gt_section_facts(to, block->title);
        facts->audience = block->audience & ~(uint32_t)GT_FOR_SCREEN;
        for (size_t f = 0; f < block->fact_count; f++)
            gt_block_fact(to, facts, block->facts[f].key, block->facts[f].title, block->facts[f].unit,
                          block->facts[f].value);
    }
    for (size_t i = 0; i < from->issue_count; i++)
        gt_section_issue(to, &from->issues[i]);
}

/* What a side lacks looks like a change of the program: said before all else. */
static void note_losses(const struct gt_diff_sides *sides, struct gt_section *section) {
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
                                            gt_capture_side(sides, i) == GT_SIDE_A ? "A" : "B",
                                            (int)from->input.label.len, from->input.label.ptr, ids.ptr));
    }
}

static struct gt_str side_name(const struct gt_report *report, struct gt_arena *arena, bool by_path) {
    const struct gt_report_input *input = &report->sections[0].input;
    if (report->section_count > 1)
        return gt_arena_printf(arena, "%zu captures", report->section_count);
    return by_path ? input->path : input->label;
}

static void describe_comparison(const struct gt_report *a, const struct gt_report *b, struct gt_report *report) {
    struct gt_arena *arena = &report->arena;
    bool by_path = gt_str_eq(a->sections[0].input.label, b->sections[0].input.label);
    struct gt_str of_a = side_name(a, arena, by_path), of_b = side_name(b, arena, by_path);
    report->main_table = "measures";
    report->sections[0].input.format = "comparison";
    report->sections[0].input.label =
        gt_arena_printf(arena, "%.*s -> %.*s", (int)of_a.len, of_a.ptr, (int)of_b.len, of_b.ptr);
    for (size_t i = 0; i < a->section_count; i++)
        describe_capture(&a->sections[i], "A", &report->sections[1 + i]);
    for (size_t i = 0; i < b->section_count; i++)
        describe_capture(&b->sections[i], "B", &report->sections[1 + a->section_count + i]);
}

static bool has_table(const struct gt_section *section, struct gt_str key) {
    bool is_there = false;
    for (size_t b = 0; b < section->block_count; b++)
        is_there |= section->blocks[b].table && gt_str_eq(gt_str_of(section->blocks[b].table->key), key);
    return is_there;
}

/* A table that was asked for by name must be one that can be compared, if a capture has it at all. */
static enum gt_status check_wanted(const struct work *work, struct gt_error *err) {
    struct gt_str rest = gt_str_of(work->wanted), key;
    while (rest.len && gt_columns_next(&rest, &key)) {
        bool is_there = false;
        for (size_t i = 0; i < work->sides->capture_count; i++)
            is_there |= has_table(gt_capture_section(work->sides, i), key);
        if (is_there && !has_table(work->section, key))
            return gt_fail_usage(err, "table '%.*s' has nothing to compare", (int)key.len, key.ptr);
        if (!is_there)
            gt_section_note(work->section, GT_FOR_ALL,
                            gt_arena_printf(&work->section->report->arena, "Neither side has a table %.*s.",
                                            (int)key.len, key.ptr));
    }
    return GT_OK;
}

static enum gt_status fill(struct gt_report *report, const struct gt_report *a, const struct gt_report *b,
                           const struct gputime_diff_options *options, struct gt_error *err) {
    struct gt_section *section = &report->sections[0];
    struct gt_diff_sides *sides = gt_arena_alloc(&report->arena, sizeof *sides);
    if (!sides)
        return gt_fail_memory(err);
    report->sides = sides;
    describe_comparison(a, b, report);
    struct work work = {
        .sides = sides,
        .section = section,
        .wanted = options->tables,
        .unchanged = {"", 0},
        .told = {{.key = "measures"}, {.key = "categories"}, {.key = "idle_causes"}, {.key = "idle_work"}}};
    enum gt_status status = gt_diff_sides_init(sides, a, b, options, section, err);
    if (status == GT_OK)
        status = compare_tables(&work, err);
    if (status == GT_OK)
        status = check_wanted(&work, err);
    if (status != GT_OK)
        return status;
    size_t tables = section->block_count;
    note_losses(sides, section);
    gt_diff_add_words(sides, section, work.told[0].table, work.told[1].table, work.told[2].table, work.told[3].table);
    gt_section_bring_first(section, section->block_count - tables);
    if (work.unchanged.len)
        gt_section_note(section, GT_FOR_ALL,
                        gt_arena_printf(&report->arena, "No change beyond the noise in: %s.", work.unchanged.ptr));
    return gt_arena_failed(&report->arena) ? gt_fail_memory(err) : GT_OK;
}

enum gt_status gt_diff_new(const struct gt_report *a, const struct gt_report *b,
                           const struct gputime_diff_options *options, struct gt_report **out, struct gt_error *err) {
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
