/* Launch calls of ops where ids grow from call to call, as CUPTI counts them where all calls are of one process. */
#ifndef GT_LABEL_ID_ORDER_H
#define GT_LABEL_ID_ORDER_H

#include "label/matcher.h"

/* Fills op_call, for ops whose process is known. Not where matcher->is_unordered, or there are no calls. */
void gt_id_order_match(struct gt_matcher *matcher);

#endif
