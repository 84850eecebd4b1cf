/* Lanes for replay: each rank as its own time between the beginnings and ends of matched kernels. */
#ifndef GT_RANKS_RANK_LANES_H
#define GT_RANKS_RANK_LANES_H

#include "ranks/rank_job.h"

/* A beginning or end of a matched kernel, after a piece of own time. */
struct gt_rank_event {
    uint32_t kernel : 31, is_end : 1;
};
#define GT_RANK_EVENT_KERNELS 0x7FFFFFFFu /* more than these have no lane */

struct gt_rank_lane_events {
    struct gt_rank_event *events;
    size_t count;
    int64_t *pieces;        /* count + 1: own time before each event, and after the last */
    uint32_t *steps;        /* of pieces: index of the job's step; GT_RANK_NONE: outside. Until pieces are leveled */
    int64_t *level;         /* pieces as they would be if the rank were like the others */
    uint32_t *members;      /* of matched kernels, one after the other */
    uint32_t *first_member; /* by kernel, and the end */
};

struct gt_rank_lanes {
    struct gt_rank_lane_events *items; /* by rank */
    size_t count, event_count;
};

/* false: memory was short; to be released all the same. */
bool gt_rank_lanes_init(struct gt_rank_lanes *lanes, const struct gt_rank_job *job);
void gt_rank_lanes_release(struct gt_rank_lanes *lanes);
void gt_rank_lanes_forget_steps(struct gt_rank_lanes *lanes);

/* Fills `level`: per step each piece is the median of the ranks that do the same; a rank that nobody is like has its
   long pieces cut until it takes as long as the median. false: memory was short. */
bool gt_rank_lanes_level(struct gt_rank_lanes *lanes, const struct gt_rank_job *job);

#endif
