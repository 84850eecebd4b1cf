/* Sums of logged collectives by size, rank, link and group. */
#ifndef GT_RANKS_LOGGED_SUMS_H
#define GT_RANKS_LOGGED_SUMS_H

#include "ranks/logged_order.h"

/* Where the entries end that an order takes for the same as the first. */
size_t gt_logged_sums_end(const struct gt_logged *logged, size_t first, gt_logged_order *order);
bool gt_logged_sums_is_message(const struct gt_logged_entry *entry);

/* The groups are there already, by number, and all entries are compared. false: memory was short. */
bool gt_logged_sums_make(struct gt_logged *logged);

#endif
