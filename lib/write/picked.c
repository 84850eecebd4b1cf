/* Picks the rows of a table: a pick and the row around it come in, pointers to rows go out. */
#include "write/picked.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/sort.h"
#include "base/threads.h"
#include "write/bound.h"
#include "write/cell_format.h"
#include "write/place.h"

/* ---- values ---- */

struct gt_cell gt_picked_scope_cell(const struct gt_scope *scope, struct gt_str key) {
    for (;; scope = scope->around) {
        for (size_t c = 0; scope->table && c < scope->table->column_count; c++)
            if (gt_str_eq(gt_str_of(scope->table->columns[c].key), key))
                return scope->row ? scope->row[c] : gt_cell_int(0);
        if (!scope->around)
            break;
    }
    if (gt_str_eq(key, GT_STR("@input")))
        return gt_cell_text(scope->section->input.label);
    if (gt_str_eq(key, GT_STR("@path")))
        return gt_cell_text(scope->section->input.path);
    return gt_section_fact(scope->section, key);
}

static struct gt_cell find_value(const void *context, struct gt_str key) {
    return gt_picked_scope_cell(context, key);
}

/* Times count from the first op; what was cut off at the ends of 64 bits stays there. */
static struct gt_cell in_own_clock(const struct gt_section *section, const struct gt_cell *cell) {
    int64_t moment;
    if (cell->type != GPUTIME_CELL_INT)
        return *cell;
    if (__builtin_add_overflow(cell->integer, section->input.origin_ns, &moment))
        moment = cell->integer > 0 ? INT64_MAX : INT64_MIN;
    return gt_cell_int(moment);
}

struct gt_cell gt_picked_calculate(const struct gt_section *section, char operation, int64_t operand,
                                   const struct gt_cell *cell) {
    if (operation == '+')
        return in_own_clock(section, cell);
    if (!operation || (cell->type != GPUTIME_CELL_INT && cell->type != GPUTIME_CELL_REAL))
        return *cell;
    return gt_cell_real(gt_place_calculate(operation, operand, gt_cell_format_number(cell)));
}

struct gt_cell gt_picked_scope_value(const struct gt_scope *scope, const char *place_text) {
    struct gt_place place;
    gt_place_parse(place_text, &place);
    struct gt_cell cell = place.text.ptr ? gt_cell_text(place.text) : gt_place_value(&place, find_value, scope);
    return gt_picked_calculate(scope->section, place.operation, place.operand, &cell);
}

size_t gt_picked_number(char buf[GT_PICKED_NUMBER_MAX], const struct gt_cell *cell) {
    if (cell->type == GPUTIME_CELL_INT)
        return gt_num_format_int(buf, cell->integer);
    if (cell->type != GPUTIME_CELL_REAL || !isfinite(cell->real))
        return 0;
    size_t length = gt_num_format_real(buf, cell->real);
    if (memchr(buf, '.', length) || memchr(buf, 'e', length))
        return length;
    memcpy(buf + length, ".0", sizeof ".0");
    return length + 2;
}

/* ---- rows ---- */

/* With such a limit the first rows in order are kept as they come, instead of sorting all of them. */
enum { FEW_ROWS = 256 };

static bool is_same(const struct gt_cell *a, const struct gt_cell *b) {
    if (a->type != b->type)
        return false;
    switch ((enum gputime_cell_type)a->type) {
    case GPUTIME_CELL_TEXT:
        return gt_str_eq(gt_cell_str(a), gt_cell_str(b));
    case GPUTIME_CELL_INT:
        return a->integer == b->integer;
    case GPUTIME_CELL_REAL:
        return a->real == b->real;
    case GPUTIME_CELL_NULL:
        break;
    }
    return true;
}

/* A pick whose columns have been looked up. */
struct wanted {
    const struct gt_pick *pick;
    struct gt_bound where, with, known, match;
    struct gt_cell is, around; /* what `where` and `match` have to be */
};

static void wanted_init(struct wanted *wanted, const struct gt_pick *pick, const struct gt_table *table,
                        const struct gt_scope *scope) {
    *wanted = (struct wanted){.pick = pick};
    if (pick->where) {
        gt_bound_init(&wanted->where, pick->where, table, scope);
        wanted->is = gt_cell_text(gt_str_of(pick->is));
    }
    if (pick->with)
        gt_bound_init(&wanted->with, pick->with, table, scope);
    if (pick->known)
        gt_bound_init(&wanted->known, pick->known, table, scope);
    if (pick->match) {
        gt_bound_init(&wanted->match, pick->match, table, scope);
        wanted->around = gt_picked_scope_value(scope, pick->match);
    }
}

static bool is_wanted(const struct wanted *wanted, const struct gt_cell *row) {
    const struct gt_pick *pick = wanted->pick;
    struct gt_cell cell;
    if (pick->where) {
        cell = gt_bound_value(&wanted->where, row);
        if (!is_same(&cell, &wanted->is))
            return false;
    }
    if (pick->with) {
        cell = gt_bound_value(&wanted->with, row);
        if (cell.type != GPUTIME_CELL_TEXT && gt_cell_format_number(&cell) == 0)
            return false;
    }
    if (pick->known && gt_bound_value(&wanted->known, row).type == GPUTIME_CELL_NULL)
        return false;
    if (!pick->match)
        return true;
    cell = gt_bound_value(&wanted->match, row);
    return is_same(&cell, &wanted->around);
}

