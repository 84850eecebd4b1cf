/* Paths: the graph, a walk for each run, trace or range, and for each window what its time was spent on and how well a
   simulation gives it back. */
#include "measure/results/paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/dag_slack.h"
#include "measure/results/path_windows.h"
#include "report/report.h"

const char *gt_paths_trust_word(enum gt_path_trust trust) {
    static const char *const words[] = {"good", "rough", "refused"};
    return words[trust];
}

struct gt_cell gt_paths_window_cell(struct gt_section *section, const struct gt_path_window *window) {
    return gt_cell_text(gt_arena_copy(&section->report->arena, window->name));
}

const struct gt_path_window *gt_paths_worst_trust(const struct gt_paths *paths) {
    const struct gt_path_window *worst = NULL;
    for (size_t i = 0; i < paths->window_count; i++)
        if (paths->windows[i].counts && (!worst || paths->windows[i].trust > worst->trust))
            worst = &paths->windows[i];
    return worst;
}

bool gt_paths_is_refused(const struct gt_paths *paths) {
    const struct gt_path_window *worst = gt_paths_worst_trust(paths);
    return worst && worst->trust == GT_PATH_REFUSED;
}

struct gt_str gt_paths_doubt(struct gt_arena *arena, const struct gt_path_window *window) {
    int64_t length_ns = gt_paths_length_ns(window), unknown_ns = window->time_ns[GT_DAG_TIME_UNKNOWN];
    return gt_arena_printf(
        arena, "the dependency graph explains '%.*s' %s: replay error %.1f%%, unknown waits %.1f%%%s",
        (int)window->name.len, window->name.ptr, window->trust == GT_PATH_ROUGH ? "only roughly" : "badly",
        100 * window->error, length_ns > 0 ? 100 * (double)unknown_ns / (double)length_ns : 0,
        window->has_losses ? "; the file was only partly read" : "");
}

bool gt_paths_ignores_selection(const struct gt_view *view) {
    const struct gputime_selection *asked = &view->request->selection;
    return asked->device_count || asked->stream_count || asked->category_count || asked->name;
}

struct gt_str gt_paths_cut_note(struct gt_arena *arena, const struct gt_paths *paths) {
    return gt_arena_printf(arena, "Only the first %zu ranges of that name have a path: there are too many.",
                           paths->window_count);
}

/* ---- windows in a simulation ---- */

static int64_t own_end_ns(const struct gt_paths *paths, const struct gt_dag_times *times,
                          const struct gt_path_window *window) {
    const struct gt_dag *dag = paths->dag;
    int64_t latest_ns = window->range_end_ns;
    if (window->end_node != GT_DAG_NONE) /* a mark may be later than the range, at the end of a call */
        latest_ns = gt_ns_add(times->end_ns[window->end_node],
                              gt_ns_between(dag->end_ns[window->end_node], window->range_end_ns));
    for (size_t i = 0; i < window->op_count; i++) {
        int64_t end_ns = times->end_ns[paths->window_nodes[window->first_op + i]];
        latest_ns = end_ns > latest_ns ? end_ns : latest_ns;
    }
    return latest_ns;
}

static int64_t own_start_ns(const struct gt_paths *paths, const struct gt_dag_times *times,
                            const struct gt_path_window *window) {
    if (window->start_node == GT_DAG_NONE)
        return window->start_ns;
    return gt_ns_add(times->start_ns[window->start_node],
                     gt_ns_between(paths->dag->start_ns[window->start_node], window->start_ns));
}

/* Steps come after each other, and never end before the one before them. */
void gt_paths_bounds(const struct gt_paths *paths, const struct gt_dag_times *times, struct gt_path_bound *bounds) {
    for (size_t i = 0; i < paths->window_count; i++) {
        const struct gt_path_window *window = &paths->windows[i];
        bounds[i] = (struct gt_path_bound){window->start_ns, window->end_ns};
        if (window->kind == GT_PATH_CHOSEN)
            continue;
        bounds[i].start_ns = own_start_ns(paths, times, window);
        bounds[i].end_ns = own_end_ns(paths, times, window);
        if (window->previous == GT_DAG_NONE)
            continue;
        bounds[i].start_ns = bounds[window->previous].end_ns;
        if (bounds[i].end_ns < bounds[i].start_ns)
            bounds[i].end_ns = bounds[i].start_ns;
    }
    for (size_t i = 0; i < paths->window_count; i++)
        if (paths->windows[i].kind == GT_PATH_RUN)
            bounds[i].end_ns = bounds[paths->windows[i].last].end_ns;
}

