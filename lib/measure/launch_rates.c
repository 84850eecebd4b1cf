/* Launch rates: how many kernels a second the GPUs got and how long these ran, over all and for each process. */
#include "measure/launch_rate.h"

#include <stdlib.h>

#include "base/mem.h"
#include "measure/measure.h"
#include "measure/samples.h"

/* Time in which no kernel ran for so long is no launching: loading a model, waiting for a request. */
enum { PAUSE_NS = 10000000 };

/* A storm: so many launches a second of kernels whose median is so short. */
static const struct { double per_second, median_ns; } storms[] = {{50000, 10000}, {100000, 20000}};

#define RATE_COLUMNS                                                                                                   \
    {"count", "Kernels", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},                                       \
        {"window_ns", "Window", GT_UNIT_NS, NULL, 0}, {"per_second", "Kernels/s", GT_UNIT_COUNT, NULL, 0},             \
        {"median_ns", "Median", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},                                                   \
        {"p90_ns", "p90", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE}, {"p99_ns", "p99", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},  \
        {"under_5us", "<5us", GT_UNIT_SHARE, "kernel launches", 0},                                                    \
        {"under_10us", "<10us", GT_UNIT_SHARE, "kernel launches", 0},                                                  \
        {"under_20us", "<20us", GT_UNIT_SHARE, "kernel launches", 0}, {"storm", "Storm", GT_UNIT_NONE, NULL, 0},

static const struct gt_report_column columns[] = {RATE_COLUMNS};
static const struct gt_report_column process_columns[] = {{"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
                                                          RATE_COLUMNS};

/* Kernels of one process, or of all. */
struct rate {
    uint32_t process; /* GT_NO_TRACK: of all */
    size_t count, under_5us, under_10us, under_20us;
    int64_t window_ns;
    double per_second;

    size_t device;                /* while ops are added: the one of the stretch, counted from 1; 0: none yet */
    int64_t start_ns, reached_ns; /* the stretch at hand */
};

/* Kernels of one device behind each other without a pause. */
struct stretch {
    uint32_t rate; /* index */
    int64_t start_ns, end_ns;
};

struct rates {
    struct rate *items; /* by process, then that of all */
    size_t count;
    struct stretch *stretches;
    size_t stretch_count, stretch_capacity;
};

static bool is_pause(int64_t from_ns, int64_t to_ns) {
    return to_ns > from_ns && gt_ns_between(from_ns, to_ns) >= PAUSE_NS;
}

static bool end_stretch(struct rates *rates, size_t index) {
    const struct rate *rate = &rates->items[index];
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
    struct rate *rate = &rates->items[index];
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
        struct rate *rate = &rates->items[stretches[i].rate];
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
        struct rate *rate = &rates->items[i];
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

static bool is_storm(double per_second, double median_ns) {
    for (size_t i = 0; i < GT_ARRAY_COUNT(storms); i++)
        if (per_second >= storms[i].per_second && median_ns <= storms[i].median_ns)
            return true;
    return false;
}

static void add_cells(struct gt_cell *cell, const struct rate *rate, struct gt_samples *samples, size_t set) {
    double median_ns = gt_samples_quantile(samples, set, 0.5), count = (double)rate->count;
    *cell++ = gt_cell_count(rate->count);
    *cell++ = gt_cell_int(rate->window_ns);
    *cell++ = gt_cell_real(rate->per_second);
    *cell++ = gt_cell_real(median_ns);
    *cell++ = gt_cell_real(gt_samples_quantile(samples, set, 0.9));
    *cell++ = gt_cell_real(gt_samples_quantile(samples, set, 0.99));
    *cell++ = gt_cell_share((double)rate->under_5us, count);
    *cell++ = gt_cell_share((double)rate->under_10us, count);
    *cell++ = gt_cell_share((double)rate->under_20us, count);
    *cell++ = gt_cell_int(is_storm(rate->per_second, median_ns));
}

static bool add_rate(const struct gt_view *view, struct gt_section *section, const struct rates *rates) {
    struct gt_samples samples = {0};
    const struct rate *all = &rates->items[rates->count - 1];
    bool ok = sample(view, rates, false, &samples);
    struct gt_table *table =
        gt_section_table(section, "launch_rate", "How fast kernels were launched", columns, GT_ARRAY_COUNT(columns));
    if (ok && all->count)
        add_cells(gt_table_row(table), all, &samples, 0);
    gt_samples_release(&samples);
    return ok;
}

static int by_rate(const void *a, const void *b) {
    const struct rate *x = *(const struct rate *const *)a, *y = *(const struct rate *const *)b;
    if (x->per_second != y->per_second)
        return x->per_second < y->per_second ? 1 : -1;
    return (x->process > y->process) - (x->process < y->process);
}

static bool add_process_rates(const struct gt_view *view, struct gt_section *section, const struct rates *rates) {
    struct gt_samples samples = {0};
    const struct rate **sorted = gt_alloc_array(rates->count, sizeof(struct rate *));
    bool ok = sorted && sample(view, rates, true, &samples);
    size_t count = 0;
    for (size_t i = 0; i + 1 < rates->count && ok; i++)
        if (rates->items[i].count && gt_cell_pid(view, rates->items[i].process).type != GPUTIME_CELL_NULL)
            sorted[count++] = &rates->items[i];
    if (count)
        qsort(sorted, count, sizeof(struct rate *), by_rate);
    struct gt_table *table = gt_section_table(section, "process_launch_rates", "How fast each process launched kernels",
                                              process_columns, GT_ARRAY_COUNT(process_columns));
    table->screen_limit = 10;
    for (size_t i = 0; i < count; i++) {
        struct gt_cell *cell = gt_table_row(table);
        cell[0] = gt_cell_pid(view, sorted[i]->process);
        add_cells(cell + 1, sorted[i], &samples, sorted[i]->process);
    }
    gt_table_for_processes(section, table);
    gt_samples_release(&samples);
    gt_free(sorted);
    return ok;
}

static bool rates_init(struct rates *rates, const struct gt_view *view) {
    *rates = (struct rates){.count = view->store->processes.count + 1};
    rates->items = gt_alloc_array(rates->count, sizeof *rates->items);
    for (size_t i = 0; i < rates->count && rates->items; i++)
        rates->items[i].process = i + 1 < rates->count ? (uint32_t)i : GT_NO_TRACK;
    if (!rates->items || !add_ops(view, rates))
        return false;
    measure_windows(rates);
    return true;
}

static void rates_release(struct rates *rates) {
    gt_free(rates->items);
    gt_free(rates->stretches);
}

enum gt_status gt_launch_rates_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    struct rates rates;
    bool ok = rates_init(&rates, view) && add_rate(view, section, &rates) && add_process_rates(view, section, &rates);
    rates_release(&rates);
    return ok ? GT_OK : gt_fail_memory(err);
}

bool gt_launch_rate_measure(const struct gt_view *view, struct gt_launch_rate *out) {
    struct rates rates;
    struct gt_samples samples = {0};
    bool ok = rates_init(&rates, view) && sample(view, &rates, false, &samples);
    if (ok) {
        const struct rate *all = &rates.items[rates.count - 1];
        double median_ns = gt_samples_quantile(&samples, 0, 0.5);
        *out = (struct gt_launch_rate){all->count, all->window_ns, all->per_second, median_ns,
                                       is_storm(all->per_second, median_ns)};
    }
    gt_samples_release(&samples);
    rates_release(&rates);
    return ok;
}
