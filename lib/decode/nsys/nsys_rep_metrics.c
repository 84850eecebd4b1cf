/* GPU metrics: types of the index and samples of the chunks come in, runs of values go into the builder, one for each
   chunk and metric. */
#include "decode/nsys/nsys_rep_metrics.h"

#include "base/mem.h"
#include "decode/proto/proto.h"

/* More is no report any more: a type for each GPU, and fewer than a hundred metrics were seen. */
enum { TYPES_MAX = 4096, METRICS_MAX = 1 << 16, OFFSET_MAX = 1 << 20 };

enum { KIND_UNSIGNED = 1 };

/* ---- types ---- */

/* A type's id begins with the id of its source; then a tag, which is 0 for samples, and the GPU. */
static uint64_t source_of(uint64_t type_id) {
    return type_id & ~UINT64_C(0xFFFFFFFF);
}
static bool is_of_samples(uint64_t type_id) {
    return (type_id >> 8 & 0xFFFFFF) == 0;
}

static void take_source(struct gt_map *sources, const struct gt_nsys_capture *capture, struct gt_str message) {
    uint64_t name = gt_proto_find_value(message, GT_PROTO_VARINT(3), GT_NSYS_NO_ID);
    if (gt_nsys_has_string(capture, name) && gt_str_eq(capture->strings[name], GT_STR("GpuMetrics")) &&
        sources->count < TYPES_MAX)
        gt_map_put(sources, 0, gt_proto_find_value(message, GT_PROTO_VARINT(1), 0), 1);
}

/* false: its values cannot be read. */
static bool read_metric(const struct gt_nsys_capture *capture, struct gt_str message,
                        struct gt_nsys_rep_metric *metric) {
    uint64_t name = gt_proto_find_value(message, GT_PROTO_VARINT(1), GT_NSYS_NO_ID);
    uint64_t offset = gt_proto_find_value(message, GT_PROTO_VARINT(2), 0);
    uint64_t width = gt_proto_find_value(message, GT_PROTO_VARINT(3), 0);
    uint64_t kind = gt_proto_find_value(message, GT_PROTO_VARINT(8), KIND_UNSIGNED);
    *metric = (struct gt_nsys_rep_metric){
        .offset = (uint32_t)offset,
        .width = (uint32_t)width,
        .name = gt_nsys_has_string(capture, name) ? capture->strings[name] : GT_LOST_NAME,
    };
    return offset <= OFFSET_MAX && width >= 1 && width <= 8 && kind == KIND_UNSIGNED;
}

static bool take_metrics(struct gt_nsys_rep_metric_types *types, const struct gt_nsys_capture *capture,
                         struct gt_str message) {
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    while (gt_proto_next(&fields, &field)) {
        struct gt_nsys_rep_metric metric;
        if (field.tag != GT_PROTO_BYTES(3))
            continue;
        if (!read_metric(capture, field.bytes, &metric) || types->metric_count == METRICS_MAX) {
            types->unreadable_count++;
            continue;
        }
        struct gt_nsys_rep_metric *grown =
            gt_mem_room(types->metrics, types->metric_count, &types->metric_capacity, sizeof *grown);
        if (!grown)
            return false;
        types->metrics = grown;
        types->metrics[types->metric_count++] = metric;
    }
    return true;
}

static bool take_type(struct gt_nsys_rep_metric_types *types, const struct gt_nsys_capture *capture,
                      const struct gt_map *sources, struct gt_str message) {
    struct gt_nsys_rep_metric_type type = {.id = gt_proto_find_value(message, GT_PROTO_VARINT(1), 0),
                                           .first_metric = types->metric_count};
    if (!is_of_samples(type.id) || gt_map_get(sources, 0, source_of(type.id)) == GT_MAP_NONE ||
        gt_map_get(&types->index_of, 0, type.id) != GT_MAP_NONE || types->count == TYPES_MAX)
        return true;
    if (!take_metrics(types, capture, message))
        return false;
    type.metric_count = types->metric_count - type.first_metric;
    if (type.metric_count == 0)
        return true;
    struct gt_nsys_rep_metric_type *grown = gt_mem_room(types->list, types->count, &types->capacity, sizeof *grown);
    if (!grown)
        return false;
    types->list = grown;
    types->list[types->count] = type;
    gt_map_put(&types->index_of, 0, type.id, (uint32_t)types->count++);
    return !types->index_of.failed;
}

