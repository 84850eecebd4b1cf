/* Exploring one trace: lanes of items at any zoom, single items with what they are linked to, search, flame graphs. In
   comes one reading of a trace, out go JSON answers (docs/json.md). Const once made: any number of threads may ask at
   the same time. What is asked for rarely is made when it is first needed, under a lock. */
#ifndef GT_EXPLORE_EXPLORE_H
#define GT_EXPLORE_EXPLORE_H

#include "base/fail.h"
#include "base/out.h"
#include "base/str.h"
#include "events/labels.h"
#include "events/store.h"
#include "gputime.h"

struct gt_explore;

/* All borrowed as long as it is explored. */
struct gt_explore_trace {
    const struct gt_store *store; /* read with gt_explore_facts(); what it lacks has no lanes */
    const struct gt_labels *labels;
    struct gt_str label;      /* the input's name, as reports show it */
    enum gputime_names names; /* of ops, as reports show them */
    int64_t threads;          /* to build with; 0: one for each core */
};

/* enum gt_fact: what to read for all of this. */
uint32_t gt_explore_facts(void);

/* Makes the lanes and their levels of detail. */
enum gt_status gt_explore_new(const struct gt_explore_trace *trace, struct gt_explore **out, struct gt_error *err);
void gt_explore_free(struct gt_explore *explore); /* NULL is fine */

/* Memory that it holds, without the trace. */
size_t gt_explore_bytes(const struct gt_explore *explore);

/* Times of questions and answers are ns since the first op, as in reports. Each function writes one JSON value; if it
   fails, what was written is no answer. GT_ERR_USAGE: a lane or the like that there is not. */

/* Every lane, without items: counts and busy time are of the whole trace. */
enum gt_status gt_explore_lanes(const struct gt_explore *explore, struct gt_out *out, struct gt_error *err);

struct gt_explore_window {
    int64_t from_ns, to_ns;
    uint32_t width;        /* pixels; 0: 1,000 */
    const uint32_t *lanes; /* lane_count of them; NULL: all */
    size_t lane_count;
};

/* The items of lanes that touch a window. */
enum gt_status gt_explore_window(const struct gt_explore *explore, const struct gt_explore_window *window,
                                 struct gt_out *out, struct gt_error *err);

/* The item of a lane with exactly these times, the nth from 0 if several have. */
struct gt_explore_item {
    uint32_t lane;
    int64_t start_ns, end_ns;
    uint32_t nth;
};
enum gt_status gt_explore_item(const struct gt_explore *explore, const struct gt_explore_item *item, struct gt_out *out,
                               struct gt_error *err);

struct gt_explore_search {
    struct gt_str text; /* part of a name; upper and lower case are the same */
    int64_t at_ns;
    bool is_backwards; /* matches that start before at_ns, the last one first; else those from at_ns on */
    uint32_t limit;    /* of the matches that are listed */
};
enum gt_status gt_explore_search(const struct gt_explore *explore, const struct gt_explore_search *search,
                                 struct gt_out *out, struct gt_error *err);

enum gt_explore_of { GT_EXPLORE_OPERATORS, GT_EXPLORE_PYTHON, GT_EXPLORE_RANGES };
enum gt_explore_by { GT_EXPLORE_GPU, GT_EXPLORE_IDLE };
struct gt_explore_flame {
    enum gt_explore_of of;
    enum gt_explore_by by;
    int64_t from_ns, to_ns;
};
enum gt_status gt_explore_flame(const struct gt_explore *explore, const struct gt_explore_flame *flame,
                                struct gt_out *out, struct gt_error *err);

#endif
