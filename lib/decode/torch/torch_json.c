/* Decoder of Chrome trace JSON as the PyTorch profiler (Kineto) writes it. Plain files are cut into chunks that threads
   read at the same time, and so is what several threads inflate; other packed ones and pipes are read in one go. Either
   way gives the same store. */
#include "decode/torch/torch_json.h"

#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "base/tape.h"
#include "base/threads.h"
#include "decode/torch/torch_chunk.h"
#include "decode/torch/torch_reader.h"
#include "events/builder.h"

/* Chunks are handed out one after the other: several for each thread, since they do not take equally long, but not
   so small that beginning one costs. */
enum { MIN_CHUNK_BYTES = 1 << 20, MAX_CHUNK_BYTES = 8 << 20, CHUNKS_PER_THREAD = 4 };
/* What is read at once: long reads cost less, but the memory of a long one is worth its while only in long chunks. */
enum { MIN_WINDOW_BYTES = 256 << 10, MAX_WINDOW_BYTES = 1 << 20, WINDOWS_PER_CHUNK = 8, MAX_EVENT_BYTES = 64 << 20 };

struct decoding {
    struct gt_source *source;
    const struct gt_decode_options *options;
    const struct gt_torch_sizes *sizes;
    struct gt_builder *builders; /* one for each worker, then the reader's */
    struct gt_torch_sink *sinks; /* the same */
    size_t count;                /* of both */
    struct gt_torch_reader reader;
    struct gt_torch_worker *workers;
    struct gt_torch_chunk *chunks;
    size_t chunk_count;
    struct gt_deal deal; /* of the chunks: those in front to the first worker, whose rows then stay where they are */

    /* Of a packed file, whose chunks are taken in order and are as many as it turns out to have. */
    struct gt_tape *tape; /* read by the workers, then the reader; last comes the mark of the next chunk. NULL: none */
    bool is_odd;          /* it has to be read in one go */
    pthread_mutex_t lock; /* guards the chunks and what follows */
    size_t chunk_room;
    bool has_ended; /* somebody came to the end of the array or of the file */
};

static struct gt_builder *reader_builder(const struct decoding *decoding) {
    return &decoding->builders[decoding->count - 1];
}

static struct gt_torch_sink *reader_sink(const struct decoding *decoding) {
    return &decoding->sinks[decoding->count - 1];
}

static void work(void *context, size_t index) {
    struct decoding *decoding = context;
    struct gt_torch_worker *worker = &decoding->workers[index];
    size_t i;
    while (worker->status == GT_OK && gt_threads_deal_take(&decoding->deal, index, &i)) {
        struct gt_torch_chunk *chunk = &decoding->chunks[i];
        chunk->worker = index;
        chunk->segment = gt_builder_begin(worker->sink->builder, i + 1);
        gt_torch_chunk_read(worker, chunk, i == 0);
    }
}

static enum gt_status make_chunks(struct decoding *decoding, uint64_t size_bytes, struct gt_error *err) {
    uint64_t begin = gt_torch_reader_offset(&decoding->reader), step = decoding->sizes->chunk_bytes;
    decoding->chunk_count = (size_t)((size_bytes - begin + step - 1) / step);
    decoding->chunks = gt_mem_array(decoding->chunk_count, sizeof *decoding->chunks);
    if (!decoding->chunks)
        return gt_fail_memory(err);
    for (size_t i = 0; i < decoding->chunk_count; i++)
        decoding->chunks[i] = (struct gt_torch_chunk){.nominal = begin + i * step,
                                                      .limit = begin + (i + 1) * step,
                                                      .begin = GT_TORCH_NOWHERE,
                                                      .end = GT_TORCH_NOWHERE};
    return GT_OK;
}

