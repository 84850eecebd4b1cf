/* The values of one counter track, whichever way they are stored. */
#ifndef GT_EVENTS_COUNTER_TRACK_H
#define GT_EVENTS_COUNTER_TRACK_H

#include "events/store.h"

/* How many values the track has. */
size_t gt_counter_track_count(const struct gt_store *store, uint32_t track);

/* Copies `count` values from number `first` on, by time; fewer where there are no more. Gives how many. times_ns and
   values may be NULL. */
size_t gt_counter_track_read(const struct gt_store *store, uint32_t track, size_t first, size_t count,
                             int64_t *times_ns, double *values);

#endif
