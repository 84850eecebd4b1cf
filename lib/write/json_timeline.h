/* Timelines of a report as JSON, in the compact form that docs/json.md describes. */
#ifndef GT_WRITE_JSON_TIMELINE_H
#define GT_WRITE_JSON_TIMELINE_H

#include "base/out.h"
#include "report/report.h"

/* A member of the report's object with a comma and line break after it; nothing where no section has a timeline for
   that audience. */
void gt_json_timeline_write_all(struct gt_out *out, const struct gt_report *report, enum gt_audience audience);

/* One timeline, of an input of this name. */
void gt_json_timeline_write(struct gt_out *out, struct gt_str input, const struct gt_timeline *timeline);

/* What a row of the kind is called. */
const char *gt_json_timeline_kind(enum gt_timeline_kind kind);

#endif
