/* What ranges launched: in come the ops of a view and their ranges, out go sums by range and by name. */
#include "measure/results/range_set.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/measure.h"
#include "measure/results/range_gather.h"

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
        .name = gt_store_string(store, name), .domain = gt_store_string(store, domain), .sums.last_op = GT_NO_ROW};
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
    set->uses = gt_mem_uninitialised(range_count, sizeof *set->uses);
    set->name_of = gt_mem_array(range_count, sizeof *set->name_of);
    if (set->uses)
        memset(set->uses, 0, range_count * sizeof *set->uses);
    if (!set->uses || !set->name_of || !name_ranges(set) || !gt_range_gather(set)) {
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
