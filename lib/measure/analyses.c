/* The table of all analyses, from analyses.def. */
#include <string.h>

#include "measure/results/measure.h"
#include "measure/results/results.h"

_Static_assert(GT_RESULT_COUNT <= 8 * sizeof(uint32_t), "each result is a bit of what an analysis uses");

const struct gt_analysis gt_analyses[] = {
#define RESULT(kind) (1u << GT_RESULT_##kind)
#define GT_ANALYSIS(key, title, tables, needs, uses, ...)                                                              \
    {#key, title, tables, needs, uses, gt_##key##_run, (enum gt_comparing)(__VA_ARGS__ + 0)},
#include "measure/analyses.def"
#undef GT_ANALYSIS
#undef SHARED
};
const size_t gt_analysis_count = sizeof gt_analyses / sizeof *gt_analyses;

const struct gt_analysis *gt_analysis_find(const char *key) {
    for (size_t i = 0; i < gt_analysis_count; i++)
        if (strcmp(gt_analyses[i].key, key) == 0)
            return &gt_analyses[i];
    return NULL;
}
