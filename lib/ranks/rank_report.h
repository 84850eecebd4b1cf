/* A job as a section of a report. */
#ifndef GT_RANKS_RANK_REPORT_H
#define GT_RANKS_RANK_REPORT_H

#include "events/view.h"
#include "ranks/rank_job.h"
#include "report/report.h"

struct gt_rank_report_options {
    bool has_findings;           /* else they are those of a trace */
    bool has_no_traces;          /* only logs were read: nothing is stated, and tables are empty */
    const char *why;             /* id of the only finding to report; NULL: all */
    const struct gt_str *notes;  /* note_count sentences that follow the verdict */
    const bool *notes_of_losses; /* of each, whether it says what was not read */
    size_t note_count;
    const struct gt_request *request; /* long tables that it does not want are left out; NULL: all are wanted */
};

/* Whether the table of members is asked for, so that the job has to keep what it shows. */
bool gt_rank_report_has_members(const struct gt_request *request);

/* Adds all that is known about a job; nothing refers to it afterwards. */
enum gt_status gt_rank_report_add(const struct gt_rank_job *job, struct gt_section *section,
                                  const struct gt_rank_report_options *options, struct gt_error *err);

#endif
