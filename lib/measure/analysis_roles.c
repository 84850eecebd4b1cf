/* What the tables of the analyses mean to comparisons and limits; the flags of their columns say the rest. */
#include "measure/analysis.h"
#include "measure/results/measure.h"

static const struct gt_measure measure_list[] = {
#define GT_MEASURE(name, of_gpu, of_step, steps, part)                                                                 \
    {.key = #name, .from = GT_FROM_ROW, .needs = "GPU work whose times are known"},
#define GT_MEASURE_FROM(name, ...) {.key = #name, __VA_ARGS__},
#include "measure/measures.def"
#undef GT_MEASURE_FROM
#undef GT_MEASURE
};

static const struct gt_divisor divisors[] = {
    {"step", "per step", "steps", "measures", "step", GT_DIVISOR_STEPS},
    {"range", "per instance of the range", "ranges of that name", "ranges", NULL, GT_DIVISOR_NAMED},
    {"launch", "per launch", "kernel launches", "kernels", NULL, GT_DIVISOR_WORK},
};

static const struct gt_limit_kind kinds[] = {
    {"kernel", "kernels", NULL},  {"category", "categories", NULL}, {"range", "ranges", NULL},
    {"phase", "phases", NULL},    {"memory", "memory", NULL},       {"cause", "idle_causes_all", NULL},
    {"launch", "launches", NULL}, {"work", "idle_work", NULL},      {"path", "path_parts", NULL},
};

static const struct gt_report_column capture_facts[] = {
    {"span_ns", "Span", GT_UNIT_NS, NULL, 0},
    {"busy_share", "Busy", GT_UNIT_SHARE, "span", 0},
};

const struct gt_roles gt_analysis_roles = {
    .measures = "measures",
    .whole = "span",
    .whole_words = "GPU span",
    .gpus = "accounting",
    .measure_list = measure_list,
    .measure_count = GT_ARRAY_COUNT(measure_list),
    .divisors = divisors,
    .divisor_count = GT_ARRAY_COUNT(divisors),
    .kinds = kinds,
    .kind_count = GT_ARRAY_COUNT(kinds),
    .capture_facts = capture_facts,
    .capture_fact_count = GT_ARRAY_COUNT(capture_facts),
    .opaque_issue = "graph_whole",
};
