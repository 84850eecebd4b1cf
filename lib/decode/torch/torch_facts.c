/* Rows for launch configurations, arguments of operators, waits and flows. */
#include "decode/torch/torch_facts.h"

#include <string.h>

#include "base/mem.h"
#include "decode/json/json_member.h"
#include "decode/torch/torch_args.h"
#include "decode/torch/torch_details.h"
#include "decode/torch/torch_value.h"
#include "events/builder.h"

/* ---- launch configurations ---- */

enum {
    EXTERNAL,
    GRID,
    BLOCK,
    REGISTERS,
    SHARED,
    BLOCKS_PER_SM,
    WARPS_PER_SM,
    OCCUPANCY,
    PRIORITY,
    CONFIG_FIELDS, /* those from here on are details */
    LIMITS = CONFIG_FIELDS,
    CHANNEL,
    CHANNEL_TYPE,
    GRAPH_NODE,
};

static const struct gt_torch_args_key config_keys[] = {
    {GT_STR("External id"), EXTERNAL},
    {GT_STR("external id"), EXTERNAL}, /* 2021 */
    {GT_STR("grid"), GRID},
    {GT_STR("block"), BLOCK},
    {GT_STR("registers per thread"), REGISTERS},
    {GT_STR("shared memory"), SHARED},
    {GT_STR("blocks per SM"), BLOCKS_PER_SM},
    {GT_STR("warps per SM"), WARPS_PER_SM},
    {GT_STR("est. achieved occupancy %"), OCCUPANCY},
    {GT_STR("priority"), PRIORITY},
    {GT_STR("occupancy"), LIMITS},
    {GT_STR("channel"), CHANNEL},
    {GT_STR("channel_type"), CHANNEL_TYPE},
    {GT_STR("graph node id"), GRAPH_NODE},
};

static uint32_t narrow(const struct gt_torch_subject *at, uint64_t value) {
    if (value < UINT32_MAX)
        return (uint32_t)value;
    if (value != UINT64_MAX)
        gt_torch_subject_issue(at, GT_ISSUE_NUMBER_UNREADABLE);
    return UINT32_MAX;
}

/* "[16, 1, 1]", also in quotes. Numbers that are missing or cannot be read are UINT32_MAX. */
static void read_extent(const struct gt_torch_subject *at, const struct gt_torch_args *args, unsigned field,
                        uint32_t *const numbers[3]) {
    for (size_t i = 0; i < 3; i++)
        *numbers[i] = UINT32_MAX;
    if (!gt_torch_args_has(args, field))
        return;
    struct gt_str list = args->values[field].text.raw;
    if (list.len < 2 || list.ptr[0] != '[' || list.ptr[list.len - 1] != ']') {
        gt_torch_subject_issue(at, GT_ISSUE_NUMBER_UNREADABLE);
        return;
    }
    const char *p = list.ptr + 1, *end = list.ptr + list.len;
    struct gt_json_value item;
    for (size_t i = 0; i < 3 && gt_json_member_next_item(&p, end, &item) == GT_JSON_OK; i++) {
        uint64_t number;
        if (gt_json_number_to_uint(&item, &number) == GT_JSON_NUMBER)
            *numbers[i] = narrow(at, number);
        else
            gt_torch_subject_issue(at, GT_ISSUE_NUMBER_UNREADABLE);
    }
}

static void take_launch_details(const struct gt_torch_subject *at, const struct gt_torch_args *args) {
    struct gt_launch_details_row row = GT_LAUNCH_DETAIL_UNKNOWN;
    row.channel = narrow(at, gt_torch_args_uint(at, args, CHANNEL));
    row.channel_type = narrow(at, gt_torch_args_uint(at, args, CHANNEL_TYPE));
    uint64_t node = gt_torch_args_uint(at, args, GRAPH_NODE);
    row.graph_node = node ? node : UINT64_MAX;
    gt_torch_details_of_launch(at, gt_torch_args_has(args, LIMITS) ? &args->values[LIMITS] : NULL, &row);
}

