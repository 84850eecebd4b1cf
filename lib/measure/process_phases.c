/* Process phases: the op time of each process by phase of the program, as the table `phases` has it of all. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/measure.h"
#include "measure/results/phase_map.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"phase", "Phase", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"ops", "Ops", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"exclusive_ns", "Exclusive sum", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"share", "Share", GT_UNIT_SHARE, "op time of the process inside ranges", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
};

struct row {
    int64_t pid;
    const struct gt_keyed_group *group; /* hi: process, lo: phase, the number of phases for none */
    struct gt_str phase;
    bool is_mapped;
};

static int by_pid_and_time(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->group->hi != y->group->hi)
        return x->group->hi < y->group->hi ? -1 : 1;
    if (x->is_mapped != y->is_mapped)
        return x->is_mapped ? -1 : 1;
    if (x->group->lengths.sum != y->group->lengths.sum)
        return x->group->lengths.sum < y->group->lengths.sum ? 1 : -1;
    return gt_str_cmp(x->phase, y->phase);
}

/* processes: the same times, by process alone. */
static bool add_up(const struct gt_view *view, const struct gt_phase_map *map, const struct gt_range_groups *groups,
                   struct gt_keyed *phases, struct gt_keyed *processes) {
    const struct gt_store *store = view->store;
    uint32_t *phase_of =
        gt_mem_array(store->strings.count, sizeof *phase_of); /* by name: phase + 1; 0: not asked yet */
    for (size_t i = 0; i < groups->keyed.count && phase_of; i++) {
        const struct gt_keyed_group *group = &groups->keyed.items[i];
        uint32_t process = gt_range_group_process(group);
        uint64_t range = gt_range_group_range(group);
        if (range == GT_NO_RANGE_KEY || gt_measure_pid_cell(view, process).type == GPUTIME_CELL_NULL)
            continue;
        gt_strid name = gt_range_groups_key_name(range);
        if (!phase_of[name]) {
            uint32_t phase = gt_phase_map_find(map, gt_store_string(store, name));
            phase_of[name] = 1 + (phase == GT_NO_PHASE ? (uint32_t)map->phase_count : phase);
        }
        gt_keyed_merge(phases, process, phase_of[name] - 1, &group->lengths);
        gt_keyed_merge(processes, process, 0, &group->lengths);
    }
    bool ok = phase_of && !phases->failed && !processes->failed;
    gt_mem_free(phase_of);
    return ok;
}

static bool add_table(const struct gt_view *view, struct gt_section *section, const struct gt_phase_map *map,
                      const struct gt_keyed *phases, const struct gt_keyed *processes) {
    struct row *rows = gt_mem_array(phases->count, sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = 0; i < phases->count; i++) {
        const struct gt_keyed_group *group = &phases->items[i];
        bool is_mapped = group->lo < map->phase_count;
        struct gt_str phase = is_mapped ? map->phases[group->lo] : GT_PHASE_UNMAPPED;
        rows[i] = (struct row){view->store->processes.pid[group->hi], group, phase, is_mapped};
    }
    qsort(rows, phases->count, sizeof *rows, by_pid_and_time);
    struct gt_table *table =
        gt_section_table(section, "process_phases", "Phases by process", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 20;
    for (size_t i = 0; i < phases->count; i++) {
        const struct gt_tally *lengths = &rows[i].group->lengths;
        const struct gt_keyed_group *process = gt_keyed_find(processes, rows[i].group->hi, 0);
        struct gt_row cells = gt_row_begin(table);
        gt_row_int(&cells, "pid", rows[i].pid);
        gt_row_text(&cells, "phase", gt_arena_copy(&section->report->arena, rows[i].phase));
        gt_row_count(&cells, "ops", lengths->count);
        gt_row_int(&cells, "exclusive_ns", gt_ns_of_sum(lengths->sum));
        gt_row_share(&cells, "share", (double)lengths->sum, (double)process->lengths.sum);
        gt_row_end(&cells);
    }
    gt_measure_table_for_processes(section, table);
    gt_mem_free(rows);
    return true;
}

enum gt_status gt_process_phases_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    struct gt_phase_map map;
    struct gt_keyed phases = {0}, processes = {0};
    enum gt_status status = gt_phase_map_init(&map, gt_option_text(view, GT_OPTION_phase_map), err);
    const struct gt_range_groups *groups = status == GT_OK ? gt_results_range_groups(view, err) : NULL;
    if (status == GT_OK && !groups)
        status = err->code;
    if (status == GT_OK &&
        !(add_up(view, &map, groups, &phases, &processes) && add_table(view, section, &map, &phases, &processes)))
        status = gt_fail_memory(err);
    gt_keyed_release(&phases);
    gt_keyed_release(&processes);
    gt_phase_map_release(&map);
    return status;
}
