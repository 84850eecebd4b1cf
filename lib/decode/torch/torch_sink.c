/* Turns parsed trace events into rows: what Kineto and its relatives write comes in, ops, calls, ranges, tracks and
   issues go into the builder. */
#include "decode/torch/torch_sink.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "decode/torch/torch_fast.h"
#include "decode/torch/torch_value.h"
#include "events/builder.h"

void gt_torch_sink_init(struct gt_torch_sink *sink, struct gt_builder *builder, enum gt_torch_mode mode) {
    memset(sink, 0, sizeof *sink);
    sink->fast = mode == GT_TORCH_PORTABLE ? NULL : gt_torch_fast_new(mode == GT_TORCH_EAGER);
    sink->builder = builder;
    gt_arena_init(&sink->arena);
}

void gt_torch_sink_release(struct gt_torch_sink *sink) {
    gt_torch_fast_free(sink->fast);
    gt_mem_free(sink->scratch);
    gt_mem_free(sink->names);
    gt_arena_release(&sink->arena);
    memset(sink, 0, sizeof *sink);
}

/* The current event and where it is. */
struct subject {
    struct gt_torch_sink *sink;
    const struct gt_torch_event *event;
    uint64_t offset;
};

static void count_issue(const struct subject *at, enum gt_issue_id issue) {
    at->sink->odd_count++;
    gt_builder_issue(at->sink->builder, issue, 1, at->offset);
}

static int64_t find_int(const struct subject *at, enum gt_torch_field field, int64_t absent) {
    int64_t value;
    enum gt_torch_number found = gt_torch_value_int(at->event, field, &value);
    if (found == GT_TORCH_UNREADABLE)
        count_issue(at, GT_ISSUE_NUMBER_UNREADABLE);
    return found == GT_TORCH_NUMBER ? value : absent;
}

static int64_t find_micros(const struct subject *at, enum gt_torch_field field, int64_t absent_ns) {
    int64_t ns;
    enum gt_torch_number found = gt_torch_value_micros(at->event, field, &ns);
    if (found == GT_TORCH_UNREADABLE)
        count_issue(at, GT_ISSUE_NUMBER_UNREADABLE);
    return found == GT_TORCH_NUMBER ? ns : absent_ns;
}

/* Start and end; false without a start. An end that does not fit 64 bits counts as no duration. */
static bool find_times(const struct subject *at, int64_t *start_ns, int64_t *end_ns) {
    *start_ns = find_micros(at, GT_TORCH_TS, GT_NO_TIME);
    if (*start_ns == GT_NO_TIME)
        return false;
    if (__builtin_add_overflow(*start_ns, find_micros(at, GT_TORCH_DUR, 0), end_ns)) {
        count_issue(at, GT_ISSUE_NUMBER_UNREADABLE);
        *end_ns = *start_ns;
    }
    return true;
}

/* The text of a member, decoded; valid until the next call. Nothing where it is absent, null or nested. */
static struct gt_str find_text(const struct subject *at, enum gt_torch_field field) {
    struct gt_torch_sink *sink = at->sink;
    if (!gt_torch_event_has(at->event, field))
        return (struct gt_str){"", 0};
    const struct gt_torch_value *value = &at->event->values[field];
    const struct gt_json_value_text *text = &value->text;
    if (!value->is_string && gt_str_eq(text->raw, GT_STR("null")))
        return (struct gt_str){"", 0};
    if (text->marks == 0)
        return text->raw;
    if (text->raw.len > sink->scratch_bytes) {
        char *grown = gt_mem_realloc(sink->scratch, text->raw.len);
        if (!grown) {
            sink->builder->failed = true;
            return (struct gt_str){"", 0};
        }
        sink->scratch = grown;
        sink->scratch_bytes = text->raw.len;
    }
    bool repaired = false;
    size_t len = gt_json_scan_decode(*text, sink->scratch, &repaired);
    if (repaired)
        count_issue(at, GT_ISSUE_TEXT_REPAIRED);
    return (struct gt_str){sink->scratch, len};
}

static gt_strid find_name(const struct subject *at) {
    return gt_builder_string(at->sink->builder, find_text(at, GT_TORCH_NAME));
}

/* pid and tid are numbers, or words such as "Spans": then -1 and the words are the key. */
static struct gt_str find_label(const struct subject *at, enum gt_torch_field field, int64_t *number) {
    *number = -1;
    if (gt_torch_value_int(at->event, field, number) == GT_TORCH_NUMBER)
        return (struct gt_str){"", 0};
    *number = -1;
    return find_text(at, field);
}

