/* Results that several analyses use, made once for each view. The view owns them; results.def has the list. */
#ifndef GT_MEASURE_RESULTS_RESULTS_H
#define GT_MEASURE_RESULTS_RESULTS_H

#include "measure/counters/counter_set.h"
#include "measure/efficiency/work_set.h"
#include "measure/memory_use/memory_set.h"
#include "measure/results/accounts.h"
#include "measure/results/calls.h"
#include "measure/results/idle.h"
#include "measure/results/idle_code.h"
#include "measure/results/launch_rates.h"
#include "measure/results/named.h"
#include "measure/results/op_groups.h"
#include "measure/results/op_lengths.h"
#include "measure/results/path_cpu.h"
#include "measure/results/path_names.h"
#include "measure/results/paths.h"
#include "measure/results/phase_set.h"
#include "measure/results/range_groups.h"
#include "measure/results/range_set.h"
#include "measure/results/step_accounts.h"
#include "measure/results/step_set.h"

enum gt_result {
#define GT_RESULT(kind, type, init, release, accessor) GT_RESULT_##kind,
#include "measure/results/results.def"
#undef GT_RESULT
    GT_RESULT_COUNT,
};

/* NULL: it could not be made, err says why. */
#define GT_RESULT(kind, type, init, release, accessor)                                                                 \
    const type *accessor(const struct gt_view *view, struct gt_error *err);
#include "measure/results/results.def"
#undef GT_RESULT

/* Makes one before an analysis asks for it. */
enum gt_status gt_results_make(const struct gt_view *view, enum gt_result kind, struct gt_error *err);

#endif
