/* Picks the rows of a table: a pick and the row around it come in, pointers to rows go out. */
#include "write/picked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
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

static void pick_rows(struct gt_picked *picked, const struct gt_pick *pick, const struct gt_scope *scope, size_t most) {
    const struct gt_table *table = picked->table;
    size_t column = pick->sort ? gt_table_column(table, pick->sort) : SIZE_MAX;
    bool is_sorted = column != SIZE_MAX, keeps_first = is_sorted && most <= FEW_ROWS;
    struct wanted wanted;
    wanted_init(&wanted, pick, table, scope);
    for (size_t i = 0; i < table->row_count && (is_sorted || picked->count < most); i++) {
        const struct gt_cell *row = &table->cells[i * table->column_count];
        if (!is_wanted(&wanted, row))
            continue;
        if (keeps_first)
            keep_first(picked, most, row, &column);
        else
            picked->rows[picked->count++] = row;
    }
    if (is_sorted && !keeps_first)
        qsort_r(picked->rows, picked->count, sizeof(const struct gt_cell *), by_column, &column);
    if (picked->count > most)
        picked->count = most;
}

enum gt_status gt_picked_init(struct gt_picked *picked, const struct gt_pick *pick, const struct gt_scope *scope,
                              struct gt_error *err) {
    const struct gt_table *table = gt_section_find(scope->section, pick->table);
    size_t row_count = table ? table->row_count : 0, most = pick->limit ? pick->limit : SIZE_MAX;
    size_t room = most <= FEW_ROWS && most < row_count ? most : row_count;
    *picked = (struct gt_picked){.table = table};
    picked->rows = gt_mem_uninitialised(room, sizeof(const struct gt_cell *));
    if (!picked->rows)
        return gt_fail_memory(err);
    if (row_count)
        pick_rows(picked, pick, scope, most);
    return GT_OK;
}

void gt_picked_release(struct gt_picked *picked) {
    gt_mem_free(picked->rows);
    *picked = (struct gt_picked){0};
}
