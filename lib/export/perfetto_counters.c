/* Counters of a Perfetto trace: values of a view come in, counter events go out, a sequence for each counter. */
#include <math.h>

#include "base/mem.h"
#include "events/counter_track.h"
#include "export/perfetto_fields.h"
#include "export/perfetto_part.h"

struct counter {
    int64_t *times_ns; /* count of them, sorted */
    double *values;
    size_t count;
};

static int64_t time_ns(const void *context, size_t event) {
    const struct counter *counter = context;
    return counter->times_ns[event];
}

static void encode(const void *context, size_t event, struct gt_wire *wire) {
    const struct counter *counter = context;
    double value = counter->values[event];
    size_t begin = gt_wire_begin(wire, PACKET_TRACK_EVENT);
    gt_wire_uint(wire, EVENT_TYPE, TYPE_COUNTER);
    if (fabs(value) < 0x1p53 && value == floor(value)) /* the shorter form; the same number to every reader */
        gt_wire_int(wire, EVENT_COUNTER_VALUE, (int64_t)value);
    else
        gt_wire_double(wire, EVENT_DOUBLE_COUNTER_VALUE, value);
    gt_wire_end(wire, begin);
}

static size_t lower(const int64_t *times_ns, size_t count, int64_t time_ns) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (times_ns[middle] < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Only values of the selected time, with the state at its begin. */
static void cut(struct counter *counter, const struct gt_intervals *times, bool is_state) {
    if (!times->count) {
        counter->count = 0;
        return;
    }
    int64_t from_ns = times->items[0].start_ns, to_ns = times->items[times->count - 1].end_ns;
    size_t first = lower(counter->times_ns, counter->count, from_ns);
    size_t end = to_ns == INT64_MAX ? counter->count : lower(counter->times_ns, counter->count, to_ns);
    bool begins_before = first && (first == counter->count || counter->times_ns[first] > from_ns);
    if (is_state && begins_before)
        counter->times_ns[--first] = from_ns;
    counter->times_ns += first;
    counter->values += first;
    counter->count = end > first ? end - first : 0;
}

static bool is_selected(const struct gt_perfetto_part *part, uint32_t track) {
    const struct gt_counter_tracks *tracks = &part->store->counter_tracks;
    const struct gt_view *view = part->view;
    if (!part->processes)
        return true;
    for (size_t i = 0; tracks->device[track] >= 0 && i < view->device_count; i++)
        if (view->devices[i].id == tracks->device[track])
            return true;
    return tracks->device[track] < 0 && tracks->process[track] != GT_NO_TRACK &&
           part->processes[tracks->process[track]];
}

/* The track of its GPU, else of its process. */
static uint64_t parent_of(const struct gt_perfetto_part *part, uint32_t track) {
    const struct gt_counter_tracks *tracks = &part->store->counter_tracks;
    const struct gt_devices *devices = &part->store->devices;
    for (uint32_t i = 0; tracks->device[track] >= 0 && i < devices->count; i++)
        if (devices->id[i] == tracks->device[track])
            return gt_perfetto_part_uuid(part, gt_perfetto_part_device(part, i));
    return tracks->process[track] == GT_NO_TRACK
               ? 0
               : gt_perfetto_part_uuid(part, gt_perfetto_part_process(part, tracks->process[track]));
}

static void describe(struct gt_perfetto_part *part, uint32_t track) {
    const struct gt_store *store = part->store;
    const struct gt_counter_tracks *tracks = &store->counter_tracks;
    struct gt_wire *wire = &part->file->single;
    struct gt_str series = gt_store_string(store, tracks->series[track]),
                  unit = gt_store_string(store, tracks->unit[track]);
    struct gt_str name = gt_store_string(store, tracks->name[track]);
    size_t packet = gt_perfetto_file_begin(part->file, part->machine);
    size_t descriptor = gt_wire_begin(wire, PACKET_TRACK_DESCRIPTOR);
    uint64_t parent = parent_of(part, track);
    gt_wire_uint(wire, TRACK_UUID, gt_perfetto_part_uuid(part, gt_perfetto_part_counter(part, track)));
    if (parent)
        gt_wire_uint(wire, TRACK_PARENT_UUID, parent);
    if (series.len)
        name = gt_arena_printf(&part->arena, "%.*s: %.*s", (int)(name.len < 1000000 ? name.len : 1000000), name.ptr,
                               (int)(series.len < 1000000 ? series.len : 1000000), series.ptr);
    gt_wire_text(wire, TRACK_NAME, name);
    if (tracks->kind[track] == GT_COUNTER_SAMPLED)
        gt_wire_text(wire, TRACK_DESCRIPTION,
                     tracks->period_ns[track] > 0
                         ? gt_arena_printf(&part->arena, "sampled every %lld ns", (long long)tracks->period_ns[track])
                         : GT_STR("sampled"));
    size_t counter = gt_wire_begin(wire, TRACK_COUNTER);
    if (gt_str_eq(unit, GT_STR("bytes")))
        gt_wire_uint(wire, COUNTER_UNIT, UNIT_SIZE_BYTES);
    else if (unit.len)
        gt_wire_text(wire, COUNTER_UNIT_NAME, unit);
    gt_wire_end(wire, counter);
    gt_wire_end(wire, descriptor);
    gt_perfetto_file_end(part->file, packet);
}

static bool add_counter(struct gt_perfetto_part *part, uint32_t track, struct counter *counter) {
    static const struct gt_perfetto_kind kind = {time_ns, NULL, encode};
    const struct gt_store *store = part->store;
    size_t count = gt_counter_track_count(store, track);
    counter->times_ns = gt_arena_array(&part->arena, count, sizeof *counter->times_ns);
    counter->values = gt_arena_array(&part->arena, count, sizeof *counter->values);
    if (!counter->times_ns || !counter->values)
        return count == 0;
    counter->count = gt_counter_track_read(store, track, 0, count, counter->times_ns, counter->values);
    cut(counter, &part->times, store->counter_tracks.kind[track] == GT_COUNTER_STATE);
    if (counter->count)
        describe(part, track);
    gt_perfetto_file_add(part->file, (struct gt_perfetto_sequence){
                                         .kind = &kind,
                                         .context = counter,
                                         .count = counter->count,
                                         .track = gt_perfetto_part_uuid(part, gt_perfetto_part_counter(part, track)),
                                         .add_ns = part->add_ns,
                                         .machine = part->machine});
    return true;
}

bool gt_perfetto_part_add_counters(struct gt_perfetto_part *part) {
    size_t count = part->store->counter_tracks.count;
    struct counter *counters = gt_arena_array(&part->arena, count, sizeof *counters);
    for (uint32_t i = 0; counters && i < count; i++)
        if (is_selected(part, i) && !add_counter(part, i, &counters[i]))
            return false;
    return counters || !count;
}
