/* Spans of the time of CPU threads, and what the threads did in them: intervals of a thread come in order of time,
   and each span is reported how much of it they cover and which has the largest part. One pass over both. */
#ifndef GT_MEASURE_RESULTS_HOST_SPANS_H
#define GT_MEASURE_RESULTS_HOST_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strtab.h"

#define GT_NO_HOST_SPAN UINT32_MAX

/* start < end */
struct gt_host_span {
    int64_t start_ns, end_ns;
    union {
        uint32_t thread; /* until it is linked */
        uint32_t next;   /* from then on: the one after it in its chain; GT_NO_HOST_SPAN */
    };
    uint32_t gap; /* the caller's own number */
};

/* Spans of one thread one after the other, none of which begins before the one before it ends. */
struct gt_host_span_chain {
    uint32_t thread, first, last;
};

struct gt_host_spans {
    struct gt_host_span *items;
    size_t count;
    struct gt_host_span_chain *chains;
    size_t chain_count, chain_capacity;
    uint32_t *latest_chain;          /* by thread; GT_NO_HOST_SPAN: it has none */
    size_t thread_count, first_open; /* chains before this one are not added to any more */
};

/* Room for so many at most. false: memory was short. Release in any case. */
bool gt_host_spans_init(struct gt_host_spans *spans, size_t most, size_t thread_count);
void gt_host_spans_release(struct gt_host_spans *spans);

/* Adds one of a thread. They come in order of start, and anew after gt_host_spans_rewind. One that begins before the
   one before it ends begins another chain: of gaps of one device none does, for no launch call starts after the end of
   its op. false: memory was short. */
bool gt_host_spans_add(struct gt_host_spans *spans, uint32_t thread, int64_t start_ns, int64_t end_ns, uint32_t gap);
/* The same of all up to before `end` that are in items already and not linked yet. */
bool gt_host_spans_link(struct gt_host_spans *spans, size_t end);
void gt_host_spans_rewind(struct gt_host_spans *spans);

/* What the intervals have of one span. */
struct gt_host_span_part {
    bool is_most;  /* they cover more than half of it */
    gt_strid name; /* where names are wanted, of the interval with the largest part, the first of several;
                      GT_STRID_EMPTY: none has a part */
};

/* A walk along all chains of all threads at once, with the intervals of one kind. Of spans that lie next to each
   other each costs a logarithm, and where names are wanted a look for each interval in it. */
struct gt_host_spans_sweep {
    const struct gt_host_spans *spans;
    struct gt_sweep_thread *threads; /* by thread */
    struct gt_sweep_cursor *cursors; /* room for all chains twice, thread by thread */
    bool wants_names;
    /* Called once for each span, when no interval can reach it any more. */
    void (*report)(void *context, uint32_t span, const struct gt_host_span_part *part);
    void *context;
};

/* `how` has the last three. false: memory was short. Release in any case. */
bool gt_host_spans_sweep_init(struct gt_host_spans_sweep *sweep, const struct gt_host_spans *spans,
                              const struct gt_host_spans_sweep *how);
void gt_host_spans_sweep_release(struct gt_host_spans_sweep *sweep);
void gt_host_spans_sweep_restart(struct gt_host_spans_sweep *sweep);

/* Whether a thread has spans; GT_NO_TRACK has none. */
static inline bool gt_host_spans_has(const struct gt_host_spans *spans, uint32_t thread) {
    return thread < spans->thread_count && spans->latest_chain[thread] != GT_NO_HOST_SPAN;
}

/* An interval of a thread that has spans, start < end: none that came before ends later than it starts. */
void gt_host_spans_sweep_take(struct gt_host_spans_sweep *sweep, uint32_t thread, int64_t start_ns, int64_t end_ns,
                              gt_strid name);
/* An interval that ends at this time or before it reaches no span of the thread and need not be taken; INT64_MIN: a
   span has begun. It is another time after an interval was taken. */
int64_t gt_host_spans_sweep_next_ns(const struct gt_host_spans_sweep *sweep, uint32_t thread);
/* After the last. */
void gt_host_spans_sweep_finish(struct gt_host_spans_sweep *sweep);

#endif
