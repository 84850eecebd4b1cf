/* Python stacks: entries of schemas are recognised by their names, stacks are kept by each thread, and when all are
   there they become calls. Whatever schemas and payloads hold, nothing is read outside of the payload. */
#include "decode/nsys/nsys_python.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "events/builder.h"

/* ---- schemas ---- */

void gt_nsys_python_release(struct gt_nsys_python_schemas *schemas) {
    gt_map_release(&schemas->layout_of);
    gt_mem_free(schemas->layouts);
    *schemas = (struct gt_nsys_python_schemas){0};
}

/* Made on first use; NULL: memory is short. */
static struct gt_nsys_python_layout *layout_for(struct gt_nsys_python_schemas *schemas, uint64_t scope,
                                                uint64_t schema) {
    uint32_t index = gt_map_get(&schemas->layout_of, scope, schema);
    if (index != GT_MAP_NONE)
        return &schemas->layouts[index];
    struct gt_nsys_python_layout *grown =
        gt_mem_room(schemas->layouts, schemas->count, &schemas->capacity, sizeof *grown);
    if (!grown || schemas->count >= GT_MAP_NONE - 1) {
        schemas->has_failed = true;
        return NULL;
    }
    schemas->layouts = grown;
    grown[schemas->count] = (struct gt_nsys_python_layout){0};
    gt_map_put(&schemas->layout_of, scope, schema, (uint32_t)schemas->count);
    schemas->has_failed |= schemas->layout_of.failed;
    return &grown[schemas->count++];
}

void gt_nsys_python_add_entry(struct gt_nsys_python_schemas *schemas, uint64_t scope, uint64_t schema,
                              const struct gt_nsys_comm_entry *entry) {
    enum { REGISTERED_STRING = 80, PLACE_MAX = 1 << 20 };
    bool is_count = gt_str_eq(entry->name, GT_STR("Frames count")), is_list = gt_str_eq(entry->name, GT_STR("Frames"));
    bool is_function = gt_str_eq(entry->name, GT_STR("Function")), is_file = gt_str_eq(entry->name, GT_STR("File"));
    bool is_line = gt_str_eq(entry->name, GT_STR("Line"));
    if (!(is_count || is_list || is_function || is_file || is_line) || entry->offset > PLACE_MAX)
        return;
    struct gt_nsys_python_layout *layout = layout_for(schemas, scope, schema);
    if (!layout)
        return;
    if (is_count) {
        layout->count_offset = entry->offset;
        layout->has_count = true;
    } else if (is_list) {
        layout->frames_offset = entry->offset;
        layout->frame_schema = entry->type;
        layout->has_frames = entry->flags != 0;
    } else if (is_function) {
        layout->function_offset = entry->offset;
        layout->has_function = entry->type == REGISTERED_STRING;
    } else if (is_file) {
        layout->file_offset = entry->offset;
        layout->has_file = entry->type == REGISTERED_STRING;
    }
    /* Frames are aligned like their largest part, which has eight bytes. */
    uint64_t end = entry->offset + sizeof(uint64_t);
    if (!is_count && !is_list && end > layout->end)
        layout->end = end;
}

/* ---- samples ---- */

static const struct gt_nsys_python_layout *find_layout(const struct gt_nsys_python_schemas *schemas, uint64_t scope,
                                                       uint64_t schema) {
    uint32_t index = gt_map_get(&schemas->layout_of, scope, schema);
    return index == GT_MAP_NONE ? NULL : &schemas->layouts[index];
}

static void add_frame(struct gt_nsys_python *python, struct gt_nsys_python_frame frame) {
    struct gt_nsys_python_frame *grown =
        gt_mem_room(python->frames, python->frame_count, &python->frame_capacity, sizeof *grown);
    python->has_failed |= !grown;
    if (!grown)
        return;
    python->frames = grown;
    grown[python->frame_count++] = frame;
}

