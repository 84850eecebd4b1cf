/* The findings of a section on a terminal. */
#ifndef GT_WRITE_TEXT_FINDINGS_H
#define GT_WRITE_TEXT_FINDINGS_H

#include "report/report.h"
#include "write/screen.h"

void gt_text_findings(const struct gt_screen *screen, const struct gt_section *section, const struct gt_table *table);

#endif
