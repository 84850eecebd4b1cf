/* Divides the compute time of each sample: at the limit of the matrix units, of the memory, lost to a low clock, below
   both limits. */
#include "measure/counters/counter_roof.h"

#include "base/ns.h"

void gt_counter_roof_begin(struct gt_counter_device *device, const struct gt_sampling *sampling) {
    uint32_t *const *values = sampling->values;
    device->has_roof = device->matrix_clock_hz && values[GT_METRIC_TENSOR] && values[GT_METRIC_CLOCK] &&
                       ((values[GT_METRIC_DRAM_READ] && values[GT_METRIC_DRAM_WRITE]) || values[GT_METRIC_DRAM]);
}

/* In millionths of a percent; GT_SAMPLING_NONE: the sample does not say. */
static uint64_t dram_of(const struct gt_sampling *sampling, size_t sample) {
    uint32_t *const *values = sampling->values;
    if (gt_sampling_has(sampling, GT_METRIC_DRAM_READ, sample) &&
        gt_sampling_has(sampling, GT_METRIC_DRAM_WRITE, sample))
        return (uint64_t)values[GT_METRIC_DRAM_READ][sample] + values[GT_METRIC_DRAM_WRITE][sample];
    return gt_sampling_has(sampling, GT_METRIC_DRAM, sample) ? values[GT_METRIC_DRAM][sample] : GT_SAMPLING_NONE;
}

/* The part of a period that so many millionths of a percent are, at most `most_ns`. */
static int64_t part_of(uint64_t value, int64_t period_ns, int64_t most_ns) {
    __int128 ns = (__int128)value * period_ns / (100 * (int64_t)GT_SAMPLING_PERCENT);
    return ns < most_ns ? (int64_t)ns : most_ns;
}

void gt_counter_roof_add(struct gt_counter_device *device, const struct gt_sampling *sampling, size_t sample,
                         int64_t compute_ns) {
    struct gt_counter_roof *roof = &device->roof;
    uint32_t *const *values = sampling->values;
    int64_t period_ns = gt_ns_between(sampling->start_ns[sample], sampling->end_ns[sample]);
    uint64_t dram = dram_of(sampling, sample);
    if (!device->has_roof || compute_ns <= 0 || dram == GT_SAMPLING_NONE)
        return;
    uint64_t tensor = values[GT_METRIC_TENSOR][sample], clock_hz = values[GT_METRIC_CLOCK][sample];
    int64_t tensor_ns = part_of(tensor, period_ns, compute_ns), dram_ns = part_of(dram, period_ns, compute_ns);
    if (tensor_ns >= dram_ns) {
        uint64_t peak_hz = device->matrix_clock_hz, slow_hz = clock_hz < peak_hz ? clock_hz : peak_hz;
        __int128 whole =
            (__int128)tensor * period_ns * (int64_t)slow_hz / ((__int128)100 * GT_SAMPLING_PERCENT * (int64_t)peak_hz);
        int64_t ideal_ns = whole < tensor_ns ? (int64_t)whole : tensor_ns;
        roof->tensor_ns = gt_ns_add(roof->tensor_ns, ideal_ns);
        roof->clock_ns = gt_ns_add(roof->clock_ns, tensor_ns - ideal_ns);
        roof->below_ns = gt_ns_add(roof->below_ns, compute_ns - tensor_ns);
    } else {
        roof->memory_ns = gt_ns_add(roof->memory_ns, dram_ns);
        roof->below_ns = gt_ns_add(roof->below_ns, compute_ns - dram_ns);
    }
}

void gt_counter_roof_end(struct gt_counter_device *device) {
    struct gt_counter_roof *roof = &device->roof;
    int64_t sampled_ns =
        gt_ns_add(gt_ns_add(roof->tensor_ns, roof->memory_ns), gt_ns_add(roof->clock_ns, roof->below_ns));
    roof->unsampled_ns = gt_ns_between(sampled_ns, device->class_ns[GT_CLASS_COMPUTE]);
}
