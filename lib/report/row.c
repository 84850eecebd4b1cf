/* The row writer: in come cells with the keys of their columns, out go rows at the end of a table. */
#include "report/row.h"

#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "base/threads.h"

/* Code that writes a row wrongly does so in the first rows; comparing names in millions of them would take time. */
enum { FIRST_ROWS = 64 };
#ifdef GT_CHECK_ROWS
#define CHECKED_ROWS SIZE_MAX
#else
#define CHECKED_ROWS FIRST_ROWS
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

/* ---- many rows ---- */

enum { SLICE_ROWS = 8192 }; /* which take longer than starting a thread */

struct filling {
    struct gt_table *table;
    size_t first; /* number of the first row of the slices */
    void (*fill)(const void *context, struct gt_row *row, size_t index);
    const void *context;
    atomic_bool failed; /* a row has another number of cells than the table columns */
};

static void fill_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct filling *filling = context;
    struct gt_table *table = filling->table;
    (void)slice;
    for (size_t i = begin; i < end; i++) {
        struct gt_row row = {.table = table,
                             .cells = table->cells + (table->row_count + i) * table->column_count,
                             .unchecked = CHECKED_ROWS == FIRST_ROWS ? table->column_count : 0};
        filling->fill(filling->context, &row, filling->first + i);
        if (row.count != table->column_count)
            filling->failed = true;
    }
}

/* The first rows are written one by one, so that one that is wrong is found and reported as ever. */
void gt_row_fill(struct gt_table *table, size_t count, size_t threads,
                 void (*fill)(const void *context, struct gt_row *row, size_t index), const void *context) {
    struct filling filling = {.table = table, .fill = fill, .context = context};
    struct gt_report *report = table->report;
    gt_row_reserve(table, table->row_count + count);
    for (; filling.first < count && filling.first < FIRST_ROWS; filling.first++) {
        struct gt_row row = gt_row_begin(table);
        fill(context, &row, filling.first);
        gt_row_end(&row);
    }
    size_t rest = count - filling.first;
    if (!rest || gt_arena_failed(&report->arena) || report->failure.code != GT_OK)
        return;
    size_t most = rest / SLICE_ROWS + 1;
    gt_threads_rows(threads < most ? threads : most, rest, fill_slice, &filling);
    if (filling.failed && report->failure.code == GT_OK)
        gt_fail(&report->failure, "internal error: table '%s': a row has not %zu cells", table->key,
                table->column_count);
    table->row_count += filling.failed ? 0 : rest;
    if (table->total_rows < table->row_count)
        table->total_rows = table->row_count;
}
