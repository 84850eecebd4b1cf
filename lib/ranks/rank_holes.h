/* Where the members of a group do not do the same. */
#ifndef GT_RANKS_RANK_HOLES_H
#define GT_RANKS_RANK_HOLES_H

#include "ranks/rank_job.h"

/* Notes that an item shows a mismatch at a place of the reference list. Whether it is the first of its group so far. */
bool gt_rank_holes_note(struct gt_rank_job *job, uint32_t item, size_t position);

/* Lists of a group, one for each rank, that were joined to the longest of them. */
struct gt_rank_holes {
    struct gt_rank_job *job;
    const uint32_t *items;       /* by place: of the job */
    const uint32_t *position_of; /* by place: in the reference list; beyond its end: not there */
    const size_t *firsts;        /* of the lists, and the end of the last */
    size_t list_count, reference;
    uint32_t *left_out; /* by place in the reference list: set to how many left it out; zeros before */
};

/* Counts what lists lack between their first and last match although others ran it together. false: memory was short.
 */
bool gt_rank_holes_find(const struct gt_rank_holes *holes);

#endif
