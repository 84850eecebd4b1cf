/* The SQLite page reader on damaged, cut and hostile files, where it must go on or stop, but never fall. */
#include "sqlite_rows.h"

#define MANY_ROWS                                                                                                      \
    "CREATE TABLE t (a INTEGER, b TEXT);"                                                                              \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"                                  \
    " INSERT INTO t SELECT i, printf('row %d', i) FROM n"

static size_t read_damaged(struct outcome *outcome) {
    struct gt_sqlite_db db;
    struct gt_source *source = open_db(world_path, &db);
    const uint16_t columns[] = {0, 1};
    assert_int_equal(db.table_count, 1);
    sqlite3_free(scan_text(&db, &db.tables[0], columns, 2, false, outcome));
    assert_true(outcome->reads_pages);
    size_t root = db.tables[0].root;
    close_db(source, &db);
    return root;
}

static void test_damaged_leaf(void **state) {
    (void)state;
    unsigned char *bytes;
    struct outcome outcome;
    world_make(world_path, MANY_ROWS);
    read_damaged(&outcome);
    assert_int_equal(outcome.count, 20000);
    assert_int_equal(outcome.damaged, 0);
    size_t size = world_read(world_path, &bytes), per_page = 0;
    size_t leaf = 40 * 4096;
    assert_int_equal(bytes[leaf], 0x0D);
    per_page = (size_t)bytes[leaf + 3] << 8 | bytes[leaf + 4];
    memset(bytes + leaf, 0, 4096);
    world_write(world_path, bytes, size);
    read_damaged(&outcome);
    assert_int_equal(outcome.damaged, 1);
    assert_int_equal(outcome.count, 20000 - per_page);
    free(bytes);
}

/* Links back to the root, to themselves, to the header and past the end. */
static void test_bad_links(void **state) {
    (void)state;
    unsigned char *bytes;
    struct outcome outcome;
    world_make(world_path, MANY_ROWS);
    size_t root = read_damaged(&outcome);
    size_t size = world_read(world_path, &bytes);
    unsigned char *page = bytes + (root - 1) * 4096;
    assert_int_equal(page[0], 0x05);
    static const uint32_t links[] = {0, 1, 2, UINT32_MAX, 0x7FFFFFFF};
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        unsigned char *cell = page + (page[12] << 8 | page[13]), saved[4];
        memcpy(saved, cell, 4);
        for (int k = 0; k < 4; k++)
            cell[k] = (unsigned char)(links[i] >> (24 - 8 * k));
        world_write(world_path, bytes, size);
        read_damaged(&outcome);
        assert_int_equal(outcome.damaged, 1);
        assert_in_range(outcome.count, 19000, 19999);
        memcpy(cell, saved, 4);
    }
    /* All links lead to one page: it is read once. */
    for (int i = 0; i < (page[3] << 8 | page[4]); i++)
        memcpy(page + (page[12 + 2 * i] << 8 | page[13 + 2 * i]), page + (page[12] << 8 | page[13]), 4);
    world_write(world_path, bytes, size);
    read_damaged(&outcome);
    assert_in_range(outcome.count, 1, 1000);
    assert_true(outcome.damaged > 10);
    free(bytes);
}

static void put32(unsigned char *at, uint32_t number) {
    for (int k = 0; k < 4; k++)
        at[k] = (unsigned char)(number >> (24 - 8 * k));
}

/* A page of a table's tree whose 300 links all lead to one page below. header: bytes before it on the page. */
static void make_fan(unsigned char *page, uint32_t below, size_t header) {
    enum { LINKS = 300, LINK_BYTES = 6 };
    unsigned char *top = page + header;
    memset(top, 0, 4096 - header);
    top[0] = 0x05;
    for (size_t i = 0; i < LINKS; i++) {
        size_t at = 4096 - (i + 1) * LINK_BYTES;
        put32(page + at, below);
        page[at + 4] = (unsigned char)(0x80 | (i + 1) >> 7);
        page[at + 5] = (unsigned char)((i + 1) & 0x7F);
        top[12 + 2 * i] = (unsigned char)(at >> 8);
        top[13 + 2 * i] = (unsigned char)at;
        top[3] = (unsigned char)((i + 1) >> 8);
        top[4] = (unsigned char)(i + 1);
    }
    put32(top + 8, below);
}

