/* Pieces that threads of gt_blocks have inflated, borrowed in order by whoever needs the next one, and given back when
   all readers are beyond them. */
#include "base/tape.h"

#include <pthread.h>

#include "base/mem.h"

/* So many threads may inflate where readers help them. A reader that decodes a piece comes back after a time in which
   many threads inflate more than may be kept, and all of them would wait for it. */
enum { MAX_HELPED = 6 };

struct place {
    uint64_t offset;
    bool is_mark;
};

struct piece {
    uint64_t begin;
    struct gt_str bytes;
};

struct gt_tape {
    struct gt_blocks *blocks;
    size_t most_kept; /* pieces, whatever their size: one for each reader, about as long as what that reader needs */
    size_t reader_count;
    pthread_mutex_t lock;
    pthread_cond_t changed;

    /* Guarded by the lock. */
    struct place *places;
    struct piece
        kept[GT_BLOCKS_MAX_LENT]; /* a ring: those from `first` to `end`, counted from the beginning of the file */
    uint64_t first, end;
    uint64_t end_offset; /* of the bytes so far */
    bool is_borrowing;   /* somebody waits for the next piece */
    bool has_ended, is_odd;
};

struct gt_tape *gt_tape_open(struct gt_source *source, size_t threads, size_t readers) {
    size_t most_kept = readers < GT_BLOCKS_MAX_LENT ? readers : GT_BLOCKS_MAX_LENT;
    struct gt_tape *tape = gt_mem_array(1, sizeof *tape);
    struct place *places = gt_mem_array(readers, sizeof *places);
    struct gt_blocks *blocks =
        tape && places ? gt_blocks_open(source, threads, threads > MAX_HELPED ? 0 : readers, most_kept) : NULL;
    if (!blocks) {
        gt_mem_free(places);
        gt_mem_free(tape);
        return NULL;
    }
    tape->blocks = blocks;
    tape->places = places;
    tape->reader_count = readers;
    tape->most_kept = most_kept;
    pthread_mutex_init(&tape->lock, NULL);
    pthread_cond_init(&tape->changed, NULL);
    return tape;
}

void gt_tape_close(struct gt_tape *tape) {
    if (!tape)
        return;
    gt_blocks_close(tape->blocks);
    pthread_cond_destroy(&tape->changed);
    pthread_mutex_destroy(&tape->lock);
    gt_mem_free(tape->places);
    gt_mem_free(tape);
}

static struct piece *piece_of(struct gt_tape *tape, uint64_t number) {
    return &tape->kept[number % GT_BLOCKS_MAX_LENT];
}

/* Gives back the pieces that all are beyond. With the lock. */
static void forget(struct gt_tape *tape) {
    uint64_t lowest = GT_TAPE_NOWHERE;
    for (size_t i = 0; i < tape->reader_count; i++)
        lowest = tape->places[i].offset < lowest ? tape->places[i].offset : lowest;
    for (; tape->first < tape->end; tape->first++) {
        const struct piece *piece = piece_of(tape, tape->first);
        if (piece->begin + piece->bytes.len > lowest)
            break;
        gt_blocks_take_back(tape->blocks);
    }
}

/* With the lock. */
static void move(struct gt_tape *tape, size_t reader, uint64_t offset, bool is_mark) {
    tape->places[reader] = (struct place){offset, is_mark};
    forget(tape);
    pthread_cond_broadcast(&tape->changed);
}

void gt_tape_keep(struct gt_tape *tape, size_t reader, uint64_t offset, bool is_mark) {
    pthread_mutex_lock(&tape->lock);
    move(tape, reader, offset, is_mark);
    pthread_mutex_unlock(&tape->lock);
}

/* Whether a reader who is behind this one may yet move on. With the lock. */
static bool is_held_up(const struct gt_tape *tape, size_t reader) {
    for (size_t i = 0; i < tape->reader_count; i++)
        if (!tape->places[i].is_mark && tape->places[i].offset < tape->places[reader].offset)
            return true;
    return false;
}

