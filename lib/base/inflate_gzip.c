/* gzip members: packed bytes come in, plain bytes go out, checksum and size checked. ISA-L does the work where it can
   be had (2.7 times as fast), zlib elsewhere. */
#include <stdint.h>
#include <string.h>

#include "base/inflate.h"
#include "base/mem.h"

#ifdef GT_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

static const char DAMAGED_HEADER[] = "gzip header is damaged";
static const char DAMAGED_DATA[] = "gzip data is damaged";
static const char DAMAGED_CHECKSUM[] = "gzip checksum is wrong";

static bool gzip_begins(const unsigned char *head, size_t size) {
    static const unsigned char magic[] = {0x1f, 0x8b, 8};
    for (size_t i = 0; i < sizeof(magic) && i < size; i++)
        if (head[i] != magic[i])
            return false;
    return true;
}

/* Only members of bgzip declare where they end: in an extra field of the header, as they are 64 KiB or less. */
static bool gzip_measure(const struct gt_source *source, uint64_t offset, struct gt_member *member) {
    static const unsigned char header[] = {0x1f, 0x8b, 8, 4}, field[] = {6, 0, 'B', 'C', 2, 0};
    enum { HEADER_BYTES = 18, FIELD_AT = 10, SIZE_AT = 16, LEAST_BYTES = HEADER_BYTES + 8 };
    unsigned char head[HEADER_BYTES], size[4];
    size_t got;
    if (gt_source_pread(source, head, sizeof head, offset, &got, NULL) != GT_OK || got < sizeof head ||
        memcmp(head, header, sizeof header) != 0 || memcmp(head + FIELD_AT, field, sizeof field) != 0)
        return false;
    member->packed_bytes = gt_inflate_number(head + SIZE_AT, 2) + 1;
    if (member->packed_bytes < LEAST_BYTES ||
        gt_source_pread(source, size, sizeof size, offset + member->packed_bytes - sizeof size, &got, NULL) != GT_OK)
        return false;
    member->plain_bytes = gt_inflate_number(size, sizeof size);
    return got == sizeof size;
}

/* Both libraries count in 32 bits. */
static uint32_t clip(size_t size) {
    return size > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)size;
}

/* Records in io what was used of the buffers handed out. */
static void advance(struct gt_inflate_io *io, size_t used_in, size_t used_out) {
    io->in += used_in;
    io->in_size -= used_in;
    io->out += used_out;
    io->out_size -= used_out;
}

#ifdef GT_HAVE_ISAL

struct isal {
    struct inflate_state stream;
    const char *damage; /* found, but bytes from before it still wait inside */
};

static void *gzip_new(void) {
    struct isal *isal = gt_mem_array(1, sizeof(*isal));
    if (isal)
        isal_inflate_init(&isal->stream);
    return isal;
}

static void *deflate_new(void) {
    return gzip_new();
}

static void *zlib_new(void) {
    return gzip_new();
}

static void gzip_free(void *state) {
    gt_mem_free(state);
}

static bool gzip_reset(void *state) {
    struct isal *isal = state;
    isal_inflate_reset(&isal->stream);
    isal->stream.crc_flag = ISAL_GZIP;
    isal->damage = NULL;
    return true;
}

static bool deflate_reset(void *state) {
    bool is_done = gzip_reset(state);
    ((struct isal *)state)->stream.crc_flag = ISAL_DEFLATE;
    return is_done;
}

static bool zlib_reset(void *state) {
    bool is_done = gzip_reset(state);
    ((struct isal *)state)->stream.crc_flag = ISAL_ZLIB;
    return is_done;
}

static const char *isal_damage(int result) {
    if (result == ISAL_INVALID_WRAPPER || result == ISAL_UNSUPPORTED_METHOD)
        return DAMAGED_HEADER;
    return result == ISAL_INCORRECT_CHECKSUM ? DAMAGED_CHECKSUM : DAMAGED_DATA;
}

/* The library keeps what it inflated beyond the end of a small output, and after an error would keep it for good. */
static enum gt_codec_status drain(struct isal *isal, struct gt_inflate_io *io, const char **damage) {
    struct inflate_state *stream = &isal->stream;
    size_t waiting = (size_t)(stream->tmp_out_valid - stream->tmp_out_processed);
    size_t size = waiting < io->out_size ? waiting : io->out_size;
    memcpy(io->out, stream->tmp_out_buffer + stream->tmp_out_processed, size);
    stream->tmp_out_processed += (int)size;
    advance(io, 0, size);
    *damage = isal->damage;
    return size < waiting ? GT_CODEC_MORE : GT_CODEC_DAMAGED;
}

/* A copy from before the beginning is counted, but not made: the last bytes are whatever was in memory there. How many
   is not known, so as many as a copy can have are given up. */
