/* A Perfetto trace being written: sequences of packets, encoded by several threads and written in order. */
#ifndef GT_EXPORT_PERFETTO_FILE_H
#define GT_EXPORT_PERFETTO_FILE_H

#include "base/out.h"
#include "export/wire.h"

/* What a kind of sequence consists of. Events are numbered from 0 and sorted by time. */
struct gt_perfetto_kind {
    int64_t (*time_ns)(const void *context, size_t event);
    /* Fields of an InternedData message: all that the events refer to. NULL: nothing. */
    bool (*intern)(const void *context, struct gt_wire *wire);
    /* The field of a packet that is the event. */
    void (*encode)(const void *context, size_t event, struct gt_wire *wire);
};

/* A sequence: packets that share names and a clock. The context must live until the sequences are written. */
struct gt_perfetto_sequence {
    const struct gt_perfetto_kind *kind;
    const void *context;
    size_t count;     /* of events */
    uint64_t track;   /* uuid of the track of its events; 0: they have none */
    uint64_t add_ns;  /* to all times, so that none is negative */
    uint32_t machine; /* 0: the only one */
    uint32_t id;      /* set when it is added */
};

struct gt_perfetto_file {
    struct gt_out *out;
    size_t threads;
    struct gt_perfetto_sequence *sequences; /* that are not written yet */
    size_t sequence_count, sequence_capacity;
    uint32_t last_sequence; /* id */
    uint64_t last_uuid;     /* of a track */
    struct gt_wire single;  /* packets that are not of a sequence of events */
    bool failed;            /* memory was short */
};

void gt_perfetto_file_release(struct gt_perfetto_file *file);

/* A packet of its own: between these the caller adds its field to file->single. */
size_t gt_perfetto_file_begin(struct gt_perfetto_file *file, uint32_t machine);
void gt_perfetto_file_end(struct gt_perfetto_file *file, size_t begin);

/* Sequences without events are left out. */
void gt_perfetto_file_add(struct gt_perfetto_file *file, struct gt_perfetto_sequence sequence);

/* Writes all that was added. The bytes do not depend on the number of threads. */
void gt_perfetto_file_write(struct gt_perfetto_file *file);

#endif
