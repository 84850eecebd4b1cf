/* Compares two finished reports, A and B, each over one or several captures: matches the rows of their tables by key
   and subtracts their amounts. Knows tables, columns, units and keys, and nothing of what they are about. */
#ifndef GT_REPORT_DIFF_H
#define GT_REPORT_DIFF_H

#include "base/fail.h"
#include "report/report.h"

/* Two reports with the same analyses in, one report out: its first section is the comparison, with a table under the
   key of each table it compares; one more section for each capture has what is to be said of it alone. The result
   borrows from both. options may be NULL; limits are not for this. Cost: linear in the rows but for sorts. */
enum gt_status gt_diff_new(const struct gt_report *a, const struct gt_report *b,
                           const struct gputime_diff_options *options, struct gt_report **out, struct gt_error *err);

/* The last words on a comparison whose tables have got their shape: those without news leave the screen, and a sentence
   says which; then what there is to say of many captures. */
enum gt_status gt_diff_finish(struct gt_report *report, struct gt_error *err);

/* Appends a name without what differs from build to build and from GPU to GPU: tile sizes, architectures, generated
   numbers. Types (f16, int8) stay. */
void gt_diff_plain_name(struct gt_str name, char *out, size_t *length);
#define GT_DIFF_PLAIN_MAX(name_bytes) (2 * (name_bytes) + 1) /* room that it needs */

#endif
