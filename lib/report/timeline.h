/* A timeline in a report: rows of items in order of time, few enough for a page however long the trace is. Where the
   items are too many, small neighbours are one item; counts and busy times stay exact. */
#ifndef GT_REPORT_TIMELINE_H
#define GT_REPORT_TIMELINE_H

#include <stdbool.h>
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

/* In the order in which rows are shown. */
enum gt_timeline_kind {
    GT_TIMELINE_STEPS,       /* of a process, on the CPU */
    GT_TIMELINE_COUNTERS,    /* a curve instead of items */
    GT_TIMELINE_GAPS,        /* idle time of a device; names are causes */
    GT_TIMELINE_OPS,         /* of a stream */
    GT_TIMELINE_COLLECTIVES, /* kernels of a group of ranks; names are operations */
    GT_TIMELINE_RANGES,      /* of one CPU thread and level of nesting, where their work fell on the GPUs */
    GT_TIMELINE_HOST_RANGES, /* of one CPU thread and level, as the thread was in them; so are the next ones */
    GT_TIMELINE_OPERATORS,
    GT_TIMELINE_PYTHON,
    GT_TIMELINE_CALLS, /* of the runtime and the driver */
    GT_TIMELINE_KIND_COUNT,
};

/* What a counter was at about one time: its lowest and highest value until the next point. */
struct gt_timeline_point {
    int64_t time_ns;
    double low, high;
};

/* GT_TIMELINE_UNKNOWN: the trace does not say, or the kind has no such number. */
#define GT_TIMELINE_UNKNOWN INT64_MIN
struct gt_timeline_row {
    enum gt_timeline_kind kind;
    uint32_t lane; /* its number in this timeline */
    int64_t device, pid, stream, tid, level;
    struct gt_str title, unit;   /* of counters, and the title of what has no numbers; else empty */
    struct gt_str thread, group; /* name of the thread; what ranks a group has; else empty */
    uint64_t count;              /* of ops, ranges, gaps or values */
    int64_t busy_ns;             /* union of their times */
    int64_t grain_ns;            /* what is shorter may be one with its neighbours; 0: every item is a single one */
    struct gt_timeline_item *items;
    size_t item_count;
    bool is_cut; /* more items than fit begin before the window and reach into it */
    struct gt_timeline_point *points;
    size_t point_count;
    double low, high; /* of all values */
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
    int64_t first_ns, last_ns;    /* of everything in its rows, also what CPU threads did before and after */
    struct gt_timeline_row *rows; /* by kind; those of devices by device, process and stream, those of threads by
                                     thread, kind and level */
    size_t row_count;
    struct gt_timeline_name *names; /* those that most time went to first */
    size_t name_count;
    uint64_t rows_left_out[GT_TIMELINE_KIND_COUNT]; /* to save space: those with the least busy time */
    struct gt_timeline_option options[GT_TIMELINE_OPTIONS_MAX];
    size_t option_count;
};

#endif
