/* Orders of logged collectives. Each takes for the same what it does not look at. */
#ifndef GT_RANKS_LOGGED_ORDER_H
#define GT_RANKS_LOGGED_ORDER_H

#include "ranks/logged.h"

typedef int gt_logged_order(const struct gt_logged_entry *x, const struct gt_logged_entry *y);

gt_logged_order gt_logged_order_group;  /* communicator */
gt_logged_order gt_logged_order_number; /* and operation, and number */
gt_logged_order gt_logged_order_whole;  /* and rank, and all of the record: what is left are copies */
gt_logged_order gt_logged_order_size;   /* communicator, operation, bytes, what the length is of */
gt_logged_order gt_logged_order_rank;   /* communicator, rank */
gt_logged_order gt_logged_order_series; /* and operation: numbers follow each other */
gt_logged_order gt_logged_order_link;   /* communicator, rank, peer, operation */

/* Entries that are the same keep an order that depends on the logs alone. */
void gt_logged_order_sort(struct gt_logged *logged, gt_logged_order *order);

#endif
