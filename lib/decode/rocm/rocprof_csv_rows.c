/* Rows of ROCm's CSVs, cell by cell, to the records that rocm.h gives their meaning. */
#include "base/mem.h"
#include "base/num.h"
#include "decode/rocm/rocprof_csv.h"

enum { AGENTS_MAX = 4096 };

/* What all below read: a row that has as many cells as its header. */
struct cells {
    struct gt_rocprof_csv_rows *rows;
    const struct gt_rocprof_csv_header *header;
    const struct gt_csv_row *row;
};

void gt_rocprof_csv_rows_release(struct gt_rocprof_csv_rows *rows) {
    gt_mem_free(rows->agents);
    gt_mem_free(rows->text);
    gt_map_release(&rows->process_of_thread);
    gt_map_release(&rows->process_of_guid);
    gt_map_release(&rows->seen);
}

uint32_t gt_rocprof_csv_rows_facts(enum gt_rocprof_csv_table table) {
    static const uint32_t facts[] = {
        [GT_ROCPROF_CSV_REGIONS] = GT_FACT_CALLS | GT_FACT_RANGES,
        [GT_ROCPROF_CSV_KERNELS] = GT_FACT_OPS,
        [GT_ROCPROF_CSV_COPIES] = GT_FACT_OPS,
        [GT_ROCPROF_CSV_ALLOCATIONS] = GT_ROCM_FACTS_OF_MEMORY,
        [GT_ROCPROF_CSV_COUNTERS] = GT_FACT_OPS | GT_FACT_METRICS,
        [GT_ROCPROF_CSV_SUMS] = GT_FACT_GROUPS,
        [GT_ROCPROF_CSV_OTHER] = 0,
    };
    return facts[table];
}

/* ---- cells ---- */

static struct gt_csv_cell cell_of(const struct cells *cells, enum gt_rocprof_csv_column column) {
    uint8_t place = cells->header->place[column];
    return place ? cells->row->cells[place - 1] : (struct gt_csv_cell){{"", 0}, false};
}

