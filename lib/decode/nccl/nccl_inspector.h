/* Decoder of what NCCL's profiler plugin Inspector logs (RCCL's likewise): a JSON object for each collective or message
   of a process, one in a line. docs/formats/nccl-inspector.md says what is read. */
#ifndef GT_DECODE_NCCL_NCCL_INSPECTOR_H
#define GT_DECODE_NCCL_NCCL_INSPECTOR_H

#include "decode/decoder.h"

#define GT_NCCL_INSPECTOR_KEY "nccl-inspector"

int gt_nccl_inspector_sniff(struct gt_str head, const char *path);
enum gt_status gt_nccl_inspector_decode(struct gt_source *const *sources, size_t count,
                                        const struct gt_decode_options *options, struct gt_store **out,
                                        struct gt_error *err);

/* The same with a window of this size at first, for tests. */
enum gt_status gt_nccl_inspector_decode_sized(struct gt_source *source, const struct gt_decode_options *options,
                                              size_t window_bytes, struct gt_store **out, struct gt_error *err);

#endif