static void take_config(const struct gt_torch_subject *at) {
    struct gt_torch_args args;
    gt_torch_args_take(&args, at, config_keys, GT_ARRAY_COUNT(config_keys));
    if (args.seen >> CONFIG_FIELDS)
        take_launch_details(at, &args);
    if (!(args.seen & ((1U << CONFIG_FIELDS) - 1)))
        return;
    struct gt_kernel_configs_row row = GT_KERNEL_CONFIG_UNKNOWN;
    row.external = gt_torch_args_uint(at, &args, EXTERNAL);
    row.shared_bytes = gt_torch_args_uint(at, &args, SHARED);
    row.priority = gt_torch_args_int(at, &args, PRIORITY, INT64_MIN);
    row.blocks_per_multiprocessor = gt_torch_args_real(at, &args, BLOCKS_PER_SM);
    row.warps_per_multiprocessor = gt_torch_args_real(at, &args, WARPS_PER_SM);
    row.occupancy_percent = gt_torch_args_real(at, &args, OCCUPANCY);
    row.registers = narrow(at, gt_torch_args_uint(at, &args, REGISTERS));
    read_extent(at, &args, GRID, (uint32_t *const[]){&row.grid_x, &row.grid_y, &row.grid_z});
    read_extent(at, &args, BLOCK, (uint32_t *const[]){&row.block_x, &row.block_y, &row.block_z});
    gt_builder_kernel_config(at->sink->builder, &row);
}

void gt_torch_facts_of_kernel(const struct gt_torch_subject *at) {
    struct gt_torch_subject comm = gt_torch_subject_for(at, GT_FACT_COMMS);
    struct gt_torch_subject config = gt_torch_subject_for(at, GT_FACT_CONFIGS);
    if (at->sink->facts & GT_FACT_COMMS)
        gt_torch_facts_take_comm(&comm, true);
    if (at->sink->facts & GT_FACT_CONFIGS)
        take_config(&config);
}

/* ---- arguments of operators ---- */

enum { OPERATOR, SEQUENCE, FORWARD_THREAD, DIMS, TYPES, STRIDES, INPUTS };

static const struct gt_torch_args_key operator_keys[] = {
    {GT_STR("External id"), OPERATOR}, {GT_STR("Sequence number"), SEQUENCE}, {GT_STR("Fwd thread id"), FORWARD_THREAD},
    {GT_STR("Input Dims"), DIMS},      {GT_STR("Input dims"), DIMS}, /* 2021 */
    {GT_STR("Input type"), TYPES},     {GT_STR("Input Strides"), STRIDES},    {GT_STR("Concrete Inputs"), INPUTS},
};

static void take_arguments(const struct gt_torch_subject *at) {
    struct gt_torch_args args;
    gt_torch_args_take(&args, at, operator_keys, GT_ARRAY_COUNT(operator_keys));
    if (!args.seen)
        return;
    gt_builder_operator_args(at->sink->builder, &(struct gt_operator_args_row){
                                                    .external = gt_torch_args_uint(at, &args, OPERATOR),
                                                    .sequence = gt_torch_args_int(at, &args, SEQUENCE, -1),
                                                    .forward_thread = gt_torch_args_int(at, &args, FORWARD_THREAD, -1),
                                                    .dims = gt_torch_args_text(at, &args, DIMS),
                                                    .types = gt_torch_args_text(at, &args, TYPES),
                                                    .strides = gt_torch_args_text(at, &args, STRIDES),
                                                    .inputs = gt_torch_args_text(at, &args, INPUTS),
                                                });
}

void gt_torch_facts_of_cpu_op(const struct gt_torch_subject *at, gt_strid name) {
    struct gt_torch_subject comm = gt_torch_subject_for(at, GT_FACT_COMMS);
    struct gt_torch_subject arguments = gt_torch_subject_for(at, GT_FACT_ARGUMENTS);
    if (at->sink->facts & GT_FACT_COMMS &&
        gt_str_eq(gt_store_string(&at->sink->builder->store, name), GT_STR(GT_TORCH_COMM_RECORD)))
        gt_torch_facts_take_comm(&comm, false);
    if (at->sink->facts & GT_FACT_ARGUMENTS)
        take_arguments(&arguments);
    struct gt_torch_subject details = gt_torch_subject_for(at, GT_FACT_DETAILS);
    if (at->sink->facts & GT_FACT_DETAILS)
        gt_torch_details_of_operator(&details);
}

/* ---- for the fast reader ---- */

static const enum gt_torch_field operator_fields[] = {
    [OPERATOR] = GT_TORCH_EXTERNAL, [SEQUENCE] = GT_TORCH_SEQUENCE, [FORWARD_THREAD] = GT_TORCH_FORWARD_THREAD,
    [DIMS] = GT_TORCH_ARGS,         [TYPES] = GT_TORCH_ARGS,        [STRIDES] = GT_TORCH_ARGS,
    [INPUTS] = GT_TORCH_ARGS,
};

