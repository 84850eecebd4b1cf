/* CPU time on the path: in come its segments and the events of threads, out go sums. One sweep along each thread with
   three stacks, the top of which is the innermost open range, operator or call. */
#include "measure/results/path_cpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/ns.h"
#include "base/radix.h"
#include "measure/results/paths.h"
#include "measure/results/results.h"

enum { RANGES, CPU_OPS, CALLS, LAYERS };

/* Events of one kind, by thread and start, longer first. */
struct layer {
    const int64_t *start_ns, *end_ns;
    const uint32_t *thread;
    const gt_strid *name;
    uint32_t *rows;
    size_t *first; /* by thread */
    uint32_t *stack;
    size_t depth, next, last; /* of the thread that is swept */
};

struct piece {
    int64_t start_ns, end_ns;
    uint32_t thread;
    size_t segment; /* of all walks */
};

struct sweep {
    const struct gt_view *view;
    const struct gt_paths *paths;
    struct gt_path_cpu *cpu;
    struct layer layers[LAYERS];
    struct piece *pieces; /* CPU time on the path, by thread and start */
    struct piece *ends;   /* the same by thread and end */
    size_t piece_count;
    size_t started, ended; /* pieces that began or ended up to where the sweep is */
    struct gt_map texts;   /* pairs of names: number */
    struct gt_map items;   /* number of a pair, call: item */
    size_t capacity;
    bool failed;
};

/* ---- events by thread ---- */

/* Steps of the PyTorch profiler are around everything and say nothing about it. */
static bool takes(const struct sweep *sweep, size_t kind, uint32_t row) {
    const struct gt_store *store = sweep->view->store;
    if (sweep->layers[kind].thread[row] >= store->threads.count)
        return false;
    if (gt_str_starts(gt_store_string(store, sweep->layers[kind].name[row]), GT_STR("ProfilerStep#")))
        return false;
    return kind != RANGES || gt_store_range_is_of_thread(&store->ranges, row);
}

static bool order_layer(struct sweep *sweep, size_t kind, size_t rows) {
    struct layer *layer = &sweep->layers[kind];
    size_t threads = sweep->view->store->threads.count, count = 0;
    struct gt_radix_item *items = gt_mem_uninitialised(rows + 1, sizeof *items);
    layer->rows = gt_mem_uninitialised(rows + 1, sizeof *layer->rows);
    layer->stack = gt_mem_uninitialised(rows + 1, sizeof *layer->stack);
    layer->first = gt_mem_array(threads + 2, sizeof *layer->first);
    bool ok = items && layer->rows && layer->stack && layer->first;
    for (uint32_t i = 0; i < rows && ok; i++)
        if (takes(sweep, kind, i)) /* by end, backwards: longer ones come first below */
            items[count++] = (struct gt_radix_item){~gt_radix_key(layer->end_ns[i]), i};
    ok = ok && gt_radix_sort(items, count);
    for (size_t i = 0; i < count && ok; i++)
        items[i].key = gt_radix_key(layer->start_ns[items[i].value]);
    ok = ok && gt_radix_sort(items, count);
    size_t *next = ok ? layer->first + 1 : NULL;
    for (size_t i = 0; i < count && ok; i++)
        next[layer->thread[items[i].value] + 1]++;
    for (size_t i = 0; i < threads && ok; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < count && ok; i++)
        layer->rows[next[layer->thread[items[i].value]]++] = items[i].value;
    gt_mem_free(items);
    return ok;
}

