/* Class statistics of a training run through the library: tables of `nsys stats`, or any trace, come in; the time of
 each class of kernels and the whole report go out.
 *
 *   cc -o stats stats.c $(pkg-config --cflags --libs gputime)
 *   ./stats ITERATIONS TAG FILE...
 *
 * The files are those of one capture: a .nsys-rep, a .sqlite, a PyTorch trace, or the CSVs that `nsys stats` made of
 it.
 */
#include <gputime.h>
#include <stdio.h>
#include <stdlib.h>

static const struct gputime_class classes[] = {
    {"gemm_e4m3", "FP8_Gemm"},    {"gemm_e5m2", "FP8_Gemm"},
    {"s16816gemm", "Other_Gemm"}, {"ln_", "LayerNorm"},
    {"softmax", "Softmax"},       {"fusion", "Fusion"},
    {"convert", "Convert"},       {"cast_transpose", "Cast_Transpose"},
    {"reduce", "Reduce"},
};

static double number(struct gputime_cell cell) {
    return cell.type == GPUTIME_CELL_INT ? (double)cell.integer : cell.type == GPUTIME_CELL_REAL ? cell.real : 0;
}

/* The facts of a report, and a table cell by cell. */
static void print_classes(const struct gputime_report *report) {
    size_t table = gputime_report_find_table(report, 0, "class_stats");
    size_t columns = gputime_report_column_count(report, 0, table);
    printf("%s\n", gputime_report_section_title(report, 0));
    for (size_t i = 0; i < gputime_report_fact_count(report, 0); i++) {
        struct gputime_fact fact = gputime_report_fact(report, 0, i);
        printf("  %s: %g %s\n", fact.title, number(fact.value), fact.unit);
    }
    printf("%s\n", gputime_report_table_title(report, 0, table));
    for (size_t row = 0; row < gputime_report_row_count(report, 0, table); row++)
        for (size_t column = 0; column < columns; column++) {
            struct gputime_cell cell = gputime_report_cell(report, 0, table, row, column);
            if (cell.type == GPUTIME_CELL_TEXT)
                printf("  %.*s:", (int)cell.text_bytes, cell.text);
            else
                printf(" %s=%g", gputime_report_column_key(report, 0, table, column), number(cell));
            if (column + 1 == columns)
                putchar('\n');
        }
    for (size_t i = 0; i < gputime_report_note_count(report, 0); i++)
        printf("note: %s\n", gputime_report_note(report, 0, i));
}

int main(int argc, char **argv) {
    static const char *const analysis = "class_stats";
    struct gputime_trace *trace = NULL;
    struct gputime_report *report = NULL;
    struct gputime_error error;
    if (argc < 4) {
        fprintf(stderr, "usage: stats ITERATIONS TAG FILE...\n");
        return 2;
    }
    struct gputime_options options = {
        .title = "My run",
        .iterations = strtoll(argv[1], NULL, 10),
        .nvtx_tag = argv[2],
        .classes = classes,
        .class_count = sizeof classes / sizeof *classes,
        .format = "stats", /* the text of `gputime stats`; "json", "csv" and "md" are others */
    };
    enum gputime_status status =
        gputime_trace_open((const char *const *)argv + 3, (size_t)argc - 3, &options, &trace, &error);
    if (!status)
        status = gputime_report_new(&trace, 1, "stats", &analysis, 1, &options, &report, &error);
    if (!status) {
        print_classes(report);
        fflush(stdout); /* the library writes by itself */
        status = gputime_report_write(report, &options, NULL, &error);
    }
    if (status)
        fprintf(stderr, "stats: %s\n", error.message);
    gputime_report_free(report);
    gputime_trace_free(trace);
    return (int)status;
}
