/* Decoder of what XLA's profiler writes (*.xplane.pb: JAX, TensorFlow, XProf). docs/formats/xla.md says what is read.
 */
#ifndef GT_DECODE_XLA_XPLANE_H
#define GT_DECODE_XLA_XPLANE_H

#include "decode/decoder.h"

#define GT_XPLANE_KEY "xplane"

int gt_xplane_sniff(struct gt_str head, const char *path);
enum gt_status gt_xplane_decode(struct gt_source *const *sources, size_t count, const struct gt_decode_options *options,
                                struct gt_store **out, struct gt_error *err);

/* The same with pieces of another size than usual, for tests. */
enum gt_status gt_xplane_decode_sized(struct gt_source *source, const struct gt_decode_options *options,
                                      size_t piece_bytes, struct gt_store **out, struct gt_error *err);

#endif
