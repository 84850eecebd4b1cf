/* Rows of sqlite_schema come in, the tables of a database and their columns go out. The list is read twice: a statement
   whose pages are lost must not cost the name of its table, by which the loss is reported. */
#include "decode/sqlite/sqlite_schema.h"

#include "base/mem.h"

/* The columns of sqlite_schema, as SQLite defines them. */
enum { TYPE, NAME, TABLE_NAME, ROOT, SQL, COLUMN_COUNT };

struct reading {
    struct gt_sqlite_db *db;
    size_t capacity;
    size_t next;      /* table whose statement may come next */
    bool has_strange; /* rows that no schema has */
};

/* Text that ends where its first NUL is, as names do for SQLite. */
static struct gt_str text_of(const struct gt_sqlite_row *row, size_t slot) {
    struct gt_str text = gt_sqlite_record_text(row, slot);
    return (struct gt_str){text.ptr, text.len ? strnlen(text.ptr, text.len) : 0};
}

/* false: the row describes no table that has pages. Views and virtual tables have none. */
static bool is_table(struct reading *reading, const struct gt_sqlite_row *row) {
    static const struct gt_str others[] = {GT_STR("index"), GT_STR("view"), GT_STR("trigger")};
    struct gt_str type = text_of(row, TYPE);
    bool is_other = false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        is_other |= gt_str_eq(type, others[i]);
    bool has_name = gt_sqlite_record_text(row, NAME).ptr != NULL, is_table = gt_str_eq(type, GT_STR("table"));
    int64_t root = gt_sqlite_record_int(row, ROOT, 0);
    reading->has_strange |= !has_name || (!is_table && !is_other) || root < 0 || root > UINT32_MAX;
    return is_table && has_name && root > 0 && root <= UINT32_MAX;
}

static void take_table(void *context, const struct gt_sqlite_row *row) {
    struct reading *reading = context;
    struct gt_sqlite_db *db = reading->db;
    if (!is_table(reading, row) || gt_arena_failed(&db->arena))
        return;
    struct gt_sqlite_table *tables = gt_mem_room(db->tables, db->table_count, &reading->capacity, sizeof *tables);
    if (!tables) {
        db->arena.failed = true;
        return;
    }
    db->tables = tables;
    tables[db->table_count++] = (struct gt_sqlite_table){
        .name = gt_arena_copy(&db->arena, text_of(row, NAME)),
        .root = (uint32_t)gt_sqlite_record_int(row, ROOT, 0),
        .has_rowids = true,
        .rowid_alias = GT_SQLITE_NO_COLUMN,
    };
}

/* Statements come in the order of the tables, and some do not come. */
static void take_statement(void *context, const struct gt_sqlite_row *row) {
    struct reading *reading = context;
    struct gt_sqlite_db *db = reading->db;
    if (!is_table(reading, row))
        return;
    struct gt_str name = text_of(row, NAME);
    int64_t root = gt_sqlite_record_int(row, ROOT, 0);
    for (size_t i = reading->next; i < db->table_count; i++) {
        struct gt_sqlite_table *table = &db->tables[i];
        if (table->root != root || !gt_str_eq(table->name, name))
            continue;
        /* A table whose pages are cut off is as good as damaged. */
        if (!db->reads_pages || table->root <= db->file.page_count)
            gt_sqlite_table_parse(table, text_of(row, SQL), &db->arena);
        reading->next = i + 1;
        return;
    }
}

/* The first columns of each row. is_whole stays if nothing was lost. */
static enum gt_status read_rows(struct reading *reading, size_t column_count, gt_sqlite_pages_row_fn *take,
                                bool *is_whole, struct gt_error *err) {
    static struct gt_sqlite_column columns[COLUMN_COUNT] = {
        [TYPE] = {.name = GT_STR("type"), .place = TYPE},
        [NAME] = {.name = GT_STR("name"), .place = NAME},
        [TABLE_NAME] = {.name = GT_STR("tbl_name"), .place = TABLE_NAME},
        [ROOT] = {.name = GT_STR("rootpage"), .place = ROOT},
        [SQL] = {.name = GT_STR("sql"), .place = SQL},
    };
    static const struct gt_sqlite_table schema = {
        .name = GT_STR("sqlite_schema"),
        .root = GT_SQLITE_SCHEMA_ROOT,
        .has_rowids = true,
        .rowid_alias = GT_SQLITE_NO_COLUMN,
        .columns = columns,
        .column_count = COLUMN_COUNT,
    };
    static const uint16_t wanted[COLUMN_COUNT] = {TYPE, NAME, TABLE_NAME, ROOT, SQL};
    struct gt_sqlite_scan scan;
    struct gt_sqlite_reader reader = {0};
    enum gt_status status = gt_sqlite_db_scan_init(&scan, reading->db, &schema, wanted, column_count, err);
    if (status == GT_OK && !gt_sqlite_pages_reader_init(&reader, &reading->db->file))
        status = gt_fail_memory(err);
    for (size_t part = 0; part < scan.part_count && status == GT_OK; part++)
        status = gt_sqlite_db_scan_part(&scan, part, &reader, take, reading, err);
    *is_whole &= scan.tree.damaged + scan.tree.missing + reader.damaged + reader.missing == 0;
    gt_sqlite_pages_reader_release(&reader);
    gt_sqlite_db_scan_release(&scan);
    return status;
}

enum gt_status gt_sqlite_schema_read(struct gt_sqlite_db *db, struct gt_error *err) {
    struct reading reading = {.db = db};
    bool is_whole = true;
    enum gt_status status = read_rows(&reading, SQL, take_table, &is_whole, err);
    if (status == GT_OK)
        status = read_rows(&reading, COLUMN_COUNT, take_statement, &is_whole, err);
    db->is_schema_damaged = !is_whole || reading.has_strange;
    return status == GT_OK && gt_arena_failed(&db->arena) ? gt_fail_memory(err) : status;
}
