/* The report as GitHub Markdown: headings, tables that render whatever the names hold, problems as a list. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "write/cell_format.h"
#include "write/escape.h"
#include "write/name_cuts.h"
#include "write/writer.h"

#define NAME_COLUMNS 100                      /* longer names are cut in the middle unless the report is verbose */
#define NAME_BYTES   (NAME_COLUMNS * 12 + 64) /* of a cut name: four bytes a character, two marks over each */

/* ---- tables ---- */

static size_t append(char *buf, size_t length, struct gt_str text) {
    if (text.len)
        memcpy(buf + length, text.ptr, text.len);
    return length + text.len;
}

/* cut: what is left of it; NULL: all. */
static void write_name(struct gt_out *out, struct gt_str text, const struct gt_cut *cut) {
    char buf[NAME_BYTES];
    if (!cut || !cut->is_cut || cut->head.len + cut->tail.len + 3 * GT_ELLIPSIS.len > sizeof buf) {
        gt_escape_markdown_name(out, text);
        return;
    }
    size_t length = append(buf, 0, cut->has_lost_front ? GT_ELLIPSIS : GT_STR(""));
    length = append(buf, length, cut->head);
    length = append(buf, length, GT_ELLIPSIS);
    length = append(buf, length, cut->tail);
    length = append(buf, length, cut->has_lost_end ? GT_ELLIPSIS : GT_STR(""));
    gt_escape_markdown_name(out, (struct gt_str){buf, length});
}

static void write_cell(struct gt_out *out, const struct gt_column_style *style, const struct gt_cell *cell,
                       const struct gt_cut *cut) {
    char buf[GT_CELL_MAX];
    if (!gt_cell_is_text(cell)) {
        size_t length = gt_cell_format(buf, style, cell);
        gt_escape_markdown_sentence(out, (struct gt_str){buf, length});
    } else if (cell->text_bytes) {
        write_name(out, gt_cell_str(cell), cut);
    }
    gt_out_text(out, !gt_cell_is_text(cell) || cell->text_bytes ? " |" : "|");
}

static void write_header(struct gt_out *out, const struct gt_table *table, const struct gt_shown *shown,
                         const struct gt_column_style *styles) {
    gt_out_text(out, table->is_ranked ? "| # |" : "|");
    for (size_t i = 0; i < shown->column_count; i++) {
        const struct gt_report_column *column = &table->columns[shown->columns[i]];
        gt_out_char(out, ' ');
        gt_escape_markdown_sentence(out, gt_str_of(column->title));
        if (styles[i].scale)
            gt_out_printf(out, " (%s)", styles[i].scale);
        gt_out_text(out, " |");
    }
    gt_out_text(out, table->is_ranked ? "\n| ---: |" : "\n|");
    for (size_t i = 0; i < shown->column_count; i++)
        gt_out_text(out, styles[i].is_text ? " --- |" : " ---: |");
    gt_out_char(out, '\n');
}

/* Percentages say of what. */
static void write_bases(struct gt_out *out, const struct gt_table *table, const struct gt_shown *shown) {
    const char *lead = "";
    for (size_t i = 0; i < shown->column_count; i++) {
        const struct gt_report_column *column = &table->columns[shown->columns[i]];
        if (!gt_cell_format_needs_base(column))
            continue;
        gt_out_text(out, lead);
        gt_escape_markdown_sentence(out, gt_str_of(column->title));
        gt_out_text(out, ": % of ");
        gt_escape_markdown_sentence(out, gt_str_of(column->of));
        lead = "; ";
    }
    gt_out_text(out, *lead ? "\n\n" : "");
}

/* The title, and what there is to say of a table without rows. */
static void begin_table(struct gt_out *out, const struct gt_table *table) {
    gt_out_text(out, "\n### ");
    gt_escape_markdown_sentence(out, gt_str_of(table->title));
    gt_out_text(out, "\n\n");
    if (table->row_count == 0) {
        gt_escape_markdown_sentence(out, gt_str_of(table->empty));
        gt_out_char(out, '\n');
    }
}

static void write_rows(struct gt_out *out, const struct gt_table *table, const struct gt_shown *shown,
                       const struct gt_column_style *styles, struct gt_cut *const *cuts) {
    for (size_t row = 0; row < shown->rows; row++) {
        gt_out_char(out, '|');
        if (table->is_ranked)
            gt_out_printf(out, " %zu |", row + 1);
        for (size_t i = 0; i < shown->column_count; i++) {
            gt_out_char(out, ' ');
            write_cell(out, &styles[i], &table->cells[row * table->column_count + shown->columns[i]],
                       cuts[i] ? &cuts[i][row] : NULL);
        }
        gt_out_char(out, '\n');
    }
}