static const enum gt_torch_field config_fields[] = {
    [EXTERNAL] = GT_TORCH_EXTERNAL, [GRID] = GT_TORCH_ARGS,           [BLOCK] = GT_TORCH_ARGS,
    [REGISTERS] = GT_TORCH_ARGS,    [SHARED] = GT_TORCH_ARGS,         [BLOCKS_PER_SM] = GT_TORCH_ARGS,
    [WARPS_PER_SM] = GT_TORCH_ARGS, [OCCUPANCY] = GT_TORCH_OCCUPANCY, [PRIORITY] = GT_TORCH_PRIORITY,
    [LIMITS] = GT_TORCH_LIMITS,     [CHANNEL] = GT_TORCH_CHANNEL,     [CHANNEL_TYPE] = GT_TORCH_CHANNEL_TYPE,
    [GRAPH_NODE] = GT_TORCH_OTHER, /* gt_torch_event_args_field() has it */
};

enum gt_torch_field gt_torch_facts_field(enum gt_torch_category category, struct gt_str key) {
    bool is_kernel = category == GT_TORCH_CAT_KERNEL;
    const struct gt_torch_args_key *keys = is_kernel ? config_keys : operator_keys;
    size_t count = is_kernel ? GT_ARRAY_COUNT(config_keys) : GT_ARRAY_COUNT(operator_keys);
    for (size_t i = 0; i < count; i++)
        if (gt_str_eq(key, keys[i].key))
            return is_kernel ? config_fields[keys[i].field] : operator_fields[keys[i].field];
    return GT_TORCH_OTHER;
}

static bool has_brace(struct gt_str text) {
    return memchr(text.ptr, '{', text.len) || memchr(text.ptr, '}', text.len);
}

bool gt_torch_facts_read_arguments(struct gt_str text, struct gt_torch_args *args) {
    const uint32_t numbers = 1U << OPERATOR | 1U << SEQUENCE | 1U << FORWARD_THREAD;
    if (has_brace(text) || !gt_torch_args_read_members(args, text, operator_keys, GT_ARRAY_COUNT(operator_keys)) ||
        args->seen & numbers)
        return false;
    for (unsigned field = DIMS; field <= INPUTS; field++)
        if (gt_torch_args_has(args, field) &&
            (args->values[field].is_string || args->values[field].text.raw.ptr[0] != '['))
            return false;
    return true;
}

/* A list is text as it is. */
static gt_strid intern_list(struct gt_builder *builder, const struct gt_torch_args *args, unsigned field) {
    return gt_torch_args_has(args, field) ? gt_builder_string(builder, args->values[field].text.raw) : GT_STRID_EMPTY;
}

struct gt_operator_args_row gt_torch_facts_arguments(struct gt_builder *builder, const struct gt_torch_args *args) {
    return (struct gt_operator_args_row){
        .external = UINT64_MAX,
        .sequence = -1,
        .forward_thread = -1,
        .dims = intern_list(builder, args, DIMS),
        .types = intern_list(builder, args, TYPES),
        .strides = intern_list(builder, args, STRIDES),
        .inputs = intern_list(builder, args, INPUTS),
    };
}

static bool read_uint(const struct gt_torch_args *args, unsigned field, uint64_t *number) {
    return !gt_torch_args_has(args, field) || gt_json_number_to_uint(&args->values[field], number) == GT_JSON_NUMBER;
}

static bool read_real(const struct gt_torch_args *args, unsigned field, double *number) {
    return !gt_torch_args_has(args, field) || gt_json_number_to_real(&args->values[field], number) == GT_JSON_NUMBER;
}

static bool read_small(const struct gt_torch_args *args, unsigned field, uint32_t *number) {
    uint64_t large = 0;
    if (!gt_torch_args_has(args, field))
        return true;
    if (!read_uint(args, field, &large) || large >= UINT32_MAX)
        return false;
    *number = (uint32_t)large;
    return true;
}

