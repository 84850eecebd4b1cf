/* Facts of a capture: the messages around the events come in, strings, names of threads, GPUs, metrics and clocks go
   out. The head message also holds the environment of the profiled program: only clocks, the name of the machine and
   the rate of samples are ever looked at. */
#include "decode/nsys/nsys_rep_facts.h"

#include "base/mem.h"
#include "base/num.h"
#include "decode/proto/proto.h"

/* More is no report any more but an attack on memory; the largest report seen has 12957 strings. */
#define STRINGS_MAX      ((size_t)4 << 20)
#define STRING_BYTES_MAX ((size_t)64 << 20)
#define CLOCKS_BYTES_MAX ((size_t)1 << 20) /* of the section; those seen have a few hundred */

/* Clocks of the head message's table of offsets, and of the section that came in 2026. */
/* Of the description of a machine, and the longest name that is taken. */
enum { KEY_HOST = 619, HOST_MAX = 256 };

enum { CLOCK_TARGET = 1, CLOCK_MIDDLE = 3, CLOCK_UTC = 9, KIND_SYSTEM = 7, KIND_UTC = 11 };

struct reading {
    struct gt_nsys_rep_facts *facts;
    const struct gt_nsys_rep_file *file;
    struct gt_error *err;
};

static void count_damaged(struct gt_nsys_rep_facts *facts, uint64_t offset) {
    if (facts->damaged_count++ == 0)
        facts->first_damaged = offset;
}

static void free_bytes(struct gt_str bytes) {
    gt_mem_free((void *)(uintptr_t)bytes.ptr);
}

/* ---- strings ---- */

static bool add_strings(struct gt_nsys_rep_facts *facts, struct gt_str message) {
    struct gt_nsys_capture *capture = &facts->capture;
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    while (gt_proto_next(&fields, &field) && capture->string_count < STRINGS_MAX) {
        if (field.tag != GT_PROTO_BYTES(1))
            continue;
        if (capture->string_count == facts->string_capacity) {
            size_t capacity = facts->string_capacity ? facts->string_capacity * 2 : 1024;
            struct gt_str *grown = gt_mem_realloc(facts->strings, capacity * sizeof *grown);
            if (!grown)
                return false;
            facts->strings = grown;
            facts->string_capacity = capacity;
        }
        facts->strings[capture->string_count++] = field.bytes;
    }
    return true;
}

/* The strings of one chunk, whose bytes stay in the capture's arena. */
static enum gt_status read_string_chunk(const struct reading *at, struct gt_nsys_rep_inflater *inflater,
                                        const struct gt_nsys_rep_batch *batch) {
    struct gt_str message;
    bool is_whole;
    enum gt_status status = gt_nsys_rep_chunk_inflater_load(inflater, at->file, batch, &is_whole, at->err);
    if (status != GT_OK)
        return status;
    switch (gt_nsys_rep_chunk_inflater_next(inflater, &message)) {
    case GT_NSYS_REP_CHUNK_NO_MEMORY:
        return gt_fail_memory(at->err);
    case GT_NSYS_REP_CHUNK_DAMAGED:
        count_damaged(at->facts, batch->offset);
        return GT_OK;
    default:
        break;
    }
    char *kept = gt_arena_alloc(&at->facts->capture.arena, message.len + GT_PROTO_PADDING);
    if (!kept)
        return gt_fail_memory(at->err);
    memcpy(kept, message.ptr, message.len);
    return add_strings(at->facts, (struct gt_str){kept, message.len}) ? GT_OK : gt_fail_memory(at->err);
}

/* Chunks until there are as many strings as the index says. *offset: the first; then after the last. */
static enum gt_status read_strings(const struct reading *at, uint64_t *offset) {
    struct gt_nsys_rep_inflater inflater = {0};
    struct gt_nsys_capture *capture = &at->facts->capture;
    uint64_t wanted = at->file->string_count;
    bool goes_on = true;
    enum gt_status status = GT_OK;
    while (status == GT_OK && goes_on && (wanted == GT_NSYS_REP_UNKNOWN || capture->string_count < wanted)) {
        struct gt_nsys_rep_batch batch;
        size_t before = capture->string_count;
        uint64_t next;
        bool is_there;
        status = gt_nsys_rep_chunk_at(at->file, *offset, &batch, &next, &is_there, at->err);
        if (status == GT_OK && is_there)
            status = read_string_chunk(at, &inflater, &batch);
        *offset = next;
        /* A chunk without a string ends them: it could be repeated for ever. */
        goes_on = is_there && capture->string_count > before && wanted != GT_NSYS_REP_UNKNOWN &&
                  capture->arena.total_bytes < STRING_BYTES_MAX && capture->string_count < STRINGS_MAX;
    }
    capture->strings = at->facts->strings;
    if (wanted != GT_NSYS_REP_UNKNOWN && capture->string_count < wanted)
        at->facts->missing_count += wanted - capture->string_count;
    gt_nsys_rep_chunk_inflater_release(&inflater);
    return status;
}

