/* Traces that are to be divided into jobs. */
#ifndef GT_RANKS_RANK_PARTS_H
#define GT_RANKS_RANK_PARTS_H

#include "ranks/rank_apart.h"

struct gt_rank_parts {
    struct gt_rank_apart *apart; /* where jobs are made */
    struct gt_rank_summary *const *summaries;
    const struct gt_str *names; /* by summary */
    size_t count;
    uint32_t *list;    /* traces, those of one part next to each other */
    uint32_t *root;    /* by summary: another one that cannot be apart from it; itself: the first of these by name */
    uint64_t *part_of; /* by summary, while a list is divided: what it is sorted by */
    bool failed;
};

/* Whether a trace says a number that is of a whole job. Local ranks and places in communicators may be the same on
   several machines. */
bool gt_rank_parts_says_rank(const struct gt_rank_summary *summary);

/* The end of the part of the list that begins at `first`. */
size_t gt_rank_parts_end(const struct gt_rank_parts *it, const uint32_t *list, size_t count, size_t first);

/* Makes jobs of a list, one or more: if a rank is there twice, by stretches of time, by names of files, by
   communicators. What none of these tells apart is one job, in which ranks are there twice. */
void gt_rank_parts_divide(struct gt_rank_parts *it, uint32_t *list, size_t count);

#endif
