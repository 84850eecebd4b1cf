/* A gzip member in pieces: threads take one after the other, find the first block in it, and inflate from there to the
   first block that begins in a later piece. A piece counts only if it begins where the one before ended, so what was
   taken for a block and is none does no harm: that piece is inflated again, from the right place. */
#include "base/blocks.h"

#include <pthread.h>

#include "base/crc.h"
#include "base/deflate.h"
#include "base/inflate.h"
#include "base/mem.h"

/* Bytes of the file in a piece: a few blocks, so that most pieces have one that begins in them and few threads wait. */
enum { PIECE_BYTES = 128 * 1024, MORE_BYTES = 64 * 1024, MAX_PACKED_BYTES = 4 << 20 };
/* Symbols of a piece, at first and at most: more are packed so well that one thread is fast enough. With many pieces on
   their way each may have fewer: a file that is made for it takes 66 times 8 MiB of symbols, which have two bytes, and
   4 MiB of the file. */
enum { FIRST_ROOM = 1 << 20, MAX_ROOM = 8 << 20, MAX_ROOM_OF_MANY = 4 << 20, MANY_SLOTS = 16 };
/* Places where a block seems to begin are tried so often. */
enum { MAX_TRIES = 8 };
/* With fewer threads, or less to do, inflating as one stream is as fast. */
enum { MIN_THREADS = 4, MAX_THREADS = 32, MIN_PIECES = 8, MORE_SLOTS = 2, MAX_SLOTS = 2 * MAX_THREADS + MORE_SLOTS };

enum { BYTES_OF = GT_DEFLATE_MARKER + GT_DEFLATE_WINDOW };

enum slot_state {
    DECODING,
    DECODED, /* symbols, with markers */
    CHAINED, /* the window before it is known */
    DONE,    /* bytes */
};

struct slot {
    enum slot_state state;
    uint64_t begin_bit, end_bit; /* in the file; equal: no block was found */
    bool is_last;                /* the last block of the member is in it */
    struct gt_deflate *deflate;  /* its buffers, too */
    unsigned char *packed;
    size_t packed_room;
    unsigned char bytes_of[BYTES_OF]; /* by symbol: its byte; markers stand for the window before the first block */
    size_t byte_count;
    uint32_t crc;
};

struct gt_blocks {
    const struct gt_source *source;
    uint64_t file_bytes, first_bit; /* first_bit: after the header */
    pthread_t threads[MAX_THREADS];
    size_t thread_count, slot_count;
    pthread_mutex_t lock;
    pthread_cond_t changed;

    /* Guarded by the lock. Pieces are counted from the beginning of the file: those taken by a thread, those whose
       window is known, those that a thread has begun to fill in, and those that were read. Piece i is in slot i modulo
       slot_count. */
    uint64_t taken, chained, filling, used;
    uint64_t chain_bit, chain_bytes; /* where the next piece begins, and how many bytes come before it */
    unsigned char window[GT_DEFLATE_WINDOW];
    uint64_t last_piece; /* the one with the last block; UINT64_MAX: not known yet */
    bool has_failed, is_closing;
    struct slot *slots[MAX_SLOTS]; /* of one that is DECODING or being filled in: its thread's */

    /* Of who asks for pieces. */
    uint64_t lent;
    const struct slot *current; /* the one that is being read; NULL: none */
    size_t position;

    /* Of who gives them back. */
    uint64_t read_bytes;
    uint32_t crc;
    bool is_right; /* the member has ended, and is what its checksum says */
    uint64_t end_offset;
};

/* ---- a piece: bytes of the file to symbols ---- */

