/* A gzip member in pieces: threads take one after the other and decode it to steps. Where the pieces before it are
   known, steps become bytes. A piece counts only if it begins where the one before ended, so what was taken for a block
   and is none does no harm: that piece is decoded again, from the right place. */
#include "base/blocks.h"

#include <pthread.h>

#include "base/crc.h"
#include "base/inflate.h"
#include "base/mem.h"
#include "base/pieces.h"

/* Bytes of text that a piece may have, with few threads and with many: a file that is made for it takes as
   much memory for each of them, up to twice as much again for its steps, and 4 MiB of the file for each thread. */
enum { MAX_TEXT = 8 << 20, MAX_TEXT_OF_MANY = 4 << 20, MANY_THREADS = 13 };
/* With fewer threads, or less to do, inflating as one stream is as fast. */
enum { MIN_THREADS = 3, MAX_THREADS = 32, MIN_PIECES = 8 };
/* Pieces that are decoded and wait for those before them, more with many threads: who has the next piece in order is
   late more often; and texts that wait for a reader. */
enum { MORE_SLOTS = 3, THREADS_OF_SLOT = 6, MORE_TEXTS = 2, THREADS_OF_TEXT = 8 };
enum {
    MAX_HELPERS = GT_BLOCKS_MAX_LENT,
    MAX_DECODERS = MAX_THREADS + MAX_HELPERS,
    MAX_SLOTS = MAX_THREADS + MORE_SLOTS,
    MAX_TEXTS = GT_BLOCKS_MAX_LENT + MORE_TEXTS + MAX_THREADS / THREADS_OF_TEXT
};

enum slot_state {
    FREE,
    DECODING,
    DECODED, /* steps */
    CHAINED, /* the window before it is known */
    WRITING, /* steps become bytes; FREE after that */
};

struct slot {
    enum slot_state state;
    struct gt_piece piece;
    unsigned char window[GT_DEFLATE_WINDOW]; /* before it, if CHAINED */
};

/* The window before a piece, its bytes, room for copies. */
struct buffer {
    unsigned char *bytes;
    size_t room;
};

/* The bytes of a piece. */
struct text {
    bool is_done;
    struct buffer buffer;
    size_t byte_count;
    uint32_t crc;
    bool is_last;     /* of the member, */
    uint64_t end_bit; /* which ends here */
};

struct gt_blocks {
    const struct gt_source *source;
    uint64_t file_bytes;
    pthread_t threads[MAX_THREADS];
    struct gt_piece_decoder *decoders[MAX_DECODERS];
    size_t decoder_count, thread_count, most_helping, slot_count;
    size_t text_count; /* that there may be whatever their size */
    unsigned unmapped; /* one of so many pieces has no map */
    pthread_mutex_t lock;
    pthread_cond_t came; /* work for a thread */
    pthread_cond_t done; /* the text that is asked for, or there will be none */

    /* Guarded by the lock. Pieces are counted from the beginning of the file: those taken by a thread, those whose
       window is known, those that a thread has begun to write, and those that were read. Piece i is in slot i modulo
       slot_count until it is written, then in text i modulo MAX_TEXTS. */
    size_t used_decoders;    /* the first ones; of the others, the last one back is the first to be used */
    size_t helping, resting; /* other threads; threads that have nothing to do */
    uint64_t taken, chained, writing, used;
    uint64_t chain_bit, chain_bytes; /* where the next piece begins, and how many bytes come before it */
    bool is_chaining;                /* a thread does so, and the window is its own */
    unsigned char window[GT_DEFLATE_WINDOW];
    uint64_t last_piece; /* the one with the last block; UINT64_MAX: not known yet */
    bool has_failed, is_closing;
    struct slot *slots[MAX_SLOTS];  /* of one that is DECODING, WRITING or being chained: its thread's */
    struct text texts[MAX_TEXTS];   /* of one that is not done: its thread's */
    size_t text_bytes;              /* of those that are written and not back */
    struct buffer spare[MAX_TEXTS]; /* the last one back is the first to be used: a cache may still have it */
    size_t spare_count;

    /* Of who asks for pieces. */
    uint64_t lent;
    const struct text *current; /* the one that is being read; NULL: none */
    size_t position;

    /* Of who gives them back. */
    uint64_t read_bytes;
    uint32_t crc;
    bool is_right; /* the member has ended, and is what its checksum says */
    uint64_t end_offset;
};

static struct slot *slot_of(struct gt_blocks *blocks, uint64_t piece) {
    return blocks->slots[piece % blocks->slot_count];
}

