/* The writers: exact output of a small report in every format, hostile names, narrow screens, the registry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "write/cell.h"
#include "write/glyph.h"
#include "write/writer.h"

static const struct gt_report_column kernel_columns[] = {
    {.key = "name", .title = "Kernel", .flags = GT_COLUMN_NAME},
    {.key = "count", .title = "Count", .unit = GT_UNIT_COUNT},
    {.key = "total_ns", .title = "Total", .unit = GT_UNIT_NS},
    {.key = "avg_ns", .title = "Mean", .unit = GT_UNIT_NS, .flags = GT_COLUMN_SINGLE},
    {.key = "stddev_ns", .title = "Std dev", .unit = GT_UNIT_NS, .flags = GT_COLUMN_DETAIL | GT_COLUMN_SINGLE},
    {.key = "share", .title = "Share", .unit = GT_UNIT_SHARE, .of = "kernel time", .flags = GT_COLUMN_BAR},
    {.key = "launch_share", .title = "Launches", .unit = GT_UNIT_SHARE, .of = "launches", .flags = GT_COLUMN_DETAIL},
    {.key = "full_name", .title = "Full name", .flags = GT_COLUMN_DETAIL | GT_COLUMN_NAME},
};
enum { NAME, COUNT, TOTAL, AVERAGE, DEVIATION, SHARE, LAUNCH_SHARE, FULL_NAME, KERNEL_COLUMNS };

static const struct gt_report_column memory_columns[] = {
    {.key = "device", .title = "GPU"},
    {.key = "kind", .title = "Kind"},
    {.key = "bytes", .title = "Bytes", .unit = GT_UNIT_BYTES},
    {.key = "start_ns", .title = "Start", .unit = GT_UNIT_NS, .flags = GT_COLUMN_MOMENT},
};

#define TEXT(literal) gt_cell_text(GT_STR(literal))

static struct gt_report *report;
static struct gputime_options options;
static struct gt_out *out;

static int start(void **state) {
    struct gt_error err = {0};
    (void)state;
    setenv("LC_ALL", "C.UTF-8", 1);
    memset(&options, 0, sizeof options);
    report = NULL;
    return gt_out_open_memory(&out, &err) ? -1 : 0;
}

static int stop(void **state) {
    (void)state;
    gt_report_free(report);
    gt_out_close(out);
    return 0;
}

static const char *write_as(const char *format) {
    static char *text;
    struct gt_error err = {0};
    const struct gt_writer *writer = gt_writer_find(format);
    assert_non_null(writer);
    gt_out_close(out);
    assert_int_equal(gt_out_open_memory(&out, &err), GT_OK);
    options.format = format;
    assert_int_equal(writer->write(report, &options, out, &err), GT_OK);
    struct gt_str bytes = gt_out_bytes(out);
    free(text);
    text = malloc(bytes.len + 1);
    assert_non_null(text);
    memcpy(text, bytes.ptr, bytes.len);
    text[bytes.len] = '\0';
    return text;
}

static void assert_refused(const char *format, const char *message) {
    struct gt_error err = {0};
    options.format = format;
    assert_int_equal(gt_writer_find(format)->write(report, &options, out, &err), GT_ERR_USAGE);
    assert_string_equal(err.message, message);
}

static struct gt_table *add_kernels(struct gt_section *section) {
    struct gt_table *table = gt_section_table(section, "kernels", "Kernels", kernel_columns, KERNEL_COLUMNS);
    struct gt_cell *row = gt_table_row(table);
    row[NAME] = TEXT("gemm");
    row[FULL_NAME] = TEXT("void gemm<4>(int)");
    row[COUNT] = gt_cell_int(1234);
    row[TOTAL] = gt_cell_int(7500000);
    row[AVERAGE] = gt_cell_real(6077.795786);
    row[DEVIATION] = gt_cell_real(12.5);
    row[SHARE] = gt_cell_real(0.75);
    row[LAUNCH_SHARE] = gt_cell_real(0.9);
    row = gt_table_row(table);
    row[NAME] = TEXT("copy");
    row[COUNT] = gt_cell_int(10);
    row[TOTAL] = gt_cell_int(2500000);
    row[AVERAGE] = gt_cell_real(250000);
    row[SHARE] = gt_cell_real(0.25);
    row = gt_table_row(table);
    row[NAME] = TEXT("fill");
    row[COUNT] = gt_cell_int(1);
    row[TOTAL] = gt_cell_int(1000);
    row[AVERAGE] = gt_cell_real(1000);
    row[SHARE] = gt_cell_real(0.0001);
    return table;
}

static void add_memory(struct gt_section *section, int64_t device) {
    struct gt_table *table = gt_section_table(section, "memory", "Memory", memory_columns, 4);
    struct gt_cell *row = gt_table_row(table);
    row[0] = gt_cell_int(device);
    row[1] = TEXT("HtoD, paged");
    row[2] = gt_cell_int(1500000);
    row[3] = gt_cell_int(1234567890);
}

static void fill_section(struct gt_section *section, const char *label, int64_t rank) {
    section->input = (struct gt_report_input){
        .label = gt_str_of(label),
        .path = GT_STR("/traces/a.json"),
        .format = "torch-json",
        .producer = GT_STR("PyTorch 2.4"),
        .ops = 1245,
        .kernels = 1245,
        .skipped_events = 3,
        .origin_ns = 1722222222123456789,
        .rank = rank,
    };
    struct gt_block *facts = gt_section_facts(section, NULL);
    gt_block_fact(section, facts, "span_ns", "Span", GT_UNIT_NS, gt_cell_int(12345678));
    gt_block_fact(section, facts, "gpu", "GPU model", GT_UNIT_NONE, TEXT("NVIDIA H200"));
    gt_block_fact(section, facts, "busy_share", "Busy", GT_UNIT_SHARE, gt_cell_real(0.8125));
}

static void make_small(void) {
    report = gt_report_new("summary", 1);
    struct gt_section *section = &report->sections[0];
    fill_section(section, "a.json", -1);
    struct gt_table *kernels = add_kernels(section);
    kernels->screen_limit = 2;
    kernels->total_rows = 9;
    add_memory(section, 0);
    gt_section_table(section, "steps", "Steps", memory_columns, 4); /* no rows, no sentence: not shown */
    gt_section_table(section, "ranges", "Ranges", memory_columns, 4)->empty = "No range.";
    gt_section_note(section, GT_FOR_ALL, GT_STR("A note with *stars*."));
    gt_section_note(section, GT_FOR_PAGE, GT_STR("Only for the page."));
    gt_section_issue(
        section, &(struct gt_report_issue){
                     .id = "input_cut", .help = "the file ends early", .count = 1, .first_offset = 77, .is_loss = 1});
    gt_section_issue(section,
                     &(struct gt_report_issue){
                         .id = "op_overlap", .help = "ops overlap", .count = 1234, .first_offset = UINT64_MAX});
}

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
                                          "PyTorch 2.4 · torch-json · rank 1 · 1,245 GPU ops\n"
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
    *gt_table_row(table) = gt_cell_int(1);
    *gt_table_row(table) = gt_cell_int(2000000);
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
    gt_table_row(table)[0] = gt_cell_int(6221000000);
    struct gt_cell *row = gt_table_row(table);
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

