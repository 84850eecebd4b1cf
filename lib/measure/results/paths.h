/* Windows of the critical path: the dependency graph of the trace, the windows that the path is asked for, and the way
   through each. The graph sees the whole trace; the selection chooses windows. */
#ifndef GT_MEASURE_RESULTS_PATHS_H
#define GT_MEASURE_RESULTS_PATHS_H

#include "events/view.h"
#include "graph/dag.h"
#include "graph/dag_simulate.h"
#include "graph/dag_walk.h"
#include "report/section.h"

enum gt_path_window_kind {
    GT_PATH_RUN,    /* all steps of a process */
    GT_PATH_TRACE,  /* all of a process without steps */
    GT_PATH_STEP,   /* from the end of the step before to its own */
    GT_PATH_CHOSEN, /* --from and --to */
    GT_PATH_RANGE,  /* one that --range names */
};

enum gt_path_trust { GT_PATH_GOOD, GT_PATH_ROUGH, GT_PATH_REFUSED };
const char *gt_paths_trust_word(enum gt_path_trust trust);

/* Which nodes decide when a window begins or ends. */
struct gt_path_window {
    enum gt_path_window_kind kind;
    struct gt_str name; /* "run", "step 3" */
    int64_t number;     /* of a step */
    uint32_t step;      /* index into labels->steps; GT_NO_ROW: it is no step */
    uint32_t process;   /* GT_NO_TRACK: not known */
    bool is_hidden;     /* it is not asked for, but others are parts of it */
    bool counts;        /* sums over windows have it: it is asked for and no part of another that is */
    bool is_warm_up;    /* a step that a selection of whole steps leaves out */
    uint32_t walk;      /* index into walks */
    int64_t start_ns, end_ns;

    uint32_t previous;         /* the step before, at whose end it begins; GT_DAG_NONE: at start_node */
    uint32_t last;             /* run: its last step; chosen: what it is a part of; the others: themselves */
    uint32_t start_node;       /* GT_DAG_NONE: the start never moves */
    uint32_t end_node;         /* of its range; GT_DAG_NONE: none */
    int64_t range_end_ns;      /* GT_NO_TIME: none */
    size_t first_op, op_count; /* of window_nodes: their ends count too */

    size_t first_segment, segment_count; /* of its walk: those that have a part in it */
    int64_t time_ns[GT_DAG_TIME_COUNT], inferred_time_ns[GT_DAG_TIME_COUNT];
    int64_t inferred_ns;
    bool has_losses; /* the file was only partly read */
    bool is_replayed;
    int64_t replay_ns;
    double error; /* share of its length */
    enum gt_path_trust trust;
};

struct gt_paths {
    struct gt_dag *dag;
    struct gt_arena arena;
    struct gt_path_window *windows; /* a run, then its steps */
    size_t window_count;
    uint32_t *window_nodes; /* of their ops */
    uint32_t *listed;       /* windows as tables have them: those that count, then the other ones that are not hidden */
    size_t listed_count, counted_count;
    struct gt_dag_path *walks;
    size_t walk_count;
    bool has_same_names; /* of windows in `listed` that are of one process */
    bool is_cut_short;   /* more ranges than are worth a walk each: only the first ones are windows */
};

enum gt_status gt_paths_init(struct gt_paths *paths, const struct gt_view *view, struct gt_error *err);
void gt_paths_release(struct gt_paths *paths);

static inline int64_t gt_paths_length_ns(const struct gt_path_window *window) {
    return gt_ns_between(window->start_ns, window->end_ns);
}

/* The name of a window as a cell of a section, which outlives the windows. */
struct gt_cell gt_paths_window_cell(struct gt_section *section, const struct gt_path_window *window);

/* Columns of a table of windows, in the arena: start_ns, a detail, is shown where names do not say which window is
   meant. NULL: memory was short. */
struct gt_report_column *gt_paths_columns(const struct gt_paths *paths, struct gt_arena *arena,
                                          const struct gt_report_column *columns, size_t count);

/* Of the windows that count the first of those that are trusted least; NULL: none counts. */
const struct gt_path_window *gt_paths_worst_trust(const struct gt_paths *paths);
bool gt_paths_is_refused(const struct gt_paths *paths); /* that one is */

/* Why a window is not trusted: "the dependency graph explains 'run' badly: replay error 33.1%, ...". */
struct gt_str gt_paths_doubt(struct gt_arena *arena, const struct gt_path_window *window);

/* Whether GPUs or ops are selected. One graph has all of the trace: leaving some out would leave waits without a cause.
 */
bool gt_paths_ignores_selection(const struct gt_view *view);

/* Which ranges have a path, where not all have. */
struct gt_str gt_paths_cut_note(struct gt_arena *arena, const struct gt_paths *paths);

/* The segments of a window in order of time, cut to it: as many as its segment_count. */
struct gt_paths_cursor {
    struct gt_dag_cursor at;
    int64_t start_ns, end_ns; /* of the window */
};
struct gt_paths_cursor gt_paths_segments(const struct gt_paths *paths, const struct gt_path_window *window);
struct gt_dag_segment gt_paths_next(struct gt_paths_cursor *cursor);

/* When windows begin and end in a simulation; bounds: one for each window. Linear. */
struct gt_path_bound {
    int64_t start_ns, end_ns;
};
void gt_paths_bounds(const struct gt_paths *paths, const struct gt_dag_times *times, struct gt_path_bound *bounds);
/* The same after a change. false: memory was short. */
bool gt_paths_simulate(const struct gt_paths *paths, const struct gt_dag_change *change, struct gt_path_bound *bounds);

/* Latest ends of nodes that move no window's end, for dag_slack.h. To be freed; NULL: memory was short. */
int64_t *gt_paths_late_new(const struct gt_paths *paths);

/* The node that ends a window; GT_DAG_NONE: none does. */
uint32_t gt_paths_end_node(const struct gt_paths *paths, const struct gt_path_window *window);

/* Whether a segment is from the end of the window's last node on. */
bool gt_paths_is_after_last(const struct gt_paths *paths, const struct gt_dag_segment *segment);

/* The call that time of launches and of other calls is spent in; GT_STRID_EMPTY: it is other time. */
gt_strid gt_paths_segment_call(const struct gt_paths *paths, const struct gt_dag_segment *segment);

/* The text of a segment: the op or call it is of, or what the edge waited for; empty: CPU time. */
struct gt_str gt_paths_segment_name(const struct gt_paths *paths, const struct gt_dag_segment *segment);

#endif