/* Reads bytes of the file so that the piece has this many; fewer at the end of the file. */
static bool read_packed(const struct gt_blocks *blocks, struct slot *slot, uint64_t offset, size_t wanted) {
    struct gt_deflate *deflate = slot->deflate;
    if (wanted + GT_DEFLATE_PADDING > slot->packed_room) {
        unsigned char *grown = gt_mem_realloc(slot->packed, wanted + GT_DEFLATE_PADDING);
        if (!grown)
            return false;
        slot->packed = grown;
        slot->packed_room = wanted + GT_DEFLATE_PADDING;
    }
    size_t got;
    if (gt_source_pread(blocks->source, slot->packed + deflate->in_bytes, wanted - deflate->in_bytes,
                        offset + deflate->in_bytes, &got, NULL) != GT_OK)
        return false;
    deflate->in = slot->packed;
    deflate->in_bytes += got;
    memset(slot->packed + deflate->in_bytes, 0, GT_DEFLATE_PADDING);
    return got > 0;
}

static bool grow_room(const struct gt_blocks *blocks, struct gt_deflate *deflate) {
    size_t room = deflate->out_room < FIRST_ROOM ? FIRST_ROOM : 2 * deflate->out_room;
    size_t most = blocks->slot_count > MANY_SLOTS ? MAX_ROOM_OF_MANY : MAX_ROOM;
    uint16_t *grown = room <= most ? gt_mem_realloc(deflate->out, room * sizeof *grown) : NULL;
    if (!grown)
        return false;
    deflate->out = grown;
    deflate->out_room = room;
    return true;
}

/* Blocks from deflate->bit on to the first that begins at end_bit or later and can be found: the next piece begins
   there. */
static enum gt_deflate_status inflate_blocks(const struct gt_blocks *blocks, struct slot *slot, uint64_t offset,
                                             uint64_t end_bit) {
    struct gt_deflate *deflate = slot->deflate;
    enum gt_deflate_status status = GT_DEFLATE_BLOCK_END;
    while (status == GT_DEFLATE_BLOCK_END && (deflate->bit < end_bit || !gt_deflate_can_find(deflate))) {
        status = gt_deflate_block(deflate);
        if ((status == GT_DEFLATE_NEEDS_ROOM && grow_room(blocks, deflate)) ||
            (status == GT_DEFLATE_NEEDS_INPUT && deflate->in_bytes < MAX_PACKED_BYTES &&
             read_packed(blocks, slot, offset, deflate->in_bytes + MORE_BYTES)))
            status = GT_DEFLATE_BLOCK_END;
    }
    return status;
}

static bool is_end(enum gt_deflate_status status) {
    return status == GT_DEFLATE_BLOCK_END || status == GT_DEFLATE_STREAM_END;
}

/* The symbols of a window whose bytes are not known yet. */
static void set_markers(struct gt_deflate *deflate) {
    for (unsigned i = 0; i < GT_DEFLATE_WINDOW; i++)
        deflate->out[i] = (uint16_t)(GT_DEFLATE_MARKER + i);
    deflate->out_count = deflate->reach = GT_DEFLATE_WINDOW;
}

static uint64_t piece_offset(uint64_t piece) {
    return piece * PIECE_BYTES;
}

static void set_result(struct slot *slot, uint64_t offset, uint64_t begin_bit, enum gt_deflate_status status) {
    slot->begin_bit = 8 * offset + begin_bit;
    slot->end_bit = 8 * offset + slot->deflate->bit;
    slot->is_last = status == GT_DEFLATE_STREAM_END;
    slot->byte_count = slot->deflate->out_count - GT_DEFLATE_WINDOW;
}

/* Inflates from where a block seems to begin. Where none is found, or none that can be inflated, the slot is empty. */
static bool decode_piece(const struct gt_blocks *blocks, struct slot *slot, uint64_t piece) {
    struct gt_deflate *deflate = slot->deflate;
    const uint64_t offset = piece_offset(piece), end_bit = 8 * PIECE_BYTES;
    deflate->in_bytes = 0;
    if (!deflate->out_room && !grow_room(blocks, deflate))
        return false;
    slot->begin_bit = slot->end_bit = 8 * offset;
    slot->byte_count = 0;
    slot->is_last = false;
    if (!read_packed(blocks, slot, offset, PIECE_BYTES + MORE_BYTES))
        return true;
    deflate->bit = 0;
    for (unsigned tries = 0; tries < MAX_TRIES && gt_deflate_find(deflate, end_bit); tries++) {
        uint64_t begin_bit = deflate->bit;
        set_markers(deflate);
        enum gt_deflate_status status = inflate_blocks(blocks, slot, offset, end_bit);
        if (is_end(status)) {
            set_result(slot, offset, begin_bit, status);
            return true;
        }
        deflate->bit = begin_bit + 1;
    }
    return true;
}

