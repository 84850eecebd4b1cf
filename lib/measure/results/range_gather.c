/* Gathers what ranges launched: in come the ops of a view and their ranges, out go sums by range and by name. Linear
   where ranges nest, but that each op is added to every name around it. Where ranges overlap, each op is added to every
   range that crosses others around it: 20000 ops inside 20000 such ranges take a second or two. The devices are dealt
   to threads, and so are the trees of ranges. */
#include "measure/results/range_gather.h"

#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"

/* ---- ways through the trees ---- */

/* An op has an innermost range, the ancestors of that and, where ranges overlap, others. Programs that forget to
   close ranges nest them by the thousand, so ancestors are not visited one by one for each op: by name only the
   outermost range counts, and sums by range are passed up the trees once in the end. */
struct gathering {
    struct gt_range_set *set;
    const struct gt_labels *labels;
    uint32_t *head; /* by range row: the nearest of it and its ancestors that is the outermost of its name */

    /* NULL where no range has one next to it. By range row: */
    uint32_t *knee;                   /* the nearest of it and its ancestors that has a range next to it */
    struct gt_range_use *overlapping; /* uses that must not be passed up */

    struct part *parts;
    size_t part_count;
    atomic_bool has_failed; /* memory was short in a slice of trees */
};

/* The sums of a name that a part has met. */
struct met {
    uint32_t name;
    struct gt_range_sums sums;
};

/* Uses of ranges that a part has met. */
struct met_uses {
    uint32_t *place_of; /* by range row: 1 + where it is among those met; 0: it is not */
    struct gt_range_use *items;
    size_t count, capacity;
};

/* Devices next to each other in the view, for one thread. */
struct part {
    struct gathering *gathering;
    size_t first_device, end_device;
    int64_t total_ns, covered_ns;
    uint64_t *seen_calls; /* a bit for each call */
    /* NULL where there is one part, whose sums and uses are those of the set: */
    uint32_t *place_of; /* by name: 1 + where it is among those met; 0: it is not */
    struct met *met;
    size_t met_count, met_capacity;
    struct met_uses uses, overlapping; /* as in the set and while gathering; the second where there are such ranges */
    bool has_failed;                   /* memory was short */
};

static void parts_release(struct gathering *gathering) {
    for (size_t p = 0; p < gathering->part_count; p++) {
        gt_mem_free(gathering->parts[p].seen_calls);
        gt_mem_free(gathering->parts[p].place_of);
        gt_mem_free(gathering->parts[p].met);
        gt_mem_free(gathering->parts[p].uses.place_of);
        gt_mem_free(gathering->parts[p].uses.items);
        gt_mem_free(gathering->parts[p].overlapping.place_of);
        gt_mem_free(gathering->parts[p].overlapping.items);
    }
    gt_mem_free(gathering->parts);
    gathering->parts = NULL;
    gathering->part_count = 0;
}

static bool parts_init(struct gathering *gathering, size_t count) {
    size_t devices = gathering->set->view->device_count;
    gathering->parts = gt_mem_array(count, sizeof *gathering->parts);
    for (size_t p = 0; p < count && gathering->parts; p++)
        gathering->parts[gathering->part_count++] =
            (struct part){.gathering = gathering,
                          .first_device = gt_threads_slice_begin(devices, count, p),
                          .end_device = gt_threads_slice_begin(devices, count, p + 1)};
    return gathering->parts;
}

/* Zeros that are written at once: pages that are read first have to be made twice. */
static void *new_zeros(size_t count, size_t elem_bytes) {
    void *zeros = gt_mem_uninitialised(count, elem_bytes);
    if (zeros)
        memset(zeros, 0, count * elem_bytes);
    return zeros;
}

/* By the thread that uses it. false: memory was short. */
static bool part_init(struct part *part) {
    const struct gt_range_set *set = part->gathering->set;
    const struct gt_store *store = set->view->store;
    bool is_alone = part->gathering->part_count == 1;
    bool some_overlap = part->gathering->overlapping;
    part->seen_calls = new_zeros(store->calls.count / 64 + 1, sizeof *part->seen_calls);
    if (is_alone)
        return part->seen_calls;
    part->place_of = new_zeros(set->name_count, sizeof *part->place_of);
    part->uses.place_of = new_zeros(store->ranges.count, sizeof *part->uses.place_of);
    part->overlapping.place_of =
        some_overlap ? new_zeros(store->ranges.count, sizeof *part->overlapping.place_of) : NULL;
    return part->seen_calls && part->place_of && part->uses.place_of && (part->overlapping.place_of || !some_overlap);
}