bool gt_paths_simulate(const struct gt_paths *paths, const struct gt_dag_change *change, struct gt_path_bound *bounds) {
    struct gt_dag_times times = {0};
    if (!gt_dag_simulate(paths->dag, change, &times))
        return false;
    gt_paths_bounds(paths, &times, bounds);
    gt_dag_simulate_release(&times);
    return true;
}

/* Ops of a window may end when it ends, others when the last one does. */
int64_t *gt_paths_late_new(const struct gt_paths *paths) {
    const struct gt_dag *dag = paths->dag;
    int64_t last_ns = INT64_MIN;
    for (size_t w = 0; w < paths->window_count; w++)
        last_ns = paths->windows[w].end_ns > last_ns ? paths->windows[w].end_ns : last_ns;
    int64_t *late_ns = gt_dag_slack_new(dag, last_ns);
    for (size_t w = 0; w < paths->window_count && late_ns; w++) {
        const struct gt_path_window *window = &paths->windows[w];
        for (size_t i = 0; i < window->op_count; i++)
            gt_dag_slack_bound(late_ns, paths->window_nodes[window->first_op + i], window->end_ns);
        if (window->end_node == GT_DAG_NONE)
            continue;
        int64_t shift_ns = gt_ns_between(window->range_end_ns, dag->end_ns[window->end_node]);
        gt_dag_slack_bound(late_ns, window->end_node, gt_ns_add(window->end_ns, shift_ns));
    }
    if (late_ns)
        gt_dag_slack_spread(dag, late_ns);
    return late_ns;
}

/* ---- segments ---- */

struct gt_paths_cursor gt_paths_segments(const struct gt_paths *paths, const struct gt_path_window *window) {
    return (struct gt_paths_cursor){gt_dag_walk_from(&paths->walks[window->walk], window->first_segment),
                                    window->start_ns, window->end_ns};
}

struct gt_dag_segment gt_paths_next(struct gt_paths_cursor *cursor) {
    struct gt_dag_segment segment = gt_dag_walk_next(&cursor->at);
    segment.start_ns = segment.start_ns > cursor->start_ns ? segment.start_ns : cursor->start_ns;
    segment.end_ns = segment.end_ns < cursor->end_ns ? segment.end_ns : cursor->end_ns;
    return segment;
}

static struct gt_str call_name(const struct gt_dag *dag, uint32_t node) {
    return gt_store_string(dag->store, dag->store->calls.name[dag->row[node]]);
}

bool gt_paths_is_after_last(const struct gt_paths *paths, const struct gt_dag_segment *segment) {
    return segment->time == GT_DAG_TIME_UNKNOWN && segment->edge == GT_DAG_NONE && segment->node != GT_DAG_NONE &&
           segment->start_ns >= paths->dag->end_ns[segment->node];
}

struct gt_str gt_paths_segment_name(const struct gt_paths *paths, const struct gt_dag_segment *segment) {
    const struct gt_dag *dag = paths->dag;
    if (segment->node == GT_DAG_NONE)
        return (struct gt_str){0};
    if (segment->edge == GT_DAG_NONE) {
        if (segment->time == GT_DAG_TIME_UNKNOWN)
            return gt_paths_is_after_last(paths, segment) ? GT_STR("after the last event")
                                                          : GT_STR("before the first event");
        return dag->kind[segment->node] == GT_DAG_OP
                   ? gt_store_string(dag->store, dag->store->ops.name[dag->row[segment->node]])
                   : call_name(dag, segment->node);
    }
    const struct gt_dag_edge *edge = &dag->edges[segment->edge];
    switch (edge->kind) {
    case GT_DAG_STREAM:
        return GT_STR("between ops of a stream");
    case GT_DAG_EVENT:
        return GT_STR("between ops of two streams");
    case GT_DAG_SYNC:
        return GT_STR("return of a waiting call");
    case GT_DAG_ROOM:
        return GT_STR("room in the queue");
    case GT_DAG_LAUNCH:
        return segment->is_cpu ? call_name(dag, edge->from) : GT_STR("from call to op");
    case GT_DAG_OWN:
        return call_name(dag, segment->node);
    default:
        return (struct gt_str){0};
    }
}

gt_strid gt_paths_segment_call(const struct gt_paths *paths, const struct gt_dag_segment *segment) {
    const struct gt_dag *dag = paths->dag;
    if ((segment->time != GT_DAG_TIME_CALL && segment->time != GT_DAG_TIME_LAUNCH) || segment->node == GT_DAG_NONE)
        return GT_STRID_EMPTY;
    bool is_launch = segment->edge != GT_DAG_NONE && dag->edges[segment->edge].kind == GT_DAG_LAUNCH;
    uint32_t node = is_launch ? dag->edges[segment->edge].from : segment->node;
    bool is_call =
        dag->kind[node] == GT_DAG_CALL || dag->kind[node] == GT_DAG_BEGIN || dag->kind[node] == GT_DAG_RETURN;
    return is_call ? dag->store->calls.name[dag->row[node]] : GT_STRID_EMPTY;
}

