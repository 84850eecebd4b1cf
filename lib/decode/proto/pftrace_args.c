/* Arguments of slices and render stages: debug annotations and launch arguments come in, what they mean goes out. */
#include "base/mem.h"
#include "base/num.h"
#include "decode/proto/pftrace_fields.h"
#include "decode/proto/pftrace_reading.h"

const struct gt_pftrace_details gt_pftrace_no_details = {.correlation = GT_NO_CORRELATION,
                                                         .device = INT64_MIN,
                                                         .stream = INT64_MIN,
                                                         .queue = INT64_MIN,
                                                         .tid = INT64_MIN,
                                                         .end_tid = INT64_MIN,
                                                         .bytes = UINT64_MAX,
                                                         .config = GT_KERNEL_CONFIG_UNKNOWN,
                                                         .launch = GT_LAUNCH_DETAIL_UNKNOWN,
                                                         .graph = UINT32_MAX};

/* A value of an argument, as it is written. */
struct value {
    uint64_t number;
    double real;
    struct gt_str text;
    uint32_t list[3]; /* of the first elements */
    size_t count;
    bool has_number, has_real;
};

static void keep_number(struct value *value, uint64_t number) {
    value->number = number;
    value->has_number = true;
}

static uint8_t memory_kind(struct gt_str text) {
    const char *kinds = gt_store_choices(GT_REFERS_MEMORY_KIND);
    struct gt_str kind;
    for (uint8_t i = 0; gt_store_choices_next(&kinds, &kind); i++)
        if (gt_str_eq(text, kind))
            return i;
    return GT_MEMORY_UNKNOWN;
}