static void assert_number(enum gt_unit unit, struct gt_cell value, enum gputime_choice_unit choice,
                          const char *expected) {
    char buf[GT_CELL_MAX];
    struct gt_report_fact fact = {.unit = unit, .value = value};
    assert_int_equal(gt_fact_format(buf, &fact, choice), strlen(expected));
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
    assert_number(GT_UNIT_SHARE, gt_cell_real(-0.0001), 0, "0.0%");
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
    options.verbose = 1;
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
                                          "(no room for share; see --columns)\n");
}

/* ---- data ---- */

static void csv_of_the_main_table(void **state) {
    (void)state;
    make_small();
    report->main_table = "kernels";
    assert_string_equal(write_as("csv"), "input,name,count,total_ns,avg_ns,stddev_ns,share,launch_share,full_name\n"
                                         "a.json,gemm,1234,7500000,6077.795786,12.5,0.75,0.9,void gemm<4>(int)\n"
                                         "a.json,copy,10,2500000,250000,,0.25,,\n"
                                         "a.json,fill,1,1000,1000,,0.0001,,\n");
    options.table = "memory";
    assert_string_equal(write_as("csv"), "input,device,kind,bytes,start_ns\n"
                                         "a.json,0,\"HtoD, paged\",1500000,1234567890\n");
    options.table = "ranges";
    assert_string_equal(write_as("csv"), "input,device,kind,bytes,start_ns\n");
    options.table = "kernel";
    assert_refused("csv", "there is no table 'kernel'; this report has kernels, memory, steps, ranges");
}

