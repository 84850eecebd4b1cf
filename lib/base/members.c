/* Threads that each take the next few members of a packed file, inflate them whole into a slot, and leave them there
   for the one who reads. Whatever is not as the members' headers say is left to the serial reader, so that damage gives
   the same bytes and the same words as without threads. */
#include "base/members.h"

#include <pthread.h>

#include "base/inflate.h"
#include "base/mem.h"

/* A piece: members up to so many bytes, or a single one of a size that is still worth a buffer. */
enum { PIECE_BYTES = 512 * 1024, MAX_MEMBER_BYTES = 8 << 20 };

/* A few more slots than threads: the reader uses one, and none waits for the slowest. */
enum { MAX_THREADS = 8, MORE_SLOTS = 2, MAX_SLOTS = MAX_THREADS + MORE_SLOTS };

struct slot {
    uint64_t begin; /* in the file */
    size_t packed_bytes, plain_bytes;
    unsigned char *packed, *plain;
    size_t packed_room, plain_room;
    bool is_done, is_odd; /* odd: it is not what the header declared */
};

struct gt_members {
    const struct gt_source *source;
    uint64_t file_bytes;
    pthread_t threads[MAX_THREADS];
    size_t thread_count, slot_count;
    pthread_mutex_t lock;
    pthread_cond_t changed;

    /* Guarded by the lock. */
    uint64_t cursor;    /* where the next piece begins */
    size_t taken, used; /* pieces so far; the next one of each side is in the slot of this modulo slot_count */
    bool has_ended;     /* nothing from the cursor on is for these threads */
    bool is_closing;
    struct slot slots[MAX_SLOTS]; /* of a slot that is taken and not done: its thread's */

    size_t position; /* the reader's, in his slot */
};

/* The next members, as their headers declare them; moves the cursor. false: the next one does not say. */
static bool measure_piece(struct gt_members *members, struct slot *slot) {
    const struct gt_codec *codec = gt_inflate_codec_of(gt_source_packing(members->source));
    struct gt_member member;
    slot->begin = members->cursor;
    slot->packed_bytes = slot->plain_bytes = 0;
    while (slot->plain_bytes < PIECE_BYTES && slot->packed_bytes < PIECE_BYTES &&
           codec->measure(members->source, members->cursor, &member) && member.plain_bytes <= MAX_MEMBER_BYTES &&
           member.packed_bytes <= 2 * MAX_MEMBER_BYTES &&
           member.packed_bytes <= members->file_bytes - members->cursor) {
        slot->packed_bytes += (size_t)member.packed_bytes;
        slot->plain_bytes += (size_t)member.plain_bytes;
        members->cursor += member.packed_bytes;
    }
    return slot->packed_bytes > 0;
}

static bool make_room(unsigned char **buffer, size_t *room, size_t wanted) {
    if (wanted <= *room)
        return true;
    unsigned char *grown = gt_mem_realloc(*buffer, wanted);
    if (!grown)
        return false;
    *buffer = grown;
    *room = wanted;
    return true;
}

/* true: the piece came out as declared, checksums and all. A byte to spare shows that no more comes. */
static bool inflate_piece(const struct gt_members *members, struct gt_inflate *inflate, struct slot *slot) {
    size_t got;
    if (!make_room(&slot->packed, &slot->packed_room, slot->packed_bytes) ||
        !make_room(&slot->plain, &slot->plain_room, slot->plain_bytes + 1) ||
        gt_source_pread(members->source, slot->packed, slot->packed_bytes, slot->begin, &got, NULL) != GT_OK ||
        got < slot->packed_bytes)
        return false;
    struct gt_inflate_io io = {slot->packed, got, true, slot->plain, slot->plain_bytes + 1};
    gt_inflate_restart(inflate, true);
    return gt_inflate_run(inflate, &io) == GT_INFLATE_ENDED && !gt_inflate_damage(inflate) && io.out_size == 1 &&
           io.in_size == 0;
}

