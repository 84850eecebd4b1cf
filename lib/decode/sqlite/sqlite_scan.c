/* Scans of a table: parts of its leaf pages for the page reader, or one part through libsqlite3 for every table that
   is out of the ordinary. */
#include <sqlite3.h>

#include "base/mem.h"
#include "decode/sqlite/sqlite_db.h"
#include "decode/sqlite/sqlite_utf16.h"

enum {
    PART_LEAVES = 512,
    TEXT_FACTOR =
        16, /* text of all rows to bytes of the database: values of columns that were added later are shared */
    TEXT_SPARE = 1 << 20,
};

/* Takes over what the table says of a column. false: the page reader does not know what records from before it was
   added have in its place. */
static bool take_column(struct gt_sqlite_columns *columns, size_t slot, const struct gt_sqlite_column *column,
                        enum gt_sqlite_encoding encoding) {
    columns->index[slot] = column->place;
    columns->is_real[slot] = column->is_real;
    switch (column->default_kind) {
    case GT_SQLITE_DEFAULT_INTEGER:
        columns->default_types[slot] = GT_SQLITE_INT;
        columns->defaults[slot].integer = column->default_value;
        break;
    case GT_SQLITE_DEFAULT_REAL:
        columns->default_types[slot] = GT_SQLITE_REAL;
        columns->defaults[slot].real = column->default_real;
        break;
    case GT_SQLITE_DEFAULT_TEXT:
        columns->default_types[slot] = GT_SQLITE_TEXT;
        columns->defaults[slot].bytes = column->default_text.ptr;
        columns->default_lens[slot] = (uint32_t)column->default_text.len;
        break;
    default:
        break;
    }
    return gt_sqlite_db_knows_default(column, encoding);
}

enum gt_status gt_sqlite_db_scan_init(struct gt_sqlite_scan *scan, const struct gt_sqlite_db *db,
                                      const struct gt_sqlite_table *table, const uint16_t *columns, size_t count,
                                      struct gt_error *err) {
    *scan = (struct gt_sqlite_scan){.db = db, .table = table, .part_count = 1};
    scan->columns.count = count;
    scan->columns.rowid_alias =
        table->rowid_alias < table->column_count ? table->columns[table->rowid_alias].place : GT_SQLITE_NO_COLUMN;
    bool knows_all = table->has_rowids;
    for (size_t i = 0; i < count; i++) {
        scan->wanted[i] = columns[i];
        scan->columns.index[i] = GT_SQLITE_NO_COLUMN;
        if (columns[i] < table->column_count)
            knows_all &= take_column(&scan->columns, i, &table->columns[columns[i]], db->file.encoding);
    }
    scan->reads_pages = db->reads_pages && (knows_all || !db->connection);
    if (!scan->reads_pages)
        return GT_OK;
    if (gt_sqlite_pages_tree_init(&scan->tree, &db->file, table->root, err) != GT_OK)
        return GT_ERR;
    scan->tree.damaged += !scan->tree.is_table;
    scan->part_count = (scan->tree.leaf_count + PART_LEAVES - 1) / PART_LEAVES;
    return GT_OK;
}

void gt_sqlite_db_scan_release(struct gt_sqlite_scan *scan) {
    gt_sqlite_pages_tree_release(&scan->tree);
}

static char *make_query(const struct gt_sqlite_scan *scan, const char *hint) {
    const struct gt_sqlite_table *table = scan->table;
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, "SELECT ");
    for (size_t i = 0; i < scan->columns.count; i++) {
        uint16_t index = scan->wanted[i];
        if (index < table->column_count)
            sqlite3_str_appendf(text, "%s\"%w\"", i ? ", " : "", table->columns[index].name.ptr);
        else
            sqlite3_str_appendf(text, "%sNULL", i ? ", " : "");
    }
    sqlite3_str_appendf(text, " FROM \"%w\"%s", table->name.ptr, hint);
    return sqlite3_str_finish(text);
}

/* Returns the bytes of text or other data in it. */
static uint64_t take_value(sqlite3_stmt *statement, int column, struct gt_sqlite_row *row) {
    union gt_sqlite_cell *cell = &row->cells[column];
    row->types[column] = GT_SQLITE_NULL;
    row->lens[column] = 0;
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        row->types[column] = GT_SQLITE_INT;
        cell->integer = sqlite3_column_int64(statement, column);
        break;
    case SQLITE_FLOAT:
        row->types[column] = GT_SQLITE_REAL;
        cell->real = sqlite3_column_double(statement, column);
        break;
    case SQLITE_TEXT:
        cell->bytes = (const char *)sqlite3_column_text(statement, column);
        row->lens[column] = (uint32_t)sqlite3_column_bytes(statement, column);
        row->types[column] = cell->bytes ? GT_SQLITE_TEXT : GT_SQLITE_NULL; /* none: memory was short */
        break;
    case SQLITE_BLOB:
        cell->bytes = sqlite3_column_blob(statement, column);
        row->lens[column] = (uint32_t)sqlite3_column_bytes(statement, column);
        row->types[column] = GT_SQLITE_BLOB;
        break;
    }
    return row->lens[column];
}