static void write_table(struct gt_out *out, const struct gt_table *table, const struct gputime_write_options *options) {
    struct gt_shown shown;
    struct gt_column_style styles[GT_TABLE_COLUMNS_MAX];
    struct gt_cut *cuts[GT_TABLE_COLUMNS_MAX] = {NULL};
    begin_table(out, table);
    if (table->row_count == 0)
        return;
    gt_cell_format_shown(&shown, table);
    for (size_t i = 0; i < shown.column_count; i++) {
        styles[i] = gt_cell_format_style(table, shown.columns[i], shown.rows, options->unit);
        if (!styles[i].is_text || options->full_names)
            continue;
        cuts[i] = gt_name_cuts_new(table, shown.columns[i], shown.rows, NAME_COLUMNS, true);
        if (!cuts[i])
            gt_out_fail_memory(out);
    }
    write_bases(out, table, &shown);
    write_header(out, table, &shown, styles);
    write_rows(out, table, &shown, styles, cuts);
    for (size_t i = 0; i < shown.column_count; i++)
        gt_mem_free(cuts[i]);
    if (shown.rows_hidden) {
        char buf[GT_NUM_MAX];
        gt_num_format_grouped(buf, (int64_t)shown.rows_hidden);
        gt_out_printf(out, "\n… and %s more %s ", buf, shown.rows_hidden == 1 ? "row" : "rows");
        if (table->all_rows)
            gt_out_printf(out, "(`%s` shows all)\n", table->all_rows);
        else
            gt_out_printf(out, "(`--table %s --top 0` shows all)\n", table->key);
    }
}

/* ---- findings ---- */

/* As items below one whose text begins at a column. */
static void write_sentences(struct gt_out *out, const struct gt_str *sentences, size_t count, int column,
                            const char *lead) {
    for (size_t i = 0; i < count; i++) {
        gt_out_printf(out, "%*s- %s", column, "", lead);
        gt_escape_markdown_sentence(out, sentences[i]);
        gt_out_char(out, '\n');
    }
}

static void write_finding(struct gt_out *out, const struct gt_table *table, const struct gt_finding *finding,
                          size_t number) {
    char mark[GT_NUM_MAX], worth[GT_NUM_MAX + 64];
    int column = snprintf(mark, sizeof mark, "%zu. ", number);
    gt_out_printf(out, "%s**", mark);
    gt_escape_markdown_sentence(out, finding->title);
    gt_out_printf(out, "** (%s)\n", gt_finding_list_worth(finding, worth, sizeof worth).ptr);
    if (gt_finding_list_shows(table, "evidence"))
        write_sentences(out, finding->evidence, finding->evidence_count, column, "");
    write_sentences(out, finding->advice, gt_finding_list_advice_shown(table, finding), column, "→ ");
}

static void write_findings(struct gt_out *out, const struct gt_section *section, const struct gt_table *table) {
    struct gt_shown shown;
    struct gt_str verdict = gt_finding_list_verdict(section);
    gt_cell_format_shown(&shown, table);
    begin_table(out, table);
    if (table->row_count && verdict.len) {
        gt_escape_markdown_sentence(out, verdict);
        gt_out_text(out, "\n\n");
    }
    for (size_t row = 0; row < shown.rows; row++) {
        const struct gt_finding *finding = gt_finding_list_at(section, table, row);
        write_finding(out, table, finding, gt_finding_list_rank(section, finding));
    }
    if (shown.rows_hidden)
        gt_out_printf(out, "\n… and %zu more (`gputime findings` shows all, with the evidence)\n", shown.rows_hidden);
}

/* ---- facts, notes, issues ---- */

static void write_facts(struct gt_out *out, const struct gt_block *block, enum gputime_unit unit) {
    char buf[GT_CELL_MAX];
    if (block->title) {
        gt_out_text(out, "\n### ");
        gt_escape_markdown_sentence(out, gt_str_of(block->title));
        gt_out_char(out, '\n');
    }
    gt_out_char(out, '\n');
    for (size_t i = 0; i < block->fact_count; i++) {
        const struct gt_report_fact *fact = &block->facts[i];
        gt_out_text(out, "- ");
        gt_escape_markdown_sentence(out, gt_str_of(fact->title));
        gt_out_text(out, ": ");
        if (gt_cell_is_text(&fact->value)) {
            gt_escape_markdown_name(out, gt_cell_str(&fact->value));
        } else {
            size_t length = gt_cell_format_fact(buf, fact, unit);
            gt_escape_markdown_sentence(out, (struct gt_str){buf, length});
        }
        gt_out_char(out, '\n');
    }
}

