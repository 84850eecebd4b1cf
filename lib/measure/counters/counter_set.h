/* What hardware counters say about each GPU: the means of metrics over kernels, ranges, kinds of time and causes of
   idle time, and how near the samples were to the limits of the GPU. */
#ifndef GT_MEASURE_COUNTERS_COUNTER_SET_H
#define GT_MEASURE_COUNTERS_COUNTER_SET_H

#include "measure/counters/sampling.h"
#include "measure/results/idle.h"

enum gt_counter_scope {
    GT_COUNTER_OF_DEVICE,
    GT_COUNTER_OF_CLASS,
    GT_COUNTER_OF_GAP,
    GT_COUNTER_OF_RANGE,
    GT_COUNTER_OF_KERNEL,
    GT_COUNTER_SCOPES,
};

enum gt_counter_method {
    GT_COUNTER_DIRECT,    /* the mean of samples that the item fills */
    GT_COUNTER_SOLVED,    /* by least squares over all samples */
    GT_COUNTER_UNSAMPLED, /* the item is too short: no values */
};

/* A sample counts for what fills so much of its period. */
enum { GT_COUNTER_FILLED_TENTHS = 9, GT_COUNTER_LEAST_SAMPLES = 4 };

/* A sum of values by time, in units of the metric. */
struct gt_counter_sum {
    __int128 values;
    int64_t weight_ns;
};

struct gt_counter_item {
    enum gt_counter_scope scope;
    struct gt_str name;
    gt_strid name_id; /* of a kernel: as the view has it */
    size_t ops;       /* of ranges and kernels */
    int64_t time_ns;
    int64_t filled_ns; /* of the samples that count */
    size_t samples;    /* as many */
    enum gt_counter_method method;
    struct gt_counter_sum sums[GT_METRIC_COUNT];
    double solved[GT_METRIC_PERCENTS]; /* where it was solved */
    int64_t compute_sum_ns;            /* of a kernel: durations of its compute ops */
};

/* Where compute time was, as the samples say it; in ns. */
struct gt_counter_roof {
    int64_t tensor_ns, memory_ns; /* at the limit of one of these */
    int64_t clock_ns;             /* lost because the clock was low */
    int64_t below_ns;             /* below both limits */
    int64_t unsampled_ns;
};

struct gt_counter_device {
    bool has_samples;
    size_t samples;      /* that overlap the span */
    size_t outside;      /* others */
    size_t out_of_range; /* values */
    int64_t period_ns;
    int64_t span_ns, class_ns[3], cause_ns[GT_IDLE_CAUSE_COUNT];
    uint64_t matrix_clock_hz; /* at which the matrix units reach their peak; 0: not known */
    uint64_t bandwidth;       /* of the memory, bytes per second; 0: not known */

    struct gt_counter_item *items; /* by scope */
    size_t item_count, item_capacity;
    struct gt_counter_sum busy_clock; /* over all busy time */
    double tensor_cycles;             /* of the matrix units: share of the pipe x Hz x ns */
    bool has_tensor_cycles;
    bool has_roof; /* the samples have all that it needs */
    struct gt_counter_roof roof;
};

struct gt_counter_set {
    struct gt_counter_device *devices; /* those of the view */
    size_t device_count;
};

enum gt_status gt_counter_set_init(struct gt_counter_set *set, const struct gt_view *view, struct gt_error *err);
void gt_counter_set_release(struct gt_counter_set *set);

/* In percent or Hz; NAN: not known. */
double gt_counter_set_mean(const struct gt_counter_item *item, enum gt_metric metric);
/* That the item moved to and from memory; NAN: not known. */
double gt_counter_set_dram_bytes(const struct gt_counter_device *device, const struct gt_counter_item *item);
/* How near the item was to a limit of the GPU, and whether that is the memory's; NAN: not known. */
struct gt_counter_nearness {
    double share;
    bool is_memory;
};
struct gt_counter_nearness gt_counter_set_nearness(const struct gt_counter_device *device,
                                                   const struct gt_counter_item *item);
/* Mean clock while the GPU was busy, in Hz; NAN: not known. */
double gt_counter_set_busy_hz(const struct gt_counter_device *device);
/* Share of the span in which the matrix units worked, at the clock of their peak; NAN: not known. */
double gt_counter_set_hfu(const struct gt_counter_device *device);

#endif
