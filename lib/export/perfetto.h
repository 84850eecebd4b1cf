/* Perfetto traces (.pftrace): views come in, a protobuf file for ui.perfetto.dev goes out. */
#ifndef GT_EXPORT_PERFETTO_H
#define GT_EXPORT_PERFETTO_H

#include "base/out.h"
#include "events/view.h"

/* A trace to be written, or the selected part of it. */
struct gt_perfetto_input {
    const struct gt_view *view;
    int64_t rank, world_size; /* -1: not known */
    int64_t ahead_ns;         /* of its clock, before that of the others */
};

/* Writes all inputs to one trace. Several have process and GPU numbers of their own: each is a machine of the trace.
   The bytes do not depend on the number of threads. */
enum gt_status gt_perfetto_write(const struct gt_perfetto_input *inputs, size_t count, size_t threads,
                                 struct gt_out *out, struct gt_error *err);

#endif
