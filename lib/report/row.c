/* The row writer: in come cells with the keys of their columns, out go rows at the end of a table. */
#include "report/row.h"

#include <string.h>

#include "base/mem.h"

/* Code that writes a row wrongly does so in the first rows; comparing names in millions of them would take time. */
#ifdef GT_CHECK_ROWS
#define CHECKED_ROWS SIZE_MAX
#else
#define CHECKED_ROWS 64
#endif

static bool set_capacity(struct gt_table *table, size_t capacity) {
    size_t row_bytes = table->column_count * sizeof *table->cells;
    if (capacity > SIZE_MAX / 2 / row_bytes)
        return false;
    struct gt_cell *cells = gt_mem_realloc(table->cells, capacity * row_bytes);
    if (!cells)
        return false;
    table->cells = cells;
    table->row_capacity = capacity;
    return true;
}

void gt_row_reserve(struct gt_table *table, size_t row_count) {
    struct gt_arena *arena = &table->report->arena;
    if (row_count > table->row_capacity && !gt_arena_failed(arena) && !set_capacity(table, row_count))
        arena->failed = true;
}

/* After a memory failure, cells that no table has. */
static struct gt_cell *room_for_row(struct gt_table *table) {
    struct gt_arena *arena = &table->report->arena;
    if (table->row_count == table->row_capacity && !gt_arena_failed(arena) &&
        !set_capacity(table, table->row_capacity ? table->row_capacity * 2 : 8))
        arena->failed = true;
    return gt_arena_failed(arena) ? table->report->spare_cells : table->cells + table->row_count * table->column_count;
}

static void add_row(struct gt_table *table) {
    if (gt_arena_failed(&table->report->arena))
        return;
    table->row_count++;
    if (table->total_rows < table->row_count)
        table->total_rows = table->row_count;
}

struct gt_row gt_row_begin(struct gt_table *table) {
    return (struct gt_row){.table = table,
                           .cells = room_for_row(table),
                           .unchecked = table->row_count < CHECKED_ROWS ? 0 : table->column_count};
}

bool gt_row_expects(struct gt_row *row, const char *key) {
    const struct gt_table *table = row->table;
    struct gt_error *failure = &table->report->failure;
    const char *expected = row->count < table->column_count ? table->columns[row->count].key : NULL;
    if (expected && (expected == key || strcmp(expected, key) == 0))
        return true;
    if (failure->code == GT_OK && expected)
        gt_fail(failure, "internal error: table '%s': column %zu is '%s', got '%s'", table->key, row->count + 1,
                expected, key);
    else if (failure->code == GT_OK)
        gt_fail(failure, "internal error: table '%s': %zu columns, got '%s' after the last", table->key,
                table->column_count, key);
    row->count = SIZE_MAX; /* nothing fits it any more, and the table will not have it */
    return false;
}

void gt_row_null_rest(struct gt_row *row, const char *key) {
    for (gt_row_null(row, key); row->count < row->table->column_count;)
        row->cells[row->count++] = gt_cell_null();
}

void gt_row_end(struct gt_row *row) {
    struct gt_table *table = row->table;
    struct gt_error *failure = &table->report->failure;
    if (row->count == table->column_count)
        add_row(table);
    else if (failure->code == GT_OK)
        gt_fail(failure, "internal error: table '%s': column %zu is '%s', got the end of the row", table->key,
                row->count + 1, table->columns[row->count].key);
}
