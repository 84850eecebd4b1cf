/* Joins the collectives of two ranks where no number identifies them: two lists in order of time come in, partners go
   out. Nothing assumes that the clocks of the ranks agree: an offset is found for each way to put the lists side by
   side, and the way with the smallest remaining differences of ends is taken. */
#ifndef GT_RANKS_RANK_JOIN_H
#define GT_RANKS_RANK_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_RANK_JOIN_SHIFTS  1024 /* how far lists may be apart */
#define GT_RANK_JOIN_NO_STEP INT64_MIN

struct gt_rank_join_list {
    const int64_t *end_ns;
    const uint64_t *label; /* only equal ones can be partners */
    const int64_t *step;   /* numbers that mean the same on all ranks, or GT_RANK_JOIN_NO_STEP */
    size_t count;
};

/* partner: by place in b, the place in a; UINT32_MAX: none. Messages have no common ends, so only labels and steps
   decide about them; *is_guessed: neither says how the lists are shifted. false: memory was short. */
bool gt_rank_join(const struct gt_rank_join_list *a, const struct gt_rank_join_list *b, bool are_messages,
                  uint32_t *partner, bool *is_guessed);

/* The low median and other order statistics: the element at this place of the sorted values, which are reordered. */
int64_t gt_rank_join_select(int64_t *values, size_t count, size_t place);

#endif
