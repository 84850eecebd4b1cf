/* Work of a GPU that is written as two events, its begin (B) and its end (E), as any event of a Chrome trace may be. An
   end often has neither name nor category: it ends what began last on its track. */
#ifndef GT_DECODE_TORCH_TORCH_HALVES_H
#define GT_DECODE_TORCH_TORCH_HALVES_H

#include "decode/torch/torch_subject.h"

struct gt_torch_half {
    int64_t time_ns;
    int64_t pid, tid;
    int64_t device, stream, bytes; /* of a begin; bytes -1: not known */
    uint64_t correlation;
    uint64_t offset; /* in the input */
    gt_strid name;
    size_t segment; /* of the builder: the chunk it was read in */
    enum gt_torch_category category;
    bool is_end;
};

/* Whether such an event may be half of an op. */
bool gt_torch_halves_may_be(const struct gt_torch_event *event);

/* Keeps the event until all are read. false: it is no work of a GPU. */
bool gt_torch_halves_keep(const struct gt_torch_subject *at, bool is_end);

/* When all is read: pairs become ops of the first sink's builder, in the order of tracks and times. A begin without an
   end is counted as damaged. */
void gt_torch_halves_finish(const struct gt_torch_sink *sinks, size_t count);

#endif
