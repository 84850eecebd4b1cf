/* Collects the rows of one table from every capture of both sides; rows with the same key become one. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "compare/join.h"

/* ---- keys ---- */

bool gt_join_reserve(struct gt_join *join, size_t more_bytes) {
    size_t needed = join->text_bytes + more_bytes;
    if (needed <= join->text_capacity)
        return true;
    char *grown = gt_mem_realloc(join->text, 2 * needed);
    if (!grown) {
        join->failed = true;
        return false;
    }
    join->text = grown;
    join->text_capacity = 2 * needed;
    return true;
}

void gt_join_put(struct gt_join *join, struct gt_str part) {
    if (!gt_join_reserve(join, part.len + GT_NUM_MAX))
        return;
    join->text_bytes += gt_num_format_int(join->text + join->text_bytes, (int64_t)part.len);
    join->text[join->text_bytes++] = ':';
    if (part.len)
        memcpy(join->text + join->text_bytes, part.ptr, part.len);
    join->text_bytes += part.len;
}

static void put_cell(struct gt_join *join, const struct gt_cell *cell) {
    char number[GT_NUM_MAX];
    struct gt_str part = {number, 0};
    if (cell->type == GPUTIME_CELL_TEXT)
        part = (struct gt_str){cell->text, cell->text_bytes};
    else if (cell->type == GPUTIME_CELL_INT)
        part.len = gt_num_format_int(number, cell->integer);
    else if (cell->type == GPUTIME_CELL_REAL)
        part.len = gt_num_format_real(number, cell->real);
    gt_join_put(join, part);
}

/* ---- columns ---- */

static bool has_flag(const struct gt_table *table, size_t column, uint32_t flag) {
    return table->columns[column].flags & flag;
}

static bool choose_columns(struct gt_join *join, const struct gt_table *shape) {
    join->shape = shape;
    join->adds = gt_mem_array(shape->column_count, sizeof *join->adds);
    join->is_known = gt_mem_array(GT_SIDE_COUNT * shape->column_count, sizeof *join->is_known);
    if (!join->adds || !join->is_known) {
        join->failed = true;
        return false;
    }
    for (size_t c = 0; c < shape->column_count; c++)
        if (has_flag(shape, c, GT_COLUMN_ADDS)) {
            if (has_flag(shape, c, GT_COLUMN_LEADS))
                join->lead = join->add_count;
            join->adds[join->add_count++] = c;
        }
    return join->add_count > 0;
}

/* ---- rows ---- */

static bool add_row(struct gt_join *join) {
    if (join->row_count == join->row_capacity) {
        size_t capacity = join->row_capacity ? join->row_capacity * 2 : 64;
        size_t row_slots = join->sides->capture_count * gt_join_slot_count(join);
        struct gt_join_row *rows = gt_mem_realloc(join->rows, capacity * sizeof *rows);
        if (rows)
            join->rows = rows;
        double *slots = rows ? gt_mem_realloc(join->slots, capacity * row_slots * sizeof *slots) : NULL;
        if (!slots)
            return false;
        join->slots = slots;
        memset(slots + join->row_capacity * row_slots, 0, (capacity - join->row_capacity) * row_slots * sizeof *slots);
        join->row_capacity = capacity;
    }
    join->rows[join->row_count++] = (struct gt_join_row){0};
    return true;
}

/* n events with standard deviation s sum to an amount with the variance n s^2. */
static double row_variance(const struct gt_table *table, const struct gt_cell *cells) {
    size_t spread = gt_table_column_flagged(table, GT_COLUMN_SPREAD), count = 0;
    while (count < table->column_count &&
           !(has_flag(table, count, GT_COLUMN_ADDS) && table->columns[count].unit == GT_UNIT_COUNT))
        count++;
    if (spread == SIZE_MAX || count == table->column_count)
        return NAN;
    double stddev = gt_cell_as_number(&cells[spread]), events = gt_cell_as_number(&cells[count]);
    return events > 1 ? events * stddev * stddev : NAN;
}

/* The divisor of the times of a row: the mean time of a step is not divided again. */
static double time_divisor(const struct gt_table *table, const struct gt_cell *cells, double divisor) {
    size_t mean = gt_table_column_flagged(table, GT_COLUMN_MEAN);
    double summed = mean == SIZE_MAX ? NAN : gt_cell_as_number(&cells[mean]);
    return summed > 0 ? summed : divisor;
}

