/* The making of the dependency graph, step by step, and what is asked of a finished one. */
#include "graph/dag.h"

#include "base/huge.h"
#include "base/mem.h"
#include "graph/dag_build.h"

/* ---- help for the files that build ---- */

void *gt_dag_build_array(struct gt_dag_build *build, size_t count, size_t bytes) {
    void *array = gt_arena_array(&build->arena, count ? count : 1, bytes);
    build->failed |= !array;
    if (count * bytes >= GT_HUGE_LEAST_BYTES)
        gt_huge_advise(array, count * bytes);
    return array;
}

void gt_dag_build_edge(struct gt_dag_build *build, const struct gt_dag_raw_edge *edge) {
    struct gt_dag_raw_edge *room =
        gt_mem_room(build->edges, build->edge_count, &build->edge_capacity, sizeof *build->edges);
    build->failed |= !room;
    if (!room)
        return;
    build->edges = room;
    build->edges[build->edge_count++] = *edge;
}

bool gt_dag_build_work(struct gt_dag_build *build, size_t steps) {
    bool is_left = steps <= build->work_left;
    build->work_left = is_left ? build->work_left - steps : 0;
    build->dag->is_cut_short |= !is_left;
    return is_left;
}

/* ---- making ---- */

/* Rows of several tables and two ids for each call must fit 32 bits. */
bool gt_dag_fits(const struct gt_store *store) {
    return store->ops.count + 2 * store->calls.count + 4 * store->syncs.count < UINT32_MAX / 2;
}

static void build_release(struct gt_dag_build *build) {
    gt_arena_release(&build->arena);
    gt_map_release(&build->stream_map);
    gt_map_release(&build->device_map);
    gt_map_release(&build->sync_map);
    gt_map_release(&build->record_map);
    gt_map_release(&build->mark_map);
    gt_mem_free(build->marks);
    gt_mem_free(build->points);
    gt_mem_free(build->edges);
    gt_mem_free(build->node_edges);
}

static bool ask_for_marks(struct gt_dag_build *build, const struct gt_dag_moment *marks, size_t count) {
    build->asked_marks = gt_dag_build_array(build, count, sizeof *build->asked_marks);
    for (size_t i = 0; i < count && !build->failed; i++) {
        uint32_t thread =
            marks[i].thread < build->store->threads.count ? build->thread_index[marks[i].thread] : GT_DAG_NONE;
        build->asked_marks[i] = GT_DAG_NONE;
        if (thread != GT_DAG_NONE)
            build->asked_marks[i] = gt_dag_build_mark(build, thread, marks[i].time_ns);
    }
    return !build->failed;
}

static bool make(struct gt_dag_build *build, const struct gt_dag_moment *marks, size_t mark_count) {
    return gt_dag_build_calls(build) && gt_dag_build_streams(build) && gt_dag_build_recordings(build) &&
           gt_dag_build_syncs(build) && gt_dag_build_room(build) && gt_dag_build_threads(build) &&
           ask_for_marks(build, marks, mark_count) && gt_dag_build_handovers(build) && gt_dag_build_events(build) &&
           gt_dag_build_chains(build) && gt_dag_build_delays(build) && gt_dag_build_clock(build) &&
           gt_dag_build_finish(build, mark_count);
}

enum gt_status gt_dag_new(const struct gt_store *store, const struct gt_labels *labels,
                          const struct gt_dag_moment *marks, size_t mark_count, struct gt_dag **out,
                          struct gt_error *err) {
    *out = NULL;
    if (!gt_dag_fits(store))
        return gt_fail(err, "the trace has too many events for a dependency graph");
    struct gt_dag *dag = gt_mem_array(1, sizeof *dag);
    struct gt_dag_build build = {.store = store, .labels = labels, .dag = dag};
    if (!dag)
        return gt_fail_memory(err);
    dag->store = store;
    dag->labels = labels;
    build.work_left = 64 * (store->ops.count + store->calls.count + store->cpu_ops.count + (1 << 16));
    bool ok = gt_strtab_init(&dag->names) && make(&build, marks, mark_count) && !build.failed && !dag->names.failed;
    build_release(&build);
    if (!ok) {
        gt_dag_free(dag);
        return gt_fail_memory(err);
    }
    *out = dag;
    return GT_OK;
}

void gt_dag_free(struct gt_dag *dag) {
    if (!dag)
        return;
    gt_mem_free(dag->kind);
    gt_mem_free(dag->role);
    gt_mem_free(dag->row);
    gt_mem_free(dag->start_ns);
    gt_mem_free(dag->end_ns);
    gt_mem_free(dag->first_edge);
    gt_mem_free(dag->edges);
    gt_mem_free(dag->op_node);
    gt_mem_free(dag->op_process);
    gt_mem_free(dag->mark_node);
    gt_mem_free(dag->delays);
    gt_strtab_release(&dag->names);
    gt_mem_free(dag);
}

/* ---- looking ---- */

const char *gt_dag_edge_word(enum gt_dag_edge_kind kind) {
    static const char *const words[GT_DAG_EDGE_KINDS] = {
        [GT_DAG_THINK] = "think",   [GT_DAG_ORDER] = "order",       [GT_DAG_OWN] = "own",
        [GT_DAG_LAUNCH] = "launch", [GT_DAG_HANDOVER] = "handover", [GT_DAG_EVENT] = "event",
        [GT_DAG_ROOM] = "room",     [GT_DAG_STREAM] = "stream",     [GT_DAG_SYNC] = "sync",
    };
    return words[kind];
}