static struct gt_str trimmed(struct gt_str text) {
    while (text.len && (*text.ptr == ' ' || *text.ptr == '\t'))
        text = (struct gt_str){text.ptr + 1, text.len - 1};
    while (text.len && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\r'))
        text.len--;
    return text;
}

/* With doubled quotes undone; lives until the next. */
static struct gt_str text_of(const struct cells *cells, enum gt_rocprof_csv_column column) {
    struct gt_csv_cell cell = cell_of(cells, column);
    struct gt_rocprof_csv_rows *rows = cells->rows;
    if (!cell.has_quotes)
        return cell.text;
    if (cell.text.len > rows->text_bytes) {
        char *grown = gt_mem_realloc(rows->text, cell.text.len);
        rows->sink->builder->failed |= !grown;
        if (!grown)
            return GT_STR("");
        rows->text = grown;
        rows->text_bytes = cell.text.len;
    }
    return (struct gt_str){rows->text, gt_csv_scan_decode(cell.text, rows->text)};
}

/* A number, also "0x..."; GT_ROCM_NONE where there is none. */
static uint64_t number_of(const struct cells *cells, enum gt_rocprof_csv_column column) {
    struct gt_str text = trimmed(cell_of(cells, column).text);
    uint64_t value;
    bool is_hex = gt_str_take_start(&text, GT_STR("0x"));
    if (text.len == 0)
        return GT_ROCM_NONE;
    if (is_hex ? gt_num_parse_hex(text, &value) : gt_num_parse_uint(text, &value))
        return value;
    gt_builder_issue_of(cells->rows->sink->builder, GT_ISSUE_NUMBER_UNREADABLE,
                        gt_rocprof_csv_rows_facts(cells->header->table), 1, cells->row->offset);
    return GT_ROCM_NONE;
}

static bool time_of(const struct cells *cells, enum gt_rocprof_csv_column column, int64_t *ns) {
    return gt_num_parse_int(trimmed(cell_of(cells, column).text), ns);
}

static uint64_t correlation_of(const struct cells *cells) {
    return number_of(cells, GT_ROCPROF_CSV_CORRELATION);
}

/* ---- agents ---- */

/* A row for each agent, which others call "Agent 4" by its place among all, or "GPU 0" by that among its kind; older
   versions write the number of its node alone. */
static bool take_agent(const struct cells *cells) {
    struct gt_rocprof_csv_rows *rows = cells->rows;
    struct gt_rocprof_csv_agent agent = {.node = number_of(cells, GT_ROCPROF_CSV_NODE),
                                         .logical = number_of(cells, GT_ROCPROF_CSV_LOGICAL)};
    if (agent.node == GT_ROCM_NONE || rows->agent_count == AGENTS_MAX)
        return false;
    agent.is_gpu = gt_str_eq_nocase(trimmed(cell_of(cells, GT_ROCPROF_CSV_TYPE).text), GT_STR("GPU"));
    agent.logical = agent.logical == GT_ROCM_NONE ? agent.node : agent.logical;
    struct gt_rocprof_csv_agent *grown =
        gt_mem_room(rows->agents, rows->agent_count, &rows->agent_capacity, sizeof *grown);
    rows->sink->builder->failed |= !grown;
    if (!grown)
        return true;
    rows->agents = grown;
    struct gt_str name = text_of(cells, GT_ROCPROF_CSV_PRODUCT);
    if (name.len == 0)
        name = text_of(cells, GT_ROCPROF_CSV_MODEL);
    if (name.len == 0)
        name = text_of(cells, GT_ROCPROF_CSV_AGENT_NAME);
    uint64_t units = number_of(cells, GT_ROCPROF_CSV_UNITS), lds = number_of(cells, GT_ROCPROF_CSV_LDS_SIZE);
    uint64_t clock = number_of(cells, GT_ROCPROF_CSV_CLOCK);
    uint32_t place =
        gt_rocm_capture_agent(rows->capture, &(struct gt_rocm_agent){
                                                 .is_gpu = agent.is_gpu,
                                                 .device = -1,
                                                 .name = gt_arena_copy(&rows->capture->arena, name),
                                                 .compute_units = units < UINT32_MAX ? (uint32_t)units : 0,
                                                 .lds_bytes = lds < UINT32_MAX / 1024 ? 1024 * (uint32_t)lds : 0,
                                                 .clock_hz = clock < UINT32_MAX ? 1000000 * clock : 0,
                                             });
    if (place != UINT32_MAX)
        grown[rows->agent_count++] = agent;
    return true;
}

void gt_rocprof_csv_rows_number_agents(struct gt_rocprof_csv_rows *rows) {
    for (size_t i = 0; i < rows->agent_count; i++) {
        uint64_t before = 0;
        for (size_t k = 0; k < rows->agent_count; k++) {
            bool is_earlier = rows->agents[k].logical < rows->agents[i].logical ||
                              (k < i && rows->agents[k].logical == rows->agents[i].logical);
            before += is_earlier && rows->agents[k].is_gpu == rows->agents[i].is_gpu;
        }
        rows->agents[i].type_index = before;
        if (rows->agents[i].is_gpu)
            rows->capture->agents[i].device = (int64_t)before;
    }
}

static const struct gt_rocprof_csv_agent *find_agent(const struct gt_rocprof_csv_rows *rows, uint64_t number,
                                                     bool by_logical) {
    for (size_t i = 0; i < rows->agent_count; i++)
        if ((by_logical ? rows->agents[i].logical : rows->agents[i].node) == number)
            return &rows->agents[i];
    return NULL;
}

/* The number of a GPU by what rows call it; -1: it is none, or not known. */
static int64_t device_of(const struct cells *cells, enum gt_rocprof_csv_column column) {
    struct gt_str text = trimmed(text_of(cells, column));
    uint64_t number;
    bool is_gpu = gt_str_take_start(&text, GT_STR("GPU ")), is_agent = gt_str_take_start(&text, GT_STR("Agent "));
    if (!gt_num_parse_uint(trimmed(text), &number) || number >= INT32_MAX)
        return -1;
    if (is_gpu || cells->rows->agent_count == 0)
        return (int64_t)number;
    const struct gt_rocprof_csv_agent *agent = find_agent(cells->rows, number, is_agent);
    if (!agent)
        agent = find_agent(cells->rows, number, !is_agent);
    return !agent ? (int64_t)number : agent->is_gpu ? (int64_t)agent->type_index : -1;
}

/* ---- processes ---- */

static uint64_t hash_of(struct gt_str text) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char)text.ptr[i]) * UINT64_C(1099511628211);
    return hash;
}

