/* Reports as text: exact output of a small one, units, columns and narrow screens. */
#include <math.h>

#include "write_world.h"

#include "null_row.h"
#include "write/cell_format.h"

static void text_of_a_small_report(void **state) {
    (void)state;
    make_small();
    assert_string_equal(write_as("text"), "a.json\n"
                                          "PyTorch 2.4 · torch-json · 1,245 GPU ops\n"
                                          "\n"
                                          "  Span       12.35 ms\n"
                                          "  GPU model  NVIDIA H200\n"
                                          "  Busy       81.2%\n"
                                          "\n"
                                          "Kernels  (Share: % of kernel time)\n"
                                          "Kernel  Count  Total (ms)  Mean (us)  Share\n"
                                          "─────────────────────────────────────────────────────────────────────\n"
                                          "gemm    1,234        7.50       6.08  75.0%  ████████████████████████\n"
                                          "copy       10        2.50     250.00  25.0%  ████████\n"
                                          "… and 7 more rows (--table kernels --top 0 shows all)\n"
                                          "\n"
                                          "Memory\n"
                                          "GPU  Kind         Bytes (MB)  Start (ms)\n"
                                          "────────────────────────────────────────\n"
                                          "  0  HtoD, paged        1.50   1,234.568\n"
                                          "\n"
                                          "Ranges\n"
                                          "No range.\n"
                                          "\n"
                                          "A note with *stars*.\n"
                                          "\n"
                                          "Trace health\n"
                                          "      1  input_cut: lost data: the file ends early (first at byte 77)\n"
                                          "  1,234  op_overlap: ops overlap\n");
}

static void text_in_ascii_and_colour(void **state) {
    (void)state;
    report = gt_report_new("summary", 1);
    fill_section(&report->sections[0], "a\xc3\xa9.json", 0);
    report->sections[0].blocks[0].audience = 0;
    add_kernels(&report->sections[0])->row_count = 2;
    setenv("LC_ALL", "C", 1);
    options.color = GPUTIME_COLOR_ALWAYS;
    assert_string_equal(write_as("text"),
                        "\33[1ma?.json\33[0m\n"
                        "\33[2mPyTorch 2.4 . torch-json . rank 0 . 1,245 GPU ops\33[0m\n"
                        "\n"
                        "\33[1mKernels\33[0m\33[2m  (\33[0m\33[2mShare\33[0m\33[2m: % of \33[0m\33[2mkernel time\33[0m"
                        "\33[2m)\33[0m\n"
                        "Kernel  Count  Total (ms)  Mean (us)  Share\n"
                        "\33[2m---------------------------------------------------------------------\33[0m\n"
                        "gemm    1,234        7.50       6.08  75.0%  \33[36m########################\33[0m\n"
                        "copy       10        2.50     250.00  25.0%  \33[36m########\33[0m\n"
                        "\33[2m... and 1 more row (--table kernels --top 0 shows all)\33[0m\n");
}

static void text_of_two_inputs_has_a_heading_for_each(void **state) {
    (void)state;
    report = gt_report_new("summary", 2);
    fill_section(&report->sections[0], "a.json", 0);
    fill_section(&report->sections[1], "b.json", 1);
    report->sections[0].input.world_size = 2;
    report->sections[0].input.host = GT_STR("node17");
    report->sections[1].input.rank_source = "file_name";
    assert_string_equal(write_as("text"), "a.json\n"
                                          "══════\n"
                                          "PyTorch 2.4 · torch-json · rank 0 of 2 · 1,245 GPU ops\n"
                                          "\n"
                                          "  Span       12.35 ms\n"
                                          "  GPU model  NVIDIA H200\n"
                                          "  Busy       81.2%\n"
                                          "\n"
                                          "b.json\n"
                                          "══════\n"
                                          "PyTorch 2.4 · torch-json · rank 1 (file name) · 1,245 GPU ops\n"
                                          "\n"
                                          "  Span       12.35 ms\n"
                                          "  GPU model  NVIDIA H200\n"
                                          "  Busy       81.2%\n");
}