static void csv_without_a_main_table_is_the_first(void **state) {
    (void)state;
    make_small();
    report->main_table = "transitions"; /* the trace could not tell */
    assert_int_equal(strncmp(write_as("csv"), "input,name,count", 16), 0);
    for (size_t b = 0; b < report->sections[0].block_count; b++)
        report->sections[0].blocks[b].audience = GT_FOR_SCREEN;
    assert_string_equal(write_as("csv"), "input\n");
}

static void csv_of_several_inputs_is_one_table(void **state) {
    (void)state;
    static const struct gt_report_column other[] = {{.key = "kind", .title = "Kind"}, {.key = "extra", .title = "X"}};
    report = gt_report_new("summary", 3);
    fill_section(&report->sections[0], "a.json", 4);
    fill_section(&report->sections[1], "b.json", -1);
    fill_section(&report->sections[2], "c.json", 0);
    add_memory(&report->sections[0], 0);
    add_memory(&report->sections[1], 1);
    struct gt_cell *row = gt_table_row(gt_section_table(&report->sections[2], "memory", "Memory", other, 2));
    row[0] = TEXT("set");
    row[1] = gt_cell_real(INFINITY);
    assert_string_equal(write_as("csv"), "input,rank,device,kind,bytes,start_ns,extra\n"
                                         "a.json,4,0,\"HtoD, paged\",1500000,1234567890,\n"
                                         "b.json,,1,\"HtoD, paged\",1500000,1234567890,\n"
                                         "c.json,0,,set,,,\n");
}

