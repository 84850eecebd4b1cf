/* Takes one event of a trace apart: an object's text comes in, slices of the wanted members go out. Members may come in
   any order, with any white space, too many commas and bare words for values. */
#include "decode/torch/torch_event.h"

#include <string.h>

#define IS(key, literal) (memcmp((key).ptr, literal, sizeof(literal) - 1) == 0)

enum gt_torch_field gt_torch_event_field(struct gt_str key) {
    switch (key.len) {
    case 2:
        return IS(key, "ph") ? GT_TORCH_PH : IS(key, "ts") ? GT_TORCH_TS : IS(key, "id") ? GT_TORCH_ID : GT_TORCH_OTHER;
    case 3:
        switch (key.ptr[0]) {
        case 'c':
            return IS(key, "cat") ? GT_TORCH_CAT : GT_TORCH_OTHER;
        case 'p':
            return IS(key, "pid") ? GT_TORCH_PID : GT_TORCH_OTHER;
        case 't':
            return IS(key, "tid") ? GT_TORCH_TID : GT_TORCH_OTHER;
        default:
            return IS(key, "dur") ? GT_TORCH_DUR : GT_TORCH_OTHER;
        }
    case 4:
        return IS(key, "name") ? GT_TORCH_NAME : IS(key, "args") ? GT_TORCH_ARGS : GT_TORCH_OTHER;
    case 11:
        return IS(key, "traceEvents") ? GT_TORCH_DOCUMENT : GT_TORCH_OTHER;
    default:
        return GT_TORCH_OTHER;
    }
}

enum gt_torch_field gt_torch_event_args_field(struct gt_str key) {
    switch (key.len) {
    case 4:
        return IS(key, "name") ? GT_TORCH_ARG_NAME : GT_TORCH_OTHER;
    case 5:
        return IS(key, "bytes") ? GT_TORCH_BYTES : GT_TORCH_OTHER;
    case 6:
        if (key.ptr[0] == 'd')
            return IS(key, "device") ? GT_TORCH_DEVICE : GT_TORCH_OTHER;
        return IS(key, "stream") ? GT_TORCH_STREAM : IS(key, "labels") ? GT_TORCH_ARG_LABELS : GT_TORCH_OTHER;
    case 8:
        return IS(key, "graph id") ? GT_TORCH_GRAPH : GT_TORCH_OTHER;
    case 9:
        return IS(key, "Stream Id") ? GT_TORCH_STREAM : GT_TORCH_OTHER; /* Ascend */
    case 11:
        return IS(key, "correlation") ? GT_TORCH_CORRELATION : GT_TORCH_OTHER;
    case 13:
        return IS(key, "graph node id") ? GT_TORCH_GRAPH_NODE : GT_TORCH_OTHER;
    default:
        return GT_TORCH_OTHER;
    }
}

static enum gt_torch_parse of_json(enum gt_json_status status) {
    return status == GT_JSON_OK ? GT_TORCH_OK : status == GT_JSON_MORE ? GT_TORCH_MORE : GT_TORCH_BAD;
}

/* A key, its colon and the white space after; *p is then at the value. */
static inline enum gt_torch_parse scan_key(const char **p, const char *end, struct gt_str *key) {
    struct gt_json_value_text text;
    if (**p != '"')
        return GT_TORCH_BAD;
    const char *at = *p;
    if (gt_json_scan_string(&at, end, &text) != GT_JSON_OK)
        return GT_TORCH_MORE;
    at = gt_json_scan_skip_space(at, end);
    /* No key has quotes inside: one that does began in another event. */
    if (*at != ':' || text.marks & GT_JSON_QUOTES) {
        *p = at;
        return GT_TORCH_BAD;
    }
    at = gt_json_scan_skip_space(at + 1, end);
    if (at == end)
        return GT_TORCH_MORE;
    *key = text.raw;
    *p = at;
    return GT_TORCH_OK;
}

static inline enum gt_torch_parse scan_value(const char **p, const char *end, bool is_second_try,
                                             struct gt_json_value *value) {
    switch (**p) {
    case '"':
        value->is_string = true;
        return of_json(is_second_try ? gt_json_scan_member_string(p, end, &value->text)
                                     : gt_json_scan_string(p, end, &value->text));
    case '{':
    case '[':
        value->is_string = false;
        value->text = (struct gt_json_value_text){{*p, 0}, 0};
        return of_json(gt_json_scan_skip_nested(p, end));
    default:
        value->is_string = false;
        value->text.marks = 0;
        return of_json(gt_json_scan_bare(p, end, &value->text.raw));
    }
}

