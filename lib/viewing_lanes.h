/* Routes that explore one trace: lanes, windows, items, search, flame graphs. */
#ifndef GT_VIEWING_LANES_H
#define GT_VIEWING_LANES_H

#include "viewing.h"

gt_viewing_route gt_viewing_lanes_list, gt_viewing_lanes_window, gt_viewing_lanes_item, gt_viewing_lanes_search,
    gt_viewing_lanes_flame;

#endif