static struct text *text_of(struct gt_blocks *blocks, uint64_t piece) {
    return &blocks->texts[piece % MAX_TEXTS];
}

/* ---- who does what ---- */

/* Whether there may be one more. */
static bool has_free_text(const struct gt_blocks *blocks) {
    uint64_t count = blocks->writing - blocks->used;
    return count < blocks->text_count || (count < MAX_TEXTS && blocks->text_bytes < GT_BLOCKS_LENT_BYTES);
}

static bool moves_window(const struct gt_piece *piece) {
    return piece->text.text_bytes > 0;
}

/* Whether the text of the next piece in order has to be written, and can be, to know what comes after it. */
static bool needs_text(const struct gt_piece *piece) {
    return moves_window(piece) && !piece->is_mapped;
}
static bool can_write_window(const struct gt_blocks *blocks) {
    return blocks->writing == blocks->chained && has_free_text(blocks);
}

static bool can_chain(struct gt_blocks *blocks) {
    if (blocks->is_chaining || blocks->chained == blocks->taken || blocks->last_piece != UINT64_MAX)
        return false;
    const struct slot *slot = slot_of(blocks, blocks->chained);
    return slot->state == DECODED && (!needs_text(&slot->piece) || can_write_window(blocks));
}

static bool can_write(const struct gt_blocks *blocks) {
    return blocks->writing < blocks->chained && has_free_text(blocks);
}

static bool can_take(struct gt_blocks *blocks) {
    return blocks->last_piece == UINT64_MAX && slot_of(blocks, blocks->taken)->state == FREE &&
           gt_piece_offset(blocks->taken) < blocks->file_bytes;
}

static bool has_work(struct gt_blocks *blocks) {
    return can_chain(blocks) || can_write(blocks) || can_take(blocks);
}

/* Threads wake one another one by one, each where there is more to do than it takes up: to wake all of them for every
   piece took a fifth of the time of 16. */
static void wake_another(struct gt_blocks *blocks) {
    if (blocks->resting > 0 && has_work(blocks))
        pthread_cond_signal(&blocks->came);
}

/* What a thread found out while it had no lock concerns all others. */
static void fail(struct gt_blocks *blocks) {
    blocks->has_failed = true;
    pthread_cond_broadcast(&blocks->came);
    pthread_cond_broadcast(&blocks->done);
}

/* ---- steps to bytes ---- */