/* A list of three numbers, and nothing else. */
static bool read_three(const struct gt_torch_args *args, unsigned field, uint32_t *const numbers[3]) {
    if (!gt_torch_args_has(args, field))
        return true;
    struct gt_str list = args->values[field].text.raw;
    if (args->values[field].is_string || list.ptr[0] != '[')
        return false;
    const char *p = list.ptr + 1, *end = list.ptr + list.len;
    struct gt_json_value item;
    for (size_t i = 0; i < 3; i++) {
        uint64_t number;
        if (gt_json_member_next_item(&p, end, &item) != GT_JSON_OK ||
            gt_json_number_to_uint(&item, &number) != GT_JSON_NUMBER || number >= UINT32_MAX)
            return false;
        *numbers[i] = (uint32_t)number;
    }
    return true;
}

bool gt_torch_facts_read_config(struct gt_str text, struct gt_kernel_configs_row *row) {
    static const struct gt_kernel_configs_row unknown = GT_KERNEL_CONFIG_UNKNOWN;
    const uint32_t others = 1U << EXTERNAL | 1U << OCCUPANCY | ~((1U << PRIORITY) - 1);
    struct gt_torch_args args;
    *row = unknown;
    return !has_brace(text) && gt_torch_args_read_members(&args, text, config_keys, GT_ARRAY_COUNT(config_keys)) &&
           !(args.seen & others) && read_uint(&args, SHARED, &row->shared_bytes) &&
           read_real(&args, BLOCKS_PER_SM, &row->blocks_per_multiprocessor) &&
           read_real(&args, WARPS_PER_SM, &row->warps_per_multiprocessor) &&
           read_small(&args, REGISTERS, &row->registers) &&
           read_three(&args, GRID, (uint32_t *const[]){&row->grid_x, &row->grid_y, &row->grid_z}) &&
           read_three(&args, BLOCK, (uint32_t *const[]){&row->block_x, &row->block_y, &row->block_z});
}

/* ---- waits ---- */

enum { KIND, DEVICE, STREAM, CORRELATION, EVENT, WAIT_STREAM, WAIT_EVENT, WAIT_CORRELATION };

static const struct gt_torch_args_key sync_keys[] = {
    {GT_STR("cuda_sync_kind"), KIND},
    {GT_STR("device"), DEVICE},
    {GT_STR("stream"), STREAM},
    {GT_STR("correlation"), CORRELATION},
    {GT_STR("event_id"), EVENT},
    {GT_STR("wait_on_stream"), WAIT_STREAM},
    {GT_STR("wait_on_cuda_event_id"), WAIT_EVENT},
    {GT_STR("wait_on_cuda_event_record_corr_id"), WAIT_CORRELATION},
};

/* A number that may be missing, -1, "N/A" or "INVALID": all of these mean that it is not known. */
static int64_t known_int(const struct gt_torch_args *args, unsigned field) {
    int64_t value;
    bool is_known = gt_torch_args_has(args, field) &&
                    gt_json_number_to_int(&args->values[field], &value) == GT_JSON_NUMBER && value >= 0;
    return is_known ? value : -1;
}

static uint64_t known_id(const struct gt_torch_args *args, unsigned field) {
    uint64_t value;
    bool is_known =
        gt_torch_args_has(args, field) && gt_json_number_to_uint(&args->values[field], &value) == GT_JSON_NUMBER;
    return is_known ? value : UINT64_MAX;
}

static int64_t sync_device(const struct gt_torch_subject *at, const struct gt_torch_args *args) {
    int64_t pid;
    if (gt_torch_args_has(args, DEVICE))
        return known_int(args, DEVICE);
    return gt_torch_value_int(at->event, GT_TORCH_PID, &pid) == GT_JSON_NUMBER && pid >= 0 ? pid : -1;
}

static int64_t sync_stream(const struct gt_torch_subject *at, const struct gt_torch_args *args) {
    int64_t tid;
    if (gt_torch_args_has(args, STREAM))
        return known_int(args, STREAM);
    if (gt_torch_value_int(at->event, GT_TORCH_TID, &tid) != GT_JSON_NUMBER || tid < 0)
        return -1;
    return gt_torch_sink_stream_of_row(tid);
}

static enum gt_sync_kind kind_of(struct gt_str text) {
    static const struct {
        struct gt_str text;
        enum gt_sync_kind kind;
    } kinds[] = {
        {GT_STR("Event Sync"), GT_SYNC_EVENT},
        {GT_STR("Stream Wait Event"), GT_SYNC_STREAM_WAIT},
        {GT_STR("Stream Sync"), GT_SYNC_STREAM},
        {GT_STR("Context Sync"), GT_SYNC_CONTEXT},
    };
    for (size_t i = 0; i < GT_ARRAY_COUNT(kinds); i++)
        if (gt_str_starts(text, kinds[i].text))
            return kinds[i].kind;
    return GT_SYNC_UNKNOWN;
}