static void json_of_a_small_report(void **state) {
    (void)state;
    make_small();
    assert_string_equal(
        write_as("json"),
        "{\n"
        "  \"tool\": {\"name\": \"gputime\", \"version\": \"" GPUTIME_VERSION "\"},\n"
        "  \"command\": \"summary\",\n"
        "  \"inputs\": [\n"
        "    {\"input\": \"a.json\", \"path\": \"/traces/a.json\", \"format\": \"torch-json\", \"producer\": \"PyTorch "
        "2.4\", \"selection\": null,\n"
        "     \"ops\": 1245, \"kernels\": 1245, \"calls\": 0, \"ranges\": 0, \"cpu_ops\": 0, \"skipped_events\": 3,\n"
        "     \"origin_ns\": \"1722222222123456789\", \"base_ns\": null, \"rank\": null, \"world_size\": null,\n"
        "     \"facts\": {\"span_ns\": 12345678, \"gpu\": \"NVIDIA H200\", \"busy_share\": 0.8125},\n"
        "     \"notes\": [\"A note with *stars*.\"]}\n"
        "  ],\n"
        "  \"tables\": {\n"
        "    \"kernels\": {\n"
        "      \"title\": \"Kernels\",\n"
        "      \"total_rows\": 9,\n"
        "      \"columns\": [\n"
        "        {\"key\": \"input\", \"title\": \"Input\", \"unit\": \"\"},\n"
        "        {\"key\": \"name\", \"title\": \"Kernel\", \"unit\": \"\"},\n"
        "        {\"key\": \"count\", \"title\": \"Count\", \"unit\": \"count\"},\n"
        "        {\"key\": \"total_ns\", \"title\": \"Total\", \"unit\": \"ns\"},\n"
        "        {\"key\": \"avg_ns\", \"title\": \"Mean\", \"unit\": \"ns\"},\n"
        "        {\"key\": \"stddev_ns\", \"title\": \"Std dev\", \"unit\": \"ns\"},\n"
        "        {\"key\": \"share\", \"title\": \"Share\", \"unit\": \"share\", \"of\": \"kernel time\"},\n"
        "        {\"key\": \"launch_share\", \"title\": \"Launches\", \"unit\": \"share\", \"of\": \"launches\"},\n"
        "        {\"key\": \"full_name\", \"title\": \"Full name\", \"unit\": \"\"}\n"
        "      ],\n"
        "      \"rows\": [\n"
        "        {\"input\": \"a.json\", \"name\": \"gemm\", \"count\": 1234, \"total_ns\": 7500000, \"avg_ns\": "
        "6077.795786, "
        "\"stddev_ns\": 12.5, \"share\": 0.75, \"launch_share\": 0.9, \"full_name\": \"void gemm<4>(int)\"},\n"
        "        {\"input\": \"a.json\", \"name\": \"copy\", \"count\": 10, \"total_ns\": 2500000, \"avg_ns\": 250000, "
        "\"stddev_ns\": null, \"share\": 0.25, \"launch_share\": null, \"full_name\": null},\n"
        "        {\"input\": \"a.json\", \"name\": \"fill\", \"count\": 1, \"total_ns\": 1000, \"avg_ns\": 1000, "
        "\"stddev_ns\": null, \"share\": 0.0001, \"launch_share\": null, \"full_name\": null}\n"
        "      ]\n"
        "    },\n"
        "    \"memory\": {\n"
        "      \"title\": \"Memory\",\n"
        "      \"columns\": [\n"
        "        {\"key\": \"input\", \"title\": \"Input\", \"unit\": \"\"},\n"
        "        {\"key\": \"device\", \"title\": \"GPU\", \"unit\": \"\"},\n"
        "        {\"key\": \"kind\", \"title\": \"Kind\", \"unit\": \"\"},\n"
        "        {\"key\": \"bytes\", \"title\": \"Bytes\", \"unit\": \"bytes\"},\n"
        "        {\"key\": \"start_ns\", \"title\": \"Start\", \"unit\": \"ns\"}\n"
        "      ],\n"
        "      \"rows\": [\n"
        "        {\"input\": \"a.json\", \"device\": 0, \"kind\": \"HtoD, paged\", \"bytes\": 1500000, \"start_ns\": "
        "1234567890}\n"
        "      ]\n"
        "    },\n"
        "    \"steps\": {\n"
        "      \"title\": \"Steps\",\n"
        "      \"columns\": [\n"
        "        {\"key\": \"input\", \"title\": \"Input\", \"unit\": \"\"},\n"
        "        {\"key\": \"device\", \"title\": \"GPU\", \"unit\": \"\"},\n"
        "        {\"key\": \"kind\", \"title\": \"Kind\", \"unit\": \"\"},\n"
        "        {\"key\": \"bytes\", \"title\": \"Bytes\", \"unit\": \"bytes\"},\n"
        "        {\"key\": \"start_ns\", \"title\": \"Start\", \"unit\": \"ns\"}\n"
        "      ],\n"
        "      \"rows\": []\n"
        "    },\n"
        "    \"ranges\": {\n"
        "      \"title\": \"Ranges\",\n"
        "      \"columns\": [\n"
        "        {\"key\": \"input\", \"title\": \"Input\", \"unit\": \"\"},\n"
        "        {\"key\": \"device\", \"title\": \"GPU\", \"unit\": \"\"},\n"
        "        {\"key\": \"kind\", \"title\": \"Kind\", \"unit\": \"\"},\n"
        "        {\"key\": \"bytes\", \"title\": \"Bytes\", \"unit\": \"bytes\"},\n"
        "        {\"key\": \"start_ns\", \"title\": \"Start\", \"unit\": \"ns\"}\n"
        "      ],\n"
        "      \"rows\": []\n"
        "    }\n"
        "  },\n"
        "  \"facts\": {\"span_ns\": 12345678, \"gpu\": \"NVIDIA H200\", \"busy_share\": 0.8125},\n"
        "  \"findings\": [],\n"
        "  \"issues\": [\n"
        "    {\"input\": \"a.json\", \"id\": \"input_cut\", \"count\": 1, \"help\": \"the file ends early\", \"loss\": "
        "true, "
        "\"first_offset\": 77},\n"
        "    {\"input\": \"a.json\", \"id\": \"op_overlap\", \"count\": 1234, \"help\": \"ops overlap\", \"loss\": "
        "false, "
        "\"first_offset\": null}\n"
        "  ]\n"
        "}\n");
}

