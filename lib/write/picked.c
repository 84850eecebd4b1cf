/* Picks the rows of a table: a pick and the row around it come in, pointers to rows go out. */
#include "write/picked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "write/cell_format.h"
#include "write/place.h"

/* ---- values ---- */

static struct gt_cell find_value(const void *context, struct gt_str key) {
    const struct gt_scope *scope = context;
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

/* Times count from the first op; what was cut off at the ends of 64 bits stays there. */
static struct gt_cell in_own_clock(const struct gt_section *section, const struct gt_cell *cell) {
    int64_t moment;
    if (cell->type != GPUTIME_CELL_INT)
        return *cell;
    if (__builtin_add_overflow(cell->integer, section->input.origin_ns, &moment))
        moment = cell->integer > 0 ? INT64_MAX : INT64_MIN;
    return gt_cell_int(moment);
}

struct gt_cell gt_picked_scope_value(const struct gt_scope *scope, const char *place_text) {
    struct gt_place place;
    gt_place_parse(place_text, &place);
    struct gt_cell cell = place.text.ptr ? gt_cell_text(place.text) : gt_place_value(&place, find_value, scope);
    if (place.operation == '+')
        return in_own_clock(scope->section, &cell);
    if (!place.operation || (cell.type != GPUTIME_CELL_INT && cell.type != GPUTIME_CELL_REAL))
        return cell;
    return gt_cell_real(gt_place_calculate(&place, gt_cell_format_number(&cell)));
}

size_t gt_picked_number(char buf[GT_PICKED_NUMBER_MAX], const struct gt_cell *cell) {
    if (cell->type == GPUTIME_CELL_INT)
        return gt_num_format_int(buf, cell->integer);
    if (cell->type != GPUTIME_CELL_REAL || !isfinite(cell->real))
        return 0;
    size_t length = gt_num_format_real(buf, cell->real);
    if (strpbrk(buf, ".eE"))
        return length;
    memcpy(buf + length, ".0", sizeof ".0");
    return length + 2;
}

/* ---- rows ---- */

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

static bool is_wanted(const struct gt_pick *pick, const struct gt_scope *inside) {
    struct gt_str is = gt_str_of(pick->is);
    struct gt_cell text = gt_cell_text(is), cell;
    if (pick->where) {
        cell = gt_picked_scope_value(inside, pick->where);
        if (!is_same(&cell, &text))
            return false;
    }
    if (pick->with) {
        cell = gt_picked_scope_value(inside, pick->with);
        if (cell.type != GPUTIME_CELL_TEXT && gt_cell_format_number(&cell) == 0)
            return false;
    }
    if (pick->known && gt_picked_scope_value(inside, pick->known).type == GPUTIME_CELL_NULL)
        return false;
    if (!pick->match)
        return true;
    cell = gt_picked_scope_value(inside, pick->match);
    struct gt_cell around = gt_picked_scope_value(inside->around, pick->match);
    return is_same(&cell, &around);
}

static int by_column(const void *a, const void *b, void *context) {
    const struct gt_cell *x = *(const struct gt_cell *const *)a, *y = *(const struct gt_cell *const *)b;
    size_t column = *(const size_t *)context;
    double x_value = gt_cell_format_number(&x[column]), y_value = gt_cell_format_number(&y[column]);
    if (x_value != y_value)
        return x_value < y_value ? 1 : -1;
    return (x > y) - (x < y); /* as the table has them */
}

enum gt_status gt_picked_init(struct gt_picked *picked, const struct gt_pick *pick, const struct gt_scope *scope,
                              struct gt_error *err) {
    const struct gt_table *table = gt_section_find(scope->section, pick->table);
    *picked = (struct gt_picked){.table = table};
    picked->rows = gt_mem_array(table ? table->row_count : 0, sizeof(const struct gt_cell *));
    if (!picked->rows)
        return gt_fail_memory(err);
    for (size_t row = 0; table && row < table->row_count; row++) {
        struct gt_scope inside = {scope->section, table, &table->cells[row * table->column_count], scope};
        if (is_wanted(pick, &inside))
            picked->rows[picked->count++] = inside.row;
        if (pick->limit && !pick->sort && picked->count == pick->limit)
            break;
    }
    size_t column = pick->sort && table ? gt_table_column(table, pick->sort) : SIZE_MAX;
    if (column != SIZE_MAX && picked->count)
        qsort_r(picked->rows, picked->count, sizeof(const struct gt_cell *), by_column, &column);
    if (pick->limit && picked->count > pick->limit)
        picked->count = pick->limit;
    return GT_OK;
}

void gt_picked_release(struct gt_picked *picked) {
    gt_mem_free(picked->rows);
    *picked = (struct gt_picked){0};
}
