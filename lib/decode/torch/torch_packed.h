/* PyTorch traces in gzip of one member: several threads inflate and others parse what is there already. */
#ifndef GT_DECODE_TORCH_TORCH_PACKED_H
#define GT_DECODE_TORCH_TORCH_PACKED_H

#include "decode/decoder.h"
#include "decode/torch/torch_region.h"

/* false: that cannot be done, or not with this file; nothing is out then, and the source is at its beginning. */
bool gt_torch_packed_decode(struct gt_source *source, const struct gt_decode_options *options,
                            const struct gt_torch_sizes *sizes, struct gt_store **out, enum gt_status *status,
                            struct gt_error *err);

#endif
