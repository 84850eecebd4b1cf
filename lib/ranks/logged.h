/* What logs of NCCL Inspector say together: collectives of a whole run by communicator, rank, size and link. A
   collective that several ranks logged is known by its communicator, its operation and its number there; the rank whose
   collective is the shortest came last, and what the others took longer they waited. No clock is needed for that. */
#ifndef GT_RANKS_LOGGED_H
#define GT_RANKS_LOGGED_H

#include "base/arena.h"
#include "base/fail.h"
#include "events/labels.h"
#include "ranks/rank_summary.h"

/* A collective or message of one rank. */
struct gt_logged_entry {
    const struct gt_rank_log *log;
    const struct gt_rank_log_lane *lane;
    const struct gt_rank_summary *summary;
    int64_t wait_ns;  /* -1: it was not compared */
    int64_t held_ns;  /* of others, if it came last */
    bool is_shortest; /* of its collective: its length is that of the transfer; one of equal ones */
    bool is_last;     /* the only shortest */
};

struct gt_logged_group {
    uint64_t communicator; /* UINT64_MAX: not known */
    struct gt_str name;
    int64_t size, nodes; /* -1: not known */
    size_t ranks;        /* that were logged */
    int64_t only_rank;   /* the last of them */
    size_t records, messages;
    size_t collectives, compared;
    size_t missing; /* numbers that a log lacks between the first and the last of a rank */
    size_t unclear; /* collectives under one number that cannot be one */
    int64_t transfer_ns, wait_ns;
    double busbw_p50;   /* of the fastest rank of each that was compared, else of all; NAN: not known */
    double slow_factor; /* transfers over what they take in other groups of its kind; NAN: there are none */
    bool is_traced;     /* the traces have it, too */
};

struct gt_logged_rank {
    uint32_t group;
    int64_t place;
    struct gt_str host;
    size_t count, messages;
    int64_t total_ns;
    size_t compared, last;
    int64_t wait_ns; /* of its own */
    int64_t held_ns; /* of others in collectives that it came last in */
    double busbw_p50;
    bool is_traced;
    size_t traced;
    int64_t traced_ns;
};

struct gt_logged_size {
    uint32_t group;
    uint32_t op; /* enum gt_comm_op */
    struct gt_str name, timing;
    uint64_t bytes; /* UINT64_MAX: not known */
    size_t count;
    size_t compared; /* collectives, not records */
    int64_t total_ns;
    double p50_ns, p90_ns, transfer_p50_ns; /* NAN: not known */
    double algbw_p50, busbw_p10, busbw_p50, busbw_p90;
    size_t traced;
    double traced_p50_ns;
};

struct gt_logged_link {
    uint32_t group;
    int64_t place, peer;
    uint32_t op;
    struct gt_str name;
    size_t count;
    unsigned __int128 bytes;
    int64_t total_ns;
    double busbw_p50, busbw_best;
};

struct gt_logged {
    struct gt_arena arena; /* owns all arrays */
    struct gt_logged_entry *entries;
    size_t entry_count;
    struct gt_logged_group *groups;
    size_t group_count, group_capacity;
    struct gt_logged_rank *ranks;
    size_t rank_count, rank_capacity;
    struct gt_logged_size *sizes;
    size_t size_count, size_capacity;
    struct gt_logged_link *links;
    size_t link_count, link_capacity;
    bool has_traces;      /* summaries with kernels came along */
    bool traces_have_ids; /* and know communicators */
    size_t timed_on_cpu;  /* records whose length is that of a call */
    size_t repeated;      /* records that are there once more, and left out */
};

/* Texts are those of the summaries, which must outlive it. Release it also after a failure. */
enum gt_status gt_logged_sum(struct gt_logged *logged, struct gt_rank_summary *const *summaries, size_t count,
                             struct gt_error *err);
void gt_logged_release(struct gt_logged *logged);

/* Whether there is anything to sum. */
bool gt_logged_is_any(struct gt_rank_summary *const *summaries, size_t count);

/* logged_traced.c: adds what the traces have of the same communicators. false: memory was short. */
bool gt_logged_join(struct gt_logged *logged, struct gt_rank_summary *const *summaries, size_t count);

#endif
