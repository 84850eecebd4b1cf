/* Reads members of a zip archive: packed bytes are read from the file, plain ones go out, size and checksum checked. */
#include "base/zip.h"

#include <string.h>

#include "base/crc.h"
#include "base/inflate.h"
#include "base/mem.h"
#include "base/zip_list.h"

enum { PACKED_BYTES = 256 * 1024 };

static const char CUT[] = "zip archive ends early";
static const char DAMAGED[] = "zip data is damaged";
static const char WRONG[] = "zip checksum is wrong";

struct gt_zip {
    struct gt_zip_file file;
    struct gt_zip_list list;
    void *inflate; /* of gt_codec_deflate; made when it is needed */

    /* The member that is read. */
    const struct gt_zip_member *member; /* NULL: none */
    uint64_t position, end;             /* of its packed bytes in the file, after those at hand */
    uint64_t given_bytes, done;
    uint32_t crc;
    bool ended;
    const char *damage;
    unsigned char *packed;
    size_t next, fill; /* bytes at hand */
};

bool gt_zip_begins(const unsigned char *head, size_t size) {
    return size >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
}

enum gt_status gt_zip_open(int fd, uint64_t start, uint64_t size, const char *path, struct gt_zip **out,
                           struct gt_error *err) {
    *out = NULL;
    struct gt_zip *zip = gt_mem_array(1, sizeof *zip);
    if (!zip)
        return gt_fail_memory(err);
    zip->file = (struct gt_zip_file){fd, start, size, path};
    zip->packed = gt_mem_alloc(PACKED_BYTES);
    enum gt_status status = zip->packed ? gt_zip_list_read(&zip->list, &zip->file, err) : gt_fail_memory(err);
    if (status == GT_OK)
        *out = zip;
    else
        gt_zip_close(zip);
    return status;
}

void gt_zip_close(struct gt_zip *zip) {
    if (!zip)
        return;
    gt_codec_deflate.free_state(zip->inflate);
    gt_zip_list_release(&zip->list);
    gt_mem_free(zip->packed);
    gt_mem_free(zip);
}

size_t gt_zip_count(const struct gt_zip *zip) {
    return zip->list.count;
}

const char *gt_zip_name(const struct gt_zip *zip, size_t member) {
    return zip->list.members[member].name;
}

const char *gt_zip_damage(const struct gt_zip *zip) {
    return zip->damage ? zip->damage : zip->list.damage;
}

uint64_t gt_zip_done(const struct gt_zip *zip) {
    return zip->done;
}

static const char *refuse(const struct gt_zip_member *member) {
    if (member->is_encrypted)
        return "it is encrypted";
    if (member->method != GT_ZIP_STORED && member->method != GT_ZIP_DEFLATED)
        return "it is neither stored nor deflated";
    return NULL;
}

enum gt_status gt_zip_select(struct gt_zip *zip, size_t index, struct gt_error *err) {
    const struct gt_zip_member *member = &zip->list.members[index];
    zip->member = member;
    zip->position = member->begin;
    zip->end =
        member->packed_bytes <= zip->file.size - member->begin ? member->begin + member->packed_bytes : zip->file.size;
    zip->given_bytes = zip->done = zip->next = zip->fill = 0;
    zip->crc = 0;
    zip->damage = NULL;
    const char *reason = refuse(member);
    zip->ended = true;
    if (reason)
        return gt_fail(err, "cannot read '%s' in '%s': %s; extract it first", member->name, zip->file.path, reason);
    if (member->method == GT_ZIP_DEFLATED) {
        if (!zip->inflate)
            zip->inflate = gt_codec_deflate.new_state();
        if (!zip->inflate || !gt_codec_deflate.reset(zip->inflate))
            return gt_fail_memory(err);
    }
    zip->ended = false;
    return GT_OK;
}

static enum gt_status fill(struct gt_zip *zip, struct gt_error *err) {
    uint64_t left = zip->end - zip->position;
    size_t wanted = left < PACKED_BYTES ? (size_t)left : PACKED_BYTES;
    zip->next = 0;
    if (gt_zip_list_pread(&zip->file, zip->packed, wanted, zip->position, &zip->fill, err) != GT_OK)
        return GT_ERR;
    zip->position += zip->fill;
    zip->done += zip->fill;
    if (zip->fill < wanted)
        zip->end = zip->position; /* the file has shrunk */
    return GT_OK;
}

/* What a part of the member came to. */
struct part {
    size_t bytes;
    bool is_last;
    const char *damage;
};

/* Some bytes that are stored as they are. */
static struct part take_stored(struct gt_zip *zip, unsigned char *buf, size_t size) {
    size_t at_hand = zip->fill - zip->next, piece = at_hand < size ? at_hand : size;
    memcpy(buf, zip->packed + zip->next, piece);
    zip->next += piece;
    bool is_short = zip->member->has_check && zip->given_bytes + piece < zip->member->plain_bytes;
    return (struct part){piece, piece == 0, piece == 0 && is_short ? CUT : NULL};
}

static enum gt_status take_deflated(struct gt_zip *zip, unsigned char *buf, size_t size, struct part *part,
                                    struct gt_error *err) {
    const char *words = NULL; /* those of gzip */
    struct gt_inflate_io io = {zip->packed + zip->next, zip->fill - zip->next, zip->position == zip->end, buf, size};
    size_t before = io.in_size;
    enum gt_codec_status status = gt_codec_deflate.step(zip->inflate, &io, &words);
    zip->next = zip->fill - io.in_size;
    *part = (struct part){.bytes = size - io.out_size, .is_last = status != GT_CODEC_MORE};
    if (status == GT_CODEC_NO_MEMORY)
        return gt_fail_memory(err);
    if (status == GT_CODEC_DAMAGED)
        part->damage = DAMAGED;
    if (status == GT_CODEC_MORE && part->bytes == 0 && io.in_size == before && zip->position == zip->end)
        *part = (struct part){0, true, CUT};
    return GT_OK;
}

static void end(struct gt_zip *zip, const char *damage) {
    const struct gt_zip_member *member = zip->member;
    bool is_right = zip->crc == member->crc && zip->given_bytes == member->plain_bytes;
    zip->ended = true;
    zip->damage = !damage && member->has_check && !is_right ? WRONG : damage;
}

enum gt_status gt_zip_read(struct gt_zip *zip, void *buf, size_t size, size_t *got, struct gt_error *err) {
    *got = 0;
    while (zip->member && !zip->ended && *got < size) {
        unsigned char *to = (unsigned char *)buf + *got;
        struct part part;
        if (zip->next == zip->fill && fill(zip, err) != GT_OK)
            return GT_ERR;
        if (zip->member->method == GT_ZIP_STORED)
            part = take_stored(zip, to, size - *got);
        else if (take_deflated(zip, to, size - *got, &part, err) != GT_OK)
            return GT_ERR;
        zip->crc = gt_crc_more(zip->crc, to, part.bytes);
        zip->given_bytes += part.bytes;
        *got += part.bytes;
        if (part.is_last)
            end(zip, part.damage);
    }
    return GT_OK;
}