static void add_sample(struct gt_nsys_sink *sink, const struct gt_nsys_nvtx *event, bool has_payload,
                       size_t first_frame) {
    struct gt_nsys_python *python = &sink->python;
    const struct gt_builder *builder = sink->builder;
    struct gt_nsys_python_sample *grown = gt_mem_room(python->samples, python->count, &python->capacity, sizeof *grown);
    python->has_failed |= !grown;
    if (!grown)
        return;
    python->samples = grown;
    grown[python->count++] = (struct gt_nsys_python_sample){
        .time_ns = event->start_ns,
        .global_tid = event->global_tid,
        .domain = event->domain_id == GT_NSYS_NO_ID ? 0 : event->domain_id,
        .order = builder->segment_count ? builder->segments[builder->segment_count - 1].order : 0,
        .first = first_frame,
        .count = python->frame_count - first_frame,
        .has_payload = has_payload,
    };
}

void gt_nsys_add_python_sample(struct gt_nsys_sink *sink, const struct gt_nsys_nvtx *event) {
    add_sample(sink, event, false, sink->python.frame_count);
}

static uint64_t string_at(struct gt_str payload, uint64_t offset) {
    int64_t number;
    return gt_nsys_comm_number(payload, offset, sizeof number, false, &number) ? (uint64_t)number : GT_NSYS_NO_ID;
}

bool gt_nsys_python_take(struct gt_nsys_sink *sink, const struct gt_nsys_python_schemas *schemas, uint64_t scope,
                         uint64_t schema, struct gt_str payload, const struct gt_nsys_nvtx *event) {
    const struct gt_nsys_python_layout *stack = find_layout(schemas, scope, schema);
    if (!stack || !stack->has_count || !stack->has_frames)
        return false;
    const struct gt_nsys_python_layout *frame = find_layout(schemas, scope, stack->frame_schema);
    if (!frame || !frame->has_function || !frame->has_file)
        return false;
    if (!(sink->facts & GT_FACT_STACKS) || event->start_ns == GT_NO_TIME) {
        gt_builder_skip(sink->builder);
        return true;
    }
    int64_t count = 0;
    uint64_t room =
        payload.len > stack->frames_offset ? (payload.len - stack->frames_offset) / frame->end : 0; /* whole ones */
    bool has_count = gt_nsys_comm_number(payload, stack->count_offset, 4, false, &count);
    if (!has_count || (uint64_t)count > room) {
        gt_builder_issue_of(sink->builder, GT_ISSUE_PAYLOAD_UNREADABLE, GT_FACT_STACKS, 1, GT_NO_OFFSET);
        if (!has_count || room == 0)
            return true;
        count = (int64_t)room;
    }
    size_t first = sink->python.frame_count;
    for (uint64_t i = 0; i < (uint64_t)count; i++) {
        uint64_t at = stack->frames_offset + i * frame->end;
        add_frame(&sink->python, (struct gt_nsys_python_frame){string_at(payload, at + frame->function_offset),
                                                               string_at(payload, at + frame->file_offset)});
    }
    add_sample(sink, event, true, first);
    return true;
}

/* ---- calls ---- */

struct sample {
    struct gt_nsys_python_sample of;
    const struct gt_nsys_python_frame *frames; /* the innermost first */
};

/* A frame that is still in the stack. */
struct open {
    struct gt_nsys_python_frame frame;
    int64_t start_ns;
};

struct joining {
    struct gt_nsys_sink *sink; /* that gets the rows */
    struct sample *samples;
    size_t count;
    struct open *open; /* the outermost first */
    size_t open_count, open_capacity;
    struct gt_map names; /* of frames: ids in the builder */
};

static int by_time(const void *a, const void *b) {
    const struct gt_nsys_python_sample *x = &((const struct sample *)a)->of, *y = &((const struct sample *)b)->of;
    if (x->global_tid != y->global_tid)
        return x->global_tid < y->global_tid ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->count > y->count) - (x->count < y->count); /* an empty stack comes before the one that begins there */
}

/* The character that an escape at the beginning of a text stands for, and its length. What is no escape stands for
   itself. */
