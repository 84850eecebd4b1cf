/* CUDA graphs of a capture: which graph an op belongs to. An op names the node of the executable graph that ran, events
   say which node each node was copied from; in the end every op has the graph that the program made. */
#include "base/mem.h"
#include "decode/nsys/nsys.h"
#include "events/builder.h"

enum { COPIES_MAX = 64 /* of a node, one from the other: more are damage */ };

/* A node's number has its graph's above the place in it. */
static uint64_t graph_of(uint64_t node) {
    return node >> 32;
}

void gt_nsys_add_graph_op(struct gt_nsys_sink *sink, const struct gt_nsys_activity *activity) {
    bool is_whole = activity->kind == GT_NSYS_GRAPH;
    uint64_t process = gt_nsys_global_pid(activity->global_pid) | (is_whole ? GT_NSYS_WHOLE : 0);
    uint64_t number = is_whole ? activity->graph_id : activity->graph_node;
    if (number == GT_NSYS_NO_ID || (is_whole && number > UINT32_MAX))
        return;
    size_t index = gt_nsys_label_index(sink, GT_NSYS_GRAPH_NODES, process, number);
    if (index != SIZE_MAX)
        gt_builder_graph_op(sink->builder, &(struct gt_graph_ops_row){.graph = (uint32_t)index});
}

void gt_nsys_add_clone(struct gt_nsys_sink *sink, const struct gt_nsys_clone *clone) {
    uint64_t process = gt_nsys_global_pid(clone->global_tid);
    bool is_node = clone->node != GT_NSYS_NO_ID && clone->original_node != GT_NSYS_NO_ID;
    bool is_graph = clone->graph <= UINT32_MAX && clone->original_graph <= UINT32_MAX;
    if (is_node)
        gt_nsys_label_give(sink, GT_NSYS_CLONES, process, clone->node, GT_STR(""), clone->original_node);
    if (is_graph)
        gt_nsys_label_give(sink, GT_NSYS_CLONES, process | GT_NSYS_WHOLE, clone->graph, GT_STR(""),
                           clone->original_graph);
    if (!is_node && !is_graph)
        gt_builder_skip(sink->builder);
}

static uint32_t find_origin(const struct gt_nsys_label_set *clones, const struct gt_nsys_label *met) {
    uint64_t number = met->number;
    for (int i = 0; i < COPIES_MAX; i++) {
        const struct gt_nsys_label *clone = gt_nsys_label_find(clones, met->global_id, number);
        if (!clone || clone->value == number)
            break;
        number = clone->value;
    }
    return (uint32_t)(met->global_id & GT_NSYS_WHOLE ? number : graph_of(number));
}

bool gt_nsys_finish_graphs(struct gt_nsys_sink *sinks, size_t count) {
    struct gt_nsys_label_set clones;
    bool is_done = gt_nsys_label_set_init(&clones, sinks, count, GT_NSYS_CLONES);
    for (size_t s = 0; s < count && is_done; s++) {
        const struct gt_nsys_labels *met = &sinks[s].labels[GT_NSYS_GRAPH_NODES];
        struct gt_graph_ops *rows = &sinks[s].builder->store.graph_ops;
        uint32_t *graphs = gt_mem_array(met->count + 1, sizeof *graphs);
        is_done = graphs != NULL;
        for (size_t i = 0; is_done && i < met->count; i++)
            graphs[i] = find_origin(&clones, &met->list[i]);
        for (size_t i = 0; is_done && i < rows->count; i++)
            rows->graph[i] = graphs[rows->graph[i]];
        gt_mem_free(graphs);
    }
    gt_nsys_label_set_release(&clones);
    return is_done;
}
