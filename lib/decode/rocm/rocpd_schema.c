/* Finds the tables and columns of a rocpd database by their names: a database comes in, what is where goes out. Names
   of tables are a known word, alone or with a suffix that says which process they are of. */
#include "base/mem.h"
#include "decode/rocm/rocpd.h"

enum { PARTS_MAX = 3, REQUIRED_MAX = 2 };

/* Columns, from the first to the last, that are read for these facts alone. */
struct part {
    uint32_t facts; /* 0: there is no such part */
    uint8_t first, last;
};

struct role {
    const char *name; /* for people */
    const char *table;
    uint32_t facts;                             /* enum gt_fact: the table is read for any of these; 0: always */
    const char *required[REQUIRED_MAX];         /* columns that it must have; "this|else this" */
    const char *columns[GT_SQLITE_COLUMNS_MAX]; /* in the same way */
    struct part parts[PARTS_MAX];
};

#define ROW_COLUMNS_OF(start, start_id)                                                                                \
    [GT_ROCPD_ROW_START] = (start), [GT_ROCPD_ROW_END] = "end", [GT_ROCPD_ROW_START_ID] = (start_id),                  \
    [GT_ROCPD_ROW_END_ID] = "end_id", [GT_ROCPD_ROW_TRACK] = "track_id", [GT_ROCPD_ROW_PROCESS] = "pid",               \
    [GT_ROCPD_ROW_THREAD] = "tid", [GT_ROCPD_ROW_EVENT] = "event_id", [GT_ROCPD_ROW_STREAM] = "stream_id",             \
    [GT_ROCPD_ROW_QUEUE] = "queue_id"
#define ROW_COLUMNS ROW_COLUMNS_OF("start", "start_id")
#define TIMES                                                                                                          \
    { "start|start_id", "end|end_id" }
#define OF_EVENTS (GT_FACT_CORRELATION | GT_FACT_CALLS | GT_FACT_RANGES)

