/* Joins begins and ends of GPU work: events of all chunks come in, ops go out. */
#include "decode/torch/torch_halves.h"

#include <stdlib.h>

#include "base/mem.h"
#include "decode/torch/torch_value.h"
#include "events/builder.h"

bool gt_torch_halves_may_be(const struct gt_torch_event *event) {
    return !gt_torch_event_has(event, GT_TORCH_CAT) || gt_torch_event_is_op(event->category);
}

bool gt_torch_halves_keep(const struct gt_torch_subject *at, bool is_end) {
    struct gt_torch_sink *sink = at->sink;
    struct gt_builder *builder = sink->builder;
    struct gt_torch_half half = {.offset = at->offset, .category = at->event->category, .is_end = is_end, .bytes = -1};
    bool is_op = gt_torch_event_is_op(at->event->category);
    if (!(sink->facts & GT_FACT_OPS) || builder->segment_count == 0 || !(is_op || is_end) ||
        !gt_torch_halves_may_be(at->event) ||
        gt_torch_value_int(at->event, GT_TORCH_PID, &half.pid) != GT_JSON_NUMBER ||
        gt_torch_value_int(at->event, GT_TORCH_TID, &half.tid) != GT_JSON_NUMBER ||
        gt_torch_value_micros(at->event, GT_TORCH_TS, &half.time_ns) != GT_JSON_NUMBER)
        return false;
    struct gt_torch_half *grown = gt_mem_room(sink->halves, sink->half_count, &sink->half_capacity, sizeof *grown);
    if (!grown) {
        builder->failed = true;
        return false;
    }
    sink->halves = grown;
    if (!is_end) {
        half.device = gt_torch_subject_device(at);
        half.stream = gt_torch_subject_stream(at);
        half.correlation = gt_torch_subject_correlation(at);
        half.bytes = gt_torch_subject_int(at, GT_TORCH_BYTES, -1);
        half.name = gt_torch_subject_name(at);
    }
    half.segment = builder->segment_count - 1;
    sink->halves[sink->half_count++] = half;
    return true;
}

/* ---- pairs ---- */

struct waiting {
    const struct gt_torch_half *half;
    uint64_t order;               /* of the chunk */
    const struct gt_store *store; /* with its name */
};

/* By track and time; what is written first where times are equal. */
static int by_track(const void *a, const void *b) {
    const struct waiting *x = a, *y = b;
    if (x->half->pid != y->half->pid)
        return x->half->pid < y->half->pid ? -1 : 1;
    if (x->half->tid != y->half->tid)
        return x->half->tid < y->half->tid ? -1 : 1;
    if (x->half->time_ns != y->half->time_ns)
        return x->half->time_ns < y->half->time_ns ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->half->offset > y->half->offset) - (x->half->offset < y->half->offset);
}

static uint8_t kind_of(const struct gt_torch_half *half, struct gt_str name) {
    bool is_named = half->category == GT_TORCH_CAT_GPU_OP || half->category == GT_TORCH_CAT_DEVICE_OP;
    if (half->category == GT_TORCH_CAT_MEMCPY || (is_named && gt_str_starts_nocase(name, GT_STR("memcpy"))))
        return GT_OP_MEMCPY;
    if (half->category == GT_TORCH_CAT_MEMSET || (is_named && gt_str_starts_nocase(name, GT_STR("memset"))))
        return GT_OP_MEMSET;
    return GT_OP_KERNEL;
}

static void add_op(struct gt_builder *builder, const struct waiting *begin, int64_t end_ns) {
    const struct gt_torch_half *half = begin->half;
    struct gt_str name = gt_store_string(begin->store, half->name);
    uint8_t kind = kind_of(half, name);
    if (!gt_builder_op(builder,
                       &(struct gt_ops_row){.start_ns = half->time_ns,
                                            .end_ns = end_ns,
                                            .correlation = half->correlation,
                                            .name = gt_builder_string(builder, name),
                                            .lane = gt_builder_lane(builder, GT_NO_TRACK, half->device, half->stream),
                                            .kind = kind}))
        return;
    if (half->category == GT_TORCH_CAT_DEVICE_OP)
        gt_builder_issue_of(builder, GT_ISSUE_OTHER_ACCELERATOR, GT_FACT_OPS, 1, half->offset);
    if (kind != GT_OP_KERNEL && half->bytes >= 0) {
        struct gt_copies_row copy = {.bytes = (uint64_t)half->bytes};
        gt_torch_value_memory_kinds(name, &copy.src, &copy.dst);
        gt_builder_copy(builder, &copy);
    }
}

static void join(struct gt_builder *builder, const struct waiting *list, size_t count, size_t *open) {
    size_t depth = 0;
    for (size_t i = 0; i <= count; i++) {
        const struct gt_torch_half *half = i < count ? list[i].half : NULL;
        bool is_other_track =
            depth && (!half || half->pid != list[open[0]].half->pid || half->tid != list[open[0]].half->tid);
        for (; is_other_track && depth; depth--)
            gt_builder_issue_of(builder, GT_ISSUE_EVENT_DAMAGED, GT_FACT_OPS, 1, list[open[depth - 1]].half->offset);
        if (half && !half->is_end)
            open[depth++] = i;
        else if (half && depth)
            add_op(builder, &list[open[--depth]], half->time_ns);
        else if (half)
            gt_builder_skip(builder);
    }
}

void gt_torch_halves_finish(const struct gt_torch_sink *sinks, size_t count) {
    struct gt_builder *builder = sinks[0].builder;
    size_t total = 0, kept = 0;
    for (size_t s = 0; s < count; s++)
        total += sinks[s].half_count;
    if (total == 0)
        return;
    struct waiting *list = gt_mem_array(total, sizeof *list);
    size_t *open = gt_mem_array(total, sizeof *open);
    builder->failed |= !list || !open;
    for (size_t s = 0; s < count && list && open; s++)
        for (size_t i = 0; i < sinks[s].half_count; i++) {
            const struct gt_torch_half *half = &sinks[s].halves[i];
            const struct gt_segment *segment = &sinks[s].builder->segments[half->segment];
            if (!segment->dropped)
                list[kept++] = (struct waiting){half, segment->order, &sinks[s].builder->store};
        }
    if (list && open) {
        qsort(list, kept, sizeof *list, by_track);
        join(builder, list, kept, open);
    }
    gt_mem_free(list);
    gt_mem_free(open);
}
