/* How many rows a table has: by the numbers on its pages, or by libsqlite3 where that reads the table. */
#include <sqlite3.h>

#include "base/mem.h"
#include "decode/sqlite/sqlite_db.h"

enum {
    COUNTED_ROWS_MAX = 10000,
    ROW_BYTES_MIN = 6, /* in a file: where it is, its size and number, and one value */
};

/* Counting goes through all leaves, so the number of the last row counts where there are many; but one that the file
   has no room for comes from removed rows or damage. */
static bool is_credible(const struct gt_sqlite_db *db, int64_t last) {
    return last > COUNTED_ROWS_MAX && (uint64_t)last <= db->size_bytes / ROW_BYTES_MIN;
}

static enum gt_status read_at(const struct gt_sqlite_file *file, uint32_t page, uint32_t at, uint8_t *bytes,
                              size_t size, bool *is_there, struct gt_error *err) {
    size_t got = 0;
    uint64_t offset = (uint64_t)(page - 1) * file->page_bytes + at;
    enum gt_status status = gt_source_pread(file->source, bytes, size, offset, &got, err);
    *is_there = got == size;
    return status;
}

/* The number of the last row on a leaf; 0 if the page does not say it. */
static int64_t last_on_leaf(const struct gt_sqlite_file *file, const uint8_t *page, uint32_t header) {
    uint32_t count = gt_sqlite_record_load16(page + header + 3), pointers = header + GT_SQLITE_LEAF_HEADER;
    uint64_t payload_bytes, rowid;
    if (count == 0 || pointers + 2 * count > file->usable_bytes)
        return 0;
    uint32_t at = gt_sqlite_record_load16(page + pointers + 2 * (count - 1));
    if (at >= file->usable_bytes)
        return 0;
    size_t len = gt_sqlite_record_varint(page + at, file->usable_bytes - at, &payload_bytes);
    at += (uint32_t)len;
    return len && gt_sqlite_record_varint(page + at, file->usable_bytes - at, &rowid) ? (int64_t)rowid : 0;
}

/* Goes down the last page of each level; *last is 0 if that leads nowhere. page: room for one. */
static enum gt_status find_last(const struct gt_sqlite_file *file, uint32_t root, uint8_t *page, int64_t *last,
                                struct gt_error *err) {
    uint32_t number = root;
    *last = 0;
    for (int level = 0; level < GT_SQLITE_LEVELS_MAX && number >= 1 && number <= file->page_count; level++) {
        uint32_t header = gt_sqlite_page_header(number);
        bool is_there;
        if (read_at(file, number, 0, page, file->page_bytes, &is_there, err) != GT_OK)
            return GT_ERR;
        if (is_there && page[header] == GT_SQLITE_LEAF)
            *last = last_on_leaf(file, page, header);
        if (!is_there || page[header] != GT_SQLITE_INTERIOR)
            break;
        number = gt_sqlite_record_load32(page + header + 8);
    }
    return GT_OK;
}

/* Adds up what the leaves say, until it is too many. */
static enum gt_status count_leaves(const struct gt_sqlite_file *file, const struct gt_sqlite_tree *tree, uint64_t *rows,
                                   struct gt_error *err) {
    bool is_known = tree->is_table && tree->damaged + tree->missing == 0;
    uint64_t count = 0;
    for (size_t i = 0; i < tree->leaf_count && is_known; i++) {
        uint8_t header[GT_SQLITE_LEAF_HEADER];
        uint32_t at = gt_sqlite_page_header(tree->leaves[i]);
        if (read_at(file, tree->leaves[i], at, header, sizeof header, &is_known, err) != GT_OK)
            return GT_ERR;
        count += is_known ? gt_sqlite_record_load16(header + 3) : 0;
        is_known = is_known && header[0] == GT_SQLITE_LEAF && count <= COUNTED_ROWS_MAX &&
                   at + GT_SQLITE_LEAF_HEADER + 2 * gt_sqlite_record_load16(header + 3) <= file->usable_bytes;
    }
    *rows = is_known ? count : UINT64_MAX;
    return GT_OK;
}

static enum gt_status count_by_pages(const struct gt_sqlite_db *db, uint32_t root, uint64_t *rows,
                                     struct gt_error *err) {
    struct gt_sqlite_tree tree;
    int64_t last = 0;
    uint8_t *page = gt_mem_alloc(db->file.page_bytes);
    enum gt_status status = page ? find_last(&db->file, root, page, &last, err) : gt_fail_memory(err);
    gt_mem_free(page);
    if (status != GT_OK)
        return status;
    if (is_credible(db, last)) {
        *rows = (uint64_t)last;
        return GT_OK;
    }
    status = gt_sqlite_pages_tree_init(&tree, &db->file, root, err);
    if (status == GT_OK)
        status = count_leaves(&db->file, &tree, rows, err);
    gt_sqlite_pages_tree_release(&tree);
    return status;
}

/* What a query with the table's name in it gives; -1 if it gives nothing. */
static int64_t ask(const struct gt_sqlite_db *db, const struct gt_sqlite_table *table, const char *format) {
    sqlite3_stmt *statement = NULL;
    int64_t value = -1;
    char *query = sqlite3_mprintf(format, table->name.ptr, COUNTED_ROWS_MAX + 1);
    if (query && sqlite3_prepare_v2(db->connection, query, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_free(query);
    return value;
}

static uint64_t count_by_library(const struct gt_sqlite_db *db, const struct gt_sqlite_table *table) {
    int64_t last = ask(db, table, "SELECT max(rowid) FROM \"%w\"");
    if (is_credible(db, last))
        return (uint64_t)last;
    /* A plain count(*) could not be ended. */
    int64_t count = ask(db, table, "SELECT count(*) FROM (SELECT 1 FROM \"%w\" LIMIT %d)");
    return count >= 0 && count <= COUNTED_ROWS_MAX ? (uint64_t)count : UINT64_MAX;
}

enum gt_status gt_sqlite_db_table_rows(const struct gt_sqlite_db *db, const struct gt_sqlite_table *table,
                                       uint64_t *rows, struct gt_error *err) {
    if (db->reads_pages && (table->has_rowids || !db->connection))
        return count_by_pages(db, table->root, rows, err);
    *rows = count_by_library(db, table);
    return GT_OK;
}
