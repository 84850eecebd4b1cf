/* Schema: what the file holds. Of a database every table with its rows and columns, of another input what was read from
   it; and which of them the analyses use. */
#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/measure.h"
#include "measure/results/range_set.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"table", "Table", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
    {"role", "Read as", GT_UNIT_NONE, NULL, 0},
    {"rows", "Rows", GT_UNIT_COUNT, NULL, 0},
    {"start_ns", "From", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT},
    {"end_ns", "To", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT},
    {"columns", "Columns", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_DETAIL},
};

static const struct gt_report_column column_columns[] = {
    {"table", "Table", GT_UNIT_NONE, NULL, 0},
    {"column", "Column", GT_UNIT_NONE, NULL, 0},
    {"type", "Type", GT_UNIT_NONE, NULL, 0},
};

static const struct gt_report_column capability_columns[] = {
    {"role", "Role", GT_UNIT_NONE, NULL, 0},
    {"capability", "Capability", GT_UNIT_NONE, NULL, 0},
    {"present", "Present", GT_UNIT_NONE, NULL, 0},
};

static const struct gt_report_column process_columns[] = {
    {"pid", "Process", GT_UNIT_NONE, NULL, 0},
    {"kernels", "Kernels", GT_UNIT_COUNT, NULL, 0},
    {"calls", "Calls", GT_UNIT_COUNT, NULL, 0},
    {"ranges", "Ranges", GT_UNIT_COUNT, NULL, 0},
};

/* ---- times ---- */

struct window {
    size_t rows;
    int64_t start_ns, end_ns;
};

static void widen(struct window *window, int64_t start_ns, int64_t end_ns) {
    bool is_first = window->rows++ == 0;
    window->start_ns = is_first || start_ns < window->start_ns ? start_ns : window->start_ns;
    window->end_ns = is_first || end_ns > window->end_ns ? end_ns : window->end_ns;
}

static struct window window_of(const int64_t *start_ns, const int64_t *end_ns, size_t count) {
    struct window window = {0};
    for (size_t i = 0; i < count; i++)
        widen(&window, start_ns[i], end_ns[i]);
    return window;
}

/* What a store keeps, by the role of the table it comes from. Calls and ranges of databases may come from several. */
enum kept { KERNELS, COPIES, SETS, GRAPHS, CALLS, RANGES, CPU_OPS, OVERHEADS, DRIVER_WORK, SUMS, KEPT_COUNT };

static const struct {
    const char *role, *driver_role, *title;
} kept_kinds[KEPT_COUNT] = {
    [KERNELS] = {"kernels", NULL, "kernels"},
    [COPIES] = {"copies", NULL, "memory copies"},
    [SETS] = {"sets", NULL, "memsets"},
    [GRAPHS] = {"graphs", NULL, "CUDA graphs traced as a whole"},
    [CALLS] = {"runtime", "driver", "runtime and driver calls"},
    [RANGES] = {"ranges", NULL, "ranges"},
    [CPU_OPS] = {"cpu_ops", NULL, "framework operators"},
    [OVERHEADS] = {"overheads", NULL, "profiler overheads"},
    [DRIVER_WORK] = {"driver_overheads", NULL, "driver work outside API calls"},
    [SUMS] = {"sums", NULL, "pre-summed rows"},
};

static void measure_windows(const struct gt_store *store, struct window windows[KEPT_COUNT]) {
    static const enum kept kinds[] = {
        [GT_OP_KERNEL] = KERNELS, [GT_OP_MEMCPY] = COPIES, [GT_OP_MEMSET] = SETS, [GT_OP_GRAPH] = GRAPHS};
    for (size_t i = 0; i < store->ops.count; i++)
        widen(&windows[kinds[store->ops.kind[i]]], store->ops.start_ns[i], store->ops.end_ns[i]);
    windows[CALLS] = window_of(store->calls.start_ns, store->calls.end_ns, store->calls.count);
    windows[RANGES] = window_of(store->ranges.start_ns, store->ranges.end_ns, store->ranges.count);
    windows[CPU_OPS] = window_of(store->cpu_ops.start_ns, store->cpu_ops.end_ns, store->cpu_ops.count);
    windows[OVERHEADS] = window_of(store->overheads.start_ns, store->overheads.end_ns, store->overheads.count);
    windows[DRIVER_WORK] = window_of(store->driver_work.start_ns, store->driver_work.end_ns, store->driver_work.count);
    windows[SUMS].rows = store->groups.count;
}

