/* The analysis of a job: what the summaries of its ranks say together. Each file of this folder fills in its part, in
   the order of gt_rank_job_analyse. Ranks are places in a list that is sorted by their numbers. */
#ifndef GT_RANKS_RANK_JOB_H
#define GT_RANKS_RANK_JOB_H

#include "base/arena.h"
#include "base/fail.h"
#include "events/labels.h"
#include "ranks/rank_summary.h"

#define GT_RANK_NO_NS INT64_MIN /* not known */

enum gt_rank_rung { GT_RUNG_COMMS_ID, GT_RUNG_SEQ, GT_RUNG_HASH, GT_RUNG_ORDER, GT_RUNG_NAMES, GT_RUNG_COUNT };
extern const char *const gt_rank_job_rungs[GT_RUNG_COUNT];

/* Ranks that communicate. */
struct gt_rank_set_group {
    uint64_t communicator; /* UINT64_MAX: it has a name */
    struct gt_str name, description;
    const int64_t *members; /* numbers of ranks; NULL until they are known */
    size_t member_count;
    int64_t size;
    size_t present;        /* members that were read */
    bool is_of_names;      /* kernels without anything but names, of all ranks */
    bool are_peers_places; /* peers are places in the members, not numbers of ranks */
    uint32_t rungs;        /* those of its collectives, by bits */
    size_t ops, outside, unmatched;
    int64_t first_mismatch; /* -1: none */
    uint32_t worst_rank;    /* of the first group with a mismatch: who has most ops without a partner, and how many */
    size_t worst_unmatched;
    uint32_t left_out_rank; /* the first that lacks collectives which its trace covers and others ran together */
    size_t left_out;        /* how many, all ranks together */
    int64_t mismatch_step;  /* of the first mismatch; GT_RANK_NO_NS: none */
    uint8_t mismatch_op;    /* enum gt_comm_op: what others do there, or one does alone */
    int64_t transfer_ns, wait_ns;
    double busbw_p50; /* NAN: not known */
    double busbw;     /* of all sync collectives together; NAN likewise */
    /* Against other groups of its kind. */
    double slow_factor; /* its transfers over what they take there; NAN: there are none */
    double usual_busbw; /* there; NAN likewise */
    int64_t slow_ns;    /* what its transfers take longer; 0: the group is not slow */
    int64_t gain_ns;    /* of the job without that; GT_RANK_NO_NS: not known */
};

enum gt_rank_item_state {
    GT_ITEM_UNMATCHED,
    GT_ITEM_MATCHED,
    GT_ITEM_OUTSIDE,  /* before the first or after the last that is matched */
    GT_ITEM_ALONE,    /* no other member was read */
    GT_ITEM_MISMATCH, /* others do something else under the same number */
};

/* What one kernel does in one collective or message; rank_items.h has its sizes. */
struct gt_rank_item {
    uint32_t rank, kernel, group;
    uint32_t src, dst;   /* of a message: ranks; GT_RANK_NONE: not read, or no message */
    uint32_t carried;    /* in the summary of its rank; GT_RANK_NONE: nothing */
    uint32_t label;      /* equal numbers for what may be one collective */
    uint32_t collective; /* once it is matched */
    uint8_t op;          /* enum gt_comm_op */
    uint8_t state;       /* enum gt_rank_item_state */
    uint8_t is_made;     /* of several calls: `carried` is a number of job->made */
    uint8_t padding;
};

/* A group call: its sizes are those of several calls. */
struct gt_rank_made {
    uint64_t in_bytes, out_bytes;
    const int64_t *in_splits, *out_splits; /* count of them; none: as those of the first call */
    uint32_t count;
    uint32_t carried; /* the first call; GT_RANK_NONE: all of them are one all_to_all */
};

