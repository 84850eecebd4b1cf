/* In which column of events calls and what they launched have the same number. rocprofv3 gives both the same stack_id;
   other writers let parent_stack_id of an op point at its call, or write correlation_id alone. A few ops are looked up
   among the calls in each way, and the way that finds more of them is taken. */
#include "decode/rocm/rocpd.h"

/* Ops in which the columns differ say something; there are none where the profiler wrote the file as it does today. */
void gt_rocpd_link_note(struct gt_rocpd_piece *piece, uint64_t stack, uint64_t parent, uint64_t correlation) {
    bool says_parent = parent != GT_ROCM_NONE && parent != 0 && parent != stack;
    bool lacks_stack = stack == GT_ROCM_NONE || stack == 0;
    if (piece->sample_count < GT_ROCPD_SAMPLED && (says_parent || lacks_stack))
        piece->samples[piece->sample_count++] = (struct gt_rocpd_sample){stack, parent, correlation};
}

static size_t gather(const struct gt_rocpd_entries *events, struct gt_rocpd_sample samples[static GT_ROCPD_SAMPLED]) {
    enum { OF_PIECE = 4 };
    size_t count = 0;
    for (size_t p = 0; p < events->count; p++)
        for (size_t i = 0; i < events->pieces[p].sample_count && i < OF_PIECE && count < GT_ROCPD_SAMPLED; i++)
            samples[count++] = events->pieces[p].samples[i];
    return count;
}

/* The numbers of calls that some samples ask for. */
struct asking {
    struct gt_map stacks, parents, correlations;
    size_t found_stacks, found_parents, found_correlations;
};

static void ask(struct gt_map *map, uint64_t number) {
    if (number != 0 && number != GT_ROCM_NONE)
        gt_map_put_if_new(map, 0, number, 1);
}

static size_t is_asked(const struct gt_map *map, uint64_t number) {
    return map->count && gt_map_get(map, 0, number) != GT_MAP_NONE;
}

static void look_for(struct asking *asking, const struct gt_rocpd_set *set) {
    const struct gt_rocpd_entries *events = &set->entries[GT_ROCPD_EVENTS];
    for (size_t p = 0; p < events->count; p++)
        for (size_t i = 0; i < events->pieces[p].count; i++) {
            const struct gt_rocpd_entry *entry = &events->pieces[p].entries[i];
            if (!entry->tag || set->domains[entry->tag - 1] != GT_ROCM_CALL)
                continue;
            asking->found_stacks += is_asked(&asking->stacks, entry->value);
            asking->found_parents += is_asked(&asking->parents, entry->value);
            asking->found_correlations += is_asked(&asking->correlations, entry->value);
        }
}

static enum gt_rocpd_link choose(const struct gt_rocpd_set *set, const struct asking *asking) {
    switch (set->link) {
    case GT_ROCPD_BY_STACK:
        if (asking->found_parents > asking->found_stacks)
            return GT_ROCPD_BY_PARENT;
        return asking->found_stacks == 0 && asking->correlations.count ? GT_ROCPD_BY_CORRELATION : GT_ROCPD_BY_STACK;
    case GT_ROCPD_BY_CORRELATION: /* a try, which has failed if it finds nothing */
        return asking->found_correlations ? GT_ROCPD_BY_CORRELATION : GT_ROCPD_BY_NOTHING_ELSE;
    default:
        return set->link;
    }
}

bool gt_rocpd_link_is_other(struct gt_rocpd_set *set, bool *is_other) {
    struct gt_rocpd_sample samples[GT_ROCPD_SAMPLED];
    struct asking asking = {0};
    size_t count = gather(&set->entries[GT_ROCPD_EVENTS], samples);
    for (size_t i = 0; i < count; i++) {
        ask(&asking.stacks, samples[i].stack);
        ask(&asking.parents, samples[i].parent);
        ask(&asking.correlations, samples[i].correlation);
    }
    if (count)
        look_for(&asking, set);
    enum gt_rocpd_link link = count ? choose(set, &asking) : set->link;
    bool is_done = !asking.stacks.failed && !asking.parents.failed && !asking.correlations.failed;
    *is_other = link != set->link;
    set->link = link;
    gt_map_release(&asking.stacks);
    gt_map_release(&asking.parents);
    gt_map_release(&asking.correlations);
    return is_done;
}