bool gt_nsys_rep_metrics_types_take(struct gt_nsys_rep_metric_types *types, const struct gt_nsys_capture *capture,
                                    struct gt_str index) {
    struct gt_map sources = {0};
    struct gt_proto_field field;
    bool is_done = true;
    for (struct gt_proto fields = gt_proto_of(index); gt_proto_next(&fields, &field);)
        if (field.tag == GT_PROTO_BYTES(13))
            take_source(&sources, capture, field.bytes);
    for (struct gt_proto fields = gt_proto_of(index); is_done && gt_proto_next(&fields, &field);)
        if (field.tag == GT_PROTO_BYTES(14))
            is_done = take_type(types, capture, &sources, field.bytes);
    is_done = is_done && !sources.failed;
    gt_map_release(&sources);
    return is_done;
}

void gt_nsys_rep_metrics_types_release(struct gt_nsys_rep_metric_types *types) {
    gt_map_release(&types->index_of);
    gt_mem_free(types->list);
    gt_mem_free(types->metrics);
    *types = (struct gt_nsys_rep_metric_types){0};
}

/* ---- samples ---- */

void gt_nsys_rep_metrics_samples_release(struct gt_nsys_rep_samples *samples) {
    gt_mem_free(samples->list);
    gt_mem_free(samples->tracks);
    gt_mem_free(samples->type_counts);
    gt_mem_free(samples->type_places);
    gt_mem_free(samples->times_ns);
    gt_mem_free(samples->bytes);
    gt_mem_free(samples->lengths);
    *samples = (struct gt_nsys_rep_samples){0};
}

/* Which type the last sample had is most often the answer for this one. */
static uint32_t find_type(const struct gt_nsys_rep_samples *samples, const struct gt_nsys_rep_metric_types *types,
                          uint64_t id) {
    if (samples->count) {
        uint32_t last = samples->list[samples->count - 1].type;
        if (types->list[last].id == id)
            return last;
    }
    return gt_map_get(&types->index_of, 0, id);
}

/* An array of GT_NO_TRACK, which is GT_NO_ROW too. */
static uint32_t *array_of_none(size_t count) {
    uint32_t *array = gt_mem_alloc(count * sizeof *array);
    if (array)
        memset(array, 0xFF, count * sizeof *array);
    return array;
}

/* What is needed by type and by metric, once there is a sample. */
static bool has_tables(struct gt_nsys_rep_samples *samples, const struct gt_nsys_rep_metric_types *types) {
    if (!samples->type_counts)
        samples->type_counts = gt_mem_array(types->count, sizeof *samples->type_counts);
    if (!samples->type_places)
        samples->type_places = array_of_none(types->count);
    if (!samples->tracks)
        samples->tracks = array_of_none(types->metric_count);
    return samples->type_counts && samples->type_places && samples->tracks;
}

bool gt_nsys_rep_metrics_take(struct gt_nsys_rep_samples *samples, const struct gt_nsys_rep_metric_types *types,
                              struct gt_nsys_sink *model, struct gt_str message, uint64_t values_max) {
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    struct gt_nsys_rep_sample sample = {.time_ns = GT_NO_TIME};
    uint64_t type_id = GT_NSYS_NO_ID;
    while (gt_proto_next(&fields, &field)) {
        if (field.tag == GT_PROTO_VARINT(1)) {
            type_id = field.value;
        } else if (field.tag == GT_PROTO_VARINT(2)) {
            sample.time_ns = (int64_t)field.value;
        } else if (field.tag == GT_PROTO_BYTES(3)) {
            sample.bytes = field.bytes.ptr;
            sample.length = (uint32_t)field.bytes.len; /* chunks are smaller than 2^32 */
        }
    }
    if (fields.is_damaged)
        return false;
    sample.type = find_type(samples, types, type_id);
    if (sample.type == GT_MAP_NONE) {
        gt_builder_skip(model->builder);
        return true;
    }
    uint64_t values = types->list[sample.type].metric_count;
    if (sample.time_ns == GT_NO_TIME || !sample.bytes || values > values_max - samples->value_count)
        return false;
    struct gt_nsys_rep_sample *grown = gt_mem_room(samples->list, samples->count, &samples->capacity, sizeof *grown);
    samples->list = grown ? grown : samples->list;
    if (!grown || !has_tables(samples, types)) {
        model->builder->failed = true;
        return true;
    }
    samples->list[samples->count++] = sample;
    samples->type_counts[sample.type]++;
    samples->value_count += values;
    return true;
}

