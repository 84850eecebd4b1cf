/* Sums of a rank's time up to its points, and its exposed communication, as few bytes: each number is what is added to
   the one before it. */
#ifndef GT_RANKS_RANK_SUMS_H
#define GT_RANKS_RANK_SUMS_H

#include "ranks/rank_summary.h"

enum { GT_RANK_SUMS_STRIDE = 16 }; /* points from one anchor to the next */

/* ---- points ---- */

/* Appends a point: the sums up to it. The caller keeps those of the point before, 0 at first, which are changed. */
void gt_rank_sums_add(struct gt_rank_summary *summary, int64_t before_ns[GT_PART_COUNT],
                      const int64_t ns[GT_PART_COUNT]);

/* ns of all parts from the first op to a point, transfer and wait as one. */
void gt_rank_sums_until(const struct gt_rank_summary *summary, size_t point, int64_t ns[GT_PART_COUNT]);

/* The same for two points, the first of which is not after the other. Points that are close take one pass. */
void gt_rank_sums_between(const struct gt_rank_summary *summary, size_t from, size_t to, int64_t from_ns[GT_PART_COUNT],
                          int64_t to_ns[GT_PART_COUNT]);

/* All points in their order, without looking for each. */
struct gt_rank_sums_walk {
    const struct gt_rank_summary *summary;
    size_t next; /* point */
    size_t byte;
    int64_t ns[GT_PART_COUNT]; /* of the point that was walked to last */
    int64_t time_ns;
};
void gt_rank_sums_begin(struct gt_rank_sums_walk *walk, const struct gt_rank_summary *summary);
/* false: the bytes are damaged, or there are no more. */
bool gt_rank_sums_next(struct gt_rank_sums_walk *walk);

int64_t gt_rank_sums_time(const struct gt_rank_summary *summary, size_t point);

/* Whether the bytes are those of all points, in order of time, from the first op to the last. */
bool gt_rank_sums_are_sound(const struct gt_rank_summary *summary);

/* ---- exposed communication ---- */

/* Appends [start, end), not before reached_ns, where the one before it ended, or the first op began. */
void gt_rank_sums_add_exposed(struct gt_rank_summary *summary, int64_t reached_ns, int64_t start_ns, int64_t end_ns);

/* Adds all of them to the list. false: the bytes are damaged or memory was short. */
bool gt_rank_sums_list_exposed(const struct gt_rank_summary *summary, struct gt_intervals *exposed);

#endif
