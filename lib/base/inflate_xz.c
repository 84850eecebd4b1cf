/* xz streams, where the build has liblzma: packed bytes come in, plain bytes go out. */
#ifdef GT_HAVE_LZMA
#include <lzma.h>
#include <string.h>

#include "base/inflate.h"
#include "base/mem.h"

/* The most memory that a stream may ask for: xz -9 takes 65 MB, and its largest dictionary four times the bound. */
#define MEMORY_BYTES_MAX (UINT64_C(1) << 30)

struct xz_state {
    lzma_stream stream;
    lzma_allocator allocator;
};

static void *take(void *context, size_t count, size_t size) {
    (void)context;
    return gt_mem_uninitialised(count, size);
}

static void give(void *context, void *block) {
    (void)context;
    gt_mem_free(block);
}

static bool xz_begins(const unsigned char *head, size_t size) {
    static const unsigned char magic[GT_INFLATE_MAGIC_MAX] = {0xfd, '7', 'z', 'X'};
    return memcmp(head, magic, size < sizeof magic ? size : sizeof magic) == 0;
}

static void *xz_new(void) {
    struct xz_state *xz = gt_mem_array(1, sizeof *xz);
    if (!xz)
        return NULL;
    xz->stream = (lzma_stream)LZMA_STREAM_INIT;
    xz->allocator = (lzma_allocator){.alloc = take, .free = give};
    xz->stream.allocator = &xz->allocator;
    return xz;
}

static void xz_free(void *state) {
    struct xz_state *xz = state;
    if (!xz)
        return;
    lzma_end(&xz->stream);
    gt_mem_free(xz);
}

static bool xz_reset(void *state) {
    struct xz_state *xz = state;
    return lzma_stream_decoder(&xz->stream, MEMORY_BYTES_MAX, 0) == LZMA_OK;
}

static const char *xz_damage(lzma_ret result) {
    switch (result) {
    case LZMA_MEMLIMIT_ERROR:
        return "xz dictionary is too large; compress again with a smaller one";
    case LZMA_FORMAT_ERROR:
    case LZMA_OPTIONS_ERROR:
        return "xz header is damaged";
    default:
        return "xz data is damaged";
    }
}

static enum gt_codec_status xz_step(void *state, struct gt_inflate_io *io, const char **damage) {
    lzma_stream *stream = &((struct xz_state *)state)->stream;
    stream->next_in = io->in;
    stream->avail_in = io->in_size;
    stream->next_out = io->out;
    stream->avail_out = io->out_size;
    lzma_ret result = lzma_code(stream, LZMA_RUN);
    io->in = stream->next_in;
    io->in_size = stream->avail_in;
    io->out = stream->next_out;
    io->out_size = stream->avail_out;
    switch (result) {
    case LZMA_STREAM_END:
        return GT_CODEC_MEMBER_END;
    case LZMA_OK:
    case LZMA_BUF_ERROR: /* nothing could be done with what is there */
        return GT_CODEC_MORE;
    case LZMA_MEM_ERROR:
        return GT_CODEC_NO_MEMORY;
    default:
        *damage = xz_damage(result);
        return GT_CODEC_DAMAGED;
    }
}

/* Streams are long, and where one ends is known at its end. */
static bool xz_measure(const struct gt_source *source, uint64_t offset, struct gt_member *member) {
    (void)source;
    (void)offset;
    (void)member;
    return false;
}

const struct gt_codec gt_codec_xz = {
    .damage_cut = "xz stream ends early",
    .damage_garbage = "xz stream is empty and followed by other data",
    .begins = xz_begins,
    .new_state = xz_new,
    .free_state = xz_free,
    .reset = xz_reset,
    .step = xz_step,
    .measure = xz_measure,
};
#else
typedef int gt_inflate_xz_is_not_built; /* a file is never empty */
#endif