/* ---- threads ---- */

static enum gt_status take_threads(const struct reading *at, struct gt_str message) {
    struct gt_nsys_capture *capture = &at->facts->capture;
    size_t count = gt_proto_count(message, GT_PROTO_BYTES(1));
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    capture->threads = gt_arena_array(&capture->arena, count, sizeof *capture->threads);
    if (count && !capture->threads)
        return gt_fail_memory(at->err);
    while (gt_proto_next(&fields, &field)) {
        if (field.tag != GT_PROTO_BYTES(1))
            continue;
        uint64_t name = gt_proto_find_value(field.bytes, GT_PROTO_VARINT(2), GT_NSYS_NO_ID);
        uint64_t thread = gt_proto_find_value(field.bytes, GT_PROTO_VARINT(4), GT_NSYS_NO_ID);
        if (thread != GT_NSYS_NO_ID && name < capture->string_count)
            capture->threads[capture->thread_count++] = (struct gt_nsys_name){thread, capture->strings[name]};
    }
    uint64_t wanted = at->file->thread_count;
    if (wanted != GT_NSYS_REP_UNKNOWN && count < wanted)
        at->facts->missing_count += wanted - count;
    return GT_OK;
}

/* ---- GPUs ---- */

static struct gt_str copy_text(struct gt_nsys_capture *capture, struct gt_str message, uint32_t tag) {
    struct gt_str text = gt_proto_find_bytes(message, tag);
    return gt_arena_copy(&capture->arena, text.ptr ? text : GT_STR(""));
}

/* 0 where it is absent, or absurd. */
static uint32_t small_number(struct gt_str message, unsigned field) {
    uint64_t value = gt_proto_find_value(message, GT_PROTO_VARINT(field), 0);
    return value > UINT32_MAX ? 0 : (uint32_t)value;
}

static void take_gpu(struct gt_nsys_capture *capture, struct gt_str gpu) {
    capture->gpus[capture->gpu_count++] = (struct gt_nsys_gpu){
        .id = (int64_t)gt_proto_find_value(gpu, GT_PROTO_VARINT(1), 0),
        .name = copy_text(capture, gpu, GT_PROTO_BYTES(2)),
        .uuid = copy_text(capture, gpu, GT_PROTO_BYTES(5)),
        .memory_bytes = gt_proto_find_value(gpu, GT_PROTO_VARINT(11), 0),
        .bandwidth = gt_proto_find_value(gpu, GT_PROTO_VARINT(12), 0),
        .clock_hz = gt_proto_find_value(gpu, GT_PROTO_VARINT(13), 0),
        .l2_bytes = gt_proto_find_value(gpu, GT_PROTO_VARINT(10), 0),
        .multiprocessors = small_number(gpu, 14),
        .compute_major = small_number(gpu, 41),
        .compute_minor = small_number(gpu, 42),
        .max_warps = small_number(gpu, 32),
        .max_blocks = small_number(gpu, 33),
        .max_registers = small_number(gpu, 29),
        .max_shared_bytes = small_number(gpu, 28),
    };
}

/* Which GPU a process means by a number. */
static void take_device(struct gt_nsys_capture *capture, struct gt_str device) {
    uint64_t gpu = gt_proto_find_value(device, GT_PROTO_VARINT(1), GT_NSYS_NO_ID);
    uint64_t ordinal = gt_proto_find_value(device, GT_PROTO_VARINT(2), GT_NSYS_NO_ID);
    uint64_t pid = gt_proto_find_value(device, GT_PROTO_VARINT(3), GT_NSYS_NO_ID);
    if (gpu < GT_MAP_NONE && ordinal != GT_NSYS_NO_ID && pid != GT_NSYS_NO_ID)
        gt_map_put_if_new(&capture->gpu_of, pid, ordinal, (uint32_t)gpu);
}

