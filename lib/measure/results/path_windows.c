/* Windows of the path: in come steps, ranges and the selection, out go windows with the nodes that begin and end them.
   Steps tile a run: each begins where the one before ends, with its range or with its last op, whichever is later. */
#include "measure/results/path_windows.h"

#include "base/mem.h"
#include "measure/options.h"
#include "measure/results/path_groups.h"
#include "measure/results/path_ranges.h"

/* Ranges that overlap have the same ops. */
enum { RANGES_OF_OP = 16, RANGE_OPS_LEAST = 1 << 16 };

struct maker {
    struct gt_paths *paths;
    const struct gt_view *view;
    uint32_t *ranges; /* rows that --range names */
    size_t range_count;
    struct gt_dag_moment *marks; /* start and end of each step, then of each of these ranges */
    size_t mark_count;
    size_t window_capacity;
    size_t op_count;
};

/* ---- marks ---- */

static void add_marks(struct maker *maker, uint32_t range) {
    const struct gt_ranges *ranges = &maker->view->store->ranges;
    maker->marks[maker->mark_count++] = (struct gt_dag_moment){ranges->thread[range], ranges->start_ns[range]};
    maker->marks[maker->mark_count++] = (struct gt_dag_moment){ranges->thread[range], ranges->end_ns[range]};
}

static enum gt_status make_graph(struct maker *maker, struct gt_error *err) {
    struct gt_paths *paths = maker->paths;
    const struct gt_labels *labels = maker->view->labels;
    maker->marks =
        gt_arena_array(&paths->arena, 2 * (labels->step_count + maker->range_count) + 1, sizeof *maker->marks);
    if (!maker->marks)
        return gt_fail_memory(err);
    for (size_t i = 0; i < labels->step_count; i++)
        add_marks(maker, labels->steps[i].range);
    for (size_t i = 0; i < maker->range_count; i++)
        add_marks(maker, maker->ranges[i]);
    return gt_dag_new(maker->view->store, labels, maker->marks, maker->mark_count, &paths->dag, err);
}

/* ---- windows ---- */

static struct gt_path_window *add_window(struct maker *maker, enum gt_path_window_kind kind, uint32_t process) {
    struct gt_paths *paths = maker->paths;
    struct gt_path_window *room =
        gt_arena_room(&paths->arena, paths->windows, paths->window_count, &maker->window_capacity, sizeof *room);
    if (!room)
        return NULL;
    paths->windows = room;
    room += paths->window_count;
    *room = (struct gt_path_window){.kind = kind,
                                    .process = process,
                                    .previous = GT_DAG_NONE,
                                    .last = (uint32_t)paths->window_count++,
                                    .step = GT_NO_ROW,
                                    .start_node = GT_DAG_NONE,
                                    .end_node = GT_DAG_NONE,
                                    .range_end_ns = GT_NO_TIME,
                                    .start_ns = INT64_MAX,
                                    .end_ns = INT64_MIN};
    return room;
}

static void add_op(struct maker *maker, struct gt_path_window *window, uint32_t op) {
    struct gt_paths *paths = maker->paths;
    paths->window_nodes[maker->op_count++] = paths->dag->op_node[op];
    window->op_count++;
    int64_t end_ns = maker->view->store->ops.end_ns[op];
    window->end_ns = end_ns > window->end_ns ? end_ns : window->end_ns;
}

/* A window of a range begins and ends with it, unless its ops end later. mark: number of that at its start. */
static void take_range(struct maker *maker, struct gt_path_window *window, uint32_t range, size_t mark) {
    const struct gt_ranges *ranges = &maker->view->store->ranges;
    const struct gt_dag *dag = maker->paths->dag;
    window->start_ns = ranges->start_ns[range];
    window->start_node = dag->mark_node[mark];
    window->range_end_ns = ranges->end_ns[range];
    window->end_node = dag->mark_node[mark + 1];
    if (window->range_end_ns > window->end_ns)
        window->end_ns = window->range_end_ns;
}