static uint32_t thread_by_label(const struct subject *at) {
    int64_t pid, tid;
    struct gt_str label = find_label(at, GT_TORCH_PID, &pid);
    uint32_t process = gt_builder_process(at->sink->builder, pid, label);
    label = find_label(at, GT_TORCH_TID, &tid);
    return gt_builder_thread(at->sink->builder, process, tid, label);
}

static uint32_t find_thread(const struct subject *at) {
    int64_t pid, tid;
    if (gt_torch_value_int(at->event, GT_TORCH_PID, &pid) != GT_TORCH_NUMBER ||
        gt_torch_value_int(at->event, GT_TORCH_TID, &tid) != GT_TORCH_NUMBER)
        return thread_by_label(at);
    return gt_torch_sink_thread(at->sink, pid, tid);
}

/* The stream is in the args, else it is the thread: a number, or "stream 7" in old exports. */
static int64_t find_stream(const struct subject *at) {
    static const struct gt_str prefix = GT_STR("stream ");
    int64_t stream = find_int(at, GT_TORCH_STREAM, INT64_MIN);
    if (stream != INT64_MIN || gt_torch_value_int(at->event, GT_TORCH_TID, &stream) == GT_TORCH_NUMBER)
        return stream;
    if (!gt_torch_event_has(at->event, GT_TORCH_TID))
        return 0;
    struct gt_str words = at->event->values[GT_TORCH_TID].text.raw;
    if (!gt_str_starts(words, prefix))
        return 0;
    struct gt_str digits = {words.ptr + prefix.len, 0};
    while (prefix.len + digits.len < words.len && digits.ptr[digits.len] >= '0' && digits.ptr[digits.len] <= '9')
        digits.len++;
    return gt_num_parse_int(digits, &stream) ? stream : 0;
}

static uint32_t find_lane(const struct subject *at) {
    int64_t device = find_int(at, GT_TORCH_DEVICE, -1);
    if (device < 0 && (gt_torch_value_int(at->event, GT_TORCH_PID, &device) != GT_TORCH_NUMBER || device < 0)) {
        count_issue(at, GT_ISSUE_OP_WITHOUT_DEVICE);
        device = 0;
    }
    return gt_torch_sink_lane(at->sink, device, find_stream(at));
}

static uint64_t find_correlation(const struct subject *at) {
    int64_t id = find_int(at, GT_TORCH_CORRELATION, -1);
    return id < 0 ? GT_NO_CORRELATION : (uint64_t)id;
}

static bool is_graph_node(const struct subject *at) {
    return find_int(at, GT_TORCH_GRAPH, 0) != 0 || find_int(at, GT_TORCH_GRAPH_NODE, 0) != 0;
}

static bool starts_nocase(struct gt_str text, struct gt_str prefix) {
    return text.len >= prefix.len && gt_str_find_nocase((struct gt_str){text.ptr, prefix.len}, prefix);
}

/* The category, or what the name says where it says too little. */
static enum gt_torch_category op_category(const struct subject *at) {
    if (at->event->category != GT_TORCH_CAT_GPU_OP)
        return at->event->category;
    struct gt_str name =
        gt_torch_event_has(at->event, GT_TORCH_NAME) ? at->event->values[GT_TORCH_NAME].text.raw : GT_STR("");
    return starts_nocase(name, GT_STR("memcpy"))   ? GT_TORCH_CAT_MEMCPY
           : starts_nocase(name, GT_STR("memset")) ? GT_TORCH_CAT_MEMSET
                                                   : GT_TORCH_CAT_KERNEL;
}

static void take_op(const struct subject *at) {
    struct gt_torch_row row = {.category = op_category(at)};
    if (!find_times(at, &row.start_ns, &row.end_ns)) {
        count_issue(at, GT_ISSUE_OP_WITHOUT_TIME);
        return;
    }
    row.track = at->sink->last_track = find_lane(at);
    row.correlation = find_correlation(at);
    row.name = find_name(at);
    row.is_in_graph = is_graph_node(at);
    if (!gt_torch_sink_add_op(at->sink, &row))
        return;
    if (row.name == GT_STRID_EMPTY)
        count_issue(at, GT_ISSUE_OP_WITHOUT_NAME);
    if (row.category != GT_TORCH_CAT_KERNEL)
        gt_torch_sink_add_bytes(at->sink, &row, find_int(at, GT_TORCH_BYTES, -1));
}

static void take_gpu_range(const struct subject *at) {
    struct gt_torch_row row = {.category = GT_TORCH_CAT_GPU_RANGE};
    if (!find_times(at, &row.start_ns, &row.end_ns)) {
        count_issue(at, GT_ISSUE_EVENT_DAMAGED);
        return;
    }
    row.track = at->sink->last_track = find_lane(at);
    row.name = find_name(at);
    gt_torch_sink_add_range(at->sink, &row);
}

