/* Windows of the path: in come steps, ranges and the selection, out go windows with the nodes that begin and end them.
   Steps tile a run: each begins where the one before ends, with its range or with its last op, whichever is later. */
#include "measure/results/path_windows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "measure/options.h"
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

/* Numbers 0 .. count - 1 by group, those of group g from first[g] on; GT_NO_ROW: in none. NULL: memory was short. */
static uint32_t *group_numbers(struct maker *maker, const uint32_t *group, size_t count, size_t group_count,
                               size_t *first) {
    uint32_t *grouped = gt_arena_array(&maker->paths->arena, count + 1, sizeof *grouped);
    if (!grouped || !first)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (group[i] != GT_NO_ROW)
            first[group[i] + 1]++;
    for (size_t i = 0; i < group_count; i++)
        first[i + 1] += first[i];
    for (uint32_t i = 0; i < count; i++)
        if (group[i] != GT_NO_ROW)
            grouped[first[group[i]]++] = i;
    memmove(first + 1, first, group_count * sizeof *first);
    first[0] = 0;
    return grouped;
}

/* Steps and ops next to each other by what they are of. */
struct groups {
    size_t *step_first, *process_first, *process_first_step;
    uint32_t *ops_of_step, *ops_of_process, *steps_of_process;
};

static bool group_all(struct maker *maker, struct groups *groups) {
    struct gt_arena *arena = &maker->paths->arena;
    const struct gt_labels *labels = maker->view->labels;
    size_t ops = maker->view->store->ops.count, processes = maker->view->store->processes.count;
    uint32_t *op_slot = gt_arena_array(arena, ops + 1, sizeof *op_slot);
    uint32_t *step_slot = gt_arena_array(arena, labels->step_count + 1, sizeof *step_slot);
    groups->step_first = gt_arena_array(arena, labels->step_count + 2, sizeof(size_t));
    groups->process_first = gt_arena_array(arena, processes + 3, sizeof(size_t));
    groups->process_first_step = gt_arena_array(arena, processes + 3, sizeof(size_t));
    if (gt_arena_failed(arena))
        return false;
    for (size_t op = 0; op < ops; op++) {
        uint32_t process = maker->paths->dag->op_process[op];
        op_slot[op] = process == GT_NO_TRACK ? (uint32_t)processes : process;
    }
    for (size_t i = 0; i < labels->step_count; i++)
        step_slot[i] = labels->steps[i].process;
    groups->ops_of_step = group_numbers(maker, labels->op_step, ops, labels->step_count, groups->step_first);
    groups->ops_of_process = group_numbers(maker, op_slot, ops, processes + 1, groups->process_first);
    groups->steps_of_process =
        group_numbers(maker, step_slot, labels->step_count, processes + 1, groups->process_first_step);
    return groups->ops_of_step && groups->ops_of_process && groups->steps_of_process;
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

static bool add_run(struct maker *maker, const struct groups *groups, uint32_t process) {
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
static void drop_ranges(struct maker *maker, size_t first, uint32_t *of_range) {
    for (size_t i = first; i < maker->range_count; i++)
        of_range[maker->ranges[i]] = 0;
    maker->range_count = first;
    maker->paths->is_cut_short = true;
}

static bool add_ranges(struct maker *maker) {
    struct gt_paths *paths = maker->paths;
    const struct gt_view *view = maker->view;
    size_t steps = view->labels->step_count;
    uint32_t first = (uint32_t)paths->window_count;
    uint32_t *of_range = gt_arena_array(&paths->arena, view->store->ranges.count + 1, sizeof *of_range);
    size_t *counts = gt_arena_array(&paths->arena, maker->range_count + 2, sizeof *counts);
    if (!of_range || !counts)
        return false;
    for (size_t i = 0; i < maker->range_count; i++)
        of_range[maker->ranges[i]] = (uint32_t)i + 1;
    for (int pass = 0; pass < 2; pass++) { /* how many ops each has; then the ops */
        for (uint32_t op = 0; op < view->store->ops.count; op++) {
            int64_t reach_ns = gt_labels_op_reach(view->labels, view->store, op);
            for (uint32_t r = view->labels->op_range[op]; r != GT_NO_ROW;
                 r = gt_labels_next_range(view->labels, view->store, r, reach_ns)) {
                if (!of_range[r])
                    continue;
                if (pass == 0) {
                    counts[of_range[r]]++;
                    continue;
                }
                struct gt_path_window *window = &paths->windows[first + of_range[r] - 1];
                paths->window_nodes[window->first_op + window->op_count++] = paths->dag->op_node[op];
                if (view->store->ops.end_ns[op] > window->end_ns)
                    window->end_ns = view->store->ops.end_ns[op];
            }
        }
        for (size_t i = 0; i < maker->range_count && pass == 0; i++) {
            uint32_t range = maker->ranges[i];
            if (counts[i] > RANGES_OF_OP * view->store->ops.count + RANGE_OPS_LEAST) {
                drop_ranges(maker, i, of_range);
                break;
            }
            struct gt_path_window *window =
                add_window(maker, GT_PATH_RANGE, view->store->threads.process[view->store->ranges.thread[range]]);
            if (!window)
                return false;
            take_range(maker, window, range, 2 * (steps + i));
            window->walk = (uint32_t)paths->walk_count++;
            window->name = gt_store_string(view->store, view->store->ranges.name[range]);
            window->first_op = counts[i];
            counts[i + 1] += counts[i];
        }
        if (pass == 0)
            paths->window_nodes = gt_arena_array(&paths->arena, counts[maker->range_count] + 1, sizeof(uint32_t));
        if (!paths->window_nodes)
            return false;
    }
    return true;
}

/* ---- all of them ---- */

/* A process whose steps launched nothing is a whole, like one without steps. */
static bool has_steps(const struct groups *groups, size_t process) {
    for (size_t i = groups->process_first_step[process]; i < groups->process_first_step[process + 1]; i++) {
        uint32_t step = groups->steps_of_process[i];
        if (groups->step_first[step + 1] > groups->step_first[step])
            return true;
    }
    return false;
}

struct numbered_process {
    int64_t pid;
    size_t process;
};

static int by_pid(const void *a, const void *b) {
    const struct numbered_process *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->process > y->process) - (x->process < y->process);
}

/* Rows of processes are in the order in which the reader met them, which depends on what else it was asked for. */
static struct numbered_process *order_processes(struct maker *maker) {
    const struct gt_processes *processes = &maker->view->store->processes;
    struct numbered_process *order = gt_arena_array(&maker->paths->arena, processes->count + 1, sizeof *order);
    for (size_t p = 0; p < processes->count && order; p++)
        order[p] = (struct numbered_process){processes->pid[p], p};
    if (order && processes->count)
        qsort(order, processes->count, sizeof *order, by_pid);
    if (order)
        order[processes->count] = (struct numbered_process){-1, processes->count}; /* ops without a process */
    return order;
}

static bool add_whole(struct maker *maker) {
    size_t processes = maker->view->store->processes.count;
    size_t ops = maker->view->store->ops.count;
    struct groups groups = {0};
    /* An op is of one step and of one process at most. */
    maker->paths->window_nodes = gt_arena_array(&maker->paths->arena, 2 * ops + 1, sizeof(uint32_t));
    bool ok = maker->paths->window_nodes && group_all(maker, &groups);
    const struct numbered_process *order = order_processes(maker);
    ok = ok && order;
    for (size_t i = 0; i <= processes && ok; i++) {
        size_t p = order[i].process;
        size_t first = groups.process_first[p], count = groups.process_first[p + 1] - first;
        uint32_t process = p == processes ? GT_NO_TRACK : (uint32_t)p;
        if (process != GT_NO_TRACK && has_steps(&groups, p))
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
