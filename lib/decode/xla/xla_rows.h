/* Events of XLA's profiler as rows, for both of its files: an event with its stats comes in, rows go into a builder.
   One belongs to one thread. */
#ifndef GT_DECODE_XLA_XLA_ROWS_H
#define GT_DECODE_XLA_XLA_ROWS_H

#include "decode/xla/xla_names.h"
#include "decode/xla/xla_scopes.h"
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
    uint64_t order;                 /* of the piece of the line */
    bool is_unscoped;               /* scopes know that the last op of the piece is of no operation */
    struct gt_xla_scopes scopes;    /* of ops */
};

void gt_xla_rows_init(struct gt_xla_rows *rows, struct gt_builder *builder, const struct gt_xla_capture *capture);
void gt_xla_rows_release(struct gt_xla_rows *rows); /* the builder stays */

/* Goes to a line, or to a piece of it; pieces of a line have ascending orders with none of another line between. */
void gt_xla_rows_begin(struct gt_xla_rows *rows, const struct gt_xla_line *line, uint64_t order);

/* Tracks of the current line, made when they are needed, and names of events. */
uint32_t gt_xla_rows_process(struct gt_xla_rows *rows);
uint32_t gt_xla_rows_track(struct gt_xla_rows *rows);
gt_strid gt_xla_rows_name(const struct gt_xla_rows *rows, const struct gt_xla_event *event);

static inline bool gt_xla_rows_reads(const struct gt_xla_rows *rows, uint32_t facts) {
    return rows->capture->facts & facts;
}

static inline bool gt_xla_rows_has(const struct gt_xla_event *event, enum gt_xla_stat stat) {
    return event->seen >> stat & 1;
}

static inline uint64_t gt_xla_rows_number(const struct gt_xla_event *event, enum gt_xla_stat stat, uint64_t otherwise) {
    return gt_xla_rows_has(event, stat) ? event->numbers[stat] : otherwise;
}

/* Stats that events of a line are read for, by bits; 0 with is_read false: nothing of the line is. */
uint32_t gt_xla_rows_stats(const struct gt_xla_capture *capture, const struct gt_xla_line *line, bool *is_read);

/* When all is read: adds what is known when all events of all threads are, to the first one's builder. false: memory
   was short. */
bool gt_xla_rows_join(struct gt_xla_rows *const *rows, size_t count);

/* offset: of the event in the input. */
void gt_xla_rows_add(struct gt_xla_rows *rows, const struct gt_xla_event *event, uint64_t offset);

#endif
