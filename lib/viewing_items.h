/* Routes about items of one trace: one of them, those of a name, where they come from. */
#ifndef GT_VIEWING_ITEMS_H
#define GT_VIEWING_ITEMS_H

#include "viewing.h"

gt_viewing_route gt_viewing_items_item, gt_viewing_items_search, gt_viewing_items_flame;

#endif