/* NULL: nothing with times is read from such a table. */
static const struct window *window_of_role(const struct window windows[KEPT_COUNT], struct gt_str role) {
    for (size_t k = 0; k < KEPT_COUNT && role.len; k++)
        if (gt_str_eq(role, gt_str_of(kept_kinds[k].role)) || gt_str_eq(role, gt_str_of(kept_kinds[k].driver_role)))
            return &windows[k];
    return NULL;
}

/* ---- tables ---- */

static struct gt_str column_list(struct gt_arena *arena, const struct gt_store *store, size_t first, size_t end) {
    const struct gt_source_columns *source = &store->source_columns;
    size_t bytes = 1;
    for (size_t i = first; i < end; i++)
        bytes += gt_store_string(store, source->name[i]).len + gt_store_string(store, source->type[i]).len + 3;
    char *text = gt_arena_alloc(arena, bytes);
    size_t used = 0;
    for (size_t i = first; text && i < end; i++) {
        const struct gt_str parts[] = {i > first ? GT_STR(", ") : GT_STR(""), gt_store_string(store, source->name[i]),
                                       GT_STR(":"), gt_store_string(store, source->type[i])};
        for (size_t p = 0; p < GT_ARRAY_COUNT(parts); p++) {
            memcpy(text + used, parts[p].ptr, parts[p].len);
            used += parts[p].len;
        }
    }
    return (struct gt_str){text ? text : "", used};
}

static void add_row(const struct gt_view *view, struct gt_table *table, struct gt_str name, struct gt_str role,
                    struct gt_cell rows, const struct window *window, struct gt_cell names) {
    bool has_times = window && window->rows && (window->start_ns || window->end_ns);
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "table", name);
    gt_row_cell(&row, "role", role.len ? gt_cell_text(role) : gt_cell_null());
    gt_row_cell(&row, "rows", rows);
    gt_row_cell(&row, "start_ns", has_times ? gt_measure_time_cell(view, window->start_ns) : gt_cell_null());
    gt_row_cell(&row, "end_ns", has_times ? gt_measure_time_cell(view, window->end_ns) : gt_cell_null());
    gt_row_cell(&row, "columns", names);
    gt_row_end(&row);
}

/* What a table was read for. Not what other reports of the same trace had it read for. */
static struct gt_str role_of(const struct gt_view *view, size_t column) {
    static const struct {
        const char *role;
        uint32_t facts;
    } on_demand[] = {
        {"syncs", GT_FACT_SYNCS},
        {"event_records", GT_FACT_SYNCS},
        {"memory", GT_FACT_MEMORY},
        {"pools", GT_FACT_MEMORY},
        {"options", GT_FACT_METRICS},
        {"metric_names", GT_FACT_METRICS},
        {"metric_fields", GT_FACT_METRICS},
        {"metrics", GT_FACT_METRICS},
        {"payload_entries", GT_FACT_COMMS},
        {"payload_enums", GT_FACT_COMMS},
        {"payload_values", GT_FACT_COMMS},
        {"os_calls", GT_FACT_HOST_CALLS},
        {"mpi_calls", GT_FACT_HOST_CALLS},
        {"counters", GT_FACT_METRICS},
        {"arguments", GT_FACT_CALL_ARGS},
        {"values", GT_FACT_METRICS},
        {"allocations", GT_FACT_MEMORY | GT_FACT_COUNTERS},
    };
    struct gt_str role = gt_store_string(view->store, view->store->source_columns.role[column]);
    for (size_t i = 0; i < GT_ARRAY_COUNT(on_demand); i++)
        if (gt_str_eq(role, gt_str_of(on_demand[i].role)) && !(view->request->facts & on_demand[i].facts))
            return GT_STR("");
    return role;
}

static void add_tables(const struct gt_view *view, struct gt_section *section, struct gt_table *table,
                       const struct window windows[KEPT_COUNT]) {
    const struct gt_store *store = view->store;
    const struct gt_source_columns *source = &store->source_columns;
    for (size_t i = 0; i < source->count;) {
        size_t end = i + 1;
        while (end < source->count && source->table[end] == source->table[i])
            end++;
        struct gt_str role = role_of(view, i);
        bool knows_rows = source->rows[i] <= INT64_MAX;
        add_row(view, table, gt_store_string(store, source->table[i]), role,
                knows_rows ? gt_cell_int((int64_t)source->rows[i]) : gt_cell_null(), window_of_role(windows, role),
                gt_cell_text(column_list(&section->report->arena, store, i, end)));
        i = end;
    }
}

