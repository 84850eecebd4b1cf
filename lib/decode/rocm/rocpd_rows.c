/* Rows of a rocpd database's tables, column by column, to the records that rocm.h gives their meaning. */
#include <stdio.h>

#include "base/num.h"
#include "decode/rocm/rocpd.h"

/* ---- what rows refer to ---- */

void gt_rocpd_rows_begin(struct gt_rocpd_rows *rows, size_t set) {
    rows->set = &rows->schema->sets[set];
    rows->args = &rows->schema->sets[set].args;
    rows->set_number = set;
    rows->last_process_id = rows->last_thread_id = GT_ROCM_NONE;
    rows->args_hint = 0;
    for (size_t i = 0; i < GT_ROCPD_ARGS; i++)
        rows->hints[i] = 0;
}

static const struct gt_rocpd_entry *entry_of(struct gt_rocpd_rows *rows, enum gt_rocpd_role role, uint64_t id) {
    return id == GT_ROCM_NONE ? NULL : gt_rocpd_entries_find(&rows->set->entries[role], id, &rows->hints[role]);
}

gt_strid gt_rocpd_string(struct gt_rocpd_rows *rows, uint64_t id, bool *is_known) {
    const struct gt_rocpd_names *names = &rows->set->strings;
    uint32_t place = id == GT_ROCM_NONE ? GT_MAP_NONE : gt_rocpd_names_find(names, id);
    *is_known = place != GT_MAP_NONE;
    if (!*is_known)
        return gt_builder_string(rows->sink->builder, GT_LOST_NAME);
    gt_strid *interned = &rows->strings[names->base + place];
    if (!*interned)
        *interned = gt_builder_string(rows->sink->builder, names->texts[place]) + 1;
    return *interned - 1;
}

static struct gt_str text_of(const struct gt_rocpd_rows *rows, uint64_t id) {
    uint32_t place = id == GT_ROCM_NONE ? GT_MAP_NONE : gt_rocpd_names_find(&rows->set->strings, id);
    return place == GT_MAP_NONE ? GT_STR("") : rows->set->strings.texts[place];
}

/* Processes that the database has no row of are known by their number. */
static uint32_t process_of(struct gt_rocpd_rows *rows, uint64_t id) {
    if (id == GT_ROCM_NONE)
        return rows->set->only_process;
    if (id == rows->last_process_id)
        return rows->last_process;
    uint32_t place = gt_map_get(&rows->set->process_of, 0, id);
    rows->last_process_id = id;
    rows->last_process = place != GT_MAP_NONE ? place : gt_rocm_bare_process(id);
    return rows->last_process;
}

static struct gt_rocpd_thread thread_of(struct gt_rocpd_rows *rows, uint64_t id) {
    if (id == rows->last_thread_id)
        return rows->last_thread;
    uint32_t place = id == GT_ROCM_NONE ? GT_MAP_NONE : gt_map_get(&rows->set->thread_of, 0, id);
    rows->last_thread_id = id;
    rows->last_thread =
        place != GT_MAP_NONE ? rows->set->threads[place] : (struct gt_rocpd_thread){GT_ROCM_NO_PROCESS, (int64_t)id};
    return rows->last_thread;
}

static const struct gt_rocm_agent *agent_of(const struct gt_rocpd_rows *rows, uint64_t id) {
    uint32_t place = id == GT_ROCM_NONE ? GT_MAP_NONE : gt_map_get(&rows->set->agent_of, 0, id);
    return place == GT_MAP_NONE ? NULL : &rows->sink->capture->agents[place];
}

/* An agent that the database has no row of is known by its number. */
static int64_t device_of(const struct gt_rocm_agent *agent, uint64_t id) {
    if (agent)
        return agent->device;
    return id < INT32_MAX ? (int64_t)id : -1;
}

/* ---- what all rows have ---- */