static bool order_layers(struct sweep *sweep) {
    const struct gt_store *store = sweep->view->store;
    sweep->layers[RANGES] = (struct layer){.start_ns = store->ranges.start_ns,
                                           .end_ns = store->ranges.end_ns,
                                           .thread = store->ranges.thread,
                                           .name = store->ranges.name};
    sweep->layers[CPU_OPS] = (struct layer){.start_ns = store->cpu_ops.start_ns,
                                            .end_ns = store->cpu_ops.end_ns,
                                            .thread = store->cpu_ops.thread,
                                            .name = store->cpu_ops.name};
    sweep->layers[CALLS] = (struct layer){.start_ns = store->calls.start_ns,
                                          .end_ns = store->calls.end_ns,
                                          .thread = store->calls.thread,
                                          .name = store->calls.name};
    return order_layer(sweep, RANGES, store->ranges.count) && order_layer(sweep, CPU_OPS, store->cpu_ops.count) &&
           order_layer(sweep, CALLS, store->calls.count);
}

/* ---- sums ---- */

static void add(struct sweep *sweep, const struct gt_path_cpu_item *what, int64_t length_ns) {
    struct gt_path_cpu *cpu = sweep->cpu;
    uint32_t pair = gt_map_put_if_new(&sweep->texts, what->range, what->cpu_op, (uint32_t)sweep->texts.count);
    uint64_t key = what->is_handover ? UINT64_MAX : what->call;
    uint32_t index = gt_map_put_if_new(&sweep->items, pair, key, (uint32_t)cpu->count);
    sweep->failed |= sweep->texts.failed || sweep->items.failed;
    if (!sweep->failed && index == cpu->count) {
        struct gt_path_cpu_item *room = gt_mem_room(cpu->items, cpu->count, &sweep->capacity, sizeof *room);
        sweep->failed |= !room;
        if (!room)
            return;
        cpu->items = room;
        cpu->items[cpu->count] = *what;
        cpu->items[cpu->count++].total_ns = 0;
    }
    if (sweep->failed)
        return;
    cpu->items[index].total_ns = gt_ns_add(cpu->items[index].total_ns, length_ns);
    cpu->total_ns = gt_ns_add(cpu->total_ns, length_ns);
}

/* Opens what starts at or before the time, closes what ends there; the innermost, GT_STRID_EMPTY. */
static gt_strid open_at(struct layer *layer, int64_t time_ns, int64_t *until_ns) {
    for (; layer->next < layer->last && layer->start_ns[layer->rows[layer->next]] <= time_ns; layer->next++) {
        while (layer->depth && layer->end_ns[layer->stack[layer->depth - 1]] <= time_ns)
            layer->depth--;
        layer->stack[layer->depth++] = layer->rows[layer->next];
    }
    while (layer->depth && layer->end_ns[layer->stack[layer->depth - 1]] <= time_ns)
        layer->depth--;
    if (layer->next < layer->last && layer->start_ns[layer->rows[layer->next]] < *until_ns)
        *until_ns = layer->start_ns[layer->rows[layer->next]];
    if (!layer->depth)
        return GT_STRID_EMPTY;
    uint32_t top = layer->stack[layer->depth - 1];
    *until_ns = layer->end_ns[top] < *until_ns ? layer->end_ns[top] : *until_ns;
    return layer->name[top];
}

/* How many pieces of a thread have the time in them: more than one where windows overlap. */
static size_t count_at(struct sweep *sweep, uint32_t thread, int64_t time_ns, int64_t *until_ns) {
    const struct piece *pieces = sweep->pieces, *ends = sweep->ends;
    size_t count = sweep->piece_count;
    for (; sweep->started < count && pieces[sweep->started].thread == thread; sweep->started++)
        if (pieces[sweep->started].start_ns > time_ns)
            break;
    for (; sweep->ended < count && ends[sweep->ended].thread == thread; sweep->ended++)
        if (ends[sweep->ended].end_ns > time_ns)
            break;
    if (sweep->started < count && pieces[sweep->started].thread == thread &&
        pieces[sweep->started].start_ns < *until_ns)
        *until_ns = pieces[sweep->started].start_ns;
    if (sweep->ended < count && ends[sweep->ended].thread == thread && ends[sweep->ended].end_ns < *until_ns)
        *until_ns = ends[sweep->ended].end_ns;
    return sweep->started - sweep->ended;
}

