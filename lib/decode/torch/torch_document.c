/* Walks through the documents of an input outside their events: tokens come in, facts about the capture go into the
   builder's meta data and devices. */
#include "decode/torch/torch_document.h"

#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "decode/json/json_member.h"
#include "decode/torch/torch_args.h"
#include "decode/torch/torch_facts.h"
#include "events/builder.h"

void gt_torch_document_init(struct gt_torch_document *document, struct gt_builder *builder, uint32_t facts) {
    memset(document, 0, sizeof *document);
    document->builder = builder;
    document->facts = facts;
}

void gt_torch_document_open(struct gt_torch_document *document) {
    document->has_trace_events = true;
    document->array_count++;
    document->depth = 1;
}

/* The first value that a document of the input gives stays. */
static void keep_int(int64_t *into, int64_t unknown, struct gt_str text) {
    int64_t value;
    if (*into == unknown && gt_num_parse_int(text, &value))
        *into = value;
}

static void name_device(struct gt_builder *builder, uint32_t device, struct gt_json_value_text name) {
    char decoded[256];
    bool repaired = false;
    if (name.marks && name.raw.len <= sizeof decoded)
        name.raw = (struct gt_str){decoded, gt_json_scan_decode(name, decoded, &repaired)};
    gt_builder_name_device(builder, device, name.raw);
}

/* Numbers about a device, 0 where they are missing. */
enum {
    MEMORY_BYTES,
    MULTIPROCESSORS,
    COMPUTE_MAJOR,
    COMPUTE_MINOR,
    WARP_THREADS,
    MAX_THREADS,
    MAX_REGISTERS,
    MAX_SHARED_BYTES,
    DEVICE_NUMBERS,
};

