/* Pieces of a gzip file that are inflated apart from each other: a thread finds the first block in its piece and
   decodes from there to the first one that begins in a later piece. */
#ifndef GT_BASE_PIECES_H
#define GT_BASE_PIECES_H

#include "base/deflate.h"
#include "base/source.h"

/* Bytes of the file in a piece: a few blocks, so that most pieces have one that begins in them and few threads wait. */
enum { GT_PIECE_BYTES = 64 * 1024 };

struct gt_piece {
    uint64_t begin_bit, end_bit; /* in the file; equal: no block was found */
    bool is_last;                /* the last block of the member is in it */
    struct gt_steps text;
    /* The window after it, as symbols: bytes, and places in the window before it; so the window after it is known
       without its text. */
    bool is_mapped;
    uint16_t *map; /* GT_DEFLATE_WINDOW symbols; NULL: it never was */
};
void gt_piece_release(struct gt_piece *piece);
void gt_piece_clear(struct gt_piece *piece); /* as if no block was found */

static inline uint64_t gt_piece_offset(uint64_t number) {
    return number * GT_PIECE_BYTES;
}

/* What a thread needs to decode pieces one after the other. */
struct gt_piece_decoder {
    const struct gt_source *source;
    size_t max_text_bytes; /* larger pieces are packed so well that one thread is fast enough */
    struct gt_deflate deflate;
    unsigned char *packed;
    size_t packed_room;
};
void gt_piece_decoder_release(struct gt_piece_decoder *decoder);

/* Decodes the piece with this number from where a block seems to begin. Where none is found, or none that can be
   decoded, it is empty. false: no memory. */
bool gt_piece_find(struct gt_piece_decoder *decoder, struct gt_piece *piece, uint64_t number, bool is_mapped);

/* Decodes it from where a block is known to begin, without a map. false: it is damaged, cut off or too large. */
bool gt_piece_decode(struct gt_piece_decoder *decoder, struct gt_piece *piece, uint64_t number, uint64_t begin_bit);

/* The window after a piece with a map, from the one before it. */
void gt_piece_map(const struct gt_piece *piece, const unsigned char *before, unsigned char *after);

#endif
