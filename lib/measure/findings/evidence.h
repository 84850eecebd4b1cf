/* Evidence: what the rules of findings.def look at. */
#ifndef GT_MEASURE_FINDINGS_EVIDENCE_H
#define GT_MEASURE_FINDINGS_EVIDENCE_H

#include "measure/findings/activities.h"
#include "measure/findings/bulk_copies.h"
#include "measure/findings/chain_links.h"
#include "measure/findings/chains.h"
#include "measure/findings/context.h"
#include "measure/findings/ledger.h"
#include "measure/findings/step_times.h"
#include "measure/findings/updates.h"
#include "measure/results/host_gaps.h"
#include "measure/results/results.h"

enum { GT_EVIDENCE_SAVINGS = 16 };

/* What a change to the dependency graph saves, in the windows after the warm-up. */
struct gt_saving {
    const char *change;
    bool has_answer; /* the trust is good */
    enum gt_path_trust trust;
    int64_t start_ns, end_ns; /* of all windows */
    int64_t base_ns, predicted_ns, low_ns;
    size_t window_count;
    bool is_of_steps;     /* the windows are steps */
    int64_t *device_ns;   /* by device: of the windows of its processes */
    int64_t *promised_ns; /* by device: what findings that were reported have of it */
};

/* What a rule looks at. */
struct gt_evidence {
    const struct gt_view *view;
    struct gt_arena *arena; /* for sentences: the report's */
    struct gt_error *err;
    enum gt_status status; /* the first failure; rules need not look */
    struct gt_ledger ledger;
    uint32_t context;        /* bits of enum gt_context */
    bool has_found_readback; /* that rule has reported something, and later ones may refer to it */
    bool is_explained;       /* the user asks why the rule that looks now reports something or not: all of it counts */

    struct gt_saving savings[GT_EVIDENCE_SAVINGS]; /* simulated so far; arrays are in the report's arena */
    size_t saving_count;
    uint32_t lowered_gaps; /* bits of enum gt_host_gap: classes of which a simulation gave a part back */

    /* Made when they are asked for. */
    bool has_parts, has_host_gaps, has_activities, has_chains, has_traits, has_updates, has_bulk_copies,
        has_launch_count, has_step_times, has_step_ops, has_sync_marks, has_chain_links;
    struct gt_host_gaps host_gaps;
    struct gt_activities activities;
    struct gt_chains chains;
    struct gt_traits traits;
    struct gt_updates updates;
    struct gt_chain_links chain_links;
    struct gt_bulk_copies bulk_copies;
    struct gt_step_times step_times;
    uint8_t *sync_marks; /* of sync_marks.h; NULL: none */
    size_t launch_count; /* of waits.h */
};

/* The ledger and the context. After a failure the ledger is empty, and nothing can be claimed in it. */
void gt_evidence_init(struct gt_evidence *evidence, const struct gt_view *view, struct gt_arena *arena,
                      struct gt_error *err);
void gt_evidence_release(struct gt_evidence *evidence);
/* Whether all that rules of GT_LEVEL_LOW ask for was made by then, so that several may look at the same time. */
bool gt_evidence_has_parts(const struct gt_evidence *evidence);

/* The shared results. After a failure they are empty, the accounts NULL. */
const struct gt_named_set *gt_evidence_kernels(struct gt_evidence *evidence);
const struct gt_idle *gt_evidence_idle(struct gt_evidence *evidence); /* empty, too, where all kernels were lost */
const struct gt_account *gt_evidence_accounts(struct gt_evidence *evidence); /* by device */
const struct gt_step_set *gt_evidence_steps(struct gt_evidence *evidence);
const struct gt_phase_set *gt_evidence_phases(struct gt_evidence *evidence);
struct gt_launch_rate gt_evidence_launch_rate(struct gt_evidence *evidence); /* as gt_launch_rates_of_all has it */
const struct gt_op_groups *gt_evidence_op_groups(struct gt_evidence *evidence);
const struct gt_op_lengths *gt_evidence_op_lengths(struct gt_evidence *evidence);
const uint8_t *gt_evidence_blocking_calls(struct gt_evidence *evidence); /* by call; NULL: none, or a failure */
/* Whether the gaps that the CPU may have made, whoever's fault they are, are enough for rules to report them: else
   those rules need not look at anything. With --why they show less, too. */
bool gt_evidence_may_blame_host(struct gt_evidence *evidence);
const struct gt_host_gaps *gt_evidence_host_gaps(struct gt_evidence *evidence);
const struct gt_activity_times *gt_evidence_activity(struct gt_evidence *evidence, enum gt_activity activity);
const struct gt_chain *gt_evidence_chains(struct gt_evidence *evidence);  /* by gap; NULL after a failure */
const struct gt_traits *gt_evidence_traits(struct gt_evidence *evidence); /* by name; NULL after a failure */
const struct gt_updates *gt_evidence_updates(struct gt_evidence *evidence);
const struct gt_chain_links *gt_evidence_chain_links(struct gt_evidence *evidence);
const struct gt_bulk_copies *gt_evidence_bulk_copies(struct gt_evidence *evidence);
const struct gt_step_times *gt_evidence_step_times(struct gt_evidence *evidence);
void gt_evidence_count_step_ops(struct gt_evidence *evidence); /* for rules that claim: those do not look at once */
uint8_t *gt_evidence_sync_marks(struct gt_evidence *evidence); /* of sync_marks.h, for one rule; NULL: none */
void gt_evidence_fail(struct gt_evidence *evidence);           /* memory was short */

/* How many steady steps the spans of the devices hold, on average; 0: there are no steps. What a rule claimed divided
   by it and by the number of devices is what a step could save. */
size_t gt_evidence_step_count(struct gt_evidence *evidence);

/* Whether what the rule that looks has claimed so far is enough to report it. Where it is not, nobody reads its
   sentences, and what takes long to find out for them need not be. */
bool gt_evidence_is_worth_reporting(const struct gt_evidence *evidence);

/* One amount of all devices, summed. */
int64_t gt_evidence_amount(struct gt_evidence *evidence, enum gt_amount amount);

/* When the first op started that a step after the warm-up launched; INT64_MIN where no step is warm-up. */
int64_t gt_evidence_steady_ns(struct gt_evidence *evidence);
/* Spans of all devices from then on, summed. */
int64_t gt_evidence_steady_span_ns(struct gt_evidence *evidence);

#endif
