/* Windows onto a file: mapped instead of copied, for readers that cope with bytes that change between two looks. A file
   that shrinks while it is looked at, or a disk that fails, does not kill the process: the window becomes zeros. */
#ifndef GT_BASE_MAPPING_H
#define GT_BASE_MAPPING_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* Zero bytes after every window, at least. */
#define GT_MAPPING_PADDING 64

/* One window at a time. Made anywhere, then used by one thread. While there is one, SIGBUS is handled by this module;
   signals that are not about a window go to the handler that was there before. */
struct gt_mapping;

/* max_bytes: of a window, not 0. NULL: there can be none here and now, and the file is to be read instead. */
struct gt_mapping *gt_mapping_new(size_t max_bytes);
void gt_mapping_free(struct gt_mapping *mapping); /* NULL is fine */

/* Bytes of the file from `from` on, at most up to `to`, which is not after the end of the file; the window before is
   gone. Empty: they cannot be had this way, for there is no whole page of them, the window was cut, or the host handles
   SIGBUS itself by now. */
struct gt_str gt_mapping_show(struct gt_mapping *mapping, int fd, uint64_t from, uint64_t to);

/* Becomes true, for good, when a byte of a window could not be had: what the reader has seen since then may be zeros of
   this module. Set by a signal handler of the reader's own thread, so a fence for signals is enough to read it. */
const atomic_bool *gt_mapping_is_cut(const struct gt_mapping *mapping);

#endif
