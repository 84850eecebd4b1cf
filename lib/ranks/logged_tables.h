/* Logged collectives as tables of a report. */
#ifndef GT_RANKS_LOGGED_TABLES_H
#define GT_RANKS_LOGGED_TABLES_H

#include "ranks/logged.h"
#include "report/report.h"

/* Texts are copied. */
void gt_logged_tables_add(const struct gt_logged *logged, struct gt_section *section);

#endif
