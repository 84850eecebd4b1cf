/* The report on a terminal: one part for each input, facts in aligned lines, tables, and the health of the trace. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "write/cell_format.h"
#include "write/screen.h"
#include "write/text_findings.h"
#include "write/text_table.h"
#include "write/writer.h"

#define FACT_COLUMNS 3
#define FACT_GAP     4 /* between columns of facts */
#define FACT_ROOM    8 /* of a value next to its title, at least */
#define FACT_INDENT  2
#define ISSUE_INDENT 2

/* ---- what was read ---- */

/* "PyTorch 2.4 · torch-json · rank 0 of 8 · 1,234 GPU ops". Not the host: people paste this into public places. */
struct head {
    char line[512];
    size_t length;
};

static void add_part(struct head *head, struct gt_str text) {
    struct gt_str separator = head->length ? GT_STR(" · ") : GT_STR("");
    if (!text.len || head->length + separator.len + text.len > sizeof head->line)
        return;
    memcpy(head->line + head->length, separator.ptr, separator.len);
    memcpy(head->line + head->length + separator.len, text.ptr, text.len);
    head->length += separator.len + text.len;
}

static void add_count(struct head *head, uint64_t count, const char *one, const char *many) {
    char number[GT_NUM_MAX], part[GT_NUM_MAX + 32];
    if (!count)
        return;
    gt_num_format_grouped(number, count > INT64_MAX ? INT64_MAX : (int64_t)count);
    int length = snprintf(part, sizeof part, "%s %s", number, count == 1 ? one : many);
    add_part(head, (struct gt_str){part, (size_t)length});
}

static void add_rank(struct head *head, const struct gt_report_input *input) {
    char part[96];
    if (input->rank < 0)
        return;
    int length = input->world_size > 0
                     ? snprintf(part, sizeof part, "rank %" PRId64 " of %" PRId64, input->rank, input->world_size)
                     : snprintf(part, sizeof part, "rank %" PRId64, input->rank);
    if (input->rank_source && strcmp(input->rank_source, "file_name") == 0) /* the only one that is a guess */
        length += snprintf(part + length, sizeof part - (size_t)length, " (file name)");
    add_part(head, (struct gt_str){part, (size_t)length});
}

static void write_head(const struct gt_screen *screen, const struct gt_report_input *input, bool is_one_of_many) {
    struct head head = {.length = 0};
    add_part(&head, input->producer);
    add_part(&head, gt_str_of(input->format));
    add_rank(&head, input);
    add_count(&head, input->ops, "GPU op", "GPU ops");
    size_t width = gt_screen_short(screen, GT_INK_BOLD, input->label, screen->width);
    gt_screen_newline(screen);
    if (is_one_of_many)
        gt_screen_rule(screen, true, width);
    if (head.length)
        gt_screen_wrap(screen, GT_INK_DIM, (struct gt_str){head.line, head.length}, 0, 0);
}

/* ---- facts ---- */

static struct gt_str fact_value(const struct gt_report_fact *fact, char buf[GT_CELL_MAX], enum gputime_unit unit) {
    if (gt_cell_is_text(&fact->value))
        return fact->value.text_bytes ? gt_cell_str(&fact->value) : GT_STR("-");
    size_t length = gt_cell_format_fact(buf, fact, unit);
    return (struct gt_str){buf, length};
}

/* Facts side by side, filled downwards; each column of them as wide as its own titles and values. */
struct fact_grid {
    size_t columns, lines;
    size_t title_width[FACT_COLUMNS], value_width[FACT_COLUMNS];
};

