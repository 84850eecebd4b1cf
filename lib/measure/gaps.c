/* Gaps: when each device was idle and why, summed by cause and listed longest first. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/moments.h"
#include "base/ns.h"
#include "base/radix.h"
#include "base/threads.h"
#include "measure/results/calls.h"
#include "measure/results/gap_calls.h"
#include "measure/results/idle_work.h"
#include "measure/results/launch_wait.h"
#include "measure/results/measure.h"
#include "measure/results/operator_set.h"
#include "measure/results/results.h"
#include "report/row.h"

#define CAUSE_COLUMNS(of_what, role)                                                                                   \
    {"cause", "Cause", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_WORDS},                                           \
        {"count", "Gaps", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},                                                        \
        {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS | GT_COLUMN_TOTAL | (role)},          \
        {"longest_ns", "Longest", GT_UNIT_NS, NULL, 0},                                                                \
        {"recoverable_ns", "Potential saving", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},                                      \
        {"stddev_ns", "Std dev", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE | GT_COLUMN_SPREAD},            \
        {"share", "Share of idle", GT_UNIT_SHARE, of_what, GT_COLUMN_BAR | GT_COLUMN_WHOLE}, {                         \
        "meaning", "Meaning", GT_UNIT_NONE, NULL, GT_COLUMN_NAME                                                       \
    }

static const struct gt_report_column cause_columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    CAUSE_COLUMNS("idle time of the GPU", GT_COLUMN_PART),
};

static const struct gt_parts cause_parts = {.prefix = "idle (", .suffix = ")"};

static const struct gt_report_column all_columns[] = {CAUSE_COLUMNS("idle time of all GPUs", 0)};

static const struct gt_report_column host_columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"activity", "CPU state", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"count", "Gaps", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"longest_ns", "Longest", GT_UNIT_NS, NULL, 0},
    {"share", "Share of host idle", GT_UNIT_SHARE, "host-caused idle time", GT_COLUMN_BAR},
};

static const struct gt_report_column gap_columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"start_ns", "Start", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT},
    {"end_ns", "End", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_MOMENT},
    {"gap_ns", "Gap", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"cause", "Cause", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"after", "Previous op", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
    {"before", "Next op", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"call", "Launch call", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"activity", "CPU state", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"recoverable_ns", "Potential saving", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS},
    {"meanwhile", "CPU was in", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
    {"range", "Launch range", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_DETAIL},
    {"operator", "Launch operator", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_DETAIL},
    {"queued_ns", "Time queued", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS},
};

static const char *const cause_meanings[GT_IDLE_CAUSE_COUNT] = {
    [GT_IDLE_SYNC] = "the launching thread was in a synchronizing call",
    [GT_IDLE_HOST] = "the CPU had not launched the next op yet",
    [GT_IDLE_LAUNCH] = "the launch had not reached the GPU yet",
    [GT_IDLE_DEPENDENCY] = "the next op was queued and waited for other work",
    [GT_IDLE_UNKNOWN] = "the next op has no launch call in the trace",
    [GT_IDLE_END] = "no op follows before the end of the window",
};

/* Gaps of one cause or host activity. */
struct sum {
    struct gt_idle_sum of;
    const char *name, *meaning;
};

static int by_total(const void *a, const void *b) {
    const struct sum *x = a, *y = b;
    if (x->of.gaps.sum != y->of.gaps.sum)
        return x->of.gaps.sum < y->of.gaps.sum ? 1 : -1;
    return gt_str_cmp(gt_str_of(x->name), gt_str_of(y->name));
}

static __int128 sum_of_sums(const struct gt_idle_sum *sums, size_t count) {
    __int128 total = 0;
    for (size_t i = 0; i < count; i++)
        total += sums[i].gaps.sum;
    return total;
}

