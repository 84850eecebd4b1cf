/* Directories of older tools: which rows a file lists, what its placeholders mean, and the keys of its JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "null_row.h"
#include "write/folder_files.h"
#include "write/picked.h"
#include "write/place.h"

static const struct gt_report_column columns[] = {
    {"pid", "Process", GT_UNIT_NONE, NULL, 0},
    {"name", "Name", GT_UNIT_NONE, NULL, 0},
    {"total_ns", "Total", GT_UNIT_NS, NULL, 0},
};

/* Rows (1, a, 500), (2, b, 1500), (1, c, 1000), (null, d, 0), and a table of the processes. */
static struct gt_report *new_report(void) {
    static const struct {
        int64_t pid;
        const char *name;
        int64_t total_ns;
    } rows[] = {{1, "a", 500}, {2, "b", 1500}, {1, "c", 1000}, {-1, "d", 0}};
    struct gt_report *report = gt_report_new("test", 1);
    assert_non_null(report);
    struct gt_section *section = &report->sections[0];
    section->input.path = GT_STR("dir/t.sqlite");
    section->input.label = GT_STR("t.sqlite");
    section->input.origin_ns = 100000;
    struct gt_table *table = gt_section_table(section, "rows", "Rows", columns, 3);
    for (size_t i = 0; i < 4; i++) {
        struct gt_cell *cell = null_row(table);
        cell[0] = rows[i].pid < 0 ? gt_cell_null() : gt_cell_int(rows[i].pid);
        cell[1] = gt_cell_text(gt_str_of(rows[i].name));
        cell[2] = gt_cell_int(rows[i].total_ns);
    }
    struct gt_table *processes = gt_section_table(section, "processes", "Processes", columns, 1);
    for (int64_t pid = 1; pid <= 3; pid++)
        *null_row(processes) = gt_cell_int(pid);
    gt_section_add_fact(section, gt_section_facts(section, NULL), "fact", "Fact", GT_UNIT_NONE,
                        gt_cell_text(GT_STR("x")));
    return report;
}

static void check_pick(const struct gt_pick *pick, const struct gt_scope *around, const char *names) {
    struct gt_report *report = new_report();
    struct gt_scope scope = {.section = &report->sections[0]};
    struct gt_scope inside = around ? *around : scope;
    struct gt_picked picked;
    char found[16] = "";
    inside.section = scope.section;
    assert_int_equal(gt_picked_init(&picked, pick, &inside, 3, NULL), GT_OK);
    for (size_t i = 0; i < picked.count; i++)
        strncat(found, picked.rows[i][1].text, 1);
    assert_string_equal(found, names);
    gt_picked_release(&picked);
    gt_report_free(report);
}

static void rows_are_picked(void **state) {
    (void)state;
    struct gt_cell one[] = {gt_cell_int(1)};
    struct gt_table processes = {.columns = columns, .column_count = 1};
    struct gt_scope around = {.table = &processes, .row = one};
    check_pick(&(struct gt_pick){.table = "rows"}, NULL, "abcd");
    check_pick(&(struct gt_pick){.table = "none"}, NULL, "");
    check_pick(&(struct gt_pick){.table = "rows", .limit = 2}, NULL, "ab");
    check_pick(&(struct gt_pick){.table = "rows", .where = "name", .is = "c"}, NULL, "c");
    check_pick(&(struct gt_pick){.table = "rows", .with = "total_ns"}, NULL, "abc");
    check_pick(&(struct gt_pick){.table = "rows", .known = "pid"}, NULL, "abc");
    check_pick(&(struct gt_pick){.table = "rows", .sort = "total_ns", .limit = 3}, NULL, "bca");
    check_pick(&(struct gt_pick){.table = "rows", .match = "pid"}, &around, "ac");
}

static void places_have_values(void **state) {
    (void)state;
    struct gt_report *report = new_report();
    const struct gt_table *table = gt_section_find(&report->sections[0], "rows");
    struct gt_scope scope = {&report->sections[0], table, table->cells, NULL};
    assert_int_equal(gt_picked_scope_value(&scope, "total_ns").integer, 500);
    assert_true(gt_picked_scope_value(&scope, "total_ns/1000").real == 0.5);
    assert_true(gt_picked_scope_value(&scope, "total_ns*100").real == 50000);
    assert_int_equal(gt_picked_scope_value(&scope, "total_ns+").integer, 100500);
    assert_int_equal(gt_picked_scope_value(&scope, "none|total_ns").integer, 500);
    assert_int_equal(gt_picked_scope_value(&scope, "none").type, GPUTIME_CELL_NULL);
    assert_memory_equal(gt_picked_scope_value(&scope, "fact").text, "x", 1);
    assert_int_equal(gt_picked_scope_value(&scope, "@path").text_bytes, strlen("dir/t.sqlite"));
    report->sections[0].input.origin_ns = INT64_MAX;
    assert_int_equal(gt_picked_scope_value(&scope, "total_ns+").integer, INT64_MAX);
    gt_report_free(report);
}

