/* A timeline in a report: rows of items in order of time, few enough for a page however long the trace is. Where the
   items are too many, small neighbours are one item; counts and busy times stay exact. */
#ifndef GT_REPORT_TIMELINE_H
#define GT_REPORT_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* An op, range or gap, or several of a row that are close together. Times count from the input's first op. */
struct gt_timeline_item {
    int64_t start_ns, end_ns; /* of several: from the first start to the last end */
    int64_t busy_ns;          /* what of its time the items before it have not covered; sums to that of the row */
    uint32_t count;           /* how many it represents */
    uint32_t name;            /* of several: of the longest in the category that has most of the time */
};

enum gt_timeline_kind {
    GT_TIMELINE_RANGES, /* of one CPU thread and level of nesting, where their work fell on the GPUs */
    GT_TIMELINE_GAPS,   /* idle time of a device; names are causes */
    GT_TIMELINE_OPS,    /* of a stream */
    GT_TIMELINE_KIND_COUNT,
};

/* GT_TIMELINE_UNKNOWN: the trace does not say, or the kind has no such number. */
#define GT_TIMELINE_UNKNOWN INT64_MIN
struct gt_timeline_row {
    enum gt_timeline_kind kind;
    int64_t device, pid, stream, tid, level;
    uint64_t count;   /* of ops, ranges or gaps */
    int64_t busy_ns;  /* union of their times */
    int64_t grain_ns; /* what is shorter may be one with its neighbours; 0: every item is a single one */
    struct gt_timeline_item *items;
    size_t item_count;
};

struct gt_timeline_name {
    struct gt_str text;   /* cut if it is long; empty where there was no room */
    const char *category; /* key; NULL: none (ranges, causes of gaps) */
};

/* An option that selected a part of the trace, for a command that shows more of it. */
struct gt_timeline_option {
    const char *name, *value;
};
enum { GT_TIMELINE_OPTIONS_MAX = 16 };

struct gt_timeline {
    int64_t start_ns, end_ns;     /* the window, else the span of all devices */
    struct gt_timeline_row *rows; /* by kind; ranges by thread and level, the others by device, process and stream */
    size_t row_count;
    struct gt_timeline_name *names; /* those that most time went to first */
    size_t name_count;
    uint64_t rows_left_out[GT_TIMELINE_KIND_COUNT]; /* to save space: those with the least busy time */
    struct gt_timeline_option options[GT_TIMELINE_OPTIONS_MAX];
    size_t option_count;
};

#endif