static const struct role roles[GT_ROCPD_ROLE_COUNT] = {
    [GT_ROCPD_STRINGS] = {"strings", "rocpd_string", 0, {"id", "string"}, {"id", "string"}, {{0}}},
    [GT_ROCPD_CATEGORIES] = {"categories", "rocpd_info_category", 0, {"id", "name"}, {"id", "name"}, {{0}}},
    [GT_ROCPD_NODES] = {"nodes", "rocpd_info_node", 0, {"id"}, {"id", "hostname", "machine_id"}, {{0}}},
    [GT_ROCPD_PROCESSES] =
        {"processes", "rocpd_info_process", 0, {"id"}, {"id", "nid", "pid", "command", "environment"}, {{0}}},
    [GT_ROCPD_THREADS] = {"threads", "rocpd_info_thread", 0, {"id"}, {"id", "pid", "tid", "name"}, {{0}}},
    [GT_ROCPD_AGENTS] = {"agents",
                         "rocpd_info_agent",
                         0,
                         {"id"},
                         {"id", "nid", "pid", "type", "type_index", "logical_index", "absolute_index", "product_name",
                          "model_name", "name|generic_name", "extdata"},
                         {{0}}},
    [GT_ROCPD_SYMBOLS] = {"symbols",
                          "rocpd_info_kernel_symbol",
                          GT_FACT_OPS,
                          {"id"},
                          {"id", "display_name", "kernel_name", "group_segment_size", "arch_vgpr_count",
                           "private_segment_size"},
                          {{0}}},
    [GT_ROCPD_TRACKS] = {"tracks",
                         "rocpd_track",
                         0,
                         {"id"},
                         {"id", "pid", "tid", "agent_id", "queue_id", "stream_id", "name_id"},
                         {{0}}},
    [GT_ROCPD_COUNTERS] = {"counters", "rocpd_info_pmc", GT_FACT_METRICS, {"id"}, {"id", "name|symbol"}, {{0}}},
    [GT_ROCPD_EVENTS] = {"events",
                         "rocpd_event",
                         OF_EVENTS,
                         {"id"},
                         {"id", "stack_id", "parent_stack_id", "correlation_id", "category_id", "extdata"},
                         {{GT_FACT_RANGES, GT_ROCPD_EVENT_DATA, GT_ROCPD_EVENT_DATA}}},
    [GT_ROCPD_TIMESTAMPS] = {"timestamps", "rocpd_timestamp", 0, {"id", "value"}, {"id", "value"}, {{0}}},
    [GT_ROCPD_LINKS] =
        {"links", "rocpd_api_ops", GT_FACT_CORRELATION | GT_FACT_OPS, {"op_id", "api_id"}, {"op_id", "api_id"}, {{0}}},
    [GT_ROCPD_TRANSFERS] =
        {"transfers", "rocpd_copyapi", GT_FACT_BYTES, {"api_ptr_id", "size"}, {"api_ptr_id", "size"}, {{0}}},
    [GT_ROCPD_ARGS] = {"arguments",
                       "rocpd_arg",
                       GT_FACT_CALL_ARGS,
                       {"event_id", "name"},
                       {"event_id", "position", "type", "name", "value"},
                       {{0}}},
    [GT_ROCPD_DISPATCHES] =
        {"dispatches",
         "rocpd_kernel_dispatch",
         GT_FACT_OPS | GT_FACT_METRICS,
         TIMES,
         {ROW_COLUMNS, [GT_ROCPD_DISPATCH_AGENT] = "agent_id", [GT_ROCPD_DISPATCH_KERNEL] = "kernel_id",
          [GT_ROCPD_DISPATCH_GRAPH] = "graph_exec_id", [GT_ROCPD_DISPATCH_LDS] = "group_segment_size",
          [GT_ROCPD_DISPATCH_SCRATCH] = "private_segment_size", [GT_ROCPD_DISPATCH_GRID] = "grid_size_x", "grid_size_y",
          "grid_size_z", [GT_ROCPD_DISPATCH_GROUP] = "workgroup_size_x", "workgroup_size_y", "workgroup_size_z"},
         {{GT_FACT_CORRELATION | GT_FACT_METRICS, GT_ROCPD_ROW_EVENT, GT_ROCPD_ROW_EVENT},
          {GT_FACT_CONFIGS, GT_ROCPD_DISPATCH_LDS, GT_ROCPD_DISPATCH_LAST}}},
    [GT_ROCPD_COPIES] = {"copies",
                         "rocpd_memory_copy",
                         GT_FACT_OPS | GT_FACT_BYTES,
                         TIMES,
                         {ROW_COLUMNS, [GT_ROCPD_COPY_NAME] = "name_id", [GT_ROCPD_COPY_TO] = "dst_agent_id",
                          [GT_ROCPD_COPY_FROM] = "src_agent_id", [GT_ROCPD_COPY_GRAPH] = "graph_exec_id",
                          [GT_ROCPD_COPY_BYTES] = "size"},
                         {{GT_FACT_CORRELATION, GT_ROCPD_ROW_EVENT, GT_ROCPD_ROW_EVENT},
                          {GT_FACT_BYTES, GT_ROCPD_COPY_BYTES, GT_ROCPD_COPY_BYTES}}},
    [GT_ROCPD_REGIONS] = {"regions",
                          "rocpd_region",
                          GT_FACT_CALLS | GT_FACT_RANGES,
                          TIMES,
                          {ROW_COLUMNS, [GT_ROCPD_REGION_NAME] = "name_id"},
                          {{0}}},
    [GT_ROCPD_SAMPLES] = {"samples",
                          "rocpd_sample",
                          GT_FACT_RANGES,
                          {"timestamp|timestamp_id"},
                          {ROW_COLUMNS_OF("timestamp", "timestamp_id"), [GT_ROCPD_REGION_NAME] = "name_id"},
                          {{0}}},
    [GT_ROCPD_ALLOCATIONS] = {"allocations",
                              "rocpd_memory_allocate",
                              GT_ROCM_FACTS_OF_MEMORY,
                              {"start|start_id", "type"},
                              {ROW_COLUMNS, [GT_ROCPD_ALLOCATION_AGENT] = "agent_id",
                               [GT_ROCPD_ALLOCATION_TYPE] = "type", [GT_ROCPD_ALLOCATION_LEVEL] = "level",
                               [GT_ROCPD_ALLOCATION_ADDRESS] = "address", [GT_ROCPD_ALLOCATION_BYTES] = "size"},
                              {{0}}},
    [GT_ROCPD_VALUES] =
        {"values", "rocpd_pmc_event", GT_FACT_METRICS, {"event_id", "pmc_id"}, {"event_id", "pmc_id", "value"}, {{0}}},
    [GT_ROCPD_OPS] = {"ops",
                      "rocpd_op",
                      GT_FACT_OPS | GT_FACT_BYTES,
                      {"start", "end"},
                      {"id", "start", "end", "gpuId", "queueId", "description_id", "opType_id"},
                      {{0}}},
    [GT_ROCPD_CALLS] = {"calls",
                        "rocpd_api",
                        GT_FACT_CALLS | GT_FACT_RANGES,
                        {"start", "end"},
                        {"id", "start", "end", "pid", "tid", "apiName_id", "args_id"},
                        {{0}}},
};

