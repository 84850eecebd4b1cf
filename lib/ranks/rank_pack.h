/* Summaries as bytes: to keep them in files and to send them between processes of one kind of machine. */
#ifndef GT_RANKS_RANK_PACK_H
#define GT_RANKS_RANK_PACK_H

#include "base/fail.h"
#include "ranks/rank_summary.h"

/* How many bytes it takes, and writing them. */
size_t gt_rank_pack_size(const struct gt_rank_summary *summary);
void gt_rank_pack_write(const struct gt_rank_summary *summary, unsigned char *bytes);

/* The summary is zeroed, and to be released also after a failure. Bytes are not trusted: every number that refers to
   something is checked. */
enum gt_status gt_rank_pack_read(struct gt_rank_summary *summary, const unsigned char *bytes, size_t size,
                                 struct gt_error *err);

#endif
