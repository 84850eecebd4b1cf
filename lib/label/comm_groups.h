/* Groups of ranks: several rows of comm_groups that mean one group become one. */
#ifndef GT_LABEL_COMM_GROUPS_H
#define GT_LABEL_COMM_GROUPS_H

#include "base/fail.h"
#include "events/labels.h"

/* Fills groups and group_count of labels->comms and the group of each collective there. Memory stays bounded by the
   lists in the trace, whatever sizes it claims. Groups whose members cannot be read are counted issues. */
enum gt_status gt_comm_groups_resolve(const struct gt_store *store, struct gt_labels *labels, struct gt_error *err);

#endif