/* Kernels and copies have no process: it is that of their thread, of others with the same guid, or the only one. */
static uint32_t process_of(const struct cells *cells, uint64_t tid) {
    struct gt_rocprof_csv_rows *rows = cells->rows;
    uint64_t pid = number_of(cells, GT_ROCPROF_CSV_PROCESS);
    struct gt_str guid = cell_of(cells, GT_ROCPROF_CSV_GUID).text;
    if (pid < INT64_MAX) {
        uint32_t process = gt_rocm_capture_process(rows->capture, 0, (int64_t)pid);
        if (tid != GT_ROCM_NONE && process != GT_ROCM_NO_PROCESS)
            gt_map_put_if_new(&rows->process_of_thread, 0, tid, process);
        if (guid.len && process != GT_ROCM_NO_PROCESS)
            gt_map_put_if_new(&rows->process_of_guid, 0, hash_of(guid), process);
        rows->sink->builder->failed |= rows->process_of_thread.failed || rows->process_of_guid.failed;
        return process;
    }
    uint32_t process = guid.len ? gt_map_get(&rows->process_of_guid, 0, hash_of(guid)) : GT_MAP_NONE;
    if (process == GT_MAP_NONE && rows->capture->process_count == 1)
        return 0;
    if (process == GT_MAP_NONE && tid != GT_ROCM_NONE)
        process = gt_map_get(&rows->process_of_thread, 0, tid);
    return process == GT_MAP_NONE ? GT_ROCM_NO_PROCESS : process;
}

/* ---- records ---- */

static bool take_region(const struct cells *cells) {
    struct gt_rocprof_csv_rows *rows = cells->rows;
    uint64_t tid = number_of(cells, GT_ROCPROF_CSV_THREAD);
    struct gt_rocm_region region = {
        .correlation = correlation_of(cells), .process = process_of(cells, tid), .function = {"", 0}};
    if (!time_of(cells, GT_ROCPROF_CSV_START, &region.start_ns) || !time_of(cells, GT_ROCPROF_CSV_END, &region.end_ns))
        return false;
    region.tid = tid < INT64_MAX ? (int64_t)tid : -1;
    region.domain = gt_rocm_domain_of(trimmed(text_of(cells, GT_ROCPROF_CSV_DOMAIN)));
    struct gt_str name = text_of(cells, GT_ROCPROF_CSV_FUNCTION);
    if (!gt_rocm_reads(rows->sink, gt_rocm_domain_facts(region.domain)) ||
        (region.domain == GT_ROCM_MARKER && gt_rocm_marks_nothing(name))) {
        gt_builder_skip(rows->sink->builder);
        return true;
    }
    region.name = gt_builder_string(rows->sink->builder, name);
    gt_rocm_add_region(rows->sink, &region);
    return true;
}

static int64_t stream_of(const struct cells *cells) {
    uint64_t stream = number_of(cells, GT_ROCPROF_CSV_STREAM);
    stream = stream == GT_ROCM_NONE ? number_of(cells, GT_ROCPROF_CSV_QUEUE) : stream;
    return stream > INT64_MAX ? 0 : (int64_t)stream;
}

static void add_config(const struct cells *cells) {
    struct gt_rocm_config config = GT_ROCM_CONFIG_UNKNOWN;
    bool is_whole = cells->header->place[GT_ROCPROF_CSV_GRID_X] == 0; /* only the products are known */
    for (unsigned i = 0; i < 3 && !is_whole; i++) {
        config.grid[i] = number_of(cells, (enum gt_rocprof_csv_column)(GT_ROCPROF_CSV_GRID_X + i));
        config.workgroup[i] = number_of(cells, (enum gt_rocprof_csv_column)(GT_ROCPROF_CSV_GROUP_X + i));
    }
    if (is_whole) {
        config.grid[0] = number_of(cells, GT_ROCPROF_CSV_GRID);
        config.workgroup[0] = number_of(cells, GT_ROCPROF_CSV_GROUP);
    }
    config.vgprs = number_of(cells, GT_ROCPROF_CSV_VGPRS);
    config.lds_bytes = number_of(cells, GT_ROCPROF_CSV_LDS);
    config.scratch_bytes = number_of(cells, GT_ROCPROF_CSV_SCRATCH);
    gt_rocm_add_config(cells->rows->sink, &config);
}