/* Inflates again, from where the piece before ended, with the bytes that are before that. */
static bool decode_again(const struct gt_blocks *blocks, struct slot *slot, uint64_t piece, uint64_t begin_bit,
                         size_t reach) {
    struct gt_deflate *deflate = slot->deflate;
    const uint64_t offset = piece_offset(piece);
    deflate->in_bytes = 0;
    deflate->bit = begin_bit - 8 * offset;
    if ((!deflate->out_room && !grow_room(blocks, deflate)) ||
        !read_packed(blocks, slot, offset, PIECE_BYTES + MORE_BYTES))
        return false;
    set_markers(deflate);
    deflate->reach = reach;
    enum gt_deflate_status status = inflate_blocks(blocks, slot, offset, 8 * PIECE_BYTES);
    if (!is_end(status))
        return false;
    set_result(slot, offset, begin_bit - 8 * offset, status);
    return true;
}

/* ---- markers to bytes ---- */

/* The bytes of eight symbols, the first one in the lowest byte. */
static inline uint64_t eight_bytes(const uint16_t *symbols, const unsigned char *bytes_of) {
    uint32_t first = bytes_of[symbols[0]] | (uint32_t)bytes_of[symbols[1]] << 8,
             second = bytes_of[symbols[2]] | (uint32_t)bytes_of[symbols[3]] << 8,
             third = bytes_of[symbols[4]] | (uint32_t)bytes_of[symbols[5]] << 8,
             fourth = bytes_of[symbols[6]] | (uint32_t)bytes_of[symbols[7]] << 8;
    return (first | second << 16) | (uint64_t)(third | fourth << 16) << 32;
}

/* May be in place: a byte is never after its symbol. Traces are full of copies from far back, so that most symbols are
   markers. Eight bytes at once, because a CPU stores less often than it loads. */
static void fill_in(const uint16_t *symbols, size_t count, const unsigned char *bytes_of, unsigned char *out) {
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t bytes = eight_bytes(symbols + i, bytes_of);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        bytes = __builtin_bswap64(bytes);
#endif
        memcpy(out + i, &bytes, sizeof bytes);
    }
    for (; i < count; i++)
        out[i] = bytes_of[symbols[i]];
}

static unsigned char *bytes_in(const struct slot *slot) {
    return (unsigned char *)slot->deflate->out;
}

/* The symbols of the slot become bytes, at the beginning of the same memory. */
static void fill_slot(struct slot *slot) {
    fill_in(slot->deflate->out + GT_DEFLATE_WINDOW, slot->byte_count, slot->bytes_of, bytes_in(slot));
    slot->crc = gt_crc_of(bytes_in(slot), slot->byte_count);
}

/* ---- pieces in order ---- */

static struct slot *slot_of(struct gt_blocks *blocks, uint64_t piece) {
    return blocks->slots[piece % blocks->slot_count];
}

/* The window after the slot: the last bytes of the window before it and of its own. */
static void move_window(struct gt_blocks *blocks, const struct slot *slot) {
    const uint16_t *symbols = slot->deflate->out + GT_DEFLATE_WINDOW + slot->byte_count;
    size_t count = slot->byte_count < GT_DEFLATE_WINDOW ? slot->byte_count : GT_DEFLATE_WINDOW;
    memmove(blocks->window, blocks->window + count, GT_DEFLATE_WINDOW - count);
    fill_in(symbols - count, count, slot->bytes_of, blocks->window + GT_DEFLATE_WINDOW - count);
}

