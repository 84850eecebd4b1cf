/* Idle time of whole devices: every gap with the reason why the GPU had nothing to do. */
#ifndef GT_MEASURE_RESULTS_IDLE_H
#define GT_MEASURE_RESULTS_IDLE_H

#include <string.h>

#include "base/moments.h"
#include "base/ns.h"
#include "base/quantile.h"
#include "measure/results/measure.h"

enum gt_idle_cause {
    GT_IDLE_SYNC,       /* the launching thread waited in a blocking call */
    GT_IDLE_HOST,       /* the CPU had not asked yet */
    GT_IDLE_LAUNCH,     /* the launch was under way */
    GT_IDLE_DEPENDENCY, /* queued, waiting for other work */
    GT_IDLE_UNKNOWN,    /* no launch call in the trace */
    GT_IDLE_END,        /* runs to the end of a chosen window */
    GT_IDLE_CAUSE_COUNT,
};
extern const char *const gt_idle_cause_names[GT_IDLE_CAUSE_COUNT];

/* A late start, of an op that had been launched long before, is two gaps, one after the other: until the launch had
   reached the GPU, which has the cause found, and after that, in which the op was queued. */
enum gt_gap_part { GT_GAP_WHOLE, GT_GAP_FIRST, GT_GAP_QUEUED };

/* The gaps of one device. */
struct gt_idle_device {
    size_t first, count;
    size_t late_starts;        /* as in gt_idle */
    int64_t launch_latency_ns; /* how long a launch takes after its call, as gaps show it */
    uint64_t twice_floor_ns; /* what remains of a gap even when the CPU is in time, in half nanoseconds: it is a median,
                                which may lie between two */
    __int128 total_ns;
    struct gt_moments unblamed[GT_IDLE_CAUSE_COUNT]; /* by cause: lengths of those that are nobody's fault and whole, as
                                                        nearly all are */
};

/* The op that ended last before a gap, where the column `back` has no room for it. */
struct gt_idle_far {
    uint32_t gap, previous; /* GT_NO_ROW: there is none */
};

/* Gaps by device, then start. There may be as many as ops, so that their times and calls are those of the ops around
   them and every column is one that somebody reads by itself. */
struct gt_idle {
    const struct gt_view *view;
    uint32_t *next;          /* position of the op that ends the gap; GT_NO_ROW */
    uint8_t *back;           /* how many positions before `next` the op is that ended last; 0: `far` has it */
    uint8_t *state;          /* cause, part, launch wait: as gt_idle_state has them */
    struct gt_idle_far *far; /* by gap; few: an op may be one for every hundred ops at most */
    size_t far_count;
    size_t count;
    size_t late_starts;             /* how many of them are two */
    struct gt_idle_device *devices; /* those of the view */
    size_t device_count;
};

struct gt_idle_sum {
    struct gt_moments gaps; /* their lengths */
    __int128 twice_recoverable_ns;
};

enum gt_status gt_idle_init(struct gt_idle *idle, const struct gt_view *view, struct gt_error *err);
void gt_idle_release(struct gt_idle *idle);

/* Of the gaps of one device by cause; one pass over them. */
void gt_idle_sum_causes(const struct gt_idle *idle, size_t device, struct gt_idle_sum sums[GT_IDLE_CAUSE_COUNT]);

/* Adds those of a device that it has summed already. */
void gt_idle_sum_add_unblamed(struct gt_idle_sum sums[GT_IDLE_CAUSE_COUNT], const struct gt_idle_device *device);

/* The device of a gap, by its number. */
size_t gt_idle_device_of(const struct gt_idle *idle, size_t gap);

/* Of some gaps those of a device: makes begin and end its own. false: there are none. */
bool gt_idle_clip(const struct gt_idle *idle, size_t device, size_t *begin, size_t *end);

/* The first gap of a device that starts at a time or later. */
size_t gt_idle_first_from(const struct gt_idle *idle, size_t device, int64_t time_ns);

/* ---- gaps by number ---- */

enum {
    GT_IDLE_CAUSE_BITS = 7,
    GT_IDLE_PART_SHIFT = 3,
    GT_IDLE_WAIT_BIT = 0x20,
    GT_IDLE_UNBLAMED_BIT = 0x40,
    GT_IDLE_LONG_BIT = 0x80, /* up to where the GPU ran something again it took GT_IDLE_LONG_NS or longer */
    GT_IDLE_LONG_NS = 1000000,
};

static inline uint8_t gt_idle_state(enum gt_idle_cause cause, enum gt_gap_part part, bool has_launch_wait) {
    return (uint8_t)((unsigned)cause | (unsigned)part << GT_IDLE_PART_SHIFT |
                     (has_launch_wait ? GT_IDLE_WAIT_BIT : 0u));
}

