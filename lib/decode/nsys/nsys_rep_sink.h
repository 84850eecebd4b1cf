/* Events of a report: the entries of a chunk come in, rows of the model's sink go out. One belongs to one thread. */
#ifndef GT_DECODE_NSYS_NSYS_REP_SINK_H
#define GT_DECODE_NSYS_NSYS_REP_SINK_H

#include "decode/nsys/nsys_rep_facts.h"

/* The name of a process, which comes as an event. */
struct gt_nsys_rep_process {
    uint64_t order, sequence; /* of the batch it is in; among the names that its sink has read */
    struct gt_nsys_name name;
};

struct gt_nsys_rep_sink {
    struct gt_nsys_sink *model; /* initialised, and released, by others */
    const struct gt_nsys_rep_facts *facts;
    uint64_t order;                        /* of the current batch */
    uint64_t event_count;                  /* seen */
    uint64_t left_count;                   /* events that the index leaves to the current batch; more are ignored */
    struct gt_nsys_rep_process *processes; /* texts are in the model's arena */
    size_t process_count, process_capacity;
};

void gt_nsys_rep_sink_init(struct gt_nsys_rep_sink *sink, struct gt_nsys_sink *model,
                           const struct gt_nsys_rep_facts *facts);
void gt_nsys_rep_sink_release(struct gt_nsys_rep_sink *sink);

/* Takes the entries of a chunk's message, entries_max of them. offset: of the chunk in the file, for what is wrong with
   it. */
void gt_nsys_rep_sink_take(struct gt_nsys_rep_sink *sink, struct gt_str message, size_t entries_max, uint64_t offset);

/* Work on a device, the sub-message of an event. false: it is damaged. */
bool gt_nsys_rep_sink_take_activity(struct gt_nsys_rep_sink *sink, struct gt_str message);

#endif
