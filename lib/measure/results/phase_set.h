/* The phases of a view: what the ranges of each launched, and how long the CPU was in them. */
#ifndef GT_MEASURE_RESULTS_PHASE_SET_H
#define GT_MEASURE_RESULTS_PHASE_SET_H

#include "measure/results/phase_map.h"
#include "measure/results/range_run.h"

struct gt_phase {
    struct gt_str name;   /* "unmapped" for ranges that fit no phase */
    size_t instances;     /* with a selection: those with ops of their own */
    size_t ops;           /* whose innermost range is of this phase */
    int64_t exclusive_ns; /* their durations, summed */
    struct gt_range_union busy;
    int64_t cpu_ns; /* of the ranges themselves, without the ranges inside them */
};

struct gt_phase_set {
    struct gt_phase_map map;
    struct gt_phase *phases; /* most exclusive time first, then by name; unmapped last */
    size_t count;            /* those with a range */
    size_t mapped_count;     /* those except for unmapped */
    int64_t covered_ns;      /* exclusive time of all */
    int64_t outside_ns;      /* of ops that no range has launched */
    int64_t cpu_ns;          /* of all */
};

enum gt_status gt_phase_set_init(struct gt_phase_set *set, const struct gt_view *view, struct gt_error *err);
void gt_phase_set_release(struct gt_phase_set *set);

/* By range row: index into map->phases; their count where it fits none. false: memory was short. */
bool gt_phase_set_of_ranges(const struct gt_phase_map *map, const struct gt_store *store,
                            const struct gt_labels *labels, uint32_t *phase_of);

#endif
