/* The order in which a replay visits the events of all lanes. Who waits for whom does not depend on times, so one order
   holds for every replay of a job. */
#ifndef GT_RANKS_RANK_SCHEDULE_H
#define GT_RANKS_RANK_SCHEDULE_H

#include "ranks/rank_lanes.h"

/* What a replay does at a member. Slots hold times from the first arrival to the last leave, and are used again. */
struct gt_rank_visit {
    int64_t takes_ns;  /* to its end: from the last arrival, or from its own if it leaves alone */
    uint32_t arrival;  /* slot of its collective: the last arrival so far */
    uint32_t own : 31; /* slot of its own arrival, if it leaves alone */
    uint32_t is_first : 1;
};
#define GT_RANK_VISIT_MEETS 0x7FFFFFFFu /* own: none, it leaves after the last has come */

struct gt_rank_schedule {
    const struct gt_rank_job *job;
    struct gt_rank_lanes lanes;
    int64_t *begin_ns;            /* by rank: its first op, aligned */
    struct gt_rank_visit *visits; /* by member */
    uint32_t *order;              /* ranks: whose next event is next */
    size_t count;
    size_t slot_count;
    bool is_whole; /* false: ranks wait for each other for ever */
};

/* What it would take if it left as soon as it has moved its data. */
static inline int64_t gt_rank_schedule_need(const struct gt_rank_schedule *schedule, uint32_t member) {
    const struct gt_rank_visit *visit = &schedule->visits[member];
    return visit->own != GT_RANK_VISIT_MEETS ? visit->takes_ns
                                             : gt_rank_job_need(schedule->job, &schedule->job->members[member]);
}

/* false: memory was short; to be released all the same. */
bool gt_rank_schedule_init(struct gt_rank_schedule *schedule, const struct gt_rank_job *job);
void gt_rank_schedule_release(struct gt_rank_schedule *schedule);

#endif