static void take_cells(struct gt_join *join, size_t row, size_t capture, const struct gt_table *table,
                       const struct gt_cell *cells) {
    enum gt_side side = gt_compare_side(join->sides, capture);
    double divisor = join->sides->divisors[capture], of_time = time_divisor(table, cells, divisor);
    double *slots = gt_join_slots(join, row, capture);
    double variance = row_variance(table, cells) / (of_time * of_time);
    slots[GT_SLOT_VARIANCE] = slots[GT_SLOT_ROWS] > 0 ? slots[GT_SLOT_VARIANCE] + variance : variance;
    slots[GT_SLOT_ROWS]++;
    for (size_t i = 0; i < join->add_count; i++) {
        const struct gt_report_column *column = &join->shape->columns[join->adds[i]];
        bool is_whole = column->flags & (GT_COLUMN_RATE | GT_COLUMN_LEVEL);
        double whole = is_whole ? 1 : column->unit == GT_UNIT_NS ? of_time : divisor;
        double amount = gt_cell_as_number(&cells[join->adds[i]]) / whole;
        if (isnan(amount))
            amount = 0;
        else
            join->is_known[(size_t)side * join->add_count + i] = true;
        slots[GT_SLOT_AMOUNTS + i] += amount;
        if (i == join->lead) {
            double deviation = amount - slots[GT_SLOT_MEAN];
            slots[GT_SLOT_MEAN] += deviation / slots[GT_SLOT_ROWS];
            slots[GT_SLOT_SQUARES] += deviation * (amount - slots[GT_SLOT_MEAN]);
        }
    }
}

/* Amounts of a name add up over the rows of a capture. A group has rows of different names. */
static void note_largest(const struct gt_join *join, struct gt_join_row *row, enum gt_side side,
                         const struct gt_cell *cells, bool is_grouped) {
    double amount = gt_cell_as_number(&cells[join->adds[join->lead]]);
    amount = isnan(amount) ? 0 : amount;
    if (!row->largest[side] || (is_grouped && amount > row->largest_amount[side])) {
        row->largest[side] = cells;
        row->largest_amount[side] = amount;
    } else if (!is_grouped) {
        row->largest_amount[side] += amount;
    }
}

static bool collect(struct gt_join *join, size_t capture, const struct gt_table *table) {
    enum gt_side side = gt_compare_side(join->sides, capture);
    for (size_t r = 0; r < table->row_count && !join->failed; r++) {
        const struct gt_cell *cells = &table->cells[r * table->column_count];
        size_t group = gt_table_column_flagged(table, GT_COLUMN_GROUP);
        bool is_grouped = group != SIZE_MAX && cells[group].type == GPUTIME_CELL_TEXT;
        join->text_bytes = 0;
        for (size_t c = 0; c < table->column_count; c++)
            if (has_flag(table, c, GT_COLUMN_KEY))
                put_cell(join, is_grouped && has_flag(table, c, GT_COLUMN_NAME) ? &cells[group] : &cells[c]);
        if (join->text_bytes == 0)
            gt_join_put(join, GT_STR("all"));
        /* The empty string has id 0, so rows are numbered from 1. */
        size_t row = gt_strtab_intern(&join->keys, (struct gt_str){join->text, join->text_bytes}) - 1;
        if (join->keys.failed || (row == join->row_count && !add_row(join)))
            join->failed = true;
        if (join->failed)
            return false;
        assert(row < join->row_count);
        struct gt_join_row *entry = &join->rows[row];
        if (!entry->cells[side]) {
            entry->cells[side] = cells;
            entry->tables[side] = table;
            entry->label = is_grouped ? gt_cell_as_text(&cells[group]) : entry->label;
        }
        entry->names[side] += is_grouped || entry->names[side] == 0;
        note_largest(join, entry, side, cells, is_grouped);
        take_cells(join, row, capture, table, cells);
    }
    return !join->failed;
}

/* ---- spread from another table ---- */

/* The variance of a class is the sum over the rows of `from` that belong to it. */
static void borrow_from(struct gt_join *join, size_t capture, const struct gt_table *from, size_t class) {
    double divisor = join->sides->divisors[capture];
    for (size_t r = 0; r < from->row_count; r++) {
        const struct gt_cell *cells = &from->cells[r * from->column_count];
        join->text_bytes = 0;
        put_cell(join, &cells[class]);
        if (join->failed)
            return;
        gt_strid id = gt_strtab_find(&join->keys, (struct gt_str){join->text, join->text_bytes});
        double variance = row_variance(from, cells) / (divisor * divisor);
        if (id == UINT32_MAX || id == GT_STRID_EMPTY || isnan(variance))
            continue;
        double *known = &gt_join_slots(join, id - 1, capture)[GT_SLOT_VARIANCE];
        *known = isnan(*known) ? variance : *known + variance;
    }
}

