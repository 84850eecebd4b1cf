/* Events of threads in a file of XLA's profiler, as rows. */
#ifndef GT_DECODE_XLA_XLA_HOST_H
#define GT_DECODE_XLA_XLA_HOST_H

#include "decode/xla/xla_rows.h"

/* The rows are at a line of a thread. */
void gt_xla_host_add(struct gt_xla_rows *rows, const struct gt_xla_event *event);

/* What the profiler or the driver did: on the thread of the line, or on none. */
void gt_xla_host_add_overhead(struct gt_xla_rows *rows, const struct gt_xla_event *event, bool is_driver_work);

#endif
