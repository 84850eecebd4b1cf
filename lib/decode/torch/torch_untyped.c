/* Events that wait for the name of their process: those of accelerators become ops, the others nothing. */
#include "decode/torch/torch_untyped.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "decode/torch/torch_value.h"
#include "events/builder.h"

bool gt_torch_untyped_keep(const struct gt_torch_subject *at) {
    struct gt_torch_sink *sink = at->sink;
    struct gt_builder *builder = sink->builder;
    struct gt_torch_untyped kept = {.stream = INT64_MIN, .offset = at->offset};
    if (!(sink->facts & GT_FACT_OPS) || gt_torch_event_has(at->event, GT_TORCH_CAT) || builder->segment_count == 0 ||
        gt_torch_value_int(at->event, GT_TORCH_PID, &kept.pid) != GT_JSON_NUMBER ||
        gt_torch_value_int(at->event, GT_TORCH_TID, &kept.tid) != GT_JSON_NUMBER ||
        gt_torch_value_micros(at->event, GT_TORCH_TS, &kept.start_ns) != GT_JSON_NUMBER)
        return false;
    int64_t length_ns = 0;
    if (gt_torch_value_micros(at->event, GT_TORCH_DUR, &length_ns) != GT_JSON_NUMBER ||
        __builtin_add_overflow(kept.start_ns, length_ns, &kept.end_ns))
        return false;
    struct gt_torch_untyped *grown =
        gt_mem_room(sink->untyped, sink->untyped_count, &sink->untyped_capacity, sizeof *grown);
    if (!grown) {
        builder->failed = true;
        return false;
    }
    gt_torch_value_int(at->event, GT_TORCH_STREAM, &kept.stream);
    kept.correlation = gt_torch_subject_correlation(at);
    kept.name = gt_torch_subject_name(at);
    kept.segment = builder->segment_count - 1;
    sink->untyped = grown;
    sink->untyped[sink->untyped_count++] = kept;
    return true;
}

/* ---- accelerators ---- */

struct accelerators {
    struct gt_map device_of; /* by pid */
    struct gt_map label_of;  /* by pid: the number of its label */
    struct gt_map stream_of; /* by pid and tid */
    uint32_t count;
};

/* The number that ends a text such as "NPU 3"; false: there is none. */
static bool last_number(struct gt_str text, int64_t *number) {
    size_t begin = text.len;
    while (begin > 0 && text.ptr[begin - 1] >= '0' && text.ptr[begin - 1] <= '9')
        begin--;
    return gt_num_parse_int((struct gt_str){text.ptr + begin, text.len - begin}, number) && *number < UINT32_MAX;
}

static bool is_hardware(struct gt_str name) {
    return gt_str_starts(name, GT_STR("Ascend Hardware"));
}

static void find_labels(struct accelerators *found, const struct gt_torch_track_name *const *names, size_t count) {
    int64_t number;
    for (size_t i = 0; i < count; i++)
        if (names[i]->kind == GT_TORCH_LABELS_PROCESS && last_number(names[i]->name, &number))
            gt_map_put_if_new(&found->label_of, 0, (uint64_t)names[i]->pid, (uint32_t)number);
}

/* Devices in the order of their processes, unless the end of a name or label is a number. */
static void find_devices(struct accelerators *found, const struct gt_torch_track_name *const *names, size_t count) {
    int64_t number;
    for (size_t i = 0; i < count; i++) {
        if (names[i]->kind != GT_TORCH_NAMES_PROCESS || names[i]->pid_label.len || !is_hardware(names[i]->name) ||
            gt_map_get(&found->device_of, 0, (uint64_t)names[i]->pid) != GT_MAP_NONE)
            continue;
        uint32_t device = gt_map_get(&found->label_of, 0, (uint64_t)names[i]->pid);
        if (last_number(names[i]->name, &number))
            device = (uint32_t)number;
        gt_map_put_if_new(&found->device_of, 0, (uint64_t)names[i]->pid, device != GT_MAP_NONE ? device : found->count);
        found->count++;
    }
}