/* A collective or message of several ranks. */
struct gt_rank_collective {
    uint32_t first_member, member_count; /* by rank */
    uint32_t group, index;               /* index: place in the reference list; GT_RANK_NONE */
    uint32_t src, dst;                   /* of a message: ranks */
    uint32_t set;                        /* its present members: equal numbers for equal ones */
    uint32_t first_load;                 /* in job->loads, one for each member; GT_RANK_NONE: loads are not known */
    uint8_t op, kind, rung;
    bool has_step;
    int64_t step;
    uint64_t bytes;   /* UINT64_MAX: not known */
    double bus_bytes; /* NAN likewise */
    double imbalance; /* of an all_to_all; NAN */
    int64_t transfer_ns, wait_ns, skew_ns;
    int64_t slow_ns; /* of a slow group: what the transfer takes longer than in others of its kind */
    uint32_t last_rank;
    uint32_t delayer; /* GT_RANK_NONE: nobody */
    uint32_t aligned_last_rank;
    int64_t aligned_skew_ns; /* GT_RANK_NO_NS: below what clocks can say */
};

/* A rank in a collective. There are more of these than of anything else: what follows from other numbers is a function
   (gt_rank_job_need, gt_rank_links_late, gt_rank_clocks_waits). */
struct gt_rank_member {
    int64_t wait_ns;
    uint32_t collective, rank, kernel;
    union {
        uint32_t item;   /* until collectives are measured */
        uint32_t before; /* then: the collective where all last were together; GT_RANK_NONE */
    };
    uint32_t delayer; /* the rank that took longest from there to here */
    uint32_t padding;
};

/* What a member of an all_to_all had to move, and what that takes. */
struct gt_rank_load {
    int64_t bytes, need_ns;
};

/* A piece of exposed wait and the kernel that waits. One more than there are holds the length of all. */
struct gt_rank_tile {
    int64_t start_ns;
    int64_t before_ns; /* length of those before it */
    uint32_t kernel;
    uint32_t padding;
};

/* What the job adds to a rank. */
struct gt_rank_lane {
    const struct gt_rank_summary *summary;
    int64_t number;
    const char *source;
    uint32_t *kernel_member;    /* by kernel: the member it waits as; GT_RANK_NONE: it is in no collective */
    struct gt_rank_tile *tiles; /* until waits are charged */
    size_t tile_count;
    int64_t ns[GT_PART_COUNT]; /* of its span */
    size_t matched, unmatched;
    int64_t charged_ns;
    size_t leads;
    bool takes_longer;  /* than the median rank, in a usual step, by enough to be guilty of something */
    int64_t between_ns; /* what it has more than the median rank between two usual steps */
    int64_t gain_ns;    /* GT_RANK_NO_NS: not known */
    /* clock */
    uint32_t reference, tree;
    uint8_t clock_by; /* enum gt_rank_clock_by */
    int64_t offset_ns, t0_ns;
    double drift;
    int64_t floor_ns;       /* GT_RANK_NO_NS: not known */
    double residual_p50_ns; /* NAN */
};

enum gt_rank_clock_by { GT_CLOCK_REFERENCE, GT_CLOCK_ENDS, GT_CLOCK_P2P };

/* A step on a rank: its windows of this number as one. */
struct gt_rank_window {
    int64_t start_ns; /* on the rank's own clock */
    int64_t step_ns, ns[GT_PART_COUNT], excess_ns, charged_ns;
    bool is_there;
};

/* Who is charged for what; rank GT_RANK_NONE: nobody. */
enum gt_rank_reason {
    GT_REASON_PARTS = GT_PART_COUNT, /* below: enum gt_rank_part */
    GT_REASON_BYTES = GT_REASON_PARTS,
    GT_REASON_SPREAD,
    GT_REASON_WINDOW,
    GT_REASON_UNRESOLVED,
    GT_REASON_COUNT
};

/* How the compute of a rank differs from that of another. */
struct gt_rank_compute {
    uint32_t reference; /* GT_RANK_NONE: there is no other */
    int64_t slower_ns, more_ns;
    int64_t usual_slower_ns, usual_more_ns; /* in a usual step */
    struct gt_str kernel;
    int64_t kernel_ns;
};

struct gt_rank_episode {
    uint32_t step, rank; /* index of the step */
    int64_t charged_ns;
    int64_t late_ns; /* the longest wait of another rank that it explains; 0: they waited for those who waited */
    struct gt_str reason;
};

