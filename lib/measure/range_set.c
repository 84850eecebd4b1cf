/* Gathers what ranges launched: in come the ops of a view and their ranges, out go sums by range and by name. Linear
   where ranges nest, but that each op is added to every name around it. Where ranges overlap, each op is added to every
   range that crosses others around it: 20000 ops inside 20000 such ranges take a second or two. */
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

/* ---- ways through the trees ---- */

/* An op has an innermost range, the ancestors of that and, where ranges overlap, others aside. Programs that forget to
   close ranges nest them by the thousand, so ancestors are not visited one by one for each op: by name only the
   outermost range counts, and sums by range are passed up the trees once in the end. */
struct gathering {
    struct gt_range_set *set;
    const struct gt_labels *labels;
    uint32_t *head; /* by range row: the nearest of it and its ancestors that is the outermost of its name */
    uint32_t *knee; /* by range row: the nearest of it and its ancestors that has a range beside it */
    struct gt_range_use *asides; /* by range row: what must not be passed up; NULL where no range has one beside it */
    uint8_t *seen_calls;
};

static void gathering_release(struct gathering *gathering) {
    gt_free(gathering->head);
    gt_free(gathering->knee);
    gt_free(gathering->asides);
    gt_free(gathering->seen_calls);
}

/* What a column says of the parent. */
static uint32_t above(const struct gathering *gathering, const uint32_t *column, uint32_t range) {
    uint32_t parent = gathering->labels->range_parent[range];
    return parent == GT_NO_ROW ? GT_NO_ROW : column[parent];
}

/* Goes through the trees from the top and keeps the names that are open on the way. */
static bool find_ways(struct gathering *gathering) {
    const struct gt_labels *labels = gathering->labels;
    const uint32_t *name_of = gathering->set->name_of;
    size_t range_count = gathering->set->view->store->ranges.count;
    bool has_knee = false;
    bool *is_open = gt_alloc_array(gathering->set->name_count, sizeof *is_open);
    if (!is_open)
        return false;
    uint32_t before = GT_NO_ROW;
    for (size_t i = 0; i < labels->range_order_count; i++) {
        uint32_t range = labels->range_order[i];
        for (; before != labels->range_parent[range]; before = labels->range_parent[before])
            if (gathering->head[before] == before)
                is_open[name_of[before]] = false;
        bool is_inside = is_open[name_of[range]], is_knee = labels->range_beside[range] != GT_NO_ROW;
        gathering->head[range] = is_inside ? above(gathering, gathering->head, range) : range;
        gathering->knee[range] = is_knee ? range : above(gathering, gathering->knee, range);
        is_open[name_of[range]] = true;
        has_knee |= is_knee;
        before = range;
    }
    gt_free(is_open);
    if (has_knee)
        gathering->asides = gt_alloc_array(range_count, sizeof *gathering->asides);
    return !has_knee || gathering->asides;
}

static bool gathering_init(struct gathering *gathering, struct gt_range_set *set) {
    const struct gt_store *store = set->view->store;
    *gathering = (struct gathering){.set = set, .labels = set->view->labels};
    gathering->head = gt_alloc_array(store->ranges.count, sizeof *gathering->head);
    gathering->knee = gt_alloc_array(store->ranges.count, sizeof *gathering->knee);
    gathering->seen_calls = gt_alloc_array(store->calls.count, sizeof *gathering->seen_calls);
    return gathering->head && gathering->knee && gathering->seen_calls && find_ways(gathering);
}

/* ---- ops ---- */

static void join_use(struct gt_range_use *use, const struct gt_range_use *more) {
    if (more->ops == 0)
        return;
    if (use->ops == 0 || more->start_ns < use->start_ns)
        use->start_ns = more->start_ns;
    if (use->ops == 0 || more->end_ns > use->end_ns)
        use->end_ns = more->end_ns;
    use->ops += more->ops;
    use->launches += more->launches;
}

