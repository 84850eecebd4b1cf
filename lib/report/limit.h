/* Limits that a user sets for a report (what must hold) or a comparison (what must not), and their verdicts. */
#ifndef GT_REPORT_LIMIT_H
#define GT_REPORT_LIMIT_H

#include "base/error.h"
#include "report/report.h"

enum gt_limit_unit { GT_LIMIT_NUMBER, GT_LIMIT_PERCENT, GT_LIMIT_TIME };

/* "exposed_comm<5%", "kernel:*flash*>+10%": MEASURE or KIND:GLOB, < <= > >=, a number with %, ns, us, ms, s or nothing.
 */
struct gt_limit {
    struct gt_str text;          /* whole */
    struct gt_str kind, pattern; /* kind is empty for a measure, which then is the pattern */
    bool is_above, takes_equal;  /* > or >=; >= or <= */
    double bound;                /* fraction, ns or plain number */
    enum gt_limit_unit unit;
};

/* A malformed limit is a usage error. The result borrows text. */
enum gt_status gt_limit_parse(const char *text, struct gt_limit *limit, struct gt_error *err);

/* Whether value is on that side of the bound. */
bool gt_limit_holds(const struct gt_limit *limit, double value);

/* '*' stands for anything, '?' for one byte; case does not matter. */
bool gt_glob_matches(struct gt_str glob, struct gt_str text);

/* Whether it names rows by a pattern, which may match none: those amount to 0. */
bool gt_limit_is_glob(const struct gt_limit *limit);

/* Which table a limit is about and which column its pattern is matched with. */
struct gt_limit_place {
    const char *table, *column;
};
/* A kind that there is not is a usage error. */
enum gt_status gt_limit_place_find(const struct gt_limit *limit, struct gt_limit_place *place, struct gt_error *err);

/* One line of the table `limits`, which is made at the first and stands before all other blocks. */
enum gt_verdict { GT_VERDICT_OK, GT_VERDICT_BROKEN, GT_VERDICT_NOISE };
void gt_limits_add(struct gt_section *section, const struct gt_limit *limit, enum gt_verdict verdict, double value,
                   struct gt_str detail);

/* Judges every limit in every section of a report, or in a comparison. Each limit says there what must hold, here what
   must not; a change inside the noise breaks none. Measures and names that a report does not have are usage errors. */
enum gt_status gt_report_check(struct gt_report *report, const char *const *limits, size_t count, size_t *broken,
                               struct gt_error *err);

/* limit_diff.c: one limit of a comparison. */
enum gt_status gt_diff_check(struct gt_report *report, const struct gt_limit *limit, bool *is_broken,
                             struct gt_error *err);

#endif
