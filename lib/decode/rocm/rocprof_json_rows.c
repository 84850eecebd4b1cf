/* Records of rocprofv3's JSON, member by member, to those that rocm.h gives their meaning. */
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "decode/rocm/rocprof_json.h"

enum gt_rocprof_json_array gt_rocprof_json_array_of(const char *key) {
    static const struct {
        const char *key;
        enum gt_rocprof_json_array array;
    } arrays[] = {
        {"kernel_dispatch", GT_ROCPROF_JSON_KERNELS},
        {"memory_copy", GT_ROCPROF_JSON_COPIES},
        {"hip_api", GT_ROCPROF_JSON_REGIONS},
        {"hsa_api", GT_ROCPROF_JSON_REGIONS},
        {"marker_api", GT_ROCPROF_JSON_REGIONS},
        {"rccl_api", GT_ROCPROF_JSON_REGIONS},
        {"memory_allocation", GT_ROCPROF_JSON_ALLOCATIONS},
        {"counter_collection", GT_ROCPROF_JSON_COUNTERS},
    };
    for (size_t i = 0; i < GT_ARRAY_COUNT(arrays); i++)
        if (strcmp(key, arrays[i].key) == 0)
            return arrays[i].array;
    return GT_ROCPROF_JSON_NONE;
}

enum field {
    START,
    END,
    KIND,
    OPERATION,
    THREAD,
    CORRELATION,
    STREAM,
    QUEUE,
    AGENT,
    SOURCE,
    TARGET,
    KERNEL,
    DISPATCH,
    LDS,
    SCRATCH,
    BYTES,
    ADDRESS,
    GRAPH,
    GRID,
    GROUP = GRID + 3,
    FIELD_COUNT = GROUP + 3
};

struct record {
    struct gt_rocprof_json_rows *rows;
    uint64_t numbers[FIELD_COUNT];
    uint64_t counter; /* whose value comes next */
    uint64_t key;
    bool has_values;
};

/* Numbers may be inside of an object with one member, "handle", "value" or "internal"; sizes have three. */
static void take_field(void *context, const struct gt_rocprof_json_value *value) {
    static const struct {
        struct gt_str key;
        enum field field;
    } fields[] = {
        {GT_STR("start_timestamp"), START},
        {GT_STR("end_timestamp"), END},
        {GT_STR("kind"), KIND},
        {GT_STR("operation"), OPERATION},
        {GT_STR("thread_id"), THREAD},
        {GT_STR("correlation_id"), CORRELATION},
        {GT_STR("stream_id"), STREAM},
        {GT_STR("queue_id"), QUEUE},
        {GT_STR("agent_id"), AGENT},
        {GT_STR("src_agent_id"), SOURCE},
        {GT_STR("dst_agent_id"), TARGET},
        {GT_STR("kernel_id"), KERNEL},
        {GT_STR("dispatch_id"), DISPATCH},
        {GT_STR("group_segment_size"), LDS},
        {GT_STR("private_segment_size"), SCRATCH},
        {GT_STR("bytes"), BYTES},
        {GT_STR("allocation_size"), BYTES},
        {GT_STR("address"), ADDRESS},
        {GT_STR("graph_exec_id"), GRAPH},
        {GT_STR("grid_size"), GRID},
        {GT_STR("workgroup_size"), GROUP},
    };
    struct record *record = context;
    struct gt_str name = value->key;
    unsigned axis = 0;
    uint64_t number;
    if (gt_str_eq(name, GT_STR("handle")) || gt_str_eq(name, GT_STR("value")) || gt_str_eq(name, GT_STR("internal")))
        name = value->parent;
    if (name.len == 1 && *name.ptr >= 'x' && *name.ptr <= 'z') {
        axis = (unsigned)(*name.ptr - 'x');
        name = value->parent;
    }
    if (!gt_rocprof_json_number(value, &number))
        return;
    for (size_t i = 0; i < GT_ARRAY_COUNT(fields); i++)
        if (gt_str_eq(name, fields[i].key)) {
            record->numbers[fields[i].field + axis] = number;
            return;
        }
}