/* A rank that would make the job shorter if it were like the median, as those before it in the list. */
struct gt_rank_culprit {
    uint32_t rank;
    struct gt_str reason;
    int64_t more_ns; /* of what the reason says, in a usual step; 0: not known */
    int64_t gain_ns; /* of it and those before it together; GT_RANK_NO_NS: not known */
};
enum { GT_RANK_CULPRITS_MAX = 4 };

struct gt_rank_bubble {
    uint32_t step, rank;
    int64_t stage; /* -1: they form a cycle */
    size_t stages, micro_batches;
    int64_t step_ns, bubble_ns;
    double ideal_share;
};

struct gt_rank_flow { /* bytes from a rank to another in all all_to_alls of a group */
    uint32_t group;
    int64_t src, dst; /* numbers */
    uint64_t count, bytes;
};

enum gt_rank_verdict { GT_VERDICT_NONE, GT_VERDICT_FEW_STEPS, GT_VERDICT_PINNED, GT_VERDICT_ROTATING };

enum gt_rank_issue {
#define GT_RANK_ISSUE(name, id, help) GT_RANK_ISSUE_##name,
#include "ranks/rank_issues.def"
#undef GT_RANK_ISSUE
    GT_RANK_ISSUE_COUNT
};

struct gt_rank_join_pair;
struct gt_rank_job_options {
    bool match_names;
    /* Counted when they were read. */
    size_t traces_unreadable, trace_copies, traces_without_work, traces_partly_read;
    int64_t threads;
    bool keeps_exposed; /* of each member, for the table of them */
    bool is_one_trace;  /* nobody asked for the other ranks: that they are not there is no loss */
    /* Joins lists in several processes; NULL: this one does (rank_joins.h). */
    bool (*join)(void *context, struct gt_rank_join_pair *pairs, size_t count, int64_t threads);
    void *join_context;
};

struct gt_rank_job {
    struct gt_arena arena; /* owns all arrays */
    struct gt_rank_job_options options;
    struct gt_rank_lane *ranks;
    size_t rank_count;
    int64_t world_size;  /* known_world, at least rank_count */
    int64_t known_world; /* by the world sizes and ranks that traces say; 0: they say none */

    struct gt_rank_set_group *groups;
    size_t group_count;
    struct gt_rank_item *items; /* until collectives are matched and measured */
    size_t item_count;
    struct gt_rank_made *made; /* the same */
    size_t made_count, made_capacity;
    struct gt_rank_collective *collectives;
    size_t collective_count;
    struct gt_rank_member *members;
    size_t member_count;
    int64_t *exposed_waits_ns; /* by member; NULL: nobody asks */
    struct gt_rank_load *loads;
    uint32_t **sets; /* by set: ranks, ascending */
    uint32_t *set_sizes;
    size_t set_count;

    int64_t *steps; /* numbers, ascending */
    size_t step_count;
    struct gt_rank_window *windows; /* by step, then rank */
    int64_t steps_ns;               /* the median ranks of all steps together; 0: there are none */

    /* By rank (nobody: after the last), reason and step (none: after the last). */
    int64_t *charges;
    int64_t exposed_wait_ns, charged_ns;
    size_t rounds;
    struct gt_rank_compute *computes; /* by rank */
    struct gt_rank_episode *episodes;
    size_t episode_count;
    enum gt_rank_verdict verdict;
    uint32_t verdict_rank;
    struct gt_str verdict_reason, verdict_host;
    double verdict_p;                                      /* NAN: not asked */
    struct gt_rank_culprit culprits[GT_RANK_CULPRITS_MAX]; /* the rank of the verdict first */
    size_t culprit_count;
    size_t comm_kernels, silent_kernels; /* of all ranks; those that say nothing about their collective */
    double silent_share;                 /* what these are of the time of all of them */

    size_t clock_trees;
    struct gt_rank_bubble *bubbles;
    size_t bubble_count;
    struct gt_rank_flow *flows;
    size_t flow_count;
    uint32_t hot_rank;
    double imbalance;
    int64_t hot_gain_ns; /* with this rank like the median, and all_to_alls as if loads were even; GT_RANK_NO_NS */

