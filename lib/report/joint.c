/* One table of all inputs for people: the same table of every section comes in; rows one after the other, or a column
   for each input, go out into the report's joint section. */
#include <stdlib.h>

#include "base/strtab.h"
#include "report/report.h"
#include "report/row.h"

/* The section's table with that key, where people would see it; NULL if there is none. */
static struct gt_block *find_shown(const struct gt_section *section, const char *key) {
    for (size_t b = 0; b < section->block_count; b++) {
        struct gt_block *block = &section->blocks[b];
        if (block->kind == GT_BLOCK_TABLE && (block->audience & GT_FOR_SCREEN) && strcmp(block->table->key, key) == 0)
            return block;
    }
    return NULL;
}

static const struct gt_table *first_shown(const struct gt_report *report, const char *key) {
    const struct gt_block *block = NULL;
    for (size_t s = 0; !block && s < report->section_count; s++)
        block = find_shown(&report->sections[s], key);
    return block ? block->table : NULL;
}

/* A table that is like one of the sections, except for its columns. */
static struct gt_table *add_table(struct gt_report *report, const struct gt_table *like,
                                  const struct gt_report_column *columns, size_t column_count) {
    struct gt_table *table = gt_section_table(&report->joint, like->key, like->title, columns, column_count);
    if (report->joint.block_count)
        report->joint.blocks[report->joint.block_count - 1].audience = GT_FOR_SCREEN;
    table->folds = true;
    return table;
}

static void hide(struct gt_report *report, const char *key) {
    for (size_t s = 0; s < report->section_count; s++) {
        struct gt_block *block = find_shown(&report->sections[s], key);
        if (block)
            block->audience &= ~(uint32_t)GT_FOR_SCREEN;
    }
}

/* ---- rows one after the other ---- */

static void copy_rows(struct gt_table *into, const struct gt_table *from, struct gt_str label) {
    for (size_t row = 0; row < from->row_count; row++) {
        struct gt_row copy = gt_row_begin(into);
        gt_row_text(&copy, into->columns[0].key, label);
        for (size_t c = 1; c < into->column_count; c++) {
            size_t column = gt_table_column(from, into->columns[c].key);
            gt_row_cell(&copy, into->columns[c].key,
                        column == SIZE_MAX ? gt_cell_null() : from->cells[row * from->column_count + column]);
        }
        gt_row_end(&copy);
    }
}

static void join_rows(struct gt_report *report, const struct gt_table *like) {
    size_t count = like->column_count + 1;
    struct gt_report_column *columns = gt_arena_array(&report->arena, count, sizeof *columns);
    if (!columns || count > GT_TABLE_COLUMNS_MAX)
        return;
    columns[0] = (struct gt_report_column){.key = "input", .title = "Input", .flags = GT_COLUMN_NAME};
    memcpy(columns + 1, like->columns, like->column_count * sizeof *columns);
    struct gt_table *table = add_table(report, like, columns, count);
    for (size_t s = 0; s < report->section_count; s++) {
        const struct gt_block *block = find_shown(&report->sections[s], like->key);
        if (block)
            copy_rows(table, block->table, report->sections[s].input.label);
    }
    hide(report, like->key);
}

/* ---- a column for each input ---- */

struct sum {
    __int128 integer;
    double real; /* of the cells that are no integers */
    bool is_real, is_there;
};

static void sum_take(struct sum *sum, const struct gt_cell *cell) {
    if (cell->type == GPUTIME_CELL_INT)
        sum->integer += cell->integer;
    else if (cell->type == GPUTIME_CELL_REAL)
        sum->real += cell->real;
    sum->is_real |= cell->type == GPUTIME_CELL_REAL;
    sum->is_there |= cell->type == GPUTIME_CELL_INT || cell->type == GPUTIME_CELL_REAL;
}

static void sum_join(struct sum *sum, const struct sum *other) {
    sum->integer += other->integer;
    sum->real += other->real;
    sum->is_real |= other->is_real;
    sum->is_there |= other->is_there;
}

static double sum_value(const struct sum *sum) {
    return (double)sum->integer + sum->real;
}

static struct gt_cell sum_cell(const struct sum *sum) {
    if (!sum->is_there)
        return gt_cell_null();
    bool fits = sum->integer <= INT64_MAX && sum->integer >= INT64_MIN;
    return sum->is_real || !fits ? gt_cell_real(sum_value(sum)) : gt_cell_int((int64_t)sum->integer);
}

/* A row of the new table: the sums of each input, after them that of all. */
struct pivot_row {
    struct gt_str name;
    struct sum *sums, whole;
};

struct pivot {
    struct gt_report *report;
    struct gt_strtab names;
    struct pivot_row *rows; /* by id of the name */
    size_t count, capacity;
};

static struct pivot_row *find_row(struct pivot *pivot, struct gt_str name) {
    gt_strid id = gt_strtab_intern_borrowed(&pivot->names, name);
    struct gt_arena *arena = &pivot->report->arena;
    while (!pivot->names.failed && pivot->count <= id) {
        struct pivot_row *rows = gt_arena_room(arena, pivot->rows, pivot->count, &pivot->capacity, sizeof *rows);
        struct sum *sums = gt_arena_array(arena, pivot->report->section_count, sizeof *sums);
        if (!rows || !sums)
            return NULL;
        pivot->rows = rows;
        rows[pivot->count] =
            (struct pivot_row){.name = gt_strtab_get(&pivot->names, (gt_strid)pivot->count), .sums = sums};
        pivot->count++;
    }
    return pivot->names.failed ? NULL : &pivot->rows[id];
}