static void gathering_release(struct gathering *gathering) {
    parts_release(gathering);
    gt_mem_free(gathering->head);
    gt_mem_free(gathering->knee);
    gt_mem_free(gathering->overlapping);
}

/* What a column says of the parent. */
static uint32_t above(const struct gathering *gathering, const uint32_t *column, uint32_t range) {
    uint32_t parent = gathering->labels->range_parent[range];
    return parent == GT_NO_ROW ? GT_NO_ROW : column[parent];
}

/* The first root in the order of ranges from a place on, or the end: trees are slices of that order. */
static size_t root_from(const struct gt_labels *labels, size_t place) {
    while (place < labels->range_order_count && labels->range_parent[labels->range_order[place]] != GT_NO_ROW)
        place++;
    return place;
}

/* How many slices of trees, of which each has a part of so many items of its own. */
static size_t choose_tree_slices(const struct gathering *gathering, size_t own_items) {
    const struct gt_view *view = gathering->set->view;
    return gt_threads_slices(gt_threads_count(view->request->threads), view->labels->range_order_count, own_items);
}

/* Goes through trees from the top and keeps the names that are open on the way. */
static void find_ways(const struct gathering *gathering, size_t first, size_t end, bool *is_open) {
    const struct gt_labels *labels = gathering->labels;
    const uint32_t *name_of = gathering->set->name_of;
    uint32_t before = GT_NO_ROW;
    for (size_t i = first; i < end; i++) {
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
}

static void find_ways_of_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct gathering *gathering = context;
    bool *is_open = gt_mem_array(gathering->set->name_count, sizeof *is_open);
    (void)slice;
    if (is_open)
        find_ways(gathering, root_from(gathering->labels, begin), root_from(gathering->labels, end), is_open);
    else
        atomic_store(&gathering->has_failed, true);
    gt_mem_free(is_open);
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
    atomic_init(&gathering->has_failed, false);
    gathering->head = gt_mem_array(store->ranges.count, sizeof *gathering->head);
    bool ok = gathering->head;
    if (some_overlap(gathering->labels, store->ranges.count)) {
        gathering->knee = gt_mem_array(store->ranges.count, sizeof *gathering->knee);
        gathering->overlapping = gt_mem_array(store->ranges.count, sizeof *gathering->overlapping);
        ok = ok && gathering->knee && gathering->overlapping;
    }
    if (ok)
        gt_threads_rows(choose_tree_slices(gathering, set->name_count), gathering->labels->range_order_count,
                        find_ways_of_slice, gathering);
    return ok && !atomic_load(&gathering->has_failed);
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

/* The sums of a name, for this part alone. NULL: memory was short. */
static struct gt_range_sums *sums_of(struct part *part, uint32_t name) {
    if (!part->place_of)
        return &part->gathering->set->names[name].sums;
    uint32_t place = part->place_of[name];
    if (place == 0) {
        struct met *met = gt_mem_room(part->met, part->met_count, &part->met_capacity, sizeof *met);
        part->has_failed |= !met;
        if (!met)
            return NULL;
        part->met = met;
        met[part->met_count++] = (struct met){name, {.last_op = GT_NO_ROW}};
        place = part->place_of[name] = (uint32_t)part->met_count;
    }
    return &part->met[place - 1].sums;
}

static void use_name(struct part *part, uint32_t range, const struct gt_range_run *run) {
    const struct gt_range_set *set = part->gathering->set;
    struct gt_range_sums *sums = sums_of(part, set->name_of[range]);
    if (!sums || sums->last_op == run->first)
        return; /* it has another range of this name */
    sums->last_op = (uint32_t)run->first;
    sums->ops += run->count;
    sums->sum_ns = gt_ns_add(sums->sum_ns, run->sum_ns);
    gt_range_run_union_add(&sums->busy, set->view, run);
}

/* How many launch calls of the run's ops are new. */
static uint32_t count_launches(struct part *part, const struct gt_range_run *run) {
    const struct gt_view *view = part->gathering->set->view;
    uint32_t launches = 0;
    for (size_t i = run->first; i < run->first + run->count; i++) {
        uint32_t call = part->gathering->labels->op_call[view->row[i]];
        if (call == GT_NO_ROW)
            continue;
        uint64_t *seen = &part->seen_calls[call / 64], bit = (uint64_t)1 << call % 64;
        launches += !(*seen & bit);
        *seen |= bit;
    }
    return launches;
}

/* The use of a range, of this part alone where there are several. NULL: memory was short. */
static struct gt_range_use *use_of(struct part *part, struct met_uses *uses, struct gt_range_use *all, uint32_t range) {
    if (!uses->place_of)
        return &all[range];
    if (uses->place_of[range] == 0) {
        struct gt_range_use *items = gt_mem_room(uses->items, uses->count, &uses->capacity, sizeof *items);
        part->has_failed |= !items;
        if (!items)
            return NULL;
        uses->items = items;
        items[uses->count++] = (struct gt_range_use){0};
        uses->place_of[range] = (uint32_t)uses->count;
    }
    return &uses->items[uses->place_of[range] - 1];
}

/* The ranges of an op that are not ancestors of its innermost one. */
static void use_overlapping(struct part *part, const struct gt_range_run *op, const struct gt_range_use *use) {
    struct gathering *gathering = part->gathering;
    const struct gt_store *store = gathering->set->view->store;
    const struct gt_labels *labels = gathering->labels;
    int64_t reach_ns = gt_labels_op_reach(labels, store, gathering->set->view->row[op->first]);
    for (uint32_t knee = gathering->knee[op->range]; knee != GT_NO_ROW; knee = above(gathering, gathering->knee, knee))
        for (uint32_t range = gt_labels_next_range(labels, store, knee, reach_ns); range != labels->range_parent[knee];
             range = gt_labels_next_range(labels, store, range, reach_ns)) {
            struct gt_range_use *overlapping = use_of(part, &part->overlapping, gathering->overlapping, range);
            if (!overlapping)
                return;
            join_use(overlapping, use);
            use_name(part, range, op);
        }
}

static void use_ranges(struct part *part, const struct gt_range_run *run) {
    struct gathering *gathering = part->gathering;
    struct gt_range_use use = {run->start_ns, run->end_ns, (uint32_t)run->count, count_launches(part, run)};
    struct gt_range_sums *innermost = sums_of(part, gathering->set->name_of[run->range]);
    struct gt_range_use *own = use_of(part, &part->uses, gathering->set->uses, run->range);
    if (!innermost || !own)
        return;
    innermost->exclusive_ns = gt_ns_add(innermost->exclusive_ns, run->sum_ns);
    join_use(own, &use);
    for (uint32_t head = gathering->head[run->range]; head != GT_NO_ROW; head = above(gathering, gathering->head, head))
        use_name(part, head, run);
    if (gathering->overlapping)
        use_overlapping(part, run, &use);
}

/* Where threads take turns, ranges of one are far apart in the store: what is asked for ahead is there in time. */
enum { AHEAD = 32 };

static const void *use_ahead(const struct part *part, size_t position) {
    const struct gt_range_set *set = part->gathering->set;
    if (position + AHEAD >= set->view->op_count)
        return set->uses;
    uint32_t range = set->view->labels->op_range[set->view->row[position + AHEAD]];
    if (range == GT_NO_ROW)
        return set->uses;
    return part->uses.place_of ? (const void *)&part->uses.place_of[range] : &set->uses[range];
}

/* Where ranges overlap, two ops with one innermost range may have different ones next to it. */
static void use_part(void *context, size_t index) {
    struct part *part = &((struct gathering *)context)->parts[index];
    struct gathering *gathering = part->gathering;
    const struct gt_view *view = gathering->set->view;
    const struct gt_view_device *devices = view->devices;
    part->has_failed = !part_init(part);
    if (part->has_failed || part->first_device == part->end_device)
        return;
    size_t end = devices[part->end_device - 1].first + devices[part->end_device - 1].count;
    struct gt_range_run run = {.device = (uint32_t)part->first_device, .first = devices[part->first_device].first};
    while (run.first + run.count < end && gt_range_run_next(&run, view, gathering->overlapping ? 1 : SIZE_MAX)) {
        part->total_ns = gt_ns_add(part->total_ns, run.sum_ns);
        __builtin_prefetch(use_ahead(part, run.first + run.count));
        if (run.range == GT_NO_ROW)
            continue;
        part->covered_ns = gt_ns_add(part->covered_ns, run.sum_ns);
        use_ranges(part, &run);
    }
}

/* Each part has a few bytes for every range and name. */
static size_t choose_parts(const struct gathering *gathering) {
    const struct gt_view *view = gathering->set->view;
    size_t places = view->store->ranges.count * (gathering->overlapping ? 2 : 1) + gathering->set->name_count;
    size_t threads = gt_threads_slices(gt_threads_count(view->request->threads), view->op_count, places / 16);
    if (view->device_count == 0)
        return 1;
    return threads < view->device_count ? threads : view->device_count;
}

/* Whether a call launched ops of several parts: each has counted it. */
static bool share_calls(const struct gathering *gathering) {
    size_t words = gathering->part_count > 1 ? gathering->set->view->store->calls.count / 64 + 1 : 0;
    for (size_t p = 0; p < gathering->part_count; p++)
        words = gathering->parts[p].has_failed ? 0 : words;
    for (size_t w = 0; w < words; w++) {
        uint64_t seen = 0;
        for (size_t p = 0; p < gathering->part_count; p++) {
            uint64_t seen_here = gathering->parts[p].seen_calls[w];
            if (seen & seen_here)
                return true;
            seen |= seen_here;
        }
    }
    return false;
}

static void join_sums(struct gt_range_sums *sums, const struct gt_range_sums *more) {
    sums->ops += more->ops;
    sums->sum_ns = gt_ns_add(sums->sum_ns, more->sum_ns);
    sums->exclusive_ns = gt_ns_add(sums->exclusive_ns, more->exclusive_ns);
    sums->busy.busy_ns = gt_ns_add(sums->busy.busy_ns, more->busy.busy_ns); /* of other devices */
}

static void join_met(struct gt_range_use *all, const struct met_uses *met, size_t begin, size_t end) {
    for (size_t range = begin; range < end && met->place_of; range++)
        if (met->place_of[range])
            join_use(&all[range], &met->items[met->place_of[range] - 1]);
}

/* Of the ranges of a slice, what all parts have of them. */
static void join_uses(void *context, size_t slice, size_t begin, size_t end) {
    const struct gathering *gathering = context;
    (void)slice;
    for (size_t p = 0; p < gathering->part_count; p++) {
        join_met(gathering->set->uses, &gathering->parts[p].uses, begin, end);
        join_met(gathering->overlapping, &gathering->parts[p].overlapping, begin, end);
    }
}

/* false: memory was short. */
static bool join_parts(struct gathering *gathering) {
    struct gt_range_set *set = gathering->set;
    for (size_t p = 0; p < gathering->part_count; p++) {
        const struct part *part = &gathering->parts[p];
        if (part->has_failed)
            return false;
        set->total_ns = gt_ns_add(set->total_ns, part->total_ns);
        set->covered_ns = gt_ns_add(set->covered_ns, part->covered_ns);
        for (size_t i = 0; i < part->met_count; i++)
            join_sums(&set->names[part->met[i].name].sums, &part->met[i].sums);
    }
    size_t ranges = set->view->store->ranges.count;
    if (gathering->part_count > 1)
        gt_threads_rows(gt_threads_slices(gt_threads_count(set->view->request->threads), ranges, 0), ranges, join_uses,
                        gathering);
    return true;
}

static bool use_ops(struct gathering *gathering) {
    size_t count = choose_parts(gathering);
    if (!parts_init(gathering, count))
        return false;
    gt_threads_parts(count, count, use_part, gathering);
    if (share_calls(gathering)) {
        parts_release(gathering);
        if (!parts_init(gathering, 1))
            return false;
        use_part(gathering, 0);
    }
    return join_parts(gathering);
}

/* Trees from the leaves up. */
static void pass_up(void *context, size_t slice, size_t begin, size_t end) {
    const struct gathering *gathering = context;
    const struct gt_labels *labels = gathering->labels;
    struct gt_range_use *uses = gathering->set->uses;
    (void)slice;
    size_t first = root_from(labels, begin);
    for (size_t i = root_from(labels, end); i-- > first;) {
        uint32_t range = labels->range_order[i], parent = labels->range_parent[range];
        if (i >= AHEAD)
            __builtin_prefetch(&uses[labels->range_order[i - AHEAD]]);
        if (parent != GT_NO_ROW)
            join_use(&uses[parent], &uses[range]);
        if (gathering->overlapping)
            join_use(&uses[range], &gathering->overlapping[range]);
    }
}

bool gt_range_gather(struct gt_range_set *set) {
    struct gathering gathering;
    bool ok = gathering_init(&gathering, set) && use_ops(&gathering);
    if (ok)
        gt_threads_rows(choose_tree_slices(&gathering, 0), gathering.labels->range_order_count, pass_up, &gathering);
    gathering_release(&gathering);
    return ok;
}
