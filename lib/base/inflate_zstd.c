/* zstd frames: packed bytes come in, plain bytes go out; skippable frames give nothing. */
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/inflate.h"
#include "base/mem.h"

/* The largest window a frame may ask for (zstd --long=31). The library reserves it, but touches only what it fills. */
enum { WINDOW_LOG_MAX = sizeof(void *) > 4 ? 31 : 27, BLOCK_HEADER_BYTES = 3 };

struct zstd_state {
    ZSTD_DCtx *context;
    size_t wanted_bytes;  /* what the library asks for next: the rest of the header or block, and the next header */
    bool output_was_full; /* bytes may be waiting inside */
};

static bool zstd_begins(const unsigned char *head, size_t size) {
    static const unsigned char frame[] = {0x28, 0xb5, 0x2f, 0xfd}, skippable[] = {0x50, 0x2a, 0x4d, 0x18};
    size_t known = size < sizeof(frame) ? size : sizeof(frame);
    if (known == 0 || memcmp(head, frame, known) == 0)
        return true;
    return (head[0] & 0xf0) == skippable[0] && memcmp(head + 1, skippable + 1, known - 1) == 0;
}

static void zstd_free(void *state) {
    struct zstd_state *zstd = state;
    if (!zstd)
        return;
    ZSTD_freeDCtx(zstd->context);
    gt_mem_free(zstd);
}

static void *zstd_new(void) {
    struct zstd_state *zstd = gt_mem_array(1, sizeof(*zstd));
    if (!zstd)
        return NULL;
    zstd->context = ZSTD_createDCtx();
    if (!zstd->context) {
        gt_mem_free(zstd);
        return NULL;
    }
    ZSTD_DCtx_setParameter(zstd->context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    return zstd;
}

static bool zstd_reset(void *state) {
    struct zstd_state *zstd = state;
    ZSTD_DCtx_reset(zstd->context, ZSTD_reset_session_only);
    zstd->wanted_bytes = GT_INFLATE_MAGIC_MAX;
    zstd->output_was_full = false;
    return true;
}

static const char *zstd_damage(ZSTD_ErrorCode code) {
    switch (code) {
    case ZSTD_error_checksum_wrong:
        return "zstd checksum is wrong";
    case ZSTD_error_frameParameter_windowTooLarge:
        return "zstd window is too large; compress again with a smaller --long";
    case ZSTD_error_frameParameter_unsupported:
    case ZSTD_error_prefix_unknown:
    case ZSTD_error_version_unsupported:
        return "zstd header is damaged";
    case ZSTD_error_dictionary_wrong:
        return "zstd stream needs a dictionary, which is not supported";
    default:
        return "zstd data is damaged";
    }
}

/* A call that fails does not say what it wrote before, so a call gets either one header or the body of one block, and
   none while output waits: then nothing is ever written by a call that fails. */
static size_t input_for_call(const struct zstd_state *zstd, size_t available) {
    if (zstd->output_was_full)
        return 0;
    size_t wanted = zstd->wanted_bytes;
    wanted = wanted > BLOCK_HEADER_BYTES ? wanted - BLOCK_HEADER_BYTES : wanted;
    return wanted < available ? wanted : available;
}

static enum gt_codec_status zstd_step(void *state, struct gt_inflate_io *io, const char **damage) {
    struct zstd_state *zstd = state;
    while (io->out_size > 0 && (io->in_size > 0 || zstd->output_was_full)) {
        ZSTD_inBuffer in = {io->in, input_for_call(zstd, io->in_size), 0};
        ZSTD_outBuffer out = {io->out, io->out_size, 0};
        size_t result = ZSTD_decompressStream(zstd->context, &out, &in);
        if (ZSTD_isError(result)) {
            ZSTD_ErrorCode code = ZSTD_getErrorCode(result);
            *damage = zstd_damage(code);
            return code == ZSTD_error_memory_allocation ? GT_CODEC_NO_MEMORY : GT_CODEC_DAMAGED;
        }
        io->in += in.pos;
        io->in_size -= in.pos;
        io->out += out.pos;
        io->out_size -= out.pos;
        zstd->wanted_bytes = result;
        zstd->output_was_full = io->out_size == 0;
        if (result == 0)
            return GT_CODEC_MEMBER_END;
    }
    return GT_CODEC_MORE;
}

static bool read_at(const struct gt_source *source, uint64_t offset, unsigned char *buf, size_t size) {
    size_t got;
    return gt_source_pread(source, buf, size, offset, &got, NULL) == GT_OK && got == size;
}

/* Walks over the blocks of a frame; *at: after its header, then after its last block. */
static bool walk_blocks(const struct gt_source *source, uint64_t *at) {
    enum { MAX_BLOCKS = 4096, TYPE_REPEATED = 1, TYPE_RESERVED = 3 };
    unsigned char header[BLOCK_HEADER_BYTES];
    for (int i = 0; i < MAX_BLOCKS && read_at(source, *at, header, sizeof header); i++) {
        uint32_t block = gt_inflate_number(header, sizeof header), type = block >> 1 & 3;
        if (type == TYPE_RESERVED)
            return false;
        *at += sizeof header + (type == TYPE_REPEATED ? 1 : block >> 3);
        if (block & 1)
            return true;
    }
    return false;
}

/* A frame whose header gives the size of its content, or a skippable one. */
static bool zstd_measure(const struct gt_source *source, uint64_t offset, struct gt_member *member) {
    enum { MOST_BYTES = 18, SINGLE_SEGMENT = 0x20, CHECKSUM = 4 };
    static const unsigned char dictionary_bytes[] = {0, 1, 2, 4}, content_bytes[] = {0, 2, 4, 8};
    unsigned char head[MOST_BYTES] = {0};
    size_t got;
    if (gt_source_pread(source, head, sizeof head, offset, &got, NULL) != GT_OK || got < 8 || !zstd_begins(head, got))
        return false;
    if (head[0] != 0x28) { /* skippable */
        *member = (struct gt_member){8 + (uint64_t)gt_inflate_number(head + 4, 4), 0};
        return true;
    }
    unsigned long long content = ZSTD_getFrameContentSize(head, got);
    if (content == ZSTD_CONTENTSIZE_UNKNOWN || content == ZSTD_CONTENTSIZE_ERROR)
        return false;
    bool is_single = head[4] & SINGLE_SEGMENT;
    uint64_t at = offset + 5 + !is_single + dictionary_bytes[head[4] & 3] + content_bytes[head[4] >> 6];
    at += is_single && head[4] >> 6 == 0;
    if (!walk_blocks(source, &at))
        return false;
    *member = (struct gt_member){at - offset + (head[4] & CHECKSUM ? 4 : 0), content};
    return true;
}

const struct gt_codec gt_codec_zstd = {
    .damage_cut = "zstd stream ends early",
    .damage_garbage = "zstd stream is empty and followed by other data",
    .begins = zstd_begins,
    .new_state = zstd_new,
    .free_state = zstd_free,
    .reset = zstd_reset,
    .step = zstd_step,
    .measure = zstd_measure,
};