static void take_table(struct pivot *pivot, size_t section, const struct gt_table *table, struct gt_str row_key,
                       struct gt_str value_key) {
    size_t name = gt_table_column_named(table, row_key), value = gt_table_column_named(table, value_key);
    for (size_t r = 0; name != SIZE_MAX && value != SIZE_MAX && r < table->row_count; r++) {
        const struct gt_cell *cells = &table->cells[r * table->column_count];
        struct pivot_row *row = find_row(pivot, (struct gt_str){cells[name].text, cells[name].text_bytes});
        if (!row)
            return;
        sum_take(&row->sums[section], &cells[value]);
        sum_take(&row->whole, &cells[value]);
    }
}

static int by_whole(const void *a, const void *b) {
    const struct pivot_row *x = a, *y = b;
    double left = sum_value(&x->whole), right = sum_value(&y->whole);
    return left != right ? (left < right ? 1 : -1) : gt_str_cmp(x->name, y->name);
}

static void write_row(struct gt_table *table, const struct pivot_row *row) {
    struct gt_row cells = gt_row_begin(table);
    gt_row_text(&cells, table->columns[0].key, row->name);
    for (size_t c = 1; c < table->column_count; c++)
        gt_row_cell(&cells, table->columns[c].key, sum_cell(&row->sums[c - 1]));
    gt_row_end(&cells);
}

/* Totals first, so that a limit leaves out the smallest rows. */
static void write_rows(struct pivot *pivot, struct gt_table *table) {
    size_t inputs = pivot->report->section_count;
    struct pivot_row total = {.name = GT_STR("total"),
                              .sums = gt_arena_array(&pivot->report->arena, inputs, sizeof *total.sums)};
    if (!total.sums)
        return;
    for (size_t r = 0; r < pivot->count; r++)
        for (size_t s = 0; s < inputs; s++)
            sum_join(&total.sums[s], &pivot->rows[r].sums[s]);
    write_row(table, &total);
    if (pivot->count)
        qsort(pivot->rows, pivot->count, sizeof *pivot->rows, by_whole);
    for (size_t r = 0; r < pivot->count; r++)
        if (pivot->rows[r].whole.is_there)
            write_row(table, &pivot->rows[r]);
}

static const struct gt_report_column *pivot_columns(struct gt_report *report, const struct gt_table *like,
                                                    struct gt_str row_key, struct gt_str value_key) {
    size_t name = gt_table_column_named(like, row_key), value = gt_table_column_named(like, value_key);
    struct gt_report_column *columns =
        gt_arena_array(&report->arena, report->section_count + 1, sizeof(struct gt_report_column));
    if (!columns || name == SIZE_MAX || value == SIZE_MAX)
        return NULL;
    columns[0] = like->columns[name];
    for (size_t s = 0; s < report->section_count; s++) {
        const char *label = report->sections[s].input.label.ptr;
        columns[s + 1] = (struct gt_report_column){.key = label, .title = label, .unit = like->columns[value].unit};
    }
    return columns;
}

static enum gt_status join_columns(struct gt_report *report, const struct gt_table *like, const char *pivot_keys,
                                   struct gt_error *err) {
    struct gt_str rest = gt_str_of(pivot_keys), row_key = {0}, value_key = {0};
    struct pivot pivot = {.report = report};
    gt_str_next_item(&rest, &row_key);
    gt_str_next_item(&rest, &value_key);
    const struct gt_report_column *columns = pivot_columns(report, like, row_key, value_key);
    if (!columns || report->section_count >= GT_TABLE_COLUMNS_MAX)
        return GT_OK; /* then each input has its own table */
    if (!gt_strtab_init(&pivot.names))
        return gt_fail_memory(err);
    for (size_t s = 0; s < report->section_count; s++) {
        const struct gt_block *block = find_shown(&report->sections[s], like->key);
        if (block)
            take_table(&pivot, s, block->table, row_key, value_key);
    }
    bool ok = !pivot.names.failed;
    if (ok)
        write_rows(&pivot, add_table(report, like, columns, report->section_count + 1));
    gt_strtab_release(&pivot.names);
    hide(report, like->key);
    return ok ? GT_OK : gt_fail_memory(err);
}

enum gt_status gt_report_join(struct gt_report *report, const struct gt_shape *shape, struct gt_error *err) {
    const struct gt_table *like = report->section_count > 1 ? first_shown(report, shape->table) : NULL;
    if (!like || shape->hidden) /* shown by name, it is shown as each input has it */
        return GT_OK;
    enum gt_status status = GT_OK;
    if (shape->pivot)
        status = join_columns(report, like, shape->pivot, err);
    else if (shape->joined)
        join_rows(report, like);
    return status == GT_OK ? gt_report_status(report, err) : status;
}
