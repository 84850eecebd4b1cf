/* Shapes tables as a user asked: which order, how many rows, which columns on the screen. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/radix.h"
#include "report/report.h"

/* ---- names of columns ---- */

/* "name, count, total_ns", cut where the buffer ends. */
static void list_columns(const struct gt_table *table, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t c = 0; c < table->column_count; c++) {
        size_t length = strlen(table->columns[c].key);
        if (used + length + 3 > size)
            return;
        if (c) {
            memcpy(text + used, ", ", 2);
            used += 2;
        }
        memcpy(text + used, table->columns[c].key, length + 1);
        used += length;
    }
}

static enum gt_status unknown_column(const struct gt_table *table, struct gt_str key, struct gt_error *err) {
    char columns[768];
    list_columns(table, columns, sizeof columns);
    int length = key.len < 80 ? (int)key.len : 80;
    return gt_fail_usage(err, "table '%s' has no column '%.*s'; it has %s", table->key, length, key.ptr, columns);
}

/* ---- sort ---- */

enum key_kind { KEY_INT, KEY_REAL, KEY_TEXT };

struct sorting {
    const struct gt_cell *first; /* of the column */
    size_t stride;
    bool ascending;
    enum key_kind kind;
    uint32_t *order; /* rows in their new order */
    uint32_t *spare;
    struct gt_radix_item *items;
    size_t count; /* rows that have a value; the others come last */
};

static const struct gt_cell *cell_of(const struct sorting *sorting, uint32_t row) {
    return sorting->first + (size_t)row * sorting->stride;
}

static bool has_value(const struct gt_cell *cell) {
    return cell->type != GPUTIME_CELL_NULL && !(cell->type == GPUTIME_CELL_REAL && isnan(cell->real));
}

static double real_of(const struct gt_cell *cell) {
    return cell->type == GPUTIME_CELL_INT ? (double)cell->integer : cell->real;
}