static enum gt_sync_kind sync_kind(const struct gt_torch_subject *at, const struct gt_torch_args *args) {
    enum gt_sync_kind kind = GT_SYNC_UNKNOWN;
    if (gt_torch_args_has(args, KIND))
        kind = kind_of(args->values[KIND].text.raw);
    if (kind == GT_SYNC_UNKNOWN && gt_torch_event_has(at->event, GT_TORCH_NAME))
        kind = kind_of(at->event->values[GT_TORCH_NAME].text.raw);
    return kind;
}

/* Kineto writes the device where others write the process, which the call of the same correlation knows. */
void gt_torch_facts_take_sync(const struct gt_torch_subject *at) {
    struct gt_torch_args args;
    struct gt_syncs_row row = {.record = UINT64_MAX, .process = GT_NO_TRACK};
    if (!gt_torch_subject_times(at, &row.start_ns, &row.end_ns)) {
        gt_torch_subject_issue(at, GT_ISSUE_EVENT_DAMAGED);
        return;
    }
    gt_torch_args_take(&args, at, sync_keys, GT_ARRAY_COUNT(sync_keys));
    row.correlation = known_id(&args, CORRELATION);
    row.event = known_id(&args, gt_torch_args_has(&args, WAIT_EVENT) ? WAIT_EVENT : EVENT);
    row.wait_correlation = known_id(&args, WAIT_CORRELATION);
    row.device = sync_device(at, &args);
    row.stream = sync_stream(at, &args);
    row.wait_stream = known_int(&args, WAIT_STREAM);
    row.kind = (uint8_t)sync_kind(at, &args);
    gt_builder_sync(at->sink->builder, &row);
}

void gt_torch_facts_take_event_record(const struct gt_torch_subject *at) {
    struct gt_torch_args args;
    gt_torch_args_take(&args, at, sync_keys, GT_ARRAY_COUNT(sync_keys));
    gt_builder_event_record(at->sink->builder, &(struct gt_event_records_row){
                                                   .correlation = known_id(&args, CORRELATION),
                                                   .event = known_id(&args, EVENT),
                                                   .record = UINT64_MAX,
                                                   .device = sync_device(at, &args),
                                                   .stream = sync_stream(at, &args),
                                                   .process = GT_NO_TRACK,
                                               });
}

/* ---- flows ---- */

static bool member_is(const struct gt_torch_event *event, enum gt_torch_field field, struct gt_str text) {
    return gt_torch_event_has(event, field) && gt_str_eq(event->values[field].text.raw, text);
}

bool gt_torch_facts_is_launch_flow(const struct gt_torch_event *event) {
    return member_is(event, GT_TORCH_CAT, GT_STR("ac2g"));
}

/* Old releases have one category for all flows, and their kind as the name. */
static bool is_forward_to_backward(const struct gt_torch_event *event) {
    static const struct gt_str kind = GT_STR("fwdbwd");
    return member_is(event, GT_TORCH_CAT, kind) ||
           (member_is(event, GT_TORCH_NAME, kind) && !gt_torch_facts_is_launch_flow(event));
}

bool gt_torch_facts_take_flow(const struct gt_torch_subject *at, enum gt_flow_phase phase) {
    struct gt_flows_row row = {.phase = (uint8_t)phase};
    int64_t end_ns;
    if (!is_forward_to_backward(at->event))
        return false;
    if (!gt_torch_event_has(at->event, GT_TORCH_ID) ||
        gt_json_number_to_uint(&at->event->values[GT_TORCH_ID], &row.id) != GT_JSON_NUMBER) {
        gt_torch_subject_issue(at, GT_ISSUE_NUMBER_UNREADABLE);
        return false;
    }
    if (!gt_torch_subject_times(at, &row.time_ns, &end_ns)) {
        gt_torch_subject_issue(at, GT_ISSUE_EVENT_DAMAGED);
        return true;
    }
    row.thread = gt_torch_subject_thread(at);
    gt_builder_flow(at->sink->builder, &row);
    return true;
}