static void add_kept(const struct gt_view *view, struct gt_table *table, const struct window windows[KEPT_COUNT]) {
    for (size_t k = 0; k < KEPT_COUNT; k++)
        if (windows[k].rows)
            add_row(view, table, gt_str_of(kept_kinds[k].title), gt_str_of(kept_kinds[k].role),
                    gt_cell_count(windows[k].rows), &windows[k], gt_cell_null());
}

static void add_columns(const struct gt_store *store, struct gt_section *section) {
    const struct gt_source_columns *source = &store->source_columns;
    struct gt_table *table = gt_section_table(section, "schema_columns", "Columns of the file", column_columns,
                                              GT_ARRAY_COUNT(column_columns));
    gt_measure_table_for(section, table, GT_FOR_DATA);
    for (size_t i = 0; i < source->count; i++) {
        if (source->name[i] == GT_STRID_EMPTY)
            continue;
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "table", gt_store_string(store, source->table[i]));
        gt_row_text(&row, "column", gt_store_string(store, source->name[i]));
        gt_row_text(&row, "type", gt_store_string(store, source->type[i]));
        gt_row_end(&row);
    }
}

/* ---- data of the tables of the main roles ---- */

enum { CANDIDATES_MAX = 6, SOURCES_MAX = 4 };

static const struct {
    const char *role, *other_role;          /* the second where there is none of the first */
    const char *key;                        /* of the capabilities; NULL: none listed */
    const char *fact, *source_fact;         /* name of the table; column with the process, NULL: not asked */
    const char *candidates[CANDIDATES_MAX]; /* columns that matter */
    const char *sources[SOURCES_MAX];       /* columns with the process, best first */
} main_roles[] = {
    {"strings", NULL, NULL, "string_table", NULL, {0}, {0}},
    {"kernels",
     NULL,
     "kernel_table",
     "kernel_table",
     "kernel_pid_source",
     {"correlationId", "deviceId", "globalPid", "pid", "processId"},
     {"pid", "processId", "globalPid", "globalTid"}},
    {"runtime",
     "driver",
     "runtime_table",
     "runtime_table",
     "runtime_pid_source",
     {"correlationId", "globalTid", "name", "nameId", "pid", "processId"},
     {"pid", "processId", "globalTid", "globalPid"}},
    {"ranges",
     NULL,
     "nvtx_table",
     "nvtx_table",
     "nvtx_pid_source",
     {"end", "globalTid", "text", "textId"},
     {"globalTid"}},
};

/* The first row of source_columns of a table with that role; SIZE_MAX: there is none. */
static size_t find_role(const struct gt_store *store, const char *role) {
    for (size_t i = 0; role && i < store->source_columns.count; i++)
        if (gt_str_eq(gt_store_string(store, store->source_columns.role[i]), gt_str_of(role)))
            return i;
    return SIZE_MAX;
}

static bool has_column(const struct gt_store *store, size_t first, const char *name) {
    const struct gt_source_columns *source = &store->source_columns;
    for (size_t i = first; i < source->count && source->table[i] == source->table[first]; i++)
        if (gt_str_eq(gt_store_string(store, source->name[i]), gt_str_of(name)))
            return true;
    return false;
}

static void add_capability(struct gt_table *table, const char *role, struct gt_str capability, bool is_present) {
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "role", gt_str_of(role));
    gt_row_text(&row, "capability", capability);
    gt_row_int(&row, "present", is_present);
    gt_row_end(&row);
}

static void add_capabilities(const struct gt_store *store, struct gt_section *section,
                             struct gt_measure_fact_group *facts) {
    struct gt_arena *arena = &section->report->arena;
    struct gt_table *table = gt_section_table(section, "schema_capabilities", "Available data", capability_columns,
                                              GT_ARRAY_COUNT(capability_columns));
    gt_measure_table_for(section, table, GT_FOR_DATA);
    for (size_t r = 0; r < GT_ARRAY_COUNT(main_roles); r++) {
        size_t first = find_role(store, main_roles[r].role);
        first = first == SIZE_MAX ? find_role(store, main_roles[r].other_role) : first;
        bool is_there = first != SIZE_MAX;
        if (is_there)
            gt_measure_fact_group_add(facts, main_roles[r].fact, "Table", GT_UNIT_NONE,
                                      gt_cell_text(gt_store_string(store, store->source_columns.table[first])));
        if (!main_roles[r].key)
            continue;
        add_capability(table, main_roles[r].key, GT_STR("present"), is_there);
        for (size_t c = 0; c < CANDIDATES_MAX && main_roles[r].candidates[c]; c++)
            add_capability(table, main_roles[r].key, gt_arena_printf(arena, "has_%s", main_roles[r].candidates[c]),
                           is_there && has_column(store, first, main_roles[r].candidates[c]));
        for (size_t s = 0; is_there && s < SOURCES_MAX && main_roles[r].sources[s]; s++)
            if (has_column(store, first, main_roles[r].sources[s])) /* the first stays */
                gt_measure_fact_group_add(facts, main_roles[r].source_fact, "Process column", GT_UNIT_NONE,
                                          gt_cell_text(gt_str_of(main_roles[r].sources[s])));
    }
}