/* Spreads that a capture has for the rows of a table, by id of their names. Rows distinguished only by numbers (GPUs)
 * have no name and share that of the empty name. */
struct step_spreads {
    struct gt_strtab names;
    double *variances; /* of the sums; NAN: unknown */
    size_t count;      /* of those known */
};

/* S steps with standard deviation s sum to an amount with the variance S s^2. */
static bool step_spreads_init(struct step_spreads *of, const struct gt_section *section, const char *key,
                              double divisor) {
    *of = (struct step_spreads){.variances = gt_mem_array(section->spread_count + 1, sizeof *of->variances)};
    bool ok = gt_strtab_init(&of->names) && of->variances;
    if (ok)
        of->variances[GT_STRID_EMPTY] = NAN;
    for (size_t i = 0; i < section->spread_count && ok; i++) {
        const struct gt_report_spread *spread = &section->spreads[i];
        if (strcmp(spread->table, key) != 0)
            continue;
        double stddev = spread->stddev_ns / divisor;
        of->variances[gt_strtab_intern_borrowed(&of->names, spread->name)] = (double)spread->steps * stddev * stddev;
        of->count++;
        ok = !of->names.failed;
    }
    return ok;
}

static double step_spreads_find(const struct step_spreads *of, const struct gt_cell *name) {
    if (name->type != GPUTIME_CELL_TEXT)
        return of->variances[GT_STRID_EMPTY];
    gt_strid id = gt_strtab_find(&of->names, gt_cell_as_text(name));
    return id == GT_STRID_EMPTY || id == UINT32_MAX ? NAN : of->variances[id];
}

/* If the capture has steps, variation from step to step is better than that of single events, which may be of many
 * kinds. */
static void borrow_steps(struct gt_join *join, size_t capture) {
    const struct gt_section *section = gt_compare_section(join->sides, capture);
    enum gt_side side = gt_compare_side(join->sides, capture);
    struct step_spreads of;
    size_t key = SIZE_MAX;
    for (size_t c = 0; c < join->shape->column_count; c++) /* the last is the name, after ids */
        key = has_flag(join->shape, c, GT_COLUMN_KEY) ? c : key;
    if (!section->spread_count || key == SIZE_MAX)
        return;
    join->failed |= !step_spreads_init(&of, section, join->shape->key, join->sides->divisors[capture]);
    for (size_t r = 0; r < join->row_count && of.count && !join->failed; r++) {
        double *slots = gt_join_slots(join, r, capture);
        const struct gt_cell *cells = join->rows[r].cells[side];
        double variance = cells && slots[GT_SLOT_ROWS] > 0 ? step_spreads_find(&of, &cells[key]) : NAN;
        if (!isnan(variance))
            slots[GT_SLOT_VARIANCE] = variance;
    }
    gt_strtab_release(&of.names);
    gt_mem_free(of.variances);
}

/* Categories have no spread, but their kernels do. */
static void borrow_spread(struct gt_join *join, size_t capture) {
    const struct gt_section *section = gt_compare_section(join->sides, capture);
    size_t key = gt_table_column_flagged(join->shape, GT_COLUMN_KEY), keys = 0;
    for (size_t c = 0; c < join->shape->column_count; c++)
        keys += has_flag(join->shape, c, GT_COLUMN_KEY);
    if (keys != 1 || gt_table_column_flagged(join->shape, GT_COLUMN_SPREAD) != SIZE_MAX)
        return;
    for (size_t b = 0; b < section->block_count; b++) {
        const struct gt_table *table = section->blocks[b].kind == GT_BLOCK_TABLE ? section->blocks[b].table : NULL;
        size_t class = table ? gt_table_column_flagged(table, GT_COLUMN_CLASS) : SIZE_MAX;
        if (class != SIZE_MAX && strcmp(table->columns[class].key, join->shape->columns[key].key) == 0)
            borrow_from(join, capture, table, class);
    }
}

/* ---- the whole ---- */

/* The leading amount must be known on both sides: summary inputs have no wall time. */
static void choose_lead(struct gt_join *join) {
    const bool *of_a = join->is_known, *of_b = join->is_known + join->add_count;
    bool a_is_empty = true, b_is_empty = true;
    for (size_t r = 0; r < join->row_count; r++) {
        a_is_empty &= !join->rows[r].cells[GT_SIDE_A];
        b_is_empty &= !join->rows[r].cells[GT_SIDE_B];
    }
    size_t own = join->lead;
    for (size_t pass = 0; pass < 2; pass++) /* times first, then any amount */
        for (size_t i = 0; i < join->add_count; i++) {
            size_t choice = i == 0 ? own : i <= own ? i - 1 : i;
            bool is_time = join->shape->columns[join->adds[choice]].unit == GT_UNIT_NS;
            if ((of_a[choice] || a_is_empty) && (of_b[choice] || b_is_empty) && (is_time || pass || choice == own)) {
                join->lead = choice;
                return;
            }
        }
}

