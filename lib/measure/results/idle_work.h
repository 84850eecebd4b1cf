/* What the CPU was working on while a GPU had nothing to do: gaps of cause host by the code that kept the thread. */
#ifndef GT_MEASURE_RESULTS_IDLE_WORK_H
#define GT_MEASURE_RESULTS_IDLE_WORK_H

#include "measure/results/idle_code.h"
#include "report/report.h"

/* Adds the table idle_work, and the spread over steps of its rows and of the causes. Linear except for sorts. */
enum gt_status gt_idle_work_add(const struct gt_view *view, const struct gt_idle *idle, const struct gt_idle_code *code,
                                struct gt_section *section, struct gt_error *err);

#endif
