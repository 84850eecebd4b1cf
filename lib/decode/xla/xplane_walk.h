/* Walks through messages of an XSpace that may be larger than memory: a place of the file comes in, the fields of the
   message there go out, with the place of those that have a length. Lengths that lead out of the message are cut to it.
 */
#ifndef GT_DECODE_XLA_XPLANE_WALK_H
#define GT_DECODE_XLA_XPLANE_WALK_H

#include "base/fail.h"
#include "base/source.h"
#include "decode/proto/proto.h"

/* Events, names and stats that are longer are skipped and counted as damaged. */
enum { GT_XPLANE_MAX_BYTES = 64 << 20 };

/* A window of the file that moves along; one for all walks. */
struct gt_xplane_window {
    const struct gt_source *source;
    uint64_t size; /* of the file */
    char *buffer;
    size_t capacity; /* GT_PROTO_PADDING bytes less than the buffer has */
    uint64_t offset; /* of what is in it */
    size_t filled;
    bool is_cut; /* something ends where the file ends, too early */
    uint64_t damage_count, first_damage;
};

struct gt_xplane_span {
    uint64_t offset, size;
};

struct gt_xplane_field {
    uint32_t tag;
    uint64_t value;
    uint64_t offset;            /* of the tag */
    struct gt_xplane_span span; /* of GT_PROTO_BYTES fields */
    bool is_clipped;            /* the field is longer than what is left */
};

enum gt_xplane_step {
    GT_XPLANE_STEP_FIELD,
    GT_XPLANE_STEP_END, /* of the message, or damage that hides the rest of it: counted in the window */
    GT_XPLANE_STEP_FAILED,
};

/* Where the walk through one message is. */
struct gt_xplane_walk {
    struct gt_xplane_window *window;
    uint64_t offset, end;
};

enum gt_status gt_xplane_walk_window_init(struct gt_xplane_window *window, const struct gt_source *source,
                                          uint64_t size, struct gt_error *err);
void gt_xplane_walk_window_release(struct gt_xplane_window *window);

static inline struct gt_xplane_walk gt_xplane_walk_of(struct gt_xplane_window *window, struct gt_xplane_span span) {
    return (struct gt_xplane_walk){window, span.offset, span.offset + span.size};
}

enum gt_xplane_step gt_xplane_walk_next(struct gt_xplane_walk *walk, struct gt_xplane_field *field,
                                        struct gt_error *err);

/* The bytes of a field, GT_PROTO_PADDING readable ones after them; borrowed until the next call with this window. None
   where they are too many. */
enum gt_status gt_xplane_walk_bytes(struct gt_xplane_window *window, struct gt_xplane_span span, struct gt_str *bytes,
                                    struct gt_error *err);

/* Counts what cannot be read at this place. */
void gt_xplane_walk_damage(struct gt_xplane_window *window, uint64_t offset);

#endif
