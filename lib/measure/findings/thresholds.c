/* Makes a structure and a list of the lines of thresholds.def. */
#include "measure/findings/thresholds.h"

#include <string.h>

#include "base/mem.h"
#include "measure/results/host_gaps.h"
#include "measure/results/tiny.h"

const struct gt_thresholds gt_thresholds = {
#define GT_THRESHOLD(rules, name, value, unit, what) .name = (value),
#include "measure/findings/thresholds.def"
#undef GT_THRESHOLD
};

const struct gt_threshold gt_threshold_list[] = {
#define GT_THRESHOLD(rules, name, value, unit, what) {#rules, #name, value, unit, what},
#include "measure/findings/thresholds.def"
#undef GT_THRESHOLD
};
const size_t gt_threshold_count = GT_ARRAY_COUNT(gt_threshold_list);

bool gt_thresholds_is_of_rule(const struct gt_threshold *threshold, const char *rule) {
    size_t length = strlen(rule);
    const char *list = threshold->rules;
    while (*list) {
        size_t word = strcspn(list, " ");
        if (word == length && memcmp(list, rule, length) == 0)
            return true;
        list += word + (list[word] == ' ');
    }
    return false;
}
