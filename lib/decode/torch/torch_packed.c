/* What threads inflate is cut into chunks that workers take in order, as many as there turn out to be. What was read is
   gone: where a chunk is wrong, everything is thrown away and read again in one go. */
#include "decode/torch/torch_packed.h"

#include <pthread.h>

#include "base/mem.h"
#include "base/threads.h"
#include "decode/torch/torch_decoding.h"

/* The tape keeps all that lies between the first and the last worker, so that their chunks must be short. */
enum { MAX_CHUNK_BYTES = 512 << 10, MAX_WINDOW_BYTES = 256 << 10 };

/* Of the tape: the workers read, then the reader; last comes the mark of the next chunk. */
struct packed {
    struct gt_torch_decoding decoding;
    pthread_mutex_t lock; /* guards the chunks and what follows */
    size_t chunk_room;
    bool is_odd;    /* it has to be read in one go */
    bool has_ended; /* somebody came to the end of the array or of the file, or to damage */
};

static size_t tape_mark(const struct packed *packed) {
    return packed->decoding.count;
}

/* The tape keeps what is before a chunk, too. */
static void keep_chunk(struct packed *packed, size_t reader, const struct gt_torch_chunk *chunk) {
    uint64_t back = chunk->nominal < GT_TORCH_LOOK_BACK_BYTES ? chunk->nominal : GT_TORCH_LOOK_BACK_BYTES;
    gt_tape_keep(packed->decoding.tape, reader, chunk->nominal - back, reader == tape_mark(packed));
}

static struct gt_torch_chunk chunk_at(const struct packed *packed, size_t index) {
    uint64_t step = packed->decoding.sizes->chunk_bytes,
             begin = gt_torch_reader_offset(&packed->decoding.reader) + index * step;
    return (struct gt_torch_chunk){
        .nominal = begin, .limit = begin + step, .begin = GT_TORCH_NOWHERE, .end = GT_TORCH_NOWHERE};
}

/* The next chunk is this worker's. false: there is none, or no memory for it. */
static bool take_chunk(struct packed *packed, size_t worker, size_t *index) {
    pthread_mutex_lock(&packed->lock);
    struct gt_torch_chunk *room =
        gt_mem_room(packed->decoding.chunks, packed->decoding.chunk_count, &packed->chunk_room, sizeof *room);
    bool is_good = room && !packed->has_ended;
    packed->decoding.chunks = room ? room : packed->decoding.chunks;
    packed->is_odd |= !room;
    if (is_good) {
        *index = packed->decoding.chunk_count++;
        struct gt_torch_chunk chunk = chunk_at(packed, *index), next = chunk_at(packed, *index + 1);
        chunk.worker = worker;
        packed->decoding.chunks[*index] = chunk;
        keep_chunk(packed, worker, &chunk);
        keep_chunk(packed, tape_mark(packed), &next);
    }
    pthread_mutex_unlock(&packed->lock);
    return is_good;
}

static void put_chunk(struct packed *packed, size_t index, const struct gt_torch_chunk *chunk, bool has_ended) {
    pthread_mutex_lock(&packed->lock);
    packed->decoding.chunks[index] = *chunk;
    packed->has_ended |= has_ended;
    pthread_mutex_unlock(&packed->lock);
}

static void work(void *context, size_t index) {
    struct packed *packed = context;
    struct gt_torch_worker *worker = &packed->decoding.workers[index];
    uint64_t needed = GT_TAPE_NOWHERE;
    size_t i;
    while (worker->status == GT_OK && needed == GT_TAPE_NOWHERE && take_chunk(packed, index, &i)) {
        struct gt_torch_chunk chunk = chunk_at(packed, i);
        chunk.worker = index;
        chunk.segment = gt_builder_begin(worker->sink->builder, i + 1);
        gt_torch_chunk_read(worker, &chunk, i == 0);
        put_chunk(packed, i, &chunk, chunk.ends_array || chunk.is_spoilt || worker->window.bytes.is_all);
        if (chunk.ends_array) /* where the reader goes on */
            needed = chunk.end;
    }
    gt_tape_keep(packed->decoding.tape, index, needed, true);
}

/* Whether this chunk is where the reader is, or has nothing that would be read here. */
static bool is_next(const struct gt_torch_chunk *chunk, uint64_t at, bool has_ended) {
    if (chunk->is_spoilt)
        return false;
    if (chunk->begin == GT_TORCH_NOWHERE)
        return has_ended || at >= chunk->limit;
    return !has_ended && chunk->begin == at;
}

