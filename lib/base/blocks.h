/* Inflates the first member of a gzip file on several threads, although it is one stream: each begins somewhere in the
   middle, where a block seems to begin, and what it copies from before is filled in later. Gives the bytes in order. */
#ifndef GT_BASE_BLOCKS_H
#define GT_BASE_BLOCKS_H

#include "base/source.h"

struct gt_blocks;

/* Pieces may be small: up to so many are lent at once as long as they have fewer bytes than these. */
enum { GT_BLOCKS_MAX_LENT = 32, GT_BLOCKS_LENT_BYTES = 4 << 20 };

enum { GT_BLOCKS_ZEROS = 64 };

/* Starts to inflate the file from its beginning. The source stays the caller's and must outlive this. NULL: that does
   not pay (few threads, a small file, another packing), or there is no memory or thread for it; read it as one stream.
   helpers: so many other threads may take part at once. most_lent: so many pieces may be lent whatever their size, up
   to GT_BLOCKS_MAX_LENT. */
struct gt_blocks *gt_blocks_open(const struct gt_source *source, size_t threads, size_t helpers, size_t most_lent);
void gt_blocks_close(struct gt_blocks *blocks); /* waits for the threads; NULL is fine */

/* Up to size bytes; fewer: these were the last ones. */
size_t gt_blocks_read(struct gt_blocks *blocks, void *buf, size_t size);

/* Instead of reading: the bytes of the next piece, which may be none, borrowed until it is taken back; GT_BLOCKS_ZEROS
   zeros follow. false: there is no more, or something is odd. Pieces are taken back in order, and may be by another
   thread than borrows. */
bool gt_blocks_lend(struct gt_blocks *blocks, struct gt_str *bytes);
bool gt_blocks_is_ready(struct gt_blocks *blocks); /* to be lent from, without waiting; asked by who borrows */
void gt_blocks_take_back(struct gt_blocks *blocks);

/* Instead of waiting: does a part of the work of one piece, if any can be done now. Any thread may. */
bool gt_blocks_help(struct gt_blocks *blocks);

/* When all are back: was that the whole file, and all of it right? */
bool gt_blocks_is_all(const struct gt_blocks *blocks);

/* After reading: where the file is to be read from as one stream, and how many bytes of that are known already. After
   the member and none, or from the beginning if something in it is odd: so damage gives the same bytes and words as
   without threads. */
struct gt_blocks_rest {
    uint64_t offset, skipped_bytes;
};
struct gt_blocks_rest gt_blocks_rest(const struct gt_blocks *blocks);

#endif