/* Ops of a device come in order of start, so the busy time is what each adds behind the latest end of its name. */
static void use_name(struct gathering *gathering, uint32_t range, uint32_t position, uint32_t device) {
    const struct gt_view *view = gathering->set->view;
    struct gt_range_name *name = &gathering->set->names[gathering->set->name_of[range]];
    int64_t start_ns = view->start_ns[position], end_ns = view->end_ns[position];
    if (name->last_op == position)
        return; /* it has another range of this name */
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

static void use_ranges(struct gathering *gathering, uint32_t position, uint32_t device) {
    const struct gt_view *view = gathering->set->view;
    const struct gt_labels *labels = gathering->labels;
    uint32_t op = view->row[position], call = labels->op_call[op], innermost = labels->op_range[op];
    int64_t reach_ns = gt_labels_op_reach(labels, view->store, op);
    struct gt_range_use use = {view->start_ns[position], view->end_ns[position], 1, 0};
    if (call != GT_NO_ROW && !gathering->seen_calls[call])
        use.launches = gathering->seen_calls[call] = 1;

    join_use(&gathering->set->uses[innermost], &use);
    for (uint32_t head = gathering->head[innermost]; head != GT_NO_ROW; head = above(gathering, gathering->head, head))
        use_name(gathering, head, position, device);
    if (!gathering->asides)
        return;
    for (uint32_t knee = gathering->knee[innermost]; knee != GT_NO_ROW; knee = above(gathering, gathering->knee, knee))
        for (uint32_t range = gt_labels_next_range(labels, view->store, knee, reach_ns);
             range != labels->range_parent[knee]; range = gt_labels_next_range(labels, view->store, range, reach_ns)) {
            join_use(&gathering->asides[range], &use);
            use_name(gathering, range, position, device);
        }
}

static void use_ops(struct gathering *gathering) {
    struct gt_range_set *set = gathering->set;
    const struct gt_view *view = set->view;
    for (uint32_t d = 0; d < view->device_count; d++) {
        const struct gt_view_device *device = &view->devices[d];
        for (size_t i = device->first; i < device->first + device->count; i++) {
            uint32_t innermost = view->labels->op_range[view->row[i]];
            int64_t op_ns = gt_op_ns(view, i);
            set->total_ns = gt_ns_add(set->total_ns, op_ns);
            if (innermost == GT_NO_ROW)
                continue;
            struct gt_range_name *name = &set->names[set->name_of[innermost]];
            set->covered_ns = gt_ns_add(set->covered_ns, op_ns);
            name->exclusive_ns = gt_ns_add(name->exclusive_ns, op_ns);
            use_ranges(gathering, (uint32_t)i, d);
        }
    }
}

/* From the leaves up. */
static void pass_up(struct gathering *gathering) {
    const struct gt_labels *labels = gathering->labels;
    struct gt_range_use *uses = gathering->set->uses;
    for (size_t i = labels->range_order_count; i-- > 0;) {
        uint32_t range = labels->range_order[i], parent = labels->range_parent[range];
        if (parent != GT_NO_ROW)
            join_use(&uses[parent], &uses[range]);
        if (gathering->asides)
            join_use(&uses[range], &gathering->asides[range]);
    }
}

static bool gather(struct gt_range_set *set) {
    struct gathering gathering;
    bool ok = gathering_init(&gathering, set);
    if (ok) {
        use_ops(&gathering);
        pass_up(&gathering);
    }
    gathering_release(&gathering);
    return ok;
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
    for (size_t i = 0; i < set->view->labels->step_count; i++) {
        uint32_t range = set->view->labels->steps[i].range;
        if (range < ranges->count && set->name_of[range] != GT_NO_ROW)
            set->names[set->name_of[range]].is_step = true;
    }
}

enum gt_status gt_range_set_init(struct gt_range_set *set, const struct gt_view *view, struct gt_error *err) {
    size_t range_count = view->store->ranges.count;
    *set = (struct gt_range_set){.view = view};
    set->uses = gt_alloc_array(range_count, sizeof *set->uses);
    set->name_of = gt_alloc_array(range_count, sizeof *set->name_of);
    if (!set->uses || !set->name_of || !name_ranges(set) || !gather(set)) {
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