struct row {
    int64_t start_ns, end_ns;
    uint32_t process;
    int64_t tid, stream;
    uint64_t agent; /* of the track */
    uint64_t event_id;
    const struct gt_rocpd_entry *event; /* NULL: none is known */
    const struct gt_rocpd_track *track;
};

static int64_t time_of(struct gt_rocpd_rows *rows, const struct gt_sqlite_row *row, size_t slot, size_t id_slot) {
    if (row->types[slot] != GT_SQLITE_NULL)
        return gt_rocpd_time(row, slot);
    const struct gt_rocpd_entry *entry = entry_of(rows, GT_ROCPD_TIMESTAMPS, gt_rocpd_id(row, id_slot));
    return entry ? (int64_t)entry->value : GT_NO_TIME;
}

/* A number of a row, or else that of its track, or else a third. */
static uint64_t first_known(uint64_t a, uint64_t b, uint64_t c) {
    return a != GT_ROCM_NONE ? a : b != GT_ROCM_NONE ? b : c;
}

static struct row row_of(struct gt_rocpd_rows *rows, const struct gt_sqlite_row *from) {
    static const struct gt_rocpd_track none = {GT_ROCM_NONE, GT_ROCM_NONE, GT_ROCM_NONE,
                                               GT_ROCM_NONE, GT_ROCM_NONE, GT_ROCM_NONE};
    uint64_t track_id = gt_rocpd_id(from, GT_ROCPD_ROW_TRACK);
    uint32_t place = track_id == GT_ROCM_NONE ? GT_MAP_NONE : gt_map_get(&rows->set->track_of, 0, track_id);
    const struct gt_rocpd_track *track = place == GT_MAP_NONE ? &none : &rows->set->tracks[place];
    uint64_t thread = gt_rocpd_id(from, GT_ROCPD_ROW_THREAD), process = gt_rocpd_id(from, GT_ROCPD_ROW_PROCESS);
    struct gt_rocpd_thread of = thread_of(rows, first_known(thread, track->thread, GT_ROCM_NONE));
    struct row row = {
        .start_ns = time_of(rows, from, GT_ROCPD_ROW_START, GT_ROCPD_ROW_START_ID),
        .end_ns = time_of(rows, from, GT_ROCPD_ROW_END, GT_ROCPD_ROW_END_ID),
        .process = process_of(rows, first_known(process, track->process, GT_ROCM_NONE)),
        .tid = of.tid,
        .agent = track->agent,
        .event_id = gt_rocpd_id(from, GT_ROCPD_ROW_EVENT),
        .track = track,
    };
    uint64_t stream = first_known(gt_rocpd_id(from, GT_ROCPD_ROW_STREAM), track->stream, GT_ROCM_NONE);
    uint64_t queue = first_known(gt_rocpd_id(from, GT_ROCPD_ROW_QUEUE), track->queue, 0);
    row.stream = (int64_t)first_known(stream, queue, 0);
    if (row.process == GT_ROCM_NO_PROCESS)
        row.process = of.process;
    row.event = entry_of(rows, GT_ROCPD_EVENTS, row.event_id);
    return row;
}

static uint64_t correlation_of(const struct row *row) {
    return row->event ? row->event->value : GT_NO_CORRELATION;
}

/* ---- ops ---- */

/* A kernel without a name has its number as one, where the database has no names at all. */
static gt_strid kernel_name(struct gt_rocpd_rows *rows, uint64_t id, uint32_t *symbol, bool *is_known) {
    const struct gt_rocpd_names *names = &rows->set->symbols;
    char digits[GT_NUM_MAX] = "";
    *symbol = id == GT_ROCM_NONE ? GT_MAP_NONE : gt_rocpd_names_find(names, id);
    *is_known = *symbol != GT_MAP_NONE;
    if (!*is_known && id != GT_ROCM_NONE && names->count == 0)
        return gt_builder_string(rows->sink->builder, (struct gt_str){digits, gt_num_format_int(digits, (int64_t)id)});
    if (!*is_known)
        return gt_builder_string(rows->sink->builder, GT_LOST_NAME);
    gt_strid *interned = &rows->symbols[names->base + *symbol];
    if (!*interned)
        *interned = gt_builder_string(rows->sink->builder, names->texts[*symbol]) + 1;
    return *interned - 1;
}