static void units_and_columns_are_as_asked_for(void **state) {
    (void)state;
    report = gt_report_new("kernels", 1);
    fill_section(&report->sections[0], "a.json", -1);
    report->sections[0].blocks[0].audience = 0;
    struct gt_table *table = add_kernels(&report->sections[0]);
    table->screen_columns = "name, stddev_ns,total_ns";
    options.unit = GPUTIME_UNIT_US;
    assert_non_null(strstr(write_as("text"), "Kernel  Std dev (us)  Total (us)\n"
                                             "────────────────────────────────\n"
                                             "gemm            0.01    7,500.00\n"
                                             "copy               -    2,500.00\n"
                                             "fill               -        1.00\n"));
    options.unit = GPUTIME_UNIT_NS;
    assert_non_null(strstr(write_as("text"), "gemm            12.5   7,500,000\n"));
    options.unit = GPUTIME_UNIT_S;
    assert_non_null(strstr(write_as("text"), "gemm      <0.000001   0.007500\n"));
}

static void values_far_apart_have_their_own_units(void **state) {
    (void)state;
    report = gt_report_new("kernels", 1);
    struct gt_table *table = gt_section_table(&report->sections[0], "t", "T", &memory_columns[2], 1);
    *null_row(table) = gt_cell_int(1);
    *null_row(table) = gt_cell_int(2000000);
    assert_non_null(strstr(write_as("text"), "\nBytes\n─────\n  1 B\n 2 MB\n"));
}

/* Durations add up before the reader's eyes as long as one unit shows them all. */
static void durations_share_a_unit_that_shows_them_all(void **state) {
    (void)state;
    static const struct gt_report_column columns[] = {
        {.key = "total_ns", .title = "Total", .unit = GT_UNIT_NS},
        {.key = "won_ns", .title = "Won", .unit = GT_UNIT_NS, .flags = GT_COLUMN_DETAIL},
    };
    report = gt_report_new("kernels", 1);
    struct gt_table *table = gt_section_table(&report->sections[0], "t", "T", columns, 2);
    null_row(table)[0] = gt_cell_int(6221000000);
    struct gt_cell *row = null_row(table);
    row[0] = gt_cell_int(612345);
    row[1] = gt_cell_int(2100);
    assert_non_null(strstr(write_as("text"), "   6,221.0\n"));
    table->screen_columns = "total_ns,won_ns"; /* what is shown counts, and all of it */
    assert_non_null(strstr(write_as("text"), "Total (ms)  Won (ms)\n"
                                             "────────────────────\n"
                                             " 6,221.000         -\n"
                                             "     0.612     0.002\n"));
    table->cells[3] = gt_cell_int(2);
    assert_non_null(strstr(write_as("text"), "   Total   Won\n"
                                             "──────────────\n"
                                             " 6.221 s     -\n"
                                             "612.3 us  2 ns\n"));
}

static void assert_number(enum gt_unit unit, struct gt_cell value, enum gputime_unit choice, const char *expected) {
    char buf[GT_CELL_MAX];
    struct gt_report_fact fact = {.unit = unit, .value = value};
    assert_int_equal(gt_cell_format_fact(buf, &fact, choice), strlen(expected));
    assert_string_equal(buf, expected);
}

static void single_values_carry_their_unit(void **state) {
    (void)state;
    assert_number(GT_UNIT_COUNT, gt_cell_int(-1234567), 0, "-1,234,567");
    assert_number(GT_UNIT_COUNT, gt_cell_int(INT64_MIN), 0, "-9,223,372,036,854,775,808");
    assert_number(GT_UNIT_COUNT, gt_cell_real(1234.56), 0, "1,234.6");
    assert_number(GT_UNIT_NONE, gt_cell_int(3316414), 0, "3316414");
    assert_number(GT_UNIT_NONE, gt_cell_real(0.12345), 0, "0.123");
    assert_number(GT_UNIT_NS, gt_cell_int(982), 0, "982 ns");
    assert_number(GT_UNIT_NS, gt_cell_int(999), GPUTIME_UNIT_US, "1.00 us");
    assert_number(GT_UNIT_NS, gt_cell_int(123456789012), GPUTIME_UNIT_MS, "123,456.789 ms");
    assert_number(GT_UNIT_NS, gt_cell_null(), GPUTIME_UNIT_MS, "-");
    assert_number(GT_UNIT_NS, gt_cell_real(NAN), 0, "-");
    assert_number(GT_UNIT_SHARE, gt_cell_real(1), 0, "100.0%");
    assert_number(GT_UNIT_SHARE, gt_cell_real(-0.0001), 0, "<0.1%"); /* as on the other side */
    assert_number(GT_UNIT_SHARE, gt_cell_real(-0.0), 0, "0.0%");
    assert_number(GT_UNIT_SHARE, gt_cell_real(0.0001), 0, "<0.1%");
    assert_number(GT_UNIT_SHARE, gt_cell_int(0), 0, "0.0%");
    assert_number(GT_UNIT_BYTES, gt_cell_int(1500000), 0, "1.5 MB");
    assert_number(GT_UNIT_NS, gt_cell_real(1e300), GPUTIME_UNIT_NS, "1e+300 ns");
}