static bool add_step(struct maker *maker, size_t step, uint32_t run, const uint32_t *ops, size_t op_count) {
    struct gt_paths *paths = maker->paths;
    const struct gt_step *own = &maker->view->labels->steps[step];
    struct gt_path_window *window = add_window(maker, GT_PATH_STEP, own->process);
    if (!window)
        return false;
    uint32_t index = (uint32_t)(window - paths->windows);
    struct gt_path_window *whole = &paths->windows[run];
    window->first_op = maker->op_count;
    for (size_t i = 0; i < op_count; i++)
        add_op(maker, window, ops[i]);
    take_range(maker, window, own->range, 2 * step);
    if (whole->last != run) {
        window->previous = whole->last;
        window->start_ns = paths->windows[whole->last].end_ns;
        window->end_ns = window->end_ns > window->start_ns ? window->end_ns : window->start_ns;
    } else {
        whole->start_ns = window->start_ns;
        whole->start_node = window->start_node;
    }
    window->walk = whole->walk;
    window->number = own->number;
    window->step = (uint32_t)step;
    window->is_warm_up = step < maker->view->warm_up_steps;
    window->name = gt_arena_printf(&paths->arena, "step %lld", (long long)own->number);
    whole->last = index;
    whole->end_ns = window->end_ns;
    return true;
}

static bool add_run(struct maker *maker, const struct gt_path_groups *groups, uint32_t process) {
    struct gt_paths *paths = maker->paths;
    struct gt_path_window *run = add_window(maker, GT_PATH_RUN, process);
    if (!run)
        return false;
    uint32_t index = (uint32_t)(run - paths->windows);
    run->walk = (uint32_t)paths->walk_count++;
    run->name = GT_STR("run");
    for (size_t i = groups->process_first_step[process]; i < groups->process_first_step[process + 1]; i++) {
        uint32_t step = groups->steps_of_process[i];
        size_t first = groups->step_first[step], last = groups->step_first[step + 1];
        if (!add_step(maker, step, index, groups->ops_of_step + first, last - first))
            return false;
    }
    return true;
}

/* The node where the launch of an op begins; of an op without a call the op itself. */
static uint32_t launch_node(const struct gt_dag *dag, uint32_t op) {
    uint32_t node = dag->op_node[op], found = node;
    for (uint32_t e = dag->first_edge[node]; e < dag->first_edge[node + 1]; e++)
        if (dag->edges[e].kind == GT_DAG_LAUNCH)
            found = dag->edges[e].from;
    if (dag->kind[found] != GT_DAG_RETURN)
        return found;
    for (uint32_t e = dag->first_edge[found]; e < dag->first_edge[found + 1]; e++)
        if (dag->edges[e].kind == GT_DAG_OWN)
            return dag->edges[e].from;
    return found;
}

static bool add_trace(struct maker *maker, uint32_t process, const uint32_t *ops, size_t op_count) {
    struct gt_paths *paths = maker->paths;
    struct gt_path_window *window = add_window(maker, GT_PATH_TRACE, process);
    if (!window)
        return false;
    window->walk = (uint32_t)paths->walk_count++;
    window->name = GT_STR("trace");
    window->first_op = maker->op_count;
    for (size_t i = 0; i < op_count; i++) {
        uint32_t node = launch_node(paths->dag, ops[i]);
        add_op(maker, window, ops[i]);
        if (paths->dag->start_ns[node] < window->start_ns) {
            window->start_ns = paths->dag->start_ns[node];
            window->start_node = node;
        }
    }
    return !gt_arena_failed(&paths->arena);
}

/* All from one on. */
static void drop_ranges(struct maker *maker, size_t first, uint32_t *place) {
    for (size_t i = first; i < maker->range_count; i++)
        place[maker->ranges[i]] = 0;
    maker->range_count = first;
    maker->paths->is_cut_short = true;
}

/* Ranges that --range names and the ops in them. */
struct ranged {
    struct maker *maker;
    uint32_t *place;  /* by range: its place among those that are named, from 1 on; 0: it is not */
    size_t *first_op; /* by place: how many ops those before have */
    uint32_t first_window;
};

