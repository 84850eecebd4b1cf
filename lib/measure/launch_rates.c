/* Launch rates: how many kernels a second the GPUs got and how long these ran, over all and for each process. */
#include "measure/results/launch_rates.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"
#include "measure/results/bursts.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

/* A storm: so many launches a second of kernels whose median is so short. */
static const struct { double per_second, median_ns; } storms[] = {{50000, 10000}, {100000, 20000}};

#define RATE_COLUMNS                                                                                                   \
    {"count", "Kernels", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},                                       \
        {"window_ns", "Window without long gaps", GT_UNIT_NS, NULL, 0},                                                \
        {"per_second", "Kernels/s", GT_UNIT_COUNT, NULL, 0},                                                           \
        {"median_ns", "Median kernel", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},                                            \
        {"p90_ns", "p90 kernel", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},                                                  \
        {"p99_ns", "p99 kernel", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},                                                  \
        {"under_5us", "Under 5 us", GT_UNIT_SHARE, "kernel launches", 0},                                              \
        {"under_10us", "Under 10 us", GT_UNIT_SHARE, "kernel launches", 0},                                            \
        {"under_20us", "Under 20 us", GT_UNIT_SHARE, "kernel launches", 0}, {"storm", "Storm", GT_UNIT_NONE, NULL, 0}, \
        {"span_ns", "Span", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL},                                                       \
        {"span_per_second", "Kernels/s over the span", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},

