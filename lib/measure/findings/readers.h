/* Readers: who reads values back from the GPU. */
#ifndef GT_MEASURE_FINDINGS_READERS_H
#define GT_MEASURE_FINDINGS_READERS_H

#include "measure/findings/evidence.h"

/* The operator around the copy with the longest gap after it, else the call that waits: "'aten::item'". Linear in
   operators. */
const char *gt_readers_say(struct gt_evidence *evidence, const struct gt_readback *copies);

/* What to simulate: that operator takes no time, else the copy's call and the call that waits for it. What only waits,
   as no:sync has it, is too little: copies of pageable memory wait by themselves. NULL: no command can have such names.
 */
const char *gt_readers_change(struct gt_evidence *evidence, const struct gt_readback *copies);

/* The outermost operator around a call: aten::item, not the aten::_local_scalar_dense in it. GT_NO_ROW: there is none.
   Linear in operators, on all threads. */
uint32_t gt_readers_outermost_operator(const struct gt_view *view, uint32_t call);

/* Whether an operator or a Python function lasts from before a call of its thread until after it. */
bool gt_readers_is_around(int64_t start_ns, int64_t end_ns, uint32_t thread, const struct gt_calls *calls,
                          uint32_t call);

#endif