static size_t segments_before(const struct gt_dag_path *path, int64_t time_ns) {
    size_t low = 0, high = path->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (gt_dag_walk_from(path, middle + 1).start_ns <= time_ns) /* where the one in the middle ends */
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void cut(struct gt_paths *paths, struct gt_path_window *window) {
    const struct gt_dag_path *path = &paths->walks[window->walk];
    window->first_segment = segments_before(path, window->start_ns);
    struct gt_paths_cursor cursor = gt_paths_segments(paths, window);
    while (cursor.at.left && cursor.at.start_ns < window->end_ns && window->start_ns < window->end_ns) {
        const struct gt_dag_segment segment = gt_paths_next(&cursor);
        int64_t length_ns = gt_ns_between(segment.start_ns, segment.end_ns);
        window->segment_count++;
        window->time_ns[segment.time] = gt_ns_add(window->time_ns[segment.time], length_ns);
        if (segment.is_inferred) {
            window->inferred_time_ns[segment.time] = gt_ns_add(window->inferred_time_ns[segment.time], length_ns);
            window->inferred_ns = gt_ns_add(window->inferred_ns, length_ns);
        }
    }
}

/* ---- walks ---- */

/* The node that ends a window. */
static uint32_t latest_node(const struct gt_paths *paths, const struct gt_path_window *window) {
    const struct gt_dag *dag = paths->dag;
    uint32_t latest = window->end_node;
    int64_t latest_ns = window->end_node == GT_DAG_NONE ? INT64_MIN : window->range_end_ns;
    for (size_t i = 0; i < window->op_count; i++) {
        uint32_t node = paths->window_nodes[window->first_op + i];
        if (dag->end_ns[node] > latest_ns) {
            latest = node;
            latest_ns = dag->end_ns[node];
        }
    }
    return latest;
}

/* Steps may end where one before them does. */
uint32_t gt_paths_end_node(const struct gt_paths *paths, const struct gt_path_window *window) {
    const struct gt_path_window *at = &paths->windows[window->last];
    while (at->previous != GT_DAG_NONE && paths->windows[at->previous].end_ns == window->end_ns)
        at = &paths->windows[at->previous];
    return latest_node(paths, at);
}

static struct gt_dag_way way_of(const struct gt_paths *paths, const struct gt_path_window *window) {
    return (struct gt_dag_way){.node = gt_paths_end_node(paths, window),
                               .from_ns = window->start_ns,
                               .to_ns = window->end_ns,
                               .path = &paths->walks[window->walk]};
}

/* Those of whole traces and processes: steps and chosen windows are parts of them. */
static bool walk_wholes(struct gt_paths *paths, size_t *segments) {
    struct gt_dag_way *ways = gt_mem_uninitialised(paths->walk_count, sizeof *ways);
    size_t count = 0;
    if (!ways)
        return false;
    for (size_t i = 0; i < paths->window_count; i++) {
        const struct gt_path_window *window = &paths->windows[i];
        if (window->kind != GT_PATH_STEP && window->kind != GT_PATH_CHOSEN && window->kind != GT_PATH_RANGE)
            ways[count++] = way_of(paths, window);
    }
    bool ok = gt_dag_walk(paths->dag, ways, count);
    for (size_t i = 0; i < count; i++)
        *segments += ways[i].path->count;
    gt_mem_free(ways);
    return ok;
}

/* Walks of ranges inside each other are about the same: together they take no more room than a few walks through the
   whole trace, and ranges for which none is left are dropped. */
static bool walk_ranges(struct gt_paths *paths, size_t segments) {
    enum { SEGMENTS_PER_NODE = 8, SEGMENTS_LEAST = 1 << 16 };
    size_t most = SEGMENTS_PER_NODE * paths->dag->node_count + SEGMENTS_LEAST;
    for (size_t i = 0; i < paths->window_count; i++) {
        const struct gt_path_window *window = &paths->windows[i];
        if (window->kind != GT_PATH_RANGE)
            continue;
        if (segments > most) {
            paths->window_count = i;
            paths->is_cut_short = true;
            break;
        }
        const struct gt_dag_way way = way_of(paths, window);
        if (!gt_dag_walk(paths->dag, &way, 1))
            return false;
        segments += way.path->count;
    }
    return true;
}

static bool walk_all(struct gt_paths *paths) {
    size_t segments = 0;
    if (!walk_wholes(paths, &segments) || !walk_ranges(paths, segments))
        return false;
    for (size_t i = 0; i < paths->window_count; i++)
        cut(paths, &paths->windows[i]);
    return true;
}

/* ---- replay ---- */

static void judge(struct gt_path_window *window) {
    double length = (double)gt_paths_length_ns(window), off = (double)(window->replay_ns - gt_paths_length_ns(window));
    double unknown = length > 0 ? (double)window->time_ns[GT_DAG_TIME_UNKNOWN] / length : 0;
    if (window->is_replayed)
        window->error = length > 0 ? (off < 0 ? -off : off) / length : 0;
    double doubt = window->error > unknown ? window->error : unknown;
    window->trust = doubt <= 0.05 ? GT_PATH_GOOD : doubt <= 0.15 ? GT_PATH_ROUGH : GT_PATH_REFUSED;
}

static bool replay(struct gt_paths *paths) {
    const struct gt_dag_change change = {.replays = true};
    struct gt_path_bound *bounds = gt_arena_array(&paths->arena, paths->window_count + 1, sizeof *bounds);
    if (!bounds || !gt_paths_simulate(paths, &change, bounds))
        return false;
    for (size_t i = 0; i < paths->window_count; i++) {
        struct gt_path_window *window = &paths->windows[i];
        window->is_replayed = window->kind != GT_PATH_CHOSEN;
        window->replay_ns = gt_ns_between(bounds[i].start_ns, bounds[i].end_ns);
        if (!window->is_replayed) /* as good as what it is a part of */
            window->error = paths->windows[window->last].error;
        judge(window);
    }
    return true;
}

/* What was lost may be what was waited for, however well the rest fits together. */
static void doubt_losses(struct gt_paths *paths) {
    for (size_t i = 0; i < paths->window_count; i++) {
        paths->windows[i].has_losses = true;
        if (paths->windows[i].trust == GT_PATH_GOOD)
            paths->windows[i].trust = GT_PATH_ROUGH;
    }
}

static bool list_windows(struct gt_paths *paths) {
    paths->listed = gt_arena_array(&paths->arena, paths->window_count + 1, sizeof *paths->listed);
    for (int counts = true; counts >= false && paths->listed; counts--) {
        for (uint32_t i = 0; i < paths->window_count; i++)
            if (!paths->windows[i].is_hidden && paths->windows[i].counts == counts)
                paths->listed[paths->listed_count++] = i;
        paths->counted_count = counts ? paths->listed_count : paths->counted_count;
    }
    return paths->listed;
}

static int by_process_and_name(const void *a, const void *b) {
    const struct gt_path_window *x = *(const struct gt_path_window *const *)a;
    const struct gt_path_window *y = *(const struct gt_path_window *const *)b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return gt_str_cmp(x->name, y->name);
}

static bool compare_names(struct gt_paths *paths) {
    const struct gt_path_window **order = gt_mem_array(paths->listed_count + 1, sizeof *order);
    for (size_t i = 0; i < paths->listed_count && order; i++)
        order[i] = &paths->windows[paths->listed[i]];
    if (order)
        qsort(order, paths->listed_count, sizeof *order, by_process_and_name);
    for (size_t i = 1; i < paths->listed_count && order; i++)
        paths->has_same_names |= by_process_and_name(&order[i - 1], &order[i]) == 0;
    bool ok = order;
    gt_mem_free(order);
    return ok;
}

struct gt_report_column *gt_paths_columns(const struct gt_paths *paths, struct gt_arena *arena,
                                          const struct gt_report_column *columns, size_t count) {
    struct gt_report_column *chosen = gt_arena_array(arena, count, sizeof *chosen);
    if (chosen)
        memcpy(chosen, columns, count * sizeof *chosen);
    for (size_t i = 0; i < count && chosen && paths->has_same_names; i++)
        if (strcmp(chosen[i].key, "start_ns") == 0)
            chosen[i].flags &= (unsigned)~GT_COLUMN_DETAIL;
    return chosen;
}

enum gt_status gt_paths_init(struct gt_paths *paths, const struct gt_view *view, struct gt_error *err) {
    enum gt_status status = gt_path_windows_make(paths, view, err);
    if (status == GT_OK && !(walk_all(paths) && list_windows(paths) && compare_names(paths) && replay(paths)))
        status = gt_fail_memory(err);
    if (status == GT_OK && gt_store_loss(view->store, view->request->facts) != GT_ISSUE_COUNT)
        doubt_losses(paths);
    if (status != GT_OK)
        gt_paths_release(paths);
    return status;
}

void gt_paths_release(struct gt_paths *paths) {
    for (size_t i = 0; i < paths->walk_count && paths->walks; i++)
        gt_dag_walk_release(&paths->walks[i]);
    gt_dag_free(paths->dag);
    gt_mem_free(paths->walks);
    gt_arena_release(&paths->arena);
    *paths = (struct gt_paths){0};
}
