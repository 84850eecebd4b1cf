/* Cover: the time of CPU threads that calls, ranges or operators cover, thread by thread as times that are disjoint and
   in order, each with the name of what is outermost there. */
#ifndef GT_MEASURE_RESULTS_COVER_H
#define GT_MEASURE_RESULTS_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intervals.h"
#include "base/strtab.h"

/* Columns of a table of intervals. Those without length do not count. */
struct gt_cover_table {
    size_t count;
    const int64_t *start_ns, *end_ns;
    const uint32_t *thread;
    const gt_strid *name;
    const uint8_t *is_counted; /* by row; NULL: all are */
    const uint8_t *counts;     /* by name; NULL: all do */
};

/* A time of a thread of which someone asks how much is covered; start < end. */
struct gt_cover_span {
    struct gt_interval time;
    uint32_t thread;
    uint32_t id; /* the caller's own number */
};

/* Where the spans of a thread are. */
struct gt_cover_thread {
    size_t first, end;  /* they lie between these, with those of others; the same: it has none */
    bool is_one_by_one; /* all that lie there come in order, and no two overlap */
};

struct gt_cover_spans {
    struct gt_cover_span *items;
    size_t count;
    struct gt_cover_thread *threads; /* by thread */
    size_t thread_count;
};

struct gt_cover {
    struct gt_interval *items; /* thread by thread, in order of start and of end. One that begins before the end of the
                                  one before it has only what is after that. Some that reach no span are left out */
    gt_strid *names;           /* of each; NULL: nobody asks */
    size_t *first;             /* by thread, and one more: the first of its own */
    size_t thread_count;
    uint64_t *sums_ns; /* of every so many: what those before them have, of all threads; may wrap. NULL: where there are
                          names, each is looked at */
};

/* Of two tables, which may be empty, as far as spans may ask for it. Of intervals that start together the longest is
   the outermost, of equal ones that of the first table. Linear where the tables are nearly in order of time. false:
   memory was short. Release in any case. */
bool gt_cover_init(struct gt_cover *cover, const struct gt_cover_table tables[2], const struct gt_cover_spans *spans,
                   bool has_names, size_t threads);
void gt_cover_release(struct gt_cover *cover);

/* What a cover has of a span. */
struct gt_cover_part {
    bool is_most;  /* more than half of it */
    gt_strid name; /* of what has the largest part, the first of several; GT_STRID_EMPTY: nothing has, or there are no
                      names */
};

/* Of one of the spans. *hint: 0, or as the last look at the same thread has left it, which makes this one quick where
   spans come in order. It costs a logarithm; with names, a look at each interval in the span. */
struct gt_cover_part gt_cover_of(const struct gt_cover *cover, const struct gt_cover_span *span, size_t *hint);

#endif