static void values_that_round_to_nothing_say_so(void **state) {
    (void)state;
    report = gt_report_new("kernels", 1);
    fill_section(&report->sections[0], "a.json", -1);
    add_kernels(&report->sections[0]);
    assert_non_null(strstr(write_as("text"), "fill        1       <0.01       1.00  <0.1%  ▏\n"));
}

static void narrow_screens_leave_columns_out(void **state) {
    (void)state;
    report = gt_report_new("kernels", 1);
    fill_section(&report->sections[0], "a.json", -1);
    report->sections[0].blocks[0].audience = 0;
    struct gt_table *table = add_kernels(&report->sections[0]);
    table->cells[NAME] = TEXT("void ns::long_kernel_name<int, 4>(char*, int)");
    table->row_count = table->total_rows = 1;
    options.width = 40;
    options.full_names = 1;
    assert_string_equal(write_as("text"), "a.json\n"
                                          "PyTorch 2.4 · torch-json · 1,245 GPU ops\n"
                                          "\n"
                                          "Kernels\n"
                                          "                             Total  Mean\n"
                                          "Kernel                Count   (ms)  (us)\n"
                                          "────────────────────────────────────────\n"
                                          "…long_kernel_name<i…  1,234   7.50  6.08\n"
                                          "    void ns::long_kernel_name<int,\n"
                                          "    4>(char*, int)\n"
                                          "    void gemm<4>(int)\n"
                                          "(not shown: share; see --columns)\n");
}

/* Columns that say nothing about the rows shown; one that was asked for stays. */
static void idle_columns_are_left_out(void **state) {
    static const struct gt_report_column columns[] = {
        {.key = "name", .title = "Name"},
        {.key = "pid", .title = "Process", .flags = GT_COLUMN_VARIES},
        {.key = "call", .title = "Call", .flags = GT_COLUMN_SPARSE},
        {.key = "unknown_ns", .title = "Unknown", .unit = GT_UNIT_NS, .flags = GT_COLUMN_SPARSE},
    };
    (void)state;
    report = gt_report_new("path", 1);
    struct gt_table *table = gt_section_table(&report->sections[0], "windows", "Windows", columns, 4);
    for (int64_t i = 0; i < 3; i++) {
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "name", GT_STR("w"));
        gt_row_int(&row, "pid", i < 2 ? 7 : 8);
        gt_row_cell(&row, "call", i < 2 ? gt_cell_null() : TEXT("c"));
        gt_row_int(&row, "unknown_ns", i < 2 ? 0 : 5);
        gt_row_end(&row);
    }
    assert_non_null(strstr(write_as("text"), "Name  Process  Call  Unknown (ns)\n"));
    table->screen_limit = 2;
    assert_non_null(strstr(write_as("text"), "Windows\nName\n────\nw\nw\n"));
    assert_non_null(strstr(write_as("md"), "| Name |\n"));
    table->screen_columns = "name,call";
    assert_non_null(strstr(write_as("text"), "Name  Call\n"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(text_of_a_small_report),
        TEST(text_in_ascii_and_colour),
        TEST(text_of_two_inputs_has_a_heading_for_each),
        TEST(units_and_columns_are_as_asked_for),
        TEST(values_far_apart_have_their_own_units),
        TEST(durations_share_a_unit_that_shows_them_all),
        TEST(single_values_carry_their_unit),
        TEST(values_that_round_to_nothing_say_so),
        TEST(narrow_screens_leave_columns_out),
        TEST(idle_columns_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
