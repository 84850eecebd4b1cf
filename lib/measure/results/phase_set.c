/* Sums of phases: in come the ops of a view and their innermost ranges, out go times by phase. Linear, but that each
   name of a range is held against the patterns of the map once. */
#include "measure/results/phase_set.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/measure.h"

/* While phases are summed: what is known of every range. */
struct sorting {
    const struct gt_view *view;
    struct gt_phase_set *set;
    uint32_t *phase_of;  /* by range row: index into set->phases; the last one is for unmapped ranges */
    int64_t *inside_ns;  /* by range row: how much of it lies in ranges inside it */
    int64_t *reached_ns; /* by level: latest end of the ranges of that level that the open one above has */
    uint8_t *has_ops;    /* by range row */
};

static bool sorting_init(struct sorting *sorting, const struct gt_view *view, struct gt_phase_set *set) {
    size_t count = view->store->ranges.count;
    *sorting = (struct sorting){.view = view, .set = set};
    sorting->phase_of = gt_mem_array(count, sizeof *sorting->phase_of);
    sorting->inside_ns = gt_mem_array(count, sizeof *sorting->inside_ns);
    sorting->reached_ns = gt_mem_array(count + 1, sizeof *sorting->reached_ns);
    sorting->has_ops = gt_mem_array(count, 1);
    return sorting->phase_of && sorting->inside_ns && sorting->reached_ns && sorting->has_ops;
}

static void sorting_release(struct sorting *sorting) {
    gt_mem_free(sorting->phase_of);
    gt_mem_free(sorting->inside_ns);
    gt_mem_free(sorting->reached_ns);
    gt_mem_free(sorting->has_ops);
}

/* A map says what each name is. Where names are guessed, ranges with other names belong to the range around them:
   layers of a model are part of its forward pass. */
bool gt_phase_set_of_ranges(const struct gt_phase_map *map, const struct gt_store *store,
                            const struct gt_labels *labels, uint32_t *phase_of) {
    uint32_t unmapped = (uint32_t)map->phase_count;
    uint32_t *phase_of_name = gt_mem_array(store->strings.count, sizeof *phase_of_name); /* + 1; 0: not asked */
    for (size_t i = 0; i < store->ranges.count && phase_of_name; i++) {
        gt_strid name = store->ranges.name[i];
        if (store->ranges.kind[i] != GT_RANGE_MARK && !phase_of_name[name]) {
            uint32_t phase = gt_phase_map_find(map, gt_store_string(store, name));
            phase_of_name[name] = (phase == GT_NO_PHASE ? unmapped : phase) + 1;
        }
        phase_of[i] = phase_of_name[name] ? phase_of_name[name] - 1 : unmapped;
    }
    for (size_t i = 0; i < labels->range_order_count && map->is_guessed && phase_of_name; i++) {
        uint32_t range = labels->range_order[i], parent = labels->range_parent[range];
        if (phase_of[range] == unmapped && parent != GT_NO_ROW)
            phase_of[range] = phase_of[parent];
    }
    gt_mem_free(phase_of_name);
    return phase_of_name != NULL;
}

static void take_ops(struct sorting *sorting) {
    struct gt_range_run run = {0};
    while (gt_range_run_next(&run, sorting->view, SIZE_MAX)) {
        if (run.range == GT_NO_ROW)
            continue;
        struct gt_phase *phase = &sorting->set->phases[sorting->phase_of[run.range]];
        phase->ops += run.count;
        phase->exclusive_ns = gt_ns_add(phase->exclusive_ns, run.sum_ns);
        gt_range_run_union_add(&phase->busy, sorting->view, &run);
        sorting->has_ops[run.range] = 1;
    }
}

