/* Chunks of a report: places in the file come in, inflated messages go out. A chunk is
       varint packed size, varint plain size, one LZ4 block -> varint message size, message
   No size is believed before it was compared with what can be. */
#include "decode/nsys/nsys_rep_chunk.h"

#include <lz4.h>

#include "base/mem.h"
#include "decode/proto/proto.h"

enum {
    HEADER_MAX = 20,
    WINDOW_BYTES = 4096,
    CHUNK_ENTRIES = 7000,  /* what nsys writes */
    ENTRIES_MAX = 1 << 16, /* what is taken at most */
};

/* Small chunks share a batch until it inflates to so much: rows of a batch are one segment of a builder. */
#define BATCH_BYTES ((size_t)256 << 10)

struct header {
    size_t length; /* of the header itself */
    uint64_t packed, plain;
};

/* false: it runs past the current bytes, or the packed bytes past the section. */
static bool read_header(struct gt_str bytes, uint64_t left, struct header *header) {
    unsigned char padded[HEADER_MAX + GT_PROTO_PADDING] = {0};
    size_t size = bytes.len < HEADER_MAX ? bytes.len : HEADER_MAX;
    memcpy(padded, bytes.ptr, size);
    struct gt_proto fields = {padded, padded + size, false};
    if (!gt_proto_varint(&fields, &header->packed) || !gt_proto_varint(&fields, &header->plain))
        return false;
    header->length = (size_t)(fields.p - padded);
    return header->length <= left && header->packed <= left - header->length;
}

/* LZ4 makes at most 255 bytes of one, and a block is never much larger than what is in it. */
static bool sizes_can_be(const struct header *header) {
    return header->plain > 0 && header->plain <= GT_NSYS_REP_PIECE_MAX && header->plain <= 255 * header->packed + 64 &&
           header->packed <= (uint64_t)LZ4_compressBound((int)header->plain);
}

/* No event packs into less than a byte (nsys needs 17): so rows, which are larger than events, are bounded by the size
   of the file. */
static size_t most_entries(const struct header *header) {
    return header->packed < ENTRIES_MAX ? (size_t)header->packed : ENTRIES_MAX;
}

/* ---- inflating ---- */

void gt_nsys_rep_chunk_inflater_release(struct gt_nsys_rep_inflater *inflater) {
    gt_mem_free(inflater->packed);
    gt_mem_free(inflater->plain);
    *inflater = (struct gt_nsys_rep_inflater){0};
}

static bool reserve(unsigned char **buffer, size_t *capacity, size_t size) {
    if (size <= *capacity)
        return true;
    gt_mem_free(*buffer);
    *capacity = 0;
    *buffer = gt_mem_alloc(size);
    if (*buffer)
        *capacity = size;
    return *buffer != NULL;
}

enum gt_status gt_nsys_rep_chunk_inflater_load(struct gt_nsys_rep_inflater *inflater,
                                               const struct gt_nsys_rep_file *file,
                                               const struct gt_nsys_rep_batch *batch, bool *is_whole,
                                               struct gt_error *err) {
    size_t got = 0;
    inflater->batch = (struct gt_str){"", 0};
    if (!reserve(&inflater->packed, &inflater->packed_capacity, batch->size))
        return gt_fail_memory(err);
    enum gt_status status = gt_source_pread(file->source, inflater->packed, batch->size, batch->offset, &got, err);
    inflater->batch = (struct gt_str){(const char *)inflater->packed, got};
    inflater->offset = batch->offset;
    *is_whole = got == batch->size;
    return status;
}

