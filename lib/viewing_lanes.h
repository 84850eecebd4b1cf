/* Routes that show the lanes of one trace. */
#ifndef GT_VIEWING_LANES_H
#define GT_VIEWING_LANES_H

#include "viewing.h"

struct gt_explore;

/* What explores the trace of a question, made when it is first asked for; NULL with an error. */
const struct gt_explore *gt_viewing_lanes_explore(const struct gt_viewing_question *question, struct gt_error *err);

/* The start before the end; all of the trace where a question has none. */
enum gt_status gt_viewing_lanes_take_window(const struct gt_viewing_query *query, int64_t *from_ns, int64_t *to_ns,
                                            struct gt_error *err);

gt_viewing_route gt_viewing_lanes_list, gt_viewing_lanes_window;

#endif
