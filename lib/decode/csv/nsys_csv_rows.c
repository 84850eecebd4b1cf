/* One row of a `nsys stats` table into the builder. What ops mean is left to the model of Nsight's own records, so that
   a table gives what the capture gives. */
#include "decode/csv/nsys_csv_rows.h"

#include "base/mem.h"
#include "base/num.h"
#include "events/builder.h"

bool gt_nsys_csv_rows_init(struct gt_nsys_csv_sink *sink, struct gt_builder *builder, uint32_t facts) {
    memset(sink, 0, sizeof *sink);
    sink->builder = builder;
    sink->capture.duration_ns = -1;
    return gt_nsys_sink_init(&sink->model, builder, &sink->capture, facts);
}

void gt_nsys_csv_rows_release(struct gt_nsys_csv_sink *sink) {
    if (sink->builder)
        gt_nsys_sink_release(&sink->model);
    gt_nsys_capture_release(&sink->capture);
    gt_mem_free(sink->name);
    memset(sink, 0, sizeof *sink);
}

/* The name as it was before it was quoted; lives until the next call. */
static struct gt_str name_of(struct gt_nsys_csv_sink *sink, const struct gt_nsys_csv_cells *cells) {
    struct gt_csv_cell cell = gt_nsys_csv_value_cell(cells, GT_NSYS_CSV_NAME);
    if (!cell.has_quotes)
        return cell.text;
    if (cell.text.len > sink->name_bytes) {
        char *grown = gt_mem_realloc(sink->name, cell.text.len);
        if (!grown) {
            sink->builder->failed = true;
            return cell.text;
        }
        sink->name = grown;
        sink->name_bytes = cell.text.len;
    }
    return (struct gt_str){sink->name, gt_csv_scan_decode(cell.text, sink->name)};
}

static void count_unreadable(struct gt_nsys_csv_sink *sink, const struct gt_nsys_csv_cells *cells) {
    gt_builder_issue_of(sink->builder, GT_ISSUE_NUMBER_UNREADABLE, sink->read_for, 1, cells->row->offset);
}

/* A number that a row may lack. */
static uint64_t optional_count(struct gt_nsys_csv_sink *sink, const struct gt_nsys_csv_cells *cells,
                               enum gt_nsys_csv_column column, uint64_t absent) {
    uint64_t value;
    enum gt_nsys_csv_state state = gt_nsys_csv_value_count(cells, column, &value);
    if (state == GT_NSYS_CSV_UNREADABLE)
        count_unreadable(sink, cells);
    return state == GT_NSYS_CSV_READ ? value : absent;
}

static uint64_t optional_size(struct gt_nsys_csv_sink *sink, const struct gt_nsys_csv_cells *cells,
                              enum gt_nsys_csv_column column) {
    uint64_t value;
    enum gt_nsys_csv_state state = gt_nsys_csv_value_size(cells, column, &value);
    if (state == GT_NSYS_CSV_UNREADABLE)
        count_unreadable(sink, cells);
    return state == GT_NSYS_CSV_READ ? value : GT_NSYS_NO_ID;
}

static int64_t optional_ns(struct gt_nsys_csv_sink *sink, const struct gt_nsys_csv_cells *cells,
                           enum gt_nsys_csv_column column, int64_t absent) {
    int64_t value;
    enum gt_nsys_csv_state state = gt_nsys_csv_value_ns(cells, column, &value);
    if (state == GT_NSYS_CSV_UNREADABLE)
        count_unreadable(sink, cells);
    return state == GT_NSYS_CSV_READ ? value : absent;
}

static double optional_real_ns(struct gt_nsys_csv_sink *sink, const struct gt_nsys_csv_cells *cells,
                               enum gt_nsys_csv_column column) {
    double value;
    enum gt_nsys_csv_state state = gt_nsys_csv_value_real_ns(cells, column, &value);
    if (state == GT_NSYS_CSV_UNREADABLE)
        count_unreadable(sink, cells);
    return state == GT_NSYS_CSV_READ ? value : -1;
}

static void count_row(struct gt_nsys_csv_sink *sink, int64_t a, int64_t b) {
    sink->row_count++;
    sink->sums[0] += (uint64_t)a;
    sink->sums[1] += (uint64_t)b;
}

/* ---- ops ---- */

