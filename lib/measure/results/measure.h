/* What the analyses share: time arithmetic that cannot overflow, names as the options want them, cells and facts. */
#ifndef GT_MEASURE_RESULTS_MEASURE_H
#define GT_MEASURE_RESULTS_MEASURE_H

#include "base/mem.h"
#include "base/num.h"
#include "measure/analysis.h"
#include "measure/options.h"

#define GT_ANALYSIS(key, title, tables, needs, uses, ...)                                                              \
    enum gt_status gt_##key##_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err);
#include "measure/analyses.def"
#undef GT_ANALYSIS

/* ---- cells ---- */

/* Times are printed from the start of the first op. */
struct gt_cell gt_measure_time_cell(const struct gt_view *view, int64_t time_ns);
struct gt_cell gt_measure_pid_cell(const struct gt_view *view, uint32_t process); /* null if the trace does not say */
struct gt_cell gt_measure_op_name_cell(const struct gt_view *view, uint32_t position); /* null for GT_NO_ROW */

/* ---- blocks ---- */

/* What an empty table says. */
#define GT_NONE_IN(view, noun) ((view)->is_whole ? "The trace has no " noun "." : "No " noun " in the selection.")

/* A table by process says nothing new on the screen where there is only one. Its first column is the pid. */
void gt_measure_table_for_processes(struct gt_section *section, const struct gt_table *table);
void gt_measure_table_for(struct gt_section *section, const struct gt_table *table, uint32_t audience);

/* How many of `count` rows in the table's own order are worth making: all, unless the options limit the table and leave
   its order alone. Keeps tables of millions of gaps out of memory where ten are asked for. */
size_t gt_measure_rows_wanted(const struct gt_view *view, const char *table, size_t count); /* table: its key */
size_t gt_measure_table_rows_wanted(const struct gt_view *view, const struct gt_table *table, size_t count);
/* The column that a table is sorted by before the screen shows the first `wanted` of its rows; NULL if all of them, or
   the first in its own order, are worth making. */
const char *gt_measure_table_sort(const struct gt_view *view, const struct gt_table *table, size_t count,
                                  size_t *wanted);
/* false: nobody will look at it. For tables that cost more than the rest of their analysis. */
bool gt_measure_table_is_wanted(const struct gt_view *view, const char *table);
/* The same of a column. */
bool gt_measure_column_is_wanted(const struct gt_view *view, const struct gt_table *table, const char *column);

/* A group of facts. Analyses that state the same fact may run together: what the section has already is left out, and
   the block is made for the first that is new. */
struct gt_measure_fact_group {
    struct gt_section *section;
    const char *title;
    uint32_t audience;
    struct gt_block *block;
};
void gt_measure_fact_group_add(struct gt_measure_fact_group *group, const char *key, const char *title,
                               enum gt_unit unit, struct gt_cell value);

/* Whether this report reads the fact: what else was read must make no difference. */
static inline bool gt_measure_asks(const struct gt_view *view, uint32_t fact) {
    return (view->request->facts & fact) == fact;
}

/* A data problem that only an analysis sees; none where the count is 0. */
void gt_measure_issue(struct gt_section *section, enum gt_issue_id id, uint64_t count);

/* Empty unless this report asks for call stacks: what else was read must make no difference. */
const struct gt_python_calls *gt_measure_python_calls(const struct gt_view *view);

#endif
