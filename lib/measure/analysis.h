/* An analysis: reads a view, adds blocks to a section. Several of them may run on one view at once, each with a section
   of its own. analyses.c has the table of all. */
#ifndef GT_MEASURE_ANALYSIS_H
#define GT_MEASURE_ANALYSIS_H

#include "base/fail.h"
#include "events/view.h"
#include "report/report.h"

struct gt_analysis {
    const char *key, *title;
    const char *tables; /* keys of the tables it makes, comma-separated */
    uint32_t needs;     /* enum gt_fact: it runs without them too, but the report says what is missing; with
                           GT_FACT_PROJECTIONS among them, projected ranges replace the others */
    uint32_t goes_by;   /* bits of enum gt_shared_kind: what it always asks for, to be made before it runs */
    enum gt_status (*run)(const struct gt_view *view, struct gt_section *section, struct gt_error *err);
};

extern const struct gt_analysis gt_analyses[];
extern const size_t gt_analysis_count;

const struct gt_analysis *gt_analysis_find(const char *key); /* NULL if there is none */

/* Makes a shared result before an analysis asks for it. */
enum gt_status gt_shared_make(const struct gt_view *view, enum gt_shared_kind kind, struct gt_error *err);

#endif
