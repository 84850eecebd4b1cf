/* Gathers what ranges launched: in come the ops of a view and their ranges, out go sums by range and by name. One pass
   over the pairs of op and range. */
#include "measure/range_set.h"

#include "base/map.h"
#include "base/mem.h"
#include "measure/measure.h"

/* ---- names ---- */

struct naming {
    struct gt_map ids;
    size_t capacity;
};

static bool add_name(struct gt_range_set *set, struct naming *naming, struct gt_str name, struct gt_str domain) {
    if (set->name_count == naming->capacity) {
        size_t capacity = naming->capacity ? naming->capacity * 2 : 64;
        struct gt_range_name *grown = gt_realloc(set->names, capacity * sizeof *grown);
        if (!grown)
            return false;
        set->names = grown;
        naming->capacity = capacity;
    }
    set->names[set->name_count++] = (struct gt_range_name){.name = name, .domain = domain, .last_op = GT_NO_ROW};
    return true;
}

static bool name_ranges(struct gt_range_set *set) {
    const struct gt_store *store = set->view->store;
    struct naming naming = {0};
    bool ok = true;
    for (size_t range = 0; range < store->ranges.count && ok; range++) {
        set->name_of[range] = GT_NO_ROW;
        if (store->ranges.kind[range] == GT_RANGE_MARK)
            continue;
        gt_strid name = store->ranges.name[range], domain = store->ranges.domain[range];
        uint32_t next = (uint32_t)set->name_count;
        set->name_of[range] = gt_map_put_if_new(&naming.ids, name, domain, next);
        if (set->name_of[range] == next)
            ok = add_name(set, &naming, gt_store_string(store, name), gt_store_string(store, domain));
        ok = ok && !naming.ids.failed;
    }
    gt_map_release(&naming.ids);
    return ok;
}

/* ---- ops ---- */

static void use_range(struct gt_range_use *use, int64_t start_ns, int64_t end_ns, bool is_launch) {
    if (use->ops == 0 || start_ns < use->start_ns)
        use->start_ns = start_ns;
    if (use->ops == 0 || end_ns > use->end_ns)
        use->end_ns = end_ns;
    use->ops++;
    use->launches += is_launch;
}

/* Ops of a device come in order of start, so the busy time is what each adds behind the latest end of its name. */
static void use_name(struct gt_range_name *name, const struct gt_view *view, uint32_t position, uint32_t device) {
    int64_t start_ns = view->start_ns[position], end_ns = view->end_ns[position];
    if (name->last_op == position)
        return; /* a range inside another one of its name */
    if (name->ops++ == 0 || name->device != device)
        name->reached_ns = INT64_MIN;
    name->last_op = position;
    name->device = device;
    name->sum_ns = gt_ns_add(name->sum_ns, gt_ns_between(start_ns, end_ns));
    int64_t from_ns = start_ns > name->reached_ns ? start_ns : name->reached_ns;
    if (end_ns > from_ns) {
        name->busy_ns = gt_ns_add(name->busy_ns, gt_ns_between(from_ns, end_ns));
        name->reached_ns = end_ns;
    }
}

static void use_op(struct gt_range_set *set, uint8_t *seen_calls, uint32_t position, uint32_t device) {
    const struct gt_view *view = set->view;
    const struct gt_labels *labels = view->labels;
    uint32_t op = view->row[position], call = labels->op_call[op], range = labels->op_range[op];
    set->total_ns = gt_ns_add(set->total_ns, gt_op_ns(view, position));
    if (range == GT_NO_ROW)
        return;
    set->covered_ns = gt_ns_add(set->covered_ns, gt_op_ns(view, position));
    struct gt_range_name *innermost = &set->names[set->name_of[range]];
    innermost->exclusive_ns = gt_ns_add(innermost->exclusive_ns, gt_op_ns(view, position));

    bool is_launch = call != GT_NO_ROW && !seen_calls[call];
    if (is_launch)
        seen_calls[call] = 1;
    int64_t reach_ns = gt_labels_op_reach(labels, view->store, op);
    for (; range != GT_NO_ROW; range = gt_labels_next_range(labels, view->store, range, reach_ns)) {
        use_range(&set->uses[range], view->start_ns[position], view->end_ns[position], is_launch);
        use_name(&set->names[set->name_of[range]], view, position, device);
    }
}

static bool use_ops(struct gt_range_set *set) {
    const struct gt_view *view = set->view;
    uint8_t *seen_calls = gt_alloc_array(view->store->calls.count, sizeof *seen_calls);
    if (!seen_calls)
        return false;
    for (uint32_t d = 0; d < view->device_count; d++) {
        const struct gt_view_device *device = &view->devices[d];
        for (size_t i = device->first; i < device->first + device->count; i++)
            use_op(set, seen_calls, (uint32_t)i, d);
    }
    gt_free(seen_calls);
    return true;
}

/* ---- ranges ---- */

static void sum_ranges(struct gt_range_set *set) {
    const struct gt_ranges *ranges = &set->view->store->ranges;
    for (size_t range = 0; range < ranges->count; range++) {
        if (!gt_range_set_lists(set, range))
            continue;
        const struct gt_range_use *use = &set->uses[range];
        struct gt_range_name *name = &set->names[set->name_of[range]];
        name->instances++;
        name->range_ns = gt_ns_add(name->range_ns, gt_ns_between(ranges->start_ns[range], ranges->end_ns[range]));
        if (use->ops == 0)
            continue;
        name->used++;
        name->launches += use->launches;
        name->projected_ns = gt_ns_add(name->projected_ns, gt_ns_between(use->start_ns, use->end_ns));
        name->levels += set->view->labels->range_level[range];
    }
}

enum gt_status gt_range_set_init(struct gt_range_set *set, const struct gt_view *view, struct gt_error *err) {
    size_t range_count = view->store->ranges.count;
    *set = (struct gt_range_set){.view = view};
    set->uses = gt_alloc_array(range_count, sizeof *set->uses);
    set->name_of = gt_alloc_array(range_count, sizeof *set->name_of);
    if (!set->uses || !set->name_of || !name_ranges(set) || !use_ops(set)) {
        gt_range_set_release(set);
        return gt_fail_memory(err);
    }
    sum_ranges(set);
    return GT_OK;
}

void gt_range_set_release(struct gt_range_set *set) {
    gt_free(set->uses);
    gt_free(set->name_of);
    gt_free(set->names);
}