/* ---- whose events there are ---- */

struct events {
    size_t kernels, calls, ranges;
};

enum { LARGE_PID = 10000000 }; /* no system numbers its processes so high: something else was taken for one */

/* How many processes have events of the kind at the offset, and how many events of that kind there are in all. */
struct owners {
    size_t processes, events;
};

static struct owners count_owners(const struct gt_processes *processes, const struct events *events, size_t offset) {
    struct owners owners = {0};
    for (size_t i = 0; i <= processes->count; i++) {
        size_t count = *(const size_t *)((const char *)&events[i] + offset);
        owners.processes += i < processes->count && processes->pid[i] != -1 && count;
        owners.events += count;
    }
    return owners;
}

/* Says where times by process are not to be trusted. */
static void note_quality(struct gt_section *section, const struct gt_processes *processes, const struct events *events,
                         double zero_share, double large_share) {
    struct owners kernels = count_owners(processes, events, offsetof(struct events, kernels));
    struct owners calls = count_owners(processes, events, offsetof(struct events, calls));
    struct owners ranges = count_owners(processes, events, offsetof(struct events, ranges));
    size_t most = calls.processes > ranges.processes ? calls.processes : ranges.processes;
    struct gt_arena *arena = &section->report->arena;
    if (kernels.events && kernels.processes == 0)
        gt_section_note(section, GT_FOR_ALL, GT_STR("The trace has no process ids for kernels: no times by process."));
    if (kernels.processes == 1 && most > 1)
        gt_section_note(section, GT_FOR_ALL,
                        gt_arena_printf(arena,
                                        "All kernels belong to one process, but %zu processes have calls or ranges: "
                                        "times by process may be wrong.",
                                        most));
    if (zero_share >= 0.8)
        gt_section_note(section, GT_FOR_ALL,
                        gt_arena_printf(arena, "%.1f%% of kernels belong to process 0: times by process may be wrong.",
                                        100 * zero_share));
    if (large_share > 0)
        gt_section_note(section, GT_FOR_ALL,
                        gt_arena_printf(arena,
                                        "%.1f%% of kernels belong to processes with implausible ids (10,000,000 or "
                                        "more): times by process may be wrong.",
                                        100 * large_share));
}

static void add_quality(const struct gt_view *view, struct gt_measure_fact_group *facts, const struct events *events) {
    const struct gt_processes *processes = &view->store->processes;
    size_t known = 0, zero = 0, large = 0;
    for (size_t i = 0; i < processes->count; i++) {
        known += processes->pid[i] == -1 ? 0 : events[i].kernels;
        zero += processes->pid[i] == 0 ? events[i].kernels : 0;
        large += processes->pid[i] >= LARGE_PID ? events[i].kernels : 0;
    }
    struct gt_cell zero_share = gt_cell_share((double)zero, (double)known);
    struct gt_cell large_share = gt_cell_share((double)large, (double)known);
    gt_measure_fact_group_add(facts, "kernels_with_pid", "Kernels with a process id", GT_UNIT_COUNT,
                              gt_cell_count(known));
    gt_measure_fact_group_add(facts, "kernels_with_pid_0", "Kernels of process 0", GT_UNIT_COUNT, gt_cell_count(zero));
    gt_measure_fact_group_add(facts, "kernels_with_pid_0_share", "% of kernels with a process id", GT_UNIT_SHARE,
                              zero_share);
    gt_measure_fact_group_add(facts, "kernels_with_large_pid", "Kernels with an implausible process id", GT_UNIT_COUNT,
                              gt_cell_count(large));
    gt_measure_fact_group_add(facts, "kernels_with_large_pid_share", "% of kernels with a process id", GT_UNIT_SHARE,
                              large_share);
    if (known == 0)
        gt_measure_fact_group_add(facts, "no_pid_reason", "Reason for missing process ids", GT_UNIT_NONE,
                                  gt_cell_text(GT_STR("no_pid_column")));
    note_quality(facts->section, processes, events, zero_share.real, large_share.real);
}

