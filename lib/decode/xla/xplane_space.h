/* What an XSpace consists of, apart from its events: planes with their names for events and stats, lines, and the
   pieces of lines that are read one by one. Constant once it is made. */
#ifndef GT_DECODE_XLA_XPLANE_SPACE_H
#define GT_DECODE_XLA_XPLANE_SPACE_H

#include "base/arena.h"
#include "base/map.h"
#include "decode/xla/xla_names.h"
#include "decode/xla/xplane_walk.h"

/* Something that events or stats refer to by number. */
struct gt_xplane_word {
    struct gt_str name;      /* of an event: the one that is shown */
    struct gt_xla_host host; /* of an event of a thread */
    enum gt_xla_stat stat;   /* of a stat */
};

struct gt_xplane_words {
    struct gt_xplane_word *list; /* the first one is for numbers that are not there */
    size_t count, capacity;
    struct gt_map index_of; /* by number */
    uint32_t *dense;        /* the same for small numbers */
    size_t dense_count;
};

static inline uint32_t gt_xplane_space_word(const struct gt_xplane_words *words, uint64_t id) {
    if (id < words->dense_count)
        return words->dense[id];
    uint32_t index = gt_map_get(&words->index_of, 0, id);
    return index == GT_MAP_NONE ? 0 : index;
}

/* Numbers about a GPU, 0 where they are not given. */
struct gt_xplane_gpu {
    struct gt_str name, vendor;
    uint64_t memory_bytes, bandwidth, clock_khz, multiprocessors, compute_major, compute_minor;
};

struct gt_xplane_plane {
    struct gt_str name;
    enum gt_xla_plane kind;
    int64_t device;
    struct gt_xplane_words events, stats;
    struct gt_xplane_gpu gpu;
};

struct gt_xplane_line {
    struct gt_xla_line track; /* all lines of a thread have the thread's name */
    int64_t timestamp_ns;
    uint32_t plane;
};

/* Events of a line that are next to each other. */
struct gt_xplane_piece {
    struct gt_xplane_span span;
    uint32_t line;
};

struct gt_xplane_space {
    struct gt_arena arena; /* names */
    struct gt_xplane_plane *planes;
    size_t plane_count, plane_capacity;
    struct gt_xplane_line *lines;
    size_t line_count, line_capacity;
    struct gt_xplane_piece *pieces;
    size_t piece_count, piece_capacity;
    struct gt_str host, jax_version;
    int64_t pid;         /* -1: not known */
    int64_t start_ns;    /* of the capture, UTC; 0: not known */
    uint64_t loss_count; /* warnings of the profiler about events that it lost */
    uint64_t tpu_count;  /* planes of TPUs with lines */
    size_t piece_bytes;
};

/* Reads all of it but the events. Release it also after a failure. */
enum gt_status gt_xplane_space_init(struct gt_xplane_space *space, struct gt_xplane_window *window, size_t piece_bytes,
                                    struct gt_error *err);
void gt_xplane_space_release(struct gt_xplane_space *space);

#endif
