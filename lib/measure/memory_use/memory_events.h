/* Events of a GPU's memory in order of time, each with what was allocated after it. */
#ifndef GT_MEASURE_MEMORY_USE_MEMORY_EVENTS_H
#define GT_MEASURE_MEMORY_USE_MEMORY_EVENTS_H

#include "measure/memory_use/memory_set.h"

#define GT_MEMORY_EVENTS_KEPT UINT32_MAX /* never freed */

struct gt_memory_event {
    int64_t time_ns;
    uint32_t row;      /* of memory_events */
    uint32_t freed_by; /* of an allocation: number of the event that freed it; else itself */
    int64_t own;       /* what its process has allocated after it */
    int64_t change;    /* by so much it changed that */
    int64_t allocated; /* what all processes have */
    int64_t reserved;  /* GT_MEMORY_SET_UNKNOWN */
};

/* Those of all GPUs, one after the other. */
struct gt_memory_events_list {
    struct gt_memory_event *items;
    size_t count;
};

/* Device events of the store, by device, time and row. false: memory was short. */
bool gt_memory_events_sort(struct gt_memory_events_list *list, const struct gt_store *store);

/* Fills freed_by and the amounts of a run of events of one GPU; counts what is odd. */
bool gt_memory_events_follow(struct gt_memory_event *events, size_t count, const struct gt_store *store,
                             struct gt_memory_set *set);

#endif
