/* Gathers what ranges launched: in come the ops of a view and their ranges, out go sums by range and by name. Linear
   where ranges nest, but that each op is added to every name around it. Where ranges overlap, each op is added to every
   range that crosses others around it: 20000 ops inside 20000 such ranges take a second or two. */
#include "measure/results/range_set.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/measure.h"

/* ---- names ---- */

/* Programs mostly have one domain: names of the first one that is found have a place of their own, where there are not
   many more strings than ranges, and others are looked up. */
struct naming {
    struct gt_range_set *set;
    size_t capacity;
    gt_strid domain;
    uint32_t *id_of; /* by name of that domain: 1 + its number; NULL: look up */
    struct gt_map ids;
};

static bool add_name(struct naming *naming, gt_strid name, gt_strid domain) {
    struct gt_range_set *set = naming->set;
    const struct gt_store *store = set->view->store;
    struct gt_range_name *grown = gt_mem_room(set->names, set->name_count, &naming->capacity, sizeof *grown);
    if (!grown)
        return false;
    set->names = grown;
    set->names[set->name_count++] = (struct gt_range_name){
        .name = gt_store_string(store, name), .domain = gt_store_string(store, domain), .last_op = GT_NO_ROW};
    return true;
}

/* The number of a name, made where it is new; false: memory was short. */
static bool find_name(struct naming *naming, gt_strid name, gt_strid domain, uint32_t *id) {
    uint32_t next = (uint32_t)naming->set->name_count, *known = NULL;
    if (naming->id_of && domain == naming->domain && name < naming->set->view->store->strings.count) {
        known = &naming->id_of[name];
        *id = *known ? *known - 1 : next;
    } else {
        *id = gt_map_put_if_new(&naming->ids, name, domain, next);
    }
    if (naming->ids.failed || *id != next)
        return !naming->ids.failed;
    if (known)
        *known = next + 1;
    return add_name(naming, name, domain);
}

static bool name_ranges(struct gt_range_set *set) {
    const struct gt_store *store = set->view->store;
    struct naming naming = {.set = set};
    bool ok = true;
    if (store->ranges.count && store->strings.count / 4 < store->ranges.count) {
        naming.domain = store->ranges.domain[0];
        naming.id_of = gt_mem_array(store->strings.count, sizeof *naming.id_of);
        ok = naming.id_of;
    }
    for (size_t range = 0; range < store->ranges.count && ok; range++) {
        uint32_t id = GT_NO_ROW;
        if (store->ranges.kind[range] != GT_RANGE_MARK)
            ok = find_name(&naming, store->ranges.name[range], store->ranges.domain[range], &id);
        set->name_of[range] = id;
    }
    gt_map_release(&naming.ids);
    gt_mem_free(naming.id_of);
    return ok;
}

/* ---- ways through the trees ---- */

/* An op has an innermost range, the ancestors of that and, where ranges overlap, others. Programs that forget to
   close ranges nest them by the thousand, so ancestors are not visited one by one for each op: by name only the
   outermost range counts, and sums by range are passed up the trees once in the end. */
struct gathering {
    struct gt_range_set *set;
    const struct gt_labels *labels;
    uint32_t *head;       /* by range row: the nearest of it and its ancestors that is the outermost of its name */
    uint64_t *seen_calls; /* a bit for each call */

    /* NULL where no range has one next to it. By range row: */
    uint32_t *knee;                   /* the nearest of it and its ancestors that has a range next to it */
    struct gt_range_use *overlapping; /* uses that must not be passed up */
};

static void gathering_release(struct gathering *gathering) {
    gt_mem_free(gathering->head);
    gt_mem_free(gathering->knee);
    gt_mem_free(gathering->overlapping);
    gt_mem_free(gathering->seen_calls);
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
    bool *is_open = gt_mem_array(gathering->set->name_count, sizeof *is_open);
    if (!is_open)
        return false;
    uint32_t before = GT_NO_ROW;
    for (size_t i = 0; i < labels->range_order_count; i++) {
        uint32_t range = labels->range_order[i];
        for (; before != labels->range_parent[range]; before = labels->range_parent[before])
            if (gathering->head[before] == before)
                is_open[name_of[before]] = false;
        bool is_inside = is_open[name_of[range]], is_knee = labels->range_sibling[range] != GT_NO_ROW;
        gathering->head[range] = is_inside ? above(gathering, gathering->head, range) : range;
        if (gathering->knee)
            gathering->knee[range] = is_knee ? range : above(gathering, gathering->knee, range);
        is_open[name_of[range]] = true;
        before = range;
    }
    gt_mem_free(is_open);
    return true;
}

static bool some_overlap(const struct gt_labels *labels, size_t range_count) {
    for (size_t range = 0; range < range_count; range++)
        if (labels->range_sibling[range] != GT_NO_ROW)
            return true;
    return false;
}

