/* Access to a finished report in the public interface: sections, facts, notes, findings, issues and tables.
 */
#include <math.h>
#include <string.h>

#include "internal.h"

/* A gputime_table is an opaque gt_table. */
static const struct gputime_table *public_table(const struct gt_table *table) {
    return (const struct gputime_table *)(const void *)table;
}

static const struct gt_table *table_of(const struct gputime_table *table) {
    return (const struct gt_table *)(const void *)table;
}

/* NULL out of range. */
static const struct gt_section *section_at(const struct gputime_report *report, size_t section) {
    return section < report->model->section_count ? &report->model->sections[section] : NULL;
}

static struct gputime_text public_text(struct gt_str text) {
    return (struct gputime_text){text.ptr, text.len};
}

static struct gputime_cell public_cell(const struct gt_cell *from) {
    struct gputime_cell cell = {.type = (enum gputime_cell_type)from->type};
    switch (cell.type) {
    case GPUTIME_CELL_INT:
        cell.integer = from->integer;
        break;
    case GPUTIME_CELL_REAL:
        cell.real = from->real;
        break;
    case GPUTIME_CELL_TEXT:
        cell.text = from->text;
        cell.text_bytes = from->text_bytes;
        break;
    case GPUTIME_CELL_NULL:
        break;
    }
    return cell;
}

/* ---- sections ---- */

API size_t gputime_report_section_count(const struct gputime_report *report) {
    return report->model->section_count;
}

API const char *gputime_report_section_title(const struct gputime_report *report, size_t section) {
    const struct gt_section *from = section_at(report, section);
    return from ? from->input.label.ptr : NULL;
}

/* Fact number `index` of a section, or the first with the key, if a key is given. */
static const struct gt_report_fact *find_fact(const struct gt_section *section, size_t index, const char *key) {
    for (size_t b = 0; section && b < section->block_count; b++) {
        const struct gt_block *block = &section->blocks[b];
        for (size_t i = 0; block->kind == GT_BLOCK_FACTS && i < block->fact_count; i++)
            if (key ? strcmp(block->facts[i].key, key) == 0 : index-- == 0)
                return &block->facts[i];
    }
    return NULL;
}

static struct gputime_fact public_fact(const struct gt_report_fact *fact) {
    if (!fact)
        return (struct gputime_fact){0};
    return (struct gputime_fact){fact->key, fact->title, gt_cell_unit_name(fact->unit), public_cell(&fact->value)};
}

API size_t gputime_report_fact_count(const struct gputime_report *report, size_t section) {
    const struct gt_section *from = section_at(report, section);
    size_t count = 0;
    for (size_t b = 0; from && b < from->block_count; b++)
        count += from->blocks[b].kind == GT_BLOCK_FACTS ? from->blocks[b].fact_count : 0;
    return count;
}

API struct gputime_fact gputime_report_fact_at(const struct gputime_report *report, size_t section, size_t fact) {
    return public_fact(find_fact(section_at(report, section), fact, NULL));
}

API struct gputime_fact gputime_report_fact(const struct gputime_report *report, size_t section, const char *key) {
    return public_fact(find_fact(section_at(report, section), 0, key));
}

static const char *note_at(const struct gt_section *section, size_t index) {
    for (size_t b = 0; section && b < section->block_count; b++)
        if (section->blocks[b].kind == GT_BLOCK_NOTE && index-- == 0)
            return section->blocks[b].note.ptr;
    return NULL;
}

API size_t gputime_report_note_count(const struct gputime_report *report, size_t section) {
    size_t count = 0;
    while (note_at(section_at(report, section), count))
        count++;
    return count;
}

API const char *gputime_report_note(const struct gputime_report *report, size_t section, size_t note) {
    return note_at(section_at(report, section), note);
}

API const char *gputime_report_loss(const struct gputime_report *report, size_t section, size_t loss) {
    const struct gt_section *from = section_at(report, section);
    for (size_t b = 0; from && b < from->block_count; b++)
        if (from->blocks[b].kind == GT_BLOCK_NOTE && from->blocks[b].is_loss && loss-- == 0)
            return from->blocks[b].note.ptr;
    return NULL;
}

/* ---- findings and issues ---- */

_Static_assert(GT_FINDING_SENTENCES ==
                   sizeof((struct gputime_finding){0}).evidence / sizeof *((struct gputime_finding){0}).evidence,
               "a finding has all of its sentences");
_Static_assert(GT_FINDING_WINDOWS ==
                   sizeof((struct gputime_finding){0}).windows / sizeof *((struct gputime_finding){0}).windows,
               "a finding has all of its windows");

API size_t gputime_report_finding_count(const struct gputime_report *report, size_t section) {
    const struct gt_section *from = section_at(report, section);
    return from ? from->finding_count : 0;
}

