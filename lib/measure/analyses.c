/* The table of all analyses, from analyses.def. */
#include <string.h>

#include "measure/results/measure.h"
#include "measure/results/results.h"

_Static_assert(GT_RESULT_COUNT < 8 * sizeof(uint32_t), "each result is a bit of what an analysis uses");

/* What ops need to have an owner, a launch call, ranges and a step around it. */
#define LAUNCHES (GT_FACT_CALLS | GT_FACT_CORRELATION)
#define STEPS    (LAUNCHES | GT_FACT_RANGES)
/* what the work of kernels is known by */
#define WORK_ALSO (LAUNCHES | GT_FACT_RANGES | GT_FACT_CPU_OPS | GT_FACT_BYTES | GT_FACT_ARGUMENTS | GT_FACT_CONFIGS)

/* What the dependency graph is made of, the same for every analysis, so that all give the same answers. Python
   functions only say when threads were silent. Links from forward to backward operators are many, and on no trace at
   hand do they say more about who worked for a silent thread than its launches do. */
#define PATH_NEEDS (GT_FACT_OPS | LAUNCHES)
#define PATH_ALSO  (GT_FACT_RANGES | GT_FACT_CPU_OPS | GT_FACT_SYNCS | GT_FACT_STACKS | GT_FACT_GRAPHS | GT_FACT_BYTES)

const struct gt_analysis gt_analyses[] = {
#define RESULT(kind) (1u << GT_RESULT_##kind)
#define ANY_ORDER    GT_ANALYSIS_ANY_ORDER
#define GT_ANALYSIS(key, title, tables, needs, also, uses, ...)                                                        \
    {#key, title, tables, needs, also, uses, gt_##key##_run, (enum gt_comparing)(__VA_ARGS__ + 0)},
#include "measure/analyses.def"
#undef GT_ANALYSIS
#undef ANY_ORDER
#undef RESULT
};
const size_t gt_analysis_count = sizeof gt_analyses / sizeof *gt_analyses;

const struct gt_analysis *gt_analysis_find(const char *key) {
    for (size_t i = 0; i < gt_analysis_count; i++)
        if (strcmp(gt_analyses[i].key, key) == 0)
            return &gt_analyses[i];
    return NULL;
}

uint32_t gt_analysis_facts(const char *const *keys, size_t count) {
    uint32_t facts = GT_FACT_OPS | GT_FACT_GROUPS | GT_FACT_BYTES | GT_FACT_PROJECTIONS;
    for (size_t i = 0; i < count; i++) {
        const struct gt_analysis *analysis = gt_analysis_find(keys[i]);
        facts |= analysis ? analysis->needs | analysis->also : 0;
    }
    return gt_store_facts_closed(facts);
}

bool gt_analysis_any_order(const char *const *keys, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct gt_analysis *analysis = gt_analysis_find(keys[i]);
        if (!analysis || !(analysis->uses & GT_ANALYSIS_ANY_ORDER))
            return false;
    }
    return true;
}
