/* Tells traces of several jobs apart. Traces are of one job unless they cannot be: two of them say the same rank, or
   different world sizes, or one that says neither has no place among the others. Then they are divided by what jobs
   differ in: world size, time, names of files, communicators.
 */
#ifndef GT_RANKS_RANK_APART_H
#define GT_RANKS_RANK_APART_H

#include "ranks/rank_summary.h"

/* How it was seen that there are several jobs. */
enum gt_rank_apart_why {
    GT_APART_ONE,    /* there is one */
    GT_APART_WORLDS, /* world sizes differ */
    GT_APART_RANKS,  /* ranks are there more than once */
    GT_APART_STRAYS, /* some cannot be a rank of the world that the others say */
};

struct gt_rank_apart {
    /* By summary. */
    uint32_t *job_of;  /* GT_RANK_NONE: it has the same events as another one */
    uint32_t *same_as; /* that one; GT_RANK_NONE */
    size_t job_count;  /* at least 1; those with most traces first, then by their first one */
    enum gt_rank_apart_why why;
};

/* names: by summary, what the names of the files of a job have in common (gt_trace_rank_pattern); summaries of logs,
   which have no ops, follow the traces that have their communicators. false: memory was short. */
bool gt_rank_apart_init(struct gt_rank_apart *apart, struct gt_rank_summary *const *summaries,
                        const struct gt_str *names, size_t count);
void gt_rank_apart_release(struct gt_rank_apart *apart);

#endif