static int64_t time_of(const struct record *record, enum field field) {
    return record->numbers[field] > INT64_MAX ? GT_NO_TIME : (int64_t)record->numbers[field];
}

static const struct gt_rocm_agent *agent_of(const struct record *record, enum field field) {
    const struct gt_rocprof_json_rows *rows = record->rows;
    uint64_t handle = record->numbers[field];
    uint32_t place = handle == GT_ROCM_NONE ? GT_MAP_NONE : gt_map_get(&rows->process->agent_of, 0, handle);
    return place == GT_MAP_NONE ? NULL : &rows->capture->agents[place];
}

static int64_t device_of(const struct record *record, enum field field) {
    const struct gt_rocm_agent *agent = agent_of(record, field);
    if (agent)
        return agent->device;
    return record->rows->process->agent_of.count == 0 && record->numbers[field] < INT32_MAX
               ? (int64_t)record->numbers[field]
               : -1;
}

static int64_t stream_of(const struct record *record) {
    uint64_t stream = record->numbers[STREAM] == GT_ROCM_NONE ? record->numbers[QUEUE] : record->numbers[STREAM];
    return stream > INT64_MAX ? 0 : (int64_t)stream;
}

static const struct gt_rocprof_json_kind *kind_of(const struct record *record) {
    const struct gt_rocprof_json_process *process = record->rows->process;
    return record->numbers[KIND] < process->kind_count ? &process->kinds[record->numbers[KIND]] : NULL;
}

/* The name of what was done; ptr NULL: it is not known. */
static struct gt_str operation_of(const struct record *record) {
    const struct gt_rocprof_json_kind *kind = kind_of(record);
    uint64_t operation = record->numbers[OPERATION];
    return kind && operation < kind->count ? kind->operations[operation] : (struct gt_str){NULL, 0};
}

/* ---- kernels ---- */

static void add_config(const struct record *record, uint32_t symbol) {
    const struct gt_rocpd_symbol *kernel = symbol == GT_MAP_NONE ? NULL : &record->rows->process->symbol_facts[symbol];
    struct gt_rocm_config config = GT_ROCM_CONFIG_UNKNOWN;
    for (size_t i = 0; i < 3; i++) {
        config.grid[i] = record->numbers[GRID + i];
        config.workgroup[i] = record->numbers[GROUP + i];
    }
    config.lds_bytes = record->numbers[LDS];
    config.scratch_bytes = record->numbers[SCRATCH];
    if (kernel) {
        config.vgprs = kernel->vgprs;
        config.static_lds_bytes = kernel->lds_bytes;
        config.lds_bytes = config.lds_bytes == GT_ROCM_NONE ? kernel->lds_bytes : config.lds_bytes;
        config.scratch_bytes = config.scratch_bytes == GT_ROCM_NONE ? kernel->scratch_bytes : config.scratch_bytes;
    }
    gt_rocm_add_config(record->rows->sink, &config);
}

static gt_strid kernel_name(const struct record *record, uint32_t symbol) {
    const struct gt_rocpd_names *names = &record->rows->process->symbols;
    struct gt_builder *builder = record->rows->sink->builder;
    char digits[GT_NUM_MAX] = "";
    if (symbol != GT_MAP_NONE)
        return gt_builder_string(builder, names->texts[symbol]);
    if (names->count == 0 && record->numbers[KERNEL] != GT_ROCM_NONE)
        return gt_builder_string(builder,
                                 (struct gt_str){digits, gt_num_format_int(digits, (int64_t)record->numbers[KERNEL])});
    return gt_builder_string(builder, GT_LOST_NAME);
}