static size_t measure_facts(const struct gt_screen *screen, const struct gt_block *block, enum gputime_unit unit,
                            struct fact_grid *grid) {
    size_t total = FACT_GAP * (grid->columns - 1);
    char buf[GT_CELL_MAX];
    for (size_t i = 0; i < block->fact_count; i++) {
        size_t title = gt_screen_measure(screen, gt_str_of(block->facts[i].title));
        size_t value = gt_screen_measure(screen, fact_value(&block->facts[i], buf, unit));
        size_t *widest_title = &grid->title_width[i / grid->lines], *widest_value = &grid->value_width[i / grid->lines];
        *widest_title = title > *widest_title ? title : *widest_title;
        *widest_value = value > *widest_value ? value : *widest_value;
    }
    for (size_t c = 0; c < grid->columns; c++)
        total += FACT_INDENT + grid->title_width[c] + 2 + grid->value_width[c];
    return total;
}

static struct fact_grid plan_facts(const struct gt_screen *screen, const struct gt_block *block,
                                   enum gputime_unit unit) {
    struct fact_grid grid;
    size_t columns = block->fact_count < 4 ? 1 : FACT_COLUMNS;
    do {
        grid = (struct fact_grid){.columns = columns, .lines = (block->fact_count + columns - 1) / columns};
    } while (measure_facts(screen, block, unit, &grid) > screen->width && --columns > 0);
    return grid;
}

static void write_fact(const struct gt_screen *screen, const struct fact_grid *grid, size_t place,
                       const struct gt_report_fact *fact, bool is_last, enum gputime_unit unit) {
    char buf[GT_CELL_MAX];
    struct gt_str title = gt_str_of(fact->title), value = fact_value(fact, buf, unit);
    size_t indent = FACT_INDENT + grid->title_width[place] + 2;
    gt_screen_blanks(screen, FACT_INDENT);
    if (indent + FACT_ROOM > screen->width) { /* titles take the whole line */
        gt_screen_wrap(screen, GT_INK_PLAIN, title, FACT_INDENT, FACT_INDENT);
        gt_screen_blanks(screen, 2 * FACT_INDENT);
        gt_screen_wrap(screen, GT_INK_PLAIN, value, 2 * FACT_INDENT, 2 * FACT_INDENT);
        return;
    }
    gt_screen_text(screen, GT_INK_PLAIN, title);
    gt_screen_blanks(screen, grid->title_width[place] - gt_screen_measure(screen, title) + 2);
    if (grid->columns == 1) {
        gt_screen_wrap(screen, GT_INK_PLAIN, value, indent, indent);
        return;
    }
    gt_screen_text(screen, GT_INK_PLAIN, value);
    if (is_last)
        gt_screen_newline(screen);
    else
        gt_screen_blanks(screen, grid->value_width[place] - gt_screen_measure(screen, value) + FACT_GAP - FACT_INDENT);
}

static void write_facts(const struct gt_screen *screen, const struct gt_block *block, enum gputime_unit unit) {
    struct fact_grid grid = plan_facts(screen, block, unit);
    if (block->title) {
        gt_screen_text(screen, GT_INK_BOLD, gt_str_of(block->title));
        gt_screen_newline(screen);
    }
    for (size_t line = 0; line < grid.lines; line++) {
        for (size_t i = line; i < block->fact_count; i += grid.lines)
            write_fact(screen, &grid, i / grid.lines, &block->facts[i], i + grid.lines >= block->fact_count, unit);
    }
}

/* ---- trace health ---- */

