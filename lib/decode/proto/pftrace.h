/* Perfetto traces: protobuf packets of sequences come in, a store goes out. Reads what gputime exports, PyTorch's and
   rocprofv3's traces, and slices and counters of any other. */
#ifndef GT_DECODE_PROTO_PFTRACE_H
#define GT_DECODE_PROTO_PFTRACE_H

#include "decode/decoder.h"

#define GT_PFTRACE_KEY "perfetto"

int gt_pftrace_sniff(struct gt_str head, const char *path);
enum gt_status gt_pftrace_decode(struct gt_source *const *sources, size_t count,
                                 const struct gt_decode_options *options, struct gt_store **out, struct gt_error *err);

#endif