static bool take_kernel(const struct cells *cells) {
    struct gt_rocprof_csv_rows *rows = cells->rows;
    bool has_gpu = cells->header->place[GT_ROCPROF_CSV_AGENT] == 0;
    uint64_t gpu = has_gpu ? number_of(cells, GT_ROCPROF_CSV_GPU) : GT_ROCM_NONE;
    struct gt_rocm_op op = {.correlation = correlation_of(cells), .bytes = GT_ROCM_NONE};
    if (!time_of(cells, GT_ROCPROF_CSV_START, &op.start_ns) || !time_of(cells, GT_ROCPROF_CSV_END, &op.end_ns))
        return false;
    rows->kernels++;
    if (!gt_rocm_reads(rows->sink, GT_FACT_OPS))
        return true;
    op.process = process_of(cells, number_of(cells, GT_ROCPROF_CSV_THREAD));
    op.device = has_gpu ? gpu < INT32_MAX ? (int64_t)gpu : -1 : device_of(cells, GT_ROCPROF_CSV_AGENT);
    op.stream = stream_of(cells);
    op.graph = number_of(cells, GT_ROCPROF_CSV_GRAPH);
    struct gt_str name = gt_rocm_kernel_name(text_of(cells, GT_ROCPROF_CSV_NAME));
    op.lacks_name = name.len == 0;
    op.name = gt_builder_string(rows->sink->builder, name.len ? name : GT_LOST_NAME);
    if (gt_rocm_add_op(rows->sink, &op) && gt_rocm_reads(rows->sink, GT_FACT_CONFIGS))
        add_config(cells);
    return true;
}

static bool take_copy(const struct cells *cells) {
    struct gt_rocprof_csv_rows *rows = cells->rows;
    struct gt_rocm_op op = {.is_copy = true, .correlation = correlation_of(cells), .graph = GT_ROCM_NONE};
    if (!time_of(cells, GT_ROCPROF_CSV_START, &op.start_ns) || !time_of(cells, GT_ROCPROF_CSV_END, &op.end_ns))
        return false;
    if (!gt_rocm_reads(rows->sink, GT_FACT_OPS | GT_FACT_BYTES))
        return true;
    op.process = process_of(cells, number_of(cells, GT_ROCPROF_CSV_THREAD));
    op.stream = stream_of(cells);
    op.bytes = number_of(cells, GT_ROCPROF_CSV_BYTES);
    op.way = gt_rocm_way_of(text_of(cells, GT_ROCPROF_CSV_DIRECTION));
    op.name = gt_builder_string(rows->sink->builder, text_of(cells, GT_ROCPROF_CSV_DIRECTION));
    bool is_to_host = op.way == GT_ROCM_DEVICE_TO_HOST;
    op.device = device_of(cells, is_to_host ? GT_ROCPROF_CSV_SOURCE : GT_ROCPROF_CSV_TARGET);
    if (op.device < 0)
        op.device = device_of(cells, GT_ROCPROF_CSV_SOURCE);
    gt_rocm_add_op(rows->sink, &op);
    return true;
}

static bool take_allocation(const struct cells *cells) {
    struct gt_rocprof_csv_rows *rows = cells->rows;
    struct gt_str operation = trimmed(text_of(cells, GT_ROCPROF_CSV_OPERATION));
    enum gt_rocm_memory kind = gt_rocm_memory_of(operation, GT_STR(""));
    struct gt_rocm_allocation made = {.correlation = correlation_of(cells)};
    if (!time_of(cells, GT_ROCPROF_CSV_START, &made.start_ns))
        return false;
    if (!gt_rocm_reads(rows->sink, GT_ROCM_FACTS_OF_MEMORY) || kind == GT_ROCM_MEMORY_OTHER) {
        gt_builder_skip(rows->sink->builder);
        return true;
    }
    made.process = process_of(cells, GT_ROCM_NONE);
    made.address = number_of(cells, GT_ROCPROF_CSV_ADDRESS);
    made.bytes = number_of(cells, GT_ROCPROF_CSV_BYTES);
    made.is_free = kind == GT_ROCM_FREE;
    made.device = made.is_free ? -1 : device_of(cells, GT_ROCPROF_CSV_AGENT);
    made.is_host = !made.is_free && made.device < 0;
    gt_rocm_add_allocation(rows->sink, &made, -1);
    return true;
}

/* Whether no row before had this dispatch. */
static bool is_new(struct gt_rocprof_csv_rows *rows, uint64_t dispatch) {
    size_t count = rows->seen.count;
    gt_map_put_if_new(&rows->seen, rows->part, dispatch, 1);
    rows->sink->builder->failed |= rows->seen.failed;
    return rows->seen.count > count;
}