/* device: NULL for the sums over all, which have no such column. */
static void add_causes(struct gt_table *table, const struct gt_view_device *device, const struct gt_idle_sum *sums) {
    __int128 idle_ns = sum_of_sums(sums, GT_IDLE_CAUSE_COUNT);
    struct sum causes[GT_IDLE_CAUSE_COUNT];
    for (size_t i = 0; i < GT_IDLE_CAUSE_COUNT; i++)
        causes[i] = (struct sum){sums[i], gt_idle_cause_names[i], cause_meanings[i]};
    qsort(causes, GT_IDLE_CAUSE_COUNT, sizeof *causes, by_total);
    for (size_t i = 0; i < GT_IDLE_CAUSE_COUNT; i++) {
        const struct gt_idle_sum *of = &causes[i].of;
        if (of->gaps.count == 0)
            continue;
        struct gt_row row = gt_row_begin(table);
        if (device)
            gt_row_int(&row, "device", device->id);
        gt_row_text(&row, "cause", gt_str_of(causes[i].name));
        gt_row_count(&row, "count", of->gaps.count);
        gt_row_int(&row, "total_ns", gt_ns_of_sum(of->gaps.sum));
        gt_row_int(&row, "longest_ns", of->gaps.max);
        gt_row_cell(&row, "recoverable_ns", gt_cell_half(of->twice_recoverable_ns));
        gt_row_real(&row, "stddev_ns", gt_moments_stddev(&of->gaps));
        gt_row_share(&row, "share", (double)of->gaps.sum, (double)idle_ns);
        gt_row_text(&row, "meaning", gt_str_of(causes[i].meaning));
        gt_row_end(&row);
    }
}

static void add_activities(struct gt_table *table, int64_t device_id, const struct gt_idle_sum *sums) {
    __int128 host_ns = sum_of_sums(sums, GT_HOST_ACTIVITY_COUNT);
    struct sum activities[GT_HOST_ACTIVITY_COUNT];
    for (size_t i = 0; i < GT_HOST_ACTIVITY_COUNT; i++)
        activities[i] = (struct sum){sums[i], gt_host_activity_names[i], NULL};
    qsort(activities, GT_HOST_ACTIVITY_COUNT, sizeof *activities, by_total);
    for (size_t i = 0; i < GT_HOST_ACTIVITY_COUNT; i++) {
        const struct gt_idle_sum *of = &activities[i].of;
        if (of->gaps.count == 0)
            continue;
        struct gt_row row = gt_row_begin(table);
        gt_row_int(&row, "device", device_id);
        gt_row_text(&row, "activity", gt_str_of(activities[i].name));
        gt_row_count(&row, "count", of->gaps.count);
        gt_row_int(&row, "total_ns", gt_ns_of_sum(of->gaps.sum));
        gt_row_int(&row, "longest_ns", of->gaps.max);
        gt_row_share(&row, "share", (double)of->gaps.sum, (double)host_ns);
        gt_row_end(&row);
    }
}

struct tables {
    struct gt_table *causes, *all, *host;
};

/* Gaps of one device, and their sums. */
struct summed {
    struct gt_idle_stretch gaps;
    struct gt_idle_sum causes[GT_IDLE_CAUSE_COUNT], activities[GT_HOST_ACTIVITY_COUNT];
};

/* Some devices, or the slices of a device that has many gaps: a device is never cut off. */
struct summing {
    const struct gt_idle *idle;
    const struct gt_idle_code *code;
    struct summed items[16];
    size_t count;
};

static void sum_gaps(void *context, size_t item) {
    struct summing *summing = context;
    struct summed *summed = &summing->items[item];
    gt_idle_code_sum(summing->code, summing->idle, summed->gaps, summed->causes, summed->activities);
}

static size_t threads_for(const struct gt_view *view, size_t gap_count) {
    return gt_threads_slices(gt_threads_count(view->request->threads), gap_count, 0);
}

static void merge_sums(struct gt_idle_sum *into, const struct gt_idle_sum *from, size_t count) {
    for (size_t i = 0; i < count; i++) {
        gt_moments_merge(&into[i].gaps, &from[i].gaps);
        into[i].twice_recoverable_ns += from[i].twice_recoverable_ns;
    }
}

/* Adds the rows of all devices so far, whose slices come one after the other. */
static void flush(struct summing *summing, const struct gt_view *view, const struct tables *tables,
                  struct gt_idle_sum *all) {
    gt_threads_parts(threads_for(view, summing->idle->count), summing->count, sum_gaps, summing);
    for (size_t i = 0, next; i < summing->count; i = next) {
        struct summed *first = &summing->items[i];
        const struct gt_view_device *device = &view->devices[first->gaps.device];
        for (next = i + 1; next < summing->count && summing->items[next].gaps.device == first->gaps.device; next++) {
            merge_sums(first->causes, summing->items[next].causes, GT_IDLE_CAUSE_COUNT);
            merge_sums(first->activities, summing->items[next].activities, GT_HOST_ACTIVITY_COUNT);
        }
        gt_idle_sum_add_unblamed(first->causes, &summing->idle->devices[first->gaps.device]);
        add_causes(tables->causes, device, first->causes);
        add_activities(tables->host, device->id, first->activities);
        merge_sums(all, first->causes, GT_IDLE_CAUSE_COUNT);
    }
    summing->count = 0;
}

