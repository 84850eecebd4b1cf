/* Launch rates: how many kernels a second the GPUs got and how long these ran, over all and for each process. */
#include "measure/results/launch_rates.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

/* Time in which no kernel ran for so long is no launching: loading a model, waiting for a request. */
enum { PAUSE_NS = 10000000 };

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

/* Kernels of a process on one device one after the other without a pause. */
struct burst {
    uint32_t process; /* track; one more than there are: not known */
    uint32_t device;  /* index into view->devices; GT_NO_TRACK: no kernel yet */
    int64_t start_ns, end_ns;
};

struct bursts {
    struct burst *items;
    size_t count, capacity;
};

static bool is_pause(int64_t from_ns, int64_t to_ns) {
    return to_ns > from_ns && gt_ns_between(from_ns, to_ns) >= PAUSE_NS;
}

static bool end_burst(struct bursts *ended, const struct burst *burst) {
    if (burst->device == GT_NO_TRACK)
        return true;
    struct burst *grown = gt_mem_room(ended->items, ended->count, &ended->capacity, sizeof *grown);
    if (!grown)
        return false;
    ended->items = grown;
    ended->items[ended->count++] = *burst;
    return true;
}

/* Where a process is in an array by process that has one more at its end, for what is of no known one. */
static size_t place_of(uint32_t process, size_t process_count) {
    return process == GT_NO_TRACK ? process_count : process;
}

/* Ops of a device come in order of start. open: by process, and one more. */
static bool find_bursts(const struct gt_view *view, struct burst *open, struct bursts *ended) {
    uint32_t unknown = (uint32_t)view->store->processes.count;
    for (uint32_t process = 0; process <= unknown; process++)
        open[process] = (struct burst){.process = process, .device = GT_NO_TRACK};
    for (uint32_t d = 0; d < view->device_count; d++) {
        const struct gt_view_device *device = &view->devices[d];
        for (size_t i = device->first; i < device->first + device->count; i++) {
            if (!gt_store_kind_is_kernel(gt_view_op_kind(view, i)))
                continue;
            struct burst *burst = &open[place_of(gt_view_op_process(view, i), unknown)];
            if (burst->device != d || is_pause(burst->end_ns, view->start_ns[i])) {
                if (!end_burst(ended, burst))
                    return false;
                *burst = (struct burst){burst->process, d, view->start_ns[i], view->end_ns[i]};
            }
            burst->end_ns = view->end_ns[i] > burst->end_ns ? view->end_ns[i] : burst->end_ns;
        }
    }
    for (uint32_t process = 0; process <= unknown; process++)
        if (!end_burst(ended, &open[process]))
            return false;
    return true;
}