static void take_machine(struct gt_nsys_capture *capture, struct gt_str machine) {
    struct gt_proto fields = gt_proto_of(machine);
    struct gt_proto_field field;
    while (gt_proto_next(&fields, &field)) {
        if (field.tag == GT_PROTO_BYTES(7))
            take_gpu(capture, field.bytes);
        else if (field.tag == GT_PROTO_BYTES(9))
            take_device(capture, field.bytes);
    }
}

/* Two passes over the machines: GPUs are counted before there is room for them. */
static enum gt_status take_target(const struct reading *at, struct gt_str message) {
    struct gt_nsys_capture *capture = &at->facts->capture;
    struct gt_proto_field field;
    size_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        struct gt_proto fields = gt_proto_of(message);
        if (pass == 1)
            capture->gpus = gt_arena_array(&capture->arena, count, sizeof *capture->gpus);
        while (!gt_arena_failed(&capture->arena) && gt_proto_next(&fields, &field)) {
            if (field.tag != GT_PROTO_BYTES(1))
                continue;
            struct gt_str machine = gt_proto_find_bytes(field.bytes, GT_PROTO_BYTES(2));
            if (pass == 0)
                count += gt_proto_count(machine, GT_PROTO_BYTES(7));
            else
                take_machine(capture, machine);
        }
    }
    return gt_arena_failed(&capture->arena) || capture->gpu_of.failed ? gt_fail_memory(at->err) : GT_OK;
}

/* A message that is not packed. *offset: where it is; then after it. */
static enum gt_status read_message(const struct reading *at, uint64_t *offset,
                                   enum gt_status (*take)(const struct reading *at, struct gt_str message)) {
    struct gt_nsys_rep_span span;
    struct gt_str bytes;
    enum gt_status status = gt_nsys_rep_file_message(at->file, *offset, &span, at->err);
    if (status == GT_OK)
        status = gt_nsys_rep_file_read(at->file, span, &bytes, at->err);
    if (status != GT_OK)
        return status;
    status = take(at, bytes);
    free_bytes(bytes);
    *offset = span.offset == GT_NSYS_REP_NOWHERE ? GT_NSYS_REP_NOWHERE : span.offset + span.size;
    return status;
}

/* ---- payload schemas ---- */

static enum gt_status read_schemas(const struct reading *at, uint64_t offset) {
    struct gt_nsys_rep_inflater inflater = {0};
    struct gt_nsys_rep_batch batch;
    uint64_t next;
    bool is_there, is_whole;
    struct gt_str message;
    enum gt_status status = gt_nsys_rep_chunk_at(at->file, offset, &batch, &next, &is_there, at->err);
    if (status != GT_OK || !is_there)
        return status;
    status = gt_nsys_rep_chunk_inflater_load(&inflater, at->file, &batch, &is_whole, at->err);
    if (status == GT_OK) {
        enum gt_nsys_rep_chunk_status chunk = gt_nsys_rep_chunk_inflater_next(&inflater, &message);
        if (chunk == GT_NSYS_REP_CHUNK_DAMAGED)
            count_damaged(at->facts, offset);
        if (chunk == GT_NSYS_REP_CHUNK_NO_MEMORY || !gt_nsys_rep_payload_schemas_take(&at->facts->schemas, message))
            status = gt_fail_memory(at->err);
    }
    gt_nsys_rep_chunk_inflater_release(&inflater);
    return status;
}

/* ---- clocks ---- */

/* Written as the unsigned form of a negative number, or as a negative one. */
static bool parse_offset(struct gt_str text, uint64_t *value) {
    int64_t number;
    if (gt_num_parse_uint(text, value))
        return true;
    if (!gt_num_parse_int(text, &number))
        return false;
    *value = (uint64_t)number;
    return true;
}