static void write_issues(struct gt_out *out, const struct gt_section *section) {
    gt_out_text(out, "\n### Trace health\n\n");
    for (size_t i = 0; i < section->issue_count; i++) {
        const struct gt_report_issue *issue = &section->issues[i];
        gt_out_printf(out, "- %" PRIu64 " × ", issue->count);
        gt_escape_markdown_name(out, gt_str_of(issue->id));
        gt_out_text(out, issue->is_loss ? ": lost data: " : ": ");
        gt_escape_markdown_sentence(out, gt_str_of(issue->help));
        if (issue->first_offset != UINT64_MAX)
            gt_out_printf(out, " (first at byte %" PRIu64 ")", issue->first_offset);
        gt_out_char(out, '\n');
    }
}

/* ---- sections ---- */

static void write_head(struct gt_out *out, const struct gt_report_input *input) {
    gt_out_text(out, "## ");
    gt_escape_markdown_name(out, input->label);
    gt_out_text(out, "\n\n");
    const char *separator = "";
    if (input->producer.len) {
        gt_escape_markdown_sentence(out, input->producer);
        separator = ", ";
    }
    if (input->format) {
        gt_out_printf(out, "%s%s", separator, input->format);
        separator = ", ";
    }
    if (input->rank >= 0) {
        gt_out_printf(out, "%srank %" PRId64, separator, input->rank);
        separator = ", ";
    }
    if (input->ops) /* a comparison itself has none */
        gt_out_printf(out, "%s%" PRIu64 " GPU %s", separator, input->ops, input->ops == 1 ? "op" : "ops");
    gt_out_char(out, '\n');
}

static void write_block(struct gt_out *out, const struct gt_section *section, const struct gt_block *block,
                        const struct gputime_write_options *options) {
    switch (block->kind) {
    case GT_BLOCK_TABLE:
        if (block->table->row_count || block->table->empty)
            write_table(out, block->table, options);
        break;
    case GT_BLOCK_FINDINGS:
        if (block->table->row_count || block->table->empty)
            write_findings(out, section, block->table);
        break;
    case GT_BLOCK_FACTS:
        if (block->fact_count)
            write_facts(out, block, options->unit);
        break;
    case GT_BLOCK_NOTE:
        gt_out_char(out, '\n');
        gt_escape_markdown_sentence(out, block->note);
        gt_out_char(out, '\n');
        break;
    case GT_BLOCK_TIMELINE:
        break;
    }
}

static void write_blocks(struct gt_out *out, const struct gt_section *section,
                         const struct gputime_write_options *options) {
    for (size_t b = 0; b < section->block_count; b++) {
        if (section->blocks[b].audience & GT_FOR_SCREEN)
            write_block(out, section, &section->blocks[b], options);
    }
}

enum gt_status gt_write_markdown(const struct gt_report *report, const struct gputime_write_options *options,
                                 struct gt_out *out, struct gt_error *err) {
    (void)err;
    bool is_begun = report->heading.len || report->joint.block_count;
    if (report->heading.len) {
        gt_out_text(out, "# ");
        gt_escape_markdown_sentence(out, report->heading);
        gt_out_char(out, '\n');
    }
    if (report->generated_at) {
        gt_out_text(out, is_begun ? "\n" : "");
        gt_out_text(out, "Generated at ");
        gt_escape_markdown_sentence(out, gt_str_of(report->generated_at));
        gt_out_text(out, " by gputime " GPUTIME_VERSION "\n");
        is_begun = true;
    }
    write_blocks(out, &report->joint, options);
    for (size_t s = 0; s < report->section_count; s++) {
        const struct gt_section *section = &report->sections[s];
        if (section->is_shown_elsewhere)
            continue;
        gt_out_text(out, is_begun ? "\n" : "");
        is_begun = true;
        write_head(out, &section->input);
        write_blocks(out, section, options);
        if (section->issue_count)
            write_issues(out, section);
    }
    return GT_OK;
}
