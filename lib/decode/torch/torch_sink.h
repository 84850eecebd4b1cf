/* Where events of a trace go: parsed events come in, rows, tracks and issues of a builder come out. One belongs to one
   thread. */
#ifndef GT_DECODE_TORCH_TORCH_SINK_H
#define GT_DECODE_TORCH_TORCH_SINK_H

#include "base/arena.h"
#include "decode/torch/torch_event.h"
#include "events/builder.h"
#include "events/store.h"

/* What a metadata event says about a process or thread. Stored separately: names are given in file order when all
   chunks are read, no matter who read them. */
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

struct gt_torch_fast;
struct gt_torch_half;
struct gt_torch_untyped;
struct gt_torch_subject;

enum gt_torch_mode {
    GT_TORCH_USUAL,    /* the fast reader, where there is one, once it knows the layout */
    GT_TORCH_EAGER,    /* ... from the second event of a kind on: for tests */
    GT_TORCH_PORTABLE, /* without it */
};

struct gt_torch_sink {
    struct gt_builder *builder;
    uint32_t facts;             /* enum gt_fact: what to read */
    uint32_t taken;             /* categories that become rows, by bits */
    uint32_t args_wanted;       /* ... and whose args are taken apart */
    struct gt_torch_fast *fast; /* reads what looks as usual; NULL: all is read the portable way */
    uint64_t event_count;       /* objects that say what phase they are */
    uint64_t odd_count;         /* issues counted for the content of events */
    uint32_t last_track;        /* of the last event taken, if it has one */
    struct gt_torch_track_cache threads[GT_TORCH_CACHE_SLOTS];
    struct gt_torch_track_cache lanes[GT_TORCH_CACHE_SLOTS];
    char *scratch; /* decoded text */
    size_t scratch_bytes;
    struct gt_arena arena; /* texts of names */
    struct gt_torch_track_name *names;
    size_t name_count, name_capacity;
    struct gt_torch_untyped *untyped; /* events without a category */
    size_t untyped_count, untyped_capacity;
    struct gt_torch_half *halves; /* begins and ends of GPU work */
    size_t half_count, half_capacity;
    /* Traces of others in the same JSON: events go there, and nothing becomes of them here. NULL: they stay here. */
    void (*take)(void *context, const struct gt_torch_subject *at, char phase);
    void *take_context;
};

/* facts: enum gt_fact, with all that they imply. What nobody asks for makes no rows and no issues. */
void gt_torch_sink_init(struct gt_torch_sink *sink, struct gt_builder *builder, enum gt_torch_mode mode,
                        uint32_t facts);
void gt_torch_sink_release(struct gt_torch_sink *sink); /* the builder stays */

/* Adds what the event says. offset: of its first byte in the input. */
void gt_torch_sink_take(struct gt_torch_sink *sink, const struct gt_torch_event *event, uint64_t offset);

/* Categories whose complete events become rows where these facts are asked for, by bits. */
uint32_t gt_torch_sink_categories(uint32_t facts);

/* Whether the name of an event of this category decides if it is a step, which is a range. Steps come under several
   categories of the CPU side, depending on the release. */
bool gt_torch_sink_may_be_step(enum gt_torch_category category);
bool gt_torch_sink_is_step(const struct gt_torch_event *event); /* a complete one */

/* A complete event whose values are read, for torch_rows.c. */
struct gt_torch_row {
    enum gt_torch_category category; /* one that is needed, GT_TORCH_CAT_GPU_OP left out */
    int64_t start_ns, end_ns;
    gt_strid name;
    uint32_t track; /* GPU side: the lane; CPU side: the thread */
    uint64_t correlation;
    bool is_in_graph;
};
/* The CUDA graph of the op that was added last, and the node; 0 or less: not known. */
void gt_torch_sink_add_graph(struct gt_torch_sink *sink, enum gt_torch_category category, int64_t graph, int64_t node);
void gt_torch_sink_add_bytes(struct gt_torch_sink *sink, const struct gt_torch_row *row, int64_t bytes); /* the op's */
void gt_torch_sink_add_range(struct gt_torch_sink *sink, const struct gt_torch_row *row);
void gt_torch_sink_add_rare(struct gt_torch_sink *sink, const struct gt_torch_row *row); /* no operator, no call */

/* The commonest rows. Here, since a function that copies a row just written has to wait for it to reach memory. */

/* false: it was left out. */
static inline bool gt_torch_sink_add_op(struct gt_torch_sink *sink, const struct gt_torch_row *row) {
    enum gt_op_kind kind = row->category == GT_TORCH_CAT_MEMCPY   ? GT_OP_MEMCPY
                           : row->category == GT_TORCH_CAT_MEMSET ? GT_OP_MEMSET
                                                                  : GT_OP_KERNEL;
    return gt_builder_op(sink->builder, &(struct gt_ops_row){.start_ns = row->start_ns,
                                                             .end_ns = row->end_ns,
                                                             .correlation = row->correlation,
                                                             .name = row->name,
                                                             .lane = row->track,
                                                             .kind = (uint8_t)kind,
                                                             .flags = row->is_in_graph ? GT_OP_IN_GRAPH : 0});
}

static inline void gt_torch_sink_add_cpu_side(struct gt_torch_sink *sink, const struct gt_torch_row *row) {
    if (row->category == GT_TORCH_CAT_CPU_OP)
        gt_builder_cpu_op(sink->builder, &(struct gt_cpu_ops_row){row->start_ns, row->end_ns, row->name, row->track});
    else if (row->category == GT_TORCH_CAT_CALL)
        gt_builder_call(sink->builder,
                        &(struct gt_calls_row){row->start_ns, row->end_ns, row->correlation, row->name, row->track});
    else
        gt_torch_sink_add_rare(sink, row);
}

/* Tracks by their numbers, the last ones remembered. */
uint32_t gt_torch_sink_thread(struct gt_torch_sink *sink, int64_t pid, int64_t tid);
uint32_t gt_torch_sink_lane(struct gt_torch_sink *sink, int64_t device, int64_t stream);

/* The stream that a row of a GPU is of. Since April 2026 Kineto shows what would overlap on a stream next to it, under
   this many more. */
enum { GT_TORCH_SHOWN_STREAM = 1000000 };
static inline int64_t gt_torch_sink_stream_of_row(int64_t tid) {
    return tid >= GT_TORCH_SHOWN_STREAM && tid < 2 * GT_TORCH_SHOWN_STREAM ? tid - GT_TORCH_SHOWN_STREAM : tid;
}

/* When all is read: gives every track that the sinks' builders know its name, the first one in the input, from chunks
   that were not dropped. Kineto also names "processes" that represent GPUs: those have no rows and make no track.
   order: of a segment after all others; it and the next one are used. */
void gt_torch_sink_name_tracks(const struct gt_torch_sink *sinks, size_t count, uint64_t order);

#endif
