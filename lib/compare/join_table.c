/* The joined rows as a table of the comparison: largest change first, each amount of A and B and its change. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compare/join.h"
#include "report/row.h"

enum { SCREEN_ROWS = 10 };

/* A row about to be written. */
struct change {
    size_t row;
    double a, b, delta;
    struct gt_noise noise;
};

/* ---- columns ---- */

struct columns {
    struct gt_arena *arena;
    const char *const *names; /* of the sides */
    struct gt_report_column *items;
    size_t count;
};

static void add_column(struct columns *columns, const char *key, const char *title, enum gt_unit unit, const char *of,
                       uint32_t flags) {
    if (columns->items)
        columns->items[columns->count++] = (struct gt_report_column){key, title, unit, of, flags};
}

static const char *prefixed(struct columns *columns, const char *prefix, const char *key) {
    return gt_arena_printf(columns->arena, "%s%s", prefix, key).ptr;
}

/* "B: Count" */
static const char *side_title(struct columns *columns, enum gt_side side, const char *title) {
    return gt_arena_printf(columns->arena, "%s: %s", columns->names[side], title).ptr;
}

static bool is_seen_key(const struct gt_report_column *column) {
    return (column->flags & GT_COLUMN_KEY) && !(column->flags & GT_COLUMN_DETAIL);
}

static bool is_name_key(const struct gt_report_column *column) {
    return (column->flags & GT_COLUMN_KEY) && (column->flags & GT_COLUMN_NAME);
}

static bool has_names(const struct gt_table *shape) {
    bool has_one = false;
    for (size_t c = 0; c < shape->column_count; c++)
        has_one |= is_name_key(&shape->columns[c]);
    return has_one;
}

static void add_key_columns(struct columns *columns, const struct gt_table *shape) {
    bool has_seen = false;
    for (size_t c = 0; c < shape->column_count; c++)
        has_seen |= is_seen_key(&shape->columns[c]);
    for (size_t c = 0; c < shape->column_count; c++) {
        struct gt_report_column column = shape->columns[c];
        if (!(column.flags & GT_COLUMN_KEY))
            continue;
        column.flags &= GT_COLUMN_NAME | GT_COLUMN_DETAIL | GT_COLUMN_EDGE | GT_COLUMN_VARIES;
        if (!has_seen) { /* a key that is a detail elsewhere is the only key here */
            column.flags = GT_COLUMN_NAME;
            has_seen = true;
        }
        add_column(columns, column.key, column.title, column.unit, NULL, column.flags);
    }
    for (size_t c = 0; c < shape->column_count; c++)
        if (is_name_key(&shape->columns[c])) {
            const struct gt_report_column *column = &shape->columns[c];
            add_column(columns, prefixed(columns, "a_", column->key), side_title(columns, GT_SIDE_A, column->title),
                       GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_DETAIL);
            add_column(columns, prefixed(columns, "b_", column->key), side_title(columns, GT_SIDE_B, column->title),
                       GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_DETAIL);
        }
    if (has_names(shape)) {
        add_column(columns, "a_names", side_title(columns, GT_SIDE_A, "names"), GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL);
        add_column(columns, "b_names", side_title(columns, GT_SIDE_B, "names"), GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL);
    }
}

static void add_amount_columns(struct columns *columns, const struct gt_report_column *amount, bool is_lead) {
    uint32_t flags = is_lead ? GT_COLUMN_SIDE : GT_COLUMN_DETAIL;
    const char *of_a = is_lead ? columns->names[GT_SIDE_A] : side_title(columns, GT_SIDE_A, amount->title);
    const char *of_b = is_lead ? columns->names[GT_SIDE_B] : side_title(columns, GT_SIDE_B, amount->title);
    const char *change = is_lead ? "Change" : prefixed(columns, "Change: ", amount->title);
    add_column(columns, prefixed(columns, "a_", amount->key), of_a, amount->unit, NULL, flags);
    add_column(columns, prefixed(columns, "b_", amount->key), of_b, amount->unit, NULL, flags);
    add_column(columns, prefixed(columns, "delta_", amount->key), change, amount->unit, NULL, flags | GT_COLUMN_SIGNED);
}