static void add_config(struct gt_rocpd_rows *rows, const struct gt_sqlite_row *from, uint32_t symbol) {
    struct gt_rocm_config config = GT_ROCM_CONFIG_UNKNOWN;
    const struct gt_rocpd_symbol *kernel = symbol == GT_MAP_NONE ? NULL : &rows->set->symbol_facts[symbol];
    for (size_t i = 0; i < 3; i++) {
        config.grid[i] = gt_rocpd_id(from, GT_ROCPD_DISPATCH_GRID + i);
        config.workgroup[i] = gt_rocpd_id(from, GT_ROCPD_DISPATCH_GROUP + i);
    }
    config.lds_bytes = gt_rocpd_id(from, GT_ROCPD_DISPATCH_LDS);
    config.scratch_bytes = gt_rocpd_id(from, GT_ROCPD_DISPATCH_SCRATCH);
    if (kernel) {
        config.vgprs = kernel->vgprs;
        config.static_lds_bytes = kernel->lds_bytes;
        config.lds_bytes = first_known(config.lds_bytes, kernel->lds_bytes, GT_ROCM_NONE);
        config.scratch_bytes = first_known(config.scratch_bytes, kernel->scratch_bytes, GT_ROCM_NONE);
    }
    gt_rocm_add_config(rows->sink, &config);
}

static void take_dispatch(void *context, const struct gt_sqlite_row *from) {
    struct gt_rocpd_rows *rows = context;
    struct row row = row_of(rows, from);
    uint64_t agent = first_known(gt_rocpd_id(from, GT_ROCPD_DISPATCH_AGENT), row.agent, GT_ROCM_NONE);
    int64_t device = device_of(agent_of(rows, agent), agent);
    uint32_t symbol;
    bool is_known;
    if (gt_rocm_reads(rows->sink, GT_FACT_METRICS) && row.event_id != GT_ROCM_NONE && row.start_ns != GT_NO_TIME &&
        row.end_ns >= row.start_ns)
        gt_rocm_add_span(rows->sink, &(struct gt_rocm_span){rows->set_number, row.event_id, row.start_ns, row.end_ns,
                                                            device < 0 ? 0 : device});
    if (!gt_rocm_reads(rows->sink, GT_FACT_OPS))
        return;
    struct gt_rocm_op op = {
        .start_ns = row.start_ns,
        .end_ns = row.end_ns,
        .correlation = correlation_of(&row),
        .process = row.process,
        .device = device,
        .stream = row.stream,
        .name = kernel_name(rows, gt_rocpd_id(from, GT_ROCPD_DISPATCH_KERNEL), &symbol, &is_known),
        .graph = gt_rocpd_id(from, GT_ROCPD_DISPATCH_GRAPH),
    };
    op.lacks_name = !is_known;
    if (gt_rocm_add_op(rows->sink, &op) && gt_rocm_reads(rows->sink, GT_FACT_CONFIGS))
        add_config(rows, from, symbol);
}

