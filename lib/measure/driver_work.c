/* Driver work: time that the driver took on CPU threads outside API calls, such as for loading code, by what it was.
   Nsight reports have it; their SQLite exports only from version 2025.5 on. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/grouping.h"
#include "measure/results/measure.h"
#include "report/row.h"

struct work {
    gt_strid name;
    size_t count;
    int64_t max_ns;
    __int128 total_ns;
};

static const struct gt_report_column columns[] = {
    {"name", "Driver work", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"count", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"avg_ns", "Mean", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"max_ns", "Max", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
};

static bool add_up(const struct gt_view *view, struct gt_grouping *works) {
    const struct gt_driver_work *rows = &view->store->driver_work;
    bool *processes = gt_view_processes(view), is_new;
    bool is_done = processes != NULL;
    for (size_t i = 0; is_done && i < rows->count; i++) {
        if (!gt_view_has_moment(view, processes, rows->start_ns[i], rows->thread[i]))
            continue;
        int64_t length_ns = gt_ns_between(rows->start_ns[i], rows->end_ns[i]);
        struct work *work = gt_grouping_find(works, 0, rows->name[i], &is_new);
        is_done = work != NULL;
        if (!is_done)
            break;
        work->name = rows->name[i];
        work->count++;
        work->total_ns += length_ns;
        work->max_ns = length_ns > work->max_ns ? length_ns : work->max_ns;
    }
    gt_mem_free(processes);
    return is_done;
}

static int by_total(const void *a, const void *b, void *context) {
    const struct work *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return gt_str_cmp(gt_store_string(context, x->name), gt_store_string(context, y->name));
}

enum gt_status gt_driver_work_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    if (!gt_measure_table_is_wanted(view, "driver_work"))
        return GT_OK;
    struct gt_grouping works = {.elem_bytes = sizeof(struct work)};
    if (!add_up(view, &works)) {
        gt_grouping_release(&works);
        return gt_fail_memory(err);
    }
    if (works.count)
        qsort_r(works.list, works.count, sizeof(struct work), by_total, (void *)(uintptr_t)view->store);
    struct gt_table *table =
        gt_section_table(section, "driver_work", "Driver work on CPU threads", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 5;
    const struct work *list = (const void *)works.list;
    for (size_t i = 0; i < works.count; i++) {
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "name", gt_store_string(view->store, list[i].name));
        gt_row_count(&row, "count", list[i].count);
        gt_row_int(&row, "total_ns", gt_ns_of_sum(list[i].total_ns));
        gt_row_real(&row, "avg_ns", (double)list[i].total_ns / (double)list[i].count);
        gt_row_int(&row, "max_ns", list[i].max_ns);
        gt_row_end(&row);
    }
    gt_grouping_release(&works);
    return GT_OK;
}