static void chain(struct gt_blocks *blocks, struct slot *slot) {
    memcpy(slot->bytes_of + GT_DEFLATE_MARKER, blocks->window, sizeof blocks->window);
    move_window(blocks, slot);
    if (slot->begin_bit < slot->end_bit)
        blocks->chain_bit = slot->end_bit;
    blocks->chain_bytes += slot->byte_count;
    if (slot->is_last)
        blocks->last_piece = blocks->chained;
    slot->state = CHAINED;
    blocks->chained++;
    pthread_cond_broadcast(&blocks->changed);
}

/* Whether copies in the slot may reach further back than the member does. */
static bool begins_too_early(const struct gt_blocks *blocks, const struct slot *slot) {
    return blocks->chain_bytes < GT_DEFLATE_WINDOW && slot->deflate->reach > blocks->chain_bytes;
}

/* The next piece in order is decoded: gives it its window, or decodes it again. Called and left with the lock. */
static void chain_next(struct gt_blocks *blocks) {
    struct slot *slot = slot_of(blocks, blocks->chained);
    uint64_t piece = blocks->chained;
    if (blocks->chain_bit >= 8 * piece_offset(piece + 1)) { /* a block goes beyond this piece */
        slot->begin_bit = slot->end_bit = 0;
        slot->byte_count = 0;
        slot->is_last = false;
        chain(blocks, slot);
        return;
    }
    if (slot->begin_bit < slot->end_bit && slot->begin_bit == blocks->chain_bit && !begins_too_early(blocks, slot)) {
        chain(blocks, slot);
        return;
    }
    slot->state = DECODING;
    uint64_t bit = blocks->chain_bit;
    size_t reach = blocks->chain_bytes < GT_DEFLATE_WINDOW ? (size_t)blocks->chain_bytes : GT_DEFLATE_WINDOW;
    pthread_mutex_unlock(&blocks->lock);
    bool is_good = decode_again(blocks, slot, piece, bit, reach);
    pthread_mutex_lock(&blocks->lock);
    slot->state = DECODED;
    blocks->has_failed |= !is_good;
    if (is_good)
        chain(blocks, slot);
}

static bool can_chain(struct gt_blocks *blocks) {
    return blocks->chained < blocks->taken && blocks->last_piece == UINT64_MAX &&
           slot_of(blocks, blocks->chained)->state == DECODED;
}

static bool can_take(const struct gt_blocks *blocks) {
    return blocks->last_piece == UINT64_MAX && blocks->taken - blocks->used < blocks->slot_count &&
           piece_offset(blocks->taken) < blocks->file_bytes;
}

static void take_piece(struct gt_blocks *blocks) {
    uint64_t piece = blocks->taken++;
    struct slot *slot = slot_of(blocks, piece);
    slot->state = DECODING;
    pthread_mutex_unlock(&blocks->lock);
    bool is_good = piece == 0 || decode_piece(blocks, slot, piece);
    pthread_mutex_lock(&blocks->lock);
    slot->state = DECODED;
    blocks->has_failed |= !is_good;
    pthread_cond_broadcast(&blocks->changed);
}

static void fill_piece(struct gt_blocks *blocks) {
    struct slot *slot = slot_of(blocks, blocks->filling++);
    pthread_mutex_unlock(&blocks->lock);
    fill_slot(slot);
    pthread_mutex_lock(&blocks->lock);
    slot->state = DONE;
    pthread_cond_broadcast(&blocks->changed);
}

/* What is furthest on comes first, so that the reader waits least. */
static void *work(void *argument) {
    struct gt_blocks *blocks = argument;
    pthread_mutex_lock(&blocks->lock);
    while (!blocks->is_closing && !blocks->has_failed) {
        if (can_chain(blocks))
            chain_next(blocks);
        else if (blocks->filling < blocks->chained)
            fill_piece(blocks);
        else if (can_take(blocks))
            take_piece(blocks);
        else
            pthread_cond_wait(&blocks->changed, &blocks->lock);
        /* The file ends, and the member does not. */
        if (blocks->chained == blocks->taken && blocks->last_piece == UINT64_MAX &&
            piece_offset(blocks->taken) >= blocks->file_bytes)
            blocks->has_failed = true;
    }
    pthread_cond_broadcast(&blocks->changed);
    pthread_mutex_unlock(&blocks->lock);
    return NULL;
}

