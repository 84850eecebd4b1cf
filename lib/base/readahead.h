/* Reads a source on a separate thread, a few buffers ahead: inflating one part of a file overlaps with the use of the
   part before. A packed file that can be divided is inflated on several. */
#ifndef GT_BASE_READAHEAD_H
#define GT_BASE_READAHEAD_H

#include "base/source.h"

struct gt_readahead;

/* Starts to read. The source stays the caller's and must outlive this; until the end was read or this is closed, only
   gt_source_progress may be called on it. NULL in *out without an error: no thread could be started, read the source
   itself. */
enum gt_status gt_readahead_open(struct gt_source *source, size_t threads, struct gt_readahead **out,
                                 struct gt_error *err);
void gt_readahead_close(struct gt_readahead *ahead); /* waits for the thread; NULL is fine */

/* As gt_source_read(). */
enum gt_status gt_readahead_read(struct gt_readahead *ahead, void *buf, size_t size, size_t *got, struct gt_error *err);

#endif
