/* Launch calls of ops where the ids that ops ask for lie close together, as CUPTI counts them: each id has a slot. */
#ifndef GT_LABEL_ID_SLOTS_H
#define GT_LABEL_ID_SLOTS_H

#include "label/matcher.h"

/* Fills op_call, for ops whose process is known; *is_matched: whether the ids lie so. false: memory was short. */
bool gt_id_slots_match(struct gt_matcher *matcher, bool *is_matched);

#endif
