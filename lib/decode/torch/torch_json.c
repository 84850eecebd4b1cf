/* Decoder of Chrome trace JSON as the PyTorch profiler (Kineto) writes it. Plain files are cut into chunks that threads
   read at the same time; packed ones and pipes are read in one go. Either way gives the same store. */
#include "decode/torch/torch_json.h"

#include <string.h>

#include "base/mem.h"
#include "base/threads.h"
#include "decode/torch/torch_reader.h"
#include "events/builder.h"

/* Chunks are handed out one after the other: several for each thread, since they do not take equally long, but not
   so small that beginning one costs. */
enum { MIN_CHUNK_BYTES = 1 << 20, MAX_CHUNK_BYTES = 8 << 20, CHUNKS_PER_THREAD = 4 };
/* What is read at once: long reads cost less, but the memory of a long one is worth its while only in long chunks. */
enum { MIN_WINDOW_BYTES = 256 << 10, MAX_WINDOW_BYTES = 1 << 20, WINDOWS_PER_CHUNK = 8, MAX_EVENT_BYTES = 64 << 20 };

/* Bytes before a chunk's nominal start that show what is before its first brace. */
enum { LOOK_BACK_BYTES = 64 };

#define NOWHERE UINT64_MAX

/* A part of the file as one thread read it. begin and end say which bytes that were, or NOWHERE. */
struct chunk {
    uint64_t nominal, limit; /* events that begin in [nominal, limit) */
    uint64_t begin, end;
    bool ends_array; /* end is after the array */
    uint64_t element_count, event_count;
    size_t worker, segment;
};

struct worker {
    struct gt_torch_sink *sink;
    struct gt_torch_window window;
    enum gt_status status;
    struct gt_error error;
};

struct decoding {
    struct gt_source *source;
    const struct gt_decode_options *options;
    const struct gt_torch_sizes *sizes;
    struct gt_builder *builders; /* one for each worker, then the reader's */
    struct gt_torch_sink *sinks; /* the same */
    size_t count;                /* of both */
    struct gt_torch_reader reader;
    struct worker *workers;
    struct chunk *chunks;
    size_t chunk_count;
    struct gt_deal deal; /* of the chunks: those in front to the first worker, whose rows then stay where they are */
};

static struct gt_builder *reader_builder(const struct decoding *decoding) {
    return &decoding->builders[decoding->count - 1];
}

static struct gt_torch_sink *reader_sink(const struct decoding *decoding) {
    return &decoding->sinks[decoding->count - 1];
}

/* Goes to where the first event of the chunk seems to begin. false: none does. */
static bool find_begin(struct worker *worker, const struct chunk *chunk) {
    struct gt_torch_window *window = &worker->window;
    uint64_t back = chunk->nominal < LOOK_BACK_BYTES ? chunk->nominal : LOOK_BACK_BYTES;
    char before = 0;
    gt_torch_window_seek(window, chunk->nominal - back);
    for (;;) {
        enum gt_json_status found = gt_torch_region_find_event(&window->bytes, &before, false);
        if (found == GT_JSON_OK && window->bytes.offset >= chunk->nominal)
            return window->bytes.offset < chunk->limit;
        if (found == GT_JSON_OK) {
            before = '{';
            gt_torch_region_bytes_move(&window->bytes, window->bytes.p + 1);
            continue;
        }
        if (window->bytes.is_all || window->bytes.offset >= chunk->limit)
            return false;
        worker->status = gt_torch_window_fill(window, &worker->error);
        if (worker->status != GT_OK)
            return false;
    }
}

/* Reads the events of a chunk. What needs mending is left to the reader. */
static void read_chunk(struct worker *worker, struct chunk *chunk, bool is_first) {
    struct gt_torch_window *window = &worker->window;
    struct gt_torch_region region;
    gt_torch_region_init(&region, worker->sink);
    region.stops_at_damage = true;
    chunk->begin = chunk->end = NOWHERE;
    if (is_first)
        gt_torch_window_seek(window, chunk->nominal);
    else if (!find_begin(worker, chunk))
        return;
    uint64_t begin = window->bytes.offset, events_before = worker->sink->event_count;
    enum gt_torch_stop stop;
    while ((stop = gt_torch_region_run(&region, &window->bytes, chunk->limit)) == GT_TORCH_STOP_MORE) {
        if (region.is_damaged)
            return;
        if (window->bytes.is_all)
            break;
        worker->status = gt_torch_window_fill(window, &worker->error);
        if (worker->status != GT_OK)
            return;
    }
    chunk->begin = begin;
    chunk->end = window->bytes.offset;
    chunk->ends_array = stop == GT_TORCH_STOP_END;
    chunk->element_count = region.element_count;
    chunk->event_count = worker->sink->event_count - events_before;
}

static void work(void *context, size_t index) {
    struct decoding *decoding = context;
    struct worker *worker = &decoding->workers[index];
    size_t i;
    while (worker->status == GT_OK && gt_threads_deal_take(&decoding->deal, index, &i)) {
        struct chunk *chunk = &decoding->chunks[i];
        chunk->worker = index;
        chunk->segment = gt_builder_begin(worker->sink->builder, i + 1);
        read_chunk(worker, chunk, i == 0);
    }
}

