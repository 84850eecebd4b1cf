/* Which op a call of a CPU thread waited for, and which calls waited for an op; which op of another stream one waited
   for. From names of calls and what the trace says of synchronizations. */
#ifndef GT_EXPLORE_WAITING_H
#define GT_EXPLORE_WAITING_H

#include "explore/model.h"

/* The op that ended last, while the call waited, among those that it waits for: those of its stream, of the stream that
   its event was recorded on, or all of its process; of a blocking copy its own. false: it does not wait, or none did.
 */
bool gt_waiting_of_call(const struct gt_explore *explore, uint32_t call, struct gt_model_place *op);

/* Calls that waited for an op, at most `most`; gives how many. */
size_t gt_waiting_for_op(const struct gt_explore *explore, uint32_t op, struct gt_model_place *calls, size_t most);

/* The op of another stream that a stream had to wait for before an op of its own; false: none is known. */
bool gt_waiting_of_stream(const struct gt_explore *explore, struct gt_model_place op,
                          struct gt_model_place *waited_for);

#endif