/* Copies run on the GPU that they go to, or on the one that they come from where they go to the host. */
static void take_copy(void *context, const struct gt_sqlite_row *from) {
    struct gt_rocpd_rows *rows = context;
    struct row row = row_of(rows, from);
    uint64_t to_id = gt_rocpd_id(from, GT_ROCPD_COPY_TO), from_id = gt_rocpd_id(from, GT_ROCPD_COPY_FROM);
    const struct gt_rocm_agent *to = agent_of(rows, to_id), *of = agent_of(rows, from_id);
    uint64_t name = gt_rocpd_id(from, GT_ROCPD_COPY_NAME);
    enum gt_rocm_way way = gt_rocm_way_of(text_of(rows, name));
    bool is_known;
    if (way == GT_ROCM_WAY_UNKNOWN && to && of)
        way = gt_rocm_way_between(of->is_gpu, to->is_gpu);
    int64_t device = way == GT_ROCM_DEVICE_TO_HOST ? device_of(of, from_id) : device_of(to, to_id);
    if (device < 0)
        device = device_of(of, from_id);
    if (device < 0)
        device = device_of(agent_of(rows, row.agent), row.agent);
    gt_rocm_add_op(rows->sink, &(struct gt_rocm_op){
                                   .start_ns = row.start_ns,
                                   .end_ns = row.end_ns,
                                   .correlation = correlation_of(&row),
                                   .process = row.process,
                                   .device = device,
                                   .stream = row.stream,
                                   .name = way == GT_ROCM_WAY_UNKNOWN ? gt_rocpd_string(rows, name, &is_known) : 0,
                                   .graph = gt_rocpd_id(from, GT_ROCPD_COPY_GRAPH),
                                   .is_copy = true,
                                   .way = way,
                                   .bytes = gt_rocpd_id(from, GT_ROCPD_COPY_BYTES),
                               });
}

/* ---- regions ---- */

static enum gt_rocm_domain domain_of(const struct gt_rocpd_rows *rows, const struct row *row, struct gt_str name) {
    if (row->event && row->event->tag)
        return (enum gt_rocm_domain)rows->set->domains[row->event->tag - 1];
    /* Where the category is not recorded, names of functions say it. */
    bool is_call = gt_str_starts(name, GT_STR("hip")) || gt_str_starts(name, GT_STR("__hip")) ||
                   gt_str_starts(name, GT_STR("hsa_"));
    return is_call ? GT_ROCM_CALL : gt_str_starts(name, GT_STR("nccl")) ? GT_ROCM_COLLECTIVE : GT_ROCM_MARKER;
}

static struct gt_str message_of(const struct gt_rocpd_rows *rows, const struct row *row) {
    const struct gt_rocpd_entries *entries = &rows->set->entries[GT_ROCPD_EVENTS];
    if (!row->event || !row->event->message)
        return (struct gt_str){NULL, 0};
    return entries->pieces[rows->hints[GT_ROCPD_EVENTS]].messages[row->event->message - 1];
}

static size_t rows_of_regions(const struct gt_rocpd_rows *rows) {
    return rows->sink->builder->store.calls.count + rows->sink->builder->store.ranges.count;
}

static void add_region(struct gt_rocpd_rows *rows, const struct row *row, uint64_t name_id) {
    struct gt_str function = text_of(rows, name_id), message = message_of(rows, row);
    enum gt_rocm_domain domain = domain_of(rows, row, function);
    bool is_known, is_marker = domain == GT_ROCM_MARKER;
    if (!gt_rocm_reads(rows->sink, gt_rocm_domain_facts(domain)) ||
        (is_marker && !message.ptr && gt_rocm_marks_nothing(function))) {
        gt_builder_skip(rows->sink->builder);
        return;
    }
    size_t before = rows_of_regions(rows);
    gt_rocm_add_region(rows->sink,
                       &(struct gt_rocm_region){
                           .start_ns = row->start_ns,
                           .end_ns = row->end_ns,
                           .correlation = correlation_of(row),
                           .process = row->process,
                           .tid = row->tid,
                           .name = is_marker && message.ptr ? gt_builder_string(rows->sink->builder, message)
                                                            : gt_rocpd_string(rows, name_id, &is_known),
                           .domain = domain,
                           .function = is_marker ? function : GT_STR(""),
                       });
    if (gt_rocm_reads(rows->sink, GT_FACT_CALL_ARGS) && rows_of_regions(rows) > before)
        gt_rocpd_args_add(rows, row->event_id, domain == GT_ROCM_CALL);
}

static void take_region(void *context, const struct gt_sqlite_row *from) {
    struct gt_rocpd_rows *rows = context;
    struct row row = row_of(rows, from);
    add_region(rows, &row, gt_rocpd_id(from, GT_ROCPD_REGION_NAME));
}

