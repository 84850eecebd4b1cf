/* Plain rows that come many at once, against the same rows one by one. */
#include "sqlite_rows.h"

enum { A, B, LACKING, NOTHING, TEXT, OTHER, COLUMN_COUNT };

static const struct gt_sqlite_plain plain = {
    .integers = {A, B, LACKING},
    .integer_count = 3,
    .nulls = {NOTHING},
    .null_count = 1,
    .may_lack = 1U << LACKING,
    .has_text = true,
    .text = TEXT,
};

struct taken {
    sqlite3_str *text;
    size_t single, together;
    bool refuses; /* some plain rows */
};

/* What both ways show: the column that does not matter is left out, and where a number may lack, -1 stands for NULL. */
static void add_shown(struct taken *taken, const struct gt_sqlite_row *row) {
    for (size_t slot = A; slot < OTHER; slot++)
        if (slot == LACKING && row->types[slot] == GT_SQLITE_NULL)
            sqlite3_str_appendall(taken->text, "-1|");
        else
            add_value(taken->text, row->types[slot], row->cells[slot], row->lens[slot]);
    sqlite3_str_appendchar(taken->text, 1, '\n');
}

static void take_single(void *context, const struct gt_sqlite_row *row) {
    struct taken *taken = context;
    taken->single++;
    add_shown(taken, row);
}

static size_t take_batch(void *context, const struct gt_sqlite_batch *batch, size_t from) {
    struct taken *taken = context;
    struct gt_sqlite_row row = {.types = {GT_SQLITE_INT, GT_SQLITE_INT, GT_SQLITE_INT, GT_SQLITE_NULL}};
    for (; from < batch->count; from++) {
        if (taken->refuses && batch->values[A][from] % 5 == 1)
            break;
        for (size_t i = A; i <= LACKING; i++)
            row.cells[i].integer = batch->values[i][from];
        row.types[TEXT] = batch->texts[from].ptr ? GT_SQLITE_TEXT : GT_SQLITE_NULL;
        row.cells[TEXT].bytes = batch->texts[from].ptr;
        row.lens[TEXT] = (uint32_t)batch->texts[from].len;
        taken->together++;
        add_shown(taken, &row);
    }
    return from;
}

/* The rows of the only table; names: of the columns, in the order of their slots. */
static struct taken scan(const struct gt_sqlite_db *db, const char *const *names, bool is_single, bool refuses) {
    struct gt_error err = {0};
    struct gt_sqlite_scan scan;
    struct gt_sqlite_reader reader;
    struct taken taken = {.text = sqlite3_str_new(NULL), .refuses = refuses};
    struct gt_sqlite_batches batches = {plain, take_batch, &taken};
    uint16_t columns[COLUMN_COUNT];
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        columns[i] = gt_sqlite_table_column(&db->tables[0], gt_str_of(names[i]));
    assert_int_equal(gt_sqlite_db_scan_init(&scan, db, &db->tables[0], columns, COLUMN_COUNT, &err), GT_OK);
    assert_true(scan.reads_pages);
    assert_true(gt_sqlite_pages_reader_init(&reader, &db->file));
    reader.batches = is_single ? NULL : &batches;
    for (size_t part = 0; part < scan.part_count; part++)
        assert_int_equal(gt_sqlite_db_scan_part(&scan, part, &reader, take_single, &taken, &err), GT_OK);
    assert_int_equal(reader.damaged + reader.missing, 0);
    gt_sqlite_pages_reader_release(&reader);
    gt_sqlite_db_scan_release(&scan);
    return taken;
}

/* Returns how many rows came together. */
static size_t compare(const char *const *names) {
    struct gt_sqlite_db db;
    struct gt_source *source = open_db(world_path, &db);
    struct taken single = scan(&db, names, true, false);
    struct taken batched = scan(&db, names, false, false);
    struct taken refused = scan(&db, names, false, true);
    char *texts[] = {sqlite3_str_finish(single.text), sqlite3_str_finish(batched.text),
                     sqlite3_str_finish(refused.text)};
    assert_string_equal(texts[0], texts[1]);
    assert_string_equal(texts[0], texts[2]);
    assert_int_equal(single.single, batched.single + batched.together);
    assert_int_equal(single.single, refused.single + refused.together);
    assert_true(batched.together == 0 || refused.together < batched.together);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        sqlite3_free(texts[i]);
    close_db(source, &db);
    return batched.together;
}

