/* Names of a sequence: texts come in with their numbers, what they mean is kept; looked up by number. */
#include "base/mem.h"
#include "base/num.h"
#include "decode/proto/pftrace_fields.h"
#include "decode/proto/pftrace_reading.h"

static const struct {
    struct gt_str text;
    uint8_t meaning;
} categories[] =
    {
#define PFTRACE_CATEGORY(kind, text) {GT_STR(text), GT_PF_##kind},
#define PFTRACE_ARG(arg, text)
#include "decode/proto/pftrace_words.def"
#undef PFTRACE_CATEGORY
#undef PFTRACE_ARG
},
  args[] = {
#define PFTRACE_CATEGORY(kind, text)
#define PFTRACE_ARG(arg, text) {GT_STR(text), GT_PF_ARG_##arg},
#include "decode/proto/pftrace_words.def"
#undef PFTRACE_CATEGORY
#undef PFTRACE_ARG
};

enum gt_pftrace_kind gt_pftrace_reading_kind_of(struct gt_str category) {
    for (size_t i = 0; i < GT_ARRAY_COUNT(categories); i++)
        if (gt_str_eq(categories[i].text, category))
            return (enum gt_pftrace_kind)categories[i].meaning;
    return GT_PF_UNKNOWN;
}

enum gt_pftrace_arg gt_pftrace_reading_arg_of(struct gt_str name) {
    for (size_t i = 0; i < GT_ARRAY_COUNT(args); i++)
        if (gt_str_eq(args[i].text, name))
            return (enum gt_pftrace_arg)args[i].meaning;
    return GT_PF_ARG_NONE;
}

/* ---- what entries mean ---- */

int64_t gt_pftrace_reading_number_in(struct gt_str text, struct gt_str after) {
    const char *found = gt_str_find_nocase(text, after);
    int64_t number;
    if (!found)
        return INT64_MIN;
    struct gt_str digits = {found + after.len, 0};
    const char *end = text.ptr + text.len;
    while (digits.ptr + digits.len < end &&
           ((digits.ptr[digits.len] >= '0' && digits.ptr[digits.len] <= '9') || (!digits.len && digits.ptr[0] == '-')))
        digits.len++;
    return digits.len && gt_num_parse_int(digits, &number) ? number : INT64_MIN;
}

/* A queue ("Stream 7", described as "process 12") or a stage ("memcpy"). */
static uint32_t add_spec(struct gt_pftrace_reading *reading, struct gt_str entry) {
    static const char *const stages[] = {"kernel", "memcpy", "memset", "graph"};
    struct gt_str name = gt_proto_find_bytes(entry, PF_SPEC_NAME);
    struct gt_str description = gt_proto_find_bytes(entry, PF_SPEC_DESCRIPTION);
    struct gt_pftrace_spec spec = {.stream = gt_pftrace_reading_number_in(name, GT_STR("stream ")),
                                   .pid = gt_pftrace_reading_number_in(description, GT_STR("process "))};
    for (size_t i = 0; i < GT_ARRAY_COUNT(stages); i++)
        if (gt_str_eq(name, gt_str_of(stages[i]))) {
            spec.kind = (uint8_t)i;
            spec.has_kind = true;
        }
    struct gt_pftrace_spec *specs =
        gt_mem_room(reading->specs, reading->spec_count, &reading->spec_capacity, sizeof *specs);
    if (!specs) {
        reading->failed = true;
        return GT_PFTRACE_NONE;
    }
    reading->specs = specs;
    specs[reading->spec_count] = spec;
    return (uint32_t)reading->spec_count++;
}

static uint32_t kernel_name(struct gt_pftrace_reading *reading, struct gt_str entry) {
    struct gt_str name = gt_proto_find_bytes(entry, PF_KERNEL_DEMANGLED_NAME);
    if (!name.len)
        name = gt_proto_find_bytes(entry, PF_KERNEL_NAME);
    return gt_builder_string(reading->builder, name.ptr ? name : GT_LOST_NAME);
}

