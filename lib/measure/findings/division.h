/* Division: the busy time of each device, divided among its ops. */
#ifndef GT_MEASURE_FINDINGS_DIVISION_H
#define GT_MEASURE_FINDINGS_DIVISION_H

#include "measure/findings/ledger.h"

/* Fills in op_less of a ledger and lists the ops that do not compute. false: memory was short. Linear. */
bool gt_division_make(struct gt_ledger *ledger, size_t threads);

#endif
