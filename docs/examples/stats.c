/* Class statistics of a training run through the library: tables of `nsys stats`, or any trace, come in; the time of
 * each class of kernels and the whole report go out.
 *
 *   cc -o stats stats.c $(pkg-config --cflags --libs gputime)
 *   ./stats ITERATIONS TAG FILE...
 *
 * The files are those of one capture: a .nsys-rep, a .sqlite, a PyTorch trace, or the CSVs that `nsys stats` made of
 * it. */
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
    const struct gputime_table *table = gputime_report_table(report, 0, "class_stats");
    size_t columns = gputime_table_column_count(table);
    printf("%s\n", gputime_report_section_title(report, 0));
    for (size_t i = 0; i < gputime_report_fact_count(report, 0); i++) {
        struct gputime_fact fact = gputime_report_fact_at(report, 0, i);
        printf("  %s: %g %s\n", fact.title, number(fact.value), fact.unit);
    }
    printf("%s\n", gputime_table_title(table));
    for (size_t row = 0; row < gputime_table_row_count(table); row++)
        for (size_t column = 0; column < columns; column++) {
            struct gputime_cell cell = gputime_table_cell(table, row, column);
            if (cell.type == GPUTIME_CELL_TEXT)
                printf("  %.*s:", (int)cell.text_bytes, cell.text);
            else
                printf(" %s=%g", gputime_table_column(table, column).key, number(cell));
            if (column + 1 == columns)
                putchar('\n');
        }
    for (size_t i = 0; i < gputime_report_note_count(report, 0); i++)
        printf("note: %s\n", gputime_report_note(report, 0, i));
}

int main(int argc, char **argv) {
    static const char *const analysis = "class_stats";
    struct gputime_open_options opening = GPUTIME_OPEN_OPTIONS_INIT;
    struct gputime_run run = GPUTIME_RUN_INIT;
    struct gputime_report_options asked = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_write_options writing = GPUTIME_WRITE_OPTIONS_INIT;
    struct gputime_trace *trace = NULL;
    struct gputime_report *report = NULL;
    struct gputime_error error;
    if (argc < 4) {
        fprintf(stderr, "usage: stats ITERATIONS TAG FILE...\n");
        return 2;
    }
    opening.classes = classes;
    opening.class_count = sizeof classes / sizeof *classes;
    run.title = "My run";
    run.iterations = strtoll(argv[1], NULL, 10);
    run.iteration_range = argv[2];
    asked.analyses = &analysis;
    asked.analysis_count = 1;
    writing.format = "stats"; /* the text of `gputime stats`; "json", "csv" and "md" are others */
    enum gputime_status status =
        gputime_trace_open((const char *const *)argv + 3, (size_t)argc - 3, &opening, &run, &trace, &error);
    if (!status)
        status = gputime_report_new(&trace, 1, &asked, &report, &error);
    if (!status) {
        print_classes(report);
        fflush(stdout); /* the library writes to the descriptor */
        status = gputime_report_write(report, &writing, NULL, &error);
    }
    if (status)
        fprintf(stderr, "stats: %s\n", error.message);
    gputime_report_free(report);
    gputime_trace_free(trace);
    return (int)status;
}
