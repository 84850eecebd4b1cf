/* Decoder of Chrome trace JSON as the PyTorch profiler (Kineto) writes it. Plain files are cut into chunks that threads
   read at the same time, and so is what several threads inflate; other packed ones and pipes are read in one go. Either
   way gives the same store. */
#include "decode/torch/torch_json.h"

#include "base/mem.h"
#include "base/threads.h"
#include "decode/torch/torch_decoding.h"
#include "decode/torch/torch_packed.h"

/* Chunks are handed out one after the other: several for each thread, since they do not take equally long, but not
   so small that beginning one costs. */
enum { MIN_CHUNK_BYTES = 1 << 20, MAX_CHUNK_BYTES = 8 << 20, CHUNKS_PER_THREAD = 4 };
/* What is read at once: long reads cost less, but the memory of a long one is worth its while only in long chunks. */
enum { MIN_WINDOW_BYTES = 256 << 10, MAX_WINDOW_BYTES = 1 << 20, WINDOWS_PER_CHUNK = 8, MAX_EVENT_BYTES = 64 << 20 };
/* What is mapped at once, of files that are worth it. */
enum { MAP_BYTES = 8 << 20, MIN_MAPPED_BYTES = 4 << 20 };

struct work {
    struct gt_torch_decoding *decoding;
    struct gt_deal deal; /* of the chunks: those in front to the first worker, whose rows then stay where they are */
};

static void work(void *context, size_t index) {
    struct work *all = context;
    struct gt_torch_worker *worker = &all->decoding->workers[index];
    size_t i;
    while (worker->status == GT_OK && gt_threads_deal_take(&all->deal, index, &i)) {
        struct gt_torch_chunk *chunk = &all->decoding->chunks[i];
        chunk->worker = index;
        chunk->segment = gt_builder_begin(worker->sink->builder, i + 1);
        gt_torch_chunk_read(worker, chunk, i == 0);
    }
}

static enum gt_status make_chunks(struct gt_torch_decoding *decoding, uint64_t size_bytes, struct gt_error *err) {
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

/* Takes the chunks that begin exactly where the reader has come to; reads all others again, in their place. With a
   chunk go all that its worker read after it: they may know strings and tracks by numbers that it gave. */
static enum gt_status join_chunks(struct gt_torch_decoding *decoding, struct gt_error *err) {
    struct gt_torch_reader *reader = &decoding->reader;
    for (size_t i = 0; i < decoding->chunk_count; i++) {
        const struct gt_torch_chunk *chunk = &decoding->chunks[i];
        if (!gt_torch_decoding_is_forgotten(decoding, chunk) && gt_torch_reader_is_at_element(reader) &&
            chunk->begin == gt_torch_reader_offset(reader)) {
            gt_torch_reader_skip_to(reader, chunk->end, !chunk->ends_array);
            reader->region.element_count += chunk->element_count;
            gt_torch_decoding_reader_sink(decoding)->event_count += chunk->event_count;
            continue;
        }
        gt_builder_forget(&decoding->builders[chunk->worker], chunk->segment);
        gt_builder_begin(gt_torch_decoding_reader_builder(decoding), i + 1);
        if (gt_torch_reader_run(reader, chunk->limit, err) != GT_OK)
            return GT_ERR;
    }
    return GT_OK;
}

static enum gt_status read_parallel(struct gt_torch_decoding *decoding, uint64_t size_bytes, struct gt_error *err) {
    if (gt_torch_reader_find_array(&decoding->reader, err) != GT_OK)
        return GT_ERR;
    /* Events outside any array are for one reader alone: any of them may turn out to be a document. */
    if (decoding->reader.has_ended || decoding->reader.document.array_count == 0 ||
        gt_torch_reader_offset(&decoding->reader) >= size_bytes)
        return GT_OK;
    if (make_chunks(decoding, size_bytes, err) != GT_OK)
        return GT_ERR;
    struct work all = {.decoding = decoding};
    gt_threads_deal_init(&all.deal, decoding->chunk_count, decoding->count - 1);
    if (gt_torch_decoding_run(decoding, work, &all, err) != GT_OK)
        return GT_ERR;
    return join_chunks(decoding, err);
}

/* As many threads as there are chunks for, or one that reads the file from front to back. */
static size_t choose_workers(const struct gt_torch_decoding *decoding, uint64_t *size_bytes) {
    size_t threads = decoding->options->threads;
    if (threads < 2 || !gt_source_is_seekable(decoding->source, size_bytes))
        return 0;
    uint64_t chunks = *size_bytes / decoding->sizes->chunk_bytes;
    return chunks < 2 ? 0 : chunks < threads ? (size_t)chunks : threads;
}

static enum gt_status decode(struct gt_torch_decoding *decoding, struct gt_store **out, struct gt_error *err) {
    uint64_t size_bytes = 0;
    size_t workers = choose_workers(decoding, &size_bytes);
    if (gt_torch_decoding_begin(decoding, workers, err) != GT_OK ||
        (workers && read_parallel(decoding, size_bytes, err) != GT_OK) ||
        gt_torch_decoding_read_rest(decoding, err) != GT_OK)
        return GT_ERR;
    return gt_torch_decoding_seal(decoding, out, err);
}

enum gt_status gt_torch_json_decode_sized(struct gt_source *source, const struct gt_decode_options *options,
                                          const struct gt_torch_sizes *sizes, struct gt_store **out,
                                          struct gt_error *err) {
    struct gt_torch_decoding decoding = {.source = source, .options = options, .sizes = sizes};
    enum gt_status status;
    *out = NULL;
    if (gt_torch_packed_decode(source, options, sizes, out, &status, err))
        return status;
    status = decode(&decoding, out, err);
    gt_torch_decoding_release(&decoding);
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
    struct gt_torch_sizes sizes = {MAX_CHUNK_BYTES, MAX_WINDOW_BYTES, MAX_EVENT_BYTES, GT_TORCH_USUAL, 0};
    uint64_t size_bytes;
    if (gt_source_is_seekable(sources[0], &size_bytes)) {
        sizes.chunk_bytes =
            clamp(size_bytes / (options->threads * CHUNKS_PER_THREAD), MIN_CHUNK_BYTES, MAX_CHUNK_BYTES);
        sizes.window_bytes = clamp(sizes.chunk_bytes / WINDOWS_PER_CHUNK, MIN_WINDOW_BYTES, MAX_WINDOW_BYTES);
        sizes.map_bytes = size_bytes < MIN_MAPPED_BYTES ? 0 : MAP_BYTES;
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