/* Are these all the events of the array, none twice and none left out? Then the reader goes on after it. */
static bool join_chunks(struct packed *packed) {
    struct gt_torch_reader *reader = &packed->decoding.reader;
    uint64_t at = gt_torch_reader_offset(reader);
    bool has_ended = false;
    for (size_t i = 0; i < packed->decoding.chunk_count; i++) {
        const struct gt_torch_chunk *chunk = &packed->decoding.chunks[i];
        if (gt_torch_decoding_is_forgotten(&packed->decoding, chunk) || !is_next(chunk, at, has_ended))
            return false;
        at = chunk->begin == GT_TORCH_NOWHERE ? at : chunk->end;
        has_ended |= chunk->ends_array;
        reader->region.element_count += chunk->element_count;
        gt_torch_decoding_reader_sink(&packed->decoding)->event_count += chunk->event_count;
    }
    if (has_ended)
        gt_torch_reader_skip_to(reader, at, false);
    return has_ended;
}

/* Nobody but the reader needs anything. */
static void clear_tape(const struct packed *packed) {
    for (size_t i = 0; i <= tape_mark(packed); i++)
        if (i != packed->decoding.count - 1)
            gt_tape_keep(packed->decoding.tape, i, GT_TAPE_NOWHERE, true);
}

static enum gt_status read_chunks(struct packed *packed, struct gt_error *err) {
    struct gt_torch_reader *reader = &packed->decoding.reader;
    clear_tape(packed);
    if (gt_torch_reader_find_array(reader, err) != GT_OK)
        return GT_ERR;
    if (reader->has_ended || reader->document.array_count == 0)
        return GT_OK;
    /* A worker has no place before it takes a chunk: its thread may never start, and nobody may wait for it. */
    const struct gt_torch_chunk first = chunk_at(packed, 0);
    keep_chunk(packed, tape_mark(packed), &first);
    gt_tape_keep(packed->decoding.tape, packed->decoding.count - 1, GT_TAPE_NOWHERE, true);
    if (gt_torch_decoding_run(&packed->decoding, work, packed, err) != GT_OK)
        return GT_ERR;
    packed->is_odd |= !join_chunks(packed) || gt_tape_is_odd(packed->decoding.tape);
    clear_tape(packed);
    return packed->is_odd ? GT_ERR : GT_OK;
}

/* Sealing has threads of its own: those that inflate end before. */
static enum gt_status decode(struct packed *packed, size_t workers, struct gt_store **out, struct gt_error *err) {
    struct gt_torch_decoding *decoding = &packed->decoding;
    bool is_read = gt_torch_decoding_begin(decoding, workers, err) == GT_OK && read_chunks(packed, err) == GT_OK &&
                   gt_torch_decoding_read_rest(decoding, err) == GT_OK;
    packed->is_odd |= gt_tape_is_odd(decoding->tape);
    gt_tape_close(decoding->tape);
    decoding->tape = NULL;
    return is_read && !packed->is_odd ? gt_torch_decoding_seal(decoding, out, err) : GT_ERR;
}

/* Inflating so costs about three times what parsing does. */
static size_t choose_workers(size_t threads) {
    return (threads + 3) / 4;
}

bool gt_torch_packed_decode(struct gt_source *source, const struct gt_decode_options *options,
                            const struct gt_torch_sizes *sizes, struct gt_store **out, enum gt_status *status,
                            struct gt_error *err) {
    struct gt_torch_sizes small = *sizes;
    struct packed packed = {.decoding = {.source = source, .options = options, .sizes = &small}};
    size_t threads = gt_threads_own(options->threads), workers = choose_workers(threads);
    if (workers == 0 || gt_source_packing(source) == GT_PACKING_NONE ||
        !(packed.decoding.tape = gt_tape_open(source, threads - workers, workers + 2)))
        return false;
    small.chunk_bytes = small.chunk_bytes < MAX_CHUNK_BYTES ? small.chunk_bytes : MAX_CHUNK_BYTES;
    small.window_bytes = small.window_bytes < MAX_WINDOW_BYTES ? small.window_bytes : MAX_WINDOW_BYTES;
    pthread_mutex_init(&packed.lock, NULL);
    *status = decode(&packed, workers, out, err);
    gt_torch_decoding_release(&packed.decoding);
    pthread_mutex_destroy(&packed.lock);
    if (packed.is_odd)
        gt_source_restart(source, 0, false);
    return !packed.is_odd;
}
