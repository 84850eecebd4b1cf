/* A moving window over a file, and steps through the fields of messages in it. */
#include "decode/xla/xplane_walk.h"

#include <string.h>

#include "base/mem.h"

/* A tag and a number have at most so many bytes together. */
enum { HEADER_BYTES = 20, WINDOW_BYTES = 1 << 20 };

enum gt_status gt_xplane_walk_window_init(struct gt_xplane_window *window, const struct gt_source *source,
                                          uint64_t size, struct gt_error *err) {
    *window = (struct gt_xplane_window){
        .source = source, .size = size, .capacity = size < WINDOW_BYTES ? (size_t)size + 1 : WINDOW_BYTES};
    window->buffer = gt_mem_array(window->capacity + GT_PROTO_PADDING, 1);
    return window->buffer ? GT_OK : gt_fail_memory(err);
}

void gt_xplane_walk_window_release(struct gt_xplane_window *window) {
    gt_mem_free(window->buffer);
    window->buffer = NULL;
}

void gt_xplane_walk_damage(struct gt_xplane_window *window, uint64_t offset) {
    if (window->damage_count++ == 0)
        window->first_damage = offset;
}

static enum gt_status fill(struct gt_xplane_window *window, uint64_t offset, size_t wanted, struct gt_error *err) {
    if (wanted > window->capacity) {
        char *grown = gt_mem_realloc(window->buffer, wanted + GT_PROTO_PADDING);
        if (!grown)
            return gt_fail_memory(err);
        window->buffer = grown;
        window->capacity = wanted;
    }
    window->offset = offset;
    window->filled = 0;
    if (gt_source_pread(window->source, window->buffer, window->capacity, offset, &window->filled, err) != GT_OK)
        return GT_ERR;
    memset(window->buffer + window->filled, 0, GT_PROTO_PADDING);
    return GT_OK;
}

/* At least `wanted` bytes from there on, or all that the file has. */
static inline enum gt_status look(struct gt_xplane_window *window, uint64_t offset, size_t wanted, struct gt_str *bytes,
                                  struct gt_error *err) {
    if (offset < window->offset || offset - window->offset > window->filled ||
        window->filled - (size_t)(offset - window->offset) < wanted) {
        bool has_all = offset >= window->offset && offset - window->offset <= window->filled &&
                       window->offset + window->filled >= window->size;
        if (!has_all && fill(window, offset, wanted, err) != GT_OK)
            return GT_ERR;
    }
    size_t at = (size_t)(offset - window->offset);
    *bytes = (struct gt_str){window->buffer + at, window->filled - at};
    return GT_OK;
}

static enum gt_xplane_step stop(struct gt_xplane_walk *walk) {
    if (walk->end >= walk->window->size)
        walk->window->is_cut = true;
    else
        gt_xplane_walk_damage(walk->window, walk->offset);
    walk->offset = walk->end;
    return GT_XPLANE_STEP_END;
}

/* A field that has a length. */
static enum gt_xplane_step take_span(struct gt_xplane_walk *walk, struct gt_xplane_field *field, uint64_t begin) {
    uint64_t left = walk->end - begin;
    field->is_clipped = field->value > left;
    field->span = (struct gt_xplane_span){begin, field->is_clipped ? left : field->value};
    if (field->is_clipped && walk->end >= walk->window->size)
        walk->window->is_cut = true;
    else if (field->is_clipped)
        gt_xplane_walk_damage(walk->window, field->offset);
    walk->offset = begin + field->span.size;
    return GT_XPLANE_STEP_FIELD;
}

enum gt_xplane_step gt_xplane_walk_next(struct gt_xplane_walk *walk, struct gt_xplane_field *field,
                                        struct gt_error *err) {
    struct gt_str bytes;
    if (walk->offset >= walk->end)
        return GT_XPLANE_STEP_END;
    if (look(walk->window, walk->offset, HEADER_BYTES, &bytes, err) != GT_OK)
        return GT_XPLANE_STEP_FAILED;
    uint64_t left = walk->end - walk->offset;
    const unsigned char *p = (const unsigned char *)bytes.ptr;
    const unsigned char *end = p + (bytes.len < left ? bytes.len : (size_t)left);
    struct gt_proto_number tag = gt_proto_read_tag(p, end), number;
    if (!tag.p || tag.value > UINT32_MAX || tag.value < GT_PROTO_VARINT(1))
        return stop(walk);
    unsigned type = tag.value & 7;
    number = type == 0 || type == 2 ? gt_proto_read(tag.p, end) : gt_proto_read_fixed(tag.p, end, type);
    if (!number.p)
        return stop(walk);
    *field = (struct gt_xplane_field){.tag = (uint32_t)tag.value, .value = number.value, .offset = walk->offset};
    uint64_t after = walk->offset + (uint64_t)(number.p - p);
    if (type == 2)
        return take_span(walk, field, after);
    walk->offset = after;
    return GT_XPLANE_STEP_FIELD;
}

enum gt_status gt_xplane_walk_bytes(struct gt_xplane_window *window, struct gt_xplane_span span, struct gt_str *bytes,
                                    struct gt_error *err) {
    size_t wanted = (size_t)span.size;
    if (span.size > GT_XPLANE_MAX_BYTES) {
        gt_xplane_walk_damage(window, span.offset);
        *bytes = (struct gt_str){"", 0};
        return GT_OK;
    }
    if (look(window, span.offset, wanted, bytes, err) != GT_OK)
        return GT_ERR;
    if (bytes->len > wanted)
        bytes->len = wanted;
    return GT_OK;
}
