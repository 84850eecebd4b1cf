/* Slices of rows: each is made by whoever is free, and put out by who finds that it is its turn. */
#include "base/out_slices.h"

#include <pthread.h>

#include "base/mem.h"
#include "base/threads.h"

enum { SLICE_ROWS = 512 }; /* a few hundred kB, as much as a core's cache holds */

struct place {
    struct gt_out *buffer; /* made when first used */
    bool is_ready;
};

struct work {
    struct gt_out *out;
    size_t row_count, slice_count;
    void (*write)(const void *context, struct gt_out *to, size_t begin, size_t end);
    const void *context;

    pthread_mutex_t lock;
    pthread_cond_t moved; /* next is another one */
    struct place *places; /* slice i has i % place_count, as soon as the one before it there is out */
    size_t place_count;
    size_t next;    /* the first slice that is not out */
    bool is_at_out; /* someone puts out slices */
};

/* Slices are dealt in order: who has the next one never waits. */
static struct place *wait_for_place(struct work *work, size_t slice) {
    pthread_mutex_lock(&work->lock);
    while (slice >= work->next + work->place_count)
        pthread_cond_wait(&work->moved, &work->lock);
    pthread_mutex_unlock(&work->lock);
    return &work->places[slice % work->place_count];
}

static void put_out(struct work *work, const struct place *place) {
    if (!place->buffer || gt_out_failed(place->buffer))
        gt_out_fail_memory(work->out);
    else
        gt_out_str(work->out, gt_out_bytes(place->buffer));
}

/* Puts out what is ready from the next slice on, unless someone does already: that one sees this slice, too. */
static void hand_in(struct work *work, struct place *place) {
    pthread_mutex_lock(&work->lock);
    place->is_ready = true;
    if (!work->is_at_out) {
        work->is_at_out = true;
        for (struct place *next; (next = &work->places[work->next % work->place_count])->is_ready;) {
            pthread_mutex_unlock(&work->lock);
            put_out(work, next);
            pthread_mutex_lock(&work->lock);
            next->is_ready = false;
            work->next++;
            pthread_cond_broadcast(&work->moved);
        }
        work->is_at_out = false;
    }
    pthread_mutex_unlock(&work->lock);
}

static void make_slice(void *context, size_t slice) {
    struct work *work = context;
    struct place *place = wait_for_place(work, slice);
    struct gt_error err; /* of memory: put_out sees it */

    if (place->buffer)
        gt_out_clear(place->buffer);
    else
        (void)gt_out_open_memory(&place->buffer, &err);
    if (place->buffer)
        work->write(work->context, place->buffer, gt_threads_slice_begin(work->row_count, work->slice_count, slice),
                    gt_threads_slice_begin(work->row_count, work->slice_count, slice + 1));
    hand_in(work, place);
}

static void deal_slices(struct work *work, size_t threads) {
    work->places = gt_mem_array(work->place_count, sizeof *work->places);
    if (!work->places) {
        gt_out_fail_memory(work->out);
        return;
    }
    pthread_mutex_init(&work->lock, NULL); /* neither can fail without attributes */
    pthread_cond_init(&work->moved, NULL);
    gt_threads_deal(threads, work->slice_count, make_slice, work);
    pthread_cond_destroy(&work->moved);
    pthread_mutex_destroy(&work->lock);
    for (size_t i = 0; i < work->place_count; i++)
        gt_out_close(work->places[i].buffer);
    gt_mem_free(work->places);
}

void gt_out_slices_write(struct gt_out *out, size_t threads, size_t row_count,
                         void (*write)(const void *context, struct gt_out *to, size_t begin, size_t end),
                         const void *context) {
    struct work work = {.out = out, .row_count = row_count, .write = write, .context = context};

    work.slice_count = row_count / SLICE_ROWS;
    work.place_count = work.slice_count < 2 * threads ? work.slice_count : 2 * threads;
    if (threads > 1 && work.slice_count > 1)
        deal_slices(&work, threads);
    else
        write(context, out, 0, row_count);
}
