/* A selection, looked up in a trace: which ops are wanted, and the window they are clipped to. */
#ifndef GT_EVENTS_SELECTION_H
#define GT_EVENTS_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "events/labels.h"
#include "events/store.h"
#include "gputime.h"

struct gt_selection {
    const struct gt_store *store;
    const struct gt_labels *labels;
    struct gt_arena arena; /* owns the flags below; NULL: all are wanted */
    bool *devices;         /* by device */
    bool *lanes;           /* by lane */
    bool *processes;       /* by process */
    bool *steps;           /* by step */
    bool *names;           /* by string id */
    bool *categories;      /* by category */

    bool has_window;
    bool window_reaches_end; /* nothing of the trace lies after the window, so it holds what is at its very end */
    int64_t window_start_ns, window_end_ns;
    bool is_of_steps;     /* the window holds whole steps */
    size_t warm_up_steps; /* that it leaves out because they are warm-up */
};

/* What selects something, in words. */
struct gt_selection_term {
    const char *name, *value; /* "step", "2-4" */
};
enum { GT_SELECTION_TERMS_MAX = 8 };
/* Values are the selection's own or in the arena. */
size_t gt_selection_list(const struct gputime_selection *asked, struct gt_arena *arena,
                         struct gt_selection_term given[GT_SELECTION_TERMS_MAX]);

/* Whether the user chose which time the report is about. */
static inline bool gt_selection_chooses_time(const struct gputime_selection *asked) {
    return asked->from.kind || asked->to.kind || asked->step_count;
}

/* Values that make no sense and values that the trace does not have are usage errors that say what there is. */
enum gt_status gt_selection_init(struct gt_selection *selection, const struct gt_store *store,
                                 const struct gt_labels *labels, const struct gputime_selection *asked,
                                 struct gt_error *err);
/* Leaves out the ops of all processes but one. */
enum gt_status gt_selection_keep_process(struct gt_selection *selection, uint32_t process, struct gt_error *err);
void gt_selection_release(struct gt_selection *selection);

/* Whether nothing is left out or clipped. */
static inline bool gt_selection_takes_all(const struct gt_selection *selection) {
    return !selection->devices && !selection->lanes && !selection->processes && !selection->steps &&
           !selection->names && !selection->categories && !selection->has_window;
}

/* Whether an op is wanted, regardless of the window. */
bool gt_selection_has(const struct gt_selection *selection, uint32_t op);

/* The same for a summed row, of which only the name and the category are known. */
bool gt_selection_has_group(const struct gt_selection *selection, uint32_t group);

/* Whether some of a wanted op lies in the window. An op of zero length belongs to the window it begins in. */
static inline bool gt_selection_in_window(const struct gt_selection *selection, int64_t start_ns, int64_t end_ns) {
    int64_t from_ns = selection->window_start_ns, to_ns = selection->window_end_ns;
    if (!selection->has_window)
        return true;
    if (start_ns == end_ns)
        return from_ns <= start_ns && (start_ns < to_ns || (start_ns == to_ns && selection->window_reaches_end));
    return start_ns < to_ns && end_ns > from_ns;
}

#endif
