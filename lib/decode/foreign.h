/* Files that no decoder reads: says what they are, and what to give instead. */
#ifndef GT_DECODE_FOREIGN_H
#define GT_DECODE_FOREIGN_H

#include "base/fail.h"
#include "base/source.h"

/* Whether the first bytes are those of a kind of file that decoders would take for theirs: a tar archive, whose names
   and files look like anything, or JSON of another kind. */
bool gt_foreign_is_known(struct gt_str head);

/* Fails with what the file looks like. */
enum gt_status gt_foreign_fail(const struct gt_source *source, struct gt_str head, struct gt_error *err);

#endif