/* Most arguments are of launches. Where nobody asks for these, their names mean nothing. */
static enum gt_pftrace_arg needed(const struct gt_pftrace_reading *reading, enum gt_pftrace_arg arg) {
    return arg >= GT_PF_ARG_EXTERNAL && !(reading->facts & GT_FACT_CONFIGS) ? GT_PF_ARG_NONE : arg;
}

/* GT_PFTRACE_NONE: it is not needed. */
static uint32_t value_of(struct gt_pftrace_reading *reading, uint32_t field, struct gt_str entry) {
    struct gt_str text = gt_proto_find_bytes(entry, PF_INTERNED_TEXT);
    switch (field) {
    case PF_EVENT_NAMES:
    case PF_ANNOTATION_STRINGS:
        return gt_builder_string(reading->builder, text.ptr ? text : GT_LOST_NAME);
    case PF_EVENT_CATEGORIES:
        return gt_pftrace_reading_kind_of(text);
    case PF_ANNOTATION_NAMES:
    case PF_COMPUTE_ARG_NAMES:
        return needed(reading, gt_pftrace_reading_arg_of(text));
    case PF_GRAPHICS_CONTEXTS:
        return (uint32_t)gt_proto_find_value(entry, GT_PROTO_VARINT(2), 0);
    case PF_GPU_SPECIFICATIONS:
        return add_spec(reading, entry);
    case PF_COMPUTE_KERNELS:
        return kernel_name(reading, entry);
    default:
        return GT_PFTRACE_NONE;
    }
}

/* ---- the table ---- */

void gt_pftrace_reading_intern(struct gt_pftrace_reading *reading, const struct gt_pftrace_sequence *sequence,
                               struct gt_str data) {
    struct gt_proto message = gt_proto_of(data);
    struct gt_proto_field field;
    while (gt_proto_next(&message, &field)) {
        if ((field.tag & 7) != 2)
            continue;
        uint64_t iid = gt_proto_find_value(field.bytes, GT_PROTO_VARINT(1), 0);
        uint32_t value = value_of(reading, field.tag >> 3, field.bytes);
        if (value == GT_PFTRACE_NONE)
            continue;
        uint64_t table = gt_pftrace_reading_table(sequence, field.tag >> 3);
        gt_map_put(&reading->names, table, iid, value);
        *gt_pftrace_reading_cached(reading, table, iid) = (struct gt_pftrace_cached){table, iid, value};
    }
    if (message.is_damaged)
        gt_builder_issue(reading->builder, GT_ISSUE_EVENT_DAMAGED, 1, reading->offset);
}

/* How many values a field has; others would be read as numbers of rows that do not exist. */
static size_t count_of(const struct gt_pftrace_reading *reading, uint32_t field) {
    switch (field) {
    case PF_EVENT_NAMES:
    case PF_ANNOTATION_STRINGS:
    case PF_COMPUTE_KERNELS:
        return reading->builder->store.strings.count;
    case PF_EVENT_CATEGORIES:
        return GT_PF_OTHER + 1;
    case PF_ANNOTATION_NAMES:
    case PF_COMPUTE_ARG_NAMES:
        return GT_PF_ARG_COUNT;
    case PF_GPU_SPECIFICATIONS:
        return reading->spec_count;
    default: /* any number is one of a process */
        return GT_PFTRACE_NONE;
    }
}

uint32_t gt_pftrace_reading_find(struct gt_pftrace_reading *reading, uint64_t table, uint64_t iid) {
    uint32_t value = gt_map_get(&reading->names, table, iid);
    if (value >= count_of(reading, table & UINT16_MAX))
        value = GT_PFTRACE_NONE;
    *gt_pftrace_reading_cached(reading, table, iid) = (struct gt_pftrace_cached){table, iid, value};
    return value;
}