/* ---- values ---- */

/* Samples of one type, in the order of the chunk. */
struct batch {
    const int64_t *times_ns;
    const char *const *bytes;
    const uint32_t *lengths;
    size_t count;
    uint32_t shortest;
    uint32_t times; /* where the builder has their times; GT_NO_ROW: not yet */
};

static uint64_t value_mask(const struct gt_nsys_rep_metric *metric) {
    return UINT64_MAX >> (64 - 8 * metric->width);
}

/* Eight bytes can be read anywhere in a chunk, which has padding. */
static uint64_t value_of(const char *bytes, const struct gt_nsys_rep_metric *metric, uint64_t mask) {
    uint64_t word;
    memcpy(&word, bytes + metric->offset, sizeof word);
    return le64toh(word) & mask;
}

/* Values that may need more than 32 bits, of those samples that are long enough. */
static void add_large(struct gt_nsys_sink *model, const struct batch *batch, const struct gt_nsys_rep_metric *metric,
                      uint32_t track, size_t count) {
    int64_t *times_ns;
    double *values;
    if (!gt_builder_counter_run(model->builder, track, count, &times_ns, &values))
        return;
    for (size_t i = 0, next = 0; i < batch->count; i++) {
        if (batch->lengths[i] < metric->offset + metric->width)
            continue;
        times_ns[next] = batch->times_ns[i];
        values[next++] = (double)value_of(batch->bytes[i], metric, value_mask(metric));
    }
}

/* Values of those samples that are long enough: they have times of their own. */
static void add_some(struct gt_nsys_sink *model, const struct batch *batch, const struct gt_nsys_rep_metric *metric,
                     uint32_t track, size_t count) {
    int64_t *times_ns;
    uint32_t times = gt_builder_sample_times(model->builder, count, &times_ns);
    uint32_t *values = gt_builder_sample_run(model->builder, track, times, count);
    for (size_t i = 0, next = 0; values && i < batch->count; i++) {
        if (batch->lengths[i] < metric->offset + metric->width)
            continue;
        times_ns[next] = batch->times_ns[i];
        values[next++] = (uint32_t)value_of(batch->bytes[i], metric, value_mask(metric));
    }
}

/* All metrics of the samples share their times. */
static uint32_t times_of(struct gt_nsys_sink *model, struct batch *batch) {
    int64_t *times_ns;
    if (batch->times != GT_NO_ROW)
        return batch->times;
    batch->times = gt_builder_sample_times(model->builder, batch->count, &times_ns);
    if (batch->times != GT_NO_ROW)
        memcpy(times_ns, batch->times_ns, batch->count * sizeof *times_ns);
    return batch->times;
}

static void add_all(struct gt_nsys_sink *model, struct batch *batch, const struct gt_nsys_rep_metric *metric,
                    uint32_t track) {
    uint32_t *values = gt_builder_sample_run(model->builder, track, times_of(model, batch), batch->count);
    const uint64_t mask = value_mask(metric);
    for (size_t i = 0; values && i < batch->count; i++)
        values[i] = (uint32_t)value_of(batch->bytes[i], metric, mask);
}

