/* Decoder of the Chrome trace of XLA's profiler: the same events as in the *.xplane.pb beside it, as text. Processes
   are its planes and threads its lines, by names that come first; events have no category. */
#include "decode/xla/xla_json.h"

#include <string.h>

#include "base/mem.h"
#include "decode/json/json_member.h"
#include "decode/torch/torch_args.h"
#include "decode/torch/torch_json.h"
#include "decode/torch/torch_reader.h"
#include "decode/torch/torch_value.h"
#include "decode/xla/xla_rows.h"

/* The profiler keeps the first so many events, older ones fewer; of equal start a few more. */
enum { MAX_EVENTS = 5000000, OLD_MAX_EVENTS = 1000000, EQUAL_STARTS = 64 };

enum { WINDOW_BYTES = 1 << 20, MAX_EVENT_BYTES = 64 << 20 };

struct process {
    enum gt_xla_plane plane;
    int64_t device;
};

struct line {
    int64_t tid;
    uint32_t process; /* GT_MAP_NONE: it has no name */
    uint32_t track;   /* of the rows, once it is known */
    struct gt_xla_line track_line;
    uint32_t wanted;
    bool is_known, is_read;
    bool is_unscoped; /* of the rows */
};

struct decoding {
    struct gt_builder builder;
    struct gt_torch_sink sink;
    struct gt_torch_reader reader;
    struct gt_xla_capture capture;
    struct gt_xla_rows rows;
    struct gt_xla_event event; /* that is being read */
    struct gt_arena arena;
    struct process *processes;
    struct line *lines;
    size_t process_count, process_capacity, line_count, line_capacity;
    struct gt_map process_of, line_of;
    uint64_t complete_count, tpu_count;
};

/* ---- processes and threads ---- */

static struct line *line_at(struct decoding *decoding, int64_t pid, int64_t tid) {
    uint32_t index = gt_map_get(&decoding->line_of, (uint64_t)pid, (uint64_t)tid);
    if (index != GT_MAP_NONE)
        return &decoding->lines[index];
    struct line *grown = gt_mem_room(decoding->lines, decoding->line_count, &decoding->line_capacity, sizeof *grown);
    if (!grown) {
        decoding->builder.failed = true;
        return NULL;
    }
    decoding->lines = grown;
    index = (uint32_t)decoding->line_count++;
    decoding->lines[index] = (struct line){.tid = tid, .track = GT_NO_TRACK, .track_line = {.name = {"", 0}}};
    gt_map_put(&decoding->line_of, (uint64_t)pid, (uint64_t)tid, index);
    decoding->builder.failed |= decoding->line_of.failed;
    return &decoding->lines[index];
}

static void name_process(struct decoding *decoding, int64_t pid, struct gt_str name) {
    struct process *grown =
        gt_mem_room(decoding->processes, decoding->process_count, &decoding->process_capacity, sizeof *grown);
    if (!grown) {
        decoding->builder.failed = true;
        return;
    }
    decoding->processes = grown;
    struct process *process = &decoding->processes[decoding->process_count];
    process->plane = gt_xla_names_plane(name, &process->device);
    decoding->tpu_count += gt_xla_names_is_tpu(name);
    gt_map_put_if_new(&decoding->process_of, 0, (uint64_t)pid, (uint32_t)decoding->process_count++);
    decoding->builder.failed |= decoding->process_of.failed;
}

static struct gt_str name_in_args(const struct gt_torch_event *event) {
    static const struct gt_torch_args_key keys[] = {{GT_STR("name"), 0}};
    struct gt_torch_args args;
    gt_torch_args_read(&args, event, keys, GT_ARRAY_COUNT(keys));
    return gt_torch_args_has(&args, 0) ? args.values[0].text.raw : (struct gt_str){"", 0};
}

static bool read_ids(const struct gt_torch_event *event, int64_t *pid, int64_t *tid) {
    *tid = 0;
    gt_torch_value_int(event, GT_TORCH_TID, tid);
    return gt_torch_value_int(event, GT_TORCH_PID, pid) == GT_JSON_NUMBER;
}

static void take_name(struct decoding *decoding, const struct gt_torch_subject *at) {
    struct gt_str what =
        gt_torch_event_has(at->event, GT_TORCH_NAME) ? at->event->values[GT_TORCH_NAME].text.raw : GT_STR("");
    bool is_process = gt_str_eq(what, GT_STR("process_name"));
    int64_t pid, tid;
    if ((!is_process && !gt_str_eq(what, GT_STR("thread_name"))) || !read_ids(at->event, &pid, &tid)) {
        gt_builder_skip(&decoding->builder);
        return;
    }
    struct gt_str name = gt_arena_copy(&decoding->arena, name_in_args(at->event));
    decoding->builder.failed |= gt_arena_failed(&decoding->arena);
    struct line *line = is_process ? NULL : line_at(decoding, pid, tid);
    if (is_process)
        name_process(decoding, pid, name);
    else if (line && !line->is_known)
        line->track_line.name = name;
}

