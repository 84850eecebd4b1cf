/* Calls of NCCL: in come ranges and records on them, out goes what is launched together. Between ncclGroupStart and the
   end of the group nothing is launched: the last ncclGroupEnd launches all of it. */
#include "label/nccl_calls.h"

#include <stdlib.h>

#include "base/mem.h"

bool gt_nccl_calls_is_on_thread(const struct gt_store *store, uint32_t range) {
    enum gt_range_kind kind = (enum gt_range_kind)store->ranges.kind[range];
    return (kind == GT_RANGE_NESTED || kind == GT_RANGE_START_END) && store->ranges.thread[range] != GT_NO_TRACK &&
           store->ranges.end_thread[range] == GT_NO_TRACK;
}

static int by_thread_and_start(const void *a, const void *b, void *context) {
    const struct gt_nccl_call *x = a, *y = b;
    const struct gt_ranges *ranges = context;
    if (ranges->thread[x->range] != ranges->thread[y->range])
        return ranges->thread[x->range] < ranges->thread[y->range] ? -1 : 1;
    if (ranges->start_ns[x->range] != ranges->start_ns[y->range])
        return ranges->start_ns[x->range] < ranges->start_ns[y->range] ? -1 : 1;
    if (x->range != y->range)
        return x->range < y->range ? -1 : 1;
    return (x->record > y->record) - (x->record < y->record);
}

/* Lists them where there is a list to fill, and counts them. Most traces do not even have the names. */
static size_t list_group_calls(const struct gt_store *store, struct gt_nccl_call *calls) {
    gt_strid start = gt_strtab_find(&store->strings, GT_STR("ncclGroupStart"));
    gt_strid end = gt_strtab_find(&store->strings, GT_STR("ncclGroupEnd"));
    size_t count = 0;
    if (start == UINT32_MAX || end == UINT32_MAX)
        return 0;
    for (uint32_t range = 0; range < store->ranges.count; range++) {
        gt_strid name = store->ranges.name[range];
        if ((name != start && name != end) || !gt_nccl_calls_is_on_thread(store, range))
            continue;
        if (calls)
            calls[count] = (struct gt_nccl_call){
                .range = range, .record = GT_NO_ROW, .kind = name == start ? GT_NCCL_STARTS_GROUP : GT_NCCL_ENDS_GROUP};
        count++;
    }
    return count;
}

struct gt_nccl_call *gt_nccl_calls_new(const struct gt_store *store, size_t *count) {
    const struct gt_comms *comms = &store->comms;
    size_t room = list_group_calls(store, NULL);
    for (size_t record = 0; record < comms->count; record++)
        room += comms->range[record] != GT_NO_ROW;
    struct gt_nccl_call *calls = gt_mem_array(room, sizeof *calls);
    if (!calls)
        return NULL;
    *count = list_group_calls(store, calls);
    for (uint32_t record = 0; record < comms->count; record++) {
        const struct gt_collective alone = {.record = record, .more = GT_NO_ROW};
        uint32_t range = comms->range[record];
        enum gt_comm_op op;
        if (range != GT_NO_ROW && gt_nccl_calls_is_on_thread(store, range) &&
            gt_comms_is_collective(store, &alone, &op))
            calls[(*count)++] = (struct gt_nccl_call){.range = range, .record = record, .kind = GT_NCCL_COMMUNICATES};
    }
    if (*count)
        qsort_r(calls, *count, sizeof *calls, by_thread_and_start, (void *)(uintptr_t)&store->ranges);
    return calls;
}

/* ---- groups ---- */

/* A group that is being made, over the calls of a thread. */
struct group_call {
    size_t depth;    /* of groups in groups */
    uint32_t launch; /* of its collectives; GT_NO_ROW: it has none yet */
};
static const struct group_call closed = {.depth = 0, .launch = GT_NO_ROW};

/* Calls may be missing from the trace, so that starts and ends do not match: where kernels are launched, no group is
   open any more. */
static void follow_call(struct group_call *group, struct gt_nccl_call *call, uint32_t *launch_count) {
    bool launches = call->has_kernel;
    switch ((enum gt_nccl_call_kind)call->kind) {
    case GT_NCCL_STARTS_GROUP:
        call->launch = GT_NO_ROW;
        group->depth++;
        break;
    case GT_NCCL_ENDS_GROUP:
        call->launch = group->launch;
        group->depth -= group->depth > 0;
        if (group->depth == 0 || launches)
            *group = closed;
        break;
    case GT_NCCL_COMMUNICATES:
        if (launches)
            *group = closed;
        if (group->launch == GT_NO_ROW)
            group->launch = (*launch_count)++;
        call->launch = group->launch;
        if (group->depth == 0)
            *group = closed;
        break;
    }
}

void gt_nccl_calls_number(const struct gt_store *store, struct gt_nccl_call *calls, size_t count,
                          uint32_t *launch_count) {
    const uint32_t *thread_of = store->ranges.thread;
    struct group_call group = closed;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && thread_of[calls[i].range] != thread_of[calls[i - 1].range])
            group = closed;
        follow_call(&group, &calls[i], launch_count);
    }
}