/* Ten levels of such pages above the leaf that the page was: more rows than can be counted. */
static void make_endless(uint32_t root) {
    enum { LEVELS = 10 };
    unsigned char *bytes;
    size_t size = world_read(world_path, &bytes), header = root == 1 ? 100 : 0;
    uint32_t last = (uint32_t)(size / 4096) + LEVELS;
    unsigned char *all = calloc(1, (size_t)last * 4096), *leaf = all + (size_t)(last - 1) * 4096;
    assert_non_null(all);
    memcpy(all, bytes, size);
    memcpy(leaf, all + (size_t)(root - 1) * 4096, 4096);
    memmove(leaf, leaf + header, 8 + 2 * (size_t)leaf[header + 4]);
    for (uint32_t page = last - LEVELS + 1; page < last; page++)
        make_fan(all + (size_t)(page - 1) * 4096, page + 1, 0);
    make_fan(all + (size_t)(root - 1) * 4096, last - LEVELS + 1, header);
    put32(all + 28, last);
    world_write(world_path, all, (size_t)last * 4096);
    free(all);
    free(bytes);
}

/* Queries of libsqlite3 on such a tree would go on for years. */
static void test_endless_trees(void **state) {
    (void)state;
    struct gt_sqlite_db db;
    struct gt_source *source;
    struct outcome outcome;
    world_make(world_path, "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)");
    make_endless(2);
    source = open_db(world_path, &db);
    assert_int_equal(db.table_count, 1);
    assert_true(count_rows(&db, 0) == UINT64_MAX);
    sqlite3_free(scan_text(&db, &db.tables[0], (const uint16_t[]){0}, 1, false, &outcome));
    assert_int_equal(outcome.count, 2);
    assert_int_equal(outcome.damaged, 10 * 300);
    sqlite3_free(scan_text(&db, &db.tables[0], (const uint16_t[]){0}, 1, true, &outcome));
    assert_in_range(outcome.count, 1, db.size_bytes);
    assert_int_equal(outcome.damaged, 1);
    close_db(source, &db);
    world_make(world_path, "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)");
    make_endless(1);
    source = open_db(world_path, &db);
    assert_true(db.is_schema_damaged);
    assert_int_equal(db.table_count, 1);
    close_db(source, &db);
}

static void test_cut_file(void **state) {
    (void)state;
    unsigned char *bytes;
    struct outcome outcome;
    world_make(world_path, MANY_ROWS);
    size_t size = world_read(world_path, &bytes);
    size_t before = 0;
    for (size_t part = 10; part <= 20; part++) {
        world_write(world_path, bytes, size * part / 20);
        read_damaged(&outcome);
        assert_int_equal(outcome.damaged, 0);
        assert_int_equal(outcome.missing > 0, part < 20);
        assert_true(outcome.count > before);
        before = outcome.count;
    }
    assert_int_equal(before, 20000);
    free(bytes);
}

/* A chain of overflow pages that leads round in a circle, and a record that says it is huge. */
static void test_bad_overflow(void **state) {
    (void)state;
    unsigned char *bytes;
    struct outcome outcome;
    world_make(world_path, "CREATE TABLE t (a TEXT, b TEXT); INSERT INTO t VALUES (printf('%.*c', 50000, 'x'), 'end');"
                           "INSERT INTO t VALUES ('next', 'row')");
    size_t root = read_damaged(&outcome);
    assert_int_equal(outcome.count, 2);
    size_t size = world_read(world_path, &bytes);
    for (size_t page = root; page < size / 4096; page++)
        memcpy(bytes + page * 4096, "\0\0\0\3", 4);
    world_write(world_path, bytes, size);
    read_damaged(&outcome); /* ends: what it gives does not matter */
    unsigned char *leaf = bytes + (root - 1) * 4096, *cell = leaf + (leaf[8] << 8 | leaf[9]);
    memcpy(cell, "\x87\xff\xff\xff\x7f", 5);
    world_write(world_path, bytes, size);
    read_damaged(&outcome);
    assert_true(outcome.damaged >= 1);
    free(bytes);
}