/* What a line is: known when the first event of it is met. */
static void learn_line(struct decoding *decoding, struct line *line, int64_t pid) {
    uint32_t index = gt_map_get(&decoding->process_of, 0, (uint64_t)pid);
    struct process other = {GT_XLA_PLANE_OTHER, -1};
    const struct process *process = index == GT_MAP_NONE ? &other : &decoding->processes[index];
    line->track_line = gt_xla_names_line(process->plane, process->device, line->track_line.name, line->tid);
    line->wanted = gt_xla_rows_stats(&decoding->capture, &line->track_line, &line->is_read);
    line->is_known = true;
}

/* ---- events ---- */

static void take_value(struct gt_xla_event *event, enum gt_xla_stat stat, const struct gt_json_value *value) {
    bool is_text = GT_XLA_STAT_TEXTS >> stat & 1;
    int64_t number;
    uint64_t natural;
    double real;
    if (is_text)
        event->texts[stat] = value->text.raw;
    else if (stat == GT_XLA_STAT_OCCUPANCY && gt_json_number_to_real(value, &real) == GT_JSON_NUMBER)
        event->occupancy = real;
    else if (stat == GT_XLA_STAT_STEP && gt_json_number_to_int(value, &number) == GT_JSON_NUMBER)
        event->numbers[stat] = (uint64_t)number;
    else if (gt_json_number_to_uint(value, &natural) == GT_JSON_NUMBER)
        event->numbers[stat] = natural;
    else
        return;
    event->seen |= UINT32_C(1) << stat;
}

static void take_args(struct gt_xla_event *into, const struct gt_torch_event *event, const struct line *line) {
    struct gt_json_member member;
    into->seen = 0;
    into->has_value = false;
    if (event->args.len == 0)
        return;
    const char *p = event->args.ptr + 1, *end = event->args.ptr + event->args.len;
    while (gt_json_member_next(&p, end, event->is_second_try, &member) == GT_JSON_OK) {
        enum gt_xla_stat stat = gt_xla_names_stat(member.key.raw);
        if (line->wanted >> stat & 1)
            take_value(into, stat, &member.value);
        else if (line->track_line.kind == GT_XLA_LINE_COUNTERS &&
                 gt_json_number_to_real(&member.value, &into->value) == GT_JSON_NUMBER)
            into->has_value = true;
    }
}

static void take_complete(struct decoding *decoding, const struct gt_torch_subject *at) {
    struct gt_xla_event *event = &decoding->event;
    int64_t pid, tid;
    struct line *line = read_ids(at->event, &pid, &tid) ? line_at(decoding, pid, tid) : NULL;
    decoding->complete_count++;
    if (line && !line->is_known)
        learn_line(decoding, line, pid);
    if (!line || !line->is_read) {
        gt_builder_skip(&decoding->builder);
        return;
    }
    if (!gt_torch_subject_times(at, &event->start_ns, &event->end_ns)) {
        bool is_op = line->track_line.kind == GT_XLA_LINE_STREAM;
        gt_torch_subject_issue(at, is_op ? GT_ISSUE_OP_WITHOUT_TIME : GT_ISSUE_EVENT_DAMAGED);
        return;
    }
    take_args(event, at->event, line);
    event->name = gt_torch_subject_text(at, GT_TORCH_NAME);
    event->host = gt_xla_names_host(event->name);
    gt_xla_rows_begin(&decoding->rows, &line->track_line, (uint64_t)(line - decoding->lines));
    decoding->rows.track = line->track;
    decoding->rows.is_unscoped = line->is_unscoped;
    gt_xla_rows_add(&decoding->rows, event, at->offset);
    line->track = decoding->rows.track;
    line->is_unscoped = decoding->rows.is_unscoped;
}

static void take(void *context, const struct gt_torch_subject *at, char phase) {
    struct decoding *decoding = context;
    if (phase == 'X')
        take_complete(decoding, at);
    else if (phase == 'M')
        take_name(decoding, at);
    else
        gt_builder_skip(&decoding->builder);
}

/* ---- the input ---- */

