/* Walks through the documents of an input outside their events: tokens come in, facts about the capture go into the
   builder's meta data and devices. */
#include "decode/torch/torch_document.h"

#include <string.h>

#include "base/num.h"
#include "events/builder.h"

void gt_torch_document_init(struct gt_torch_document *document, struct gt_builder *builder) {
    memset(document, 0, sizeof *document);
    document->builder = builder;
}

void gt_torch_document_open(struct gt_torch_document *document) {
    document->has_trace_events = true;
    document->array_count++;
    document->depth = 1;
}

/* A member of an object whose text is whole. */
struct member {
    struct gt_str key;
    struct gt_json_value_text text; /* of a string or bare value; of a nested one all of it */
};

/* The next member, *p after the last one or after the brace. BAD: no more, or nothing sensible. */
static enum gt_json_status next_member(const char **p, const char *end, struct member *member) {
    struct gt_json_value_text key;
    while (*p < end && (gt_json_scan_is_space(**p) || **p == ','))
        ++*p;
    if (*p < end && **p != '"')
        return GT_JSON_BAD;
    if (*p == end || gt_json_scan_string(p, end, &key) != GT_JSON_OK)
        return GT_JSON_MORE;
    *p = gt_json_scan_skip_space(*p, end);
    if (**p != ':')
        return GT_JSON_BAD;
    *p = gt_json_scan_skip_space(*p + 1, end);
    if (*p == end)
        return GT_JSON_MORE;
    member->key = key.raw;
    member->text = (struct gt_json_value_text){{*p, 0}, 0};
    if (**p == '"')
        return gt_json_scan_string(p, end, &member->text);
    if (**p != '{' && **p != '[')
        return gt_json_scan_bare(p, end, &member->text.raw);
    enum gt_json_status status = gt_json_scan_skip_nested(p, end);
    member->text.raw.len = (size_t)(*p - member->text.raw.ptr);
    return status;
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

static void take_device(struct gt_builder *builder, const char *p, const char *end) {
    struct gt_json_value_text name = {{"", 0}, 0};
    struct member member;
    int64_t id = -1;
    uint64_t memory_bytes = 0, multiprocessors = 0;
    while (next_member(&p, end, &member) == GT_JSON_OK) {
        if (gt_str_eq(member.key, GT_STR("id")))
            keep_int(&id, -1, member.text.raw);
        else if (gt_str_eq(member.key, GT_STR("name")))
            name = member.text;
        else if (gt_str_eq(member.key, GT_STR("totalGlobalMem")))
            gt_num_parse_uint(member.text.raw, &memory_bytes);
        else if (gt_str_eq(member.key, GT_STR("numSms")))
            gt_num_parse_uint(member.text.raw, &multiprocessors);
    }
    if (id < 0)
        return;
    uint32_t device = gt_builder_device(builder, id);
    if (device >= builder->store.devices.count)
        return; /* memory ran out */
    name_device(builder, device, name);
    if (builder->store.devices.memory_bytes[device] == 0)
        builder->store.devices.memory_bytes[device] = memory_bytes;
    if (builder->store.devices.multiprocessors[device] == 0 && multiprocessors <= UINT32_MAX)
        builder->store.devices.multiprocessors[device] = (uint32_t)multiprocessors;
}

static void take_devices(struct gt_builder *builder, struct gt_str value) {
    const char *p = value.ptr, *end = p + value.len;
    while (p < end) {
        const char *begin = p;
        if (*p == '{' && gt_json_scan_skip_nested(&p, end) == GT_JSON_OK)
            take_device(builder, begin + 1, p);
        else
            p = begin + 1;
    }
}

static void take_distributed(struct gt_builder *builder, struct gt_str value) {
    const char *p = value.ptr + 1, *end = value.ptr + value.len;
    struct member member;
    while (next_member(&p, end, &member) == GT_JSON_OK) {
        if (gt_str_eq(member.key, GT_STR("rank")))
            keep_int(&builder->store.meta.rank, -1, member.text.raw);
        else if (gt_str_eq(member.key, GT_STR("world_size")))
            keep_int(&builder->store.meta.world_size, -1, member.text.raw);
    }
}

static bool is_header_key(struct gt_str key) {
    return gt_str_eq(key, GT_STR("schemaVersion")) || gt_str_eq(key, GT_STR("deviceProperties")) ||
           gt_str_eq(key, GT_STR("distributedInfo")) || gt_str_eq(key, GT_STR("baseTimeNanoseconds"));
}

static void take_header(struct gt_builder *builder, const struct member *member) {
    struct gt_str value = member->text.raw;
    if (gt_str_eq(member->key, GT_STR("baseTimeNanoseconds")))
        keep_int(&builder->store.meta.base_ns, 0, value);
    else if (gt_str_eq(member->key, GT_STR("deviceProperties")))
        take_devices(builder, value);
    else if (gt_str_eq(member->key, GT_STR("distributedInfo")) && value.len && value.ptr[0] == '{')
        take_distributed(builder, value);
    /* Only PyTorch's profiler writes any of these. */
    if (builder->store.meta.producer == GT_STRID_EMPTY)
        builder->store.meta.producer = gt_builder_string(builder, GT_STR("PyTorch profiler"));
}

static enum gt_torch_stop enter_array(struct gt_torch_document *document, struct gt_torch_bytes *bytes,
                                      const char *bracket) {
    if (document->array_count++ > 0)
        gt_builder_issue(document->builder, GT_ISSUE_DOCUMENTS_JOINED, 1, bytes->offset);
    gt_torch_region_bytes_move(bytes, bracket + 1);
    return GT_TORCH_STOP_END;
}

/* The value of a key, at `value`: *bytes still is at the key. */
static enum gt_torch_stop read_value(struct gt_torch_document *document, struct gt_torch_bytes *bytes,
                                     struct gt_str key, const char *value) {
    if (gt_str_eq(key, GT_STR("traceEvents"))) {
        document->has_trace_events = true;
        if (*value == '[')
            return enter_array(document, bytes, value);
    } else if (document->depth == 1 && is_header_key(key)) {
        const char *p = bytes->p;
        struct member member;
        enum gt_json_status status = next_member(&p, bytes->end, &member);
        if (status == GT_JSON_MORE && !gt_torch_region_bytes_are_final(bytes, bytes->p))
            return GT_TORCH_STOP_MORE;
        if (status == GT_JSON_OK) {
            take_header(document->builder, &member);
            gt_torch_region_bytes_move(bytes, p);
            return GT_TORCH_STOP_NOT;
        }
    }
    gt_torch_region_bytes_move(bytes, value);
    document->is_after_colon = true;
    return GT_TORCH_STOP_NOT;
}

/* A string: a key if a colon follows. */
static enum gt_torch_stop read_string(struct gt_torch_document *document, struct gt_torch_bytes *bytes) {
    const char *p = bytes->p;
    struct gt_json_value_text text;
    if (gt_json_scan_string(&p, bytes->end, &text) == GT_JSON_OK) {
        const char *colon = gt_json_scan_skip_space(p, bytes->end);
        const char *value = *colon == ':' ? gt_json_scan_skip_space(colon + 1, bytes->end) : NULL;
        if (!value) {
            gt_torch_region_bytes_move(bytes, p);
            return GT_TORCH_STOP_NOT;
        }
        if (value < bytes->end)
            return read_value(document, bytes, text.raw, value);
    }
    if (!gt_torch_region_bytes_are_final(bytes, bytes->p))
        return GT_TORCH_STOP_MORE;
    gt_torch_region_bytes_move(bytes, bytes->p + 1);
    return GT_TORCH_STOP_NOT;
}

/* A brace: a document, some value in it, or an event that lost its array. */
static enum gt_torch_stop open_object(struct gt_torch_document *document, struct gt_torch_bytes *bytes,
                                      bool is_after_colon) {
    if (!is_after_colon && (document->depth == 0 || document->looks_for_events)) {
        enum gt_json_status starts = gt_torch_event_starts(bytes->p, bytes->end);
        if (starts == GT_JSON_OK)
            return GT_TORCH_STOP_END;
        if (starts == GT_JSON_MORE && !gt_torch_region_bytes_are_final(bytes, bytes->p))
            return GT_TORCH_STOP_MORE;
    }
    document->depth++;
    gt_torch_region_bytes_move(bytes, bytes->p + 1);
    return GT_TORCH_STOP_NOT;
}

static enum gt_torch_stop read_token(struct gt_torch_document *document, struct gt_torch_bytes *bytes) {
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
    gt_torch_region_bytes_move(bytes, p + 1);
    return GT_TORCH_STOP_NOT;
}

enum gt_torch_stop gt_torch_document_run(struct gt_torch_document *document, struct gt_torch_bytes *bytes) {
    enum gt_torch_stop stop = GT_TORCH_STOP_NOT;
    while (stop == GT_TORCH_STOP_NOT) {
        gt_torch_region_bytes_move(bytes, gt_json_scan_skip_space(bytes->p, bytes->end));
        if (bytes->p == bytes->end)
            return GT_TORCH_STOP_MORE;
        stop = read_token(document, bytes);
    }
    return stop;
}
