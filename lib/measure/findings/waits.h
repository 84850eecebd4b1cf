/* Waits: what the rules on idle time that the CPU caused have in common. */
#ifndef GT_MEASURE_FINDINGS_WAITS_H
#define GT_MEASURE_FINDINGS_WAITS_H

#include "measure/findings/findings.h"
#include "measure/findings/name_sums.h"

/* What a rule claimed of the gaps. */
struct gt_waits_claim {
    size_t gaps;
    int64_t direct_ns; /* while the cause lasted */
    int64_t later_ns;  /* of later gaps, for the lead that it cost (lead.h) */
};

/* A stall: 1 ms or more of the gap are left, and the CPU did not work through many operators in it. */
bool gt_waits_is_stall(struct gt_evidence *evidence, size_t gap);

/* The next gap of a class, this one or after it; end: there is none. */
size_t gt_waits_next_of(const struct gt_host_gaps *gaps, enum gt_host_gap class, size_t from, size_t end);

/* Claims what could be saved of one gap, as far as it is left. Returns what was claimed. */
int64_t gt_waits_claim_gap(struct gt_evidence *evidence, size_t device, size_t gap);
/* Claims what an activity has of the gaps, and later ones. */
struct gt_waits_claim gt_waits_claim_activity(struct gt_evidence *evidence, const struct gt_activity_times *times);
/* Claims the gaps of a class, and later ones for the losses; these are sorted here. */
struct gt_waits_claim gt_waits_claim_class(struct gt_evidence *evidence, enum gt_host_gap class,
                                           struct gt_lead_loss *losses, size_t loss_count);

/* The innermost range around the launch of an op that is no step and has a name of the program; GT_STRID_EMPTY: there
   is none. is_step: by row of ranges, as chains.h makes it. */
gt_strid gt_waits_range_of_op(const struct gt_view *view, const uint8_t *is_step, uint32_t op);

/* Steady kernels that were launched individually, not as nodes of a graph. */
size_t gt_waits_launch_count(struct gt_evidence *evidence);
/* Whether they are so many: less work. */
bool gt_waits_has_launches(struct gt_evidence *evidence, double least);

/* ---- sentences ---- */

/* "152 calls (38 per step)", without the part in brackets where there are no steps */
const char *gt_waits_say_often(struct gt_evidence *evidence, size_t count, const char *noun);
/* The part of the steady spans that the rule has claimed so far: "12.3%" */
const char *gt_waits_say_claimed(struct gt_evidence *evidence);
/* "The GPU was idle for ... in 3 gaps meanwhile, and for ... in later ones ..." */
void gt_waits_add_claim(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_waits_claim *claim);
/* Says from when on a rule looked. */
void gt_waits_add_warm_up(struct gt_evidence *evidence, struct gt_finding *finding);

#endif
