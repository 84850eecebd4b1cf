/* A table of a report on a terminal. */
#ifndef GT_WRITE_TEXT_TABLE_H
#define GT_WRITE_TEXT_TABLE_H

#include "gputime.h"
#include "report/report.h"
#include "write/screen.h"

/* Title, header, rows, and what was left out. A table without rows shows its sentence. */
void gt_text_table(const struct gt_screen *screen, const struct gt_table *table,
                   const struct gputime_write_options *options);

#endif
