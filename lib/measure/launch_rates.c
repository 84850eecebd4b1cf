/* Launch rates: how many kernels a second the GPUs got and how long these ran, over all and for each process. */
#include "measure/launch_rate.h"

#include <stdlib.h>

#include "base/mem.h"
#include "measure/measure.h"
#include "measure/samples.h"
#include "measure/shared.h"

/* Time in which no kernel ran for so long is no launching: loading a model, waiting for a request. */
enum { PAUSE_NS = 10000000 };

/* A storm: so many launches a second of kernels whose median is so short. */
static const struct { double per_second, median_ns; } storms[] = {{50000, 10000}, {100000, 20000}};

#define RATE_COLUMNS                                                                                                   \
    {"count", "Kernels", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},                                       \
        {"window_ns", "Window without pauses", GT_UNIT_NS, NULL, 0},                                                   \
        {"per_second", "Kernels/s", GT_UNIT_COUNT, NULL, 0},                                                           \
        {"median_ns", "Median kernel", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},                                            \
        {"p90_ns", "p90 kernel", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},                                                  \
        {"p99_ns", "p99 kernel", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},                                                  \
        {"under_5us", "Run <5us", GT_UNIT_SHARE, "kernel launches", 0},                                                \
        {"under_10us", "Run <10us", GT_UNIT_SHARE, "kernel launches", 0},                                              \
        {"under_20us", "Run <20us", GT_UNIT_SHARE, "kernel launches", 0}, {"storm", "Storm", GT_UNIT_NONE, NULL, 0},

