/* What an item is linked to: the code around it, and arrows to others. */
#ifndef GT_EXPLORE_ITEM_LINKS_H
#define GT_EXPLORE_ITEM_LINKS_H

#include "explore/item_write.h"

/* Elements of the stack around the launch of an op, around what ends a gap, or around the item itself; the outermost
   first. */
void gt_item_links_write_stack(struct gt_item *item);
void gt_item_links_write(struct gt_item *item);

#endif
