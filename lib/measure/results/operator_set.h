/* CPU operators (aten::mm ...) around calls: which operator launched what. */
#ifndef GT_MEASURE_RESULTS_OPERATOR_SET_H
#define GT_MEASURE_RESULTS_OPERATOR_SET_H

#include "events/view.h"

/* By place in a list of calls: row of the innermost operator of its thread that encloses it (latest start, then
   earliest end, then later row), GT_NO_ROW if there is none or the list has GT_NO_ROW there. To be freed with
   gt_mem_free; NULL: memory was short. Radix sorts and one pass, over the operators that may enclose one of these
   calls. */
uint32_t *gt_operator_set_of_calls(const struct gt_view *view, const uint32_t *calls, size_t count);

/* Rows of operators, to be freed with gt_mem_free. */
struct gt_operator_set_rows {
    uint32_t *rows;
    size_t count;
};

/* The same, and the operators in which one of these calls starts, by thread, start, longer first: all that enclose one,
   and so all operators around those that were found. */
uint32_t *gt_operator_set_around_calls(const struct gt_view *view, const uint32_t *calls, size_t count,
                                       struct gt_operator_set_rows *around);

/* The same as the first, but of operators of one library that enclose each other (aten::to, aten::_to_copy,
   aten::copy_) the outermost: the one that the program called. */
uint32_t *gt_operator_set_callers_of_calls(const struct gt_view *view, const uint32_t *calls, size_t count);

#endif