static void add_sums(const struct gt_view *view, const struct gt_idle *idle, const struct gt_idle_code *code,
                     const struct tables *tables) {
    struct gt_idle_sum all[GT_IDLE_CAUSE_COUNT] = {0};
    struct summing summing = {.idle = idle, .code = code};
    const size_t most = GT_ARRAY_COUNT(summing.items);
    for (size_t d = 0; d < idle->device_count; d++) {
        const struct gt_idle_device *device = &idle->devices[d];
        size_t slices = threads_for(view, device->count);
        slices = slices < most ? slices : most;
        if (summing.count + slices > most)
            flush(&summing, view, tables, all);
        for (size_t s = 0; s < slices; s++)
            summing.items[summing.count++].gaps =
                (struct gt_idle_stretch){d, device->first + gt_threads_slice_begin(device->count, slices, s),
                                         device->first + gt_threads_slice_begin(device->count, slices, s + 1)};
    }
    flush(&summing, view, tables, all);
    add_causes(tables->all, NULL, all);
}

/* ---- the longest gaps ---- */

/* The two gaps of a late start are listed as one, under the number of the first. */
static bool is_listed(const struct gt_idle *idle, size_t gap) {
    return gt_idle_gap_part(idle, gap) != GT_GAP_QUEUED;
}

static inline int64_t listed_ns(const struct gt_idle *idle, size_t gap) {
    return gt_ns_between(gt_idle_gap_start_ns(idle, gap), gt_idle_gap_whole_end_ns(idle, gap));
}

struct longest {
    const struct gt_idle *idle;
    size_t wanted, room;         /* room: for the gaps of a slice that may be wanted */
    bool only_long;              /* of those that are marked as long */
    struct gt_radix_item *items; /* by slice */
    size_t *counts;
    atomic_bool failed;
};

/* Leaves the longest ones, in order. */
static bool keep_longest(struct gt_radix_item *items, size_t *count, size_t wanted) {
    if (!gt_radix_sort_first(items, *count, wanted))
        return false;
    *count = wanted;
    return true;
}

/* Gathers some more than are wanted, leaves the longest of them and goes on with those that are longer than all it left
   out. */
static void gather_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct longest *longest = context;
    const struct gt_idle *idle = longest->idle;
    struct gt_radix_item *items = longest->items + slice * longest->room;
    size_t count = 0;
    int64_t least_ns = -1;
    bool ok = true;
    for (size_t i = begin; i < end && ok; i++) {
        if (longest->only_long && (i = gt_idle_next_with(idle, GT_IDLE_LONG_BIT, true, i, end)) == end)
            break;
        int64_t length_ns = listed_ns(idle, i);
        if (length_ns <= least_ns || !is_listed(idle, i))
            continue;
        if (count == longest->room) {
            ok = keep_longest(items, &count, longest->wanted);
            least_ns = count ? listed_ns(idle, items[count - 1].value) : INT64_MAX;
            if (!ok || length_ns <= least_ns)
                continue;
        }
        items[count++] = (struct gt_radix_item){~gt_radix_key(length_ns), (uint32_t)i};
    }
    if (ok && count > longest->wanted)
        ok = keep_longest(items, &count, longest->wanted);
    longest->counts[slice] = count;
    if (!ok)
        atomic_store(&longest->failed, true);
}

/* Those of all slices become one list. */
static size_t join_slices(struct longest *longest, size_t slices) {
    size_t count = longest->counts[0];
    for (size_t s = 1; s < slices; s++) {
        memmove(longest->items + count, longest->items + s * longest->room,
                longest->counts[s] * sizeof *longest->items);
        count += longest->counts[s];
    }
    return count;
}

/* Gathers them in the order they come in. Mostly those that are marked as long are enough: few are looked at. */
static size_t gather(struct longest *longest, size_t slices) {
    size_t count = 0;
    for (size_t i = 0; i < 2 && count < longest->wanted && !longest->failed; i++) {
        longest->only_long = i == 0;
        gt_threads_rows(slices, longest->idle->count, gather_slice, longest);
        count = longest->failed ? 0 : join_slices(longest, slices);
    }
    return count;
}