static bool make_buffer(struct buffer *buffer, size_t wanted) {
    enum { STEP_BYTES = 256 << 10 }; /* so that few texts need a new one */
    if (wanted <= buffer->room)
        return true;
    gt_mem_free(buffer->bytes);
    buffer->room = (wanted + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
    buffer->bytes = gt_mem_alloc(buffer->room);
    buffer->room = buffer->bytes ? buffer->room : 0;
    return buffer->bytes;
}

/* false: no memory. */
static bool write_text(struct text *text, const struct gt_piece *piece, const unsigned char *window) {
    _Static_assert((int)GT_BLOCKS_ZEROS <= (int)GT_STEPS_SLACK, "they are in the room for copies");
    size_t end = GT_DEFLATE_WINDOW + piece->text.text_bytes;
    if (!make_buffer(&text->buffer, end + GT_STEPS_SLACK))
        return false;
    memcpy(text->buffer.bytes, window, GT_DEFLATE_WINDOW);
    text->crc = gt_deflate_steps_write(&piece->text, text->buffer.bytes + GT_DEFLATE_WINDOW);
    memset(text->buffer.bytes + end, 0, GT_BLOCKS_ZEROS);
    text->is_last = piece->is_last;
    text->end_bit = piece->end_bit;
    return true;
}

/* The next piece in order, whose window is known, becomes bytes. Called and left with the lock. */
static void write_next(struct gt_blocks *blocks, const unsigned char *window) {
    uint64_t piece = blocks->writing++;
    struct slot *slot = slot_of(blocks, piece);
    struct text *text = text_of(blocks, piece);
    slot->state = WRITING;
    text->is_done = false;
    text->byte_count = slot->piece.text.text_bytes;
    text->buffer = blocks->spare_count > 0 ? blocks->spare[--blocks->spare_count] : (struct buffer){0};
    blocks->text_bytes += text->byte_count;
    wake_another(blocks);
    pthread_mutex_unlock(&blocks->lock);
    bool is_good = write_text(text, &slot->piece, window);
    pthread_mutex_lock(&blocks->lock);
    slot->state = FREE;
    text->is_done = is_good;
    if (!is_good)
        fail(blocks);
    pthread_cond_signal(&blocks->done);
}

/* ---- pieces in order ---- */

/* Whether copies in the piece reach further back than the member does. */
static bool begins_too_early(const struct gt_blocks *blocks, const struct gt_piece *piece) {
    return blocks->chain_bytes < GT_DEFLATE_WINDOW && gt_deflate_steps_reach(&piece->text) > blocks->chain_bytes;
}

/* Makes the piece the one that begins where the one before ended. false: there is none. Called and left with the lock,
   which it does not hold while it decodes again. */
static bool make_right(struct gt_blocks *blocks, struct gt_piece_decoder *decoder, struct gt_piece *piece) {
    uint64_t number = blocks->chained;
    if (blocks->chain_bit >= 8 * gt_piece_offset(number + 1)) { /* a block goes beyond this piece */
        gt_piece_clear(piece);
        return true;
    }
    bool is_good = true;
    if (piece->begin_bit == piece->end_bit || piece->begin_bit != blocks->chain_bit) {
        wake_another(blocks);
        pthread_mutex_unlock(&blocks->lock);
        is_good = gt_piece_decode(decoder, piece, number, blocks->chain_bit);
        pthread_mutex_lock(&blocks->lock);
    }
    return is_good && !begins_too_early(blocks, piece);
}

/* The window after the slot by its map. Called and left with the lock. */
static void map_window(struct gt_blocks *blocks, struct slot *slot) {
    memcpy(slot->window, blocks->window, sizeof slot->window);
    if (moves_window(&slot->piece)) {
        wake_another(blocks);
        pthread_mutex_unlock(&blocks->lock);
        gt_piece_map(&slot->piece, slot->window, blocks->window);
        pthread_mutex_lock(&blocks->lock);
    }
    slot->state = CHAINED;
}

/* The same by its text, where it has no map. */
static void write_window(struct gt_blocks *blocks) {
    const struct text *text = text_of(blocks, blocks->chained);
    write_next(blocks, blocks->window);
    if (!blocks->has_failed)
        memcpy(blocks->window, text->buffer.bytes + text->byte_count, sizeof blocks->window);
}

static void chain(struct gt_blocks *blocks, struct slot *slot) {
    const struct gt_piece *piece = &slot->piece;
    uint64_t end_bit = piece->begin_bit < piece->end_bit ? piece->end_bit : blocks->chain_bit;
    size_t text_bytes = piece->text.text_bytes;
    if (piece->is_last)
        blocks->last_piece = blocks->chained;
    if (needs_text(piece))
        write_window(blocks);
    else
        map_window(blocks, slot);
    blocks->chain_bit = end_bit;
    blocks->chain_bytes += text_bytes;
    blocks->chained++;
}

/* The next piece in order is decoded: finds out the window after it. Called and left with the lock. */
static void chain_next(struct gt_blocks *blocks, struct gt_piece_decoder *decoder) {
    struct slot *slot = slot_of(blocks, blocks->chained);
    blocks->is_chaining = true;
    if (!make_right(blocks, decoder, &slot->piece))
        fail(blocks);
    else if (!needs_text(&slot->piece) || can_write_window(blocks))
        chain(blocks, slot);
    blocks->is_chaining = false;
    if (blocks->last_piece != UINT64_MAX)
        pthread_cond_signal(&blocks->done);
}

/* The first piece begins with the member: nothing has to be found, and the window is known. */
static void take_piece(struct gt_blocks *blocks, struct gt_piece_decoder *decoder) {
    uint64_t number = blocks->taken++;
    struct slot *slot = slot_of(blocks, number);
    slot->state = DECODING;
    gt_piece_clear(&slot->piece);
    wake_another(blocks);
    pthread_mutex_unlock(&blocks->lock);
    bool is_good = number == 0 || gt_piece_find(decoder, &slot->piece, number, number % blocks->unmapped != 0);
    pthread_mutex_lock(&blocks->lock);
    slot->state = DECODED;
    if (!is_good)
        fail(blocks);
}

static void rest(struct gt_blocks *blocks) {
    blocks->resting++;
    pthread_cond_wait(&blocks->came, &blocks->lock);
    blocks->resting--;
}

/* What is furthest on comes first, so that the reader waits least. false: there is nothing to do now. Called and left
   with the lock. */
static bool do_next(struct gt_blocks *blocks, struct gt_piece_decoder *decoder) {
    if (blocks->has_failed)
        return false;
    if (can_chain(blocks))
        chain_next(blocks, decoder);
    else if (can_write(blocks))
        write_next(blocks, slot_of(blocks, blocks->writing)->window);
    else if (can_take(blocks))
        take_piece(blocks, decoder);
    else
        return false;
    /* The file ends, and the member does not. */
    if (blocks->chained == blocks->taken && blocks->last_piece == UINT64_MAX &&
        gt_piece_offset(blocks->taken) >= blocks->file_bytes)
        fail(blocks);
    return true;
}

static void *work(void *argument) {
    struct gt_blocks *blocks = argument;
    pthread_mutex_lock(&blocks->lock);
    struct gt_piece_decoder *decoder = blocks->decoders[blocks->used_decoders++];
    while (!blocks->is_closing && !blocks->has_failed)
        if (!do_next(blocks, decoder))
            rest(blocks);
    blocks->decoders[--blocks->used_decoders] = decoder;
    pthread_mutex_unlock(&blocks->lock);
    return NULL;
}

bool gt_blocks_help(struct gt_blocks *blocks) {
    bool has_helped = false;
    if (blocks->most_helping == 0)
        return false;
    pthread_mutex_lock(&blocks->lock);
    if (blocks->helping < blocks->most_helping) {
        blocks->helping++;
        struct gt_piece_decoder *decoder = blocks->decoders[blocks->used_decoders++];
        has_helped = do_next(blocks, decoder);
        blocks->decoders[--blocks->used_decoders] = decoder;
        blocks->helping--;
    }
    pthread_mutex_unlock(&blocks->lock);
    return has_helped;
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
        blocks->file_bytes < MIN_PIECES * (uint64_t)GT_PIECE_BYTES ||
        gt_source_pread(blocks->source, head, sizeof head, 0, &got, NULL) != GT_OK)
        return false;
    blocks->chain_bit = 8 * header_bytes(head, got);
    return blocks->chain_bit > 0;
}

