/* Pairs of ranks whose clocks can be compared: by common ends of collectives, or by messages both ways. */
#ifndef GT_RANKS_RANK_CLOCK_EDGES_H
#define GT_RANKS_RANK_CLOCK_EDGES_H

#include "ranks/rank_job.h"

struct gt_rank_clock_edge {
    uint32_t low, high;        /* ranks */
    uint8_t by;                /* GT_CLOCK_ENDS, GT_CLOCK_P2P */
    size_t first, count;       /* of ends: samples; of p2p: messages */
    int64_t there_ns, back_ns; /* of p2p: the shortest from low to high, and from high to low */
};

/* Ends of one collective on both ranks of an edge. */
struct gt_rank_clock_sample {
    int64_t low_ns, high_ns;
};

struct gt_rank_clock_edges {
    struct gt_rank_clock_edge *items;
    size_t count;
    struct gt_rank_clock_sample *samples; /* edge by edge, in order of time of the higher rank */
    uint32_t *of_rank;                    /* edges of each rank */
    size_t *first_of;                     /* by rank, and the end */
    int64_t *scratch;                     /* room for three numbers for each sample of an edge */
};

/* false: memory was short; to be released all the same. */
bool gt_rank_clock_edges_init(struct gt_rank_clock_edges *edges, const struct gt_rank_job *job);
void gt_rank_clock_edges_release(struct gt_rank_clock_edges *edges);

/* Sets the clock of a rank from that of another: offset, drift, what it was found by and, of messages, its floor. */
void gt_rank_clock_edges_measure(struct gt_rank_clock_edges *edges, struct gt_rank_job *job,
                                 const struct gt_rank_clock_edge *edge, uint32_t from, uint32_t to);

#endif
