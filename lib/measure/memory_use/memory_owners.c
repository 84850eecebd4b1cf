/* Sums the blocks that are alive at a moment by the operator or call that allocated them and the range around it. */
#include "measure/memory_use/memory_owners.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/calls.h"
#include "measure/results/grouping.h"

#define BEFORE GT_STR("(before the trace)")

/* Who allocated a block, by the ids of names; the kinds of blocks that nobody did have numbers of their own. */
enum { OF_STRINGS, OF_CALLS, OF_STATIC, OF_BEFORE, OF_UNKNOWN };
struct origin {
    uint64_t kind;
    gt_strid op, range;
};

static gt_strid range_name(const struct gt_view *view, uint32_t row) {
    uint32_t range = view->labels->memory_range[row];
    return range == GT_NO_ROW ? GT_STRID_EMPTY : view->store->ranges.name[range];
}

static struct origin origin_of(const struct gt_view *view, uint32_t row) {
    const struct gt_store *store = view->store;
    uint32_t owner = view->labels->memory_owner[row], call = view->labels->memory_call[row];
    if (store->memory_events.kind[row] == GT_MEMORY_STATIC)
        return (struct origin){.kind = OF_STATIC};
    if (store->memory_events.time_ns[row] == GT_NO_TIME)
        return (struct origin){.kind = OF_BEFORE};
    struct origin origin = {.kind = OF_UNKNOWN, .range = range_name(view, row)};
    if (store->memory_events.source[row] == GT_MEMORY_OF_FRAMEWORK && owner != GT_NO_ROW) {
        origin.kind = OF_STRINGS;
        origin.op = store->cpu_ops.name[owner];
    } else if (call != GT_NO_ROW) {
        origin.kind = OF_CALLS;
        origin.op = store->calls.name[call];
    }
    return origin;
}

static struct gt_memory_owner new_owner(const struct gt_view *view, struct origin origin) {
    const struct gt_store *store = view->store;
    struct gt_str op = gt_store_string(store, origin.op);
    struct gt_str names[] = {
        [OF_STRINGS] = op,    [OF_CALLS] = gt_call_plain_name(op), [OF_STATIC] = GT_STR("(static)"),
        [OF_BEFORE] = BEFORE, [OF_UNKNOWN] = GT_STR("(unknown)"),
    };
    return (struct gt_memory_owner){.op = names[origin.kind], .range = gt_store_string(store, origin.range)};
}

static int by_bytes(const void *a, const void *b) {
    const struct gt_memory_owner *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    int order = gt_str_cmp(x->op, y->op);
    return order ? order : gt_str_cmp(x->range, y->range);
}

/* Adds a block to its owner; false: memory was short. */
static bool add_block(struct gt_grouping *owners, const struct gt_view *view, struct origin origin, int64_t bytes,
                      size_t blocks) {
    bool is_new;
    struct gt_memory_owner *owner =
        gt_grouping_find(owners, origin.kind, (uint64_t)origin.op << 32 | origin.range, &is_new);
    if (!owner)
        return false;
    if (is_new)
        *owner = new_owner(view, origin);
    owner->bytes = gt_ns_add(owner->bytes, bytes);
    owner->blocks += blocks;
    return true;
}

bool gt_memory_owners_find(struct gt_memory_device *device, const struct gt_view *view,
                           const struct gt_memory_event *events, size_t count) {
    const struct gt_memory_events *rows = &view->store->memory_events;
    struct gt_grouping owners = {.elem_bytes = sizeof(struct gt_memory_owner)};
    int64_t known = 0;
    bool is_done = true, has_addresses = false;
    for (size_t i = 0; i < count && is_done; i++) {
        uint32_t row = events[i].row;
        has_addresses |= rows->address[row] != UINT64_MAX;
        if (events[i].freed_by < count)
            continue; /* freed by then, or no allocation */
        known = gt_ns_add(known, rows->bytes[row]);
        is_done = add_block(&owners, view, origin_of(view, row), rows->bytes[row], 1);
    }
    if (is_done && has_addresses && device->peak > known)
        is_done = add_block(&owners, view, (struct origin){.kind = OF_BEFORE}, gt_ns_between(known, device->peak), 0);
    if (is_done && owners.count)
        qsort(owners.list, owners.count, sizeof(struct gt_memory_owner), by_bytes);
    device->owners = is_done ? (void *)owners.list : NULL;
    device->owner_count = is_done ? owners.count : 0;
    if (is_done)
        owners.list = NULL;
    gt_grouping_release(&owners);
    return is_done;
}