static enum gt_status run_workers(struct decoding *decoding, void (*task)(void *, size_t), struct gt_error *err) {
    enum gt_status status = GT_OK;
    size_t count = decoding->count - 1;
    decoding->workers = gt_mem_array(count, sizeof *decoding->workers);
    if (!decoding->workers)
        return gt_fail_memory(err);
    const struct gt_json_sizes sizes = {decoding->sizes->window_bytes, decoding->sizes->max_bytes};
    for (size_t i = 0; i < count && status == GT_OK; i++) {
        decoding->workers[i].sink = &decoding->sinks[i];
        status = gt_json_window_init(&decoding->workers[i].window, decoding->source, &sizes,
                                     i == 0 ? decoding->options : NULL, err);
        if (decoding->tape)
            gt_json_window_use_tape(&decoding->workers[i].window, decoding->tape, i);
    }
    if (status == GT_OK)
        gt_threads_run(count, task, decoding);
    for (size_t i = 0; i < count && status == GT_OK; i++) {
        status = decoding->workers[i].status;
        if (status != GT_OK && err)
            *err = decoding->workers[i].error;
    }
    return status;
}

/* A builder that memory ran out on may have no segment for it. */
static bool is_forgotten(const struct decoding *decoding, const struct gt_torch_chunk *chunk) {
    const struct gt_builder *builder = &decoding->builders[chunk->worker];
    return chunk->segment >= builder->segment_count || builder->segments[chunk->segment].forgotten;
}

/* Takes the chunks that begin exactly where the reader has come to; reads all others again, in their place. With a
   chunk go all that its worker read after it: they may know strings and tracks by numbers that it gave. */
static enum gt_status join_chunks(struct decoding *decoding, struct gt_error *err) {
    struct gt_torch_reader *reader = &decoding->reader;
    for (size_t i = 0; i < decoding->chunk_count; i++) {
        const struct gt_torch_chunk *chunk = &decoding->chunks[i];
        if (!is_forgotten(decoding, chunk) && gt_torch_reader_is_at_element(reader) &&
            chunk->begin == gt_torch_reader_offset(reader)) {
            gt_torch_reader_skip_to(reader, chunk->end, !chunk->ends_array);
            reader->region.element_count += chunk->element_count;
            reader_sink(decoding)->event_count += chunk->event_count;
            continue;
        }
        gt_builder_forget(&decoding->builders[chunk->worker], chunk->segment);
        gt_builder_begin(reader_builder(decoding), i + 1);
        if (gt_torch_reader_run(reader, chunk->limit, err) != GT_OK)
            return GT_ERR;
    }
    return GT_OK;
}

static enum gt_status read_parallel(struct decoding *decoding, uint64_t size_bytes, struct gt_error *err) {
    if (gt_torch_reader_find_array(&decoding->reader, err) != GT_OK)
        return GT_ERR;
    /* Events outside any array are for one reader alone: any of them may turn out to be a document. */
    if (decoding->reader.has_ended || decoding->reader.document.array_count == 0 ||
        gt_torch_reader_offset(&decoding->reader) >= size_bytes)
        return GT_OK;
    if (make_chunks(decoding, size_bytes, err) != GT_OK)
        return GT_ERR;
    gt_threads_deal_init(&decoding->deal, decoding->chunk_count, decoding->count - 1);
    if (run_workers(decoding, work, err) != GT_OK)
        return GT_ERR;
    return join_chunks(decoding, err);
}

/* ---- packed files ---- */

static size_t tape_mark(const struct decoding *decoding) {
    return decoding->count;
}

/* The tape keeps what is before a chunk, too. */
static void keep_chunk(struct decoding *decoding, size_t reader, const struct gt_torch_chunk *chunk) {
    uint64_t back = chunk->nominal < GT_TORCH_LOOK_BACK_BYTES ? chunk->nominal : GT_TORCH_LOOK_BACK_BYTES;
    gt_tape_keep(decoding->tape, reader, chunk->nominal - back, reader == tape_mark(decoding));
}

static struct gt_torch_chunk packed_chunk(const struct decoding *decoding, size_t index) {
    uint64_t step = decoding->sizes->chunk_bytes, begin = gt_torch_reader_offset(&decoding->reader) + index * step;
    return (struct gt_torch_chunk){
        .nominal = begin, .limit = begin + step, .begin = GT_TORCH_NOWHERE, .end = GT_TORCH_NOWHERE};
}