/* What has no length: marks, and calls that returned in the same nanosecond, whose names are not recorded. */
static void take_sample(void *context, const struct gt_sqlite_row *from) {
    struct gt_rocpd_rows *rows = context;
    struct row row = row_of(rows, from);
    uint64_t name = first_known(gt_rocpd_id(from, GT_ROCPD_REGION_NAME), row.track->name, GT_ROCM_NONE);
    row.end_ns = row.start_ns;
    bool is_marker = row.event && row.event->tag && rows->set->domains[row.event->tag - 1] == GT_ROCM_MARKER;
    if (is_marker)
        add_region(rows, &row, name);
    else
        gt_builder_skip(rows->sink->builder);
}

/* ---- the rest ---- */

static void take_allocation(void *context, const struct gt_sqlite_row *from) {
    struct gt_rocpd_rows *rows = context;
    struct row row = row_of(rows, from);
    uint64_t id = first_known(gt_rocpd_id(from, GT_ROCPD_ALLOCATION_AGENT), row.agent, GT_ROCM_NONE);
    const struct gt_rocm_agent *agent = agent_of(rows, id);
    struct gt_str level = gt_sqlite_record_text(from, GT_ROCPD_ALLOCATION_LEVEL);
    enum gt_rocm_memory operation = gt_rocm_memory_of(gt_sqlite_record_text(from, GT_ROCPD_ALLOCATION_TYPE), level);
    if (operation == GT_ROCM_MEMORY_OTHER) {
        gt_builder_skip(rows->sink->builder);
        return;
    }
    gt_rocm_add_allocation(rows->sink,
                           &(struct gt_rocm_allocation){
                               .start_ns = row.start_ns,
                               .address = gt_rocpd_id(from, GT_ROCPD_ALLOCATION_ADDRESS),
                               .bytes = gt_rocpd_id(from, GT_ROCPD_ALLOCATION_BYTES),
                               .correlation = correlation_of(&row),
                               .device = device_of(agent, id),
                               .process = row.process,
                               .is_free = operation == GT_ROCM_FREE,
                               .is_host = agent && !agent->is_gpu,
                           },
                           row.tid);
}

static void take_value(void *context, const struct gt_sqlite_row *from) {
    const struct gt_rocpd_rows *rows = context;
    uint64_t event = gt_rocpd_id(from, GT_ROCPD_VALUE_EVENT);
    uint32_t name = gt_map_get(&rows->set->counter_of, 0, gt_rocpd_id(from, GT_ROCPD_VALUE_COUNTER));
    bool is_real = from->types[GT_ROCPD_VALUE_VALUE] == GT_SQLITE_REAL;
    if (event == GT_ROCM_NONE || name == GT_MAP_NONE ||
        (!is_real && !gt_sqlite_record_is_int(from, GT_ROCPD_VALUE_VALUE))) {
        gt_builder_skip(rows->sink->builder);
        return;
    }
    union gt_sqlite_cell cell = from->cells[GT_ROCPD_VALUE_VALUE];
    gt_rocm_add_value(
        rows->sink, &(struct gt_rocm_value){rows->set_number, event, name, is_real ? cell.real : (double)cell.integer});
}

gt_sqlite_pages_row_fn *gt_rocpd_rows_function(enum gt_rocpd_role role) {
    static gt_sqlite_pages_row_fn *const functions[GT_ROCPD_ROLE_COUNT] = {
        [GT_ROCPD_DISPATCHES] = take_dispatch,    [GT_ROCPD_COPIES] = take_copy,
        [GT_ROCPD_REGIONS] = take_region,         [GT_ROCPD_SAMPLES] = take_sample,
        [GT_ROCPD_ALLOCATIONS] = take_allocation, [GT_ROCPD_VALUES] = take_value,
    };
    return functions[role] ? functions[role] : gt_rocpd_old_function(role);
}
