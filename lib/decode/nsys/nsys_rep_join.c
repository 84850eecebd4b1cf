/* Processes: what each thread read about them comes in, their names and ranks go into the capture, in the order of the
   file. */
#include <stdlib.h>

#include "base/mem.h"
#include "decode/nsys/nsys_rep_sink.h"

static int by_order(const void *a, const void *b) {
    const struct gt_nsys_rep_process *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* The largest communicator first: of ranks of one source, the first one given stays. */
static int by_world_size(const void *a, const void *b) {
    const struct gt_nsys_rank *x = a, *y = b;
    if (x->world_size != y->world_size)
        return x->world_size > y->world_size ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void add_rank(struct gt_nsys_capture *capture, struct gt_nsys_rank rank) {
    capture->ranks[capture->rank_count++] = rank;
}

/* An environment that many processes share is looked at once. */
static void add_environment(struct gt_nsys_capture *capture, struct gt_map *seen,
                            const struct gt_nsys_rep_process *process) {
    struct gt_nsys_rank rank = {process->name.global_id, -1, -1, GT_RANK_OF_ENVIRONMENT};
    if (!gt_nsys_has_string(capture, process->environment))
        return;
    uint32_t known = gt_map_put_if_new(seen, 0, process->environment, (uint32_t)capture->rank_count);
    if (known < capture->rank_count) {
        rank.rank = capture->ranks[known].rank;
        rank.world_size = capture->ranks[known].world_size;
        rank.source = capture->ranks[known].source;
    } else {
        gt_nsys_environment_rank(capture->strings[process->environment], &rank);
    }
    add_rank(capture, rank);
}

static bool join_processes(struct gt_nsys_rep_sink *const *sinks, size_t sink_count, size_t count,
                           struct gt_nsys_capture *capture) {
    struct gt_nsys_rep_process *all = gt_mem_array(count + 1, sizeof *all);
    struct gt_map environments = {0};
    size_t next = 0;
    capture->processes = gt_arena_array(&capture->arena, count + 1, sizeof *capture->processes);
    bool is_done = all && capture->processes;
    for (size_t s = 0; is_done && s < sink_count; s++)
        for (size_t i = 0; i < sinks[s]->process_count; i++)
            all[next++] = sinks[s]->processes[i];
    if (is_done)
        qsort(all, count, sizeof *all, by_order);
    for (size_t i = 0; is_done && i < count; i++) {
        if (all[i].name.name.len)
            capture->processes[capture->process_count++] = all[i].name;
        add_environment(capture, &environments, &all[i]);
    }
    is_done = is_done && !environments.failed;
    gt_map_release(&environments);
    gt_mem_free(all);
    return is_done;
}

bool gt_nsys_rep_sink_join(struct gt_nsys_rep_sink *const *sinks, size_t count, struct gt_nsys_rep_facts *facts) {
    struct gt_nsys_capture *capture = &facts->capture;
    struct gt_nsys_rep_schemas *schemas = &facts->schemas;
    size_t processes = 0;
    for (size_t s = 0; s < count; s++)
        processes += sinks[s]->process_count;
    capture->ranks = gt_arena_array(&capture->arena, processes + schemas->rank_count + 1, sizeof *capture->ranks);
    if (!capture->ranks || !join_processes(sinks, count, processes, capture))
        return false;
    if (schemas->rank_count)
        qsort(schemas->ranks, schemas->rank_count, sizeof *schemas->ranks, by_world_size);
    for (size_t i = 0; i < schemas->rank_count; i++)
        add_rank(capture, schemas->ranks[i]);
    return true;
}