/* Numbers of the longest gaps, longest first, then by device and start, which is the order they come in. */
static uint32_t *new_longest(const struct gt_idle *idle, size_t wanted) {
    enum { MORE = 4096 };
    size_t threads = gt_threads_count(idle->view->request->threads);
    size_t slices = gt_threads_slices(threads, idle->count, 2 * wanted + MORE), rows = idle->count / slices + 1;
    struct longest longest = {.idle = idle, .wanted = wanted};
    longest.room = rows / 2 > wanted + MORE ? 2 * wanted + MORE : rows;
    longest.items = gt_mem_uninitialised(slices * longest.room, sizeof *longest.items);
    longest.counts = gt_mem_array(slices, sizeof *longest.counts);
    uint32_t *numbers = gt_mem_uninitialised(wanted, sizeof *numbers);
    bool ok = longest.items && longest.counts && numbers;
    if (ok) {
        size_t count = gather(&longest, slices);
        ok = !longest.failed && gt_radix_sort_first(longest.items, count, wanted);
    }
    for (size_t i = 0; i < wanted && ok; i++)
        numbers[i] = longest.items[i].value;
    gt_mem_free(longest.items);
    gt_mem_free(longest.counts);
    if (ok)
        return numbers;
    gt_mem_free(numbers);
    return NULL;
}

/* What the launching threads of listed gaps were in, as far as it is known: by place in the list. */
struct surroundings {
    uint32_t *calls;     /* as gt_gap_calls has them */
    uint32_t *operators; /* around the launch calls, as gt_operator_set_of_calls has them */
    const struct gt_idle_code *idle_code;
    gt_strid *code; /* as gt_gap_calls_code has it; GT_STRID_EMPTY where the CPU is not to blame */
};

static uint32_t *operators_of_gaps(const struct gt_view *view, const struct gt_idle *idle, const uint32_t *gaps,
                                   size_t count) {
    uint32_t *calls = gt_mem_uninitialised(count, sizeof *calls);
    for (size_t i = 0; i < count && calls; i++)
        calls[i] = gt_idle_gap_call(idle, gaps[i]);
    uint32_t *operators = calls ? gt_operator_set_of_calls(view, calls, count) : NULL;
    gt_mem_free(calls);
    return operators;
}

static struct gt_cell call_name(const struct gt_view *view, uint32_t call) {
    if (call == GT_NO_ROW)
        return gt_cell_null();
    return gt_cell_text(gt_call_plain_name(gt_store_string(view->store, view->store->calls.name[call])));
}

static struct gt_cell range_name(const struct gt_view *view, uint32_t position) {
    uint32_t range = position == GT_NO_ROW ? GT_NO_ROW : view->labels->op_range[view->row[position]];
    if (range == GT_NO_ROW)
        return gt_cell_null();
    return gt_cell_text(gt_store_string(view->store, view->store->ranges.name[range]));
}

static struct gt_cell operator_name(const struct gt_view *view, uint32_t row) {
    if (row == GT_NO_ROW)
        return gt_cell_null();
    return gt_cell_text(gt_store_string(view->store, view->store->cpu_ops.name[row]));
}

/* For gaps that the CPU is to blame for: the call that took most of it, else the code, as idle_work has it. */
static struct gt_cell cpu_was_in(const struct gt_view *view, const struct surroundings *around, size_t place) {
    if (around->calls[place] != GT_NO_ROW)
        return call_name(view, around->calls[place]);
    gt_strid code = around->code[place];
    return code == GT_STRID_EMPTY ? gt_cell_null() : gt_cell_text(gt_launch_wait_code_text(view, code));
}