static void write_issues(const struct gt_screen *screen, const struct gt_section *section) {
    char number[GT_NUM_MAX], text[1024];
    size_t count_width = 0;
    for (size_t i = 0; i < section->issue_count; i++) {
        uint64_t count = section->issues[i].count;
        size_t width = gt_num_format_grouped(number, count > INT64_MAX ? INT64_MAX : (int64_t)count);
        count_width = width > count_width ? width : count_width;
    }
    gt_screen_newline(screen);
    gt_screen_text(screen, GT_INK_BOLD, GT_STR("Trace health"));
    gt_screen_newline(screen);
    for (size_t i = 0; i < section->issue_count; i++) {
        const struct gt_report_issue *issue = &section->issues[i];
        size_t width = gt_num_format_grouped(number, issue->count > INT64_MAX ? INT64_MAX : (int64_t)issue->count);
        gt_screen_blanks(screen, ISSUE_INDENT + count_width - width);
        gt_screen_text(screen, GT_INK_PLAIN, (struct gt_str){number, width});
        gt_screen_blanks(screen, 2);
        int length = snprintf(text, sizeof text, "%s: %s%s", issue->id, issue->is_loss ? "lost data: " : "",
                              issue->help ? issue->help : "");
        if (issue->first_offset != UINT64_MAX && length > 0 && (size_t)length < sizeof text) {
            size_t used = (size_t)length;
            snprintf(text + used, sizeof text - used, " (first at byte %" PRIu64 ")", issue->first_offset);
        }
        size_t column = ISSUE_INDENT + count_width + 2;
        gt_screen_wrap(screen, issue->is_loss ? GT_INK_WARN : GT_INK_PLAIN, gt_str_of(text), column, column);
    }
}

/* ---- sections ---- */

static bool is_shown(const struct gt_block *block) {
    if (!(block->audience & GT_FOR_SCREEN))
        return false;
    switch (block->kind) {
    case GT_BLOCK_TABLE:
    case GT_BLOCK_FINDINGS:
        return block->table->row_count || block->table->empty;
    case GT_BLOCK_FACTS:
        return block->fact_count;
    case GT_BLOCK_NOTE:
        return block->note.len;
    case GT_BLOCK_TIMELINE:
        break;
    }
    return false;
}

static void write_block(const struct gt_screen *screen, const struct gt_section *section, const struct gt_block *block,
                        const struct gputime_write_options *options) {
    switch (block->kind) {
    case GT_BLOCK_TABLE:
        gt_text_table(screen, block->table, options);
        break;
    case GT_BLOCK_FINDINGS:
        gt_text_findings(screen, section, block->table);
        break;
    case GT_BLOCK_FACTS:
        write_facts(screen, block, options->unit);
        break;
    case GT_BLOCK_NOTE:
        gt_screen_wrap(screen, GT_INK_PLAIN, block->note, 0, 0);
        break;
    case GT_BLOCK_TIMELINE:
        break;
    }
}

static size_t count_shown(const struct gt_section *section) {
    size_t count = section->issue_count != 0;
    for (size_t b = 0; b < section->block_count; b++)
        count += is_shown(&section->blocks[b]);
    return count;
}

static void write_blocks(const struct gt_screen *screen, const struct gt_section *section, bool after_head,
                         const struct gputime_write_options *options) {
    for (size_t b = 0; b < section->block_count; b++) {
        if (!is_shown(&section->blocks[b]))
            continue;
        if (after_head)
            gt_screen_newline(screen);
        after_head = true;
        write_block(screen, section, &section->blocks[b], options);
    }
}

enum gt_status gt_write_text(const struct gt_report *report, const struct gputime_write_options *options,
                             struct gt_out *out, struct gt_error *err) {
    (void)err;
    struct gt_screen screen;
    gt_screen_init(&screen, options, out);
    if (report->heading.len)
        gt_screen_wrap(&screen, GT_INK_BOLD, report->heading, 0, 0);
    bool is_joint = count_shown(&report->joint), is_begun = report->heading.len || is_joint;
    write_blocks(&screen, &report->joint, report->heading.len, options);
    for (size_t s = 0; s < report->section_count; s++) {
        const struct gt_section *section = &report->sections[s];
        if (section->is_shown_elsewhere || (is_joint && !count_shown(section))) /* all it has to say was said above */
            continue;
        if (is_begun)
            gt_screen_newline(&screen);
        is_begun = true;
        write_head(&screen, &section->input, report->section_count > 1);
        write_blocks(&screen, section, true, options);
        if (section->issue_count)
            write_issues(&screen, section);
    }
    return GT_OK;
}
