/* What is known about an item, in lines. */
#ifndef GT_EXPLORE_ITEM_LINES_H
#define GT_EXPLORE_ITEM_LINES_H

#include "explore/item_write.h"

/* GT_ERR where memory was short. */
enum gt_status gt_item_lines_write(struct gt_item *item, struct gt_error *err);

#endif