/* After a value: a comma, which is skipped, or the end of the object. */
static inline enum gt_torch_parse scan_separator(const char **p, const char *end) {
    const char *at = gt_json_scan_skip_space(*p, end);
    *p = at;
    if (at == end)
        return GT_TORCH_MORE;
    if (*at == '}')
        return GT_TORCH_OK;
    if (*at != ',')
        return GT_TORCH_BAD;
    *p = gt_json_scan_skip_space(at + 1, end);
    return GT_TORCH_OK;
}

/* One member's value into the event, unless an equal key came before. */
static inline enum gt_torch_parse keep_value(struct gt_torch_event *event, enum gt_torch_field field, const char **p,
                                             const char *end, bool is_second_try) {
    struct gt_json_value ignored;
    bool is_wanted = field < GT_TORCH_FIELD_COUNT && !gt_torch_event_has(event, field);
    enum gt_torch_parse result = scan_value(p, end, is_second_try, is_wanted ? &event->values[field] : &ignored);
    if (result == GT_TORCH_OK && is_wanted)
        event->seen |= UINT32_C(1) << field;
    return result;
}

static enum gt_torch_parse parse_args(struct gt_torch_event *event, const char **p, const char *end,
                                      bool is_second_try) {
    enum gt_torch_parse result;
    struct gt_str key;
    *p = gt_json_scan_skip_space(*p + 1, end);
    for (;;) {
        if (*p == end)
            return GT_TORCH_MORE;
        if (**p == ',') {
            *p = gt_json_scan_skip_space(*p + 1, end);
            continue;
        }
        if (**p == '}')
            break;
        if ((result = scan_key(p, end, &key)) != GT_TORCH_OK ||
            (result = keep_value(event, gt_torch_event_args_field(key), p, end, is_second_try)) != GT_TORCH_OK ||
            (result = scan_separator(p, end)) != GT_TORCH_OK)
            return result;
    }
    ++*p;
    event->seen |= UINT32_C(1) << GT_TORCH_ARGS;
    return GT_TORCH_OK;
}

/* Most events are of a kind whose args nobody asks for. Their category usually comes before the args. */
static bool wants_args(const struct gt_torch_event *event) {
    if (gt_torch_event_has(event, GT_TORCH_ARGS))
        return false;
    if (!gt_torch_event_has(event, GT_TORCH_CAT) || !gt_torch_event_has(event, GT_TORCH_PH))
        return true;
    if (event->values[GT_TORCH_PH].text.raw.len == 1 && event->values[GT_TORCH_PH].text.raw.ptr[0] == 'M')
        return true;
    return event->args_wanted >> event->category & 1;
}

/* The args, taken apart or passed over. Whoever wants more of them reads their text. */
static enum gt_torch_parse scan_args(struct gt_torch_event *event, const char **p, const char *end,
                                     bool is_second_try) {
    const char *begin = *p;
    bool is_first = !gt_torch_event_has(event, GT_TORCH_ARGS);
    enum gt_torch_parse result = wants_args(event) ? parse_args(event, p, end, is_second_try)
                                                   : keep_value(event, GT_TORCH_ARGS, p, end, is_second_try);
    if (is_first && result == GT_TORCH_OK)
        event->args = (struct gt_str){begin, (size_t)(*p - begin)};
    return result;
}

static inline enum gt_torch_parse parse_member(struct gt_torch_event *event, const char **p, const char *end,
                                               bool is_second_try) {
    struct gt_str key;
    enum gt_torch_parse result = scan_key(p, end, &key);
    if (result != GT_TORCH_OK)
        return result;
    enum gt_torch_field field = gt_torch_event_field(key);
    if (field == GT_TORCH_DOCUMENT && **p == '[') {
        ++*p;
        return GT_TORCH_INNER_DOCUMENT;
    }
    if (field == GT_TORCH_ARGS && **p == '{')
        result = scan_args(event, p, end, is_second_try);
    else
        result = keep_value(event, field, p, end, is_second_try);
    if (result != GT_TORCH_OK)
        return result;
    if (field == GT_TORCH_CAT)
        event->category = gt_torch_event_category_of(event->values[GT_TORCH_CAT].text.raw);
    return scan_separator(p, end);
}

enum gt_torch_parse gt_torch_event_parse(struct gt_torch_event *event, const char **p, const char *end,
                                         bool is_second_try) {
    event->seen = 0;
    event->category = GT_TORCH_CAT_OTHER;
    event->args = (struct gt_str){"", 0};
    event->is_second_try = is_second_try;
    *p = gt_json_scan_skip_space(*p + 1, end);
    for (;;) {
        if (*p == end)
            return GT_TORCH_MORE;
        if (**p == '}')
            break;
        if (**p == ',') {
            *p = gt_json_scan_skip_space(*p + 1, end);
            continue;
        }
        enum gt_torch_parse result = parse_member(event, p, end, is_second_try);
        if (result != GT_TORCH_OK)
            return result;
    }
    ++*p;
    return GT_TORCH_OK;
}