/* What happened on a CPU thread, as the kind of row its category asks for. */
static void take_cpu_side(const struct subject *at, enum gt_torch_category category) {
    struct gt_torch_row row = {.category = category, .track = GT_NO_TRACK};
    int64_t pid;
    if (!find_times(at, &row.start_ns, &row.end_ns)) {
        count_issue(at, GT_ISSUE_EVENT_DAMAGED);
        return;
    }
    /* The profiler's own work often is of no process: pid -1. */
    if (category != GT_TORCH_CAT_OVERHEAD || gt_torch_value_int(at->event, GT_TORCH_PID, &pid) != GT_TORCH_NUMBER ||
        pid >= 0)
        row.track = find_thread(at);
    at->sink->last_track = row.track;
    row.name = find_name(at);
    if (category == GT_TORCH_CAT_CALL)
        row.correlation = find_correlation(at);
    gt_torch_sink_add_cpu_side(at->sink, &row);
}

static struct gt_torch_track_name *add_track_name(struct gt_torch_sink *sink) {
    struct gt_torch_track_name *grown = gt_mem_room(sink->names, sink->name_count, &sink->name_capacity, sizeof *grown);
    if (!grown) {
        sink->builder->failed = true;
        return NULL;
    }
    sink->names = grown;
    return &sink->names[sink->name_count++];
}

/* false: nothing in it is needed. */
static bool take_metadata(const struct subject *at) {
    struct gt_torch_sink *sink = at->sink;
    const struct gt_builder *builder = sink->builder;
    struct gt_str what = find_text(at, GT_TORCH_NAME);
    struct gt_torch_track_name name = {.kind = GT_TORCH_NAMES_PROCESS};
    if (gt_str_eq(what, GT_STR("thread_name")))
        name.kind = GT_TORCH_NAMES_THREAD;
    else if (gt_str_eq(what, GT_STR("process_labels")))
        name.kind = GT_TORCH_LABELS_PROCESS;
    else if (!gt_str_eq(what, GT_STR("process_name")))
        return false;
    if (builder->segment_count == 0)
        return false; /* only after memory ran out */
    name.segment = builder->segment_count - 1;
    name.order = builder->segments[name.segment].order;
    name.pid_label = gt_arena_copy(&sink->arena, find_label(at, GT_TORCH_PID, &name.pid));
    name.tid_label = gt_arena_copy(&sink->arena, find_label(at, GT_TORCH_TID, &name.tid));
    enum gt_torch_field field = name.kind == GT_TORCH_LABELS_PROCESS ? GT_TORCH_ARG_LABELS : GT_TORCH_ARG_NAME;
    name.name = gt_arena_copy(&sink->arena, find_text(at, field));
    struct gt_torch_track_name *kept = name.name.len ? add_track_name(sink) : NULL;
    if (kept)
        *kept = name;
    sink->builder->failed |= gt_arena_failed(&sink->arena);
    return kept != NULL;
}

/* Steps come under several categories of the CPU side, depending on the release. */
static bool is_step(const struct gt_torch_event *event) {
    return gt_torch_event_has(event, GT_TORCH_NAME) &&
           gt_str_starts(event->values[GT_TORCH_NAME].text.raw, GT_STR("ProfilerStep#"));
}

static void take_complete(const struct subject *at) {
    switch (at->event->category) {
    case GT_TORCH_CAT_KERNEL:
    case GT_TORCH_CAT_MEMCPY:
    case GT_TORCH_CAT_MEMSET:
    case GT_TORCH_CAT_GPU_OP:
        take_op(at);
        return;
    case GT_TORCH_CAT_GPU_RANGE:
        take_gpu_range(at);
        return;
    case GT_TORCH_CAT_CPU_OP:
    case GT_TORCH_CAT_OTHER:
        if (is_step(at->event))
            take_cpu_side(at, GT_TORCH_CAT_RANGE);
        else if (at->event->category == GT_TORCH_CAT_CPU_OP)
            take_cpu_side(at, GT_TORCH_CAT_CPU_OP);
        else
            gt_builder_skip(at->sink->builder);
        return;
    default:
        take_cpu_side(at, at->event->category);
    }
}

void gt_torch_sink_take(struct gt_torch_sink *sink, const struct gt_torch_event *event, uint64_t offset) {
    const struct subject at = {sink, event, offset};
    char phase = 0;
    if (gt_torch_event_has(event, GT_TORCH_PH)) {
        sink->event_count++;
        if (event->values[GT_TORCH_PH].text.raw.len == 1)
            phase = event->values[GT_TORCH_PH].text.raw.ptr[0];
    }
    if (phase == 'X')
        take_complete(&at);
    else if (phase != 'M' || !take_metadata(&at))
        gt_builder_skip(sink->builder);
}
