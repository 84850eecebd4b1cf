/* Bulk copies between host and GPU: the large ones and series of them, what of them nothing hides, and how much of that
   pinned memory and a separate stream would save. */
#ifndef GT_MEASURE_FINDINGS_BULK_COPIES_H
#define GT_MEASURE_FINDINGS_BULK_COPIES_H

#include "measure/results/idle.h"
#include "report/report.h"

struct gt_evidence;

enum gt_copy_way { GT_COPY_TO_GPU, GT_COPY_TO_HOST, GT_COPY_WAY_COUNT };

struct gt_bulk_copy {
    uint32_t position, device; /* device: index into view->devices */
    uint32_t call;             /* GT_NO_ROW: not in the trace */
    uint32_t series;           /* position of the first copy of its series */
    uint64_t bytes;
    uint8_t way, memory; /* memory: enum gt_memory_kind, that of the host */
    bool blocks;         /* the call returns when the copy is done, or nearly: pageable memory, or no Async call */
    bool is_on_compute_stream;
    bool has_compute_around; /* compute ran on its GPU before and after it, so that there is something to hide it */
};

/* A gap next to such a copy. */
struct gt_bulk_copies_gap {
    size_t gap;
    const struct gt_bulk_copy *before, *after; /* NULL: another op */
};

struct gt_bulk_copies {
    struct gt_bulk_copy *items; /* by position */
    size_t count, capacity;
    struct gt_bulk_copies_gap *gaps; /* by number of the gap */
    size_t gap_count;
    double pinned_rate[GT_COPY_WAY_COUNT]; /* bytes per ns of copies of pinned memory */
    bool is_rate_observed[GT_COPY_WAY_COUNT];
    bool has_failed; /* memory was short */
};

/* The copies of all series of the threshold bulk_copy_bytes or more. A series: copies in one direction that follow each
   other on a GPU with no other op in between. One copy alone is a series, too. After a failure there are
   none. */
enum gt_status gt_bulk_copies_init(struct gt_bulk_copies *copies, const struct gt_view *view,
                                   const struct gt_idle *idle, struct gt_error *err);
void gt_bulk_copies_release(struct gt_bulk_copies *copies);

typedef bool gt_bulk_copies_taking(const struct gt_bulk_copy *copy);

/* What a rule claimed of the copies that it takes. */
struct gt_bulk_copies_sum {
    size_t count;
    uint64_t bytes;
    int64_t total_ns; /* of the copies */
    int64_t alone_ns; /* of that, while nothing else ran */
    int64_t gap_ns;   /* idle time around them that they cause */
    int64_t call_ns;  /* on the CPU */
    int64_t kept_ns;  /* what would remain at the speed of pinned memory, for lack of compute that hides it */
    uint64_t memory_bytes[GT_MEMORY_STATIC + 1]; /* by enum gt_memory_kind of the host's side */
    uint32_t longest;                            /* position */
    enum gt_copy_way way;                        /* that of the longest */
};

/* Claims on each GPU the time in which they ran alone and the gaps that they cause, less what would remain. */
struct gt_bulk_copies_sum gt_bulk_copies_claim(const struct gt_bulk_copies *copies, struct gt_evidence *evidence,
                                               gt_bulk_copies_taking *takes);

/* Sentences: what was copied, and how fast; what remains. */
void gt_bulk_copies_describe(const struct gt_bulk_copies *copies, struct gt_evidence *evidence,
                             struct gt_finding *finding, const struct gt_bulk_copies_sum *sum);
void gt_bulk_copies_add_longest(struct gt_evidence *evidence, struct gt_finding *finding,
                                const struct gt_bulk_copies_sum *sum);

#endif
