/* The kernels of a trace, the longest total first: opens a trace, runs one analysis, reads its table.
 *
 *   cc -o kernels kernels.c $(pkg-config --cflags --libs gputime)
 *   ./kernels TRACE */
#include <gputime.h>
#include <stdio.h>

static void print_kernels(const struct gputime_table *kernels) {
    size_t name = gputime_table_find_column(kernels, "name"), count = gputime_table_find_column(kernels, "count");
    size_t total = gputime_table_find_column(kernels, "total_ns"), share = gputime_table_find_column(kernels, "share");
    for (size_t row = 0; row < gputime_table_row_count(kernels); row++) {
        struct gputime_text text = gputime_table_text(kernels, row, name);
        printf("%10lld ns %5.1f%% %6lld x  %.*s\n", (long long)gputime_table_int(kernels, row, total),
               100 * gputime_table_real(kernels, row, share), (long long)gputime_table_int(kernels, row, count),
               (int)text.size, text.bytes);
    }
}

int main(int argc, char **argv) {
    static const char *const analysis = "kernels";
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_trace *trace = NULL;
    struct gputime_report *report = NULL;
    struct gputime_error error;
    if (argc != 2) {
        fprintf(stderr, "usage: kernels TRACE\n");
        return 2;
    }
    options.analyses = &analysis;
    options.analysis_count = 1;
    options.names = GPUTIME_NAMES_SHORT;
    const char *path = argv[1];
    enum gputime_status status = gputime_trace_open(&path, 1, NULL, NULL, &trace, &error);
    if (!status)
        status = gputime_report_new(&trace, 1, &options, &report, &error);
    if (!status)
        print_kernels(gputime_report_table(report, 0, "kernels"));
    else
        fprintf(stderr, "kernels: %s\n", error.message);
    gputime_report_free(report);
    gputime_trace_free(trace);
    return (int)status;
}
