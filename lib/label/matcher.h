/* What matching ops and calls by their ids knows of a trace, and when a call fits: for correlate.c,
   id_order.c and id_slots.c. */
#ifndef GT_LABEL_MATCHER_H
#define GT_LABEL_MATCHER_H

#include <stdatomic.h>

#include "events/labels.h"

struct gt_matcher {
    const struct gt_store *store;
    uint32_t *op_call; /* labels->op_call, to be filled */
    size_t threads;
    uint32_t only_process; /* all calls are of this one, unless has_several */
    atomic_bool has_several;
    atomic_bool is_unordered;          /* the id of a call is not above that of the call before */
    atomic_uint_fast64_t without_call; /* ops */
    _Atomic uint8_t *zero_calls;       /* by process, the last for GT_NO_TRACK: calls with id 0, counted to 2 or more */
};

/* Of a table of calls: half full at most. */
static inline size_t gt_matcher_slot_count(const struct gt_store *store) {
    size_t slot_count = 64;
    while (slot_count / 2 < store->calls.count)
        slot_count *= 2;
    return slot_count;
}

static inline size_t gt_matcher_process_place(const struct gt_store *store, uint32_t process) {
    return process == GT_NO_TRACK ? store->processes.count : process;
}

static inline _Atomic uint8_t *gt_matcher_zero_calls(const struct gt_matcher *matcher, uint32_t process) {
    return &matcher->zero_calls[gt_matcher_process_place(matcher->store, process)];
}

/* 0 is an ordinary id where one call of the process has it; where several have, it means that there is none. */
static inline bool gt_matcher_is_usable(const struct gt_matcher *matcher, uint32_t call) {
    uint64_t id = matcher->store->calls.correlation[call];
    return id != GT_NO_CORRELATION &&
           (id != 0 || *gt_matcher_zero_calls(matcher, gt_labels_call_process(matcher->store, call)) < 2);
}

/* The process of an op, where that takes no finding out. */
static inline uint32_t gt_matcher_likely_process(const struct gt_matcher *matcher, uint32_t op) {
    uint32_t process = matcher->store->lanes.process[matcher->store->ops.lane[op]];
    return process == GT_NO_TRACK ? matcher->only_process : process;
}

/* Of calls that share the key the earliest stays, then the longest, then the first row. */
static inline bool gt_matcher_replaces(const struct gt_calls *calls, uint32_t call, uint32_t other) {
    if (calls->start_ns[call] != calls->start_ns[other])
        return calls->start_ns[call] < calls->start_ns[other];
    if (calls->end_ns[call] != calls->end_ns[other])
        return calls->end_ns[call] > calls->end_ns[other];
    return call < other;
}

/* The call in a slot, unless it began after the op had ended and so cannot have launched it. */
static inline uint32_t gt_matcher_call_in_slot(const struct gt_store *store, uint32_t slot, uint32_t op) {
    return slot && store->calls.start_ns[slot - 1] <= store->ops.end_ns[op] ? slot - 1 : GT_NO_ROW;
}

#endif
