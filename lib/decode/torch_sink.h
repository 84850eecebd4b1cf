/* Where events of a trace go: parsed events come in, rows, tracks and issues of a builder come out. One belongs to one
   thread. */
#ifndef GT_DECODE_TORCH_SINK_H
#define GT_DECODE_TORCH_SINK_H

#include "base/arena.h"
#include "decode/torch_event.h"
#include "events/store.h"

/* What a metadata event says about a process or thread. Kept aside: names are given in file order when all chunks are
   read, whoever read them. */
struct gt_torch_track_name {
    enum { GT_TORCH_NAMES_PROCESS, GT_TORCH_LABELS_PROCESS, GT_TORCH_NAMES_THREAD } kind;
    size_t segment; /* of the builder: the chunk it was read in */
    uint64_t order; /* of that chunk */
    int64_t pid, tid;
    struct gt_str pid_label, tid_label, name;
};

/* The last ids seen, by number. */
struct gt_torch_track_cache {
    int64_t major, minor;
    uint32_t id;
    bool is_set;
};
#define GT_TORCH_CACHE_SLOTS 64

struct gt_torch_sink {
    struct gt_builder *builder;
    uint64_t event_count; /* objects that say what phase they are */
    struct gt_torch_track_cache threads[GT_TORCH_CACHE_SLOTS];
    struct gt_torch_track_cache lanes[GT_TORCH_CACHE_SLOTS];
    char *scratch; /* decoded text */
    size_t scratch_bytes;
    struct gt_arena arena; /* texts of names */
    struct gt_torch_track_name *names;
    size_t name_count, name_capacity;
};

void gt_torch_sink_init(struct gt_torch_sink *sink, struct gt_builder *builder);
void gt_torch_sink_release(struct gt_torch_sink *sink); /* the builder stays */

/* Adds what the event says. offset: of its first byte in the input. */
void gt_torch_sink_take(struct gt_torch_sink *sink, const struct gt_torch_event *event, uint64_t offset);

/* When all is read: gives every track that the sinks' builders know its name, the first one in the input, from chunks
   that were not dropped. Kineto also names "processes" that stand for GPUs: those have no rows and make no track.
   order: of a segment behind all others; it and the next one are used. */
void gt_torch_sinks_name_tracks(const struct gt_torch_sink *sinks, size_t count, uint64_t order);

#endif
