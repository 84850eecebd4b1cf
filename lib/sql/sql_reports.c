/* Virtual tables over tables of reports: those of all inputs, one after the other. */
#include "sql/sql_reports.h"

#include "base/mem.h"

struct table {
    sqlite3_vtab base;
    const struct gt_sql_world *world;
    const struct gt_table **parts; /* by input; NULL: it has none */
    const struct gt_table *shape;  /* whose columns they have */
    int64_t *ranks;                /* by input; -1: not known */
};

struct cursor {
    sqlite3_vtab_cursor base;
    size_t input, row;
};

static int disconnect(sqlite3_vtab *base) {
    struct table *table = (struct table *)base;
    gt_mem_free(table->parts);
    gt_mem_free(table->ranks);
    gt_mem_free(table);
    return SQLITE_OK;
}

static enum gt_status make_parts(struct table *table, const char *key, struct gt_error *err) {
    const struct gt_sql_world *world = table->world;
    enum gt_status status = GT_OK;
    table->parts = gt_mem_array(world->input_count, sizeof *table->parts);
    table->ranks = gt_mem_array(world->input_count, sizeof *table->ranks);
    if (!table->parts || !table->ranks)
        return gt_fail_memory(err);
    for (size_t i = 0; i < world->input_count && status == GT_OK; i++) {
        struct gt_frames *frames;
        status = world->frames(world->context, i, GT_FACT_OPS, &frames, err);
        if (status == GT_OK)
            table->ranks[i] = gt_frame_rank(frames);
        if (status == GT_OK)
            status = world->report(world->context, i, key, &table->parts[i], err);
        if (status == GT_OK && !table->shape)
            table->shape = table->parts[i];
    }
    if (status == GT_OK && !table->shape)
        return gt_fail(err, "no table '%s' for this trace, which lacks the data", key);
    return status;
}

static const char *type_name(enum gt_unit unit) {
    return unit == GT_UNIT_SHARE ? "REAL" : unit == GT_UNIT_COUNT ? "INTEGER" : "";
}

static char *declaration(const struct table *table) {
    const char *hidden = table->world->input_count > 1 ? "" : " HIDDEN";
    char *text = sqlite3_mprintf("CREATE TABLE t(");
    for (size_t i = 0; i < table->shape->column_count && text; i++)
        text = sqlite3_mprintf("%z\"%w\" %s,", text, table->shape->columns[i].key,
                               type_name(table->shape->columns[i].unit));
    /* Some tables have a column of that name themselves. */
    const char *rank = gt_table_column(table->shape, "rank") == SIZE_MAX ? "rank" : "input_rank";
    return text ? sqlite3_mprintf("%zinput TEXT%s,%s INTEGER%s)", text, hidden, rank, hidden) : NULL;
}

int gt_sql_reports_connect(sqlite3 *db, const struct gt_sql_world *world, const char *key, sqlite3_vtab **out,
                           char **message) {
    struct gt_error err = {0};
    struct table *table = gt_mem_array(1, sizeof *table);
    *out = NULL;
    if (!table)
        return SQLITE_NOMEM;
    table->world = world;
    if (make_parts(table, key, &err) != GT_OK) {
        *message = sqlite3_mprintf("%s", err.message);
        disconnect(&table->base);
        return SQLITE_ERROR;
    }
    char *text = declaration(table);
    int code = text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
    sqlite3_free(text);
    if (code != SQLITE_OK) {
        *message = sqlite3_mprintf("%s", sqlite3_errmsg(db));
        disconnect(&table->base);
        return code;
    }
    *out = &table->base;
    return SQLITE_OK;
}

static size_t rows_of(const struct table *table, size_t input) {
    return table->parts[input] ? table->parts[input]->row_count : 0;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
    const struct table *table = (const struct table *)base;
    size_t rows = 1;
    for (size_t i = 0; i < table->world->input_count; i++)
        rows += rows_of(table, i);
    info->estimatedCost = (double)rows;
    info->estimatedRows = (sqlite3_int64)rows;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    (void)base;
    struct cursor *cursor = gt_mem_array(1, sizeof *cursor);
    *out = cursor ? &cursor->base : NULL;
    return cursor ? SQLITE_OK : SQLITE_NOMEM;
}

static int close_cursor(sqlite3_vtab_cursor *base) {
    gt_mem_free(base);
    return SQLITE_OK;
}

static int settle(struct cursor *cursor) {
    const struct table *table = (const struct table *)cursor->base.pVtab;
    while (cursor->input < table->world->input_count && cursor->row >= rows_of(table, cursor->input)) {
        cursor->input++;
        cursor->row = 0;
    }
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values) {
    struct cursor *cursor = (struct cursor *)base;
    (void)number, (void)text, (void)count, (void)values;
    cursor->input = 0;
    cursor->row = 0;
    return settle(cursor);
}

static int next(sqlite3_vtab_cursor *base) {
    struct cursor *cursor = (struct cursor *)base;
    cursor->row++;
    return settle(cursor);
}

static int eof(sqlite3_vtab_cursor *base) {
    const struct cursor *cursor = (const struct cursor *)base;
    return cursor->input >= ((const struct table *)base->pVtab)->world->input_count;
}

static void give_cell(sqlite3_context *result, const struct gt_cell *cell) {
    if (cell->type == GPUTIME_CELL_INT)
        sqlite3_result_int64(result, cell->integer);
    else if (cell->type == GPUTIME_CELL_REAL)
        sqlite3_result_double(result, cell->real);
    else if (cell->type == GPUTIME_CELL_TEXT)
        sqlite3_result_text64(result, cell->text ? cell->text : "", cell->text_bytes, SQLITE_STATIC, SQLITE_UTF8);
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *result, int number) {
    const struct cursor *cursor = (const struct cursor *)base;
    const struct table *table = (const struct table *)base->pVtab;
    const struct gt_table *part = table->parts[cursor->input];
    size_t own = table->shape->column_count, wanted = (size_t)number;
    if (wanted == own)
        sqlite3_result_text64(result, table->world->names[cursor->input].ptr, table->world->names[cursor->input].len,
                              SQLITE_STATIC, SQLITE_UTF8);
    else if (wanted > own && table->ranks[cursor->input] >= 0)
        sqlite3_result_int64(result, table->ranks[cursor->input]);
    else if (wanted < own) {
        /* The columns of one key are the same in all inputs, but where some are left out. */
        size_t place =
            part->columns == table->shape->columns ? wanted : gt_table_column(part, table->shape->columns[wanted].key);
        if (place != SIZE_MAX)
            give_cell(result, &part->cells[cursor->row * part->column_count + place]);
    }
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *out) {
    const struct cursor *cursor = (const struct cursor *)base;
    *out = (sqlite3_int64)((uint64_t)cursor->input << 32 | (uint32_t)cursor->row);
    return SQLITE_OK;
}

const sqlite3_module gt_sql_reports_methods = {
    .iVersion = 1,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xDestroy = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = eof,
    .xColumn = column,
    .xRowid = row_id,
};
