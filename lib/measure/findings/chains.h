/* Chains: from an idle gap to a name. What the thread that launched the next op was in for most of a long gap: a call,
   a range or operator, a Python function. */
#ifndef GT_MEASURE_FINDINGS_CHAINS_H
#define GT_MEASURE_FINDINGS_CHAINS_H

#include "measure/results/idle.h"

/* GT_STRID_EMPTY: nothing that the trace shows. */
struct gt_chain {
    gt_strid call;   /* the outermost call that has more than half of the gap's CPU part */
    gt_strid code;   /* the innermost range or operator, steps left out, that has */
    gt_strid python; /* the innermost Python function of the program itself that has, else that of a library */
    gt_strid callee; /* the innermost Python function that has, where that is another one */
    bool is_range;   /* code is a range */
    uint32_t pieces; /* operators and calls that began in the CPU part of a stall */
};

struct gt_chains {
    struct gt_chain *items; /* by gap, NULL where memory was short */
};

/* Only gaps of the threshold named_ns and longer, with a launch call, have one; that of others is empty. The CPU part
   of a gap lasts from its start until the launch call has returned. n log n in the long calls, ranges and
   operators. */
enum gt_status gt_chains_init(struct gt_chains *chains, const struct gt_view *view, const struct gt_idle *idle,
                              struct gt_error *err);
void gt_chains_release(struct gt_chains *chains);

/* By row of ranges: not 0 for steps. To be freed with gt_mem_free; NULL: memory was short. */
uint8_t *gt_chains_step_ranges_new(const struct gt_view *view);

#endif
