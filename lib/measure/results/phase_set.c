/* Sums of phases: in come the ops of a view and their innermost ranges, out go times by phase. Linear, but that each
   name of a range is held against the patterns of the map once. */
#include "measure/results/phase_set.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"
#include "measure/results/measure.h"

/* Devices of a group that take turns at most: their ops are all over the file. */
enum { TURNING = 16 };

/* While phases are summed: what is known of every range. */
struct sorting {
    const struct gt_view *view;
    struct gt_phase_set *set;
    uint32_t *phase_of; /* by range row: index into set->phases; the last one is for unmapped ranges */
    uint8_t *has_ops;   /* by range row */
    size_t phase_count; /* with that of unmapped ranges */
    size_t groups;      /* of devices */
    size_t slices;      /* of ranges */
    struct gt_phase *of_group, *of_slice; /* then by phase: what each of them sums; TURNING for each group */
    __int128 *cpu_ns;                     /* by slice, then phase */
    int64_t *outside_ns;                  /* by group */
    atomic_bool has_failed;               /* memory was short */
};

static bool sorting_init(struct sorting *sorting, const struct gt_view *view, struct gt_phase_set *set) {
    size_t count = view->store->ranges.count, threads = gt_threads_count(view->request->threads);
    size_t most = gt_threads_slices(threads, view->op_count, TURNING * (set->map.phase_count + 1));
    *sorting = (struct sorting){.view = view,
                                .set = set,
                                .phase_count = set->map.phase_count + 1,
                                .groups = most < view->device_count ? most : view->device_count,
                                .slices = gt_threads_slices(threads, count, set->map.phase_count + 1)};
    sorting->phase_of = gt_mem_uninitialised(count, sizeof *sorting->phase_of);
    sorting->has_ops = gt_mem_array(count, 1);
    sorting->of_group = gt_mem_array(sorting->groups * TURNING * sorting->phase_count, sizeof *sorting->of_group);
    sorting->of_slice = gt_mem_array(sorting->slices * sorting->phase_count, sizeof *sorting->of_slice);
    sorting->cpu_ns = gt_mem_array(sorting->slices * sorting->phase_count, sizeof *sorting->cpu_ns);
    sorting->outside_ns = gt_mem_array(sorting->groups, sizeof *sorting->outside_ns);
    return sorting->phase_of && sorting->has_ops && sorting->of_group && sorting->of_slice && sorting->cpu_ns &&
           sorting->outside_ns;
}

