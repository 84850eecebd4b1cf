/* The public interface's way through a finished report: sections, facts, notes, tables, cells by index. */
#include <string.h>

#include "internal.h"

/* Table number `index` of a section, blocks of other kinds skipped; NULL when there is none. */
static const struct gt_table *table_at(const struct gputime_report *report, size_t section, size_t index) {
    if (section >= report->model->section_count)
        return NULL;
    const struct gt_section *from = &report->model->sections[section];
    for (size_t b = 0; b < from->block_count; b++)
        if (from->blocks[b].table && index-- == 0)
            return from->blocks[b].table;
    return NULL;
}

static const struct gt_report_fact *fact_at(const struct gputime_report *report, size_t section, size_t index) {
    if (section >= report->model->section_count)
        return NULL;
    const struct gt_section *from = &report->model->sections[section];
    for (size_t b = 0; b < from->block_count; b++) {
        const struct gt_block *block = &from->blocks[b];
        size_t count = block->kind == GT_BLOCK_FACTS ? block->fact_count : 0;
        if (index < count)
            return &block->facts[index];
        index -= count;
    }
    return NULL;
}

static const char *note_at(const struct gputime_report *report, size_t section, size_t index) {
    if (section >= report->model->section_count)
        return NULL;
    const struct gt_section *from = &report->model->sections[section];
    for (size_t b = 0; b < from->block_count; b++)
        if (from->blocks[b].kind == GT_BLOCK_NOTE && index-- == 0)
            return from->blocks[b].note.ptr;
    return NULL;
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

API size_t gputime_report_section_count(const struct gputime_report *report) {
    return report->model->section_count;
}

API const char *gputime_report_section_title(const struct gputime_report *report, size_t section) {
    return section < report->model->section_count ? report->model->sections[section].input.label.ptr : NULL;
}

API size_t gputime_report_fact_count(const struct gputime_report *report, size_t section) {
    size_t count = 0;
    while (fact_at(report, section, count))
        count++;
    return count;
}

API struct gputime_fact gputime_report_fact(const struct gputime_report *report, size_t section, size_t fact) {
    const struct gt_report_fact *found = fact_at(report, section, fact);
    if (!found)
        return (struct gputime_fact){0};
    return (struct gputime_fact){found->key, found->title, gt_cell_unit_name(found->unit), public_cell(&found->value)};
}

API size_t gputime_report_note_count(const struct gputime_report *report, size_t section) {
    size_t count = 0;
    while (note_at(report, section, count))
        count++;
    return count;
}

API const char *gputime_report_note(const struct gputime_report *report, size_t section, size_t note) {
    return note_at(report, section, note);
}

API size_t gputime_report_find_table(const struct gputime_report *report, size_t section, const char *key) {
    const struct gt_table *table;
    for (size_t i = 0; (table = table_at(report, section, i)); i++)
        if (strcmp(table->key, key) == 0)
            return i;
    return SIZE_MAX;
}

API size_t gputime_report_table_count(const struct gputime_report *report, size_t section) {
    size_t count = 0;
    while (table_at(report, section, count))
        count++;
    return count;
}

API const char *gputime_report_table_key(const struct gputime_report *report, size_t section, size_t table) {
    const struct gt_table *found = table_at(report, section, table);
    return found ? found->key : NULL;
}

API const char *gputime_report_table_title(const struct gputime_report *report, size_t section, size_t table) {
    const struct gt_table *found = table_at(report, section, table);
    return found ? found->title : NULL;
}

API size_t gputime_report_row_count(const struct gputime_report *report, size_t section, size_t table) {
    const struct gt_table *found = table_at(report, section, table);
    return found ? found->row_count : 0;
}

API size_t gputime_report_column_count(const struct gputime_report *report, size_t section, size_t table) {
    const struct gt_table *found = table_at(report, section, table);
    return found ? found->column_count : 0;
}

API const char *gputime_report_column_key(const struct gputime_report *report, size_t section, size_t table,
                                          size_t column) {
    const struct gt_table *found = table_at(report, section, table);
    return found && column < found->column_count ? found->columns[column].key : NULL;
}

API struct gputime_column gputime_report_column(const struct gputime_report *report, size_t section, size_t table,
                                                size_t column) {
    const struct gt_table *found = table_at(report, section, table);
    if (!found || column >= found->column_count)
        return (struct gputime_column){0};
    const struct gt_report_column *from = &found->columns[column];
    return (struct gputime_column){from->key, from->title, gt_cell_unit_name(from->unit), from->of};
}

API struct gputime_cell gputime_report_cell(const struct gputime_report *report, size_t section, size_t table,
                                            size_t row, size_t column) {
    const struct gt_table *found = table_at(report, section, table);
    if (!found || row >= found->row_count || column >= found->column_count)
        return public_cell(&(struct gt_cell){.type = GPUTIME_CELL_NULL});
    return public_cell(&found->cells[row * found->column_count + column]);
}