static int64_t device_of(struct gt_nsys_csv_sink *sink, const struct gt_nsys_csv_cells *cells) {
    struct gt_str text = gt_nsys_csv_value_cell(cells, GT_NSYS_CSV_DEVICE).text, name;
    if (sink->device_bytes && gt_str_eq(text, (struct gt_str){sink->device, sink->device_bytes}))
        return sink->device_id;
    int64_t id = gt_nsys_csv_value_device(text, &name);
    if (id < 0)
        return id;
    gt_builder_name_device(sink->builder, gt_builder_device(sink->builder, id), name);
    sink->device_bytes = text.len <= sizeof sink->device ? text.len : 0;
    memcpy(sink->device, text.ptr, sink->device_bytes);
    sink->device_id = id;
    return id;
}

/* What copies and fills have beyond kernels. The kind of memory that is filled is in the first of the two. */
static void describe_copy(struct gt_nsys_csv_sink *sink, const struct gt_nsys_csv_cells *cells, int64_t duration_ns,
                          struct gt_nsys_activity *activity) {
    struct gt_str source = gt_nsys_csv_value_cell(cells, GT_NSYS_CSV_SOURCE_KIND).text;
    struct gt_str target = gt_nsys_csv_value_cell(cells, GT_NSYS_CSV_TARGET_KIND).text;
    bool is_fill = activity->kind == GT_NSYS_MEMSET;
    uint64_t bytes;
    if (!(sink->model.facts & GT_FACT_BYTES))
        return;
    enum gt_nsys_csv_state state = gt_nsys_csv_value_bytes(cells, duration_ns, &bytes);
    sink->read_for = GT_FACT_BYTES;
    if (state == GT_NSYS_CSV_UNREADABLE)
        count_unreadable(sink, cells);
    activity->bytes = state == GT_NSYS_CSV_READ ? bytes : GT_NSYS_NO_ID;
    activity->src_kind = gt_nsys_csv_value_memory_kind(source);
    activity->dst_kind = gt_nsys_csv_value_memory_kind(is_fill ? source : target);
}

/* Only where the table has something of it. */
static void add_config(struct gt_nsys_csv_sink *sink, const struct gt_nsys_csv_cells *cells) {
    sink->read_for = GT_FACT_CONFIGS;
    struct gt_nsys_config config = {
        .cluster = {GT_NSYS_NO_ID, GT_NSYS_NO_ID, GT_NSYS_NO_ID},
        .registers = optional_count(sink, cells, GT_NSYS_CSV_REGISTERS, GT_NSYS_NO_ID),
        .static_shared_bytes = optional_size(sink, cells, GT_NSYS_CSV_STATIC_SHARED),
        .dynamic_shared_bytes = optional_size(sink, cells, GT_NSYS_CSV_DYNAMIC_SHARED),
        .shared_bytes = GT_NSYS_NO_ID,
        .local_bytes = GT_NSYS_NO_ID,
    };
    for (int i = 0; i < 3; i++) {
        config.grid[i] = optional_count(sink, cells, (enum gt_nsys_csv_column)(GT_NSYS_CSV_GRID_X + i), GT_NSYS_NO_ID);
        config.block[i] =
            optional_count(sink, cells, (enum gt_nsys_csv_column)(GT_NSYS_CSV_BLOCK_X + i), GT_NSYS_NO_ID);
    }
    if (config.grid[0] != GT_NSYS_NO_ID || config.block[0] != GT_NSYS_NO_ID || config.registers != GT_NSYS_NO_ID)
        gt_nsys_add_config(&sink->model, &config);
}

static uint64_t correlation_of(struct gt_nsys_csv_sink *sink, const struct gt_nsys_csv_cells *cells) {
    if (!(sink->model.facts & GT_FACT_CORRELATION))
        return GT_NSYS_NO_ID;
    uint32_t before = sink->read_for;
    sink->read_for = GT_FACT_CORRELATION;
    uint64_t correlation = optional_count(sink, cells, GT_NSYS_CSV_CORRELATION, GT_NSYS_NO_ID);
    sink->read_for = before;
    return correlation;
}