enum gt_json_status gt_torch_event_starts(const char *p, const char *end) {
    static const struct gt_str keys[] = {GT_STR("ph"),  GT_STR("name"), GT_STR("cat"), GT_STR("ts"),
                                         GT_STR("pid"), GT_STR("tid"),  GT_STR("dur"), GT_STR("args"),
                                         GT_STR("id"),  GT_STR("bp"),   GT_STR("s")};
    enum { LONGEST_KEY = 4 };
    p = gt_json_scan_skip_space(p + 1, end);
    if (p == end)
        return GT_JSON_MORE;
    if (*p != '"')
        return GT_JSON_BAD;
    const char *key = p + 1;
    for (p = key; p < end && *p != '"' && p - key <= LONGEST_KEY; p++)
        ;
    if (p == end)
        return GT_JSON_MORE;
    bool is_known = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        is_known |= gt_str_eq((struct gt_str){key, (size_t)(p - key)}, keys[i]);
    if (!is_known)
        return GT_JSON_BAD;
    p = gt_json_scan_skip_space(p + 1, end);
    if (p == end)
        return GT_JSON_MORE;
    return *p == ':' ? GT_JSON_OK : GT_JSON_BAD;
}

/* Old exports write them capitalised. Commonest first. */
static const struct {
    struct gt_str name;
    enum gt_torch_category category;
} categories[] = {
    {GT_STR("cpu_op"), GT_TORCH_CAT_CPU_OP},          {GT_STR("kernel"), GT_TORCH_CAT_KERNEL},
    {GT_STR("cuda_runtime"), GT_TORCH_CAT_CALL},      {GT_STR("cuda_driver"), GT_TORCH_CAT_CALL},
    {GT_STR("gpu_memcpy"), GT_TORCH_CAT_MEMCPY},      {GT_STR("gpu_memset"), GT_TORCH_CAT_MEMSET},
    {GT_STR("user_annotation"), GT_TORCH_CAT_RANGE},  {GT_STR("gpu_user_annotation"), GT_TORCH_CAT_GPU_RANGE},
    {GT_STR("overhead"), GT_TORCH_CAT_OVERHEAD},      {GT_STR("operator"), GT_TORCH_CAT_CPU_OP},
    {GT_STR("runtime"), GT_TORCH_CAT_CALL},           {GT_STR("driver"), GT_TORCH_CAT_CALL},
    {GT_STR("memcpy"), GT_TORCH_CAT_MEMCPY},          {GT_STR("memset"), GT_TORCH_CAT_MEMSET},
    {GT_STR("gpu_op"), GT_TORCH_CAT_GPU_OP},          {GT_STR("hip_runtime"), GT_TORCH_CAT_CALL},
    {GT_STR("hip_driver"), GT_TORCH_CAT_CALL},        {GT_STR("hip_runtime_api"), GT_TORCH_CAT_CALL},
    {GT_STR("hip_api"), GT_TORCH_CAT_CALL},           {GT_STR("mtia_ccp_events"), GT_TORCH_CAT_DEVICE_OP},
    {GT_STR("hpu_op"), GT_TORCH_CAT_DEVICE_OP},       {GT_STR("ascend hardware"), GT_TORCH_CAT_DEVICE_OP},
    {GT_STR("python_function"), GT_TORCH_CAT_PYTHON}, {GT_STR("pythonfunction"), GT_TORCH_CAT_PYTHON},
    {GT_STR("cuda_sync"), GT_TORCH_CAT_SYNC},         {GT_STR("cuda_event"), GT_TORCH_CAT_EVENT_RECORD},
};

/* Back ends name their categories alike: xpu_runtime, privateuse1_driver, mtia_kernel. */
static const struct {
    struct gt_str suffix;
    enum gt_torch_category category;
} suffixes[] = {
    {GT_STR("_runtime"), GT_TORCH_CAT_CALL},     {GT_STR("_driver"), GT_TORCH_CAT_CALL},
    {GT_STR("_kernel"), GT_TORCH_CAT_DEVICE_OP}, {GT_STR("_memcpy"), GT_TORCH_CAT_DEVICE_OP},
    {GT_STR("_memset"), GT_TORCH_CAT_DEVICE_OP},
};

enum gt_torch_category gt_torch_event_category_of(struct gt_str name) {
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (gt_str_eq(name, categories[i].name))
            return categories[i].category;
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (name.len == categories[i].name.len && gt_str_find_nocase(name, categories[i].name))
            return categories[i].category;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (gt_str_ends(name, suffixes[i].suffix))
            return suffixes[i].category;
    return GT_TORCH_CAT_OTHER;
}
