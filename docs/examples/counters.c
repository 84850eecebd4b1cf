/* The counters of a trace (GPU metrics, memory in use) with the mean of each: asks for a fact that is not read by
 * default.
 *
 *   cc -o counters counters.c $(pkg-config --cflags --libs gputime)
 *   ./counters TRACE */
#include <gputime.h>
#include <stdio.h>
#include <string.h>

static int64_t number(const struct gputime_rows *rows, size_t row, const char *field) {
    return gputime_rows_int(rows, row, gputime_rows_find_field(rows, field));
}

static struct gputime_text text(const struct gputime_rows *rows, size_t row, const char *field) {
    return gputime_rows_text(rows, row, gputime_rows_find_field(rows, field));
}

/* Samples have equal weight. A state lasts until the next one; how long the last one lasted is not known. */
static double mean(const struct gputime_rows *counters, size_t first, size_t count, int is_state) {
    const double *values = gputime_rows_field(counters, gputime_rows_find_field(counters, "value")).data;
    const int64_t *times = gputime_rows_field(counters, gputime_rows_find_field(counters, "time_ns")).data;
    double sum = 0, weights = 0;
    for (size_t i = first; i + (is_state ? 1 : 0) < first + count; i++) {
        double weight = is_state ? (double)(times[i + 1] - times[i]) : 1;
        sum += weight * values[i];
        weights += weight;
    }
    return weights > 0 ? sum / weights : values[first + count - 1];
}

/* A run has the rows of one track, which are next to each other. */
static void print_run(const struct gputime_trace *trace, size_t run) {
    const struct gputime_rows *runs = gputime_trace_rows(trace, "counter_runs");
    const struct gputime_rows *tracks = gputime_trace_rows(trace, "counter_tracks");
    size_t track = (size_t)number(runs, run, "track"), first = (size_t)number(runs, run, "first");
    size_t count = (size_t)number(runs, run, "values");
    struct gputime_text name = text(tracks, track, "name"), unit = text(tracks, track, "unit");
    struct gputime_text kind = text(tracks, track, "kind");
    int is_state = kind.size == 5 && memcmp(kind.bytes, "state", 5) == 0;
    if (!gputime_rows_is_null(tracks, track, gputime_rows_find_field(tracks, "device")))
        printf("GPU %lld ", (long long)number(tracks, track, "device"));
    printf("%.*s: %zu values, mean %.1f %.*s\n", (int)name.size, name.bytes, count,
           mean(gputime_trace_rows(trace, "counters"), first, count, is_state), (int)unit.size, unit.bytes);
}

int main(int argc, char **argv) {
    struct gputime_open_options options = GPUTIME_OPEN_OPTIONS_INIT;
    struct gputime_trace *trace = NULL;
    struct gputime_error error;
    if (argc != 2) {
        fprintf(stderr, "usage: counters TRACE\n");
        return 2;
    }
    const char *path = argv[1];
    options.facts = GPUTIME_FACT_COUNTERS;
    enum gputime_status status = gputime_trace_open(&path, 1, &options, NULL, &trace, &error);
    if (status) {
        fprintf(stderr, "counters: %s\n", error.message);
        return (int)status;
    }
    size_t count = gputime_rows_count(gputime_trace_rows(trace, "counter_runs"));
    for (size_t run = 0; run < count; run++)
        print_run(trace, run);
    if (count == 0)
        printf("no counters\n");
    gputime_trace_free(trace);
    return 0;
}
