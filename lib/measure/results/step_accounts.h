/* The account of each part of a step set: what of its span was compute, exposed communication, exposed memory and idle
   time. Most reports need the parts alone. */
#ifndef GT_MEASURE_RESULTS_STEP_ACCOUNTS_H
#define GT_MEASURE_RESULTS_STEP_ACCOUNTS_H

#include "measure/results/accounts.h"

struct gt_step_accounts {
    /* By part of gt_results_steps: between its first start and last end; all 0 where it has no ops. */
    struct gt_account *of_part;
};

enum gt_status gt_step_accounts_init(struct gt_step_accounts *accounts, const struct gt_view *view,
                                     struct gt_error *err);
void gt_step_accounts_release(struct gt_step_accounts *accounts);

#endif