static size_t give_up_copy(struct inflate_state *stream, size_t produced) {
    enum { LONGEST_COPY = 258 };
    size_t waiting = (size_t)(stream->tmp_out_valid - stream->tmp_out_processed);
    size_t inside = waiting < LONGEST_COPY ? waiting : LONGEST_COPY, outside = LONGEST_COPY - inside;
    stream->tmp_out_valid -= (int)inside;
    return outside < produced ? produced - outside : 0;
}

static enum gt_codec_status gzip_step(void *state, struct gt_inflate_io *io, const char **damage) {
    struct isal *isal = state;
    struct inflate_state *stream = &isal->stream;
    if (isal->damage)
        return drain(isal, io, damage);
    uint32_t in_size = clip(io->in_size), out_size = clip(io->out_size);
    stream->next_in = (uint8_t *)(uintptr_t)io->in; /* the library does not write there */
    stream->avail_in = in_size;
    stream->next_out = io->out;
    stream->avail_out = out_size;
    int result = isal_inflate(stream);
    size_t produced = out_size - stream->avail_out;
    if (result == ISAL_INVALID_LOOKBACK)
        produced = give_up_copy(stream, produced);
    /* On damaged data ISA-L 2.30 can count one byte more than it was given. */
    advance(io, stream->avail_in <= in_size ? in_size - stream->avail_in : in_size, produced);
    if (result < 0) {
        isal->damage = isal_damage(result);
        return drain(isal, io, damage);
    }
    return stream->block_state == ISAL_BLOCK_FINISH ? GT_CODEC_MEMBER_END : GT_CODEC_MORE;
}

#else

static void *zlib_alloc(void *context, unsigned count, unsigned size) {
    (void)context;
    return gt_mem_array(count, size);
}

static void zlib_free(void *context, void *block) {
    (void)context;
    gt_mem_free(block);
}

static void *new_stream(int window_bits) {
    z_stream *stream = gt_mem_array(1, sizeof(*stream));
    if (!stream)
        return NULL;
    stream->zalloc = zlib_alloc;
    stream->zfree = zlib_free;
    if (inflateInit2(stream, window_bits) != Z_OK) {
        gt_mem_free(stream);
        return NULL;
    }
    return stream;
}

static void *gzip_new(void) {
    return new_stream(16 + MAX_WBITS); /* 16: a gzip wrapper */
}

static void *deflate_new(void) {
    return new_stream(-MAX_WBITS); /* negative: no wrapper */
}

static void *zlib_new(void) {
    return new_stream(MAX_WBITS);
}

static void gzip_free(void *state) {
    if (!state)
        return;
    inflateEnd(state);
    gt_mem_free(state);
}

static bool gzip_reset(void *state) {
    return inflateReset(state) == Z_OK;
}

static bool deflate_reset(void *state) {
    return gzip_reset(state);
}

static bool zlib_reset(void *state) {
    return gzip_reset(state);
}

/* zlib distinguishes the kinds of damage only by its text. */
static const char *zlib_damage(const char *text) {
    if (text && strncmp(text, "incorrect", 9) == 0) /* "incorrect data check", "incorrect length check" */
        return DAMAGED_CHECKSUM;
    if (text && (strncmp(text, "unknown", 7) == 0 || strncmp(text, "header", 6) == 0))
        return DAMAGED_HEADER; /* "unknown header flags set", "header crc mismatch" */
    return DAMAGED_DATA;
}

static enum gt_codec_status gzip_step(void *state, struct gt_inflate_io *io, const char **damage) {
    z_stream *stream = state;
    uint32_t in_size = clip(io->in_size), out_size = clip(io->out_size);
    stream->next_in = (unsigned char *)(uintptr_t)io->in; /* the library does not write there */
    stream->avail_in = in_size;
    stream->next_out = io->out;
    stream->avail_out = out_size;
    int result = inflate(stream, Z_NO_FLUSH);
    advance(io, in_size - stream->avail_in, out_size - stream->avail_out);
    if (result == Z_STREAM_END)
        return GT_CODEC_MEMBER_END;
    if (result == Z_MEM_ERROR)
        return GT_CODEC_NO_MEMORY;
    if (result == Z_OK || result == Z_BUF_ERROR)
        return GT_CODEC_MORE;
    *damage = zlib_damage(stream->msg);
    return GT_CODEC_DAMAGED;
}

#endif

const struct gt_codec gt_codec_gzip = {
    .damage_cut = "gzip stream ends early",
    .damage_garbage = "gzip stream is empty and followed by other data",
    .begins = gzip_begins,
    .new_state = gzip_new,
    .free_state = gzip_free,
    .reset = gzip_reset,
    .step = gzip_step,
    .measure = gzip_measure,
};

const struct gt_codec gt_codec_deflate = {
    .new_state = deflate_new,
    .free_state = gzip_free,
    .reset = deflate_reset,
    .step = gzip_step,
};

const struct gt_codec gt_codec_zlib = {
    .new_state = zlib_new,
    .free_state = gzip_free,
    .reset = zlib_reset,
    .step = gzip_step,
};