/* ---- opening and closing ---- */

/* Bytes of the header of a gzip member; 0: it is odd, or longer than the first bytes of the file. */
static size_t header_bytes(const unsigned char *head, size_t size) {
    enum { TEXT = 1, CHECKSUM = 2, EXTRA = 4, NAME = 8, COMMENT = 16, PLAIN_BYTES = 10 };
    if (size < PLAIN_BYTES || !gt_codec_gzip.begins(head, size) || head[3] >= 2 * COMMENT)
        return 0;
    size_t at = PLAIN_BYTES;
    if (head[3] & EXTRA) {
        if (at + 2 > size)
            return 0;
        at += 2 + gt_inflate_number(head + at, 2);
    }
    for (unsigned texts = (head[3] & NAME ? 1 : 0) + (head[3] & COMMENT ? 1 : 0); texts > 0; texts--) {
        const unsigned char *end = at < size ? memchr(head + at, 0, size - at) : NULL;
        if (!end)
            return 0;
        at = (size_t)(end - head) + 1;
    }
    at += head[3] & CHECKSUM ? 2 : 0;
    return at < size ? at : 0;
}

static bool can_divide(struct gt_blocks *blocks, size_t threads) {
    unsigned char head[4096];
    size_t got;
    if (threads < MIN_THREADS || gt_source_packing(blocks->source) != GT_PACKING_GZIP ||
        !gt_source_file_size(blocks->source, &blocks->file_bytes) ||
        blocks->file_bytes < MIN_PIECES * (uint64_t)PIECE_BYTES ||
        gt_source_pread(blocks->source, head, sizeof head, 0, &got, NULL) != GT_OK)
        return false;
    blocks->first_bit = blocks->chain_bit = 8 * header_bytes(head, got);
    return blocks->first_bit > 0;
}

static void free_slot(struct slot *slot) {
    if (!slot)
        return;
    if (slot->deflate)
        gt_mem_free(slot->deflate->out);
    gt_mem_free(slot->deflate);
    gt_mem_free(slot->packed);
    gt_mem_free(slot);
}

static bool add_slot(struct gt_blocks *blocks) {
    struct slot *slot = gt_mem_array(1, sizeof *slot);
    if (slot && !(slot->deflate = gt_mem_array(1, sizeof *slot->deflate))) {
        free_slot(slot);
        slot = NULL;
    }
    if (!slot)
        return false;
    for (unsigned i = 0; i < GT_DEFLATE_MARKER; i++)
        slot->bytes_of[i] = (unsigned char)i;
    blocks->slots[blocks->slot_count++] = slot;
    return true;
}

struct gt_blocks *gt_blocks_open(const struct gt_source *source, size_t threads, size_t most_lent) {
    struct gt_blocks *blocks = gt_mem_array(1, sizeof *blocks);
    if (!blocks)
        return NULL;
    blocks->source = source;
    blocks->last_piece = UINT64_MAX;
    pthread_mutex_init(&blocks->lock, NULL);
    pthread_cond_init(&blocks->changed, NULL);
    threads = threads < MAX_THREADS ? threads : MAX_THREADS;
    most_lent = most_lent < MAX_THREADS ? most_lent : MAX_THREADS;
    bool is_good = can_divide(blocks, threads);
    while (is_good && blocks->slot_count < threads + MORE_SLOTS + most_lent)
        is_good = add_slot(blocks);
    while (is_good && blocks->thread_count < threads &&
           pthread_create(&blocks->threads[blocks->thread_count], NULL, work, blocks) == 0)
        blocks->thread_count++;
    if (blocks->thread_count > 0)
        return blocks;
    gt_blocks_close(blocks);
    return NULL;
}

