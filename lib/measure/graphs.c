/* Graphs: what each CUDA graph put on the GPUs, by the graph that the program made, whatever copies of it ran. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/grouping.h"
#include "measure/results/measure.h"
#include "report/row.h"

struct graph {
    uint32_t process, number;
    size_t ops, launches;
    __int128 total_ns;
};

static const struct gt_report_column columns[] = {
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"graph", "Graph", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"launches", "Launches", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"ops", "Ops", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Op time (sum)", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"avg_ns", "Per launch", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"share", "Share", GT_UNIT_SHARE, "summed op time", GT_COLUMN_BAR},
};

struct gathering {
    const struct gt_view *view;
    struct gt_grouping graphs;   /* (process, number) */
    struct gt_grouping launches; /* (graph's place, correlation id): whether it was seen is all that counts */
    uint32_t *graph_of;          /* by row of ops: row of graph_ops; GT_NO_ROW: not of a graph */
};

static bool find_graph_ops(struct gathering *gathering) {
    const struct gt_store *store = gathering->view->store;
    gathering->graph_of = gt_mem_array(store->ops.count, sizeof *gathering->graph_of);
    if (!gathering->graph_of)
        return false;
    for (size_t i = 0; i < store->ops.count; i++)
        gathering->graph_of[i] = GT_NO_ROW;
    for (size_t i = 0; i < store->graph_ops.count; i++)
        gathering->graph_of[store->graph_ops.op[i]] = (uint32_t)i;
    return true;
}

/* A launch has one correlation id, which all its ops carry. */
static bool add_op(struct gathering *gathering, size_t position) {
    const struct gt_view *view = gathering->view;
    uint32_t op = view->row[position], process = gt_view_op_process(view, position);
    uint32_t number = view->store->graph_ops.graph[gathering->graph_of[op]];
    uint64_t correlation = view->store->ops.correlation[op];
    bool is_new;
    struct graph *graph = gt_grouping_find(&gathering->graphs, process, number, &is_new);
    if (!graph)
        return false;
    if (is_new)
        *graph = (struct graph){.process = process, .number = number};
    graph->ops++;
    graph->total_ns += gt_view_op_ns(view, position);
    if (correlation == GT_NO_CORRELATION)
        return true;
    size_t place = (size_t)(graph - (struct graph *)(void *)gathering->graphs.list);
    if (!gt_grouping_find(&gathering->launches, place, correlation, &is_new))
        return false;
    graph->launches += is_new;
    return true;
}

static bool gather(struct gathering *gathering, __int128 *total_ns) {
    const struct gt_view *view = gathering->view;
    if (view->store->graph_ops.count == 0)
        return true;
    bool is_done = find_graph_ops(gathering);
    for (size_t i = 0; i < view->op_count && is_done; i++) {
        *total_ns += gt_view_op_ns(view, i);
        if (gathering->graph_of[view->row[i]] != GT_NO_ROW)
            is_done = add_op(gathering, i);
    }
    return is_done;
}

static int by_total(const void *a, const void *b) {
    const struct graph *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static void add_table(struct gt_section *section, const struct gathering *gathering, __int128 total_ns) {
    const struct gt_view *view = gathering->view;
    const struct graph *graphs = (const void *)gathering->graphs.list;
    struct gt_table *table = gt_section_table(section, "graphs", "CUDA graphs", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 5;
    table->empty = view->store->graph_ops.count ? "No CUDA graphs in the selection." : NULL;
    for (size_t i = 0; i < gathering->graphs.count; i++) {
        const struct graph *graph = &graphs[i];
        struct gt_row row = gt_row_begin(table);
        gt_row_cell(&row, "pid", gt_measure_pid_cell(view, graph->process));
        gt_row_int(&row, "graph", graph->number);
        gt_row_count(&row, "launches", graph->launches);
        gt_row_count(&row, "ops", graph->ops);
        gt_row_int(&row, "total_ns", gt_ns_of_sum(graph->total_ns));
        gt_row_cell(&row, "avg_ns",
                    graph->launches ? gt_cell_real((double)graph->total_ns / (double)graph->launches) : gt_cell_null());
        gt_row_share(&row, "share", (double)graph->total_ns, (double)total_ns);
        gt_row_end(&row);
    }
}

enum gt_status gt_graphs_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    if (!gt_measure_table_is_wanted(view, "graphs"))
        return GT_OK;
    struct gathering gathering = {
        .view = view, .graphs.elem_bytes = sizeof(struct graph), .launches.elem_bytes = sizeof(char)};
    enum gt_status status = GT_OK;
    __int128 total_ns = 0;
    if (gather(&gathering, &total_ns)) {
        if (gathering.graphs.count)
            qsort(gathering.graphs.list, gathering.graphs.count, sizeof(struct graph), by_total);
        add_table(section, &gathering, total_ns);
    } else {
        status = gt_fail_memory(err);
    }
    gt_grouping_release(&gathering.graphs);
    gt_grouping_release(&gathering.launches);
    gt_mem_free(gathering.graph_of);
    return status;
}