static inline enum gt_idle_cause gt_idle_gap_cause(const struct gt_idle *idle, size_t gap) {
    return (enum gt_idle_cause)(idle->state[gap] & GT_IDLE_CAUSE_BITS);
}

static inline enum gt_gap_part gt_idle_gap_part(const struct gt_idle *idle, size_t gap) {
    return (enum gt_gap_part)(idle->state[gap] >> GT_IDLE_PART_SHIFT & 3);
}

/* Whether the sums of its device have it, `unblamed`: whole, and with a cause that is nobody's fault. */
static inline bool gt_idle_gap_is_unblamed(const struct gt_idle *idle, size_t gap) {
    return idle->state[gap] & GT_IDLE_UNBLAMED_BIT;
}

/* Of so many states from this gap on the bits asked for. */
enum { GT_IDLE_TOGETHER = 8 };
static inline uint64_t gt_idle_bits_together(const struct gt_idle *idle, size_t gap, uint8_t bits) {
    uint64_t states;
    memcpy(&states, idle->state + gap, GT_IDLE_TOGETHER);
    return states & UINT64_C(0x0101010101010101) * bits;
}

/* The first gap from one on whose bit is set, or not set, or the end: in most traces most gaps are like their
   neighbours. */
static inline size_t gt_idle_next_with(const struct gt_idle *idle, uint8_t bit, bool is_set, size_t gap, size_t end) {
    const uint64_t others = is_set ? 0 : UINT64_C(0x0101010101010101) * bit;
    while (end - gap >= GT_IDLE_TOGETHER && gt_idle_bits_together(idle, gap, bit) == others)
        gap += GT_IDLE_TOGETHER;
    while (gap < end && !(idle->state[gap] & bit) == is_set)
        gap++;
    return gap;
}

/* How many from one gap to before another have the bit. */
static inline size_t gt_idle_count_with(const struct gt_idle *idle, uint8_t bit, size_t gap, size_t end) {
    size_t count = 0;
    for (; end - gap >= GT_IDLE_TOGETHER; gap += GT_IDLE_TOGETHER)
        count += gt_idle_bits_together(idle, gap, bit) / bit * UINT64_C(0x0101010101010101) >> 56; /* all bytes */
    for (; gap < end; gap++)
        count += (idle->state[gap] & bit) != 0;
    return count;
}

/* Those that are not nobody's fault, one after the other. */
static inline size_t gt_idle_next_blamed(const struct gt_idle *idle, size_t gap, size_t end) {
    return gt_idle_next_with(idle, GT_IDLE_UNBLAMED_BIT, false, gap, end);
}

/* Whether the call starts after the start of the gap, on a known thread: the launch wait is the time in between, which
   the CPU spent on something else. */
static inline bool gt_idle_gap_has_launch_wait(const struct gt_idle *idle, size_t gap) {
    return idle->state[gap] & GT_IDLE_WAIT_BIT;
}

/* Of a late start when the launch had reached the GPU: the end of its first part, and the start of the second. */
int64_t gt_idle_gap_split_ns(const struct gt_idle *idle, size_t gap);

/* The position of the op that ended last before a gap whose `back` is 0, of both parts of a late start. */
uint32_t gt_idle_gap_far_previous(const struct gt_idle *idle, size_t gap);

/* Of any gap; GT_NO_ROW: only at the start of a window there is none. */
static inline uint32_t gt_idle_gap_previous(const struct gt_idle *idle, size_t gap) {
    uint8_t back = idle->back[gap];
    return __builtin_expect(back != 0, 1) ? idle->next[gap] - back : gt_idle_gap_far_previous(idle, gap);
}

/* The launch call of the op that ends the gap; GT_NO_ROW */
static inline uint32_t gt_idle_gap_call(const struct gt_idle *idle, size_t gap) {
    uint32_t next = idle->next[gap];
    return next == GT_NO_ROW ? GT_NO_ROW : idle->view->labels->op_call[idle->view->row[next]];
}

static inline int64_t gt_idle_gap_start_ns(const struct gt_idle *idle, size_t gap) {
    if (__builtin_expect(gt_idle_gap_part(idle, gap) == GT_GAP_QUEUED, 0))
        return gt_idle_gap_split_ns(idle, gap);
    uint32_t previous = gt_idle_gap_previous(idle, gap);
    return previous == GT_NO_ROW ? idle->view->window_start_ns : idle->view->end_ns[previous];
}