API struct gputime_finding gputime_report_finding(const struct gputime_report *report, size_t section, size_t finding) {
    const struct gt_section *from = section_at(report, section);
    if (!from || finding >= from->finding_count)
        return (struct gputime_finding){0};
    const struct gt_finding *found = &from->findings[finding];
    struct gputime_finding answer = {.id = found->id,
                                     .severity = gt_finding_list_severity_name(found->severity),
                                     .title = public_text(found->title),
                                     .evidence_count = found->evidence_count,
                                     .advice_count = found->advice_count,
                                     .recoverable_ns = found->recoverable_ns,
                                     .table = found->table,
                                     .recoverable_step_ns = found->step_ns,
                                     .share = found->share,
                                     .rule = found->rule,
                                     .window_count = found->window_count};
    for (size_t i = 0; i < GT_FINDING_SENTENCES; i++) {
        answer.evidence[i] = public_text(found->evidence[i]);
        answer.advice[i] = public_text(found->advice[i]);
    }
    for (size_t i = 0; i < found->window_count; i++)
        answer.windows[i] =
            (struct gputime_window){found->windows[i].start_ns, found->windows[i].end_ns, found->windows[i].device};
    return answer;
}

API size_t gputime_report_issue_count(const struct gputime_report *report, size_t section) {
    const struct gt_section *from = section_at(report, section);
    return from ? from->issue_count : 0;
}

API struct gputime_issue gputime_report_issue(const struct gputime_report *report, size_t section, size_t issue) {
    const struct gt_section *from = section_at(report, section);
    if (!from || issue >= from->issue_count)
        return (struct gputime_issue){0};
    const struct gt_report_issue *found = &from->issues[issue];
    return (struct gputime_issue){found->id, found->help, found->count, found->first_offset, found->is_loss};
}

/* ---- tables ---- */

/* What only pages have are details of their pictures. */
static bool has_public_table(const struct gt_block *block) {
    return block->table && block->audience != GT_FOR_PAGE;
}

API size_t gputime_report_table_count(const struct gputime_report *report, size_t section) {
    const struct gt_section *from = section_at(report, section);
    size_t count = 0;
    for (size_t b = 0; from && b < from->block_count; b++)
        count += has_public_table(&from->blocks[b]);
    return count;
}

API const struct gputime_table *gputime_report_table(const struct gputime_report *report, size_t section,
                                                     const char *key) {
    const struct gt_section *from = section_at(report, section);
    return from ? public_table(gt_section_find(from, key)) : NULL;
}

API const struct gputime_table *gputime_report_table_at(const struct gputime_report *report, size_t section,
                                                        size_t table) {
    const struct gt_section *from = section_at(report, section);
    for (size_t b = 0; from && b < from->block_count; b++)
        if (has_public_table(&from->blocks[b]) && table-- == 0)
            return public_table(from->blocks[b].table);
    return NULL;
}

API const char *gputime_table_key(const struct gputime_table *table) {
    return table ? table_of(table)->key : NULL;
}

API const char *gputime_table_title(const struct gputime_table *table) {
    return table ? table_of(table)->title : NULL;
}

API size_t gputime_table_row_count(const struct gputime_table *table) {
    return table ? table_of(table)->row_count : 0;
}

API size_t gputime_table_column_count(const struct gputime_table *table) {
    return table ? table_of(table)->column_count : 0;
}

API struct gputime_column gputime_table_column(const struct gputime_table *table, size_t column) {
    if (column >= gputime_table_column_count(table))
        return (struct gputime_column){0};
    const struct gt_report_column *from = &table_of(table)->columns[column];
    return (struct gputime_column){from->key, from->title, gt_cell_unit_name(from->unit), from->of};
}

API size_t gputime_table_find_column(const struct gputime_table *table, const char *key) {
    return table ? gt_table_column(table_of(table), key) : SIZE_MAX;
}

API struct gputime_cell gputime_table_cell(const struct gputime_table *table, size_t row, size_t column) {
    if (row >= gputime_table_row_count(table) || column >= gputime_table_column_count(table))
        return (struct gputime_cell){.type = GPUTIME_CELL_NULL};
    return public_cell(&table_of(table)->cells[row * table_of(table)->column_count + column]);
}

API int64_t gputime_table_int(const struct gputime_table *table, size_t row, size_t column) {
    const double bound = 9223372036854775808.0; /* 2^63 */
    struct gputime_cell cell = gputime_table_cell(table, row, column);
    if (cell.type != GPUTIME_CELL_REAL)
        return cell.integer;
    if (isnan(cell.real))
        return 0;
    return cell.real >= bound ? INT64_MAX : cell.real < -bound ? INT64_MIN : (int64_t)cell.real;
}

API double gputime_table_real(const struct gputime_table *table, size_t row, size_t column) {
    struct gputime_cell cell = gputime_table_cell(table, row, column);
    return cell.type == GPUTIME_CELL_INT ? (double)cell.integer : cell.real;
}

API struct gputime_text gputime_table_text(const struct gputime_table *table, size_t row, size_t column) {
    struct gputime_cell cell = gputime_table_cell(table, row, column);
    return (struct gputime_text){cell.text, cell.text_bytes};
}
