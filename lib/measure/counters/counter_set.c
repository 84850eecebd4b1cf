/* Sums the samples of hardware counters: in come the samples of each GPU and what ran in each, out go means by item. A
   sample counts for an item that fills nearly all of its period. A kernel that never does is solved for: all kernels
   together must explain all samples. */
#include "measure/counters/counter_set.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/counters/counter_equations.h"
#include "measure/counters/counter_ranges.h"
#include "measure/counters/counter_roof.h"
#include "measure/efficiency/gpu_peaks.h"
#include "measure/results/results.h"

/* ---- samples that items fill ---- */

/* Samples one after the other with the same items, which fill them alone. */
struct run {
    uint32_t op;
    uint8_t cause;
    struct gt_counter_item sum;
};

struct summing {
    struct gt_counter_items *items;
    struct gt_counter_ranges *ranges;
    const struct gt_sampling *sampling;
    struct gt_counter_device *device;
    struct run run;
    int64_t *filled_ns; /* by item: of the sample at hand */
    uint32_t *touched;  /* items that it has */
};

static void join_items(struct gt_counter_item *item, const struct gt_counter_item *more) {
    item->samples += more->samples;
    item->filled_ns = gt_ns_add(item->filled_ns, more->filled_ns);
    for (int m = 0; m < GT_METRIC_COUNT; m++) {
        item->sums[m].values += more->sums[m].values;
        item->sums[m].weight_ns = gt_ns_add(item->sums[m].weight_ns, more->sums[m].weight_ns);
    }
}

static void close_run(struct summing *summing) {
    struct run *run = &summing->run;
    if (!run->sum.samples)
        return;
    struct gt_counter_list list = gt_counter_items_of(summing->items, run->op, run->cause);
    for (size_t i = 0; i < list.count; i++)
        join_items(&summing->device->items[list.items[i]], &run->sum);
    run->sum = (struct gt_counter_item){0};
}

static void sum_single(struct summing *summing, size_t sample, const struct gt_counter_part *part) {
    struct run *run = &summing->run;
    if (run->op != part->op || run->cause != part->cause) {
        close_run(summing);
        run->op = part->op;
        run->cause = part->cause;
    }
    if (gt_counter_items_fills(summing->sampling, sample, part->ns))
        gt_counter_items_add_sample(&run->sum, summing->sampling, sample, part->ns);
}

static void sum_several(struct summing *summing, size_t sample, const struct gt_counter_part *parts, size_t count) {
    size_t touched = 0;
    close_run(summing);
    for (size_t p = 0; p < count; p++) {
        struct gt_counter_list list = gt_counter_items_of(summing->items, parts[p].op, parts[p].cause);
        for (size_t i = 0; i < list.count; i++) {
            int64_t *filled_ns = &summing->filled_ns[list.items[i]];
            if (*filled_ns == 0)
                summing->touched[touched++] = list.items[i];
            *filled_ns = gt_ns_add(*filled_ns, parts[p].ns);
        }
    }
    for (size_t i = 0; i < touched; i++) {
        int64_t *filled_ns = &summing->filled_ns[summing->touched[i]];
        if (gt_counter_items_fills(summing->sampling, sample, *filled_ns))
            gt_counter_items_add_sample(&summing->device->items[summing->touched[i]], summing->sampling, sample,
                                        *filled_ns);
        *filled_ns = 0;
    }
}

/* What of a sample's period is in the span, busy, and compute. */
struct lengths {
    int64_t span_ns, busy_ns, compute_ns;
};

static struct lengths lengths_of(const struct gt_view *view, const struct gt_counter_part *parts, size_t count) {
    struct lengths lengths = {0};
    for (size_t p = 0; p < count; p++) {
        bool is_busy = parts[p].op != GT_NO_ROW;
        lengths.span_ns = gt_ns_add(lengths.span_ns, parts[p].ns);
        lengths.busy_ns = gt_ns_add(lengths.busy_ns, is_busy ? parts[p].ns : 0);
        if (is_busy && gt_view_op_class(view, parts[p].op) == GT_CLASS_COMPUTE)
            lengths.compute_ns = gt_ns_add(lengths.compute_ns, parts[p].ns);
    }
    return lengths;
}

/* Of the whole device: its clock, and how near it is to its limits. */
static void sum_device(struct gt_counter_device *device, const struct gt_sampling *sampling, size_t sample,
                       const struct lengths *lengths) {
    if (!gt_sampling_has(sampling, GT_METRIC_CLOCK, sample))
        return;
    uint32_t clock_hz = sampling->values[GT_METRIC_CLOCK][sample];
    device->busy_clock.values += (__int128)lengths->busy_ns * clock_hz;
    device->busy_clock.weight_ns = gt_ns_add(device->busy_clock.weight_ns, lengths->busy_ns);
    if (!gt_sampling_has(sampling, GT_METRIC_TENSOR, sample))
        return;
    device->has_tensor_cycles = true;
    device->tensor_cycles += (double)sampling->values[GT_METRIC_TENSOR][sample] / (100.0 * GT_SAMPLING_PERCENT) *
                             (double)clock_hz * (double)lengths->span_ns;
    gt_counter_roof_add(device, sampling, sample, lengths->compute_ns);
}

