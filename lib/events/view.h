/* A view: the selected ops of a store, sorted for sweeps and clipped to the window. Analyses read views only. */
#ifndef GT_EVENTS_VIEW_H
#define GT_EVENTS_VIEW_H

#include <string.h>

#include "base/arena.h"
#include "base/ns.h"
#include "events/labels.h"
#include "events/request.h"
#include "events/store.h"
#include "events/view_slots.h"
#include "gputime.h"

/* A run of ops of one device, in view order. */
struct gt_view_device {
    uint32_t device; /* track */
    int64_t id;      /* as printed */
    size_t first, count;
    size_t first_lane, lane_count;      /* its run of view->lanes */
    int64_t span_start_ns, span_end_ns; /* the window where there is one, else first start .. last end */
};

/* A run of view->lane_order: the ops of one stream. */
struct gt_view_lane {
    uint32_t lane; /* track */
    size_t first, count;
};

/* What the user knows of a run and the trace does not say. Zeroed: nothing. */
struct gt_run {
    const char *title;
    int64_t iterations, gpus;
    const char *nvtx_tag; /* of the range around an iteration */
    int64_t elapsed_ns;   /* how long it took without a profiler; 0: not known */
    bool without_memory;
    const char *remark; /* a sentence about the input */
};

struct gt_view {
    const struct gt_store *store;
    const struct gt_labels *labels;
    const struct gt_request *request;
    struct gt_run run;
    struct gt_arena arena;

    /* Ops, sorted by device id, start, longer first, stream, row, by their times in the trace; here they are clipped to
       the window, so that several may start with it, the earliest in the trace first. */
    size_t op_count;
    int64_t *start_ns, *end_ns;
    uint32_t *row; /* of store->ops */

    /* What most analyses ask of an op, next to each other: rows of a device are far apart in the store. */
    gt_strid *name;
    uint32_t *lane; /* track */
    uint8_t *kind;
    uint8_t *category; /* index into labels->categories */

    size_t device_count;
    struct gt_view_device *devices; /* by id; those with ops, and those whose ops the window all left out (count 0) */

    /* The same ops grouped by stream, in view order inside each: positions in the arrays above. */
    uint32_t *lane_order;
    size_t lane_count;
    struct gt_view_lane *lanes; /* with ops; by device id, pid, stream */

    /* An input without ops that is summed already: the rows of store->groups that are selected. */
    bool is_summed;
    size_t group_count;
    uint32_t *groups;

    bool is_by_row;  /* made for analyses that take ops in any order: see below */
    bool is_whole;   /* nothing was left out or clipped */
    bool has_window; /* device spans equal the window: of --from and --to, or of whole steps */
    int64_t window_start_ns, window_end_ns;
    bool is_of_steps;     /* the window holds whole steps */
    size_t warm_up_steps; /* that it leaves out */

    struct gt_view_slots *slots; /* for results that are computed from it */
};

/* A view by row has no order: position is row, columns of ops are those of the store and the labels, and there are
   neither `row`, devices nor streams. It costs nothing, whatever the number of ops. It is made where the request takes
   ops in any order and everything is selected.

   Applies the selection of the request (time, step, device, stream, process, name, category). Unknown steps, devices
   and categories are usage errors that list what there is. Store, labels and request must outlive the view. Linear, but
   for the logarithm of the number of streams where several run at once. */
enum gt_status gt_view_new(const struct gt_store *store, const struct gt_labels *labels,
                           const struct gt_request *request, struct gt_view **out, struct gt_error *err);
void gt_view_free(struct gt_view *view);

static inline struct gt_str gt_view_op_name(const struct gt_view *view, size_t position) {
    return gt_store_string(view->store, view->name[position]);
}

/* ---- view_query.c: what analyses ask of a view ---- */

/* The row of an op, for loops over all in any order: the order of the file, in adjacent rows, if the view has all ops.
 */
static inline uint32_t gt_view_any_op_row(const struct gt_view *view, size_t index) {
    return view->is_whole ? (uint32_t)index : view->row[index];
}

/* Of the device that has most. */
static inline size_t gt_view_most_ops(const struct gt_view *view) {
    size_t most = 0;
    for (size_t d = 0; d < view->device_count; d++)
        most = view->devices[d].count > most ? view->devices[d].count : most;
    return most;
}

/* Clipped length of an op of the view. */
static inline int64_t gt_view_op_ns(const struct gt_view *view, size_t position) {
    return gt_ns_between(view->start_ns[position], view->end_ns[position]);
}

/* The same of all of it. Only what reaches an end of the window is clipped; the rest need not be looked up. */
static inline int64_t gt_view_op_whole_ns(const struct gt_view *view, size_t position) {
    if (view->start_ns[position] != view->window_start_ns && view->end_ns[position] != view->window_end_ns)
        return gt_view_op_ns(view, position);
    uint32_t row = view->row[position];
    return gt_ns_between(view->store->ops.start_ns[row], view->store->ops.end_ns[row]);
}

/* Union of the device's ops. */
int64_t gt_view_device_busy_ns(const struct gt_view *view, const struct gt_view_device *device);
/* The same of a stream's. */
int64_t gt_view_lane_busy_ns(const struct gt_view *view, const struct gt_view_lane *lane);

static inline uint8_t gt_view_op_kind(const struct gt_view *view, size_t position) {
    return view->kind[position];
}

/* The position of the next op of a kind, this one or after it; end: there is none before. For kinds of few ops. */
static inline size_t gt_view_next_of_kind(const struct gt_view *view, uint8_t kind, size_t position, size_t end) {
    const uint8_t *at = position < end ? (const uint8_t *)memchr(view->kind + position, kind, end - position) : NULL;
    return at ? (size_t)(at - view->kind) : end;
}

static inline enum gt_class gt_view_op_class(const struct gt_view *view, size_t position) {
    return view->labels->categories[view->category[position]].time_class;
}

/* GT_NO_TRACK where the trace has neither the stream's process nor the launch call's. */
static inline uint32_t gt_view_op_process(const struct gt_view *view, size_t position) {
    uint32_t process = view->store->lanes.process[view->lane[position]];
    return process != GT_NO_TRACK ? process : gt_labels_launch_process(view->labels, view->store, view->row[position]);
}

/* Whose ops the view has, by process track; NULL when memory is short. Free with gt_mem_free. */
bool *gt_view_processes(const struct gt_view *view);

/* Whether what happened on a thread is of the selection: it began in the window, on a thread of these processes. */
bool gt_view_has_moment(const struct gt_view *view, const bool *processes, int64_t start_ns, uint32_t thread);

static inline bool gt_view_has_range(const struct gt_view *view, const bool *processes, uint32_t range) {
    const struct gt_ranges *ranges = &view->store->ranges;
    return gt_view_has_moment(view, processes, ranges->start_ns[range], ranges->thread[range]);
}

/* ---- names, full or simplified as the options want: equal names have equal ids ---- */

/* name: a string of the store */
static inline gt_strid gt_view_name_id(const struct gt_view *view, gt_strid name) {
    return view->request->names == GPUTIME_NAMES_SHORT ? view->labels->short_name[name] : name;
}
struct gt_str gt_view_name_text(const struct gt_view *view, gt_strid id);
size_t gt_view_name_count(const struct gt_view *view); /* ids are below this */

static inline gt_strid gt_view_op_name_id(const struct gt_view *view, size_t position) {
    return gt_view_name_id(view, view->name[position]);
}

#endif
