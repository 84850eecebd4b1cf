/* The pieces that JSON of a report is made of. */
#ifndef GT_WRITE_JSON_VALUE_H
#define GT_WRITE_JSON_VALUE_H

#include "base/out.h"
#include "base/str.h"
#include "report/report.h"

void gt_json_value_cell(struct gt_out *out, const struct gt_cell *cell);
/* The same, but integers that a script's numbers cannot hold are strings. */
void gt_json_value_exact_cell(struct gt_out *out, const struct gt_cell *cell);

void gt_json_value_key(struct gt_out *out, const char *key);                      /* with its colon */
void gt_json_value_text(struct gt_out *out, const char *key, struct gt_str text); /* an empty text is null */

#endif