/* One row for each counter of a kernel, with the kernel's times; the kernel counts where no other file has it. */
static bool take_counter(const struct cells *cells) {
    struct gt_rocprof_csv_rows *rows = cells->rows;
    uint64_t dispatch = number_of(cells, GT_ROCPROF_CSV_DISPATCH);
    uint64_t key = dispatch == GT_ROCM_NONE ? correlation_of(cells) : dispatch;
    int64_t start_ns, end_ns;
    double value;
    if (!time_of(cells, GT_ROCPROF_CSV_START, &start_ns) || !time_of(cells, GT_ROCPROF_CSV_END, &end_ns) ||
        !gt_num_parse_real(trimmed(cell_of(cells, GT_ROCPROF_CSV_VALUE).text), &value))
        return false;
    bool is_first = is_new(rows, key);
    if (is_first && !take_kernel(cells))
        return false;
    if (!gt_rocm_reads(rows->sink, GT_FACT_METRICS) || end_ns < start_ns)
        return true;
    int64_t device = device_of(cells, GT_ROCPROF_CSV_AGENT);
    if (is_first)
        gt_rocm_add_span(rows->sink,
                         &(struct gt_rocm_span){rows->part, key, start_ns, end_ns, device < 0 ? 0 : device});
    gt_strid name = gt_rocm_capture_counter(rows->capture, text_of(cells, GT_ROCPROF_CSV_COUNTER));
    gt_rocm_add_value(rows->sink, &(struct gt_rocm_value){rows->part, key, name, value});
    return true;
}

/* ---- sums ---- */

/* Of kernels or copies; the median is not said. */
static bool take_sum(const struct cells *cells) {
    struct gt_builder *builder = cells->rows->sink->builder;
    struct gt_groups_row group = {.kind = (uint8_t)cells->rows->summed, .median_ns = -1, .stddev_ns = -1};
    double deviation;
    if (!gt_num_parse_uint(trimmed(cell_of(cells, GT_ROCPROF_CSV_CALLS).text), &group.instances) ||
        !time_of(cells, GT_ROCPROF_CSV_TOTAL, &group.total_ns) || !time_of(cells, GT_ROCPROF_CSV_MIN, &group.min_ns) ||
        !time_of(cells, GT_ROCPROF_CSV_MAX, &group.max_ns) || group.instances == 0 || group.instances > INT64_MAX ||
        group.total_ns < 0 || group.min_ns < 0 || group.max_ns < 0)
        return false;
    if (gt_num_parse_real(trimmed(cell_of(cells, GT_ROCPROF_CSV_STDDEV).text), &deviation) && deviation >= 0)
        group.stddev_ns = deviation;
    struct gt_str name = text_of(cells, GT_ROCPROF_CSV_AGENT_NAME);
    group.printed = gt_builder_string(builder, name);
    if (group.kind == GT_OP_MEMCPY)
        group.name = gt_rocm_copy_name(cells->rows->sink,
                                       &(struct gt_rocm_op){.name = group.printed, .way = gt_rocm_way_of(name)});
    else
        group.name = gt_builder_string(builder, gt_rocm_kernel_name(name));
    gt_builder_group(builder, &group);
    return true;
}

bool gt_rocprof_csv_rows_take(struct gt_rocprof_csv_rows *rows, const struct gt_rocprof_csv_header *header,
                              const struct gt_csv_row *row) {
    static bool (*const functions[])(const struct cells *) = {
        [GT_ROCPROF_CSV_AGENTS] = take_agent,
        [GT_ROCPROF_CSV_REGIONS] = take_region,
        [GT_ROCPROF_CSV_KERNELS] = take_kernel,
        [GT_ROCPROF_CSV_COPIES] = take_copy,
        [GT_ROCPROF_CSV_ALLOCATIONS] = take_allocation,
        [GT_ROCPROF_CSV_COUNTERS] = take_counter,
        [GT_ROCPROF_CSV_SUMS] = take_sum,
    };
    const struct cells cells = {rows, header, row};
    int64_t start_ns;
    /* What has no start may be another header, of which nothing is a number that cannot be read. */
    bool has_start = header->table != GT_ROCPROF_CSV_AGENTS && header->table != GT_ROCPROF_CSV_SUMS;
    if (has_start && !time_of(&cells, GT_ROCPROF_CSV_START, &start_ns))
        return false;
    return functions[header->table](&cells);
}
