/* Counts steps and ops by what they are of, then puts them next to each other. */
#include "measure/results/path_groups.h"

#include <stdlib.h>
#include <string.h>

/* Numbers 0 .. count - 1 by group, those of group g from first[g] on; GT_NO_ROW: in none. NULL: memory was short. */
static uint32_t *group_numbers(struct gt_arena *arena, const uint32_t *group, size_t count, size_t group_count,
                               size_t *first) {
    uint32_t *grouped = gt_arena_array(arena, count + 1, sizeof *grouped);
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

static int by_pid(const void *a, const void *b) {
    const struct gt_path_process *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Rows of processes are in the order in which the reader met them, which depends on what else it was asked for. */
static struct gt_path_process *order_processes(struct gt_arena *arena, const struct gt_processes *processes) {
    struct gt_path_process *order = gt_arena_array(arena, processes->count + 1, sizeof *order);
    for (size_t p = 0; p < processes->count && order; p++)
        order[p] = (struct gt_path_process){processes->pid[p], p};
    if (order && processes->count)
        qsort(order, processes->count, sizeof *order, by_pid);
    if (order)
        order[processes->count] = (struct gt_path_process){-1, processes->count}; /* ops without a process */
    return order;
}

bool gt_path_groups_init(struct gt_path_groups *groups, struct gt_arena *arena, const struct gt_view *view,
                         const struct gt_dag *dag) {
    const struct gt_labels *labels = view->labels;
    size_t ops = view->store->ops.count, processes = view->store->processes.count;
    uint32_t *op_slot = gt_arena_array(arena, ops + 1, sizeof *op_slot);
    uint32_t *step_slot = gt_arena_array(arena, labels->step_count + 1, sizeof *step_slot);
    groups->step_first = gt_arena_array(arena, labels->step_count + 2, sizeof(size_t));
    groups->process_first = gt_arena_array(arena, processes + 3, sizeof(size_t));
    groups->process_first_step = gt_arena_array(arena, processes + 3, sizeof(size_t));
    if (gt_arena_failed(arena))
        return false;
    for (size_t op = 0; op < ops; op++) {
        uint32_t process = dag->op_process[op];
        op_slot[op] = process == GT_NO_TRACK ? (uint32_t)processes : process;
    }
    for (size_t i = 0; i < labels->step_count; i++)
        step_slot[i] = labels->steps[i].process;
    groups->ops_of_step = group_numbers(arena, labels->op_step, ops, labels->step_count, groups->step_first);
    groups->ops_of_process = group_numbers(arena, op_slot, ops, processes + 1, groups->process_first);
    groups->steps_of_process =
        group_numbers(arena, step_slot, labels->step_count, processes + 1, groups->process_first_step);
    groups->processes = order_processes(arena, &view->store->processes);
    return groups->ops_of_step && groups->ops_of_process && groups->steps_of_process && groups->processes;
}

bool gt_path_groups_has_steps(const struct gt_path_groups *groups, size_t process) {
    for (size_t i = groups->process_first_step[process]; i < groups->process_first_step[process + 1]; i++) {
        uint32_t step = groups->steps_of_process[i];
        if (groups->step_first[step + 1] > groups->step_first[step])
            return true;
    }
    return false;
}
