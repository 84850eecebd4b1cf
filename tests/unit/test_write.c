/* All writers: layouts of an older tool, hostile names, the width of lines, the registry. */
#include <math.h>

#include "write_world.h"

#include "null_row.h"
#include "write/glyph.h"

/* ---- layouts ---- */

static void kernel_analysis_as_the_old_tool_wrote_it(void **state) {
    struct gt_error err = {0};
    (void)state;
    make_small();
    assert_int_equal(gt_table_sort(gt_section_find(&report->sections[0], "kernels"), "share", &err), GT_OK);
    gt_section_find(&report->sections[0], "kernels")->row_count = 2;
    assert_string_equal(write_as("kernel-analysis"), "DETAILED GPU KERNEL ANALYSIS\n"
                                                     "==================================================\n"
                                                     "Results sorted by: percentage of total duration\n"
                                                     "==================================================\n"
                                                     "\n"
                                                     "Rank 1: gemm\n"
                                                     "  Count: 1234 (90.0% of total launches)\n"
                                                     "  Total Duration: 7500.00 μs (75.0% of total duration)\n"
                                                     "  Average Duration: 6.08 μs\n"
                                                     "  Standard Deviation: 0.01 μs\n"
                                                     "  Example Full Name: void gemm<4>(int)\n"
                                                     "--------------------------------------------------\n"
                                                     "Rank 2: copy\n"
                                                     "  Count: 10 (-% of total launches)\n"
                                                     "  Total Duration: 2500.00 μs (25.0% of total duration)\n"
                                                     "  Average Duration: 250.00 μs\n"
                                                     "  Standard Deviation: - μs\n"
                                                     "  Example Full Name: copy\n"
                                                     "--------------------------------------------------\n");
}

static void make_gaps(struct gt_section *section) {
    static const struct gt_report_column streams[] = {
        {.key = "stream"}, {.key = "gap_count"}, {.key = "gap_ns", .unit = GT_UNIT_NS}};
    static const struct gt_report_column bins[] = {{.key = "from_ns"}, {.key = "to_ns"}, {.key = "count"}};
    static const struct gt_report_column pairs[] = {{.key = "from"},      {.key = "to"},      {.key = "count"},
                                                    {.key = "avg_ns"},    {.key = "max_ns"},  {.key = "min_ns"},
                                                    {.key = "stddev_ns"}, {.key = "total_ns"}};
    struct gt_block *facts = gt_section_facts(section, NULL);
    gt_section_add_fact(section, facts, "stream_gap_count", "", GT_UNIT_COUNT, gt_cell_int(3));
    gt_section_add_fact(section, facts, "stream_gap_total_ns", "", GT_UNIT_NS, gt_cell_int(4500));
    gt_section_add_fact(section, facts, "stream_gap_avg_ns", "", GT_UNIT_NS, gt_cell_real(1500));
    struct gt_table *table = gt_section_table(section, "streams", "Streams", streams, 3);
    for (int i = 0; i < 2; i++) {
        struct gt_cell *row = null_row(table);
        row[0] = gt_cell_int(7 + i);
        row[1] = gt_cell_int(3 * i);
        row[2] = gt_cell_int(4500 * i);
    }
    struct gt_cell *row = null_row(gt_section_table(section, "histogram", "Histogram", bins, 3));
    row[0] = gt_cell_int(500);
    row[1] = gt_cell_int(433148449);
    row[2] = gt_cell_int(3);
    table = gt_section_table(section, "transitions", "Transitions", pairs, 8);
    table->sort = "avg_ns";
    row = null_row(table);
    row[0] = TEXT("a\n");
    row[1] = TEXT("b");
    row[2] = gt_cell_int(3);
    row[3] = gt_cell_real(1500);
    row[4] = gt_cell_int(3005);
    row[5] = gt_cell_int(1);
    row[6] = gt_cell_real(0);
    row[7] = gt_cell_int(4500);
}