static enum gt_status read_all(struct decoding *decoding, struct gt_source *source,
                               const struct gt_decode_options *options, struct gt_error *err) {
    static const struct gt_torch_sizes sizes = {WINDOW_BYTES, WINDOW_BYTES, MAX_EVENT_BYTES, GT_TORCH_PORTABLE, 0};
    decoding->sink.take = take;
    decoding->sink.take_context = decoding;
    if (gt_torch_reader_init(&decoding->reader, source, &decoding->sink, &sizes, options, err) != GT_OK)
        return GT_ERR;
    gt_builder_begin(&decoding->builder, 0);
    return gt_torch_reader_run(&decoding->reader, UINT64_MAX, err);
}

static bool was_capped(uint64_t count) {
    return (count >= OLD_MAX_EVENTS && count < OLD_MAX_EVENTS + EQUAL_STARTS) ||
           (count >= MAX_EVENTS && count < MAX_EVENTS + EQUAL_STARTS);
}

static enum gt_status finish(struct decoding *decoding, const struct gt_source *source, struct gt_store **out,
                             struct gt_error *err) {
    struct gt_builder *builder = &decoding->builder;
    gt_json_window_drain(&decoding->reader.window);
    if (decoding->sink.event_count == 0 && !decoding->reader.document.has_trace_events)
        return gt_fail(err, "'%s': JSON, but not a trace: no \"traceEvents\"; see 'gputime list inputs'",
                       gt_source_path(source));
    gt_torch_reader_finish(&decoding->reader);
    if (was_capped(decoding->complete_count))
        gt_builder_issue(builder, GT_ISSUE_EVENTS_DROPPED, 1, GT_NO_OFFSET);
    if (decoding->tpu_count && decoding->capture.facts & GT_FACT_OPS)
        gt_builder_issue_of(builder, GT_ISSUE_TPU_NOT_READ, GT_FACT_OPS, decoding->tpu_count, GT_NO_OFFSET);
    builder->store.meta.producer = gt_builder_string(builder, GT_STR("XLA profiler"));
    for (size_t i = 0; i < decoding->process_count; i++)
        if (decoding->processes[i].plane == GT_XLA_PLANE_GPU)
            gt_builder_device(builder, decoding->processes[i].device);
    if (!gt_xla_rows_join(&(struct gt_xla_rows *){&decoding->rows}, 1))
        return gt_fail_memory(err);
    return gt_store_seal(builder, 1, out, err);
}

static void release(struct decoding *decoding) {
    gt_xla_rows_release(&decoding->rows);
    gt_torch_reader_release(&decoding->reader);
    gt_torch_sink_release(&decoding->sink);
    gt_builder_release(&decoding->builder);
    gt_mem_free(decoding->processes);
    gt_mem_free(decoding->lines);
    gt_map_release(&decoding->process_of);
    gt_map_release(&decoding->line_of);
    gt_arena_release(&decoding->arena);
}

enum gt_status gt_xla_json_decode(struct gt_source *const *sources, size_t count,
                                  const struct gt_decode_options *options, struct gt_store **out,
                                  struct gt_error *err) {
    *out = NULL;
    if (count != 1)
        return gt_fail(err, "a JSON trace is one file, not %zu", count);
    struct decoding *decoding = gt_mem_array(1, sizeof *decoding);
    if (!decoding)
        return gt_fail_memory(err);
    decoding->capture = (struct gt_xla_capture){.pid = -1, .facts = gt_decoder_facts(options)};
    enum gt_status status = gt_builder_init(&decoding->builder, GT_XLA_JSON_KEY, err);
    if (status == GT_OK) {
        gt_torch_sink_init(&decoding->sink, &decoding->builder, GT_TORCH_PORTABLE, decoding->capture.facts);
        gt_xla_rows_init(&decoding->rows, &decoding->builder, &decoding->capture);
        status = read_all(decoding, sources[0], options, err);
        if (status == GT_OK)
            status = finish(decoding, sources[0], out, err);
        release(decoding);
    }
    gt_mem_free(decoding);
    return status;
}

/* Names of planes where other traces have those of programs, and no event with a category. */
int gt_xla_json_sniff(struct gt_str head, const char *path) {
    int json = gt_torch_json_sniff(head, path);
    bool has_planes = gt_str_contains(head, GT_STR("\"/device:GPU:")) ||
                      gt_str_contains(head, GT_STR("\"/device:TPU:")) || gt_str_contains(head, GT_STR("\"/host:CPU\""));
    return json >= 60 && has_planes && gt_str_contains(head, GT_STR("\"process_name\"")) &&
                   !gt_str_contains(head, GT_STR("\"cat\""))
               ? json + 1
               : 0;
}
