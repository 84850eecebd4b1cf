/* Sealing, the counters: runs of values in the order of the file come in, one run for each track goes out, sorted by
   time. So a store does not depend on how its file was cut in chunks. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "events/seal.h"

/* Where the values of each track go: the first row of each, then the next free one. */
static uint32_t *place_tracks(const struct gt_store *store) {
    const struct gt_counter_runs *runs = &store->counter_runs;
    uint32_t *places = gt_mem_array(store->counter_tracks.count + 1, sizeof *places);
    uint32_t next = 0;
    if (!places)
        return NULL;
    for (size_t i = 0; i < runs->count; i++)
        places[runs->track[i]] += runs->values[i];
    for (size_t t = 0; t < store->counter_tracks.count; t++) {
        uint32_t count = places[t];
        places[t] = next;
        next += count;
    }
    return places;
}

/* Memory is given back in steps of this, since each takes a system call. */
enum { STEP_BYTES = 1 << 20 };

/* One column in its new order. Runs are in the order of rows, so all before the end of one is copied, too: it is given
   back on the way, so that there is never twice of the column. */
static bool group_column(struct gt_store *store, const uint32_t *places, void **column, size_t capacity) {
    const struct gt_counter_runs *runs = &store->counter_runs;
    size_t bytes = sizeof(int64_t);
    char *old = *column, *new = gt_store_column_new(capacity, bytes);
    uint32_t *next = gt_mem_array(store->counter_tracks.count + 1, sizeof *next);
    if (!new || !next) {
        gt_store_column_drop(new, capacity, bytes);
        gt_mem_free(next);
        return false;
    }
    memcpy(next, places, store->counter_tracks.count * sizeof *next);
    size_t given_back = 0;
    for (size_t i = 0; i < runs->count; i++) {
        size_t begin = runs->first[i] * bytes, length = runs->values[i] * bytes;
        memcpy(new + next[runs->track[i]] * bytes, old + begin, length);
        next[runs->track[i]] += runs->values[i];
        if (begin + length - given_back >= STEP_BYTES) {
            gt_mem_pages_discard(old, given_back, begin + length);
            given_back = (begin + length) / STEP_BYTES * STEP_BYTES;
        }
    }
    gt_store_column_drop(old, capacity, bytes);
    gt_mem_free(next);
    *column = new;
    return true;
}

struct value {
    int64_t time_ns;
    double value;
    size_t place;
};

static int by_time(const void *a, const void *b) {
    const struct value *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static bool is_sorted(const int64_t *times_ns, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (times_ns[i] < times_ns[i - 1])
            return false;
    return true;
}

/* Most profilers write counters in order of time; the others pay for it. */
static bool sort_run(struct gt_counters *counters, size_t first, size_t count) {
    if (is_sorted(counters->time_ns + first, count))
        return true;
    struct value *values = gt_mem_array(count, sizeof *values);
    if (!values)
        return false;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct value){counters->time_ns[first + i], counters->value[first + i], i};
    qsort(values, count, sizeof *values, by_time);
    for (size_t i = 0; i < count; i++) {
        counters->time_ns[first + i] = values[i].time_ns;
        counters->value[first + i] = values[i].value;
    }
    gt_mem_free(values);
    return true;
}

/* One row for each track that has values. There are at least as many rows as that already. */
static void list_tracks(struct gt_store *store, const uint32_t *places) {
    struct gt_counter_runs *runs = &store->counter_runs;
    size_t count = 0, tracks = store->counter_tracks.count;
    for (uint32_t t = 0; t < tracks; t++) {
        size_t end = t + 1 < tracks ? places[t + 1] : store->counters.count;
        if (end == places[t])
            continue;
        runs->track[count] = t;
        runs->first[count] = places[t];
        runs->values[count++] = (uint32_t)(end - places[t]);
    }
    runs->count = count;
}

struct sample_run {
    uint32_t track, times, first, values;
};

/* Sorts the runs by track; those of one track keep their order. */
static bool group_sample_runs(struct gt_sample_runs *runs, size_t tracks) {
    uint32_t *places = gt_mem_array(tracks + 1, sizeof *places);
    struct sample_run *sorted = gt_mem_array(runs->count, sizeof *sorted);
    bool is_done = places && sorted;
    for (size_t i = 0; is_done && i < runs->count; i++)
        places[runs->track[i] + 1]++;
    for (size_t t = 0; is_done && t < tracks; t++)
        places[t + 1] += places[t];
    for (size_t i = 0; is_done && i < runs->count; i++)
        sorted[places[runs->track[i]]++] =
            (struct sample_run){runs->track[i], runs->times[i], runs->first[i], runs->values[i]};
    for (size_t i = 0; is_done && i < runs->count; i++) {
        runs->track[i] = sorted[i].track;
        runs->times[i] = sorted[i].times;
        runs->first[i] = sorted[i].first;
        runs->values[i] = sorted[i].values;
    }
    gt_mem_free(places);
    gt_mem_free(sorted);
    return is_done;
}

static bool group_values(struct gt_store *store) {
    struct gt_counters *counters = &store->counters;
    uint32_t *places = place_tracks(store);
    bool is_done = places && group_column(store, places, (void **)&counters->time_ns, counters->capacity) &&
                   group_column(store, places, (void **)&counters->value, counters->capacity);
    if (is_done)
        list_tracks(store, places);
    for (size_t i = 0; is_done && i < store->counter_runs.count; i++)
        is_done = sort_run(counters, store->counter_runs.first[i], store->counter_runs.values[i]);
    gt_mem_free(places);
    return is_done;
}

bool gt_seal_group_counters(struct gt_store *store) {
    return (!store->counters.count || group_values(store)) &&
           (!store->sample_runs.count || group_sample_runs(&store->sample_runs, store->counter_tracks.count));
}
