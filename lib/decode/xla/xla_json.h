/* Decoder of the Chrome trace that XLA's profiler writes beside its *.xplane.pb. docs/formats/xla.md says what is read.
 */
#ifndef GT_DECODE_XLA_XLA_JSON_H
#define GT_DECODE_XLA_XLA_JSON_H

#include "decode/decoder.h"

#define GT_XLA_JSON_KEY "xla-json"

int gt_xla_json_sniff(struct gt_str head, const char *path);
enum gt_status gt_xla_json_decode(struct gt_source *const *sources, size_t count,
                                  const struct gt_decode_options *options, struct gt_store **out, struct gt_error *err);

#endif