static void add_kernel(const struct record *record) {
    const struct gt_rocprof_json_rows *rows = record->rows;
    uint64_t id = record->numbers[KERNEL];
    uint32_t symbol = id == GT_ROCM_NONE ? GT_MAP_NONE : gt_rocpd_names_find(&rows->process->symbols, id);
    if (!gt_rocm_reads(rows->sink, GT_FACT_OPS))
        return;
    struct gt_rocm_op op = {
        .start_ns = time_of(record, START),
        .end_ns = time_of(record, END),
        .correlation = record->numbers[CORRELATION],
        .process = rows->process->place,
        .device = device_of(record, AGENT),
        .stream = stream_of(record),
        .name = kernel_name(record, symbol),
        .lacks_name = symbol == GT_MAP_NONE,
        .graph = record->numbers[GRAPH],
        .bytes = GT_ROCM_NONE,
    };
    if (gt_rocm_add_op(rows->sink, &op) && gt_rocm_reads(rows->sink, GT_FACT_CONFIGS))
        add_config(record, symbol);
}

/* ---- counters ---- */

/* {"records": [{"counter_id": {"handle": 3}, "value": 12.5}, ...]} */
static void take_value(void *context, const struct gt_rocprof_json_value *value) {
    struct record *record = context;
    const struct gt_rocprof_json_rows *rows = record->rows;
    double amount;
    if (gt_str_eq(value->key, GT_STR("counter_id")) ||
        (gt_str_eq(value->key, GT_STR("handle")) && gt_str_eq(value->parent, GT_STR("counter_id")))) {
        if (!gt_rocprof_json_number(value, &record->counter))
            record->counter = GT_ROCM_NONE;
    } else if (gt_str_eq(value->key, GT_STR("value")) && gt_str_eq(value->parent, GT_STR("records")) &&
               record->counter != GT_ROCM_NONE && gt_num_parse_real(value->text.raw, &amount)) {
        uint32_t name = gt_map_get(&rows->process->counter_of, 0, record->counter);
        if (name != GT_MAP_NONE)
            gt_rocm_add_value(rows->sink, &(struct gt_rocm_value){rows->part, record->key, name, amount});
        record->has_values = true;
    }
}

static void add_counters(struct record *record, struct gt_str value) {
    const struct gt_rocprof_json_rows *rows = record->rows;
    int64_t start_ns = time_of(record, START), end_ns = time_of(record, END), device = device_of(record, AGENT);
    if (!gt_rocm_reads(rows->sink, GT_FACT_METRICS) || start_ns == GT_NO_TIME || end_ns < start_ns)
        return;
    record->key = record->numbers[DISPATCH] != GT_ROCM_NONE ? record->numbers[DISPATCH] : record->numbers[CORRELATION];
    record->counter = GT_ROCM_NONE;
    gt_rocprof_json_values(value, "dispatch_data", take_value, record);
    if (record->has_values)
        gt_rocm_add_span(rows->sink,
                         &(struct gt_rocm_span){rows->part, record->key, start_ns, end_ns, device < 0 ? 0 : device});
}

/* ---- the others ---- */

static void add_copy(const struct record *record) {
    const struct gt_rocprof_json_rows *rows = record->rows;
    const struct gt_rocm_agent *source = agent_of(record, SOURCE), *target = agent_of(record, TARGET);
    struct gt_str operation = operation_of(record);
    enum gt_rocm_way way = operation.ptr ? gt_rocm_way_of(operation) : GT_ROCM_WAY_UNKNOWN;
    if (way == GT_ROCM_WAY_UNKNOWN && source && target)
        way = gt_rocm_way_between(source->is_gpu, target->is_gpu);
    int64_t device = device_of(record, way == GT_ROCM_DEVICE_TO_HOST ? SOURCE : TARGET);
    if (device < 0)
        device = device_of(record, SOURCE);
    if (!gt_rocm_reads(rows->sink, GT_FACT_OPS | GT_FACT_BYTES))
        return;
    gt_rocm_add_op(rows->sink,
                   &(struct gt_rocm_op){
                       .start_ns = time_of(record, START),
                       .end_ns = time_of(record, END),
                       .correlation = record->numbers[CORRELATION],
                       .process = rows->process->place,
                       .device = device,
                       .stream = stream_of(record),
                       .name = operation.ptr ? gt_builder_string(rows->sink->builder, operation) : GT_STRID_EMPTY,
                       .graph = record->numbers[GRAPH],
                       .is_copy = true,
                       .way = way,
                       .bytes = record->numbers[BYTES],
                   });
}