static char unescape(struct gt_str text, size_t *taken) {
    static const struct {
        struct gt_str written;
        char meant;
    } escapes[] = {{GT_STR("&lt;"), '<'}, {GT_STR("&gt;"), '>'}, {GT_STR("&quot;"), '"'}, {GT_STR("&amp;"), '&'}};
    for (size_t i = 0; i < GT_ARRAY_COUNT(escapes); i++)
        if (gt_str_starts(text, escapes[i].written)) {
            *taken = escapes[i].written.len;
            return escapes[i].meant;
        }
    *taken = 1;
    return text.ptr[0];
}

/* Nsight writes texts as they stand in XML. */
static void append_text(char *out, size_t *length, struct gt_str text) {
    while (text.len) {
        const char *escape = memchr(text.ptr, '&', text.len);
        size_t taken = escape ? (size_t)(escape - text.ptr) : text.len;
        memcpy(out + *length, text.ptr, taken);
        *length += taken;
        text = (struct gt_str){text.ptr + taken, text.len - taken};
        if (escape) {
            out[(*length)++] = unescape(text, &taken);
            text = (struct gt_str){text.ptr + taken, text.len - taken};
        }
    }
}

/* Functions share the text of their file: names must stay in proportion to what refers to them. */
enum { TEXT_MAX = 4096 };

static struct gt_str text_of(const struct gt_nsys_sink *sink, uint64_t number) {
    return gt_nsys_has_string(sink->capture, number) ? gt_str_cut(sink->capture->strings[number], TEXT_MAX)
                                                     : GT_STR("?");
}

/* "train.py: step" */
static gt_strid name_of(struct joining *joining, struct gt_nsys_python_frame frame) {
    uint32_t known = gt_map_get(&joining->names, frame.file, frame.function);
    if (known != GT_MAP_NONE)
        return known;
    char text[2 * TEXT_MAX + 2];
    size_t length = 0;
    append_text(text, &length, text_of(joining->sink, frame.file));
    append_text(text, &length, GT_STR(": "));
    append_text(text, &length, text_of(joining->sink, frame.function));
    gt_strid name = gt_builder_string(joining->sink->builder, (struct gt_str){text, length});
    gt_map_put(&joining->names, frame.file, frame.function, name);
    return name;
}

static void close_down_to(struct joining *joining, size_t depth, int64_t end_ns, uint64_t global_tid) {
    uint32_t thread = joining->open_count > depth ? gt_nsys_thread(joining->sink, global_tid) : GT_NO_TRACK;
    while (joining->open_count > depth) {
        const struct open *open = &joining->open[--joining->open_count];
        gt_builder_python_call(
            joining->sink->builder,
            &(struct gt_python_calls_row){open->start_ns, end_ns, name_of(joining, open->frame), thread});
    }
}

static bool is_same(struct gt_nsys_python_frame a, struct gt_nsys_python_frame b) {
    return a.function == b.function && a.file == b.file;
}

/* false: memory is short. */
static bool open_frame(struct joining *joining, struct gt_nsys_python_frame frame, int64_t start_ns) {
    struct open *open = gt_mem_room(joining->open, joining->open_count, &joining->open_capacity, sizeof *open);
    if (!open)
        return false;
    joining->open = open;
    open[joining->open_count++] = (struct open){frame, start_ns};
    return true;
}

static bool take_stack(struct joining *joining, const struct sample *sample) {
    size_t depth = 0, count = sample->of.count;
    const struct gt_nsys_python_frame *outermost = sample->frames + count;
    while (depth < count && depth < joining->open_count &&
           is_same(joining->open[depth].frame, outermost[-1 - (ptrdiff_t)depth]))
        depth++;
    close_down_to(joining, depth, sample->of.time_ns, sample->of.global_tid);
    for (; depth < count; depth++)
        if (!open_frame(joining, outermost[-1 - (ptrdiff_t)depth], sample->of.time_ns))
            return false;
    return true;
}