static void each_op(const struct ranged *ranged, void (*take)(const struct ranged *, size_t place, uint32_t op)) {
    const struct gt_view *view = ranged->maker->view;
    for (uint32_t op = 0; op < view->store->ops.count; op++) {
        int64_t reach_ns = gt_labels_op_reach(view->labels, view->store, op);
        for (uint32_t r = view->labels->op_range[op]; r != GT_NO_ROW;
             r = gt_labels_next_range(view->labels, view->store, r, reach_ns))
            if (ranged->place[r])
                take(ranged, ranged->place[r] - 1, op);
    }
}

static void count_op(const struct ranged *ranged, size_t place, uint32_t op) {
    (void)op;
    ranged->first_op[place + 1]++;
}

static void put_op(const struct ranged *ranged, size_t place, uint32_t op) {
    struct gt_paths *paths = ranged->maker->paths;
    struct gt_path_window *window = &paths->windows[ranged->first_window + place];
    int64_t end_ns = ranged->maker->view->store->ops.end_ns[op];
    paths->window_nodes[window->first_op + window->op_count++] = paths->dag->op_node[op];
    window->end_ns = end_ns > window->end_ns ? end_ns : window->end_ns;
}

/* Their windows, without ops; counts of ops become places. */
static bool add_range_windows(struct ranged *ranged) {
    struct maker *maker = ranged->maker;
    const struct gt_store *store = maker->view->store;
    for (size_t i = 0; i < maker->range_count; i++) {
        uint32_t range = maker->ranges[i];
        if (ranged->first_op[i] > RANGES_OF_OP * store->ops.count + RANGE_OPS_LEAST) {
            drop_ranges(maker, i, ranged->place);
            break;
        }
        struct gt_path_window *window =
            add_window(maker, GT_PATH_RANGE, store->threads.process[store->ranges.thread[range]]);
        if (!window)
            return false;
        take_range(maker, window, range, 2 * (maker->view->labels->step_count + i));
        window->walk = (uint32_t)maker->paths->walk_count++;
        window->name = gt_store_string(store, store->ranges.name[range]);
        window->first_op = ranged->first_op[i];
        ranged->first_op[i + 1] += ranged->first_op[i];
    }
    return true;
}

static bool add_ranges(struct maker *maker) {
    struct gt_paths *paths = maker->paths;
    struct ranged ranged = {.maker = maker, .first_window = (uint32_t)paths->window_count};
    ranged.place = gt_arena_array(&paths->arena, maker->view->store->ranges.count + 1, sizeof *ranged.place);
    ranged.first_op = gt_arena_array(&paths->arena, maker->range_count + 2, sizeof *ranged.first_op);
    if (!ranged.place || !ranged.first_op)
        return false;
    for (size_t i = 0; i < maker->range_count; i++)
        ranged.place[maker->ranges[i]] = (uint32_t)i + 1;
    each_op(&ranged, count_op);
    if (!add_range_windows(&ranged))
        return false;
    paths->window_nodes =
        gt_arena_array(&paths->arena, ranged.first_op[maker->range_count] + 1, sizeof *paths->window_nodes);
    if (!paths->window_nodes)
        return false;
    each_op(&ranged, put_op);
    return true;
}

/* ---- all of them ---- */

static bool add_whole(struct maker *maker) {
    size_t processes = maker->view->store->processes.count;
    size_t ops = maker->view->store->ops.count;
    struct gt_path_groups groups = {0};
    /* An op is of one step and of one process at most. */
    maker->paths->window_nodes = gt_arena_array(&maker->paths->arena, 2 * ops + 1, sizeof(uint32_t));
    bool ok = maker->paths->window_nodes &&
              gt_path_groups_init(&groups, &maker->paths->arena, maker->view, maker->paths->dag);
    for (size_t i = 0; i <= processes && ok; i++) {
        size_t p = groups.processes[i].row;
        size_t first = groups.process_first[p], count = groups.process_first[p + 1] - first;
        uint32_t process = p == processes ? GT_NO_TRACK : (uint32_t)p;
        if (process != GT_NO_TRACK && gt_path_groups_has_steps(&groups, p))
            ok = add_run(maker, &groups, process);
        else if (count)
            ok = add_trace(maker, process, groups.ops_of_process + first, count);
    }
    return ok;
}