/* The table whose columns are used for all; NULL: there is none, or they cannot be compared. A truncated table has no
 * sums. */
static const struct gt_table *find_shape(const struct gt_compare_sides *sides, const char *key) {
    const struct gt_table *shape = NULL;
    for (size_t i = 0; i < sides->capture_count; i++) {
        const struct gt_table *table = gt_section_find(gt_compare_section(sides, i), key);
        if (!table)
            continue;
        if (table->total_rows > table->row_count || gt_table_column_flagged(table, GT_COLUMN_LEADS) == SIZE_MAX)
            return NULL;
        for (size_t c = 0; shape && c < shape->column_count; c++)
            if (c >= table->column_count || strcmp(table->columns[c].key, shape->columns[c].key) != 0)
                return NULL;
        if (!shape || (shape->row_count == 0 && table->row_count))
            shape = table;
    }
    return shape;
}

bool gt_join_init(struct gt_join *join, const struct gt_compare_sides *sides, const char *key) {
    *join = (struct gt_join){.sides = sides};
    const struct gt_table *shape = find_shape(sides, key);
    if (!shape || !choose_columns(join, shape))
        return false;
    join->sources = gt_mem_array(sides->capture_count, sizeof *join->sources);
    join->failed = !gt_strtab_init(&join->keys) || !join->sources;
    for (size_t i = 0; i < sides->capture_count && !join->failed; i++) {
        const struct gt_section *section = gt_compare_section(sides, i);
        const struct gt_table *table = gt_section_find(section, key);
        join->sources[i] = (struct gt_join_source){table, shape->is_fixed || gt_section_lacks(section, key).len};
        if (table && collect(join, i, table)) {
            borrow_spread(join, i);
            borrow_steps(join, i);
        }
    }
    if (join->failed)
        return false;
    choose_lead(join);
    return true;
}

void gt_join_release(struct gt_join *join) {
    gt_mem_free(join->adds);
    gt_mem_free(join->is_known);
    gt_mem_free(join->sources);
    gt_mem_free(join->rows);
    gt_mem_free(join->slots);
    gt_mem_free(join->text);
    gt_strtab_release(&join->keys);
    gt_arena_release(&join->arena);
}

/* Whether a row of that name could be in the table; if so, a missing row is 0. */
static bool can_have(const struct gt_join *join, const struct gt_join_row *row, size_t capture) {
    const struct gt_table *table = join->sources[capture].table;
    const struct gt_cell *cells = row->cells[GT_SIDE_A] ? row->cells[GT_SIDE_A] : row->cells[GT_SIDE_B];
    size_t key = gt_table_column_flagged(join->shape, GT_COLUMN_KEY);
    bool can = !table || !table->name_count || key == SIZE_MAX;
    for (size_t i = 0; !can && i < table->name_count; i++)
        can = gt_str_eq(table->names[i], gt_cell_as_text(&cells[key]));
    return can;
}

size_t gt_join_mute_capture(const struct gt_join *join, size_t row, enum gt_side side) {
    struct gt_captures captures = gt_compare_captures(join->sides, side);
    for (size_t c = captures.first; c < captures.first + captures.count; c++)
        if (gt_join_slots(join, row, c)[GT_SLOT_ROWS] == 0 &&
            (join->sources[c].is_partial || !can_have(join, &join->rows[row], c)))
            return c;
    return SIZE_MAX;
}

double gt_join_amount(const struct gt_join *join, size_t row, enum gt_side side, size_t amount) {
    struct gt_captures captures = gt_compare_captures(join->sides, side);
    bool is_known = join->is_known[(size_t)side * join->add_count + amount];
    if (gt_join_mute_capture(join, row, side) != SIZE_MAX)
        return NAN;
    if (!is_known && join->is_known[(size_t)!side * join->add_count + amount] && join->rows[row].cells[side])
        return NAN;
    double sum = 0;
    for (size_t c = 0; c < captures.count; c++)
        sum += gt_join_slots(join, row, captures.first + c)[GT_SLOT_AMOUNTS + amount];
    return sum / (double)captures.count;
}