static void gap_report_as_the_old_tool_wrote_it(void **state) {
    (void)state;
    report = gt_report_new("gaps", 2);
    fill_section(&report->sections[0], "a.json", -1);
    fill_section(&report->sections[1], "b.json", -1);
    make_gaps(&report->sections[0]);
    assert_string_equal(write_as("gap-report"), "Input: a.json\n"
                                                "\n"
                                                "DETAILED GPU GAP ANALYSIS\n"
                                                "==================================================\n"
                                                "\n"
                                                "Total gaps found: 3\n"
                                                "Total idle time: 4.50 μs\n"
                                                "Average gap duration: 1.50 μs\n"
                                                "\n"
                                                "Active streams: 1\n"
                                                "  Stream 8: 3 gaps, 4.50 μs idle time\n"
                                                "\n"
                                                "Gap Duration Histogram:\n"
                                                "------------------------------\n"
                                                "     0.5-433148.4 μs:    3\n"
                                                "\n"
                                                "Kernel Pairs Ranked by average gap duration:\n"
                                                "--------------------------------------------------\n"
                                                "Rank 1: a␊ → b\n"
                                                "  Count: 3\n"
                                                "  Average Gap: 1.50 μs\n"
                                                "  Max Gap: 3.01 μs\n"
                                                "  Min Gap: 0.00 μs\n"
                                                "  Std Dev: 0.00 μs\n"
                                                "  Total Gap Time: 4.50 μs\n"
                                                "------------------------------\n"
                                                "\n"
                                                "Input: b.json\n"
                                                "\n"
                                                "DETAILED GPU GAP ANALYSIS\n"
                                                "==================================================\n"
                                                "\n"
                                                "Total gaps found: -\n"
                                                "Total idle time: - μs\n"
                                                "Average gap duration: - μs\n"
                                                "\n"
                                                "Active streams: 0\n"
                                                "\n"
                                                "Gap Duration Histogram:\n"
                                                "------------------------------\n"
                                                "\n"
                                                "Kernel Pairs Ranked by -:\n"
                                                "--------------------------------------------------\n");
}

static void a_layout_without_its_table_is_refused(void **state) {
    (void)state;
    make_small();
    assert_refused("gap-report", "format 'gap-report' needs table 'transitions', which this report does not have");
}

/* ---- hostile names ---- */

static char long_name[10001];

static const struct gt_str hostile[] = {
    GT_STR("\x1b]0;title\x07\x1b[2J"),
    GT_STR("a\"b'c,d;e\\"),
    GT_STR("| a | b |\n| --- |"),
    GT_STR("``` `"),
    GT_STR("</script><script>alert(1)</script><!--"),
    GT_STR("x\xe2\x80\xa8y\xe2\x80\xa9z"),
    GT_STR("\xe2\x80\xae"
           "evil\xe2\x80\x8f\xe2\x81\xa6"),
    GT_STR("\xff\xfe\xc3(\xe2\x82"),
    GT_STR("=cmd|' /C calc'!A0"),
    GT_STR("nul\0inside\r\n"),
    GT_STR("%s%n{count}"),
    GT_STR(""),
    {long_name, sizeof long_name - 1},
};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

static void make_hostile(void) {
    for (size_t i = 0; i + 1 < sizeof long_name; i++)
        long_name[i] = (char)('a' + i % 26);
    report = gt_report_new("kernels", 2);
    for (size_t s = 0; s < 2; s++) {
        struct gt_section *section = &report->sections[s];
        section->input.label = hostile[s];
        section->input.producer = hostile[HOSTILE - 1];
        struct gt_table *table = gt_section_table(section, "kernels", "Kernels", kernel_columns, KERNEL_COLUMNS);
        struct gt_block *facts = gt_section_facts(section, "Facts");
        for (size_t i = 0; i < HOSTILE; i++) {
            struct gt_cell *row = null_row(table);
            row[NAME] = gt_cell_text(hostile[i]);
            row[COUNT] = gt_cell_int(i % 2 ? INT64_MIN : INT64_MAX);
            row[TOTAL] = gt_cell_int(i % 2 ? INT64_MAX : -5);
            row[AVERAGE] = gt_cell_real(i % 3 == 0 ? NAN : i % 3 == 1 ? 1e300 : -1e-300);
            row[SHARE] = gt_cell_real(i % 2 ? INFINITY : 2);
            row[FULL_NAME] = gt_cell_text(hostile[HOSTILE - 1 - i]);
            gt_section_add_fact(section, facts, "fact", "Fact", GT_UNIT_NS, row[AVERAGE]);
            gt_section_add_fact(section, facts, "text", "Text", GT_UNIT_NONE, row[NAME]);
            gt_section_note(section, GT_FOR_ALL, hostile[i]);
        }
    }
}

