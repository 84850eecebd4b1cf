/* Thresholds of the findings: all numbers that decide whether something is reported, in one place. */
#ifndef GT_MEASURE_FINDINGS_THRESHOLDS_H
#define GT_MEASURE_FINDINGS_THRESHOLDS_H

#include <stdbool.h>
#include <stddef.h>

#include "report/cell.h"

struct gt_thresholds {
#define GT_THRESHOLD(rules, name, value, unit, what) double name;
#include "measure/findings/thresholds.def"
#undef GT_THRESHOLD
};
extern const struct gt_thresholds gt_thresholds;

/* The same as a list, for people. */
struct gt_threshold {
    const char *rules; /* separated by blanks */
    const char *name;
    double value;
    enum gt_unit unit;
    const char *what;
};
extern const struct gt_threshold gt_threshold_list[];
extern const size_t gt_threshold_count;

/* Whether a rule uses it. */
bool gt_thresholds_is_of_rule(const struct gt_threshold *threshold, const char *rule);

#endif
