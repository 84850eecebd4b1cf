/* Bursts: kernels of a device one after the other without a pause. */
#ifndef GT_MEASURE_RESULTS_BURSTS_H
#define GT_MEASURE_RESULTS_BURSTS_H

#include "events/view.h"

/* Time in which no kernel ran for so long is no launching: loading a model, waiting for a request. */
enum { GT_BURSTS_PAUSE_NS = 10000000 };

/* Kernels of one process, or of all. */
struct gt_burst {
    uint32_t process; /* track; one more than there are: not known */
    uint32_t device;  /* index into view->devices; GT_NO_TRACK: no kernel yet */
    int64_t start_ns, end_ns;
};

struct gt_bursts {
    struct gt_burst *items;
    size_t count, capacity;
};

static inline bool gt_bursts_is_pause(int64_t from_ns, int64_t to_ns) {
    return to_ns > from_ns && gt_ns_between(from_ns, to_ns) >= GT_BURSTS_PAUSE_NS;
}

/* Adds a burst that has a device. false: memory was short. */
bool gt_bursts_end(struct gt_bursts *ended, const struct gt_burst *burst);

/* Adds those of a device, whatever process kernels are of, as process 0: those of several processes join where no pause
   is between them anyway. The longest kernel of the device is as long, or shorter. Mostly few kernels are looked at.
   false: memory was short. */
bool gt_bursts_of_device(const struct gt_view *view, uint32_t index, int64_t longest_ns, struct gt_bursts *ended);

#endif
