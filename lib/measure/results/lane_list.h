/* Lanes of a timeline while they are gathered: whose each is, and which spans it has. */
#ifndef GT_MEASURE_RESULTS_LANE_LIST_H
#define GT_MEASURE_RESULTS_LANE_LIST_H

#include "events/view.h"
#include "measure/results/tiles.h"

struct gt_lane {
    struct gt_timeline_row row; /* without items */
    struct gt_span_row spans;   /* of its kind; of counters: the number of the curve */
    uint32_t track;             /* thread, stream or the like */
};

/* Zero-initialise. */
struct gt_lane_list {
    struct gt_lane *lanes;
    size_t count, capacity;
    uint64_t left_out[GT_TIMELINE_KIND_COUNT];
    bool failed; /* sticky: memory was short */
};

/* A row of a kind that is nobody's. */
struct gt_timeline_row gt_lane_list_row(enum gt_timeline_kind kind);
/* One of a thread. */
struct gt_timeline_row gt_lane_list_thread_row(const struct gt_store *store, enum gt_timeline_kind kind,
                                               uint32_t thread, uint32_t level);
/* GT_TIMELINE_UNKNOWN for GT_NO_TRACK and processes without a number. */
int64_t gt_lane_list_pid(const struct gt_store *store, uint32_t process);

void gt_lane_list_add(struct gt_lane_list *list, const struct gt_timeline_row *row, struct gt_span_row spans,
                      uint32_t track);
void gt_lane_list_join(struct gt_lane_list *list, struct gt_lane_list *from); /* at its end; releases the other */
void gt_lane_list_release(struct gt_lane_list *list);

/* Leaves out the lanes with the fewest spans where a kind has more than so many; those of one thread and kind from the
   deepest on. */
bool gt_lane_list_limit(struct gt_lane_list *list, enum gt_timeline_kind kind, size_t most);

/* Puts them in the order in which they are shown: by kind, but all kinds of a thread next to each other. false: memory
   was short. */
bool gt_lane_list_sort(struct gt_lane_list *list);

#endif