#define PC_SAMPLES "rocpd_pc_sampling"

/* Tables whose names begin like those of others, and that are not read. */
static const char *const others[] = {
    "rocpd_event_operation",
    "rocpd_metadata",
    "rocpd_info_queue",
    "rocpd_info_stream",
    PC_SAMPLES,
    "rocpd_info_code_object",
    "rocpd_info_address_range",
    "rocpd_info_source_code",
    "rocpd_info_pc",
    "rocpd_line_info",
    "rocpd_call_stack",
    "rocpd_graph_launch",
    "rocpd_op_inputSignals",
    "rocpd_kernelapi",
    "rocpd_kernelop",
    "rocpd_copyop",
    "rocpd_barrierop",
    "rocpd_monitor",
    "rocpd_kernelcodeobject",
    "rocpd_ustring",
    "rocpd_stackframe",
};

const char *gt_rocpd_schema_role_name(enum gt_rocpd_role role) {
    return roles[role].name;
}

uint32_t gt_rocpd_schema_facts(enum gt_rocpd_role role) {
    return roles[role].facts;
}

/* A known word, alone or with "_" and a suffix after it. */
static bool has_word(struct gt_str name, struct gt_str word, struct gt_str *suffix) {
    if (!gt_str_starts_nocase(name, word) || (name.len > word.len && name.ptr[word.len] != '_'))
        return false;
    *suffix = (struct gt_str){name.ptr + word.len, name.len - word.len};
    return true;
}

/* The role of a table by its longest known word; GT_ROCPD_ROLE_COUNT: it is not read. */
static enum gt_rocpd_role role_of(struct gt_str name, struct gt_str *suffix, bool *is_known) {
    enum gt_rocpd_role found = GT_ROCPD_ROLE_COUNT;
    size_t best = 0;
    struct gt_str rest;
    for (int role = 0; role < GT_ROCPD_ROLE_COUNT; role++) {
        struct gt_str word = gt_str_of(roles[role].table);
        if (word.len > best && has_word(name, word, &rest)) {
            best = word.len;
            found = (enum gt_rocpd_role)role;
            *suffix = rest;
        }
    }
    for (size_t i = 0; i < GT_ARRAY_COUNT(others); i++)
        if (strlen(others[i]) > best && has_word(name, gt_str_of(others[i]), &rest)) {
            best = strlen(others[i]);
            found = GT_ROCPD_ROLE_COUNT;
        }
    *is_known = best > 0;
    return found;
}

bool gt_rocpd_is_table(struct gt_str name) {
    struct gt_str suffix;
    bool is_known;
    role_of(name, &suffix, &is_known);
    return is_known;
}

enum gt_status gt_rocpd_schema_pc_samples(const struct gt_sqlite_db *db, uint64_t *count, struct gt_error *err) {
    *count = 0;
    for (size_t i = 0; i < db->table_count; i++) {
        struct gt_str suffix;
        uint64_t rows;
        if (!has_word(db->tables[i].name, GT_STR(PC_SAMPLES), &suffix))
            continue;
        if (gt_sqlite_db_table_rows(db, &db->tables[i], &rows, err) != GT_OK)
            return GT_ERR;
        *count += rows == UINT64_MAX ? 1 : rows; /* there are some, it is not known how many */
    }
    return GT_OK;
}

/* The first of the alternatives that the table has. */
static uint16_t column_of(const struct gt_sqlite_table *table, const char *alternatives) {
    while (alternatives) {
        struct gt_str name = {alternatives, strcspn(alternatives, "|")};
        uint16_t column = gt_sqlite_table_column(table, name);
        if (column != GT_SQLITE_NO_COLUMN)
            return column;
        alternatives = alternatives[name.len] ? alternatives + name.len + 1 : NULL;
    }
    return GT_SQLITE_NO_COLUMN;
}

static bool is_wanted(const struct role *role, size_t slot, uint32_t facts) {
    for (size_t i = 0; i < PARTS_MAX && role->parts[i].facts; i++)
        if (slot >= role->parts[i].first && slot <= role->parts[i].last && !(facts & role->parts[i].facts))
            return false;
    return true;
}

