/* The names that a timeline's items refer to: gathered as items are made, ranked and cut to what a page has room for.
 */
#ifndef GT_MEASURE_RESULTS_TIMELINE_NAMES_H
#define GT_MEASURE_RESULTS_TIMELINE_NAMES_H

#include "base/map.h"
#include "report/report.h"

struct gt_timeline_named {
    struct gt_timeline_name name;
    int64_t busy_ns; /* of the items that have it */
    uint32_t index;  /* in order of appearance */
};

/* Zero-initialise. */
struct gt_timeline_names {
    struct gt_map ids;
    struct gt_timeline_named *items;
    size_t count, capacity;
    bool failed; /* sticky: memory was short */
};

/* The number of a name; kind and id distinguish names, together with the category. */
uint32_t gt_timeline_names_add(struct gt_timeline_names *names, enum gt_timeline_kind kind, uint32_t id,
                               struct gt_str text, const char *category);

/* What a tooltip has room for; the tables have names whole. */
enum { GT_TIMELINE_NAMES_LONGEST = 400 };

/* Hands the names to the timeline, those with most time first, and renumbers its items. Each is cut at `longest_bytes`;
   texts together have at most `most_bytes`, and those with the least time go without. false: memory was short. */
bool gt_timeline_names_settle(struct gt_timeline_names *names, struct gt_timeline *timeline, struct gt_arena *arena,
                              size_t longest_bytes, size_t most_bytes);
void gt_timeline_names_release(struct gt_timeline_names *names);

#endif
