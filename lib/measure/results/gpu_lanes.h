/* Lanes of streams, of steps, and of collectives by the group of ranks that they are of. */
#ifndef GT_MEASURE_RESULTS_GPU_LANES_H
#define GT_MEASURE_RESULTS_GPU_LANES_H

#include "base/arena.h"
#include "measure/results/lane_list.h"
#include "measure/results/lane_set.h"

/* Ops by stream: so many of the busiest, in the order of the view; spans are places in view->lane_order. false: memory
   was short. */
bool gt_gpu_lanes_streams(const struct gt_view *view, size_t most, struct gt_lane_list *list);

/* Steps of each process, as the CPU was in them; ids are numbers of steps. false: memory was short. */
bool gt_gpu_lanes_steps(const struct gt_view *view, struct gt_lane_set *set, struct gt_lane_list *list);

/* Kernels of collectives, by group and device; owned[GT_LANE_SET_ROWS] has their rows of ops. Names are those of
   operations. Texts of groups are made in the arena. */
bool gt_gpu_lanes_collectives(const struct gt_view *view, struct gt_arena *arena, struct gt_lane_set *set,
                              struct gt_lane_list *list);

#endif
