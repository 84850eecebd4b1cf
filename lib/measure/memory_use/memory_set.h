/* Memory of each GPU over time: how much was allocated and reserved, when it was most, and who owned it then. */
#ifndef GT_MEASURE_MEMORY_USE_MEMORY_SET_H
#define GT_MEASURE_MEMORY_USE_MEMORY_SET_H

#include "events/view.h"

enum { GT_MEMORY_SET_BUCKETS = 256 };
#define GT_MEMORY_SET_UNKNOWN INT64_MIN /* of reserved bytes: the trace does not say */

/* Equal parts of the time from the first to the last event. What was allocated before counts until it changes. */
struct gt_memory_bucket {
    int64_t start_ns;
    int64_t max, min, end; /* allocated bytes */
    int64_t reserved_max;
};

/* Blocks alive at the peak that one operator or call allocated in one range. */
struct gt_memory_owner {
    struct gt_str op, range;
    int64_t bytes;
    size_t blocks;
};

/* What the allocator of the step's process did. */
struct gt_memory_step {
    uint32_t step; /* index into labels->steps */
    int64_t peak, first, last;
    int64_t kept_bytes; /* allocated in it and alive at its end */
    size_t kept_blocks;
    bool has_blocks; /* the events have addresses */
};

struct gt_memory_device {
    int64_t id;
    uint32_t device; /* track; GT_NO_TRACK: the trace has only its number */
    size_t events;
    int64_t start_ns, end_ns; /* of the first and the last event */
    int64_t peak_ns;
    int64_t peak, reserved_at_peak, reserved_max, first, last;
    size_t rises, falls;               /* how often the allocator took memory from the driver, and gave some back */
    int64_t risen_bytes, fallen_bytes; /* in all */
    struct gt_memory_bucket *buckets;
    size_t bucket_count;
    struct gt_memory_owner *owners; /* by bytes */
    size_t owner_count;
    struct gt_memory_step *steps; /* by start */
    size_t step_count;
    size_t changes;       /* from step to step, without warm-up */
    int64_t least_change; /* of them; above 0: every step left more allocated than the one before */
    double growth;        /* the median of them, in bytes; NAN: they are too few */
};

struct gt_memory_set {
    struct gt_memory_device *devices; /* by id; those with events */
    size_t device_count;
    uint64_t free_of_unknown, address_twice, without_address;
};

/* Linear, but for the logarithm of the number of events of a step and of owners. */
enum gt_status gt_memory_set_init(struct gt_memory_set *set, const struct gt_view *view, struct gt_error *err);
void gt_memory_set_release(struct gt_memory_set *set);

#endif