static void split(struct sweep *sweep, const struct piece *piece) {
    int64_t longest_ns = 0;
    for (int64_t at_ns = piece->start_ns; at_ns < piece->end_ns && !sweep->failed;) {
        int64_t until_ns = piece->end_ns;
        struct gt_path_cpu_item what = {.range = open_at(&sweep->layers[RANGES], at_ns, &until_ns)};
        what.cpu_op = open_at(&sweep->layers[CPU_OPS], at_ns, &until_ns);
        what.call = open_at(&sweep->layers[CALLS], at_ns, &until_ns);
        int64_t windows = (int64_t)count_at(sweep, piece->thread, at_ns, &until_ns),
                length_ns = gt_ns_between(at_ns, until_ns);
        add(sweep, &what, length_ns > INT64_MAX / windows ? INT64_MAX : length_ns * windows);
        if (length_ns > longest_ns)
            sweep->cpu->places[piece->segment] = (struct gt_path_cpu_place){what.range, what.cpu_op};
        longest_ns = length_ns > longest_ns ? length_ns : longest_ns;
        at_ns = until_ns;
    }
}

/* Each moment of a thread is looked at once, and counts for each of the windows that have it. */
static void sweep_threads(struct sweep *sweep) {
    uint32_t thread = GT_NO_TRACK;
    int64_t reached_ns = INT64_MIN;
    size_t reaching = 0; /* the piece that ends there */
    for (size_t i = 0; i < sweep->piece_count && !sweep->failed; i++) {
        if (sweep->pieces[i].thread != thread) {
            thread = sweep->pieces[i].thread;
            reached_ns = INT64_MIN;
            sweep->started = sweep->ended = i;
            for (size_t kind = 0; kind < LAYERS; kind++) {
                struct layer *layer = &sweep->layers[kind];
                layer->depth = 0;
                layer->next = layer->first[thread];
                layer->last = layer->first[thread + 1];
            }
        }
        struct piece piece = sweep->pieces[i];
        if (piece.end_ns <= reached_ns) { /* a part of one before, in the same place as that */
            sweep->cpu->places[piece.segment] = sweep->cpu->places[sweep->pieces[reaching].segment];
            continue;
        }
        piece.start_ns = piece.start_ns > reached_ns ? piece.start_ns : reached_ns;
        split(sweep, &piece);
        reached_ns = piece.end_ns;
        reaching = i;
    }
}

/* ---- the path's CPU time ---- */

static int by_thread(const void *a, const void *b) {
    const struct piece *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->segment > y->segment) - (x->segment < y->segment);
}