void gt_blocks_close(struct gt_blocks *blocks) {
    if (!blocks)
        return;
    pthread_mutex_lock(&blocks->lock);
    blocks->is_closing = true;
    pthread_cond_broadcast(&blocks->changed);
    pthread_mutex_unlock(&blocks->lock);
    while (blocks->thread_count > 0)
        pthread_join(blocks->threads[--blocks->thread_count], NULL);
    while (blocks->slot_count > 0)
        free_slot(blocks->slots[--blocks->slot_count]);
    pthread_cond_destroy(&blocks->changed);
    pthread_mutex_destroy(&blocks->lock);
    gt_mem_free(blocks);
}

/* ---- reading ---- */

/* The next piece when it is done; NULL: there is no more, or something is odd. */
static const struct slot *lend(struct gt_blocks *blocks) {
    const struct slot *slot = slot_of(blocks, blocks->lent);
    pthread_mutex_lock(&blocks->lock);
    while (!blocks->has_failed && blocks->lent <= blocks->last_piece &&
           (blocks->lent >= blocks->taken || slot->state != DONE))
        pthread_cond_wait(&blocks->changed, &blocks->lock);
    bool is_good = blocks->lent <= blocks->last_piece && blocks->lent < blocks->taken && slot->state == DONE;
    pthread_mutex_unlock(&blocks->lock);
    blocks->lent += is_good;
    return is_good ? slot : NULL;
}

bool gt_blocks_lend(struct gt_blocks *blocks, struct gt_str *bytes) {
    const struct slot *slot = lend(blocks);
    if (slot)
        *bytes = (struct gt_str){(const char *)bytes_in(slot), slot->byte_count};
    return slot;
}

/* After the last block: checksum and size. */
static void check_end(struct gt_blocks *blocks, const struct slot *slot) {
    unsigned char tail[8];
    size_t got;
    uint64_t offset = (slot->end_bit + 7) / 8;
    blocks->is_right = gt_source_pread(blocks->source, tail, sizeof tail, offset, &got, NULL) == GT_OK &&
                       got == sizeof tail && gt_inflate_number(tail, 4) == blocks->crc &&
                       gt_inflate_number(tail + 4, 4) == (uint32_t)blocks->read_bytes;
    blocks->end_offset = offset + sizeof tail;
}

void gt_blocks_take_back(struct gt_blocks *blocks) {
    const struct slot *slot = slot_of(blocks, blocks->used);
    blocks->crc = gt_crc_joined(blocks->crc, slot->crc, slot->byte_count);
    blocks->read_bytes += slot->byte_count;
    if (slot->is_last)
        check_end(blocks, slot);
    pthread_mutex_lock(&blocks->lock);
    blocks->used++;
    pthread_cond_broadcast(&blocks->changed);
    pthread_mutex_unlock(&blocks->lock);
}

size_t gt_blocks_read(struct gt_blocks *blocks, void *buf, size_t size) {
    size_t got = 0;
    while (got < size && (blocks->current || (blocks->current = lend(blocks)))) {
        size_t left = blocks->current->byte_count - blocks->position, piece = size - got < left ? size - got : left;
        memcpy((char *)buf + got, bytes_in(blocks->current) + blocks->position, piece);
        got += piece;
        blocks->position += piece;
        if (piece < left)
            continue;
        gt_blocks_take_back(blocks);
        blocks->current = NULL;
        blocks->position = 0;
    }
    return got;
}

bool gt_blocks_is_all(const struct gt_blocks *blocks) {
    return blocks->is_right && blocks->end_offset == blocks->file_bytes;
}

struct gt_blocks_rest gt_blocks_rest(const struct gt_blocks *blocks) {
    if (blocks->is_right)
        return (struct gt_blocks_rest){blocks->end_offset, 0};
    return (struct gt_blocks_rest){0, blocks->read_bytes + blocks->position};
}