static bool add_slot(struct gt_blocks *blocks) {
    struct slot *slot = gt_mem_array(1, sizeof *slot);
    if (slot)
        blocks->slots[blocks->slot_count++] = slot;
    return slot;
}

static bool add_decoder(struct gt_blocks *blocks, size_t max_text_bytes) {
    struct gt_piece_decoder *decoder = gt_mem_array(1, sizeof *decoder);
    if (!decoder)
        return false;
    decoder->source = blocks->source;
    decoder->max_text_bytes = max_text_bytes;
    blocks->decoders[blocks->decoder_count++] = decoder;
    return true;
}

/* A map costs a third as much as decoding without one; what has none is written by one thread after the other, which
   takes a quarter of the time of decoding. So few threads need none, and many need it for most pieces. */
static unsigned choose_unmapped(size_t threads) {
    return threads <= 4 ? 1 : threads <= 8 ? 2 : 4;
}

static bool make_slots(struct gt_blocks *blocks, size_t threads, size_t helpers, size_t most_lent) {
    size_t slots = threads + MORE_SLOTS + threads / THREADS_OF_SLOT;
    size_t max_text_bytes = threads > MANY_THREADS ? MAX_TEXT_OF_MANY : MAX_TEXT;
    slots = slots < MAX_SLOTS ? slots : MAX_SLOTS;
    blocks->text_count = most_lent + MORE_TEXTS + threads / THREADS_OF_TEXT;
    blocks->unmapped = choose_unmapped(threads);
    bool is_good = true;
    while (is_good && blocks->slot_count < slots)
        is_good = add_slot(blocks);
    while (is_good && blocks->decoder_count < threads + helpers)
        is_good = add_decoder(blocks, max_text_bytes);
    return is_good;
}

struct gt_blocks *gt_blocks_open(const struct gt_source *source, size_t threads, size_t helpers, size_t most_lent) {
    struct gt_blocks *blocks = gt_mem_array(1, sizeof *blocks);
    if (!blocks)
        return NULL;
    blocks->source = source;
    blocks->last_piece = UINT64_MAX;
    pthread_mutex_init(&blocks->lock, NULL);
    pthread_cond_init(&blocks->came, NULL);
    pthread_cond_init(&blocks->done, NULL);
    threads = threads < MAX_THREADS ? threads : MAX_THREADS;
    helpers = helpers < MAX_HELPERS ? helpers : MAX_HELPERS;
    most_lent = most_lent < GT_BLOCKS_MAX_LENT ? most_lent : GT_BLOCKS_MAX_LENT;
    blocks->most_helping = helpers;
    bool is_good = can_divide(blocks, threads) && make_slots(blocks, threads, helpers, most_lent);
    while (is_good && blocks->thread_count < threads &&
           pthread_create(&blocks->threads[blocks->thread_count], NULL, work, blocks) == 0)
        blocks->thread_count++;
    if (blocks->thread_count > 0)
        return blocks;
    gt_blocks_close(blocks);
    return NULL;
}