/* Up to 2025.6: from the target's clock over another one to UTC. Sums wrap, as they do for their writer. */
static void take_offsets(struct gt_nsys_capture *capture, struct gt_str table, uint64_t start) {
    struct gt_proto fields = gt_proto_of(table);
    struct gt_proto_field field;
    uint64_t to_middle = 0, to_utc = 0, value;
    bool has_middle = false, has_utc = false;
    while (gt_proto_next(&fields, &field)) {
        if (field.tag != GT_PROTO_BYTES(1))
            continue;
        uint64_t from = gt_proto_find_value(field.bytes, GT_PROTO_VARINT(1), 0);
        uint64_t to = gt_proto_find_value(field.bytes, GT_PROTO_VARINT(2), 0);
        if (!parse_offset(gt_proto_find_bytes(field.bytes, GT_PROTO_BYTES(5)), &value))
            continue;
        if (from == CLOCK_TARGET && to == CLOCK_MIDDLE && !has_middle) {
            to_middle = value;
            has_middle = true;
        } else if (from == CLOCK_MIDDLE && to == CLOCK_UTC && !has_utc) {
            to_utc = value;
            has_utc = true;
        }
    }
    if (has_middle && has_utc)
        capture->utc_ns = (int64_t)(start - to_middle - to_utc);
}

/* The id of the first clock of a kind; ptr NULL: there is none. */
static struct gt_str find_clock(struct gt_str clocks, uint64_t kind) {
    struct gt_proto fields = gt_proto_of(clocks);
    struct gt_proto_field field;
    while (gt_proto_next(&fields, &field))
        if (field.tag == GT_PROTO_BYTES(1) && gt_proto_find_value(field.bytes, GT_PROTO_VARINT(2), 0) == kind)
            return gt_proto_find_bytes(field.bytes, GT_PROTO_BYTES(1));
    return (struct gt_str){NULL, 0};
}

/* Whether the field of a conversion names that clock. */
static bool names_clock(struct gt_str conversion, uint32_t tag, struct gt_str clock) {
    struct gt_str id = gt_proto_find_bytes(conversion, tag);
    return id.ptr && clock.ptr && gt_str_eq(id, clock);
}

/* From 2026 on: a section of points that two clocks share. */
static void take_conversions(struct gt_nsys_capture *capture, struct gt_str section, uint64_t start) {
    struct gt_str clocks = gt_proto_find_bytes(section, GT_PROTO_BYTES(1));
    struct gt_str utc = find_clock(clocks, KIND_UTC), system = find_clock(clocks, KIND_SYSTEM);
    struct gt_proto fields = gt_proto_of(gt_proto_find_bytes(section, GT_PROTO_BYTES(2)));
    struct gt_proto_field field;
    while (gt_proto_next(&fields, &field)) {
        if (field.tag != GT_PROTO_BYTES(1) || !names_clock(field.bytes, GT_PROTO_BYTES(1), utc) ||
            !names_clock(field.bytes, GT_PROTO_BYTES(2), system))
            continue;
        struct gt_str line = gt_proto_find_bytes(field.bytes, GT_PROTO_BYTES(3));
        struct gt_str point = gt_proto_find_bytes(line, GT_PROTO_BYTES(1));
        capture->utc_ns = (int64_t)(gt_proto_find_value(point, GT_PROTO_VARINT(1), 0) + start -
                                    gt_proto_find_value(point, GT_PROTO_VARINT(2), 0));
    }
}

/* The name of the machine that was profiled, under its key in the description of the machine. */
static struct gt_str find_host(struct gt_str head) {
    struct gt_proto fields =
        gt_proto_of(gt_proto_find_bytes(gt_proto_find_bytes(head, GT_PROTO_BYTES(1)), GT_PROTO_BYTES(2)));
    struct gt_proto_field field;
    while (gt_proto_next(&fields, &field))
        if (field.tag == GT_PROTO_BYTES(1) && gt_proto_find_value(field.bytes, GT_PROTO_VARINT(1), 0) == KEY_HOST)
            return gt_proto_find_bytes(field.bytes, GT_PROTO_BYTES(2));
    return (struct gt_str){NULL, 0};
}

static void take_host(struct gt_nsys_capture *capture, struct gt_str name) {
    if (capture->host.len == 0 && name.len && name.len <= HOST_MAX)
        capture->host = gt_arena_copy(&capture->arena, name);
}

