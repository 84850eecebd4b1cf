/* What is known about collectives, from labels->comms: their records as one, their names, members of groups, and the
   bytes that bandwidth is made of. */
#ifndef GT_EVENTS_COMMS_H
#define GT_EVENTS_COMMS_H

#include "events/labels.h"

enum gt_comm_kind { GT_COMM_KIND_OTHER, GT_COMM_KIND_SYNC, GT_COMM_KIND_DIRECTED, GT_COMM_KIND_MESSAGE };

const char *gt_comms_op_key(enum gt_comm_op op); /* "all_reduce"; NULL for GT_COMM_OTHER */
enum gt_comm_kind gt_comms_op_kind(enum gt_comm_op op);

/* What a record calls it: "allreduce", "_allgather_base", "ncclAllReduce", "all_to_allv". */
enum gt_comm_op gt_comms_op_of_name(struct gt_str name);

/* ---- records ---- */

/* The records of a collective as one: what the first lacks is from the second. The name is never empty where the range
   that carries the record has one. rank is the own place in the group, root and peer are what their names say. */
struct gt_comms_row gt_comms_merged(const struct gt_store *store, const struct gt_collective *collective);

/* Whether they are about a collective, and which, and not about the making of a communicator or waiting for it. */
bool gt_comms_is_collective(const struct gt_store *store, const struct gt_collective *collective, enum gt_comm_op *op);

/* How large its message is: what a rank puts in, of reduce_scatter what it gets. UINT64_MAX: not known. */
uint64_t gt_comms_bytes(const struct gt_comms_row *record, enum gt_comm_op op);

/* What its bus bandwidth is made of: bytes that pass the busiest link, as nccl-tests counts them. NAN: not known.
   group may be NULL. */
double gt_comms_bus_bytes(const struct gt_store *store, const struct gt_comms_row *record, enum gt_comm_op op,
                          const struct gt_comm_group *group);

/* The collectives and kernels launched with an op; NULL if no record is about it. */
static inline const struct gt_comm_launch *gt_comms_of_op(const struct gt_labels *labels, uint32_t op) {
    uint32_t launch = labels->comms.op_launch ? labels->comms.op_launch[op] : GT_NO_ROW;
    return launch == GT_NO_ROW ? NULL : &labels->comms.launches[launch];
}

/* ---- groups ---- */

/* NULL if it is not known. */
static inline const struct gt_comm_group *gt_comms_group(const struct gt_labels *labels,
                                                         const struct gt_collective *collective) {
    return collective->group == GT_NO_ROW ? NULL : &labels->comms.groups[collective->group];
}

static inline bool gt_comms_has_members(const struct gt_comm_group *group) {
    return group->size > 0 && (group->rank_list || group->stride);
}

/* The rank at a place from 0 to size - 1. -1: not known, or no such place. */
int64_t gt_comms_member(const struct gt_comm_group *group, int64_t place);
/* The place of a rank; -1: it is not a member, or the members are not known. Linear where they are a list. */
int64_t gt_comms_place(const struct gt_comm_group *group, int64_t rank);

/* ---- lists as written: "[0, 1, 2]", "0,1", "[0, 1, ...]" ---- */

enum gt_comm_list { GT_COMM_LIST_NUMBER, GT_COMM_LIST_END, GT_COMM_LIST_CUT, GT_COMM_LIST_BROKEN };

/* Takes the next number off the list. CUT: the rest of it was not written. */
enum gt_comm_list gt_comms_next_number(struct gt_str *rest, int64_t *number);

#endif
