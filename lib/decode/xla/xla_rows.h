/* Events of XLA's profiler as rows, for both of its files: an event with its stats comes in, rows go into a builder.
   One belongs to one thread. */
#ifndef GT_DECODE_XLA_XLA_ROWS_H
#define GT_DECODE_XLA_XLA_ROWS_H

#include "decode/xla/xla_names.h"
#include "events/builder.h"

/* What is the same for all events of a file. */
struct gt_xla_capture {
    int64_t pid; /* of the process that everything is of; -1: not known */
    bool is_amd;
    uint32_t facts; /* enum gt_fact: what to read */
};

struct gt_xla_event {
    int64_t start_ns, end_ns;
    struct gt_str name;      /* borrowed */
    struct gt_xla_host host; /* of an event of a thread: what its name says */
    gt_strid *name_id;       /* where its number is kept, GT_STRID_EMPTY until it is known; NULL: nowhere */
    uint32_t seen;           /* stats, by bits: only these mean anything */
    uint64_t numbers[GT_XLA_STAT_COUNT];
    struct gt_str texts[GT_XLA_STAT_COUNT];
    double occupancy;
    double value; /* of a counter: the last real number among its stats */
    bool has_value;
};

struct gt_xla_rows {
    struct gt_builder *builder;
    const struct gt_xla_capture *capture;
    const struct gt_xla_line *line; /* that the next events are of */
    uint32_t track;                 /* of the line; GT_NO_TRACK until it is needed */
};

void gt_xla_rows_init(struct gt_xla_rows *rows, struct gt_builder *builder, const struct gt_xla_capture *capture);
void gt_xla_rows_begin(struct gt_xla_rows *rows, const struct gt_xla_line *line);

/* Stats that events of a line are read for, by bits; 0 with is_read false: nothing of the line is. */
uint32_t gt_xla_rows_stats(const struct gt_xla_capture *capture, const struct gt_xla_line *line, bool *is_read);

/* offset: of the event in the input. */
void gt_xla_rows_add(struct gt_xla_rows *rows, const struct gt_xla_event *event, uint64_t offset);

#endif
