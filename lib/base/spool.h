/* Inputs that cannot be read from any place (pipes, packed files) as ones that can: copied to a file without a name. */
#ifndef GT_BASE_SPOOL_H
#define GT_BASE_SPOOL_H

#include "base/source.h"

struct gt_spool;

/* Copies what is left of the source, inflated, into a file in TMPDIR that vanishes with the spool. */
enum gt_status gt_spool_open(struct gt_source *source, struct gt_spool **out, struct gt_error *err);
void gt_spool_close(struct gt_spool *spool); /* NULL is fine */

/* The copy as a source: seekable unless it is empty. The spool's. */
struct gt_source *gt_spool_source(const struct gt_spool *spool);

/* A new file in TMPDIR that has no name any more, and all of some bytes into it. */
enum gt_status gt_spool_new_file(int *fd, struct gt_error *err);
enum gt_status gt_spool_write(int fd, const void *bytes, size_t size, struct gt_error *err);

/* A path under which this process and its children find the copy as long as the spool is open. */
const char *gt_spool_path(const struct gt_spool *spool);

#endif
