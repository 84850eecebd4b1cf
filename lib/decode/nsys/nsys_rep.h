/* Decoder of Nsight Systems reports (.nsys-rep, .qdrep). What is read is reported in docs/formats/nsys-rep.md. */
#ifndef GT_DECODE_NSYS_NSYS_REP_H
#define GT_DECODE_NSYS_NSYS_REP_H

#include "decode/decoder.h"

#define GT_NSYS_REP_KEY "nsys-rep"

int gt_nsys_rep_sniff(struct gt_str head, const char *path);
enum gt_status gt_nsys_rep_decode(struct gt_source *const *sources, size_t count,
                                  const struct gt_decode_options *options, struct gt_store **out, struct gt_error *err);

#endif
