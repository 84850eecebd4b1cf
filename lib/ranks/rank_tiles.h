/* The time of a rank in parts, wait and transfer apart. */
#ifndef GT_RANKS_RANK_TILES_H
#define GT_RANKS_RANK_TILES_H

#include "ranks/rank_job.h"

/* Fills the tiles and parts of every rank, steps and windows, and exposed waits of members where they are asked for.
   false: memory was short. */
bool gt_rank_tiles_make(struct gt_rank_job *job);
/* Once waits are charged, nobody needs them. */
void gt_rank_tiles_release(struct gt_rank_job *job);

/* There is one more tile than there are, so this holds for the last, too. */
static inline int64_t gt_rank_tiles_end_ns(const struct gt_rank_tile *tile) {
    return tile->start_ns + tile[1].before_ns - tile->before_ns;
}

/* Exposed wait of a rank between two moments. */
int64_t gt_rank_tiles_wait_ns(const struct gt_rank_lane *rank, int64_t start_ns, int64_t end_ns);

/* The first tile that ends after the moment; tile_count: none. */
size_t gt_rank_tiles_after(const struct gt_rank_lane *rank, int64_t time_ns);

/* All parts between two points of a rank. */
void gt_rank_tiles_parts(const struct gt_rank_lane *rank, uint32_t from, uint32_t to, int64_t ns[GT_PART_COUNT]);

/* Own time of a rank in a step. */
int64_t gt_rank_tiles_own_ns(const struct gt_rank_window *window);

#endif
