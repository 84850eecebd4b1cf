/* GPU metrics of a report: samples of several values each, one after the other, as types of the index describe them.
   Values of a chunk are gathered and go into the builder metric by metric. */
#ifndef GT_DECODE_NSYS_NSYS_REP_METRICS_H
#define GT_DECODE_NSYS_NSYS_REP_METRICS_H

#include "base/map.h"
#include "decode/nsys/nsys.h"

/* A value of a sample: an unsigned number. */
struct gt_nsys_rep_metric {
    uint32_t offset, width; /* bytes; width 1 .. 8 */
    struct gt_str name;     /* a string of the capture */
};

/* Samples of one GPU. */
struct gt_nsys_rep_metric_type {
    uint64_t id;
    size_t first_metric, metric_count;
};

/* All types that have metrics; shared by all threads. Zeroed is empty. */
struct gt_nsys_rep_metric_types {
    struct gt_map index_of; /* id -> index in list */
    struct gt_nsys_rep_metric_type *list;
    struct gt_nsys_rep_metric *metrics;
    size_t count, capacity, metric_count, metric_capacity;
    uint64_t hz;               /* samples a second; 0: not known */
    uint64_t unreadable_count; /* metrics that cannot be read */
};

/* Takes the types of the index message, once the capture has its strings. false: memory is short. */
bool gt_nsys_rep_metrics_types_take(struct gt_nsys_rep_metric_types *types, const struct gt_nsys_capture *capture,
                                    struct gt_str index);
void gt_nsys_rep_metrics_types_release(struct gt_nsys_rep_metric_types *types);

struct gt_nsys_rep_sample {
    int64_t time_ns;
    const char *bytes;
    uint32_t length, type;
};

/* The samples of a chunk; one for each thread. Zeroed is empty. */
struct gt_nsys_rep_samples {
    struct gt_nsys_rep_sample *list;
    size_t count, capacity;
    uint64_t value_count;  /* of all samples in the list */
    uint32_t *tracks;      /* by metric: its track in the builder, GT_NO_TRACK until there is one */
    uint32_t *type_counts; /* by type: samples in the list; all 0 between chunks */
    uint32_t *type_places; /* by type: where its next sample goes when they are sorted, GT_NO_ROW: not known yet */
    /* The list again, by type: room for as many as the list has. */
    int64_t *times_ns;
    const char **bytes;
    uint32_t *lengths;
    size_t sorted_capacity;
};
void gt_nsys_rep_metrics_samples_release(struct gt_nsys_rep_samples *samples);

/* Adds a generic event to the samples, which borrow its bytes. values_max: for this many values a chunk has room.
   false: it is damaged. */
bool gt_nsys_rep_metrics_take(struct gt_nsys_rep_samples *samples, const struct gt_nsys_rep_metric_types *types,
                              struct gt_nsys_sink *model, struct gt_str message, uint64_t values_max);
/* The samples go into the builder; none are left. */
void gt_nsys_rep_metrics_flush(struct gt_nsys_rep_samples *samples, const struct gt_nsys_rep_metric_types *types,
                               struct gt_nsys_sink *model);

#endif