static void add_region(const struct record *record) {
    const struct gt_rocprof_json_rows *rows = record->rows;
    const struct gt_rocprof_json_kind *kind = kind_of(record);
    enum gt_rocm_domain domain = kind ? kind->domain : rows->domain;
    struct gt_str function = operation_of(record), name = function;
    bool is_marker = domain == GT_ROCM_MARKER;
    uint32_t message = is_marker && record->numbers[CORRELATION] != GT_ROCM_NONE
                           ? gt_rocpd_names_find(&rows->process->messages, record->numbers[CORRELATION])
                           : GT_MAP_NONE;
    if (!gt_rocm_reads(rows->sink, gt_rocm_domain_facts(domain)) ||
        (is_marker && message == GT_MAP_NONE && function.ptr && gt_rocm_marks_nothing(function))) {
        gt_builder_skip(rows->sink->builder);
        return;
    }
    if (message != GT_MAP_NONE)
        name = rows->process->messages.texts[message];
    uint64_t tid = record->numbers[THREAD];
    gt_rocm_add_region(rows->sink, &(struct gt_rocm_region){
                                       .start_ns = time_of(record, START),
                                       .end_ns = time_of(record, END),
                                       .correlation = record->numbers[CORRELATION],
                                       .process = rows->process->place,
                                       .tid = tid > INT64_MAX ? -1 : (int64_t)tid,
                                       .name = gt_builder_string(rows->sink->builder, name.ptr ? name : GT_LOST_NAME),
                                       .domain = domain,
                                       .function = is_marker && function.ptr ? function : GT_STR(""),
                                   });
}

static void add_allocation(const struct record *record) {
    const struct gt_rocprof_json_rows *rows = record->rows;
    const struct gt_rocm_agent *agent = agent_of(record, AGENT);
    struct gt_str operation = operation_of(record);
    enum gt_rocm_memory kind = gt_rocm_memory_of(operation.ptr ? operation : GT_STR(""), GT_STR(""));
    if (!gt_rocm_reads(rows->sink, GT_ROCM_FACTS_OF_MEMORY) || kind == GT_ROCM_MEMORY_OTHER) {
        gt_builder_skip(rows->sink->builder);
        return;
    }
    uint64_t tid = record->numbers[THREAD];
    gt_rocm_add_allocation(rows->sink,
                           &(struct gt_rocm_allocation){
                               .start_ns = time_of(record, START),
                               .address = record->numbers[ADDRESS],
                               .bytes = record->numbers[BYTES],
                               .correlation = record->numbers[CORRELATION],
                               .device = device_of(record, AGENT),
                               .process = rows->process->place,
                               .is_free = kind == GT_ROCM_FREE,
                               .is_host = agent && !agent->is_gpu,
                           },
                           tid > INT64_MAX ? -1 : (int64_t)tid);
}

bool gt_rocprof_json_take_record(struct gt_rocprof_json_rows *rows, enum gt_rocprof_json_array array,
                                 struct gt_str value) {
    struct record record = {.rows = rows, .counter = GT_ROCM_NONE};
    for (size_t i = 0; i < FIELD_COUNT; i++)
        record.numbers[i] = GT_ROCM_NONE;
    if (value.len == 0 || *value.ptr != '{' ||
        !gt_rocprof_json_values(value, array == GT_ROCPROF_JSON_COUNTERS ? "records" : "args", take_field, &record))
        return false;
    switch (array) {
    case GT_ROCPROF_JSON_KERNELS:
        rows->kernels++;
        add_kernel(&record);
        break;
    case GT_ROCPROF_JSON_COPIES:
        add_copy(&record);
        break;
    case GT_ROCPROF_JSON_REGIONS:
        add_region(&record);
        break;
    case GT_ROCPROF_JSON_ALLOCATIONS:
        add_allocation(&record);
        break;
    case GT_ROCPROF_JSON_COUNTERS:
        add_kernel(&record);
        add_counters(&record, value);
        break;
    default:
        gt_builder_skip(rows->sink->builder);
    }
    return true;
}