/* Samples of GPU metrics a second, from the options of the profiler. */
static uint64_t find_rate(struct gt_str head) {
    struct gt_str options = gt_proto_find_bytes(head, GT_PROTO_BYTES(2));
    return gt_proto_find_value(gt_proto_find_bytes(options, GT_PROTO_BYTES(70)), GT_PROTO_VARINT(1), 0);
}

static enum gt_status read_head(const struct reading *at) {
    struct gt_nsys_capture *capture = &at->facts->capture;
    struct gt_str head, section;
    struct gt_proto_field start, stop, offsets;
    if (gt_nsys_rep_file_read(at->file, at->file->head, &head, at->err) != GT_OK)
        return GT_ERR;
    bool has_start = gt_proto_find(head, GT_PROTO_VARINT(17), &start);
    if (has_start && gt_proto_find(head, GT_PROTO_VARINT(18), &stop))
        capture->duration_ns = (int64_t)(stop.value - start.value);
    if (has_start && gt_proto_find(head, GT_PROTO_BYTES(16), &offsets))
        take_offsets(capture, offsets.bytes, start.value);
    take_host(capture, find_host(head));
    at->facts->metrics.hz = find_rate(head);
    free_bytes(head);
    if (!has_start || capture->utc_ns || at->file->clocks.size > CLOCKS_BYTES_MAX)
        return GT_OK;
    if (gt_nsys_rep_file_read(at->file, at->file->clocks, &section, at->err) != GT_OK)
        return GT_ERR;
    take_conversions(capture, section, start.value);
    free_bytes(section);
    return GT_OK;
}

static enum gt_status read_producer(const struct reading *at) {
    struct gt_nsys_capture *capture = &at->facts->capture;
    struct gt_str section;
    if (gt_nsys_rep_file_read(at->file, at->file->ui, &section, at->err) != GT_OK)
        return GT_ERR;
    struct gt_str version = gt_proto_find_bytes(section, GT_PROTO_BYTES(6));
    capture->producer = gt_arena_printf(&capture->arena, "Nsight Systems%s%.*s", version.len ? " " : "",
                                        version.len > 64 ? 64 : (int)version.len, version.ptr ? version.ptr : "");
    take_host(capture, gt_proto_find_bytes(section, GT_PROTO_BYTES(40)));
    take_host(capture, gt_proto_find_bytes(section, GT_PROTO_BYTES(5)));
    free_bytes(section);
    return gt_arena_failed(&capture->arena) ? gt_fail_memory(at->err) : GT_OK;
}

/* ---- types of metrics ---- */

static enum gt_status read_metrics(const struct reading *at) {
    struct gt_nsys_rep_facts *facts = at->facts;
    struct gt_str index;
    if (gt_nsys_rep_file_read(at->file, at->file->index, &index, at->err) != GT_OK)
        return GT_ERR;
    bool is_done = gt_nsys_rep_metrics_types_take(&facts->metrics, &facts->capture, index);
    free_bytes(index);
    return is_done ? GT_OK : gt_fail_memory(at->err);
}

enum gt_status gt_nsys_rep_facts_init(struct gt_nsys_rep_facts *facts, const struct gt_nsys_rep_file *file,
                                      uint64_t strings_at, uint32_t asked, struct gt_error *err) {
    const struct reading at = {facts, file, err};
    uint64_t offset = strings_at;
    *facts = (struct gt_nsys_rep_facts){.capture.duration_ns = -1, .first_damaged = GT_NSYS_REP_NOWHERE};
    if (read_head(&at) != GT_OK || read_producer(&at) != GT_OK || read_strings(&at, &offset) != GT_OK ||
        read_message(&at, &offset, take_threads) != GT_OK || read_message(&at, &offset, take_target) != GT_OK)
        return GT_ERR;
    if (asked & GT_FACT_METRICS && read_metrics(&at) != GT_OK)
        return GT_ERR;
    if (!file->has_schemas)
        return GT_OK;
    return read_schemas(&at, file->schemas == GT_NSYS_REP_NOWHERE ? offset : file->schemas);
}

void gt_nsys_rep_facts_release(struct gt_nsys_rep_facts *facts) {
    gt_nsys_capture_release(&facts->capture);
    gt_nsys_rep_payload_schemas_release(&facts->schemas);
    gt_nsys_rep_metrics_types_release(&facts->metrics);
    gt_mem_free(facts->strings);
    *facts = (struct gt_nsys_rep_facts){0};
}
