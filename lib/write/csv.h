/* Comma-separated values under the titles of an older tool. */
#ifndef GT_WRITE_CSV_H
#define GT_WRITE_CSV_H

#include "base/error.h"
#include "base/out.h"
#include "report/layouts.h"
#include "report/report.h"

/* The layout's table: the rows of all sections behind each other, one header. */
enum gt_status gt_csv_layout(struct gt_out *out, const struct gt_report *report, const struct gt_layout *layout,
                             struct gt_error *err);

#endif
