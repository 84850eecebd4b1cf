/* CPU operators (aten::mm ...) around calls: which operator launched what. */
#ifndef GT_MEASURE_OPERATOR_SET_H
#define GT_MEASURE_OPERATOR_SET_H

#include "events/view.h"

/* By call: row of the innermost operator of its thread that encloses it (latest start, then earliest end, then later
   row), GT_NO_ROW if there is none. Only calls with a byte that is not 0 have one. To be freed with gt_free; NULL:
   memory was short. Radix sorts and one pass, over the operators between the first and the last of these calls. */
uint32_t *gt_operators_of_calls(const struct gt_view *view, const uint8_t *is_wanted);

#endif
