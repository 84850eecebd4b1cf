/* A view: the selected ops of a store, sorted for sweeps and clipped to the window. Analyses read views only. */
#ifndef GT_EVENTS_VIEW_H
#define GT_EVENTS_VIEW_H

#include "base/arena.h"
#include "events/labels.h"
#include "events/request.h"
#include "events/store.h"
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

/* What the user knows of a run and the trace does not tell. Zeroed: nothing. */
struct gt_run {
    const char *title;
    int64_t iterations, gpus;
    const char *nvtx_tag; /* of the range around an iteration */
    int64_t elapsed_ns;   /* how long it took without a profiler; 0: not known */
    bool without_memory;
    const char *remark; /* a sentence about the input */
};

/* Results that several analyses of a view go by. Each is made once, for the first that asks. */
enum gt_shared_kind {
    GT_SHARED_IDLE,
    GT_SHARED_KERNELS,
    GT_SHARED_RANGES,
    GT_SHARED_ACCOUNTS,
    GT_SHARED_STEPS,
    GT_SHARED_PHASES,
    GT_SHARED_RATES,
    GT_SHARED_LAUNCH_MARKS,
    GT_SHARED_BLOCKING_MARKS,
    GT_SHARED_OP_GROUPS,
    GT_SHARED_RANGE_GROUPS,
    GT_SHARED_COUNT,
};
struct gt_shared;

struct gt_view {
    const struct gt_store *store;
    const struct gt_labels *labels;
    const struct gt_request *request;
    struct gt_run run;
    struct gt_arena arena;

    /* Ops, sorted by device id, start, longer first, stream, row. Times are clipped to the window. */
    size_t op_count;
    int64_t *start_ns, *end_ns;
    uint32_t *row; /* of store->ops */

    /* What most analyses ask of an op, beside each other: rows of a device are far apart in the store. */
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

    bool is_whole;   /* nothing was left out or clipped */
    bool has_window; /* device spans equal the window: of --from and --to, or of whole steps */
    int64_t window_start_ns, window_end_ns;
    bool is_of_steps;     /* the window holds whole steps */
    size_t warm_up_steps; /* that it leaves out */

    struct gt_shared *shared; /* by kind */
};

/* Applies the selection of the request (time, step, device, stream, process, name, category). Unknown steps, devices
   and categories are usage errors that list what there is. Store, labels and request must outlive the view. Linear, but
   for the logarithm of the number of streams where several run at once. */
enum gt_status gt_view_new(const struct gt_store *store, const struct gt_labels *labels,
                           const struct gt_request *request, struct gt_view **out, struct gt_error *err);
void gt_view_free(struct gt_view *view);

/* ---- shared.c: threads may ask at the same time; who asks for what is being made waits for it ---- */

/* How a result is made: init fills `bytes` zeroed bytes and keeps nothing where it fails. */
struct gt_sharing {
    size_t bytes;
    enum gt_status (*init)(void *what, const struct gt_view *view, struct gt_error *err);
    void (*release)(void *what);
};

/* The view's own, good until it is forgotten. NULL: it could not be made, err says why. */
const void *gt_view_share(const struct gt_view *view, enum gt_shared_kind kind, const struct gt_sharing *how,
                          struct gt_error *err);
/* Releases all of them; whoever asks again has them made again. */
void gt_view_forget(const struct gt_view *view);

struct gt_shared *gt_shared_new(void); /* NULL: memory was short */
void gt_shared_free(struct gt_shared *shared);

static inline struct gt_str gt_view_op_name(const struct gt_view *view, size_t position) {
    return gt_store_string(view->store, view->name[position]);
}

#endif