static int by_end(const void *a, const void *b) {
    const struct piece *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static bool collect(struct sweep *sweep) {
    const struct gt_paths *paths = sweep->paths;
    size_t most = 0;
    for (size_t w = 0; w < paths->window_count; w++)
        most += paths->windows[w].counts ? paths->windows[w].segment_count : 0;
    sweep->pieces = gt_mem_uninitialised(most + 1, sizeof *sweep->pieces);
    sweep->ends = gt_mem_uninitialised(most + 1, sizeof *sweep->ends);
    sweep->cpu->walk_first = gt_mem_array(paths->walk_count + 1, sizeof *sweep->cpu->walk_first);
    if (!sweep->pieces || !sweep->ends || !sweep->cpu->walk_first)
        return false;
    for (size_t i = 0; i < paths->walk_count; i++)
        sweep->cpu->walk_first[i + 1] = sweep->cpu->walk_first[i] + paths->walks[i].count;
    sweep->cpu->places = gt_mem_array(sweep->cpu->walk_first[paths->walk_count] + 1, sizeof *sweep->cpu->places);
    if (!sweep->cpu->places)
        return false;
    for (size_t w = 0; w < paths->window_count; w++) {
        const struct gt_path_window *window = &paths->windows[w];
        if (!window->counts)
            continue;
        sweep->cpu->window_ns = gt_ns_add(sweep->cpu->window_ns, gt_paths_length_ns(window));
        struct gt_paths_cursor cursor = gt_paths_segments(paths, window);
        for (size_t i = 0; i < window->segment_count; i++) {
            struct gt_dag_segment segment = gt_paths_next(&cursor);
            uint32_t thread = gt_dag_walk_thread(paths->dag, &segment);
            if (segment.time != GT_DAG_TIME_CPU || segment.end_ns <= segment.start_ns)
                continue;
            if (paths->dag->edges[segment.edge].kind == GT_DAG_HANDOVER || thread == GT_NO_TRACK)
                add(sweep, &(struct gt_path_cpu_item){.is_handover = true},
                    gt_ns_between(segment.start_ns, segment.end_ns));
            else
                sweep->pieces[sweep->piece_count++] =
                    (struct piece){segment.start_ns, segment.end_ns, thread,
                                   sweep->cpu->walk_first[window->walk] + window->first_segment + i};
        }
    }
    memcpy(sweep->ends, sweep->pieces, sweep->piece_count * sizeof *sweep->ends);
    qsort(sweep->pieces, sweep->piece_count, sizeof *sweep->pieces, by_thread);
    qsort(sweep->ends, sweep->piece_count, sizeof *sweep->ends, by_end);
    return !sweep->failed;
}

static int by_total(const void *a, const void *b) {
    const struct gt_path_cpu_item *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    if (x->range != y->range)
        return x->range < y->range ? -1 : 1;
    if (x->cpu_op != y->cpu_op)
        return x->cpu_op < y->cpu_op ? -1 : 1;
    return (x->call > y->call) - (x->call < y->call);
}

/* false: memory was short */
static bool find_main_range(struct gt_path_cpu *cpu) {
    struct gt_map sums = {0};
    int64_t *totals = gt_mem_array(cpu->count + 1, sizeof *totals);
    for (size_t i = 0; i < cpu->count && totals; i++) {
        const struct gt_path_cpu_item *item = &cpu->items[i];
        uint32_t index = gt_map_put_if_new(&sums, 0, item->range, (uint32_t)i);
        if (sums.failed)
            break;
        totals[index] = gt_ns_add(totals[index], item->total_ns);
        if (item->range != GT_STRID_EMPTY && totals[index] > cpu->main_range_ns) {
            cpu->main_range = item->range;
            cpu->main_range_ns = totals[index];
        }
    }
    bool ok = totals && !sums.failed;
    gt_mem_free(totals);
    gt_map_release(&sums);
    return ok;
}

enum gt_status gt_path_cpu_init(struct gt_path_cpu *cpu, const struct gt_view *view, struct gt_error *err) {
    struct sweep sweep = {.view = view, .paths = gt_results_paths(view, err), .cpu = cpu};
    if (!sweep.paths)
        return err->code;
    bool ok = order_layers(&sweep) && collect(&sweep);
    if (ok)
        sweep_threads(&sweep);
    for (size_t kind = 0; kind < LAYERS; kind++) {
        gt_mem_free(sweep.layers[kind].rows);
        gt_mem_free(sweep.layers[kind].stack);
        gt_mem_free(sweep.layers[kind].first);
    }
    gt_mem_free(sweep.pieces);
    gt_mem_free(sweep.ends);
    gt_map_release(&sweep.texts);
    gt_map_release(&sweep.items);
    ok = ok && !sweep.failed;
    if (ok && cpu->count)
        qsort(cpu->items, cpu->count, sizeof *cpu->items, by_total);
    if (ok && find_main_range(cpu))
        return GT_OK;
    gt_path_cpu_release(cpu);
    return gt_fail_memory(err);
}

void gt_path_cpu_release(struct gt_path_cpu *cpu) {
    gt_mem_free(cpu->items);
    gt_mem_free(cpu->places);
    gt_mem_free(cpu->walk_first);
    *cpu = (struct gt_path_cpu){0};
}