static enum gt_status make_chunks(struct decoding *decoding, uint64_t size_bytes, struct gt_error *err) {
    uint64_t begin = gt_torch_reader_offset(&decoding->reader), step = decoding->sizes->chunk_bytes;
    decoding->chunk_count = (size_t)((size_bytes - begin + step - 1) / step);
    decoding->chunks = gt_mem_array(decoding->chunk_count, sizeof *decoding->chunks);
    if (!decoding->chunks)
        return gt_fail_memory(err);
    for (size_t i = 0; i < decoding->chunk_count; i++)
        decoding->chunks[i] = (struct chunk){
            .nominal = begin + i * step, .limit = begin + (i + 1) * step, .begin = NOWHERE, .end = NOWHERE};
    return GT_OK;
}

static enum gt_status run_workers(struct decoding *decoding, struct gt_error *err) {
    enum gt_status status = GT_OK;
    size_t count = decoding->count - 1;
    decoding->workers = gt_mem_array(count, sizeof *decoding->workers);
    if (!decoding->workers)
        return gt_fail_memory(err);
    for (size_t i = 0; i < count && status == GT_OK; i++) {
        decoding->workers[i].sink = &decoding->sinks[i];
        status = gt_torch_window_init(&decoding->workers[i].window, decoding->source, decoding->sizes,
                                      i == 0 ? decoding->options : NULL, err);
    }
    gt_threads_deal_init(&decoding->deal, decoding->chunk_count, count);
    if (status == GT_OK)
        gt_threads_run(count, work, decoding);
    for (size_t i = 0; i < count && status == GT_OK; i++) {
        status = decoding->workers[i].status;
        if (status != GT_OK && err)
            *err = decoding->workers[i].error;
    }
    return status;
}

/* A builder that memory ran out on may have no segment for it. */
static bool is_forgotten(const struct decoding *decoding, const struct chunk *chunk) {
    const struct gt_builder *builder = &decoding->builders[chunk->worker];
    return chunk->segment >= builder->segment_count || builder->segments[chunk->segment].forgotten;
}

/* Takes the chunks that begin exactly where the reader has come to; reads all others again, in their place. With a
   chunk go all that its worker read after it: they may know strings and tracks by numbers that it gave. */
static enum gt_status join_chunks(struct decoding *decoding, struct gt_error *err) {
    struct gt_torch_reader *reader = &decoding->reader;
    for (size_t i = 0; i < decoding->chunk_count; i++) {
        const struct chunk *chunk = &decoding->chunks[i];
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
    if (make_chunks(decoding, size_bytes, err) != GT_OK || run_workers(decoding, err) != GT_OK)
        return GT_ERR;
    return join_chunks(decoding, err);
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
        gt_torch_window_release(&decoding->workers[i].window);
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
    return gt_fail(err, "'%s': JSON, but not a trace: no \"traceEvents\"", gt_source_path(source));
}

static enum gt_status finish(struct decoding *decoding, struct gt_store **out, struct gt_error *err) {
    gt_torch_window_drain(&decoding->reader.window);
    if (!is_trace(decoding))
        return fail_no_trace(decoding->source, err);
    gt_torch_reader_finish(&decoding->reader);
    gt_torch_sink_name_tracks(decoding->sinks, decoding->count, decoding->chunk_count + 2);
    return gt_store_seal(decoding->builders, decoding->count, out, err);
}

enum gt_status gt_torch_json_decode_sized(struct gt_source *source, const struct gt_decode_options *options,
                                          const struct gt_torch_sizes *sizes, struct gt_store **out,
                                          struct gt_error *err) {
    struct decoding decoding = {.source = source, .options = options, .sizes = sizes};
    uint64_t size_bytes = 0;
    size_t workers = choose_workers(&decoding, &size_bytes);
    *out = NULL;
    enum gt_status status = init_builders(&decoding, workers + 1, err);
    if (status != GT_OK)
        goto out;
    status = gt_torch_reader_init(&decoding.reader, source, reader_sink(&decoding), sizes, options, err);
    if (status != GT_OK)
        goto out;
    gt_builder_begin(reader_builder(&decoding), 0);
    if (workers)
        status = read_parallel(&decoding, size_bytes, err);
    /* What is left: all of it, or what follows the chunks. */
    if (status == GT_OK)
        gt_builder_begin(reader_builder(&decoding), decoding.chunk_count + 1);
    if (status == GT_OK)
        status = gt_torch_reader_run(&decoding.reader, UINT64_MAX, err);
    if (status == GT_OK)
        status = finish(&decoding, out, err);
out:
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

static bool contains(struct gt_str text, struct gt_str part) {
    return memmem(text.ptr, text.len, part.ptr, part.len) != NULL;
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
    if (contains(head, GT_STR("\"traceEvents\"")))
        return 95;
    if (contains(head, GT_STR("\"deviceProperties\"")) || contains(head, GT_STR("\"distributedInfo\"")))
        return 80;
    if (gt_torch_event_starts(p, end) == GT_JSON_OK)
        return 60;
    p = gt_json_scan_skip_space(p + 1, end);
    return p == end || *p == '"' || *p == '}' ? 10 : 1;
}