/* has_interval: low and high are known and fit. */
static void add_lead_columns(struct columns *columns, const struct gt_report_column *lead, bool has_others,
                             bool has_interval) {
    uint32_t detail = GT_COLUMN_DETAIL | GT_COLUMN_SIGNED;
    uint32_t bound = GT_COLUMN_SIDE | (has_interval ? GT_COLUMN_SIGNED : detail);
    add_amount_columns(columns, lead, true);
    add_column(columns, "change", "Change %", GT_UNIT_SHARE, NULL, GT_COLUMN_SIGNED);
    add_column(columns, "status", "Status", GT_UNIT_NONE, NULL, 0);
    add_column(columns, "match", "Match", GT_UNIT_NONE, NULL, has_others ? 0 : GT_COLUMN_DETAIL);
    add_column(columns, "contribution", "Contribution", GT_UNIT_SHARE, "all rows of A", detail);
    add_column(columns, prefixed(columns, "noise_", lead->key), "Noise", lead->unit, NULL,
               GT_COLUMN_SIDE | GT_COLUMN_DETAIL);
    add_column(columns, prefixed(columns, "low_", lead->key), "Low", lead->unit, NULL, bound);
    add_column(columns, prefixed(columns, "high_", lead->key), "High", lead->unit, NULL, bound);
}

/* has_others: some rows were matched differently than by key, or not matched. */
static struct columns make_columns(const struct gt_join *join, bool has_others, struct gt_arena *arena) {
    const struct gt_table *shape = join->shape;
    struct columns columns = {.arena = arena, .names = join->sides->names};
    columns.items = gt_arena_array(arena, 6 * shape->column_count + 12, sizeof *columns.items);
    bool has_interval = join->sides->capture_count > GT_SIDE_COUNT;
    for (size_t c = 0; c < shape->column_count; c++)
        has_interval &= !is_seen_key(&shape->columns[c]) || !(shape->columns[c].flags & GT_COLUMN_NAME);
    add_key_columns(&columns, shape);
    add_lead_columns(&columns, &shape->columns[join->adds[join->lead]], has_others, has_interval);
    for (size_t i = 0; i < join->add_count; i++)
        if (i != join->lead)
            add_amount_columns(&columns, &shape->columns[join->adds[i]], false);
    return columns;
}

/* ---- cells ---- */

static struct gt_cell real_cell(double value) {
    return isnan(value) ? gt_cell_null() : gt_cell_real(value);
}

/* Whole numbers stay whole as long as a double holds them exactly. */
static struct gt_cell amount_cell(double amount) {
    if (isnan(amount))
        return gt_cell_null();
    return fabs(amount) < 9007199254740992.0 && amount == floor(amount) ? gt_cell_int((int64_t)amount)
                                                                        : gt_cell_real(amount);
}

static const char *status_of(const struct gt_join_row *row, const struct change *change) {
    if (isnan(change->delta))
        return "unknown";
    if (!row->cells[GT_SIDE_B])
        return "only A";
    if (!row->cells[GT_SIDE_A])
        return "only B";
    if (!change->noise.is_beyond)
        return change->delta < 0 || change->delta > 0 ? "noise" : "same";
    return change->delta > 0 ? "up" : "down";
}

static bool same_text(const struct gt_cell *a, const struct gt_cell *b) {
    return a->type == b->type && a->type == GPUTIME_CELL_TEXT &&
           gt_str_eq((struct gt_str){a->text, a->text_bytes}, (struct gt_str){b->text, b->text_bytes});
}

/* Of joined rows, the largest of each side; else the name in B if it differs. */
static void put_names(const struct gt_table *shape, const struct gt_join_row *row, bool is_group, struct gt_row *out) {
    const struct gt_cell *of_a = row->cells[GT_SIDE_A], *of_b = row->cells[GT_SIDE_B];
    for (size_t c = 0; c < shape->column_count; c++) {
        if (!is_name_key(&shape->columns[c]))
            continue;
        bool is_other = of_a && of_b && !same_text(&of_a[c], &of_b[c]);
        gt_row_next(out, is_group && of_a ? row->largest[GT_SIDE_A][c] : gt_cell_null());
        gt_row_next(out, is_group && of_b ? row->largest[GT_SIDE_B][c] : is_other ? of_b[c] : gt_cell_null());
    }
    for (size_t side = 0; side < GT_SIDE_COUNT && has_names(shape); side++)
        gt_row_next(out, gt_cell_int((int64_t)row->names[side]));
}

