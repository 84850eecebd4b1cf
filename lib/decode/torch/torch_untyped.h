/* Complete events without a category. What they are depends on the name of their process, which may come later in the
   input: Ascend's profiler writes the work of an NPU into a process of the name "Ascend Hardware" and its collectives
   into "Communication"; rocprof (v1) has a process "1 GPU0" for each GPU. */
#ifndef GT_DECODE_TORCH_TORCH_UNTYPED_H
#define GT_DECODE_TORCH_TORCH_UNTYPED_H

#include "decode/torch/torch_subject.h"

struct gt_torch_untyped {
    int64_t start_ns, end_ns;
    int64_t pid, tid;
    int64_t stream; /* INT64_MIN: not said */
    uint64_t correlation;
    uint64_t offset; /* in the input */
    gt_strid name;
    size_t segment; /* of the builder: the chunk it was read in */
};

/* Whether it has a category, which nobody knows, and args that say it is work of a device: "device" and "stream". */
bool gt_torch_untyped_is_unread(const struct gt_torch_subject *at);

/* Keeps the event until all names are known. false: it cannot be work of an accelerator. */
bool gt_torch_untyped_keep(const struct gt_torch_subject *at);

/* When all is read: what was kept becomes ops of the first sink's builder, in the order of the input. names: of all
   processes and threads, those of processes before their labels. */
void gt_torch_untyped_finish(const struct gt_torch_sink *sinks, size_t count,
                             const struct gt_torch_track_name *const *names, size_t name_count);

#endif