static void assert_safe(const char *text, size_t length, bool is_for_people) {
    const char *at = text, *end = text + length;
    while (at < end) {
        const char *before = at;
        struct gt_glyphs one = {.rest = {at, (size_t)(end - at)}, .utf8 = true};
        struct gt_glyph glyph;
        unsigned char c = (unsigned char)*at;
        assert_true(gt_glyph_next(&one, &glyph));
        at = one.rest.ptr;
        bool is_shown_as_is = glyph.length == (size_t)(at - before) && memcmp(glyph.bytes, before, glyph.length) == 0;
        if (is_for_people)
            assert_true(is_shown_as_is || c == '\n');
        else
            assert_true(is_shown_as_is || c >= 0x80 || c == '\n' || c == '\r' || c == '\t');
    }
}

static void hostile_names_pass_every_writer(void **state) {
    (void)state;
    make_hostile();
    for (options.full_names = 0; options.full_names < 2; options.full_names++) {
        static const char *const formats[] = {"text", "md", "json", "csv", "kernel-analysis"};
        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
            write_as(formats[i]);
            struct gt_str bytes = gt_out_bytes(out);
            assert_safe(bytes.ptr, bytes.len, i != 3);
            assert_null(memmem(bytes.ptr, bytes.len, "\x1b", 1));
            if (i < 3)
                assert_null(memmem(bytes.ptr, bytes.len, "\xe2\x80\xae", 3));
        }
    }
    assert_null(strstr(write_as("json"), "</script"));
    assert_null(strstr(write_as("json"), "<!--"));
}

static void no_line_is_wider_than_the_screen(void **state) {
    static const int64_t widths[] = {1, 20, 23, 40, 79, 80, 132, 500};
    static const char *const locales[] = {"C", "C.UTF-8"};
    (void)state;
    make_hostile();
    for (size_t i = 0; i < 8 * 2; i++) {
        setenv("LC_ALL", locales[i % 2], 1);
        options.width = widths[i / 2];
        options.full_names = i % 3 == 0;
        const char *text = write_as("text");
        size_t width = options.width < 20 ? 20 : (size_t)options.width;
        for (const char *line = text; *line;) {
            size_t length = strcspn(line, "\n");
            assert_true(gt_glyph_text_width((struct gt_str){line, length}, true) <= width);
            assert_true(length == 0 || line[length - 1] != ' ');
            line += length + 1;
        }
    }
}

/* ---- the registry ---- */

static void writers_are_found_by_key_and_suffix(void **state) {
    (void)state;
    assert_string_equal(gt_writer_find("md")->suffix, ".md");
    assert_null(gt_writer_find("pdf"));
    assert_ptr_equal(gt_writer_find("kernel-analysis"), gt_writer_find("gap-report"));
    assert_string_equal(gt_writer_for_path("/a/b.JSON")->key, "json");
    assert_string_equal(gt_writer_for_path("x.txt")->key, "text");
    assert_string_equal(gt_writer_for_path("x.csv")->key, "csv");
    assert_string_equal(gt_writer_for_path("x.md")->key, "md");
    assert_null(gt_writer_for_path("x.json.gz"));
    assert_null(gt_writer_for_path(""));
    for (size_t i = 0; i < gt_writer_count; i++)
        assert_ptr_equal(gt_writer_find(gt_writers[i].key), &gt_writers[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(kernel_analysis_as_the_old_tool_wrote_it), TEST(gap_report_as_the_old_tool_wrote_it),
        TEST(a_layout_without_its_table_is_refused),    TEST(hostile_names_pass_every_writer),
        TEST(no_line_is_wider_than_the_screen),         TEST(writers_are_found_by_key_and_suffix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
