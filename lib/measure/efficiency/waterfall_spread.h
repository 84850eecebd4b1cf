/* How much the parts of a waterfall vary from step to step: what a comparison takes for noise. */
#ifndef GT_MEASURE_EFFICIENCY_WATERFALL_SPREAD_H
#define GT_MEASURE_EFFICIENCY_WATERFALL_SPREAD_H

#include "measure/efficiency/work_model.h"
#include "measure/results/idle.h"

/* Parts by number: ideal time of each family, inefficiency of each, what follows, idle time of each cause. */
enum {
    GT_WATERFALL_IDEAL = 0,
    GT_WATERFALL_LOST = GT_FAMILY_COUNT,
    GT_WATERFALL_UNMODELLED = 2 * GT_FAMILY_COUNT,
    GT_WATERFALL_PEAK_UNKNOWN,
    GT_WATERFALL_EXPOSED_COMM,
    GT_WATERFALL_EXPOSED_MEMORY,
    GT_WATERFALL_IDLE,
    GT_WATERFALL_PART_COUNT = GT_WATERFALL_IDLE + GT_IDLE_CAUSE_COUNT,
};

/* Time of one part in one step. */
struct gt_waterfall_piece {
    uint32_t step; /* GT_NO_ROW: in none */
    uint32_t part;
    int64_t ns;
};

struct gt_waterfall_spread {
    struct gt_waterfall_piece *pieces;
    size_t count, capacity;
    bool failed; /* memory was short */
};

/* Whether there are steps enough to see a spread. */
bool gt_waterfall_spread_is_known(const struct gt_view *view);
void gt_waterfall_spread_note(struct gt_waterfall_spread *spread, uint32_t step, size_t part, int64_t ns);
void gt_waterfall_spread_release(struct gt_waterfall_spread *spread);

/* Tells the section what was noted, of a mean GPU: they run the same steps. false: memory was short. */
bool gt_waterfall_spread_tell(const struct gt_waterfall_spread *spread, const struct gt_view *view,
                              struct gt_section *section);

#endif
