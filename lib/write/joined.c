/* One table over all inputs: finds the union of its columns, then hands out its rows one at a time. */
#include "write/joined.h"

#include <string.h>

#include "base/mem.h"

static const struct gt_report_column input_column = {.key = "input", .title = "Input"};
static const struct gt_report_column rank_column = {.key = "rank", .title = "Rank"};

/* Table number `index` of the whole report that is meant as data, or has that key if one is given. */
static const struct gt_table *table_at(const struct gt_report *report, const char *key, size_t index) {
    for (size_t s = 0; s < report->section_count; s++) {
        const struct gt_section *section = &report->sections[s];
        for (size_t b = 0; b < section->block_count; b++) {
            const struct gt_block *block = &section->blocks[b];
            if (block->kind != GT_BLOCK_TABLE)
                continue;
            bool is_wanted = key ? strcmp(block->table->key, key) == 0 : (block->audience & GT_FOR_DATA) != 0;
            if (is_wanted && index-- == 0)
                return block->table;
        }
    }
    return NULL;
}

const char *gt_joined_key(const struct gt_report *report, size_t index) {
    const struct gt_table *table;
    for (size_t i = 0; (table = table_at(report, NULL, i)); i++) {
        bool is_first = true;
        for (size_t before = 0; before < i && is_first; before++)
            is_first = strcmp(table_at(report, NULL, before)->key, table->key) != 0;
        if (is_first && index-- == 0)
            return table->key;
    }
    return NULL;
}

static size_t column_place(const struct gt_joined *joined, const char *key) {
    size_t place = 0;
    while (place < joined->column_count && strcmp(joined->columns[place]->key, key) != 0)
        place++;
    return place;
}

static void add_columns(struct gt_joined *joined, const struct gt_table *table) {
    for (size_t c = 0; c < table->column_count; c++) {
        size_t place = column_place(joined, table->columns[c].key);
        if (place == joined->column_count)
            joined->columns[joined->column_count++] = &table->columns[c];
    }
}

static bool knows_ranks(const struct gt_report *report) {
    for (size_t s = 0; s < report->section_count && report->section_count > 1; s++) {
        if (report->sections[s].input.rank >= 0)
            return true;
    }
    return false;
}

enum gt_status gt_joined_init(struct gt_joined *joined, const struct gt_report *report, const char *key,
                              struct gt_error *err) {
    *joined = (struct gt_joined){.report = report, .key = key, .title = key};
    const struct gt_table *table;
    size_t most = 2;
    for (size_t i = 0; (table = table_at(report, key, i)); i++)
        most += table->column_count;
    joined->columns = gt_alloc_array(most, sizeof *joined->columns);
    joined->places = gt_alloc_array(most, sizeof *joined->places);
    joined->row = gt_alloc_array(most, sizeof *joined->row);
    if (!joined->columns || !joined->places || !joined->row) {
        gt_joined_release(joined);
        return gt_fail_memory(err);
    }
    joined->columns[joined->column_count++] = &input_column;
    if (knows_ranks(report))
        joined->columns[joined->column_count++] = &rank_column;
    for (size_t i = 0; (table = table_at(report, key, i)); i++) {
        joined->title = i == 0 ? table->title : joined->title;
        joined->row_count += table->row_count;
        joined->total_rows += table->total_rows > table->row_count ? table->total_rows : table->row_count;
        add_columns(joined, table);
    }
    return GT_OK;
}

void gt_joined_release(struct gt_joined *joined) {
    gt_free(joined->columns);
    gt_free(joined->places);
    gt_free(joined->row);
    *joined = (struct gt_joined){0};
}

/* Moves to the next table with the key; false behind the last. */
static bool next_table(struct gt_joined *joined) {
    for (; joined->section < joined->report->section_count; joined->section++, joined->block = 0) {
        const struct gt_section *section = &joined->report->sections[joined->section];
        while (joined->block < section->block_count) {
            const struct gt_block *block = &section->blocks[joined->block++];
            if (block->kind != GT_BLOCK_TABLE || strcmp(block->table->key, joined->key) != 0)
                continue;
            joined->table = block->table;
            joined->next_row = 0;
            for (size_t c = 0; c < joined->table->column_count; c++)
                joined->places[c] = column_place(joined, joined->table->columns[c].key);
            return true;
        }
    }
    return false;
}

const struct gt_cell *gt_joined_next(struct gt_joined *joined) {
    while (!joined->table || joined->next_row >= joined->table->row_count) {
        if (!next_table(joined))
            return NULL;
    }
    const struct gt_table *table = joined->table;
    const struct gt_report_input *input = &joined->report->sections[joined->section].input;
    memset(joined->row, 0, joined->column_count * sizeof *joined->row);
    joined->row[0] = gt_cell_text(input->label);
    if (joined->column_count > 1 && joined->columns[1] == &rank_column && input->rank >= 0)
        joined->row[1] = gt_cell_int(input->rank);
    const struct gt_cell *cells = &table->cells[joined->next_row++ * table->column_count];
    for (size_t c = 0; c < table->column_count; c++)
        joined->row[joined->places[c]] = cells[c];
    return joined->row;
}
