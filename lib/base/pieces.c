/* A piece: bytes of the file come in, steps and a map of the window go out. */
#include "base/pieces.h"

#include "base/mem.h"

/* What is read at first goes beyond the piece, because its last block does. */
enum { MORE_BYTES = 48 * 1024, MAX_PACKED_BYTES = 4 << 20 };
/* Places where a block seems to begin are tried so often. */
enum { MAX_TRIES = 8 };

void gt_piece_release(struct gt_piece *piece) {
    gt_deflate_steps_release(&piece->text);
    gt_mem_free(piece->map);
    piece->map = NULL;
}

void gt_piece_clear(struct gt_piece *piece) {
    piece->begin_bit = piece->end_bit = 0;
    piece->is_last = piece->is_mapped = false;
    gt_deflate_steps_clear(&piece->text);
}

void gt_piece_decoder_release(struct gt_piece_decoder *decoder) {
    gt_mem_free(decoder->packed);
    gt_mem_free(decoder->deflate.symbols);
}

/* Reads bytes of the file so that the piece has this many; fewer at the end of the file. */
static bool read_packed(struct gt_piece_decoder *decoder, uint64_t offset, size_t wanted) {
    struct gt_deflate *deflate = &decoder->deflate;
    if (wanted + GT_DEFLATE_PADDING > decoder->packed_room) {
        unsigned char *grown = gt_mem_realloc(decoder->packed, wanted + GT_DEFLATE_PADDING);
        if (!grown)
            return false;
        decoder->packed = grown;
        decoder->packed_room = wanted + GT_DEFLATE_PADDING;
    }
    size_t got;
    if (gt_source_pread(decoder->source, decoder->packed + deflate->in_bytes, wanted - deflate->in_bytes,
                        offset + deflate->in_bytes, &got, NULL) != GT_OK)
        return false;
    deflate->in = decoder->packed;
    deflate->in_bytes += got;
    deflate->has_all = deflate->in_bytes < wanted;
    memset(decoder->packed + deflate->in_bytes, 0, GT_DEFLATE_PADDING);
    return true;
}

/* What decoding stopped for; false: it cannot be had. */
static bool provide(struct gt_piece_decoder *decoder, uint64_t offset, enum gt_deflate_status wanted) {
    struct gt_deflate *deflate = &decoder->deflate;
    if (deflate->text->text_bytes > decoder->max_text_bytes)
        return false;
    if (wanted == GT_DEFLATE_NEEDS_ROOM)
        return gt_deflate_make_room(deflate);
    return wanted == GT_DEFLATE_NEEDS_INPUT && !deflate->has_all && deflate->in_bytes < MAX_PACKED_BYTES &&
           read_packed(decoder, offset, deflate->in_bytes + MORE_BYTES);
}

/* Blocks from deflate->bit on to the first that begins at end_bit or later and can be found: the next piece begins
   there. */
static bool decode_blocks(struct gt_piece_decoder *decoder, struct gt_piece *piece, uint64_t offset, uint64_t end_bit) {
    struct gt_deflate *deflate = &decoder->deflate;
    enum gt_deflate_status status = GT_DEFLATE_BLOCK_END;
    uint64_t begin_bit = deflate->bit;
    deflate->text = &piece->text;
    deflate->is_inside = false;
    gt_deflate_steps_clear(&piece->text);
    while (status == GT_DEFLATE_BLOCK_END &&
           (deflate->is_inside || deflate->bit < end_bit || !gt_deflate_can_find(deflate))) {
        status = gt_deflate_block(deflate);
        if (status != GT_DEFLATE_STREAM_END && status != GT_DEFLATE_BLOCK_END && provide(decoder, offset, status))
            status = GT_DEFLATE_BLOCK_END;
    }
    if ((status != GT_DEFLATE_BLOCK_END && status != GT_DEFLATE_STREAM_END) ||
        piece->text.text_bytes > decoder->max_text_bytes)
        return false;
    piece->begin_bit = 8 * offset + begin_bit;
    piece->end_bit = 8 * offset + deflate->bit;
    piece->is_last = status == GT_DEFLATE_STREAM_END;
    return true;
}