static int by_start(const void *a, const void *b) {
    const struct burst *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int by_process_and_start(const void *a, const void *b) {
    const struct burst *x = a, *y = b;
    return x->process != y->process ? (x->process < y->process ? -1 : 1) : by_start(a, b);
}

/* The time that bursts take, in order of start, joined where no pause is between them, and with all pauses. */
static void measure_window(struct gt_launch_rate *rate, const struct burst *bursts, size_t count) {
    int64_t reached_ns = bursts[0].end_ns;
    rate->window_ns = 0;
    for (size_t i = 0, next; i < count; i = next) {
        reached_ns = bursts[i].end_ns;
        for (next = i + 1; next < count && !is_pause(reached_ns, bursts[next].start_ns); next++)
            reached_ns = bursts[next].end_ns > reached_ns ? bursts[next].end_ns : reached_ns;
        rate->window_ns = gt_ns_add(rate->window_ns, gt_ns_between(bursts[i].start_ns, reached_ns));
    }
    int64_t span_ns = gt_ns_between(bursts[0].start_ns, reached_ns);
    rate->span_ns = span_ns > 0 ? span_ns : 1;
}

/* The bursts of all devices, of each process and of all. */
static void measure_windows(struct gt_launch_rates *rates, struct bursts *bursts) {
    struct burst *items = bursts->items;
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
    struct burst *open = gt_mem_array(view->store->processes.count + 1, sizeof *open);
    struct bursts bursts = {0};
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

/* Lengths below are counted by length: storms are of shorter ones, and mostly their median is, too. */
enum { COUNTED_NS = 1 << 15 };

/* The kernels of some devices that follow each other. */
struct of_devices {
    struct bursts bursts;
    uint32_t *counts; /* by length */
    bool has_failed;  /* memory was short */
};

/* The rate of all kernels: bursts of each device, and counts of lengths found in the same pass. */
struct making_all {
    const struct gt_view *view;
    struct gt_tally lengths;
    size_t part_count;
    struct of_devices *parts;
};

/* The same bursts whatever process kernels are of: those of several join where no pause is between them anyway. */
static bool look_at_device(const struct gt_view *view, uint32_t index, struct of_devices *part) {
    const int64_t *start_ns = view->start_ns, *end_ns = view->end_ns;
    const uint8_t *kind = view->kind;
    const struct gt_view_device *device = &view->devices[index];
    uint32_t of_device = GT_NO_TRACK; /* no kernel yet */
    uint32_t *counts = part->counts;
    int64_t first_ns = 0, reached_ns = 0;
    for (size_t i = device->first, end = i + device->count; i < end; i++) {
        if (!gt_store_kind_is_kernel(kind[i]))
            continue;
        uint64_t length_ns = (uint64_t)gt_ns_between(start_ns[i], end_ns[i]);
        if (length_ns < COUNTED_NS)
            counts[length_ns]++;
        if (of_device == GT_NO_TRACK || is_pause(reached_ns, start_ns[i])) {
            if (!end_burst(&part->bursts, &(struct burst){0, of_device, first_ns, reached_ns}))
                return false;
            of_device = index;
            first_ns = start_ns[i];
            reached_ns = end_ns[i];
        }
        reached_ns = end_ns[i] > reached_ns ? end_ns[i] : reached_ns;
    }
    return end_burst(&part->bursts, &(struct burst){0, of_device, first_ns, reached_ns});
}

static void look_at_devices(void *context, size_t index) {
    const struct making_all *making = context;
    const struct gt_view *view = making->view;
    struct of_devices *part = &making->parts[index];
    part->counts = gt_mem_array(COUNTED_NS, sizeof *part->counts);
    part->has_failed = !part->counts;
    for (size_t d = gt_threads_slice_begin(view->device_count, making->part_count, index),
                end = gt_threads_slice_begin(view->device_count, making->part_count, index + 1);
         d < end && !part->has_failed; d++)
        part->has_failed = !look_at_device(view, (uint32_t)d, part);
}

/* Bursts of all devices in their order, and all counts, in the first part. false: memory was short. */
static bool join_parts(struct making_all *making) {
    struct of_devices *all = making->parts;
    bool ok = !all->has_failed;
    for (size_t p = 1; p < making->part_count && ok; p++) {
        const struct of_devices *part = &making->parts[p];
        ok = !part->has_failed;
        for (size_t i = 0; i < part->bursts.count && ok; i++)
            ok = end_burst(&all->bursts, &part->bursts.items[i]);
        for (size_t i = 0; i < COUNTED_NS && ok; i++)
            all->counts[i] += part->counts[i];
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

static void find_median(const struct making_all *making, struct gt_launch_rate *rate) {
    const struct gt_view *view = making->view;
    const struct gt_slice lengths = {
        .count = rate->count, .make = make_lengths, .context = view, .position_count = view->op_count};
    if (making->lengths.min < 0 ||
        !gt_quantile_of_counts(making->parts->counts, COUNTED_NS, rate->count, 0.5, &rate->median_ns))
        gt_quantile_all(&lengths, 1, (const double[]){0.5}, 1, &rate->median_ns);
}

static bool make_all(struct making_all *making, struct gt_launch_rate *rate) {
    const struct gt_view *view = making->view;
    size_t most = gt_threads_slices(gt_threads_count(view->request->threads), view->op_count, COUNTED_NS);
    making->part_count = most < view->device_count ? most : view->device_count;
    making->parts = gt_mem_array(making->part_count, sizeof *making->parts);
    if (making->parts)
        gt_threads_parts(making->part_count, making->part_count, look_at_devices, making);
    bool ok = making->parts && (making->part_count == 0 || join_parts(making));
    if (ok && making->part_count && making->parts->bursts.count) {
        qsort(making->parts->bursts.items, making->parts->bursts.count, sizeof(struct burst), by_start);
        measure_window(rate, making->parts->bursts.items, making->parts->bursts.count);
        find_median(making, rate);
    }
    for (size_t p = 0; p < making->part_count && making->parts; p++) {
        gt_mem_free(making->parts[p].bursts.items);
        gt_mem_free(making->parts[p].counts);
    }
    gt_mem_free(making->parts);
    return ok;
}

enum gt_status gt_launch_rates_of_all(struct gt_launch_rate *rate, const struct gt_view *view, struct gt_error *err) {
    const struct gt_op_groups *groups = gt_results_op_groups(view, err);
    if (!groups)
        return err->code;
    struct making_all making = {.view = view, .lengths = gt_op_groups_tally(groups, 0, groups->kernel_count)};
    *rate = (struct gt_launch_rate){.process = GT_NO_TRACK, .count = making.lengths.count};
    bool ok = make_all(&making, rate);
    judge(rate);
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