static bool take_op(struct gt_nsys_csv_sink *sink, const struct gt_nsys_csv_cells *cells) {
    static const enum gt_nsys_device_kind kinds[] = {
        [GT_NSYS_CSV_KERNEL] = GT_NSYS_KERNEL,
        [GT_NSYS_CSV_COPY] = GT_NSYS_MEMCPY,
        [GT_NSYS_CSV_FILL] = GT_NSYS_MEMSET,
    };
    int64_t start_ns = GT_NO_TIME, duration_ns = 0, end_ns;
    enum gt_nsys_csv_state start = gt_nsys_csv_value_ns(cells, GT_NSYS_CSV_START, &start_ns);
    enum gt_nsys_csv_state duration = gt_nsys_csv_value_ns(cells, GT_NSYS_CSV_DURATION, &duration_ns);
    if (start == GT_NSYS_CSV_UNREADABLE || duration == GT_NSYS_CSV_UNREADABLE)
        return false;
    bool has_times = start == GT_NSYS_CSV_READ && duration == GT_NSYS_CSV_READ;
    if (!has_times)
        end_ns = GT_NO_TIME;
    else if (__builtin_add_overflow(start_ns, duration_ns, &end_ns))
        return false;
    struct gt_nsys_activity activity = {
        .start_ns = start_ns,
        .end_ns = end_ns,
        .correlation = correlation_of(sink, cells),
        .global_pid = GT_NSYS_NO_ID,
        .device = device_of(sink, cells),
        .name_id = GT_NSYS_NO_ID,
        .name = name_of(sink, cells),
        .graph_node = GT_NSYS_NO_ID,
        .graph_id = GT_NSYS_NO_ID,
        .bytes = GT_NSYS_NO_ID,
    };
    uint64_t stream = optional_count(sink, cells, GT_NSYS_CSV_STREAM, UINT64_MAX);
    activity.stream = stream <= INT64_MAX ? (int64_t)stream : -1;
    activity.kind = kinds[gt_nsys_csv_value_op(activity.name, &activity.copy_kind)];
    if (activity.kind != GT_NSYS_KERNEL)
        describe_copy(sink, cells, duration_ns, &activity);
    bool is_added = gt_nsys_add_activity(&sink->model, &activity);
    if (is_added && activity.kind == GT_NSYS_KERNEL && sink->model.facts & GT_FACT_CONFIGS)
        add_config(sink, cells);
    count_row(sink, start_ns, duration_ns);
    return true;
}

/* ---- summed rows ---- */

/* Rows of API calls are in some tables next to those of the GPU. */
static bool is_api(const struct gt_nsys_csv_cells *cells) {
    return gt_str_eq(gt_nsys_csv_value_cell(cells, GT_NSYS_CSV_CATEGORY).text, GT_STR("CUDA_API"));
}

static bool take_group(struct gt_nsys_csv_sink *sink, const struct gt_nsys_csv_cells *cells) {
    struct gt_groups_row group = {.kind = GT_OP_KERNEL};
    uint64_t copy_kind;
    if (gt_nsys_csv_value_count(cells, GT_NSYS_CSV_INSTANCES, &group.instances) != GT_NSYS_CSV_READ ||
        gt_nsys_csv_value_ns(cells, GT_NSYS_CSV_TOTAL, &group.total_ns) != GT_NSYS_CSV_READ ||
        gt_nsys_csv_value_ns(cells, GT_NSYS_CSV_MIN, &group.min_ns) != GT_NSYS_CSV_READ ||
        gt_nsys_csv_value_ns(cells, GT_NSYS_CSV_MAX, &group.max_ns) != GT_NSYS_CSV_READ || group.total_ns < 0 ||
        group.min_ns < 0 || group.max_ns < 0)
        return false;
    if (is_api(cells)) {
        gt_builder_skip(sink->builder);
        return true;
    }
    group.median_ns = optional_real_ns(sink, cells, GT_NSYS_CSV_MEDIAN);
    group.stddev_ns = optional_real_ns(sink, cells, GT_NSYS_CSV_STDDEV);
    struct gt_str name = name_of(sink, cells);
    group.printed = gt_builder_string(sink->builder, name);
    switch (gt_nsys_csv_value_op(name, &copy_kind)) {
    case GT_NSYS_CSV_COPY:
        group.kind = GT_OP_MEMCPY;
        name = gt_str_of(gt_nsys_copy_name(copy_kind));
        break;
    case GT_NSYS_CSV_FILL:
        group.kind = GT_OP_MEMSET;
        break;
    case GT_NSYS_CSV_KERNEL:
        break;
    }
    group.name = gt_builder_string(sink->builder, name);
    gt_builder_group(sink->builder, &group);
    count_row(sink, (int64_t)group.instances, group.total_ns);
    return true;
}

/* ---- projected ranges ---- */