/* Children come in order of start after their parent, so each adds to it what it has after the latest end before. */
static void measure_insides(struct sorting *sorting) {
    const struct gt_ranges *ranges = &sorting->view->store->ranges;
    const struct gt_labels *labels = sorting->view->labels;
    for (size_t i = 0; i < labels->range_order_count; i++) {
        uint32_t range = labels->range_order[i], parent = labels->range_parent[range];
        int64_t *reached_ns = &sorting->reached_ns[labels->range_level[range]], end_ns = ranges->end_ns[range];
        int64_t from_ns = ranges->start_ns[range] > *reached_ns ? ranges->start_ns[range] : *reached_ns;
        if (parent != GT_NO_ROW && end_ns > from_ns) {
            sorting->inside_ns[parent] = gt_ns_add(sorting->inside_ns[parent], gt_ns_between(from_ns, end_ns));
            *reached_ns = end_ns;
        }
        reached_ns[1] = INT64_MIN; /* of its own children */
    }
}

static void count_ranges(struct sorting *sorting) {
    const struct gt_ranges *ranges = &sorting->view->store->ranges;
    for (size_t i = 0; i < ranges->count; i++) {
        bool is_on_thread = ranges->kind[i] == GT_RANGE_NESTED || ranges->kind[i] == GT_RANGE_START_END;
        if (!sorting->has_ops[i] && !(sorting->view->is_whole && is_on_thread))
            continue;
        struct gt_phase *phase = &sorting->set->phases[sorting->phase_of[i]];
        phase->instances++;
        if (is_on_thread)
            phase->cpu_ns =
                gt_ns_add(phase->cpu_ns,
                          gt_ns_between(sorting->inside_ns[i], gt_ns_between(ranges->start_ns[i], ranges->end_ns[i])));
    }
}

static int by_time(const void *a, const void *b) {
    const struct gt_phase *x = a, *y = b;
    if (x->exclusive_ns != y->exclusive_ns)
        return x->exclusive_ns < y->exclusive_ns ? 1 : -1;
    return gt_str_cmp(x->name, y->name);
}

/* Drops phases without a range and sums the rest. */
static void finish(struct gt_phase_set *set) {
    qsort(set->phases, set->map.phase_count, sizeof *set->phases, by_time);
    for (size_t i = 0; i < set->map.phase_count + 1; i++) {
        if (set->phases[i].instances == 0)
            continue;
        set->phases[set->count] = set->phases[i];
        set->covered_ns = gt_ns_add(set->covered_ns, set->phases[set->count].exclusive_ns);
        set->cpu_ns = gt_ns_add(set->cpu_ns, set->phases[set->count].cpu_ns);
        set->count++;
        set->mapped_count += i < set->map.phase_count;
    }
}

enum gt_status gt_phase_set_init(struct gt_phase_set *set, const struct gt_view *view, struct gt_error *err) {
    struct sorting sorting = {0};
    *set = (struct gt_phase_set){0};
    enum gt_status status = gt_phase_map_init(&set->map, gt_option_text(view, GT_OPTION_phase_map), err);
    if (status != GT_OK)
        goto out;
    set->phases = gt_mem_array(set->map.phase_count + 1, sizeof *set->phases);
    if (!set->phases || !sorting_init(&sorting, view, set) ||
        !gt_phase_set_of_ranges(&set->map, view->store, view->labels, sorting.phase_of)) {
        status = gt_fail_memory(err);
        goto out;
    }
    for (size_t i = 0; i < set->map.phase_count; i++)
        set->phases[i].name = set->map.phases[i];
    set->phases[set->map.phase_count].name = GT_PHASE_UNMAPPED;
    take_ops(&sorting);
    measure_insides(&sorting);
    count_ranges(&sorting);
    finish(set);
out:
    sorting_release(&sorting);
    if (status != GT_OK)
        gt_phase_set_release(set);
    return status;
}

void gt_phase_set_release(struct gt_phase_set *set) {
    gt_phase_map_release(&set->map);
    gt_mem_free(set->phases);
    *set = (struct gt_phase_set){0};
}
