/* One table over all inputs: finds the union of its columns, then hands out its rows one at a time. */
#include "write/joined.h"

#include <string.h>

#include "base/mem.h"

static const struct gt_report_column input_column = {.key = "input", .title = "Input"};
static const struct gt_report_column rank_column = {.key = "rank", .title = "Rank"};

/* A place among the blocks of all sections. */
struct cursor {
    size_t section, block;
};

/* The next table (with that key, unless it is NULL), which the cursor then is right after; NULL: none left. */
static const struct gt_block *next_block(const struct gt_report *report, const char *key, struct cursor *cursor) {
    for (; cursor->section < report->section_count; cursor->section++, cursor->block = 0) {
        const struct gt_section *section = &report->sections[cursor->section];
        while (cursor->block < section->block_count) {
            const struct gt_block *block = &section->blocks[cursor->block++];
            if (block->table && (!key || strcmp(block->table->key, key) == 0))
                return block;
        }
    }
    return NULL;
}

/* Every section tends to have the same tables, so the search ends early except the first section's own. */
static bool is_first_of_its_key(const struct gt_report *report, enum gt_audience audience,
                                const struct gt_block *found) {
    struct cursor cursor = {0};
    const struct gt_block *block;
    while ((block = next_block(report, found->table->key, &cursor)) && block != found) {
        if (block->audience & audience)
            return false;
    }
    return true;
}

const char *gt_joined_key(const struct gt_report *report, enum gt_audience audience, size_t index) {
    struct cursor cursor = {0};
    for (const struct gt_block *block; (block = next_block(report, NULL, &cursor));) {
        if ((block->audience & audience) && is_first_of_its_key(report, audience, block) && index-- == 0)
            return block->table->key;
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
    *joined = (struct gt_joined){.report = report, .key = key, .section_rows = SIZE_MAX};
    const struct gt_block *block;
    size_t most = 2;
    for (struct cursor at = {0}; (block = next_block(report, key, &at));)
        most += block->table->column_count;
    joined->columns = gt_mem_array(most, sizeof *joined->columns);
    joined->places = gt_mem_array(most, sizeof *joined->places);
    joined->row = gt_mem_array(most, sizeof *joined->row);
    if (!joined->columns || !joined->places || !joined->row) {
        gt_joined_release(joined);
        return gt_fail_memory(err);
    }
    struct cursor first = {0};
    block = next_block(report, key, &first);
    bool has_input = !block || !block->table->stands_alone;
    if (has_input)
        joined->columns[joined->column_count++] = &input_column;
    if (has_input && knows_ranks(report))
        joined->columns[joined->column_count++] = &rank_column;
    for (struct cursor at = {0}; (block = next_block(report, key, &at));) {
        const struct gt_table *table = block->table;
        joined->title = joined->title ? joined->title : table->title;
        joined->row_count += table->row_count;
        joined->page_limit = table->page_limit > joined->page_limit ? table->page_limit : joined->page_limit;
        joined->total_rows += table->total_rows > table->row_count ? table->total_rows : table->row_count;
        add_columns(joined, table);
    }
    return GT_OK;
}

static size_t count_rows(const struct gt_joined *joined, size_t section_rows) {
    const struct gt_block *block;
    size_t rows = 0;
    for (struct cursor at = {0}; (block = next_block(joined->report, joined->key, &at));)
        rows += block->table->row_count < section_rows ? block->table->row_count : section_rows;
    return rows;
}

void gt_joined_limit(struct gt_joined *joined, size_t rows) {
    if (joined->row_count <= rows)
        return;
    size_t least = 0, most = rows;
    while (least < most) {
        size_t middle = most - (most - least) / 2;
        if (count_rows(joined, middle) <= rows)
            least = middle;
        else
            most = middle - 1;
    }
    joined->section_rows = least;
    joined->row_count = count_rows(joined, least);
}

void gt_joined_rewind(struct gt_joined *joined) {
    joined->section = joined->block = joined->next_row = 0;
    joined->table = NULL;
}

void gt_joined_release(struct gt_joined *joined) {
    gt_mem_free(joined->columns);
    gt_mem_free(joined->places);
    gt_mem_free(joined->row);
    *joined = (struct gt_joined){0};
}

bool gt_joined_next_table(struct gt_joined *joined) {
    struct cursor cursor = {joined->section, joined->block};
    const struct gt_block *block = next_block(joined->report, joined->key, &cursor);
    joined->section = cursor.section;
    joined->block = cursor.block;
    if (!block)
        return false;
    joined->table = block->table;
    joined->next_row = 0;
    for (size_t c = 0; c < joined->table->column_count; c++)
        joined->places[c] = column_place(joined, joined->table->columns[c].key);
    return true;
}

/* One row of each of section_rows equal parts, at a place in it that follows no period of the rows. */
static size_t sampled_row(const struct gt_joined *joined, size_t row) {
    enum { PLACES = 1 << 16 };
    size_t count = joined->table->row_count;
    if (!joined->table->page_samples || count <= joined->section_rows)
        return row;
    size_t place = (uint32_t)row * UINT32_C(2654435769) / PLACES; /* of the golden ratio: far apart */
    return (size_t)((double)count / (double)joined->section_rows * ((double)row + (double)place / PLACES));
}

size_t gt_joined_table_rows(const struct gt_joined *joined) {
    return joined->table->row_count < joined->section_rows ? joined->table->row_count : joined->section_rows;
}

const struct gt_cell *gt_joined_table_row(const struct gt_joined *joined, size_t row) {
    return &joined->table->cells[sampled_row(joined, row) * joined->table->column_count];
}

size_t gt_joined_table_column(const struct gt_joined *joined, size_t place) {
    size_t column = joined->table->column_count;
    while (column > 0 && joined->places[column - 1] != place)
        column--;
    return column - 1;
}

struct gt_cell gt_joined_table_same(const struct gt_joined *joined, size_t place) {
    const struct gt_report_input *input = &joined->report->sections[joined->section].input;
    if (joined->columns[place] == &input_column)
        return gt_cell_text(input->label);
    return joined->columns[place] == &rank_column && input->rank >= 0 ? gt_cell_int(input->rank) : gt_cell_null();
}

const struct gt_cell *gt_joined_next(struct gt_joined *joined) {
    while (!joined->table || joined->next_row >= gt_joined_table_rows(joined)) {
        if (!gt_joined_next_table(joined))
            return NULL;
    }
    memset(joined->row, 0, joined->column_count * sizeof *joined->row);
    for (size_t place = 0; place < joined->column_count && place < 2; place++) /* the two that lead */
        joined->row[place] = gt_joined_table_same(joined, place);
    const struct gt_cell *cells = gt_joined_table_row(joined, joined->next_row++);
    for (size_t c = 0; c < joined->table->column_count; c++)
        joined->row[joined->places[c]] = cells[c];
    return joined->row;
}