static void put_keys(const struct gt_join *join, const struct gt_join_row *row, struct gt_arena *arena,
                     struct gt_row *out) {
    const struct gt_table *shape = join->shape;
    const struct gt_cell *of_a = row->cells[GT_SIDE_A], *of_b = row->cells[GT_SIDE_B], *known = of_a ? of_a : of_b;
    bool is_group = row->label.len && (row->names[GT_SIDE_A] > 1 || row->names[GT_SIDE_B] > 1);
    for (size_t c = 0; c < shape->column_count; c++) {
        uint32_t flags = shape->columns[c].flags;
        if (!(flags & GT_COLUMN_KEY))
            continue;
        bool is_label = is_group && (flags & GT_COLUMN_NAME);
        gt_row_next(out, !is_label ? known[c]
                                   : gt_cell_text(gt_arena_printf(arena, "%.*s (%zu -> %zu names)", (int)row->label.len,
                                                                  row->label.ptr, row->names[GT_SIDE_A],
                                                                  row->names[GT_SIDE_B])));
    }
    put_names(shape, row, is_group, out);
}

static void put_amounts(const struct gt_join *join, size_t row, size_t amount, struct gt_row *out) {
    double a = gt_join_amount(join, row, GT_SIDE_A, amount), b = gt_join_amount(join, row, GT_SIDE_B, amount);
    gt_row_next(out, amount_cell(a));
    gt_row_next(out, amount_cell(b));
    gt_row_next(out, amount_cell(b - a));
}

static void put_row(const struct gt_join *join, const struct change *change, double whole, struct gt_table *table) {
    const struct gt_join_row *row = &join->rows[change->row];
    struct gt_row out = gt_row_begin(table);
    put_keys(join, row, &table->report->arena, &out);
    put_amounts(join, change->row, join->lead, &out);
    gt_row_cell(&out, "change", change->a > 0 ? real_cell(change->delta / change->a) : gt_cell_null());
    gt_row_cell(&out, "status", gt_cell_text(gt_str_of(status_of(row, change))));
    gt_row_cell(&out, "match", gt_cell_text(gt_str_of(gt_match_names[row->match])));
    gt_row_cell(&out, "contribution", whole > 0 ? real_cell(change->delta / whole) : gt_cell_null());
    gt_row_next(&out, amount_cell(change->noise.floor_ns));
    gt_row_next(&out, amount_cell(change->noise.low_ns));
    gt_row_next(&out, amount_cell(change->noise.high_ns));
    for (size_t i = 0; i < join->add_count; i++)
        if (i != join->lead)
            put_amounts(join, change->row, i, &out);
    gt_row_end(&out);
}

/* ---- rows ---- */

/* Nothing on both sides. */
static bool is_blank(const struct change *change) {
    return change->a == 0 && change->b == 0;
}

