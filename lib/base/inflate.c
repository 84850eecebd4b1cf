/* Members of a packed stream one after the other: packed bytes come in, plain bytes go out, and the end of the last
   whole member, a cut or a damaged spot ends it. */
#include "base/inflate.h"

#include "base/mem.h"

struct gt_inflate {
    const struct gt_codec *codec;
    void *state;
    bool in_member, ended, gave_bytes;
    const char *damage;
};

/* GT_PACKING_ZIP is no packing of a stream: zip.h reads it. */
const struct gt_codec *gt_inflate_codec_of(enum gt_packing packing) {
#ifdef GT_HAVE_LZMA
    if (packing == GT_PACKING_XZ)
        return &gt_codec_xz;
#endif
    return packing == GT_PACKING_GZIP ? &gt_codec_gzip : &gt_codec_zstd;
}

enum gt_packing gt_inflate_sniff(const unsigned char *head, size_t size) {
    if (size > 1 && gt_codec_gzip.begins(head, size))
        return GT_PACKING_GZIP;
    if (size > 1 && gt_codec_zstd.begins(head, size))
        return GT_PACKING_ZSTD;
#ifdef GT_HAVE_LZMA
    if (size > 3 && gt_codec_xz.begins(head, size))
        return GT_PACKING_XZ;
#endif
    return GT_PACKING_NONE;
}

struct gt_inflate *gt_inflate_new(enum gt_packing packing) {
    struct gt_inflate *inflate = gt_mem_array(1, sizeof(*inflate));
    if (!inflate)
        return NULL;
    inflate->codec = gt_inflate_codec_of(packing);
    inflate->state = inflate->codec->new_state();
    if (!inflate->state) {
        gt_mem_free(inflate);
        return NULL;
    }
    return inflate;
}

void gt_inflate_free(struct gt_inflate *inflate) {
    if (!inflate)
        return;
    inflate->codec->free_state(inflate->state);
    gt_mem_free(inflate);
}

const char *gt_inflate_damage(const struct gt_inflate *inflate) {
    return inflate->damage;
}

void gt_inflate_restart(struct gt_inflate *inflate, bool gave_bytes) {
    inflate->in_member = inflate->ended = false;
    inflate->gave_bytes = gave_bytes;
    inflate->damage = NULL;
}

static enum gt_inflate_status end(struct gt_inflate *inflate, const char *damage) {
    inflate->ended = true;
    inflate->damage = damage;
    return GT_INFLATE_ENDED;
}

static bool all_zero(const unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

/* Between members. GT_INFLATE_OUT_FULL here means only that a member has begun. */
static enum gt_inflate_status begin_member(struct gt_inflate *inflate, const struct gt_inflate_io *io) {
    if (io->in_size < GT_INFLATE_MAGIC_MAX && !io->in_is_last)
        return GT_INFLATE_NEEDS_INPUT;
    if (io->in_size == 0)
        return end(inflate, NULL);
    if (!inflate->codec->begins(io->in, io->in_size)) {
        bool is_padding = all_zero(io->in, io->in_size);
        return end(inflate, inflate->gave_bytes || is_padding ? NULL : inflate->codec->damage_garbage);
    }
    if (!inflate->codec->reset(inflate->state))
        return GT_INFLATE_NO_MEMORY;
    inflate->in_member = true;
    return GT_INFLATE_OUT_FULL;
}

enum gt_inflate_status gt_inflate_run(struct gt_inflate *inflate, struct gt_inflate_io *io) {
    while (!inflate->ended) {
        if (!inflate->in_member) {
            enum gt_inflate_status status = begin_member(inflate, io);
            if (status != GT_INFLATE_OUT_FULL)
                return status;
        }
        if (io->out_size == 0)
            return GT_INFLATE_OUT_FULL;
        size_t room = io->out_size, left = io->in_size;
        const char *damage = NULL;
        enum gt_codec_status status = inflate->codec->step(inflate->state, io, &damage);
        inflate->gave_bytes |= io->out_size < room;
        if (status == GT_CODEC_NO_MEMORY)
            return GT_INFLATE_NO_MEMORY;
        if (status == GT_CODEC_DAMAGED)
            return end(inflate, damage);
        if (status == GT_CODEC_MEMBER_END)
            inflate->in_member = false;
        else if (io->out_size > 0 && io->in_size == 0 && !io->in_is_last)
            return GT_INFLATE_NEEDS_INPUT;
        else if (io->out_size == room && io->in_size == left)
            return end(inflate, inflate->codec->damage_cut);
    }
    return GT_INFLATE_ENDED;
}