static int by_column(const void *a, const void *b, void *context) {
    const struct gt_cell *x = *(const struct gt_cell *const *)a, *y = *(const struct gt_cell *const *)b;
    size_t column = *(const size_t *)context;
    double x_value = gt_cell_format_number(&x[column]), y_value = gt_cell_format_number(&y[column]);
    if (x_value != y_value)
        return x_value < y_value ? 1 : -1;
    return (x > y) - (x < y); /* as the table has them */
}

/* Of the rows so far, in order, and one more that comes after them in the table: the first ones. */
static void keep_first(struct gt_picked *picked, size_t most, const struct gt_cell *row, size_t *column) {
    size_t place = picked->count;
    while (place && by_column(&picked->rows[place - 1], &row, column) > 0)
        place--;
    if (place == most)
        return;
    picked->count += picked->count < most;
    memmove(picked->rows + place + 1, picked->rows + place, (picked->count - 1 - place) * sizeof *picked->rows);
    picked->rows[place] = row;
}

/* What is looked for in a table, and what slices of its rows have. */
struct picking {
    const struct gt_table *table;
    struct wanted wanted;
    size_t column, most, slices; /* the column that sorts; how many rows at most */
    bool is_sorted, is_few;      /* a few rows: slices keep no more of them, in order where they are sorted */
    const struct gt_cell **rows; /* with room for what all slices may have */
    struct gt_picked *parts;     /* of slices, in those rows */
};

static void pick_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct picking *picking = context;
    const struct gt_table *table = picking->table;
    struct gt_picked part = {.rows = picking->rows + (picking->is_few ? slice * picking->most : begin)};
    bool keeps_first = picking->is_few && picking->is_sorted;
    for (size_t i = begin; i < end && (picking->is_sorted || part.count < picking->most); i++) {
        const struct gt_cell *row = &table->cells[i * table->column_count];
        if (!is_wanted(&picking->wanted, row))
            continue;
        if (keeps_first)
            keep_first(&part, picking->most, row, &picking->column);
        else
            part.rows[part.count++] = row;
    }
    picking->parts[slice] = part;
}

/* Those of the first slice are where they belong. */
static void join_parts(struct picking *picking, struct gt_picked *picked) {
    bool keeps_first = picking->is_few && picking->is_sorted;
    picked->count = picking->parts[0].count;
    for (size_t s = 1; s < picking->slices; s++) {
        const struct gt_picked *part = &picking->parts[s];
        for (size_t i = 0; i < part->count && keeps_first; i++)
            keep_first(picked, picking->most, part->rows[i], &picking->column);
        if (keeps_first)
            continue;
        memmove(picked->rows + picked->count, part->rows, part->count * sizeof *part->rows);
        picked->count += part->count;
    }
}

static void pick_rows(struct picking *picking, struct gt_picked *picked, size_t threads) {
    gt_threads_rows(picking->slices, picking->table->row_count, pick_slice, picking);
    join_parts(picking, picked);
    if (picking->is_sorted && !picking->is_few)
        gt_sort(picked->rows, picked->count, sizeof(const struct gt_cell *), by_column, &picking->column, threads);
    if (picked->count > picking->most)
        picked->count = picking->most;
}

static size_t room_for(const struct picking *picking) {
    return picking->is_few ? picking->slices * picking->most : picking->table->row_count;
}

enum gt_status gt_picked_init(struct gt_picked *picked, const struct gt_pick *pick, const struct gt_scope *scope,
                              size_t threads, struct gt_error *err) {
    const struct gt_table *table = gt_section_find(scope->section, pick->table);
    *picked = (struct gt_picked){.table = table};
    if (!table || !table->row_count)
        return GT_OK;
    struct picking picking = {.table = table, .most = pick->limit ? pick->limit : SIZE_MAX};
    picking.column = pick->sort ? gt_table_column(table, pick->sort) : SIZE_MAX;
    picking.is_sorted = picking.column != SIZE_MAX;
    picking.is_few = picking.most <= FEW_ROWS;
    picking.slices = gt_threads_slices(threads, table->row_count, picking.is_few ? picking.most : 0);
    picking.parts = gt_mem_array(picking.slices, sizeof *picking.parts);
    picked->rows = picking.rows = gt_mem_uninitialised(room_for(&picking), sizeof *picking.rows);
    bool ok = picking.parts && picking.rows;
    if (ok) {
        wanted_init(&picking.wanted, pick, table, scope);
        pick_rows(&picking, picked, threads);
    } else {
        gt_picked_release(picked);
    }
    gt_mem_free(picking.parts);
    return ok ? GT_OK : gt_fail_memory(err);
}

void gt_picked_release(struct gt_picked *picked) {
    gt_mem_free(picked->rows);
    *picked = (struct gt_picked){0};
}