enum gt_nsys_rep_chunk_status gt_nsys_rep_chunk_inflater_next(struct gt_nsys_rep_inflater *inflater,
                                                              struct gt_str *message) {
    struct header header;
    struct gt_str *batch = &inflater->batch;
    *message = (struct gt_str){"", 0};
    if (batch->len == 0)
        return GT_NSYS_REP_CHUNK_END;
    if (!read_header(*batch, batch->len, &header) || !sizes_can_be(&header)) {
        batch->len = 0; /* the file changed since the batch was made, or is cut here */
        return GT_NSYS_REP_CHUNK_DAMAGED;
    }
    if (!reserve(&inflater->plain, &inflater->plain_capacity, (size_t)header.plain + GT_PROTO_PADDING))
        return GT_NSYS_REP_CHUNK_NO_MEMORY;
    int plain =
        LZ4_decompress_safe(batch->ptr + header.length, (char *)inflater->plain, (int)header.packed, (int)header.plain);
    size_t length = header.length + (size_t)header.packed;
    inflater->entries_max = most_entries(&header);
    *batch = (struct gt_str){batch->ptr + length, batch->len - length};
    inflater->offset += length;
    if (plain < 0 || (uint64_t)plain != header.plain)
        return GT_NSYS_REP_CHUNK_DAMAGED;
    memset(inflater->plain + plain, 0, GT_PROTO_PADDING);
    struct gt_proto fields = {inflater->plain, inflater->plain + plain, false};
    uint64_t size;
    if (!gt_proto_varint(&fields, &size) || size > (uint64_t)(fields.end - fields.p))
        return GT_NSYS_REP_CHUNK_DAMAGED;
    *message = (struct gt_str){(const char *)fields.p, (size_t)size};
    return GT_NSYS_REP_CHUNK_OK;
}

/* ---- finding ---- */

/* A few bytes of the file, to read many headers of small chunks with one call. */
struct window {
    uint64_t offset;
    size_t size;
    char bytes[WINDOW_BYTES];
};

enum gt_status gt_nsys_rep_chunk_at(const struct gt_nsys_rep_file *file, uint64_t offset,
                                    struct gt_nsys_rep_batch *batch, uint64_t *next, bool *is_there,
                                    struct gt_error *err) {
    char bytes[HEADER_MAX];
    size_t got = 0;
    struct header header;
    *next = GT_NSYS_REP_NOWHERE;
    *is_there = false;
    if (offset >= file->end)
        return GT_OK;
    size_t wanted = file->end - offset < HEADER_MAX ? (size_t)(file->end - offset) : HEADER_MAX;
    enum gt_status status = gt_source_pread(file->source, bytes, wanted, offset, &got, err);
    if (status != GT_OK || !read_header((struct gt_str){bytes, got}, file->end - offset, &header))
        return status;
    *next = offset + header.length + header.packed;
    *is_there = sizes_can_be(&header);
    if (*is_there)
        *batch = (struct gt_nsys_rep_batch){offset, header.length + (size_t)header.packed, 0, 0};
    return GT_OK;
}

static bool add_batch(struct gt_nsys_rep_batches *batches, struct gt_nsys_rep_batch batch) {
    struct gt_nsys_rep_batch *grown = gt_mem_room(batches->list, batches->count, &batches->capacity, sizeof *grown);
    if (!grown)
        return false;
    batches->list = grown;
    batches->list[batches->count++] = batch;
    return true;
}

/* Goes from header to header. Where nothing gives the end of the events, they are inflated and counted on the way. */
struct finder {
    const struct gt_nsys_rep_file *file;
    struct gt_nsys_rep_batches *batches;
    struct window window;
    uint64_t offset, end;
    uint64_t batch_begin, batch_plain;   /* the batch under way: where it begins, what it inflates to */
    uint64_t batch_event, batch_generic; /* its first events */
    bool counts;
    struct gt_nsys_rep_inflater inflater;
    uint64_t events, generic;
};

/* The bytes at the finder's place: a whole header, or all there is. */
static enum gt_status look_at(struct finder *finder, struct gt_str *bytes, struct gt_error *err) {
    struct window *window = &finder->window;
    uint64_t left = finder->end - finder->offset, wanted = left < HEADER_MAX ? left : HEADER_MAX;
    uint64_t skipped = finder->offset - window->offset;
    if (finder->offset < window->offset || skipped > window->size || window->size - skipped < wanted) {
        size_t size = left < WINDOW_BYTES ? (size_t)left : WINDOW_BYTES;
        window->offset = finder->offset;
        window->size = 0;
        skipped = 0;
        if (gt_source_pread(finder->file->source, window->bytes, size, window->offset, &window->size, err) != GT_OK)
            return GT_ERR;
    }
    *bytes = (struct gt_str){window->bytes + skipped, window->size - (size_t)skipped};
    return GT_OK;
}

