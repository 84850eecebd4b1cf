/* Makes the dependency graph of a trace and asks it for the paths of all windows, a simulation, slack and the list of
   savings: graph THREADS TRACE [ROUNDS]. Prints the size of the graph, then the best wall, user and system time of the
   rounds for each part. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/source.h"
#include "decode/decoder.h"
#include "events/view.h"
#include "graph/dag_slack.h"
#include "label/label.h"
#include "measure/results/results.h"

enum { PATH_FACTS = GT_FACTS_USUAL | GT_FACT_SYNCS | GT_FACT_FLOWS };

enum part { GRAPH, PATH, WINDOWS, SIMULATION, REPLAY, SLACK, SAVINGS, PARTS };
static const char *const part_names[PARTS] = {"graph", "path", "windows", "simulation", "replay", "slack", "savings"};

struct spent {
    double wall_s, user_s, system_s;
};

struct bench {
    struct gt_request request;
    struct gt_store *store;
    struct gt_labels *labels;
    struct gt_view *view;
    struct gt_dag_moment *marks;
    size_t mark_count;
    long round;
    struct spent best[PARTS];
};

/* ---- clocks ---- */

static struct spent spent_now(void) {
    struct timespec now;
    struct rusage used;
    clock_gettime(CLOCK_MONOTONIC, &now);
    getrusage(RUSAGE_SELF, &used);
    return (struct spent){.wall_s = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec,
                          .user_s = (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec,
                          .system_s = (double)used.ru_stime.tv_sec + 1e-6 * (double)used.ru_stime.tv_usec};
}

static struct spent spent_without(struct spent all, struct spent part) {
    return (struct spent){all.wall_s - part.wall_s, all.user_s - part.user_s, all.system_s - part.system_s};
}

static struct spent spent_since(struct spent begin) {
    return spent_without(spent_now(), begin);
}

/* The round with the least CPU time: what else the machine does adds to all times, but least to that. */
static void keep(struct bench *bench, enum part part, struct spent spent) {
    struct spent *best = &bench->best[part];
    if (bench->round == 0 || spent.user_s + spent.system_s < best->user_s + best->system_s)
        *best = spent;
}

static void check(bool ok, const struct gt_error *error) {
    if (ok)
        return;
    fprintf(stderr, "graph: %s\n", error && error->code != GT_OK ? error->message : "out of memory");
    exit(1);
}

/* ---- the trace ---- */

static void read_trace(struct bench *bench, const char *path, size_t threads) {
    const struct gt_decode_options options = {.threads = threads, .facts = PATH_FACTS};
    const struct gt_decoder *decoder;
    struct gt_source *source = NULL;
    struct gt_error error = {0};
    check(gt_source_open(path, &source, &error) == GT_OK, &error);
    check(gt_decoder_choose(source, &decoder, &error) == GT_OK, &error);
    check(decoder->decode(&source, 1, &options, &bench->store, &error) == GT_OK, &error);
    check(gt_label_new_by_rules(bench->store, NULL, threads, &bench->labels, &error) == GT_OK, &error);
    bench->request = (struct gt_request){.threads = (int64_t)threads, .facts = PATH_FACTS};
    check(gt_view_new(bench->store, bench->labels, &bench->request, &bench->view, &error) == GT_OK, &error);
    gt_source_close(source);
}

/* Both ends of every step, as the path asks for them. */
static void list_marks(struct bench *bench) {
    const struct gt_ranges *ranges = &bench->store->ranges;
    bench->marks = calloc(2 * bench->labels->step_count + 1, sizeof *bench->marks);
    check(bench->marks, NULL);
    for (size_t i = 0; i < bench->labels->step_count; i++) {
        uint32_t range = bench->labels->steps[i].range;
        bench->marks[bench->mark_count++] = (struct gt_dag_moment){ranges->thread[range], ranges->start_ns[range]};
        bench->marks[bench->mark_count++] = (struct gt_dag_moment){ranges->thread[range], ranges->end_ns[range]};
    }
}

/* ---- what is measured ---- */

static struct spent simulate(const struct gt_dag *dag, const struct gt_dag_change *change) {
    struct gt_dag_times times = {0};
    struct spent begin = spent_now();
    check(gt_dag_simulate(dag, change, &times), NULL);
    struct spent spent = spent_since(begin);
    gt_dag_simulate_release(&times);
    return spent;
}

static struct spent find_slack(const struct gt_dag *dag) {
    struct spent begin = spent_now();
    int64_t *late_ns = gt_dag_slack_new(dag, dag->node_count ? dag->end_ns[dag->node_count - 1] : 0);
    check(late_ns, NULL);
    gt_dag_slack_spread(dag, late_ns);
    struct spent spent = spent_since(begin);
    free(late_ns);
    return spent;
}

/* The walks of all windows that have their own, as gt_paths_init makes them. */
static struct spent walk_paths(const struct gt_paths *paths) {
    struct gt_dag_path *walks = calloc(paths->walk_count + 1, sizeof *walks);
    struct gt_dag_way *ways = calloc(paths->walk_count + 1, sizeof *ways);
    size_t count = 0;
    check(walks && ways, NULL);
    for (size_t i = 0; i < paths->window_count; i++) {
        const struct gt_path_window *window = &paths->windows[i];
        if (window->kind != GT_PATH_STEP && window->kind != GT_PATH_CHOSEN)
            ways[count++] = (struct gt_dag_way){gt_paths_end_node(paths, window), window->start_ns, window->end_ns,
                                                &walks[window->walk]};
    }
    struct spent begin = spent_now();
    bool ok = gt_dag_walk(paths->dag, ways, count);
    struct spent spent = spent_since(begin);
    check(ok, NULL);
    for (size_t i = 0; i < paths->walk_count; i++)
        gt_dag_walk_release(&walks[i]);
    free(walks);
    free(ways);
    return spent;
}

/* Windows and what they are made of: all of gt_paths_init but the graph, the replay and the walks, which are in it. */
static void find_paths(struct bench *bench, struct spent graph, struct spent replay) {
    struct gt_paths paths = {0};
    struct gt_error error = {0};
    struct spent begin = spent_now();
    check(gt_paths_init(&paths, bench->view, &error) == GT_OK, &error);
    struct spent all = spent_since(begin), path = walk_paths(&paths);
    gt_paths_release(&paths);
    keep(bench, PATH, path);
    keep(bench, WINDOWS, spent_without(spent_without(spent_without(all, graph), replay), path));
}

static struct spent find_savings(const struct bench *bench) {
    struct gt_path_names names = {0};
    struct gt_error error = {0};
    check(gt_results_paths(bench->view, &error), &error);
    struct spent begin = spent_now();
    check(gt_path_names_init(&names, bench->view, &error) == GT_OK, &error);
    struct spent spent = spent_since(begin);
    gt_path_names_release(&names);
    return spent;
}

/* What nodes, edges and look-ups take. */
static size_t graph_bytes(const struct gt_dag *dag, size_t ops) {
    size_t node = sizeof *dag->kind + sizeof *dag->role + sizeof *dag->row + sizeof *dag->start_ns +
                  sizeof *dag->end_ns + sizeof *dag->first_edge;
    return dag->node_count * node + dag->edge_count * sizeof *dag->edges +
           ops * (sizeof *dag->op_node + sizeof *dag->op_process);
}

static void measure(struct bench *bench) {
    const struct gt_dag_change none = {0}, replayed = {.replays = true};
    struct gt_dag *dag = NULL;
    struct gt_error error = {0};
    struct spent begin = spent_now();
    check(gt_dag_new(bench->store, bench->labels, bench->marks, bench->mark_count, &dag, &error) == GT_OK, &error);
    struct spent graph = spent_since(begin), replay = simulate(dag, &replayed);
    if (bench->round == 0)
        printf("nodes %zu edges %zu bytes %zu\n", dag->node_count, dag->edge_count,
               graph_bytes(dag, bench->store->ops.count));
    keep(bench, GRAPH, graph);
    keep(bench, REPLAY, replay);
    keep(bench, SIMULATION, simulate(dag, &none));
    keep(bench, SLACK, find_slack(dag));
    gt_dag_free(dag);
    find_paths(bench, graph, replay);
    keep(bench, SAVINGS, find_savings(bench));
}

int main(int argc, char **argv) {
    struct bench bench = {0};
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: graph THREADS TRACE [ROUNDS]\n");
        return 2;
    }
    long rounds = argc == 4 ? strtol(argv[3], NULL, 10) : 1;
    read_trace(&bench, argv[2], strtoul(argv[1], NULL, 10));
    list_marks(&bench);
    for (; bench.round < rounds; bench.round++)
        measure(&bench);
    for (enum part part = 0; part < PARTS; part++)
        printf("%s wall_s %.4f user_s %.4f system_s %.4f\n", part_names[part], bench.best[part].wall_s,
               bench.best[part].user_s, bench.best[part].system_s);
    free(bench.marks);
    gt_view_free(bench.view);
    gt_label_free(bench.labels);
    gt_store_free(bench.store);
    return 0;
}