static uint8_t range_kind(const struct gt_nsys_csv_cells *cells) {
    bool is_nested = !gt_str_eq(gt_nsys_csv_value_cell(cells, GT_NSYS_CSV_STYLE).text, GT_STR("StartEnd"));
    return is_nested ? GT_RANGE_NESTED : GT_RANGE_START_END;
}

static uint32_t thread_of(struct gt_nsys_csv_sink *sink, const struct gt_nsys_csv_cells *cells) {
    static const struct gt_str no_label = {"", 0};
    uint64_t pid = optional_count(sink, cells, GT_NSYS_CSV_PID, UINT64_MAX);
    uint64_t tid = optional_count(sink, cells, GT_NSYS_CSV_TID, UINT64_MAX);
    if (pid > INT64_MAX || tid > INT64_MAX)
        return GT_NO_TRACK;
    uint32_t process = gt_builder_process(sink->builder, (int64_t)pid, no_label);
    return gt_builder_thread(sink->builder, process, (int64_t)tid, no_label);
}

/* Versions before 2024 have a row without a name for the ops outside any range. */
static bool skip_nameless(struct gt_nsys_csv_sink *sink, struct gt_str name) {
    bool is_nameless = gt_nsys_csv_value_is_absent(name);
    if (is_nameless)
        gt_builder_skip(sink->builder);
    return is_nameless;
}

static bool take_range(struct gt_nsys_csv_sink *sink, const struct gt_nsys_csv_cells *cells) {
    struct gt_projections_row row = {.range_start_ns = GT_NO_TIME, .range_end_ns = GT_NO_TIME};
    struct gt_str name = name_of(sink, cells);
    int64_t duration_ns;
    if (gt_nsys_csv_value_ns(cells, GT_NSYS_CSV_START, &row.start_ns) != GT_NSYS_CSV_READ ||
        gt_nsys_csv_value_ns(cells, GT_NSYS_CSV_DURATION, &duration_ns) != GT_NSYS_CSV_READ ||
        __builtin_add_overflow(row.start_ns, duration_ns, &row.end_ns))
        return false;
    if (skip_nameless(sink, name))
        return true;
    int64_t range_start_ns = optional_ns(sink, cells, GT_NSYS_CSV_RANGE_START, GT_NO_TIME);
    int64_t range_ns = optional_ns(sink, cells, GT_NSYS_CSV_RANGE_DURATION, -1), range_end_ns;
    if (range_start_ns != GT_NO_TIME && range_ns >= 0 &&
        !__builtin_add_overflow(range_start_ns, range_ns, &range_end_ns)) {
        row.range_start_ns = range_start_ns;
        row.range_end_ns = range_end_ns;
    }
    uint64_t ops = optional_count(sink, cells, GT_NSYS_CSV_OPS, 0);
    uint64_t level = optional_count(sink, cells, GT_NSYS_CSV_LEVEL, 0);
    row.ops = ops < UINT32_MAX ? (uint32_t)ops : UINT32_MAX;
    row.level = level < UINT16_MAX ? (uint16_t)level : UINT16_MAX;
    row.name = gt_builder_string(sink->builder, name);
    row.thread = thread_of(sink, cells);
    row.kind = range_kind(cells);
    gt_builder_projection(sink->builder, &row);
    count_row(sink, row.start_ns, duration_ns);
    return true;
}

static bool take_range_sum(struct gt_nsys_csv_sink *sink, const struct gt_nsys_csv_cells *cells) {
    struct gt_projection_groups_row row = {0};
    struct gt_str name = name_of(sink, cells);
    if (gt_nsys_csv_value_count(cells, GT_NSYS_CSV_INSTANCES, &row.instances) != GT_NSYS_CSV_READ ||
        gt_nsys_csv_value_ns(cells, GT_NSYS_CSV_TOTAL, &row.total_ns) != GT_NSYS_CSV_READ)
        return false;
    if (skip_nameless(sink, name))
        return true;
    uint64_t ops = optional_count(sink, cells, GT_NSYS_CSV_OPS, UINT64_MAX);
    row.ops = ops <= INT64_MAX ? (int64_t)ops : -1;
    row.range_total_ns = optional_ns(sink, cells, GT_NSYS_CSV_RANGE_TOTAL, -1);
    row.min_ns = optional_ns(sink, cells, GT_NSYS_CSV_MIN, -1);
    row.max_ns = optional_ns(sink, cells, GT_NSYS_CSV_MAX, -1);
    row.median_ns = optional_real_ns(sink, cells, GT_NSYS_CSV_MEDIAN);
    row.stddev_ns = optional_real_ns(sink, cells, GT_NSYS_CSV_STDDEV);
    row.name = gt_builder_string(sink->builder, name);
    row.kind = range_kind(cells);
    gt_builder_projection_group(sink->builder, &row);
    count_row(sink, (int64_t)row.instances, row.total_ns);
    return true;
}