static enum gt_status end_batch(struct finder *finder, uint64_t end, struct gt_error *err) {
    struct gt_nsys_rep_batch batch = {finder->batch_begin, 0, finder->batch_event, finder->batch_generic};
    if (end > finder->batch_begin) {
        batch.size = (size_t)(end - finder->batch_begin);
        if (!add_batch(finder->batches, batch))
            return gt_fail_memory(err);
    }
    finder->batch_begin = end;
    finder->batch_plain = 0;
    finder->batch_event = finder->events;
    finder->batch_generic = finder->generic;
    return GT_OK;
}

static enum gt_status count_entries(struct finder *finder, uint64_t next, struct gt_error *err) {
    struct gt_str message;
    bool is_whole;
    struct gt_nsys_rep_batch batch = {finder->offset, (size_t)(next - finder->offset), 0, 0};
    if (gt_nsys_rep_chunk_inflater_load(&finder->inflater, finder->file, &batch, &is_whole, err) != GT_OK)
        return GT_ERR;
    enum gt_nsys_rep_chunk_status status = gt_nsys_rep_chunk_inflater_next(&finder->inflater, &message);
    if (status == GT_NSYS_REP_CHUNK_NO_MEMORY)
        return gt_fail_memory(err);
    /* Chunks hold a fixed number of entries except the last one. */
    if (status == GT_NSYS_REP_CHUNK_DAMAGED)
        finder->events += CHUNK_ENTRIES;
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    for (size_t entries = 0; entries < finder->inflater.entries_max && gt_proto_next(&fields, &field);) {
        bool is_event = field.tag == GT_PROTO_BYTES(1), is_generic = field.tag == GT_PROTO_BYTES(2);
        finder->events += is_event;
        finder->generic += is_generic;
        entries += is_event || is_generic;
    }
    return GT_OK;
}

static bool is_counted(const struct finder *finder) {
    return finder->counts && finder->file->event_count != GT_NSYS_REP_UNKNOWN &&
           finder->events >= finder->file->event_count &&
           (finder->file->generic_count == GT_NSYS_REP_UNKNOWN || finder->generic >= finder->file->generic_count);
}

/* Takes the current chunk into a batch, or leaves it out. */
static enum gt_status take_chunk(struct finder *finder, const struct header *header, struct gt_error *err) {
    uint64_t next = finder->offset + header->length + header->packed;
    enum gt_status status = GT_OK;
    if (!sizes_can_be(header)) {
        if (finder->batches->refused_count++ == 0)
            finder->batches->first_refused = finder->offset;
        status = end_batch(finder, finder->offset, err);
        finder->batch_begin = next;
    } else {
        finder->batch_plain += header->plain;
        if (finder->counts)
            status = count_entries(finder, next, err);
        if (status == GT_OK && finder->batch_plain >= BATCH_BYTES)
            status = end_batch(finder, next, err);
    }
    finder->offset = next;
    return status;
}

enum gt_status gt_nsys_rep_chunk_batches_find(struct gt_nsys_rep_batches *batches, const struct gt_nsys_rep_file *file,
                                              bool must_count, struct gt_error *err) {
    bool knows_end = file->strings != GT_NSYS_REP_NOWHERE, counts = must_count || !knows_end;
    struct finder finder = {.file = file,
                            .batches = batches,
                            .offset = file->events,
                            .end = knows_end ? file->strings : file->end,
                            .batch_begin = file->events,
                            .counts = counts};
    enum gt_status status = GT_OK;
    *batches = (struct gt_nsys_rep_batches){.first_refused = GT_NSYS_REP_NOWHERE, .is_counted = counts};
    while (status == GT_OK && finder.offset < finder.end && !is_counted(&finder)) {
        struct gt_str bytes;
        struct header header;
        status = look_at(&finder, &bytes, err);
        if (status != GT_OK || !read_header(bytes, finder.end - finder.offset, &header))
            break;
        status = take_chunk(&finder, &header, err);
    }
    if (status == GT_OK)
        status = end_batch(&finder, finder.offset, err);
    batches->end = finder.offset;
    batches->is_broken = knows_end ? finder.offset != finder.end : !is_counted(&finder);
    gt_nsys_rep_chunk_inflater_release(&finder.inflater);
    return status;
}

void gt_nsys_rep_chunk_batches_release(struct gt_nsys_rep_batches *batches) {
    gt_mem_free(batches->list);
    *batches = (struct gt_nsys_rep_batches){0};
}