static void *work(void *argument) {
    struct gt_members *members = argument;
    struct gt_inflate *inflate = gt_inflate_new(gt_source_packing(members->source));
    pthread_mutex_lock(&members->lock);
    for (;;) {
        while (members->taken - members->used == members->slot_count && !members->is_closing && !members->has_ended)
            pthread_cond_wait(&members->changed, &members->lock);
        struct slot *slot = &members->slots[members->taken % members->slot_count];
        members->has_ended |= !inflate || members->is_closing;
        if (members->has_ended || !measure_piece(members, slot))
            break;
        members->taken++;
        slot->is_done = false;
        pthread_mutex_unlock(&members->lock);
        bool is_odd = !inflate_piece(members, inflate, slot);
        pthread_mutex_lock(&members->lock);
        slot->is_odd = is_odd;
        slot->is_done = true;
        members->has_ended |= is_odd;
        pthread_cond_broadcast(&members->changed);
    }
    members->has_ended = true;
    pthread_cond_broadcast(&members->changed);
    pthread_mutex_unlock(&members->lock);
    gt_inflate_free(inflate);
    return NULL;
}

static bool can_divide(struct gt_members *members) {
    struct slot first;
    bool can = gt_source_packing(members->source) != GT_PACKING_NONE &&
               gt_source_file_size(members->source, &members->file_bytes) && measure_piece(members, &first) &&
               members->cursor < members->file_bytes;
    members->cursor = 0;
    return can;
}

struct gt_members *gt_members_open(const struct gt_source *source, size_t threads) {
    struct gt_members *members = gt_mem_array(1, sizeof *members);
    if (!members)
        return NULL;
    members->source = source;
    if (!can_divide(members)) {
        gt_mem_free(members);
        return NULL;
    }
    pthread_mutex_init(&members->lock, NULL);
    pthread_cond_init(&members->changed, NULL);
    threads = threads < MAX_THREADS ? threads : MAX_THREADS;
    members->slot_count = threads + MORE_SLOTS;
    while (members->thread_count < threads &&
           pthread_create(&members->threads[members->thread_count], NULL, work, members) == 0)
        members->thread_count++;
    if (members->thread_count > 0)
        return members;
    gt_members_close(members);
    return NULL;
}

void gt_members_close(struct gt_members *members) {
    if (!members)
        return;
    pthread_mutex_lock(&members->lock);
    members->is_closing = true;
    pthread_cond_broadcast(&members->changed);
    pthread_mutex_unlock(&members->lock);
    while (members->thread_count > 0)
        pthread_join(members->threads[--members->thread_count], NULL);
    for (size_t i = 0; i < MAX_SLOTS; i++) {
        gt_mem_free(members->slots[i].packed);
        gt_mem_free(members->slots[i].plain);
    }
    pthread_cond_destroy(&members->changed);
    pthread_mutex_destroy(&members->lock);
    gt_mem_free(members);
}

/* The reader's slot when it is done; NULL: no more come, or an odd one. */
static struct slot *wait_for_slot(struct gt_members *members) {
    struct slot *slot = &members->slots[members->used % members->slot_count];
    pthread_mutex_lock(&members->lock);
    while (members->used == members->taken ? !members->has_ended : !slot->is_done)
        pthread_cond_wait(&members->changed, &members->lock);
    bool is_good = members->used < members->taken && !slot->is_odd;
    pthread_mutex_unlock(&members->lock);
    return is_good ? slot : NULL;
}

static void give_back_slot(struct gt_members *members) {
    pthread_mutex_lock(&members->lock);
    members->used++;
    pthread_cond_broadcast(&members->changed);
    pthread_mutex_unlock(&members->lock);
    members->position = 0;
}

size_t gt_members_read(struct gt_members *members, void *buf, size_t size) {
    size_t got = 0;
    struct slot *slot;
    while (got < size && (slot = wait_for_slot(members))) {
        size_t left = slot->plain_bytes - members->position, piece = size - got < left ? size - got : left;
        memcpy((char *)buf + got, slot->plain + members->position, piece);
        got += piece;
        members->position += piece;
        if (piece == left)
            give_back_slot(members);
    }
    return got;
}

uint64_t gt_members_rest(const struct gt_members *members) {
    return members->used < members->taken ? members->slots[members->used % members->slot_count].begin : members->cursor;
}
