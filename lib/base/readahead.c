/* A ring of buffers between a thread that reads a source and a caller who uses its bytes. */
#include "base/readahead.h"

#include <pthread.h>

#include "base/blocks.h"
#include "base/mem.h"
#include "base/members.h"

/* Enough that neither side waits for the other because of one slow piece, and few enough to stay in a cache. */
enum { BUFFER_COUNT = 4, BUFFER_BYTES = 1 << 20 };
/* More threads inflate faster than one reads. */
enum { MAX_INFLATING = 8 };

struct gt_readahead {
    struct gt_source *source;
    /* What comes before all that the thread reads, one of these; NULL: nothing, or no longer. */
    struct gt_members *members;
    struct gt_blocks *blocks;
    bool gave_bytes;
    bool has_thread;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;

    /* Guarded by the lock. */
    size_t filled, used; /* buffers so far; the next one of each side is this modulo BUFFER_COUNT */
    bool has_ended;      /* the last filled buffer was the last one */
    bool is_closing;
    size_t sizes[BUFFER_COUNT];
    enum gt_status status; /* why it ended */
    struct gt_error error;

    size_t position; /* the caller's, in the buffer he uses */
    char *buffers[BUFFER_COUNT];
};

/* Waits until a buffer is free; false: nobody wants more. */
static bool wait_for_room(struct gt_readahead *ahead) {
    pthread_mutex_lock(&ahead->lock);
    while (ahead->filled - ahead->used == BUFFER_COUNT && !ahead->is_closing)
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    bool goes_on = !ahead->is_closing;
    pthread_mutex_unlock(&ahead->lock);
    return goes_on;
}

static void *fill(void *argument) {
    struct gt_readahead *ahead = argument;
    bool goes_on = true;
    while (goes_on && wait_for_room(ahead)) {
        struct gt_error error = {0};
        size_t got = 0, slot = ahead->filled % BUFFER_COUNT; /* only this thread changes `filled` */
        enum gt_status status = gt_source_read(ahead->source, ahead->buffers[slot], BUFFER_BYTES, &got, &error);
        goes_on = status == GT_OK && got > 0;
        pthread_mutex_lock(&ahead->lock);
        ahead->sizes[slot] = got;
        ahead->filled += got > 0;
        ahead->has_ended = !goes_on;
        ahead->status = status;
        ahead->error = error;
        pthread_cond_signal(&ahead->changed);
        pthread_mutex_unlock(&ahead->lock);
    }
    return NULL;
}

static bool alloc_buffers(struct gt_readahead *ahead) {
    for (size_t i = 0; i < BUFFER_COUNT; i++)
        if (!(ahead->buffers[i] = gt_mem_alloc(BUFFER_BYTES)))
            return false;
    return true;
}

static void release(struct gt_readahead *ahead) {
    for (size_t i = 0; i < BUFFER_COUNT; i++)
        gt_mem_free(ahead->buffers[i]);
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->lock);
    gt_mem_free(ahead);
}

static bool start(struct gt_readahead *ahead) {
    ahead->has_thread = alloc_buffers(ahead) && pthread_create(&ahead->thread, NULL, fill, ahead) == 0;
    return ahead->has_thread;
}

enum gt_status gt_readahead_open(struct gt_source *source, size_t threads, struct gt_readahead **out,
                                 struct gt_error *err) {
    *out = NULL;
    struct gt_readahead *ahead = gt_mem_array(1, sizeof *ahead);
    if (!ahead)
        return gt_fail_memory(err);
    ahead->source = source;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    ahead->members = gt_members_open(source, threads);
    if (!ahead->members)
        ahead->blocks = gt_blocks_open(source, threads < MAX_INFLATING ? threads : MAX_INFLATING, 0, 0);
    if (ahead->members || ahead->blocks || start(ahead))
        *out = ahead;
    else
        release(ahead);
    return GT_OK;
}

void gt_readahead_close(struct gt_readahead *ahead) {
    if (!ahead)
        return;
    gt_members_close(ahead->members);
    gt_blocks_close(ahead->blocks);
    pthread_mutex_lock(&ahead->lock);
    ahead->is_closing = true;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    if (ahead->has_thread)
        pthread_join(ahead->thread, NULL);
    release(ahead);
}