static void find_streams(struct accelerators *found, const struct gt_torch_track_name *const *names, size_t count) {
    int64_t number;
    for (size_t i = 0; i < count; i++)
        if (names[i]->kind == GT_TORCH_NAMES_THREAD &&
            gt_map_get(&found->device_of, 0, (uint64_t)names[i]->pid) != GT_MAP_NONE &&
            gt_str_starts(names[i]->name, GT_STR("Stream ")) && last_number(names[i]->name, &number))
            gt_map_put_if_new(&found->stream_of, (uint64_t)names[i]->pid, (uint64_t)names[i]->tid, (uint32_t)number);
}

/* ---- rows ---- */

struct waiting {
    uint64_t order; /* of the chunk */
    const struct gt_torch_untyped *event;
    const struct gt_store *store; /* with its name */
};

/* Events of one chunk are in one array, in the order of the input. */
static int by_order(const void *a, const void *b) {
    const struct waiting *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

static void add_op(struct gt_builder *builder, const struct accelerators *found, const struct waiting *waiting) {
    const struct gt_torch_untyped *event = waiting->event;
    int64_t device = gt_map_get(&found->device_of, 0, (uint64_t)event->pid);
    uint32_t named = gt_map_get(&found->stream_of, (uint64_t)event->pid, (uint64_t)event->tid);
    int64_t stream = event->stream != INT64_MIN ? event->stream : named != GT_MAP_NONE ? (int64_t)named : event->tid;
    struct gt_str name = gt_store_string(waiting->store, event->name);
    uint8_t kind = gt_str_find_nocase(name, GT_STR("memcpy"))   ? GT_OP_MEMCPY
                   : gt_str_find_nocase(name, GT_STR("memset")) ? GT_OP_MEMSET
                                                                : GT_OP_KERNEL;
    if (!gt_builder_op(builder, &(struct gt_ops_row){.start_ns = event->start_ns,
                                                     .end_ns = event->end_ns,
                                                     .correlation = event->correlation,
                                                     .name = gt_builder_string(builder, name),
                                                     .lane = gt_builder_lane(builder, GT_NO_TRACK, device, stream),
                                                     .kind = kind}))
        return;
    gt_builder_issue_of(builder, GT_ISSUE_OTHER_ACCELERATOR, GT_FACT_OPS, 1, event->offset);
    gt_builder_name_device(builder, gt_builder_device(builder, device), GT_STR("Ascend NPU"));
}

static void add_ops(const struct gt_torch_sink *sinks, size_t count, const struct accelerators *found, size_t total) {
    struct gt_builder *builder = sinks[0].builder;
    struct waiting *list = gt_mem_array(total, sizeof *list);
    size_t kept = 0;
    if (!list) {
        builder->failed = true;
        return;
    }
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < sinks[s].untyped_count; i++) {
            const struct gt_torch_untyped *event = &sinks[s].untyped[i];
            const struct gt_segment *segment = &sinks[s].builder->segments[event->segment];
            if (segment->dropped)
                continue;
            if (gt_map_get(&found->device_of, 0, (uint64_t)event->pid) != GT_MAP_NONE)
                list[kept++] = (struct waiting){segment->order, event, &sinks[s].builder->store};
            else
                gt_builder_skip(builder);
        }
    qsort(list, kept, sizeof *list, by_order);
    for (size_t i = 0; i < kept; i++)
        add_op(builder, found, &list[i]);
    gt_mem_free(list);
}

void gt_torch_untyped_finish(const struct gt_torch_sink *sinks, size_t count,
                             const struct gt_torch_track_name *const *names, size_t name_count) {
    struct accelerators found = {.count = 0};
    size_t total = 0;
    for (size_t s = 0; s < count; s++)
        total += sinks[s].untyped_count;
    if (total == 0)
        return;
    gt_map_init(&found.device_of);
    gt_map_init(&found.stream_of);
    gt_map_init(&found.label_of);
    find_labels(&found, names, name_count);
    find_devices(&found, names, name_count);
    find_streams(&found, names, name_count);
    sinks[0].builder->failed |= found.device_of.failed || found.stream_of.failed || found.label_of.failed;
    if (!sinks[0].builder->failed)
        add_ops(sinks, count, &found, total);
    gt_map_release(&found.device_of);
    gt_map_release(&found.stream_of);
    gt_map_release(&found.label_of);
}
