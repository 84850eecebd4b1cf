/* Binds places to the columns of a table: the text of a place comes in once, cells go out row by row. */
#include "write/bound.h"

#include <assert.h>
#include <string.h>

#include "write/cell_format.h"
#include "write/place.h"

static void add_key(struct gt_bound *bound, struct gt_str key, const struct gt_table *table,
                    const struct gt_scope *around) {
    size_t column = table ? gt_table_column_named(table, key) : SIZE_MAX;
    assert(bound->key_count < GT_BOUND_KEYS);
    bound->keys[bound->key_count].column = column;
    if (column == SIZE_MAX)
        bound->keys[bound->key_count].same = gt_picked_scope_cell(around, key);
    bound->key_count++;
}

void gt_bound_init(struct gt_bound *bound, const char *place_text, const struct gt_table *table,
                   const struct gt_scope *around) {
    struct gt_place place;
    struct gt_str key;
    gt_place_parse(place_text, &place);
    *bound = (struct gt_bound){.section = around->section, .operation = place.operation, .operand = place.operand};
    if (place.text.ptr) {
        bound->keys[0].column = SIZE_MAX;
        bound->keys[0].same = gt_cell_text(place.text);
        bound->key_count = 1;
    }
    while (!place.text.ptr && gt_place_next_key(&place.keys, &key))
        add_key(bound, key, table, around);
}

void gt_bound_init_column(struct gt_bound *bound, size_t column) {
    *bound = (struct gt_bound){.key_count = 1};
    bound->keys[0].column = column;
}

struct gt_cell gt_bound_value(const struct gt_bound *bound, const struct gt_cell *row) {
    struct gt_cell cell = gt_cell_null();
    for (size_t i = 0; i < bound->key_count && cell.type == GPUTIME_CELL_NULL; i++)
        cell = bound->keys[i].column == SIZE_MAX ? bound->keys[i].same : row[bound->keys[i].column];
    return bound->operation ? gt_picked_calculate(bound->section, bound->operation, bound->operand, &cell) : cell;
}
