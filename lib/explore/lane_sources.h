/* Where the spans of lanes are from, kind by kind. */
#ifndef GT_EXPLORE_LANE_SOURCES_H
#define GT_EXPLORE_LANE_SOURCES_H

#include "explore/model.h"
#include "measure/results/lane_list.h"

/* Fills the sets and spans of an exploration, and lists its lanes. */
enum gt_status gt_lane_sources_make(struct gt_explore *explore, const struct gt_view *view, struct gt_lane_list *list,
                                    struct gt_error *err);

#endif
