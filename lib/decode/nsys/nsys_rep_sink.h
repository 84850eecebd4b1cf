/* Events of a report: the entries of a chunk come in, rows of the model's sink go out. One belongs to one thread. */
#ifndef GT_DECODE_NSYS_NSYS_REP_SINK_H
#define GT_DECODE_NSYS_NSYS_REP_SINK_H

#include "decode/nsys/nsys_rep_facts.h"

/* A process, which comes as an event. */
struct gt_nsys_rep_process {
    uint64_t order, sequence; /* of the batch it is in; among those that its sink has read */
    struct gt_nsys_name name; /* may be empty */
    uint64_t environment;     /* number of the string that it was started with; GT_NSYS_NO_ID: none is known */
};

struct gt_nsys_rep_sink {
    struct gt_nsys_sink *model; /* initialised, and released, by others */
    const struct gt_nsys_rep_facts *facts;
    uint64_t order;                        /* of the current batch */
    uint64_t event_count, generic_count;   /* seen */
    uint64_t left_count, left_generic;     /* what the index leaves to the current batch; more are ignored */
    struct gt_nsys_rep_process *processes; /* texts are in the model's arena */
    size_t process_count, process_capacity;
    struct gt_nsys_rep_samples samples;
};

void gt_nsys_rep_sink_init(struct gt_nsys_rep_sink *sink, struct gt_nsys_sink *model,
                           const struct gt_nsys_rep_facts *facts);
void gt_nsys_rep_sink_release(struct gt_nsys_rep_sink *sink);

/* Takes the entries of a chunk's message, entries_max of them. offset: of the chunk in the file, for what is wrong with
   it. */
void gt_nsys_rep_sink_take(struct gt_nsys_rep_sink *sink, struct gt_str message, size_t entries_max, uint64_t offset);

/* Sub-messages of events: work on a device, calls, NVTX, memory, memory pools. false: it is damaged. */
bool gt_nsys_rep_sink_take_activity(struct gt_nsys_rep_sink *sink, struct gt_str message);
bool gt_nsys_rep_sink_take_api(struct gt_nsys_rep_sink *sink, uint64_t type, struct gt_str message);
bool gt_nsys_rep_sink_take_nvtx(struct gt_nsys_rep_sink *sink, struct gt_str message);
bool gt_nsys_rep_sink_take_memory(struct gt_nsys_rep_sink *sink, struct gt_str message);
bool gt_nsys_rep_sink_take_pool(struct gt_nsys_rep_sink *sink, struct gt_str message);

/* When all events are read: names and ranks of processes from all sinks, in the order of the file, become the
   capture's. false: memory is short. */
bool gt_nsys_rep_sink_join(struct gt_nsys_rep_sink *const *sinks, size_t count, struct gt_nsys_rep_facts *facts);

#endif