/* Largest change first, noise or not; equal ones in their order, blank rows last. Missing data is no change. */
static int by_weight(const void *a, const void *b) {
    const struct change *x = a, *y = b;
    double of_x = isnan(x->delta) ? 0 : fabs(x->delta), of_y = isnan(y->delta) ? 0 : fabs(y->delta);
    if (of_x != of_y)
        return of_x < of_y ? 1 : -1;
    if (is_blank(x) != is_blank(y))
        return is_blank(x) ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

/* In their order, blank rows last. */
static int by_place(const void *a, const void *b) {
    const struct change *x = a, *y = b;
    if (is_blank(x) != is_blank(y))
        return is_blank(x) ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

/* A short table is shown completely. Of a long one, the first rows up to the last that matters: beyond the noise, or
 * not small compared with the largest change, which the first sentence may mention. */
static size_t screen_rows(const struct change *changes, size_t count) {
    size_t shown = 0;
    if (count <= SCREEN_ROWS)
        return SCREEN_ROWS;
    for (size_t i = 0; i < SCREEN_ROWS; i++)
        if (changes[i].noise.is_beyond || fabs(changes[i].delta) >= GT_COMPARE_SMALL_PART * fabs(changes[0].delta))
            shown = i + 1;
    return shown ? shown : SCREEN_ROWS;
}

static void count_row(struct gt_join_counts *counts, const struct gt_join_row *row, const struct change *change) {
    counts->rows++;
    counts->by_match[row->match]++;
    counts->changed += change->noise.is_beyond;
    counts->noisy += !change->noise.is_beyond && (change->delta < 0 || change->delta > 0);
    bool is_unknown = isnan(change->delta);
    counts->unknown += is_unknown;
    counts->only[GT_SIDE_A] += !row->cells[GT_SIDE_B] && !is_unknown;
    counts->only[GT_SIDE_B] += !row->cells[GT_SIDE_A] && !is_unknown;
}

static size_t measure_rows(const struct gt_join *join, struct change *changes, double *whole,
                           struct gt_join_counts *counts) {
    size_t count = 0;
    for (size_t r = 0; r < join->row_count; r++) {
        if (join->rows[r].is_joined)
            continue;
        struct change *change = &changes[count++];
        *change = (struct change){.row = r,
                                  .a = gt_join_amount(join, r, GT_SIDE_A, join->lead),
                                  .b = gt_join_amount(join, r, GT_SIDE_B, join->lead),
                                  .noise = gt_join_noise(join, r)};
        change->delta = change->b - change->a;
        *whole += isnan(change->a) ? 0 : change->a;
        count_row(counts, &join->rows[r], change);
    }
    return count;
}

/* "Ranges, exclusive sum": names the compared time unless it is the obvious one; "Step summary, number per step" if it
 * is not a time. */
static const char *title_of(const struct gt_join *join, struct gt_arena *arena) {
    const struct gt_table *shape = join->shape;
    const struct gt_report_column *lead = &shape->columns[join->adds[join->lead]];
    size_t times = 0;
    for (size_t i = 0; i < join->add_count; i++)
        times += shape->columns[join->adds[i]].unit == GT_UNIT_NS;
    const char *per = join->sides->unit;
    if (lead->unit == GT_UNIT_COUNT)
        return gt_arena_printf(arena, "%s, number%s%s", shape->title, *per ? " " : "", per).ptr;
    if (lead->unit != GT_UNIT_NS || times < 2 || (lead->flags & GT_COLUMN_TOTAL))
        return shape->title;
    bool is_word = islower((unsigned char)lead->title[1]); /* not an abbreviation */
    int first = is_word ? tolower((unsigned char)lead->title[0]) : lead->title[0];
    return gt_arena_printf(arena, "%s, %c%s", shape->title, first, lead->title + 1).ptr;
}

struct gt_table *gt_join_add_table(struct gt_join *join, struct gt_section *section, struct gt_join_counts *counts) {
    struct change *changes = gt_mem_array(join->row_count, sizeof *changes);
    double whole = 0;
    *counts = (struct gt_join_counts){0};
    size_t count = changes ? measure_rows(join, changes, &whole, counts) : 0;
    if (join->shape->is_fixed) /* its rows are parts of each other */
        whole = 0;
    struct columns columns = make_columns(join, counts->by_match[GT_MATCH_EXACT] < count, &section->report->arena);
    if (!changes || !columns.items) {
        gt_mem_free(changes);
        join->failed = true;
        return NULL;
    }
    if (count)
        qsort(changes, count, sizeof *changes, join->shape->keeps_order ? by_place : by_weight);
    struct gt_table *table = gt_section_table(section, join->shape->key, title_of(join, &section->report->arena),
                                              columns.items, columns.count);
    table->shape = join->shape;
    table->keeps_order = join->shape->keeps_order;
    table->screen_limit = table->keeps_order ? 0 : screen_rows(changes, count);
    for (size_t i = 0; i < count; i++) {
        put_row(join, &changes[i], whole, table);
        table->blank_rows += is_blank(&changes[i]);
    }
    if (table->blank_rows == count) /* an empty table would be less clear */
        table->blank_rows = 0;
    gt_mem_free(changes);
    return table;
}
