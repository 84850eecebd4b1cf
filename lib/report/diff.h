/* Compares two finished reports, A and B, each over one or several captures: matches the rows of their tables by key
   and subtracts their amounts. Knows tables, columns, units and keys, and nothing of what they are about. */
#ifndef GT_REPORT_DIFF_H
#define GT_REPORT_DIFF_H

#include "base/fail.h"
#include "report/report.h"

/* How to compare; zeroed: automatic. */
struct gt_diff_options {
    const char *per;    /* amounts are divided by the number of: "step", "range", "launch"; "none": they are not; NULL:
                           step, where every capture has steps that make up most of it */
    const char *range;  /* per range: its name */
    const char *tables; /* comma-separated keys of the tables to show; "": none, NULL: all that both reports have */
    bool is_noise_told; /* noise_share is given: smaller changes count as noise whatever the spread */
    double noise_share;
    const char *labels[2]; /* what headings call the sides; NULL: A and B */
};

/* Two reports with the same analyses in, one report out: its first section is the comparison, with a table under the
   key of each table it compares; one more section for each capture has what is to be said of it alone. The result
   borrows from both. options may be NULL; limits are not for this. Cost: linear in the rows but for sorts. */
enum gt_status gt_diff_new(const struct gt_report *a, const struct gt_report *b, const struct gt_diff_options *options,
                           struct gt_report **out, struct gt_error *err);

/* The last words on a comparison whose tables have got their shape: those without news leave the screen, and a sentence
   says which; then what there is to say of many captures. */
enum gt_status gt_diff_finish(struct gt_report *report, struct gt_error *err);

/* Appends a name without what differs from build to build and from GPU to GPU: tile sizes, architectures, generated
   numbers. Types (f16, int8) stay. */
void gt_diff_plain_name(struct gt_str name, char *out, size_t *length);
#define GT_DIFF_PLAIN_MAX(name_bytes) (2 * (name_bytes) + 1) /* room that it needs */

#endif
