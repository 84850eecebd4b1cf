/* Tables: names of rows, and columns and cells found by key. */
#include "report/table.h"

#include <string.h>

#include "base/arena.h"
#include "report/report.h"

void gt_table_name(struct gt_table *table, struct gt_str name) {
    struct gt_str *room = gt_arena_room(&table->report->arena, table->names, table->name_count, &table->name_capacity,
                                        sizeof *table->names);
    if (!room)
        return;
    table->names = room;
    table->names[table->name_count++] = gt_arena_copy(&table->report->arena, name);
}

size_t gt_table_column_named(const struct gt_table *table, struct gt_str key) {
    for (size_t c = 0; c < table->column_count; c++) {
        if (gt_str_eq(gt_str_of(table->columns[c].key), key))
            return c;
    }
    return SIZE_MAX;
}

size_t gt_table_column_sorted(const struct gt_table *table, const char *sort) {
    struct gt_str given = gt_str_of(sort[0] == '+' ? sort + 1 : sort);
    size_t exact = gt_table_column_named(table, given), begun = SIZE_MAX, begun_count = 0;
    if (exact != SIZE_MAX || given.len == 0)
        return exact;
    for (size_t c = 0; c < table->column_count; c++) {
        struct gt_str title = gt_str_of(table->columns[c].title);
        if (title.len == given.len && gt_str_find_nocase(title, given))
            return c;
        if (gt_str_starts(gt_str_of(table->columns[c].key), given)) {
            begun = c;
            begun_count++;
        }
    }
    return begun_count == 1 ? begun : SIZE_MAX;
}

size_t gt_table_column_flagged(const struct gt_table *table, uint32_t flags) {
    size_t column = 0;
    while (column < table->column_count && (table->columns[column].flags & flags) != flags)
        column++;
    return column < table->column_count ? column : SIZE_MAX;
}

size_t gt_table_name_column(const struct gt_table *table) {
    size_t name = gt_table_column_flagged(table, GT_COLUMN_KEY | GT_COLUMN_NAME);
    for (size_t c = table->column_count; c > 0 && name == SIZE_MAX; c--)
        if (table->columns[c - 1].flags & GT_COLUMN_KEY)
            name = c - 1;
    return name;
}

double gt_table_number(const struct gt_table *table, size_t row, const char *column) {
    size_t index = gt_table_column(table, column);
    bool is_there = index != SIZE_MAX && row < table->row_count;
    return is_there ? gt_cell_as_number(&table->cells[row * table->column_count + index]) : NAN;
}

struct gt_str gt_table_text(const struct gt_table *table, size_t row, const char *column) {
    size_t index = table ? gt_table_column(table, column) : SIZE_MAX;
    if (index == SIZE_MAX)
        return (struct gt_str){0};
    return gt_cell_as_text(&table->cells[row * table->column_count + index]);
}

size_t gt_table_column(const struct gt_table *table, const char *key) {
    return gt_table_column_named(table, gt_str_of(key));
}
