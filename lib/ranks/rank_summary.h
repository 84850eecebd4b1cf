/* What is left of the trace of one rank when its store is gone: plain arrays that can be kept, written, read and sent.
   The analysis of a job sees a list of these, never a store. About 75 bytes for each communication kernel. */
#ifndef GT_RANKS_RANK_SUMMARY_H
#define GT_RANKS_RANK_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intervals.h"
#include "base/str.h"

#define GT_RANK_NONE UINT32_MAX

/* The parts that tile the span of a rank, in their order. Transfer and wait are one in a summary (the first of them):
   only the job knows how long a kernel waited. */
enum gt_rank_part {
    GT_PART_COMPUTE,
    GT_PART_TRANSFER,
    GT_PART_WAIT,
    GT_PART_MEMORY,
    GT_PART_IDLE_SYNC,
    GT_PART_IDLE_HOST,
    GT_PART_IDLE_LAUNCH,
    GT_PART_IDLE_DEPENDENCY,
    GT_PART_IDLE_UNKNOWN,
    GT_PART_COUNT
};
extern const char *const gt_rank_summary_parts[GT_PART_COUNT]; /* "idle_host" */

static inline bool gt_rank_summary_is_own(enum gt_rank_part part) {
    return part != GT_PART_TRANSFER && part != GT_PART_WAIT;
}

/* A run of text. */
struct gt_rank_text {
    uint32_t first, bytes;
};

/* A moment with what happened from the first op on, part by part. Every start and end of a communication kernel and of
   a window is a point, so that sums between two of them are a difference. The parts sum to the time. TRANSFER is all
   communication without compute; WAIT is 0. There are two for each kernel, so only what each adds to the one before is
   kept (rank_sums.h), and from every so many on where that begins. */
struct gt_rank_anchor {
    int64_t ns[GT_PART_COUNT]; /* before its first point */
    uint32_t first_byte;
    uint32_t padding;
};

/* In order of start, then of rows in the trace. What it carries ends where that of the next kernel begins. */
struct gt_rank_kernel {
    int64_t start_ns, end_ns;
    uint32_t start_point, end_point;
    uint32_t step;          /* that launched it; GT_RANK_NONE */
    uint32_t first_carried; /* none: the trace says nothing about it */
    uint32_t name;          /* a number for its name, of this trace: hash of the text */
    uint8_t named_op;       /* enum gt_comm_op: what its name says */
    uint8_t is_ambiguous;   /* several kernels or communicators in one group call */
    uint8_t padding[2];
};

/* A collective or message as the trace of one rank describes it; equal ones are there once. UINT64_MAX, INT64_MIN: not
   known. */
struct gt_rank_call {
    uint64_t in_bytes, out_bytes;
    int64_t peer; /* of a message: as written */
    int64_t root;
    struct gt_rank_text dtype;
    uint32_t group;                 /* GT_RANK_NONE: not known */
    uint32_t in_splits, out_splits; /* from here on in numbers: as many as in_count and out_count */
    uint32_t in_count, out_count;
    uint32_t op; /* enum gt_comm_op */
};

struct gt_rank_group {
    uint64_t communicator; /* of NCCL; UINT64_MAX: it has a name instead */
    int64_t own_place;     /* in the communicator, as its making has it; -1: not known */
    struct gt_rank_text name, description;
    int64_t size;                        /* -1: not known */
    int64_t first_rank, stride;          /* members are first_rank + i * stride; stride 0: they are listed */
    uint32_t first_member, member_count; /* of numbers; none: not listed */
};

/* A step and its window on the GPU. */
struct gt_rank_step {
    int64_t number;
    int64_t start_ns, end_ns;
    uint32_t start_point, end_point;
};

/* All compute kernels of one name, grid and block. */
struct gt_rank_work {
    struct gt_rank_text name;
    uint32_t grid[3], block[3];
    int64_t count, total_ns;
    int64_t usual_count, usual_ns; /* medians over the steps of the rank; 0: it has fewer than 3 */
};

/* A place in a communicator that NCCL Inspector logged collectives of. Negative numbers: not known. */
struct gt_rank_log_lane {
    uint64_t communicator; /* UINT64_MAX: not known */
    int64_t place, size, nodes;
    struct gt_rank_text name;
};

/* A collective or message of such a log; as comm_logs of the store has it. */
struct gt_rank_log {
    int64_t sequence, length_ns, peer;
    uint64_t bytes;
    double algbw, busbw;
    struct gt_rank_text name, timing; /* texts of one log exist once each */
    uint32_t lane;
    uint32_t op; /* enum gt_comm_op */
};

struct gt_rank_head {
    int64_t rank;       /* -1: not known */
    int64_t world_size; /* -1 likewise */
    int64_t device;
    int64_t first_ns, last_ns; /* the span: first start and last end of an op */
    int64_t base_ns;           /* what to add to times for UTC; 0: not known */
    uint64_t points;           /* how many there are */
    uint64_t other_devices;    /* ops on other devices of its process */
    uint64_t ambiguous;        /* group calls with several kernels or communicators */
    uint64_t ops;
    struct gt_rank_text host, uuid, input;
    uint32_t source;             /* enum gt_rank_source */
    uint32_t input_number;       /* which of the inputs it is from */
    uint32_t steps_are_numbered; /* by the profiler: equal numbers mean the same step on all ranks */
    uint32_t made_from;          /* enum gt_made_from */
};

struct gt_rank_summary {
    struct gt_rank_head head;
#define GT_RANK_ARRAY(type, name)                                                                                      \
    type *name, name##_spare; /* the second is handed out when memory is short */                                      \
    size_t name##_count, name##_capacity;
#include "ranks/rank_arrays.def"
#undef GT_RANK_ARRAY
    bool failed; /* sticky: memory was short */
};

void gt_rank_summary_release(struct gt_rank_summary *summary);

/* Gives back the room that its arrays do not use. */
void gt_rank_summary_trim(struct gt_rank_summary *summary);

/* Room for one more; the caller fills it. Never NULL: after a memory failure something that is not kept. */
#define GT_RANK_ARRAY(type, name) type *gt_rank_summary_add_##name(struct gt_rank_summary *summary);
#include "ranks/rank_arrays.def"
#undef GT_RANK_ARRAY

struct gt_rank_text gt_rank_summary_put_text(struct gt_rank_summary *summary, struct gt_str text);

static inline struct gt_str gt_rank_summary_text(const struct gt_rank_summary *summary, struct gt_rank_text text) {
    return text.bytes ? (struct gt_str){summary->text + text.first, text.bytes} : (struct gt_str){"", 0};
}

/* What a kernel carries: places in `carried` from its first on. */
static inline uint32_t gt_rank_summary_carried_count(const struct gt_rank_summary *summary, size_t kernel) {
    size_t end =
        kernel + 1 < summary->kernels_count ? summary->kernels[kernel + 1].first_carried : summary->carried_count;
    return (uint32_t)end - summary->kernels[kernel].first_carried;
}
static inline const struct gt_rank_call *gt_rank_summary_call(const struct gt_rank_summary *summary, size_t carried) {
    return &summary->calls[summary->carried[carried]];
}
/* UINT64_MAX: not known. */
static inline uint64_t gt_rank_summary_comms_id(const struct gt_rank_summary *summary, size_t carried) {
    return carried < summary->comms_ids_count ? summary->comms_ids[carried] : UINT64_MAX;
}
/* INT64_MIN: not known. */
static inline int64_t gt_rank_summary_sequence(const struct gt_rank_summary *summary, size_t carried) {
    return carried < summary->sequences_count ? summary->sequences[carried] : INT64_MIN;
}

#endif