/* The next chunk is this worker's. false: there is none, or no memory for it. */
static bool take_packed(struct decoding *decoding, size_t worker, size_t *index) {
    pthread_mutex_lock(&decoding->lock);
    struct gt_torch_chunk *room =
        gt_mem_room(decoding->chunks, decoding->chunk_count, &decoding->chunk_room, sizeof *room);
    bool is_good = room && !decoding->has_ended;
    decoding->chunks = room ? room : decoding->chunks;
    decoding->is_odd |= !room;
    if (is_good) {
        *index = decoding->chunk_count++;
        struct gt_torch_chunk chunk = packed_chunk(decoding, *index), next = packed_chunk(decoding, *index + 1);
        chunk.worker = worker;
        decoding->chunks[*index] = chunk;
        keep_chunk(decoding, worker, &chunk);
        keep_chunk(decoding, tape_mark(decoding), &next);
    }
    pthread_mutex_unlock(&decoding->lock);
    return is_good;
}

static void put_packed(struct decoding *decoding, size_t index, const struct gt_torch_chunk *chunk, bool has_ended) {
    pthread_mutex_lock(&decoding->lock);
    decoding->chunks[index] = *chunk;
    decoding->has_ended |= has_ended;
    pthread_mutex_unlock(&decoding->lock);
}

