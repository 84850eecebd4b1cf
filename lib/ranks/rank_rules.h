/* The rules of findings about a job. */
#ifndef GT_RANKS_RANK_RULES_H
#define GT_RANKS_RANK_RULES_H

#include "ranks/rank_job.h"
#include "report/report.h"

struct gt_rank_rules_job {
    const struct gt_rank_job *job;
    struct gt_arena *arena; /* of the report */
};

/* What a rule says. It fills title, evidence and advice of the finding. */
struct gt_rank_rules_answer {
    bool is_found;
    int64_t saving_ns;    /* of the replayed job; 0: not known, or another finding has it */
    const char *overlaps; /* id of that finding; NULL: none */
};

typedef struct gt_rank_rules_answer gt_rank_rules_look(struct gt_rank_rules_job *it, struct gt_finding *finding);

/* rank_rules.c: of ranks; rank_rules_groups.c: of groups and of the job itself. */
#define GT_RANK_RULE(id, table, what) gt_rank_rules_look gt_rank_rules_find_##id;
#include "ranks/rank_rules.def"
#undef GT_RANK_RULE

/* ---- sentences ---- */

void gt_rank_rules_say(struct gt_rank_rules_job *it, struct gt_finding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void gt_rank_rules_advise(struct gt_rank_rules_job *it, struct gt_finding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void gt_rank_rules_title(struct gt_rank_rules_job *it, struct gt_finding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const char *gt_rank_rules_ns(struct gt_rank_rules_job *it, int64_t ns); /* "15.2 ms" */

#endif