    bool is_replayed;
    int64_t recorded_ns, replay_ns, replay_free_ns, ideal_ns; /* GT_RANK_NO_NS: not known */

    uint64_t issues[GT_RANK_ISSUE_COUNT];
};

/* ---- look-ups ---- */

/* The place of a rank's number; GT_RANK_NONE: it was not read. */
uint32_t gt_rank_job_find(const struct gt_rank_job *job, int64_t number);
/* The member of a collective that is this rank; GT_RANK_NONE. */
uint32_t gt_rank_job_member(const struct gt_rank_job *job, uint32_t collective, uint32_t rank);
/* Of the collective that has most. */
size_t gt_rank_job_most_members(const struct gt_rank_job *job);
/* What savings are compared with: the replay, without what is outside the steps. GT_RANK_NO_NS: not known. */
int64_t gt_rank_job_stepping_ns(const struct gt_rank_job *job);

/* The place of a step's number; step_count: none. */
size_t gt_rank_job_step(const struct gt_rank_job *job, int64_t number);

/* The episode of a rank in a step, by its place; NULL: none. */
struct gt_rank_episode *gt_rank_job_episode(const struct gt_rank_job *job, size_t step, size_t rank);

/* Whether waits can be separated from transfers. They cannot where kernels communicate and none could be matched, as
   in the trace of a single rank. */
static inline bool gt_rank_job_knows_waits(const struct gt_rank_job *job) {
    bool communicates = false;
    for (size_t r = 0; r < job->rank_count && !communicates; r++)
        communicates = job->ranks[r].summary->kernels_count > 0;
    return job->collective_count || !communicates;
}

static inline const struct gt_rank_kernel *gt_rank_job_kernel(const struct gt_rank_job *job,
                                                              const struct gt_rank_member *member) {
    return &job->ranks[member->rank].summary->kernels[member->kernel];
}
static inline int64_t gt_rank_job_length(const struct gt_rank_job *job, const struct gt_rank_member *member) {
    const struct gt_rank_kernel *kernel = gt_rank_job_kernel(job, member);
    return kernel->end_ns - kernel->start_ns;
}
/* What a member of an all_to_all had to move; -1: not known, or it is none. */
static inline int64_t gt_rank_job_load(const struct gt_rank_job *job, const struct gt_rank_member *member) {
    const struct gt_rank_collective *c = &job->collectives[member->collective];
    size_t place = (size_t)(member - job->members) - c->first_member;
    return c->first_load == GT_RANK_NONE ? -1 : job->loads[c->first_load + place].bytes;
}
/* How long a member would take without waiting. */
static inline int64_t gt_rank_job_need(const struct gt_rank_job *job, const struct gt_rank_member *member) {
    const struct gt_rank_collective *c = &job->collectives[member->collective];
    size_t place = (size_t)(member - job->members) - c->first_member;
    return c->first_load == GT_RANK_NONE ? c->transfer_ns : job->loads[c->first_load + place].need_ns;
}
static inline int64_t *gt_rank_job_charge(const struct gt_rank_job *job, size_t rank, size_t reason, size_t step) {
    return &job->charges[(rank * GT_REASON_COUNT + reason) * (job->step_count + 1) + step];
}

/* ---- work on threads ---- */

/* Calls work(context, first, end) for shares of 0 .. count - 1, of collectives, members or the like, on threads where
   the job is large. Shares come in any order. */
void gt_rank_job_share(const struct gt_rank_job *job, size_t count, void (*work)(void *, size_t first, size_t end),
                       void *context);
/* The same for each rank. */
void gt_rank_job_each_rank(const struct gt_rank_job *job, void (*work)(void *, size_t rank), void *context);

/* ---- the analysis ---- */

/* Sorts the summaries by rank, gives numbers to those that have none, and analyses all. The summaries are borrowed as
   long as the job lives. */
enum gt_status gt_rank_job_analyse(struct gt_rank_job *job, struct gt_rank_summary *const *summaries, size_t count,
                                   const struct gt_rank_job_options *options, struct gt_error *err);
void gt_rank_job_release(struct gt_rank_job *job);

#endif