/* Numbers of every size, and some rows that are not plain for each of the reasons there are. */
#define FILL(table)                                                                                                    \
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO " table                \
    " SELECT CASE i % 97 WHEN 13 THEN NULL WHEN 14 THEN 1.5 WHEN 15 THEN 'x' ELSE i % 9 END,"                          \
    " (i % 2 * 2 - 1) * ((1 << (i % 63)) - i % 3), CASE WHEN i % 4 THEN i END,"                                        \
    " CASE WHEN i % 50 = 9 THEN i END, CASE i % 3 WHEN 0 THEN printf('%.*c', i % 40 * 2, 'y') WHEN 1 THEN NULL"        \
    " WHEN 2 THEN CASE WHEN i % 31 THEN 'text' ELSE 5 END END, printf('%.*c', i % 70, 'z') FROM n;"

static const char *const usual[COLUMN_COUNT] = {"a", "b", "c", "d", "e", "f"};

static void test_pages(void **state) {
    (void)state;
    static const int page_bytes[] = {512, 4096, 65536};
    for (size_t i = 0; i < sizeof page_bytes / sizeof *page_bytes; i++) {
        char sql[4096];
        snprintf(sql, sizeof sql, "PRAGMA page_size = %d; CREATE TABLE t (a, b, c, d, e, f); %s", page_bytes[i],
                 FILL("t"));
        world_make(world_path, sql);
        assert_in_range(compare(usual), 1000, 2900);
    }
}

/* Columns that the table does not have, in another order, far behind or added later. */
static void test_columns(void **state) {
    (void)state;
    static const char *const lacking[COLUMN_COUNT] = {"a", "b", "none", "none", "none", "f"};
    static const char *const required[COLUMN_COUNT] = {"none", "b", "c", "d", "e", "f"};
    static const char *const backwards[COLUMN_COUNT] = {"b", "a", "c", "d", "none", "none"};
    world_make(world_path, "CREATE TABLE t (a, b, c, d, e, f); " FILL("t"));
    assert_in_range(compare(lacking), 2000, 3000);
    assert_int_equal(compare(required), 0);
    assert_in_range(compare(backwards), 2000, 2990);

    world_make(world_path, "CREATE TABLE t (a, b, c, d, e, f); " FILL("t") "ALTER TABLE t ADD COLUMN later;" FILL(
                               "t (a, b, c, d, e, f)") "UPDATE t SET later = 7 WHERE a = 3");
    static const char *const late[COLUMN_COUNT] = {"a", "b", "later", "d", "e", "f"};
    assert_in_range(compare(late), 2000, 2900); /* of those with the column */
    static const char *const late_null[COLUMN_COUNT] = {"a", "b", "c", "later", "none", "none"};
    assert_in_range(compare(late_null), 1500, 2900);
}

static void test_far(void **state) {
    (void)state;
    static const char *const far_null[COLUMN_COUNT] = {"a", "b", "c", "far", "none", "none"};
    static const char *const far_number[COLUMN_COUNT] = {"a", "far", "c", "d", "none", "none"};
    world_make(world_path,
               "CREATE TABLE t (a, b, c, d, n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, m0, m1, m2, m3, far, last);"
               "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO t SELECT"
               " i, i * i * i, -i, NULL, i % 2, i % 3, i % 300, 1 << (i % 60), 'x', NULL, 5, 6, 7, 8, 9, 1, 2,"
               " CASE WHEN i % 10 = 5 THEN printf('%.*c', 80, 'w') END, CASE WHEN i % 7 = 2 THEN i END, 1 FROM n");
    assert_in_range(compare(far_null), 2000, 2900);
    assert_int_equal(compare(far_number), 0);
}

static void test_kinds(void **state) {
    (void)state;
    world_make(world_path, "CREATE TABLE t (a REAL, b, c, d, e, f); " FILL("t"));
    assert_int_equal(compare(usual), 0);
    world_make(world_path, "CREATE TABLE t (a, b, c, d, e, f, id INTEGER PRIMARY KEY); " FILL("t (a, b, c, d, e, f)"));
    static const char *const key[COLUMN_COUNT] = {"a", "id", "c", "d", "e", "none"};
    assert_int_equal(compare(key), 0);
    static const char *const text_key[COLUMN_COUNT] = {"a", "b", "c", "d", "id", "none"};
    assert_int_equal(compare(text_key), 0);
    world_make(world_path, "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (a, b, c, d, e, f); " FILL("t"));
    assert_int_equal(compare(usual), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_far),
        cmocka_unit_test(test_kinds),
    };
    return cmocka_run_group_tests(tests, world_begin, world_end);
}