static void release_memory(struct gt_blocks *blocks) {
    for (size_t i = 0; i < blocks->slot_count; i++) {
        gt_piece_release(&blocks->slots[i]->piece);
        gt_mem_free(blocks->slots[i]);
    }
    for (size_t i = 0; i < blocks->decoder_count; i++) {
        gt_piece_decoder_release(blocks->decoders[i]);
        gt_mem_free(blocks->decoders[i]);
    }
    for (size_t i = 0; i < MAX_TEXTS; i++)
        gt_mem_free(blocks->texts[i].buffer.bytes);
    for (size_t i = 0; i < blocks->spare_count; i++)
        gt_mem_free(blocks->spare[i].bytes);
}

void gt_blocks_close(struct gt_blocks *blocks) {
    if (!blocks)
        return;
    pthread_mutex_lock(&blocks->lock);
    blocks->is_closing = true;
    pthread_cond_broadcast(&blocks->came);
    pthread_mutex_unlock(&blocks->lock);
    while (blocks->thread_count > 0)
        pthread_join(blocks->threads[--blocks->thread_count], NULL);
    release_memory(blocks);
    pthread_cond_destroy(&blocks->came);
    pthread_cond_destroy(&blocks->done);
    pthread_mutex_destroy(&blocks->lock);
    gt_mem_free(blocks);
}

/* ---- reading ---- */

/* The next piece when it is done; NULL: there is no more, or something is odd. */
static const struct text *lend(struct gt_blocks *blocks) {
    const struct text *text = text_of(blocks, blocks->lent);
    pthread_mutex_lock(&blocks->lock);
    while (!blocks->has_failed && blocks->lent <= blocks->last_piece &&
           (blocks->lent >= blocks->writing || !text->is_done))
        pthread_cond_wait(&blocks->done, &blocks->lock);
    bool is_good = blocks->lent <= blocks->last_piece && blocks->lent < blocks->writing && text->is_done;
    pthread_mutex_unlock(&blocks->lock);
    blocks->lent += is_good;
    return is_good ? text : NULL;
}

static const unsigned char *bytes_of(const struct text *text) {
    return text->buffer.bytes + GT_DEFLATE_WINDOW;
}

bool gt_blocks_is_ready(struct gt_blocks *blocks) {
    const struct text *text = text_of(blocks, blocks->lent);
    pthread_mutex_lock(&blocks->lock);
    bool is_ready =
        blocks->has_failed || blocks->lent > blocks->last_piece || (blocks->lent < blocks->writing && text->is_done);
    pthread_mutex_unlock(&blocks->lock);
    return is_ready;
}

bool gt_blocks_lend(struct gt_blocks *blocks, struct gt_str *bytes) {
    const struct text *text = lend(blocks);
    if (text)
        *bytes = (struct gt_str){(const char *)bytes_of(text), text->byte_count};
    return text;
}

/* After the last block: checksum and size. */
static void check_end(struct gt_blocks *blocks, const struct text *text) {
    unsigned char tail[8];
    size_t got;
    uint64_t offset = (text->end_bit + 7) / 8;
    blocks->is_right = gt_source_pread(blocks->source, tail, sizeof tail, offset, &got, NULL) == GT_OK &&
                       got == sizeof tail && gt_inflate_number(tail, 4) == blocks->crc &&
                       gt_inflate_number(tail + 4, 4) == (uint32_t)blocks->read_bytes;
    blocks->end_offset = offset + sizeof tail;
}

void gt_blocks_take_back(struct gt_blocks *blocks) {
    struct text *text = text_of(blocks, blocks->used);
    blocks->crc = gt_crc_joined(blocks->crc, text->crc, text->byte_count);
    blocks->read_bytes += text->byte_count;
    if (text->is_last)
        check_end(blocks, text);
    pthread_mutex_lock(&blocks->lock);
    blocks->used++;
    blocks->text_bytes -= text->byte_count;
    blocks->spare[blocks->spare_count++] = text->buffer;
    text->buffer = (struct buffer){0};
    wake_another(blocks);
    pthread_mutex_unlock(&blocks->lock);
}

size_t gt_blocks_read(struct gt_blocks *blocks, void *buf, size_t size) {
    size_t got = 0;
    while (got < size && (blocks->current || (blocks->current = lend(blocks)))) {
        size_t left = blocks->current->byte_count - blocks->position, piece = size - got < left ? size - got : left;
        memcpy((char *)buf + got, bytes_of(blocks->current) + blocks->position, piece);
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