static bool is_process_asked_for(const struct gt_view *view, uint32_t process) {
    const struct gputime_selection *asked = &view->request->selection;
    int64_t pid = process < view->store->processes.count ? view->store->processes.pid[process] : -1;
    for (size_t i = 0; i < asked->process_count; i++)
        if (pid >= asked->processes[i].first && pid <= asked->processes[i].last)
            return true;
    return asked->process_count == 0;
}

/* Runs and traces, or the steps that --step names, cut to --from and --to; steps that --step names, or all after the
   warm-up; what belongs to processes of --process. */
static bool choose(struct maker *maker) {
    struct gt_paths *paths = maker->paths;
    const struct gt_view *view = maker->view;
    const struct gputime_selection *asked = &view->request->selection;
    size_t whole = paths->window_count;
    bool takes_steps = asked->step_count;
    for (size_t i = 0; i < whole; i++)
        takes_steps |= paths->windows[i].kind == GT_PATH_STEP && asked->whole_steps != GPUTIME_STEPS_ANY;
    for (size_t i = 0; i < whole && (asked->from.kind || asked->to.kind); i++) {
        struct gt_path_window from = paths->windows[i];
        bool is_cut = asked->step_count ? from.kind == GT_PATH_STEP && gt_path_ranges_is_step_asked(asked, from.number)
                                        : from.kind == GT_PATH_RUN || from.kind == GT_PATH_TRACE;
        bool is_outside = from.start_ns >= view->window_end_ns || from.end_ns <= view->window_start_ns;
        if (!is_cut || (asked->step_count && is_outside))
            continue;
        struct gt_path_window *window = add_window(maker, GT_PATH_CHOSEN, from.process);
        if (!window)
            return false;
        window->last = (uint32_t)i;
        window->walk = from.walk;
        window->name = asked->step_count ? from.name : GT_STR("window");
        window->start_ns = view->window_start_ns > from.start_ns ? view->window_start_ns : from.start_ns;
        window->end_ns = view->window_end_ns < from.end_ns ? view->window_end_ns : from.end_ns;
        window->end_ns = window->end_ns > window->start_ns ? window->end_ns : window->start_ns;
    }
    for (size_t i = 0; i < paths->window_count; i++) {
        struct gt_path_window *window = &paths->windows[i];
        bool has_window = asked->from.kind || asked->to.kind;
        if (window->kind == GT_PATH_STEP)
            window->is_hidden =
                has_window || window->is_warm_up || !gt_path_ranges_is_step_asked(asked, window->number);
        else
            window->is_hidden =
                window->kind != GT_PATH_CHOSEN && window->kind != GT_PATH_RANGE && (has_window || takes_steps);
        window->is_hidden |= !is_process_asked_for(view, window->process);
        window->counts = !window->is_hidden && (window->kind != GT_PATH_STEP || takes_steps);
    }
    return true;
}

static bool chooses_time(const struct gputime_selection *asked) {
    return asked->step_count || asked->from.kind || asked->to.kind;
}

enum gt_status gt_path_windows_make(struct gt_paths *paths, const struct gt_view *view, struct gt_error *err) {
    struct maker maker = {.paths = paths, .view = view};
    maker.ranges = gt_path_ranges_find(&paths->arena, view, &maker.range_count, &paths->is_cut_short);
    if (!maker.ranges)
        return gt_fail_memory(err);
    if (gt_option_text(view, GT_OPTION_path_range) && !maker.range_count)
        return gt_fail_usage(err, "no range %sis named '%.200s'; see 'gputime ranges'",
                             chooses_time(&view->request->selection) ? "inside what is selected " : "",
                             gt_option_text(view, GT_OPTION_path_range));
    enum gt_status status = make_graph(&maker, err);
    if (status != GT_OK)
        return status;
    bool ok = maker.range_count ? add_ranges(&maker) : add_whole(&maker);
    paths->walks = gt_mem_array(paths->walk_count + 1, sizeof *paths->walks);
    return ok && choose(&maker) && paths->walks && !gt_arena_failed(&paths->arena) ? GT_OK : gt_fail_memory(err);
}
