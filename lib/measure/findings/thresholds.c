/* Makes a structure and a list of the lines of thresholds.def. */
#include "measure/findings/thresholds.h"

#include "base/mem.h"

const struct gt_thresholds gt_thresholds = {
#define GT_THRESHOLD(rule, name, value, unit, what) .name = (value),
#include "measure/findings/thresholds.def"
#undef GT_THRESHOLD
};

const struct gt_threshold gt_threshold_list[] = {
#define GT_THRESHOLD(rule, name, value, unit, what) {#rule, #name, value, unit, what},
#include "measure/findings/thresholds.def"
#undef GT_THRESHOLD
};
const size_t gt_threshold_count = GT_ARRAY_COUNT(gt_threshold_list);