/* ---- tables that nothing asks for ---- */

/* Ops are always read: they say whether sums say the same again. */
uint32_t gt_nsys_csv_rows_facts(enum gt_nsys_csv_table table) {
    static const uint32_t facts[] = {
        [GT_NSYS_CSV_TRACE] = 0,
        [GT_NSYS_CSV_KERNELS] = GT_FACT_GROUPS,
        [GT_NSYS_CSV_KERNELS_BY_GRID] = GT_FACT_GROUPS,
        [GT_NSYS_CSV_MEMORY] = GT_FACT_GROUPS,
        [GT_NSYS_CSV_GPU] = GT_FACT_GROUPS,
        [GT_NSYS_CSV_RANGES] = GT_FACT_RANGES | GT_FACT_PROJECTIONS,
        [GT_NSYS_CSV_RANGE_SUM] = GT_FACT_RANGES | GT_FACT_PROJECTIONS,
        [GT_NSYS_CSV_OTHER] = 0,
    };
    return facts[table];
}

/* The next header could have as many cells as this row, but no number. */
static bool skip_row(struct gt_nsys_csv_sink *sink, const struct gt_nsys_csv_cells *cells) {
    bool has_start = cells->header->place[GT_NSYS_CSV_START] != GT_NSYS_CSV_NOWHERE;
    int64_t ns;
    if (gt_nsys_csv_value_ns(cells, has_start ? GT_NSYS_CSV_START : GT_NSYS_CSV_TOTAL, &ns) != GT_NSYS_CSV_READ)
        return false;
    gt_builder_skip(sink->builder);
    return true;
}

bool gt_nsys_csv_rows_take(struct gt_nsys_csv_sink *sink, const struct gt_nsys_csv_cells *cells) {
    sink->read_for = gt_nsys_csv_rows_facts(cells->header->table);
    if (sink->read_for && !(sink->read_for & sink->model.facts))
        return skip_row(sink, cells);
    switch (cells->header->table) {
    case GT_NSYS_CSV_TRACE:
        return take_op(sink, cells);
    case GT_NSYS_CSV_KERNELS:
    case GT_NSYS_CSV_KERNELS_BY_GRID:
    case GT_NSYS_CSV_MEMORY:
    case GT_NSYS_CSV_GPU:
        return take_group(sink, cells);
    case GT_NSYS_CSV_RANGES:
        return take_range(sink, cells);
    case GT_NSYS_CSV_RANGE_SUM:
        return take_range_sum(sink, cells);
    case GT_NSYS_CSV_OTHER:
        break;
    }
    gt_builder_skip(sink->builder);
    return true;
}

/* ---- domains ---- */

/* From 2024 on every name is "domain:text", with nothing before the colon for the default domain; older versions write
   the text alone for it. A single name without a colon says that the table is of the latter kind. */
static void split_names(struct gt_builder *builder, gt_strid *names, gt_strid *domains, size_t first, size_t end) {
    const struct gt_strtab *strings = &builder->store.strings;
    for (size_t i = first; i < end; i++) {
        struct gt_str name = gt_strtab_get(strings, names[i]);
        if (!name.len || !memchr(name.ptr, ':', name.len))
            return;
    }
    for (size_t i = first; i < end; i++) {
        struct gt_str name = gt_strtab_get(strings, names[i]);
        const char *colon = memchr(name.ptr, ':', name.len);
        size_t domain_bytes = (size_t)(colon - name.ptr);
        domains[i] = gt_builder_string(builder, (struct gt_str){name.ptr, domain_bytes});
        names[i] = gt_builder_string(builder, (struct gt_str){colon + 1, name.len - domain_bytes - 1});
    }
}

void gt_nsys_csv_rows_split_ranges(struct gt_builder *builder, size_t first, size_t end) {
    struct gt_projections *ranges = &builder->store.projections;
    split_names(builder, ranges->name, ranges->domain, first, end);
}

void gt_nsys_csv_rows_split_range_sums(struct gt_builder *builder, size_t first, size_t end) {
    struct gt_projection_groups *ranges = &builder->store.projection_groups;
    split_names(builder, ranges->name, ranges->domain, first, end);
}
