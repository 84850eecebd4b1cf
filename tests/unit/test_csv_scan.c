/* CSV rows: how cells are cut, and that the window, however small, never changes what is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "decode/csv/csv_scan.h"
#include "random.h"

/* "a|b|c" of the cells, quotes undone; "!" before a broken row, "$" after one that the input cuts. */
static void print_row(char *text, size_t size, const struct gt_csv_row *row) {
    size_t used = (size_t)snprintf(text, size, "%s", row->is_broken ? "!" : "");
    for (size_t i = 0; i < row->count && i < GT_CSV_CELLS_MAX; i++) {
        char cell[4096];
        struct gt_str from = row->cells[i].text;
        size_t length = row->cells[i].has_quotes ? gt_csv_scan_decode(from, cell) : from.len;
        used += (size_t)snprintf(text + used, size - used, "%s%.*s", i ? "|" : "", (int)length,
                                 row->cells[i].has_quotes ? cell : from.ptr);
    }
    snprintf(text + used, size - used, "%s", row->is_cut ? "$" : "");
}

static void check_row(const char *bytes, enum gt_csv_unit unit, const char *expected, size_t expected_length) {
    /* A copy that ends with its last byte, so that reading too far is detected. */
    size_t length = strlen(bytes);
    char *copy = malloc(length ? length : 1), text[512];
    memcpy(copy, bytes, length);
    const char *p = copy;
    struct gt_csv_row row;
    assert_true(gt_csv_scan_row(&p, copy + length, true, unit, &row));
    print_row(text, sizeof text, &row);
    assert_string_equal(text, expected);
    assert_int_equal(p - copy, expected_length);
    free(copy);
}

static void test_cells(void **state) {
    (void)state;
    check_row("a,b,c\nd", GT_CSV_RECORD, "a|b|c", 6);
    check_row("a,b,c\r\nd", GT_CSV_RECORD, "a|b|c", 7);
    check_row(",,\n", GT_CSV_RECORD, "||", 3);
    check_row("\n", GT_CSV_RECORD, "", 1);
    check_row("longer than eight bytes,and so is this one\n", GT_CSV_RECORD,
              "longer than eight bytes|and so is this one", 43);
    check_row("a,b", GT_CSV_RECORD, "a|b$", 3);
    check_row("a,", GT_CSV_RECORD, "a|$", 2);
    check_row("\xef\xbb\xbf"
              "a,b\n",
              GT_CSV_RECORD, "a|b", 7);
    check_row("mid\rdle,x\n", GT_CSV_RECORD, "mid\rdle|x", 10);
}

static void test_quotes(void **state) {
    (void)state;
    check_row("1,\"f(int, int)\",2\n", GT_CSV_RECORD, "1|f(int, int)|2", 18);
    check_row("\"a \"\"b\"\" c\",\"\"\"\",\"\"\n", GT_CSV_RECORD, "a \"b\" c|\"|", 20);
    check_row("\"a\nb\",c\n", GT_CSV_RECORD, "a\nb|c", 8);
    check_row("\"a\"\r\nb", GT_CSV_RECORD, "a", 5);
    check_row("\xef\xbb\xbf\"a\",b\n", GT_CSV_RECORD, "a|b", 9);
    check_row("say \"hi\",b\n", GT_CSV_RECORD, "say \"hi\"|b", 11);
    check_row("\"a\"junk,b\n", GT_CSV_RECORD, "!a|b", 10);
    check_row("\"never closed\nx", GT_CSV_RECORD, "!never closed\nx$", 15);
    /* A line ends where it does, whatever its quotes say. */
    check_row("\"never closed\nx", GT_CSV_LINE, "!never closed", 14);
    check_row("x,\"a,b\",c\ny", GT_CSV_LINE, "x|a,b|c", 10);
}

static void test_too_little(void **state) {
    (void)state;
    static const char bytes[] = "ab,\"c\"\"d\ne\"\n";
    struct gt_csv_row row;
    for (size_t length = 0; length < sizeof bytes - 2; length++) {
        const char *p = bytes;
        assert_false(gt_csv_scan_row(&p, bytes + length, false, GT_CSV_RECORD, &row));
    }
    const char *p = bytes;
    assert_true(gt_csv_scan_row(&p, bytes + sizeof bytes - 1, false, GT_CSV_RECORD, &row));
    assert_int_equal(row.count, 2);
}