/* Called and left with the lock, which it does not hold while it waits. */
static void borrow(struct gt_tape *tape) {
    struct gt_str bytes = {0};
    tape->is_borrowing = true;
    pthread_mutex_unlock(&tape->lock);
    bool is_good = gt_blocks_lend(tape->blocks, &bytes);
    pthread_mutex_lock(&tape->lock);
    tape->is_borrowing = false;
    tape->has_ended = !is_good;
    if (is_good) {
        *piece_of(tape, tape->end++) = (struct piece){tape->end_offset, bytes};
        tape->end_offset += bytes.len;
        forget(tape);
    }
    pthread_cond_broadcast(&tape->changed);
}

/* Whether no more pieces can be kept. With the lock. */
static bool is_full(struct gt_tape *tape) {
    uint64_t count = tape->end - tape->first;
    if (count < tape->most_kept)
        return false;
    return count == GT_BLOCKS_MAX_LENT || tape->end_offset - piece_of(tape, tape->first)->begin >= GT_BLOCKS_LENT_BYTES;
}

/* Called and left with the lock, which it does not hold while it inflates. */
static bool help(struct gt_tape *tape) {
    pthread_mutex_unlock(&tape->lock);
    bool has_helped = gt_blocks_help(tape->blocks);
    pthread_mutex_lock(&tape->lock);
    return has_helped;
}

/* Waits until the byte at an offset is there, and inflates meanwhile. false: it never is. With the lock. */
static bool wait_for(struct gt_tape *tape, size_t reader, uint64_t offset) {
    bool is_idle = false; /* there was nothing to help with */
    while (offset >= tape->end_offset && !tape->has_ended && !tape->is_odd) {
        bool has_no_room = is_full(tape), may_borrow = !has_no_room && !tape->is_borrowing;
        if (has_no_room && !is_held_up(tape, reader)) {
            tape->is_odd = true;
        } else if (may_borrow && (is_idle || gt_blocks_is_ready(tape->blocks))) {
            borrow(tape);
        } else if (!is_idle) {
            is_idle = !help(tape);
            continue;
        } else {
            pthread_cond_wait(&tape->changed, &tape->lock);
        }
        is_idle = false;
    }
    if (tape->is_odd)
        pthread_cond_broadcast(&tape->changed);
    return offset < tape->end_offset && !tape->is_odd;
}

/* The piece that has the byte at an offset, which is kept. With the lock. */
static struct piece piece_at(struct gt_tape *tape, uint64_t offset) {
    uint64_t number = tape->first;
    while (offset >= piece_of(tape, number)->begin + piece_of(tape, number)->bytes.len)
        number++;
    return *piece_of(tape, number);
}

static struct gt_str rest_of(struct piece piece, uint64_t offset) {
    size_t skipped = (size_t)(offset - piece.begin);
    return (struct gt_str){piece.bytes.ptr + skipped, piece.bytes.len - skipped};
}

struct gt_str gt_tape_show(struct gt_tape *tape, size_t reader, uint64_t offset) {
    struct gt_str bytes = {"", 0};
    pthread_mutex_lock(&tape->lock);
    move(tape, reader, offset, false);
    if (wait_for(tape, reader, offset))
        bytes = rest_of(piece_at(tape, offset), offset);
    pthread_mutex_unlock(&tape->lock);
    return bytes;
}

size_t gt_tape_read(struct gt_tape *tape, size_t reader, void *buf, size_t size, uint64_t offset) {
    size_t got = 0;
    while (got < size) {
        struct piece piece = {0};
        pthread_mutex_lock(&tape->lock);
        bool is_there = wait_for(tape, reader, offset + got);
        if (is_there)
            piece = piece_at(tape, offset + got);
        pthread_mutex_unlock(&tape->lock);
        if (!is_there)
            break;
        struct gt_str rest = rest_of(piece, offset + got);
        size_t part = size - got < rest.len ? size - got : rest.len;
        memcpy((char *)buf + got, rest.ptr, part);
        got += part;
    }
    return got;
}

bool gt_tape_is_odd(struct gt_tape *tape) {
    pthread_mutex_lock(&tape->lock);
    bool is_odd = tape->is_odd || (tape->has_ended && tape->first == tape->end && !gt_blocks_is_all(tape->blocks));
    pthread_mutex_unlock(&tape->lock);
    return is_odd;
}
