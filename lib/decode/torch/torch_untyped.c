/* Events that wait for the name of their process: those of accelerators become ops, the others nothing. */
#include "decode/torch/torch_untyped.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "decode/torch/torch_args.h"
#include "decode/torch/torch_value.h"
#include "events/builder.h"

bool gt_torch_untyped_is_unread(const struct gt_torch_subject *at) {
    const struct gt_torch_event *event = at->event;
    return at->sink->facts & GT_FACT_OPS && gt_torch_event_has(event, GT_TORCH_CAT) &&
           event->category == GT_TORCH_CAT_OTHER && gt_str_contains(event->args, GT_STR("\"device\":")) &&
           gt_str_contains(event->args, GT_STR("\"stream\":"));
}

/* rocprof writes whole microseconds, and the exact times as args. */
static void take_exact_times(struct gt_torch_untyped *kept, const struct gt_torch_event *event) {
    static const struct gt_torch_args_key keys[] = {{GT_STR("BeginNs"), 0}, {GT_STR("EndNs"), 1}};
    struct gt_torch_args args;
    int64_t start_ns, end_ns;
    if (!gt_str_contains(event->args, keys[0].key))
        return;
    gt_torch_args_read(&args, event, keys, GT_ARRAY_COUNT(keys));
    if (gt_torch_args_has(&args, 0) && gt_torch_args_has(&args, 1) &&
        gt_num_parse_int(args.values[0].text.raw, &start_ns) && gt_num_parse_int(args.values[1].text.raw, &end_ns)) {
        kept->start_ns = start_ns;
        kept->end_ns = end_ns;
    }
}

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
    take_exact_times(&kept, at->event);
    gt_torch_value_int(at->event, GT_TORCH_STREAM, &kept.stream);
    kept.correlation = gt_torch_subject_correlation(at);
    kept.name = gt_torch_subject_name(at);
    kept.segment = builder->segment_count - 1;
    sink->untyped = grown;
    sink->untyped[sink->untyped_count++] = kept;
    return true;
}

/* ---- accelerators ---- */

/* What a process with such events is. */
enum process_kind { ASCEND_HARDWARE, ASCEND_COMMUNICATION, ROCPROF_GPU };

struct accelerators {
    struct gt_map device_of; /* by pid */
    struct gt_map kind_of;   /* by pid */
    struct gt_map label_of;  /* by pid: the number of its label */
    struct gt_map stream_of; /* by pid and tid */
    uint32_t count;
    int64_t last_stream; /* of all hardware; threads of communication come after it */
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

/* "Communication", "HCCL" in older ones. */
static bool is_communication(struct gt_str name) {
    return gt_str_eq(name, GT_STR("Communication")) || gt_str_eq(name, GT_STR("HCCL"));
}

/* "1 GPU0": a number to sort by comes first. */
static bool is_rocprof_gpu(struct gt_str name, int64_t *number) {
    size_t digits = 0;
    while (digits < name.len && name.ptr[digits] >= '0' && name.ptr[digits] <= '9')
        digits++;
    struct gt_str rest = {name.ptr + digits, name.len - digits};
    return digits && gt_str_take_start(&rest, GT_STR(" GPU")) && gt_num_parse_int(rest, number) && *number >= 0 &&
           *number < UINT32_MAX;
}

static void put_process(struct accelerators *found, int64_t pid, enum process_kind kind, uint32_t device) {
    gt_map_put_if_new(&found->device_of, 0, (uint64_t)pid, device);
    gt_map_put_if_new(&found->kind_of, 0, (uint64_t)pid, kind);
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
        if (names[i]->kind != GT_TORCH_NAMES_PROCESS || names[i]->pid_label.len ||
            gt_map_get(&found->device_of, 0, (uint64_t)names[i]->pid) != GT_MAP_NONE)
            continue;
        if (is_rocprof_gpu(names[i]->name, &number))
            put_process(found, names[i]->pid, ROCPROF_GPU, (uint32_t)number);
        if (!is_hardware(names[i]->name))
            continue;
        uint32_t device = gt_map_get(&found->label_of, 0, (uint64_t)names[i]->pid);
        if (last_number(names[i]->name, &number))
            device = (uint32_t)number;
        put_process(found, names[i]->pid, ASCEND_HARDWARE, device != GT_MAP_NONE ? device : found->count);
        found->count++;
    }
}