/* Memory for a map and the symbols that it is made of; without any, or where none is wanted, there are no symbols. */
static bool make_symbols(struct gt_piece_decoder *decoder, struct gt_piece *piece) {
    struct gt_deflate *deflate = &decoder->deflate;
    if (!deflate->symbols)
        deflate->symbols = gt_mem_uninitialised(GT_DEFLATE_SYMBOL_ROOM, sizeof *deflate->symbols);
    if (!piece->map)
        piece->map = gt_mem_uninitialised(GT_DEFLATE_WINDOW, sizeof *piece->map);
    return deflate->symbols && piece->map;
}

/* One try, from deflate->bit on. */
static bool decode_mapped(struct gt_piece_decoder *decoder, struct gt_piece *piece, uint64_t offset, bool is_mapped) {
    struct gt_deflate *deflate = &decoder->deflate;
    uint16_t *symbols = deflate->symbols;
    if (is_mapped)
        gt_deflate_begin_symbols(deflate);
    else
        deflate->symbols = NULL;
    bool is_good = decode_blocks(decoder, piece, offset, 8 * GT_PIECE_BYTES);
    deflate->symbols = symbols;
    piece->is_mapped = is_good && is_mapped;
    if (piece->is_mapped)
        memcpy(piece->map, symbols + deflate->symbol_count - GT_DEFLATE_WINDOW, GT_DEFLATE_WINDOW * sizeof *symbols);
    return is_good;
}

bool gt_piece_find(struct gt_piece_decoder *decoder, struct gt_piece *piece, uint64_t number, bool is_mapped) {
    struct gt_deflate *deflate = &decoder->deflate;
    const uint64_t offset = gt_piece_offset(number);
    gt_piece_clear(piece);
    deflate->in_bytes = 0;
    deflate->bit = 0;
    if ((is_mapped && !make_symbols(decoder, piece)) || !read_packed(decoder, offset, GT_PIECE_BYTES + MORE_BYTES))
        return false;
    for (unsigned tries = 0; tries < MAX_TRIES && gt_deflate_find(deflate, 8 * GT_PIECE_BYTES); tries++) {
        uint64_t begin_bit = deflate->bit;
        if (decode_mapped(decoder, piece, offset, is_mapped))
            return true;
        gt_piece_clear(piece);
        deflate->bit = begin_bit + 1;
    }
    return true;
}

bool gt_piece_decode(struct gt_piece_decoder *decoder, struct gt_piece *piece, uint64_t number, uint64_t begin_bit) {
    const uint64_t offset = gt_piece_offset(number);
    decoder->deflate.in_bytes = 0;
    decoder->deflate.bit = begin_bit - 8 * offset;
    gt_piece_clear(piece);
    return read_packed(decoder, offset, GT_PIECE_BYTES + MORE_BYTES) && decode_mapped(decoder, piece, offset, false);
}

/* The bytes of eight symbols, the first one in the lowest byte. */
static inline uint64_t eight_bytes(const uint16_t *symbols, const unsigned char *bytes_of) {
    uint32_t first = bytes_of[symbols[0]] | (uint32_t)bytes_of[symbols[1]] << 8,
             second = bytes_of[symbols[2]] | (uint32_t)bytes_of[symbols[3]] << 8,
             third = bytes_of[symbols[4]] | (uint32_t)bytes_of[symbols[5]] << 8,
             fourth = bytes_of[symbols[6]] | (uint32_t)bytes_of[symbols[7]] << 8;
    return (first | second << 16) | (uint64_t)(third | fourth << 16) << 32;
}

/* A table instead of a branch for each symbol; eight bytes at once, because a CPU stores less often than it loads. */
void gt_piece_map(const struct gt_piece *piece, const unsigned char *before, unsigned char *after) {
    unsigned char bytes_of[GT_DEFLATE_MARKER + GT_DEFLATE_WINDOW];
    for (unsigned i = 0; i < GT_DEFLATE_MARKER; i++)
        bytes_of[i] = (unsigned char)i;
    memcpy(bytes_of + GT_DEFLATE_MARKER, before, GT_DEFLATE_WINDOW);
    for (size_t i = 0; i < GT_DEFLATE_WINDOW; i += 8) {
        uint64_t bytes = eight_bytes(piece->map + i, bytes_of);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        bytes = __builtin_bswap64(bytes);
#endif
        memcpy(after + i, &bytes, sizeof bytes);
    }
}