static bool gathering_init(struct gathering *gathering, struct gt_range_set *set) {
    const struct gt_store *store = set->view->store;
    *gathering = (struct gathering){.set = set, .labels = set->view->labels};
    gathering->head = gt_mem_array(store->ranges.count, sizeof *gathering->head);
    gathering->seen_calls = gt_mem_array(store->calls.count / 64 + 1, sizeof *gathering->seen_calls);
    bool ok = gathering->head && gathering->seen_calls;
    if (some_overlap(gathering->labels, store->ranges.count)) {
        gathering->knee = gt_mem_array(store->ranges.count, sizeof *gathering->knee);
        gathering->overlapping = gt_mem_array(store->ranges.count, sizeof *gathering->overlapping);
        ok = ok && gathering->knee && gathering->overlapping;
    }
    return ok && find_ways(gathering);
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

static void use_name(struct gathering *gathering, uint32_t range, const struct gt_range_run *run) {
    struct gt_range_name *name = &gathering->set->names[gathering->set->name_of[range]];
    if (name->last_op == run->first)
        return; /* it has another range of this name */
    name->last_op = (uint32_t)run->first;
    name->ops += run->count;
    name->sum_ns = gt_ns_add(name->sum_ns, run->sum_ns);
    gt_range_run_union_add(&name->busy, gathering->set->view, run);
}

/* How many launch calls of the run's ops are new. */
static uint32_t count_launches(struct gathering *gathering, const struct gt_range_run *run) {
    const struct gt_view *view = gathering->set->view;
    uint32_t launches = 0;
    for (size_t i = run->first; i < run->first + run->count; i++) {
        uint32_t call = gathering->labels->op_call[view->row[i]];
        if (call == GT_NO_ROW)
            continue;
        uint64_t *seen = &gathering->seen_calls[call / 64], bit = (uint64_t)1 << call % 64;
        launches += !(*seen & bit);
        *seen |= bit;
    }
    return launches;
}

/* The ranges of an op that are not ancestors of its innermost one. */
static void use_overlapping(struct gathering *gathering, const struct gt_range_run *op,
                            const struct gt_range_use *use) {
    const struct gt_store *store = gathering->set->view->store;
    const struct gt_labels *labels = gathering->labels;
    int64_t reach_ns = gt_labels_op_reach(labels, store, gathering->set->view->row[op->first]);
    for (uint32_t knee = gathering->knee[op->range]; knee != GT_NO_ROW; knee = above(gathering, gathering->knee, knee))
        for (uint32_t range = gt_labels_next_range(labels, store, knee, reach_ns); range != labels->range_parent[knee];
             range = gt_labels_next_range(labels, store, range, reach_ns)) {
            join_use(&gathering->overlapping[range], use);
            use_name(gathering, range, op);
        }
}

static void use_ranges(struct gathering *gathering, const struct gt_range_run *run) {
    struct gt_range_set *set = gathering->set;
    struct gt_range_use use = {run->start_ns, run->end_ns, (uint32_t)run->count, count_launches(gathering, run)};
    struct gt_range_name *innermost = &set->names[set->name_of[run->range]];
    innermost->exclusive_ns = gt_ns_add(innermost->exclusive_ns, run->sum_ns);
    join_use(&set->uses[run->range], &use);
    for (uint32_t head = gathering->head[run->range]; head != GT_NO_ROW; head = above(gathering, gathering->head, head))
        use_name(gathering, head, run);
    if (gathering->overlapping)
        use_overlapping(gathering, run, &use);
}

/* Where threads take turns, ranges of one are far apart in the store: what is asked for ahead is there in time. */
enum { AHEAD = 32 };

static const struct gt_range_use *use_ahead(const struct gt_range_set *set, size_t position) {
    if (position + AHEAD >= set->view->op_count)
        return set->uses;
    uint32_t range = set->view->labels->op_range[set->view->row[position + AHEAD]];
    return range == GT_NO_ROW ? set->uses : &set->uses[range];
}

/* Where ranges overlap, two ops with one innermost range may have different ones next to it. */
static void use_ops(struct gathering *gathering) {
    struct gt_range_set *set = gathering->set;
    struct gt_range_run run = {0};
    while (gt_range_run_next(&run, set->view, gathering->overlapping ? 1 : SIZE_MAX)) {
        set->total_ns = gt_ns_add(set->total_ns, run.sum_ns);
        __builtin_prefetch(use_ahead(set, run.first + run.count));
        if (run.range == GT_NO_ROW)
            continue;
        set->covered_ns = gt_ns_add(set->covered_ns, run.sum_ns);
        use_ranges(gathering, &run);
    }
}

/* From the leaves up. */
static void pass_up(struct gathering *gathering) {
    const struct gt_labels *labels = gathering->labels;
    struct gt_range_use *uses = gathering->set->uses;
    for (size_t i = labels->range_order_count; i-- > 0;) {
        uint32_t range = labels->range_order[i], parent = labels->range_parent[range];
        if (i >= AHEAD)
            __builtin_prefetch(&uses[labels->range_order[i - AHEAD]]);
        if (parent != GT_NO_ROW)
            join_use(&uses[parent], &uses[range]);
        if (gathering->overlapping)
            join_use(&uses[range], &gathering->overlapping[range]);
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
    set->uses = gt_mem_array(range_count, sizeof *set->uses);
    set->name_of = gt_mem_array(range_count, sizeof *set->name_of);
    if (!set->uses || !set->name_of || !name_ranges(set) || !gather(set)) {
        gt_range_set_release(set);
        return gt_fail_memory(err);
    }
    sum_ranges(set);
    return GT_OK;
}

void gt_range_set_release(struct gt_range_set *set) {
    gt_mem_free(set->uses);
    gt_mem_free(set->name_of);
    gt_mem_free(set->names);
}