static void json_of_several_inputs_keys_facts_by_input(void **state) {
    (void)state;
    report = gt_report_new("summary", 2);
    fill_section(&report->sections[0], "a.json", -1);
    fill_section(&report->sections[1], "b.json", -1);
    struct gt_block *again = gt_section_facts(&report->sections[1], NULL);
    gt_block_fact(&report->sections[1], again, "span_ns", "Span", GT_UNIT_NS, gt_cell_int(1)); /* said already */
    report->sections[1].input.base_ns = 5;
    report->sections[1].input.world_size = 2;
    report->sections[1].input.rank = 1;
    const char *text = write_as("json");
    assert_non_null(
        strstr(text, "  \"tables\": {},\n"
                     "  \"facts\": {\n"
                     "    \"a.json\": {\"span_ns\": 12345678, \"gpu\": \"NVIDIA H200\", \"busy_share\": 0.8125},\n"
                     "    \"b.json\": {\"span_ns\": 12345678, \"gpu\": \"NVIDIA H200\", \"busy_share\": 0.8125}\n"
                     "  },\n"
                     "  \"findings\": [],\n"
                     "  \"issues\": []\n"
                     "}\n"));
    assert_non_null(strstr(text, "\"base_ns\": \"5\", \"rank\": 1, \"world_size\": 2,\n"));
}

/* ---- Markdown ---- */