static void take_sample(void *context, size_t sample, const struct gt_counter_part *parts, size_t count) {
    struct summing *summing = context;
    struct lengths lengths = lengths_of(summing->items->view, parts, count);
    if (count == 1)
        sum_single(summing, sample, parts);
    else
        sum_several(summing, sample, parts, count);
    gt_counter_ranges_take(summing->ranges, sample, parts, count);
    sum_device(summing->device, summing->sampling, sample, &lengths);
}

static bool sum_samples(struct gt_counter_items *items, struct gt_counter_ranges *ranges, const struct gt_idle *idle,
                        size_t index, const struct gt_sampling *sampling) {
    struct gt_counter_device *device = items->device;
    struct summing summing = {
        .items = items,
        .ranges = ranges,
        .sampling = sampling,
        .device = device,
        .run = {.op = GT_NO_ROW},
        .filled_ns = gt_mem_array(device->item_count, sizeof *summing.filled_ns),
        .touched = gt_mem_array(device->item_count, sizeof *summing.touched),
    };
    bool is_done = summing.filled_ns && summing.touched &&
                   gt_counter_sweep(items->view, idle, index, sampling, take_sample, &summing);
    if (is_done) {
        close_run(&summing);
        gt_counter_ranges_end(ranges);
    }
    gt_mem_free(summing.filled_ns);
    gt_mem_free(summing.touched);
    return is_done && !items->has_failed && !ranges->has_failed;
}

/* ---- a device ---- */

static void choose_methods(struct gt_counter_device *device) {
    for (size_t i = 0; i < device->item_count; i++)
        if (device->items[i].samples >= GT_COUNTER_LEAST_SAMPLES)
            device->items[i].method = GT_COUNTER_DIRECT;
}

/* Kernels by time, all others by name: a total order, since sorting need not keep that of equal ones. */
static int by_scope(const void *a, const void *b) {
    const struct gt_counter_item *x = a, *y = b;
    if (x->scope != y->scope)
        return x->scope < y->scope ? -1 : 1;
    if (x->scope == GT_COUNTER_OF_KERNEL && x->time_ns != y->time_ns)
        return x->time_ns > y->time_ns ? -1 : 1;
    int order = gt_str_cmp(x->name, y->name);
    if (x->scope == GT_COUNTER_OF_DEVICE)
        return -order; /* the span, then busy time */
    return order ? order : (x->name_id > y->name_id) - (x->name_id < y->name_id);
}

/* What all devices with samples need; made for the first of them. */
struct common {
    struct gt_gpu_given given;
    const struct gt_idle *idle;
    struct gt_range_trees trees;
};

static enum gt_status make_common(struct common *common, const struct gt_view *view, struct gt_error *err) {
    if (common->idle)
        return GT_OK;
    common->idle = gt_results_idle(view, err);
    const struct gt_range_set *ranges = common->idle ? gt_results_ranges(view, err) : NULL;
    if (!ranges)
        return err->code;
    return gt_range_trees_init(&common->trees, view, ranges) ? GT_OK : gt_fail_memory(err);
}

static bool measure_items(struct gt_counter_device *device, const struct gt_view *view, size_t index,
                          const struct gt_sampling *sampling, struct common *common) {
    struct gt_counter_items items;
    struct gt_counter_ranges ranges = {0};
    bool is_done = gt_counter_items_init(&items, view, common->idle, index, device) &&
                   gt_counter_ranges_init(&ranges, &common->trees, &items, common->idle, index, sampling);
    gt_counter_roof_begin(device, sampling);
    is_done = is_done && sum_samples(&items, &ranges, common->idle, index, sampling);
    if (is_done)
        choose_methods(device);
    is_done = is_done && gt_counter_equations_solve(&items, common->idle, index, sampling);
    if (is_done) {
        gt_counter_roof_end(device);
        qsort(device->items, device->item_count, sizeof *device->items, by_scope);
    }
    gt_counter_ranges_release(&ranges);
    gt_counter_items_release(&items);
    return is_done;
}

static bool measure_device(struct gt_counter_device *device, const struct gt_view *view, size_t index,
                           const struct gt_sampling *sampling, struct common *common) {
    struct gt_gpu_peaks peaks;
    const struct gt_view_device *of = &view->devices[index];
    gt_gpu_peaks_of(&peaks, view->store, of->device, &common->given);
    device->has_samples = true;
    device->samples = sampling->count;
    device->outside = sampling->outside;
    device->out_of_range = sampling->out_of_range;
    device->period_ns = sampling->period_ns;
    device->span_ns = gt_ns_between(of->span_start_ns, of->span_end_ns);
    device->matrix_clock_hz = (uint64_t)peaks.matrix_clock_hz;
    device->bandwidth = (uint64_t)peaks.bandwidth;
    return measure_items(device, view, index, sampling, common);
}