/* Bits of a double as a number that sorts the same. */
static uint64_t real_key(double value) {
    uint64_t bits;
    value += 0.0; /* minus zero equals zero */
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* Rows with a value first, those without after them, both in their old order. */
static void split_rows(struct sorting *sorting, size_t row_count) {
    sorting->kind = KEY_INT;
    for (uint32_t row = 0; row < row_count; row++) {
        const struct gt_cell *cell = cell_of(sorting, row);
        if (!has_value(cell))
            continue;
        sorting->order[sorting->count++] = row;
        enum key_kind kind = cell->type == GPUTIME_CELL_TEXT   ? KEY_TEXT
                             : cell->type == GPUTIME_CELL_REAL ? KEY_REAL
                                                               : KEY_INT;
        if (kind > sorting->kind)
            sorting->kind = kind;
    }
    size_t last = sorting->count;
    for (uint32_t row = 0; row < row_count; row++) {
        if (!has_value(cell_of(sorting, row)))
            sorting->order[last++] = row;
    }
}

static bool sort_numbers(struct sorting *sorting) {
    for (size_t i = 0; i < sorting->count; i++) {
        const struct gt_cell *cell = cell_of(sorting, sorting->order[i]);
        uint64_t key = sorting->kind == KEY_INT ? gt_radix_key(cell->integer) : real_key(real_of(cell));
        sorting->items[i] = (struct gt_radix_item){.key = sorting->ascending ? key : ~key, .value = sorting->order[i]};
    }
    if (!gt_radix_sort(sorting->items, sorting->count))
        return false;
    for (size_t i = 0; i < sorting->count; i++)
        sorting->order[i] = sorting->items[i].value;
    return true;
}

/* Numbers before text, text by bytes. */
static int compare_cells(const struct gt_cell *a, const struct gt_cell *b) {
    bool a_text = a->type == GPUTIME_CELL_TEXT, b_text = b->type == GPUTIME_CELL_TEXT;
    if (a_text && b_text)
        return gt_str_cmp((struct gt_str){a->text, a->text_bytes}, (struct gt_str){b->text, b->text_bytes});
    if (a_text || b_text)
        return (int)a_text - (int)b_text;
    return (real_of(a) > real_of(b)) - (real_of(a) < real_of(b));
}

static void merge_runs(const struct sorting *sorting, const uint32_t *from, uint32_t *to, size_t start, size_t middle,
                       size_t end) {
    size_t left = start, right = middle;
    for (size_t i = start; i < end; i++) {
        bool take_left = right >= end;
        if (left < middle && right < end) {
            int order = compare_cells(cell_of(sorting, from[left]), cell_of(sorting, from[right]));
            take_left = sorting->ascending ? order <= 0 : order >= 0;
        }
        to[i] = take_left ? from[left++] : from[right++];
    }
}

/* Bottom-up merge sort: stable, n log n whatever the text is. */
static void sort_text(struct sorting *sorting) {
    uint32_t *from = sorting->order, *to = sorting->spare;
    for (size_t run = 1; run < sorting->count; run *= 2) {
        for (size_t start = 0; start < sorting->count; start += 2 * run) {
            size_t middle = start + run < sorting->count ? start + run : sorting->count;
            size_t end = middle + run < sorting->count ? middle + run : sorting->count;
            merge_runs(sorting, from, to, start, middle, end);
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != sorting->order)
        memcpy(sorting->order, from, sorting->count * sizeof *from);
}

/* Moves each row to its new place along the cycles of the permutation, so that a large table is not held twice. */
static void move_rows(struct gt_table *table, uint32_t *order) {
    size_t columns = table->column_count, row_bytes = columns * sizeof *table->cells;
    struct gt_cell kept[GT_TABLE_COLUMNS_MAX];
    for (uint32_t start = 0; start < table->row_count; start++) {
        if (order[start] == start)
            continue;
        memcpy(kept, table->cells + start * columns, row_bytes);
        uint32_t hole = start;
        while (order[hole] != start) {
            uint32_t from = order[hole];
            memcpy(table->cells + hole * columns, table->cells + from * columns, row_bytes);
            order[hole] = hole;
            hole = from;
        }
        memcpy(table->cells + hole * columns, kept, row_bytes);
        order[hole] = hole;
    }
}

static bool order_rows(struct sorting *sorting, size_t row_count) {
    sorting->order = gt_mem_array(row_count, sizeof *sorting->order);
    if (!sorting->order)
        return false;
    split_rows(sorting, row_count);
    if (sorting->kind != KEY_TEXT) {
        sorting->items = gt_mem_array(sorting->count, sizeof *sorting->items);
        return sorting->items && sort_numbers(sorting);
    }
    sorting->spare = gt_mem_array(sorting->count, sizeof *sorting->spare);
    if (sorting->spare)
        sort_text(sorting);
    return sorting->spare != NULL;
}

static enum gt_status sort_rows(struct gt_table *table, size_t column, bool ascending, struct gt_error *err) {
    struct sorting sorting = {.first = table->cells + column, .stride = table->column_count, .ascending = ascending};
    bool is_ordered = order_rows(&sorting, table->row_count);
    if (is_ordered)
        move_rows(table, sorting.order);
    gt_mem_free(sorting.order);
    gt_mem_free(sorting.spare);
    gt_mem_free(sorting.items);
    return is_ordered ? GT_OK : gt_fail_memory(err);
}

enum gt_status gt_table_sort(struct gt_table *table, const char *sort, struct gt_error *err) {
    bool ascending = sort[0] == '+';
    size_t column = gt_table_column_sorted(table, sort);
    if (column == SIZE_MAX)
        return unknown_column(table, gt_str_of(sort + ascending), err);
    if (table->row_count > UINT32_MAX)
        return gt_fail(err, "table '%s' has too many rows to sort", table->key);
    if (table->row_count > 1) {
        enum gt_status status = sort_rows(table, column, ascending, err);
        if (status)
            return status;
    }
    table->sort = table->columns[column].key;
    table->blank_rows = 0;
    return GT_OK;
}

void gt_table_limit(struct gt_table *table, size_t rows) {
    if (rows && table->row_count > rows)
        table->row_count = rows;
}

/* ---- shapes ---- */

static enum gt_status check_columns(const struct gt_table *table, const char *keys, struct gt_error *err) {
    struct gt_str rest = gt_str_of(keys), key;
    while (gt_str_next_item(&rest, &key)) {
        /* The writers of data put an input column before those of the table. */
        if (gt_table_column_named(table, key) == SIZE_MAX && !gt_str_eq(key, GT_STR("input")))
            return unknown_column(table, key, err);
    }
    return GT_OK;
}

struct gt_shape gt_shape_of(const char *key, const struct gt_shape *shapes, size_t count) {
    struct gt_shape sum = {.table = key};
    for (size_t i = 0; i < count; i++) {
        if (!shapes[i].table || strcmp(shapes[i].table, key) != 0)
            continue;
        sum.sort = shapes[i].sort ? shapes[i].sort : sum.sort;
        sum.limit = shapes[i].limit ? shapes[i].limit : sum.limit;
        sum.screen_limit = shapes[i].screen_limit ? shapes[i].screen_limit : sum.screen_limit;
        sum.columns = shapes[i].columns ? shapes[i].columns : sum.columns;
        sum.hidden = shapes[i].hidden ? shapes[i].hidden : sum.hidden;
        sum.absent = shapes[i].absent ? shapes[i].absent : sum.absent;
        sum.ranked = shapes[i].ranked ? shapes[i].ranked : sum.ranked;
        sum.joined = shapes[i].joined ? shapes[i].joined : sum.joined;
        sum.pivot = shapes[i].pivot ? shapes[i].pivot : sum.pivot;
        sum.cut_sort = shapes[i].cut_sort ? shapes[i].cut_sort : sum.cut_sort;
    }
    return sum;
}

static bool is_cut(const struct gt_table *table, const struct gt_shape *shape) {
    return shape->screen_limit > 0 && table->row_count > (size_t)shape->screen_limit;
}

static enum gt_status shape_table(struct gt_block *block, const struct gt_shape *shape, struct gt_error *err) {
    struct gt_table *table = block->table;
    enum gt_status status = GT_OK;
    const char *sort = shape->sort ? shape->sort : is_cut(table, shape) ? shape->cut_sort : NULL;
    if (sort)
        status = gt_table_sort(table, sort, err);
    if (!status && shape->columns)
        status = check_columns(table, shape->columns, err);
    if (status)
        return status;
    if (shape->columns)
        table->screen_columns = shape->columns;
    table->shows_sort = shape->sort && !shape->columns;
    if (shape->limit > 0)
        gt_table_limit(table, (size_t)shape->limit);
    if (shape->screen_limit)
        table->screen_limit = shape->screen_limit > 0 ? (size_t)shape->screen_limit : 0;
    table->is_ranked = table->is_ranked || shape->ranked > 0;
    if (shape->hidden > 0)
        block->audience &= ~(uint32_t)GT_FOR_SCREEN;
    if (shape->hidden < 0) {
        block->audience |= GT_FOR_SCREEN;
        table->empty = table->empty ? table->empty : "No rows.";
    }
    return GT_OK;
}

/* What all inputs show together is made of whole tables. */
static enum gt_status join_tables(struct gt_report *report, const struct gt_shape *shapes, size_t count,
                                  struct gt_error *err) {
    enum gt_status status = GT_OK;
    for (size_t i = 0; i < count && !status; i++) {
        if (!shapes[i].table || (!shapes[i].joined && !shapes[i].pivot))
            continue;
        struct gt_shape shape = gt_shape_of(shapes[i].table, shapes, count);
        status = gt_report_join(report, &shape, err);
        struct gt_table *table = gt_section_find(&report->joint, shape.table);
        if (table && shape.limit > 0)
            gt_table_limit(table, (size_t)shape.limit + 1); /* and the totals */
        if (table && shape.screen_limit)
            table->screen_limit = shape.screen_limit > 0 ? (size_t)shape.screen_limit + 1 : 0;
    }
    return status;
}

enum gt_status gt_report_shape(struct gt_report *report, const struct gt_shape *shapes, size_t count,
                               struct gt_error *err) {
    enum gt_status joined = join_tables(report, shapes, count, err);
    if (joined)
        return joined;
    for (size_t s = 0; s < report->section_count; s++) {
        struct gt_section *section = &report->sections[s];
        for (size_t b = 0; b < section->block_count; b++) {
            struct gt_block *block = &section->blocks[b];
            if (!block->table)
                continue;
            struct gt_shape shape = gt_shape_of(block->table->key, shapes, count);
            enum gt_status status = shape_table(block, &shape, err);
            if (status)
                return status;
        }
    }
    return GT_OK;
}