static bool add_processes(const struct gt_view *view, struct gt_section *section, struct gt_measure_fact_group *facts) {
    const struct gt_store *store = view->store;
    struct gt_table *table = gt_section_table(section, "schema_processes", "Events by process", process_columns,
                                              GT_ARRAY_COUNT(process_columns));
    gt_measure_table_for(section, table, GT_FOR_DATA);
    size_t count = store->processes.count, unknown = count;
    struct events *events = gt_mem_array(count + 1, sizeof *events);
    if (!events)
        return false;
    for (uint32_t i = 0; i < store->ops.count; i++) {
        uint32_t process = gt_labels_op_process(view->labels, store, i);
        events[process == GT_NO_TRACK ? unknown : process].kernels += gt_store_kind_is_kernel(store->ops.kind[i]);
    }
    for (uint32_t i = 0; i < store->calls.count; i++) {
        uint32_t process = gt_labels_call_process(store, i);
        events[process == GT_NO_TRACK ? unknown : process].calls++;
    }
    for (uint32_t i = 0; i < store->ranges.count; i++) {
        uint32_t process = gt_range_set_process(store, i);
        events[process == GT_NO_TRACK ? unknown : process].ranges++;
    }
    for (size_t i = 0; i <= count; i++) {
        if (events[i].kernels + events[i].calls + events[i].ranges == 0)
            continue;
        struct gt_row row = gt_row_begin(table);
        gt_row_cell(&row, "pid", gt_measure_pid_cell(view, i < count ? (uint32_t)i : GT_NO_TRACK));
        gt_row_count(&row, "kernels", events[i].kernels);
        gt_row_count(&row, "calls", events[i].calls);
        gt_row_count(&row, "ranges", events[i].ranges);
        gt_row_end(&row);
    }
    add_quality(view, facts, events);
    gt_mem_free(events);
    return true;
}

/* "GPU ops, runtime calls": up to projected ranges, the data that nearly all analyses are made of. What has come since
   (OVERHEADS and later) would only lengthen the line; the table trace_facts has everything. */
static struct gt_str known_facts(const struct gt_view *view, struct gt_arena *arena) {
    struct gt_str text = {"", 0};
    for (uint32_t fact = 1; fact < GT_FACT_OVERHEADS; fact <<= 1)
        if (view->store->facts & fact)
            text = gt_arena_printf(arena, "%s%s%s", text.ptr, text.len ? ", " : "",
                                   gt_store_fact_title((enum gt_fact)fact));
    return text;
}

/* Whether the times look like nanoseconds, as exports have them. */
static void add_unit(struct gt_measure_fact_group *facts, const struct window *kernels, bool is_export) {
    int64_t length_ns = kernels->rows ? gt_ns_between(kernels->start_ns, kernels->end_ns) : 0;
    const char *guess = length_ns >= 1000000000 ? "ns" : length_ns >= 1000000 ? "ns_likely" : "unknown";
    gt_measure_fact_group_add(facts, "timestamp_unit_guess", "Timestamp unit", GT_UNIT_NONE,
                              gt_cell_text(gt_str_of(guess)));
    if (length_ns >= 1000000)
        gt_measure_fact_group_add(facts, "timestamp_unit_guess_basis", "Based on", GT_UNIT_NONE,
                                  gt_cell_text(length_ns >= 1000000000 ? GT_STR("kernel_window_ns_ge_1s")
                                                                       : GT_STR("kernel_window_ns_ge_1ms")));
    else if (kernels->rows && is_export)
        gt_section_note(
            facts->section, GT_FOR_ALL,
            GT_STR(
                "All kernels are within 1 ms, too short to confirm that timestamps are in nanoseconds, as assumed."));
}

enum gt_status gt_schema_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_store *store = view->store;
    struct window windows[KEPT_COUNT] = {0};
    struct gt_measure_fact_group facts = {.section = section, .audience = GT_FOR_DATA};
    measure_windows(store, windows);
    struct gt_table *table = gt_section_table(section, "schema", "File contents", columns, GT_ARRAY_COUNT(columns));
    if (store->source_columns.count)
        add_tables(view, section, table, windows);
    else
        add_kept(view, table, windows);
    add_columns(store, section);
    gt_measure_fact_group_add(&facts, "known", "Available data", GT_UNIT_NONE,
                              gt_cell_text(known_facts(view, &section->report->arena)));
    add_capabilities(store, section, &facts);
    add_unit(&facts, &windows[KERNELS], store->source_columns.count > 0);
    return add_processes(view, section, &facts) ? GT_OK : gt_fail_memory(err);
}
