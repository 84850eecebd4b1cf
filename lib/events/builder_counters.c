/* Values of counters on their way into a builder: they come in one by one and of many tracks, and go to its columns in
   runs of one track. Where runs begin and end says nothing: sealing joins those of a track. */
#include <string.h>

#include "base/mem.h"
#include "events/builder.h"

/* Enough for runs that are long, and little next to what is stored. */
enum { PENDING_MAX = 1 << 14 };

struct pending_counter {
    int64_t time_ns;
    double value;
    uint32_t group; /* of its track, by first appearance in this batch */
};

struct gt_pending_counters {
    size_t count, group_count;
    struct pending_counter values[PENDING_MAX];
    uint32_t group_tracks[PENDING_MAX]; /* by group */
    uint32_t group_sizes[PENDING_MAX];  /* later where the next value of the group goes */
    uint32_t *group_of;                 /* by track: its group, GT_NO_ROW if it has none in this batch */
    size_t track_capacity;              /* of group_of */
};

static struct gt_pending_counters *pending_of(struct gt_builder *builder) {
    if (!builder->pending)
        builder->pending = gt_mem_array(1, sizeof *builder->pending);
    return builder->pending;
}

static bool has_room_for(struct gt_pending_counters *pending, uint32_t track) {
    if (track < pending->track_capacity)
        return true;
    size_t wanted = 2 * (size_t)track + 64;
    uint32_t *grown = gt_mem_realloc(pending->group_of, wanted * sizeof *grown);
    if (!grown)
        return false;
    memset(grown + pending->track_capacity, 0xFF, (wanted - pending->track_capacity) * sizeof *grown);
    pending->group_of = grown;
    pending->track_capacity = wanted;
    return true;
}

/* Room for more rows of a table that has `rows` of them and room for `capacity`. */
static bool make_room(struct gt_builder *builder, enum gt_table_id table, size_t rows, size_t capacity, size_t more) {
    size_t needed = rows + more, wanted = needed + needed / 2 + 64;
    if (needed <= capacity)
        return true;
    if (wanted >= GT_NO_ROW && needed < GT_NO_ROW)
        wanted = GT_NO_ROW - 1;
    bool is_done = gt_store_table_reserve(&builder->store, table, wanted);
    builder->failed |= !is_done;
    return is_done;
}

uint32_t gt_builder_sample_times(struct gt_builder *builder, size_t count, int64_t **times_ns) {
    struct gt_sample_times *times = &builder->store.sample_times;
    if (!make_room(builder, GT_TABLE_sample_times, times->count, times->capacity, count))
        return GT_NO_ROW;
    uint32_t first = (uint32_t)times->count;
    *times_ns = times->time_ns + first;
    times->count += count;
    return first;
}

uint32_t *gt_builder_sample_run(struct gt_builder *builder, uint32_t track, uint32_t times, size_t count) {
    struct gt_sample_values *samples = &builder->store.sample_values;
    struct gt_sample_runs *runs = &builder->store.sample_runs;
    if (track == GT_NO_TRACK || times == GT_NO_ROW ||
        !make_room(builder, GT_TABLE_sample_values, samples->count, samples->capacity, count) ||
        !make_room(builder, GT_TABLE_sample_runs, runs->count, runs->capacity, 1))
        return NULL;
    runs->track[runs->count] = track;
    runs->times[runs->count] = times;
    runs->first[runs->count] = (uint32_t)samples->count;
    runs->values[runs->count++] = (uint32_t)count;
    samples->count += count;
    return samples->value + samples->count - count;
}

bool gt_builder_counter_run(struct gt_builder *builder, uint32_t track, size_t count, int64_t **times_ns,
                            double **values) {
    struct gt_counters *counters = &builder->store.counters;
    struct gt_counter_runs *runs = &builder->store.counter_runs;
    size_t first = counters->count, needed = first + count;
    if (track == GT_NO_TRACK || !make_room(builder, GT_TABLE_counters, first, counters->capacity, count) ||
        !make_room(builder, GT_TABLE_counter_runs, runs->count, runs->capacity, 1)) {
        builder->failed = true;
        return false;
    }
    runs->track[runs->count] = track;
    runs->first[runs->count] = (uint32_t)first;
    runs->values[runs->count++] = (uint32_t)count;
    counters->count = needed;
    *times_ns = counters->time_ns + first;
    *values = counters->value + first;
    return true;
}

/* Rooms for the values of each group, one run each; false: no memory. The first places of the runs follow each other.
 */
static bool make_runs(struct gt_builder *builder, const struct gt_pending_counters *pending) {
    for (size_t g = 0; g < pending->group_count; g++) {
        int64_t *times_ns;
        double *values;
        if (!gt_builder_counter_run(builder, pending->group_tracks[g], pending->group_sizes[g], &times_ns, &values))
            return false;
    }
    return true;
}

void gt_builder_counters_flush(struct gt_builder *builder) {
    struct gt_pending_counters *pending = builder->pending;
    if (!pending || !pending->count)
        return;
    uint32_t next = (uint32_t)builder->store.counters.count;
    if (make_runs(builder, pending)) {
        for (size_t g = 0; g < pending->group_count; g++) {
            uint32_t size = pending->group_sizes[g];
            pending->group_sizes[g] = next;
            next += size;
        }
        for (size_t i = 0; i < pending->count; i++) {
            const struct pending_counter *value = &pending->values[i];
            uint32_t row = pending->group_sizes[value->group]++;
            builder->store.counters.time_ns[row] = value->time_ns;
            builder->store.counters.value[row] = value->value;
        }
    }
    for (size_t g = 0; g < pending->group_count; g++)
        pending->group_of[pending->group_tracks[g]] = GT_NO_ROW;
    pending->count = pending->group_count = 0;
}

void gt_builder_counter(struct gt_builder *builder, uint32_t track, int64_t time_ns, double value) {
    struct gt_pending_counters *pending = pending_of(builder);
    if (!pending || track == GT_NO_TRACK || !has_room_for(pending, track)) {
        builder->failed = true;
        return;
    }
    if (pending->count == PENDING_MAX)
        gt_builder_counters_flush(builder);
    uint32_t group = pending->group_of[track];
    if (group == GT_NO_ROW) {
        group = pending->group_of[track] = (uint32_t)pending->group_count++;
        pending->group_tracks[group] = track;
        pending->group_sizes[group] = 0;
    }
    pending->group_sizes[group]++;
    pending->values[pending->count++] = (struct pending_counter){time_ns, value, group};
}

void gt_builder_counters_release(struct gt_builder *builder) {
    if (builder->pending)
        gt_mem_free(builder->pending->group_of);
    gt_mem_free(builder->pending);
    builder->pending = NULL;
}