/* Collectives are those of the NPU with the same label; without one, of the NPU whose process was named last. */
static void find_communication(struct accelerators *found, const struct gt_torch_track_name *const *names,
                               size_t count) {
    uint32_t last = GT_MAP_NONE;
    for (size_t i = 0; i < count && last == GT_MAP_NONE; i++) /* the first, for what comes before all */
        if (names[i]->kind == GT_TORCH_NAMES_PROCESS && is_hardware(names[i]->name))
            last = gt_map_get(&found->device_of, 0, (uint64_t)names[i]->pid);
    for (size_t i = 0; i < count && last != GT_MAP_NONE; i++) {
        if (names[i]->kind != GT_TORCH_NAMES_PROCESS || names[i]->pid_label.len)
            continue;
        uint32_t label = gt_map_get(&found->label_of, 0, (uint64_t)names[i]->pid);
        if (is_hardware(names[i]->name))
            last = gt_map_get(&found->device_of, 0, (uint64_t)names[i]->pid);
        else if (is_communication(names[i]->name))
            put_process(found, names[i]->pid, ASCEND_COMMUNICATION, label != GT_MAP_NONE ? label : last);
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

/* Copies and sets have names of their own: "MEMCPY_ASYNC", "aclrtMemset", of rocprof "CopyHostToDevice", "FillBuffer".
 */
static uint8_t kind_of_op(enum process_kind process, struct gt_str name) {
    bool is_rocprof = process == ROCPROF_GPU;
    if (gt_str_find_nocase(name, GT_STR("memcpy")) || (is_rocprof && gt_str_starts(name, GT_STR("Copy"))))
        return GT_OP_MEMCPY;
    if (gt_str_find_nocase(name, GT_STR("memset")) || (is_rocprof && gt_str_starts(name, GT_STR("FillBuffer"))))
        return GT_OP_MEMSET;
    return GT_OP_KERNEL;
}

static int64_t stream_of(struct accelerators *found, const struct gt_torch_untyped *event, enum process_kind process) {
    uint32_t named = gt_map_get(&found->stream_of, (uint64_t)event->pid, (uint64_t)event->tid);
    if (process == ASCEND_COMMUNICATION && named == GT_MAP_NONE) {
        named = (uint32_t)++found->last_stream;
        gt_map_put(&found->stream_of, (uint64_t)event->pid, (uint64_t)event->tid, named);
    }
    if (process != ASCEND_COMMUNICATION && event->stream != INT64_MIN)
        return event->stream;
    return named != GT_MAP_NONE ? (int64_t)named : event->tid;
}

static void add_op(struct gt_builder *builder, struct accelerators *found, const struct waiting *waiting) {
    const struct gt_torch_untyped *event = waiting->event;
    enum process_kind process = gt_map_get(&found->kind_of, 0, (uint64_t)event->pid);
    int64_t device = gt_map_get(&found->device_of, 0, (uint64_t)event->pid);
    int64_t stream = stream_of(found, event, process);
    struct gt_str name = gt_store_string(waiting->store, event->name);
    if (!gt_builder_op(builder, &(struct gt_ops_row){.start_ns = event->start_ns,
                                                     .end_ns = event->end_ns,
                                                     .correlation = event->correlation,
                                                     .name = gt_builder_string(builder, name),
                                                     .lane = gt_builder_lane(builder, GT_NO_TRACK, device, stream),
                                                     .kind = kind_of_op(process, name)}))
        return;
    if (process != ROCPROF_GPU)
        gt_builder_issue_of(builder, GT_ISSUE_OTHER_ACCELERATOR, GT_FACT_OPS, 1, event->offset);
    gt_builder_name_device(builder, gt_builder_device(builder, device),
                           process == ROCPROF_GPU ? GT_STR("AMD GPU") : GT_STR("Ascend NPU"));
}

/* Whether it becomes an op. Communication has collectives and, on tracks of their own, the tasks that they are made of.
 */
static bool is_op(const struct accelerators *found, const struct gt_torch_untyped *event, struct gt_str name) {
    uint32_t kind = gt_map_get(&found->kind_of, 0, (uint64_t)event->pid);
    if (kind == ASCEND_COMMUNICATION)
        return gt_str_starts_nocase(name, GT_STR("hcom")) || gt_str_starts_nocase(name, GT_STR("hccl"));
    return kind != GT_MAP_NONE;
}

/* Streams of threads of communication are those after the last of the hardware. */
static void note_stream(struct accelerators *found, const struct gt_torch_untyped *event) {
    enum { MOST = 1 << 30 };
    if (gt_map_get(&found->kind_of, 0, (uint64_t)event->pid) != ASCEND_HARDWARE)
        return;
    int64_t stream = stream_of(found, event, ASCEND_HARDWARE);
    if (stream > found->last_stream && stream < MOST)
        found->last_stream = stream;
}

static void add_ops(const struct gt_torch_sink *sinks, size_t count, struct accelerators *found, size_t total) {
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
            const struct gt_store *store = &sinks[s].builder->store;
            if (segment->dropped)
                continue;
            if (is_op(found, event, gt_store_string(store, event->name)))
                list[kept++] = (struct waiting){segment->order, event, store};
            else
                gt_builder_skip(builder);
        }
    qsort(list, kept, sizeof *list, by_order);
    for (size_t i = 0; i < kept; i++)
        note_stream(found, list[i].event);
    for (size_t i = 0; i < kept; i++)
        add_op(builder, found, &list[i]);
    builder->failed |= found->stream_of.failed;
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
    gt_map_init(&found.kind_of);
    gt_map_init(&found.stream_of);
    gt_map_init(&found.label_of);
    find_labels(&found, names, name_count);
    find_devices(&found, names, name_count);
    find_communication(&found, names, name_count);
    find_streams(&found, names, name_count);
    sinks[0].builder->failed |=
        found.device_of.failed || found.kind_of.failed || found.stream_of.failed || found.label_of.failed;
    if (!sinks[0].builder->failed)
        add_ops(sinks, count, &found, total);
    gt_map_release(&found.device_of);
    gt_map_release(&found.kind_of);
    gt_map_release(&found.stream_of);
    gt_map_release(&found.label_of);
}