/* Waits for a filled buffer and gives its bytes; 0: the end. Bytes before an error come first. */
static size_t wait_for_bytes(struct gt_readahead *ahead) {
    pthread_mutex_lock(&ahead->lock);
    while (ahead->used == ahead->filled && !ahead->has_ended)
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    size_t size = ahead->used < ahead->filled ? ahead->sizes[ahead->used % BUFFER_COUNT] : 0;
    pthread_mutex_unlock(&ahead->lock);
    return size;
}

static void give_back_buffer(struct gt_readahead *ahead) {
    pthread_mutex_lock(&ahead->lock);
    ahead->used++;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    ahead->position = 0;
}

/* What the ring has, up to size bytes. */
static size_t read_ring(struct gt_readahead *ahead, char *buf, size_t size) {
    size_t got = 0;
    while (got < size) {
        size_t filled = wait_for_bytes(ahead), left = filled - ahead->position;
        if (filled == 0)
            break;
        size_t piece = size - got < left ? size - got : left;
        memcpy(buf + got, ahead->buffers[ahead->used % BUFFER_COUNT] + ahead->position, piece);
        got += piece;
        ahead->position += piece;
        if (piece == left)
            give_back_buffer(ahead);
    }
    return got;
}

/* After the last member that several threads inflated: the rest is one stream. */
static void leave_members(struct gt_readahead *ahead) {
    gt_source_restart(ahead->source, gt_members_rest(ahead->members), ahead->gave_bytes);
    gt_members_close(ahead->members);
    ahead->members = NULL;
    start(ahead);
}

static enum gt_status skip_bytes(struct gt_source *source, uint64_t bytes, struct gt_error *err) {
    char *buffer = gt_mem_alloc(BUFFER_BYTES);
    if (!buffer)
        return gt_fail_memory(err);
    enum gt_status status = GT_OK;
    for (size_t got = 1; status == GT_OK && bytes > 0 && got > 0; bytes -= got)
        status = gt_source_read(source, buffer, bytes < BUFFER_BYTES ? (size_t)bytes : BUFFER_BYTES, &got, err);
    gt_mem_free(buffer);
    return status;
}

/* The same after the blocks of a member, or from its beginning on if something in it is odd. */
static enum gt_status leave_blocks(struct gt_readahead *ahead, struct gt_error *err) {
    struct gt_blocks_rest rest = gt_blocks_rest(ahead->blocks);
    gt_blocks_close(ahead->blocks);
    ahead->blocks = NULL;
    gt_source_restart(ahead->source, rest.offset, rest.offset > 0);
    if (skip_bytes(ahead->source, rest.skipped_bytes, err) != GT_OK)
        return GT_ERR;
    start(ahead);
    return GT_OK;
}

/* What several threads inflate, up to size bytes; fewer: the rest comes from the source. */
static enum gt_status read_divided(struct gt_readahead *ahead, char *buf, size_t size, size_t *got,
                                   struct gt_error *err) {
    *got = ahead->members ? gt_members_read(ahead->members, buf, size) : gt_blocks_read(ahead->blocks, buf, size);
    ahead->gave_bytes |= *got > 0;
    if (*got == size)
        return GT_OK;
    if (ahead->blocks)
        return leave_blocks(ahead, err);
    leave_members(ahead);
    return GT_OK;
}

enum gt_status gt_readahead_read(struct gt_readahead *ahead, void *buf, size_t size, size_t *got,
                                 struct gt_error *err) {
    *got = 0;
    if (ahead->members || ahead->blocks) {
        enum gt_status status = read_divided(ahead, buf, size, got, err);
        if (status != GT_OK || *got == size)
            return status;
    }
    if (!ahead->has_thread) {
        size_t more;
        enum gt_status status = gt_source_read(ahead->source, (char *)buf + *got, size - *got, &more, err);
        *got += more;
        return status;
    }
    *got += read_ring(ahead, (char *)buf + *got, size - *got);
    if (*got > 0 || size == 0)
        return GT_OK;
    /* The other thread has ended, so nobody writes these any more. */
    if (ahead->status != GT_OK && err)
        *err = ahead->error;
    return ahead->status;
}