static int by_length(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The usual time between two samples of a thread. INT64_MIN: memory is short. */
static int64_t period_of(const struct sample *samples, size_t count) {
    int64_t *lengths = gt_mem_uninitialised(count, sizeof *lengths);
    if (!lengths)
        return INT64_MIN;
    for (size_t i = 0; i + 1 < count; i++)
        lengths[i] = gt_ns_between(samples[i].of.time_ns, samples[i + 1].of.time_ns);
    qsort(lengths, count - 1, sizeof *lengths, by_length);
    int64_t period_ns = count > 1 ? lengths[(count - 1) / 2] : 0;
    gt_mem_free(lengths);
    return period_ns;
}

/* More than ten periods, of which no number of nanoseconds need have room. */
static bool is_pause(int64_t wait_ns, int64_t period_ns) {
    enum { PAUSE_PERIODS = 10 };
    return wait_ns > 0 && (wait_ns - 1) / PAUSE_PERIODS >= period_ns;
}

/* A sample counts until the next one, unless that comes so late that sampling must have stopped. */
static bool join_thread(struct joining *joining, const struct sample *samples, size_t count) {
    int64_t period_ns = period_of(samples, count);
    bool is_done = period_ns != INT64_MIN;
    for (size_t i = 0; i < count && is_done; i++) {
        is_done = take_stack(joining, &samples[i]);
        bool is_last = i + 1 == count;
        int64_t wait_ns = is_last ? 0 : gt_ns_between(samples[i].of.time_ns, samples[i + 1].of.time_ns);
        if (is_last || is_pause(wait_ns, period_ns))
            close_down_to(joining, 0, gt_ns_add(samples[i].of.time_ns, period_ns), samples[i].of.global_tid);
    }
    return is_done;
}

/* Only samples that were taken at intervals say how long something took. */
static bool is_periodic(const struct gt_nsys_label_set *domains, const struct gt_nsys_python_sample *sample) {
    const struct gt_nsys_label *domain =
        gt_nsys_label_find(domains, gt_nsys_global_pid(sample->global_tid), sample->domain);
    return domain && gt_str_eq(domain->name, GT_STR("Python Periodic Sampling"));
}

/* Those without a payload are of exports that leave payloads out. */
static void gather_sample(struct joining *joining, const struct gt_nsys_label_set *domains,
                          const struct gt_nsys_python *python, const struct gt_nsys_python_sample *sample) {
    struct gt_builder *builder = joining->sink->builder;
    if (!is_periodic(domains, sample))
        gt_builder_skip(builder);
    else if (sample->has_payload)
        joining->samples[joining->count++] = (struct sample){*sample, python->frames + sample->first};
    else
        gt_builder_issue_of(builder, GT_ISSUE_SAMPLES_NOT_READ, GT_FACT_STACKS, 1, GT_NO_OFFSET);
}

static bool gather(struct joining *joining, const struct gt_nsys_sink *sinks, size_t count, size_t total) {
    struct gt_nsys_label_set domains = {0};
    joining->samples = gt_mem_uninitialised(total, sizeof *joining->samples);
    bool is_done = joining->samples && gt_nsys_label_set_init(&domains, sinks, count, GT_NSYS_DOMAINS);
    for (size_t s = 0; s < count && is_done; s++)
        for (size_t i = 0; i < sinks[s].python.count; i++)
            gather_sample(joining, &domains, &sinks[s].python, &sinks[s].python.samples[i]);
    gt_nsys_label_set_release(&domains);
    return is_done;
}

bool gt_nsys_finish_python(struct gt_nsys_sink *sinks, size_t count) {
    struct joining joining = {.sink = &sinks[0]};
    size_t total = 0;
    bool has_failed = false;
    for (size_t s = 0; s < count; s++) {
        total += sinks[s].python.count;
        has_failed |= sinks[s].python.has_failed;
    }
    if (total == 0 || has_failed)
        return !has_failed;
    bool is_done = gather(&joining, sinks, count, total);
    if (is_done && joining.count)
        qsort(joining.samples, joining.count, sizeof *joining.samples, by_time);
    for (size_t first = 0, end; is_done && first < joining.count; first = end) {
        for (end = first + 1;
             end < joining.count && joining.samples[end].of.global_tid == joining.samples[first].of.global_tid;)
            end++;
        is_done = join_thread(&joining, joining.samples + first, end - first);
    }
    is_done = is_done && !joining.names.failed;
    gt_mem_free(joining.samples);
    gt_mem_free(joining.open);
    gt_map_release(&joining.names);
    return is_done;
}
