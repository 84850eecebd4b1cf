/* Sync calls: how often and how long CPU threads waited for the GPU inside calls, by call, over all and for each
   process. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/calls.h"
#include "measure/results/keyed.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

/* The table over all processes has the same without the first. */
static const struct gt_report_column process_columns[] = {
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"name", "Call", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"count", "Calls", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"avg_ns", "Mean", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"max_ns", "Max", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"api_name", "Name in the trace", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
};

static const struct gt_report_column total_columns[] = {
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"count", "Calls", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
};

struct row {
    const struct gt_keyed_group *group; /* hi: process, lo: name of the call */
    struct gt_str name;
};

static int by_total(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->group->lengths.sum != y->group->lengths.sum)
        return x->group->lengths.sum < y->group->lengths.sum ? 1 : -1;
    int order = gt_str_cmp(x->name, y->name);
    return order ? order : (x->group->hi > y->group->hi) - (x->group->hi < y->group->hi);
}

/* Adds what blocks, by process and call, by call, and by process. */
static bool add_up(const struct gt_view *view, const uint8_t *blocks, struct gt_keyed *by_process,
                   struct gt_keyed *by_call, struct gt_keyed *by_owner) {
    const struct gt_store *store = view->store;
    bool *processes = gt_view_processes(view);
    bool ok = processes;
    for (size_t i = 0; blocks && i < store->calls.count && ok; i++) {
        gt_strid name = store->calls.name[i];
        if (!blocks[i] || !gt_view_has_moment(view, processes, store->calls.start_ns[i], store->calls.thread[i]))
            continue;
        uint32_t process = gt_labels_call_process(store, (uint32_t)i);
        int64_t length_ns = gt_ns_between(store->calls.start_ns[i], store->calls.end_ns[i]);
        gt_keyed_add(by_call, 0, name, length_ns);
        if (gt_measure_pid_cell(view, process).type == GPUTIME_CELL_NULL)
            continue;
        gt_keyed_add(by_process, process, name, length_ns);
        gt_keyed_add(by_owner, process, GT_STRID_EMPTY, length_ns);
    }
    ok = ok && !by_call->failed && !by_process->failed && !by_owner->failed;
    gt_mem_free(processes);
    return ok;
}

/* To be freed; NULL: memory was short. */
static struct row *new_rows(const struct gt_view *view, const struct gt_keyed *groups) {
    struct row *rows = gt_mem_array(groups->count, sizeof *rows);
    for (size_t i = 0; i < groups->count && rows; i++)
        rows[i] = (struct row){&groups->items[i], gt_store_string(view->store, (gt_strid)groups->items[i].lo)};
    if (rows)
        qsort(rows, groups->count, sizeof *rows, by_total);
    return rows;
}

static void add_cells(struct gt_row *cells, const struct row *row) {
    const struct gt_tally *lengths = &row->group->lengths;
    gt_row_text(cells, "name", gt_call_plain_name(row->name));
    gt_row_count(cells, "count", lengths->count);
    gt_row_int(cells, "total_ns", gt_ns_of_sum(lengths->sum));
    gt_row_real(cells, "avg_ns", gt_keyed_tally_mean(lengths));
    gt_row_int(cells, "max_ns", lengths->max);
    gt_row_text(cells, "api_name", row->name);
}

static bool add_calls(const struct gt_view *view, struct gt_section *section, const struct gt_keyed *groups) {
    struct row *rows = new_rows(view, groups);
    if (!rows)
        return false;
    __int128 total_ns = 0;
    struct gt_table *table = gt_section_table(section, "sync_calls", "Synchronizing calls", process_columns + 1,
                                              GT_ARRAY_COUNT(process_columns) - 1);
    table->screen_limit = 10;
    table->empty = view->store->facts & GT_FACT_CALLS ? "No synchronizing calls." : NULL;
    for (size_t i = 0; i < groups->count; i++) {
        total_ns += rows[i].group->lengths.sum;
        struct gt_row cells = gt_row_begin(table);
        add_cells(&cells, &rows[i]);
        gt_row_end(&cells);
    }
    struct gt_measure_fact_group facts = {.section = section, .audience = GT_FOR_DATA};
    gt_measure_fact_group_add(&facts, "sync_total_ns", "Time in synchronizing calls", GT_UNIT_NS,
                              gt_cell_int(gt_ns_of_sum(total_ns)));
    gt_mem_free(rows);
    return true;
}

static bool add_process_calls(const struct gt_view *view, struct gt_section *section, const struct gt_keyed *groups) {
    struct row *rows = new_rows(view, groups);
    if (!rows)
        return false;
    struct gt_table *table = gt_section_table(section, "process_sync_calls", "Synchronizing calls by process",
                                              process_columns, GT_ARRAY_COUNT(process_columns));
    table->screen_limit = 10;
    for (size_t i = 0; i < groups->count; i++) {
        struct gt_row cells = gt_row_begin(table);
        gt_row_cell(&cells, "pid", gt_measure_pid_cell(view, (uint32_t)rows[i].group->hi));
        add_cells(&cells, &rows[i]);
        gt_row_end(&cells);
    }
    gt_measure_table_for_processes(section, table);
    gt_mem_free(rows);
    return true;
}

static bool add_process_totals(const struct gt_view *view, struct gt_section *section, const struct gt_keyed *groups) {
    struct row *rows = new_rows(view, groups);
    if (!rows)
        return false;
    struct gt_table *table = gt_section_table(section, "process_sync", "Time in synchronizing calls by process",
                                              total_columns, GT_ARRAY_COUNT(total_columns));
    gt_measure_table_for(section, table, GT_FOR_DATA);
    for (size_t i = 0; i < groups->count; i++) {
        struct gt_row cells = gt_row_begin(table);
        gt_row_cell(&cells, "pid", gt_measure_pid_cell(view, (uint32_t)rows[i].group->hi));
        gt_row_count(&cells, "count", rows[i].group->lengths.count);
        gt_row_int(&cells, "total_ns", gt_ns_of_sum(rows[i].group->lengths.sum));
        gt_row_end(&cells);
    }
    gt_mem_free(rows);
    return true;
}

enum gt_status gt_sync_calls_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_blocking_marks *marks = gt_results_blocking_marks(view, err);
    if (!marks)
        return err->code;
    struct gt_keyed by_process = {0}, by_call = {0}, by_owner = {0};
    bool ok = add_up(view, marks->of_call, &by_process, &by_call, &by_owner) && add_calls(view, section, &by_call) &&
              add_process_calls(view, section, &by_process) && add_process_totals(view, section, &by_owner);
    gt_keyed_release(&by_process);
    gt_keyed_release(&by_call);
    gt_keyed_release(&by_owner);
    return ok ? GT_OK : gt_fail_memory(err);
}
