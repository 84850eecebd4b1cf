/* The decoder of PyTorch profiler traces, and the same with other sizes than usual for tests. */
#ifndef GT_DECODE_TORCH_TORCH_JSON_H
#define GT_DECODE_TORCH_TORCH_JSON_H

#include "decode/decoder.h"
#include "decode/torch/torch_region.h"

#define GT_TORCH_JSON_KEY "torch-json"

int gt_torch_json_sniff(struct gt_str head, const char *path);
enum gt_status gt_torch_json_decode(struct gt_source *const *sources, size_t count,
                                    const struct gt_decode_options *options, struct gt_store **out,
                                    struct gt_error *err);

enum gt_status gt_torch_json_decode_sized(struct gt_source *source, const struct gt_decode_options *options,
                                          const struct gt_torch_sizes *sizes, struct gt_store **out,
                                          struct gt_error *err);

#endif
