/* The counters of a trace (GPU metrics, memory in use) with the mean of each: asks for a fact that is not read by
 * default.
 *
 *   cc -o counters counters.c $(pkg-config --cflags --libs gputime)
 *   ./counters TRACE */
#include <gputime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t number(const struct gputime_rows *rows, size_t row, const char *field) {
    return gputime_rows_int(rows, row, gputime_rows_find_field(rows, field));
}

static struct gputime_text text(const struct gputime_rows *rows, size_t row, const char *field) {
    return gputime_rows_text(rows, row, gputime_rows_find_field(rows, field));
}

/* Samples have equal weight. A state lasts until the next one; how long the last one lasted is not known. */
static double mean(const int64_t *times, const double *values, size_t count, int is_state) {
    double sum = 0, weights = 0;
    for (size_t i = 0; i + (is_state ? 1 : 0) < count; i++) {
        double weight = is_state ? (double)(times[i + 1] - times[i]) : 1;
        sum += weight * values[i];
        weights += weight;
    }
    return weights > 0 ? sum / weights : values[count - 1];
}

/* false: memory was short. */
static int print_track(const struct gputime_trace *trace, size_t track) {
    const struct gputime_rows *tracks = gputime_trace_rows(trace, "counter_tracks");
    struct gputime_text name = text(tracks, track, "name"), unit = text(tracks, track, "unit");
    struct gputime_text kind = text(tracks, track, "kind");
    size_t count = gputime_trace_counter_count(trace, track);
    int64_t *times = malloc((count + 1) * sizeof *times);
    double *values = malloc((count + 1) * sizeof *values);
    int is_state = kind.size == 5 && memcmp(kind.bytes, "state", 5) == 0, is_done = times && values;
    if (is_done && gputime_trace_counter_read(trace, track, 0, count, times, values) > 0) {
        if (!gputime_rows_is_null(tracks, track, gputime_rows_find_field(tracks, "device")))
            printf("GPU %lld ", (long long)number(tracks, track, "device"));
        printf("%.*s: %zu values, mean %.1f %.*s\n", (int)name.size, name.bytes, count,
               mean(times, values, count, is_state), (int)unit.size, unit.bytes);
    }
    free(times);
    free(values);
    return is_done;
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
    size_t count = gputime_rows_count(gputime_trace_rows(trace, "counter_tracks"));
    int is_done = 1;
    for (size_t track = 0; track < count && is_done; track++)
        is_done = print_track(trace, track);
    if (count == 0)
        printf("no counters\n");
    gputime_trace_free(trace);
    return is_done ? 0 : 1;
}
