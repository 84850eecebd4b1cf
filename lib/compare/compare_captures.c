/* The captures of a comparison: a section for each; for more than two, text and Markdown have a table of them and print
 * what they have in common once. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "compare/compare.h"
#include "report/row.h"

/* ---- one by one ---- */

/* What it is, its facts, its problems. */
static void describe_capture(const struct gt_section *from, const char *side, struct gt_section *to) {
    struct gt_arena *arena = &to->report->arena;
    to->input = from->input;
    to->input.label = gt_arena_printf(arena, "%s: %.*s", side, (int)from->input.label.len, from->input.label.ptr);
    for (size_t b = 0; b < from->block_count; b++) {
        const struct gt_block *block = &from->blocks[b];
        if (block->kind == GT_BLOCK_NOTE && block->is_loss)
            gt_section_note_loss(to, block->note);
        else if (block->kind == GT_BLOCK_NOTE && block->is_warning)
            gt_section_note_warning(to, block->audience, block->note);
        else if (block->kind == GT_BLOCK_NOTE)
            gt_section_note(to, block->audience, block->note);
        if (block->kind != GT_BLOCK_FACTS)
            continue;
        struct gt_block *facts = gt_section_facts(to, block->title);
        facts->audience = block->audience & ~(uint32_t)GT_FOR_SCREEN;
        for (size_t f = 0; f < block->fact_count; f++)
            gt_section_add_fact(to, facts, block->facts[f].key, block->facts[f].title, block->facts[f].unit,
                                block->facts[f].value);
    }
    for (size_t i = 0; i < from->issue_count; i++) {
        struct gt_report_issue issue = from->issues[i];
        issue.mark = gt_arena_copy(arena, issue.mark);
        gt_section_issue(to, &issue);
    }
}

void gt_compare_describe_captures(const struct gt_compare_sides *sides, struct gt_report *report) {
    for (size_t i = 0; i < sides->capture_count; i++) {
        describe_capture(gt_compare_section(sides, i), sides->names[gt_compare_side(sides, i)],
                         &report->sections[1 + i]);
        report->sections[1 + i].is_shown_elsewhere = sides->capture_count > GT_SIDE_COUNT;
    }
}

/* ---- all together ---- */

static const struct gt_report_column own_columns[] = {
    {"side", "Side", GT_UNIT_NONE, NULL, 0},
    {"capture", "Capture", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
    {"ops", "GPU ops", GT_UNIT_COUNT, NULL, 0},
};
enum { OWN_COLUMNS = sizeof own_columns / sizeof *own_columns };

/* After its own columns, the facts that the roles name. */
static void add_table(const struct gt_compare_sides *sides, struct gt_section *section) {
    const struct gt_roles *roles = sides->roles;
    size_t column_count = OWN_COLUMNS + roles->capture_fact_count;
    struct gt_report_column *columns = gt_arena_array(&section->report->arena, column_count, sizeof *columns);
    if (!columns)
        return;
    memcpy(columns, own_columns, sizeof own_columns);
    for (size_t i = 0; i < roles->capture_fact_count; i++)
        columns[OWN_COLUMNS + i] = roles->capture_facts[i];
    struct gt_table *table = gt_section_table(section, "captures", "Captures", columns, column_count);
    section->blocks[section->block_count - 1].audience = GT_FOR_SCREEN;
    for (size_t i = 0; i < sides->capture_count; i++) {
        const struct gt_section *from = gt_compare_section(sides, i);
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "side", gt_str_of(sides->names[gt_compare_side(sides, i)]));
        gt_row_text(&row, "capture", from->input.label);
        gt_row_int(&row, "ops", (int64_t)from->input.ops);
        for (size_t f = 0; f < roles->capture_fact_count; f++) {
            const char *key = roles->capture_facts[f].key;
            gt_row_cell(&row, key, gt_section_fact(from, gt_str_of(key)));
        }
        gt_row_end(&row);
    }
}

/* A sentence that one or several captures have, possibly with different numbers. */
struct remark {
    struct gt_str text; /* of the first */
    size_t first;       /* capture */
    size_t captures, last;
    uint64_t count; /* of an issue: in all captures */
    bool differs;
};

struct remarks {
    struct remark *items;
    size_t count, capacity;
};

static struct gt_str without_number(struct gt_str text) {
    while (text.len && (isdigit((unsigned char)text.ptr[0]) || text.ptr[0] == '.' || text.ptr[0] == ','))
        text = (struct gt_str){text.ptr + 1, text.len - 1};
    return text;
}