static void markdown_of_a_small_report(void **state) {
    (void)state;
    make_small();
    assert_string_equal(write_as("md"), "## a.json\n"
                                        "\n"
                                        "PyTorch 2.4, torch-json, 1245 GPU ops\n"
                                        "\n"
                                        "- Span: 12.35 ms\n"
                                        "- GPU model: NVIDIA H200\n"
                                        "- Busy: 81.2%\n"
                                        "\n"
                                        "### Kernels\n"
                                        "\n"
                                        "Share: % of kernel time\n"
                                        "\n"
                                        "| Kernel | Count | Total (ms) | Mean (us) | Share |\n"
                                        "| --- | ---: | ---: | ---: | ---: |\n"
                                        "| gemm | 1,234 | 7.50 | 6.08 | 75.0% |\n"
                                        "| copy | 10 | 2.50 | 250.00 | 25.0% |\n"
                                        "\n"
                                        "… and 7 more rows (`--table kernels --top 0` shows all)\n"
                                        "\n"
                                        "### Memory\n"
                                        "\n"
                                        "| GPU | Kind | Bytes (MB) | Start (ms) |\n"
                                        "| ---: | --- | ---: | ---: |\n"
                                        "| 0 | HtoD, paged | 1.50 | 1,234.568 |\n"
                                        "\n"
                                        "### Ranges\n"
                                        "\n"
                                        "No range.\n"
                                        "\n"
                                        "A note with \\*stars\\*.\n"
                                        "\n"
                                        "### Trace health\n"
                                        "\n"
                                        "- 1 × `input_cut`: lost data: the file ends early (first at byte 77)\n"
                                        "- 1234 × `op_overlap`: ops overlap\n");
}

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
    gt_block_fact(section, facts, "stream_gap_count", "", GT_UNIT_COUNT, gt_cell_int(3));
    gt_block_fact(section, facts, "stream_gap_total_ns", "", GT_UNIT_NS, gt_cell_int(4500));
    gt_block_fact(section, facts, "stream_gap_avg_ns", "", GT_UNIT_NS, gt_cell_real(1500));
    struct gt_table *table = gt_section_table(section, "streams", "Streams", streams, 3);
    for (int i = 0; i < 2; i++) {
        struct gt_cell *row = gt_table_row(table);
        row[0] = gt_cell_int(7 + i);
        row[1] = gt_cell_int(3 * i);
        row[2] = gt_cell_int(4500 * i);
    }
    struct gt_cell *row = gt_table_row(gt_section_table(section, "histogram", "Histogram", bins, 3));
    row[0] = gt_cell_int(500);
    row[1] = gt_cell_int(433148449);
    row[2] = gt_cell_int(3);
    table = gt_section_table(section, "transitions", "Transitions", pairs, 8);
    table->sort = "avg_ns";
    row = gt_table_row(table);
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
    assert_refused("gap-report", "format 'gap-report' needs the table 'transitions', which this report has not");
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
            struct gt_cell *row = gt_table_row(table);
            row[NAME] = gt_cell_text(hostile[i]);
            row[COUNT] = gt_cell_int(i % 2 ? INT64_MIN : INT64_MAX);
            row[TOTAL] = gt_cell_int(i % 2 ? INT64_MAX : -5);
            row[AVERAGE] = gt_cell_real(i % 3 == 0 ? NAN : i % 3 == 1 ? 1e300 : -1e-300);
            row[SHARE] = gt_cell_real(i % 2 ? INFINITY : 2);
            row[FULL_NAME] = gt_cell_text(hostile[HOSTILE - 1 - i]);
            gt_block_fact(section, facts, "fact", "Fact", GT_UNIT_NS, row[AVERAGE]);
            gt_block_fact(section, facts, "text", "Text", GT_UNIT_NONE, row[NAME]);
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
    for (options.verbose = 0; options.verbose < 2; options.verbose++) {
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
        options.verbose = i % 3 == 0;
        const char *text = write_as("text");
        size_t width = options.width < 20 ? 20 : (size_t)options.width;
        for (const char *line = text; *line;) {
            size_t length = strcspn(line, "\n");
            assert_true(gt_text_width((struct gt_str){line, length}, true) <= width);
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

#define TEST(function) cmocka_unit_test_setup_teardown(function, start, stop)

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
        TEST(csv_of_the_main_table),
        TEST(csv_without_a_main_table_is_the_first),
        TEST(csv_of_several_inputs_is_one_table),
        TEST(json_of_a_small_report),
        TEST(json_of_several_inputs_keys_facts_by_input),
        TEST(markdown_of_a_small_report),
        TEST(kernel_analysis_as_the_old_tool_wrote_it),
        TEST(gap_report_as_the_old_tool_wrote_it),
        TEST(a_layout_without_its_table_is_refused),
        TEST(hostile_names_pass_every_writer),
        TEST(no_line_is_wider_than_the_screen),
        TEST(writers_are_found_by_key_and_suffix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
