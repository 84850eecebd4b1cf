/* An analysis: reads a view, adds blocks to a section. Several of them may run on one view at once, each with its
   own section. analyses.c has the table of all. */
#ifndef GT_MEASURE_ANALYSIS_H
#define GT_MEASURE_ANALYSIS_H

#include "base/fail.h"
#include "events/view.h"
#include "report/report.h"

/* What every comparison needs the analysis for; in this order, and then as they are listed. */
enum gt_comparing {
    GT_COMPARING_NOTHING, /* it runs if it is asked for */
    GT_COMPARING_FACTS,   /* what is said of each capture */
    GT_COMPARING_WHOLE,   /* how long everything takes, and what to divide it by */
    GT_COMPARING_PARTS,   /* what the whole is made of */
    GT_COMPARING_NOISE,   /* how much it all varies */
    GT_COMPARING_COUNT,
};

struct gt_analysis {
    const char *key, *title;
    const char *tables; /* keys of the tables it makes, comma-separated */
    uint32_t needs;     /* enum gt_fact: it runs without them too, but the report says what is missing; with
                           GT_FACT_PROJECTIONS among them, projected ranges replace the others */
    uint32_t also;      /* what else it reads where the trace has it. What is in neither must make no difference */
    uint32_t uses;      /* bits of enum gt_result: what it always asks for, to be made before it runs; and
                           GT_ANALYSIS_ANY_ORDER */
    enum gt_status (*run)(const struct gt_view *view, struct gt_section *section, struct gt_error *err);
    enum gt_comparing comparing;
};

/* It works on a view by row (events/view.h). */
#define GT_ANALYSIS_ANY_ORDER (UINT32_C(1) << 31)

extern const struct gt_analysis gt_analyses[];
extern const size_t gt_analysis_count;

extern const struct gt_roles gt_analysis_roles; /* of the tables of all */

const struct gt_analysis *gt_analysis_find(const char *key); /* NULL if there is none */

/* All facts that these analyses read, with what every report needs. Unknown keys read nothing. */
uint32_t gt_analysis_facts(const char *const *keys, size_t count);

/* Whether all of these work on a view by row, as the health of a trace does without calls, which every report has. */
bool gt_analysis_any_order(const char *const *keys, size_t count);

#endif
