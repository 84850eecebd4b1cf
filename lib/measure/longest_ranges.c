/* Longest ranges: the single ranges that took longest on their CPU threads. */
#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/measure.h"
#include "measure/results/range_set.h"

enum { LISTED = 50 };

static const struct gt_report_column columns[] = {
    {"name", "Range", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
    {"domain", "Domain", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"start_ns", "CPU start", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT},
    {"end_ns", "CPU end", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT | GT_COLUMN_DETAIL},
    {"range_ns", "CPU time", GT_UNIT_NS, NULL, 0},
    {"pid", "Process", GT_UNIT_NONE, NULL, 0},
    {"tid", "Thread", GT_UNIT_NONE, NULL, 0},
};

struct longest {
    uint32_t ranges[LISTED]; /* longest first; of equal ones, as in the file */
    int64_t lengths_ns[LISTED];
    size_t count;
};

static void offer(struct longest *longest, uint32_t range, int64_t length_ns) {
    size_t place = longest->count;
    if (place == LISTED && length_ns <= longest->lengths_ns[LISTED - 1])
        return;
    place = place == LISTED ? LISTED - 1 : longest->count++;
    for (; place > 0 && longest->lengths_ns[place - 1] < length_ns; place--) {
        longest->ranges[place] = longest->ranges[place - 1];
        longest->lengths_ns[place] = longest->lengths_ns[place - 1];
    }
    longest->ranges[place] = range;
    longest->lengths_ns[place] = length_ns;
}

static size_t find_longest(const struct gt_view *view, const bool *processes, struct longest *longest) {
    const struct gt_ranges *ranges = &view->store->ranges;
    size_t total = 0;
    for (uint32_t range = 0; range < ranges->count; range++) {
        if (!gt_range_set_is_on_cpu(view->store, range) || !gt_view_has_range(view, processes, range))
            continue;
        total++;
        offer(longest, range, gt_ns_between(ranges->start_ns[range], ranges->end_ns[range]));
    }
    return total;
}

enum gt_status gt_longest_ranges_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_store *store = view->store;
    struct longest longest = {.count = 0};
    bool *processes = gt_view_processes(view);
    if (!processes)
        return gt_fail_memory(err);
    struct gt_table *table =
        gt_section_table(section, "longest_ranges", "Longest ranges", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 10;
    table->total_rows = find_longest(view, processes, &longest);
    for (size_t i = 0; i < longest.count; i++) {
        uint32_t range = longest.ranges[i];
        struct gt_cell *cell = gt_table_row(table);
        *cell++ = gt_cell_text(gt_store_string(store, store->ranges.name[range]));
        *cell++ = gt_cell_text(gt_store_string(store, store->ranges.domain[range]));
        *cell++ = gt_measure_time_cell(view, store->ranges.start_ns[range]);
        *cell++ = gt_measure_time_cell(view, store->ranges.end_ns[range]);
        *cell++ = gt_cell_int(longest.lengths_ns[i]);
        *cell++ = gt_measure_pid_cell(view, gt_range_set_process(store, range));
        *cell++ = gt_range_set_tid_cell(store, store->ranges.thread[range]);
    }
    gt_mem_free(processes);
    return GT_OK;
}