/* When the GPU ran something again, or at the end of a window. */
static inline int64_t gt_idle_gap_whole_end_ns(const struct gt_idle *idle, size_t gap) {
    uint32_t next = idle->next[gap];
    return next == GT_NO_ROW ? idle->view->window_end_ns : idle->view->start_ns[next];
}

static inline int64_t gt_idle_gap_end_ns(const struct gt_idle *idle, size_t gap) {
    bool is_first = gt_idle_gap_part(idle, gap) == GT_GAP_FIRST;
    return __builtin_expect(is_first, 0) ? gt_idle_gap_split_ns(idle, gap) : gt_idle_gap_whole_end_ns(idle, gap);
}

/* Most are whole, which is asked once. */
static inline int64_t gt_idle_gap_ns(const struct gt_idle *idle, size_t gap) {
    const struct gt_view *view = idle->view;
    uint32_t next = idle->next[gap];
    uint8_t back = idle->back[gap];
    if (__builtin_expect(gt_idle_gap_part(idle, gap) != GT_GAP_WHOLE || back == 0, 0))
        return gt_ns_between(gt_idle_gap_start_ns(idle, gap), gt_idle_gap_end_ns(idle, gap));
    return gt_ns_between(view->end_ns[next - back], view->start_ns[next]);
}

/* Of a late start the time in which the op was queued, else 0. */
static inline int64_t gt_idle_gap_queued_ns(const struct gt_idle *idle, size_t gap) {
    return gt_idle_gap_part(idle, gap) == GT_GAP_FIRST ? gt_idle_gap_ns(idle, gap + 1) : 0;
}

/* In half nanoseconds, of a gap so long. */
static inline int64_t gt_idle_gap_twice_above_floor_ns(int64_t gap_ns, const struct gt_idle_device *device) {
    uint64_t twice_ns = 2 * (uint64_t)gap_ns, floor_ns = device->twice_floor_ns;
    uint64_t above_ns = twice_ns > floor_ns ? twice_ns - floor_ns : 0;
    return above_ns > INT64_MAX ? INT64_MAX : (int64_t)above_ns;
}

static inline int64_t gt_idle_gap_twice_recoverable_ns(const struct gt_idle *idle, size_t gap,
                                                       const struct gt_idle_device *device) {
    return gt_idle_gap_cause(idle, gap) <= GT_IDLE_LAUNCH
               ? gt_idle_gap_twice_above_floor_ns(gt_idle_gap_ns(idle, gap), device)
               : 0;
}

/* Adds a gap of this cause and length. */
static inline void gt_idle_sum_add(struct gt_idle_sum *sum, enum gt_idle_cause cause, int64_t gap_ns,
                                   const struct gt_idle_device *device) {
    gt_moments_add(&sum->gaps, gap_ns);
    if (cause <= GT_IDLE_LAUNCH) /* others have nothing that is recoverable */
        sum->twice_recoverable_ns += gt_idle_gap_twice_above_floor_ns(gap_ns, device);
}

/* The CPU part of a gap: from its start until the launch call of the next op had returned, on the thread of this call.
   Of a late start the rest is not the thread's. */
struct gt_idle_cpu_part {
    int64_t start_ns, end_ns;
    uint32_t thread;
};

/* false: it has none. */
static inline bool gt_idle_gap_cpu_part(const struct gt_idle *idle, size_t gap, struct gt_idle_cpu_part *part) {
    const struct gt_calls *calls = &idle->view->store->calls;
    uint32_t call = gt_idle_gap_call(idle, gap);
    if (call == GT_NO_ROW || gt_idle_gap_part(idle, gap) == GT_GAP_QUEUED || calls->thread[call] == GT_NO_TRACK)
        return false;
    int64_t call_end_ns = calls->end_ns[call], end_ns = gt_idle_gap_end_ns(idle, gap);
    *part = (struct gt_idle_cpu_part){gt_idle_gap_start_ns(idle, gap), call_end_ns < end_ns ? call_end_ns : end_ns,
                                      calls->thread[call]};
    return part->end_ns > part->start_ns;
}

/* The step of the op that ends the gap; GT_NO_ROW: none. */
static inline uint32_t gt_idle_gap_step(const struct gt_idle *idle, size_t gap) {
    uint32_t next = idle->next[gap];
    return next == GT_NO_ROW ? GT_NO_ROW : idle->view->labels->op_step[idle->view->row[next]];
}

/* Whether the CPU is to blame: its launch came late. Such gaps have a call. */
static inline bool gt_idle_gap_is_of_cpu(const struct gt_idle *idle, size_t gap) {
    enum gt_idle_cause cause = gt_idle_gap_cause(idle, gap);
    return cause == GT_IDLE_SYNC || cause == GT_IDLE_HOST;
}

#endif
