/* The bytes of a gzip file that several threads inflate, for several threads that read each at a place of its own. A
   part of them is kept: from the lowest place that anybody has on, so that the places must lie near each other and move
   forward. */
#ifndef GT_BASE_TAPE_H
#define GT_BASE_TAPE_H

#include "base/blocks.h"
#include "base/source.h"

struct gt_tape;

#define GT_TAPE_NOWHERE UINT64_MAX /* the place of a reader that needs nothing more */

/* So many readers, all at place 0. The source stays the caller's and must outlive this. NULL: the file cannot be
   divided, or that does not pay, or there is no memory or thread for it; read it as one stream. */
struct gt_tape *gt_tape_open(struct gt_source *source, size_t threads, size_t readers);
void gt_tape_close(struct gt_tape *tape); /* NULL is fine */

/* Where this reader is: it reads nothing before that again. A mark is a place that is kept without anybody who reads
   there: it does not move because others wait. */
void gt_tape_keep(struct gt_tape *tape, size_t reader, uint64_t offset, bool is_mark);

/* Fills buf with the bytes from an offset on; fewer only at the end. Who has to wait for them inflates meanwhile. It
   waits for those that others have to leave behind first. What cannot be had (the tape is odd) ends it as well. */
size_t gt_tape_read(struct gt_tape *tape, size_t reader, void *buf, size_t size, uint64_t offset);

/* Instead of reading, without a copy: the bytes that are there from an offset on, which stay until the reader's place
   is beyond them; GT_TAPE_SHOWN_ZEROS zeros follow. It moves the place there, and waits as reading does. Empty: there
   are none. */
enum { GT_TAPE_SHOWN_ZEROS = GT_BLOCKS_ZEROS };
struct gt_str gt_tape_show(struct gt_tape *tape, size_t reader, uint64_t offset);

/* The file is damaged, has more than one member, or the places were too far apart: what was read is worth nothing, read
   it again as one stream. Known for sure when a read has come to the end and everybody is nowhere. */
bool gt_tape_is_odd(struct gt_tape *tape);

#endif
