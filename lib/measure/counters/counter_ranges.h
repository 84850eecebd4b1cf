/* Counters of ranges by name. Ranges may be inside each other by the thousand, so amounts are put at the innermost
   range and carried to those around it once. */
#ifndef GT_MEASURE_COUNTERS_COUNTER_RANGES_H
#define GT_MEASURE_COUNTERS_COUNTER_RANGES_H

#include "measure/counters/counter_items.h"
#include "measure/results/range_trees.h"

/* A sample that a range, and so all around it, fills. */
struct gt_counter_ranges_sample {
    size_t sample;
    uint32_t place; /* of the innermost such range */
    int64_t ns;
};

struct gt_counter_ranges {
    struct gt_range_trees *trees;
    struct gt_counter_items *items;
    const struct gt_sampling *sampling;
    __int128 *before;  /* by place: the sum of all places before it; until then what is put at the place before it */
    __int128 *amounts; /* by name */
    uint32_t *item_of; /* by name; GT_NO_ROW: no op of the device has it */
    struct gt_counter_ranges_sample *samples;
    size_t sample_count, sample_capacity;
    int64_t *filled_ns; /* by name: of the sample at hand */
    uint32_t *touched;  /* names that it has beside those around all of its ops */
    size_t touched_count;
    bool has_failed; /* memory was short */
};

/* Makes an item for each name with ops on the device, with its ops and time; one pass over ops and pieces. false:
   memory was short. */
bool gt_counter_ranges_init(struct gt_counter_ranges *ranges, struct gt_range_trees *trees,
                            struct gt_counter_items *items, const struct gt_idle *idle, size_t index,
                            const struct gt_sampling *sampling);
void gt_counter_ranges_release(struct gt_counter_ranges *ranges);

/* Takes a sample with all of its parts. */
void gt_counter_ranges_take(struct gt_counter_ranges *ranges, size_t sample, const struct gt_counter_part *parts,
                            size_t count);
/* Carries all samples to the items. */
void gt_counter_ranges_end(struct gt_counter_ranges *ranges);

#endif
