/* Finds the type of each column of a table, then copies its cells into arrays of that type. */
#include "report/table_columns.h"

#include <math.h>

#include "base/mem.h"
#include "base/num.h"

struct gt_table_column {
    enum gt_unit unit;
    bool has_text, has_real, has_whole;
    uint8_t *valid;
    union {
        void *data;
        int64_t *whole;
        double *real;
        uint32_t *text; /* numbers of words */
    };
    struct gt_strtab words;
    bool has_words; /* the table of words is there to be released */
    struct gt_batch_texts texts;
};

enum gt_status gt_table_columns_init(struct gt_table_columns *table, const struct gt_report_column *const *columns,
                                     size_t count, struct gt_error *err) {
    *table = (struct gt_table_columns){.columns = gt_mem_array(count, sizeof *table->columns),
                                       .values = gt_mem_array(count, sizeof *table->values)};
    if (!table->columns || !table->values)
        return gt_fail_memory(err);
    table->column_count = count;
    for (size_t c = 0; c < count; c++) {
        table->values[c].unit = columns[c]->unit;
        table->columns[c] = (struct gt_batch_column){.key = columns[c]->key,
                                                     .title = columns[c]->title,
                                                     .unit = gt_cell_unit_name(columns[c]->unit),
                                                     .of = columns[c]->of,
                                                     .may_lack = true};
    }
    return GT_OK;
}

void gt_table_columns_look(struct gt_table_columns *table, const struct gt_cell *row) {
    for (size_t c = 0; c < table->column_count; c++) {
        table->values[c].has_text |= row[c].type == GPUTIME_CELL_TEXT;
        table->values[c].has_real |= row[c].type == GPUTIME_CELL_REAL;
        table->values[c].has_whole |= row[c].type == GPUTIME_CELL_INT;
    }
    table->row_count++;
}

/* ---- types and memory ---- */

static bool begin_column(struct gt_batch_column *column, struct gt_table_column *values, size_t rows) {
    bool is_nameless = values->unit == GT_UNIT_NONE && !values->has_real && !values->has_whole;
    bool is_text = values->has_text || is_nameless;
    bool is_real = values->unit == GT_UNIT_SHARE || values->has_real;
    column->type = is_text ? GPUTIME_FIELD_U32 : is_real ? GPUTIME_FIELD_F64 : GPUTIME_FIELD_I64;
    values->data = gt_mem_array(rows, gt_batch_value_bytes(column->type));
    values->valid = gt_mem_array(rows / 8 + 1, 1);
    values->has_words = is_text && gt_strtab_init(&values->words);
    column->values = values->data;
    column->valid = values->valid;
    column->texts = is_text ? &values->texts : NULL;
    return values->data && values->valid && values->has_words == is_text;
}

enum gt_status gt_table_columns_begin(struct gt_table_columns *table, struct gt_error *err) {
    for (size_t c = 0; c < table->column_count; c++)
        if (!begin_column(&table->columns[c], &table->values[c], table->row_count))
            return gt_fail_memory(err);
    return GT_OK;
}

/* ---- values ---- */

/* Words are borrowed from the cells, numbers among them copied. */
static uint32_t word_of(struct gt_strtab *words, const struct gt_cell *cell) {
    char text[GT_NUM_MAX];
    if (cell->type == GPUTIME_CELL_TEXT)
        return gt_strtab_intern_borrowed(words, gt_cell_str(cell));
    size_t length =
        cell->type == GPUTIME_CELL_INT ? gt_num_format_int(text, cell->integer) : gt_num_format_real(text, cell->real);
    return gt_strtab_intern(words, (struct gt_str){text, length});
}

static void fill_cell(const struct gt_batch_column *column, struct gt_table_column *values, size_t row,
                      const struct gt_cell *cell) {
    bool is_there = cell->type != GPUTIME_CELL_NULL && (cell->type != GPUTIME_CELL_REAL || isfinite(cell->real));
    if (!is_there)
        return;
    values->valid[row / 8] |= (uint8_t)(1 << row % 8);
    if (column->texts)
        values->text[row] = word_of(&values->words, cell);
    else if (column->type == GPUTIME_FIELD_F64)
        values->real[row] = gt_cell_as_number(cell);
    else
        values->whole[row] = cell->integer;
}

void gt_table_columns_fill(struct gt_table_columns *table, const struct gt_cell *row) {
    for (size_t c = 0; c < table->column_count; c++)
        fill_cell(&table->columns[c], &table->values[c], table->filled, &row[c]);
    table->filled++;
}

enum gt_status gt_table_columns_end(struct gt_table_columns *table, struct gt_error *err) {
    for (size_t c = 0; c < table->column_count; c++) {
        struct gt_table_column *values = &table->values[c];
        if (values->has_words && values->words.failed)
            return gt_fail_memory(err);
        values->texts = (struct gt_batch_texts){values->words.strings, values->words.count};
    }
    table->batch = (struct gt_batch){
        .columns = table->columns, .column_count = table->column_count, .row_count = table->row_count};
    return GT_OK;
}

void gt_table_columns_release(struct gt_table_columns *table) {
    for (size_t c = 0; c < table->column_count; c++) {
        gt_mem_free(table->values[c].data);
        gt_mem_free(table->values[c].valid);
        if (table->values[c].has_words)
            gt_strtab_release(&table->values[c].words);
    }
    gt_mem_free(table->columns);
    gt_mem_free(table->values);
    *table = (struct gt_table_columns){0};
}