static const struct gt_report_column columns[] = {RATE_COLUMNS};
static const struct gt_report_column process_columns[] = {{"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
                                                          RATE_COLUMNS};

/* Where a process is in an array by process that has one more at its end, for what is of no known one. */
static size_t place_of(uint32_t process, size_t process_count) {
    return process == GT_NO_TRACK ? process_count : process;
}

/* Ops of a device come in order of start. open: by process, and one more. */
static bool find_bursts(const struct gt_view *view, struct gt_burst *open, struct gt_bursts *ended) {
    uint32_t unknown = (uint32_t)view->store->processes.count;
    for (uint32_t process = 0; process <= unknown; process++)
        open[process] = (struct gt_burst){.process = process, .device = GT_NO_TRACK};
    for (uint32_t d = 0; d < view->device_count; d++) {
        const struct gt_view_device *device = &view->devices[d];
        for (size_t i = device->first; i < device->first + device->count; i++) {
            if (!gt_store_kind_is_kernel(gt_view_op_kind(view, i)))
                continue;
            struct gt_burst *burst = &open[place_of(gt_view_op_process(view, i), unknown)];
            if (burst->device != d || gt_bursts_is_pause(burst->end_ns, view->start_ns[i])) {
                if (!gt_bursts_end(ended, burst))
                    return false;
                *burst = (struct gt_burst){burst->process, d, view->start_ns[i], view->end_ns[i]};
            }
            burst->end_ns = view->end_ns[i] > burst->end_ns ? view->end_ns[i] : burst->end_ns;
        }
    }
    for (uint32_t process = 0; process <= unknown; process++)
        if (!gt_bursts_end(ended, &open[process]))
            return false;
    return true;
}

static int by_start(const void *a, const void *b) {
    const struct gt_burst *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int by_process_and_start(const void *a, const void *b) {
    const struct gt_burst *x = a, *y = b;
    return x->process != y->process ? (x->process < y->process ? -1 : 1) : by_start(a, b);
}

/* The time that bursts take, in order of start, joined where no pause is between them, and with all pauses. */
static void measure_window(struct gt_launch_rate *rate, const struct gt_burst *bursts, size_t count) {
    int64_t reached_ns = bursts[0].end_ns;
    rate->window_ns = 0;
    for (size_t i = 0, next; i < count; i = next) {
        reached_ns = bursts[i].end_ns;
        for (next = i + 1; next < count && !gt_bursts_is_pause(reached_ns, bursts[next].start_ns); next++)
            reached_ns = bursts[next].end_ns > reached_ns ? bursts[next].end_ns : reached_ns;
        rate->window_ns = gt_ns_add(rate->window_ns, gt_ns_between(bursts[i].start_ns, reached_ns));
    }
    int64_t span_ns = gt_ns_between(bursts[0].start_ns, reached_ns);
    rate->span_ns = span_ns > 0 ? span_ns : 1;
}

/* The bursts of all devices, of each process and of all. */
static void measure_windows(struct gt_launch_rates *rates, struct gt_bursts *bursts) {
    struct gt_burst *items = bursts->items;
    if (bursts->count == 0)
        return;
    qsort(items, bursts->count, sizeof *items, by_process_and_start);
    for (size_t first = 0, end; first < bursts->count; first = end) {
        for (end = first + 1; end < bursts->count && items[end].process == items[first].process;)
            end++;
        measure_window(&rates->items[items[first].process], items + first, end - first);
    }
    qsort(items, bursts->count, sizeof *items, by_start);
    measure_window(&rates->items[rates->count - 1], items, bursts->count);
}

static bool add_windows(struct gt_launch_rates *rates, const struct gt_view *view) {
    struct gt_burst *open = gt_mem_array(view->store->processes.count + 1, sizeof *open);
    struct gt_bursts bursts = {0};
    bool ok = open && find_bursts(view, open, &bursts);
    if (ok)
        measure_windows(rates, &bursts);
    gt_mem_free(bursts.items);
    gt_mem_free(open);
    return ok;
}

static bool is_storm(const struct gt_launch_rate *rate) {
    for (size_t i = 0; i < GT_ARRAY_COUNT(storms); i++)
        if (rate->per_second >= storms[i].per_second && rate->median_ns <= storms[i].median_ns)
            return true;
    return false;
}

static void count_lengths(struct gt_launch_rate *rate, const struct gt_slice *slices, size_t slice_count) {
    for (size_t s = 0; s < slice_count; s++) {
        size_t under_5us = 0, under_10us = 0, under_20us = 0;
        for (size_t i = 0; i < slices[s].count; i++) {
            int64_t length_ns = gt_quantile_sample(&slices[s], i);
            under_5us += length_ns < 5000;
            under_10us += length_ns < 10000;
            under_20us += length_ns < 20000;
        }
        rate->count += slices[s].count;
        rate->under_5us += under_5us;
        rate->under_10us += under_10us;
        rate->under_20us += under_20us;
    }
}

static void add_counts(struct gt_launch_rate *all, const struct gt_launch_rate *rate) {
    all->count += rate->count;
    all->under_5us += rate->under_5us;
    all->under_10us += rate->under_10us;
    all->under_20us += rate->under_20us;
}

/* What follows from the count, the window and the median. */
static void judge(struct gt_launch_rate *rate) {
    rate->per_second = (double)rate->count / ((double)(rate->window_ns > 0 ? rate->window_ns : 1) / 1e9);
    rate->span_per_second = (double)rate->count / ((double)(rate->span_ns > 0 ? rate->span_ns : 1) / 1e9);
    rate->is_storm = is_storm(rate);
}

static void find_quantiles(struct gt_launch_rate *rate, const struct gt_slice *slices, size_t slice_count) {
    double quantiles[3];
    gt_quantile_all(slices, slice_count, (const double[]){0.5, 0.9, 0.99}, GT_ARRAY_COUNT(quantiles), quantiles);
    rate->median_ns = quantiles[0];
    rate->p90_ns = quantiles[1];
    rate->p99_ns = quantiles[2];
}

/* Lengths by process, those of no known one last: bounds[process] .. bounds[process + 1] are those of one. */
static struct gt_slice *new_slices(const struct gt_op_lengths *lengths, size_t process_count, size_t *bounds) {
    const struct gt_op_groups *groups = lengths->groups;
    struct gt_slice *slices = gt_mem_array(groups->kernel_count, sizeof *slices);
    for (size_t i = 0; i < groups->kernel_count && slices; i++)
        bounds[place_of(groups->items[i].process, process_count) + 2]++;
    for (size_t process = 0; process < process_count; process++)
        bounds[process + 2] += bounds[process + 1];
    for (size_t i = 0; i < groups->kernel_count && slices; i++) {
        size_t *next = &bounds[place_of(groups->items[i].process, process_count) + 1];
        slices[(*next)++] = gt_op_lengths_of(lengths, i, i + 1);
    }
    return slices;
}

/* Parts that are made at the same time: the windows, the quantiles of all lengths, then what each process has, and
   those of no known one. */
enum { PART_WINDOWS, PART_ALL, PART_PROCESSES };

struct making {
    struct gt_launch_rates *rates;
    const struct gt_view *view;
    struct gt_slice *slices; /* by process */
    size_t *bounds;
    struct gt_slice lengths;       /* of all */
    struct gt_launch_rate unknown; /* counts of those of no known process */
    bool ok;                       /* windows */
};

static size_t count_of(const struct making *making, size_t process) {
    size_t count = 0;
    for (size_t i = making->bounds[process]; i < making->bounds[process + 1]; i++)
        count += making->slices[i].count;
    return count;
}

/* The process that has all of them; SIZE_MAX: there is none. */
static size_t only_process(const struct making *making) {
    for (size_t process = 0; process + 1 < making->rates->count; process++)
        if (count_of(making, process) == making->lengths.count)
            return process;
    return SIZE_MAX;
}

static void make_part(void *context, size_t part) {
    struct making *making = context;
    size_t process_count = making->rates->count - 1, process = part - PART_PROCESSES;
    if (part == PART_WINDOWS) {
        making->ok = add_windows(making->rates, making->view);
    } else if (part == PART_ALL) {
        if (only_process(making) == SIZE_MAX)
            find_quantiles(&making->rates->items[process_count], &making->lengths, 1);
    } else {
        struct gt_launch_rate *rate = process < process_count ? &making->rates->items[process] : &making->unknown;
        const struct gt_slice *slices = making->slices + making->bounds[process];
        size_t count = making->bounds[process + 1] - making->bounds[process];
        count_lengths(rate, slices, count);
        if (process < process_count)
            find_quantiles(rate, slices, count);
    }
}

static void judge_all(struct making *making) {
    struct gt_launch_rates *rates = making->rates;
    size_t process_count = rates->count - 1, only = only_process(making);
    struct gt_launch_rate *all = &rates->items[process_count];
    for (size_t i = 0; i < process_count; i++) {
        judge(&rates->items[i]);
        add_counts(all, &rates->items[i]);
    }
    add_counts(all, &making->unknown);
    if (only != SIZE_MAX)
        *all = rates->items[only];
    else
        judge(all);
    all->process = GT_NO_TRACK;
}

static bool begin_rates(struct gt_launch_rates *rates, const struct gt_view *view) {
    *rates = (struct gt_launch_rates){.count = view->store->processes.count + 1};
    rates->items = gt_mem_array(rates->count, sizeof *rates->items);
    for (size_t i = 0; i < rates->count && rates->items; i++)
        rates->items[i].process = i + 1 < rates->count ? (uint32_t)i : GT_NO_TRACK;
    return rates->items;
}

enum gt_status gt_launch_rates_init(struct gt_launch_rates *rates, const struct gt_view *view, struct gt_error *err) {
    const struct gt_op_lengths *lengths = gt_results_op_lengths(view, err);
    struct making making = {.rates = rates, .view = view};
    if (!lengths)
        return err->code;
    making.bounds = gt_mem_array(view->store->processes.count + 3, sizeof *making.bounds);
    making.slices = making.bounds ? new_slices(lengths, view->store->processes.count, making.bounds) : NULL;
    making.lengths = gt_op_lengths_of(lengths, 0, lengths->groups->kernel_count);
    if (begin_rates(rates, view) && making.slices) {
        gt_threads_parts(gt_threads_count(view->request->threads), PART_PROCESSES + rates->count, make_part, &making);
        judge_all(&making);
    }
    gt_mem_free(making.bounds);
    gt_mem_free(making.slices);
    if (making.ok)
        return GT_OK;
    gt_launch_rates_release(rates);
    return gt_fail_memory(err);
}

/* The rate of all kernels: the bursts of each device, and counts of lengths where the median matters. */
struct making_all {
    const struct gt_view *view;
    const struct gt_op_groups *groups;
    int64_t *longest_ns;      /* by device track: its longest kernel */
    struct gt_bursts *bursts; /* by part of the devices */
    size_t burst_part_count;
    uint32_t **counts; /* by part of the devices: of lengths, by length */
    size_t part_count;
    bool *has_failed; /* by part of the devices with bursts: memory was short */
};

/* The longest kernel of each device; to be freed. NULL: memory was short. */
static int64_t *new_longest(const struct gt_op_groups *groups, size_t device_count) {
    int64_t *longest_ns = gt_mem_array(device_count, sizeof *longest_ns);
    for (size_t i = 0; i < groups->kernel_count && longest_ns; i++) {
        int64_t *longest = &longest_ns[groups->items[i].device];
        *longest = groups->items[i].max_ns > *longest ? groups->items[i].max_ns : *longest;
    }
    return longest_ns;
}

static void find_bursts_of_part(void *context, size_t part) {
    struct making_all *making = context;
    const struct gt_view *view = making->view;
    size_t d = gt_threads_slice_begin(view->device_count, making->burst_part_count, part);
    size_t end = gt_threads_slice_begin(view->device_count, making->burst_part_count, part + 1);
    for (; d < end && !making->has_failed[part]; d++)
        making->has_failed[part] =
            !gt_bursts_of_device(view, (uint32_t)d, making->longest_ns[view->devices[d].device], &making->bursts[part]);
}

/* Those of all devices, in their order. false: memory was short. */
static bool join_bursts(const struct making_all *making, struct gt_bursts *all) {
    bool ok = true;
    for (size_t p = 0; p < making->burst_part_count && ok; p++) {
        ok = !making->has_failed[p];
        for (size_t i = 0; i < making->bursts[p].count && ok; i++)
            ok = gt_bursts_end(all, &making->bursts[p].items[i]);
    }
    return ok;
}

static bool add_window_of_all(struct making_all *making, struct gt_launch_rate *rate) {
    const struct gt_view *view = making->view;
    struct gt_bursts bursts = {0};
    making->burst_part_count = view->device_count < GT_THREADS_MOST ? view->device_count : GT_THREADS_MOST;
    making->longest_ns = new_longest(making->groups, view->store->devices.count);
    making->bursts = gt_mem_array(making->burst_part_count, sizeof *making->bursts);
    making->has_failed = gt_mem_array(making->burst_part_count, sizeof *making->has_failed);
    bool ok = making->longest_ns && making->bursts && making->has_failed;
    if (ok) {
        size_t threads = gt_threads_slices(gt_threads_count(view->request->threads), view->op_count, 0);
        gt_threads_parts(threads, making->burst_part_count, find_bursts_of_part, making);
        ok = join_bursts(making, &bursts);
    }
    if (ok && bursts.count) {
        qsort(bursts.items, bursts.count, sizeof *bursts.items, by_start);
        measure_window(rate, bursts.items, bursts.count);
    }
    for (size_t p = 0; p < making->burst_part_count && making->bursts; p++)
        gt_mem_free(making->bursts[p].items);
    gt_mem_free(making->longest_ns);
    gt_mem_free(making->bursts);
    gt_mem_free(making->has_failed);
    gt_mem_free(bursts.items);
    return ok;
}

/* Lengths below are counted by length: storms are of shorter ones, and mostly their median is, too. */
enum { COUNTED_NS = 1 << 15 };

static void count_of_device(const struct gt_view *view, const struct gt_view_device *device, uint32_t *counts) {
    for (size_t i = device->first, end = i + device->count; i < end; i++) {
        uint64_t length_ns = (uint64_t)gt_ns_between(view->start_ns[i], view->end_ns[i]);
        if (gt_store_kind_is_kernel(view->kind[i]) && length_ns < COUNTED_NS)
            counts[length_ns]++;
    }
}

static void count_of_part(void *context, size_t part) {
    const struct making_all *making = context;
    const struct gt_view *view = making->view;
    uint32_t *counts = gt_mem_array(COUNTED_NS, sizeof *counts);
    making->counts[part] = counts;
    for (size_t d = gt_threads_slice_begin(view->device_count, making->part_count, part),
                end = gt_threads_slice_begin(view->device_count, making->part_count, part + 1);
         d < end && counts; d++)
        count_of_device(view, &view->devices[d], counts);
}

/* All counts in those of the first part. false: memory was short. */
static bool join_counts(const struct making_all *making) {
    bool ok = making->counts[0];
    for (size_t p = 1; p < making->part_count && ok; p++) {
        ok = making->counts[p];
        for (size_t i = 0; i < COUNTED_NS && ok; i++)
            making->counts[0][i] += making->counts[p][i];
    }
    return ok;
}

/* Of kernels. */
static size_t make_lengths(const void *context, size_t first, size_t end, int64_t *samples) {
    const struct gt_view *view = context;
    size_t count = 0;
    for (size_t i = first; i < end; i++) {
        samples[count] = gt_view_op_ns(view, i);
        count += gt_store_kind_is_kernel(view->kind[i]);
    }
    return count;
}

static bool add_median(struct making_all *making, const struct gt_tally *tally, struct gt_launch_rate *rate) {
    const struct gt_view *view = making->view;
    const struct gt_slice lengths = {
        .count = rate->count, .make = make_lengths, .context = view, .position_count = view->op_count};
    size_t most = gt_threads_slices(gt_threads_count(view->request->threads), view->op_count, COUNTED_NS);
    making->part_count = most < view->device_count ? most : view->device_count;
    making->counts = gt_mem_array(making->part_count, sizeof *making->counts);
    if (making->counts)
        gt_threads_parts(making->part_count, making->part_count, count_of_part, making);
    bool ok = making->counts && join_counts(making);
    if (ok &&
        (tally->min < 0 || !gt_quantile_of_counts(making->counts[0], COUNTED_NS, rate->count, 0.5, &rate->median_ns)))
        gt_quantile_all(&lengths, 1, (const double[]){0.5}, 1, &rate->median_ns);
    for (size_t p = 0; p < making->part_count && making->counts; p++)
        gt_mem_free(making->counts[p]);
    gt_mem_free(making->counts);
    return ok;
}

static bool may_be_storm(const struct gt_launch_rate *rate) {
    bool may_be = false;
    for (size_t i = 0; i < GT_ARRAY_COUNT(storms); i++)
        may_be |= rate->per_second >= storms[i].per_second;
    return may_be;
}

enum gt_status gt_launch_rates_of_all(struct gt_launch_rate *rate, const struct gt_view *view, struct gt_error *err) {
    const struct gt_op_groups *groups = gt_results_op_groups(view, err);
    if (!groups)
        return err->code;
    struct making_all making = {.view = view, .groups = groups};
    struct gt_tally lengths = gt_op_groups_tally(groups, 0, groups->kernel_count);
    *rate = (struct gt_launch_rate){.process = GT_NO_TRACK, .count = lengths.count};
    bool ok = add_window_of_all(&making, rate);
    judge(rate);
    if (ok && may_be_storm(rate)) {
        ok = add_median(&making, &lengths, rate);
        judge(rate);
    }
    return ok ? GT_OK : gt_fail_memory(err);
}

void gt_launch_rates_release(struct gt_launch_rates *rates) {
    gt_mem_free(rates->items);
    *rates = (struct gt_launch_rates){0};
}

/* ---- the tables ---- */

static void add_cells(struct gt_row *row, const struct gt_launch_rate *rate) {
    double count = (double)rate->count;
    gt_row_count(row, "count", rate->count);
    gt_row_int(row, "window_ns", rate->window_ns);
    gt_row_real(row, "per_second", rate->per_second);
    gt_row_real(row, "median_ns", rate->median_ns);
    gt_row_real(row, "p90_ns", rate->p90_ns);
    gt_row_real(row, "p99_ns", rate->p99_ns);
    gt_row_share(row, "under_5us", (double)rate->under_5us, count);
    gt_row_share(row, "under_10us", (double)rate->under_10us, count);
    gt_row_share(row, "under_20us", (double)rate->under_20us, count);
    gt_row_int(row, "storm", rate->is_storm);
    gt_row_int(row, "span_ns", rate->span_ns);
    gt_row_real(row, "span_per_second", rate->span_per_second);
}

static int by_rate(const void *a, const void *b) {
    const struct gt_launch_rate *x = *(const struct gt_launch_rate *const *)a;
    const struct gt_launch_rate *y = *(const struct gt_launch_rate *const *)b;
    if (x->per_second != y->per_second)
        return x->per_second < y->per_second ? 1 : -1;
    return (x->process > y->process) - (x->process < y->process);
}

static bool add_process_rates(const struct gt_view *view, struct gt_section *section,
                              const struct gt_launch_rates *rates) {
    const struct gt_launch_rate **sorted = gt_mem_array(rates->count, sizeof(struct gt_launch_rate *));
    size_t count = 0;
    for (size_t i = 0; i + 1 < rates->count && sorted; i++)
        if (rates->items[i].count && gt_measure_pid_cell(view, rates->items[i].process).type != GPUTIME_CELL_NULL)
            sorted[count++] = &rates->items[i];
    if (count)
        qsort(sorted, count, sizeof(struct gt_launch_rate *), by_rate);
    struct gt_table *table = gt_section_table(section, "process_launch_rates", "Kernel launch rate by process",
                                              process_columns, GT_ARRAY_COUNT(process_columns));
    table->screen_limit = 10;
    for (size_t i = 0; i < count; i++) {
        struct gt_row row = gt_row_begin(table);
        gt_row_cell(&row, "pid", gt_measure_pid_cell(view, sorted[i]->process));
        add_cells(&row, sorted[i]);
        gt_row_end(&row);
    }
    gt_measure_table_for_processes(section, table);
    gt_mem_free(sorted);
    return sorted;
}

enum gt_status gt_launch_rates_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_launch_rates *rates = gt_results_rates(view, err);
    if (!rates)
        return err->code;
    const struct gt_launch_rate *all = &rates->items[rates->count - 1];
    struct gt_table *table =
        gt_section_table(section, "launch_rate", "Kernel launch rate", columns, GT_ARRAY_COUNT(columns));
    if (all->count) {
        struct gt_row row = gt_row_begin(table);
        add_cells(&row, all);
        gt_row_end(&row);
    }
    return add_process_rates(view, section, rates) ? GT_OK : gt_fail_memory(err);
}
