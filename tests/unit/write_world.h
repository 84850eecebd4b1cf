/* A small report for tests of writers, and what a writer makes of it. */
#ifndef TESTS_UNIT_WRITE_WORLD_H
#define TESTS_UNIT_WRITE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "null_row.h"
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
static struct gputime_write_options options;
static struct gt_out *out;

static inline int start(void **state) {
    struct gt_error err = {0};
    (void)state;
    setenv("LC_ALL", "C.UTF-8", 1);
    memset(&options, 0, sizeof options);
    report = NULL;
    return gt_out_open_memory(&out, &err) ? -1 : 0;
}

static inline int stop(void **state) {
    (void)state;
    gt_report_free(report);
    gt_out_close(out);
    return 0;
}

static inline const char *write_as(const char *format) {
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

static inline void assert_refused(const char *format, const char *message) {
    struct gt_error err = {0};
    options.format = format;
    assert_int_equal(gt_writer_find(format)->write(report, &options, out, &err), GT_ERR_USAGE);
    assert_string_equal(err.message, message);
}

static inline struct gt_table *add_kernels(struct gt_section *section) {
    struct gt_table *table = gt_section_table(section, "kernels", "Kernels", kernel_columns, KERNEL_COLUMNS);
    struct gt_cell *row = null_row(table);
    row[NAME] = TEXT("gemm");
    row[FULL_NAME] = TEXT("void gemm<4>(int)");
    row[COUNT] = gt_cell_int(1234);
    row[TOTAL] = gt_cell_int(7500000);
    row[AVERAGE] = gt_cell_real(6077.795786);
    row[DEVIATION] = gt_cell_real(12.5);
    row[SHARE] = gt_cell_real(0.75);
    row[LAUNCH_SHARE] = gt_cell_real(0.9);
    row = null_row(table);
    row[NAME] = TEXT("copy");
    row[COUNT] = gt_cell_int(10);
    row[TOTAL] = gt_cell_int(2500000);
    row[AVERAGE] = gt_cell_real(250000);
    row[SHARE] = gt_cell_real(0.25);
    row = null_row(table);
    row[NAME] = TEXT("fill");
    row[COUNT] = gt_cell_int(1);
    row[TOTAL] = gt_cell_int(1000);
    row[AVERAGE] = gt_cell_real(1000);
    row[SHARE] = gt_cell_real(0.0001);
    return table;
}

static inline void add_memory(struct gt_section *section, int64_t device) {
    struct gt_table *table = gt_section_table(section, "memory", "Memory", memory_columns, 4);
    struct gt_cell *row = null_row(table);
    row[0] = gt_cell_int(device);
    row[1] = TEXT("HtoD, paged");
    row[2] = gt_cell_int(1500000);
    row[3] = gt_cell_int(1234567890);
}

static inline void fill_section(struct gt_section *section, const char *label, int64_t rank) {
    section->input = (struct gt_report_input){
        .label = gt_str_of(label),
        .path = GT_STR("/traces/a.json"),
        .format = "torch-json",
        .producer = GT_STR("PyTorch 2.4"),
        .ops = 1245,
        .kernels = 1245,
        .origin_ns = 1722222222123456789,
        .rank = rank,
    };
    struct gt_block *facts = gt_section_facts(section, NULL);
    gt_section_add_fact(section, facts, "span_ns", "Span", GT_UNIT_NS, gt_cell_int(12345678));
    gt_section_add_fact(section, facts, "gpu", "GPU model", GT_UNIT_NONE, TEXT("NVIDIA H200"));
    gt_section_add_fact(section, facts, "busy_share", "Busy", GT_UNIT_SHARE, gt_cell_real(0.8125));
}

static inline void make_small(void) {
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

#define TEST(function) cmocka_unit_test_setup_teardown(function, start, stop)

#endif
