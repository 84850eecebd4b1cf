/* GPU metrics of an export: which there are, and how often they were sampled. */
#ifndef GT_DECODE_NSYS_NSYS_SQLITE_METRICS_H
#define GT_DECODE_NSYS_NSYS_SQLITE_METRICS_H

#include "base/arena.h"
#include "base/map.h"
#include "decode/sqlite/sqlite_pages.h"

struct gt_nsys_sqlite_metric {
    uint64_t type_id, metric_id;
    struct gt_str name;
    double lift; /* what to add to negative values: unsigned ones are exported with a sign; 0: nothing */
};

struct gt_nsys_sqlite_metrics {
    struct gt_arena arena;
    struct gt_nsys_sqlite_metric *list;
    size_t count, capacity;
    struct gt_map index_of; /* (type, metric) -> index in the list */
    struct gt_map width_of; /* (type, metric) -> bytes of an unsigned field */
    uint64_t hz;            /* samples in a second; 0: not known */
    uint64_t text_left;     /* bytes of text that may be kept */
    bool has_failed;        /* memory was short */
};

void gt_nsys_sqlite_metrics_release(struct gt_nsys_sqlite_metrics *metrics);

/* Rows of the tables that say it; context: struct gt_nsys_sqlite_metrics. */
void gt_nsys_sqlite_metrics_take_option(void *context, const struct gt_sqlite_row *row);
void gt_nsys_sqlite_metrics_take_name(void *context, const struct gt_sqlite_row *row);
void gt_nsys_sqlite_metrics_take_field(void *context, const struct gt_sqlite_row *row);
/* After all rows. */
void gt_nsys_sqlite_metrics_settle(struct gt_nsys_sqlite_metrics *metrics);

/* The place of a metric; SIZE_MAX: it has no name. */
size_t gt_nsys_sqlite_metrics_search(const struct gt_nsys_sqlite_metrics *metrics, uint64_t type_id,
                                     uint64_t metric_id);
/* The same, at once where it is at the place that is guessed. */
static inline size_t gt_nsys_sqlite_metrics_find(const struct gt_nsys_sqlite_metrics *metrics, uint64_t type_id,
                                                 uint64_t metric_id, size_t guess) {
    if (guess < metrics->count && metrics->list[guess].type_id == type_id &&
        metrics->list[guess].metric_id == metric_id)
        return guess;
    return gt_nsys_sqlite_metrics_search(metrics, type_id, metric_id);
}

/* A new list with GT_NO_TRACK for each; NULL: memory is short. */
uint32_t *gt_nsys_sqlite_metrics_tracks(const struct gt_nsys_sqlite_metrics *metrics);

#endif