/* false: the row has more text than may be left. */
static bool take_row(sqlite3_stmt *statement, size_t column_count, struct gt_sqlite_row *row, uint64_t *text_left) {
    uint64_t text_bytes = 0;
    for (size_t i = 0; i < column_count; i++)
        text_bytes += take_value(statement, (int)i, row);
    if (text_bytes > *text_left)
        return false;
    *text_left -= text_bytes;
    return true;
}

static enum gt_status step_through(const struct gt_sqlite_scan *scan, struct gt_sqlite_reader *reader,
                                   gt_sqlite_pages_row_fn *take, void *context, struct gt_error *err) {
    /* In the order of the rowids, which an index that has all columns must not change; a table without rowids is an
       index. */
    static const char *const hints[] = {" NOT INDEXED", ""};
    sqlite3_stmt *statement = NULL;
    int result = SQLITE_ERROR;
    for (size_t i = 0; i < 2 && result != SQLITE_OK; i++) {
        char *query = make_query(scan, hints[i]);
        if (!query)
            return gt_fail_memory(err);
        result = sqlite3_prepare_v2(scan->db->connection, query, -1, &statement, NULL);
        sqlite3_free(query);
    }
    /* Links that lead in circles could give rows and text without end; no row takes less than a byte. */
    uint64_t rows_left = scan->db->size_bytes, text_left = TEXT_FACTOR * scan->db->size_bytes + TEXT_SPARE;
    while (result == SQLITE_OK && (result = sqlite3_step(statement)) == SQLITE_ROW && rows_left-- > 0 &&
           take_row(statement, scan->columns.count, &reader->row, &text_left)) {
        result = SQLITE_OK;
        reader->rows++;
        take(context, &reader->row);
    }
    sqlite3_finalize(statement);
    if (result == SQLITE_NOMEM)
        return gt_fail_memory(err);
    reader->damaged += result != SQLITE_DONE;
    return GT_OK;
}

enum gt_status gt_sqlite_db_scan_part(const struct gt_sqlite_scan *scan, size_t part, struct gt_sqlite_reader *reader,
                                      gt_sqlite_pages_row_fn *take, void *context, struct gt_error *err) {
    if (!scan->reads_pages)
        return step_through(scan, reader, take, context, err);
    size_t first = part * PART_LEAVES, left = scan->tree.leaf_count - first;
    const uint32_t *leaves = scan->tree.leaves + first;
    size_t count = left < PART_LEAVES ? left : PART_LEAVES;
    enum gt_sqlite_encoding encoding = scan->db->file.encoding;
    if (encoding == GT_SQLITE_UTF8)
        return gt_sqlite_pages_reader_run(reader, leaves, count, &scan->columns, take, context, err);
    struct gt_sqlite_utf16 utf16 = {.take = take, .context = context, .is_big_endian = encoding == GT_SQLITE_UTF16_BIG};
    enum gt_status status =
        gt_sqlite_pages_reader_run(reader, leaves, count, &scan->columns, gt_sqlite_utf16_take, &utf16, err);
    gt_mem_free(utf16.text);
    return status == GT_OK && utf16.has_failed ? gt_fail_memory(err) : status;
}

enum gt_status gt_sqlite_db_read_table(const struct gt_sqlite_db *db, const struct gt_sqlite_table *table,
                                       const uint16_t *columns, size_t count, struct gt_sqlite_reader *reader,
                                       gt_sqlite_pages_row_fn *take, void *context, struct gt_error *err) {
    struct gt_sqlite_scan scan;
    enum gt_status status = gt_sqlite_db_scan_init(&scan, db, table, columns, count, err);
    for (size_t part = 0; part < scan.part_count && status == GT_OK; part++)
        status = gt_sqlite_db_scan_part(&scan, part, reader, take, context, err);
    reader->damaged += scan.tree.damaged;
    reader->missing += scan.tree.missing;
    reader->pages += scan.tree.pages;
    gt_sqlite_db_scan_release(&scan);
    return status;
}