static const struct gt_report_column columns[] = {RATE_COLUMNS};
static const struct gt_report_column process_columns[] = {{"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
                                                          RATE_COLUMNS};

/* Kernels of one device behind each other without a pause. */
struct stretch {
    uint32_t rate; /* index */
    int64_t start_ns, end_ns;
};

/* While ops are added. */
struct rates {
    struct gt_launch_rate *items;
    size_t count;
    struct stretch *stretches;
    size_t stretch_count, stretch_capacity;
};

static bool is_pause(int64_t from_ns, int64_t to_ns) {
    return to_ns > from_ns && gt_ns_between(from_ns, to_ns) >= PAUSE_NS;
}

static bool end_stretch(struct rates *rates, size_t index) {
    const struct gt_launch_rate *rate = &rates->items[index];
    if (rate->device == 0)
        return true;
    if (rates->stretch_count == rates->stretch_capacity) {
        size_t capacity = rates->stretch_capacity ? rates->stretch_capacity * 2 : 64;
        struct stretch *grown = gt_realloc(rates->stretches, capacity * sizeof *grown);
        if (!grown)
            return false;
        rates->stretches = grown;
        rates->stretch_capacity = capacity;
    }
    rates->stretches[rates->stretch_count++] = (struct stretch){(uint32_t)index, rate->start_ns, rate->reached_ns};
    return true;
}

/* Ops of a device come in order of start. */
static bool add_op(struct rates *rates, size_t index, size_t device, int64_t start_ns, int64_t end_ns) {
    struct gt_launch_rate *rate = &rates->items[index];
    int64_t length_ns = gt_ns_between(start_ns, end_ns);
    rate->count++;
    rate->under_5us += length_ns < 5000;
    rate->under_10us += length_ns < 10000;
    rate->under_20us += length_ns < 20000;
    if (rate->device != device || is_pause(rate->reached_ns, start_ns)) {
        if (!end_stretch(rates, index))
            return false;
        rate->device = device;
        rate->start_ns = start_ns;
        rate->reached_ns = end_ns;
    }
    rate->reached_ns = end_ns > rate->reached_ns ? end_ns : rate->reached_ns;
    return true;
}

static bool add_ops(const struct gt_view *view, struct rates *rates) {
    for (size_t d = 0; d < view->device_count; d++) {
        const struct gt_view_device *device = &view->devices[d];
        for (size_t i = device->first; i < device->first + device->count; i++) {
            if (!gt_kind_is_kernel(gt_op_kind(view, i)))
                continue;
            uint32_t process = gt_op_process(view, i);
            int64_t start_ns = view->start_ns[i], end_ns = view->end_ns[i];
            if (!add_op(rates, rates->count - 1, d + 1, start_ns, end_ns) ||
                (process != GT_NO_TRACK && !add_op(rates, process, d + 1, start_ns, end_ns)))
                return false;
        }
    }
    for (size_t i = 0; i < rates->count; i++)
        if (!end_stretch(rates, i))
            return false;
    return true;
}

static int by_rate_and_start(const void *a, const void *b) {
    const struct stretch *x = a, *y = b;
    if (x->rate != y->rate)
        return x->rate < y->rate ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* The stretches of all devices, joined where no pause is between them. */
static void measure_windows(struct rates *rates) {
    const struct stretch *stretches = rates->stretches;
    if (rates->stretch_count)
        qsort(rates->stretches, rates->stretch_count, sizeof *stretches, by_rate_and_start);
    for (size_t i = 0; i < rates->stretch_count;) {
        struct gt_launch_rate *rate = &rates->items[stretches[i].rate];
        int64_t start_ns = stretches[i].start_ns, reached_ns = stretches[i].end_ns;
        size_t next = i + 1;
        for (; next < rates->stretch_count && stretches[next].rate == stretches[i].rate &&
               !is_pause(reached_ns, stretches[next].start_ns);
             next++)
            reached_ns = stretches[next].end_ns > reached_ns ? stretches[next].end_ns : reached_ns;
        rate->window_ns = gt_ns_add(rate->window_ns, gt_ns_between(start_ns, reached_ns));
        i = next;
    }
    for (size_t i = 0; i < rates->count; i++) {
        struct gt_launch_rate *rate = &rates->items[i];
        double seconds = (double)(rate->window_ns > 0 ? rate->window_ns : 1) / 1e9;
        rate->per_second = (double)rate->count / seconds;
    }
}

/* The durations of the kernels, by process or (by_process false) all in one set. */
static bool sample(const struct gt_view *view, const struct rates *rates, bool by_process, struct gt_samples *samples) {
    if (!gt_samples_init(samples, by_process ? rates->count : 1))
        return false;
    for (size_t i = 0; by_process && i + 1 < rates->count; i++)
        samples->bounds[i + 2] = rates->items[i].count;
    if (!by_process)
        samples->bounds[2] = rates->items[rates->count - 1].count;
    if (!gt_samples_place(samples))
        return false;
    for (size_t i = 0; i < view->op_count; i++) {
        uint32_t set = by_process ? gt_op_process(view, i) : 0;
        if (gt_kind_is_kernel(gt_op_kind(view, i)) && set != GT_NO_TRACK)
            gt_samples_add(samples, set, gt_op_ns(view, i));
    }
    return true;
}

static bool is_storm(const struct gt_launch_rate *rate) {
    for (size_t i = 0; i < GT_ARRAY_COUNT(storms); i++)
        if (rate->per_second >= storms[i].per_second && rate->median_ns <= storms[i].median_ns)
            return true;
    return false;
}

static bool add_quantiles(const struct gt_view *view, struct rates *rates, bool by_process) {
    struct gt_samples samples = {0};
    struct gt_launch_rate *first = by_process ? rates->items : &rates->items[rates->count - 1];
    bool ok = sample(view, rates, by_process, &samples);
    for (size_t i = 0; ok && i < (by_process ? rates->count - 1 : 1); i++) {
        first[i].median_ns = gt_samples_quantile(&samples, i, 0.5);
        first[i].p90_ns = gt_samples_quantile(&samples, i, 0.9);
        first[i].p99_ns = gt_samples_quantile(&samples, i, 0.99);
        first[i].is_storm = is_storm(&first[i]);
    }
    gt_samples_release(&samples);
    return ok;
}

enum gt_status gt_launch_rates_init(struct gt_launch_rates *set, const struct gt_view *view, struct gt_error *err) {
    struct rates rates = {.count = view->store->processes.count + 1};
    rates.items = gt_alloc_array(rates.count, sizeof *rates.items);
    for (size_t i = 0; i < rates.count && rates.items; i++)
        rates.items[i].process = i + 1 < rates.count ? (uint32_t)i : GT_NO_TRACK;
    bool ok = rates.items && add_ops(view, &rates);
    if (ok)
        measure_windows(&rates);
    gt_free(rates.stretches);
    *set = (struct gt_launch_rates){rates.items, rates.count};
    if (ok && add_quantiles(view, &rates, true) && add_quantiles(view, &rates, false))
        return GT_OK;
    gt_launch_rates_release(set);
    return gt_fail_memory(err);
}

void gt_launch_rates_release(struct gt_launch_rates *rates) {
    gt_free(rates->items);
    *rates = (struct gt_launch_rates){0};
}

/* ---- the tables ---- */

static void add_cells(struct gt_cell *cell, const struct gt_launch_rate *rate) {
    double count = (double)rate->count;
    *cell++ = gt_cell_count(rate->count);
    *cell++ = gt_cell_int(rate->window_ns);
    *cell++ = gt_cell_real(rate->per_second);
    *cell++ = gt_cell_real(rate->median_ns);
    *cell++ = gt_cell_real(rate->p90_ns);
    *cell++ = gt_cell_real(rate->p99_ns);
    *cell++ = gt_cell_share((double)rate->under_5us, count);
    *cell++ = gt_cell_share((double)rate->under_10us, count);
    *cell++ = gt_cell_share((double)rate->under_20us, count);
    *cell++ = gt_cell_int(rate->is_storm);
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
    const struct gt_launch_rate **sorted = gt_alloc_array(rates->count, sizeof(struct gt_launch_rate *));
    size_t count = 0;
    for (size_t i = 0; i + 1 < rates->count && sorted; i++)
        if (rates->items[i].count && gt_cell_pid(view, rates->items[i].process).type != GPUTIME_CELL_NULL)
            sorted[count++] = &rates->items[i];
    if (count)
        qsort(sorted, count, sizeof(struct gt_launch_rate *), by_rate);
    struct gt_table *table = gt_section_table(section, "process_launch_rates", "How fast each process launched kernels",
                                              process_columns, GT_ARRAY_COUNT(process_columns));
    table->screen_limit = 10;
    for (size_t i = 0; i < count; i++) {
        struct gt_cell *cell = gt_table_row(table);
        cell[0] = gt_cell_pid(view, sorted[i]->process);
        add_cells(cell + 1, sorted[i]);
    }
    gt_table_for_processes(section, table);
    gt_free(sorted);
    return sorted;
}

enum gt_status gt_launch_rates_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_launch_rates *rates = gt_shared_rates(view, err);
    if (!rates)
        return err->code;
    const struct gt_launch_rate *all = &rates->items[rates->count - 1];
    struct gt_table *table =
        gt_section_table(section, "launch_rate", "How fast kernels were launched", columns, GT_ARRAY_COUNT(columns));
    if (all->count)
        add_cells(gt_table_row(table), all);
    return add_process_rates(view, section, rates) ? GT_OK : gt_fail_memory(err);
}
