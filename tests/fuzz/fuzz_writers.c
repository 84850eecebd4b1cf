/* Fuzzes the output formats on a report made from bytes: a table of every kind of column and cell, facts, a note,
   issues. Whatever is in it, each format keeps to its rules. */
#include <stdlib.h>

#include "base/out.h"
#include "measure/analysis.h"
#include "output_checks.h"
#include "report/report.h"
#include "report/row.h"
#include "write/writer.h"

enum { LONGEST = 2048, COLUMNS_MAX = 6, ROWS_MAX = 12 };

struct bytes {
    const uint8_t *p, *end;
};

static uint8_t take(struct bytes *in) {
    return in->p < in->end ? *in->p++ : 0;
}

static uint64_t take_wide(struct bytes *in) {
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value = value << 8 | take(in);
    return value;
}

static struct gt_str take_text(struct bytes *in) {
    size_t size = take(in) % 64, left = (size_t)(in->end - in->p);
    struct gt_str text = {(const char *)in->p, size < left ? size : left};
    in->p += text.len;
    return text;
}

static struct gt_cell take_cell(struct bytes *in) {
    uint8_t kind = take(in);
    double real;
    uint64_t bits;
    switch (kind % 6) {
    case 0:
        return gt_cell_null();
    case 1:
        return gt_cell_int((int8_t)take(in));
    case 2:
        return gt_cell_int((int64_t)take_wide(in));
    case 3:
        bits = take_wide(in);
        memcpy(&real, &bits, sizeof real);
        return gt_cell_real(real);
    case 4:
        return gt_cell_real(take(in) / 255.0);
    default:
        return gt_cell_text(take_text(in));
    }
}

/* Names of columns and tables are the program's own; what they mean and hold is the input's. */
static const struct gt_report_column *take_columns(struct bytes *in, struct gt_arena *arena, size_t count) {
    static const char *const keys[COLUMNS_MAX] = {"name", "count", "total_ns", "share", "bytes", "other"};
    static const char *const titles[COLUMNS_MAX] = {"Name", "Count", "Total", "Share", "Bytes", "Other"};
    struct gt_report_column *columns = gt_arena_array(arena, count, sizeof *columns);
    fuzz_must(columns);
    for (size_t i = 0; i < count; i++) {
        uint8_t unit = take(in), flags = take(in), more = take(in);
        columns[i] =
            (struct gt_report_column){.key = keys[i],
                                      .title = titles[i],
                                      .unit = unit % 5,
                                      .of = "time",
                                      .flags = flags | (more & 1 ? GT_COLUMN_SENTENCE : 0) |
                                               (more & 2 ? GT_COLUMN_SPARSE : 0) | (more & 4 ? GT_COLUMN_VARIES : 0)};
    }
    return columns;
}

static void add_table(struct bytes *in, struct gt_section *section, const char *key) {
    size_t column_count = 1 + take(in) % COLUMNS_MAX, row_count = take(in) % ROWS_MAX;
    uint8_t how = take(in);
    const struct gt_report_column *columns = take_columns(in, &section->report->arena, column_count);
    struct gt_table *table = gt_section_table(section, key, "Table", columns, column_count);
    table->is_ranked = how & 1;
    table->folds = how & 2;
    table->screen_limit = how >> 2 & 3;
    table->empty = how & 16 ? "Nothing." : NULL;
    for (size_t i = 0; i < row_count; i++) {
        struct gt_row row = gt_row_begin(table);
        for (size_t column = 0; column < column_count; column++)
            gt_row_next(&row, take_cell(in));
        gt_row_end(&row);
    }
}

static struct gt_report *make_report(struct bytes *in) {
    struct gt_report *report = gt_report_new("fuzz", 1);
    fuzz_must(report);
    struct gt_section *section = &report->sections[0];
    section->input = (struct gt_report_input){.label = take_text(in),
                                              .path = take_text(in),
                                              .format = "made",
                                              .producer = take_text(in),
                                              .selection = take_text(in),
                                              .rank = -1,
                                              .world_size = -1,
                                              .host = take_text(in),
                                              .calls = GT_NOT_COUNTED};
    report->roles = &gt_analysis_roles;
    gt_section_note(section, take(in) & 7, take_text(in));
    struct gt_block *facts = gt_section_facts(section, "Facts");
    gt_section_add_fact(section, facts, "fact", "Fact", (enum gt_unit)(take(in) % 5), take_cell(in));
    add_table(in, section, "kernels");
    add_table(in, section, "gaps");
    gt_section_issue(section, &(struct gt_report_issue){.id = "input_cut",
                                                        .help = "the input is cut",
                                                        .count = take(in),
                                                        .first_offset = take_wide(in),
                                                        .is_loss = 1});
    fuzz_must(gt_report_status(report, NULL) == GT_OK);
    return report;
}

static void write_report(const struct gt_report *report, const struct gt_writer *writer, uint8_t how) {
    struct gputime_write_options options = GPUTIME_WRITE_OPTIONS_INIT;
    struct gt_error err = {0};
    struct gt_out *out = NULL;
    options.format = writer->key;
    options.width = 20 + how % 160;
    options.full_names = how & 1;
    options.threads = 1;
    options.table = writer->fills_folders ? "kernels" : NULL;
    fuzz_must(gt_out_open_memory(&out, NULL) == GT_OK);
    fuzz_must(writer->write(report, &options, out, &err) == GT_OK);
    struct gt_str bytes = gt_out_bytes(out);
    fuzz_output_check *check = fuzz_check_of(writer->key);
    if (check)
        check((const uint8_t *)bytes.ptr, bytes.len);
    gt_out_close(out);
}

/* A page holds megabytes of its own, so it is written now and then. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes in = {data, data + size};
    if (size > LONGEST)
        return 0;
    uint8_t choice = take(&in), how = take(&in);
    struct gt_report *report = make_report(&in);
    const struct gt_writer *writer = &gt_writers[choice % gt_writer_count];
    if (strcmp(writer->key, "html") != 0 || (choice > 250 && gt_writer_is_built(writer)))
        write_report(report, writer, how);
    gt_report_free(report);
    return 0;
}