/* Equal except for numbers. */
static bool is_alike(struct gt_str a, struct gt_str b) {
    while (a.len && b.len) {
        if (isdigit((unsigned char)a.ptr[0]) && isdigit((unsigned char)b.ptr[0])) {
            a = without_number(a);
            b = without_number(b);
            continue;
        }
        if (a.ptr[0] != b.ptr[0])
            return false;
        a = (struct gt_str){a.ptr + 1, a.len - 1};
        b = (struct gt_str){b.ptr + 1, b.len - 1};
    }
    return a.len == b.len;
}

static void add_remark(struct remarks *remarks, struct gt_report *report, struct gt_str text, size_t capture,
                       uint64_t count) {
    for (size_t i = 0; i < remarks->count; i++) {
        struct remark *known = &remarks->items[i];
        if (!is_alike(known->text, text))
            continue;
        known->captures += known->last != capture;
        known->last = capture;
        known->differs |= !gt_str_eq(known->text, text);
        known->count = known->count + count < count ? UINT64_MAX : known->count + count;
        return;
    }
    struct remark *room =
        gt_arena_room(&report->arena, remarks->items, remarks->count, &remarks->capacity, sizeof *remarks->items);
    if (!room)
        return;
    remarks->items = room;
    remarks->items[remarks->count++] =
        (struct remark){.text = text, .first = capture, .captures = 1, .last = capture, .count = count};
}

/* Notes for the screen only summarize numbers of a capture that are in the table. */
static void collect_notes(const struct gt_compare_sides *sides, struct gt_report *report, struct remarks *notes) {
    for (size_t i = 0; i < sides->capture_count; i++) {
        const struct gt_section *from = gt_compare_section(sides, i);
        for (size_t b = 0; b < from->block_count; b++) {
            const struct gt_block *block = &from->blocks[b];
            if (block->kind == GT_BLOCK_NOTE && (block->audience & GT_FOR_SCREEN) && block->audience != GT_FOR_SCREEN)
                add_remark(notes, report, block->note, i, 0);
        }
    }
}

static void collect_issues(const struct gt_compare_sides *sides, struct gt_report *report, struct remarks *issues) {
    for (size_t i = 0; i < sides->capture_count; i++) {
        const struct gt_section *from = gt_compare_section(sides, i);
        for (size_t k = 0; k < from->issue_count; k++) {
            const struct gt_report_issue *issue = &from->issues[k];
            struct gt_str text = gt_arena_printf(&report->arena, "%s: %s%s", issue->id,
                                                 issue->is_loss ? "lost data: " : "", issue->help ? issue->help : "");
            add_remark(issues, report, text, i, issue->count);
        }
    }
}

/* "all 20 captures", "3 of 20 captures", "A: a1.json". */
static struct gt_str whose(const struct gt_compare_sides *sides, const struct remark *remark, struct gt_arena *arena) {
    const struct gt_section *first = gt_compare_section(sides, remark->first);
    if (remark->captures == sides->capture_count)
        return gt_arena_printf(arena, "all %zu captures", remark->captures);
    if (remark->captures > 1)
        return gt_arena_printf(arena, "%zu of %zu captures", remark->captures, sides->capture_count);
    return gt_arena_printf(arena, "%s: %.*s", sides->names[gt_compare_side(sides, remark->first)],
                           (int)first->input.label.len, first->input.label.ptr);
}

void gt_compare_list_captures(const struct gt_compare_sides *sides, struct gt_section *section) {
    struct gt_report *report = section->report;
    struct gt_arena *arena = &report->arena;
    struct remarks notes = {0}, issues = {0};
    if (sides->capture_count <= GT_SIDE_COUNT)
        return;
    add_table(sides, section);
    collect_notes(sides, report, &notes);
    collect_issues(sides, report, &issues);
    for (size_t i = 0; i < notes.count; i++) {
        const struct remark *note = &notes.items[i];
        gt_section_note(section, GT_FOR_SCREEN,
                        gt_arena_printf(arena, "Of %s%s: %.*s", whose(sides, note, arena).ptr,
                                        note->differs ? ", the first of them" : "", (int)note->text.len,
                                        note->text.ptr));
    }
    for (size_t i = 0; i < issues.count; i++) {
        char count[GT_NUM_MAX];
        uint64_t number = issues.items[i].count;
        gt_num_format_grouped(count, number > INT64_MAX ? INT64_MAX : (int64_t)number);
        gt_section_note(section, GT_FOR_SCREEN,
                        gt_arena_printf(arena, "Trace health of %s: %s %.*s.",
                                        whose(sides, &issues.items[i], arena).ptr, count, (int)issues.items[i].text.len,
                                        issues.items[i].text.ptr));
    }
}