static void whole_reals_have_a_decimal(void **state) {
    (void)state;
    char buf[GT_PICKED_NUMBER_MAX];
    struct gt_cell cells[] = {gt_cell_int(34), gt_cell_real(34), gt_cell_real(0.1), gt_cell_real(5e-05),
                              gt_cell_null()};
    const char *const texts[] = {"34", "34.0", "0.1", "0.00005", ""};
    for (size_t i = 0; i < 5; i++) {
        size_t length = gt_picked_number(buf, &cells[i]);
        assert_int_equal(length, strlen(texts[i]));
        assert_memory_equal(buf, texts[i], length);
    }
}

static void check_out(struct gt_out *out, const char *expected) {
    struct gt_str bytes = gt_out_bytes(out);
    assert_int_equal(bytes.len, strlen(expected));
    assert_memory_equal(bytes.ptr, expected, bytes.len);
    gt_out_close(out);
}

static void csv_files(void **state) {
    (void)state;
    static const struct gt_csv_layout layout = {.rows = {.table = "rows", .limit = 2},
                                                .columns = {{"pid", "pid"}, {"us", "total_ns/1000"}}};
    static const struct gt_csv_layout empty = {.rows = {.table = "none"}, .columns = {{"pid", "pid"}}};
    static const struct gt_csv_layout header = {
        .rows = {.table = "none"}, .line_end = "\n", .has_header = true, .columns = {{"in", "@input"}, {"b", "pid"}}};
    struct gt_report *report = new_report();
    struct gt_out *out;
    assert_int_equal(gt_out_open_memory(&out, NULL), GT_OK);
    assert_int_equal(gt_folder_files_csv(report, &layout, 1, out, NULL), GT_OK);
    check_out(out, "pid,us\r\n1,0.5\r\n2,1.5\r\n");
    assert_int_equal(gt_out_open_memory(&out, NULL), GT_OK);
    assert_int_equal(gt_folder_files_csv(report, &empty, 1, out, NULL), GT_OK);
    check_out(out, "");
    assert_int_equal(gt_out_open_memory(&out, NULL), GT_OK);
    assert_int_equal(gt_folder_files_csv(report, &header, 1, out, NULL), GT_OK);
    check_out(out, "in,b\n");
    gt_report_free(report);
}

static void keys_nest(void **state) {
    (void)state;
    static const struct gt_key keys[] = {
        {.kind = GT_KEY_ROWS, .key = "pids", .rows = {.table = "processes", .limit = 2}},
        {.kind = GT_KEY_VALUE, .key = "pid", .value = "pid"},
        {.kind = GT_KEY_LIST, .key = "names", .value = "name", .rows = {.table = "rows", .match = "pid"}},
        {.kind = GT_KEY_COUNT, .key = "n", .rows = {.table = "rows", .match = "pid"}},
        {.kind = GT_KEY_END},
        {.kind = GT_KEY_LOOKUP,
         .key = "by",
         .name = "name",
         .value = "total_ns",
         .rows = {.table = "rows", .limit = 1}},
        {.kind = GT_KEY_ROW, .key = "none", .rows = {.table = "none"}},
        {.kind = GT_KEY_VALUE, .key = "x", .value = "fact"},
        {.kind = GT_KEY_END},
        {.kind = GT_KEY_HAS, .key = "has", .rows = {.table = "rows"}},
        {.kind = GT_KEY_FLAG, .key = "flag", .value = "fact"},
        {.kind = GT_KEY_LITERAL, .key = "sql", .value = "{}"},
        {.kind = GT_KEY_NOTES, .key = "warnings"},
        {.kind = GT_KEY_END},
    };
    struct gt_report *report = new_report();
    struct gt_out *out;
    gt_section_note(&report->sections[0], GT_FOR_ALL, GT_STR("a note"));
    assert_int_equal(gt_out_open_memory(&out, NULL), GT_OK);
    assert_int_equal(gt_folder_files_keys(report, keys, 1, out, NULL), GT_OK);
    struct gt_str bytes = gt_out_bytes(out);
    static const char expected[] = ",\n"
                                   "  \"pids\": [\n"
                                   "    {\n"
                                   "      \"pid\": 1,\n"
                                   "      \"names\": [\n"
                                   "        \"a\",\n"
                                   "        \"c\"\n"
                                   "      ],\n"
                                   "      \"n\": 2\n"
                                   "    },\n"
                                   "    {\n"
                                   "      \"pid\": 2,\n"
                                   "      \"names\": [\n"
                                   "        \"b\"\n"
                                   "      ],\n"
                                   "      \"n\": 1\n"
                                   "    }\n"
                                   "  ],\n"
                                   "  \"by\": {\n"
                                   "    \"a\": 500\n"
                                   "  },\n"
                                   "  \"none\": null,\n"
                                   "  \"has\": true,\n"
                                   "  \"flag\": true,\n"
                                   "  \"sql\": {},\n"
                                   "  \"warnings\": [\n"
                                   "    \"a note\"\n"
                                   "  ]\n"
                                   "}\n";
    size_t length = sizeof expected - 1;
    assert_true(bytes.len > length);
    assert_memory_equal(bytes.ptr + bytes.len - length, expected, length);
    gt_out_close(out);
    gt_report_free(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_picked),
        cmocka_unit_test(places_have_values),
        cmocka_unit_test(whole_reals_have_a_decimal),
        cmocka_unit_test(csv_files),
        cmocka_unit_test(keys_nest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