static void fill_columns(struct gt_rocpd_table *table, const struct role *role, uint32_t facts) {
    for (size_t i = 0; i < GT_SQLITE_COLUMNS_MAX; i++) {
        table->columns[i] = GT_SQLITE_NO_COLUMN;
        if (!role->columns[i])
            continue;
        table->column_count = i + 1;
        if (is_wanted(role, i, facts))
            table->columns[i] = column_of(table->table, role->columns[i]);
    }
}

/* What kernels need only where another column is missing: their thread says the process, their queue is their stream.
 */
static void leave_out(struct gt_rocpd_table *table) {
    if (table->columns[GT_ROCPD_ROW_PROCESS] != GT_SQLITE_NO_COLUMN)
        table->columns[GT_ROCPD_ROW_THREAD] = GT_SQLITE_NO_COLUMN;
    if (table->columns[GT_ROCPD_ROW_STREAM] != GT_SQLITE_NO_COLUMN)
        table->columns[GT_ROCPD_ROW_QUEUE] = GT_SQLITE_NO_COLUMN;
}

static bool has_required(const struct gt_sqlite_table *table, const struct role *role) {
    for (size_t i = 0; i < REQUIRED_MAX && role->required[i]; i++)
        if (column_of(table, role->required[i]) == GT_SQLITE_NO_COLUMN)
            return false;
    return true;
}

static struct gt_rocpd_set *set_of(struct gt_rocpd_schema *schema, struct gt_str suffix) {
    gt_strid id = gt_strtab_intern(&schema->suffixes, suffix);
    if (schema->suffixes.failed)
        return NULL;
    while (schema->count <= id) {
        struct gt_rocpd_set *grown = gt_mem_room(schema->sets, schema->count, &schema->capacity, sizeof *grown);
        if (!grown)
            return NULL;
        schema->sets = grown;
        grown[schema->count++] = (struct gt_rocpd_set){.only_process = GT_ROCM_NO_PROCESS};
    }
    return &schema->sets[id];
}

/* false: memory was short. */
static bool take_table(struct gt_rocpd_schema *schema, const struct gt_sqlite_table *from, uint32_t facts,
                       bool *is_known) {
    struct gt_str suffix = {"", 0};
    enum gt_rocpd_role number = role_of(from->name, &suffix, is_known);
    if (number == GT_ROCPD_ROLE_COUNT)
        return true;
    const struct role *role = &roles[number];
    if (role->facts && !(role->facts & facts))
        return true;
    struct gt_rocpd_set *set = set_of(schema, suffix);
    if (!set)
        return false;
    schema->unreadable[number] += from->column_count == 0;
    schema->incomplete[number] += from->column_count && !has_required(from, role);
    if (from->column_count == 0 || !has_required(from, role) || set->tables[number].table)
        return true;
    set->tables[number].table = from;
    fill_columns(&set->tables[number], role, facts);
    if (number == GT_ROCPD_DISPATCHES)
        leave_out(&set->tables[number]);
    return true;
}

enum gt_status gt_rocpd_schema_find(struct gt_rocpd_schema *schema, const struct gt_sqlite_db *db, uint32_t facts,
                                    const char *subject, struct gt_error *err) {
    bool has_any = false;
    for (size_t i = 0; i < db->table_count; i++) {
        bool is_known = false;
        if (!take_table(schema, &db->tables[i], facts, &is_known))
            return gt_fail_memory(err);
        has_any |= is_known;
    }
    return has_any ? GT_OK : gt_fail(err, "'%s': an SQLite database without tables of rocprofv3 (rocpd)", subject);
}

void gt_rocpd_schema_release(struct gt_rocpd_schema *schema) {
    for (size_t i = 0; i < schema->count; i++) {
        struct gt_rocpd_set *set = &schema->sets[i];
        gt_rocpd_names_release(&set->strings);
        gt_rocpd_names_release(&set->categories);
        gt_rocpd_names_release(&set->symbols);
        gt_mem_free(set->symbol_facts);
        gt_mem_free(set->domains);
        gt_mem_free(set->threads);
        gt_mem_free(set->tracks);
        struct gt_map *const maps[] = {&set->node_of,  &set->process_of, &set->thread_of,
                                       &set->agent_of, &set->track_of,   &set->counter_of};
        for (size_t m = 0; m < GT_ARRAY_COUNT(maps); m++)
            gt_map_release(maps[m]);
        for (size_t role = 0; role < GT_ARRAY_COUNT(set->entries); role++)
            gt_rocpd_entries_release(&set->entries[role]);
        gt_rocpd_args_release(&set->args);
    }
    gt_mem_free(schema->sets);
    schema->sets = NULL;
    schema->count = 0;
}