static void count_row(void *context, const struct gt_sqlite_row *row) {
    (void)row;
    ++*(size_t *)context;
}

/* A reader that has followed many pages reads the next part like a fresh one: threads take parts in any order. */
static void test_runs_do_not_share_limits(void **state) {
    (void)state;
    world_make(world_path, "CREATE TABLE t (a TEXT, b TEXT); INSERT INTO t VALUES (printf('%.*c', 50000, 'x'), 'end')");
    struct gt_sqlite_db db;
    struct gt_source *source = open_db(world_path, &db);
    struct gt_error err = {0};
    struct gt_sqlite_scan scan;
    struct gt_sqlite_reader reader;
    size_t count = 0;
    assert_int_equal(gt_sqlite_db_scan_init(&scan, &db, &db.tables[0], (const uint16_t[]){1}, 1, &err), GT_OK);
    assert_true(gt_sqlite_pages_reader_init(&reader, &db.file));
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(gt_sqlite_db_scan_part(&scan, 0, &reader, count_row, &count, &err), GT_OK);
    assert_int_equal(count, 5);
    assert_int_equal(reader.damaged, 0);
    gt_sqlite_pages_reader_release(&reader);
    gt_sqlite_db_scan_release(&scan);
    close_db(source, &db);
}

/* Whatever happens, it must be no crash; the sanitizers watch. */
static void scan_everything(void) {
    struct gt_error err = {0};
    struct gt_source *source;
    struct gt_sqlite_db db;
    assert_int_equal(gt_source_open(world_path, &source, &err), GT_OK);
    if (gt_sqlite_db_open(&db, source, &err) == GT_OK) {
        for (size_t t = 0; t < db.table_count; t++) {
            uint16_t columns[4] = {0, 1, 2, 3};
            struct outcome outcome;
            size_t count = db.tables[t].column_count < 4 ? db.tables[t].column_count : 4;
            if (count)
                sqlite3_free(scan_text(&db, &db.tables[t], columns, count, false, &outcome));
        }
        gt_sqlite_db_close(&db);
    }
    gt_source_close(source);
}

static void test_flipped_bytes(void **state) {
    (void)state;
    unsigned char *bytes;
    uint64_t seed = 4;
    unlink(world_path);
    sqlite3 *connection = world_open(world_path);
    world_sql(connection, "PRAGMA page_size = 512;" MIXED);
    insert_random(connection, INSERT_MIXED, 40, 3, 3000);
    sqlite3_close(connection);
    size_t size = world_read(world_path, &bytes);
    for (int i = 0; i < 1500; i++) {
        unsigned char *copy = malloc(size);
        memcpy(copy, bytes, size);
        size_t flips = 1 + random_below(&seed, 20);
        for (size_t k = 0; k < flips; k++)
            copy[i % 3 ? random_below(&seed, size) : random_below(&seed, 1024)] = (unsigned char)random_u64(&seed);
        memcpy(copy, bytes, 16);
        world_write(world_path, copy, i % 7 ? size : random_below(&seed, size) + 1);
        scan_everything();
        free(copy);
    }
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_leaf),  cmocka_unit_test(test_bad_links),
        cmocka_unit_test(test_endless_trees), cmocka_unit_test(test_cut_file),
        cmocka_unit_test(test_bad_overflow),  cmocka_unit_test(test_runs_do_not_share_limits),
        cmocka_unit_test(test_flipped_bytes),
    };
    return cmocka_run_group_tests(tests, world_begin, world_end);
}
