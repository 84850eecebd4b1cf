/* Packed streams (gzip, zstd, xz) as plain bytes: the caller moves the bytes, this turns them, member after member. */
#ifndef GT_BASE_INFLATE_H
#define GT_BASE_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/source.h"

#define GT_INFLATE_MAGIC_MAX 4 /* bytes that identify a packing */

/* What begins with these bytes. Fewer than GT_INFLATE_MAGIC_MAX bytes are taken as all there is. */
enum gt_packing gt_inflate_sniff(const unsigned char *head, size_t size);

/* Where to read and write next; calls move the pointers and lower the sizes. */
struct gt_inflate_io {
    const unsigned char *in;
    size_t in_size;
    bool in_is_last; /* nothing follows these input bytes */
    unsigned char *out;
    size_t out_size;
};

enum gt_inflate_status {
    GT_INFLATE_NEEDS_INPUT, /* all of it was used, or it is too short to decide: append to what is left and call again
                             */
    GT_INFLATE_OUT_FULL,
    GT_INFLATE_ENDED, /* nothing more comes; gt_inflate_damage says whether that is as it should be */
    GT_INFLATE_NO_MEMORY,
};

struct gt_inflate;

struct gt_inflate *gt_inflate_new(enum gt_packing packing); /* not GT_PACKING_NONE; NULL: memory was short */
void gt_inflate_free(struct gt_inflate *inflate);           /* NULL is fine */
enum gt_inflate_status gt_inflate_run(struct gt_inflate *inflate, struct gt_inflate_io *io);
const char *gt_inflate_damage(const struct gt_inflate *inflate); /* NULL: none; constant text */

/* Goes on with bytes from elsewhere, where a member begins. gave_bytes: something came out before, so that garbage
   there is no damage. */
void gt_inflate_restart(struct gt_inflate *inflate, bool gave_bytes);

/* ---- one row for each packing ---- */

/* A number of up to four bytes, the lowest first. */
static inline uint32_t gt_inflate_number(const unsigned char *p, size_t bytes) {
    uint32_t value = 0;
    for (size_t i = bytes; i-- > 0;)
        value = value << 8 | p[i];
    return value;
}

enum gt_codec_status { GT_CODEC_MORE, GT_CODEC_MEMBER_END, GT_CODEC_DAMAGED, GT_CODEC_NO_MEMORY };

/* The sizes of a member. */
struct gt_member {
    uint64_t packed_bytes, plain_bytes;
};

struct gt_codec {
    const char *damage_cut;                                 /* the stream ends inside a member */
    const char *damage_garbage;                             /* not one byte came out, and something else follows */
    bool (*begins)(const unsigned char *head, size_t size); /* a member; a shorter head: the beginning of its mark */
    void *(*new_state)(void);
    void (*free_state)(void *state); /* NULL is fine */
    bool (*reset)(void *state);      /* before each member; false: memory was short */
    /* Works until the input is used, the output is full or the member ends. Bytes before a damaged spot come out. */
    enum gt_codec_status (*step)(void *state, struct gt_inflate_io *io, const char **damage);
    /* The sizes of the member at an offset of the file, as its headers declare them; they may be wrong. false: not
     * declared. */
    bool (*measure)(const struct gt_source *source, uint64_t offset, struct gt_member *member);
};

const struct gt_codec *gt_inflate_codec_of(enum gt_packing packing); /* not GT_PACKING_NONE */

extern const struct gt_codec gt_codec_gzip, gt_codec_zstd;
/* Without header and checksum, and with those of zlib: only to make, reset, step and free. */
extern const struct gt_codec gt_codec_deflate, gt_codec_zlib;
extern const struct gt_codec gt_codec_xz; /* only where GT_HAVE_LZMA is defined */

#endif