/* What the samples are held against is only made where there are some. */
static enum gt_status init_device(struct gt_counter_device *device, const struct gt_view *view, size_t index,
                                  struct common *common, struct gt_error *err) {
    struct gt_sampling sampling;
    enum gt_status status = gt_sampling_init(&sampling, view, &view->devices[index], err);
    if (status != GT_OK)
        return status;
    if (!sampling.count && !sampling.outside) {
        gt_sampling_release(&sampling);
        return GT_OK;
    }
    status = make_common(common, view, err);
    if (status == GT_OK && !measure_device(device, view, index, &sampling, common))
        status = gt_fail_memory(err);
    gt_sampling_release(&sampling);
    return status;
}

enum gt_status gt_counter_set_init(struct gt_counter_set *set, const struct gt_view *view, struct gt_error *err) {
    struct common common = {0};
    enum gt_status status = gt_gpu_peaks_given(view, &common.given, err);
    if (status != GT_OK)
        return status;
    set->device_count = view->device_count;
    set->devices = gt_mem_array(view->device_count, sizeof *set->devices);
    if (!set->devices)
        return gt_fail_memory(err);
    for (size_t d = 0; d < view->device_count && status == GT_OK; d++)
        status = init_device(&set->devices[d], view, d, &common, err);
    gt_range_trees_release(&common.trees);
    if (status != GT_OK)
        gt_counter_set_release(set);
    return status;
}

void gt_counter_set_release(struct gt_counter_set *set) {
    for (size_t d = 0; set->devices && d < set->device_count; d++)
        gt_mem_free(set->devices[d].items);
    gt_mem_free(set->devices);
    *set = (struct gt_counter_set){0};
}

/* ---- numbers ---- */

double gt_counter_set_mean(const struct gt_counter_item *item, enum gt_metric metric) {
    const struct gt_counter_sum *sum = &item->sums[metric];
    if (item->method == GT_COUNTER_SOLVED)
        return metric == GT_METRIC_CLOCK ? NAN : item->solved[metric];
    if (item->method == GT_COUNTER_UNSAMPLED || sum->weight_ns <= 0)
        return NAN;
    double mean = (double)sum->values / (double)sum->weight_ns;
    return metric == GT_METRIC_CLOCK ? mean : mean / GT_SAMPLING_PERCENT;
}

/* In percent of the bandwidth. */
static double dram_of(const struct gt_counter_item *item) {
    double both = gt_counter_set_mean(item, GT_METRIC_DRAM_READ) + gt_counter_set_mean(item, GT_METRIC_DRAM_WRITE);
    return isnan(both) ? gt_counter_set_mean(item, GT_METRIC_DRAM) : both;
}

double gt_counter_set_dram_bytes(const struct gt_counter_device *device, const struct gt_counter_item *item) {
    return device->bandwidth ? dram_of(item) / 100 * (double)device->bandwidth * (double)item->time_ns / 1e9 : NAN;
}

double gt_counter_set_busy_hz(const struct gt_counter_device *device) {
    const struct gt_counter_sum *sum = &device->busy_clock;
    return sum->weight_ns > 0 ? (double)sum->values / (double)sum->weight_ns : NAN;
}

/* The clock of what was solved is not known: that of all busy time counts. */
struct gt_counter_nearness gt_counter_set_nearness(const struct gt_counter_device *device,
                                                   const struct gt_counter_item *item) {
    double clock_hz = gt_counter_set_mean(item, GT_METRIC_CLOCK);
    clock_hz = isnan(clock_hz) ? gt_counter_set_busy_hz(device) : clock_hz;
    double slower = device->matrix_clock_hz ? clock_hz / (double)device->matrix_clock_hz : NAN;
    slower = slower > 1 ? 1 : slower; /* fmin would take an unknown clock for a full one */
    double matrix = gt_counter_set_mean(item, GT_METRIC_TENSOR) / 100 * slower;
    double memory = dram_of(item) / 100;
    if (isnan(matrix) || isnan(memory))
        return (struct gt_counter_nearness){.share = NAN};
    return (struct gt_counter_nearness){.share = fmax(matrix, memory), .is_memory = memory > matrix};
}

double gt_counter_set_hfu(const struct gt_counter_device *device) {
    bool is_known = device->has_tensor_cycles && device->matrix_clock_hz && device->span_ns > 0;
    return is_known ? device->tensor_cycles / ((double)device->matrix_clock_hz * (double)device->span_ns) : NAN;
}