static uint32_t narrow(uint64_t number) {
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

/* Real numbers may be written as integers. */
static double real_of(const struct value *value) {
    double real = value->has_real ? value->real : (double)value->number;
    return real >= 0 && real < 1e300 ? real : -1;
}

static void keep_config(enum gt_pftrace_arg arg, const struct value *value, struct gt_kernel_configs_row *config) {
    uint32_t narrowed = narrow(value->number);
    switch (arg) {
    case GT_PF_ARG_GRID:
        config->grid_x = value->list[0], config->grid_y = value->list[1], config->grid_z = value->list[2];
        break;
    case GT_PF_ARG_BLOCK:
        config->block_x = value->list[0], config->block_y = value->list[1], config->block_z = value->list[2];
        break;
    case GT_PF_ARG_EXTERNAL:
        config->external = value->number;
        break;
    case GT_PF_ARG_REGISTERS:
        config->registers = narrowed;
        break;
    case GT_PF_ARG_STATIC:
        config->static_shared_bytes = value->number;
        break;
    case GT_PF_ARG_DYNAMIC:
        config->dynamic_shared_bytes = value->number;
        break;
    case GT_PF_ARG_SHARED:
        config->shared_bytes = value->number;
        break;
    case GT_PF_ARG_LOCAL:
        config->local_bytes = value->number;
        break;
    case GT_PF_ARG_OCCUPANCY:
        config->occupancy_percent = real_of(value);
        break;
    case GT_PF_ARG_BLOCKS:
        config->blocks_per_multiprocessor = real_of(value);
        break;
    case GT_PF_ARG_WARPS:
        config->warps_per_multiprocessor = real_of(value);
        break;
    case GT_PF_ARG_CLUSTER_X:
        config->cluster_x = narrowed;
        break;
    case GT_PF_ARG_CLUSTER_Y:
        config->cluster_y = narrowed;
        break;
    case GT_PF_ARG_CLUSTER_Z:
        config->cluster_z = narrowed;
        break;
    default:
        config->priority = (int64_t)value->number;
    }
}

static void keep_launch(enum gt_pftrace_arg arg, uint64_t number, struct gt_launch_details_row *launch) {
    uint32_t *const columns[] = {
        [GT_PF_ARG_ACTIVE_BLOCKS - GT_PF_ARG_ACTIVE_BLOCKS] = &launch->active_blocks,
        [GT_PF_ARG_LIMIT_REGISTERS - GT_PF_ARG_ACTIVE_BLOCKS] = &launch->limit_registers,
        [GT_PF_ARG_LIMIT_SHARED - GT_PF_ARG_ACTIVE_BLOCKS] = &launch->limit_shared,
        [GT_PF_ARG_LIMIT_WARPS - GT_PF_ARG_ACTIVE_BLOCKS] = &launch->limit_warps,
        [GT_PF_ARG_LIMIT_BLOCKS - GT_PF_ARG_ACTIVE_BLOCKS] = &launch->limit_blocks,
        [GT_PF_ARG_LIMIT_BARRIERS - GT_PF_ARG_ACTIVE_BLOCKS] = &launch->limit_barriers,
        [GT_PF_ARG_ALLOCATED_REGISTERS - GT_PF_ARG_ACTIVE_BLOCKS] = &launch->allocated_registers,
        [GT_PF_ARG_ALLOCATED_SHARED_BYTES - GT_PF_ARG_ACTIVE_BLOCKS] = &launch->allocated_shared_bytes,
        [GT_PF_ARG_CHANNEL - GT_PF_ARG_ACTIVE_BLOCKS] = &launch->channel,
        [GT_PF_ARG_CHANNEL_TYPE - GT_PF_ARG_ACTIVE_BLOCKS] = &launch->channel_type,
    };
    if (arg == GT_PF_ARG_GRAPH_NODE)
        launch->graph_node = number;
    else
        *columns[arg - GT_PF_ARG_ACTIVE_BLOCKS] = narrow(number);
}

static int64_t int_of(const struct value *value) {
    return value->has_number ? (int64_t)value->number : INT64_MIN;
}

/* "[2, 1, 1]" */
static void parse_list(struct value *value) {
    struct gt_str rest = {value->text.ptr + 1, value->text.len - 1};
    while (value->count < GT_ARRAY_COUNT(value->list)) {
        uint64_t number;
        while (rest.len && (*rest.ptr == ' ' || *rest.ptr == ','))
            rest = (struct gt_str){rest.ptr + 1, rest.len - 1};
        size_t length = 0;
        while (length < rest.len && rest.ptr[length] >= '0' && rest.ptr[length] <= '9')
            length++;
        if (!gt_num_parse_uint((struct gt_str){rest.ptr, length}, &number))
            return;
        value->list[value->count++] = narrow(number);
        rest = (struct gt_str){rest.ptr + length, rest.len - length};
    }
}

/* Some writers have numbers as texts: rocprofv3 those of agents, others all of them. */
static void parse_text(struct value *value) {
    int64_t number;
    uint64_t large;
    if (value->has_number || value->has_real || !value->text.len)
        return;
    if (gt_num_parse_int(value->text, &number))
        keep_number(value, (uint64_t)number);
    else if (gt_num_parse_uint(value->text, &large))
        keep_number(value, large);
    else if (gt_num_parse_real(value->text, &value->real))
        value->has_real = true;
    else if (value->text.ptr[0] == '[' && !value->count)
        parse_list(value);
}

/* false: it is not needed. */
static bool keep(struct gt_pftrace_reading *reading, enum gt_pftrace_arg arg, struct value *value,
                 struct gt_pftrace_details *details) {
    bool is_text = arg == GT_PF_ARG_DOMAIN || arg == GT_PF_ARG_SRC || arg == GT_PF_ARG_DST || arg == GT_PF_ARG_LIMITERS;
    if (!is_text)
        parse_text(value);
    bool is_list = arg == GT_PF_ARG_GRID || arg == GT_PF_ARG_BLOCK;
    switch (arg) {
    case GT_PF_ARG_CORRELATION:
        details->correlation = value->has_number ? value->number : details->correlation;
        break;
    case GT_PF_ARG_DEVICE:
        details->device = int_of(value);
        break;
    case GT_PF_ARG_STREAM:
        details->stream = int_of(value);
        break;
    case GT_PF_ARG_QUEUE:
        details->queue = int_of(value);
        break;
    case GT_PF_ARG_TID:
        details->tid = int_of(value);
        break;
    case GT_PF_ARG_END_TID:
        details->end_tid = int_of(value);
        break;
    case GT_PF_ARG_BYTES:
        details->bytes = value->has_number ? value->number : details->bytes;
        break;
    case GT_PF_ARG_DOMAIN:
        details->domain = gt_builder_string(reading->builder, value->text);
        break;
    case GT_PF_ARG_SRC:
        details->src = memory_kind(value->text);
        details->has_src = true;
        break;
    case GT_PF_ARG_DST:
        details->dst = memory_kind(value->text);
        break;
    case GT_PF_ARG_GRAPH:
        details->graph = value->has_number ? narrow(value->number) : details->graph;
        break;
    case GT_PF_ARG_IN_GRAPH:
        details->is_in_graph = value->number != 0;
        break;
    default:
        if (!(reading->facts & GT_FACT_CONFIGS))
            return false;
        if (arg >= GT_PF_ARG_LIMITERS) {
            if (arg == GT_PF_ARG_LIMITERS)
                details->launch.limiters = gt_builder_string(reading->builder, value->text);
            else if (value->has_number)
                keep_launch(arg, value->number, &details->launch);
            details->has_launch = true;
            break;
        }
        if (is_list ? value->count < 3 : !value->has_number && !value->has_real)
            break;
        keep_config(arg, value, &details->config);
        details->has_config |= arg != GT_PF_ARG_EXTERNAL;
    }
    return true;
}

static struct gt_str string_of(struct gt_pftrace_reading *reading, const struct gt_pftrace_sequence *sequence,
                               uint64_t iid) {
    uint32_t name = gt_pftrace_reading_name(reading, sequence, PF_ANNOTATION_STRINGS, iid);
    return name == GT_PFTRACE_NONE ? (struct gt_str){"", 0} : gt_store_string(&reading->builder->store, name);
}

static double as_real(uint64_t bits) {
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

static uint32_t element_of(struct gt_str element) {
    uint64_t number =
        gt_proto_find_value(element, PF_ANNOTATION_INT, gt_proto_find_value(element, PF_ANNOTATION_UINT, UINT64_MAX));
    struct gt_str text = gt_proto_find_bytes(element, PF_ANNOTATION_STRING);
    if (number == UINT64_MAX && text.ptr)
        gt_num_parse_uint(text, &number);
    return narrow(number);
}

/* One annotation. is_dict: it has arguments below it. false: it is not needed. */
static bool read_annotation(struct gt_pftrace_reading *reading, const struct gt_pftrace_sequence *sequence,
                            struct gt_str annotation, struct gt_pftrace_details *details, bool *is_dict) {
    struct gt_proto message = gt_proto_of(annotation);
    struct gt_proto_field field;
    struct value value = {.text = {"", 0}};
    uint32_t arg = GT_PF_ARG_NONE;
    bool has_lists = reading->facts & GT_FACT_CONFIGS; /* all lists are sizes of launches */
    while (gt_proto_next(&message, &field))
        switch (field.tag) {
        case PF_ANNOTATION_NAME_IID:
            arg = gt_pftrace_reading_name(reading, sequence, PF_ANNOTATION_NAMES, field.value);
            break;
        case PF_ANNOTATION_NAME:
            arg = gt_pftrace_reading_arg_of(field.bytes);
            break;
        case PF_ANNOTATION_BOOL:
        case PF_ANNOTATION_UINT:
        case PF_ANNOTATION_INT:
        case PF_ANNOTATION_POINTER:
            keep_number(&value, field.value);
            break;
        case PF_ANNOTATION_DOUBLE:
            value.real = as_real(field.value);
            value.has_real = true;
            break;
        case PF_ANNOTATION_STRING:
            value.text = field.bytes;
            break;
        case PF_ANNOTATION_STRING_IID:
            value.text = string_of(reading, sequence, field.value);
            break;
        case PF_ANNOTATION_ARRAY:
            if (has_lists && value.count < GT_ARRAY_COUNT(value.list))
                value.list[value.count++] = element_of(field.bytes);
            break;
        default:
            break;
        }
    *is_dict = arg == GT_PF_ARG_ARGS;
    if (arg == GT_PF_ARG_NONE || arg == GT_PFTRACE_NONE || *is_dict)
        return false;
    return keep(reading, (enum gt_pftrace_arg)arg, &value, details);
}

bool gt_pftrace_reading_annotation(struct gt_pftrace_reading *reading, const struct gt_pftrace_sequence *sequence,
                                   struct gt_str annotation, struct gt_pftrace_details *details) {
    struct gt_proto message = gt_proto_of(annotation);
    struct gt_proto_field field;
    bool is_dict, is_needed = read_annotation(reading, sequence, annotation, details, &is_dict);
    while (is_dict && gt_proto_next(&message, &field)) {
        bool is_inner; /* what is deeper means something else */
        if (field.tag == PF_ANNOTATION_DICT)
            is_needed |= read_annotation(reading, sequence, field.bytes, details, &is_inner);
    }
    return is_needed;
}

/* ---- launches of render stages ---- */

/* Whether the name, which writers put first, is one that means something here. */
static bool is_needed(struct gt_pftrace_reading *reading, const struct gt_pftrace_sequence *sequence,
                      struct gt_proto message) {
    if (message.p >= message.end || *message.p != PF_ARG_NAME_IID)
        return true;
    struct gt_proto_number iid = gt_proto_read(message.p + 1, message.end);
    return !iid.p || gt_pftrace_reading_name(reading, sequence, PF_COMPUTE_ARG_NAMES, iid.value) != GT_PF_ARG_NONE;
}

static void read_arg(struct gt_pftrace_reading *reading, const struct gt_pftrace_sequence *sequence,
                     struct gt_str bytes, struct gt_pftrace_details *details) {
    struct gt_proto message = gt_proto_of(bytes);
    struct gt_proto_field field;
    struct value value = {.text = {"", 0}};
    uint32_t arg = GT_PF_ARG_NONE;
    if (!is_needed(reading, sequence, message))
        return;
    while (gt_proto_next(&message, &field))
        switch (field.tag) {
        case PF_ARG_NAME_IID:
            arg = gt_pftrace_reading_name(reading, sequence, PF_COMPUTE_ARG_NAMES, field.value);
            break;
        case PF_ARG_NAME:
            arg = gt_pftrace_reading_arg_of(field.bytes);
            break;
        case PF_ARG_INT:
        case PF_ARG_UINT:
            keep_number(&value, field.value);
            break;
        case PF_ARG_DOUBLE:
            value.real = as_real(field.value);
            value.has_real = true;
            break;
        case PF_ARG_STRING:
            value.text = field.bytes;
            break;
        case PF_ARG_STRING_IID:
            value.text = string_of(reading, sequence, field.value);
            break;
        default:
            break;
        }
    if (arg != GT_PF_ARG_NONE && arg != GT_PFTRACE_NONE && arg != GT_PF_ARG_ARGS)
        keep(reading, (enum gt_pftrace_arg)arg, &value, details);
}

static void read_dimensions(struct gt_str bytes, uint32_t *x, uint32_t *y, uint32_t *z) {
    struct gt_proto message = gt_proto_of(bytes);
    struct gt_proto_field field;
    *x = *y = *z = 0; /* protobuf leaves zeros out */
    while (gt_proto_next(&message, &field)) {
        uint32_t number = narrow(field.value);
        if (field.tag == GT_PROTO_VARINT(1))
            *x = number;
        else if (field.tag == GT_PROTO_VARINT(2))
            *y = number;
        else if (field.tag == GT_PROTO_VARINT(3))
            *z = number;
    }
}

void gt_pftrace_reading_launch(struct gt_pftrace_reading *reading, const struct gt_pftrace_sequence *sequence,
                               struct gt_str launch, struct gt_pftrace_details *details) {
    struct gt_proto message = gt_proto_of(launch);
    struct gt_proto_field field;
    struct gt_kernel_configs_row *config = &details->config;
    bool needs_sizes = reading->facts & GT_FACT_CONFIGS;
    while (gt_proto_next(&message, &field))
        if (!needs_sizes && field.tag != PF_LAUNCH_ARG) {
            continue;
        } else if (field.tag == PF_LAUNCH_GRID) {
            read_dimensions(field.bytes, &config->grid_x, &config->grid_y, &config->grid_z);
            details->has_config = true;
        } else if (field.tag == PF_LAUNCH_BLOCK) {
            read_dimensions(field.bytes, &config->block_x, &config->block_y, &config->block_z);
            details->has_config = true;
        } else if (field.tag == PF_LAUNCH_ARG) {
            read_arg(reading, sequence, field.bytes, details);
        }
}