static void sorting_release(struct sorting *sorting) {
    gt_mem_free(sorting->phase_of);
    gt_mem_free(sorting->has_ops);
    gt_mem_free(sorting->of_group);
    gt_mem_free(sorting->of_slice);
    gt_mem_free(sorting->cpu_ns);
    gt_mem_free(sorting->outside_ns);
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

/* Runs of ops from one position to behind another. A range may have ops on several devices: whoever comes says the
   same. */
static void take_runs(const struct sorting *sorting, struct gt_range_run *run, size_t end, struct gt_phase *phases,
                      int64_t *outside_ns) {
    const struct gt_view *view = sorting->view;
    while (run->first + run->count < end && gt_range_run_next(run, view, SIZE_MAX)) {
        if (run->range == GT_NO_ROW) {
            *outside_ns = gt_ns_add(*outside_ns, run->sum_ns);
            continue;
        }
        struct gt_phase *phase = &phases[sorting->phase_of[run->range]];
        phase->ops += run->count;
        phase->exclusive_ns = gt_ns_add(phase->exclusive_ns, run->sum_ns);
        gt_range_run_union_add(&phase->busy, view, run);
        __atomic_store_n(&sorting->has_ops[run->range], 1, __ATOMIC_RELAXED);
    }
}

/* The ops of some devices, of which TURNING at most. */
static void take_turns(const struct sorting *sorting, size_t group, size_t first, size_t end) {
    const struct gt_view_device *devices = sorting->view->devices;
    const size_t turns = gt_threads_turns(sorting->view->op_count);
    struct gt_range_run runs[TURNING];
    for (size_t d = first; d < end; d++)
        runs[d - first] = (struct gt_range_run){.first = devices[d].first, .device = (uint32_t)d};
    for (size_t turn = 0; turn < turns; turn++)
        for (size_t d = first; d < end; d++)
            take_runs(
                sorting, &runs[d - first], devices[d].first + gt_threads_slice_begin(devices[d].count, turns, turn + 1),
                sorting->of_group + (group * TURNING + d - first) * sorting->phase_count, &sorting->outside_ns[group]);
}

static void take_group(void *context, size_t group) {
    const struct sorting *sorting = context;
    size_t first = gt_threads_slice_begin(sorting->view->device_count, sorting->groups, group);
    size_t end = gt_threads_slice_begin(sorting->view->device_count, sorting->groups, group + 1);
    for (; first < end; first += TURNING)
        take_turns(sorting, group, first, end - first > TURNING ? first + TURNING : end);
}

/* Of a thread: such ranges take CPU time. */
static bool is_on_thread(const struct gt_ranges *ranges, size_t range) {
    return ranges->kind[range] == GT_RANGE_NESTED || ranges->kind[range] == GT_RANGE_START_END;
}

/* Where a slice of the ranges in trees begins: no tree is cut. */
static size_t first_tree(const struct sorting *sorting, size_t slice) {
    const struct gt_labels *labels = sorting->view->labels;
    size_t i = gt_threads_slice_begin(labels->range_order_count, sorting->slices, slice);
    while (slice && i < labels->range_order_count && labels->range_parent[labels->range_order[i]] != GT_NO_ROW)
        i++;
    return i;
}

/* Takes from ranges what lies in ranges inside them. Children come in order of start after their parent, so each takes
   what it has after the latest end before. false: memory was short. */
static bool leave_out_insides(const struct sorting *sorting, size_t slice) {
    const struct gt_ranges *ranges = &sorting->view->store->ranges;
    const struct gt_labels *labels = sorting->view->labels;
    __int128 *cpu_ns = sorting->cpu_ns + slice * sorting->phase_count;
    int64_t *reached = NULL; /* by level: latest end of the ranges of that level that the open one above has */
    size_t capacity = 0, i = first_tree(sorting, slice), end = first_tree(sorting, slice + 1);
    for (; i < end; i++) {
        uint32_t range = labels->range_order[i], parent = labels->range_parent[range];
        size_t level = labels->range_level[range];
        if (level + 1 >= capacity) { /* levels grow one by one */
            int64_t *grown = gt_mem_room(reached, capacity, &capacity, sizeof *grown);
            if (!grown)
                break;
            reached = grown;
        }
        int64_t *reached_ns = &reached[level], end_ns = ranges->end_ns[range];
        int64_t from_ns = level && ranges->start_ns[range] < *reached_ns ? *reached_ns : ranges->start_ns[range];
        if (parent != GT_NO_ROW && end_ns > from_ns) {
            if (is_on_thread(ranges, parent) && (sorting->view->is_whole || sorting->has_ops[parent]))
                cpu_ns[sorting->phase_of[parent]] -= gt_ns_between(from_ns, end_ns);
            *reached_ns = end_ns;
        }
        reached_ns[1] = INT64_MIN; /* of its own children */
    }
    gt_mem_free(reached);
    return i == end;
}

static void count_ranges(void *context, size_t slice, size_t begin, size_t end) {
    struct sorting *sorting = context;
    const struct gt_ranges *ranges = &sorting->view->store->ranges;
    struct gt_phase *phases = sorting->of_slice + slice * sorting->phase_count;
    __int128 *cpu_ns = sorting->cpu_ns + slice * sorting->phase_count;
    for (size_t i = begin; i < end; i++) {
        bool takes_time = is_on_thread(ranges, i);
        if (!sorting->has_ops[i] && !(sorting->view->is_whole && takes_time))
            continue;
        phases[sorting->phase_of[i]].instances++;
        if (takes_time)
            cpu_ns[sorting->phase_of[i]] += gt_ns_between(ranges->start_ns[i], ranges->end_ns[i]);
    }
    if (!leave_out_insides(sorting, slice))
        sorting->has_failed = true;
}

static void add_sums(struct sorting *sorting, const struct gt_phase *phases) {
    for (size_t i = 0; i < sorting->phase_count; i++) {
        struct gt_phase *phase = &sorting->set->phases[i];
        phase->instances += phases[i].instances;
        phase->ops += phases[i].ops;
        phase->exclusive_ns = gt_ns_add(phase->exclusive_ns, phases[i].exclusive_ns);
        phase->busy.busy_ns = gt_ns_add(phase->busy.busy_ns, phases[i].busy.busy_ns);
    }
}

static void add_cpu_times(struct sorting *sorting) {
    for (size_t i = 0; i < sorting->phase_count; i++) {
        __int128 sum_ns = 0;
        for (size_t slice = 0; slice < sorting->slices; slice++)
            sum_ns += sorting->cpu_ns[slice * sorting->phase_count + i];
        sorting->set->phases[i].cpu_ns = gt_ns_of_sum(sum_ns);
    }
}

/* What ranges are, then the ops of each device, then the ranges, which count by their ops. false: memory was short. */
static bool sum_all(struct sorting *sorting) {
    const struct gt_view *view = sorting->view;
    if (!gt_phase_set_of_ranges(&sorting->set->map, view->store, view->labels, sorting->phase_of))
        return false;
    gt_threads_parts(sorting->groups, sorting->groups, take_group, sorting);
    gt_threads_rows(sorting->slices, view->store->ranges.count, count_ranges, sorting);
    add_cpu_times(sorting);
    for (size_t i = 0; i < sorting->groups * TURNING; i++)
        add_sums(sorting, sorting->of_group + i * sorting->phase_count);
    for (size_t i = 0; i < sorting->groups; i++)
        sorting->set->outside_ns = gt_ns_add(sorting->set->outside_ns, sorting->outside_ns[i]);
    for (size_t i = 0; i < sorting->slices; i++)
        add_sums(sorting, sorting->of_slice + i * sorting->phase_count);
    return !sorting->has_failed;
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
    if (!set->phases || !sorting_init(&sorting, view, set) || !sum_all(&sorting)) {
        status = gt_fail_memory(err);
        goto out;
    }
    for (size_t i = 0; i < set->map.phase_count; i++)
        set->phases[i].name = set->map.phases[i];
    set->phases[set->map.phase_count].name = GT_PHASE_UNMAPPED;
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
