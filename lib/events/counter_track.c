/* Values of counter tracks: a track comes in, its values go out, those of `counters` and those of samples alike. */
#include "events/counter_track.h"

#include <string.h>

/* The first of the rows, which are sorted by track, that is of this track or a later one. */
static size_t first_run(const uint32_t *tracks, size_t count, uint32_t track) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tracks[middle] < track)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A part of what is read: places in the track, and the caller's arrays. */
struct reading {
    size_t skip, left, done;
    int64_t *times_ns;
    double *values;
};

/* How many of a run's values are to be read, *from which on. */
static size_t take(struct reading *reading, size_t run_values, size_t *from) {
    *from = reading->skip < run_values ? reading->skip : run_values;
    size_t count = run_values - *from < reading->left ? run_values - *from : reading->left;
    reading->skip -= *from;
    reading->left -= count;
    return count;
}

static void read_counters(const struct gt_store *store, size_t run, struct reading *reading) {
    size_t from, count = take(reading, store->counter_runs.values[run], &from);
    size_t first = store->counter_runs.first[run] + from;
    if (reading->times_ns && count)
        memcpy(reading->times_ns + reading->done, store->counters.time_ns + first, count * sizeof *reading->times_ns);
    if (reading->values && count)
        memcpy(reading->values + reading->done, store->counters.value + first, count * sizeof *reading->values);
    reading->done += count;
}

static void read_samples(const struct gt_store *store, size_t run, struct reading *reading) {
    size_t from, count = take(reading, store->sample_runs.values[run], &from);
    const int64_t *times_ns = store->sample_times.time_ns + store->sample_runs.times[run] + from;
    const uint32_t *values = store->sample_values.value + store->sample_runs.first[run] + from;
    for (size_t i = 0; i < count; i++) {
        if (reading->times_ns)
            reading->times_ns[reading->done + i] = times_ns[i];
        if (reading->values)
            reading->values[reading->done + i] = values[i];
    }
    reading->done += count;
}

size_t gt_counter_track_read(const struct gt_store *store, uint32_t track, size_t first, size_t count,
                             int64_t *times_ns, double *values) {
    struct reading reading = {.skip = first, .left = count, .times_ns = times_ns, .values = values};
    const struct gt_counter_runs *runs = &store->counter_runs;
    const struct gt_sample_runs *samples = &store->sample_runs;
    for (size_t i = first_run(runs->track, runs->count, track);
         i < runs->count && runs->track[i] == track && reading.left; i++)
        read_counters(store, i, &reading);
    for (size_t i = first_run(samples->track, samples->count, track);
         i < samples->count && samples->track[i] == track && reading.left; i++)
        read_samples(store, i, &reading);
    return reading.done;
}

size_t gt_counter_track_count(const struct gt_store *store, uint32_t track) {
    const struct gt_counter_runs *runs = &store->counter_runs;
    const struct gt_sample_runs *samples = &store->sample_runs;
    size_t count = 0;
    for (size_t i = first_run(runs->track, runs->count, track); i < runs->count && runs->track[i] == track; i++)
        count += runs->values[i];
    for (size_t i = first_run(samples->track, samples->count, track); i < samples->count && samples->track[i] == track;
         i++)
        count += samples->values[i];
    return count;
}
