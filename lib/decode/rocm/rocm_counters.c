/* Hardware counters of kernels: values and the times of their kernels come in, counter tracks go out, one for each GPU
   and counter. A track has the value while the kernel runs, and 0 from its end to the next one. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "decode/rocm/rocm.h"

gt_strid gt_rocm_capture_counter(struct gt_rocm_capture *capture, struct gt_str name) {
    gt_strid id = gt_strtab_intern(&capture->counters, name);
    capture->arena.failed |= capture->counters.failed;
    return id;
}

void gt_rocm_add_span(struct gt_rocm_sink *sink, const struct gt_rocm_span *span) {
    struct gt_rocm_span *grown = gt_mem_room(sink->spans, sink->span_count, &sink->span_capacity, sizeof *grown);
    sink->builder->failed |= !grown;
    if (!grown)
        return;
    sink->spans = grown;
    grown[sink->span_count++] = *span;
}

void gt_rocm_add_value(struct gt_rocm_sink *sink, const struct gt_rocm_value *value) {
    struct gt_rocm_value *grown = gt_mem_room(sink->values, sink->value_count, &sink->value_capacity, sizeof *grown);
    sink->builder->failed |= !grown;
    if (!grown)
        return;
    sink->values = grown;
    grown[sink->value_count++] = *value;
}

/* A value with the time it is of. */
struct state {
    int64_t device, start_ns, end_ns;
    gt_strid name;
    double value;
};

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int by_key(const void *a, const void *b) {
    const struct gt_rocm_span *x = a, *y = b;
    int order = COMPARE(x->part, y->part);
    order = order ? order : COMPARE(x->key, y->key);
    order = order ? order : COMPARE(x->start_ns, y->start_ns);
    order = order ? order : COMPARE(x->end_ns, y->end_ns);
    return order ? order : COMPARE(x->device, y->device);
}

/* Sums must not depend on who read what: equal keys are added by size. */
static int by_value(const void *a, const void *b) {
    const struct gt_rocm_value *x = a, *y = b;
    int order = COMPARE(x->part, y->part);
    order = order ? order : COMPARE(x->key, y->key);
    order = order ? order : COMPARE(x->name, y->name);
    return order ? order : COMPARE(x->value, y->value);
}

static int by_track(const void *a, const void *b) {
    const struct state *x = a, *y = b;
    int order = COMPARE(x->device, y->device);
    order = order ? order : COMPARE(x->name, y->name);
    order = order ? order : COMPARE(x->start_ns, y->start_ns);
    order = order ? order : COMPARE(x->end_ns, y->end_ns);
    return order ? order : COMPARE(x->value, y->value);
}

static const struct gt_rocm_span *find_span(const struct gt_rocm_span *spans, size_t count, uint64_t part,
                                            uint64_t key) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool is_before = spans[middle].part < part || (spans[middle].part == part && spans[middle].key < key);
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    return low < count && spans[low].part == part && spans[low].key == key ? &spans[low] : NULL;
}

static uint32_t track_of(struct gt_rocm_sink *sink, const struct state *state) {
    struct gt_str name = gt_strtab_get(&sink->capture->counters, state->name);
    return gt_builder_counter_track(sink->builder, &(struct gt_counter_tracks_row){
                                                       .process = GT_NO_TRACK,
                                                       .device = state->device,
                                                       .name = gt_builder_string(sink->builder, name),
                                                       .kind = GT_COUNTER_STATE,
                                                   });
}

static void add_states(struct gt_rocm_sink *sink, const struct state *states, size_t count) {
    uint32_t track = GT_NO_TRACK;
    for (size_t i = 0; i < count; i++) {
        const struct state *state = &states[i], *next = i + 1 < count ? &states[i + 1] : NULL;
        bool is_next = next && next->device == state->device && next->name == state->name;
        if (track == GT_NO_TRACK)
            track = track_of(sink, state);
        if (!is_next || next->start_ns != state->start_ns)
            gt_builder_counter(sink->builder, track, state->start_ns, state->value);
        if (!is_next || (next->start_ns > state->end_ns && state->end_ns > state->start_ns))
            gt_builder_counter(sink->builder, track, state->end_ns, 0);
        track = is_next ? track : GT_NO_TRACK;
    }
}

/* Values of one kernel and counter, summed. Those of kernels that are not known are of no time. */
static size_t make_states(struct gt_rocm_sink *sink, const struct gt_rocm_value *values, size_t value_count,
                          const struct gt_rocm_span *spans, size_t span_count, struct state *states) {
    size_t count = 0;
    for (size_t i = 0; i < value_count;) {
        const struct gt_rocm_value *first = &values[i];
        const struct gt_rocm_span *span = find_span(spans, span_count, first->part, first->key);
        double sum = 0;
        for (; i < value_count && values[i].part == first->part && values[i].key == first->key &&
               values[i].name == first->name;
             i++)
            sum += values[i].value;
        if (span && isfinite(sum))
            states[count++] = (struct state){span->device, span->start_ns, span->end_ns, first->name, sum};
        else
            gt_builder_skip(sink->builder);
    }
    return count;
}

bool gt_rocm_finish_counters(struct gt_rocm_sink *sinks, size_t count) {
    size_t span_count = 0, value_count = 0, span = 0, value = 0;
    for (size_t s = 0; s < count; s++) {
        span_count += sinks[s].span_count;
        value_count += sinks[s].value_count;
    }
    if (value_count == 0)
        return true;
    struct gt_rocm_span *spans = gt_mem_array(span_count, sizeof *spans);
    struct gt_rocm_value *values = gt_mem_array(value_count, sizeof *values);
    struct state *states = gt_mem_array(value_count, sizeof *states);
    bool is_done = spans && values && states;
    for (size_t s = 0; s < count && is_done; s++) {
        for (size_t i = 0; i < sinks[s].span_count; i++)
            spans[span++] = sinks[s].spans[i];
        for (size_t i = 0; i < sinks[s].value_count; i++)
            values[value++] = sinks[s].values[i];
    }
    if (is_done) {
        qsort(spans, span_count, sizeof *spans, by_key);
        qsort(values, value_count, sizeof *values, by_value);
        size_t state_count = make_states(&sinks[0], values, value_count, spans, span_count, states);
        qsort(states, state_count, sizeof *states, by_track);
        add_states(&sinks[0], states, state_count);
    }
    gt_mem_free(spans);
    gt_mem_free(values);
    gt_mem_free(states);
    return is_done;
}

void gt_rocm_segments_add(struct gt_rocm_segments *segments, struct gt_builder *builder, size_t segment) {
    size_t *grown = gt_mem_room(segments->list, segments->count, &segments->capacity, sizeof *grown);
    builder->failed |= !grown;
    if (!grown)
        return;
    segments->list = grown;
    grown[segments->count++] = segment;
}

void gt_rocm_segments_drop(const struct gt_rocm_segments *segments, struct gt_builder *builder) {
    for (size_t i = 0; i < segments->count && !builder->failed; i++)
        gt_builder_drop(builder, segments->list[i]);
}
