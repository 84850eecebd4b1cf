/* The public interface's way through a finished report: sections, tables, cells by index. */
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

API size_t gputime_report_section_count(const struct gputime_report *report) {
    return report->model->section_count;
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

API struct gputime_cell gputime_report_cell(const struct gputime_report *report, size_t section, size_t table,
                                            size_t row, size_t column) {
    struct gputime_cell cell = {.type = GPUTIME_CELL_NULL};
    const struct gt_table *found = table_at(report, section, table);
    if (!found || row >= found->row_count || column >= found->column_count)
        return cell;
    const struct gt_cell *from = &found->cells[row * found->column_count + column];
    cell.type = (enum gputime_cell_type)from->type;
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
