/* Looks up the groups of communication ops. */
#include "measure/results/group_of_op.h"

#include <inttypes.h>

#include "events/comms.h"

uint32_t gt_group_of_op(const struct gt_view *view, size_t position) {
    const struct gt_comm_launch *launch = gt_comms_of_op(view->labels, view->row[position]);
    if (!launch || launch->count == 0)
        return GT_NO_ROW;
    const struct gt_collective *collectives = &view->labels->comms.collectives[launch->first];
    for (uint32_t i = 1; i < launch->count; i++)
        if (collectives[i].group != collectives[0].group)
            return GT_NO_ROW;
    return collectives[0].group;
}

struct gt_str gt_group_of_op_words(const struct gt_view *view, uint32_t index, struct gt_arena *arena) {
    const struct gt_comm_group *group = &view->labels->comms.groups[index];
    struct gt_str name = gt_store_string(view->store, group->name);
    struct gt_str about = gt_store_string(view->store, group->description);
    if (group->communicator != UINT64_MAX)
        return gt_arena_printf(arena, "communicator 0x%016" PRIx64, group->communicator);
    if (!about.len)
        return gt_arena_printf(arena, "group %.*s", (int)name.len, name.ptr);
    return gt_arena_printf(arena, "%.*s (group %.*s)", (int)about.len, about.ptr, (int)name.len, name.ptr);
}