static void take_device_number(uint64_t numbers[DEVICE_NUMBERS], const struct gt_json_member *member) {
    static const struct {
        struct gt_str key;
        unsigned number;
    } keys[] = {
        {GT_STR("totalGlobalMem"), MEMORY_BYTES},
        {GT_STR("numSms"), MULTIPROCESSORS},
        {GT_STR("computeMajor"), COMPUTE_MAJOR},
        {GT_STR("computeMinor"), COMPUTE_MINOR},
        {GT_STR("warpSize"), WARP_THREADS},
        {GT_STR("maxThreadsPerMultiprocessor"), MAX_THREADS},
        {GT_STR("regsPerMultiprocessor"), MAX_REGISTERS},
        {GT_STR("sharedMemPerMultiprocessor"), MAX_SHARED_BYTES},
        {GT_STR("maxSharedMemoryPerMultiProcessor"), MAX_SHARED_BYTES}, /* ROCm */
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (gt_str_eq(member->key.raw, keys[i].key))
            gt_num_parse_uint(member->value.text.raw, &numbers[keys[i].number]);
}

static void keep_limit(uint32_t *into, uint64_t number) {
    if (*into == 0 && number <= UINT32_MAX)
        *into = (uint32_t)number;
}

static void take_device(struct gt_builder *builder, const char *p, const char *end) {
    struct gt_json_value_text name = {{"", 0}, 0};
    struct gt_json_member member;
    int64_t id = -1;
    uint64_t numbers[DEVICE_NUMBERS] = {0};
    while (gt_json_member_next(&p, end, false, &member) == GT_JSON_OK) {
        if (gt_str_eq(member.key.raw, GT_STR("id")))
            keep_int(&id, -1, member.value.text.raw);
        else if (gt_str_eq(member.key.raw, GT_STR("name")))
            name = member.value.text;
        else
            take_device_number(numbers, &member);
    }
    if (id < 0)
        return;
    uint32_t device = gt_builder_device(builder, id);
    struct gt_devices *devices = &builder->store.devices;
    if (device >= devices->count)
        return; /* memory ran out */
    name_device(builder, device, name);
    if (devices->memory_bytes[device] == 0)
        devices->memory_bytes[device] = numbers[MEMORY_BYTES];
    keep_limit(&devices->multiprocessors[device], numbers[MULTIPROCESSORS]);
    keep_limit(&devices->compute_major[device], numbers[COMPUTE_MAJOR]);
    keep_limit(&devices->compute_minor[device], numbers[COMPUTE_MINOR]);
    keep_limit(&devices->max_warps[device], numbers[WARP_THREADS] ? numbers[MAX_THREADS] / numbers[WARP_THREADS] : 0);
    keep_limit(&devices->max_registers[device], numbers[MAX_REGISTERS]);
    keep_limit(&devices->max_shared_bytes[device], numbers[MAX_SHARED_BYTES]);
}

static void take_devices(struct gt_builder *builder, struct gt_str value) {
    const char *p = value.ptr + 1, *end = value.ptr + value.len;
    struct gt_json_value item;
    while (value.len && gt_json_member_next_item(&p, end, &item) == GT_JSON_OK) {
        struct gt_str device = item.text.raw;
        if (!item.is_string && device.len && device.ptr[0] == '{')
            take_device(builder, device.ptr + 1, device.ptr + device.len);
    }
}

/* A list, or the text of one in quotes. */
static void take_groups(struct gt_builder *builder, const struct gt_json_value *value) {
    struct gt_json_value_text text = value->text;
    char *decoded = text.marks ? gt_mem_alloc(text.raw.len) : NULL;
    bool repaired = false;
    if (decoded)
        text.raw = (struct gt_str){decoded, gt_json_scan_decode(text, decoded, &repaired)};
    else if (text.marks)
        builder->failed = true;
    if (text.raw.len && text.raw.ptr[0] == '[')
        gt_torch_facts_take_groups(builder, text.raw);
    gt_mem_free(decoded);
}

static void take_distributed(struct gt_torch_document *document, struct gt_str value) {
    struct gt_builder *builder = document->builder;
    const char *p = value.ptr + 1, *end = value.ptr + value.len;
    struct gt_json_member member;
    while (gt_json_member_next(&p, end, false, &member) == GT_JSON_OK) {
        if (gt_str_eq(member.key.raw, GT_STR("rank")))
            keep_int(&builder->store.meta.rank, -1, member.value.text.raw);
        else if (gt_str_eq(member.key.raw, GT_STR("world_size")))
            keep_int(&builder->store.meta.world_size, -1, member.value.text.raw);
        else if (gt_str_eq(member.key.raw, GT_STR("pg_config")) && document->facts & GT_FACT_COMMS)
            take_groups(builder, &member.value);
    }
}

static bool is_header_key(struct gt_str key) {
    return gt_str_eq(key, GT_STR("schemaVersion")) || gt_str_eq(key, GT_STR("deviceProperties")) ||
           gt_str_eq(key, GT_STR("distributedInfo")) || gt_str_eq(key, GT_STR("baseTimeNanoseconds")) ||
           gt_str_eq(key, GT_STR("host_name")) || gt_str_eq(key, GT_STR("record_shapes"));
}

static void take_header(struct gt_torch_document *document, const struct gt_json_member *member) {
    struct gt_builder *builder = document->builder;
    struct gt_str value = member->value.text.raw;
    if (gt_str_eq(member->key.raw, GT_STR("host_name"))) {
        if (builder->store.meta.host == GT_STRID_EMPTY)
            builder->store.meta.host = gt_json_member_intern(builder, &member->value);
        return;
    }
    if (gt_str_eq(member->key.raw, GT_STR("baseTimeNanoseconds")))
        keep_int(&builder->store.meta.base_ns, 0, value);
    else if (gt_str_eq(member->key.raw, GT_STR("deviceProperties")))
        take_devices(builder, value);
    else if (gt_str_eq(member->key.raw, GT_STR("record_shapes")))
        builder->store.meta.announced |= value.len && value.ptr[0] == '1' ? GT_FACT_ARGUMENTS : 0;
    else if (gt_str_eq(member->key.raw, GT_STR("distributedInfo")) && value.len && value.ptr[0] == '{')
        take_distributed(document, value);
    /* Only PyTorch's profiler writes these. */
    if (builder->store.meta.producer == GT_STRID_EMPTY)
        builder->store.meta.producer = gt_builder_string(builder, GT_STR("PyTorch profiler"));
}

static enum gt_torch_stop enter_array(struct gt_torch_document *document, struct gt_json_bytes *bytes,
                                      const char *bracket) {
    if (document->array_count++ > 0)
        gt_builder_issue(document->builder, GT_ISSUE_DOCUMENTS_JOINED, 1, bytes->offset);
    gt_json_window_move(bytes, bracket + 1);
    return GT_TORCH_STOP_END;
}

/* The value of a key, at `value`: *bytes still is at the key. */
static enum gt_torch_stop read_value(struct gt_torch_document *document, struct gt_json_bytes *bytes, struct gt_str key,
                                     const char *value) {
    if (gt_str_eq(key, GT_STR("traceEvents"))) {
        document->has_trace_events = true;
        if (*value == '[')
            return enter_array(document, bytes, value);
    } else if (document->depth == 1 && is_header_key(key)) {
        const char *p = bytes->p;
        struct gt_json_member member;
        enum gt_json_status status = gt_json_member_next(&p, bytes->end, false, &member);
        if (status == GT_JSON_MORE && !gt_json_window_is_final(bytes, bytes->p))
            return GT_TORCH_STOP_MORE;
        if (status == GT_JSON_OK) {
            take_header(document, &member);
            gt_json_window_move(bytes, p);
            return GT_TORCH_STOP_NOT;
        }
    }
    gt_json_window_move(bytes, value);
    document->is_after_colon = true;
    return GT_TORCH_STOP_NOT;
}

/* A string: a key if a colon follows. */
static enum gt_torch_stop read_string(struct gt_torch_document *document, struct gt_json_bytes *bytes) {
    const char *p = bytes->p;
    struct gt_json_value_text text;
    if (gt_json_scan_string(&p, bytes->end, &text) == GT_JSON_OK) {
        const char *colon = gt_json_scan_skip_space(p, bytes->end);
        const char *value = *colon == ':' ? gt_json_scan_skip_space(colon + 1, bytes->end) : NULL;
        if (!value) {
            gt_json_window_move(bytes, p);
            return GT_TORCH_STOP_NOT;
        }
        if (value < bytes->end)
            return read_value(document, bytes, text.raw, value);
    }
    if (!gt_json_window_is_final(bytes, bytes->p))
        return GT_TORCH_STOP_MORE;
    gt_json_window_move(bytes, bytes->p + 1);
    return GT_TORCH_STOP_NOT;
}

/* A brace: a document, some value in it, or an event that lost its array. */
static enum gt_torch_stop open_object(struct gt_torch_document *document, struct gt_json_bytes *bytes,
                                      bool is_after_colon) {
    if (!is_after_colon && (document->depth == 0 || document->looks_for_events)) {
        enum gt_json_status starts = gt_torch_event_starts(bytes->p, bytes->end);
        if (starts == GT_JSON_OK)
            return GT_TORCH_STOP_END;
        if (starts == GT_JSON_MORE && !gt_json_window_is_final(bytes, bytes->p))
            return GT_TORCH_STOP_MORE;
    }
    document->depth++;
    gt_json_window_move(bytes, bytes->p + 1);
    return GT_TORCH_STOP_NOT;
}

static enum gt_torch_stop read_token(struct gt_torch_document *document, struct gt_json_bytes *bytes) {
    bool is_after_colon = document->is_after_colon;
    const char *p = bytes->p;
    document->is_after_colon = false;
    switch (*p) {
    case '"':
        return read_string(document, bytes);
    case '{': {
        enum gt_torch_stop stop = open_object(document, bytes, is_after_colon);
        document->is_after_colon = is_after_colon && stop == GT_TORCH_STOP_MORE;
        return stop;
    }
    case '[':
        if (document->depth == 0) {
            document->has_bare_array = true;
            return enter_array(document, bytes, p);
        }
        document->depth++;
        break;
    case '}':
    case ']':
        document->depth -= document->depth > 0;
        break;
    default:
        break; /* numbers and words mean nothing here, one byte of them is as good as all */
    }
    gt_json_window_move(bytes, p + 1);
    return GT_TORCH_STOP_NOT;
}

enum gt_torch_stop gt_torch_document_run(struct gt_torch_document *document, struct gt_json_bytes *bytes) {
    enum gt_torch_stop stop = GT_TORCH_STOP_NOT;
    while (stop == GT_TORCH_STOP_NOT) {
        gt_json_window_move(bytes, gt_json_scan_skip_space(bytes->p, bytes->end));
        if (bytes->p == bytes->end)
            return GT_TORCH_STOP_MORE;
        stop = read_token(document, bytes);
    }
    return stop;
}