static void add_gap(const struct gt_view *view, struct gt_table *table, const struct gt_idle *idle, uint32_t number,
                    const struct surroundings *around, size_t place) {
    int64_t queued_ns = gt_idle_gap_queued_ns(idle, number);
    bool is_mostly_queued = queued_ns > gt_idle_gap_ns(idle, number);
    enum gt_idle_cause cause = is_mostly_queued ? GT_IDLE_DEPENDENCY : gt_idle_gap_cause(idle, number);
    size_t device = gt_idle_device_of(idle, number);
    struct gt_row row = gt_row_begin(table);
    gt_row_int(&row, "device", view->devices[device].id);
    gt_row_cell(&row, "start_ns", gt_measure_time_cell(view, gt_idle_gap_start_ns(idle, number)));
    gt_row_cell(&row, "end_ns", gt_measure_time_cell(view, gt_idle_gap_whole_end_ns(idle, number)));
    gt_row_int(&row, "gap_ns", listed_ns(idle, number));
    gt_row_text(&row, "cause", gt_str_of(gt_idle_cause_names[cause]));
    gt_row_cell(&row, "after", gt_measure_op_name_cell(view, gt_idle_gap_previous(idle, number)));
    gt_row_cell(&row, "before", gt_measure_op_name_cell(view, idle->next[number]));
    gt_row_cell(&row, "call", call_name(view, gt_idle_gap_call(idle, number)));
    gt_row_cell(&row, "activity",
                cause == GT_IDLE_HOST
                    ? gt_cell_text(gt_str_of(gt_host_activity_names[around->idle_code->activity[number]]))
                    : gt_cell_null());
    gt_row_cell(&row, "recoverable_ns",
                gt_cell_half(gt_idle_gap_twice_recoverable_ns(idle, number, &idle->devices[device])));
    gt_row_cell(&row, "meanwhile", is_mostly_queued ? gt_cell_null() : cpu_was_in(view, around, place));
    gt_row_cell(&row, "range", range_name(view, idle->next[number]));
    gt_row_cell(&row, "operator", operator_name(view, around->operators[place]));
    gt_row_int(&row, "queued_ns", queued_ns);
    gt_row_end(&row);
}

/* Listed gaps, and what is found for them: each part by itself. */
struct search {
    const struct gt_view *view;
    const struct gt_idle *idle;
    const uint32_t *gaps;
    size_t count;
    struct surroundings *found;
};

enum { PART_CALLS, PART_OPERATORS, PART_CODE, PART_COUNT };

static void find_part(void *context, size_t part) {
    const struct search *search = context;
    struct surroundings *found = search->found;
    if (part == PART_CALLS)
        found->calls = gt_gap_calls(search->view, search->idle, search->gaps, search->count);
    else if (part == PART_OPERATORS)
        found->operators = operators_of_gaps(search->view, search->idle, search->gaps, search->count);
    else
        found->code = gt_gap_calls_code(search->idle, found->idle_code, search->gaps, search->count);
}

static bool add_gaps(const struct gt_view *view, const struct gt_idle *idle, const struct gt_idle_code *code,
                     struct gt_section *section) {
    struct gt_table *table =
        gt_section_table(section, "gaps", "Longest idle gaps", gap_columns, GT_ARRAY_COUNT(gap_columns));
    table->screen_limit = 10;
    size_t total = idle->count - idle->late_starts, count = gt_measure_table_rows_wanted(view, table, total);
    uint32_t *longest = new_longest(idle, count);
    struct surroundings around = {.idle_code = code};
    if (longest)
        gt_threads_parts(threads_for(view, idle->count), PART_COUNT, find_part,
                         &(struct search){view, idle, longest, count, &around});
    bool ok = around.calls && around.operators && around.code;
    for (size_t i = 0; i < count && ok; i++)
        add_gap(view, table, idle, longest[i], &around, i);
    table->total_rows = total;
    gt_mem_free(around.calls);
    gt_mem_free(around.operators);
    gt_mem_free(around.code);
    gt_mem_free(longest);
    return ok;
}

enum gt_status gt_gaps_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_idle *idle = gt_results_idle(view, err);
    const struct gt_idle_code *code = idle ? gt_results_idle_code(view, err) : NULL;
    if (!code)
        return err->code;
    struct tables tables = {
        .causes =
            gt_section_table(section, "idle_causes", "Idle by cause", cause_columns, GT_ARRAY_COUNT(cause_columns)),
        .all = gt_section_table(section, "idle_causes_all", "Idle by cause, all GPUs", all_columns,
                                GT_ARRAY_COUNT(all_columns)),
        .host = gt_section_table(section, "idle_host", "Idle by CPU state", host_columns, GT_ARRAY_COUNT(host_columns)),
    };
    tables.causes->parts = &cause_parts;
    tables.causes->empty = view->device_count ? "No idle time within the span." : NULL;
    if (view->device_count < 2)
        gt_measure_table_for(section, tables.all, GT_FOR_DATA);
    add_sums(view, idle, code, &tables);
    for (size_t i = 0; i < GT_IDLE_CAUSE_COUNT; i++)
        gt_table_name(tables.all, gt_str_of(gt_idle_cause_names[i]));
    enum gt_status status = gt_idle_work_add(view, idle, code, section, err);
    if (status == GT_OK && gt_measure_table_is_wanted(view, "gaps") && !add_gaps(view, idle, code, section))
        status = gt_fail_memory(err);
    return status;
}