static void work_packed(void *context, size_t index) {
    struct decoding *decoding = context;
    struct gt_torch_worker *worker = &decoding->workers[index];
    uint64_t needed = GT_TAPE_NOWHERE;
    size_t i;
    while (worker->status == GT_OK && needed == GT_TAPE_NOWHERE && take_packed(decoding, index, &i)) {
        struct gt_torch_chunk chunk = packed_chunk(decoding, i);
        chunk.worker = index;
        chunk.segment = gt_builder_begin(worker->sink->builder, i + 1);
        gt_torch_chunk_read(worker, &chunk, i == 0);
        put_packed(decoding, i, &chunk, chunk.ends_array || worker->window.bytes.is_all);
        if (chunk.ends_array) /* where the reader goes on */
            needed = chunk.end;
    }
    gt_tape_keep(decoding->tape, index, needed, true);
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
static bool join_packed(struct decoding *decoding) {
    struct gt_torch_reader *reader = &decoding->reader;
    uint64_t at = gt_torch_reader_offset(reader);
    bool has_ended = false;
    for (size_t i = 0; i < decoding->chunk_count; i++) {
        const struct gt_torch_chunk *chunk = &decoding->chunks[i];
        if (is_forgotten(decoding, chunk) || !is_next(chunk, at, has_ended))
            return false;
        at = chunk->begin == GT_TORCH_NOWHERE ? at : chunk->end;
        has_ended |= chunk->ends_array;
        reader->region.element_count += chunk->element_count;
        reader_sink(decoding)->event_count += chunk->event_count;
    }
    if (has_ended)
        gt_torch_reader_skip_to(reader, at, false);
    return has_ended;
}

/* Nobody but the reader needs anything. */
static void clear_tape(const struct decoding *decoding) {
    for (size_t i = 0; i <= tape_mark(decoding); i++)
        if (i != decoding->count - 1)
            gt_tape_keep(decoding->tape, i, GT_TAPE_NOWHERE, true);
}

static enum gt_status read_packed(struct decoding *decoding, struct gt_error *err) {
    struct gt_torch_reader *reader = &decoding->reader;
    clear_tape(decoding);
    if (gt_torch_reader_find_array(reader, err) != GT_OK)
        return GT_ERR;
    if (reader->has_ended || reader->document.array_count == 0)
        return GT_OK;
    /* A worker has no place before it takes a chunk: its thread may never start, and nobody may wait for it. */
    const struct gt_torch_chunk first = packed_chunk(decoding, 0);
    keep_chunk(decoding, tape_mark(decoding), &first);
    gt_tape_keep(decoding->tape, decoding->count - 1, GT_TAPE_NOWHERE, true);
    if (run_workers(decoding, work_packed, err) != GT_OK)
        return GT_ERR;
    decoding->is_odd |= !join_packed(decoding) || gt_tape_is_odd(decoding->tape);
    clear_tape(decoding);
    return decoding->is_odd ? GT_ERR : GT_OK;
}

/* As many threads as there are chunks for, or one that reads the file from front to back. */
static size_t choose_workers(const struct decoding *decoding, uint64_t *size_bytes) {
    size_t threads = decoding->options->threads;
    if (threads < 2 || !gt_source_is_seekable(decoding->source, size_bytes))
        return 0;
    uint64_t chunks = *size_bytes / decoding->sizes->chunk_bytes;
    return chunks < 2 ? 0 : chunks < threads ? (size_t)chunks : threads;
}

static enum gt_status init_builders(struct decoding *decoding, size_t count, struct gt_error *err) {
    uint32_t asked = decoding->options->facts, facts = gt_store_facts_closed(asked ? asked : GT_FACTS_USUAL);
    decoding->builders = gt_mem_array(count, sizeof *decoding->builders);
    decoding->sinks = gt_mem_array(count, sizeof *decoding->sinks);
    if (!decoding->builders || !decoding->sinks)
        return gt_fail_memory(err);
    for (; decoding->count < count; decoding->count++) {
        struct gt_builder *builder = &decoding->builders[decoding->count];
        if (gt_builder_init(builder, GT_TORCH_JSON_KEY, err) != GT_OK)
            return GT_ERR;
        gt_torch_sink_init(&decoding->sinks[decoding->count], builder, decoding->sizes->mode, facts);
    }
    return GT_OK;
}

static void release(struct decoding *decoding) {
    for (size_t i = 0; decoding->workers && i + 1 < decoding->count; i++)
        gt_json_window_release(&decoding->workers[i].window);
    for (size_t i = 0; i < decoding->count; i++) {
        gt_torch_sink_release(&decoding->sinks[i]);
        gt_builder_release(&decoding->builders[i]);
    }
    gt_torch_reader_release(&decoding->reader);
    gt_mem_free(decoding->workers);
    gt_mem_free(decoding->chunks);
    gt_mem_free(decoding->sinks);
    gt_mem_free(decoding->builders);
}

/* Events, or a place for them. */
static bool is_trace(const struct decoding *decoding) {
    const struct gt_torch_reader *reader = &decoding->reader;
    return reader_sink(decoding)->event_count > 0 || reader->document.has_trace_events ||
           (reader->document.has_bare_array && reader->region.element_count == 0 && !reader->region.is_cut);
}

static enum gt_status fail_no_trace(const struct gt_source *source, struct gt_error *err) {
    const char *damage = gt_source_damage(source);
    if (damage)
        return gt_fail(err, "'%s': no readable events: %s", gt_source_path(source), damage);
    return gt_fail(err, "'%s': JSON, but not a trace: no \"traceEvents\"; see 'gputime list inputs'",
                   gt_source_path(source));
}

static enum gt_status finish(struct decoding *decoding, struct gt_store **out, struct gt_error *err) {
    gt_json_window_drain(&decoding->reader.window);
    decoding->is_odd = decoding->tape && gt_tape_is_odd(decoding->tape);
    if (decoding->is_odd)
        return GT_ERR;
    if (!is_trace(decoding))
        return fail_no_trace(decoding->source, err);
    gt_torch_reader_finish(&decoding->reader);
    gt_torch_sink_name_tracks(decoding->sinks, decoding->count, decoding->chunk_count + 2);
    return gt_store_seal(decoding->builders, decoding->count, out, err);
}

/* With so many workers: none reads the file from front to back. */
static enum gt_status decode(struct decoding *decoding, size_t workers, uint64_t size_bytes, struct gt_store **out,
                             struct gt_error *err) {
    if (init_builders(decoding, workers + 1, err) != GT_OK ||
        gt_torch_reader_init(&decoding->reader, decoding->source, reader_sink(decoding), decoding->sizes,
                             decoding->options, err) != GT_OK)
        return GT_ERR;
    if (decoding->tape)
        gt_json_window_use_tape(&decoding->reader.window, decoding->tape, workers);
    gt_builder_begin(reader_builder(decoding), 0);
    if (decoding->tape ? read_packed(decoding, err) != GT_OK
                       : workers && read_parallel(decoding, size_bytes, err) != GT_OK)
        return GT_ERR;
    /* What is left: all of it, or what follows the chunks. */
    gt_builder_begin(reader_builder(decoding), decoding->chunk_count + 1);
    if (gt_torch_reader_run(&decoding->reader, UINT64_MAX, err) != GT_OK)
        return GT_ERR;
    return finish(decoding, out, err);
}

/* Several threads inflate and several read. false: that cannot be done, or not with this file; nothing is out then. */
static bool decode_packed(struct gt_source *source, const struct gt_decode_options *options,
                          const struct gt_torch_sizes *sizes, struct gt_store **out, enum gt_status *status,
                          struct gt_error *err) {
    struct gt_torch_sizes small = *sizes;
    struct decoding decoding = {.source = source, .options = options, .sizes = &small};
    size_t threads = gt_threads_own(options->threads), workers = threads / 2;
    if (workers == 0 || gt_source_packing(source) == GT_PACKING_NONE ||
        !(decoding.tape = gt_tape_open(source, threads, workers + 2)))
        return false;
    small.chunk_bytes = small.chunk_bytes < MIN_CHUNK_BYTES ? small.chunk_bytes : MIN_CHUNK_BYTES;
    small.window_bytes = small.window_bytes < MIN_WINDOW_BYTES ? small.window_bytes : MIN_WINDOW_BYTES;
    pthread_mutex_init(&decoding.lock, NULL);
    *status = decode(&decoding, workers, 0, out, err);
    decoding.is_odd |= *status != GT_OK && gt_tape_is_odd(decoding.tape);
    release(&decoding);
    gt_tape_close(decoding.tape);
    pthread_mutex_destroy(&decoding.lock);
    if (decoding.is_odd)
        gt_source_restart(source, 0, false);
    return !decoding.is_odd;
}

enum gt_status gt_torch_json_decode_sized(struct gt_source *source, const struct gt_decode_options *options,
                                          const struct gt_torch_sizes *sizes, struct gt_store **out,
                                          struct gt_error *err) {
    struct decoding decoding = {.source = source, .options = options, .sizes = sizes};
    uint64_t size_bytes = 0;
    enum gt_status status;
    *out = NULL;
    if (decode_packed(source, options, sizes, out, &status, err))
        return status;
    size_t workers = choose_workers(&decoding, &size_bytes);
    status = decode(&decoding, workers, size_bytes, out, err);
    release(&decoding);
    return status;
}

static size_t clamp(uint64_t value, size_t least, size_t most) {
    return value < least ? least : value > most ? most : (size_t)value;
}

enum gt_status gt_torch_json_decode(struct gt_source *const *sources, size_t count,
                                    const struct gt_decode_options *options, struct gt_store **out,
                                    struct gt_error *err) {
    if (count != 1)
        return gt_fail(err, "a JSON trace is one file, not %zu", count);
    struct gt_torch_sizes sizes = {MAX_CHUNK_BYTES, MAX_WINDOW_BYTES, MAX_EVENT_BYTES, GT_TORCH_USUAL};
    uint64_t size_bytes;
    if (gt_source_is_seekable(sources[0], &size_bytes)) {
        sizes.chunk_bytes =
            clamp(size_bytes / (options->threads * CHUNKS_PER_THREAD), MIN_CHUNK_BYTES, MAX_CHUNK_BYTES);
        sizes.window_bytes = clamp(sizes.chunk_bytes / WINDOWS_PER_CHUNK, MIN_WINDOW_BYTES, MAX_WINDOW_BYTES);
    }
    return gt_torch_json_decode_sized(sources[0], options, &sizes, out, err);
}

int gt_torch_json_sniff(struct gt_str head, const char *path) {
    (void)path;
    const char *p = head.ptr, *end = p + head.len;
    if (gt_str_starts(head, GT_STR("\xef\xbb\xbf")))
        p += 3;
    p = gt_json_scan_skip_space(p, end);
    if (p == end || (*p != '{' && *p != '['))
        return 0;
    if (*p == '[') {
        p = gt_json_scan_skip_space(p + 1, end);
        return p < end && *p == '{' && gt_torch_event_starts(p, end) == GT_JSON_OK ? 90 : 10;
    }
    if (gt_str_contains(head, GT_STR("\"traceEvents\"")))
        return 95;
    if (gt_str_contains(head, GT_STR("\"deviceProperties\"")) || gt_str_contains(head, GT_STR("\"distributedInfo\"")))
        return 80;
    if (gt_torch_event_starts(p, end) == GT_JSON_OK)
        return 60;
    p = gt_json_scan_skip_space(p + 1, end);
    return p == end || *p == '"' || *p == '}' ? 10 : 1;
}
