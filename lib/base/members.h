/* Inflates a packed file whose members declare their sizes (those of bgzip, frames of zstd) on several threads, and
   gives the bytes in order. */
#ifndef GT_BASE_MEMBERS_H
#define GT_BASE_MEMBERS_H

#include "base/source.h"

struct gt_members;

/* Starts to inflate the file from its beginning. The source stays the caller's and must outlive this. NULL: the file
   cannot be divided, or there is no memory or thread for it; read it as one stream. */
struct gt_members *gt_members_open(const struct gt_source *source, size_t threads);
void gt_members_close(struct gt_members *members); /* waits for the threads; NULL is fine */

/* Up to size bytes; 0: what is left of the file is to be read as one stream, from an offset on. There may be nothing
   there, something damaged, or members that do not say. */
size_t gt_members_read(struct gt_members *members, void *buf, size_t size);
uint64_t gt_members_rest(const struct gt_members *members); /* then: that offset */

#endif