static void add_metric(struct gt_nsys_sink *model, struct batch *batch, const struct gt_nsys_rep_metric *metric,
                       uint32_t track) {
    size_t end = metric->offset + metric->width, count = batch->count;
    for (size_t i = 0; i < batch->count && batch->shortest < end; i++)
        count -= batch->lengths[i] < end;
    if (count < batch->count)
        gt_builder_issue_of(model->builder, GT_ISSUE_PAYLOAD_UNREADABLE, GT_FACT_METRICS, batch->count - count,
                            GT_NO_OFFSET);
    if (count == 0)
        return;
    if (metric->width > sizeof(uint32_t))
        add_large(model, batch, metric, track, count);
    else if (count < batch->count)
        add_some(model, batch, metric, track, count);
    else
        add_all(model, batch, metric, track);
}

static void add_type(struct gt_nsys_rep_samples *samples, const struct gt_nsys_rep_metric_types *types, uint32_t index,
                     struct gt_nsys_sink *model, struct batch *batch) {
    const struct gt_nsys_rep_metric_type *type = &types->list[index];
    batch->shortest = UINT32_MAX;
    for (size_t i = 0; i < batch->count; i++)
        batch->shortest = batch->lengths[i] < batch->shortest ? batch->lengths[i] : batch->shortest;
    for (size_t m = type->first_metric; m < type->first_metric + type->metric_count; m++) {
        const struct gt_nsys_rep_metric *metric = &types->metrics[m];
        if (samples->tracks[m] == GT_NO_TRACK)
            samples->tracks[m] = gt_nsys_metric_track(model, type->id, metric->name, types->hz);
        add_metric(model, batch, metric, samples->tracks[m]);
    }
}

static bool has_room_to_sort(struct gt_nsys_rep_samples *samples) {
    if (samples->count <= samples->sorted_capacity)
        return true;
    gt_mem_free(samples->times_ns);
    gt_mem_free(samples->bytes);
    gt_mem_free(samples->lengths);
    samples->times_ns = gt_mem_array(samples->capacity, sizeof *samples->times_ns);
    samples->bytes = gt_mem_array(samples->capacity, sizeof *samples->bytes);
    samples->lengths = gt_mem_array(samples->capacity, sizeof *samples->lengths);
    bool is_done = samples->times_ns && samples->bytes && samples->lengths;
    samples->sorted_capacity = is_done ? samples->capacity : 0;
    return is_done;
}

/* Puts the samples of each type next to each other, types in order of their first sample. */
static void sort_by_type(struct gt_nsys_rep_samples *samples) {
    uint32_t next = 0;
    for (size_t i = 0; i < samples->count; i++) {
        const struct gt_nsys_rep_sample *sample = &samples->list[i];
        uint32_t *place = &samples->type_places[sample->type];
        if (*place == GT_NO_ROW) {
            *place = next;
            next += samples->type_counts[sample->type];
        }
        samples->times_ns[*place] = sample->time_ns;
        samples->bytes[*place] = sample->bytes;
        samples->lengths[(*place)++] = sample->length;
    }
}

void gt_nsys_rep_metrics_flush(struct gt_nsys_rep_samples *samples, const struct gt_nsys_rep_metric_types *types,
                               struct gt_nsys_sink *model) {
    if (samples->count && !has_room_to_sort(samples)) {
        model->builder->failed = true;
        for (size_t i = 0; i < samples->count; i++)
            samples->type_counts[samples->list[i].type] = 0;
        samples->count = 0;
    }
    sort_by_type(samples);
    for (size_t i = 0; i < samples->count; i++) {
        uint32_t type = samples->list[i].type, count = samples->type_counts[type];
        if (count == 0)
            continue; /* its type came with an earlier one */
        size_t first = samples->type_places[type] - count;
        struct batch batch = {
            samples->times_ns + first, samples->bytes + first, samples->lengths + first, count, 0, GT_NO_ROW};
        samples->type_counts[type] = 0;
        samples->type_places[type] = GT_NO_ROW;
        add_type(samples, types, type, model, &batch);
    }
    samples->count = 0;
    samples->value_count = 0;
}