static void test_many_cells(void **state) {
    (void)state;
    char bytes[3 * GT_CSV_CELLS_MAX];
    size_t length = 0;
    for (size_t i = 0; i < GT_CSV_CELLS_MAX + 9; i++) {
        bytes[length++] = 'x';
        bytes[length++] = ',';
    }
    bytes[length - 1] = '\n';
    const char *p = bytes;
    struct gt_csv_row row;
    assert_true(gt_csv_scan_row(&p, bytes + length, true, GT_CSV_RECORD, &row));
    assert_int_equal(row.count, GT_CSV_CELLS_MAX + 9);
}

/* ---- the reader ---- */

static struct gt_source *source_of(const char *bytes, size_t length, char path[32]) {
    struct gt_source *source;
    strcpy(path, "/tmp/csv_scan_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, bytes, length) == (ssize_t)length);
    close(fd);
    assert_int_equal(gt_source_open(path, &source, NULL), GT_OK);
    return source;
}

/* All rows, a line for each, with their offsets. */
static char *read_all(const char *bytes, size_t length, struct gt_csv_sizes sizes) {
    char path[32], *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct gt_source *source = source_of(bytes, length, path);
    struct gt_csv_reader reader;
    struct gt_csv_row row;
    bool has_row;
    assert_int_equal(gt_csv_scan_reader_init(&reader, source, &sizes, NULL), GT_OK);
    for (;;) {
        char line[8192];
        assert_int_equal(gt_csv_scan_reader_next(&reader, GT_CSV_RECORD, &row, &has_row, NULL), GT_OK);
        if (!has_row)
            break;
        print_row(line, sizeof line, &row);
        fprintf(out, "%llu %s\n", (unsigned long long)row.offset, line);
    }
    gt_csv_scan_reader_release(&reader);
    gt_source_close(source);
    unlink(path);
    fclose(out);
    return text;
}

static void test_window_sizes(void **state) {
    (void)state;
    uint64_t random = 7;
    for (int turn = 0; turn < 60; turn++) {
        static const char alphabet[] = "ab,,\"\"\n\n\r1 ";
        char bytes[600];
        size_t length = random_below(&random, sizeof bytes);
        for (size_t i = 0; i < length; i++)
            bytes[i] = alphabet[random_below(&random, sizeof alphabet - 1)];
        char *whole = read_all(bytes, length, gt_csv_default_sizes);
        for (size_t window = 1; window < 40; window += 1 + window / 4) {
            char *parts = read_all(bytes, length, (struct gt_csv_sizes){window, 4096});
            assert_string_equal(parts, whole);
            free(parts);
        }
        free(whole);
    }
}

static void test_too_long(void **state) {
    (void)state;
    static const char bytes[] = "a,b\n"
                                "0123456789012345678901234567890123456789,x\n"
                                "c,\"open\nd,e\nf,g\n"
                                "h,i\n";
    char *text = read_all(bytes, sizeof bytes - 1, (struct gt_csv_sizes){4, 16});
    /* A long line is lost alone; so is the first line of a row whose quote does not close in time. */
    assert_string_equal(text, "0 a|b\n4 !\n47 !\n55 d|e\n59 f|g\n63 h|i\n");
    free(text);
}

static void test_reread(void **state) {
    (void)state;
    static const char bytes[] = "1,\"open\n2,\"b\"\n3,c\n";
    char path[32];
    struct gt_source *source = source_of(bytes, sizeof bytes - 1, path);
    struct gt_csv_reader reader;
    struct gt_csv_row row;
    bool has_row;
    char line[100];
    assert_int_equal(gt_csv_scan_reader_init(&reader, source, &(struct gt_csv_sizes){64, 64}, NULL), GT_OK);
    assert_int_equal(gt_csv_scan_reader_next(&reader, GT_CSV_RECORD, &row, &has_row, NULL), GT_OK);
    assert_true(row.is_broken);
    gt_csv_scan_reader_reread(&reader, &row);
    assert_int_equal(gt_csv_scan_reader_next(&reader, GT_CSV_RECORD, &row, &has_row, NULL), GT_OK);
    print_row(line, sizeof line, &row);
    assert_string_equal(line, "2|b");
    assert_int_equal(row.offset, 8);
    /* A row of one line is not read again. */
    gt_csv_scan_reader_reread(&reader, &row);
    assert_int_equal(gt_csv_scan_reader_next(&reader, GT_CSV_RECORD, &row, &has_row, NULL), GT_OK);
    print_row(line, sizeof line, &row);
    assert_string_equal(line, "3|c");
    gt_csv_scan_reader_release(&reader);
    gt_source_close(source);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),      cmocka_unit_test(test_quotes),       cmocka_unit_test(test_too_little),
        cmocka_unit_test(test_many_cells), cmocka_unit_test(test_window_sizes), cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_reread),
    };
    return cmocka_run_group_tests_name("csv_scan", tests, NULL, NULL);
}
